//! What points, machines and folds share, and that they share it within the memory they are given: nothing of what is
//! computed depends on it.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use bagwise::Rng;
use bagwise::fold::{FoldScope, ResolvedConfig, TrainingTask};
use bagwise::fold::{TrainOptions, train};
use bagwise::judge::{Fold, Metric, Splits};
use bagwise::method::{
    Info, MemoryEstimate, Method, Predictor, Prepared, Scope, SolvedFit, State, Tensor, Training,
};
use bagwise::methods::{self, METHODS};
use bagwise::model::{Model, Prediction, pack, unpack};
use bagwise::multiclass::Scheme;
use bagwise::params::{Grid, Kind, ParamSpec, Point, WhenUnset};
use bagwise::preprocess::Scale;
use bagwise::unstable::engine::cells::products;
use bagwise::unstable::engine::density::{BagTarget as Known, Batch, Evidence};
use bagwise::{Bags, Csr, Ctx, Dataset, Error, Instances, Mat, Progress, Result, Target, feature_map, gram};

/// Bags of `size` instances in `width` attributes; class c lies about (c, c, …).
fn data(bags: usize, size: usize, width: usize, classes: usize) -> Dataset {
    let mut rng = Rng::new(1, "sharing", &[]);
    let mut draw = |b: usize| (b / size % classes) as f64 + 0.8 * rng.normal();
    let values = (0..bags * size).flat_map(|i| (0..width).map(|_| draw(i)).collect::<Vec<_>>()).collect();
    let offsets = (0..=bags).map(|b| b * size).collect();
    let made = Bags::new(Instances::F64(Mat::new(bags * size, width, values)), offsets).unwrap();
    let labels: Vec<String> = (0..bags).map(|b| (b % classes).to_string()).collect();
    Dataset::new("sharing", made).with_target(Target::from_labels(&labels)).unwrap()
}

fn folds(bags: usize, count: usize) -> Vec<Fold> {
    let fold = |f: usize| {
        let (test, train) = (0..bags).partition(|b| b / 3 % count == f);
        Fold { train, test }
    };
    (0..count).map(fold).collect()
}

fn grid(method: &dyn Method, given: &[(&str, &str)], fill: WhenUnset, regression: bool) -> Grid {
    let known = |name: &str| method.params().iter().any(|p| p.name == name);
    let given: Vec<(String, String)> =
        given.iter().filter(|(k, _)| known(k)).map(|(k, v)| (k.to_string(), v.to_string())).collect();
    Grid::new(method.info().name, method.params(), &given, fill, regression).unwrap()
}

fn within(memory: u64) -> Ctx {
    let mut ctx = Ctx::seeded(3);
    ctx.memory = memory;
    ctx
}

/// The majority, with a parameter that does nothing, and a look at how it is called.
struct Watched {
    labels: bool,
    heavy: bool,
    /// How long a fit waits for another to begin.
    patience: Duration,
    /// How many points were prepared together.
    together: Mutex<Vec<usize>>,
    /// Fits under way, and the most there were.
    fits: Arc<[AtomicUsize; 2]>,
}

impl Watched {
    fn leaked(labels: bool, heavy: bool, patience: Duration) -> &'static Watched {
        let (together, fits) = (Mutex::default(), Arc::default());
        Box::leak(Box::new(Watched { labels, heavy, patience, together, fits }))
    }
}

fn majority() -> &'static dyn Method {
    methods::find("majority").unwrap()
}

