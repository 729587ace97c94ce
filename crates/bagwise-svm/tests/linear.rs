//! The linear solver against the kernel solver on the same problem, and on its own edges.

mod common;

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use bagwise_svm::{
    FeatureRows, Features, Form, Gram, LinearParams, SmoParams, StopReason, bounds, fit, fit_linear,
    fit_linear_path,
};
use common::{Random, dot, gram, largest_difference, points, upto};

/// Rows in compressed form.
struct Compressed {
    starts: Vec<usize>,
    indices: Vec<u32>,
    values: Vec<f64>,
    columns: usize,
}

impl Compressed {
    fn new(rows: &[Vec<f64>], columns: usize) -> Compressed {
        let mut out = Compressed { starts: vec![0], indices: vec![], values: vec![], columns };
        for row in rows {
            for (column, &value) in row.iter().enumerate().filter(|(_, v)| **v != 0.0) {
                out.indices.push(column as u32);
                out.values.push(value);
            }
            out.starts.push(out.indices.len());
        }
        out
    }

    fn features(&self) -> Features<'_> {
        let Compressed { starts, indices, values, columns } = self;
        Features::Sparse { starts, indices, values, columns: *columns }
    }
}

fn exact() -> LinearParams<'static> {
    LinearParams { tolerance: 1e-9, max_passes: 1_000_000, ..LinearParams::default() }
}

/// More rows than features, more features than rows, and sparse rows of which some are empty.
#[test]
fn agrees_with_the_kernel_solver() {
    for (n, d, kept) in [(60, 3, 1.0), (40, 80, 1.0), (120, 20, 0.3)] {
        let mut data = points(n, d, n as u64);
        let mut random = Random(5);
        for value in data.x.iter_mut().flatten() {
            // A shift makes the bias matter: it is as large as the scores.
            *value = if random.uniform() < kept { *value + 0.5 } else { 0.0 };
        }
        data.x[3].fill(0.0);
        let k = gram(&data.x, dot);
        let index = upto(n);
        let flat = data.x.concat();
        let dense = Features::Dense { values: &flat, columns: d };
        let compressed = Compressed::new(&data.x, d);
        for form in
            [Form::Classify { labels: &data.labels }, Form::Regress { targets: &data.targets, tube: 0.1 }]
        {
            for cost in [1e-3, 0.1, 10.0] {
                let params = SmoParams { tolerance: 1e-9, ..SmoParams::default() };
                let kernel = fit(&Gram::new(&k, n, &index), form, &bounds(cost, n), None, &params);
                assert_eq!(kernel.outcome.status, StopReason::Converged);
                for features in [dense, compressed.features()] {
                    let linear = fit_linear(&features, form, &bounds(cost, n), None, &exact());
                    let what = format!("{n} x {d}, C {cost}, {:?}", linear.outcome);
                    assert_eq!(linear.outcome.status, StopReason::Converged, "{what}");
                    // Both stop at a gap of 1e-9; outputs follow it through the conditioning of free rows.
                    let difference = largest_difference(&linear.training_outputs, &kernel.training_outputs);
                    assert!(difference < 1e-6, "{what}: {difference}");
                    let ratio =
                        (linear.outcome.objective - kernel.outcome.objective) / kernel.outcome.objective;
                    assert!(ratio.abs() < 1e-8, "{what}: {ratio}");
                    assert!(largest_difference(&linear.outputs(&features), &linear.training_outputs) < 1e-12);
                    assert!(
                        linear.coefficients.iter().sum::<f64>().abs() < 1e-10 * cost * n as f64,
                        "{what}"
                    );
                }
            }
        }
    }
}

