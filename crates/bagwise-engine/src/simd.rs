//! Vectors of numbers, so that each loop of the engine is written once and compiled for every instruction set.
//!
//! [`Vector`] is the dozen of operations the loops need; it is implemented for plain arrays here and for
//! AVX2 and AVX-512 registers in `simd_x86`. A loop is a generic `#[inline(always)]` function; `kernels`
//! instantiates it inside a function that carries the instruction set, and the choice is made at run time.
//!
//! `exp2` is the usual range reduction: t = n + f with n whole and |f| <= 1/2, 2^f by a polynomial whose
//! constant term is exactly 1 (so that distance 0 gives exactly 1) and 2^n by shifting n into the exponent.
//! Degree 11 is 2e-17 from 2^f in f64, degree 6 is 9e-9 in f32: rounding dominates. At most 1.5 units in the
//! last place in all. Arguments below -1022 (f32: -126) give exactly 0: numbers too small for a full mantissa
//! are slow on many machines and add nothing to a sum.

use std::sync::OnceLock;

use bagwise_core::{Error, Result};

/// An instruction set that loops are compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InstructionSet {
    /// 512 bits, with the extensions for bytes and words that every such processor but the first has.
    #[cfg(target_arch = "x86_64")]
    Avx512,
    /// 256 bits and fused multiply-add.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// Whatever the compiler makes of arrays.
    Portable,
}

impl InstructionSet {
    /// All there are, fastest first.
    const ALL: &[InstructionSet] = &[
        #[cfg(target_arch = "x86_64")]
        InstructionSet::Avx512,
        #[cfg(target_arch = "x86_64")]
        InstructionSet::Avx2,
        InstructionSet::Portable,
    ];

    /// Those that this processor has, fastest first; the last one every processor has.
    pub(crate) fn available() -> impl Iterator<Item = InstructionSet> {
        InstructionSet::ALL.iter().copied().filter(|set| set.is_here())
    }

    /// The fastest that this processor has, or the one that `BAGWISE_SIMD` names (`avx512`, `avx2`, `portable`) if it
    /// has it. Sums differ between sets in their last bits; naming one makes two machines agree to the bit.
    #[inline]
    pub(crate) fn best() -> InstructionSet {
        static CHOSEN: OnceLock<InstructionSet> = OnceLock::new();
        *CHOSEN.get_or_init(|| {
            let named = std::env::var(VARIABLE).ok();
            let named = named.and_then(|name| InstructionSet::available().find(|set| set.name() == name));
            named.or_else(|| InstructionSet::available().next()).unwrap_or(InstructionSet::Portable)
        })
    }

    #[inline]
    fn is_here(self) -> bool {
        match self {
            #[cfg(target_arch = "x86_64")]
            InstructionSet::Avx512 => {
                InstructionSet::Avx2.is_here()
                    && is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512vl")
                    && is_x86_feature_detected!("avx512dq")
            }
            #[cfg(target_arch = "x86_64")]
            InstructionSet::Avx2 => {
                is_x86_feature_detected!("avx2")
                    && is_x86_feature_detected!("fma")
                    && is_x86_feature_detected!("popcnt")
            }
            InstructionSet::Portable => true,
        }
    }

    /// Its name, for people.
    pub(crate) fn name(self) -> &'static str {
        match self {
            #[cfg(target_arch = "x86_64")]
            InstructionSet::Avx512 => "avx512",
            #[cfg(target_arch = "x86_64")]
            InstructionSet::Avx2 => "avx2",
            InstructionSet::Portable => "portable",
        }
    }
}

/// Names an instruction set.
const VARIABLE: &str = "BAGWISE_SIMD";

/// An error if `BAGWISE_SIMD` names no instruction set that there is: with a misspelt one, results that were to be the same on two
/// machines would not be. One that only other processors have is allowed, so that a setting can be shared with them.
pub fn check_instruction_set() -> Result<()> {
    const KNOWN: [&str; 3] = ["avx512", "avx2", "portable"];
    match std::env::var_os(VARIABLE).map(|name| name.to_string_lossy().into_owned()) {
        Some(name) if !name.is_empty() && !KNOWN.contains(&name.as_str()) => Err(Error::Invalid(format!(
            "{VARIABLE}={name} is not an instruction set; use one of {}, or leave it unset",
            KNOWN.join(", ")
        ))),
        _ => Ok(()),
    }
}

