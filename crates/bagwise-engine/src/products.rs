//! Inner products of many rows with many rows, and weighted sums of rows, compiled for every instruction set.
//!
//! A tile of rows from both sides runs down the columns with its sums in registers. The order in which a product is summed
//! depends on the width alone, so that a value is the same whichever rows are computed beside it.

use std::ops::Range;

use bagwise_core::{Ctx, Error, Mat, Result};
use rayon::prelude::*;

use crate::simd::{InstructionSet, Vector, table_of};

/// Inner products of all rows of `left` with all rows of `right`, or, without a right side, with each other, each pair once.
///
/// # Errors
/// When cancelled.
pub fn row_products(left: &Mat, right: Option<&Mat>, ctx: &Ctx) -> Result<Mat> {
    // Rows may be long. A slice of some columns is copied out of a strip of rows, which stays in the second cache, and out of
    // a few rows of the other side, which stay in the first.
    const STRIP: usize = 64;
    const BESIDE: usize = 4 * RIGHT;
    const SLICE: usize = 256;
    let others = right.unwrap_or(left);
    let (count, width) = (others.rows(), left.cols());
    assert_eq!(width, others.cols(), "rows of the same width");
    let mut out = Mat::zeros(left.rows(), count);
    out.data_mut().par_chunks_mut(STRIP * count.max(1)).enumerate().try_for_each(|(strip, out)| {
        let rows = strip * STRIP..strip * STRIP + out.len() / count;
        let needed = if right.is_some() { count } else { rows.end };
        let (mut here, mut beside) = (Vec::new(), Vec::new());
        for from in (0..width).step_by(SLICE) {
            ctx.check()?;
            let columns = from..(from + SLICE).min(width);
            copy_columns(left, rows.clone(), columns.clone(), &mut here);
            for first in (0..needed).step_by(BESIDE) {
                copy_columns(others, first..(first + BESIDE).min(needed), columns.clone(), &mut beside);
                add_row_products(&here, &beside, columns.len(), &mut out[first..], count);
            }
        }
        Ok::<(), Error>(())
    })?;
    if right.is_none() {
        for i in 0..count {
            for j in 0..i {
                out.set(j, i, out.get(i, j));
            }
        }
    }
    Ok(out)
}

/// Some columns of some rows, one row after the other.
fn copy_columns(from: &Mat, rows: Range<usize>, columns: Range<usize>, to: &mut Vec<f64>) {
    to.clear();
    rows.for_each(|row| to.extend_from_slice(&from.row(row)[columns.clone()]));
}

/// Adds `a_i b_j` to `out[i * stride + j]`, for rows of `width` columns.
///
/// # Panics
/// If the rows are not whole, or `out` has no room for them.
pub fn add_row_products(a: &[f64], b: &[f64], width: usize, out: &mut [f64], stride: usize) {
    let set = InstructionSet::best();
    let run: &ProductsLoop = table_of!(set, PRODUCTS);
    // SAFETY: the processor has this instruction set.
    unsafe { run(a, b, width, out, stride) }
}

/// Adds `factors[i]` times row i of `a` to `out`, for rows of `out.len()` columns.
///
/// # Panics
/// If there is not a whole row for every factor.
pub fn add_weighted_rows(a: &[f64], factors: &[f64], out: &mut [f64]) {
    let set = InstructionSet::best();
    let run: &SumLoop = table_of!(set, SUMS);
    // SAFETY: the processor has this instruction set.
    unsafe { run(a, factors, out) }
}

type SumLoop = unsafe fn(&[f64], &[f64], &mut [f64]);

type ProductsLoop = unsafe fn(&[f64], &[f64], usize, &mut [f64], usize);

/// Rows of a tile on either side: twelve sums, three rows of one side and a value of the other fill sixteen registers.
const LEFT: usize = 4;
const RIGHT: usize = 3;

