//! A trained model: everything needed to predict new bags, and nothing else.
//!
//! It is saved as one safetensors file: arrays by name, and a JSON header (under `__metadata__`, key `bagwise`) with
//! format version, method, parameters, transform, classes, calibration, threshold, feature names and a summary of
//! the training. Nothing in the file is executed, and an inconsistent file is an error.

mod capabilities;
mod combined;
mod conformal;
mod file;
mod overflow;
mod seen;
mod unfamiliar;

use combined::{added_up, class_probabilities};
pub(crate) use conformal::{CalibrationBag, Conformal, ConformalHeader, class_score};
use file::{checksum, read_bytes};

use std::io::{self, Read};
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::calibrate::Calibration;
use crate::familiar::Familiarity;
use crate::families::map_svm::CellMap;
use crate::method::{Explanation, Predictor, State};
use crate::methods::{self, ensemble, ensemble::MemberHeader};
use crate::multiclass::{BinaryTask, class_scores, vote};
use crate::params::Point;
use crate::preprocess::{Scale, Transform};
use crate::state::refuse;
use bagwise_core::{Bags, Ctx, Error, Feature, Mat, Message, Place, Result, Setting, files};
use bagwise_io::{MapShape, ReadOptions, compress, save};
use bagwise_judge::ScoredBags;

pub use file::{pack, unpack};
use seen::TrainingDigests;

/// Bytes that a model may have, after decompression.
const MOST: u64 = compress::MAX_TOTAL;
const WHAT: &str = "a model";

/// Models of this and older formats can be read.
///
/// 2: how the data were read, more about the training, the models of folds.
pub(crate) const FORMAT: u32 = 2;

/// What the file says besides arrays.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ModelHeader {
    /// Version of the layout.
    pub format: u32,
    /// The bagwise that wrote it.
    pub version: String,
    /// The method.
    pub method: String,
    /// Its parameters.
    pub parameters: Point,
    /// Input columns, in order.
    pub features: Vec<Feature>,
    /// Class names; empty for real values.
    pub classes: Vec<String>,
    /// The two sides of each output.
    pub tasks: Vec<BinaryTask>,
    /// Medians, categories and scaling.
    pub transform: Transform,
    /// Outputs to probabilities.
    pub calibration: Calibration,
    /// Outputs from here on are the positive class; above 0 if not given.
    pub threshold: Option<f64>,
    /// Statistics of the training bags, to recognise unfamiliar bags.
    pub(crate) familiarity: Familiarity,
    /// What it was trained on.
    pub training: TrainingSummary,
    /// How the data were read: columns and dialect, so that new data need no options.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reading: Option<ReadOptions>,
    /// The models of folds that were kept for conformal predictions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) conformal: Option<ConformalHeader>,
    /// The members of an ensemble, each with a transform of its own; empty for a single method.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) members: Vec<MemberHeader>,
    /// Data of the program that trained the model, which the library stores without reading it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<serde_json::Value>,
}

/// What a model was trained on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TrainingSummary {
    /// The data set's name.
    pub data: String,
    /// Number of bags.
    pub bags: usize,
    /// Number of instances.
    pub instances: usize,
    /// Bags of each class, in the order of the classes; empty for real values.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub class_bags: Vec<usize>,
    /// The smallest and the largest value; nothing for classes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range: Option<(f64, f64)>,
    /// Number of groups, if there are groups.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub groups: Option<usize>,
    /// The fingerprint of the data.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub fingerprint: String,
    /// The run's seed.
    pub seed: u64,
    /// The metric that inner folds chose by, and its value for the chosen point.
    pub chosen_by: String,
    /// Its value over the inner folds: optimistic if it was maximised over several points.
    pub inner_value: Option<f64>,
    /// The same for a constant, the most frequent class or the mean of the training bags: what a model must beat. Nothing for
    /// metrics that a constant has no fair value of, and in files of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub constant_value: Option<f64>,
    /// Inner folds; 0 if nothing was chosen and no probabilities were wanted.
    #[serde(default)]
    pub inner_folds: usize,
    /// Methods that were tried.
    #[serde(default)]
    pub methods: usize,
    /// Points of their grids together.
    #[serde(default)]
    pub points: usize,
    /// The value of the metric over the bags that the kept models of folds had not seen, parameters chosen inside each fold: an
    /// honest estimate. Nothing without such models.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nested_value: Option<f64>,
    /// False if the rule for the threshold (a recall, a precision) could not be met on the training bags.
    pub threshold_met: bool,
    /// Machines that reached the solver's limit before its tolerance.
    pub not_converged: usize,
    /// Machines whose alternation ended in a cycle or at its limit.
    #[serde(default)]
    pub unsettled: usize,
    /// Rounds of the longest alternation, where the method alternates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rounds: Option<usize>,
}

