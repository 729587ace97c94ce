//! Bag kernel + support vector machine: everything that follows once two bags have a similarity.
//!
//! A [`BagKernel`] gives Grams over prepared bags ([`Grams`]) and can keep training bags in a [`ReferenceBags`] that
//! compares new ones with them. From that this adapter makes fits, scores, models, saved state and explanations:
//! with `f(X) = bias + sum_B coef_B K(X, B)` and a kernel that is a sum over the instances of `X`, the part of
//! instance `a` is `sum_B coef_B K(a, B)` and its share, by weight, of the bias; parts add up to `f(X)` exactly. Where
//! the kernel is divided by the sums of the weights, a part is the share times the output of the instance as a bag of
//! its own, so that its sign says what the instance speaks for. (With the bias set apart, a heavy instance that speaks for the class less than
//! the bias does would look as if it spoke against.)

use std::sync::Arc;

use bagwise_svm::{LANES, Machine};
use rayon::prelude::*;

use crate::families::many_machines::{MachineList, kernel_block, stream_outputs};
use crate::families::svm::{self, SvmParams};
use crate::families::width::{costly_representations, twins};
use crate::graph::Graph;
use crate::method::{
    Explanation, Info, MemoryEstimate, Method, Outputs, Predictor, Prepared, Scope, SolvedFit, State,
    Training, WeightedConcept, comparison_work,
};
use crate::multiclass::MANY_MACHINES;
use crate::params::{Grid, Point, representations};
use crate::preprocess::Scale;
use crate::state::refuse;
use bagwise_core::{Bags, Csr, Ctx, Error, Mat, Result};

/// A similarity of two bags.
pub(crate) trait BagKernel: Send + Sync + 'static {
    /// As [`Method::reuses_labels`].
    fn reuses_labels(&self, _point: &Point) -> bool {
        false
    }

    /// As [`Method::scale`], where `usual` suits the method.
    fn scale(&self, _points: &[Point], usual: Scale) -> Scale {
        usual
    }

    /// As [`Method::refuses`].
    fn refuses(&self, _method: &str, _points: &[Point], _scale: Scale) -> Option<Error> {
        None
    }

    /// As [`Method::approximation`].
    fn approximation(&self, _bags: &Bags, _points: &[Point]) -> Option<String> {
        None
    }

    /// True if the kernel of a point has no width, so that points that differ in it are the same.
    fn ignores_width(&self, _point: &Point) -> bool {
        false
    }

    /// As [`Method::keeps_instances`].
    fn keeps_instances(&self) -> bool {
        false
    }

    /// As [`Method::admits`].
    fn admits(&self, _point: &Point, _instances: usize) -> bool {
        true
    }

    /// Multiply-adds of the Grams, roughly.
    fn work(&self, bags: &Bags, representations: usize) -> f64;

    /// The same for a grid.
    fn work_for(&self, bags: &Bags, grid: &Grid) -> f64 {
        self.work(bags, costly_representations(grid))
    }

    /// As [`Method::search_work`].
    fn search_work(&self, _bags: &Bags, _grid: &Grid, _share: f64) -> f64 {
        0.0
    }

    /// As [`Method::search_name`].
    fn search_name(&self, _grid: &Grid) -> Option<String> {
        None
    }

    /// As [`Method::answer_work`].
    fn answer_work(&self, bags: &Bags, known: f64, new: f64) -> f64 {
        comparison_work(bags, known, new)
    }

    /// Memory needed while Grams are made, besides the Grams.
    fn needs_besides(&self, bags: &Bags) -> MemoryEstimate;

    /// Grams over all bags for points that differ in representation; only `scope` may be learned from.
    fn grams(
        &self,
        bags: Arc<Bags>,
        points: &[&Point],
        scope: &Scope<'_>,
        ctx: &Ctx,
    ) -> Result<Box<dyn Grams>>;

    /// A bank from its saved state.
    fn load(&self, point: &Point, state: &State) -> Result<Box<dyn ReferenceBags>>;
}

/// Grams over prepared bags, one per representation.
pub(crate) trait Grams: Send + Sync {
    /// Bags x bags, symmetric.
    fn gram(&self, representation: usize) -> &Mat;

    /// The bags of `train`, kept for comparison with new ones.
    fn bank(&self, representation: usize, train: &[usize], ctx: &Ctx) -> Result<Box<dyn ReferenceBags>>;
}