impl Method for Watched {
    fn info(&self) -> &'static Info {
        majority().info()
    }
    fn params(&self) -> &'static [ParamSpec] {
        const WIDTH: &[ParamSpec] =
            &[ParamSpec::new("width", Kind::Number { above: 0.0 }, "1", "Nothing.").grid("1,2,3,4,5,6")];
        WIDTH
    }
    fn learns_labels(&self) -> bool {
        self.labels
    }
    fn work(&self, _: &Bags, _: usize) -> f64 {
        0.0
    }
    fn needs(&self, _: &Bags) -> MemoryEstimate {
        MemoryEstimate { fixed: 0, each: 1000 }
    }
    fn prepare(
        &self,
        bags: Arc<Bags>,
        points: &[Point],
        scope: &Scope<'_>,
        ctx: &Ctx,
    ) -> Result<Box<dyn Prepared>> {
        self.together.lock().unwrap().push(points.len());
        let inner = majority().prepare(bags, points, scope, ctx)?;
        let (heavy, patience) = (self.heavy, self.patience);
        Ok(Box::new(WatchedFits { inner, heavy, patience, fits: Arc::clone(&self.fits) }))
    }
    fn load(&self, point: &Point, state: &State) -> Result<Box<dyn Predictor>> {
        majority().load(point, state)
    }
}

struct WatchedFits {
    inner: Box<dyn Prepared>,
    heavy: bool,
    patience: Duration,
    fits: Arc<[AtomicUsize; 2]>,
}

impl Prepared for WatchedFits {
    fn fit(&self, points: &[usize], training: &Training<'_>, ctx: &Ctx) -> Result<Vec<SolvedFit>> {
        let under_way = 1 + self.fits[0].fetch_add(1, Ordering::SeqCst);
        self.fits[1].fetch_max(under_way, Ordering::SeqCst);
        let waiting = Instant::now();
        while self.fits[1].load(Ordering::SeqCst) < 2 && waiting.elapsed() < self.patience {
            std::thread::sleep(Duration::from_millis(1));
        }
        let fits = self.inner.fit(points, training, ctx);
        self.fits[0].fetch_sub(1, Ordering::SeqCst);
        fits
    }
    fn scores(&self, fit: &SolvedFit, bags: &[usize], ctx: &Ctx) -> Result<Vec<f64>> {
        self.inner.scores(fit, bags, ctx)
    }
    fn fit_bytes(&self) -> u64 {
        if self.heavy { u64::MAX } else { 0 }
    }
    fn model(&self, fits: &[&SolvedFit], train: &[usize], ctx: &Ctx) -> Result<Box<dyn Predictor>> {
        self.inner.model(fits, train, ctx)
    }
}

fn tune(method: &'static dyn Method, data: &Dataset, ctx: &Ctx) {
    let setup = ResolvedConfig::new(method, grid(method, &[], WhenUnset::Grid, false));
    let learner = TrainingTask::new(data, &setup, None).unwrap();
    let all: Vec<usize> = (0..data.bags.len()).collect();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(4).build().unwrap();
    let inner = folds(all.len(), 3);
    pool.install(|| learner.tune(&all, &inner, Metric::Accuracy, FoldScope::PerPart, ctx)).unwrap();
}

#[test]
fn every_machine_that_prepares_for_itself_counts() {
    // Room for six things prepared: two points of three pairs of classes, or six points that all machines share.
    for (labels, most) in [(true, 2), (false, 6)] {
        let method = Watched::leaked(labels, false, Duration::ZERO);
        tune(method, &data(18, 2, 2, 3), &within(6000));
        let together = method.together.lock().unwrap();
        assert_eq!(together.iter().max(), Some(&most), "{together:?}");
    }
}

#[test]
fn heavy_fits_are_made_one_after_another_and_light_ones_side_by_side() {
    for (labels, heavy) in [(false, true), (true, true), (false, false), (true, false)] {
        // Of light fits another one begins, however long that takes on a busy machine; heavy ones have some time to begin wrongly.
        let patience = if heavy { Duration::from_millis(20) } else { Duration::from_secs(60) };
        let method = Watched::leaked(labels, heavy, patience);
        tune(method, &data(18, 2, 2, 2), &Ctx::default());
        assert_eq!(method.fits[1].load(Ordering::SeqCst) == 1, heavy, "{labels} {heavy}");
    }
}

