//! Writing Weka's multi-instance form: the attributes `bag_id`, `bag` (relational) and `class`, which are all that Weka's
//! multi-instance learners accept. There is no place for groups, kept columns and instance labels.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::Path;

use super::Arff;
use crate::replace::TABLE_MARK;
use crate::{Writer, csv, plain_extension, save};
use bagwise_core::{Dataset, Error, FeatureKind, Message, Place, Result, Setting, Target};

impl Writer for Arff {
    fn name(&self) -> &'static str {
        "arff"
    }

    fn recognises(&self, path: &Path) -> bool {
        plain_extension(path).is_some_and(|e| e == "arff")
    }

    fn write(&self, data: &Dataset, path: &Path) -> Result<()> {
        let refuse = |found: String, remedy: Message| {
            Error::data(Place::of(path.display().to_string()), found, remedy)
        };
        let unfit = [
            ("groups", data.groups.is_some()),
            ("kept columns", !data.kept.is_empty()),
            ("instance labels", data.instance_labels.is_some()),
        ];
        if let Some((what, _)) = unfit.iter().find(|(_, present)| *present) {
            return Err(refuse(
                format!("Weka's multi-instance format cannot store {what}"),
                Message::from("write CSV, or leave those columns out when reading")
                    .with([Setting::Ignore(None)]),
            ));
        }
        csv::check_names(data).map_err(|(found, remedy)| refuse(found, remedy))?;
        save::whole(path, |out| write(data, out))
    }
}

/// A word in quotes, escaped as Weka does.
fn quote(word: &str, out: &mut String) {
    out.push('\'');
    for c in word.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\\' | '\'' | '"' | '%' => out.extend(['\\', c]),
            c => out.push(c),
        }
    }
    out.push('\'');
}

/// A word as it is where that can be read, else in quotes.
fn word(text: &str, out: &mut String) {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-+.".contains(c);
    if text.chars().all(plain) { out.push_str(text) } else { quote(text, out) }
}

fn list(values: &[String], out: &mut String) {
    out.push('{');
    for (i, value) in values.iter().enumerate() {
        if i > 0 {
            out.push(',');
        }
        word(value, out);
    }
    out.push('}');
}

fn write(data: &Dataset, out: &mut dyn Write) -> io::Result<()> {
    let bags = &data.bags;
    let mut text = format!("% {TABLE_MARK}\n@relation ");
    quote(&data.name, &mut text);
    text.push_str("\n\n@attribute bag_id ");
    list(bags.ids(), &mut text);
    text.push_str("\n@attribute bag relational\n");
    for feature in bags.features().iter() {
        text.push_str("  @attribute ");
        word(&feature.name, &mut text);
        match &feature.kind {
            FeatureKind::Numeric => text.push_str(" numeric"),
            FeatureKind::Categorical { values } => {
                text.push(' ');
                list(values, &mut text);
            }
        }
        text.push('\n');
    }
    text.push_str("@end bag\n");
    match &data.target {
        Some(Target::Classes { names, .. }) => {
            text.push_str("@attribute class ");
            list(names, &mut text);
            text.push('\n');
        }
        Some(Target::Values(_)) => text.push_str("@attribute class numeric\n"),
        None => {}
    }
    text.push_str("\n@data\n");
    out.write_all(text.as_bytes())?;

    let mut row = vec![0.0; bags.width()];
    let (mut inside, mut number) = (String::new(), String::new());
    for bag in 0..bags.len() {
        inside.clear();
        for (i, r) in bags.rows(bag).enumerate() {
            if i > 0 {
                inside.push('\n');
            }
            bags.instances().row_into(r, &mut row).map_err(io::Error::other)?;
            for (c, (&value, feature)) in row.iter().zip(bags.features().iter()).enumerate() {
                if c > 0 {
                    inside.push(',');
                }
                match &feature.kind {
                    _ if value.is_nan() => inside.push('?'),
                    FeatureKind::Categorical { values } => word(&values[value as usize], &mut inside),
                    FeatureKind::Numeric => {
                        save::number(value, &mut number);
                        inside.push_str(&number);
                    }
                }
            }
        }
        text.clear();
        word(&bags.ids()[bag], &mut text);
        text.push(',');
        quote(&inside, &mut text);
        match &data.target {
            Some(Target::Classes { codes, names }) => {
                text.push(',');
                word(&names[codes[bag] as usize], &mut text);
            }
            Some(Target::Values(values)) => {
                save::number(values[bag], &mut number);
                let _ = write!(text, ",{number}");
            }
            None => {}
        }
        text.push('\n');
        out.write_all(text.as_bytes())?;
    }
    Ok(())
}
