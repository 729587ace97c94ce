//! Support vector machines on sparse maps of bags: everything that follows once a bag has its cells.
//!
//! With v(S) the map of a bag and `u = v / |v|`, the kernel is `u(S) u(T)` and an output is `f(S) = bias + w u(S)`. For few bags
//! `w = sum_B coef_B u(B)` is found on the Gram, and the model keeps the maps of the training bags; for many, w itself is kept, found
//! on the Gram or, if that is too large, on the maps. The part of instance x is `W(x) / |v| sum_i w[i, cell_i(x)]` and its share of
//! the bias, by weight; parts add up exactly. The output of a bag outside all cells is the bias. Bags are mapped a few at a time.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use bagwise_io::MapRows;
use bagwise_svm::{FeatureRows as _, Features, LinearMachine};
use rayon::prelude::*;

use crate::families::kernel_svm::{
    BagMachine, coefficients_of, expand, expansions, nearest_others, put_coefficients,
};
use crate::families::map_view::MapView;
use crate::families::saved_cells::{load_partitions, save_partitions};
use crate::families::svm::{self, SvmParams};
use crate::method::{Explanation, Outputs, Predictor, Prepared, SolvedFit, State, Training};
use crate::params::Point;
use crate::preprocess::Transform;
use crate::state::refuse;
use bagwise_core::{Bags, Csr, Ctx, Feature, Mat, Message, Result};
use bagwise_engine::cells::{Ids, Mapper, Partition, Partitions, Share, map_rows, products, products_of};

/// How bags are mapped.
#[derive(Clone)]
pub(crate) struct CellMap {
    /// Partitionings for `psi`, perhaps for others too.
    pub(crate) partitions: Arc<Partitions>,
    pub(crate) psi: usize,
    pub(crate) share: Share,
}

/// Cells that exist at a time, in bytes: enough to keep threads busy, little enough to show progress.
const CELLS_AT_A_TIME: u64 = 16_000_000;

/// A byte of cells takes at most this many bytes of maps while they are computed: an entry as a pair, and again in its row.
const CELL_TO_MAP: u64 = 32;

/// Consecutive bags whose instances are mapped together.
fn portions(bags: &Bags, mapper: &Mapper<'_>, memory: u64) -> Vec<Range<usize>> {
    let most = (CELLS_AT_A_TIME.min(memory / CELL_TO_MAP) / mapper.bytes(1).max(1)) as usize;
    let mut portions: Vec<Range<usize>> = Vec::new();
    for b in 0..bags.len() {
        match portions.last_mut() {
            Some(last) if bags.rows(b).end - bags.rows(last.start).start <= most => last.end = b + 1,
            _ => portions.push(b..b + 1),
        }
    }
    portions
}

/// The weights of all instances for every share; `offsets` cut the rows of `ids` into bags.
pub(crate) fn weights(ids: &Ids, offsets: &[usize], shares: &[Share], ctx: &Ctx) -> Result<Vec<Vec<f64>>> {
    let per_bag: Vec<Vec<Vec<f64>>> = offsets
        .par_windows(2)
        .map(|w| {
            ctx.check()?;
            Ok(ids.weights(w[0]..w[1], shares))
        })
        .collect::<Result<_>>()?;
    Ok((0..shares.len()).map(|e| per_bag.iter().flat_map(|w| w[e].iter().copied()).collect()).collect())
}

/// Cells and weights of a few bags at a time, in their order: calls `each(map, ids, weights, bags)`, where weights and the
/// rows of the bags count from the first row of `ids`.
fn in_portions(
    bags: &Bags,
    mapper: &Mapper<'_>,
    maps: &[&CellMap],
    ctx: &Ctx,
    mut each: impl FnMut(usize, &Ids, &[f64], &[Range<usize>]) -> Result<()>,
) -> Result<()> {
    let portions = portions(bags, mapper, ctx.memory);
    for (done, portion) in portions.iter().enumerate() {
        ctx.check()?;
        if portions.len() > 1 {
            ctx.progress.step("maps", done as u64, portions.len() as u64);
        }
        let rows = bags.rows(portion.start).start..bags.rows(portion.end - 1).end;
        let offsets: Vec<usize> =
            bags.offsets()[portion.start..=portion.end].iter().map(|o| o - rows.start).collect();
        let own: Vec<Range<usize>> = offsets.windows(2).map(|w| w[0]..w[1]).collect();
        for ids in mapper.ids(bags.instances(), rows, ctx)? {
            let here: Vec<usize> = (0..maps.len()).filter(|&m| maps[m].psi == ids.psi()).collect();
            let shares: Vec<Share> = here.iter().map(|&m| maps[m].share).collect();
            for (m, weights) in here.into_iter().zip(weights(&ids, &offsets, &shares, ctx)?) {
                each(m, &ids, &weights, &own)?;
            }
        }
    }
    Ok(())
}