#[inline(always)]
unsafe fn products<V: Vector<E = f64>>(a: &[f64], b: &[f64], width: usize, out: &mut [f64], stride: usize) {
    let (rows, cols) = (a.len() / width, b.len() / width);
    assert!(a.len() == rows * width && b.len() == cols * width && cols <= stride);
    assert!(rows == 0 || out.len() >= (rows - 1) * stride + cols);
    let (whole_rows, whole_cols) = (rows / LEFT * LEFT, cols / RIGHT * RIGHT);
    // SAFETY: all rows and places named below lie inside, by the assertions; the caller vouches for the instruction set.
    unsafe {
        let (pa, pb, to) = (a.as_ptr(), b.as_ptr(), out.as_mut_ptr());
        for i in (0..whole_rows).step_by(LEFT) {
            for j in (0..whole_cols).step_by(RIGHT) {
                let to = to.add(i * stride + j);
                tile::<V, LEFT, RIGHT>(pa.add(i * width), pb.add(j * width), width, to, stride);
            }
            for j in whole_cols..cols {
                let to = to.add(i * stride + j);
                tile::<V, LEFT, 1>(pa.add(i * width), pb.add(j * width), width, to, stride);
            }
        }
        for i in whole_rows..rows {
            for j in (0..whole_cols).step_by(RIGHT) {
                let to = to.add(i * stride + j);
                tile::<V, 1, RIGHT>(pa.add(i * width), pb.add(j * width), width, to, stride);
            }
            for j in whole_cols..cols {
                let to = to.add(i * stride + j);
                tile::<V, 1, 1>(pa.add(i * width), pb.add(j * width), width, to, stride);
            }
        }
    }
}

#[inline(always)]
unsafe fn tile<V: Vector<E = f64>, const L: usize, const R: usize>(
    a: *const f64,
    b: *const f64,
    width: usize,
    to: *mut f64,
    stride: usize,
) {
    // SAFETY: `products` has checked that L rows of a, R rows of b and their places in `to` exist.
    unsafe {
        let zero = V::splat(0.0);
        let mut sums = [[zero; R]; L];
        let whole = width / V::LANES * V::LANES;
        let mut k = 0;
        while k < whole {
            let mut right = [zero; R];
            for j in 0..R {
                right[j] = V::load(b.add(j * width + k));
            }
            for i in 0..L {
                let left = V::load(a.add(i * width + k));
                for j in 0..R {
                    sums[i][j] = left.mul_add(right[j], sums[i][j]);
                }
            }
            k += V::LANES;
        }
        let mut lanes = [0.0; 8];
        for i in 0..L {
            for j in 0..R {
                sums[i][j].store(lanes.as_mut_ptr());
                let mut sum = 0.0;
                for lane in &lanes[..V::LANES] {
                    sum += lane;
                }
                for k in whole..width {
                    sum += *a.add(i * width + k) * *b.add(j * width + k);
                }
                *to.add(i * stride + j) += sum;
            }
        }
    }
}

#[inline(always)]
unsafe fn weighted_sums<V: Vector<E = f64>>(a: &[f64], factors: &[f64], out: &mut [f64]) {
    let width = out.len();
    assert_eq!(a.len(), factors.len() * width, "a row for every factor");
    let whole = factors.len() / LEFT * LEFT;
    // SAFETY: all rows lie inside, by the assertion; the caller vouches for the instruction set.
    unsafe {
        for i in (0..whole).step_by(LEFT) {
            add_rows::<V, LEFT>(a.as_ptr().add(i * width), factors.as_ptr().add(i), out);
        }
        for i in whole..factors.len() {
            add_rows::<V, 1>(a.as_ptr().add(i * width), factors.as_ptr().add(i), out);
        }
    }
}

/// Adds L rows at once, so that the sum is read and written once for all of them.
#[inline(always)]
unsafe fn add_rows<V: Vector<E = f64>, const L: usize>(a: *const f64, factors: *const f64, out: &mut [f64]) {
    let width = out.len();
    // SAFETY: `weighted_sums` has checked that L rows and factors exist.
    unsafe {
        let to = out.as_mut_ptr();
        let mut splat = [V::splat(0.0); L];
        for i in 0..L {
            splat[i] = V::splat(*factors.add(i));
        }
        let whole = width / V::LANES * V::LANES;
        let mut k = 0;
        while k < whole {
            let mut sum = V::load(to.add(k));
            for i in 0..L {
                sum = splat[i].mul_add(V::load(a.add(i * width + k)), sum);
            }
            sum.store(to.add(k));
            k += V::LANES;
        }
        for k in whole..width {
            for i in 0..L {
                *to.add(k) += *factors.add(i) * *a.add(i * width + k);
            }
        }
    }
}

