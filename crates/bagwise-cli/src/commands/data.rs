//! `bagwise data`: lists the data sets that experiments name, says which are available, and downloads the others.

use std::path::PathBuf;

use anyhow::{Result, bail};
use bagwise::datasets::{self, KnownDataset, Origin};

use crate::experiment::Experiment;
use crate::output::{Object, Output, Rows, Style};
use crate::session::{Outcome, Session};

/// List the data sets that experiments name, and download them from their public sources
#[derive(clap::Args)]
#[command(after_help = HELP, args_conflicts_with_subcommands = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    what: Option<DataCommand>,
}

#[derive(clap::Subcommand)]
enum DataCommand {
    /// Download data sets, convert and check them, and store them where bagwise finds them by name
    Get {
        /// Names from the list
        #[arg(value_name = "NAME", required_unless_present = "experiment")]
        names: Vec<String>,
        /// Download all missing data sets that this experiment names
        #[arg(long, value_name = "FILE")]
        experiment: Option<PathBuf>,
        /// The source file, downloaded by other means
        #[arg(long, value_name = "FILE", conflicts_with = "experiment")]
        from: Option<PathBuf>,
        /// The folder to write to [default: $BAGWISE_DATA, or the nearest folder called data, here or above]
        #[arg(long, value_name = "FOLDER")]
        to: Option<PathBuf>,
    },
    /// Check the data sets that you have against their digests
    Check {
        /// Names from the list [default: all that you have]
        #[arg(value_name = "NAME")]
        names: Vec<String>,
    },
}

const HELP: &str = "\
Data sets come from public repositories at a fixed commit and are downloaded with curl. Without a network connection, the error \
names the file to download on another computer; pass it with --from. $BAGWISE_MIRROR names another server with the same folders.

Examples:
  bagwise data
  bagwise data check musk1";

pub(crate) fn run(args: &Args, session: &Session) -> Result<Outcome> {
    match &args.what {
        None => {
            session.print(&List { digests: None, sets: datasets::all().iter().collect() })?;
            Ok(Outcome::Done)
        }
        Some(DataCommand::Check { names }) => check(names, session),
        Some(DataCommand::Get { names, experiment, from, to }) => {
            if names.len() > 1 && from.is_some() {
                bail!("--from is the file of a single data set, but {} are named", names.len());
            }
            let mut wanted = names.clone();
            if let Some(file) = experiment {
                wanted = missing(&Experiment::read(file, false)?);
            }
            let folder = to.clone().unwrap_or_else(datasets::default_folder);
            let mut failed = Vec::new();
            for name in &wanted {
                let set = datasets::known(name)?;
                // A file of the repository may be wanted in another folder.
                let here = set.is_here() && (set.path().is_none() || to.is_none());
                if matches!(set.origin, Origin::Shipped) && here && from.is_none() {
                    let place = set.path().map_or(source(set), |path| path.display().to_string());
                    session.say(&format!("{name}: {place}, so there is nothing to download"));
                    continue;
                }
                session.say(&format!("{name}: {}", source(set)));
                match datasets::fetch(name, from.as_deref(), &folder) {
                    Ok(path) => session.say(&format!("{name}: {}", path.display())),
                    // If one is not available, continue with the others.
                    Err(error) if wanted.len() > 1 => failed.push(error),
                    Err(error) => return Err(error.into()),
                }
            }
            for error in &failed {
                session.warn(&error.worded(&session.wording()));
            }
            match failed.is_empty() {
                true => Ok(Outcome::Done),
                false => bail!("{} of {} data sets could not be downloaded", failed.len(), wanted.len()),
            }
        }
    }
}

