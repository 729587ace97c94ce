//! The options of the command line for the settings that messages of the library name, and its command for a data set that is not here.

use bagwise::Setting;
use bagwise::datasets::{KnownDataset, Origin};

use crate::output::quoted;

/// The option that sets it, with the value that would help or what stands for one.
pub(crate) fn option(setting: &Setting) -> String {
    let named = |option: &str, name: &Option<String>| match name {
        Some(name) => format!("{option} {}", quoted(name)),
        None => option.into(),
    };
    match setting {
        Setting::Memory => "--memory".into(),
        Setting::MaxInstances => "--max-instances".into(),
        Setting::AllowMissing | Setting::FillMissing => "--missing median".into(),
        Setting::Scale(names) => format!("--scale {}", names.join(" or ")),
        Setting::Parameter(name, value) => format!("-p {name}={value}"),
        Setting::Task(name) => format!("--task {name}"),
        Setting::Conformal => "bagwise fit --conformal".into(),
        Setting::Coverage => "--coverage".into(),
        Setting::Folds => "--folds".into(),
        Setting::Inner => "--inner".into(),
        Setting::GivenFolds => "--fold-column COLUMN or --fold-file FILE".into(),
        Setting::Budget => "--budget".into(),
        Setting::Optimize(metric) => format!("--optimize {metric}"),
        Setting::Protocol(name) => format!("--protocol {name}"),
        Setting::InputFormat => "--input-format".into(),
        Setting::ReadWhole => "--stream=never".into(),
        Setting::SourceFile => "--from FILE".into(),
        Setting::DataFolder => "--to FOLDER".into(),
        Setting::Header => "--header".into(),
        Setting::NoHeader => "--no-header".into(),
        Setting::Delimiter => "--delimiter".into(),
        Setting::Decimal => "--decimal".into(),
        Setting::Thousands => "--thousands".into(),
        Setting::Encoding => "--encoding".into(),
        Setting::MissingValues(text) => named("--missing-values", text),
        Setting::Labels => "--labels FILE".into(),
        Setting::Bag => "--bag COLUMN".into(),
        Setting::Label => "--label COLUMN".into(),
        Setting::Group => "--group COLUMN".into(),
        Setting::GroupColumn(name) => format!("--group {}", quoted(name)),
        Setting::InstanceLabel => "--instance-label COLUMN".into(),
        Setting::Keep => "--keep".into(),
        Setting::Overwrite => "--force".into(),
        Setting::Ignore(name) => named("--ignore", name),
        Setting::Categorical(name) => named("--categorical", name),
    }
}

/// How to get a data set that is in neither of the folders where it was looked for.
pub(crate) fn how_to_get(set: &KnownDataset) -> String {
    match set.origin {
        Origin::Shipped => {
            format!("copy data/{}.csv.gz from the repository of bagwise to one of them", set.name)
        }
        Origin::GitHub { .. } => format!("bagwise data get {}", set.name),
    }
}

