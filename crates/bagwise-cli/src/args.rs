//! Options that several commands share, in groups that a command flattens into its own. Text is parsed into enums and
//! numbers here and nowhere else.
//!
//! Doc comments here are help texts. Each is one paragraph and variants have none, so that `--help` and `-h` print the
//! same page.

use std::ffi::OsStr;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use bagwise::io::{Column, Encoding, ReadOptions, Task};

use crate::output::quoted;

/// Options of every verb, before or after it.
#[derive(Args, PartialEq)]
pub(crate) struct General {
    /// Output format
    #[arg(long, global = true, value_enum, default_value_t = Format::Table, help_heading = "General")]
    pub(crate) format: Format,
    /// Number of threads [default: all cores]
    #[arg(long, global = true, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=i64::from(crate::threads::MOST)), help_heading = "General")]
    pub(crate) threads: Option<u16>,
    /// Random seed; the same seed gives the same results on any number of threads
    #[arg(long, global = true, value_name = "N", default_value_t = 0, help_heading = "General")]
    pub(crate) seed: u64,
    /// Memory limit for kernel matrices, caches and copies, such as 500MB or 16GB
    #[arg(long, global = true, value_name = "SIZE", default_value = "4GB", value_parser = bytes, help_heading = "General")]
    pub(crate) memory: u64,
    /// Overwrite files that bagwise did not write; input files are never overwritten
    #[arg(long, global = true, help_heading = "General")]
    pub(crate) force: bool,
    /// In CSV output, put an apostrophe before text that a spreadsheet would run as a formula (=, +, -, @)
    #[arg(long, global = true, help_heading = "General")]
    pub(crate) csv_safe: bool,
    /// Print only results and errors
    #[arg(short, long, global = true, help_heading = "General")]
    pub(crate) quiet: bool,
}

/// How results are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    // For people
    Table,
    // For programs
    Json,
    // For spreadsheets
    Csv,
    // For maps and slide viewers; explanations only
    Geojson,
}

/// How a table is to be understood: shared by every verb that reads data.
#[derive(Args, Default)]
#[command(next_help_heading = "Columns (by name, or by number from 1)")]
pub(crate) struct Data {
    /// Column with the bag of each row [default: bag]
    #[arg(long, value_name = "COLUMN", value_parser = column)]
    pub(crate) bag: Option<Column>,
    /// Column to predict: classes or numbers [default: label]
    #[arg(long, value_name = "COLUMN", value_parser = column)]
    pub(crate) label: Option<Column>,
    /// Column with groups (patients, scaffolds) that are never split between training and test [default: group]
    #[arg(long, value_name = "COLUMN", value_parser = column)]
    pub(crate) group: Option<Column>,
    /// Column with true instance labels; not used for training [default: instance_label]
    #[arg(long, value_name = "COLUMN", value_parser = column)]
    pub(crate) instance_label: Option<Column>,
    /// Columns to copy to the results; not used for training
    #[arg(long, value_name = "COLUMN,…", value_parser = column, value_delimiter = ',')]
    pub(crate) keep: Vec<Column>,
    /// Columns to ignore
    #[arg(long, value_name = "COLUMN,…", value_parser = column, value_delimiter = ',')]
    pub(crate) ignore: Vec<Column>,
    /// Columns of numbers to treat as categories
    #[arg(long, value_name = "COLUMN,…", value_parser = column, value_delimiter = ',')]
    pub(crate) categorical: Vec<Column>,
    /// Type of label; auto means classes, unless a label has a fractional part; with many different whole numbers, you
    /// must choose
    #[arg(long, value_enum, default_value_t = TaskArg::Auto, help_heading = "Reading")]
    pub(crate) task: TaskArg,
    /// Missing values: report an error, or fill in the median of the training bags
    #[arg(long, value_enum, default_value_t = Missing::Refuse, help_heading = "Reading")]
    pub(crate) missing: Missing,
    /// The first row contains column names [default: detected]
    #[arg(long, overrides_with = "no_header", help_heading = "Reading")]
    pub(crate) header: bool,
    /// The first row is data
    #[arg(long, overrides_with = "header", help_heading = "Reading")]
    pub(crate) no_header: bool,
    /// Column separator of a table: a character, tab or space [default: detected]
    #[arg(long, value_name = "CHAR", value_parser = |text: &str| bagwise::io::delimiter(text), help_heading = "Reading")]
    pub(crate) delimiter: Option<char>,
    /// Decimal separator of a table: . or , [default: detected]
    #[arg(long, value_name = "CHAR", value_parser = |text: &str| bagwise::io::decimal(text), help_heading = "Reading")]
    pub(crate) decimal: Option<char>,
    /// Thousands separator of a table: . , ' or space [default: detected]
    #[arg(long, value_name = "CHAR", value_parser = |text: &str| bagwise::io::thousands(text), help_heading = "Reading")]
    pub(crate) thousands: Option<char>,
    /// Encoding of a table: utf-8, utf-16 or cp1252 [default: detected]
    #[arg(long, value_name = "NAME", help_heading = "Reading")]
    pub(crate) encoding: Option<Encoding>,
    /// Additional text or numbers that mark a missing value, besides NA, NaN and the like
    #[arg(
        long,
        value_name = "TEXT,…",
        value_delimiter = ',',
        allow_hyphen_values = true,
        help_heading = "Reading"
    )]
    pub(crate) missing_values: Vec<String>,
    /// For a folder of .npy files: table with the name, label and group of each bag
    #[arg(long, value_name = "FILE", help_heading = "Reading")]
    pub(crate) labels: Option<PathBuf>,
    /// Folder of .npy files with the coordinates of the instances of each bag; copied to the results
    #[arg(long, value_name = "FOLDER", help_heading = "Reading")]
    pub(crate) coords: Option<PathBuf>,
    /// Sample at most N instances per bag, using the seed
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), help_heading = "Reading")]
    pub(crate) max_instances: Option<u32>,
    /// Format of the data [default: detected from content and file name]
    #[arg(long, value_name = "FORMAT", help_heading = "Reading")]
    pub(crate) input_format: Option<String>,
}

