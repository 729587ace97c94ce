//! Training models and predicting with them.

use std::path::PathBuf;
use std::sync::Arc;

use bagwise::judge::{Metric, Threshold};
use bagwise::method::Explanation;
use bagwise::multiclass::{BinaryTask, class_scores};
use bagwise::{Dataset, Error, Evaluate, Groups, Mat, MethodConfig, Target};
use bagwise::{Model as Trained, Prediction};
use numpy::{PyArray1, PyArray2, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};

use crate::bags::{NativeBags, matrix, sparse};
use crate::runtime::{RunConfig, exception, run};

/// How methods learn: a dictionary with these keys.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Learning {
    /// Methods by name, `all` and `auto` among them.
    methods: Vec<String>,
    /// What is given of their parameters, as text: `KEY`, or `METHOD.KEY` where there are several methods.
    params: Vec<(String, String)>,
    /// Parameters that are not given have their defaults.
    fixed: bool,
    scale: Option<String>,
    multiclass: Option<String>,
    balanced: bool,
    impute: bool,
    optimize: Option<String>,
    threshold: Option<String>,
    best: bool,
    /// False where probabilities are not wanted, nor the fits of inner folds that they take.
    probabilities: bool,
    /// Folds whose models are kept for sets and intervals.
    conformal: Option<usize>,
}

impl Learning {
    /// Options that hold for every method.
    fn each(&self, name: &str) -> bagwise::Result<MethodConfig> {
        let mut config = MethodConfig::new(name).balanced(self.balanced).fill_missing(self.impute);
        if let Some(scale) = &self.scale {
            config = config.scale(scale.parse()?);
        }
        if let Some(scheme) = &self.multiclass {
            config = config.multiclass(scheme.parse()?);
        }
        Ok(if self.fixed { config.tuned(false) } else { config })
    }

    /// The only method, with its parameters.
    pub(crate) fn config(&self) -> bagwise::Result<MethodConfig> {
        let name = self.methods.first().ok_or_else(|| Error::Invalid("no method is given".into()))?;
        Ok(self.each(name)?.params(&self.params))
    }

    /// All methods, for an evaluation.
    pub(crate) fn apply<'a>(&self, evaluate: Evaluate<'a>) -> bagwise::Result<Evaluate<'a>> {
        Ok(evaluate
            .params(&self.params)
            .methods(self.methods.iter().map(String::as_str))
            .each(self.each("")?)
            .optimize(self.metric()?)
            .threshold(self.threshold()?)
            .best(self.best))
    }

    fn metric(&self) -> bagwise::Result<Option<Metric>> {
        self.optimize.as_deref().map(str::parse).transpose()
    }

    fn threshold(&self) -> bagwise::Result<Option<Threshold>> {
        self.threshold.as_deref().map(str::parse).transpose()
    }
}

/// A data set from bags and `y`: codes of `classes`, or values where there are none.
pub(crate) fn dataset(
    bags: &NativeBags,
    y: &PyReadonlyArray1<'_, f64>,
    classes: Option<Vec<String>>,
    groups: Option<Vec<String>>,
) -> bagwise::Result<Dataset> {
    let values: Vec<f64> = y.as_array().to_vec();
    let target = match classes {
        None => Target::Values(values),
        Some(names) => {
            let code = |&v: &f64| {
                let inside = v >= 0.0 && v.fract() == 0.0 && v < names.len() as f64;
                inside
                    .then_some(v as u32)
                    .ok_or_else(|| Error::Invalid(format!("{v} is not the code of a class")))
            };
            Target::Classes { codes: values.iter().map(code).collect::<Result<_, _>>()?, names }
        }
    };
    let data = Dataset::new("the data", bags.bags.as_ref().clone()).with_target(target)?;
    match groups {
        Some(groups) => data.with_groups(Groups::from_names(&groups)),
        None => Ok(data),
    }
}

