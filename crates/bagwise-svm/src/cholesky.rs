//! The Cholesky factor of a positive definite matrix that grows by rows, and can lose one.

/// The lower triangle, row by row.
#[derive(Default)]
pub(crate) struct Factor(Vec<Vec<f64>>);

impl Factor {
    /// One more row of the matrix, up to its diagonal, whose square after elimination is at least `least`.
    pub(crate) fn push(&mut self, mut row: Vec<f64>, least: f64) {
        let rows = &mut self.0;
        let last = rows.len();
        for j in 0..last {
            row[j] = (row[j] - dot(&row[..j], &rows[j][..j])) / rows[j][j];
        }
        row[last] = (row[last] - dot(&row[..last], &row[..last])).max(least).sqrt();
        rows.push(row);
    }

    /// The factor without row and column `k`: rotations of neighbouring columns bring the rows behind it into shape again.
    pub(crate) fn remove(&mut self, k: usize) {
        self.0.remove(k);
        for j in k..self.0.len() {
            let (a, b) = (self.0[j][j], self.0[j][j + 1]);
            let length = a.hypot(b);
            let (cosine, sine) = (a / length, b / length);
            for row in &mut self.0[j..] {
                let (left, right) = (row[j], row[j + 1]);
                row[j] = cosine * left + sine * right;
                row[j + 1] = cosine * right - sine * left;
            }
            self.0[j].truncate(j + 1);
        }
    }

    /// The solution for a right side.
    pub(crate) fn solve(&self, mut right: Vec<f64>) -> Vec<f64> {
        for (i, row) in self.0.iter().enumerate() {
            right[i] = (right[i] - dot(&row[..i], &right[..i])) / row[i];
        }
        for (i, row) in self.0.iter().enumerate().rev() {
            right[i] /= row[i];
            let value = right[i];
            right[..i].iter_mut().zip(row).for_each(|(r, l)| *r -= l * value);
        }
        right
    }
}

/// In eight sums, so that one addition need not wait for the last.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; 8];
    let ((a, more_a), (b, more_b)) = (a.as_chunks::<8>(), b.as_chunks::<8>());
    for (a, b) in a.iter().zip(b) {
        (0..8).for_each(|l| sums[l] += a[l] * b[l]);
    }
    sums.iter().sum::<f64>() + more_a.iter().zip(more_b).map(|(a, b)| a * b).sum::<f64>()
}
