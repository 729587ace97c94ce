//! What is read or asked for without learning: files, Gram matrices, the registry of methods.

use std::path::PathBuf;
use std::sync::Arc;

use bagwise::io::{Column, ReadOptions, Task};
use bagwise::learn::Setup;
use bagwise::method::Method;
use bagwise::methods::METHODS;
use bagwise::{Dataset, Error, Target};
use numpy::PyArray2;
use pyo3::prelude::*;
use serde_json::json;

use crate::bags::{NativeBags, matrix};
use crate::door::{Around, enter, exception};
use crate::fitting::Learning;

/// The Gram matrix of one method at one point.
#[pyfunction]
#[pyo3(signature = (bags, against, learning, around))]
pub(crate) fn gram<'py>(
    py: Python<'py>,
    bags: &Bound<'py, NativeBags>,
    against: Option<&Bound<'py, NativeBags>>,
    learning: Learning,
    around: Around,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let rows = Arc::clone(&bags.get().bags);
    let columns = against.map(|a| Arc::clone(&a.get().bags));
    let gram = enter(py, &around, move |ctx| {
        let setup: Setup = learning.setups(false)?.remove(0);
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
    task: String,
    missing: bool,
    format: Option<String>,
    labels: Option<PathBuf>,
    coords: Option<PathBuf>,
    max_instances: Option<usize>,
}

impl Reading {
    fn options(&self, seed: u64) -> bagwise::Result<ReadOptions> {
        let column = |text: &String| text.parse::<Column>().unwrap_or_else(|never| match never {});
        let one = |text: &Option<String>| text.as_ref().map(column);
        let several = |texts: &[String]| texts.iter().map(column).collect();
        Ok(ReadOptions {
            format: self.format.clone(),
            bag: one(&self.bag),
            label: one(&self.label),
            group: one(&self.group),
            instance_label: one(&self.instance_label),
            keep: several(&self.keep),
            ignore: several(&self.ignore),
            categorical: several(&self.categorical),
            header: self.header,
            task: match self.task.as_str() {
                "auto" => Task::Auto,
                "classification" => Task::Classification,
                "regression" => Task::Regression,
                other => {
                    return Err(Error::unknown("task", other, ["auto", "classification", "regression"]));
                }
            },
            allow_missing: self.missing,
            // Data without labels can be read; what learns from them asks for labels.
            unlabelled: true,
            features: Vec::new(),
            labels: self.labels.clone(),
            coords: self.coords.clone(),
            max_instances: self.max_instances,
            seed,
        })
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
pub(crate) fn read(py: Python<'_>, name: String, reading: Reading, around: Around) -> PyResult<Read> {
    let options = reading.options(around.seed).map_err(exception)?;
    let data: Dataset = enter(py, &around, move |_| bagwise::io::read(&name, &options))?;
    let of = |codes: &[u32], names: &[String]| codes.iter().map(|&c| names[c as usize].clone()).collect();
    let (labels, values) = match &data.target {
        None => (None, None),
        Some(Target::Classes { codes, names }) => (Some(of(codes, names)), None),
        Some(Target::Values(values)) => (None, Some(values.clone())),
    };
    let groups = data.groups.as_ref().map(|g| of(&g.codes, &g.names));
    let kept = data.kept.into_iter().map(|k| (k.name, k.values)).collect();
    let bags = NativeBags::new(data.bags);
    Ok((data.name, bags, labels, values, groups, kept, data.instance_labels, data.warnings))
}

/// The registry, as JSON.
#[pyfunction]
pub(crate) fn methods() -> String {
    let one = |m: &&dyn Method| {
        let info = m.info();
        let params = m.params().iter().map(|p| {
            json!({
                "name": p.name, "help": p.help, "expects": p.kind.expects(), "default": p.default,
                "grid": p.grid, "regression_only": p.regression_only,
            })
        });
        json!({
            "name": info.name, "aliases": info.aliases, "title": info.title, "about": info.about,
            "reference": info.reference, "family": info.family, "regression": info.regression,
            "scale": info.scale.name(), "explains": info.explains, "params": params.collect::<Vec<_>>(),
        })
    };
    json!(METHODS.iter().map(one).collect::<Vec<_>>()).to_string()
}

/// Data sets that have names.
#[pyfunction]
pub(crate) fn builtin_names() -> Vec<&'static str> {
    bagwise::io::builtin_names().to_vec()
}
