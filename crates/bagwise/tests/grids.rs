//! Default grids go on where they end too early, and no others do. The method here is made for it: how many bags it gets
//! right depends on its parameter alone.

use std::sync::Arc;

use bagwise::fold::{FoldScope, ResolvedConfig, TrainingTask, Tuned};
use bagwise::judge::{Metric, Pool, Splits};
use bagwise::method::{Info, MemoryEstimate, Method, Predictor, Prepared, Scope, SolvedFit, State, Training};
use bagwise::params::{Grid, Kind, ParamSpec, Point, WhenUnset};
use bagwise::preprocess::Scale;
use bagwise::{Bags, Ctx, Dataset, Error, Instances, Mat, Result, Target};

/// Right for all bags but a tenth for every power of ten between its parameter and the peak.
struct Peaked {
    peak: f64,
}

static PARAMS: &[ParamSpec] =
    &[ParamSpec::new("p", Kind::Number { above: 0.0 }, "10", "Any number.").grid("1,10,100").solver()];

static INFO: Info = Info { name: "peaked", scale: Scale::None, params: PARAMS, ..Info::USUAL };

impl Method for Peaked {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn work(&self, _: &Bags, _: usize) -> f64 {
        1.0
    }

    fn needs(&self, _: &Bags) -> MemoryEstimate {
        MemoryEstimate::default()
    }

    fn prepare(
        &self,
        bags: Arc<Bags>,
        points: &[Point],
        _: &Scope<'_>,
        _: &Ctx,
    ) -> Result<Box<dyn Prepared>> {
        let wrong = |p: &Point| Ok(0.1 * (p.number("p")?.log10() - self.peak).abs() - 1e-6);
        let wrong = points.iter().map(wrong).collect::<Result<_>>()?;
        Ok(Box::new(PeakedBags { bags, wrong }))
    }

    fn load(&self, _: &Point, _: &State) -> Result<Box<dyn Predictor>> {
        Err(Error::Invalid("no models here".into()))
    }
}

struct PeakedBags {
    bags: Arc<Bags>,
    /// The share of the bags that each point gets wrong.
    wrong: Vec<f64>,
}

impl Prepared for PeakedBags {
    fn fit(&self, points: &[usize], _: &Training<'_>, _: &Ctx) -> Result<Vec<SolvedFit>> {
        let fit = |&point: &usize| SolvedFit { point, outcome: None, rounds: None, solution: Box::new(()) };
        Ok(points.iter().map(fit).collect())
    }

    fn scores(&self, fit: &SolvedFit, bags: &[usize], _: &Ctx) -> Result<Vec<f64>> {
        let mut row = [0.0; 2];
        let mut score = |&b: &usize| {
            self.bags.instances().row_into(b, &mut row)?;
            Ok(if row[1] < self.wrong[fit.point] { -row[0] } else { row[0] })
        };
        bags.iter().map(&mut score).collect()
    }

    fn model(&self, _: &[&SolvedFit], _: &[usize], _: &Ctx) -> Result<Box<dyn Predictor>> {
        Err(Error::Invalid("no models here".into()))
    }
}

/// A hundred bags of one instance: what is right, and how easily it is got wrong.
fn data() -> Dataset {
    let rows: Vec<[f64; 2]> =
        (0..100).map(|b| [if b % 2 == 0 { 1.0 } else { -1.0 }, f64::from(b) / 100.0]).collect();
    let bags = Bags::new(Instances::F64(Mat::from_rows(&rows)), (0..=100).collect()).unwrap();
    let labels: Vec<&str> = (0..100).map(|b| if b % 2 == 0 { "yes" } else { "no" }).collect();
    Dataset::new("made", bags).with_target(Target::from_labels(&labels)).unwrap()
}

fn tuned(peak: f64, given: Option<&str>) -> Tuned {
    let data = data();
    let method: &'static dyn Method = Box::leak(Box::new(Peaked { peak }));
    let given: Vec<(String, String)> = given.iter().map(|g| ("p".to_string(), g.to_string())).collect();
    let grid = Grid::new("peaked", PARAMS, &given, WhenUnset::Grid, false).unwrap();
    let setup = ResolvedConfig::new(method, grid);
    let learner = TrainingTask::new(&data, &setup, Some("yes")).unwrap();
    let all: Vec<usize> = (0..100).collect();
    let pool = Pool { target: learner.target, groups: None, given: None };
    let inner = Splits::KFold(5).inner(pool, &all, 1, 0, 0).unwrap();
    learner.tune(&all, &inner, Metric::Accuracy, FoldScope::PerPart, &Ctx::default()).unwrap()
}

fn chosen(tuned: &Tuned) -> (f64, Vec<String>) {
    (tuned.point.number("p").unwrap(), tuned.on_edge.clone())
}

#[test]
fn a_default_list_goes_on_to_its_best_value() {
    for (peak, best) in [(4.0, 1e4), (3.0, 1e3), (-1.0, 0.1), (-2.0, 0.01)] {
        let tuned = tuned(peak, None);
        assert_eq!(chosen(&tuned), (best, vec![]), "peak at 10^{peak}");
        assert_eq!(tuned.value, Some(1.0));
        // What calibrates is what was chosen.
        let right = |b: usize| (tuned.out_of_fold.get(b, 0) > 0.0) == b.is_multiple_of(2);
        assert!((0..100).all(right), "peak at 10^{peak}");
    }
}

#[test]
fn it_ends_after_three_steps_and_says_so() {
    assert_eq!(chosen(&tuned(9.0, None)), (1e5, vec!["p".to_string()]));
    assert_eq!(chosen(&tuned(-7.0, None)), (1e-3, vec!["p".to_string()]));
}

#[test]
fn an_end_that_is_best_is_no_edge_once_it_was_looked_beyond() {
    assert_eq!(chosen(&tuned(2.0, None)), (100.0, vec![]));
    assert_eq!(chosen(&tuned(1.0, None)), (10.0, vec![]));
}

#[test]
fn lists_of_the_user_do_not_grow() {
    assert_eq!(chosen(&tuned(4.0, Some("1,10,100"))), (100.0, vec!["p".to_string()]));
}

#[test]
fn an_end_that_only_equals_its_neighbour_does_not_grow() {
    // Half-way between two values both are equally good, and the first is taken.
    assert_eq!(chosen(&tuned(1.5, None)).0, 10.0);
    assert_eq!(chosen(&tuned(0.5, None)), (1.0, vec!["p".to_string()]));
}
