//! The options of the command line for the settings that messages of the library name.

use bagwise::Setting;

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

/// The same in an experiment, whose file says what other verbs have options for. What it cannot say is for `bagwise convert`, which
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
        Setting::Folds => "`folds` of [protocol]".into(),
        Setting::Inner => "`inner` of [protocol]".into(),
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

    fn all() -> Vec<Setting> {
        vec![
            Setting::Memory,
            Setting::MaxInstances,
            Setting::AllowMissing,
            Setting::FillMissing,
            Setting::Scale(&["none", "maxabs"]),
            Setting::Parameter("tol", "1e-6"),
            Setting::Task("regression"),
            Setting::Conformal,
            Setting::Coverage,
            Setting::Folds,
            Setting::Inner,
            Setting::GivenFolds,
            Setting::Budget,
            Setting::Optimize("roc_auc"),
            Setting::Protocol("nested"),
            Setting::InputFormat,
            Setting::ReadWhole,
            Setting::Header,
            Setting::NoHeader,
            Setting::Delimiter,
            Setting::Decimal,
            Setting::Thousands,
            Setting::Encoding,
            Setting::MissingValues(Some("n.d.".into())),
            Setting::Labels,
            Setting::Bag,
            Setting::Label,
            Setting::Group,
            Setting::GroupColumn("patient".into()),
            Setting::InstanceLabel,
            Setting::Keep,
            Setting::Overwrite,
            Setting::Ignore(None),
            Setting::Categorical(Some("a b".into())),
        ]
    }

    #[test]
    fn every_option_that_is_named_exists() {
        let cli = crate::Cli::command();
        let known = ["evaluate", "compare", "fit", "predict"];
        let verbs: Vec<_> = cli.get_subcommands().filter(|v| known.contains(&v.get_name())).collect();
        for setting in all() {
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
            let Some(long) = option.strip_prefix("--") else {
                assert!(option.starts_with('`'), "{setting:?} is called {words}");
                continue;
            };
            let long = long.split([' ', '=']).next().unwrap();
            let verb = cli.get_subcommands().find(|v| v.get_name() == verb).unwrap();
            let mut options = cli.get_arguments().chain(verb.get_arguments());
            assert!(options.any(|a| a.get_long() == Some(long)), "{setting:?} is called {words}");
        }
    }
}
