//! Maximisation by L-BFGS, one climb at a time, with the evaluations left to the caller: a climb says where it
//! wants to know value and gradient ([`Climb::trial`]) and is told ([`Climb::tell`]). Many climbs can so share one
//! batched evaluation, and each takes the same path whatever the others do.
//!
//! A step is accepted if it gains enough (Armijo) and has left enough of the slope behind (Wolfe); until then the
//! interval is halved or doubled, with a parabola through what is known for the first guess after a step that was too
//! long. This needs no smoothness beyond the point reached, which the real-valued likelihood does not have.
//! Nocedal, Wright: Numerical Optimization, chapter 7; Lewis, Overton: Nonsmooth optimization via quasi-Newton methods,
//! 2013.

use std::collections::VecDeque;

use crate::simd::dot;

/// When to stop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stop {
    /// After this many steps.
    pub iterations: usize,
    /// The largest slope is below.
    pub gradient: f64,
    /// A step gains less than this share of the value.
    pub gain: f64,
}

impl Stop {
    /// Precise enough for everything that is made of concepts, after at most this many steps.
    pub fn after(iterations: usize) -> Stop {
        Stop { iterations, gradient: 1e-4, gain: 1e-9 }
    }
}

/// Why a climb ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// At a maximum, to the tolerance.
    Converged,
    /// After the last step allowed.
    Limit,
    /// No step along the direction gained: a kink, or the end of double precision.
    Stuck,
}

/// Steps remembered.
const MEMORY: usize = 8;
/// Share of the gain the slope promises that is enough.
const ENOUGH: f64 = 1e-4;
/// Share of the slope that may be left.
const LEFT: f64 = 0.9;
/// Evaluations of one line search.
const TRIES: u32 = 25;

/// A step that was taken: how far, how the gradient (of the negated value) changed, and one over their product.
struct PastStep {
    moved: Vec<f64>,
    turned: Vec<f64>,
    inverse: f64,
}

/// One way up.
pub(crate) struct Climb {
    stop: Stop,
    at: Vec<f64>,
    value: f64,
    gradient: Vec<f64>,
    trial: Vec<f64>,
    direction: Vec<f64>,
    /// The slope along the direction, positive.
    slope: f64,
    step: f64,
    low: f64,
    high: f64,
    tries: u32,
    /// Point, value and gradient of the longest step of this search that gained enough, in case no other does better.
    fallback: Option<(Vec<f64>, f64, Vec<f64>)>,
    steps: VecDeque<PastStep>,
    iterations: usize,
    evaluations: usize,
    begun: bool,
    end: Option<End>,
}

impl Climb {
    pub(crate) fn new(start: Vec<f64>, stop: Stop) -> Climb {
        Climb {
            stop,
            value: f64::NEG_INFINITY,
            gradient: Vec::new(),
            trial: start.clone(),
            direction: Vec::new(),
            at: start,
            slope: 0.0,
            step: 0.0,
            low: 0.0,
            high: f64::INFINITY,
            tries: 0,
            fallback: None,
            steps: VecDeque::with_capacity(MEMORY),
            iterations: 0,
            evaluations: 0,
            begun: false,
            end: None,
        }
    }

    /// Memory that a climb of this many numbers takes: four vectors, two to fall back on, two for each step remembered.
    pub(crate) fn bytes(numbers: usize) -> u64 {
        8 * (numbers * (4 + 2 + 2 * MEMORY)) as u64
    }

    /// Where value and gradient are wanted next.
    pub(crate) fn trial(&self) -> &[f64] {
        &self.trial
    }

    /// The best point so far.
    pub(crate) fn at(&self) -> &[f64] {
        &self.at
    }

    /// Its value.
    pub(crate) fn value(&self) -> f64 {
        self.value
    }

    /// Steps taken so far.
    pub(crate) fn iterations(&self) -> usize {
        self.iterations
    }