/// A model and its header.
pub struct Model {
    /// What the file says besides arrays.
    pub header: ModelHeader,
    /// One for all outputs, or one for each.
    models: Vec<Box<dyn Predictor>>,
    /// The models of folds, if they were kept.
    conformal: Option<Conformal>,
    /// What it keeps of the bags it was trained on.
    seen: TrainingDigests,
    /// The file that it was read from.
    place: Place,
}

/// The prediction of a model for one bag.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Prediction {
    /// The bag.
    pub bag: String,
    /// The class; nothing for real values.
    pub label: Option<String>,
    /// The value, or the decision value of each machine.
    pub outputs: Vec<f64>,
    /// The probability of each class, NaN if the model was trained without; empty for real values.
    pub probabilities: Vec<f64>,
    /// Similarity to the nearest training bag, at most 1, if the method has a similarity.
    pub nearest: Option<f64>,
    /// Share of the bag's values outside the training range.
    pub outside: f64,
    /// False if the bag resembles no training bag.
    pub familiar: bool,
}

impl Prediction {
    /// The predicted number, the decision value of two classes (above 0 is the positive one), or the largest probability of
    /// several classes.
    pub fn score(&self) -> f64 {
        let most = self.probabilities.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if self.outputs.len() == 1 { self.outputs[0] } else { most }
    }
}

impl Model {
    /// A model from its header and machines: one model for all outputs, or one for each.
    pub(crate) fn new(header: ModelHeader, models: Vec<Box<dyn Predictor>>) -> Model {
        let (seen, place) = Default::default();
        Model { header, models, conformal: None, seen, place }
    }

    /// How it maps bags, if its method has a feature map.
    pub(crate) fn cell_map(&self) -> Result<CellMap> {
        let first = self.models.first().ok_or_else(|| Error::Invalid("the model has no machine".into()))?;
        methods::cell_map(&self.header.method, &self.header.parameters, &first.save()?)
    }

    /// A digest of all that determines the map of a bag, in hexadecimal digits: models with the same digest give the same maps. An
    /// error if its method has no map.
    pub fn map_digest(&self) -> Result<String> {
        self.cell_map()?.digest(&self.header.features, &self.header.transform)
    }

    /// What files with maps of this model are checked by; an error if its method has no map.
    pub fn map_shape(&self) -> Result<MapShape> {
        let map = self.cell_map()?;
        let digest = map.digest(&self.header.features, &self.header.transform)?;
        Ok(MapShape { columns: map.columns(), may_be_empty: map.may_be_empty(), digest })
    }

    /// The same with the models of folds.
    pub(crate) fn with_conformal(mut self, conformal: Conformal) -> Model {
        self.header.conformal = Some(conformal.header());
        self.conformal = Some(conformal);
        self
    }

    /// Predicts bags, whose columns are matched by name.
    pub fn predict(&self, bags: &Bags) -> Result<Vec<Prediction>> {
        self.predict_with(bags, &Ctx::default())
    }

