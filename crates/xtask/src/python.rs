//! Writes `python/bagwise/_estimators.py` from the registry: a class per method and task, with its parameters, their
//! defaults and their help, and their names into `__init__.py`. A method that joins the registry is a class in Python
//! after `cargo xtask python`.

use std::fmt::Write as _;
use std::path::PathBuf;

use anyhow::{Context as _, Result};
use bagwise::method::{Capability, Method};
use bagwise::methods::METHODS;
use bagwise::params::{Kind, ParamSpec};

use crate::run::{root, say};

/// Names of classes that the names of methods do not give. mi-SVM and MI-SVM differ by capitals alone, so that
/// their classes say what they choose.
const CLASSES: &[(&str, &str)] = &[
    ("mi-svm", "InstanceMISVM"),
    ("mi-svm-bag", "BagMISVM"),
    ("bow", "BagOfWords"),
    ("migraph", "MiGraph"),
    ("migraph-explicit", "ExplicitMIGraph"),
];

/// Words of methods' names that are abbreviations, and as such have capitals only.
const ACRONYMS: &[&str] = &[
    "acc", "apr", "cce", "dd", "ddv", "em", "emd", "fv", "gp", "isk", "knn", "lr", "mg", "mi", "mica", "mil",
    "miles", "mip", "mirsvm", "mmd", "nn", "nsk", "pca", "rbf", "sil", "stk", "svm", "svr", "tlc", "vlad",
    "wmksvm",
];

/// Words that are written in their own way.
const WORDS: &[(&str, &str)] = &[
    ("miboost", "MIBoost"),
    ("migraph", "MIGraph"),
    ("milboost", "MILBoost"),
    ("misssvm", "MissSVM"),
    ("misvm", "MISVM"),
];

/// Writes the files.
pub(crate) fn write() -> Result<()> {
    for (name, text) in files() {
        std::fs::write(path(name), text).with_context(|| format!("writing {name}"))?;
        say(&format!("wrote python/bagwise/{name}"));
    }
    Ok(())
}

fn path(name: &str) -> PathBuf {
    root().join("python/bagwise").join(name)
}

