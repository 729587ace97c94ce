//! Learning from bags and using what was learned.

use std::path::PathBuf;
use std::sync::Arc;

use bagwise::fold::{Learner, Setup};
use bagwise::fold::{Wanted, train};
use bagwise::judge::{Metric, Splits, Threshold};
use bagwise::method::Explanation;
use bagwise::model::Trained;
use bagwise::multiclass::{Duel, Scheme, class_scores};
use bagwise::params::{Fill, Grid};
use bagwise::preprocess::Scale;
use bagwise::{Dataset, Error, Groups, Mat, Target, methods};
use numpy::{PyArray1, PyArray2, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};

use crate::bags::{NativeBags, matrix, sparse};
use crate::door::{Around, enter, exception};

/// How methods learn: a dictionary with these keys.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Learning {
    /// Methods and what is given of their parameters, as text.
    methods: Vec<(String, Vec<(String, String)>)>,
    /// Parameters that are not given are tuned; else they have their defaults.
    tuned: bool,
    scale: Option<String>,
    multiclass: Option<String>,
    balanced: bool,
    impute: bool,
    optimize: Option<String>,
    threshold: Option<String>,
    pub(crate) best: bool,
}

impl Learning {
    /// One setup per method.
    pub(crate) fn setups(&self, regression: bool) -> bagwise::Result<Vec<Setup>> {
        let fill = if self.tuned { Fill::Grid } else { Fill::Default };
        let scale: Option<Scale> = self.scale.as_deref().map(str::parse).transpose()?;
        let scheme: Option<Scheme> = self.multiclass.as_deref().map(str::parse).transpose()?;
        let one = |(name, given): &(String, Vec<(String, String)>)| {
            let method = methods::find(name)?;
            let info = method.info();
            let grid = Grid::new(info.name, method.params(), given, fill, regression)?;
            if !self.tuned && grid.points.len() > 1 {
                return Err(Error::Invalid(format!(
                    "{} is given {} points; give every parameter one value, and choose among several with bagwise.fit, \
                     bagwise.evaluate or GridSearchCV",
                    info.name,
                    grid.points.len()
                )));
            }
            let scale = scale.unwrap_or_else(|| method.scale(&grid.points));
            if let Some(why) = method.refuses(&grid.points, scale) {
                return Err(why);
            }
            Ok(Setup {
                method,
                grid,
                scale,
                scheme: scheme.unwrap_or_else(|| method.scheme()),
                balanced: self.balanced,
                impute: self.impute,
            })
        };
        self.methods.iter().map(one).collect()
    }

    pub(crate) fn metric(&self, target: &Target) -> bagwise::Result<Metric> {
        match (&self.optimize, target) {
            (Some(name), _) => name.parse(),
            (None, Target::Values(_)) => Ok(Metric::Mse),
            (None, Target::Classes { .. }) => Ok(Metric::Accuracy),
        }
    }