/// The maps of all bags, of length 1, for each way of mapping; `mapper` has the psi of all of them.
pub(crate) fn map_bags(bags: &Bags, mapper: &Mapper<'_>, maps: &[&CellMap], ctx: &Ctx) -> Result<Vec<Csr>> {
    let mut all: Vec<Csr> = maps.iter().map(|m| Csr::empty(m.partitions.t() * m.psi)).collect();
    let mut entries = 0;
    in_portions(bags, mapper, maps, ctx, |m, ids, weights, bags| {
        let rows = map_rows(ids, bags, Some(weights));
        entries += rows.nnz();
        // A column and a value for each entry; how many there are is known only now.
        ctx.reserve(
            "the maps of bags",
            12 * entries as u64,
            Message::more_memory().or("choose a smaller psi or t"),
        )?;
        append_unit(&mut all[m], &rows);
        Ok(())
    })?;
    Ok(all)
}

fn length(values: &[f64]) -> f64 {
    values.iter().map(|v| v * v).sum::<f64>().sqrt()
}

/// Adds rows divided by their lengths; a row without entries stays empty.
fn append_unit(all: &mut Csr, rows: &Csr) {
    for b in 0..rows.rows() {
        let (columns, values) = rows.row(b);
        let length = length(values);
        all.push_row(columns.iter().copied().zip(values.iter().map(|v| v / length)));
    }
}

/// What maps are made from.
pub(crate) enum MapSource {
    /// Cells and weights of all instances.
    Cells { ids: Arc<Ids>, weights: Vec<f64> },
    /// The maps themselves, of length 1.
    Maps(Csr),
    /// Maps that were made elsewhere, and which of them are those of the bags.
    Elsewhere { maps: Arc<MapRows>, rows: Vec<usize> },
}

/// Bags under one way of mapping.
pub(crate) struct MappedBags {
    pub(crate) map: CellMap,
    pub(crate) source: MapSource,
    /// Made at once, or, where machines learn on maps, if somebody asks for it. Equal weights share it.
    pub(crate) gram: OnceLock<Arc<Mat>>,
    pub(crate) learner: MapLearner,
    /// The rows of the Gram that are wanted.
    pub(crate) part: Range<usize>,
}

/// What machines learn on, and what of them a model keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MapLearner {
    /// The Gram; models keep the maps of training bags.
    Gram,
    /// The Gram; models keep the weights of columns.
    GramOfMany,
    /// Maps; models keep the weights of columns.
    Maps,
}

impl MappedBags {
    /// True if both have the same maps, and machines learn on them in the same way.
    fn is_same(&self, other: &MappedBags) -> bool {
        let (own, others) = (&self.map, &other.map);
        self.learner == other.learner
            && own.psi == others.psi
            && Arc::ptr_eq(&own.partitions, &others.partitions)
            && match (&self.source, &other.source) {
                (MapSource::Cells { weights: a, .. }, MapSource::Cells { weights: b, .. }) => a == b,
                (MapSource::Maps(a), MapSource::Maps(b)) => a == b,
                _ => false,
            }
    }

    /// The Gram of maps.
    pub(crate) fn make_gram(&self, ctx: &Ctx) -> Result<&Mat> {
        if let Some(gram) = self.gram.get() {
            return Ok(gram);
        }
        let gathered;
        let maps = match &self.source {
            MapSource::Maps(maps) => maps,
            MapSource::Elsewhere { rows, .. } => {
                gathered = self.maps(&[], &(0..rows.len()).collect::<Vec<usize>>());
                &gathered
            }
            MapSource::Cells { .. } => unreachable!("a Gram comes with cells"),
        };
        let mut gram = products_of(maps, self.part.clone(), maps, true, ctx)?;
        // As in `cosine`: bags outside all cells are similar to none but themselves.
        (0..maps.rows()).filter(|&b| maps.row(b).0.is_empty()).for_each(|b| gram.set(b, b, 1.0));
        Ok(self.gram.get_or_init(|| Arc::new(gram)))
    }

