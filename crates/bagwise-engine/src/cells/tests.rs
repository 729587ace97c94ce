//! Every way of finding cells against the definition, on data full of ties, for every instruction set and storage.

use proptest::prelude::{ProptestConfig, any, prop, proptest};

use super::fused::{Fused, FusedLoops, NearestCentre};
use super::walk::Walk;
use super::*;
use bagwise_core::Rng;

/// Rows on a small grid of whole numbers (or of thirds, which are not exact), with copies and zeros.
pub(super) struct Case {
    pub(super) rows: Vec<Vec<f64>>,
    pub(super) lists: Vec<u32>,
    pub(super) t: usize,
    pub(super) psis: Vec<usize>,
}

impl Case {
    pub(super) fn new(
        seed: u64,
        n: usize,
        width: usize,
        t: usize,
        mut psis: Vec<usize>,
        levels: usize,
        thirds: bool,
    ) -> Case {
        let mut rng = Rng::new(seed, "cells test", &[]);
        let mut rows: Vec<Vec<f64>> = Vec::new();
        for r in 0..n {
            if r > 0 && rng.below(6) == 0 {
                rows.push(rows[rng.below(r)].clone());
                continue;
            }
            let mut value = || {
                let level = rng.below(levels) as f64 - (levels / 2) as f64;
                if thirds { f64::from((level / 3.0) as f32) } else { level }
            };
            rows.push((0..width).map(|_| value()).collect());
        }
        psis.iter_mut().for_each(|psi| *psi = (*psi).min(n));
        psis.sort_unstable();
        psis.dedup();
        let largest = psis[psis.len() - 1];
        let lists = (0..t).flat_map(|_| rng.sample(n, largest)).map(|row| row as u32).collect();
        Case { rows, lists, t, psis }
    }

    pub(super) fn storages(&self) -> Vec<Instances> {
        let dense = Mat::from_rows(&self.rows);
        let mut sparse = Csr::empty(dense.cols());
        self.rows.iter().for_each(|r| sparse.push_row(r.iter().enumerate().map(|(j, &v)| (j as u32, v))));
        let single = Mat::new(dense.rows(), dense.cols(), dense.data().iter().map(|&v| v as f32).collect());
        vec![Instances::F64(dense), Instances::F32(single), Instances::Sparse(sparse)]
    }
}

/// The definition, from nothing but the rows.
fn expected(case: &Case, distance: Distance) -> Vec<Vec<Vec<usize>>> {
    let width = case.rows[0].len();
    let squared = |x: &[f64], z: &[f64]| {
        let sum = (0..width).fold(0.0, |sum, k| sum + (x[k] - z[k]) * (x[k] - z[k]));
        let present = (0..width).filter(|&k| x[k] != 0.0 || z[k] != 0.0).count();
        match distance {
            Distance::Euclidean => sum,
            Distance::Text if present == 0 => 0.0,
            Distance::Text => sum / present as f64,
        }
    };
    let length = case.lists.len() / case.t;
    let cell = |x: &[f64], i: usize, psi: usize| {
        let list = &case.lists[i * length..][..psi];
        let to = |j: usize| squared(x, &case.rows[list[j] as usize]);
        (0..psi).fold(0, |best, j| if to(j) < to(best) { j } else { best })
    };
    let of_row = |x: &Vec<f64>, psi: usize| (0..case.t).map(|i| cell(x, i, psi)).collect();
    case.psis.iter().map(|&psi| case.rows.iter().map(|x| of_row(x, psi)).collect()).collect()
}

fn assert_cells(found: &[Ids], expected: &[Vec<Vec<usize>>], what: &str) {
    for (ids, expected) in found.iter().zip(expected) {
        for (row, expected) in expected.iter().enumerate() {
            let found: Vec<Option<usize>> = (0..ids.t()).map(|i| ids.get(row, i)).collect();
            let expected: Vec<Option<usize>> = expected.iter().map(|&cell| Some(cell)).collect();
            assert_eq!(found, expected, "{what}, psi {}, row {row}", ids.psi());
        }
    }
}