/// Learns from all bags, for use. `note` is JSON that is kept with the model.
#[pyfunction]
#[pyo3(signature = (bags, y, classes, groups, weights, inner, learning, config, note))]
pub(crate) fn fit(
    py: Python<'_>,
    bags: &Bound<'_, NativeBags>,
    y: PyReadonlyArray1<'_, f64>,
    classes: Option<Vec<String>>,
    groups: Option<Vec<String>>,
    weights: Option<PyReadonlyArray1<'_, f64>>,
    inner: usize,
    learning: Learning,
    config: RunConfig,
    note: &str,
) -> PyResult<Model> {
    let note = serde_json::from_str(note).map_err(|e| exception(Error::Invalid(format!("the note: {e}"))))?;
    let holders = bags.get().holders();
    let data = dataset(bags.get(), &y, classes, groups).map_err(exception)?;
    let weights: Option<Vec<f64>> = weights.map(|w| w.as_array().to_vec());
    let mut trained = run(py, &config, move |ctx| {
        let fit = bagwise::fit(&data).method(learning.config()?).inner(inner);
        let fit = fit.probabilities(learning.probabilities).conformal(learning.conformal);
        let fit =
            fit.optimize(learning.metric()?).threshold(learning.threshold()?).best(learning.best).ctx(ctx);
        match weights {
            Some(weights) => fit.bag_weights(weights).run(),
            None => fit.run(),
        }
    })?;
    if bags.get().holders() > holders {
        // The caller may write into the arrays: a model that refers to them gets copies of its bags instead.
        let copied = trained.to_bytes().and_then(|bytes| Trained::from_bytes(&bytes));
        trained = copied.map_err(exception)?;
    }
    trained.header.note = Some(note);
    Ok(Model { trained: Arc::new(trained) })
}

/// One decision value per class, the largest that of the elected class unless votes tie. Pairs of classes vote, and the
/// sum of the outputs in favour of a class, squeezed to less than half a vote, orders classes with equal votes.
fn decision_values(outputs: &[f64], tasks: &[BinaryTask], classes: usize) -> Vec<f64> {
    let mut values = class_scores(outputs, tasks, classes);
    if tasks.iter().all(|d| d.minus.is_none()) {
        return values;
    }
    values.iter_mut().for_each(|v| *v /= 3.0 * (v.abs() + 1.0));
    for (output, task) in outputs.iter().zip(tasks) {
        let winner = if *output > 0.0 { task.plus } else { task.minus.unwrap_or(task.plus) };
        values[winner as usize] += 1.0;
    }
    values
}

/// A trained model.
#[pyclass(module = "bagwise._native", frozen)]
pub(crate) struct Model {
    trained: Arc<Trained>,
}

/// Decision values (bags x 1, or bags x classes), the code of each bag's class, the probability of each class, and whether the
/// bag is familiar.
type Answers<'py> = (
    Bound<'py, PyArray2<f64>>,
    Bound<'py, PyArray1<i64>>,
    Bound<'py, PyArray2<f64>>,
    Bound<'py, PyArray1<bool>>,
);

/// One machine's word on one bag: its bias (where parts add up), the part or output of every instance, the instance
/// that decides (where one does).
type Reason<'py> = (Option<f64>, Bound<'py, PyArray1<f64>>, Option<usize>);

impl Model {
    /// Whether the command line was told that the first of two classes is the positive one. In Python above 0 is the second
    /// class, as everywhere in scikit-learn, so decision values and what explains them are turned round then.
    fn turned(&self) -> bool {
        let header = &self.trained.header;
        header.classes.len() == 2 && matches!(header.tasks.as_slice(), [task] if task.plus == 0)
    }

    /// The code of a class; -1 if there is none.
    fn code(&self, label: Option<&String>) -> i64 {
        label.and_then(|l| self.trained.header.classes.iter().position(|c| c == l)).map_or(-1, |c| c as i64)
    }
}

#[pymethods]
impl Model {
    /// A model from the bytes of its file.
    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> PyResult<Model> {
        Trained::from_bytes(bytes).map(|t| Model { trained: Arc::new(t) }).map_err(exception)
    }

