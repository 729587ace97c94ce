//! Spheres around centres: an instance lies in the cell of its nearest centre only if it is no farther from it than the
//! nearest other centre is; else it lies in no cell.
//!
//! The squared radius of a centre in a list of psi is the least squared distance above 0 to one of the psi (infinite if
//! there is none), by the definition in `literal`. Radii shrink as psi grows, so that every psi has its own; distances are
//! taken once for all. Two ways lead to them, and the cheaper is taken: inside every list, t psi^2 distances, or, where the
//! lists name few different centres, from every centre to all n' others, sorted, which serves all lists: n'^2 of them.

use rayon::prelude::*;

use super::lanes::Lanes;
use super::{BLOCK, Block, CentreLists, NO_CELL, distance, literal};
use bagwise_core::{Ctx, Instances, Message, Result};

/// The squared radius where no other centre is elsewhere. Finite, so that models can be saved; no distance is larger.
const EVERYWHERE: f64 = f64::MAX;

/// The squared radii of all centres, list after list, for each psi (ascending).
pub(super) fn squared_radii(lists: &CentreLists, psis: &[usize], ctx: &Ctx) -> Result<Vec<Vec<f64>>> {
    let all = lists.centres.rows() as f64;
    let largest = psis.last().copied().unwrap_or(0) as f64;
    squared_radii_by(lists, psis, all * all < lists.t as f64 * largest * largest, ctx)
}

/// The same, from the distances to all centres or inside every list.
pub(super) fn squared_radii_by(
    lists: &CentreLists,
    psis: &[usize],
    to_all: bool,
    ctx: &Ctx,
) -> Result<Vec<Vec<f64>>> {
    let rows = lists.centres.rows();
    let numbers = lists.t * psis.iter().sum::<usize>();
    ctx.reserve(
        "the radii of all partitionings",
        (8 * numbers + if to_all { 2 * rows * lists.t } else { 0 }) as u64,
        Message::more_memory().or("choose a smaller psi or t"),
    )?;
    let distances = CentreDistances::new(lists)?;
    if to_all { from_all(lists, psis, &distances, ctx) } else { inside_lists(lists, psis, &distances, ctx) }
}

/// Distances between centres, by the definition.
struct CentreDistances<'a> {
    lists: &'a CentreLists,
    lanes: Option<Lanes>,
}

impl CentreDistances<'_> {
    fn new(lists: &CentreLists) -> Result<CentreDistances<'_>> {
        let dense = !matches!(lists.centres, Instances::Sparse(_));
        let lanes = dense.then(|| Lanes::new(&lists.centres, lists.distance)).transpose()?;
        Ok(CentreDistances { lists, lanes })
    }

    /// Centres whose distances are taken together.
    fn together(&self) -> usize {
        self.lanes.as_ref().map_or(1, Lanes::points)
    }

    /// From at most [`together`](CentreDistances::together) centres to some others: one row for each.
    fn take(&self, from: &[u32], to: &[u32], out: &mut [f64]) {
        match (&self.lanes, &self.lists.centres) {
            (Some(lanes), _) => {
                let rows: Vec<f64> = from.iter().flat_map(|&c| lanes.row(c as usize)).copied().collect();
                lanes.to_rows(&lanes.panel(&rows), to, to.len(), out);
            }
            (None, Instances::Sparse(rows)) => {
                for (&c, out) in from.iter().zip(out.chunks_exact_mut(to.len())) {
                    for (&other, out) in to.iter().zip(out) {
                        *out = literal::sparse(
                            self.lists.distance,
                            rows.row(c as usize),
                            rows.row(other as usize),
                        );
                    }
                }
            }
            _ => unreachable!("dense centres have lanes"),
        }
    }
}