/// The classes, and their names in the package: it says what it has without loading it, in lists that type checkers
/// can read.
fn files() -> [(&'static str, String); 2] {
    let front = std::fs::read_to_string(path(FRONT)).unwrap_or_default();
    [("_estimators.py", module()), (FRONT, listed(&front))]
}

const FRONT: &str = "__init__.py";

/// What surrounds a list of names that is written here.
const BEGIN: &str = "# Written by `cargo xtask python`: estimators.\n";
const END: &str = "# End of estimators.\n";

const HEAD: &str = "\
\"\"\"Estimators, one per method and task. Written by `cargo xtask python` from the registry of methods: do not edit.\"\"\"

from __future__ import annotations

from typing import Any, ClassVar, Literal

from bagwise._base import BagClassifier, BagEstimator, BagRegressor, FeatureMap
from bagwise._options import MEMORY
";

/// Parameters of every estimator, behind those of the method: declaration, and what the documentation says.
const COMMON: &[(&str, &str)] = &[
    (
        "scale: str | None = None",
        "scale : {\"none\", \"minmax\", \"zscore\", \"maxabs\"}, optional\n    Scaling of features, fitted on \
         training bags. The default of this method is {SCALE}.",
    ),
    (
        "missing: Literal[\"refuse\", \"median\"] = \"refuse\"",
        "missing : {\"refuse\", \"median\"}, default=\"refuse\"\n    What to do with NaN: raise an error, \
         or fill in the median of the training bags.",
    ),
    (
        "precision: Literal[\"f64\", \"f32\"] = \"f64\"",
        "precision : {\"f64\", \"f32\"}, default=\"f64\"\n    Precision of kernel sums.",
    ),
    (
        "memory: float = MEMORY",
        "memory : float, default=4e9\n    Memory limit in bytes for Gram matrices, caches and copies.",
    ),
    (
        "random_state: Any = 0",
        "random_state : int, RandomState instance or None, default=0\n    The random seed. The same \
         seed gives the same numbers on any number of threads.\n    None means 0, so that results are reproducible \
         by default; a RandomState gives other numbers each time.",
    ),
    (
        "n_jobs: int | None = None",
        "n_jobs : int, optional\n    Number of threads: -1 for all cores, -2 for all but one. By default, the cores that joblib \
         assigns to\n    this process (``parallel_config``, its workers, containers).",
    ),
];

/// Further ones of classifiers.
const OF_CLASSIFIERS: &[(&str, &str)] = &[
    (
        "multiclass: Literal[\"one-vs-one\", \"one-vs-rest\"] | None = None",
        "multiclass : {\"one-vs-one\", \"one-vs-rest\"}, optional\n    Scheme for more than two classes. The \
         default of this method is {SCHEME}.",
    ),
    (
        "class_weight: Literal[\"balanced\"] | dict[Any, float] | None = None",
        "class_weight : {\"balanced\"} or dict, optional\n    ``\"balanced\"`` gives every class the same total \
         weight. A dictionary gives the cost of an error in each class.",
    ),
    (
        "decision_threshold: float | str | None = None",
        "decision_threshold : float or str, optional\n    Threshold of the decision value for the second of two classes: \
         ``\"recall=0.95\"``,\n    ``\"precision=0.9\"``, ``\"balanced\"`` (chosen on inner folds), or a number; 0 if not given.",
    ),
    (
        "inner: int = 5",
        "inner : int, default=5\n    Number of inner folds, on which probabilities are calibrated and thresholds chosen.",
    ),
    (
        "probability: bool = True",
        "probability : bool, default=True\n    Whether to calibrate probabilities. This trains another model for \
         every inner fold. If False, there\n    is no `predict_proba`.",
    ),
];

/// The name of each class, its method, and whether it predicts numbers.
fn classes() -> Vec<(String, &'static dyn Method, bool)> {
    let mut all = Vec::new();
    for method in METHODS {
        let name = class_name(method.info().name);
        all.push((format!("{name}Classifier"), *method, false));
        if method.info().regression {
            all.push((format!("{name}Regressor"), *method, true));
        }
    }
    all
}

fn names() -> Vec<String> {
    let mut names: Vec<String> = classes().into_iter().map(|c| c.0).collect();
    names.sort_unstable();
    names
}

/// The front page of the package with its two lists of estimators renewed: what type checkers import, and what there is.
fn listed(front: &str) -> String {
    let lists = ["        ", "    "].map(|indent| {
        let line = |name: &String| match indent.len() {
            8 => format!("{indent}{name},\n"),
            _ => format!("{indent}\"{name}\",\n"),
        };
        (indent, names().iter().map(line).collect::<String>())
    });
    let mut pieces = front.split(BEGIN);
    let mut page = pieces.next().unwrap_or_default().to_string();
    for (piece, (indent, list)) in pieces.zip(lists) {
        let rest = piece.split_once(END).map_or("", |(_, rest)| rest);
        page += &format!("{BEGIN}{list}{indent}{END}{rest}");
    }
    page
}

fn module() -> String {
    let all = classes();
    let mut page = String::from(HEAD);
    page += "\n__all__ = [\n";
    names().iter().for_each(|name| writeln!(page, "    \"{name}\",").expect("text grows"));
    page += "]\n";
    all.iter().for_each(|(name, method, regression)| page += &class(*method, name, *regression));
    page += "\n\n#: Classes by method and by whether they predict numbers.\n";
    page += "ESTIMATORS: dict[tuple[str, bool], type[BagEstimator]] = {\n";
    for (name, method, regression) in &all {
        let regression = if *regression { "True" } else { "False" };
        writeln!(page, "    (\"{}\", {regression}): {name},", method.info().name).expect("text grows");
    }
    page += "}\n";
    page
}

/// The class of a method: from the table, or every word of its name with a capital, abbreviations with capitals only.
fn class_name(method: &str) -> String {
    let word = |word: &str| match WORDS.iter().find(|(name, _)| *name == word) {
        Some((_, written)) => written.to_string(),
        None if ACRONYMS.contains(&word) => word.to_uppercase(),
        None => capital(word),
    };
    match CLASSES.iter().find(|(name, _)| *name == method) {
        Some((_, class)) => class.to_string(),
        None => method.split('-').map(word).collect(),
    }
}

fn class(method: &dyn Method, name: &str, regression: bool) -> String {
    let info = method.info();
    let own: Vec<&ParamSpec> = method.params().iter().filter(|p| p.applies(regression)).collect();
    let further = if regression { &[][..] } else { OF_CLASSIFIERS };
    let common = || further.iter().chain(COMMON);
    let base = if regression { "BagRegressor" } else { "BagClassifier" };
    // Estimators of methods with a feature map are transformers as well.
    let map = if info.has(Capability::FeatureMap) { "FeatureMap, " } else { "" };
    let mut text = format!("\n\nclass {name}({map}{base}):\n");
    text += &indented(4, &documentation(method, name, regression, &own, common().map(|c| c.1)));
    writeln!(text, "\n    _method: ClassVar[str] = \"{}\"", info.name).expect("text grows");
    let pairs: Vec<String> =
        own.iter().map(|p| format!("\"{}\": \"{}\"", argument(p.name), p.name)).collect();
    let line = format!("    _parameters: ClassVar[dict[str, str]] = {{{}}}\n", pairs.join(", "));
    if line.chars().count() <= 120 {
        text += &line;
    } else {
        text += "    _parameters: ClassVar[dict[str, str]] = {\n";
        pairs.iter().for_each(|pair| writeln!(text, "        {pair},").expect("text grows"));
        text += "    }\n";
    }
    text += "\n    def __init__(\n        self,\n        *,\n";
    for p in &own {
        writeln!(text, "        {}: {} = {},", argument(p.name), annotation(p), default(p))
            .expect("text grows");
    }
    common().for_each(|(declaration, _)| writeln!(text, "        {declaration},").expect("text grows"));
    text += "    ) -> None:\n";
    let names = own.iter().map(|p| argument(p.name));
    let names = names.chain(common().map(|c| c.0.split(':').next().unwrap_or_default().to_string()));
    names.for_each(|n| writeln!(text, "        self.{n} = {n}").expect("text grows"));
    text
}

fn documentation<'c>(
    method: &dyn Method,
    name: &str,
    regression: bool,
    own: &[&ParamSpec],
    common: impl Iterator<Item = &'c str>,
) -> String {
    let info = method.info();
    let mut page = format!("\"\"\"{}.\n\n{}\n\n", capital(info.title), wrapped(info.about, 112));
    writeln!(page, "On the command line this is ``{}``. Explanations: {}.\n", info.name, info.explains)
        .expect("text grows");
    page += "Parameters\n----------\n";
    for p in own {
        // As numpydoc writes what the annotation says.
        let kind = annotation(p).replace("Literal[", "{").replace(']', "}").replace(" | ", " or ");
        writeln!(page, "{} : {kind}, default={}", argument(p.name), default(p)).expect("text grows");
        let help = match p.kind {
            Kind::Word(_) => sentence(p.help),
            _ => format!("{} It takes {}.", sentence(p.help), p.kind.expects()),
        };
        page += &indented(4, &wrapped(&help, 108));
    }
    for text in common {
        writeln!(
            page,
            "{}",
            text.replace("{SCALE}", info.scale.name()).replace("{SCHEME}", method.scheme().name())
        )
        .expect("text grows");
    }
    page += "\nAttributes\n----------\n";
    if !regression {
        page += "classes_ : ndarray of shape (n_classes,)\n    The classes in ascending order.\n";
    }
    page += "n_features_in_ : int\n    Number of features.\n";
    page += "feature_names_in_ : ndarray of shape (n_features_in_,)\n    Names of features, if the bags had any.\n";
    page += "model_ : object\n    The trained model.\n";
    if own.iter().any(|p| p.name == "max-iter") {
        page += "n_iter_ : int\n    Rounds until the choice of instances settled, of the machine that took longest.\n";
    }
    writeln!(page, "\nReferences\n----------\n{}", wrapped(info.reference, 112)).expect("text grows");
    page += "\nExamples\n--------\n>>> import bagwise\n";
    page += ">>> data = bagwise.read(\"synthetic:gauss?bags=30&features=3\")\n";
    let y = if regression { "data.bags.sizes()" } else { "data.y" };
    writeln!(page, ">>> model = bagwise.{name}().fit(data.bags, {y})").expect("text grows");
    page += ">>> model.predict(data.bags[:2]).shape\n(2,)\n\"\"\"";
    page
}