/// Training bags that new ones are compared with.
pub(crate) trait ReferenceBags: Send + Sync {
    /// Number of bags kept.
    fn len(&self) -> usize;

    /// Number of columns that new bags must have.
    fn width(&self) -> usize;

    /// Kernel values, new bags x kept bags, and what turns them into similarities.
    fn compare(&self, bags: &Bags, ctx: &Ctx) -> Result<CrossKernel>;

    /// The same values taken apart by the instances of the new bags.
    fn parts(&self, bags: &Bags, ctx: &Ctx) -> Result<InstanceKernel>;

    /// The part of each instance in `sum_B coef_B K(X, B)`, instances x outputs, where sums over the kept bags can be taken
    /// before instances are compared; the share of an instance in its bag is then one over the bag's size.
    fn weighted_parts(&self, _coefficients: &Csr, _bags: &Bags, _ctx: &Ctx) -> Result<Option<Mat>> {
        Ok(None)
    }

    /// The graph of each new bag, if the kernel is one of graphs.
    fn graphs(&self, _bags: &Bags, _ctx: &Ctx) -> Result<Option<Vec<Graph>>> {
        Ok(None)
    }

    /// The concepts that the kernel is made of, if it has such.
    fn concepts(&self) -> Option<Vec<WeightedConcept>> {
        None
    }

    fn save(&self) -> Result<State>;
}

/// Kernel values of new bags with kept ones.
pub(crate) struct CrossKernel {
    /// New x kept.
    pub(crate) kernel: Mat,
    /// The kernel of each new bag with itself.
    pub(crate) own: Vec<f64>,
    /// The kernel of each kept bag with itself.
    pub(crate) kept: Vec<f64>,
}

/// Kernel values taken apart.
pub(crate) struct InstanceKernel {
    /// Instances x kept bags; the rows of a bag add up to its row of [`ReferenceBags::compare`].
    pub(crate) kernel: Mat,
    /// The share of each instance in its bag, by weight; the shares of a bag add up to 1.
    pub(crate) share: Vec<f64>,
}

/// A bag kernel as a full method.
pub(crate) struct KernelSvm<K> {
    pub(crate) info: &'static Info,
    pub(crate) kernel: K,
}

impl<K: BagKernel> Method for KernelSvm<K> {
    fn info(&self) -> &'static Info {
        self.info
    }

    fn scale(&self, points: &[Point]) -> Scale {
        self.kernel.scale(points, self.info.scale)
    }

    fn refuses(&self, points: &[Point], scale: Scale) -> Option<Error> {
        self.kernel.refuses(self.info.name, points, scale)
    }

    fn approximation(&self, bags: &Bags, points: &[Point]) -> Option<String> {
        self.kernel.approximation(bags, points)
    }

    fn reuses_labels(&self, point: &Point) -> bool {
        self.kernel.reuses_labels(point)
    }

    fn keeps_instances(&self) -> bool {
        self.kernel.keeps_instances()
    }

    fn admits(&self, point: &Point, instances: usize) -> bool {
        self.kernel.admits(point, instances)
    }

    fn work(&self, bags: &Bags, representations: usize) -> f64 {
        self.kernel.work(bags, representations)
    }

    /// Each representation has a Gram to fill.
    fn work_for(&self, bags: &Bags, grid: &Grid) -> f64 {
        const ENTRY: f64 = 90.0;
        let entries = (grid.groups.len() * bags.len() * bags.len()) as f64;
        self.kernel.work_for(bags, grid) + ENTRY * entries
    }

    fn search_work(&self, bags: &Bags, grid: &Grid, share: f64) -> f64 {
        self.kernel.search_work(bags, grid, share)
    }

    fn search_name(&self, grid: &Grid) -> Option<String> {
        self.kernel.search_name(grid)
    }

    fn answer_work(&self, bags: &Bags, known: f64, new: f64) -> f64 {
        self.kernel.answer_work(bags, known, new)
    }

    fn needs(&self, bags: &Bags) -> MemoryEstimate {
        let MemoryEstimate { fixed, each } = self.kernel.needs_besides(bags);
        MemoryEstimate { fixed, each: each + 8 * (bags.len() as u64).pow(2) }
    }

    fn prepare(
        &self,
        bags: Arc<Bags>,
        points: &[Point],
        scope: &Scope<'_>,
        ctx: &Ctx,
    ) -> Result<Box<dyn Prepared>> {
        let (distinct, representation) = representations(self.params(), points);
        let grams = self.kernel.grams(bags, &distinct, scope, ctx)?;
        let machines = points.iter().map(SvmParams::read).collect::<Result<_>>()?;
        let twins = twins(points, |p| self.kernel.ignores_width(p));
        Ok(Box::new(KernelPrepared { grams, machines, representation, twins }))
    }

    fn load(&self, point: &Point, state: &State) -> Result<Box<dyn Predictor>> {
        let bank = self.kernel.load(point, &state.nested("bank"))?;
        let coefficients = coefficients_of(state, bank.len())?;
        let biases = state.vector("biases", coefficients.rows())?;
        Ok(Box::new(KernelModel { bank, coefficients, biases }))
    }
}