/// Classes that overlap wherever one looks take descent thousands of passes; dense rows go on from an interior point.
#[test]
fn overlapping_classes_need_few_passes() {
    let (n, d) = (3000, 12);
    let mut data = points(n, d, 8);
    let mut random = Random(9);
    data.labels.iter_mut().for_each(|label| *label = if random.uniform() < 0.5 { 1.0 } else { -1.0 });
    let flat = data.x.concat();
    let form = Form::Classify { labels: &data.labels };
    let params = LinearParams { tolerance: 1e-4, max_passes: 100_000, ..LinearParams::default() };
    for cost in [1.0, 100.0] {
        let mut bounds = bounds(cost, n);
        // A row without weight stays at zero.
        bounds[7] = 0.0;
        let dense = fit_linear(&Features::Dense { values: &flat, columns: d }, form, &bounds, None, &params);
        let descent = fit_linear(&Compressed::new(&data.x, d).features(), form, &bounds, None, &params);
        assert_eq!(dense.outcome.status, StopReason::Converged);
        assert_eq!(dense.coefficients[7], 0.0);
        assert!(
            3 * dense.outcome.iterations < descent.outcome.iterations,
            "{:?} and {:?}",
            dense.outcome,
            descent.outcome
        );
        // The gaps of both, summed over the rows that are not at their bound.
        let ratio = dense.outcome.objective / descent.outcome.objective - 1.0;
        assert!(ratio.abs() < 1e-6, "{ratio}");
    }
}

/// Numbers in raw units, one column twice: what rounding leaves of the optimality conditions is large, and the start helps anyway.
#[test]
fn raw_units_need_few_passes_too() {
    let (n, d) = (2000, 8);
    let mut data = points(n, d, 8);
    let mut random = Random(9);
    data.labels.iter_mut().for_each(|label| *label = if random.uniform() < 0.5 { 1.0 } else { -1.0 });
    for row in &mut data.x {
        row.iter_mut().for_each(|v| *v *= 1e4);
        row[d - 1] = row[0];
    }
    let flat = data.x.concat();
    let form = Form::Classify { labels: &data.labels };
    let params = LinearParams { tolerance: 1e-3, max_passes: 3000, ..LinearParams::default() };
    let features = Features::Dense { values: &flat, columns: d };
    let dense = fit_linear(&features, form, &bounds(1.0, n), None, &params);
    let descent = fit_linear(&Compressed::new(&data.x, d).features(), form, &bounds(1.0, n), None, &params);
    assert_eq!(descent.outcome.status, StopReason::IterationLimit);
    assert!(
        dense.outcome.objective <= descent.outcome.objective,
        "{:?} and {:?}",
        dense.outcome,
        descent.outcome
    );
    assert!(
        dense.outcome.kkt_gap < 0.1 * descent.outcome.kkt_gap,
        "{:?} {:?}",
        dense.outcome,
        descent.outcome
    );
}

#[test]
fn paths_and_starts_lead_to_the_same_machine() {
    let data = points(80, 6, 21);
    let flat = data.x.concat();
    let features = Features::Dense { values: &flat, columns: 6 };
    let form = Form::Classify { labels: &data.labels };
    let costs = [5.0, 0.01, 0.5];
    let path = fit_linear_path(&features, form, &[1.0; 80], &costs, &exact());
    for (machine, cost) in path.iter().zip(costs) {
        let alone = fit_linear(&features, form, &bounds(cost, 80), None, &exact());
        let again = fit_linear(&features, form, &bounds(cost, 80), Some(&alone.coefficients), &exact());
        // As above: gaps of 1e-9 through the conditioning of free rows.
        assert!(largest_difference(&machine.training_outputs, &alone.training_outputs) < 1e-6);
        assert!(largest_difference(&again.training_outputs, &alone.training_outputs) < 1e-6);
        assert!(again.outcome.iterations <= alone.outcome.iterations);
        // The same problem gives the same bits.
        let twin = fit_linear(&features, form, &bounds(cost, 80), None, &exact());
        assert_eq!(twin.weights, alone.weights);
    }
}