    /// The maps of some bags.
    fn maps(&self, bags: &[Range<usize>], which: &[usize]) -> Csr {
        match &self.source {
            MapSource::Maps(all) => all.gather(which),
            MapSource::Elsewhere { maps: all, rows } => {
                let view = MapView::new(all, which.iter().map(|&b| rows[b]).collect());
                let mut maps = Csr::empty(all.cols());
                for row in 0..which.len() {
                    view.visit(row, &mut |columns, values| {
                        maps.push_row(columns.iter().copied().zip(values.iter().copied()));
                    });
                }
                maps
            }
            MapSource::Cells { ids, weights } => {
                let mut maps = Csr::empty(ids.t() * ids.psi());
                append_unit(&mut maps, &map_rows(ids, bags, Some(weights)));
                maps
            }
        }
    }
}

/// Gives every row without entries a column of its own, so that the machine on maps is the one on the Gram, where such bags
/// are similar to themselves alone.
fn with_own_columns(maps: Csr) -> Csr {
    if (0..maps.rows()).all(|b| !maps.row(b).0.is_empty()) {
        return maps;
    }
    let mut wide = Csr::empty(maps.cols() + maps.rows());
    for b in 0..maps.rows() {
        let (columns, values) = maps.row(b);
        let own = columns.is_empty().then_some(((maps.cols() + b) as u32, 1.0));
        wide.push_row(columns.iter().copied().zip(values.iter().copied()).chain(own));
    }
    wide
}

fn features(map: &Csr) -> Features<'_> {
    Features::Sparse {
        starts: map.indptr(),
        indices: map.indices(),
        values: map.values(),
        columns: map.cols(),
    }
}

pub(crate) struct MapPrepared {
    pub(crate) bags: Arc<Bags>,
    /// What is asked of the machine at each point.
    pub(crate) machines: Vec<SvmParams>,
    /// Which of the mapped bags are those of each point.
    pub(crate) representation: Vec<usize>,
    pub(crate) mapped: Vec<MappedBags>,
    /// For each point, the first with the same machines.
    pub(crate) twins: Vec<usize>,
}

/// For each point, the first whose bags have the same maps and whose machine is the same: where no two instances of a bag
/// are similar, every threshold of similarity gives the same weights.
pub(crate) fn twins(mapped: &[MappedBags], representation: &[usize], machines: &[SvmParams]) -> Vec<usize> {
    let same = |r: usize| (0..r).find(|&s| mapped[s].is_same(&mapped[r])).unwrap_or(r);
    let same: Vec<usize> = (0..mapped.len()).map(same).collect();
    let alike =
        |p: usize, q: usize| same[representation[p]] == same[representation[q]] && machines[p] == machines[q];
    (0..machines.len()).map(|p| (0..p).find(|&q| alike(p, q)).unwrap_or(p)).collect()
}

/// A machine on prepared bags, by their Gram or by their maps.
enum MapSolution {
    OnGram(BagMachine),
    OnMaps(LinearMachine),
}

impl MapSolution {
    fn on_gram(&self) -> &BagMachine {
        match self {
            MapSolution::OnGram(machine) => machine,
            MapSolution::OnMaps(_) => unreachable!("fits of one representation are alike"),
        }
    }

    fn on_maps(&self) -> &LinearMachine {
        match self {
            MapSolution::OnMaps(machine) => machine,
            MapSolution::OnGram(_) => unreachable!("fits of one representation are alike"),
        }
    }
}

impl MapPrepared {
    fn of(&self, point: usize) -> &MappedBags {
        &self.mapped[self.representation[point]]
    }

    fn maps(&self, point: usize, bags: &[usize]) -> Csr {
        let ranges: Vec<Range<usize>> = bags.iter().map(|&b| self.bags.rows(b)).collect();
        self.of(point).maps(&ranges, bags)
    }
}