    /// Values it was told so far.
    pub(crate) fn evaluations(&self) -> usize {
        self.evaluations
    }

    /// Why it ended, once it has.
    pub(crate) fn end(&self) -> Option<End> {
        self.end
    }

    /// The best point seen, and its value.
    pub(crate) fn result(self) -> (Vec<f64>, f64) {
        (self.at, self.value)
    }

    /// Value and gradient at the trial.
    pub(crate) fn tell(&mut self, value: f64, gradient: &[f64]) {
        self.evaluations += 1;
        if !self.begun {
            self.begun = true;
            self.value = value;
            self.gradient = gradient.to_vec();
            if !value.is_finite() || gradient.iter().any(|g| !g.is_finite()) {
                self.end = Some(End::Stuck);
            } else if self.is_flat() {
                self.end = Some(End::Converged);
            } else if self.stop.iterations == 0 {
                self.end = Some(End::Limit);
            } else {
                self.set_out();
            }
            return;
        }
        self.tries += 1;
        let gain = value - self.value;
        let slope = dot(gradient, &self.direction);
        let finite = value.is_finite() && slope.is_finite();
        let enough = finite && gain >= ENOUGH * self.step * self.slope;
        if enough && slope <= LEFT * self.slope {
            self.accept(value, gradient);
            return;
        }
        if enough && gain > 0.0 {
            self.fallback = Some((self.trial.clone(), value, gradient.to_vec()));
        }
        if self.tries >= TRIES {
            match self.fallback.take() {
                Some((at, value, gradient)) => {
                    self.trial = at;
                    self.accept(value, &gradient);
                }
                None => self.end = Some(End::Stuck),
            }
            return;
        }
        if enough {
            self.low = self.step;
            self.step = if self.high.is_finite() { 0.5 * (self.low + self.high) } else { 2.0 * self.step };
        } else {
            self.high = self.step;
            let middle = 0.5 * (self.low + self.high);
            // The top of the parabola with the slope at 0 through this value, if it lies well inside.
            let top = 0.5 * self.slope * self.step * self.step / (self.slope * self.step - gain);
            let span = self.high - self.low;
            let inside = top > self.low + 0.1 * span && top < self.high - 0.1 * span;
            self.step = if self.tries == 1 && inside { top } else { middle };
        }
        self.move_trial();
    }

    fn accept(&mut self, value: f64, gradient: &[f64]) {
        let moved: Vec<f64> = self.trial.iter().zip(&self.at).map(|(t, a)| t - a).collect();
        let turned: Vec<f64> = self.gradient.iter().zip(gradient).map(|(old, new)| old - new).collect();
        let product = dot(&moved, &turned);
        // Only a step along which the slope fell makes a positive definite model.
        if product > f64::EPSILON * dot(&turned, &turned) {
            if self.steps.len() == MEMORY {
                self.steps.pop_front();
            }
            self.steps.push_back(PastStep { moved, turned, inverse: 1.0 / product });
        }
        let gain = value - self.value;
        let small = gain <= self.stop.gain * value.abs().max(self.value.abs()).max(1.0);
        self.value = value;
        self.at.copy_from_slice(&self.trial);
        self.gradient.copy_from_slice(gradient);
        self.iterations += 1;
        if self.is_flat() || small {
            self.end = Some(End::Converged);
        } else if self.iterations >= self.stop.iterations {
            self.end = Some(End::Limit);
        } else {
            self.set_out();
        }
    }

    fn is_flat(&self) -> bool {
        self.gradient.iter().all(|g| g.abs() < self.stop.gradient)
    }

    /// A new direction from the point reached.
    fn set_out(&mut self) {
        self.direct();
        self.slope = dot(&self.gradient, &self.direction);
        if self.slope.is_nan() || self.slope <= 0.0 {
            self.steps.clear();
            self.direct();
            self.slope = dot(&self.gradient, &self.direction);
        }
        // Without experience, a step of length one at most.
        self.step = if self.steps.is_empty() { (1.0 / self.slope.sqrt()).min(1.0) } else { 1.0 };
        (self.low, self.high, self.tries, self.fallback) = (0.0, f64::INFINITY, 0, None);
        self.move_trial();
    }

