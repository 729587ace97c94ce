//! Isolation set-kernel: two instances are similar if random partitions rarely separate them.
//!
//! A partitioning is drawn: psi training instances divide the space into cells, finely where data are
//! dense and coarsely where they are sparse. Of t such partitionings, `K(x, y) = #{i : x and y share a cell} / t`. For bags
//!
//! `K(S, T) = sum_{x in S, y in T} W(x) W(y) K(x, y)`, divided by `sqrt(K(S, S) K(T, T))`,
//!
//! where `W(x)` is one over the number of instances of the bag with `K > epsilon` to x (itself included), and the weights of a
//! bag sum to 1. `epsilon=1` weighs all alike. The kernel has a finite map: column (i, j) holds the weight of the bag in
//! cell j of partitioning i. So the machine is trained on a Gram, or, for very many bags, on sparse maps (`bagwise_engine::cells`).
//!
//! * `partition`: `voronoi`, the cell of an instance is its nearest of the psi; `forest`, the leaf of an isolation tree grown
//!   over them; `sphere`, the nearest of the psi if that is no farther than its own nearest among the psi, else no cell, so that the
//!   instance shares nothing there, not even with itself. A bag outside all cells is similar to none but itself.
//! * `distance=text`: squared differences are averaged over the attributes that one of two instances has (eq 15).
//!   Scaling must then keep zeros.
//! * Printed eq 11 to 13 divide once more by the sizes of the bags, which the normalisation (eq 14) cancels; we leave it out.
//!   Where eq 9 has 1/0 (epsilon = 1), an instance counts itself.
//! * Centres are drawn from training bags. `pool=all` draws from all, test bags included, as the paper does.
//!
//! Cost: n t psi d multiply-adds for cells, or n^2 d where that is less; n t log psi comparisons for those of a forest;
//! t |S|^2 / 2 comparisons for the weights of a bag.
//!
//! Xu, Ting, Zhou: Isolation set-kernel and its application to multi-instance learning, KDD 2019.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use crate::families::base_kernel;
use crate::families::map_svm::{
    CellMap, MapLearner, MapModel, MapPrepared, MapSource, MappedBags, map_bags, twins,
};
use crate::families::svm::{self, SvmParams};
use crate::families::wanted_rows;
use crate::method::{
    Capability, Info, MemoryEstimate, Method, POOL, Predictor, Prepared, Scope, State, draws_on_all,
    gram_machine_work,
};
use crate::params::{Grid, Kind, ParamSpec, Point, representations};
use crate::preprocess::Scale;
use bagwise_core::{Bags, Ctx, Error, Instances, Mat, Message, Result};
use bagwise_engine::cells::{
    CentreShape, Distance, MOST_CENTRES, Mapper, Partition, Partitions, Share, cosine, gram_of_ids,
    grams_of_many,
};

/// The method, for the registry.
pub(crate) static METHOD: Isk = Isk;

pub(crate) struct Isk;

static INFO: Info = Info {
    name: "isk",
    aliases: &["isolation-set-kernel"],
    title: "isolation set-kernel: instances are similar if random partitions rarely separate them",
    about: "K(S, T) = sum over x in S, y in T of W(x) W(y) K(x, y), divided by sqrt(K(S, S) K(T, T)). K(x, y) is the share of \
            t random partitionings in which x and y lie in the same cell. A cell is the region nearest to one of \
            psi random training instances, or a leaf of a random tree over them (partition), so the kernel adapts to \
            the density of the data. W(x) is 1 divided by the number of instances y of the bag with K(x, y) > \
            epsilon. An SVM is trained on the bags.",
    reference: "Xu, Ting, Zhou: Isolation set-kernel and its application to multi-instance learning, KDD 2019",
    family: "set kernel + SVM",
    scale: Scale::ZScore,
    complexity: 45,
    capabilities: &[Capability::Kernel, Capability::FeatureMap],
    params: PARAMS,
    ..Info::USUAL
};

