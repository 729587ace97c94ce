//! Grams of many bags from their cells, for several weightings at once.
//!
//! The counts of `gram_of_ids` cost a sum across lanes for every pair of instances, and a loop over a bag for every pair and
//! weighting. Here 64 instances stand side by side, so that one comparison serves 64 pairs and no sum crosses lanes; the instances of
//! a bag are weighed against them together, and bags are cut out of the result last: n^2 / 2 (t / 16 + weightings / 2) steps. A value
//! is the sum over y of `w(y) sum over x of w(x) m(x, y)`, each in the order of the bag, so that it depends on its two bags alone.

use std::ops::Range;

use rayon::prelude::*;

use super::ids::{BLOCK, CellNumber, Ids, SideBySide, dispatched};
use crate::pairs::mirror;
use bagwise_core::{Ctx, Mat, Message, Result};

/// A Gram for each weighting of the instances (rows of `ids`), those of `gram_of_ids` up to rounding. `offsets` cut the rows into
/// bags.
pub fn grams_of_many(ids: &Ids, offsets: &[usize], weightings: &[&[f64]], ctx: &Ctx) -> Result<Vec<Mat>> {
    let bags = offsets.len() - 1;
    ctx.reserve(
        "Grams of bags",
        (bags * bags) as u64 * 8 * weightings.len() as u64 + ids.bytes_side_by_side(),
        Message::more_memory().or("use fewer grid points at a time"),
    )?;
    let cells = ids.side_by_side();
    let cuts = cuts(offsets);
    let mut all: Vec<Mat> = weightings.iter().map(|_| Mat::zeros(bags, bags)).collect();
    let mut owned: Vec<Vec<&mut [f64]>> = (0..bags).map(|_| Vec::new()).collect();
    for gram in &mut all {
        let rows = gram.data_mut().chunks_mut(bags.max(1));
        owned.iter_mut().zip(rows).for_each(|(owned, row)| owned.push(row));
    }
    owned.into_par_iter().enumerate().try_for_each(|(s, mut rows)| {
        ctx.check()?;
        let bag = offsets[s]..offsets[s + 1];
        match &cells {
            SideBySide::U8(cells) => one_bag(cells, ids, s, bag, &cuts, weightings, &mut rows),
            SideBySide::U16(cells) => one_bag(cells, ids, s, bag, &cuts, weightings, &mut rows),
        }
        rows.iter_mut().for_each(|row| row.iter_mut().for_each(|value| *value /= ids.t() as f64));
        Ok(())
    })?;
    all.par_iter_mut().for_each(mirror);
    Ok(all)
}

/// A piece of a bag: the part of it that lies in one block.
struct Cut {
    bag: usize,
    /// Counted within the block.
    lanes: Range<usize>,
}

/// The pieces of bags in every block.
fn cuts(offsets: &[usize]) -> Vec<Vec<Cut>> {
    let end = *offsets.last().expect("offsets have an end");
    let mut cuts: Vec<Vec<Cut>> = (0..end.div_ceil(BLOCK)).map(|_| Vec::new()).collect();
    for (bag, rows) in offsets.windows(2).enumerate() {
        let mut from = rows[0];
        while from < rows[1] {
            let block = from / BLOCK;
            let to = rows[1].min((block + 1) * BLOCK);
            cuts[block].push(Cut { bag, lanes: from - block * BLOCK..to - block * BLOCK });
            from = to;
        }
    }
    cuts
}

/// Fills row `s` of every Gram from column `s` on, without dividing by t.
fn one_bag<C: CellNumber>(
    cells: &[C],
    ids: &Ids,
    s: usize,
    bag: Range<usize>,
    cuts: &[Vec<Cut>],
    weightings: &[&[f64]],
    rows: &mut [&mut [f64]],
) {
    let per_block = BLOCK * ids.t();
    let mut counts = vec![0.0; BLOCK * bag.len()];
    let mut own = vec![C::default(); ids.t() * bag.len()];
    for (x, own) in bag.clone().zip(own.chunks_exact_mut(ids.t().max(1))) {
        let (block, lane) = (x / BLOCK, x % BLOCK);
        own.iter_mut().enumerate().for_each(|(i, c)| *c = cells[block * per_block + i * BLOCK + lane]);
    }
    let mut weighed = [0.0; BLOCK];
    for block in bag.start / BLOCK..cuts.len() {
        let others = &cells[block * per_block..][..per_block];
        count(others, &own, ids.is_partial(), &mut counts);
        for (weights, row) in weightings.iter().zip(&mut *rows) {
            weigh(&counts, &weights[bag.clone()], &mut weighed);
            let of_block = &weights[block * BLOCK..weights.len().min((block + 1) * BLOCK)];
            weighed.iter_mut().zip(of_block).for_each(|(sum, weight)| *sum *= weight);
            for cut in cuts[block].iter().filter(|cut| cut.bag >= s) {
                let sum = &mut row[cut.bag];
                *sum = weighed[cut.lanes.clone()].iter().fold(*sum, |sum, value| sum + value);
            }
        }
    }
}

dispatched!(count<C>, count_of, (block: &[C], own: &[C], partial: bool, counts: &mut [f64]));

/// For each instance of a bag (its cells in `own`, one after another), how often it agrees with each of a block.
#[inline(always)]
fn count_of<C: CellNumber>(block: &[C], own: &[C], partial: bool, counts: &mut [f64]) {
    // The largest number that a byte holds.
    const ROUNDS: usize = 255;
    let t = block.len() / BLOCK;
    for (own, counts) in own.chunks_exact(t.max(1)).zip(counts.chunks_exact_mut(BLOCK)) {
        counts.fill(0.0);
        for (own, block) in own.chunks(ROUNDS).zip(block.chunks(ROUNDS * BLOCK)) {
            let mut sums = [C::default(); BLOCK];
            for (cell, lanes) in own.iter().zip(block.chunks_exact(BLOCK)) {
                // Who lies in no cell shares it with nobody.
                if partial && *cell == C::NONE {
                    continue;
                }
                for l in 0..BLOCK {
                    sums[l] = sums[l].one_more_if(lanes[l] == *cell);
                }
            }
            counts.iter_mut().zip(sums).for_each(|(count, sum)| *count += f64::from(sum.wide()));
        }
    }
}

dispatched!(weigh, weigh_of, (counts: &[f64], weights: &[f64], out: &mut [f64; BLOCK]));

/// The weighted sum of the counts of a bag's instances, lane by lane.
#[inline(always)]
fn weigh_of(counts: &[f64], weights: &[f64], out: &mut [f64; BLOCK]) {
    // Lanes that stay in registers.
    const STEP: usize = 16;
    for (step, out) in out.chunks_exact_mut(STEP).enumerate() {
        let mut sums = [0.0; STEP];
        for (counts, weight) in counts.chunks_exact(BLOCK).zip(weights) {
            let counts = &counts[step * STEP..(step + 1) * STEP];
            for l in 0..STEP {
                sums[l] += weight * counts[l];
            }
        }
        out.copy_from_slice(&sums);
    }
}
