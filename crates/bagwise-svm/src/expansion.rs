//! The outputs of many small machines: `bias + sum_i b_i k(x_i, x)` for a block of examples at a time, whose kernel values lie
//! side by side. Pairs of hundreds of classes have tens of thousands of machines with a dozen coefficients each, so that
//! reading coefficients one example at a time would take longer than the sums.

/// Examples of a block: the sums of so many stay in eight registers of AVX2.
pub const LANES: usize = 32;

/// The outputs of a machine for a block. `support` names rows of `kernel` with their coefficients; a row holds the values of
/// one training example with all examples of the block. The sums are those of [`Machine::output`](crate::Machine::output), to
/// the bit, on every processor.
///
/// # Panics
/// If there is no such row.
pub fn outputs_of_block(support: &[(u32, f64)], bias: f64, kernel: &[[f64; LANES]]) -> [f64; LANES] {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has AVX2.
        return unsafe { wide(support, bias, kernel) };
    }
    plain(support, bias, kernel)
}

fn plain(support: &[(u32, f64)], bias: f64, kernel: &[[f64; LANES]]) -> [f64; LANES] {
    // Where sums of floats begin in the standard library.
    let mut sums = [-0.0; LANES];
    for &(row, coefficient) in support {
        sums.iter_mut().zip(&kernel[row as usize]).for_each(|(sum, value)| *sum += coefficient * value);
    }
    sums.map(|sum| sum + bias)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn wide(support: &[(u32, f64)], bias: f64, kernel: &[[f64; LANES]]) -> [f64; LANES] {
    use std::arch::x86_64::*;
    let mut sums = [_mm256_set1_pd(-0.0); LANES / 4];
    for &(row, coefficient) in support {
        let (values, coefficient) = (&kernel[row as usize], _mm256_set1_pd(coefficient));
        for (k, sum) in sums.iter_mut().enumerate() {
            // SAFETY: a row has four values for each of the sums.
            let four = unsafe { _mm256_loadu_pd(values.as_ptr().add(4 * k)) };
            // Not fused, which would round once less.
            *sum = _mm256_add_pd(*sum, _mm256_mul_pd(coefficient, four));
        }
    }
    let mut out = [0.0; LANES];
    for (k, sum) in sums.into_iter().enumerate() {
        // SAFETY: as above.
        unsafe { _mm256_storeu_pd(out.as_mut_ptr().add(4 * k), _mm256_add_pd(sum, _mm256_set1_pd(bias))) };
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_and_single_examples_agree_to_the_bit() {
        let value = |seed: usize| ((seed * 2_654_435_761) % 1000) as f64 / 700.0 - 0.7;
        let kernel: Vec<[f64; LANES]> =
            (0..9).map(|row| std::array::from_fn(|lane| value(row * LANES + lane))).collect();
        for support in [vec![], vec![(3, -0.4)], (0..9).map(|row| (8 - row, value(row as usize))).collect()] {
            let out = outputs_of_block(&support, 0.3, &kernel);
            assert_eq!(out, plain(&support, 0.3, &kernel));
            for (lane, &out) in out.iter().enumerate() {
                let one = support.iter().map(|&(row, b)| b * kernel[row as usize][lane]).sum::<f64>() + 0.3;
                assert_eq!(one.to_bits(), out.to_bits());
            }
        }
    }
}
