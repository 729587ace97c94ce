//! The model of an alternation: support rows and coefficients (or weights, for a linear kernel), the instances that
//! stand for training bags, and the rounds of the search. A bag's output is the largest of its instances', who is named by `explain`.

use crate::families::alternating::AlternationFit;
use crate::families::alternating::kernel::{Kernel, weighted};
use crate::method::{AlternationEnd, Explanation, Outputs, Predictor, Representative, State, TracedRound};
use crate::state::refuse;
use bagwise_core::{Bags, Ctx, Instances, Mat, Result};

/// A bag's output as machines above compare it with 0: above is positive. Where 0 itself is positive too, it becomes
/// the smallest number above.
pub(crate) fn decided(output: f64, zero_is_positive: bool) -> f64 {
    if output == 0.0 && zero_is_positive { f64::MIN_POSITIVE } else { output }
}

/// What instances are compared with.
enum ReferenceRows {
    /// Outputs x columns.
    Linear(Mat),
    /// Rows, each a bag of its own, and outputs x rows.
    Rbf { gamma: f64, rows: Bags, coefficients: Mat },
}

struct AlternatingModel {
    kept: ReferenceRows,
    biases: Vec<f64>,
    history: History,
    zero_is_positive: bool,
}

/// How a model came about: no output depends on it.
pub(super) struct History {
    pub(super) representatives: Vec<Representative>,
    pub(super) trace: Vec<TracedRound>,
}

/// A model of the fits of one point.
pub(super) fn build(
    kernel: &Kernel,
    stock: &Instances,
    found: &[&AlternationFit],
    history: History,
    zero_is_positive: bool,
) -> Result<Box<dyn Predictor>> {
    let kept = match kernel {
        Kernel::Linear(_) => {
            let zeros = vec![0.0; stock.cols()];
            let rows: Vec<&[f64]> = found.iter().map(|f| f.weights.as_deref().unwrap_or(&zeros)).collect();
            ReferenceRows::Linear(Mat::from_rows(&rows))
        }
        _ => {
            let mut union: Vec<usize> = found.iter().flat_map(|f| f.support.iter().map(|s| s.0)).collect();
            // A machine that saw one class has no support; a row without weight keeps the shape.
            union.push(0);
            union.sort_unstable();
            union.dedup();
            let mut coefficients = Mat::zeros(found.len(), union.len());
            for (k, found) in found.iter().enumerate() {
                for (row, b) in &found.support {
                    let at = union.binary_search(row).expect("the union holds it");
                    coefficients.set(k, at, coefficients.get(k, at) + b);
                }
            }
            let rows = Bags::new(stock.gather(&union), (0..=union.len()).collect())?;
            ReferenceRows::Rbf { gamma: kernel.gamma(), rows, coefficients }
        }
    };
    let biases = found.iter().map(|f| f.bias).collect();
    Ok(Box::new(AlternatingModel { kept, biases, history, zero_is_positive }))
}

/// A model from its saved state.
pub(super) fn load(linear: bool, state: &State, zero_is_positive: bool) -> Result<Box<dyn Predictor>> {
    let (kept, outputs) = if linear {
        let weights = state.mat("weights")?;
        let outputs = weights.rows();
        (ReferenceRows::Linear(weights), outputs)
    } else {
        let coefficients = state.mat("coefficients")?;
        let gamma = state.positive("gamma")?;
        let rows = state.nested("rows").bags()?;
        let single = rows.instance_count() == rows.len();
        if !single || coefficients.cols() != rows.len() {
            return Err(refuse("its support rows and coefficients are inconsistent"));
        }
        let outputs = coefficients.rows();
        (ReferenceRows::Rbf { gamma, rows, coefficients }, outputs)
    };
    let biases = state.vector("biases", outputs)?;
    let history = History {
        representatives: load_representatives(state, outputs)?,
        trace: load_trace(&state.nested("trace"), outputs)?,
    };
    Ok(Box::new(AlternatingModel { kept, biases, history, zero_is_positive }))
}

/// How a search ended as a number of a saved model: 0 for rounds before the last.
fn end_code(ended: Option<AlternationEnd>) -> usize {
    match ended {
        None => 0,
        Some(AlternationEnd::Converged) => 1,
        Some(AlternationEnd::Limit) => 2,
        Some(AlternationEnd::Cycle(length)) => length.saturating_add(2),
    }
}

fn load_trace(state: &State, outputs: usize) -> Result<Vec<TracedRound>> {
    let (output, changed) = (state.counts("output")?, state.counts("changed")?);
    let (support, ended) = (state.counts("support")?, state.counts("ended")?);
    let objective = state.vector("objective", output.len())?;
    if [&changed, &support, &ended].iter().any(|list| list.len() != output.len()) {
        return Err(refuse("the rounds of its search are inconsistent"));
    }
    if output.iter().any(|&k| k >= outputs) {
        return Err(refuse("a round is of no output"));
    }
    let end = |code: usize| match code {
        0 => None,
        1 => Some(AlternationEnd::Converged),
        2 => Some(AlternationEnd::Limit),
        more => Some(AlternationEnd::Cycle(more - 2)),
    };
    let round = |k: usize| TracedRound {
        output: output[k],
        objective: objective[k],
        changed: changed[k],
        support: support[k],
        ended: end(ended[k]),
    };
    Ok((0..output.len()).map(round).collect())
}

