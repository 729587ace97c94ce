//! Neural networks over bags: MI-Net and mi-Net, attention (ABMIL), and BP-MIP, as poolings of one network.
//!
//! Instance layers give `h = act(W'h + c)`. Then `pool` makes the output of the bag:
//!
//! * `attention`: `f = w'z + b` with `z = sum p_j h_j`, `p = softmax over the bag of a' tanh(V'h + v)`; `gated` multiplies the tangent
//!   by `sigmoid(U'h + u)`, unit by unit.
//! * `mean`, `max`, `lse` (`log mean exp`): `f = w'z + b` with z pooled unit by unit (MI-Net).
//! * `instance`: `f = max over instances of w'h + b` (mi-Net).
//!
//! Trained by Adam on `sum t log(1 + exp(-y f)) / n` (numbers: squares, on targets of mean 0 and variance 1), for a fixed number
//! of steps: stopping early would need labels that are set aside. `loss=bp` is BP-MIP: sigmoid units, an output
//! `o = sigmoid(f)`, and for each bag on the wrong side of 1/2 half the square of its distance to it; for numbers half
//! of `(o - y)^2`, where numbers that leave [0, 1] are mapped to it by the range of those trained on.
//!
//! Where we differ from the papers: they take one bag a step (`batch=1`) with momentum, several hundred units and dropout.
//! All bags a step are ten times faster and no worse on their data.
//!
//! Attention says where the network looks, not which way it votes: the part of an instance is `p_j w'h_j`, and `explain` shows both.
//!
//! Cost: `6 (d h + h a)` multiply-adds for each instance and step.
//!
//! Wang, Yan, Tang, Bai, Liu: Revisiting multiple instance neural networks, Pattern Recognition 74, 2018. Ilse, Tomczak,
//! Welling: Attention-based deep multiple instance learning, ICML 2018. Zhou, Zhang: Neural networks for multi-instance
//! learning, 2002.

use std::sync::Arc;

use crate::method::{
    Capability, Explains, Explanation, Info, MemoryEstimate, Method, Outputs, Predictor, Prepared, Scope,
    SolvedFit, State, Training,
};
use crate::multiclass::Scheme;
use crate::params::{Grid, Kind, ParamSpec, Point};
use crate::preprocess::Scale;
use crate::state::refuse;
use bagwise_core::{Bags, Ctx, Error, Mat, Message, Result, Rng};
use bagwise_engine::network::{self, Activation, Adam, InstanceShares, NetworkShape, Pooling};

/// The method, for the registry.
pub(crate) static METHOD: MilNet = MilNet;

pub(crate) struct MilNet;

static INFO: Info = Info {
    name: "mil-net",
    aliases: &["abmil", "mi-net", "bp-mip"],
    title: "neural network over bags: attention, MI-Net, mi-Net, BP-MIP",
    about: "A layer of units processes one instance at a time. The instances of a bag are then pooled by attention (ABMIL: z = \
            sum p h with p a softmax over the bag), by the mean or the maximum of each unit (MI-Net), or by the instance with the \
            largest output (mi-Net). f = w'z + b is trained by Adam for a fixed number of steps. With attention, the part of an \
            instance is p w'h. The attention p alone shows where the network looks, not which class it favours.",
    reference: "Wang, Yan, Tang, Bai, Liu: Revisiting multiple instance neural networks, Pattern Recognition 74, 2018; Ilse, \
                Tomczak, Welling: Attention-based deep multiple instance learning, ICML 2018; Zhou, Zhang: Neural networks for \
                multi-instance learning, 2002",
    family: "network",
    scale: Scale::ZScore,
    complexity: 55,
    explains: Explains::Unless(
        &[("pool", "lse")],
        "additive for pool=attention, gated, mean and max; witness for instance; none for lse",
    ),
    capabilities: &[Capability::Attention],
    scheme: Scheme::OneVsRest,
    params: PARAMS,
    ..Info::USUAL
};