#[test]
fn heavy_fits_of_many_machines_are_made_one_after_another_too() {
    for heavy in [true, false] {
        let patience = if heavy { Duration::from_millis(5) } else { Duration::from_secs(60) };
        let method = Watched::leaked(false, heavy, patience);
        // 21 classes, so 210 machines for pairs, of a single point.
        let setup = ResolvedConfig {
            scheme: Scheme::OneVsOne,
            ..ResolvedConfig::new(method, grid(method, &[], WhenUnset::Default, false))
        };
        let data = data(42, 2, 2, 21);
        let learner = TrainingTask::new(&data, &setup, None).unwrap();
        assert_eq!(learner.tasks.len(), 210);
        let all: Vec<usize> = (0..42).collect();
        let pool = rayon::ThreadPoolBuilder::new().num_threads(4).build().unwrap();
        let ctx = Ctx::default();
        let frame = learner.frame(&all, &setup.grid.points, &ctx).unwrap();
        pool.install(|| learner.fit(&frame, &[0], &all, &ctx)).unwrap();
        assert_eq!(method.fits[1].load(Ordering::SeqCst) == 1, heavy, "{heavy}");
    }
}

#[test]
fn points_that_answer_together_answer_as_they_do_alone() {
    let data = data(24, 3, 3, 3);
    let all: Vec<usize> = (0..24).collect();
    let folds = folds(24, 3);
    let given = [
        ("gamma", "0.5"),
        ("c", "0.5,5,50"),
        ("threshold", "0.3,train"),
        ("concept", "positive,either"),
        ("starts", "4"),
        ("psi", "8"),
        ("epsilon", "1"),
        ("t", "20"),
        ("solver", "gram,map"),
    ];
    for method in METHODS {
        let grid = grid(*method, &given, WhenUnset::Default, false);
        let setup = ResolvedConfig { scale: Scale::None, ..ResolvedConfig::new(*method, grid) };
        let learner = TrainingTask::new(&data, &setup, None).unwrap();
        let ctx = Ctx::seeded(1);
        let together = learner.tune(&all, &folds, Metric::Accuracy, FoldScope::PerFold, &ctx).unwrap();
        let points = &setup.grid.points;
        let mut alone = vec![Mat::zeros(24, 3); points.len()];
        for fold in &folds {
            let frame = learner.frame(&fold.train, points, &ctx).unwrap();
            for group in &setup.grid.groups {
                let machines = learner.fit(&frame, group, &fold.train, &ctx).unwrap();
                for (&point, machines) in group.iter().zip(&machines) {
                    let outputs = learner.outputs(&frame, machines, &fold.train, &fold.test, &ctx).unwrap();
                    for (row, &bag) in fold.test.iter().enumerate() {
                        alone[point].row_mut(bag).copy_from_slice(outputs.row(row));
                    }
                }
            }
        }
        let name = method.info().name;
        let bits = |m: &Mat| m.data().iter().map(|v| v.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&together.out_of_fold), bits(&alone[together.best]), "{name}");
        for (outputs, value) in alone.iter().zip(&together.values) {
            let labels = learner.labels(outputs, None);
            let right = labels.iter().enumerate().filter(|(b, l)| **l as usize == b % 3);
            assert_eq!(*value, Some(right.count() as f64 / 24.0), "{name}");
        }
    }
}

