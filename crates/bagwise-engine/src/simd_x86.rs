//! [`Vector`] on AVX2 with fused multiply-add (16 registers of 32 bytes) and on AVX-512 (32 registers of 64
//! bytes). Nothing here decides whether the processor has them: `kernels` does.

use std::arch::x86_64::*;

use super::simd::{Element, Vector};

/// Defines one register type by naming the intrinsic of each operation.
macro_rules! register {
    ($name:ident, $raw:ty, $e:ty, $lanes:expr, $load:ident, $store:ident, $splat:ident, $add:ident, $sub:ident,
     $mul:ident, $div:ident, $fma:ident, $max:ident, $min:ident,
     |$l:ident, $r:ident, $y:ident, $n:ident| $below:expr,
     |$v:ident, $k:ident, $t:ident| $tagged:expr, |$b:ident| $shift:expr, |$s:ident| $square:expr) => {
        #[derive(Clone, Copy)]
        pub(crate) struct $name($raw);

        // SAFETY of every block: the caller of a `Vector` function vouches for the instruction set and for
        // what its pointers point to.
        impl Vector for $name {
            type E = $e;
            const LANES: usize = $lanes;
            #[inline(always)]
            unsafe fn load(from: *const $e) -> Self {
                // SAFETY: as above.
                unsafe { $name($load(from)) }
            }
            #[inline(always)]
            unsafe fn store(self, to: *mut $e) {
                // SAFETY: as above.
                unsafe { $store(to, self.0) }
            }
            #[inline(always)]
            fn prefetch(line: *const $e) {
                // SAFETY: a prefetch reads nothing and cannot fault; SSE is part of x86-64.
                unsafe { _mm_prefetch::<_MM_HINT_T0>(line.cast()) }
            }
            #[inline(always)]
            unsafe fn splat(value: $e) -> Self {
                // SAFETY: as above.
                unsafe { $name($splat(value)) }
            }
            #[inline(always)]
            unsafe fn add(self, o: Self) -> Self {
                // SAFETY: as above.
                unsafe { $name($add(self.0, o.0)) }
            }
            #[inline(always)]
            unsafe fn sub(self, o: Self) -> Self {
                // SAFETY: as above.
                unsafe { $name($sub(self.0, o.0)) }
            }
            #[inline(always)]
            unsafe fn mul(self, o: Self) -> Self {
                // SAFETY: as above.
                unsafe { $name($mul(self.0, o.0)) }
            }
            #[inline(always)]
            unsafe fn div(self, o: Self) -> Self {
                // SAFETY: as above.
                unsafe { $name($div(self.0, o.0)) }
            }
            #[inline(always)]
            unsafe fn mul_add(self, f: Self, t: Self) -> Self {
                // SAFETY: as above.
                unsafe { $name($fma(self.0, f.0, t.0)) }
            }
            #[inline(always)]
            unsafe fn max(self, o: Self) -> Self {
                // SAFETY: as above.
                unsafe { $name($max(self.0, o.0)) }
            }
            #[inline(always)]
            unsafe fn min(self, o: Self) -> Self {
                // SAFETY: as above.
                unsafe { $name($min(self.0, o.0)) }
            }
            #[inline(always)]
            unsafe fn if_below(self, o: Self, yes: Self, no: Self) -> Self {
                let ($l, $r, $y, $n) = (self.0, o.0, yes.0, no.0);
                // SAFETY: as above.
                unsafe { $name($below) }
            }
            #[inline(always)]
            unsafe fn tagged(self, keep: Self, tag: Self) -> Self {
                let ($v, $k, $t) = (self.0, keep.0, tag.0);
                // SAFETY: as above.
                unsafe { $name($tagged) }
            }
            #[inline(always)]
            unsafe fn bits_to_exponent(self) -> Self {
                let $b = self.0;
                // SAFETY: as above.
                unsafe { $name($shift) }
            }
            #[inline(always)]
            unsafe fn square(self) -> Self {
                let $s = self.0;
                // SAFETY: as above.
                unsafe { $name($square) }
            }
        }
    };
}

