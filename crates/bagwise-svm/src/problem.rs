//! The problem that every machine here reduces to.
//!
//! With a symmetric kernel matrix `K` over `n` examples,
//!
//! ```text
//! minimise   F(b) = 1/2 b'Kb - p'b + tube * sum |b_i|
//! subject to lower_i <= b_i <= upper_i,   sum b_i = 0,   where lower_i <= 0 <= upper_i.
//! ```
//!
//! Written in the signed coefficients `b_i` (for a classifier `b_i = y_i a_i`) the kernel matrix enters as it
//! is: no row is ever multiplied by labels, one Gram serves every labelling, and regression keeps `n`
//! variables instead of the usual `2n` because the tube stays in the objective as `|b_i|`.
//!
//! The matrix is asked for by rows. [`Gram`] lends or gathers rows of a matrix that already exists, addressed
//! by an index list, so a fold costs a list and not a copy of the matrix; [`RowFn`] computes rows on demand.
//! The solver keeps recent rows under a memory budget (see `rows.rs`).

/// A symmetric kernel matrix, asked for row by row.
pub trait KernelRows {
    /// Number of examples.
    fn len(&self) -> usize;

    /// True if there are no examples.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The entry `K[i][i]`.
    fn diagonal(&self, i: usize) -> f64;

    /// Writes `K[i][columns[k]]` to `out[k]`.
    fn row(&self, i: usize, columns: &[usize], out: &mut [f64]);

    /// True if rows are read and not computed.
    fn is_stored(&self) -> bool {
        false
    }

    /// The whole row `i` in natural order, if it already lies in memory that way.
    fn borrowed_row(&self, i: usize) -> Option<&[f64]> {
        let _ = i;
        None
    }
}

/// A precomputed Gram matrix, or the part of it that an index list selects.
#[derive(Clone, Copy, Debug)]
pub struct Gram<'a> {
    values: &'a [f64],
    stride: usize,
    index: &'a [usize],
    /// First column, if the list is an unbroken ascending run: such rows can be lent without gathering.
    run: Option<usize>,
}

impl<'a> Gram<'a> {
    /// Example `k` of the problem is row and column `index[k]` of the row-major matrix `values`, whose rows
    /// start `stride` entries apart. The matrix must be symmetric; only the listed rows and columns are read.
    ///
    /// # Panics
    /// If an index lies outside the matrix.
    pub fn new(values: &'a [f64], stride: usize, index: &'a [usize]) -> Gram<'a> {
        let rows = values.len().checked_div(stride).unwrap_or(0);
        assert!(index.iter().all(|&i| i < rows && i < stride), "an index lies outside the Gram matrix");
        let run =
            index.first().copied().filter(|first| index.iter().enumerate().all(|(k, &i)| i == first + k));
        Gram { values, stride, index, run }
    }

    fn matrix_row(&self, i: usize) -> &'a [f64] {
        &self.values[self.index[i] * self.stride..][..self.stride]
    }
}

impl KernelRows for Gram<'_> {
    fn len(&self) -> usize {
        self.index.len()
    }

    fn diagonal(&self, i: usize) -> f64 {
        self.matrix_row(i)[self.index[i]]
    }

    fn row(&self, i: usize, columns: &[usize], out: &mut [f64]) {
        let row = self.matrix_row(i);
        for (value, &column) in out.iter_mut().zip(columns) {
            *value = row[self.index[column]];
        }
    }

    fn is_stored(&self) -> bool {
        true
    }

    fn borrowed_row(&self, i: usize) -> Option<&[f64]> {
        let first = self.run?;
        Some(&self.matrix_row(i)[first..first + self.index.len()])
    }
}

/// Kernel rows computed when the solver asks for them.
#[derive(Clone, Debug)]
pub struct RowFn<F> {
    diagonal: Vec<f64>,
    fill: F,
}

impl<F: Fn(usize, &[usize], &mut [f64])> RowFn<F> {
    /// `fill(i, columns, out)` writes `K[i][columns[k]]` to `out[k]`; `diagonal` holds every `K[i][i]`.
    pub fn new(diagonal: Vec<f64>, fill: F) -> RowFn<F> {
        RowFn { diagonal, fill }
    }
}

impl<F: Fn(usize, &[usize], &mut [f64])> KernelRows for RowFn<F> {
    fn len(&self) -> usize {
        self.diagonal.len()
    }

    fn diagonal(&self, i: usize) -> f64 {
        self.diagonal[i]
    }

    fn row(&self, i: usize, columns: &[usize], out: &mut [f64]) {
        (self.fill)(i, columns, out);
    }
}

/// Everything about the problem except its matrix.
#[derive(Clone, Debug)]
pub struct Dual {
    /// The linear term `p`: labels of a classifier, targets of a regression.
    pub linear: Vec<f64>,
    /// Lower bounds, none above zero.
    pub lower: Vec<f64>,
    /// Upper bounds, none below zero.
    pub upper: Vec<f64>,
    /// The price of `|b_i|`: half the width of the regression tube, zero for a classifier.
    pub tube: f64,
}

impl Dual {
    /// Number of variables.
    pub fn len(&self) -> usize {
        self.linear.len()
    }