static PARAMS: &[ParamSpec] = &[
    ParamSpec::new(
        "psi",
        Kind::Whole { least: 1, most: MOST_CENTRES as u32, words: &["auto"] },
        "auto",
        "Number of instances that define a partitioning; more instances give smaller cells. Values in a list that \
         exceed the number of training instances are skipped. auto is 64, or a quarter of the training instances if \
         that is less.",
    )
    .grid("2^4..2^12"),
    ParamSpec::new(
        "epsilon",
        Kind::Fraction,
        "1",
        "Instances of a bag are similar if they share a cell in more than this fraction of the partitionings; 1 \
         gives all instances the same weight.",
    )
    .grid("11/20..20/20"),
    ParamSpec::new(
        "t",
        Kind::Whole { least: 1, most: 10_000, words: &[] },
        "200",
        "Number of partitionings.",
    ),
    ParamSpec::new(
        "partition",
        Kind::Word(&["voronoi", "forest", "sphere"]),
        "voronoi",
        "Type of cell: voronoi, the region nearest to one of the psi instances; forest, a leaf of a random tree \
         that isolates them (no distances, the fastest for many instances); sphere, as voronoi, but only up to the \
         distance of the nearest other of the psi instances; points farther away are in no cell.",
    ),
    ParamSpec::new(
        "distance",
        Kind::Word(&["euclidean", "text"]),
        "euclidean",
        "Distance between an instance and a centre: euclidean, or text, the mean squared difference over the \
         attributes that are nonzero in at least one of the two. text requires scaling none or maxabs, and partition \
         voronoi or sphere.",
    )
    .only_with("partition", &["voronoi", "sphere"]),
    ParamSpec::new(
        "solver",
        Kind::Word(&["auto", "gram", "map"]),
        "auto",
        "Train on the kernel matrix of all bags or on their sparse feature maps. Both give the same model up to the \
         solver's tolerance. auto uses maps from 4000 bags, or from 1000 bags with 50,000 instances together.",
    ),
    POOL,
    // For these kernels larger costs give the same machine.
    ParamSpec { default: "8", grid: "2^-3,2^-1,2^1,2^3,2^5", ..svm::COST },
    svm::TUBE,
];

/// From this many bags on a model keeps the weights of columns: maps of training bags grow with their number, weights do not.
const MANY_BAGS: usize = 1000;

/// From this many bags on, or this many instances of many bags, machines learn on maps: Grams of the bags and counts of shared cells
/// grow with the square, maps do not.
const MOST_ON_GRAM: (usize, usize) = (4000, 50_000);

/// Partitionings where nothing else is said: what costs are estimated by before points are known.
const USUAL_T: usize = 200;

/// A point as the method sees it.
#[derive(Clone, Copy)]
struct IskParams {
    /// Nothing where the method decides.
    psi: Option<usize>,
    share: Share,
    t: usize,
    partition: Partition,
    /// Nothing where the number of bags decides.
    learner: Option<MapLearner>,
    from_all: bool,
}

impl IskParams {
    fn read(point: &Point) -> Result<IskParams> {
        let (numerator, denominator) = point.fraction("epsilon")?;
        let distances = [("euclidean", Distance::Euclidean), ("text", Distance::Text)];
        let distance = point.choice("distance", &distances)?;
        let partitions = [
            ("voronoi", Partition::Voronoi(distance)),
            ("forest", Partition::Forest),
            ("sphere", Partition::Sphere(distance)),
        ];
        let partition = point.choice("partition", &partitions)?;
        if partition == Partition::Forest && distance == Distance::Text {
            let problem = "partition=forest does not use distances; leave distance=text out, or choose \
                           partition=voronoi or partition=sphere";
            return Err(Error::param(INFO.name, "distance", problem));
        }
        let solvers = [("auto", None), ("gram", Some(MapLearner::Gram)), ("map", Some(MapLearner::Maps))];
        Ok(IskParams {
            psi: point.whole("psi")?,
            share: Share { numerator, denominator },
            t: point.number("t")? as usize,
            partition,
            learner: point.choice("solver", &solvers)?,
            from_all: draws_on_all(point),
        })
    }