/// So many machines are asked one after the other.
const FEW: usize = 64;

struct KernelPrepared {
    grams: Box<dyn Grams>,
    /// What is asked of the machine at each point.
    machines: Vec<SvmParams>,
    /// The Gram of each point.
    representation: Vec<usize>,
    twins: Vec<usize>,
}

/// A machine on a Gram and the prepared bags it was trained on.
pub(crate) struct BagMachine {
    pub(crate) machine: Machine,
    pub(crate) bags: Vec<usize>,
}

impl BagMachine {
    /// The outputs for some of the prepared bags.
    pub(crate) fn outputs(&self, gram: &Mat, bags: &[usize]) -> Vec<f64> {
        bags.iter().map(|&b| self.machine.output(|i| gram.get(b, self.bags[i]))).collect()
    }
}

/// Coefficients, machines x the bags `train`, and biases. Sparse: a machine for a pair of many classes knows few bags.
pub(crate) fn expansions(machines: &[&BagMachine], train: &[usize]) -> (Csr, Vec<f64>) {
    let mut column = vec![u32::MAX; train.iter().max().map_or(0, |most| most + 1)];
    train.iter().enumerate().for_each(|(at, &bag)| column[bag] = at as u32);
    let mut coefficients = Csr::empty(train.len());
    for BagMachine { machine, bags } in machines {
        let mut row: Vec<(u32, f64)> = machine.support().map(|(i, value)| (column[bags[i]], value)).collect();
        row.sort_unstable_by_key(|&(column, _)| column);
        coefficients.push_row(row);
    }
    (coefficients, machines.iter().map(|m| m.machine.bias).collect())
}

/// Stores coefficients in a model. A machine for a pair of many classes knows so few bags that a matrix would be zeros mostly.
pub(crate) fn put_coefficients(state: &mut State, coefficients: &Csr) {
    if coefficients.rows() > MANY_MACHINES {
        let mut own = State::default();
        own.put_sparse(coefficients);
        return state.nest("coefficients", own);
    }
    let mut all = Mat::zeros(coefficients.rows(), coefficients.cols());
    for k in 0..coefficients.rows() {
        let (columns, values) = coefficients.row(k);
        columns.iter().zip(values).for_each(|(&column, &value)| all.set(k, column as usize, value));
    }
    state.put_mat("coefficients", &all);
}

/// The coefficients of a model that keeps so many training bags.
pub(crate) fn coefficients_of(state: &State, bags: usize) -> Result<Csr> {
    if !state.tensors.contains_key("coefficients") {
        let own = state.nested("coefficients");
        return if own.tensors.is_empty() { Err(refuse("it has no coefficients")) } else { own.sparse(bags) };
    }
    let coefficients = state.mat("coefficients")?;
    if coefficients.cols() != bags {
        return Err(refuse(format!("{} coefficients for {bags} training bags", coefficients.cols())));
    }
    let mut all = Csr::empty(coefficients.cols());
    for k in 0..coefficients.rows() {
        all.push_row(coefficients.row(k).iter().enumerate().map(|(column, &value)| (column as u32, value)));
    }
    Ok(all)
}

/// The largest similarity of each of `train` to another of them.
pub(crate) fn nearest_others(train: &[usize], similarity: impl Fn(usize, usize) -> f64) -> Option<Vec<f64>> {
    let nearest = |&a: &usize| {
        train.iter().filter(|&&b| b != a).map(|&b| similarity(a, b)).fold(f64::NEG_INFINITY, f64::max)
    };
    (train.len() > 1).then(|| train.iter().map(nearest).collect())
}