    /// The same with the context of a long computation.
    pub fn predict_with(&self, bags: &Bags, ctx: &Ctx) -> Result<Vec<Prediction>> {
        let mut all = Vec::with_capacity(bags.len());
        for (raw, ready) in self.ready(bags, ctx)? {
            let (raw, ready) = (raw, ready?);
            ctx.check()?;
            let mut outputs = Mat::zeros(ready.len(), self.header.tasks.len());
            let mut nearest = vec![None; ready.len()];
            let mut column = 0;
            for model in &self.models {
                let answer = model.predict(&ready, ctx).map_err(|e| self.blamed(e, &raw, Some(&ready)))?;
                for b in 0..ready.len() {
                    for k in 0..answer.scores.cols() {
                        outputs.set(b, column + k, answer.scores.get(b, k));
                    }
                }
                column += answer.scores.cols();
                for (known, found) in nearest.iter_mut().zip(answer.nearest) {
                    *known = (*known).or(found);
                }
            }
            // The score of a class is a sum of outputs, which may be infinite although each of them is not.
            let overflows = |row: &[f64]| !row.iter().map(|v| v.abs()).sum::<f64>().is_finite();
            if let Some(b) = (0..ready.len()).find(|&b| overflows(outputs.row(b))) {
                return Err(self.overflow(&raw, &ready, b)?);
            }
            let ModelHeader { classes, tasks, calibration, threshold, familiarity, .. } = &self.header;
            let probabilities = calibration.probabilities(&outputs, tasks, classes.len(), ctx)?;
            let of_classes = |row: &[f64]| match calibration.is_fitted() {
                true => class_probabilities(row, tasks, classes.len()),
                false => vec![f64::NAN; classes.len()],
            };
            for b in 0..ready.len() {
                let outside = familiarity.outside(&raw, b)?;
                let nearest: Option<f64> = nearest[b];
                all.push(Prediction {
                    bag: raw.ids()[b].clone(),
                    label: (!classes.is_empty()).then(|| {
                        classes[vote(outputs.row(b), tasks, classes.len(), *threshold) as usize].clone()
                    }),
                    outputs: outputs.row(b).to_vec(),
                    probabilities: of_classes(probabilities.row(b)),
                    nearest,
                    outside,
                    familiar: familiarity.is_familiar(outside, nearest),
                });
            }
        }
        Ok(all)
    }

    /// Predictions of bags, given as positions in a data set, as a record keeps them.
    pub(crate) fn scored(&self, bags: &[usize], said: &[Prediction]) -> ScoredBags {
        let ModelHeader { classes, tasks, calibration, .. } = &self.header;
        let code =
            |p: &Prediction| classes.iter().position(|c| Some(c) == p.label.as_ref()).map_or(0, |c| c as u32);
        let scores = |p: &Prediction| match tasks.as_slice() {
            [_] => p.outputs.clone(),
            tasks => class_scores(&p.outputs, tasks, classes.len()),
        };
        let probabilities = |p: &Prediction| match tasks.as_slice() {
            [task] => vec![p.probabilities[task.plus as usize]],
            _ => p.probabilities.clone(),
        };
        ScoredBags {
            bags: bags.to_vec(),
            labels: (!classes.is_empty()).then(|| said.iter().map(code).collect()),
            scores: said.iter().flat_map(scores).collect(),
            probabilities: calibration.is_fitted().then(|| said.iter().flat_map(probabilities).collect()),
        }
    }

    /// For each bag and binary model, an explanation of the output.
    pub fn explain(&self, bags: &Bags) -> Result<Vec<Vec<Explanation>>> {
        self.explain_with(bags, &Ctx::default())
    }

    /// The same with the context of a long computation.
    pub fn explain_with(&self, bags: &Bags, ctx: &Ctx) -> Result<Vec<Vec<Explanation>>> {
        let mut all = Vec::with_capacity(bags.len());
        for (_, ready) in self.ready(bags, ctx)? {
            let ready = ready?;
            ctx.check()?;
            let mut chunk: Vec<Vec<Explanation>> = vec![Vec::new(); ready.len()];
            for model in &self.models {
                for (bag, explanations) in chunk.iter_mut().zip(model.explain(&ready, ctx)?) {
                    bag.extend(explanations);
                }
            }
            all.extend(chunk);
        }
        Ok(all)
    }

