//! How rows and columns of a Gram are cut into tasks, strips and spans, so that what a bag gives depends on that bag alone.
//!
//! A sum of rounded numbers depends on the order of its terms and on where it is interrupted. Rows are therefore cut at
//! places counted from the first row of their bag, never from the first row of the data: the same bag, asked alone or
//! among thousands, is summed in the same pieces. Strips, which only share out the work of distances, may mix bags, since
//! a distance is a matter of its two rows.

use std::ops::Range;

use super::kernels::{ColumnSpan, TILE_ROWS};
use super::sparse;

/// Which entries of the Gram are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GramShape {
    Symmetric,
    Rectangular,
    Diagonal,
}

/// Rows of a chunk: enough to use a tile of packed columns several times while it is near, few enough that there are some
/// hundred chunks to share out. Longer bags are cut at multiples of it.
const CHUNK_ROWS: usize = 4 * TILE_ROWS;
const CHUNKS: usize = 128;

/// With fewer rows than this, moving all columns to the centre of a bag costs more than differences.
const OWN_ROWS: usize = 24;

/// Whole bags whose rows of the Gram one task owns, and the row ranges whose sums are added one after the other.
pub(crate) struct Group {
    pub bags: Range<usize>,
    pub chunks: Vec<Range<usize>>,
}

/// Dense rows in groups: a long bag alone, in chunks; others together, in one.
pub(crate) fn dense_groups(offsets: &[usize]) -> Vec<Group> {
    let enough =
        (offsets[offsets.len() - 1] / CHUNKS).next_multiple_of(TILE_ROWS).clamp(TILE_ROWS, CHUNK_ROWS);
    let mut groups: Vec<Group> = Vec::new();
    let mut open = false;
    for (bag, rows) in offsets.windows(2).map(|w| w[0]..w[1]).enumerate() {
        if rows.len() > CHUNK_ROWS {
            let cuts = rows.clone().step_by(CHUNK_ROWS);
            let chunks = cuts.map(|r| r..(r + CHUNK_ROWS).min(rows.end)).collect();
            groups.push(Group { bags: bag..bag + 1, chunks });
            open = false;
        } else if let Some(group) = groups.last_mut().filter(|_| open) {
            group.bags.end = bag + 1;
            group.chunks[0].end = rows.end;
            open = group.chunks[0].len() < enough;
        } else {
            open = rows.len() < enough;
            groups.push(Group { bags: bag..bag + 1, chunks: vec![rows] });
        }
    }
    groups
}

/// Sparse rows in groups of whole bags, in chunks of as many rows as are written out together. A bag that does not fit
/// into one is cut at multiples of that number.
pub(crate) fn sparse_groups(offsets: &[usize]) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    let mut rows_of_group = 0;
    for (bag, rows) in offsets.windows(2).map(|w| w[0]..w[1]).enumerate() {
        if groups.is_empty() || rows_of_group >= TILE_ROWS {
            groups.push(Group { bags: bag..bag, chunks: Vec::new() });
            rows_of_group = 0;
        }
        rows_of_group += rows.len();
        let group = groups.last_mut().expect("just pushed");
        group.bags.end = bag + 1;
        for from in rows.clone().step_by(sparse::LANES) {
            let piece = from..(from + sparse::LANES).min(rows.end);
            match group.chunks.last_mut() {
                Some(last) if last.len() + piece.len() <= sparse::LANES => last.end = piece.end,
                _ => group.chunks.push(piece),
            }
        }
    }
    groups
}

/// The rows of a chunk in strips of at most `TILE_ROWS`, and whether a strip has a centre of its own: the strips of a bag
/// that has many rows here, some of them far from the middle of all. `runs` are the bags' parts of the chunk.
pub(crate) fn strips(
    runs: impl Iterator<Item = Range<usize>>,
    panel: usize,
    mut is_far: impl FnMut(Range<usize>) -> bool,
) -> Vec<(Range<usize>, bool)> {
    let mut strips: Vec<(Range<usize>, bool)> = Vec::new();
    for run in runs {
        if run.len() >= OWN_ROWS && is_far(run.clone()) {
            let equal = run.len().div_ceil(run.len().div_ceil(TILE_ROWS)).next_multiple_of(panel);
            strips.extend(run.clone().step_by(equal).map(|r| (r..(r + equal).min(run.end), true)));
            continue;
        }
        let mut at = run.start;
        while at < run.end {
            match strips.last_mut() {
                Some((last, false)) if last.len() < TILE_ROWS => {
                    last.end = run.end.min(last.start + TILE_ROWS);
                    at = last.end;
                }
                _ => strips.push((at..at, false)),
            }
        }
    }
    strips
}

