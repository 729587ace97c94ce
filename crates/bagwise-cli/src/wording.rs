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

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn every_option_that_is_named_exists() {
        let settings = [
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
        ];
        let cli = crate::Cli::command();
        let known = ["evaluate", "compare", "fit", "predict"];
        let verbs: Vec<_> = cli.get_subcommands().filter(|v| known.contains(&v.get_name())).collect();
        for setting in settings {
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
}