    /// Predictions with explanations: the contributions that add up to [`Model::decision_value`], or the instance that decides. With
    /// several classes, this is the total support of the binary models for the predicted class. An instance that alone decides a
    /// binary model gets all of its support.
    pub fn explain_predictions(&self, bags: &Bags, ctx: &Ctx) -> Result<Vec<(Prediction, Explanation)>> {
        let (said, explained) = (self.predict_with(bags, ctx)?, self.explain_with(bags, ctx)?);
        let one = |(prediction, mut machines): (Prediction, Vec<Explanation>)| {
            let own = self.machines_of(&prediction);
            let why = match own.as_slice() {
                [(k, sign)] if *sign > 0.0 => machines.swap_remove(*k),
                own => added_up(own.iter().map(|&(k, sign)| (sign, &machines[k]))),
            };
            (prediction, why)
        };
        Ok(said.into_iter().zip(explained).map(one).collect())
    }

    /// The constant that is divided among the contributions of an explained prediction, in proportion to the weights of the
    /// instances; `None` if there is no such constant.
    pub fn shared_intercept(&self, prediction: &Prediction) -> Option<f64> {
        let mut all: Vec<Option<f64>> = Vec::new();
        for model in &self.models {
            match model.shared_intercepts() {
                Some(own) => all.extend(own.into_iter().map(Some)),
                None => all.extend(vec![None; model.outputs()]),
            }
        }
        let own: Option<Vec<f64>> =
            self.machines_of(prediction).into_iter().map(|(k, sign)| Some(sign * all[k]?)).collect();
        Some(own?.iter().sum())
    }

    /// The machines that a prediction is about, each with the sign of the predicted class: the only one, or all that know that
    /// class.
    fn machines_of(&self, prediction: &Prediction) -> Vec<(usize, f64)> {
        let ModelHeader { classes, tasks, .. } = &self.header;
        let label = classes.iter().position(|c| Some(c) == prediction.label.as_ref()).map(|c| c as u32);
        let sign = |task: &BinaryTask| match label {
            _ if tasks.len() == 1 => Some(1.0),
            Some(label) if task.plus == label => Some(1.0),
            Some(label) if task.minus == Some(label) => Some(-1.0),
            _ => None,
        };
        tasks.iter().enumerate().filter_map(|(k, task)| Some((k, sign(task)?))).collect()
    }

    /// The two sides of an explained prediction: the two classes, or the predicted class and the rest.
    pub fn explained_name(&self, prediction: &Prediction) -> String {
        match (&prediction.label, self.header.tasks.len()) {
            (Some(label), 2..) => format!("{label} vs rest"),
            _ => self.machine_name(0),
        }
    }

    /// One number for a prediction: the predicted value, the decision value of the positive class of two, or, with several
    /// classes, the total support of the binary models for the predicted class.
    pub fn decision_value(&self, prediction: &Prediction) -> f64 {
        let ModelHeader { classes, tasks, .. } = &self.header;
        let label = || classes.iter().position(|c| Some(c) == prediction.label.as_ref());
        match (prediction.outputs.as_slice(), classes.len()) {
            ([output], _) => *output,
            (outputs, classes) => label().map_or(f64::NAN, |at| class_scores(outputs, tasks, classes)[at]),
        }
    }

    /// The members of an ensemble that `auto` has chosen: method, scaling, parameters and share, the largest share first. Empty for a
    /// model of one method.
    pub fn members(&self) -> Vec<(&str, Scale, &Point, f64)> {
        self.header
            .members
            .iter()
            .map(|m| (m.method.as_str(), m.transform.scale, &m.parameters, m.share))
            .collect()
    }

    /// The class that the first machine says yes to; empty for real values.
    pub fn positive_name(&self) -> &str {
        self.header.classes.get(self.header.tasks[0].plus as usize).map_or("", String::as_str)
    }

    /// The two sides of a machine, plus and minus: classes, or "rest"; nothing for real values.
    pub fn sides(&self, machine: usize) -> Option<(&str, &str)> {
        let (BinaryTask { plus, minus }, classes) = (self.header.tasks[machine], &self.header.classes);
        let minus = minus.map_or("rest", |m| classes[m as usize].as_str());
        Some((classes.get(plus as usize)?, minus))
    }