    pub(crate) fn threshold(&self) -> bagwise::Result<Option<Threshold>> {
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
                inside.then_some(v as u32).ok_or_else(|| Error::Invalid(format!("{v} is no code of a class")))
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

/// Learns from all bags, for use.
#[pyfunction]
#[pyo3(signature = (bags, y, classes, groups, weights, inner, learning, around))]
pub(crate) fn fit(
    py: Python<'_>,
    bags: &Bound<'_, NativeBags>,
    y: PyReadonlyArray1<'_, f64>,
    classes: Option<Vec<String>>,
    groups: Option<Vec<String>>,
    weights: Option<PyReadonlyArray1<'_, f64>>,
    inner: usize,
    learning: Learning,
    around: Around,
) -> PyResult<Model> {
    let data = dataset(bags.get(), &y, classes, groups).map_err(exception)?;
    let weights: Option<Vec<f64>> = weights.map(|w| w.as_array().to_vec());
    let trained = enter(py, &around, move |ctx| {
        let target = data.require_target()?;
        let wanted = Wanted {
            metric: learning.metric(target)?,
            threshold: learning.threshold()?,
            best: learning.best,
        };
        let setups = learning.setups(matches!(target, Target::Values(_)))?;
        let learner = |setup| {
            let learner = Learner::new(&data, setup, None)?;
            match &weights {
                Some(weights) => learner.with_bag_weights(weights.clone()),
                None => Ok(learner),
            }
        };
        let learners: Vec<Learner<'_>> = setups.iter().map(learner).collect::<bagwise::Result<_>>()?;
        let all: Vec<usize> = (0..data.bags.len()).collect();
        train(&learners, &all, Splits::KFold(inner), &wanted, ctx)
    })?;
    Ok(Model { trained: Arc::new(trained) })
}

/// One decision value per class, the largest that of the elected class unless votes tie. Pairs of classes vote, and the
/// sum of the outputs in favour of a class, squeezed to less than half a vote, orders classes with equal votes.
fn decision_values(outputs: &[f64], duels: &[Duel], classes: usize) -> Vec<f64> {
    let mut values = class_scores(outputs, duels, classes);
    if duels.iter().all(|d| d.minus.is_none()) {
        return values;
    }
    values.iter_mut().for_each(|v| *v /= 3.0 * (v.abs() + 1.0));
    for (output, duel) in outputs.iter().zip(duels) {
        let winner = if *output > 0.0 { duel.plus } else { duel.minus.unwrap_or(duel.plus) };
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
        header.classes.len() == 2 && matches!(header.duels.as_slice(), [duel] if duel.plus == 0)
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

    /// What each machine tells apart, in words.
    fn machines(&self) -> Vec<String> {
        if let ([first, second], true) = (self.trained.header.classes.as_slice(), self.turned()) {
            return vec![format!("{second} vs {first}")];
        }
        (0..self.trained.header.duels.len()).map(|k| self.trained.machine_name(k)).collect()
    }

    /// What the model says of bags.
    fn answer<'py>(
        &self,
        py: Python<'py>,
        bags: &Bound<'py, NativeBags>,
        around: Around,
    ) -> PyResult<Answers<'py>> {
        let (trained, bags) = (Arc::clone(&self.trained), Arc::clone(&bags.get().bags));
        let said = enter(py, &around, move |ctx| trained.predict(&bags, ctx))?;
        let header = &self.trained.header;
        let classes = header.classes.len();
        let scores: Vec<Vec<f64>> = match header.duels.as_slice() {
            [_] if self.turned() => said.iter().map(|p| vec![-p.outputs[0]]).collect(),
            [_] => said.iter().map(|p| p.outputs.clone()).collect(),
            _ => said.iter().map(|p| decision_values(&p.outputs, &header.duels, classes)).collect(),
        };
        let code = |label: &Option<String>| {
            label.as_ref().and_then(|l| header.classes.iter().position(|c| c == l)).map_or(-1, |c| c as i64)
        };
        let probabilities: Vec<&[f64]> = said.iter().map(|p| p.probabilities.as_slice()).collect();
        Ok((
            matrix(py, &Mat::from_rows(&scores))?,
            PyArray1::from_vec(py, said.iter().map(|p| code(&p.label)).collect()),
            matrix(py, &Mat::from_rows(&probabilities))?,
            PyArray1::from_vec(py, said.iter().map(|p| p.familiar).collect()),
        ))
    }

    /// The feature map of each bag, as the parts of a sparse matrix.
    fn map<'py>(
        &self,
        py: Python<'py>,
        bags: &Bound<'py, NativeBags>,
        around: Around,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let (trained, bags) = (Arc::clone(&self.trained), Arc::clone(&bags.get().bags));
        let map = enter(py, &around, move |ctx| trained.map(&bags, ctx))?;
        sparse(py, &map)
    }

    /// For each bag and machine, why: what adds up to the decision value of [`Model::answer`], or decides it.
    fn explain<'py>(
        &self,
        py: Python<'py>,
        bags: &Bound<'py, NativeBags>,
        around: Around,
    ) -> PyResult<Vec<Vec<Reason<'py>>>> {
        let (trained, bags) = (Arc::clone(&self.trained), Arc::clone(&bags.get().bags));
        let said = enter(py, &around, move |ctx| trained.explain(&bags, ctx))?;
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