/// The table of a module that has one for each instruction set.
macro_rules! table_of {
    ($set:expr, $table:ident) => {
        match $set {
            #[cfg(target_arch = "x86_64")]
            crate::simd::InstructionSet::Avx512 => &avx512::$table,
            #[cfg(target_arch = "x86_64")]
            crate::simd::InstructionSet::Avx2 => &avx2::$table,
            crate::simd::InstructionSet::Portable => &portable::$table,
        }
    };
}
pub(crate) use table_of;

/// The inner product.
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    eight_sums(a, b, |x, y| x * y)
}

/// The squared distance.
pub(crate) fn squared_distance(a: &[f64], b: &[f64]) -> f64 {
    eight_sums(a, b, |x, y| (x - y) * (x - y))
}

/// The least of `a - b`, eight at a time.
pub(crate) fn least_difference(a: &[f64], b: &[f64]) -> f64 {
    const SIDE: usize = 8;
    let mut least = [f64::INFINITY; SIDE];
    let (whole, rest) = a.as_chunks::<SIDE>();
    let (others, other_rest) = b.as_chunks::<SIDE>();
    for (a, b) in whole.iter().zip(others) {
        for k in 0..SIDE {
            let d = a[k] - b[k];
            least[k] = if d < least[k] { d } else { least[k] };
        }
    }
    let tail = rest.iter().zip(other_rest).map(|(a, b)| a - b).fold(f64::INFINITY, f64::min);
    least.into_iter().fold(tail, f64::min)
}

/// A sum over pairs, in eight sums side by side, which the compiler makes vectors of, and in one order whichever comes first.
#[inline(always)]
fn eight_sums(a: &[f64], b: &[f64], term: impl Fn(f64, f64) -> f64) -> f64 {
    let mut sums = [0.0; 8];
    let (eights_a, rest_a) = a.as_chunks::<8>();
    let (eights_b, rest_b) = b.as_chunks::<8>();
    for (x, y) in eights_a.iter().zip(eights_b) {
        for i in 0..8 {
            sums[i] += term(x[i], y[i]);
        }
    }
    sums.iter().sum::<f64>() + rest_a.iter().zip(rest_b).map(|(x, y)| term(*x, *y)).sum::<f64>()
}

/// A number the engine computes with: `f64`, or `f32` where speed is worth more than digits.
pub(crate) trait Element:
    Copy + Default + PartialOrd + Send + Sync + std::fmt::Debug + 'static
{
    /// Rounds a double.
    fn from_f64(value: f64) -> Self;
    /// The same number in double precision.
    fn to_f64(self) -> f64;
    /// 2^f on [-1/2, 1/2], lowest power first: p = 1 + f q, where q interpolates (2^f - 1) / f at Chebyshev
    /// nodes (computed with 60 digits).
    const EXP2: &'static [Self];
    /// 1.5 * 2^mantissa bits + exponent bias: adding it leaves round(t) + bias in the low bits.
    const SHIFTER: Self;
    /// The argument whose power of two has the exponent bits 0, which is the number 0.
    const FLOOR: Self;
    /// Squares of smaller numbers would not have a full mantissa.
    const SMALLEST_SQUARED: Self;
    /// The most negative finite number.
    const LOWEST: f64;
    /// The number whose bits are these (their lower half for f32).
    fn from_low_bits(bits: u64) -> Self;
    /// The bits of the number.
    fn low_bits(self) -> u64;
    /// The sum of two numbers.
    fn plus(self, other: Self) -> Self;
    /// The difference of two numbers.
    fn minus(self, other: Self) -> Self;
    /// The largest finite number.
    const HIGHEST: Self;
    /// Half a unit in the last place of 1: the largest relative error of one rounding.
    const ROUNDING: f64;
    /// Below this a number has lost digits.
    const SMALLEST: f64;
    /// Minus two, for |a|^2 + |b|^2 - 2ab.
    const MINUS_TWO: Self;
}

impl Element for f64 {
    fn from_low_bits(bits: u64) -> f64 {
        f64::from_bits(bits)
    }
    fn low_bits(self) -> u64 {
        self.to_bits()
    }
    fn plus(self, other: f64) -> f64 {
        self + other
    }
    fn minus(self, other: f64) -> f64 {
        self - other
    }
    const HIGHEST: f64 = f64::MAX;
    const ROUNDING: f64 = f64::EPSILON / 2.0;
    const SMALLEST: f64 = f64::MIN_POSITIVE;
    fn from_f64(value: f64) -> f64 {
        value
    }
    fn to_f64(self) -> f64 {
        self
    }
    const EXP2: &'static [f64] = &[
        1.0,
        std::f64::consts::LN_2,
        0.24022650695910097,
        0.0555041086648216,
        0.009618129107606888,
        0.0013333558146416936,
        0.0001540353044173605,
        1.525273382983612e-05,
        1.321544258792169e-06,
        1.0178062445845774e-07,
        7.072585949269223e-09,
        4.4549605981865186e-10,
    ];
    const SHIFTER: f64 = 6755399441055744.0 + 1023.0;
    const FLOOR: f64 = -1023.0;
    const SMALLEST_SQUARED: f64 = f64::from_bits((1023 - 511) << 52);
    const LOWEST: f64 = -f64::MAX;
    const MINUS_TWO: f64 = -2.0;
}

