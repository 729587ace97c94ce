//! Adam (Kingma and Ba, ICLR 2015) with weight decay added to the gradient.

use std::ops::Range;

/// The running means of a search.
pub struct Adam {
    rate: f64,
    decay: f64,
    decaying: Vec<Range<usize>>,
    mean: Vec<f64>,
    square: Vec<f64>,
    steps: i32,
}

impl Adam {
    /// A search over this many parameters; `decay` applies to some of them.
    pub fn new(parameters: usize, rate: f64, decay: f64, decaying: Vec<Range<usize>>) -> Adam {
        Adam { rate, decay, decaying, mean: vec![0.0; parameters], square: vec![0.0; parameters], steps: 0 }
    }

    /// One step down a gradient, which is used up.
    pub fn step(&mut self, parameters: &mut [f64], mut gradient: Vec<f64>) {
        // The published constants.
        const MEAN: f64 = 0.9;
        const SQUARE: f64 = 0.999;
        const SMALL: f64 = 1e-8;
        for range in &self.decaying {
            for i in range.clone() {
                gradient[i] += self.decay * parameters[i];
            }
        }
        self.steps = self.steps.saturating_add(1);
        let (of_mean, of_square) = (1.0 - MEAN.powi(self.steps), 1.0 - SQUARE.powi(self.steps));
        for (i, g) in gradient.into_iter().enumerate() {
            self.mean[i] = MEAN * self.mean[i] + (1.0 - MEAN) * g;
            self.square[i] = SQUARE * self.square[i] + (1.0 - SQUARE) * g * g;
            parameters[i] -=
                self.rate * (self.mean[i] / of_mean) / ((self.square[i] / of_square).sqrt() + SMALL);
        }
    }
}