    /// A model from its file.
    #[staticmethod]
    fn load(path: PathBuf) -> PyResult<Model> {
        Trained::load(&path).map(|t| Model { trained: Arc::new(t) }).map_err(exception)
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.trained.to_bytes().map_err(exception)?))
    }

    /// A pickle holds the bytes of the file.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        Ok((slf.get_type().getattr("from_bytes")?, (slf.get().to_bytes(slf.py())?,)))
    }

    fn save(&self, path: PathBuf) -> PyResult<()> {
        self.trained.save(&path).map_err(exception)
    }

    /// What the file says besides arrays, as JSON.
    fn header(&self) -> PyResult<String> {
        serde_json::to_string(&self.trained.header)
            .map_err(|e| exception(Error::Invalid(format!("the model's header: {e}"))))
    }

    /// The two sides of each binary model, as text.
    fn machines(&self) -> Vec<String> {
        if let ([first, second], true) = (self.trained.header.classes.as_slice(), self.turned()) {
            return vec![format!("{second} vs {first}")];
        }
        (0..self.trained.header.tasks.len()).map(|k| self.trained.machine_name(k)).collect()
    }

    /// The predictions of the model for these bags.
    fn answer<'py>(
        &self,
        py: Python<'py>,
        bags: &Bound<'py, NativeBags>,
        config: RunConfig,
    ) -> PyResult<Answers<'py>> {
        let (trained, bags) = (Arc::clone(&self.trained), Arc::clone(&bags.get().bags));
        let said = run(py, &config, move |ctx| trained.predict_with(&bags, ctx))?;
        let header = &self.trained.header;
        let classes = header.classes.len();
        let scores: Vec<Vec<f64>> = match header.tasks.as_slice() {
            [_] if self.turned() => said.iter().map(|p| vec![-p.outputs[0]]).collect(),
            [_] => said.iter().map(|p| p.outputs.clone()).collect(),
            _ => said.iter().map(|p| decision_values(&p.outputs, &header.tasks, classes)).collect(),
        };
        let probabilities: Vec<&[f64]> = said.iter().map(|p| p.probabilities.as_slice()).collect();
        Ok((
            matrix(py, &Mat::from_rows(&scores))?,
            PyArray1::from_vec(py, said.iter().map(|p| self.code(p.label.as_ref())).collect()),
            matrix(py, &Mat::from_rows(&probabilities))?,
            PyArray1::from_vec(py, said.iter().map(|p| p.familiar).collect()),
        ))
    }

    /// The feature map of each bag, as the parts of a sparse matrix.
    fn map<'py>(
        &self,
        py: Python<'py>,
        bags: &Bound<'py, NativeBags>,
        config: RunConfig,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let (trained, bags) = (Arc::clone(&self.trained), Arc::clone(&bags.get().bags));
        let map = run(py, &config, move |ctx| trained.map(&bags, ctx))?;
        sparse(py, &map)
    }

    /// A digest of all that determines the map of a bag.
    fn map_digest(&self) -> PyResult<String> {
        self.trained.map_digest().map_err(exception)
    }

    /// For each bag (rows) whether each class (columns) is in its set.
    fn sets<'py>(
        &self,
        py: Python<'py>,
        bags: &Bound<'py, NativeBags>,
        coverage: f64,
        per_class: bool,
        config: RunConfig,
    ) -> PyResult<Bound<'py, PyArray2<bool>>> {
        let (trained, bags) = (Arc::clone(&self.trained), Arc::clone(&bags.get().bags));
        let sets = run(py, &config, move |ctx| trained.predict_sets(&bags, coverage, per_class, ctx))?;
        PyArray2::from_vec2(py, &sets).map_err(|e| exception(Error::Invalid(e.to_string())))
    }

    /// The ends of the interval of each bag.
    fn intervals<'py>(
        &self,
        py: Python<'py>,
        bags: &Bound<'py, NativeBags>,
        coverage: f64,
        config: RunConfig,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let (trained, bags) = (Arc::clone(&self.trained), Arc::clone(&bags.get().bags));
        let found = run(py, &config, move |ctx| trained.predict_intervals(&bags, coverage, ctx))?;
        let rows: Vec<Vec<f64>> = found.into_iter().map(|(low, high)| vec![low, high]).collect();
        matrix(py, &Mat::from_rows(&rows))
    }

    /// What is promised of a coverage.
    fn promise(&self, coverage: f64, per_class: bool) -> PyResult<String> {
        self.trained.coverage_promise(coverage, per_class).map_err(exception)
    }

    /// The output of every binary model for these bags (bags x machines), which [`Model::explain`] explains.
    fn outputs<'py>(
        &self,
        py: Python<'py>,
        bags: &Bound<'py, NativeBags>,
        config: RunConfig,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let (trained, bags) = (Arc::clone(&self.trained), Arc::clone(&bags.get().bags));
        let said = run(py, &config, move |ctx| trained.predict_with(&bags, ctx))?;
        let sign = if self.turned() { -1.0 } else { 1.0 };
        let rows: Vec<Vec<f64>> = said.iter().map(|p| p.outputs.iter().map(|v| sign * v).collect()).collect();
        matrix(py, &Mat::from_rows(&rows))
    }

    /// For each bag, what the value of [`Model::explain_predicted`] tells apart, the code of the class that it speaks for, why, and
    /// the constant that the parts contain.
    fn explain_predicted<'py>(
        &self,
        py: Python<'py>,
        bags: &Bound<'py, NativeBags>,
        config: RunConfig,
    ) -> PyResult<Vec<(String, i64, Reason<'py>, Option<f64>)>> {
        let (trained, bags) = (Arc::clone(&self.trained), Arc::clone(&bags.get().bags));
        let said = run(py, &config, move |ctx| trained.explain_predictions(&bags, ctx))?;
        let sign = if self.turned() { -1.0 } else { 1.0 };
        let signed =
            |values: Vec<f64>| PyArray1::from_vec(py, values.into_iter().map(|v| sign * v).collect());
        let one = |(prediction, why): (Prediction, Explanation)| {
            let name = match self.turned() {
                true => self.machines().remove(0),
                false => self.trained.explained_name(&prediction),
            };
            let intercept = self.trained.shared_intercept(&prediction).map(|v| sign * v);
            let why = match why {
                Explanation::Additive { bias, parts } => (Some(sign * bias), signed(parts), None),
                Explanation::Witness { outputs, chosen } => (None, signed(outputs), Some(chosen)),
            };
            let code = match self.trained.header.tasks.len() {
                // Of two classes the second, whichever was predicted.
                1 => self.trained.header.classes.len() as i64 - 1,
                _ => self.code(prediction.label.as_ref()),
            };
            (name, code, why, intercept)
        };
        Ok(said.into_iter().map(one).collect())
    }

    /// For each bag and machine, why: what adds up to the decision value of [`Model::answer`], or decides it.
    fn explain<'py>(
        &self,
        py: Python<'py>,
        bags: &Bound<'py, NativeBags>,
        config: RunConfig,
    ) -> PyResult<Vec<Vec<Reason<'py>>>> {
        let (trained, bags) = (Arc::clone(&self.trained), Arc::clone(&bags.get().bags));
        let said = run(py, &config, move |ctx| trained.explain_with(&bags, ctx))?;
        let sign = if self.turned() { -1.0 } else { 1.0 };
        let signed =
            |values: Vec<f64>| PyArray1::from_vec(py, values.into_iter().map(|v| sign * v).collect());
        let reason = |explanation: Explanation| match explanation {
            Explanation::Additive { bias, parts } => (Some(sign * bias), signed(parts), None),
            Explanation::Witness { outputs, chosen } => (None, signed(outputs), Some(chosen)),
        };
        Ok(said.into_iter().map(|machines| machines.into_iter().map(reason).collect()).collect())
    }
}