impl Element for f32 {
    fn from_low_bits(bits: u64) -> f32 {
        f32::from_bits(bits as u32)
    }
    fn low_bits(self) -> u64 {
        u64::from(self.to_bits())
    }
    fn plus(self, other: f32) -> f32 {
        self + other
    }
    fn minus(self, other: f32) -> f32 {
        self - other
    }
    const HIGHEST: f32 = f32::MAX;
    const ROUNDING: f64 = f32::EPSILON as f64 / 2.0;
    const SMALLEST: f64 = f32::MIN_POSITIVE as f64;
    fn from_f64(value: f64) -> f32 {
        value as f32
    }
    fn to_f64(self) -> f64 {
        f64::from(self)
    }
    const EXP2: &'static [f32] = &[
        1.0,
        std::f32::consts::LN_2,
        0.240_226_5,
        0.055_503_57,
        0.009_618_083,
        0.001_339_086_3,
        0.000_154_531_63,
    ];
    const SHIFTER: f32 = 12582912.0 + 127.0;
    const FLOOR: f32 = -127.0;
    const SMALLEST_SQUARED: f32 = f32::from_bits((127 - 63) << 23);
    const LOWEST: f64 = -(f32::MAX as f64);
    const MINUS_TWO: f32 = -2.0;
}

/// A register of numbers. Its functions are unsafe because an implementation may need an instruction set
/// that the caller must have checked, and because pointers are not checked.
pub(crate) trait Vector: Copy {
    /// What the register holds.
    type E: Element;
    /// How many of them.
    const LANES: usize;
    /// Reads `LANES` numbers, at any alignment.
    unsafe fn load(from: *const Self::E) -> Self;
    /// Writes `LANES` numbers, at any alignment.
    unsafe fn store(self, to: *mut Self::E);
    /// Asks for a cache line that will be needed; any address will do.
    fn prefetch(_line: *const Self::E) {}
    /// The same number everywhere.
    unsafe fn splat(value: Self::E) -> Self;
    unsafe fn add(self, other: Self) -> Self;
    unsafe fn sub(self, other: Self) -> Self;
    unsafe fn mul(self, other: Self) -> Self;
    unsafe fn div(self, other: Self) -> Self;
    /// self * factor + term.
    unsafe fn mul_add(self, factor: Self, term: Self) -> Self;
    unsafe fn max(self, other: Self) -> Self;
    unsafe fn min(self, other: Self) -> Self;
    /// `yes` where self is below `other`, else `no`.
    unsafe fn if_below(self, other: Self, yes: Self, no: Self) -> Self;
    /// Writes the small number `tag` into the lowest bits of the mantissa, in place of those that `keep` has not.
    unsafe fn tagged(self, keep: Self, tag: Self) -> Self;
    /// The low bits, moved to the place of the exponent.
    unsafe fn bits_to_exponent(self) -> Self;
    /// self * self, or 0 where self is below `SMALLEST_SQUARED`.
    unsafe fn square(self) -> Self;
}

/// 2^t for t <= 0.
///
/// # Safety
/// The processor must have the instruction set of `V`.
#[inline(always)]
pub(crate) unsafe fn exp2<V: Vector>(t: V) -> V {
    // SAFETY: the caller vouches for the instruction set; nothing here touches memory.
    unsafe {
        let t = t.max(V::splat(V::E::FLOOR));
        let shifter = V::splat(V::E::SHIFTER);
        let shifted = t.add(shifter);
        let f = t.sub(shifted.sub(shifter));
        let degree = V::E::EXP2.len() - 1;
        let mut p = V::splat(V::E::EXP2[degree]);
        for i in (0..degree).rev() {
            p = p.mul_add(f, V::splat(V::E::EXP2[i]));
        }
        p.mul(shifted.bits_to_exponent())
    }
}