impl Prepared for MapPrepared {
    fn fit(&self, points: &[usize], training: &Training<'_>, ctx: &Ctx) -> Result<Vec<SolvedFit>> {
        let here: Vec<SvmParams> = points.iter().map(|&p| self.machines[p]).collect();
        let own = self.of(points[0]);
        let solved: Vec<_> = if let MapSource::Elsewhere { maps, rows } = &own.source {
            let rows = training.bags.iter().map(|&b| rows[b]).collect();
            let view = MapView::to_learn_from(maps, rows);
            let mut machines = svm::solve_linear(&Features::Elsewhere(&view), &here, training, ctx)?;
            view.check()?;
            machines.iter_mut().for_each(|m| m.weights.truncate(own.map.columns()));
            machines.into_iter().map(|m| (m.outcome, MapSolution::OnMaps(m))).collect()
        } else if own.learner == MapLearner::Maps {
            let maps = with_own_columns(self.maps(points[0], training.bags));
            let mut machines = svm::solve_linear(&features(&maps), &here, training, ctx)?;
            machines.iter_mut().for_each(|m| m.weights.truncate(own.map.columns()));
            machines.into_iter().map(|m| (m.outcome, MapSolution::OnMaps(m))).collect()
        } else {
            let machines = svm::solve(own.make_gram(ctx)?, &here, training, ctx)?;
            let own = |machine| BagMachine { machine, bags: training.bags.to_vec() };
            machines.into_iter().map(|m| (m.outcome, MapSolution::OnGram(own(m)))).collect()
        };
        let fits = points.iter().zip(solved).map(|(&point, (outcome, solution))| SolvedFit {
            point,
            outcome: Some(outcome),
            rounds: None,
            solution: Box::new(solution),
        });
        Ok(fits.collect())
    }

    fn scores(&self, fit: &SolvedFit, bags: &[usize], _: &Ctx) -> Result<Vec<f64>> {
        Ok(match fit.of() {
            MapSolution::OnGram(machine) => {
                let gram = self.of(fit.point).gram.get().expect("the machine was found on it");
                machine.outputs(gram, bags)
            }
            MapSolution::OnMaps(machine) => match &self.of(fit.point).source {
                MapSource::Elsewhere { maps, rows } => {
                    let view = MapView::new(maps, bags.iter().map(|&b| rows[b]).collect());
                    let outputs = machine.outputs(&Features::Elsewhere(&view));
                    view.check()?;
                    outputs
                }
                _ => machine.outputs(&features(&self.maps(fit.point, bags))),
            },
        })
    }

    fn twin(&self, point: usize) -> usize {
        self.twins[point]
    }

    fn joins_points(&self) -> bool {
        true
    }

    fn fit_bytes(&self) -> u64 {
        let on_disk =
            |own: &MappedBags| matches!(&own.source, MapSource::Elsewhere { maps, .. } if maps.is_on_disk());
        // Each fit may hold as many maps as the memory limit allows, so fits run one at a time.
        if self.mapped.iter().any(on_disk) { u64::MAX } else { 0 }
    }

    fn gram(&self, point: usize, ctx: &Ctx) -> Result<Option<&Mat>> {
        self.of(point).make_gram(ctx).map(Some)
    }

    fn against(&self, point: usize, bags: &Bags, ctx: &Ctx) -> Result<Option<Mat>> {
        let map = &self.of(point).map;
        let mapper = Mapper::new(&map.partitions, &[map.psi], ctx)?;
        let new = map_bags(bags, &mapper, &[map], ctx)?.remove(0);
        let all: Vec<usize> = (0..self.bags.len()).collect();
        Ok(Some(products(&new, &self.maps(point, &all), false, ctx)?))
    }

    fn nearest(&self, point: usize, train: &[usize]) -> Option<Vec<f64>> {
        // Where models keep weights, new bags are not compared with those of training.
        let own = self.of(point);
        let gram = own.gram.get().filter(|_| own.learner == MapLearner::Gram)?;
        nearest_others(train, |a, b| gram.get(a, b))
    }

    fn map(&self, point: usize) -> Result<Option<Csr>> {
        let all: Vec<usize> = (0..self.bags.len()).collect();
        Ok(Some(self.maps(point, &all)))
    }

    fn map_digest(
        &self,
        point: usize,
        features: &[Feature],
        transform: &Transform,
    ) -> Result<Option<String>> {
        self.of(point).map.digest(features, transform).map(Some)
    }

