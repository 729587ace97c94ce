//! `bagwise show`: prints a model card: training data and method, estimated performance, threshold, required columns,
//! and versions.

use std::path::PathBuf;

use anyhow::Result;
use bagwise::io::files::read_bounded;
use bagwise::methods;
use bagwise::model::{Model, ModelHeader};
use bagwise::params::Point;
use bagwise::preprocess::Scale;
use bagwise_report::sha256;

use crate::args::remembered_words;
use crate::output::{BOLD, Object, Output, Rows, Style};
use crate::session::{Outcome, Session};

/// Show how a saved model was trained, and which columns it needs
#[derive(clap::Args)]
#[command(after_help = HELP)]
pub(crate) struct Args {
    /// A model file from bagwise fit
    #[arg(value_name = "MODEL")]
    model: PathBuf,
}

const HELP: &str = "\
The estimate is the value of the metric over the inner folds that chose the parameters. If there was a choice, it is optimistic; \
bagwise evaluate estimates how well the method predicts new bags, and bagwise evaluate --model scores this model on labelled bags. \
The digest is the SHA-256 of the file, as sha256sum prints it. --format json lists all columns and parameters.

Examples:
  bagwise show musk1.bagwise
  bagwise show m.bagwise --format json";

pub(crate) fn run(args: &Args, session: &Session) -> Result<Outcome> {
    let model = Model::load(&args.model)?;
    let bytes = read_bounded(&args.model, "a model", u64::MAX)?;
    let digest: String = sha256(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    session.print(&Card {
        model: &model,
        file: args.model.display().to_string(),
        bytes: bytes.len(),
        digest,
    })?;
    Ok(Outcome::Done)
}

struct Card<'a> {
    model: &'a Model,
    file: String,
    bytes: usize,
    digest: String,
}

/// So many columns are named for people.
const FEW_COLUMNS: usize = 8;