/// The words for a setting in an experiment, whose file says what other verbs have options for. What it cannot say is for `bagwise convert`, which
/// writes data that need no options.
pub(crate) fn in_experiment(setting: &Setting) -> String {
    let data = |key: &str, value: &str| format!("`{key} = \"{value}\"` of its [[data]]");
    let key = |key: &str| format!("`{key}` of its [[data]]");
    match setting {
        Setting::Memory | Setting::Overwrite | Setting::Conformal => option(setting),
        Setting::Coverage | Setting::ReadWhole => format!("bagwise predict {}", option(setting)),
        Setting::Scale(names) => format!("`scale = \"{}\"` of the method", names.join("\" or \"")),
        Setting::Parameter(name, value) => format!("`params = {{ {name} = \"{value}\" }}` of the method"),
        Setting::Task(name) => data("task", name),
        Setting::Folds => "`folds` of [protocol], or of the `protocol` of its [[data]]".into(),
        Setting::Inner => "`inner` of [protocol], or of the `protocol` of its [[data]]".into(),
        Setting::Optimize(metric) => format!("`metric = \"{metric}\"`"),
        Setting::Protocol(name) => format!("`name = \"{name}\"` of [protocol]"),
        Setting::Bag => key("bag"),
        Setting::Label => key("label"),
        Setting::Group => key("group"),
        Setting::GroupColumn(name) => data("group", name),
        Setting::Keep => key("keep"),
        Setting::Ignore(None) => key("ignore"),
        Setting::Ignore(Some(name)) => format!("`ignore = [\"{name}\"]` of its [[data]]"),
        // No experiment has its own folds, fills gaps or stops after a time.
        Setting::GivenFolds | Setting::FillMissing | Setting::AllowMissing | Setting::Budget => {
            format!("bagwise compare {}", option(setting))
        }
        Setting::SourceFile | Setting::DataFolder => format!("bagwise data get {}", option(setting)),
        other => format!("bagwise convert {}", option(other)),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    /// The setting after another. There is no arm for the rest, so that a new one does not compile until it is in this row.
    fn next(setting: &Setting) -> Option<Setting> {
        Some(match setting {
            Setting::Memory => Setting::MaxInstances,
            Setting::MaxInstances => Setting::AllowMissing,
            Setting::AllowMissing => Setting::FillMissing,
            Setting::FillMissing => Setting::Scale(&["none", "maxabs"]),
            Setting::Scale(_) => Setting::Parameter("tol", "1e-6"),
            Setting::Parameter(_, _) => Setting::Task("regression"),
            Setting::Task(_) => Setting::Conformal,
            Setting::Conformal => Setting::Coverage,
            Setting::Coverage => Setting::Folds,
            Setting::Folds => Setting::Inner,
            Setting::Inner => Setting::GivenFolds,
            Setting::GivenFolds => Setting::Budget,
            Setting::Budget => Setting::Optimize("roc_auc"),
            Setting::Optimize(_) => Setting::Protocol("nested"),
            Setting::Protocol(_) => Setting::InputFormat,
            Setting::InputFormat => Setting::ReadWhole,
            Setting::ReadWhole => Setting::SourceFile,
            Setting::SourceFile => Setting::DataFolder,
            Setting::DataFolder => Setting::Header,
            Setting::Header => Setting::NoHeader,
            Setting::NoHeader => Setting::Delimiter,
            Setting::Delimiter => Setting::Decimal,
            Setting::Decimal => Setting::Thousands,
            Setting::Thousands => Setting::Encoding,
            Setting::Encoding => Setting::MissingValues(None),
            Setting::MissingValues(None) => Setting::MissingValues(Some("n.d.".into())),
            Setting::MissingValues(Some(_)) => Setting::Labels,
            Setting::Labels => Setting::Bag,
            Setting::Bag => Setting::Label,
            Setting::Label => Setting::Group,
            Setting::Group => Setting::GroupColumn("patient".into()),
            Setting::GroupColumn(_) => Setting::InstanceLabel,
            Setting::InstanceLabel => Setting::Keep,
            Setting::Keep => Setting::Overwrite,
            Setting::Overwrite => Setting::Ignore(None),
            Setting::Ignore(None) => Setting::Ignore(Some("a b".into())),
            Setting::Ignore(Some(_)) => Setting::Categorical(None),
            Setting::Categorical(None) => Setting::Categorical(Some("a b".into())),
            Setting::Categorical(Some(_)) => return None,
        })
    }

    fn all() -> Vec<Setting> {
        std::iter::successors(Some(Setting::Memory), next).collect()
    }

    #[test]
    fn every_option_that_is_named_exists() {
        let cli = crate::Cli::command();
        let known = ["evaluate", "compare", "fit", "predict"];
        let verbs: Vec<_> = cli.get_subcommands().filter(|v| known.contains(&v.get_name())).collect();
        let of_downloads = |s: &Setting| matches!(s, Setting::SourceFile | Setting::DataFolder);
        for setting in all().into_iter().filter(|s| !of_downloads(s)) {
            let option = option(&setting);
            let name =
                option.strip_prefix("bagwise fit ").unwrap_or(&option).split([' ', '=']).next().unwrap();
            let options = verbs.iter().flat_map(|verb| verb.get_arguments());
            let exists = cli.get_arguments().chain(options).any(|a| {
                let long = a.get_long().map(|l| format!("--{l}"));
                let short = a.get_short().map(|s| format!("-{s}"));
                [long, short].into_iter().flatten().any(|o| o == name)
            });
            assert!(exists, "{setting:?} is called {option}, and no verb that judges has {name}");
        }
    }

    #[test]
    fn options_of_downloads_exist() {
        let cli = crate::Cli::command();
        let data = cli.find_subcommand("data").unwrap();
        let get = data.get_subcommands().find(|v| v.get_name() == "get").unwrap();
        for setting in [Setting::SourceFile, Setting::DataFolder] {
            let option = option(&setting);
            let long = option.strip_prefix("--").unwrap().split(' ').next();
            assert!(get.get_arguments().any(|a| a.get_long() == long), "{option}");
        }
    }

    #[test]
    fn in_an_experiment_no_option_is_named_that_its_verb_lacks() {
        let cli = crate::Cli::command();
        for setting in all() {
            let words = in_experiment(&setting);
            let of_other = words.strip_prefix("bagwise ").map(|rest| rest.split_once(' ').unwrap());
            let (verb, option) = of_other.unwrap_or(("run", &words));
            let Some(long) = option.strip_prefix("get ").unwrap_or(option).strip_prefix("--") else {
                assert!(option.starts_with('`'), "{setting:?} is called {words}");
                continue;
            };
            let long = long.split([' ', '=']).next().unwrap();
            let verb = cli.get_subcommands().find(|v| v.get_name() == verb).unwrap();
            // `data get` is a verb of a verb.
            let below = verb.get_subcommands().filter(|v| option.starts_with(&format!("{} ", v.get_name())));
            let below: Vec<_> = below.flat_map(|v| v.get_arguments()).collect();
            let mut options = cli.get_arguments().chain(verb.get_arguments()).chain(below);
            assert!(options.any(|a| a.get_long() == Some(long)), "{setting:?} is called {words}");
        }
    }

    #[test]
    fn what_comes_with_the_repository_is_not_downloaded() {
        let how = |name: &str| how_to_get(bagwise::datasets::find(name).unwrap());
        assert_eq!(how("fox"), "bagwise data get fox");
        assert_eq!(how("musk2"), "copy data/musk2.csv.gz from the repository of bagwise to one of them");
    }

    #[test]
    fn keys_of_an_experiment_exist_where_they_are_said_to_be() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.toml");
        let refused = |key: &str, section: &str| {
            let at = |own: &str| if own == section { format!("{key} = 1\n") } else { String::new() };
            let text = [
                at(""),
                "title = 't'\nsource = 's'\nmetric = 'accuracy'\n[protocol]\n".into(),
                at("of [protocol]"),
                "[[data]]\nname = 'musk1'\n".into(),
                at("of its [[data]]"),
                "[[method]]\nname = 'm'\nmethod = 'majority'\n".into(),
                at("of the method"),
            ];
            assert!(text.iter().any(|part| part.ends_with("= 1\n")), "{section} is no part of an experiment");
            std::fs::write(&path, text.concat()).unwrap();
            crate::experiment::Experiment::read(&path, false).err().map_or(String::new(), |e| e.to_string())
        };
        assert!(refused("colour", "of the method").contains("unknown field `colour`"));
        let mut count = 0;
        for words in all().iter().map(in_experiment).filter(|words| words.starts_with('`')) {
            let (said, section) = words[1..].split_once('`').unwrap();
            // Not where else it may be.
            let section = section.split(", or ").next().unwrap();
            let error = refused(said.split('=').next().unwrap().trim(), section.trim());
            assert!(!error.contains("unknown field"), "{words}: {error}");
            count += 1;
        }
        assert!(count > 10, "{count} keys");
    }
}
