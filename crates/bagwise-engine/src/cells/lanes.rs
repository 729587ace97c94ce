//! Distances by the definition, many at once: points lie in the lanes of vectors, and every lane does what `literal` does,
//! operation by operation (no fused multiply-add), so that the numbers are the same to the last bit. Three operations
//! per attribute and pair, five for text.

use super::{Distance, literal};
use crate::pack::Buffer;
use crate::simd::{Element, InstructionSet, Vector, table_of};
use bagwise_core::{Instances, Result};

/// Rows to which distances are taken.
pub(crate) struct Lanes {
    width: usize,
    distance: Distance,
    rows: Vec<f64>,
    /// 1 where a row has the attribute, 0 where it has not; for text only.
    present: Vec<f64>,
    kernel: &'static LanesLoop,
}

/// Some points, attribute after attribute.
pub(crate) struct Panel {
    values: Buffer<f64>,
    present: Buffer<f64>,
    count: usize,
}

/// The loop for one instruction set.
struct LanesLoop {
    points: usize,
    /// Sums of squared differences of a panel to some rows, row after row; for text also how many attributes are
    /// present.
    sums: unsafe fn(&Lanes, &Panel, &[u32], &mut [f64], &mut [f64]),
}

/// Rows handled together: a tile of sums that stays in the first cache.
pub(super) const TOGETHER: usize = 64;

impl Lanes {
    pub(crate) fn new(rows: &Instances, distance: Distance) -> Result<Lanes> {
        Lanes::with(rows, distance, kernels()[0])
    }

    fn with(rows: &Instances, distance: Distance, kernel: &'static LanesLoop) -> Result<Lanes> {
        let width = rows.cols();
        let mut all = vec![0.0; rows.rows() * width];
        for (i, row) in all.chunks_exact_mut(width).enumerate() {
            rows.row_into(i, row)?;
        }
        let present = match distance {
            Distance::Euclidean => Vec::new(),
            Distance::Text => all.iter().map(|&v| f64::from(u8::from(v != 0.0))).collect(),
        };
        Ok(Lanes { width, distance, rows: all, present, kernel })
    }

    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// A row to which distances are taken.
    pub(crate) fn row(&self, i: usize) -> &[f64] {
        &self.rows[i * self.width..(i + 1) * self.width]
    }

    /// Points of a panel.
    pub(crate) fn points(&self) -> usize {
        self.kernel.points
    }

    /// Packs at most [`points`](Lanes::points) rows.
    pub(crate) fn panel<T: Element>(&self, x: &[T]) -> Panel {
        let points = self.kernel.points;
        let mut panel = Panel {
            values: Buffer::zeros(points * self.width),
            present: Buffer::zeros(if self.distance == Distance::Text { points * self.width } else { 0 }),
            count: x.len() / self.width,
        };
        for (lane, row) in x.chunks_exact(self.width).enumerate() {
            for (k, v) in row.iter().enumerate() {
                let v = v.to_f64();
                panel.values[k * points + lane] = v;
                if self.distance == Distance::Text {
                    panel.present[k * points + lane] = f64::from(u8::from(v != 0.0));
                }
            }
        }
        panel
    }

    /// Distances of the points of a panel to the rows named by `list`: points x list, those of the next point `stride`
    /// numbers behind.
    pub(crate) fn to_rows(&self, panel: &Panel, list: &[u32], stride: usize, out: &mut [f64]) {
        let points = self.kernel.points;
        let mut sums = [0.0; TOGETHER * 32];
        let mut present = [0.0; TOGETHER * 32];
        for (from, some) in list.chunks(TOGETHER).enumerate() {
            // SAFETY: `kernels` lists what the processor has.
            unsafe { (self.kernel.sums)(self, panel, some, &mut sums, &mut present) };
            for point in 0..panel.count {
                let out = &mut out[point * stride + from * TOGETHER..][..some.len()];
                for (j, out) in out.iter_mut().enumerate() {
                    let at = j * points + point;
                    *out = match self.distance {
                        Distance::Euclidean => sums[at],
                        Distance::Text => literal::mean(sums[at], present[at]),
                    };
                }
            }
        }
    }
}

