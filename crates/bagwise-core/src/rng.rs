//! Randomness that is the same on every machine, for every number of threads and in every release:
//! a ChaCha8 stream keyed by the run's seed, what it is for, and any indices (fold, restart, partition).
//! The draws are our own, because libraries reserve the right to change theirs.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng};

/// A stream of random numbers for one purpose.
pub struct Rng(ChaCha8Rng);

impl Rng {
    /// The stream for `purpose` (a short fixed word) and `indices` under the run's `seed`.
    pub fn new(seed: u64, purpose: &str, indices: &[u64]) -> Rng {
        // The key is four SplitMix64 outputs of a state that has absorbed every part, each with its length
        // or position, so that no two (purpose, indices) share a stream by concatenation.
        let mut state = absorb(0x6261_6777_6973_6501, seed);
        state = absorb(state, purpose.len() as u64);
        for byte in purpose.bytes() {
            state = absorb(state, u64::from(byte));
        }
        state = absorb(state, indices.len() as u64);
        for &index in indices {
            state = absorb(state, index);
        }
        let mut key = [0u8; 32];
        for chunk in key.chunks_exact_mut(8) {
            state = state.wrapping_add(GOLDEN);
            chunk.copy_from_slice(&mix(state).to_le_bytes());
        }
        Rng(ChaCha8Rng::from_seed(key))
    }

    /// Sixty-four random bits.
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Uniform over `0..n`, without bias (Lemire's multiply and reject).
    ///
    /// # Panics
    /// If `n` is 0.
    pub fn below(&mut self, n: usize) -> usize {
        assert!(n > 0, "a draw from nothing");
        let n = n as u64;
        let reject = n.wrapping_neg() % n;
        loop {
            let wide = u128::from(self.bits()) * u128::from(n);
            if wide as u64 >= reject {
                return (wide >> 64) as usize;
            }
        }
    }

    /// Uniform over [0, 1) on a grid of 2^-53.
    pub fn uniform(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Standard normal, by the polar method without keeping the second value (a stream stays a function of
    /// how many normals were drawn).
    pub fn normal(&mut self) -> f64 {
        loop {
            let u = 2.0 * self.uniform() - 1.0;
            let v = 2.0 * self.uniform() - 1.0;
            let s = u * u + v * v;
            if s > 0.0 && s < 1.0 {
                return u * (-2.0 * s.ln() / s).sqrt();
            }
        }
    }

    /// A uniformly random order (Fisher and Yates, from the end).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i + 1));
        }
    }

    /// `k` different numbers of `0..n` in random order (all of them if `k >= n`).
    pub fn sample(&mut self, n: usize, k: usize) -> Vec<usize> {
        let mut all: Vec<usize> = (0..n).collect();
        let k = k.min(n);
        for i in 0..k {
            let j = i + self.below(n - i);
            all.swap(i, j);
        }
        all.truncate(k);
        all
    }
}

/// Noise that is about normal (the sum of four bytes: mean 0, variance 1, within 3.5), a value for every (key, index):
/// any part of a huge data set can be made on its own, at a nanosecond a number.
pub fn noise(key: u64, index: u64) -> f32 {
    // Two values from each word.
    let word = mix(key.wrapping_add((index / 2).wrapping_mul(GOLDEN))) >> (32 * (index % 2));
    let bytes = [word & 255, word >> 8 & 255, word >> 16 & 255, word >> 24 & 255];
    // Four uniform bytes have mean 510 and variance 4 (256^2 - 1) / 12.
    (bytes.iter().sum::<u64>() as f32 - 510.0) / 147.800_54
}

const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// Takes one more word into a running state; also what fingerprints are made of.
pub fn absorb(state: u64, value: u64) -> u64 {
    mix(state.wrapping_add(GOLDEN) ^ mix(value.wrapping_add(GOLDEN)))
}

/// The finaliser of SplitMix64: every input bit reaches every output bit.
fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_fixed_and_differ_by_every_part_of_their_key() {
        let first = |seed, purpose: &str, indices: &[u64]| Rng::new(seed, purpose, indices).bits();
        // Pinned: a change here changes every seeded result users have published.
        assert_eq!(first(0, "folds", &[]), first(0, "folds", &[]));
        let keys = [
            first(0, "folds", &[]),
            first(1, "folds", &[]),
            first(0, "fold", &[]),
            first(0, "folds", &[0]),
            first(0, "folds", &[0, 0]),
            first(0, "folds", &[1]),
        ];
        for i in 0..keys.len() {
            for j in 0..i {
                assert_ne!(keys[i], keys[j], "keys {i} and {j}");
            }
        }
    }

    #[test]
    fn below_is_uniform() {
        let mut rng = Rng::new(3, "test", &[]);
        let mut counts = [0usize; 7];
        for _ in 0..70_000 {
            counts[rng.below(7)] += 1;
        }
        // 5 standard deviations of a binomial(70000, 1/7): 463.
        assert!(counts.iter().all(|&c| c.abs_diff(10_000) < 463), "{counts:?}");
    }

    #[test]
    fn normals_have_mean_0_and_variance_1() {
        let mut rng = Rng::new(3, "test", &[]);
        let draws: Vec<f64> = (0..40_000).map(|_| rng.normal()).collect();
        let mean = draws.iter().sum::<f64>() / draws.len() as f64;
        let variance = draws.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / draws.len() as f64;
        // 5 standard errors: 5 / 200 and 5 * sqrt(2) / 200.
        assert!(mean.abs() < 0.025 && (variance - 1.0).abs() < 0.036, "{mean} {variance}");
    }

    #[test]
    fn a_sample_has_no_repeats() {
        let mut picked = Rng::new(1, "test", &[]).sample(50, 20);
        picked.sort_unstable();
        picked.dedup();
        assert_eq!(picked.len(), 20);
        assert_eq!(Rng::new(1, "test", &[]).sample(3, 9).len(), 3);
    }
}
