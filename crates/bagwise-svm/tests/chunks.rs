//! Chunks against the solver that keeps the whole matrix: the same problem has the same solution.

use bagwise_svm::{ChunkKernel, ChunkStart, Form, Gram, SmoParams, StopReason, fit, fit_chunks};

/// Points on a wobbly grid, with labels that no smooth rule explains.
fn problem(n: usize) -> (Vec<f64>, Vec<f64>) {
    let mut state = 1u64;
    let mut uniform = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    let x: Vec<[f64; 2]> = (0..n).map(|_| [4.0 * uniform(), 4.0 * uniform()]).collect();
    let y = x.iter().map(|p| if (2.0 * p[0]).sin() + 0.3 * p[1] + uniform() > 1.0 { 1.0 } else { -1.0 });
    let y = y.collect();
    let kernel = |a: &[f64; 2], b: &[f64; 2]| (-((a[0] - b[0]).powi(2) + (a[1] - b[1]).powi(2))).exp();
    (x.iter().flat_map(|a| x.iter().map(move |b| kernel(a, b))).collect(), y)
}

struct Parts<'a> {
    gram: &'a [f64],
    n: usize,
}

impl ChunkKernel for Parts<'_> {
    fn len(&self) -> usize {
        self.n
    }

    fn gram(&self, which: &[usize]) -> Option<Vec<f64>> {
        Some(which.iter().flat_map(|&i| which.iter().map(move |&j| self.gram[i * self.n + j])).collect())
    }

    fn sums(&self, which: &[usize], weights: &[f64], at: &[usize]) -> Option<Vec<f64>> {
        let sum =
            |&i: &usize| which.iter().zip(weights).map(|(&j, w)| w * self.gram[j * self.n + i]).sum::<f64>();
        Some(at.iter().map(sum).collect())
    }
}

#[test]
fn chunks_of_any_size_find_the_solution_of_the_whole() {
    const N: usize = 240;
    let (gram, y) = problem(N);
    let all: Vec<usize> = (0..N).collect();
    let form = Form::Classify { labels: &y };
    let params = SmoParams { tolerance: 1e-7, ..SmoParams::default() };
    // Costs that differ by example, as class weights make them.
    for cost in [0.3, 30.0] {
        let bounds: Vec<f64> = (0..N).map(|i| cost * (1.0 + (i % 3) as f64)).collect();
        let whole = fit(&Gram::new(&gram, N, &all), form, &bounds, None, &params);
        for chunk in [2, 16, 61, 240, 1000] {
            let kernel = Parts { gram: &gram, n: N };
            let machine = fit_chunks(&kernel, form, &bounds, None, chunk, &params);
            assert_eq!(machine.outcome.status, StopReason::Converged, "chunk {chunk}");
            let close = |a: f64, b: f64| (a - b).abs() < 1e-5 * (1.0 + a.abs());
            assert!(close(machine.outcome.objective, whole.outcome.objective), "chunk {chunk}");
            // The Gaussian is positive definite, so that outputs are unique up to the tolerance.
            for (a, b) in machine.training_outputs.iter().zip(&whole.training_outputs) {
                assert!((a - b).abs() < 1e-4, "chunk {chunk}, cost {cost}: {a} and {b}");
            }
            let outputs = machine.training_outputs.iter().map(|o| o - machine.bias).collect();
            let start = ChunkStart { coefficients: machine.coefficients.clone(), outputs };
            let again = fit_chunks(&kernel, form, &bounds, Some(start), chunk, &params);
            assert!(again.outcome.iterations <= 1, "a solution is recognised");
        }
    }
}

#[test]
fn one_class_and_being_asked_to_stop() {
    struct Stopped;
    impl ChunkKernel for Stopped {
        fn len(&self) -> usize {
            4
        }
        fn gram(&self, _: &[usize]) -> Option<Vec<f64>> {
            None
        }
        fn sums(&self, _: &[usize], _: &[f64], _: &[usize]) -> Option<Vec<f64>> {
            None
        }
    }
    let params = SmoParams::default();
    let labels = [1.0, -1.0, 1.0, -1.0];
    let machine = fit_chunks(&Stopped, Form::Classify { labels: &labels }, &[1.0; 4], None, 2, &params);
    assert_eq!(machine.outcome.status, StopReason::Cancelled);
    let (gram, _) = problem(5);
    let kernel = Parts { gram: &gram, n: 5 };
    let machine = fit_chunks(&kernel, Form::Classify { labels: &[1.0; 5] }, &[1.0; 5], None, 2, &params);
    assert!(machine.training_outputs.iter().all(|&f| f == 1.0), "a constant machine");
}
