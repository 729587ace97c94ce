//! Cells from distances to every centre, each taken once.
//!
//! Where t lists of psi name only n' < t psi different centres, a row's n' distances serve all lists and all psi. For small
//! psi they are looked up along each list. For larger ones the nearest centres are sorted and walked in ascending distance:
//! with r[z][i] the position of centre z in list i, the cell for psi is the first r below psi that is met, so that one
//! walk, which keeps the least r of every list, serves all psi and ends when the smallest is served, after about
//! n'/psi log t steps of t comparisons of small numbers. Of equally near centres the least r counts: the first in the list.

use super::ids::dispatched;
use super::lanes::{Lanes, Panel, TOGETHER};
use super::{BLOCK, Block, CentreLists, Distance, distance, literal};
use crate::simd::Element;
use bagwise_core::{Instances, Result};

/// Positions are u16, and the largest means none.
pub(super) const MOST_ROWS: usize = 65_535;
const NONE: u16 = u16::MAX;

/// Panels of points whose distances are taken together.
const PANELS: usize = 8;

/// Bytes of centres that pass by together: a quarter of a second-level cache.
const PORTION: usize = 1 << 18;

/// Operations per centre for choosing the nearest, in multiply-adds.
pub(super) const PER_CENTRE: f64 = 40.0;

pub(super) struct Walk {
    psis: Vec<usize>,
    /// How many of the psi are looked up along the lists; the others are walked to.
    looked_up: usize,
    /// Lists position after position, eight lists side by side.
    columns: Vec<[u32; 8]>,
    /// Positions of each centre in the lists, padded to 32.
    ranks: Vec<u16>,
    stride: usize,
    /// For each position, how many of the psi that are walked to it is not below.
    levels: Vec<u16>,
    lanes: Option<Lanes>,
}

/// Steps of the walk that serves `psi`: until the last of t lists has met one of its first psi centres.
fn steps(rows: usize, t: usize, psi: usize) -> f64 {
    (rows as f64 / psi as f64 * ((t as f64).ln() + 2.0) + 8.0).min(rows as f64)
}

/// Lookups and steps for one row, in multiply-adds, when the first `looked_up` psi are looked up.
fn cost(rows: usize, t: usize, psis: &[usize], looked_up: usize) -> f64 {
    let along = if looked_up == 0 { 0 } else { psis[looked_up - 1] };
    let walk = psis.get(looked_up).map_or(0.0, |&psi| steps(rows, t, psi) * (0.75 * t as f64 + 360.0));
    along as f64 * t as f64 * 4.0 + walk
}

fn cheapest(rows: usize, t: usize, psis: &[usize]) -> usize {
    let least = |a: &usize, b: &usize| cost(rows, t, psis, *a).total_cmp(&cost(rows, t, psis, *b));
    (0..=psis.len()).min_by(least).unwrap_or(0)
}

/// What lookups and walk cost for one row, in multiply-adds.
pub(super) fn lookups(rows: usize, t: usize, psis: &[usize]) -> f64 {
    cost(rows, t, psis, cheapest(rows, t, psis))
}

impl Walk {
    pub(super) fn new(p: &CentreLists, psis: &[usize]) -> Result<Walk> {
        let looked_up = cheapest(p.centres.rows(), p.t, psis);
        Walk::with(p, psis, looked_up)
    }

    /// With a given number of psi looked up.
    pub(super) fn with(p: &CentreLists, psis: &[usize], looked_up: usize) -> Result<Walk> {
        let rows = p.centres.rows();
        let stride = p.t.next_multiple_of(32);
        let along = if looked_up == 0 { 0 } else { psis[looked_up - 1] };
        let mut columns = vec![[0u32; 8]; p.t.div_ceil(8) * along];
        for i in 0..p.t {
            for (j, &centre) in p.list(i)[..along].iter().enumerate() {
                columns[i / 8 * along + j][i % 8] = centre;
            }
        }
        let mut ranks = Vec::new();
        if looked_up < psis.len() {
            ranks = vec![NONE; rows * stride];
            for i in 0..p.t {
                // From the end, so that of a centre that stands twice in a list the first place is kept.
                for (j, &centre) in p.list(i).iter().enumerate().rev() {
                    ranks[centre as usize * stride + i] = j as u16;
                }
            }
        }
        let dense = !matches!(p.centres, Instances::Sparse(_));
        let lanes = dense.then(|| Lanes::new(&p.centres, p.distance)).transpose()?;
        let walked = &psis[looked_up..];
        let level = |rank| walked.partition_point(|&psi| psi <= rank) as u16;
        let levels = (0..walked.last().copied().unwrap_or(0)).map(level).collect();
        Ok(Walk { psis: psis.to_vec(), looked_up, columns, ranks, stride, levels, lanes })
    }