    /// The number of centres, for a pool of this many instances.
    fn centres(&self, pool: usize) -> Result<usize> {
        match self.psi {
            None => Ok(AUTO.min((pool / 4).max(2)).min(pool)),
            Some(psi) if psi <= pool => Ok(psi),
            Some(psi) => {
                let of = match self.from_all {
                    true => "instances",
                    false => "training instances (in cross-validation, those of one fold)",
                };
                let problem = format!(
                    "{psi} centres cannot be drawn from {pool} {of}; use at most {pool}, or psi=auto"
                );
                Err(Error::param(INFO.name, "psi", problem))
            }
        }
    }
}

/// What machines learn on where nobody says.
fn learner_for(bags: &Bags, memory: u64) -> MapLearner {
    let (b, n) = (bags.len(), bags.instance_count());
    // Cells in both orders, and a Gram.
    let bytes = 4 * USUAL_T * n + 8 * b * b;
    match b < MANY_BAGS {
        true => MapLearner::Gram,
        false if b < MOST_ON_GRAM.0 && n < MOST_ON_GRAM.1 && bytes as u64 <= memory / 2 => {
            MapLearner::GramOfMany
        }
        false => MapLearner::Maps,
    }
}

/// What weights inside bags cost: comparisons in sixteens, once for every psi.
fn comparisons(bags: &Bags, representations: usize) -> f64 {
    bags.pairs_within() * USUAL_T as f64 / 16.0 * (representations as f64).min(9.0)
}

/// Operations of one comparison of cells, of small and of large numbers, and of one weighing of a pair.
const COUNT: f64 = 0.7;
const COUNT_LARGE: f64 = 2.0;
const WEIGH: f64 = 5.0;
/// Of one comparison where 64 instances stand side by side.
const COUNT_OF_MANY: f64 = 0.2;
/// Of one product of entries of maps.
const ENTRY: f64 = 10.0;

/// Centres for each partitioning where nothing is said.
const AUTO: usize = 64;

