//! The loops in which solvers spend their time, and their run-time dispatch: two of SMO, which walk the active variables once, and
//! one of the interior point method.
//!
//! They exist as plain loops and, on x86-64, as AVX2 loops that are chosen
//! when the program runs, because programs are built for processors without AVX2. No sum crosses elements, no
//! multiplication is fused with an addition and the first of equals wins in all, so that both give the same bits.

/// The largest upward slope and where it is, and the smallest downward slope.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Extremes {
    pub(crate) up: f64,
    pub(crate) up_at: usize,
    pub(crate) down: f64,
}

impl Extremes {
    const NONE: Extremes = Extremes { up: f64::NEG_INFINITY, up_at: 0, down: f64::INFINITY };

    #[inline(always)]
    fn meet(&mut self, at: usize, up: f64, down: f64) {
        if up > self.up {
            (self.up, self.up_at) = (up, at);
        }
        if down < self.down {
            self.down = down;
        }
    }
}

/// The extremes of the slopes as they stand.
pub(crate) fn extremes(gradient: &[f64], up: &[f64], down: &[f64]) -> Extremes {
    let mut found = Extremes::NONE;
    for k in 0..gradient.len() {
        found.meet(k, gradient[k] + up[k], gradient[k] + down[k]);
    }
    found
}

/// `gradient -= step * (row_i - row_j)`, and the extremes of the slopes afterwards, in one pass.
#[inline]
pub(crate) fn step(
    gradient: &mut [f64],
    row_i: &[f64],
    row_j: &[f64],
    step: f64,
    up: &[f64],
    down: &[f64],
) -> Extremes {
    let n = gradient.len();
    let (row_i, row_j, up, down) = (&row_i[..n], &row_j[..n], &up[..n], &down[..n]);
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has AVX2, and all five slices have the same length.
        return unsafe { avx2::step(gradient, row_i, row_j, step, up, down) };
    }
    step_from(0, Extremes::NONE, gradient, row_i, row_j, step, up, down)
}

#[inline(always)]
fn step_from(
    from: usize,
    mut found: Extremes,
    gradient: &mut [f64],
    row_i: &[f64],
    row_j: &[f64],
    step: f64,
    up: &[f64],
    down: &[f64],
) -> Extremes {
    for k in from..gradient.len() {
        gradient[k] -= step * (row_i[k] - row_j[k]);
        found.meet(k, gradient[k] + up[k], gradient[k] + down[k]);
    }
    found
}

/// The variable that is looking for a partner.
#[derive(Clone, Copy)]
pub(crate) struct WorkingVariable {
    /// Its upward slope.
    pub(crate) up: f64,
    /// Its diagonal entry of the kernel matrix.
    pub(crate) diagonal: f64,
    /// The least curvature to reckon with.
    pub(crate) flattest: f64,
}

/// The partner that promises the largest decrease: the first to maximise
/// `(up_i - down_j)^2 / (K_ii + K_jj - 2 K_ij)` among those with `up_i > down_j`.
#[inline]
pub(crate) fn partner(
    seeker: WorkingVariable,
    gradient: &[f64],
    down: &[f64],
    diagonal: &[f64],
    row_i: &[f64],
) -> Option<usize> {
    let n = gradient.len();
    let (down, diagonal, row_i) = (&down[..n], &diagonal[..n], &row_i[..n]);
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has AVX2, and all four slices have the same length.
        return unsafe { avx2::partner(seeker, gradient, down, diagonal, row_i) };
    }
    partner_from(0, (0.0, None), seeker, gradient, down, diagonal, row_i)
}

#[inline(always)]
fn partner_from(
    from: usize,
    mut best: (f64, Option<usize>),
    seeker: WorkingVariable,
    gradient: &[f64],
    down: &[f64],
    diagonal: &[f64],
    row_i: &[f64],
) -> Option<usize> {
    for k in from..gradient.len() {
        let slope = seeker.up - (gradient[k] + down[k]);
        let slope = if slope > 0.0 { slope } else { 0.0 };
        let curvature = (seeker.diagonal + diagonal[k]) - (row_i[k] + row_i[k]);
        let curvature = if curvature > seeker.flattest { curvature } else { seeker.flattest };
        let promise = slope * slope / curvature;
        if promise > best.0 {
            best = (promise, Some(k));
        }
    }
    best.1
}

/// Runs loops compiled for the widest vectors of the processor. They must be inlined into the function that is given. Vectors of
/// any width give the same bits: none of these loops lets the compiler change the order of a sum.
#[inline]
pub(crate) fn in_wide_vectors<R>(loops: impl FnOnce() -> R) -> R {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx2")]
        fn four<R>(loops: impl FnOnce() -> R) -> R {
            loops()
        }
        #[target_feature(enable = "avx512f")]
        fn eight<R>(loops: impl FnOnce() -> R) -> R {
            loops()
        }
        if std::arch::is_x86_feature_detected!("avx512f") {
            // SAFETY: the processor has AVX-512.
            return unsafe { eight(loops) };
        }
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has AVX2.
            return unsafe { four(loops) };
        }
    }
    loops()
}