/// What the label is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum TaskArg {
    // Classes, unless some label is a number with a fraction
    #[default]
    Auto,
    // Classes
    Classification,
    // Numbers
    Regression,
}

/// What happens to cells without a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Missing {
    // An error that names the line
    #[default]
    Refuse,
    // The median of the column over the training bags
    Median,
}

impl Data {
    /// These names, and those of the labels and coordinates: everything that an output must not replace.
    pub(crate) fn inputs<'a>(&'a self, names: impl IntoIterator<Item = &'a OsStr>) -> Vec<&'a OsStr> {
        let beside = [&self.labels, &self.coords].into_iter().flatten().map(|path| path.as_os_str());
        names.into_iter().chain(beside).collect()
    }

    /// True if missing values are to be filled.
    pub(crate) fn fills_gaps(&self) -> bool {
        self.missing == Missing::Median
    }

    /// The options that were given, as they would be typed again.
    pub(crate) fn words(&self) -> String {
        let mut words = remembered_words(&self.read_options());
        let said = |value: Option<clap::builder::PossibleValue>| value.map(|v| v.get_name().to_string());
        if self.task != TaskArg::Auto {
            words += &format!(" --task {}", said(self.task.to_possible_value()).unwrap_or_default());
        }
        if self.fills_gaps() {
            words += " --missing median";
        }
        for (flag, path) in [("labels", &self.labels), ("coords", &self.coords)] {
            if let Some(path) = path {
                words += &format!(" --{flag} {}", quoted(&path.display().to_string()));
            }
        }
        if let Some(format) = &self.input_format {
            words += &format!(" --input-format {}", quoted(format));
        }
        words
    }

    /// The same for the library.
    pub(crate) fn read_options(&self) -> ReadOptions {
        ReadOptions {
            format: self.input_format.clone(),
            bag: self.bag.clone(),
            label: self.label.clone(),
            group: self.group.clone(),
            instance_label: self.instance_label.clone(),
            keep: self.keep.clone(),
            ignore: self.ignore.clone(),
            categorical: self.categorical.clone(),
            header: match (self.header, self.no_header) {
                (true, _) => Some(true),
                (_, true) => Some(false),
                _ => None,
            },
            delimiter: self.delimiter,
            decimal: self.decimal,
            thousands: self.thousands,
            encoding: self.encoding,
            missing_values: self.missing_values.clone(),
            task: match self.task {
                TaskArg::Auto => Task::Auto,
                TaskArg::Classification => Task::Classification,
                TaskArg::Regression => Task::Regression,
            },
            allow_missing: self.missing == Missing::Median,
            unlabelled: false,
            labels: self.labels.clone(),
            coords: self.coords.clone(),
            max_instances: self.max_instances.map(|most| most as usize),
            // The session has the seed.
            seed: 0,
            features: Vec::new(),
            optional: Vec::new(),
        }
    }
}