#[inline(always)]
unsafe fn sums<V: Vector<E = f64>, const MR: usize, const TEXT_MR: usize>(
    lanes: &Lanes,
    panel: &Panel,
    list: &[u32],
    sums: &mut [f64],
    present: &mut [f64],
) {
    let points = 2 * V::LANES;
    assert!(
        list.len() <= TOGETHER && points <= 32 && sums.len() >= TOGETHER * 32 && present.len() >= sums.len()
    );
    assert!(panel.values.len() == points * lanes.width);
    assert!(list.iter().all(|&r| (r as usize + 1) * lanes.width <= lanes.rows.len()));
    match lanes.distance {
        Distance::Euclidean => {
            let whole = list.len() / MR * MR;
            for at in (0..whole).step_by(MR) {
                // SAFETY: the rows named lie inside `rows`, the panel holds `width` pairs of vectors, and `sums` has
                // room for TOGETHER rows of them; the caller vouches for the instruction set.
                unsafe { euclidean::<V, MR>(lanes, panel, &list[at..], sums.as_mut_ptr().add(at * points)) };
            }
            for at in whole..list.len() {
                // SAFETY: as above.
                unsafe { euclidean::<V, 1>(lanes, panel, &list[at..], sums.as_mut_ptr().add(at * points)) };
            }
        }
        Distance::Text => {
            assert!(lanes.present.len() == lanes.rows.len() && panel.present.len() == panel.values.len());
            let whole = list.len() / TEXT_MR * TEXT_MR;
            let (to, marks) = (sums.as_mut_ptr(), present.as_mut_ptr());
            // Loops and not a closure, which would be compiled without the instruction set.
            for at in (0..whole).step_by(TEXT_MR) {
                // SAFETY: as above, and marks of presence lie beside the values.
                unsafe {
                    let (to, marks) = (to.add(at * points), marks.add(at * points));
                    text::<V, TEXT_MR>(lanes, panel, &list[at..], to, marks);
                }
            }
            for at in whole..list.len() {
                // SAFETY: as above.
                unsafe {
                    text::<V, 1>(lanes, panel, &list[at..], to.add(at * points), marks.add(at * points))
                };
            }
        }
    }
}

#[inline(always)]
unsafe fn euclidean<V: Vector<E = f64>, const MR: usize>(
    lanes: &Lanes,
    panel: &Panel,
    list: &[u32],
    to: *mut f64,
) {
    // SAFETY: `sums` has checked rows, panel and room.
    unsafe {
        let rows: [*const f64; MR] =
            std::array::from_fn(|i| lanes.rows.as_ptr().add(*list.get_unchecked(i) as usize * lanes.width));
        let mut acc = [[V::splat(0.0); 2]; MR];
        let minus_one = V::splat(-1.0);
        let mut x = panel.values.as_ptr();
        for k in 0..lanes.width {
            let (x0, x1) = (V::load(x), V::load(x.add(V::LANES)));
            x = x.add(2 * V::LANES);
            for i in 0..MR {
                let z = V::splat(*rows[i].add(k));
                // The same difference twice over: half of them on the units that multiply, which have less to do here.
                let (d0, d1) = (x0.sub(z), z.mul_add(minus_one, x1));
                acc[i][0] = acc[i][0].add(d0.mul(d0));
                acc[i][1] = acc[i][1].add(d1.mul(d1));
            }
        }
        for i in 0..MR {
            acc[i][0].store(to.add(2 * i * V::LANES));
            acc[i][1].store(to.add((2 * i + 1) * V::LANES));
        }
    }
}