static PARAMS: &[ParamSpec] = &[
    ParamSpec::new(
        "pool",
        Kind::Word(&["attention", "gated", "mean", "max", "lse", "instance"]),
        "attention",
        "How the instances of a bag are pooled: weighted by attention, plain or gated; by the mean, maximum or log-mean-exp of \
         each unit; or by the instance with the largest output.",
    )
    .grid("attention,max")
    .solver(),
    ParamSpec::new(
        "loss",
        Kind::Word(&["log", "bp"]),
        "log",
        "Logistic loss (squared error for regression), or that of BP-MIP with its sigmoid units, which requires pool=instance.",
    )
    .solver(),
    ParamSpec::new("hidden", Kind::Whole { least: 1, most: 4096, words: &[] }, "64", "Units per instance layer.")
        .solver(),
    ParamSpec::new("layers", Kind::Whole { least: 1, most: 3, words: &[] }, "1", "Number of instance layers.").solver(),
    ParamSpec::new(
        "attention",
        Kind::Whole { least: 1, most: 1024, words: &[] },
        "32",
        "Number of attention units.",
    )
    .solver(),
    ParamSpec::new(
        "steps",
        Kind::Whole { least: 1, most: 100_000, words: &[] },
        "200",
        "Number of Adam steps; each uses one batch.",
    )
    .solver(),
    ParamSpec::new(
        "batch",
        Kind::Whole { least: 1, most: 1_000_000, words: &["all"] },
        "all",
        "Number of bags per step. all is the most stable; smaller batches train on large data in minutes, if you raise steps so \
         that every bag is used several times.",
    )
    .solver(),
    ParamSpec::new("rate", Kind::Number { above: 0.0 }, "0.001", "Step size of Adam.").solver(),
    ParamSpec::new(
        "decay",
        Kind::AtLeast { least: 0.0 },
        "0.01",
        "Weight decay; a larger value keeps the network simpler.",
    )
    .grid("0.001,0.01,0.1")
    .solver(),
    ParamSpec::new(
        "restarts",
        Kind::Whole { least: 1, most: 100, words: &[] },
        "1",
        "Number of networks with different starts, whose outputs are averaged.",
    )
    .solver(),
];

/// What a point asks for.
#[derive(Clone, Copy, Debug, PartialEq)]
struct NetParams {
    pooling: Pooling,
    bp: bool,
    hidden: usize,
    layers: usize,
    attention: usize,
    steps: usize,
    /// All bags if not given.
    batch: Option<usize>,
    rate: f64,
    decay: f64,
    restarts: usize,
}

impl NetParams {
    fn read(point: &Point) -> Result<NetParams> {
        let whole = |name: &str| Ok::<_, Error>(point.whole(name)?.unwrap_or(1));
        let pools = [
            ("attention", Pooling::Attention),
            ("gated", Pooling::Gated),
            ("mean", Pooling::Mean),
            ("max", Pooling::Max),
            ("lse", Pooling::LogSumExp),
            ("instance", Pooling::Instance),
        ];
        Ok(NetParams {
            pooling: point.choice("pool", &pools)?,
            bp: point.choice("loss", &[("log", false), ("bp", true)])?,
            hidden: whole("hidden")?,
            layers: whole("layers")?,
            attention: whole("attention")?,
            steps: whole("steps")?,
            batch: point.whole("batch")?,
            rate: point.number("rate")?,
            decay: point.number("decay")?,
            restarts: whole("restarts")?,
        })
    }

    fn shape(&self, inputs: usize) -> NetworkShape {
        NetworkShape {
            inputs,
            widths: vec![self.hidden; self.layers],
            attention: self.attention,
            pooling: self.pooling,
            activation: if self.bp { Activation::Sigmoid } else { Activation::Relu },
        }
    }

    /// Multiply-adds of a fit, a third of them forward.
    fn work(&self, bags: &Bags) -> f64 {
        let seen = self.batch.map_or(1.0, |batch| (batch as f64 / bags.len() as f64).min(1.0));
        let passes = 3.0 * seen * (self.steps * self.restarts) as f64;
        passes * bags.instance_count() as f64 * self.shape(bags.width()).work(bags.values_per_instance())
    }
}

/// The default point, where none is known.
const USUAL: NetParams = NetParams {
    pooling: Pooling::Attention,
    bp: false,
    hidden: 64,
    layers: 1,
    attention: 32,
    steps: 200,
    batch: None,
    rate: 0.001,
    decay: 0.01,
    restarts: 1,
};

/// Fits of one point while it is tuned: five inner folds of four fifths of the bags, and one of all.
const FITS: f64 = 5.0;

