//! Grams of the isolation set-kernel, two ways.
//!
//! From cells: `K(S, T) = sum_x sum_y w(x) w(y) m(x, y) / t`, where the counts m of a row of pairs are made once and weighed for
//! every weighting: n^2 (t / 64 + weightings / 8) / 2 steps. From maps: inner products of sparse rows,
//! bags x entries / 2 for each weighting. Small data with many weightings are cheaper the first way, large bags the second.

use std::ops::Range;

use rayon::prelude::*;

use super::ids::{Ids, agreements};
use crate::pairs::mirror;
use bagwise_core::{Csr, Ctx, Mat, Message, Result};

/// A Gram for each weighting of the instances (rows of `ids`), from cells. `offsets` cut the rows into bags.
/// Right of the diagonal only the rows of the bags `part` are wanted; of others only the diagonal means anything.
pub fn gram_of_ids(
    ids: &Ids,
    offsets: &[usize],
    part: Range<usize>,
    weightings: &[&[f64]],
    ctx: &Ctx,
) -> Result<Vec<Mat>> {
    let bags = offsets.len() - 1;
    let end = offsets[bags];
    // Half of the entries as they are summed, and the whole.
    ctx.reserve(
        "Grams of bags",
        (bags * bags) as u64 * 12 * weightings.len() as u64,
        Message::more_memory().or("use fewer grid points at a time"),
    )?;
    let upper: Vec<Vec<Vec<f64>>> = (0..bags)
        .into_par_iter()
        .map(|s| {
            ctx.check()?;
            let start = offsets[s];
            let (end, width) = if part.contains(&s) { (end, bags - s) } else { (offsets[s + 1], 1) };
            let mut counts = vec![0.0; end - start];
            let mut rows = vec![vec![0.0; width]; weightings.len()];
            for x in start..offsets[s + 1] {
                agreements(ids, x, start..end, &mut counts);
                for (weights, row) in weightings.iter().zip(&mut rows) {
                    for (t, sum) in row.iter_mut().enumerate() {
                        let bag = offsets[s + t]..offsets[s + t + 1];
                        let counts = &counts[bag.start - start..bag.end - start];
                        *sum += weights[x] * dot(&weights[bag], counts);
                    }
                }
            }
            Ok(rows)
        })
        .collect::<Result<_>>()?;
    let t = ids.t() as f64;
    let whole = |e: usize| {
        let mut gram = Mat::zeros(bags, bags);
        for (s, rows) in upper.iter().enumerate() {
            for (k, sum) in rows[e].iter().enumerate() {
                gram.set(s, s + k, sum / t);
                gram.set(s + k, s, sum / t);
            }
        }
        gram
    };
    Ok((0..weightings.len()).map(whole).collect())
}

/// Inner products of sparse rows, `a` x `b`; of a matrix with itself (`symmetric`) half of them are made.
pub fn products(a: &Csr, b: &Csr, symmetric: bool, ctx: &Ctx) -> Result<Mat> {
    products_of(a, 0..a.rows(), b, symmetric, ctx)
}

/// The same where only some rows are wanted; others are left 0.
pub fn products_of(a: &Csr, part: Range<usize>, b: &Csr, symmetric: bool, ctx: &Ctx) -> Result<Mat> {
    // The values, and a row of `a` for each thread.
    let threads = rayon::current_num_threads().min(a.rows());
    ctx.reserve(
        "inner products of maps",
        8 * (a.rows() * b.rows() + threads * a.cols()) as u64,
        Message::more_memory().or("use fewer bags"),
    )?;
    let mut out = Mat::zeros(a.rows(), b.rows());
    out.data_mut().par_chunks_mut(b.rows().max(1)).enumerate().try_for_each_init(
        || vec![0.0; a.cols()],
        |dense, (i, row)| {
            ctx.check()?;
            if !part.contains(&i) {
                return Ok(());
            }
            let (columns, values) = a.row(i);
            columns.iter().zip(values).for_each(|(&c, &v)| dense[c as usize] = v);
            let from = if symmetric { i } else { 0 };
            for (j, out) in row.iter_mut().enumerate().skip(from) {
                let (columns, values) = b.row(j);
                let mut sums = [0.0; 4];
                let (fours, rest) = columns.as_chunks::<4>();
                for (k, four) in fours.iter().enumerate() {
                    for l in 0..4 {
                        sums[l] += dense[four[l] as usize] * values[4 * k + l];
                    }
                }
                for (l, &c) in rest.iter().enumerate() {
                    sums[l] += dense[c as usize] * values[4 * fours.len() + l];
                }
                *out = (sums[0] + sums[1]) + (sums[2] + sums[3]);
            }
            columns.iter().for_each(|&c| dense[c as usize] = 0.0);
            Ok(())
        },
    )?;
    if symmetric {
        mirror(&mut out);
    }
    Ok(out)
}

/// Divides every entry by the roots of the two self-similarities; bags without one are similar to none but themselves.
pub fn cosine(gram: &mut Mat) {
    let roots: Vec<f64> = (0..gram.rows()).map(|b| gram.get(b, b).sqrt()).collect();
    for i in 0..gram.rows() {
        for (j, (value, root)) in gram.row_mut(i).iter_mut().zip(&roots).enumerate() {
            let both = roots[i] * root;
            *value = if both > 0.0 { *value / both } else { f64::from(u8::from(i == j)) };
        }
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; 8];
    let ((a, more_a), (b, more_b)) = (a.as_chunks::<8>(), b.as_chunks::<8>());
    for (a, b) in a.iter().zip(b) {
        for l in 0..8 {
            sums[l] += a[l] * b[l];
        }
    }
    for (l, (a, b)) in more_a.iter().zip(more_b).enumerate() {
        sums[l] += a * b;
    }
    ((sums[0] + sums[4]) + (sums[1] + sums[5])) + ((sums[2] + sums[6]) + (sums[3] + sums[7]))
}