/// Outputs, and the similarity to the nearest kept bag, from kernel values, new bags x kept ones; these are divided by
/// `length` to be similarities.
pub(crate) fn expand(
    kernel: &Mat,
    coefficients: &Csr,
    biases: &[f64],
    length: impl Fn(usize, usize) -> f64,
) -> Outputs {
    let mut scores = Mat::zeros(kernel.rows(), biases.len());
    let fill = |(b, own): (usize, &mut [f64])| {
        for (k, (score, bias)) in own.iter_mut().zip(biases).enumerate() {
            *score = bias + dot(kernel.row(b), coefficients.row(k));
        }
    };
    let outputs = biases.len().max(1);
    match biases.len() > MANY_MACHINES {
        true => scores.data_mut().par_chunks_exact_mut(outputs).enumerate().for_each(fill),
        false => scores.data_mut().chunks_exact_mut(outputs).enumerate().for_each(fill),
    }
    let nearest = (0..kernel.rows()).map(|b| {
        let similarity = kernel.row(b).iter().enumerate().map(|(k, value)| value / length(b, k));
        // Without a self-similarity (a linear kernel at the origin) there is no yardstick.
        let most = similarity.fold(f64::NEG_INFINITY, f64::max);
        most.is_finite().then_some(most.min(1.0))
    });
    Outputs { nearest: nearest.collect(), scores }
}

impl Prepared for KernelPrepared {
    fn fit(&self, points: &[usize], training: &Training<'_>, ctx: &Ctx) -> Result<Vec<SolvedFit>> {
        let gram = self.grams.gram(self.representation[points[0]]);
        let here: Vec<SvmParams> = points.iter().map(|&p| self.machines[p]).collect();
        let machines = svm::solve(gram, &here, training, ctx)?;
        let fits = points.iter().zip(machines).map(|(&point, machine)| SolvedFit {
            point,
            outcome: Some(machine.outcome),
            rounds: None,
            solution: Box::new(BagMachine { machine, bags: training.bags.to_vec() }),
        });
        Ok(fits.collect())
    }

    fn scores(&self, fit: &SolvedFit, bags: &[usize], _: &Ctx) -> Result<Vec<f64>> {
        let gram = self.grams.gram(self.representation[fit.point]);
        Ok(fit.of::<BagMachine>().outputs(gram, bags))
    }

    fn scores_of_all(&self, fits: &[&SolvedFit], bags: &[usize], ctx: &Ctx) -> Result<Mat> {
        let gram = self.grams.gram(self.representation[fits[0].point]);
        let machines: Vec<&BagMachine> = fits.iter().map(|fit| fit.of()).collect();
        let mut all = Mat::zeros(bags.len(), fits.len());
        if machines.len() < FEW {
            for (k, machine) in machines.iter().enumerate() {
                ctx.check()?;
                let outputs = machine.outputs(gram, bags);
                outputs.into_iter().enumerate().for_each(|(row, out)| all.set(row, k, out));
            }
            return Ok(all);
        }
        let mut list = MachineList::default();
        for (k, BagMachine { machine, bags }) in machines.iter().enumerate() {
            list.push(0, k, machine, bags);
        }
        for (b, tested) in bags.chunks(LANES).enumerate() {
            ctx.check()?;
            let put = &mut |_: usize, machine: usize, first: usize, values: &[f64]| {
                values.iter().enumerate().for_each(|(i, &v)| all.set(first + i, machine, v));
            };
            list.each_output(&kernel_block(gram, tested), b * LANES, tested.len(), put);
        }
        Ok(all)
    }

    fn stream_bytes(&self, bags: usize) -> Option<u64> {
        let gram = self.grams.gram(0);
        Some(8 * gram.cols() as u64 * bags.next_multiple_of(LANES) as u64)
    }

