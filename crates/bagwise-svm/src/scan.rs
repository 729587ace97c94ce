//! The two loops in which SMO spends its time, and their run-time dispatch.
//!
//! Each loop is written once, over eight independent lanes that a compiler turns into vector instructions,
//! and compiled twice: for the build's own target and, on x86-64, for AVX2, chosen when the program runs. No
//! sum crosses lanes and no multiplication is fused with an addition, so both versions give the same bits.

const LANES: usize = 8;

/// The largest upward slope and where it is, and the smallest downward slope.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Extremes {
    pub(crate) up: f64,
    pub(crate) up_at: usize,
    pub(crate) down: f64,
}

macro_rules! dispatched {
    ($(#[$doc:meta])* $name:ident = $body:ident($($arg:ident: $kind:ty),*) -> $out:ty) => {
        $(#[$doc])*
        #[inline]
        pub(crate) fn $name($($arg: $kind),*) -> $out {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2")]
                fn avx2($($arg: $kind),*) -> $out {
                    $body($($arg),*)
                }
                if std::arch::is_x86_feature_detected!("avx2") {
                    // SAFETY: the processor has just been found to support AVX2.
                    return unsafe { avx2($($arg),*) };
                }
            }
            $body($($arg),*)
        }
    };
}

dispatched! {
    /// `gradient -= step * (row_i - row_j)`, and the extremes of the slopes afterwards, in one pass.
    step = step_body(gradient: &mut [f64], row_i: &[f64], row_j: &[f64], step: f64, up: &[f64], down: &[f64])
        -> Extremes
}

dispatched! {
    /// The partner of the variable with upward slope `up_i` that promises the largest decrease:
    /// the first to maximise `(up_i - down_j)^2 / (K_ii + K_jj - 2 K_ij)`, with the curvature at least `floor`.
    partner = partner_body(gradient: &[f64], down: &[f64], diagonal: &[f64], row_i: &[f64], up_i: f64,
        diagonal_i: f64, floor: f64) -> Option<usize>
}

#[inline(always)]
fn step_body(
    gradient: &mut [f64],
    row_i: &[f64],
    row_j: &[f64],
    step: f64,
    up: &[f64],
    down: &[f64],
) -> Extremes {
    let n = gradient.len();
    let (row_i, row_j, up, down) = (&row_i[..n], &row_j[..n], &up[..n], &down[..n]);
    let mut highest = [f64::NEG_INFINITY; LANES];
    let mut highest_at = [0.0f64; LANES]; // chunk numbers, as floats so that one mask selects value and place
    let mut lowest = [f64::INFINITY; LANES];
    let chunks = n / LANES;
    for c in 0..chunks {
        let at = c * LANES;
        let g: &mut [f64; LANES] = (&mut gradient[at..at + LANES]).try_into().expect("a whole chunk");
        let ki: &[f64; LANES] = row_i[at..at + LANES].try_into().expect("a whole chunk");
        let kj: &[f64; LANES] = row_j[at..at + LANES].try_into().expect("a whole chunk");
        let us: &[f64; LANES] = up[at..at + LANES].try_into().expect("a whole chunk");
        let ds: &[f64; LANES] = down[at..at + LANES].try_into().expect("a whole chunk");
        let place = c as f64;
        for l in 0..LANES {
            g[l] -= step * (ki[l] - kj[l]);
            let u = g[l] + us[l];
            let d = g[l] + ds[l];
            let better = u > highest[l];
            highest[l] = if better { u } else { highest[l] };
            highest_at[l] = if better { place } else { highest_at[l] };
            lowest[l] = if d < lowest[l] { d } else { lowest[l] };
        }
    }
    let mut best = Extremes { up: f64::NEG_INFINITY, up_at: 0, down: f64::INFINITY };
    for l in 0..LANES {
        let at = highest_at[l] as usize * LANES + l;
        if highest[l] > best.up || (highest[l] == best.up && at < best.up_at) {
            (best.up, best.up_at) = (highest[l], at);
        }
        best.down = if lowest[l] < best.down { lowest[l] } else { best.down };
    }
    for k in chunks * LANES..n {
        gradient[k] -= step * (row_i[k] - row_j[k]);
        let u = gradient[k] + up[k];
        let d = gradient[k] + down[k];
        if u > best.up {
            (best.up, best.up_at) = (u, k);
        }
        best.down = if d < best.down { d } else { best.down };
    }
    best
}

#[inline(always)]
fn partner_body(
    gradient: &[f64],
    down: &[f64],
    diagonal: &[f64],
    row_i: &[f64],
    up_i: f64,
    diagonal_i: f64,
    floor: f64,
) -> Option<usize> {
    let n = gradient.len();
    let (down, diagonal, row_i) = (&down[..n], &diagonal[..n], &row_i[..n]);
    let gain = |g: f64, ds: f64, kjj: f64, kij: f64| {
        let slope = up_i - (g + ds);
        let slope = if slope > 0.0 { slope } else { 0.0 };
        let curvature = diagonal_i + kjj - 2.0 * kij;
        let curvature = if curvature > floor { curvature } else { floor };
        slope * slope / curvature
    };
    let mut best = [0.0f64; LANES];
    let mut best_at = [0.0f64; LANES];
    let chunks = n / LANES;
    for c in 0..chunks {
        let at = c * LANES;
        let g: &[f64; LANES] = gradient[at..at + LANES].try_into().expect("a whole chunk");
        let ds: &[f64; LANES] = down[at..at + LANES].try_into().expect("a whole chunk");
        let kjj: &[f64; LANES] = diagonal[at..at + LANES].try_into().expect("a whole chunk");
        let kij: &[f64; LANES] = row_i[at..at + LANES].try_into().expect("a whole chunk");
        let place = c as f64;
        for l in 0..LANES {
            let promise = gain(g[l], ds[l], kjj[l], kij[l]);
            let better = promise > best[l];
            best[l] = if better { promise } else { best[l] };
            best_at[l] = if better { place } else { best_at[l] };
        }
    }
    let (mut most, mut found) = (0.0, None);
    for l in 0..LANES {
        let at = best_at[l] as usize * LANES + l;
        if best[l] > most || (best[l] == most && best[l] > 0.0 && found.is_some_and(|f| at < f)) {
            (most, found) = (best[l], Some(at));
        }
    }
    for k in chunks * LANES..n {
        let promise = gain(gradient[k], down[k], diagonal[k], row_i[k]);
        if promise > most {
            (most, found) = (promise, Some(k));
        }
    }
    found
}

/// The extremes of the slopes as they stand.
pub(crate) fn extremes(gradient: &[f64], up: &[f64], down: &[f64]) -> Extremes {
    let mut best = Extremes { up: f64::NEG_INFINITY, up_at: 0, down: f64::INFINITY };
    for k in 0..gradient.len() {
        let (u, d) = (gradient[k] + up[k], gradient[k] + down[k]);
        if u > best.up {
            (best.up, best.up_at) = (u, k);
        }
        best.down = if d < best.down { d } else { best.down };
    }
    best
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
                    assert_eq!(partner(&g, &down, &diagonal, row, 0.9, 1.0, 0.1), expected.1);
                }
            }
        }
    }
}