impl Card<'_> {
    fn header(&self) -> &ModelHeader {
        &self.model.header
    }

    /// What is predicted, with the bags of each class.
    fn predicts(&self) -> String {
        let header = self.header();
        if header.classes.is_empty() {
            let range = header.training.range.map(|(low, high)| format!(" from {low} to {high}"));
            return format!("numbers{}", range.unwrap_or_default());
        }
        let bags =
            |at: usize| header.training.class_bags.get(at).map_or(String::new(), |n| format!(" ({n} bags)"));
        let classes: Vec<String> =
            header.classes.iter().enumerate().map(|(at, class)| format!("{class}{}", bags(at))).collect();
        let positive = match header.classes.len() {
            2 => format!("; positive class {}", self.model.positive_name()),
            _ => String::new(),
        };
        format!("classes {}{positive}", classes.join(", "))
    }

    fn data(&self) -> String {
        let training = &self.header().training;
        let groups = training.groups.map_or(String::new(), |n| format!(", {n} groups"));
        let filled =
            if self.header().transform.fills_gaps() { ", missing values filled by medians" } else { "" };
        format!("{}: {} bags, {} instances{groups}{filled}", training.data, training.bags, training.instances)
    }

    /// Whether inner folds chose among several points, so that their value flatters.
    fn optimistic(&self) -> bool {
        self.header().training.points > 1
    }

    fn estimate(&self) -> String {
        let training = &self.header().training;
        let Some(value) = training.inner_value else { return "none: no inner folds were trained".into() };
        let folds = match training.inner_folds {
            0 => "inner folds".into(),
            folds => format!("{folds} inner folds"),
        };
        let of = match (training.points, training.methods) {
            (0 | 1, _) => String::new(),
            (points, 0 | 1) => {
                format!("; optimistic, because the best of {points} parameter combinations was taken")
            }
            (points, methods) => format!(
                "; optimistic, because the best of {points} parameter combinations of {methods} methods was taken"
            ),
        };
        let constant = training
            .constant_value
            .map_or(String::new(), |v| format!(", where a constant prediction has {v:.3}"));
        format!("{} {value:.3} over {folds}{constant}{of}", training.chosen_by)
    }

    fn decides(&self) -> Option<String> {
        let header = self.header();
        (header.classes.len() == 2).then(|| match header.threshold {
            Some(threshold) => {
                format!("a score of {threshold:.4} or more is predicted as {}", self.model.positive_name())
            }
            None => format!("a score above 0 is predicted as {}", self.model.positive_name()),
        })
    }

    fn columns(&self) -> String {
        let features = &self.header().features;
        let names: Vec<&str> = features.iter().take(FEW_COLUMNS).map(|f| f.name.as_str()).collect();
        let more = if features.len() > FEW_COLUMNS { ", …" } else { "" };
        let categories = features.iter().filter(|f| f.is_categorical()).count();
        let categories =
            if categories > 0 { format!(", {categories} of them categories") } else { String::new() };
        format!("{} features{categories}: {}{more}", features.len(), names.join(", "))
    }

    fn read_with(&self) -> String {
        let words = self.header().reading.as_ref().map(remembered_words);
        words.filter(|w| !w.is_empty()).map_or("no options".into(), |words| words.trim_start().to_string())
    }

    fn explains(&self) -> String {
        let members = self.model.members();
        if !members.is_empty() {
            return members_explain(members.into_iter().map(|(method, _, point, _)| (method, point)));
        }
        methods::find(&self.header().method).map_or(String::new(), |m| m.info().explains.to_string())
    }

    fn scaling(&self) -> String {
        match self.header().method.as_str() {
            _ if !self.model.members().is_empty() => "each member has its own".into(),
            _ => self.header().transform.scale.name().to_string(),
        }
    }

    /// The lines of the card.
    fn lines(&self) -> Vec<(&'static str, String)> {
        let header = self.header();
        let training = &header.training;
        let mut lines = vec![
            ("method", format!("{} {}", header.method, header.parameters).trim_end().to_string()),
            ("scaling", self.scaling()),
            ("predicts", self.predicts()),
            ("data", self.data()),
            ("estimate", self.estimate()),
        ];
        for (at, member) in members(self.model).into_iter().enumerate() {
            lines.insert(1 + at, ("member", member));
        }
        if let Some(value) = training.nested_value {
            lines.push((
                "honest",
                format!(
                    "{} {value:.3} over {} folds, parameters chosen inside each",
                    training.chosen_by,
                    self.model.conformal_folds()
                ),
            ));
        }
        lines.extend(self.decides().map(|text| ("threshold", text)));
        if !header.classes.is_empty() {
            let told = if header.calibration.is_fitted() { "calibrated on inner folds" } else { "none" };
            lines.push(("probabilities", told.into()));
        }
        let coverage = match self.model.conformal_folds() {
            0 => "no models of folds; bagwise fit --conformal stores them".into(),
            folds => format!("bagwise predict --coverage works, with the models of {folds} folds"),
        };
        lines.push(("coverage", coverage));
        lines.push(("explanations", self.explains()));
        lines.push(("columns", self.columns()));
        lines.push(("read with", self.read_with()));
        if training.not_converged > 0 {
            let of = header.tasks.len();
            lines.push(("converged", format!("{} of {of} binary models", of - training.not_converged)));
        }
        lines.push(("seed", training.seed.to_string()));
        lines.push(("written by", format!("bagwise {}, model format {}", header.version, header.format)));
        if !training.fingerprint.is_empty() {
            lines.push(("data digest", training.fingerprint.clone()));
        }
        lines.push(("digest", format!("sha256 {}, {} bytes", self.digest, self.bytes)));
        lines
    }
}

/// How an ensemble of these members explains its predictions, or which member is why it cannot.
fn members_explain<'m>(members: impl Iterator<Item = (&'m str, &'m Point)>) -> String {
    let why_not = |(name, point): (&str, &Point)| {
        let explains = methods::find(name).ok()?.info().explains;
        explains.why_not(point).map(|why| format!("{name} ({why})"))
    };
    let without: Vec<String> = members.filter_map(why_not).collect();
    match &without[..] {
        [] => "additive: the weighted sum of those of the members".into(),
        [one] => format!("none: this member cannot explain its predictions: {one}"),
        several => format!("none: these members cannot explain their predictions: {}", several.join(", ")),
    }
}

/// The members of an ensemble, a line for each.
pub(crate) fn members(model: &Model) -> Vec<String> {
    let line = |(method, scale, point, share): (&str, Scale, &Point, f64)| {
        let table = methods::find(method).map_or(&[][..], |m| m.params());
        format!("{share:.2} {method} {}, scaling {}", point.relevant(table), scale.name())
    };
    model.members().into_iter().map(line).collect()
}