    /// The two sides of a binary model as text: "1 vs 0", "cat vs rest"; empty for real values.
    pub fn machine_name(&self, machine: usize) -> String {
        self.sides(machine).map_or(String::new(), |(plus, minus)| format!("{plus} vs {minus}"))
    }

    /// Bags in pieces of bounded size: aligned to the model's columns, and transformed.
    fn ready<'b>(
        &'b self,
        bags: &Bags,
        ctx: &'b Ctx,
    ) -> Result<impl Iterator<Item = (Bags, Result<Bags>)> + 'b> {
        let aligned = bags.align(&self.header.features)?;
        if aligned.has_missing() && !self.header.transform.fills_gaps() {
            return Err(Error::refused(
                "some values are missing, and the model was trained on data without missing values",
                Message::from("fill them in, or train a model that fills in medians")
                    .with([Setting::FillMissing]),
            ));
        }
        Ok(pieces(&aligned).into_iter().map(move |piece| {
            let raw = aligned.select(&piece);
            let ready = self.header.transform.apply(&raw, ctx).map_err(|e| self.blamed(e, &raw, None));
            (raw, ready)
        }))
    }

    /// Writes the file completely or not at all, and only if it can be read back.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        let path = path.as_ref();
        let bytes = self.to_bytes()?;
        save::whole_checked(
            path,
            |file| file.write_all(&bytes),
            |written| match Model::load(written) {
                Ok(_) => Ok(()),
                Err(Error::Model { problem, .. }) => Err(Error::data(
                    Place::of(path.display().to_string()),
                    format!("the model could not be read back, so it is not written: {problem}"),
                    Message::from("numbers this large need scaling: train the model again")
                        .with([Setting::Scale(&["minmax", "zscore"])]),
                )),
                Err(other) => Err(other),
            },
        )
    }

    /// The file's bytes: equal for equal models.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let state = self.state()?;
        let header = serde_json::to_string(&self.header)
            .map_err(|e| Error::Invalid(format!("the model's header: {e}")))?;
        // What is not a finite number is written as nothing, and could not be read back.
        if serde_json::from_str::<ModelHeader>(&header).is_err() {
            return Err(Error::Invalid(
                "the data contain numbers too large to be scaled; divide them by a power of ten and train again"
                    .into(),
            ));
        }
        pack(&header, state)
    }

    /// A number that differs if anything of the model does.
    pub(crate) fn digest(&self) -> Result<u64> {
        let header = serde_json::to_string(&self.header)
            .map_err(|e| Error::Invalid(format!("the model's header: {e}")))?;
        Ok(checksum(&header, &self.state()?))
    }

    /// Its arrays.
    fn state(&self) -> Result<State> {
        let mut state = State::default();
        for (k, model) in self.models.iter().enumerate() {
            state.nest(&format!("model{k}"), model.save()?);
        }
        if let Some(conformal) = &self.conformal {
            conformal.save(&mut state)?;
        }
        self.seen.save(&mut state);
        Ok(state)
    }

    /// Reads a file, compressed or not. A damaged file or a newer format is an error.
    pub fn load(path: impl AsRef<Path>) -> Result<Model> {
        let path = path.as_ref();
        let explain = |e: io::Error| match e.kind() {
            // What decompression has to say.
            io::ErrorKind::Other => compress::explain(Place::of(path.display().to_string()), e),
            _ => Error::io(path, e),
        };
        let file = files::open_bounded(path, WHAT, MOST)?;
        let bytes =
            compress::decode(file).and_then(|input| read_bytes(input.take(MOST + 1))).map_err(explain)?;
        files::check_bound(path, WHAT, bytes.len() as u64, MOST)?;
        let place = Place::of(path.display().to_string());
        match Model::from_bytes(&bytes) {
            Ok(model) => Ok(Model { place, ..model }),
            Err(Error::Model { problem, .. }) => Err(Error::Model { place, problem }),
            Err(other) => Err(Error::Model { place, problem: other.to_string() }),
        }
    }

    /// A model from the bytes of its file.
    pub fn from_bytes(bytes: &[u8]) -> Result<Model> {
        let damaged = |what: String| refuse(format!("{what}; train it again"));
        let (header, state) = unpack(bytes)?;
        let format: Format =
            serde_json::from_str(&header).map_err(|e| damaged(format!("its header is damaged ({e})")))?;
        if format.format > FORMAT {
            return Err(refuse(format!(
                "it has format {}, this bagwise reads up to {FORMAT}; use bagwise {} or newer",
                format.format, format.version
            )));
        }
        let header: ModelHeader =
            serde_json::from_str(&header).map_err(|e| damaged(format!("its header is damaged ({e})")))?;
        state.check_finite()?;
        Model::from_parts(header, &state)
    }

    /// A model from its header and arrays.
    fn from_parts(header: ModelHeader, state: &State) -> Result<Model> {
        header.check()?;
        let method = methods::find(&header.method)?;
        header.parameters.check(method.info().name, method.params())?;
        let mut header = ModelHeader { parameters: header.parameters.ordered(method.params()), ..header };
        for member in &mut header.members {
            let table = methods::find(&member.method)?.params();
            member.parameters = member.parameters.clone().ordered(table);
        }
        let mut models: Vec<Box<dyn Predictor>> = Vec::new();
        loop {
            let own = state.nested(&format!("model{}", models.len()));
            if own.tensors.is_empty() {
                break;
            }
            if header.members.is_empty() {
                own.check_widths(header.transform.output_width())?;
                models.push(method.load(&header.parameters, &own)?);
            } else {
                models.push(ensemble::load(&header.members, &own)?);
            }
        }
        let conformal =
            header.conformal.as_ref().map(|own| Conformal::load(own, &header, state)).transpose()?;
        let trained = Model { conformal, seen: TrainingDigests::load(state)?, ..Model::new(header, models) };
        trained.check()?;
        Ok(trained)
    }

    /// The models have the outputs that the header promises and compare the columns that the transform gives.
    fn check(&self) -> Result<()> {
        let outputs: usize = self.models.iter().map(|m| m.outputs()).sum();
        if outputs != self.header.tasks.len() {
            return Err(refuse(format!("{outputs} outputs for {} machines", self.header.tasks.len())));
        }
        let width = self.header.transform.output_width();
        if let Some(other) = self.models.iter().filter_map(|m| m.width()).find(|w| *w != width) {
            return Err(refuse(format!("its training bags have {other} columns, its scaling gives {width}")));
        }
        Ok(())
    }
}