impl Method for MilNet {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn refuses(&self, points: &[Point], _: Scale) -> Option<Error> {
        let odd = |p: &Point| NetParams::read(p).is_ok_and(|p| p.bp && p.pooling != Pooling::Instance);
        points.iter().any(odd).then(|| {
            Error::param(
                INFO.name,
                "loss",
                "bp is the loss of BP-MIP, where one instance decides; use it with pool=instance",
            )
        })
    }

    fn work(&self, bags: &Bags, _: usize) -> f64 {
        FITS * USUAL.work(bags)
    }

    fn work_for(&self, bags: &Bags, grid: &Grid) -> f64 {
        // Each a fit on four fifths of the bags in five folds; the chosen one once more on all.
        let all = grid.points.iter().filter_map(|p| NetParams::read(p).ok()).map(|p| p.work(bags));
        let (sum, most) = all.fold((0.0, 0.0), |(sum, most): (f64, f64), work| (sum + work, most.max(work)));
        (FITS - 1.0) * sum + most
    }

    fn needs(&self, bags: &Bags) -> MemoryEstimate {
        let threads = rayon::current_num_threads();
        // Tuning runs as many fits side by side as there are threads, each with its gradients.
        let fits = threads.min(FITS as usize);
        let pass = USUAL.shape(bags.width()).pass_bytes(bags, threads.div_ceil(fits));
        MemoryEstimate { fixed: fits as u64 * pass, each: 0 }
    }

    fn prepare(
        &self,
        bags: Arc<Bags>,
        points: &[Point],
        _: &Scope<'_>,
        _: &Ctx,
    ) -> Result<Box<dyn Prepared>> {
        let points = points.iter().map(NetParams::read).collect::<Result<_>>()?;
        Ok(Box::new(NetPrepared { bags, points }))
    }

    fn load(&self, point: &Point, state: &State) -> Result<Box<dyn Predictor>> {
        let params = NetParams::read(point)?;
        let shape = params.shape(state.count("width")?);
        let networks = state.mat("networks")?;
        if shape.inputs == 0 || shape.parameters() != Some(networks.cols()) {
            return Err(refuse(format!("networks of {} parameters", networks.cols())));
        }
        if networks.rows() == 0 || !networks.rows().is_multiple_of(params.restarts) {
            return Err(refuse(format!("{} networks in sets of {}", networks.rows(), params.restarts)));
        }
        let ranges = state.mat("ranges")?;
        let outputs = networks.rows() / params.restarts;
        if ranges.cols() != 2 || ranges.rows() != outputs || (0..outputs).any(|k| ranges.get(k, 1) < 0.0) {
            return Err(refuse("'ranges' is not a least value and a length for each output"));
        }
        let range = |k: usize| ValueRange { least: ranges.get(k, 0), length: ranges.get(k, 1) };
        let ranges = (0..outputs).map(range).collect();
        Ok(Box::new(NetModel { shape, networks, restarts: params.restarts, ranges }))
    }
}

struct NetPrepared {
    bags: Arc<Bags>,
    points: Vec<NetParams>,
}

/// Networks of one output, one per restart.
struct NetSolution {
    networks: Vec<Vec<f64>>,
    range: ValueRange,
}

/// Where sigmoid outputs of BP-MIP lie, for numbers: `least + length sigmoid(f)`. A length of 0 means `f` itself.
#[derive(Clone, Copy, Debug, PartialEq)]
struct ValueRange {
    least: f64,
    length: f64,
}

impl ValueRange {
    const NONE: ValueRange = ValueRange { least: 0.0, length: 0.0 };

    fn apply(self, f: f64) -> f64 {
        if self.length == 0.0 { f } else { self.least + self.length * sigmoid(f) }
    }
}

fn sigmoid(f: f64) -> f64 {
    if f >= 0.0 { 1.0 / (1.0 + (-f).exp()) } else { f.exp() / (1.0 + f.exp()) }
}

/// What an error of a bag costs: its target and its weight.
#[derive(Clone, Copy)]
enum BagLoss {
    Logistic,
    Squares,
    /// BP-MIP's for classes: nothing on the right side.
    Side,
    /// BP-MIP's for numbers.
    SquaresOfSigmoid,
}