/// a * b + c: fused where the target has it; a call of the C library's `fma` would cost a hundred times more.
macro_rules! fused {
    ($a:expr, $b:expr, $c:expr) => {
        if cfg!(any(target_arch = "aarch64", target_feature = "fma")) {
            $a.mul_add($b, $c)
        } else {
            $a * $b + $c
        }
    };
}

macro_rules! array_vector {
    ($e:ty, $bits:ty, $lanes:expr, $mantissa:expr) => {
        impl Vector for [$e; $lanes] {
            type E = $e;
            const LANES: usize = $lanes;
            #[inline(always)]
            unsafe fn load(from: *const $e) -> Self {
                // SAFETY: the caller vouches for the numbers behind `from`.
                unsafe { from.cast::<Self>().read_unaligned() }
            }
            #[inline(always)]
            unsafe fn store(self, to: *mut $e) {
                // SAFETY: the caller vouches for the room behind `to`.
                unsafe { to.cast::<Self>().write_unaligned(self) }
            }
            #[inline(always)]
            unsafe fn splat(value: $e) -> Self {
                [value; $lanes]
            }
            #[inline(always)]
            unsafe fn add(self, o: Self) -> Self {
                std::array::from_fn(|i| self[i] + o[i])
            }
            #[inline(always)]
            unsafe fn sub(self, o: Self) -> Self {
                std::array::from_fn(|i| self[i] - o[i])
            }
            #[inline(always)]
            unsafe fn mul(self, o: Self) -> Self {
                std::array::from_fn(|i| self[i] * o[i])
            }
            #[inline(always)]
            unsafe fn div(self, o: Self) -> Self {
                std::array::from_fn(|i| self[i] / o[i])
            }
            #[inline(always)]
            unsafe fn mul_add(self, f: Self, t: Self) -> Self {
                std::array::from_fn(|i| fused!(self[i], f[i], t[i]))
            }
            #[inline(always)]
            unsafe fn max(self, o: Self) -> Self {
                std::array::from_fn(|i| if self[i] > o[i] { self[i] } else { o[i] })
            }
            #[inline(always)]
            unsafe fn min(self, o: Self) -> Self {
                std::array::from_fn(|i| if self[i] < o[i] { self[i] } else { o[i] })
            }
            #[inline(always)]
            unsafe fn if_below(self, o: Self, yes: Self, no: Self) -> Self {
                std::array::from_fn(|i| if self[i] < o[i] { yes[i] } else { no[i] })
            }
            #[inline(always)]
            unsafe fn tagged(self, keep: Self, tag: Self) -> Self {
                std::array::from_fn(|i| {
                    <$e>::from_bits(self[i].to_bits() & keep[i].to_bits() | tag[i].to_bits())
                })
            }
            #[inline(always)]
            unsafe fn bits_to_exponent(self) -> Self {
                std::array::from_fn(|i| <$e>::from_bits(self[i].to_bits() << $mantissa))
            }
            #[inline(always)]
            unsafe fn square(self) -> Self {
                std::array::from_fn(|i| {
                    let k = if self[i] >= <$e>::SMALLEST_SQUARED { self[i] } else { 0.0 };
                    k * k
                })
            }
        }
    };
}

// 16 bytes: what every x86-64 and every aarch64 has.
array_vector!(f64, u64, 2, 52);
array_vector!(f32, u32, 4, 23);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exp2_is_right_to_the_last_place_or_two() {
        let mut worst: f64 = 0.0;
        for i in 0..200_000 {
            let t = -1021.9 * f64::from(i) / 200_000.0;
            // SAFETY: arrays need no instruction set.
            let [ours, _] = unsafe { exp2([t, 0.0]) };
            let exact = t.exp2();
            worst = worst.max((ours / exact - 1.0).abs());
        }
        // The library's exp2 is itself rounded; without a fused multiply-add every step rounds twice.
        assert!(worst < 6.0e-16, "{worst:e}");
    }

    #[test]
    fn zero_gives_one_and_the_deep_gives_zero() {
        // SAFETY: arrays need no instruction set.
        unsafe {
            assert_eq!(exp2([0.0, -0.0]), [1.0, 1.0]);
            assert_eq!(exp2([-1023.0, -1e300]), [0.0, 0.0]);
            assert_eq!(exp2([f64::NEG_INFINITY, -1022.0])[0], 0.0);
            assert_eq!(exp2([0.0_f32, -200.0, f32::NEG_INFINITY, -1.0]), [1.0, 0.0, 0.0, 0.5]);
            assert_eq!([1e-200, 0.5].square(), [0.0, 0.25]);
        }
    }
}