/// List after list, all distances inside it.
fn inside_lists(
    lists: &CentreLists,
    psis: &[usize],
    distances: &CentreDistances<'_>,
    ctx: &Ctx,
) -> Result<Vec<Vec<f64>>> {
    let largest = psis[psis.len() - 1];
    let of_list = |i: usize| {
        ctx.check()?;
        let list = &lists.list(i)[..largest];
        let mut radii: Vec<Vec<f64>> = psis.iter().map(|&psi| vec![EVERYWHERE; psi]).collect();
        let mut near = vec![0.0; distances.together() * largest];
        for (chunk, from) in list.chunks(distances.together()).enumerate() {
            distances.take(from, list, &mut near);
            for (k, near) in near.chunks_exact(largest).take(from.len()).enumerate() {
                let at = chunk * distances.together() + k;
                let (mut least, mut done) = (EVERYWHERE, 0);
                for (&psi, radii) in psis.iter().zip(&mut radii) {
                    for &d in near[done..psi].iter().filter(|d| **d > 0.0) {
                        least = least.min(d);
                    }
                    done = psi;
                    if at < psi {
                        radii[at] = least;
                    }
                }
            }
        }
        Ok(radii)
    };
    let per_list = (0..lists.t).into_par_iter().map(of_list).collect::<Result<Vec<_>>>()?;
    Ok((0..psis.len()).map(|k| per_list.iter().flat_map(|radii| &radii[k]).copied().collect()).collect())
}

/// Centre after centre, its distances to all others in ascending order: the radius in a list is the first that leads to a
/// centre among its first psi.
fn from_all(
    lists: &CentreLists,
    psis: &[usize],
    distances: &CentreDistances<'_>,
    ctx: &Ctx,
) -> Result<Vec<Vec<f64>>> {
    const NOWHERE: u16 = u16::MAX;
    let rows = lists.centres.rows();
    let t = lists.t;
    // Where each centre stands in each list.
    let mut places = vec![NOWHERE; rows * t];
    for i in 0..t {
        for (at, &centre) in lists.list(i).iter().enumerate().rev() {
            places[centre as usize * t + i] = at as u16;
        }
    }
    let all: Vec<u32> = (0..rows as u32).collect();
    let of_centres = |from: &[u32]| {
        ctx.check()?;
        let mut near = vec![0.0; distances.together() * rows];
        distances.take(from, &all, &mut near);
        // Psi, list, place and squared radius.
        let mut found: Vec<(usize, usize, usize, f64)> = Vec::new();
        let mut order: Vec<(u64, u32)> = Vec::with_capacity(rows);
        for (&centre, near) in from.iter().zip(near.chunks_exact(rows)) {
            order.clear();
            // Distances are not negative, so that their bits are in their order.
            order.extend(near.iter().zip(&all).filter(|(d, _)| **d > 0.0).map(|(d, &c)| (d.to_bits(), c)));
            order.sort_unstable();
            for i in 0..t {
                let at = usize::from(places[centre as usize * t + i]);
                let smallest = psis.partition_point(|&psi| psi <= at);
                let mut open = psis.len();
                for &(d, other) in &order {
                    let place = usize::from(places[other as usize * t + i]);
                    while open > smallest && place < psis[open - 1] {
                        open -= 1;
                        found.push((open, i, at, f64::from_bits(d)));
                    }
                    if open <= smallest {
                        break;
                    }
                }
            }
        }
        Ok(found)
    };
    let found = all.par_chunks(distances.together()).map(of_centres).collect::<Result<Vec<_>>>()?;
    let mut radii: Vec<Vec<f64>> = psis.iter().map(|&psi| vec![EVERYWHERE; t * psi]).collect();
    for (k, i, at, squared) in found.into_iter().flatten() {
        radii[k][i * psis[k] + at] = squared;
    }
    Ok(radii)
}

/// Takes rows out of the cells whose spheres they lie outside of.
pub(super) fn leave_outside(
    lists: &CentreLists,
    psis: &[usize],
    block: &Block<'_>,
    count: usize,
    found: &mut [Vec<u16>],
) {
    for (&psi, found) in psis.iter().zip(found) {
        let radii = lists.squared_radii(psi).expect("a mapper asks for the psi that have spheres");
        for (i, cells) in found.chunks_exact_mut(BLOCK).enumerate() {
            let (list, radii) = (lists.list(i), &radii[i * psi..(i + 1) * psi]);
            for (row, cell) in cells[..count].iter_mut().enumerate() {
                let at = usize::from(*cell);
                let inside = distance(lists, block, row, list[at] as usize) <= radii[at];
                *cell = if inside { *cell } else { NO_CELL };
            }
        }
    }
}