/// Out-of-fold outputs of every point, fitted group by group in one frame, and its share of right labels.
fn one_by_one(learner: &TrainingTask<'_>, folds: &[Fold], ctx: &Ctx) -> Vec<(Mat, f64)> {
    let Some(Target::Classes { codes, .. }) = &learner.data.target else { panic!("classes") };
    let all: Vec<usize> = (0..codes.len()).collect();
    let Grid { points, groups, .. } = &learner.setup.grid;
    let frame = learner.frame(&all, points, ctx).unwrap();
    let mut outputs = vec![Mat::zeros(all.len(), learner.tasks.len()); points.len()];
    for (fold, group) in folds.iter().flat_map(|f| groups.iter().map(move |g| (f, g))) {
        let machines = learner.fit(&frame, group, &fold.train, ctx).unwrap();
        for (&point, machines) in group.iter().zip(&machines) {
            let tested = learner.outputs(&frame, machines, &fold.train, &fold.test, ctx).unwrap();
            for (row, &bag) in fold.test.iter().enumerate() {
                outputs[point].row_mut(bag).copy_from_slice(tested.row(row));
            }
        }
    }
    let right =
        |outputs: &Mat| learner.labels(outputs, None).iter().zip(codes).filter(|(a, b)| a == b).count();
    outputs.into_iter().map(|o| (right(&o), o)).map(|(r, o)| (o, r as f64 / all.len() as f64)).collect()
}

fn bits(outputs: &Mat) -> Vec<u64> {
    outputs.data().iter().map(|v| v.to_bits()).collect()
}

#[test]
fn points_with_the_same_machines_share_their_fits() {
    let data = data(24, 3, 3, 2);
    let all: Vec<usize> = (0..24).collect();
    let (folds, ctx) = (folds(24, 3), Ctx::seeded(1));
    let widths = ("gamma", "0.5,2");
    let cases = [
        ("simple-mi", vec![("kernel", "linear"), widths], [0, 1, 0, 1]),
        ("simple-mi", vec![("kernel", "rbf"), widths], [0, 1, 2, 3]),
        ("sil", vec![("kernel", "linear"), widths], [0, 1, 0, 1]),
        // Its table has c before sigma, so points that differ in sigma alone follow each other.
        ("mirsvm", vec![("kernel", "linear"), ("sigma", "0.5,2")], [0, 0, 2, 2]),
        ("mirsvm", vec![("kernel", "rbf"), ("sigma", "0.5,2")], [0, 1, 2, 3]),
        // No two instances share all of twenty cells of sixteen; some share two.
        ("isk", vec![("psi", "16"), ("t", "20"), ("epsilon", "19/20,1")], [0, 1, 0, 1]),
        ("isk", vec![("psi", "16"), ("t", "20"), ("epsilon", "1/20,1")], [0, 1, 2, 3]),
        ("isk", vec![("psi", "16"), ("t", "20"), ("epsilon", "19/20,1"), ("solver", "map")], [0, 1, 0, 1]),
    ];
    for (name, mut given, expected) in cases {
        given.push(("c", "1,10"));
        let method = methods::find(name).unwrap();
        let setup = ResolvedConfig::new(method, grid(method, &given, WhenUnset::Default, false));
        let learner = TrainingTask::new(&data, &setup, None).unwrap();
        let frame = learner.frame(&all, &setup.grid.points, &ctx).unwrap();
        let twins: Vec<usize> = (0..4).map(|point| frame.prepared(0).twin(point)).collect();
        assert_eq!(twins, expected, "{name} {given:?}");
        let tuned = learner.tune(&all, &folds, Metric::Accuracy, FoldScope::PerPart, &ctx).unwrap();
        let alone = one_by_one(&learner, &folds, &ctx);
        for ((outputs, right), value) in alone.iter().zip(&tuned.values) {
            assert_eq!(*value, Some(*right), "{name} {given:?}");
            assert!(outputs.data().iter().all(|o| o.is_finite()));
        }
        assert_eq!(bits(&tuned.out_of_fold), bits(&alone[tuned.best].0), "{name} {given:?}");
    }
}