    fn each_output(
        &self,
        points: &[usize],
        problems: &[(usize, Training<'_>)],
        bags: &[usize],
        each: &mut dyn FnMut(usize, usize, usize, &[f64]),
        ctx: &Ctx,
    ) -> Result<()> {
        let gram = self.grams.gram(self.representation[points[0]]);
        let here: Vec<SvmParams> = points.iter().map(|&p| self.machines[p]).collect();
        stream_outputs(gram, &here, problems, bags, each, ctx)
    }

    fn twin(&self, point: usize) -> usize {
        self.twins[point]
    }

    fn joins_points(&self) -> bool {
        true
    }

    fn gram(&self, point: usize, _: &Ctx) -> Result<Option<&Mat>> {
        Ok(Some(self.grams.gram(self.representation[point])))
    }

    fn against(&self, point: usize, bags: &Bags, ctx: &Ctx) -> Result<Option<Mat>> {
        let r = self.representation[point];
        let all: Vec<usize> = (0..self.grams.gram(r).rows()).collect();
        Ok(Some(self.grams.bank(r, &all, ctx)?.compare(bags, ctx)?.kernel))
    }

    fn nearest(&self, point: usize, train: &[usize]) -> Option<Vec<f64>> {
        let gram = self.grams.gram(self.representation[point]);
        let similarity = |a: usize, b: usize| gram.get(a, b) / (gram.get(a, a) * gram.get(b, b)).sqrt();
        nearest_others(train, similarity)
    }

    fn model(&self, fits: &[&SolvedFit], train: &[usize], ctx: &Ctx) -> Result<Box<dyn Predictor>> {
        let bank = self.grams.bank(self.representation[fits[0].point], train, ctx)?;
        let machines: Vec<&BagMachine> = fits.iter().map(|fit| fit.of()).collect();
        let (coefficients, biases) = expansions(&machines, train);
        Ok(Box::new(KernelModel { bank, coefficients, biases }))
    }
}

/// `f_k(X) = biases[k] + sum_B coefficients[k][B] K(X, B)`.
struct KernelModel {
    bank: Box<dyn ReferenceBags>,
    coefficients: Csr,
    biases: Vec<f64>,
}

impl Predictor for KernelModel {
    fn outputs(&self) -> usize {
        self.biases.len()
    }

    fn width(&self) -> Option<usize> {
        Some(self.bank.width())
    }

    fn predict(&self, bags: &Bags, ctx: &Ctx) -> Result<Outputs> {
        let CrossKernel { kernel, own, kept } = self.bank.compare(bags, ctx)?;
        Ok(expand(&kernel, &self.coefficients, &self.biases, |b, k| (own[b] * kept[k]).sqrt()))
    }

    fn explain(&self, bags: &Bags, ctx: &Ctx) -> Result<Vec<Vec<Explanation>>> {
        if let Some(parts) = self.bank.weighted_parts(&self.coefficients, bags, ctx)? {
            return Ok(with_shared_bias(&parts, &self.biases, bags));
        }
        let InstanceKernel { kernel, share } = self.bank.parts(bags, ctx)?;
        let part =
            |i: usize, k: usize| dot(kernel.row(i), self.coefficients.row(k)) + share[i] * self.biases[k];
        let one = |b: usize, k: usize| Explanation::Additive {
            bias: 0.0,
            parts: bags.rows(b).map(|i| part(i, k)).collect(),
        };
        Ok((0..bags.len()).map(|b| (0..self.biases.len()).map(|k| one(b, k)).collect()).collect())
    }

    fn shared_intercepts(&self) -> Option<Vec<f64>> {
        Some(self.biases.clone())
    }

    fn graphs(&self, bags: &Bags, ctx: &Ctx) -> Result<Option<Vec<Graph>>> {
        self.bank.graphs(bags, ctx)
    }

    fn concepts(&self) -> Option<Vec<Vec<WeightedConcept>>> {
        let concepts = self.bank.concepts()?;
        Some(vec![concepts; self.biases.len()])
    }

    fn save(&self) -> Result<State> {
        let mut state = State::default();
        put_coefficients(&mut state, &self.coefficients);
        state.put("biases", &self.biases);
        state.nest("bank", self.bank.save()?);
        Ok(state)
    }
}

/// Parts, instances x outputs, and to each the same share of the bias.
pub(crate) fn with_shared_bias(parts: &Mat, biases: &[f64], bags: &Bags) -> Vec<Vec<Explanation>> {
    let one = |b: usize, k: usize| {
        let share = biases[k] / bags.rows(b).len() as f64;
        Explanation::Additive { bias: 0.0, parts: bags.rows(b).map(|i| parts.get(i, k) + share).collect() }
    };
    (0..bags.len()).map(|b| (0..biases.len()).map(|k| one(b, k)).collect()).collect()
}

/// A row of kernel values times the coefficients of a machine.
pub(crate) fn dot(kernel: &[f64], (columns, values): (&[u32], &[f64])) -> f64 {
    columns.iter().zip(values).map(|(&column, value)| kernel[column as usize] * value).sum()
}