fn load_representatives(state: &State, outputs: usize) -> Result<Vec<Representative>> {
    let inside = state.nested("representatives");
    let (output, instance) = (inside.counts("output")?, inside.counts("instance")?);
    let names = inside.names()?;
    let value = inside.vector("value", output.len())?;
    if instance.len() != output.len() || names.len() != output.len() {
        return Err(refuse("its representatives are inconsistent"));
    }
    if output.iter().any(|&k| k >= outputs) {
        return Err(refuse("a representative is of no output"));
    }
    let one = |(k, bag)| Representative { bag, instance: instance[k], output: output[k], value: value[k] };
    Ok(names.into_iter().enumerate().map(one).collect())
}

impl AlternatingModel {
    /// The output of every instance, instances x outputs.
    fn instance_outputs(&self, bags: &Bags, ctx: &Ctx) -> Result<Mat> {
        let width = self.width().expect("it has columns");
        if bags.width() != width {
            return Err(refuse(format!("it compares {width} columns, these bags have {}", bags.width())));
        }
        let (n, outputs) = (bags.instance_count(), self.biases.len());
        let mut all = Mat::zeros(n, outputs);
        match &self.kept {
            ReferenceRows::Linear(weights) => {
                let mut row = vec![0.0; bags.width()];
                for i in 0..n {
                    bags.instances().row_into(i, &mut row)?;
                    for k in 0..outputs {
                        let sum: f64 = row.iter().zip(weights.row(k)).map(|(x, w)| x * w).sum();
                        all.set(i, k, sum + self.biases[k]);
                    }
                }
            }
            ReferenceRows::Rbf { gamma, rows, coefficients } => {
                let asked: Vec<usize> = (0..n).collect();
                let weights = (0..outputs).map(|k| coefficients.row(k).to_vec()).collect();
                let sums = weighted(
                    bags.instances(),
                    &asked,
                    rows.instances(),
                    weights,
                    *gamma,
                    ctx.precision,
                    ctx,
                )?;
                for (k, sums) in sums.iter().enumerate() {
                    for i in 0..n {
                        all.set(i, k, sums.get(i, 0) + self.biases[k]);
                    }
                }
            }
        }
        Ok(all)
    }
}

/// The instance of a bag with the largest output, the first of equals, counted within the bag.
fn largest(outputs: &[f64]) -> usize {
    (0..outputs.len()).fold(0, |best, i| if outputs[i] > outputs[best] { i } else { best })
}

impl Predictor for AlternatingModel {
    fn outputs(&self) -> usize {
        self.biases.len()
    }

    fn width(&self) -> Option<usize> {
        Some(match &self.kept {
            ReferenceRows::Linear(weights) => weights.cols(),
            ReferenceRows::Rbf { rows, .. } => rows.width(),
        })
    }

    fn predict(&self, bags: &Bags, ctx: &Ctx) -> Result<Outputs> {
        let all = self.instance_outputs(bags, ctx)?;
        let mut scores = Mat::zeros(bags.len(), self.biases.len());
        for b in 0..bags.len() {
            for k in 0..self.biases.len() {
                let most = bags.rows(b).map(|i| all.get(i, k)).fold(f64::NEG_INFINITY, f64::max);
                scores.set(b, k, decided(most, self.zero_is_positive));
            }
        }
        Ok(Outputs { scores, nearest: vec![None; bags.len()] })
    }

    fn explain(&self, bags: &Bags, ctx: &Ctx) -> Result<Vec<Vec<Explanation>>> {
        let all = self.instance_outputs(bags, ctx)?;
        let one = |b: usize, k: usize| {
            let outputs: Vec<f64> = bags.rows(b).map(|i| all.get(i, k)).collect();
            let chosen = largest(&outputs);
            Explanation::Witness { outputs, chosen }
        };
        Ok((0..bags.len()).map(|b| (0..self.biases.len()).map(|k| one(b, k)).collect()).collect())
    }

    fn representatives(&self) -> &[Representative] {
        &self.history.representatives
    }

    fn trace(&self) -> &[TracedRound] {
        &self.history.trace
    }

    fn save(&self) -> Result<State> {
        let mut state = State::default();
        match &self.kept {
            ReferenceRows::Linear(weights) => state.put_mat("weights", weights),
            ReferenceRows::Rbf { gamma, rows, coefficients } => {
                state.put_mat("coefficients", coefficients);
                state.put("gamma", &[*gamma]);
                let mut inside = State::default();
                inside.put_bags(rows)?;
                state.nest("rows", inside);
            }
        }
        state.put("biases", &self.biases);
        let History { representatives: all, trace } = &self.history;
        let mut inside = State::default();
        inside.put_counts("output", all.iter().map(|r| r.output));
        inside.put_counts("instance", all.iter().map(|r| r.instance));
        inside.put("value", &all.iter().map(|r| r.value).collect::<Vec<_>>());
        inside.put_names(all.iter().map(|r| r.bag.as_str()));
        state.nest("representatives", inside);
        let mut inside = State::default();
        inside.put_counts("output", trace.iter().map(|r| r.output));
        inside.put("objective", &trace.iter().map(|r| r.objective).collect::<Vec<_>>());
        inside.put_counts("changed", trace.iter().map(|r| r.changed));
        inside.put_counts("support", trace.iter().map(|r| r.support));
        inside.put_counts("ended", trace.iter().map(|r| end_code(r.ended)));
        state.nest("trace", inside);
        Ok(state)
    }
}