    fn model(&self, fits: &[&SolvedFit], train: &[usize], _: &Ctx) -> Result<Box<dyn Predictor>> {
        let own = self.of(fits[0].point);
        let partitions = Arc::new(own.map.partitions.shortened(own.map.psi));
        let map = CellMap { partitions, ..own.map.clone() };
        if own.learner == MapLearner::Maps {
            let machines: Vec<&LinearMachine> =
                fits.iter().map(|fit| fit.of::<MapSolution>().on_maps()).collect();
            let weights: Vec<&[f64]> = machines.iter().map(|m| m.weights.as_slice()).collect();
            let biases = machines.iter().map(|m| m.bias).collect();
            return Ok(Box::new(MapModel { map, rule: MapRule::Weights(Mat::from_rows(&weights)), biases }));
        }
        let machines: Vec<&BagMachine> = fits.iter().map(|fit| fit.of::<MapSolution>().on_gram()).collect();
        let (coefficients, biases) = expansions(&machines, train);
        let rule = MapRule::Bags { coefficients, maps: self.maps(fits[0].point, train) };
        let model = MapModel { map, rule, biases };
        if own.learner == MapLearner::Gram {
            return Ok(Box::new(model));
        }
        let weights: Vec<Vec<f64>> = (0..fits.len()).map(|output| model.weights(output)).collect();
        Ok(Box::new(MapModel { rule: MapRule::Weights(Mat::from_rows(&weights)), ..model }))
    }
}

impl CellMap {
    pub(crate) fn columns(&self) -> usize {
        self.partitions.t() * self.psi
    }

    /// Whether a bag may have a map without entries.
    pub(crate) fn may_be_empty(&self) -> bool {
        self.partitions.has_gaps()
    }

    /// Bags whose maps were made elsewhere, in this way; `rows` are theirs.
    pub(crate) fn prepare(
        &self,
        maps: &Arc<MapRows>,
        rows: &[usize],
        bags: Arc<Bags>,
        points: &[Point],
    ) -> Result<Box<dyn Prepared>> {
        let machines = points.iter().map(SvmParams::read).collect::<Result<Vec<_>>>()?;
        let source = MapSource::Elsewhere { maps: Arc::clone(maps), rows: rows.to_vec() };
        let part = 0..rows.len();
        let (gram, learner) = (OnceLock::new(), MapLearner::Maps);
        let mapped = vec![MappedBags { map: self.clone(), source, gram, learner, part }];
        let representation = vec![0; points.len()];
        let twins = twins(&mapped, &representation, &machines);
        Ok(Box::new(MapPrepared { bags, machines, representation, mapped, twins }))
    }
}

/// What outputs are made of.
enum MapRule {
    /// Outputs x columns.
    Weights(Mat),
    /// Outputs x training bags, and the maps of these.
    Bags { coefficients: Csr, maps: Csr },
}

/// `f_k(S) = biases[k] + w_k u(S)`.
pub(crate) struct MapModel {
    map: CellMap,
    rule: MapRule,
    biases: Vec<f64>,
}

impl MapModel {
    /// A model from its saved state; `psi` is checked where the parameters name it.
    pub(crate) fn load(
        t: usize,
        psi: Option<usize>,
        share: Share,
        partition: Partition,
        state: &State,
    ) -> Result<MapModel> {
        let partitions = Arc::new(load_partitions(t, partition, state)?);
        if psi.is_some_and(|psi| psi != partitions.psi()) {
            return Err(refuse(format!("partitionings of {} cells", partitions.psi())));
        }
        let map = CellMap { psi: partitions.psi(), partitions, share };
        let rule = if state.tensors.contains_key("weights") {
            let weights = state.mat("weights")?;
            if weights.cols() != map.columns() {
                return Err(refuse(format!("{} weights for {} columns", weights.cols(), map.columns())));
            }
            MapRule::Weights(weights)
        } else {
            let maps = state.nested("maps").sparse(map.columns())?;
            MapRule::Bags { coefficients: coefficients_of(state, maps.rows())?, maps }
        };
        let outputs = match &rule {
            MapRule::Weights(weights) => weights.rows(),
            MapRule::Bags { coefficients, .. } => coefficients.rows(),
        };
        Ok(MapModel { map, rule, biases: state.vector("biases", outputs)? })
    }