    /// True if there are no variables.
    pub fn is_empty(&self) -> bool {
        self.linear.is_empty()
    }

    /// Panics with a sentence that names the flaw, if the problem is not well posed.
    pub(crate) fn check(&self, examples: usize) {
        let n = self.linear.len();
        assert_eq!(n, examples, "the kernel has {examples} examples, the linear term {n}");
        assert!(self.lower.len() == n && self.upper.len() == n, "each of {n} variables needs both bounds");
        assert!(self.linear.iter().all(|p| p.is_finite()), "a label or target is not finite");
        assert!(self.lower.iter().all(|&l| l <= 0.0 && l.is_finite()), "a lower bound is not in (-inf, 0]");
        assert!(self.upper.iter().all(|&u| u >= 0.0 && u.is_finite()), "an upper bound is not in [0, inf)");
        assert!(self.tube >= 0.0 && self.tube.is_finite(), "the tube is not in [0, inf)");
    }

    /// How much variable `i`, now at `b`, adds to the slope of `-F` when it moves up, and when it moves down.
    ///
    /// The tube has a kink at zero, so the two differ there; a move that leaves the box is priced at infinity.
    #[inline]
    pub(crate) fn shifts(tube: f64, lower: f64, upper: f64, b: f64) -> (f64, f64) {
        let up = match () {
            _ if b >= upper => f64::NEG_INFINITY,
            _ if b >= 0.0 => -tube,
            _ => tube,
        };
        let down = match () {
            _ if b <= lower => f64::INFINITY,
            _ if b > 0.0 => -tube,
            _ => tube,
        };
        (up, down)
    }

    /// Makes any vector feasible: clip to the box, then scale down whichever sign outweighs the other.
    pub(crate) fn make_feasible(&self, b: &mut [f64]) {
        let (mut positive, mut negative) = (0.0, 0.0);
        for i in 0..b.len() {
            let clipped = if b[i].is_finite() { b[i].clamp(self.lower[i], self.upper[i]) } else { 0.0 };
            b[i] = clipped;
            if clipped > 0.0 { positive += clipped } else { negative -= clipped }
        }
        // A solution handed back is balanced up to the rounding of its sum; scaling would push it off its bounds.
        if (positive - negative).abs() <= b.len() as f64 * f64::EPSILON * (positive + negative) {
            return;
        }
        let (keep_positive, keep_negative) = match () {
            _ if positive > negative => (negative / positive, 1.0),
            _ => (1.0, positive / negative),
        };
        for value in b {
            *value *= if *value > 0.0 { keep_positive } else { keep_negative };
        }
    }

    /// The bias and the two objectives, from the coefficients and the outputs `Kb`.
    ///
    /// With `g = p - Kb`, the bias is the mean of `g_i - sign(b_i) tube` over coefficients strictly inside their
    /// bounds and not at the kink. Without one, any value between the largest upward slope and the smallest
    /// downward slope is optimal and we take the midpoint, or the finite end if only one exists: with one class
    /// in training the machine is then constant at that class's label. The primal objective is
    /// `1/2 b'Kb + sum max(0, upper (r - tube), lower (r + tube))` with `r = g - bias`.
    pub(crate) fn finish(&self, b: &[f64], outputs: &[f64]) -> Finish {
        let (mut free_sum, mut free_count) = (0.0, 0usize);
        let (mut highest_up, mut lowest_down) = (f64::NEG_INFINITY, f64::INFINITY);
        let (mut quadratic, mut linear) = (0.0, 0.0);
        for i in 0..b.len() {
            let gradient = self.linear[i] - outputs[i];
            let (up, down) = Dual::shifts(self.tube, self.lower[i], self.upper[i], b[i]);
            highest_up = highest_up.max(gradient + up);
            lowest_down = lowest_down.min(gradient + down);
            if b[i] != 0.0 && b[i] > self.lower[i] && b[i] < self.upper[i] {
                free_sum += gradient - self.tube.copysign(b[i]);
                free_count += 1;
            }
            quadratic += b[i] * outputs[i];
            linear += self.linear[i] * b[i] - self.tube * b[i].abs();
        }
        let bias = match (free_count, highest_up.is_finite(), lowest_down.is_finite()) {
            (1.., ..) => free_sum / free_count as f64,
            (0, true, true) => 0.5 * (highest_up + lowest_down),
            (0, true, false) => highest_up,
            (0, false, true) => lowest_down,
            (0, false, false) => 0.0,
        };
        let mut loss = 0.0;
        for i in 0..b.len() {
            let residual = self.linear[i] - outputs[i] - bias;
            loss +=
                (self.upper[i] * (residual - self.tube)).max(self.lower[i] * (residual + self.tube)).max(0.0);
        }
        let objective = 0.5 * quadratic - linear;
        Finish {
            bias,
            objective,
            kkt_gap: (highest_up - lowest_down).max(0.0),
            duality_gap: 0.5 * quadratic + loss + objective,
        }
    }
}

/// What [`Dual::finish`] finds out.
pub(crate) struct Finish {
    pub(crate) bias: f64,
    pub(crate) objective: f64,
    pub(crate) kkt_gap: f64,
    pub(crate) duality_gap: f64,
}