register!(
    Avx2F64,
    __m256d,
    f64,
    4,
    _mm256_loadu_pd,
    _mm256_storeu_pd,
    _mm256_set1_pd,
    _mm256_add_pd,
    _mm256_sub_pd,
    _mm256_mul_pd,
    _mm256_div_pd,
    _mm256_fmadd_pd,
    _mm256_max_pd,
    _mm256_min_pd,
    |l, r, y, n| _mm256_blendv_pd(n, y, _mm256_cmp_pd::<_CMP_LT_OQ>(l, r)),
    |v, k, t| _mm256_or_pd(_mm256_and_pd(v, k), t),
    |b| _mm256_castsi256_pd(_mm256_slli_epi64::<52>(_mm256_castpd_si256(b))),
    |s| {
        let k = _mm256_and_pd(
            s,
            _mm256_cmp_pd::<_CMP_GE_OQ>(s, _mm256_set1_pd(<f64 as Element>::SMALLEST_SQUARED)),
        );
        _mm256_mul_pd(k, k)
    }
);

register!(
    Avx2F32,
    __m256,
    f32,
    8,
    _mm256_loadu_ps,
    _mm256_storeu_ps,
    _mm256_set1_ps,
    _mm256_add_ps,
    _mm256_sub_ps,
    _mm256_mul_ps,
    _mm256_div_ps,
    _mm256_fmadd_ps,
    _mm256_max_ps,
    _mm256_min_ps,
    |l, r, y, n| _mm256_blendv_ps(n, y, _mm256_cmp_ps::<_CMP_LT_OQ>(l, r)),
    |v, k, t| _mm256_or_ps(_mm256_and_ps(v, k), t),
    |b| _mm256_castsi256_ps(_mm256_slli_epi32::<23>(_mm256_castps_si256(b))),
    |s| {
        let k = _mm256_and_ps(
            s,
            _mm256_cmp_ps::<_CMP_GE_OQ>(s, _mm256_set1_ps(<f32 as Element>::SMALLEST_SQUARED)),
        );
        _mm256_mul_ps(k, k)
    }
);

register!(
    Avx512F64,
    __m512d,
    f64,
    8,
    _mm512_loadu_pd,
    _mm512_storeu_pd,
    _mm512_set1_pd,
    _mm512_add_pd,
    _mm512_sub_pd,
    _mm512_mul_pd,
    _mm512_div_pd,
    _mm512_fmadd_pd,
    _mm512_max_pd,
    _mm512_min_pd,
    |l, r, y, n| _mm512_mask_blend_pd(_mm512_cmp_pd_mask::<_CMP_LT_OQ>(l, r), n, y),
    // 0xEA: (v and k) or t.
    |v, k, t| _mm512_castsi512_pd(_mm512_ternarylogic_epi64::<0xEA>(
        _mm512_castpd_si512(v),
        _mm512_castpd_si512(k),
        _mm512_castpd_si512(t)
    )),
    |b| _mm512_castsi512_pd(_mm512_slli_epi64::<52>(_mm512_castpd_si512(b))),
    |s| {
        let keep = _mm512_cmp_pd_mask::<_CMP_GE_OQ>(s, _mm512_set1_pd(<f64 as Element>::SMALLEST_SQUARED));
        _mm512_maskz_mul_pd(keep, s, s)
    }
);

register!(
    Avx512F32,
    __m512,
    f32,
    16,
    _mm512_loadu_ps,
    _mm512_storeu_ps,
    _mm512_set1_ps,
    _mm512_add_ps,
    _mm512_sub_ps,
    _mm512_mul_ps,
    _mm512_div_ps,
    _mm512_fmadd_ps,
    _mm512_max_ps,
    _mm512_min_ps,
    |l, r, y, n| _mm512_mask_blend_ps(_mm512_cmp_ps_mask::<_CMP_LT_OQ>(l, r), n, y),
    |v, k, t| _mm512_castsi512_ps(_mm512_ternarylogic_epi32::<0xEA>(
        _mm512_castps_si512(v),
        _mm512_castps_si512(k),
        _mm512_castps_si512(t)
    )),
    |b| _mm512_castsi512_ps(_mm512_slli_epi32::<23>(_mm512_castps_si512(b))),
    |s| {
        let keep = _mm512_cmp_ps_mask::<_CMP_GE_OQ>(s, _mm512_set1_ps(<f32 as Element>::SMALLEST_SQUARED));
        _mm512_maskz_mul_ps(keep, s, s)
    }
);