#[inline(always)]
unsafe fn text<V: Vector<E = f64>, const MR: usize>(
    lanes: &Lanes,
    panel: &Panel,
    list: &[u32],
    to: *mut f64,
    marks: *mut f64,
) {
    // SAFETY: `sums` has checked rows, panel and room.
    unsafe {
        let rows: [usize; MR] = std::array::from_fn(|i| *list.get_unchecked(i) as usize * lanes.width);
        let mut acc = [[V::splat(0.0); 2]; MR];
        let mut count = [[V::splat(0.0); 2]; MR];
        for k in 0..lanes.width {
            let (x, p) =
                (panel.values.as_ptr().add(2 * k * V::LANES), panel.present.as_ptr().add(2 * k * V::LANES));
            let (x0, x1) = (V::load(x), V::load(x.add(V::LANES)));
            let (p0, p1) = (V::load(p), V::load(p.add(V::LANES)));
            for i in 0..MR {
                let z = V::splat(*lanes.rows.as_ptr().add(rows[i] + k));
                let (d0, d1) = (x0.sub(z), x1.sub(z));
                acc[i][0] = acc[i][0].add(d0.mul(d0));
                acc[i][1] = acc[i][1].add(d1.mul(d1));
                let q = V::splat(*lanes.present.as_ptr().add(rows[i] + k));
                count[i][0] = count[i][0].add(p0.max(q));
                count[i][1] = count[i][1].add(p1.max(q));
            }
        }
        for i in 0..MR {
            for h in 0..2 {
                acc[i][h].store(to.add((2 * i + h) * V::LANES));
                count[i][h].store(marks.add((2 * i + h) * V::LANES));
            }
        }
    }
}

macro_rules! instruction_set {
    ($module:ident, $vector:ty, $mr:expr, $text_mr:expr $(, $feature:literal)?) => {
        mod $module {
            use super::*;
            $(#[target_feature(enable = $feature)])?
            unsafe fn go(lanes: &Lanes, panel: &Panel, list: &[u32], to: &mut [f64], marks: &mut [f64]) {
                // SAFETY: this function carries the instruction set; its callers checked for it.
                unsafe { sums::<$vector, { $mr }, { $text_mr }>(lanes, panel, list, to, marks) }
            }
            pub(super) static KERNEL: LanesLoop = LanesLoop { points: 2 * <$vector as Vector>::LANES, sums: go };
        }
    };
}

instruction_set!(portable, [f64; 2], 4, 2);
#[cfg(target_arch = "x86_64")]
instruction_set!(avx2, crate::simd_x86::Avx2F64, 4, 2, "avx2,fma");
#[cfg(target_arch = "x86_64")]
instruction_set!(avx512, crate::simd_x86::Avx512F64, 8, 4, "avx512f,avx2,fma");

/// The loops this processor can run, fastest first.
fn kernels() -> Vec<&'static LanesLoop> {
    InstructionSet::available().map(|set| -> &'static LanesLoop { table_of!(set, KERNEL) }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use bagwise_core::Mat;

    #[test]
    fn every_lane_is_the_definition_to_the_last_bit() {
        let mut rng = bagwise_core::Rng::new(1, "lanes", &[]);
        let width = 23;
        let mut draw = |n: usize| -> Vec<f64> {
            (0..n * width).map(|_| if rng.below(2) == 0 { 0.0 } else { rng.normal() }).collect()
        };
        let (x, z) = (draw(37), draw(70));
        let rows = Instances::F64(Mat::new(70, width, z.clone()));
        let list: Vec<u32> = (0..70).rev().collect();
        for kernel in kernels() {
            for distance in [Distance::Euclidean, Distance::Text] {
                let lanes = Lanes::with(&rows, distance, kernel).unwrap();
                for some in x.chunks(lanes.points() * width) {
                    let mut out = vec![0.0; lanes.points() * list.len()];
                    lanes.to_rows(&lanes.panel(some), &list, list.len(), &mut out);
                    for (i, x) in some.chunks(width).enumerate() {
                        for (j, &row) in list.iter().enumerate() {
                            let z = &z[row as usize * width..][..width];
                            assert_eq!(
                                out[i * list.len() + j].to_bits(),
                                literal::dense(distance, x, z).to_bits()
                            );
                        }
                    }
                }
            }
        }
    }
}