impl BagLoss {
    /// The loss of an output, and its slope.
    fn of(self, y: f64, f: f64) -> (f64, f64) {
        match self {
            BagLoss::Logistic => {
                // log(1 + exp(-y f)), without overflow.
                let margin = y * f;
                ((-margin).max(0.0) + (-margin.abs()).exp().ln_1p(), -y * sigmoid(-margin))
            }
            BagLoss::Squares => ((f - y) * (f - y) / 2.0, f - y),
            BagLoss::Side | BagLoss::SquaresOfSigmoid => {
                let o = sigmoid(f);
                let target = match self {
                    BagLoss::Side if (o >= 0.5) == (y > 0.0) => return (0.0, 0.0),
                    BagLoss::Side => 0.5,
                    _ => y,
                };
                ((o - target) * (o - target) / 2.0, (o - target) * o * (1.0 - o))
            }
        }
    }
}

impl NetPrepared {
    fn train(&self, params: &NetParams, training: &Training<'_>, ctx: &Ctx) -> Result<NetSolution> {
        let shape = params.shape(self.bags.width());
        let (last, bias) = shape.output_layer();
        let one_class = !training.regression && training.y.iter().all(|y| *y == training.y[0]);
        if one_class {
            // Nothing to learn but the sign.
            let mut network = vec![0.0; bias + 1];
            network[bias] = training.y[0];
            return Ok(NetSolution { networks: vec![network; params.restarts], range: ValueRange::NONE });
        }
        ctx.reserve(
            "passes through a network",
            shape.pass_bytes(&self.bags, rayon::current_num_threads()),
            Message::more_memory().or("use fewer hidden units"),
        )?;
        let (loss, targets, scale, range) = targets(params, training);
        let mut networks = Vec::with_capacity(params.restarts);
        for restart in 0..params.restarts as u64 {
            let mut network = self.search(params, &shape, restart, training, (loss, &targets), ctx)?;
            if network.iter().any(|p| !p.is_finite()) {
                return Err(Error::param(
                    INFO.name,
                    "rate",
                    format!("{} makes training diverge; use a smaller value", params.rate),
                ));
            }
            // Back to the units of the target.
            network[last.clone()].iter_mut().for_each(|w| *w *= scale.length);
            network[bias] = scale.least + scale.length * network[bias];
            networks.push(network);
        }
        Ok(NetSolution { networks, range })
    }

    fn search(
        &self,
        params: &NetParams,
        shape: &NetworkShape,
        restart: u64,
        training: &Training<'_>,
        (loss, targets): (BagLoss, &[f64]),
        ctx: &Ctx,
    ) -> Result<Vec<f64>> {
        let mut network = shape.start(ctx.seed, restart);
        let mut adam = Adam::new(network.len(), params.rate, params.decay, shape.decaying());
        let n = training.bags.len();
        let batch = params.batch.unwrap_or(n).min(n);
        let mut order: Vec<usize> = (0..n).collect();
        let mut left = 0..0;
        let mut epoch = 0;
        for _ in 0..params.steps {
            ctx.check()?;
            if left.is_empty() {
                if batch < n {
                    Rng::new(ctx.seed, "net-order", &[restart, epoch]).shuffle(&mut order);
                    epoch += 1;
                }
                left = 0..n;
            }
            let here = &order[left.start..left.end.min(left.start + batch)];
            left.start += here.len();
            let bags: Vec<usize> = here.iter().map(|&i| training.bags[i]).collect();
            let share = 1.0 / here.len() as f64;
            let cost = |at: usize, f: f64| {
                let (value, slope) = loss.of(targets[here[at]], f);
                let weight = share * training.weights[here[at]];
                (weight * value, weight * slope)
            };
            let found = network::gradient(shape, &network, &self.bags, &bags, &cost, ctx)?;
            adam.step(&mut network, found.gradient);
        }
        Ok(network)
    }
}

