//! `bagwise convert`: reads a data set as any other verb would and writes it in another format.

use std::path::PathBuf;

use anyhow::{Result, bail};
use bagwise::io::OutputKind;

use crate::args::Data;
use crate::output::quoted;
use crate::session::{Outcome, Session};

/// Convert data to another format
#[derive(clap::Args)]
#[command(after_help = HELP)]
pub(crate) struct Args {
    /// A file, a built-in data set or a generator
    #[arg(value_name = "IN")]
    input: String,
    /// Output file
    #[arg(value_name = "OUT")]
    output: PathBuf,
    /// Output format [default: from the file extension]
    #[arg(long, value_name = "FORMAT")]
    output_format: Option<String>,
    /// The data have no labels (data for prediction)
    #[arg(long)]
    unlabelled: bool,
    #[command(flatten)]
    data: Data,
}

const HELP: &str = "\
The file extension determines the output format: .csv, .tsv, .sparse and .arff (add .gz to compress), \
.npz or .parquet. If writing fails, no partial file is left. Columns get the standard names bag, label, \
group and instance_label, so the file can be read without options, except --keep for kept columns. If the format cannot store something \
(groups in ARFF, categories in .npz), convert reports an error instead of dropping it.

Examples:
  bagwise convert musk1 musk1.csv                     a built-in data set as a table
  bagwise convert musk1 musk1.sparse.gz               as sparse text, compressed
  bagwise convert musk1 musk1.arff                    for Weka (.npz for NumPy, .parquet for pandas)
  bagwise convert molecules.csv m.csv.gz --bag mol --label active --group scaffold
  bagwise convert 'synthetic:gauss?bags=40' gauss.tsv";

pub(crate) fn run(args: &Args, session: &Session) -> Result<Outcome> {
    session.check_output(&args.output, OutputKind::Table, &args.data.inputs([args.input.as_ref()]))?;
    let (_, safe) = session.format();
    let format = bagwise::io::output_format(&args.output, args.output_format.as_deref())?;
    if safe && format != "csv" {
        bail!(
            "{}: --csv-safe is for CSV and TSV, not for {format}; leave it out, or write .csv or .tsv",
            args.output.display()
        );
    }
    let mut options = args.data.read_options();
    options.unlabelled = args.unlabelled;
    let data = session.read(&args.input, &options)?;
    match safe {
        true => bagwise::io::write_csv_safe(&data, &args.output)?,
        false => drop(bagwise::io::write(&data, &args.output, Some(format))?),
    }
    session.say(&format!(
        "wrote {}: {} bags, {} instances, {} attributes",
        args.output.display(),
        data.bags.len(),
        data.bags.instance_count(),
        data.bags.width()
    ));
    if !data.kept.is_empty() && format != "npz" {
        // In a table nothing tells them from features; arrays have names of their own.
        let keep: String = data.kept.iter().map(|k| format!(" --keep {}", quoted(&k.name))).collect();
        session.note(&format!("the kept columns are read as features of the new file without{keep}"));
    }
    Ok(Outcome::Done)
}