/// The same for programs.
pub(crate) fn members_json(model: &Model) -> Option<Vec<serde_json::Value>> {
    let one = |(method, scale, point, share): (&str, Scale, &Point, f64)| serde_json::json!({ "method": method, "scaling": scale.name(), "parameters": point, "share": share });
    Some(model.members().into_iter().map(one).collect::<Vec<_>>()).filter(|all| !all.is_empty())
}

impl Output for Card<'_> {
    fn json(&self) -> Result<String> {
        let header = self.header();
        let training = &header.training;
        let mut data = Object::default();
        data.put("name", &training.data).put("bags", training.bags).put("instances", training.instances);
        data.put("groups", training.groups)
            .put("class_bags", &training.class_bags)
            .put("range", training.range);
        data.put("fingerprint", &training.fingerprint);
        let mut estimate = Object::default();
        estimate.put("metric", &training.chosen_by).put("value", training.inner_value);
        estimate.put("constant_value", training.constant_value);
        estimate.put("inner_folds", training.inner_folds).put("methods", training.methods);
        estimate.put("points", training.points).put("optimistic", self.optimistic());
        estimate.put("nested_value", training.nested_value);
        let mut object = Object::default();
        object.put("file", &self.file).put("method", &header.method).put("parameters", &header.parameters);
        object.put("scaling", header.transform.scale.name()).put("classes", &header.classes);
        object.put("members", members_json(self.model));
        object.put("positive", Some(self.model.positive_name()).filter(|_| header.classes.len() == 2));
        object.put_object("data", data).put_object("estimate", estimate);
        object.put("threshold", header.threshold).put("threshold_met", training.threshold_met);
        object.put("probabilities", header.calibration.is_fitted()).put("explanations", self.explains());
        object.put("conformal_folds", self.model.conformal_folds());
        object.put("columns", header.features.iter().map(|f| &f.name).collect::<Vec<_>>());
        object.put("reading", &header.reading).put("machines", header.tasks.len());
        object.put("not_converged", training.not_converged).put("seed", training.seed);
        object.put("version", &header.version).put("format", header.format);
        object.put("bytes", self.bytes).put("sha256", &self.digest);
        Ok(serde_json::to_string_pretty(&object)?)
    }

    fn csv(&self) -> Rows {
        let mut rows = Rows::new(["what", "value"]);
        for (what, value) in self.lines() {
            rows.push(vec![what.into(), value]);
        }
        rows
    }

    fn text(&self, paint: Style) -> String {
        let mut page = format!("{}\n\n", paint.paint(&self.file, BOLD));
        for (what, value) in self.lines() {
            page += &format!("{what:<13} {value}\n");
        }
        page
    }
}

#[cfg(test)]
mod tests {
    use bagwise::params::{Grid, WhenUnset};

    use super::*;

    fn point(method: &str, given: &[(&str, &str)]) -> Point {
        let given: Vec<(String, String)> =
            given.iter().map(|(p, v)| (p.to_string(), v.to_string())).collect();
        let table = methods::find(method).unwrap().params();
        Grid::new(method, table, &given, WhenUnset::Default, false).unwrap().points.remove(0)
    }

    #[test]
    fn an_ensemble_names_the_member_that_cannot_explain() {
        let said = |members: &[(&str, &[(&str, &str)])]| {
            let points: Vec<Point> = members.iter().map(|(method, given)| point(method, given)).collect();
            members_explain(members.iter().map(|(method, _)| *method).zip(&points))
        };
        let linear: &[(&str, &str)] = &[("kernel", "linear")];
        assert!(said(&[("mi-kernel", &[]), ("simple-mi", linear)]).starts_with("additive"));
        let none = said(&[("mi-kernel", &[]), ("emd", &[]), ("simple-mi", &[("kernel", "rbf")])]);
        assert!(none.starts_with("none: these members cannot explain their predictions: emd ("), "{none}");
        assert!(none.ends_with("simple-mi (kernel is not linear)"), "{none}");
        let none = said(&[("mil-net", &[("pool", "lse")])]);
        assert!(none.ends_with("mil-net (pool is lse)"), "{none}");
    }
}