    /// How it maps bags.
    pub(crate) fn into_map(self) -> CellMap {
        self.map
    }

    fn mapper(&self, ctx: &Ctx) -> Result<Mapper<'_>> {
        Mapper::new(&self.map.partitions, &[self.map.psi], ctx)
    }

    /// The weight of every column for one output.
    fn weights(&self, output: usize) -> Vec<f64> {
        match &self.rule {
            MapRule::Weights(weights) => weights.row(output).to_vec(),
            MapRule::Bags { coefficients, maps } => {
                let mut weights = vec![0.0; self.map.columns()];
                let (bags, own) = coefficients.row(output);
                for (&b, coefficient) in bags.iter().zip(own) {
                    let (columns, values) = maps.row(b as usize);
                    columns.iter().zip(values).for_each(|(&c, v)| weights[c as usize] += coefficient * v);
                }
                weights
            }
        }
    }
}

impl Predictor for MapModel {
    fn outputs(&self) -> usize {
        self.biases.len()
    }

    fn width(&self) -> Option<usize> {
        Some(self.map.partitions.width())
    }

    fn predict(&self, bags: &Bags, ctx: &Ctx) -> Result<Outputs> {
        let maps = map_bags(bags, &self.mapper(ctx)?, &[&self.map], ctx)?.remove(0);
        let weights = match &self.rule {
            MapRule::Weights(weights) => weights,
            MapRule::Bags { coefficients, maps: kept } => {
                // Maps have length 1, so that kernel values are similarities.
                let kernel = products(&maps, kept, false, ctx)?;
                return Ok(expand(&kernel, coefficients, &self.biases, |_, _| 1.0));
            }
        };
        let mut scores = Mat::zeros(bags.len(), self.biases.len());
        for b in 0..bags.len() {
            let (columns, values) = maps.row(b);
            for (k, bias) in self.biases.iter().enumerate() {
                let w = weights.row(k);
                let sum: f64 = columns.iter().zip(values).map(|(&c, v)| w[c as usize] * v).sum();
                scores.set(b, k, bias + sum);
            }
        }
        Ok(Outputs { scores, nearest: vec![None; bags.len()] })
    }

    fn shared_intercepts(&self) -> Option<Vec<f64>> {
        Some(self.biases.clone())
    }

    fn explain(&self, bags: &Bags, ctx: &Ctx) -> Result<Vec<Vec<Explanation>>> {
        let columns: Vec<Vec<f64>> = (0..self.biases.len()).map(|k| self.weights(k)).collect();
        let mut all = Vec::with_capacity(bags.len());
        in_portions(bags, &self.mapper(ctx)?, &[&self.map], ctx, |_, ids, weights, bags| {
            let maps = map_rows(ids, bags, Some(weights));
            for (b, bag) in bags.iter().enumerate() {
                let length = length(maps.row(b).1);
                let one = |(w, bias): (&Vec<f64>, &f64)| {
                    let part = |x: usize| {
                        let cells = (0..ids.t()).filter_map(|i| Some((i, ids.get(x, i)?)));
                        let sum: f64 = cells.map(|(i, cell)| w[i * ids.psi() + cell]).sum();
                        // Outside all cells the sum is 0, and so may be the length of the map.
                        weights[x] * (if sum == 0.0 { 0.0 } else { sum / length } + bias)
                    };
                    Explanation::Additive { bias: 0.0, parts: bag.clone().map(part).collect() }
                };
                all.push(columns.iter().zip(&self.biases).map(one).collect());
            }
            Ok(())
        })?;
        Ok(all)
    }

    fn map(&self, bags: &Bags, ctx: &Ctx) -> Result<Option<Csr>> {
        Ok(Some(map_bags(bags, &self.mapper(ctx)?, &[&self.map], ctx)?.remove(0)))
    }

    fn save(&self) -> Result<State> {
        let mut state = State::default();
        save_partitions(&self.map.partitions, &mut state)?;
        state.put("biases", &self.biases);
        match &self.rule {
            MapRule::Weights(weights) => state.put_mat("weights", weights),
            MapRule::Bags { coefficients, maps } => {
                put_coefficients(&mut state, coefficients);
                let mut own = State::default();
                own.put_sparse(maps);
                state.nest("maps", own);
            }
        }
        Ok(state)
    }
}