/// The loss, the targets it is given, how outputs go back to the units of the target, and through which range they are read.
fn targets(params: &NetParams, training: &Training<'_>) -> (BagLoss, Vec<f64>, ValueRange, ValueRange) {
    let as_is = ValueRange { least: 0.0, length: 1.0 };
    let y = training.y;
    match (training.regression, params.bp) {
        (false, false) => (BagLoss::Logistic, y.to_vec(), as_is, ValueRange::NONE),
        (false, true) => (BagLoss::Side, y.to_vec(), as_is, ValueRange::NONE),
        (true, false) => {
            let total: f64 = training.weights.iter().sum();
            let weighted = |f: &dyn Fn(f64) -> f64| {
                y.iter().zip(training.weights).map(|(&y, w)| w * f(y)).sum::<f64>() / total
            };
            let mean = weighted(&|y| y);
            let spread = weighted(&|y| (y - mean) * (y - mean)).sqrt();
            let scale = ValueRange { least: mean, length: if spread > 0.0 { spread } else { 1.0 } };
            let targets = y.iter().map(|y| (y - scale.least) / scale.length).collect();
            (BagLoss::Squares, targets, scale, ValueRange::NONE)
        }
        (true, true) => {
            let (least, most) = y.iter().fold((f64::MAX, f64::MIN), |(a, b), &y| (a.min(y), b.max(y)));
            let range = match least < 0.0 || most > 1.0 {
                true if most > least => ValueRange { least, length: most - least },
                // One value only: any length will do.
                true => ValueRange { least: least - 0.5, length: 1.0 },
                false => as_is,
            };
            let targets = y.iter().map(|y| (y - range.least) / range.length).collect();
            (BagLoss::SquaresOfSigmoid, targets, as_is, range)
        }
    }
}

/// The mean over networks of their outputs.
fn answers(
    shape: &NetworkShape,
    networks: &[&[f64]],
    range: ValueRange,
    bags: &Bags,
    list: &[usize],
    ctx: &Ctx,
) -> Result<Vec<f64>> {
    let mut sum = vec![0.0; list.len()];
    for network in networks {
        let found = network::outputs(shape, network, bags, list, ctx)?;
        sum.iter_mut().zip(found).for_each(|(s, f)| *s += range.apply(f) / networks.len() as f64);
    }
    Ok(sum)
}

impl Prepared for NetPrepared {
    fn fit(&self, points: &[usize], training: &Training<'_>, ctx: &Ctx) -> Result<Vec<SolvedFit>> {
        let one = |&point: &usize| {
            let solution = self.train(&self.points[point], training, ctx)?;
            Ok(SolvedFit { point, outcome: None, rounds: None, solution: Box::new(solution) })
        };
        points.iter().map(one).collect()
    }

    fn scores(&self, fit: &SolvedFit, bags: &[usize], ctx: &Ctx) -> Result<Vec<f64>> {
        let NetSolution { networks, range } = fit.of();
        let networks: Vec<&[f64]> = networks.iter().map(Vec::as_slice).collect();
        let shape = self.points[fit.point].shape(self.bags.width());
        answers(&shape, &networks, *range, &self.bags, bags, ctx)
    }

    fn model(&self, fits: &[&SolvedFit], _: &[usize], _: &Ctx) -> Result<Box<dyn Predictor>> {
        let params = &self.points[fits[0].point];
        let solutions: Vec<&NetSolution> = fits.iter().map(|fit| fit.of()).collect();
        let rows: Vec<&[f64]> = solutions.iter().flat_map(|s| &s.networks).map(|n| n.as_slice()).collect();
        Ok(Box::new(NetModel {
            shape: params.shape(self.bags.width()),
            networks: Mat::from_rows(&rows),
            restarts: params.restarts,
            ranges: solutions.iter().map(|s| s.range).collect(),
        }))
    }
}

struct NetModel {
    shape: NetworkShape,
    /// Row after row: the restarts of an output, output after output.
    networks: Mat,
    restarts: usize,
    ranges: Vec<ValueRange>,
}

impl NetModel {
    fn networks(&self, output: usize) -> Vec<&[f64]> {
        (output * self.restarts..(output + 1) * self.restarts).map(|row| self.networks.row(row)).collect()
    }

    /// For each bag the shares of its instances in each restart of an output.
    fn shares(&self, output: usize, bags: &Bags, ctx: &Ctx) -> Result<Vec<Vec<InstanceShares>>> {
        let list: Vec<usize> = (0..bags.len()).collect();
        let mut all = vec![Vec::with_capacity(self.restarts); bags.len()];
        for network in self.networks(output) {
            let found = network::shares(&self.shape, network, bags, &list, ctx)?;
            all.iter_mut().zip(found).for_each(|(bag, own)| bag.push(own));
        }
        Ok(all)
    }