/// Columns and the dialect of tables, as they would be typed.
pub(crate) fn remembered_words(options: &ReadOptions) -> String {
    let mut words = String::new();
    let mut add = |flag: &str, columns: Vec<&Column>| {
        if !columns.is_empty() {
            let list: Vec<String> = columns.iter().map(ToString::to_string).collect();
            words += &format!(" --{flag} {}", quoted(&list.join(",")));
        }
    };
    add("bag", options.bag.iter().collect());
    add("label", options.label.iter().collect());
    add("group", options.group.iter().collect());
    add("instance-label", options.instance_label.iter().collect());
    add("keep", options.keep.iter().collect());
    add("ignore", options.ignore.iter().collect());
    add("categorical", options.categorical.iter().collect());
    words += match options.header {
        Some(true) => " --header",
        Some(false) => " --no-header",
        None => "",
    };
    for (flag, given) in
        [("delimiter", options.delimiter), ("decimal", options.decimal), ("thousands", options.thousands)]
    {
        let word = given.map(|c| match c {
            '\t' => "tab".into(),
            ' ' => "space".into(),
            other => other.to_string(),
        });
        words += &word.map_or(String::new(), |word| format!(" --{flag} {}", quoted(&word)));
    }
    if let Some(most) = options.max_instances {
        words += &format!(" --max-instances {most}");
    }
    if let Some(encoding) = options.encoding {
        words += &format!(" --encoding {}", encoding.name());
    }
    if !options.missing_values.is_empty() {
        words += &format!(" --missing-values {}", quoted(&options.missing_values.join(",")));
    }
    words
}

fn column(text: &str) -> Result<Column, String> {
    if text.is_empty() {
        return Err("give a column name or number".into());
    }
    text.parse().map_err(|never| match never {})
}

/// A size such as 4GB, 500 MB or 123456 (bytes). Units are powers of 1000, with an `i` (GiB) of 1024.
fn bytes(text: &str) -> Result<u64, String> {
    let text = text.trim();
    let split = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let number: f64 = number.trim().parse().map_err(|_| "give a size such as 500MB or 16GB".to_string())?;
    let unit = unit.to_ascii_lowercase();
    let (prefix, base) = match unit.strip_suffix("ib") {
        Some(prefix) => (prefix, 1024f64),
        None => (unit.strip_suffix('b').unwrap_or(&unit), 1000f64),
    };
    let power = match prefix {
        "" => 0,
        "k" => 1,
        "m" => 2,
        "g" => 3,
        "t" => 4,
        _ => return Err(format!("unit '{unit}' is not one of kB, MB, GB, TB, KiB, MiB, GiB, TiB")),
    };
    let size = number * base.powi(power);
    // Below a megabyte nothing can be computed; above 2^60 it is a slip of the finger.
    match size {
        s if s > 2f64.powi(60) => {
            Err("this is more than any machine has; give a size such as 500MB or 16GB".into())
        }
        s if s >= 1e6 => Ok(s as u64),
        _ => Err("give a size of at least 1MB, such as 500MB or 16GB".into()),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        crate::Cli::command().debug_assert();
    }

    #[test]
    fn sizes_are_read_with_their_units() {
        assert_eq!(bytes("4GB"), Ok(4_000_000_000));
        assert_eq!(bytes(" 1.5 GiB "), Ok(1_610_612_736));
        assert_eq!(bytes("2000000"), Ok(2_000_000));
        assert_eq!(bytes("500m"), Ok(500_000_000));
        for bad in ["", "GB", "4XB", "-4GB", "0", "1kB", "nan", "inf", "1e40"] {
            assert!(bytes(bad).is_err(), "{bad}");
        }
    }
}
