//! The figures of an experiment: what is drawn, from which data, by which methods.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use bagwise::preprocess::Scale;
use bagwise::{MethodConfig, methods};
use serde::Deserialize;

/// A figure.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct FigureSettings {
    /// Its name in the paper.
    pub(crate) title: String,
    /// What to see in it, and what is known to differ.
    #[serde(default)]
    pub(crate) note: String,
    /// What is drawn.
    pub(crate) shows: FigureKind,
    /// Names of data sets, or files beside the experiment.
    #[serde(default)]
    pub(crate) data: Vec<String>,
    /// What was printed, in a file beside the experiment.
    pub(crate) printed: Option<PathBuf>,
    /// Of `boundary`: printed numbers that go with it, in another file.
    pub(crate) numbers: Option<PathBuf>,
    /// Of `shared-cells`: what runs along the axis, the values it takes, and the distance of the centres where that is not it.
    pub(crate) along: Option<FigureAxis>,
    #[serde(default)]
    pub(crate) values: Vec<f64>,
    pub(crate) distance: Option<f64>,
    /// Of `concept-weights`: learn from the first of this many folds.
    pub(crate) folds: Option<usize>,
    /// The methods.
    pub(crate) method: Vec<FigureMethod>,
}

/// What a figure shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum FigureKind {
    /// The kernel between four points in a cross and the same, shifted in the plane; a panel for each method.
    KernelMap,
    /// The kernel between two crosses, in a sparse and in a dense region, along a line of values.
    SharedCells,
    /// How much concepts are believed.
    ConceptWeights,
    /// Boundary and margins in the plane; a panel for each method.
    Boundary,
    /// How many bags keep their representative from round to round; a panel for each data set.
    Convergence,
}

/// What runs along an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum FigureAxis {
    /// The parameter psi.
    Psi,
    /// The distance of two centres.
    Distance,
}

/// A method of a figure.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct FigureMethod {
    /// Its name in the figure.
    pub(crate) name: String,
    method: String,
    #[serde(default)]
    scale: Scaling,
    #[serde(default)]
    params: BTreeMap<String, String>,
    /// Of figures in the plane: random points left and right of the middle, from which partitions are drawn.
    pub(crate) background: Option<[usize; 2]>,
}

/// A scaling by name; none if nothing is said.
#[derive(Clone, Deserialize)]
#[serde(try_from = "String")]
struct Scaling(Scale);

impl Default for Scaling {
    fn default() -> Scaling {
        Scaling(Scale::None)
    }
}

impl TryFrom<String> for Scaling {
    type Error = bagwise::Error;

    fn try_from(name: String) -> bagwise::Result<Scaling> {
        Ok(Scaling(name.parse()?))
    }
}

/// Points of a background on one side: a figure shows no more.
const MOST_POINTS: usize = 1_000_000;

impl FigureMethod {
    /// The method with its parameters, and with `more`.
    pub(crate) fn config(&self, more: &[(&str, String)]) -> MethodConfig {
        let params: Vec<(&String, &str)> = self.params.iter().map(|(k, v)| (k, v.as_str())).collect();
        let more: Vec<(&str, &str)> = more.iter().map(|(k, v)| (*k, v.as_str())).collect();
        MethodConfig::new(&self.method).scale(self.scale.0).tuned(false).params(&params).params(&more)
    }
}

impl FigureSettings {
    /// Everything that is named exists, and nothing is missing.
    pub(super) fn check(&self) -> Result<()> {
        if self.method.is_empty() {
            bail!("{}: a figure needs at least one [[figure.method]]", self.title);
        }
        for method in &self.method {
            methods::find(&method.method)?;
            method.config(&[]).single(None)?;
            let drawn = method.background.unwrap_or_default();
            if drawn.iter().any(|&points| points > MOST_POINTS) {
                bail!("{}: background = {drawn:?} is more than {MOST_POINTS} points; use fewer", self.title);
            }
        }
        let needs_data =
            matches!(self.shows, FigureKind::ConceptWeights | FigureKind::Boundary | FigureKind::Convergence);
        if needs_data && self.data.is_empty() {
            bail!("{}: the figure needs `data`", self.title);
        }
        if self.shows == FigureKind::SharedCells && (self.along.is_none() || self.values.is_empty()) {
            bail!("{}: the figure needs `along` (psi or distance) and `values`", self.title);
        }
        let of_cells = self.along.is_some() || !self.values.is_empty() || self.distance.is_some();
        for (keys, there, kind, of) in [
            ("`numbers`", self.numbers.is_some(), FigureKind::Boundary, "boundary"),
            ("`along`, `values` and `distance`", of_cells, FigureKind::SharedCells, "shared-cells"),
            ("`folds`", self.folds.is_some(), FigureKind::ConceptWeights, "concept-weights"),
        ] {
            if there && self.shows != kind {
                bail!(
                    "{}: {keys} belong to figures with shows = \"{of}\"; leave out what this figure does not use",
                    self.title
                );
            }
        }
        Ok(())
    }

    /// A name of `data` as it is read: a file beside the experiment, or else a data set.
    pub(crate) fn read(&self, name: &str, folder: &Path) -> String {
        let beside = folder.join(name);
        if beside.is_file() { beside.display().to_string() } else { name.to_string() }
    }
}