/// Bags in lists of bounded size: comparing this many instances with training bags at once keeps memory flat and threads
/// busy.
pub(crate) fn pieces(bags: &Bags) -> Vec<Vec<usize>> {
    const INSTANCES: usize = 16_384;
    let mut pieces: Vec<Vec<usize>> = Vec::new();
    let mut held = INSTANCES;
    for b in 0..bags.len() {
        if held >= INSTANCES {
            pieces.push(Vec::new());
            held = 0;
        }
        pieces.last_mut().expect("a piece was begun").push(b);
        held += bags.rows(b).len();
    }
    pieces
}

/// Read first, so that a newer header is refused by its version and not by its fields.
#[derive(Deserialize)]
struct Format {
    format: u32,
    version: String,
}

impl ModelHeader {
    fn check(&self) -> Result<()> {
        let width = self.features.len();
        let classes = self.classes.len();
        let known = |code: u32| (code as usize) < classes;
        let tasks_fit = match classes {
            0 => self.tasks == [BinaryTask { plus: 0, minus: None }],
            1 => false,
            _ => {
                !self.tasks.is_empty()
                    && self.tasks.iter().all(|d| known(d.plus) && d.minus.is_none_or(known))
            }
        };
        let member_fits = |m: &MemberHeader| m.transform.width() == width && m.transform.is_whole();
        if !self.members.iter().all(member_fits) {
            return Err(refuse("its members and its features differ in number"));
        }
        if width == 0 || self.transform.width() != width || self.familiarity.width() != Some(width) {
            return Err(refuse("features, scaling and ranges differ in number"));
        }
        if !self.transform.is_whole() {
            return Err(refuse("its categories are inconsistent"));
        }
        if !tasks_fit {
            return Err(refuse("its classes and machines are inconsistent"));
        }
        Ok(())
    }
}
