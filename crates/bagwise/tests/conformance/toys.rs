//! Data and models that the promises are tested with.

use std::sync::Arc;

use bagwise::fold::{ResolvedConfig, TrainOptions, TrainingTask, train};
use bagwise::judge::{Metric, Splits};
use bagwise::method::{Info, MemoryEstimate, Method, Predictor, Prepared, Scope, State};
use bagwise::methods::{self, METHODS};
use bagwise::model::Model;
use bagwise::params::{Grid, ParamSpec, Point, WhenUnset};
use bagwise::preprocess::Scale;
use bagwise::{Bags, Ctx, Dataset, Error, Instances, Mat, Result, Rng, Target};

/// Every registered method, and `isk` once more for each of its other partitions: they share little but the name. Whoever
/// writes a method sets `BAGWISE_METHOD` to its name, and waits for no other.
pub(crate) fn variants() -> Vec<&'static dyn Method> {
    let isk = |partition: &'static str| -> &'static dyn Method {
        let changed = |spec: &ParamSpec| match spec.name {
            "partition" => ParamSpec { default: partition, grid: partition, ..*spec },
            _ => *spec,
        };
        let isk = methods::find("isk").unwrap();
        let params: Vec<ParamSpec> = isk.params().iter().map(changed).collect();
        Box::leak(Box::new(Variant { of: isk, params: params.leak() }))
    };
    let all = METHODS.iter().copied().chain(["forest", "sphere"].map(isk));
    match std::env::var("BAGWISE_METHOD") {
        Ok(name) => {
            assert!(methods::find(&name).is_ok(), "BAGWISE_METHOD: there is no method '{name}'");
            all.filter(|method| method.info().name == name).collect()
        }
        Err(_) => all.collect(),
    }
}

/// A method with other defaults.
struct Variant {
    of: &'static dyn Method,
    params: &'static [ParamSpec],
}

impl Method for Variant {
    fn info(&self) -> &'static Info {
        self.of.info()
    }
    fn params(&self) -> &'static [ParamSpec] {
        self.params
    }
    fn scale(&self, points: &[Point]) -> Scale {
        self.of.scale(points)
    }
    fn refuses(&self, points: &[Point], scale: Scale) -> Option<Error> {
        self.of.refuses(points, scale)
    }
    fn admits(&self, point: &Point, instances: usize) -> bool {
        self.of.admits(point, instances)
    }
    fn work(&self, bags: &Bags, representations: usize) -> f64 {
        self.of.work(bags, representations)
    }
    fn needs(&self, bags: &Bags) -> MemoryEstimate {
        self.of.needs(bags)
    }
    fn prepare(
        &self,
        bags: Arc<Bags>,
        points: &[Point],
        scope: &Scope<'_>,
        ctx: &Ctx,
    ) -> Result<Box<dyn Prepared>> {
        self.of.prepare(bags, points, scope, ctx)
    }
    fn load(&self, point: &Point, state: &State) -> Result<Box<dyn Predictor>> {
        self.of.load(point, state)
    }
}

/// Bags around the origin; those of class c > 0 have instances near c times (3, -3, 3, …) as well.
pub(crate) fn toy(bags: usize, classes: u32, seed: u64) -> Dataset {
    toy_from(0, bags, classes, seed)
}

/// The same with (c + first) times that place for class c: from 1 on, every class has instances of its own.
pub(crate) fn toy_from(first: u32, bags: usize, classes: u32, seed: u64) -> Dataset {
    const WIDTH: usize = 4;
    let mut rng = Rng::new(seed, "toy", &[]);
    let (mut rows, mut offsets, mut labels) = (Vec::new(), vec![0], Vec::new());
    for b in 0..bags {
        let class = b as u32 % classes;
        for i in 0..2 + rng.below(5) {
            let shift = if i % 2 == 0 { 3.0 * f64::from(first + class) } else { 0.0 };
            let sign = |j: usize| if j.is_multiple_of(2) { 1.0 } else { -1.0 };
            rows.push((0..WIDTH).map(|j| shift * sign(j) + 0.7 * rng.normal()).collect::<Vec<f64>>());
        }
        offsets.push(rows.len());
        labels.push(class.to_string());
    }
    let bags = Bags::new(Instances::F64(Mat::from_rows(&rows)), offsets).unwrap();
    Dataset::new("toy", bags).with_target(Target::from_labels(&labels)).unwrap()
}

/// The same bags with the mean of their first column as the value to predict.
pub(crate) fn toy_values(bags: usize, seed: u64) -> Dataset {
    let data = toy(bags, 2, seed);
    let mean = |b: usize| {
        let bag = data.bags.bag(b).to_dense().unwrap();
        (0..bag.rows()).map(|i| bag.get(i, 0)).sum::<f64>() / bag.rows() as f64
    };
    let values = (0..bags).map(mean).collect();
    Dataset { target: Some(Target::Values(values)), ..data }
}

pub(crate) fn setup(
    method: &'static dyn Method,
    given: &[(&str, &str)],
    fill: WhenUnset,
    data: &Dataset,
) -> ResolvedConfig {
    let given: Vec<(String, String)> = given
        .iter()
        .filter(|(name, _)| method.params().iter().any(|p| p.name == *name))
        .map(|(name, value)| (name.to_string(), value.to_string()))
        .collect();
    let regression = matches!(data.target, Some(Target::Values(_)));
    ResolvedConfig {
        method,
        grid: Grid::new(method.info().name, method.params(), &given, fill, regression).unwrap(),
        scale: method.info().scale,
        scheme: method.scheme(),
        balanced: false,
        impute: false,
    }
}

pub(crate) fn fit(setup: &ResolvedConfig, data: &Dataset, bags: &[usize]) -> Model {
    let learners = [TrainingTask::new(data, setup, None).unwrap()];
    let metric = if learners[0].is_regression() { Metric::Mse } else { Metric::Accuracy };
    let wanted = TrainOptions::by(metric);
    train(&learners, bags, Splits::KFold(3), &wanted, &Ctx::seeded(7)).unwrap()
}

pub(crate) fn all(data: &Dataset) -> Vec<usize> {
    (0..data.bags.len()).collect()
}

/// A small grid, so that tuning has something to choose.
pub(crate) const SMALL: &[(&str, &str)] = &[
    ("gamma", "0.5,2"),
    ("c", "1,10"),
    ("kernel", "rbf,linear"),
    // Half of the instances of every bag are noise: the nearest pair (rank 1) says nothing here.
    ("rank", "1,max"),
    // A network of fewer and longer steps.
    ("hidden", "16"),
    ("attention", "8"),
    ("steps", "60"),
    ("rate", "0.02"),
    ("decay", "0.001,0.01"),
    ("draws", "3"),
    ("folds", "2"),
];

pub(crate) fn can_learn(method: &dyn Method, data: &Dataset) -> bool {
    method.info().regression || matches!(data.target, Some(Target::Classes { .. }))
}

pub(crate) fn is_baseline(method: &dyn Method) -> bool {
    method.info().complexity == 0
}