fn lists(partitions: &Partitions) -> &CentreLists {
    let Partitions::Centres(lists) = partitions else { panic!("trees have no centres") };
    lists
}

fn ids_by(way: CellSearch, partitions: &Partitions, psis: &[usize], rows: &Instances) -> Vec<Ids> {
    let source = CellSource::Centres(lists(partitions), way);
    let (t, width) = (partitions.t(), partitions.width());
    let mapper = Mapper { t, width, psis: psis.to_vec(), source };
    mapper.ids(rows, 0..rows.rows(), &Ctx::default()).unwrap()
}

fn check(case: &Case) {
    let ctx = Ctx::default();
    for distance in [Distance::Euclidean, Distance::Text] {
        let expected = expected(case, distance);
        for centres in case.storages() {
            let partitions = Partitions::new(centres.clone(), case.lists.clone(), case.t, distance).unwrap();
            for rows in case.storages() {
                let what = |way: &str| format!("{way}, {distance:?}, {} to {}", rows.kind(), centres.kind());
                for strategy in [Strategy::Literal, Strategy::Fused, Strategy::Walk, Strategy::Scan] {
                    let mapper = Mapper::by(&partitions, &case.psis, strategy, &ctx).unwrap();
                    let found = mapper.ids(&rows, 0..rows.rows(), &ctx).unwrap();
                    assert_cells(&found, &expected, &what(&format!("{strategy:?}")));
                }
                for looked_up in 0..=case.psis.len() {
                    let way =
                        CellSearch::Walk(Walk::with(lists(&partitions), &case.psis, looked_up).unwrap());
                    let found = ids_by(way, &partitions, &case.psis, &rows);
                    assert_cells(&found, &expected, &what(&format!("{looked_up} looked up")));
                }
                if distance == Distance::Text || matches!(centres, Instances::Sparse(_)) {
                    continue;
                }
                let singles = <f32 as FusedLoops>::kernels();
                for (single, double) in singles.into_iter().zip(<f64 as FusedLoops>::kernels()) {
                    for trial in [0, 1, usize::MAX] {
                        let single = Fused::new(lists(&partitions), &case.psis, single, 0, &ctx).unwrap();
                        let double = Fused::new(lists(&partitions), &case.psis, double, 0, &ctx).unwrap();
                        let name = double.kernel_name();
                        let way = CellSearch::Fused(Box::new(NearestCentre::with(single, double, trial)));
                        let found = ids_by(way, &partitions, &case.psis, &rows);
                        assert_cells(&found, &expected, &what(&format!("{name} after {trial}")));
                    }
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn every_way_finds_the_cells_of_the_definition(
        seed in any::<u64>(), n in 1usize..60, width in 1usize..12, t in 1usize..40, thirds in any::<bool>(),
        levels in 2usize..7, psis in prop::collection::vec(1usize..60, 1..5),
    ) {
        check(&Case::new(seed, n, width, t, psis, levels, thirds));
    }
}

#[test]
fn cells_beyond_a_byte_and_rows_beyond_a_block() {
    check(&Case::new(5, 700, 3, 3, vec![16, 300, 600], 9, false));
}

#[test]
fn wide_rows_are_swept_in_parts() {
    check(&Case::new(8, 60, 300, 4, vec![5, 32], 4, true));
    check(&Case::new(8, 40, 256, 3, vec![16], 3, false));
}

#[test]
fn numbers_far_from_the_origin_and_from_each_other_are_told_apart() {
    for (scale, shift) in [(1e-3, 1e6), (1e150, 0.0), (1e-170, 0.0), (1e15, -1e15), (1e160, 1e160)] {
        let mut case = Case::new(3, 50, 5, 8, vec![4, 20], 5, false);
        case.rows.iter_mut().flatten().for_each(|v| *v = *v * scale + shift);
        let expected = expected(&case, Distance::Euclidean);
        let rows = Instances::F64(Mat::from_rows(&case.rows));
        let partitions =
            Partitions::new(rows.clone(), case.lists.clone(), case.t, Distance::Euclidean).unwrap();
        for strategy in [Strategy::Fused, Strategy::Walk, Strategy::Scan] {
            let mapper = Mapper::by(&partitions, &case.psis, strategy, &Ctx::default()).unwrap();
            let found = mapper.ids(&rows, 0..50, &Ctx::default()).unwrap();
            assert_cells(&found, &expected, &format!("{strategy:?}, scale {scale:e}"));
        }
        // Single precision alone, double alone, on every instruction set.
        let kernels = || <f32 as FusedLoops>::kernels().into_iter().zip(<f64 as FusedLoops>::kernels());
        for ((single, double), trial) in kernels().flat_map(|both| [(both, usize::MAX), (both, 0)]) {
            let ctx = Ctx::default();
            let single = Fused::new(lists(&partitions), &case.psis, single, 0, &ctx).unwrap();
            let double = Fused::new(lists(&partitions), &case.psis, double, 0, &ctx).unwrap();
            let way = CellSearch::Fused(Box::new(NearestCentre::with(single, double, trial)));
            let found = ids_by(way, &partitions, &case.psis, &rows);
            assert_cells(&found, &expected, &format!("{trial} lists in f32, scale {scale:e}"));
        }
    }
}

#[test]
fn random_numbers_rarely_need_the_definition_and_always_get_it() {
    // Values of single precision, where products in single precision err visibly.
    let mut rng = Rng::new(9, "cells test", &[]);
    let rows: Vec<Vec<f64>> =
        (0..900).map(|_| (0..20).map(|_| f64::from((5.0 + rng.normal()) as f32)).collect()).collect();
    let lists = (0..30).flat_map(|_| rng.sample(900, 64)).map(|r| r as u32).collect();
    let case = Case { rows, lists, t: 30, psis: vec![16, 64] };
    let expected = expected(&case, Distance::Euclidean);
    for centres in &case.storages()[..2] {
        let partitions =
            Partitions::new(centres.clone(), case.lists.clone(), 30, Distance::Euclidean).unwrap();
        let mapper = Mapper::by(&partitions, &case.psis, Strategy::Fused, &Ctx::default()).unwrap();
        assert_cells(&mapper.ids(centres, 0..900, &Ctx::default()).unwrap(), &expected, centres.kind());
        let CellSource::Centres(_, CellSearch::Fused(sieve)) = &mapper.source else { unreachable!() };
        assert!(!sieve.went_on_in_double(), "single precision tells random numbers apart");
    }
}

#[test]
fn differences_that_single_precision_cannot_see_are_left_to_double() {
    // One value far away spreads the limit over all rows; the others differ by less than it.
    let mut rng = Rng::new(10, "cells test", &[]);
    let mut rows: Vec<Vec<f64>> = (0..300).map(|_| (0..6).map(|_| 1e-6 * rng.normal()).collect()).collect();
    rows[0][0] = 1.0;
    let lists = (0..20).flat_map(|_| [vec![0], rng.sample(299, 31)].concat()).map(|r| r as u32).collect();
    let case = Case { rows, lists, t: 20, psis: vec![8, 32] };
    let rows = &case.storages()[0];
    let partitions = Partitions::new(rows.clone(), case.lists.clone(), 20, Distance::Euclidean).unwrap();
    // Packed, 20 lists of 32 centres take 17,920 to 20,160 bytes in single precision, by instruction set, and twice as many
    // more in double.
    for (memory, enough) in [(70_000, true), (50_000, false)] {
        let mut ctx = Ctx::default();
        ctx.memory = memory;
        let mapper = Mapper::by(&partitions, &case.psis, Strategy::Fused, &ctx).unwrap();
        let found = mapper.ids(rows, 0..300, &ctx).unwrap();
        assert_cells(&found, &expected(&case, Distance::Euclidean), "differences of a millionth");
        let CellSource::Centres(_, CellSearch::Fused(sieve)) = &mapper.source else { unreachable!() };
        assert_eq!(sieve.went_on_in_double(), enough);
    }
}

#[test]
fn ties_are_no_reason_for_more_precision() {
    // Three values a side: most rows have several nearest centres.
    let case = Case::new(4, 300, 3, 20, vec![32], 3, false);
    let rows = &case.storages()[0];
    let partitions = Partitions::new(rows.clone(), case.lists.clone(), 20, Distance::Euclidean).unwrap();
    let mapper = Mapper::by(&partitions, &case.psis, Strategy::Fused, &Ctx::default()).unwrap();
    let found = mapper.ids(rows, 0..300, &Ctx::default()).unwrap();
    assert_cells(&found, &expected(&case, Distance::Euclidean), "whole numbers");
    let CellSource::Centres(_, CellSearch::Fused(sieve)) = &mapper.source else { unreachable!() };
    assert!(!sieve.went_on_in_double());
}

#[test]
fn threads_and_portions_change_nothing() {
    let case = Case::new(11, 1300, 4, 20, vec![8, 32], 5, true);
    let rows = &case.storages()[1];
    let partitions = Partitions::new(rows.clone(), case.lists.clone(), 20, Distance::Euclidean).unwrap();
    let mapper = Mapper::new(&partitions, &case.psis, &Ctx::default()).unwrap();
    let whole = mapper.ids(rows, 0..1300, &Ctx::default()).unwrap();
    for threads in [1, 3] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| assert!(mapper.ids(rows, 0..1300, &Ctx::default()).unwrap() == whole));
    }
    let piece = mapper.ids(rows, 700..1250, &Ctx::default()).unwrap();
    for (piece, whole) in piece.iter().zip(&whole) {
        for row in 0..550 {
            (0..20).for_each(|i| assert_eq!(piece.get(row, i), whole.get(700 + row, i)));
        }
    }
}

#[test]
fn shorter_lists_are_beginnings_of_longer_ones() {
    let rows = Instances::F64(Mat::new(40, 1, (0..40).map(f64::from).collect()));
    let bags = Bags::new(rows, vec![0, 25, 40]).unwrap();
    let draw = |psi| CentreLists::draw(&bags, &[0, 1], 6, psi, Distance::Euclidean, &Ctx::seeded(4)).unwrap();
    let values = |p: &CentreLists, psi: usize| -> Vec<f64> {
        let Instances::F64(centres) = p.centres() else { unreachable!() };
        (0..6)
            .flat_map(|i| p.list(i)[..psi].iter().map(|&c| centres.get(c as usize, 0)).collect::<Vec<_>>())
            .collect()
    };
    let (long, short) = (draw(32), draw(8));
    assert_eq!(values(&long, 8), values(&short, 8));
    assert_eq!(values(&long.shortened(8), 8), values(&short, 8));
    // Without replacement, and only from the bags named.
    for i in 0..6 {
        let mut list = long.list(i).to_vec();
        list.sort_unstable();
        list.dedup();
        assert_eq!(list.len(), 32);
    }
    let first = CentreLists::draw(&bags, &[0], 6, 25, Distance::Euclidean, &Ctx::seeded(4)).unwrap();
    assert!(values(&first, 25).iter().all(|&v| v < 25.0));
    assert!(CentreLists::draw(&bags, &[1], 6, 16, Distance::Euclidean, &Ctx::default()).is_err());
}

#[test]
fn counts_of_shared_cells_are_those_of_a_loop() {
    for psi in [7, 300] {
        let case = Case::new(2, 400, 3, 77, vec![psi], 6, false);
        let rows = &case.storages()[0];
        let partitions = Partitions::new(rows.clone(), case.lists.clone(), 77, Distance::Euclidean).unwrap();
        let mapper = Mapper::new(&partitions, &case.psis, &Ctx::default()).unwrap();
        let ids = mapper.ids(rows, 0..400, &Ctx::default()).unwrap().remove(0);
        let count = |x: usize, y: usize| (0..77).filter(|&i| ids.get(x, i) == ids.get(y, i)).count() as u32;
        let mut found = vec![0.0; 90];
        ids::agreements(&ids, 13, 10..100, &mut found);
        assert_eq!(found, (10..100).map(|y| f64::from(count(13, y))).collect::<Vec<_>>());
        let shares: Vec<Share> =
            [0, 5, 11, 20].iter().map(|&numerator| Share { numerator, denominator: 20 }).collect();
        let similar = ids.similar(10..110, &shares);
        for (share, similar) in shares.iter().zip(similar) {
            for (x, &found) in (10..110).zip(&similar) {
                let others = (10..110).filter(|&y| y != x && count(x, y) * 20 > share.numerator * 77).count();
                assert_eq!(found as usize, 1 + others, "{share:?}");
            }
        }
    }
}

#[test]
fn grams_of_many_bags_are_those_of_the_definition_and_depend_on_two_bags_alone() {
    // In a byte and beyond, with and without cells that some rows are in none of, more partitionings than a byte counts.
    for (psi, t, spheres) in [(7, 77, false), (300, 77, false), (9, 300, true), (260, 20, true)] {
        let case = Case::new(3, 400, 3, t, vec![psi], 6, false);
        let rows = &case.storages()[0];
        let partitions = match spheres {
            false => Partitions::new(rows.clone(), case.lists.clone(), t, Distance::Euclidean).unwrap(),
            true => {
                let bags = Bags::new(rows.clone(), vec![0, 400]).unwrap();
                let partition = Partition::Sphere(Distance::Euclidean);
                Partitions::draw(&bags, &[0], t, &case.psis, partition, &Ctx::default()).unwrap()
            }
        };
        let mapper = Mapper::new(&partitions, &case.psis, &Ctx::default()).unwrap();
        let ids = mapper.ids(rows, 0..400, &Ctx::default()).unwrap().remove(0);
        let offsets = [0, 1, 3, 64, 65, 130, 270, 271, 399, 400];
        let mut rng = Rng::new(5, "weights", &[]);
        let weights: Vec<Vec<f64>> = (0..3).map(|_| (0..400).map(|_| rng.uniform()).collect()).collect();
        let views: Vec<&[f64]> = weights.iter().map(Vec::as_slice).collect();
        let found = grams_of_many(&ids, &offsets, &views, &Ctx::default()).unwrap();
        let shared = |x: usize, y: usize| {
            (0..t).filter(|&i| ids.get(x, i).is_some() && ids.get(x, i) == ids.get(y, i)).count() as f64
        };
        for (gram, weights) in found.iter().zip(&weights) {
            for a in 0..9 {
                for b in 0..9 {
                    let pairs = (offsets[a]..offsets[a + 1])
                        .flat_map(|x| (offsets[b]..offsets[b + 1]).map(move |y| (x, y)));
                    let sum: f64 = pairs.map(|(x, y)| weights[x] * weights[y] * shared(x, y)).sum();
                    let value = sum / t as f64;
                    assert!((gram.get(a, b) - value).abs() <= 1e-12 * value, "{psi} {t}: {a} {b}");
                    assert_eq!(gram.get(a, b), gram.get(b, a));
                }
            }
        }
        // Without the first bags everything lies elsewhere in its block.
        let moved: Vec<usize> = offsets[3..].iter().map(|o| o - offsets[3]).collect();
        let ids = mapper.ids(rows, offsets[3]..400, &Ctx::default()).unwrap().remove(0);
        let rest: Vec<&[f64]> = views.iter().map(|w| &w[offsets[3]..]).collect();
        let fewer = grams_of_many(&ids, &moved, &rest, &Ctx::default()).unwrap();
        for (few, all) in fewer.iter().zip(&found) {
            for a in 0..6 {
                (0..6).for_each(|b| assert_eq!(few.get(a, b), all.get(a + 3, b + 3)));
            }
        }
    }
}