#[test]
fn pairs_of_many_classes_are_judged_as_those_of_few_are() {
    // 231 machines: the outputs of all points are not kept side by side.
    let data = data(66, 2, 3, 22);
    let all: Vec<usize> = (0..66).collect();
    let (folds, ctx) = (folds(66, 3), Ctx::seeded(1));
    let method = methods::find("simple-mi").unwrap();
    let given = [("gamma", "0.5,2"), ("c", "1,10")];
    let setup = ResolvedConfig::new(method, grid(method, &given, WhenUnset::Default, false));
    let learner = TrainingTask::new(&data, &setup, None).unwrap();
    let alone = one_by_one(&learner, &folds, &ctx);
    for metric in [Metric::Accuracy, Metric::RocAuc, Metric::LogLoss] {
        // Room for everything, or for one Gram at a time.
        for memory in [ctx.memory, 60_000] {
            let mut ctx = ctx.clone();
            ctx.memory = memory;
            let tuned = learner.tune(&all, &folds, metric, FoldScope::PerPart, &ctx).unwrap();
            let pairs = tuned.out_of_fold.data().iter().zip(alone[tuned.best].0.data());
            for (together, alone) in pairs {
                // A Gram that is prepared by itself sums in another order than one of several, and the solver stops
                // elsewhere within its tolerance of 1e-3.
                assert!((together - alone).abs() <= 2e-3, "{metric}: {together} {alone}");
            }
            if metric == Metric::Accuracy {
                let right: Vec<Option<f64>> = alone.iter().map(|(_, right)| Some(*right)).collect();
                assert_eq!(tuned.values, right);
            }
        }
    }
}

/// Counts searches for concepts that came to their end.
struct Ends(AtomicUsize);