    /// The two-loop recursion.
    fn direct(&mut self) {
        self.direction.clone_from(&self.gradient);
        let mut shares = [0.0; MEMORY];
        for (step, share) in self.steps.iter().zip(&mut shares).rev() {
            *share = step.inverse * dot(&step.moved, &self.direction);
            add(&mut self.direction, -*share, &step.turned);
        }
        if let Some(last) = self.steps.back() {
            let scale = 1.0 / (last.inverse * dot(&last.turned, &last.turned));
            self.direction.iter_mut().for_each(|d| *d *= scale);
        }
        for (step, share) in self.steps.iter().zip(shares) {
            let correction = share - step.inverse * dot(&step.turned, &self.direction);
            add(&mut self.direction, correction, &step.moved);
        }
    }

    fn move_trial(&mut self) {
        for ((t, a), d) in self.trial.iter_mut().zip(&self.at).zip(&self.direction) {
            *t = a + self.step * d;
        }
    }
}

fn add(to: &mut [f64], factor: f64, what: &[f64]) {
    to.iter_mut().zip(what).for_each(|(t, w)| *t += factor * w);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn climb(
        start: &[f64],
        stop: Stop,
        f: impl Fn(&[f64]) -> (f64, Vec<f64>),
    ) -> (Vec<f64>, f64, End, usize) {
        let mut climb = Climb::new(start.to_vec(), stop);
        while climb.end().is_none() {
            let (value, gradient) = f(climb.trial());
            climb.tell(value, &gradient);
        }
        let (end, iterations) = (climb.end().unwrap(), climb.iterations());
        let (at, value) = climb.result();
        (at, value, end, iterations)
    }

    #[test]
    fn the_top_of_rosenbrocks_valley_is_found() {
        let stop = Stop { iterations: 200, gradient: 1e-9, gain: 0.0 };
        let (at, _, end, iterations) = climb(&[-1.2, 1.0], stop, |x| {
            let (a, b) = (1.0 - x[0], x[1] - x[0] * x[0]);
            (-(a * a + 100.0 * b * b), vec![2.0 * a + 400.0 * b * x[0], -200.0 * b])
        });
        assert_eq!(end, End::Converged);
        // Newton's method takes about twenty; a slope of 1e-9 leaves less than 1e-8 of the way.
        assert!(iterations < 60 && at.iter().all(|x| (x - 1.0).abs() < 1e-7), "{at:?} after {iterations}");
    }

    #[test]
    fn a_kink_ends_the_climb_at_its_top() {
        let (at, value, end, _) = climb(&[3.0, 1.0], Stop::after(100), |x| {
            (-x[0].abs() - x[1] * x[1], vec![-x[0].signum(), -2.0 * x[1]])
        });
        assert!(end != End::Limit && value > -1e-3, "{end:?} at {at:?}: {value}");
    }

    #[test]
    fn limits_and_bad_values_end_it() {
        let line = |x: &[f64]| (x[0], vec![1.0]);
        assert_eq!(climb(&[0.0], Stop::after(5), line).2, End::Limit);
        assert_eq!(climb(&[0.0], Stop::after(0), line).2, End::Limit);
        assert_eq!(climb(&[0.0], Stop::after(5), |_| (f64::NAN, vec![1.0])).2, End::Stuck);
        // A cliff: everything beyond 1 is not a number.
        let cliff = |x: &[f64]| if x[0] > 1.0 { (f64::NAN, vec![1.0]) } else { (x[0], vec![1.0]) };
        let (at, value, ..) = climb(&[0.0], Stop::after(50), cliff);
        assert!(value > 0.4 && value <= 1.0 && at[0] <= 1.0);
    }
}