/// The known data sets of an experiment that are not here.
fn missing(experiment: &Experiment) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let of_tables = experiment.data.iter().filter(|d| d.unavailable.is_none()).map(|d| d.read());
    let of_figures = experiment.figure.iter().flat_map(|f| f.data.iter().map(String::as_str));
    for name in of_tables.chain(of_figures).map(String::from) {
        if datasets::find(&name).is_some_and(|set| !set.is_here()) && !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

fn check(names: &[String], session: &Session) -> Result<Outcome> {
    let sets: Vec<&KnownDataset> = match names.is_empty() {
        true => datasets::all().iter().filter(|set| set.is_here()).collect(),
        false => names.iter().map(|name| datasets::known(name)).collect::<bagwise::Result<_>>()?,
    };
    let digests = sets.iter().map(|set| set.digest_here()).collect::<bagwise::Result<Vec<_>>>()?;
    let same = sets.iter().zip(&digests).all(|(set, digest)| set.digest == digest);
    session.print(&List { digests: Some(digests), sets })?;
    Ok(if same { Outcome::Done } else { Outcome::FailedFits })
}

fn source(set: &KnownDataset) -> String {
    match set.origin {
        Origin::Shipped if set.is_here() && set.path().is_none() => "part of the program".into(),
        Origin::Shipped => format!("data/{}.csv.gz in the repository of bagwise", set.name),
        Origin::GitHub { .. } => set.url().unwrap_or_default(),
    }
}

struct List {
    /// Of the data that are here, where they were looked at.
    digests: Option<Vec<String>>,
    sets: Vec<&'static KnownDataset>,
}

impl List {
    /// Whether a set is here, and is what it should be.
    fn state(&self, i: usize) -> &'static str {
        let set = self.sets[i];
        match &self.digests {
            Some(digests) if digests[i] == set.digest => "yes, checked",
            Some(_) => "differs",
            None if set.is_here() => "yes",
            None => "no",
        }
    }
}

impl Output for List {
    fn json(&self) -> Result<String> {
        let one = |(i, set): (usize, &&KnownDataset)| {
            let mut object = Object::default();
            object.put("name", set.name).put("bags", set.bags).put("instances", set.instances);
            object.put("attributes", set.attributes).put("here", self.state(i)).put("licence", set.licence());
            object.put("source", source(set)).put("path", set.path()).put("digest", set.digest);
            object.put("found", self.digests.as_ref().map(|d| &d[i]));
            object
        };
        let list: Vec<Object> = self.sets.iter().enumerate().map(one).collect();
        Ok(serde_json::to_string_pretty(&list)?)
    }

    fn csv(&self) -> Rows {
        let mut rows = Rows::new(["name", "bags", "instances", "attributes", "here", "licence", "source"]);
        for (i, set) in self.sets.iter().enumerate() {
            let size = [set.bags, set.instances, set.attributes].map(|n| n.to_string());
            let mut row = vec![set.name.to_string()];
            row.extend(size);
            row.extend([self.state(i).to_string(), set.licence().into(), source(set)]);
            rows.push(row);
        }
        rows
    }

    fn text(&self, _paint: Style) -> String {
        let here = self.sets.iter().filter(|set| set.is_here()).count();
        let mut text = self.csv().to_string();
        text += &format!("you have {here} of {}", self.sets.len());
        text + if here < self.sets.len() {
            "; bagwise data get NAME downloads one that has an address\n"
        } else {
            "\n"
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_that_come_along_have_their_digest_and_experiments_name_known_data() {
        for name in ["musk1", "elephant", "image1000"] {
            let set = datasets::known(name).unwrap();
            assert_eq!(set.digest_here().unwrap(), set.digest, "{name}");
        }
        let list = List { digests: None, sets: datasets::all().iter().collect() };
        assert_eq!(list.state(0), "yes");
        let experiment =
            std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments/isk-table-3.toml");
        let figure =
            std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments/mirsvm-figure-3.toml");
        let of_figure = missing(&Experiment::read(&figure, false).unwrap());
        let known = ["eastWest", "westEast", "suramin", "trx", "fox", "tiger", "musk2"];
        of_figure.iter().for_each(|name| assert!(known.contains(&name.as_str()), "{name}"));
        // What is here depends on the machine; all of it is known.
        for name in missing(&Experiment::read(&experiment, false).unwrap()) {
            assert!(["musk2", "fox", "tiger", "image2000"].contains(&name.as_str()), "{name}");
        }
    }
}