/// The different psi of points, ascending, for a pool of this many instances.
fn psis<'p>(points: impl Iterator<Item = &'p Point>, pool: usize) -> Vec<usize> {
    let psi = |point: &Point| IskParams::read(point).ok()?.centres(pool).ok();
    let mut all: Vec<usize> = points.filter_map(psi).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// Operations that find the cells of all instances.
fn cells(bags: &Bags, psis: &[usize], distance: Distance) -> f64 {
    let n = bags.instance_count();
    let drawn = USUAL_T * psis.last().copied().unwrap_or(0);
    let shape = CentreShape {
        centres: n.min(drawn),
        values: bags.values_per_instance(),
        sparse: matches!(bags.instances(), Instances::Sparse(_)),
        distance,
    };
    n as f64 * shape.row_work(USUAL_T, psis)
}

/// Operations of the Grams of some representations, as [`represent`] makes them.
fn grams(bags: &Bags, psis: &[usize], representations: usize) -> f64 {
    let n = bags.instance_count() as f64;
    let (pairs, groups) = (n * n / 2.0, representations as f64);
    match learner_for(bags, u64::MAX) {
        MapLearner::Maps => 0.0,
        MapLearner::GramOfMany => {
            pairs * (psis.len() as f64 * COUNT_OF_MANY * USUAL_T as f64 + groups * WEIGH)
        }
        MapLearner::Gram if ids_are_cheaper(bags, USUAL_T, psis, representations) => {
            let count = |&psi: &usize| if psi <= 256 { COUNT } else { COUNT_LARGE };
            pairs * (psis.iter().map(count).sum::<f64>() * USUAL_T as f64 + groups * WEIGH)
        }
        MapLearner::Gram => {
            let per_psi = groups / psis.len().max(1) as f64;
            let products = |&psi: &usize| map_entries(bags, USUAL_T, psi) * bags.len() as f64 / 2.0;
            ENTRY * per_psi * psis.iter().map(products).sum::<f64>()
        }
    }
}

impl Method for Isk {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn scale(&self, points: &[Point]) -> Scale {
        if base_kernel::is_text(points) { Scale::None } else { INFO.scale }
    }

    fn refuses(&self, points: &[Point], scale: Scale) -> Option<Error> {
        let unreadable = points.iter().find_map(|p| IskParams::read(p).err());
        unreadable.or_else(|| base_kernel::refuses_scaling(points, scale))
    }

    fn admits(&self, point: &Point, instances: usize) -> bool {
        IskParams::read(point).is_ok_and(|p| p.psi.is_none_or(|psi| psi <= instances))
    }

    fn work(&self, bags: &Bags, representations: usize) -> f64 {
        cells(bags, &[AUTO], Distance::Euclidean) + comparisons(bags, representations)
    }

    fn work_for(&self, bags: &Bags, grid: &Grid) -> f64 {
        let first = |group: &Vec<usize>| group.first().map(|&p| &grid.points[p]);
        let partition = |point: &Point| IskParams::read(point).ok().map(|p| p.partition);
        let (forests, by_centres): (Vec<&Point>, Vec<&Point>) =
            grid.groups.iter().filter_map(first).partition(|p| partition(p) == Some(Partition::Forest));
        let n = bags.instance_count();
        // A dozen steps down a tree, each in the time of ten multiply-adds.
        let steps = (n * USUAL_T * forests.len()) as f64 * 120.0;
        let distance = match by_centres.iter().find_map(|p| partition(p)) {
            Some(Partition::Voronoi(distance) | Partition::Sphere(distance)) => Some(distance),
            _ => None,
        };
        let near = psis(by_centres.iter().copied(), n);
        let found = distance.map_or(0.0, |distance| cells(bags, &near, distance));
        let all = psis(forests.iter().chain(&by_centres).copied(), n);
        let groups = grid.groups.len();
        steps + found + comparisons(bags, groups) + grams(bags, &all, groups)
    }

    /// On a Gram, or, of many bags, on maps.
    fn machine_work(&self, bags: &Bags, grid: &Grid, share: f64) -> f64 {
        let (b, points) = (share * bags.len() as f64, grid.points.len());
        match learner_for(bags, u64::MAX) {
            MapLearner::Maps => 5e5 * points as f64 * b,
            MapLearner::Gram | MapLearner::GramOfMany => gram_machine_work(b, points),
        }
    }

    /// New bags are mapped like training bags.
    fn answer_work(&self, bags: &Bags, _: f64, new: f64) -> f64 {
        new * self.work(bags, 1)
    }

    fn needs(&self, bags: &Bags) -> MemoryEstimate {
        let (n, b) = (bags.instance_count(), bags.len());
        // Maps, or cells of two bytes and weights; a Gram, where machines learn on one.
        let maps = 12 * (0..b).map(|b| USUAL_T * bags.rows(b).len().min(MOST_CENTRES)).sum::<usize>();
        let cells = n * (8 + 2 * USUAL_T);
        let each = match learner_for(bags, u64::MAX) {
            MapLearner::Gram => 8 * b * b + maps.max(cells),
            MapLearner::GramOfMany => 8 * b * b + cells,
            MapLearner::Maps => maps,
        };
        // Positions of every instance in all lists.
        MemoryEstimate { fixed: (n.min(65_535) * (2 * USUAL_T + 8 * bags.width())) as u64, each: each as u64 }
    }

    fn prepare(
        &self,
        bags: Arc<Bags>,
        points: &[Point],
        scope: &Scope<'_>,
        ctx: &Ctx,
    ) -> Result<Box<dyn Prepared>> {
        let (distinct, representation) = representations(PARAMS, points);
        let distinct = distinct.into_iter().map(IskParams::read).collect::<Result<Vec<_>>>()?;
        let own = scope.train.iter().map(|&b| bags.rows(b).len()).sum();
        let from = |p: &IskParams| match scope.pool {
            Some(pool) if p.from_all => pool.instance_count(),
            _ => own,
        };
        let psis = distinct.iter().map(|p| p.centres(from(p))).collect::<Result<Vec<usize>>>()?;
        let part = wanted_rows(scope, bags.len());
        let mut all: Vec<Option<MappedBags>> = distinct.iter().map(|_| None).collect();
        // Points with the same partitionings share a pass, whatever their psi.
        while let Some(first) = all.iter().position(Option::is_none) {
            let key = |r: usize| (distinct[r].t, distinct[r].partition, distinct[r].from_all);
            let family: Vec<usize> = (first..all.len()).filter(|&r| key(r) == key(first)).collect();
            let mut of_family: Vec<usize> = family.iter().map(|&r| psis[r]).collect();
            of_family.sort_unstable();
            of_family.dedup();
            let (t, partition, from_all) = key(first);
            let partitions = match scope.pool {
                Some(pool) if from_all => {
                    let every: Vec<usize> = (0..pool.len()).collect();
                    Partitions::draw(pool, &every, t, &of_family, partition, ctx)?
                }
                _ => Partitions::draw(&bags, scope.train, t, &of_family, partition, ctx)?,
            };
            let partitions = Arc::new(partitions);
            let wanted = |&r: &usize| MapRequest {
                map: CellMap { partitions: Arc::clone(&partitions), psi: psis[r], share: distinct[r].share },
                learner: distinct[r].learner.unwrap_or(learner_for(&bags, ctx.memory)),
            };
            let wanted: Vec<MapRequest> = family.iter().map(wanted).collect();
            let ready = represent(&bags, &partitions, &of_family, wanted, &part, ctx)?;
            for (r, ready) in family.into_iter().zip(ready) {
                all[r] = Some(ready);
            }
        }
        let machines = points.iter().map(SvmParams::read).collect::<Result<Vec<_>>>()?;
        let mapped: Vec<MappedBags> = all.into_iter().flatten().collect();
        let twins = twins(&mapped, &representation, &machines);
        Ok(Box::new(MapPrepared { bags, machines, representation, mapped, twins }))
    }

    fn load(&self, point: &Point, state: &State) -> Result<Box<dyn Predictor>> {
        let IskParams { t, psi, share, partition, .. } = IskParams::read(point)?;
        Ok(Box::new(MapModel::load(t, psi, share, partition, state)?))
    }
}

/// How a saved model maps bags.
pub(crate) fn cell_map(point: &Point, state: &State) -> Result<CellMap> {
    let IskParams { t, psi, share, partition, .. } = IskParams::read(point)?;
    Ok(MapModel::load(t, psi, share, partition, state)?.into_map())
}

struct MapRequest {
    map: CellMap,
    learner: MapLearner,
}

/// Everything for points that share their partitionings, in one pass over the instances.
fn represent(
    bags: &Bags,
    partitions: &Arc<Partitions>,
    psis: &[usize],
    wanted: Vec<MapRequest>,
    part: &Range<usize>,
    ctx: &Ctx,
) -> Result<Vec<MappedBags>> {
    let mapper = Mapper::new(partitions, psis, ctx)?;
    let on_maps = wanted.iter().any(|w| w.learner == MapLearner::Maps);
    let many = !on_maps && wanted.iter().all(|w| w.learner == MapLearner::GramOfMany);
    if on_maps || !many && !ids_are_cheaper(bags, partitions.t(), psis, wanted.len()) {
        let maps = map_bags(bags, &mapper, &wanted.iter().map(|w| &w.map).collect::<Vec<_>>(), ctx)?;
        return wanted
            .into_iter()
            .zip(maps)
            .map(|(wanted, map)| {
                let ready = MappedBags {
                    map: wanted.map,
                    source: MapSource::Maps(map),
                    gram: OnceLock::new(),
                    learner: wanted.learner,
                    part: part.clone(),
                };
                if wanted.learner != MapLearner::Maps {
                    ready.make_gram(ctx)?;
                }
                Ok(ready)
            })
            .collect();
    }
    let bytes = mapper.bytes(bags.instance_count());
    ctx.reserve("the cells of all instances", bytes, Message::more_memory().or("choose a smaller psi or t"))?;
    let ids = mapper.ids(bags.instances(), 0..bags.instance_count(), ctx)?;
    let mut ready: Vec<Option<MappedBags>> = wanted.iter().map(|_| None).collect();
    let offsets = bags.offsets();
    for (k, ids) in ids.into_iter().enumerate() {
        ctx.check()?;
        ctx.progress.step("similarities", k as u64, psis.len() as u64);
        let ids = Arc::new(ids);
        let here: Vec<usize> = (0..wanted.len()).filter(|&w| wanted[w].map.psi == psis[k]).collect();
        let shares: Vec<Share> = here.iter().map(|&w| wanted[w].map.share).collect();
        let weights = crate::families::map_svm::weights(&ids, offsets, &shares, ctx)?;
        // Where no two instances of a bag are similar, many shares give the same weights.
        let first = |e: usize| weights.iter().position(|w| *w == weights[e]).expect("its own at least");
        let original: Vec<usize> = (0..weights.len()).map(first).collect();
        let distinct: Vec<usize> = (0..weights.len()).filter(|&e| original[e] == e).collect();
        let views: Vec<&[f64]> = distinct.iter().map(|&e| weights[e].as_slice()).collect();
        let mut grams = match many {
            // All rows, also if few are wanted: other sums would differ in their last bits.
            true => grams_of_many(&ids, offsets, &views, ctx)?,
            false => gram_of_ids(&ids, offsets, part.clone(), &views, ctx)?,
        };
        grams.iter_mut().for_each(cosine);
        let grams: Vec<Arc<Mat>> = grams.into_iter().map(Arc::new).collect();
        let of = |e: usize| &grams[distinct.iter().position(|&d| d == original[e]).expect("it is distinct")];
        let shared: Vec<Arc<Mat>> = (0..weights.len()).map(|e| Arc::clone(of(e))).collect();
        for ((&w, weights), gram) in here.iter().zip(weights).zip(shared) {
            ready[w] = Some(MappedBags {
                map: wanted[w].map.clone(),
                source: MapSource::Cells { ids: Arc::clone(&ids), weights },
                gram: OnceLock::from(gram),
                learner: wanted[w].learner,
                part: part.clone(),
            });
        }
    }
    Ok(ready.into_iter().flatten().collect())
}

/// At most so many entries have the maps of all bags.
fn map_entries(bags: &Bags, t: usize, psi: usize) -> f64 {
    (0..bags.len()).map(|b| t * bags.rows(b).len().min(psi)).sum::<usize>() as f64
}

/// Whether Grams cost less from counts of shared cells than from maps; see `bagwise_engine::cells::gram`.
fn ids_are_cheaper(bags: &Bags, t: usize, psis: &[usize], representations: usize) -> bool {
    let n = bags.instance_count() as f64;
    let from_ids = n * n / 2.0 * (psis.len() * t / 8 + representations) as f64;
    let per_psi = representations as f64 / psis.len() as f64;
    let products = |psi: usize| map_entries(bags, t, psi) * bags.len() as f64 / 2.0;
    let from_maps: f64 = psis.iter().map(|&psi| products(psi) * 4.0 * per_psi).sum();
    from_ids < from_maps
}