/// Adds the lower triangle of `X'D^-1 X`.
pub(crate) fn add_products(values: &[f64], inverse: &[f64], columns: usize, sums: &mut [f64]) {
    in_wide_vectors(|| add_products_plain(values, inverse, columns, sums));
}

#[inline(always)]
fn add_products_plain(values: &[f64], inverse: &[f64], columns: usize, sums: &mut [f64]) {
    /// Rows that are added together, so that the sums are read and written once for all of them.
    const TOGETHER: usize = 8;
    let mut padded = vec![0.0; TOGETHER * columns];
    for (rows, weights) in values.chunks(TOGETHER * columns).zip(inverse.chunks(TOGETHER)) {
        let rows = match rows.len() == padded.len() {
            true => rows,
            false => {
                padded[..rows.len()].copy_from_slice(rows);
                padded[rows.len()..].fill(0.0);
                &padded
            }
        };
        let mut own = [0.0; TOGETHER];
        own[..weights.len()].copy_from_slice(weights);
        for j in 0..columns {
            let factors: [f64; TOGETHER] = std::array::from_fn(|r| own[r] * rows[r * columns + j]);
            let of: [&[f64]; TOGETHER] = std::array::from_fn(|r| &rows[r * columns..][..j + 1]);
            for (k, sum) in sums[j * columns..][..j + 1].iter_mut().enumerate() {
                let mut more = 0.0;
                for r in 0..TOGETHER {
                    more += factors[r] * of[r][k];
                }
                *sum += more;
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use std::arch::x86_64::*;

    use super::{Extremes, WorkingVariable};

    /// Elements of one turn of a loop: two vectors, so that two chains of comparisons run side by side.
    const TURN: usize = 8;

    #[target_feature(enable = "avx2")]
    fn lanes(low: __m256d, high: __m256d) -> [f64; TURN] {
        let mut out = [0.0; TURN];
        // SAFETY: the array holds two vectors; unaligned stores need nothing else.
        unsafe {
            _mm256_storeu_pd(out.as_mut_ptr(), low);
            _mm256_storeu_pd(out.as_mut_ptr().add(4), high);
        }
        out
    }

    /// # Safety
    /// Needs AVX2 and slices of one length.
    #[target_feature(enable = "avx2")]
    pub(super) unsafe fn step(
        gradient: &mut [f64],
        row_i: &[f64],
        row_j: &[f64],
        step: f64,
        up: &[f64],
        down: &[f64],
    ) -> Extremes {
        let whole = gradient.len() / TURN * TURN;
        let amount = _mm256_set1_pd(step);
        let mut highest = [_mm256_set1_pd(f64::NEG_INFINITY); 2];
        let mut lowest = [_mm256_set1_pd(f64::INFINITY); 2];
        // Where each lane met its highest, as a float: exact, and one mask then selects value and place.
        let mut places = [_mm256_setzero_pd(); 2];
        let mut place = _mm256_setzero_pd();
        let stride = _mm256_set1_pd(TURN as f64);
        for turn in (0..whole).step_by(TURN) {
            for half in 0..2 {
                let at = turn + 4 * half;
                // SAFETY: at + 4 <= whole, within every slice.
                let (g, ki, kj, us, ds) = unsafe {
                    (
                        _mm256_loadu_pd(gradient.as_ptr().add(at)),
                        _mm256_loadu_pd(row_i.as_ptr().add(at)),
                        _mm256_loadu_pd(row_j.as_ptr().add(at)),
                        _mm256_loadu_pd(up.as_ptr().add(at)),
                        _mm256_loadu_pd(down.as_ptr().add(at)),
                    )
                };
                let g = _mm256_sub_pd(g, _mm256_mul_pd(amount, _mm256_sub_pd(ki, kj)));
                // SAFETY: as above.
                unsafe { _mm256_storeu_pd(gradient.as_mut_ptr().add(at), g) };
                let u = _mm256_add_pd(g, us);
                let better = _mm256_cmp_pd::<_CMP_GT_OQ>(u, highest[half]);
                highest[half] = _mm256_blendv_pd(highest[half], u, better);
                places[half] = _mm256_blendv_pd(places[half], place, better);
                lowest[half] = _mm256_min_pd(_mm256_add_pd(g, ds), lowest[half]);
            }
            place = _mm256_add_pd(place, stride);
        }
        let mut found = Extremes::NONE;
        let (ups, downs, places) =
            (lanes(highest[0], highest[1]), lanes(lowest[0], lowest[1]), lanes(places[0], places[1]));
        for lane in 0..TURN {
            let at = places[lane] as usize + lane;
            if ups[lane] == found.up && at < found.up_at {
                found.up_at = at;
            }
            found.meet(at, ups[lane], downs[lane]);
        }
        super::step_from(whole, found, gradient, row_i, row_j, step, up, down)
    }

    /// # Safety
    /// Needs AVX2 and slices of one length.
    #[target_feature(enable = "avx2")]
    pub(super) unsafe fn partner(
        seeker: WorkingVariable,
        gradient: &[f64],
        down: &[f64],
        diagonal: &[f64],
        row_i: &[f64],
    ) -> Option<usize> {
        let whole = gradient.len() / TURN * TURN;
        let up_i = _mm256_set1_pd(seeker.up);
        let diagonal_i = _mm256_set1_pd(seeker.diagonal);
        let flattest = _mm256_set1_pd(seeker.flattest);
        let zero = _mm256_setzero_pd();
        let mut best = [zero; 2];
        let mut places = [zero; 2];
        let mut place = zero;
        let stride = _mm256_set1_pd(TURN as f64);
        for turn in (0..whole).step_by(TURN) {
            for half in 0..2 {
                let at = turn + 4 * half;
                // SAFETY: at + 4 <= whole, within every slice.
                let (g, ds, kjj, kij) = unsafe {
                    (
                        _mm256_loadu_pd(gradient.as_ptr().add(at)),
                        _mm256_loadu_pd(down.as_ptr().add(at)),
                        _mm256_loadu_pd(diagonal.as_ptr().add(at)),
                        _mm256_loadu_pd(row_i.as_ptr().add(at)),
                    )
                };
                let slope = _mm256_max_pd(_mm256_sub_pd(up_i, _mm256_add_pd(g, ds)), zero);
                let curvature = _mm256_sub_pd(_mm256_add_pd(diagonal_i, kjj), _mm256_add_pd(kij, kij));
                let curvature = _mm256_max_pd(curvature, flattest);
                let promise = _mm256_div_pd(_mm256_mul_pd(slope, slope), curvature);
                let better = _mm256_cmp_pd::<_CMP_GT_OQ>(promise, best[half]);
                best[half] = _mm256_blendv_pd(best[half], promise, better);
                places[half] = _mm256_blendv_pd(places[half], place, better);
            }
            place = _mm256_add_pd(place, stride);
        }
        let mut found = (0.0, None);
        let (promises, places) = (lanes(best[0], best[1]), lanes(places[0], places[1]));
        for lane in 0..TURN {
            let at = places[lane] as usize + lane;
            let earlier = promises[lane] == found.0 && found.1.is_some_and(|first| at < first);
            if promises[lane] > found.0 || earlier {
                found = (promises[lane], Some(at));
            }
        }
        super::partner_from(whole, found, seeker, gradient, down, diagonal, row_i)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noise(n: usize, seed: u64) -> Vec<f64> {
        let mut state = seed;
        (0..n)
            .map(|_| {
                state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                (state >> 40) as f64 / (1u64 << 23) as f64 - 1.0
            })
            .collect()
    }

    /// The dispatched loops against plain ones: every bit and every tie must agree.
    #[test]
    fn vector_and_plain_loops_agree_to_the_bit() {
        for n in [0, 1, 2, 7, 8, 9, 31, 64, 200] {
            let row_i = noise(n, 1);
            let row_j = noise(n, 2);
            // Few distinct values, so that ties occur and the first must win.
            let start: Vec<f64> = noise(n, 3).iter().map(|x| (x * 2.0).round()).collect();
            let blocked = |seed: u64, at: f64| -> Vec<f64> {
                noise(n, seed).iter().map(|&x| if x > 0.5 { at } else { 0.0 }).collect()
            };
            let (up, down) = (blocked(4, f64::NEG_INFINITY), blocked(5, f64::INFINITY));
            for amount in [0.0, 0.37] {
                let mut g = start.clone();
                let found = step(&mut g, &row_i, &row_j, amount, &up, &down);
                let mut plain = start.clone();
                for k in 0..n {
                    plain[k] -= amount * (row_i[k] - row_j[k]);
                }
                assert_eq!(g, plain);
                assert_eq!(found, extremes(&plain, &up, &down));
                let diagonal = vec![1.0; n];
                let zeros = vec![0.0; n];
                for row in [&row_i, &zeros] {
                    let mut expected = (0.0, None);
                    for k in 0..n {
                        let slope: f64 = 0.9 - (g[k] + down[k]);
                        let promise =
                            slope.max(0.0) * slope.max(0.0) / (1.0 + diagonal[k] - 2.0 * row[k]).max(0.1);
                        if promise > expected.0 {
                            expected = (promise, Some(k));
                        }
                    }
                    let seeker = WorkingVariable { up: 0.9, diagonal: 1.0, flattest: 0.1 };
                    assert_eq!(partner(seeker, &g, &down, &diagonal, row), expected.1);
                }
            }
            let (columns, values) = (5, noise(5 * n, 6));
            let mut sums = [noise(25, 7), noise(25, 7)];
            add_products(&values, &row_i, columns, &mut sums[0]);
            add_products_plain(&values, &row_i, columns, &mut sums[1]);
            assert_eq!(sums[0], sums[1]);
        }
    }
}