macro_rules! instruction_set {
    ($module:ident, $vector:ty $(, $feature:literal)?) => {
        mod $module {
            use super::*;
            $(#[target_feature(enable = $feature)])?
            unsafe fn go(a: &[f64], b: &[f64], width: usize, out: &mut [f64], stride: usize) {
                // SAFETY: this function carries the instruction set; its callers checked for it.
                unsafe { products::<$vector>(a, b, width, out, stride) }
            }
            pub(super) static PRODUCTS: ProductsLoop = go;
            $(#[target_feature(enable = $feature)])?
            unsafe fn add(a: &[f64], factors: &[f64], out: &mut [f64]) {
                // SAFETY: as above.
                unsafe { weighted_sums::<$vector>(a, factors, out) }
            }
            pub(super) static SUMS: SumLoop = add;
        }
    };
}

instruction_set!(portable, [f64; 2]);
#[cfg(target_arch = "x86_64")]
instruction_set!(avx2, crate::simd_x86::Avx2F64, "avx2,fma");
#[cfg(target_arch = "x86_64")]
instruction_set!(avx512, crate::simd_x86::Avx512F64, "avx512f,avx2,fma");

#[cfg(test)]
mod tests {
    use super::*;
    use bagwise_core::Rng;

    #[test]
    fn products_of_long_rows_do_not_depend_on_the_rows_beside_them() {
        let mut rng = Rng::new(3, "long rows", &[]);
        let ctx = Ctx::default();
        for (rows, width) in [(0, 4), (3, 0), (1, 1), (70, 300), (131, 1030)] {
            let a = Mat::new(rows, width, (0..rows * width).map(|_| rng.normal()).collect());
            let own = row_products(&a, None, &ctx).unwrap();
            assert_eq!(own, row_products(&a, Some(&a), &ctx).unwrap());
            for i in 0..rows {
                let alone = Mat::new(1, width, a.row(i).to_vec());
                let (row, column) = (
                    row_products(&alone, Some(&a), &ctx).unwrap(),
                    row_products(&a, Some(&alone), &ctx).unwrap(),
                );
                assert_eq!((row.data(), column.data()), (own.row(i), own.row(i)));
                for j in 0..rows {
                    let exact: f64 = a.row(i).iter().zip(a.row(j)).map(|(x, y)| x * y).sum();
                    // A thousand terms of size 1 in another order.
                    assert!((own.get(i, j) - exact).abs() < 1e-11, "{rows} {width}");
                }
            }
        }
    }

    #[test]
    fn every_instruction_set_has_the_weighted_sum_of_all_rows() {
        let mut rng = Rng::new(2, "sums", &[]);
        for (rows, width) in [(1, 1), (4, 8), (7, 21), (10, 3)] {
            let a: Vec<f64> = (0..rows * width).map(|_| rng.normal()).collect();
            let factors: Vec<f64> = (0..rows).map(|_| rng.normal()).collect();
            for set in InstructionSet::available() {
                let run: &SumLoop = table_of!(set, SUMS);
                let mut out = vec![1.0; width];
                // SAFETY: the set is available.
                unsafe { run(&a, &factors, &mut out) };
                for (k, got) in out.iter().enumerate() {
                    let exact: f64 = 1.0 + (0..rows).map(|i| factors[i] * a[i * width + k]).sum::<f64>();
                    // Sums of up to ten terms of size 1 in another order.
                    assert!((got - exact).abs() < 1e-13, "{rows} {width}");
                }
            }
        }
    }

    #[test]
    fn every_instruction_set_has_the_products_of_all_rows() {
        let mut rng = Rng::new(1, "products", &[]);
        for (rows, cols, width) in [(1, 1, 1), (4, 3, 8), (9, 7, 21), (5, 11, 64)] {
            let a: Vec<f64> = (0..rows * width).map(|_| rng.normal()).collect();
            let b: Vec<f64> = (0..cols * width).map(|_| rng.normal()).collect();
            for set in InstructionSet::available() {
                let run: &ProductsLoop = table_of!(set, PRODUCTS);
                let mut out = vec![1.0; rows * (cols + 2)];
                // SAFETY: the set is available.
                unsafe { run(&a, &b, width, &mut out, cols + 2) };
                for i in 0..rows {
                    for j in 0..cols {
                        let terms = a[i * width..].iter().zip(&b[j * width..]).take(width);
                        let exact: f64 = 1.0 + terms.map(|(x, y)| x * y).sum::<f64>();
                        // Sums of up to 64 terms of size 1 in another order.
                        assert!((out[i * (cols + 2) + j] - exact).abs() < 1e-13, "{rows} {cols} {width}");
                    }
                    assert_eq!(out[i * (cols + 2) + cols..][..2], [1.0, 1.0], "nothing else is touched");
                }
            }
        }
    }
}
