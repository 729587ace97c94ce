//! Functions that do not train: reading and writing files, Gram matrices, the registry of methods.

use std::path::PathBuf;
use std::sync::Arc;

use bagwise::io::{Column, ReadOptions};
use bagwise::methods::{by_complexity, describe};
use bagwise::{CarriedColumn, Dataset, Error, Groups, Target, may_be_measurements, undecided_target};
use numpy::{PyArray2, PyReadonlyArray1};
use pyo3::prelude::*;

use crate::bags::{NativeBags, matrix};
use crate::fitting::{Learning, dataset};
use crate::runtime::{RunConfig, argument, argument_beside_bags, exception, run};

/// The Gram matrix of one method at one point.
#[pyfunction]
#[pyo3(signature = (bags, against, learning, config))]
pub(crate) fn gram<'py>(
    py: Python<'py>,
    bags: &Bound<'py, NativeBags>,
    against: Option<&Bound<'py, NativeBags>>,
    learning: Learning,
    config: RunConfig,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let rows = Arc::clone(&bags.get().bags);
    let columns = against.map(|a| Arc::clone(&a.get().bags));
    let gram = run(py, &config, move |ctx| {
        let setup = learning.config()?.single(None)?;
        bagwise::gram(
            setup.method,
            &setup.grid.points[0],
            setup.scale,
            setup.impute,
            &rows,
            columns.as_deref(),
            None,
            ctx,
        )
    })?;
    matrix(py, &gram)
}

/// Sentences about what would mislead a comparison by this metric. Bags that are not `named` go by their positions.
#[pyfunction]
pub(crate) fn cautions(
    py: Python<'_>,
    bags: &Bound<'_, NativeBags>,
    named: bool,
    y: PyReadonlyArray1<'_, f64>,
    classes: Option<Vec<String>>,
    groups: Option<Vec<String>>,
    optimize: Option<&str>,
    config: RunConfig,
) -> PyResult<Vec<String>> {
    let mut data = dataset(bags.get(), &y, classes, groups).map_err(exception)?;
    if !named {
        let positions = (0..data.bags.len()).map(|b| format!("{b} (counted from 0)")).collect();
        data.bags = data.bags.with_ids(positions).map_err(exception)?;
    }
    let metric = optimize.map(str::parse).transpose().map_err(exception)?;
    let found = run(py, &config, move |_| bagwise::inspect::cautions(&data, metric))?;
    Ok(found.iter().map(|f| format!("{}; {}", f.message, f.remedy.worded(&argument_beside_bags))).collect())
}

/// The question to the user if labels with this many different integers are ambiguous.
#[pyfunction]
pub(crate) fn undecided(distinct: usize, bags: usize) -> Option<String> {
    may_be_measurements(distinct, bags).then(|| question(distinct, bags))
}

fn question(distinct: usize, bags: usize) -> String {
    let (found, remedy) = undecided_target(distinct, bags);
    format!("{found}; {}", remedy.worded(&argument))
}

/// How a table is to be understood: a dictionary with these keys.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Reading {
    bag: Option<String>,
    label: Option<String>,
    group: Option<String>,
    instance_label: Option<String>,
    keep: Vec<String>,
    ignore: Vec<String>,
    categorical: Vec<String>,
    header: Option<bool>,
    delimiter: Option<String>,
    decimal: Option<String>,
    thousands: Option<String>,
    encoding: Option<String>,
    missing_values: Vec<String>,
    task: String,
    missing: bool,
    format: Option<String>,
    labels: Option<PathBuf>,
    coords: Option<PathBuf>,
    max_instances: Option<usize>,
    /// What a model remembers of how its data were read, as JSON.
    remembered: Option<String>,
    /// The features that the model needs.
    features: Vec<String>,
}

impl Reading {
    fn options(&self, seed: u64) -> bagwise::Result<ReadOptions> {
        let column = |text: &String| text.parse::<Column>().unwrap_or_else(|never| match never {});
        let one = |text: &Option<String>| text.as_ref().map(column);
        let several = |texts: &[String]| texts.iter().map(column).collect();
        let options = ReadOptions {
            format: self.format.clone(),
            bag: one(&self.bag),
            label: one(&self.label),
            group: one(&self.group),
            instance_label: one(&self.instance_label),
            keep: several(&self.keep),
            ignore: several(&self.ignore),
            categorical: several(&self.categorical),
            header: self.header,
            delimiter: self.delimiter.as_deref().map(bagwise::io::delimiter).transpose()?,
            decimal: self.decimal.as_deref().map(bagwise::io::decimal).transpose()?,
            thousands: self.thousands.as_deref().map(bagwise::io::thousands).transpose()?,
            encoding: self.encoding.as_deref().map(str::parse).transpose()?,
            missing_values: self.missing_values.clone(),
            task: self.task.parse()?,
            allow_missing: self.missing,
            // Data without labels can be read; training checks that there are labels.
            unlabelled: true,
            features: self.features.clone(),
            labels: self.labels.clone(),
            coords: self.coords.clone(),
            max_instances: self.max_instances,
            seed,
            optional: Vec::new(),
        };
        let Some(remembered) = &self.remembered else { return Ok(options) };
        let remembered: ReadOptions = serde_json::from_str(remembered)
            .map_err(|e| Error::Invalid(format!("the columns stored in the model: {e}")))?;
        Ok(options.recall(&remembered))
    }
}