/// The name of a parameter in Python. One that is a word of the language, or that every estimator has, gets a `_`.
fn argument(name: &str) -> String {
    const WORDS: &[&str] =
        &["lambda", "class", "from", "in", "is", "with", "global", "pass", "if", "not", "or"];
    let name = name.replace('-', "_");
    let known = |(declaration, _): &(&str, &str)| declaration.split(':').next() == Some(name.as_str());
    let taken = OF_CLASSIFIERS.iter().chain(COMMON).any(known) || WORDS.contains(&name.as_str());
    if taken { name + "_" } else { name }
}

fn annotation(p: &ParamSpec) -> String {
    match p.kind {
        Kind::Word(words) => {
            format!("Literal[{}]", words.iter().map(|w| format!("\"{w}\"")).collect::<Vec<_>>().join(", "))
        }
        Kind::Number { .. } | Kind::AtLeast { .. } | Kind::Share => "float".into(),
        Kind::Whole { words: [], .. } => "int".into(),
        Kind::Names { .. } => "str".into(),
        // Widths, fractions and whatever comes: a number, or text as the command line has it.
        _ => "float | str".into(),
    }
}

/// The default as Python writes it: numbers as numbers, all else as text.
fn default(p: &ParamSpec) -> String {
    match p.default.parse::<f64>() {
        Ok(number) if number.is_finite() => p.default.to_string(),
        _ => format!("\"{}\"", p.default),
    }
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

/// Help as a sentence.
fn sentence(help: &str) -> String {
    let help = capital(help.trim());
    if help.ends_with('.') { help } else { help + "." }
}

fn wrapped(text: &str, width: usize) -> String {
    let mut lines: Vec<String> = vec![String::new()];
    for word in text.split_whitespace() {
        let line = lines.last_mut().expect("there is a line");
        if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > width {
            lines.push(word.into());
        } else {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    // Backslashes and quotes would mean something in a docstring.
    lines.join("\n").replace('\\', "\\\\").replace("\"\"\"", "'''")
}

fn indented(by: usize, text: &str) -> String {
    let line = |l: &str| if l.is_empty() { "\n".into() } else { format!("{:by$}{l}\n", "") };
    text.lines().map(line).collect::<String>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_estimators_are_fresh() {
        for (name, text) in files() {
            let found = std::fs::read_to_string(path(name)).unwrap_or_default();
            assert!(found == text, "python/bagwise/{name} is stale: cargo xtask python writes it");
        }
    }

    #[test]
    fn a_method_has_a_class_whether_it_is_in_the_table_or_not() {
        for (method, class) in [
            ("majority", "Majority"),
            ("mi-kernel", "MIKernel"),
            ("simple-mi", "SimpleMI"),
            ("mg-ddv", "MGDDV"),
            ("dd-svm", "DDSVM"),
            ("mi-svm", "InstanceMISVM"),
            ("migraph-explicit", "ExplicitMIGraph"),
            // Methods that others have.
            ("citation-knn", "CitationKNN"),
            ("misvm", "MISVM"),
            ("emd-svm", "EMDSVM"),
            ("milboost", "MILBoost"),
            ("miles", "MILES"),
            ("mi-lr", "MILR"),
            ("gp-mil", "GPMIL"),
            ("mmd-kernel", "MMDKernel"),
            ("some-new-one", "SomeNewOne"),
        ] {
            assert_eq!(class_name(method), class);
        }
        assert_eq!(argument("max-iterations"), "max_iterations");
        assert_eq!(argument("lambda"), "lambda_");
        assert_eq!(argument("memory"), "memory_");
        assert_eq!(argument("threshold"), "threshold");
    }

    /// Python shows defaults in its signatures, so they are written there again; they are those of the library.
    #[test]
    fn defaults_of_folds_are_those_of_the_library() {
        let own = format!("inner: int = {}", bagwise::INNER_FOLDS);
        let written = |text: &str| -> Vec<String> {
            let lines = text.lines().map(str::trim).filter(|line| line.starts_with("inner: int = "));
            lines.map(|line| line.trim_end_matches(',').to_string()).collect()
        };
        for name in ["_judge.py", "_estimators.py"] {
            let found = written(&std::fs::read_to_string(path(name)).unwrap());
            assert!(!found.is_empty() && found.iter().all(|line| *line == own), "{name}: {found:?}");
        }
    }
}