#[test]
fn edges() {
    let one = Features::Dense { values: &[3.0, 4.0], columns: 2 };
    let machine = fit_linear(&one, Form::Classify { labels: &[-1.0] }, &[1.0], None, &exact());
    assert_eq!((machine.bias, machine.weights), (-1.0, vec![0.0, 0.0]));
    let machine = fit_linear(&one, Form::Regress { targets: &[7.0], tube: 0.5 }, &[1.0], None, &exact());
    assert_eq!(machine.bias, 7.0);
    // Distance 5: the boundary halfway, |w| = 2 / 5.
    let two = Features::Dense { values: &[0.0, 0.0, 3.0, 4.0], columns: 2 };
    let machine = fit_linear(&two, Form::Classify { labels: &[-1.0, 1.0] }, &[10.0; 2], None, &exact());
    assert!(largest_difference(&machine.weights, &[0.24, 0.32]) < 1e-9 && (machine.bias + 1.0).abs() < 1e-9);
    // Rows of nothing: the median of the targets, the larger of the classes.
    let nothing = Features::Sparse { starts: &[0; 6], indices: &[], values: &[], columns: 4 };
    let machine = fit_linear(
        &nothing,
        Form::Classify { labels: &[1.0, 1.0, -1.0, 1.0, -1.0] },
        &[2.0; 5],
        None,
        &exact(),
    );
    assert_eq!((machine.outcome.status, machine.bias), (StopReason::Converged, 1.0));
    let none = Features::Sparse { starts: &[0], indices: &[], values: &[], columns: 4 };
    assert_eq!(fit_linear(&none, Form::Classify { labels: &[] }, &[], None, &exact()).bias, 0.0);
}

/// Dense rows leap to the optimum of the rows that are active; those left at their bounds, few or many, must be right too.
#[test]
fn a_leap_of_active_rows_ends_at_the_same_optimum() {
    for (shift, cost) in [(3.0, 1.0), (1.0, 0.05), (0.3, 10.0)] {
        let mut data = points(1500, 6, 9);
        for (row, y) in data.x.iter_mut().zip(&data.labels) {
            row[0] += shift * y;
        }
        let flat = data.x.concat();
        let (dense, sparse) = (Features::Dense { values: &flat, columns: 6 }, Compressed::new(&data.x, 6));
        // From all at the upper bound: as unlike the solution as can be.
        let start: Vec<f64> = data.labels.iter().map(|y| cost * y).collect();
        let trained = |features: &Features<'_>| {
            let form = Form::Classify { labels: &data.labels };
            fit_linear(features, form, &[cost; 1500], Some(&start), &exact())
        };
        let (leaping, walking) = (trained(&dense), trained(&sparse.features()));
        assert_eq!(leaping.outcome.status, StopReason::Converged);
        assert!(leaping.outcome.iterations < walking.outcome.iterations, "c={cost}");
        // Both end with a gap of 1e-9.
        assert!(largest_difference(&leaping.weights, &walking.weights) < 1e-7, "c={cost}");
        assert!((leaping.bias - walking.bias).abs() < 1e-7, "c={cost}");
    }
}

#[test]
fn a_small_duality_gap_is_enough_where_it_is_asked_for() {
    let data = points(400, 10, 2);
    // As sparse rows: dense ones would leap to the optimum.
    let sparse = Compressed::new(&data.x, 10);
    let features = sparse.features();
    let trained = |params: LinearParams<'_>| {
        fit_linear(&features, Form::Classify { labels: &data.labels }, &[10.0; 400], None, &params)
    };
    let (best, near) = (trained(exact()), trained(LinearParams { relative_gap: 1e-3, ..exact() }));
    let (best_outcome, outcome) = (&best.outcome, &near.outcome);
    assert_eq!(outcome.status, StopReason::Converged);
    assert!(outcome.iterations < best_outcome.iterations, "{outcome:?} {best_outcome:?}");
    assert!(near.coefficients.iter().sum::<f64>().abs() < 1e-9); // else the gap would mean nothing
    let away = outcome.objective - best_outcome.objective;
    assert!(0.0 <= away && away <= outcome.duality_gap, "{outcome:?} {best_outcome:?}");
    assert!(outcome.duality_gap <= 1e-3 * outcome.objective.abs() && outcome.kkt_gap > 1e-9, "{outcome:?}");
}

#[test]
fn limits_and_cancellation_are_reported() {
    let data = points(200, 10, 2);
    let flat = data.x.concat();
    let features = Features::Dense { values: &flat, columns: 10 };
    let stop = AtomicBool::new(true);
    for (params, status) in [
        (LinearParams { max_passes: 2, ..exact() }, StopReason::IterationLimit),
        (LinearParams { cancel: Some(&stop), ..exact() }, StopReason::Cancelled),
    ] {
        let machine =
            fit_linear(&features, Form::Classify { labels: &data.labels }, &[10.0; 200], None, &params);
        assert_eq!(machine.outcome.status, status);
        assert!(machine.outcome.iterations <= 2 && machine.outcome.kkt_gap > 1e-9);
        assert!(machine.coefficients.iter().sum::<f64>().abs() < 1e-9); // feasible all the same
    }
}