    fn explanation(&self, output: usize, restarts: &[InstanceShares]) -> Explanation {
        let (range, share) = (self.ranges[output], 1.0 / restarts.len() as f64);
        let mean = |value: &dyn Fn(&InstanceShares) -> f64| share * restarts.iter().map(value).sum::<f64>();
        let instances = restarts[0].parts.len();
        match restarts[0].chosen {
            Some(chosen) if restarts.len() == 1 => {
                let outputs = restarts[0].parts.iter().map(|f| range.apply(*f)).collect();
                Explanation::Witness { outputs, chosen }
            }
            // Networks that choose different instances: each gives its share of the output to its own.
            Some(_) => {
                let mut parts = vec![0.0; instances];
                for own in restarts {
                    let chosen = own.chosen.expect("all networks have one pooling");
                    parts[chosen] += share * range.apply(own.parts[chosen]);
                }
                Explanation::Additive { bias: 0.0, parts }
            }
            None => Explanation::Additive {
                bias: mean(&|own| own.bias),
                parts: (0..instances).map(|i| mean(&|own| own.parts[i])).collect(),
            },
        }
    }
}

impl Predictor for NetModel {
    fn outputs(&self) -> usize {
        self.ranges.len()
    }

    fn width(&self) -> Option<usize> {
        Some(self.shape.inputs)
    }

    fn predict(&self, bags: &Bags, ctx: &Ctx) -> Result<Outputs> {
        let list: Vec<usize> = (0..bags.len()).collect();
        let mut scores = Mat::zeros(bags.len(), self.outputs());
        for (k, &range) in self.ranges.iter().enumerate() {
            let found = answers(&self.shape, &self.networks(k), range, bags, &list, ctx)?;
            found.into_iter().enumerate().for_each(|(b, f)| scores.set(b, k, f));
        }
        Ok(Outputs { scores, nearest: vec![None; bags.len()] })
    }

    fn explain(&self, bags: &Bags, ctx: &Ctx) -> Result<Vec<Vec<Explanation>>> {
        if self.shape.pooling == Pooling::LogSumExp {
            return Err(Error::Invalid(
                "mil-net with pool=lse cannot explain by instance: the logarithm of a sum has no parts; \
                 use another pool"
                    .into(),
            ));
        }
        let mut all = vec![Vec::with_capacity(self.outputs()); bags.len()];
        for k in 0..self.outputs() {
            let shares = self.shares(k, bags, ctx)?;
            all.iter_mut().zip(shares).for_each(|(bag, own)| bag.push(self.explanation(k, &own)));
        }
        Ok(all)
    }

    fn attention(&self, bags: &Bags, ctx: &Ctx) -> Result<Option<Vec<Vec<Vec<f64>>>>> {
        if !self.shape.pooling.attends() {
            return Ok(None);
        }
        let mut all = vec![Vec::with_capacity(self.outputs()); bags.len()];
        for k in 0..self.outputs() {
            for (bag, restarts) in all.iter_mut().zip(self.shares(k, bags, ctx)?) {
                let mean = |i: usize| {
                    restarts.iter().map(|own| own.attention[i]).sum::<f64>() / restarts.len() as f64
                };
                bag.push((0..restarts[0].attention.len()).map(mean).collect());
            }
        }
        Ok(Some(all))
    }

    fn save(&self) -> Result<State> {
        let mut state = State::default();
        state.put_counts("width", [self.shape.inputs]);
        state.put_mat("networks", &self.networks);
        let ranges: Vec<[f64; 2]> = self.ranges.iter().map(|r| [r.least, r.length]).collect();
        state.put_mat("ranges", &Mat::from_rows(&ranges));
        Ok(state)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::WhenUnset;

    #[test]
    fn the_usual_point_is_that_of_the_table() {
        let grid = Grid::new(INFO.name, PARAMS, &[], WhenUnset::Default, false).unwrap();
        assert_eq!(NetParams::read(&grid.points[0]).unwrap(), USUAL);
    }

    #[test]
    fn slopes_of_losses_are_those_of_finite_differences() {
        for loss in [BagLoss::Logistic, BagLoss::Squares, BagLoss::Side, BagLoss::SquaresOfSigmoid] {
            for (y, f) in [(1.0, -0.7), (1.0, 0.4), (-1.0, 2.0), (-1.0, -30.0), (1.0, -40.0)] {
                let numeric = (loss.of(y, f + 1e-6).0 - loss.of(y, f - 1e-6).0) / 2e-6;
                // Losses up to 800 are rounded by 1e-13, which the step divides.
                assert!((numeric - loss.of(y, f).1).abs() < 1e-6, "{y} {f}: {numeric}");
            }
        }
        assert_eq!(BagLoss::Logistic.of(1.0, -1e6).0, 1e6);
    }
}