impl Progress for Ends {
    fn step(&self, what: &str, done: u64, total: u64) {
        if what == "concepts" && done == total {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
}

#[test]
fn thresholds_share_a_search() {
    let data = data(12, 3, 3, 2);
    let all: Vec<usize> = (0..12).collect();
    for name in ["dd", "em-dd"] {
        let method = methods::find(name).unwrap();
        let given = [("threshold", "0.3,0.5,train"), ("concept", "positive,either")];
        let setup = ResolvedConfig::new(method, grid(method, &given, WhenUnset::Default, false));
        assert_eq!(setup.grid.groups, [vec![0, 1, 2, 3, 4, 5]]);
        let learner = TrainingTask::new(&data, &setup, None).unwrap();
        let ends = Arc::new(Ends(AtomicUsize::new(0)));
        let mut ctx = Ctx::seeded(1);
        ctx.progress = Arc::clone(&ends) as Arc<dyn Progress>;
        let frame = learner.frame(&all, &setup.grid.points, &ctx).unwrap();
        let machines = learner.fit(&frame, &setup.grid.groups[0], &all, &ctx).unwrap();
        // One for each side.
        assert_eq!((machines.len(), ends.0.load(Ordering::SeqCst)), (6, 2), "{name}");
    }
}

fn refused<T>(result: Result<T>, expected: &str) {
    match result {
        Err(Error::Memory { what, .. }) => assert_eq!(what, expected),
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("{expected} should not fit"),
    }
}

#[test]
fn what_is_large_is_reserved_where_it_is_made() {
    let few = data(10, 10, 10, 2);
    let which: Vec<usize> = (0..10).collect();
    let known = (0..10).map(|b| if b % 2 == 0 { Known::Positive } else { Known::Negative }).collect();
    let evidence = Evidence::new(&few.bags, &which, known, &Ctx::default()).unwrap();
    // For each of 100 instances 10 numbers for distances and 21 for gradients.
    assert!(Batch::new(&evidence, true, &within(8 * 100 * 31)).is_ok());
    refused(
        Batch::new(&evidence, true, &within(8 * 100 * 31 - 1)),
        "packed instances of a search for concepts",
    );

    let mut rows = Csr::empty(5);
    (0..40).for_each(|i| rows.push_row([(i % 5, 1.0)]));
    refused(products(&rows, &rows, true, &within(8 * 40 * 40 - 1)), "inner products of maps");

    let isk = methods::find("isk").unwrap();
    let many = data(300, 4, 3, 2);
    let point = &grid(isk, &[("psi", "16"), ("solver", "map")], WhenUnset::Default, false).points[0];
    let mapped =
        |ctx: &Ctx| feature_map(isk, point, Scale::None, false, &many.bags, None, ctx).map(|map| map.0);
    let entries = mapped(&within(1 << 40)).unwrap().nnz() as u64;
    assert!(mapped(&within(12 * entries)).is_ok());
    refused(mapped(&within(12 * entries - 1)), "the maps of bags");

    let graphs = methods::find("migraph-explicit").unwrap();
    let large = data(2, 300, 2, 2);
    let point = &grid(graphs, &[], WhenUnset::Default, false).points[0];
    let drawn = |ctx: &Ctx| gram(graphs, point, Scale::None, false, &large.bags, None, None, ctx);
    assert!(drawn(&Ctx::default()).is_ok());
    // The distances of one bag, and not of a second nor any edge.
    refused(drawn(&within(8 * 300 * 300)), "the graphs of bags");

    let marginal = methods::find("mg-acc").unwrap();
    let values = Dataset { target: Some(Target::Values((0..10).map(f64::from).collect())), ..few };
    let setup = ResolvedConfig::new(marginal, grid(marginal, &[], WhenUnset::Default, true));
    let learner = TrainingTask::new(&values, &setup, None).unwrap();
    let fitted = |ctx: &Ctx| {
        train(std::slice::from_ref(&learner), &which, Splits::KFold(2), &TrainOptions::by(Metric::Mse), ctx)
    };
    assert!(fitted(&Ctx::default()).is_ok());
    // Enough for the search, and not for three copies of some twenty vectors of 50 numbers.
    refused(fitted(&within(8 * 50 * 31)), "the label vectors of instances");
}

#[test]
fn a_representation_takes_no_more_than_it_was_said_to_need() {
    // Large bags, and cells so small that most instances have one of their own.
    let data = data(2, 600, 3, 2);
    let isk = methods::find("isk").unwrap();
    let point = &grid(isk, &[("psi", "512"), ("solver", "map")], WhenUnset::Default, false).points[0];
    let map = feature_map(isk, point, Scale::None, false, &data.bags, None, &Ctx::default()).unwrap().0;
    let needs = isk.needs(&data.bags);
    assert!(12 * map.nnz() as u64 <= needs.each, "{} entries, {needs:?}", map.nnz());
    // The interior point method of a linear machine: twenty numbers for each row, besides the instances and their scaled copy.
    for name in ["sil", "mi-svm", "mi-svm-bag", "mirsvm", "misssvm"] {
        let needs = methods::find(name).unwrap().needs(&data.bags);
        assert!(needs.fixed >= 8 * 1200 * (2 * 3 + 20), "{name}: {needs:?}");
    }
}

/// Pairs of twelve classes: more machines than are asked one by one, and more bags than one block has.
#[test]
fn many_machines_answer_together_as_each_does_alone() {
    let data = data(75, 4, 3, 12);
    let bags: Vec<usize> = (0..data.bags.len()).collect();
    let mi_kernel = methods::find("mi-kernel").unwrap();
    let points = grid(mi_kernel, &[("gamma", "0.5"), ("c", "1,100")], WhenUnset::Default, false).points;
    let ctx = Ctx::seeded(0);
    let prepared = mi_kernel.prepare(Arc::new(data.bags.clone()), &points, &Scope::of(&bags), &ctx).unwrap();
    let pairs = (0..12).flat_map(|a| (a + 1..12).map(move |b| (a, b)));
    let fits: Vec<SolvedFit> = pairs
        .map(|(a, b)| {
            let own: Vec<usize> = bags.iter().copied().filter(|bag| [a, b].contains(&(bag % 12))).collect();
            let y: Vec<f64> = own.iter().map(|bag| if bag % 12 == a { 1.0 } else { -1.0 }).collect();
            let weights = vec![1.0; own.len()];
            let training = Training { bags: &own, y: &y, weights: &weights, regression: false };
            prepared.fit(&[0, 1], &training, &ctx).unwrap().remove(1)
        })
        .collect();
    let together = prepared.scores_of_all(&fits.iter().collect::<Vec<_>>(), &bags[2..], &ctx).unwrap();
    assert_eq!((together.rows(), together.cols()), (73, 66));
    for (k, fit) in fits.iter().enumerate() {
        let alone = prepared.scores(fit, &bags[2..], &ctx).unwrap();
        assert!(alone.iter().any(|score| score.abs() > 0.1), "machine {k} knows nothing");
        for (row, score) in alone.into_iter().enumerate() {
            assert_eq!(together.get(row, k).to_bits(), score.to_bits(), "machine {k}, bag {row}");
        }
    }
}

/// Pairs of 25 classes: more machines than are kept for every point.
#[test]
fn the_chosen_point_of_many_machines_has_the_outputs_that_were_judged() {
    let data = data(75, 4, 3, 25);
    let all: Vec<usize> = (0..75).collect();
    let inner = folds(75, 3);
    for (name, given) in
        [("mi-kernel", [("gamma", "0.5,1"), ("c", "1,100")]), ("emd", [("gamma", "0.5"), ("c", "1,100")])]
    {
        let method = methods::find(name).unwrap();
        let setup = ResolvedConfig::new(method, grid(method, &given, WhenUnset::Default, false));
        let learner = TrainingTask::new(&data, &setup, None).unwrap();
        assert_eq!(learner.tasks.len(), 300);
        for scope in [FoldScope::PerPart, FoldScope::PerFold] {
            let ctx = Ctx::seeded(3);
            let tuned = learner.tune(&all, &inner, Metric::Accuracy, scope, &ctx).unwrap();
            let group = setup.grid.groups.iter().find(|g| g.contains(&tuned.best)).unwrap();
            let at = group.iter().position(|&p| p == tuned.best).unwrap();
            for fold in &inner {
                // The frame of all points is at hand; those of folds are made again for the points that are solved together.
                let own: Vec<Point> = group.iter().map(|&p| setup.grid.points[p].clone()).collect();
                let places: Vec<usize> = (0..own.len()).collect();
                let (train, points, places) = match scope {
                    FoldScope::PerPart => (&all, &setup.grid.points, group),
                    FoldScope::PerFold => (&fold.train, &own, &places),
                };
                let frame = learner.frame(train, points, &ctx).unwrap();
                let fits = learner.fit(&frame, places, &fold.train, &ctx).unwrap();
                let outputs = learner.outputs(&frame, &fits[at], &fold.train, &fold.test, &ctx).unwrap();
                for (row, &bag) in fold.test.iter().enumerate() {
                    let bits = |row: &[f64]| row.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
                    assert_eq!(
                        bits(tuned.out_of_fold.row(bag)),
                        bits(outputs.row(row)),
                        "{name} {scope:?}, bag {bag}"
                    );
                }
            }
        }
    }
}

#[test]
fn machines_that_do_not_fit_are_refused_before_any_work() {
    let data = data(400, 2, 3, 200);
    let all: Vec<usize> = (0..400).collect();
    let method = methods::find("mi-kernel").unwrap();
    let given = [("gamma", "0.5,1"), ("c", "1,100")];
    let setup = ResolvedConfig::new(method, grid(method, &given, WhenUnset::Default, false));
    let learner = TrainingTask::new(&data, &setup, None).unwrap();
    // Two points of a group, 300 bytes a machine and 24 for each of 400 x 199 examples; outputs for 400 bags, and for a fold.
    let inner = folds(400, 3);
    let tested = 400 + inner.iter().map(|fold| fold.test.len() as u64).max().unwrap();
    let needed = 2 * (300 * 19_900 + 24 * 400 * 199) + 8 * tested * 19_900;
    for scope in [FoldScope::PerPart, FoldScope::PerFold] {
        let tuned = learner.tune(&all, &inner, Metric::Accuracy, scope, &within(needed - 1));
        refused(tuned, "19900 machines for 200 classes, with their outputs");
    }
    // A metric of probabilities needs the outputs of all four points.
    let tuned = learner.tune(&all, &inner, Metric::LogLoss, FoldScope::PerPart, &within(2 * needed));
    refused(tuned, "19900 machines for 200 classes, with their outputs");
}

#[test]
fn a_model_of_many_machines_is_stored_by_its_support() {
    let data = data(75, 4, 3, 25);
    let all: Vec<usize> = (0..75).collect();
    for (name, given) in [("mi-kernel", ("gamma", "0.5")), ("isk", ("psi", "8"))] {
        let method = methods::find(name).unwrap();
        let setup =
            ResolvedConfig::new(method, grid(method, &[given, ("c", "10")], WhenUnset::Default, false));
        let learner = TrainingTask::new(&data, &setup, None).unwrap();
        let wanted = TrainOptions::by(Metric::Accuracy);
        let model = train(std::slice::from_ref(&learner), &all, None, &wanted, &Ctx::seeded(3)).unwrap();
        let bytes = model.to_bytes().unwrap();
        let (header, state) = unpack(&bytes).unwrap();
        let stored: usize =
            state.tensors.iter().filter(|(k, _)| k.contains("coefficients")).map(|(_, t)| t.shape()[0]).sum();
        // Six bags of 75 in each pair, of which all may count.
        assert!(stored <= 300 * 6 * 2 + 301, "{name}: {stored}");
        let read = Model::from_bytes(&bytes).unwrap();
        assert!(read.to_bytes().unwrap() == bytes, "{name}");
        let (before, after) = (model.predict(&data.bags).unwrap(), read.predict(&data.bags).unwrap());
        for (a, b) in before.iter().zip(&after) {
            let bits = |p: &Prediction| p.outputs.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
            assert_eq!(bits(a), bits(b), "{name}");
        }
        // What does not fit together is refused.
        let key = state.tensors.keys().find(|k| k.ends_with("coefficients.indices")).unwrap().clone();
        let mut broken = state.clone();
        let Some(Tensor::U64(_, indices)) = broken.tensors.get_mut(&key) else { panic!("{key}") };
        indices[0] = 75;
        assert!(Model::from_bytes(&pack(&header, broken).unwrap()).is_err(), "{name}");
        let mut missing = state;
        missing.tensors.retain(|k, _| !k.contains("coefficients"));
        assert!(Model::from_bytes(&pack(&header, missing).unwrap()).is_err(), "{name}");
    }
}

/// The model is the training instances, which are read in blocks up to there: the refusal came when all pairs were done.
#[test]
fn a_model_that_cannot_keep_its_instances_is_refused_before_the_work() {
    let data = data(20, 4, 50, 2);
    let method = methods::find("mi-kernel").unwrap();
    let given = [("gamma", "1/median"), ("c", "1"), ("norm", "mean")];
    let setup = ResolvedConfig::new(method, grid(method, &given, WhenUnset::Default, false));
    let task = TrainingTask::new(&data, &setup, None).unwrap();
    let all: Vec<usize> = (0..20).collect();
    // 80 instances of 50 doubles are 32,000 bytes.
    let refused = task.frame(&all, &setup.grid.points, &within(31_000)).err().expect("refused");
    let said = refused.to_string();
    assert!(said.contains("keeps all training instances") && said.contains("32.0 kB"), "{said}");
    let frame = task.frame(&all, &setup.grid.points, &within(33_000)).unwrap();
    let fits = task.fit(&frame, &[0], &all, &within(33_000)).unwrap();
    let fits: Vec<&SolvedFit> = fits[0].0.iter().flatten().collect();
    frame.prepared(0).model(&fits, &all, &within(33_000)).unwrap();
}