#[test]
#[should_panic(expected = "is not below 3")]
fn columns_lie_within() {
    let rows = Features::Sparse { starts: &[0, 1], indices: &[3], values: &[1.0], columns: 3 };
    fit_linear(&rows, Form::Classify { labels: &[1.0] }, &[1.0], None, &exact());
}

/// Rows outside memory, that count how often a block is read.
#[derive(Debug)]
struct Outside<'a> {
    rows: &'a [Vec<f64>],
    all: Vec<u32>,
    /// Rows of a block, and rows for which there is room.
    block: usize,
    room: usize,
    block_at_hand: Mutex<Option<usize>>,
    held: Mutex<Vec<bool>>,
    reads: AtomicUsize,
}

impl<'a> Outside<'a> {
    fn new(rows: &'a [Vec<f64>], block: usize, room: usize) -> Outside<'a> {
        Outside {
            rows,
            all: (0..rows[0].len() as u32).collect(),
            block,
            room,
            block_at_hand: Mutex::new(None),
            held: Mutex::new(vec![false; rows.len()]),
            reads: AtomicUsize::new(0),
        }
    }
}

impl FeatureRows for Outside<'_> {
    fn len(&self) -> usize {
        self.rows.len()
    }

    fn columns(&self) -> usize {
        self.rows[0].len()
    }

    fn visit(&self, row: usize, see: &mut dyn FnMut(&[u32], &[f64])) {
        let mut block = self.block_at_hand.lock().unwrap();
        if !self.held.lock().unwrap()[row] && *block != Some(self.block(row)) {
            *block = Some(self.block(row));
            self.reads.fetch_add(1, Ordering::Relaxed);
        }
        see(&self.all, &self.rows[row]);
    }

    fn block(&self, row: usize) -> usize {
        row / self.block
    }

    fn hold(&self, rows: &[usize]) -> bool {
        let mut held = self.held.lock().unwrap();
        if rows.iter().all(|&row| held[row]) {
            return true;
        }
        if rows.len() > self.room {
            return false;
        }
        held.fill(false);
        rows.iter().for_each(|&row| held[row] = true);
        self.reads.fetch_add(self.rows.len().div_ceil(self.block), Ordering::Relaxed);
        true
    }
}

/// Rows with a large common part, as maps of bags have: coefficients that are settled block by block settle slowly.
#[test]
fn rows_outside_memory_are_read_less_often_than_visited() {
    let (n, d, block) = (3000, 60, 300);
    let mut random = Random(11);
    let mut labels = vec![];
    let rows: Vec<Vec<f64>> = (0..n)
        .map(|i| {
            labels.push(if i % 2 == 0 { 1.0 } else { -1.0 });
            let row: Vec<f64> = (0..d)
                .map(|k| 0.3 + random.uniform() + if k < 10 { 0.05 * labels[i] } else { 0.0 })
                .collect();
            let length = row.iter().map(|v| v * v).sum::<f64>().sqrt();
            row.iter().map(|v| v / length).collect()
        })
        .collect();
    let form = Form::Classify { labels: &labels };
    let params = LinearParams { tolerance: 1e-6, relative_gap: 1e-5, ..LinearParams::default() };
    let bounds = vec![10.0; n];
    // Sparse, so that both are solved by descent alone.
    let inside = fit_linear(&Compressed::new(&rows, d).features(), form, &bounds, None, &params);
    let outside = Outside::new(&rows, block, n / 3);
    let found = fit_linear(&Features::Elsewhere(&outside), form, &bounds, None, &params);
    assert_eq!(found.outcome.status, StopReason::Converged);
    assert!(found.outcome.duality_gap <= 1e-5 * found.outcome.objective.abs());
    // Both are as close to the minimum as their gaps say.
    let apart = (found.outcome.objective - inside.outcome.objective).abs();
    assert!(apart <= found.outcome.duality_gap + inside.outcome.duality_gap, "{apart}");
    // 282 times, for 1721 passes in memory; 6172 times if no rows are held.
    let times = outside.reads.load(Ordering::Relaxed) / n.div_ceil(block);
    assert!(times <= inside.outcome.iterations / 4, "{times} times");
}