/// Consecutive columns of one bag, or of bags with one instance each.
pub(crate) struct ColumnRun {
    bag: usize,
    cols: Range<usize>,
    singles: bool,
}

/// The bags that the columns of a tile belong to.
pub(crate) fn column_runs(offsets: &[usize], cols: Range<usize>) -> Vec<ColumnRun> {
    let mut found: Vec<ColumnRun> = Vec::new();
    let mut bag = offsets.partition_point(|&start| start <= cols.start) - 1;
    let mut at = cols.start;
    while at < cols.end {
        let single = offsets[bag + 1] - offsets[bag] == 1;
        let to = offsets[bag + 1].min(cols.end);
        match found.last_mut() {
            Some(last) if last.singles && single => last.cols.end = to,
            _ => found.push(ColumnRun { bag, cols: at..to, singles: single }),
        }
        at = to;
        bag += 1;
    }
    found
}

/// What the rows of one bag in one strip add where.
pub(crate) fn pieces(
    shape: GramShape,
    bag: usize,
    strip: &Range<usize>,
    column_runs: &[ColumnRun],
    origin: usize,
    pieces: &mut Vec<ColumnSpan>,
) {
    pieces.clear();
    let mut push = |entry: usize, cols: Range<usize>, factor: f64, singles: bool| {
        if !cols.is_empty() {
            pieces.push(ColumnSpan {
                entry,
                from: cols.start - origin,
                to: cols.end - origin,
                factor,
                singles,
            });
        }
    };
    for column_run in column_runs {
        let Range { start, end } = column_run.cols;
        if shape == GramShape::Rectangular {
            push(column_run.bag, start..end, 1.0, column_run.singles);
        } else if column_run.singles {
            // Bags before this one are somebody else's entries.
            let skipped = bag.saturating_sub(column_run.bag);
            if shape == GramShape::Symmetric {
                push(column_run.bag + skipped, (start + skipped).min(end)..end, 1.0, true);
            } else if bag >= column_run.bag && start + skipped < end {
                push(0, start + skipped..start + skipped + 1, 1.0, true);
            }
        } else if column_run.bag == bag {
            // A bag with itself: the strip's own square, and twice what lies after it. What lies before was
            // counted twice by the strips before.
            let entry = if shape == GramShape::Diagonal { 0 } else { bag };
            push(entry, start.max(strip.start)..end.min(strip.end), 1.0, false);
            push(entry, start.max(strip.end)..end, 2.0, false);
        } else if column_run.bag > bag && shape == GramShape::Symmetric {
            push(column_run.bag, start..end, 1.0, false);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_in_one_chunk_and_long_bags_are_cut_from_their_start() {
        let sizes = [1, 3, 500, 7, 48, 49, 192, 193, 2, 1];
        let mut offsets = vec![0];
        sizes.iter().for_each(|s| offsets.push(offsets[offsets.len() - 1] + s));
        for groups in [dense_groups(&offsets), sparse_groups(&offsets)] {
            let (mut row, mut bag) = (0, 0);
            for group in &groups {
                assert_eq!(group.bags.start, bag);
                bag = group.bags.end;
                for chunk in &group.chunks {
                    assert_eq!(chunk.start, row);
                    row = chunk.end;
                }
                assert_eq!(row, offsets[bag]);
            }
            assert_eq!(bag, sizes.len());
        }
        let long = dense_groups(&offsets).into_iter().find(|g| g.bags == (2..3)).unwrap();
        assert_eq!(long.chunks, [4..196, 196..388, 388..504]);
        for chunk in sparse_groups(&offsets).iter().flat_map(|g| &g.chunks) {
            let cut = offsets.iter().rfind(|&&o| o <= chunk.start).unwrap();
            assert!((chunk.start - cut).is_multiple_of(sparse::LANES) && chunk.len() <= sparse::LANES);
        }
    }

    #[test]
    fn a_far_bag_of_many_rows_has_strips_of_its_own() {
        let runs = [0..10, 10..70, 70..90, 90..150, 150..155];
        let far = |run: Range<usize>| run.start == 90;
        let found = strips(runs.clone().into_iter(), 6, far);
        let expected =
            [(0..48, false), (48..90, false), (90..120, true), (120..150, true), (150..155, false)];
        assert_eq!(found, expected);
    }
}