/// Name, bags, labels (texts or numbers), groups, kept columns, instance labels, warnings.
type Read = (
    String,
    NativeBags,
    Option<Vec<String>>,
    Option<Vec<f64>>,
    Option<Vec<String>>,
    Vec<(String, Vec<String>)>,
    Option<Vec<String>>,
    Vec<String>,
);

/// Reads a file, a folder, a built-in name or a generator.
#[pyfunction]
pub(crate) fn read(py: Python<'_>, name: String, reading: Reading, config: RunConfig) -> PyResult<Read> {
    let options = reading.options(config.seed).map_err(exception)?;
    // Its errors are about columns of files, which `read` has arguments for.
    let data: Dataset =
        run(py, &config, move |_| Ok(bagwise::io::read(&name, &options)))?.map_err(exception)?;
    let of = |codes: &[u32], names: &[String]| codes.iter().map(|&c| names[c as usize].clone()).collect();
    let (labels, values) = match &data.target {
        None => (None, None),
        Some(Target::Classes { codes, names }) => (Some(of(codes, names)), None),
        Some(Target::Values(values)) => (None, Some(values.clone())),
    };
    let groups = data.groups.as_ref().map(|g| of(&g.codes, &g.names));
    let kept = data.kept.into_iter().map(|k| (k.name, k.values)).collect();
    let asked = data.undecided.map(|distinct| question(distinct, data.bags.len()));
    let warnings = data.warnings.iter().map(|w| w.worded(&argument)).chain(asked).collect();
    let bags = NativeBags::new(data.bags);
    Ok((data.name, bags, labels, values, groups, kept, data.instance_labels, warnings))
}

/// Writes what [`read`] gave (a name, bags, labels or numbers, groups, kept columns, instance labels) to a file. Returns the
/// name of the format.
#[pyfunction]
#[pyo3(signature = (name, bags, labels, values, groups, kept, instance_labels, path, format))]
pub(crate) fn write(
    py: Python<'_>,
    name: String,
    bags: &Bound<'_, NativeBags>,
    labels: Option<Vec<String>>,
    values: Option<Vec<f64>>,
    groups: Option<Vec<String>>,
    kept: Vec<(String, Vec<String>)>,
    instance_labels: Option<Vec<String>>,
    path: PathBuf,
    format: Option<String>,
) -> PyResult<&'static str> {
    let bags = Arc::clone(&bags.get().bags);
    let done = py.detach(move || {
        let mut data = Dataset::new(name, bags.as_ref().clone());
        if let Some(target) = labels.map(|l| Target::from_labels(&l)).or(values.map(Target::Values)) {
            data = data.with_target(target)?;
        }
        if let Some(groups) = groups {
            data = data.with_groups(Groups::from_names(&groups))?;
        }
        let column = |(name, values)| CarriedColumn { name, values };
        data.kept = kept.into_iter().map(column).collect();
        data.instance_labels = instance_labels;
        bagwise::io::write(&data, &path, format.as_deref())
    });
    done.map_err(exception)
}

/// The registry, as JSON.
#[pyfunction]
pub(crate) fn methods() -> PyResult<String> {
    let all: Vec<_> = by_complexity().into_iter().map(describe).collect();
    serde_json::to_string(&all).map_err(|e| exception(Error::Invalid(format!("the registry: {e}"))))
}

/// Data sets that have names.
#[pyfunction]
pub(crate) fn builtin_names() -> Vec<&'static str> {
    bagwise::io::builtin_names().to_vec()
}

/// Downloads, converts and checks a data set; the path of its file.
#[pyfunction]
#[pyo3(signature = (name, file, folder))]
pub(crate) fn fetch(
    py: Python<'_>,
    name: &str,
    file: Option<PathBuf>,
    folder: Option<PathBuf>,
) -> PyResult<PathBuf> {
    let folder = folder.unwrap_or_else(bagwise::datasets::default_folder);
    py.detach(|| bagwise::datasets::fetch(name, file.as_deref(), &folder)).map_err(exception)
}