    pub(super) fn find(&self, p: &CentreLists, block: &Block<'_>, count: usize, found: &mut [Vec<u16>]) {
        let rows = p.centres.rows();
        let points = self.lanes.as_ref().map_or(1, |lanes| PANELS * lanes.points());
        let mut distances = vec![0.0; points * rows];
        let mut room = WalkBuffers::new(rows, self.stride);
        let width = p.width();
        for first in (0..count).step_by(points) {
            let some = points.min(count - first);
            match (&self.lanes, block) {
                (Some(lanes), Block::F64(x)) => {
                    to_all(lanes, &x[first * width..(first + some) * width], rows, &mut distances)
                }
                (Some(lanes), Block::F32(x)) => {
                    to_all(lanes, &x[first * width..(first + some) * width], rows, &mut distances)
                }
                (_, Block::Sparse(x, at)) => {
                    let Instances::Sparse(z) = &p.centres else { unreachable!("blocks are like centres") };
                    sparse_distances(p.distance, x.row(at.start + first), z, &mut distances)
                }
                _ => (0..rows).for_each(|c| distances[c] = distance(p, block, first, c)),
            }
            for row in 0..some {
                let own = &distances[row * rows..(row + 1) * rows];
                if self.looked_up > 0 {
                    look_up(&self.columns, own, &self.psis[..self.looked_up], p.t, first + row, found);
                }
                if self.looked_up < self.psis.len() {
                    self.walk(p.t, own, first + row, &mut found[self.looked_up..], &mut room);
                }
            }
        }
    }

    /// Walks along the sorted neighbours of one row.
    fn walk(&self, t: usize, own: &[f64], row: usize, found: &mut [Vec<u16>], room: &mut WalkBuffers) {
        let psis = &self.psis[self.looked_up..];
        let WalkBuffers { order, least, group, sample } = room;
        // Distances are not negative, so that their bits are in their order.
        let reach = reach(own, steps(own.len(), t, psis[0]), sample);
        let mut held = 0;
        order.resize(own.len(), (0, 0));
        for (c, d) in own.iter().enumerate() {
            order[held] = (d.to_bits(), c as u32);
            held += usize::from(d.to_bits() <= reach);
        }
        order.truncate(held);
        order.sort_unstable();
        least.fill(NONE);
        // Padding is served before the walk begins.
        least[t..].fill(0);
        let mut waiting = t;
        let mut at = 0;
        while waiting > 0 && at < own.len() {
            if at == order.len() {
                // Further than most rows have to go: all others, which are farther than those so far.
                let farther = own.iter().enumerate().map(|(c, d)| (d.to_bits(), c as u32));
                order.extend(farther.filter(|&(d, _)| d > reach));
                order[at..].sort_unstable();
            }
            let mut end = at + 1;
            while end < order.len() && order[end].0 == order[at].0 {
                end += 1;
            }
            let first = order[at].1 as usize;
            let ranks = if end == at + 1 {
                &self.ranks[first * self.stride..(first + 1) * self.stride]
            } else {
                group.copy_from_slice(&self.ranks[first * self.stride..(first + 1) * self.stride]);
                for &(_, centre) in &order[at + 1..end] {
                    let other = &self.ranks[centre as usize * self.stride..][..self.stride];
                    group.iter_mut().zip(other).for_each(|(g, &o)| *g = (*g).min(o));
                }
                &group[..]
            };
            waiting -= step(ranks, least, &self.levels, row, found);
            at = end;
        }
    }
}

/// Distances of points to all centres, points x centres. Centres pass by in portions that stay in the second cache while
/// all panels of points are compared with them.
fn to_all<T: Element>(lanes: &Lanes, x: &[T], rows: usize, distances: &mut [f64]) {
    let panels: Vec<Panel> =
        x.chunks(lanes.points() * lanes.width()).map(|points| lanes.panel(points)).collect();
    let all: Vec<u32> = (0..rows as u32).collect();
    let size = (PORTION / (8 * lanes.width())).next_multiple_of(TOGETHER).max(TOGETHER);
    for (portion, centres) in all.chunks(size).enumerate() {
        for (panel, distances) in panels.iter().zip(distances.chunks_mut(lanes.points() * rows)) {
            lanes.to_rows(panel, centres, rows, &mut distances[portion * size..]);
        }
    }
}

/// What a walk needs, kept from row to row.
struct WalkBuffers {
    order: Vec<(u64, u32)>,
    least: Vec<u16>,
    group: Vec<u16>,
    sample: Vec<u64>,
}

/// A distance, in bits, such that slightly more than this many are not above it; estimated from a sample. All equally near ones are on the
/// same side of it.
fn reach(own: &[f64], steps: f64, sample: &mut Vec<u64>) -> u64 {
    const EVERY: usize = 16;
    let share = 1.5 * steps / own.len() as f64;
    sample.clear();
    sample.extend(own.iter().step_by(EVERY).map(|d| d.to_bits()));
    let rank = (share * sample.len() as f64) as usize + 2;
    if rank >= sample.len() { u64::MAX } else { *sample.select_nth_unstable(rank).1 }
}

impl WalkBuffers {
    fn new(rows: usize, stride: usize) -> WalkBuffers {
        let (least, group) = (vec![NONE; stride], vec![NONE; stride]);
        WalkBuffers {
            order: Vec::with_capacity(rows),
            least,
            group,
            sample: Vec::with_capacity(rows / 16 + 1),
        }
    }
}

dispatched!(step, step_of, (ranks: &[u16], least: &mut [u16], levels: &[u16], row: usize, found: &mut [Vec<u16>]) -> usize);

/// Meets one neighbour; returns how many lists are now served at every psi. `levels` says for each position how many psi
/// it is not below.
#[inline(always)]
fn step_of(ranks: &[u16], least: &mut [u16], levels: &[u16], row: usize, found: &mut [Vec<u16>]) -> usize {
    let mut served = 0;
    for (chunk, (ranks, least)) in
        ranks.as_chunks::<32>().0.iter().zip(least.as_chunks_mut::<32>().0).enumerate()
    {
        let mut below = [0u8; 32];
        for l in 0..32 {
            below[l] = u8::from(ranks[l] < least[l]);
        }
        // Eight lists at a time: in most of them there is nothing to do.
        for (eight, marks) in below.as_chunks::<8>().0.iter().enumerate() {
            let mut marks = u64::from_le_bytes(*marks);
            while marks != 0 {
                let l = 8 * eight + marks.trailing_zeros() as usize / 8;
                marks &= marks - 1;
                let (rank, before) = (ranks[l], least[l]);
                let level =
                    |rank: u16| levels.get(usize::from(rank)).map_or(found.len(), |&k| usize::from(k));
                let (first, last) = (level(rank), level(before));
                for found in &mut found[first..last] {
                    found[(chunk * 32 + l) * BLOCK + row] = rank;
                }
                // Nothing is below 0: a list that is served at the smallest psi has no more to meet.
                least[l] = if first == 0 { 0 } else { rank };
                served += usize::from(first == 0);
            }
        }
    }
    served
}

dispatched!(look_up, look_up_of, (columns: &[[u32; 8]], own: &[f64], psis: &[usize], t: usize, row: usize, found: &mut [Vec<u16>]));

/// Runs along eight lists side by side.
#[inline(always)]
fn look_up_of(
    columns: &[[u32; 8]],
    own: &[f64],
    psis: &[usize],
    t: usize,
    row: usize,
    found: &mut [Vec<u16>],
) {
    let along = psis[psis.len() - 1];
    for (eight, columns) in columns.chunks_exact(along).enumerate() {
        let mut best = [f64::INFINITY; 8];
        let mut at = [0u64; 8];
        let mut from = 0;
        for (&psi, found) in psis.iter().zip(found.iter_mut()) {
            for j in from..psi {
                let mut near = [0.0; 8];
                for l in 0..8 {
                    near[l] = own[columns[j][l] as usize];
                }
                for l in 0..8 {
                    let better = near[l] < best[l];
                    best[l] = if better { near[l] } else { best[l] };
                    at[l] = if better { j as u64 } else { at[l] };
                }
            }
            for l in 0..8.min(t - 8 * eight) {
                found[(8 * eight + l) * BLOCK + row] = at[l] as u16;
            }
            from = psi;
        }
    }
}

/// Distances of a sparse row to all sparse centres.
fn sparse_distances(distance: Distance, x: (&[u32], &[f64]), z: &bagwise_core::Csr, out: &mut [f64]) {
    for (c, out) in out.iter_mut().enumerate().take(z.rows()) {
        *out = literal::sparse(distance, x, z.row(c));
    }
}
