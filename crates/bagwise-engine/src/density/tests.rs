//! The batched density against the plain one, on every instruction set of this machine.

use super::*;
use crate::kernels::AvailableKernels;
use bagwise_core::{Instances, Rng};

fn evidence(seed: u64, bags: usize, width: usize, values: bool) -> Evidence {
    let mut rng = Rng::new(seed, "density", &[]);
    let (mut rows, mut offsets, mut targets) = (Vec::new(), vec![0], Vec::new());
    for b in 0..bags {
        for _ in 0..1 + rng.below(40) {
            rows.push((0..width).map(|_| rng.normal()).collect::<Vec<f64>>());
        }
        // An instance that two bags share.
        if b > 0 && b % 5 == 0 {
            rows.push(rows[0].clone());
        }
        offsets.push(rows.len());
        let target = if b % 2 == 0 { BagTarget::Positive } else { BagTarget::Negative };
        targets.push(if values { BagTarget::Value(rng.uniform()) } else { target });
    }
    let bags = Bags::new(Instances::F64(Mat::from_rows(&rows)), offsets).unwrap();
    let all: Vec<usize> = (0..bags.len()).collect();
    Evidence::new(&bags, &all, targets, &Ctx::default()).unwrap()
}

/// At instances, between them, far away, and with all kinds of weights.
fn concepts(evidence: &Evidence, count: usize) -> Vec<Concept> {
    let mut rng = Rng::new(3, "concepts", &[]);
    let d = evidence.width();
    (0..count)
        .map(|i| {
            let row = evidence.instances().row(rng.below(evidence.instances().rows()));
            let spread = [0.0, 1e-8, 1e-3, 0.3, 100.0][i % 5];
            let size = [1.0, 0.1, 5.0][i % 3] / (d as f64).sqrt();
            Concept {
                point: row.iter().map(|x| x + spread * rng.normal()).collect(),
                weights: (0..d).map(|_| size * (1.0 + 0.5 * rng.normal())).collect(),
            }
        })
        .collect()
}

#[test]
fn the_batch_agrees_with_the_plain_form_on_every_instruction_set() {
    for (width, values) in [(1, false), (7, false), (130, false), (7, true), (130, true)] {
        let evidence = evidence(1, 23, width, values);
        let concepts = concepts(&evidence, 75);
        for weighted in [true, false] {
            for kernels in <f64 as AvailableKernels>::available() {
                let batch = Batch::with(&evidence, weighted, kernels, &Ctx::default()).unwrap();
                let found = batch.densities(&concepts, &Ctx::default()).unwrap();
                for (i, (concept, (value, gradient))) in concepts.iter().zip(found).enumerate() {
                    let (expected, mut slopes, by_weight) = evidence.density(concept);
                    if weighted {
                        slopes.extend(by_weight);
                    }
                    let case = format!("{} {width} {values} {weighted} concept {i}", kernels.set.name());
                    let off = (value - expected).abs() / expected.abs().max(1.0);
                    assert!(off < 1e-12, "{case}: {value} {expected}");
                    // Sums of slopes times coordinates lose what they cancel.
                    let size = slopes.iter().fold(0.0, |m: f64, s| m.max(s.abs()));
                    for (g, s) in gradient.iter().zip(&slopes) {
                        assert!((g - s).abs() <= 1e-9 * size, "{case}: {g} {s} of {size}");
                    }
                }
            }
        }
    }
}

#[test]
fn a_weight_is_so_many_copies_of_a_bag() {
    for values in [false, true] {
        let one = evidence(6, 9, 4, values);
        let times = [1, 3, 2, 1, 1, 4, 2, 1, 2];
        let which: Vec<usize> = (0..9).flat_map(|b| std::iter::repeat_n(b, times[b])).collect();
        let bags = Bags::new(Instances::F64(one.instances().clone()), one.offsets().to_vec()).unwrap();
        let targets = which.iter().map(|&b| one.targets()[b]).collect();
        let copies = Evidence::new(&bags, &which, targets, &Ctx::default()).unwrap();
        let weighted = one.with_weights(&times.map(|n| n as f64));
        let concepts = concepts(&weighted, 40);
        let of = |evidence: &Evidence| {
            Batch::new(evidence, true, &Ctx::default())
                .unwrap()
                .densities(&concepts, &Ctx::default())
                .unwrap()
        };
        for ((concept, (a, by_a)), (b, by_b)) in concepts.iter().zip(of(&weighted)).zip(of(&copies)) {
            assert!((a - b).abs() < 1e-12 * b.abs().max(1.0), "{a} {b}");
            let size = by_b.iter().fold(0.0, |m: f64, s| m.max(s.abs()));
            by_a.iter()
                .zip(&by_b)
                .for_each(|(a, b)| assert!((a - b).abs() <= 1e-9 * size, "{a} {b} of {size}"));
            let (plain, ..) = weighted.density(concept);
            assert!((plain - a).abs() < 1e-12 * a.abs().max(1.0), "{plain} {a}");
        }
    }
}

#[test]
fn neighbours_in_a_batch_change_no_bit() {
    let evidence = evidence(2, 15, 9, false);
    let concepts = concepts(&evidence, 40);
    let batch = Batch::new(&evidence, true, &Ctx::default()).unwrap();
    let together = batch.densities(&concepts, &Ctx::default()).unwrap();
    for (concept, together) in concepts.iter().zip(together) {
        let alone = batch.densities(std::slice::from_ref(concept), &Ctx::default()).unwrap().remove(0);
        assert_eq!(alone, together);
    }
}

fn options(distance: ConceptMetric) -> SearchOptions {
    SearchOptions { distance, rho: 1.0, starts: Starts::All, stop: Stop::after(50) }
}

#[test]
fn searches_give_the_same_bits_on_any_number_of_threads() {
    let evidence = evidence(4, 12, 5, false);
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let ctx = Ctx::default();
            let options = options(ConceptMetric::Weighted);
            (search(&evidence, &options, &ctx).unwrap(), search_em(&evidence, &options, &ctx).unwrap())
        })
    };
    let one = on(1);
    assert!(one == on(3));
    let starts = evidence.starts(Starts::All, 0);
    assert_eq!(one.0.iter().map(|f| f.start).collect::<Vec<_>>(), starts);
    for found in &one.0 {
        let at_start = Concept {
            point: evidence.instances().row(found.start).to_vec(),
            weights: vec![(1.0f64 / 5.0).sqrt(); 5],
        };
        assert!(found.log_density >= evidence.density(&at_start).0, "a climb goes up");
        // The value it reports is the density of the concept it reports.
        let (value, ..) = evidence.density(&found.concept);
        assert!((value - found.log_density).abs() < 1e-11 * value.abs().max(1.0));
    }
}

#[test]
fn climbs_that_do_not_fit_together_find_the_same() {
    let evidence = evidence(7, 12, 5, false);
    let options = options(ConceptMetric::Weighted);
    // Ten numbers are free: some two kilobytes a climb.
    assert_eq!(search::together(10, Ctx::default().memory), 2048);
    let mut tight = Ctx::default();
    tight.memory = 200_000;
    let starts = evidence.starts(Starts::All, 0).len();
    assert!(search::together(10, tight.memory) < starts, "{starts} climbs in several batches");
    assert!(
        search(&evidence, &options, &tight).unwrap() == search(&evidence, &options, &Ctx::default()).unwrap()
    );
}

#[test]
fn starts_are_those_of_positive_bags_and_a_subset_is_drawn_by_the_seed() {
    let evidence = evidence(5, 10, 3, false);
    let all = evidence.starts(Starts::All, 0);
    let expected: Vec<usize> =
        (0..10).step_by(2).flat_map(|b| evidence.offsets()[b]..evidence.offsets()[b + 1]).collect();
    assert_eq!(all, expected);
    let some = evidence.starts(Starts::Some(7), 1);
    assert!(some.len() == 7 && some.is_sorted() && some.iter().all(|s| all.contains(s)));
    assert_eq!(some, evidence.starts(Starts::Some(7), 1));
    assert_ne!(some, evidence.starts(Starts::Some(7), 2));
    assert_eq!(evidence.starts(Starts::Some(10_000), 1), all);
}

#[test]
fn low_values_start_from_the_largest_and_no_positive_bag_gives_no_concept() {
    let bags = Bags::new(Instances::F64(Mat::new(3, 1, vec![0.0, 1.0, 2.0])), vec![0, 1, 3]).unwrap();
    let with = |targets: Vec<BagTarget>| Evidence::new(&bags, &[0, 1], targets, &Ctx::default()).unwrap();
    assert_eq!(with(vec![BagTarget::Value(0.1), BagTarget::Value(0.2)]).starts(Starts::All, 0), [1, 2]);
    let negative = with(vec![BagTarget::Negative; 2]);
    assert!(search(&negative, &options(ConceptMetric::Weighted), &Ctx::default()).unwrap().is_empty());
    assert!(search_em(&negative, &options(ConceptMetric::Weighted), &Ctx::default()).unwrap().is_empty());
    let positive = with(vec![BagTarget::Positive; 2]);
    assert_eq!(search(&positive, &options(ConceptMetric::Weighted), &Ctx::default()).unwrap().len(), 3);
}

#[test]
fn a_cancelled_search_stops() {
    let ctx = Ctx::default();
    ctx.canceller().store(true, std::sync::atomic::Ordering::Relaxed);
    let evidence = evidence(6, 6, 3, false);
    assert!(search(&evidence, &options(ConceptMetric::Weighted), &ctx).is_err());
    assert!(search_em(&evidence, &options(ConceptMetric::Weighted), &ctx).is_err());
}

fn automatic(distance: ConceptMetric) -> SearchOptions {
    SearchOptions { starts: Starts::Auto, ..options(distance) }
}

#[test]
fn an_automatic_search_finds_the_densest_with_a_part_of_the_climbs() {
    let ctx = Ctx::default();
    for seed in 10..12 {
        let evidence = evidence(seed, 50, 4, false);
        let all = search(&evidence, &options(ConceptMetric::Weighted), &ctx).unwrap();
        let some = search(&evidence, &automatic(ConceptMetric::Weighted), &ctx).unwrap();
        let densest = |found: &[FoundConcept]| found.iter().map(|f| f.log_density).fold(f64::MIN, f64::max);
        let effort = |found: &[FoundConcept]| found.iter().map(|f| f.evaluations).sum::<usize>();
        assert!(densest(&some) >= densest(&all) - 0.01 * densest(&all).abs(), "{seed}");
        assert!(2 * effort(&some) < effort(&all), "{} of {}", effort(&some), effort(&all));
        assert!(some.len() < all.len() && some.is_sorted_by_key(|f| f.start));
        for found in &some {
            // What is reported of a climb, or of the one it joined, is the density of its concept.
            let (value, ..) = evidence.density(&found.concept);
            assert!((value - found.log_density).abs() < 1e-10 * value.abs().max(1.0));
        }
    }
}

#[test]
fn an_automatic_search_depends_on_neither_threads_nor_memory() {
    let evidence = evidence(15, 40, 5, false);
    let options = automatic(ConceptMetric::Weighted);
    let on = |threads: usize, memory: u64| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let mut ctx = Ctx::default();
        ctx.memory = memory;
        pool.install(|| search(&evidence, &options, &ctx).unwrap())
    };
    let one = on(1, 4_000_000_000);
    assert!(one == on(3, 4_000_000_000));
    let starts = evidence.starts(Starts::Auto, 0).len();
    assert!(search::together(10, 1_500_000) < starts, "{starts} starts in several batches");
    assert!(one == on(1, 1_500_000));
}

#[test]
fn climbs_that_join_a_denser_one_end_where_it_ends() {
    // Without weights the density has few maxima, and climbs meet on their way.
    let evidence = evidence(16, 40, 2, false);
    let found = search(&evidence, &automatic(ConceptMetric::Unweighted), &Ctx::default()).unwrap();
    let followers: Vec<&FoundConcept> = found.iter().filter(|f| f.evaluations == 0).collect();
    assert!(!followers.is_empty());
    let leads = |of: &FoundConcept| {
        found.iter().any(|f| f.evaluations > 0 && f.concept == of.concept && f.log_density == of.log_density)
    };
    assert!(followers.into_iter().all(leads));
}

#[test]
fn the_number_of_automatic_starts_follows_from_the_shape() {
    assert!(auto_starts(430, 166) > 5_000, "Musk1 has all");
    assert!((200..1500).contains(&auto_starts(5900, 166)), "Musk2 has some");
    assert_eq!(auto_starts(10_000_000, 384), 64);
    let few = evidence(5, 10, 3, false);
    assert_eq!(few.starts(Starts::Auto, 0), few.starts(Starts::All, 0));
}
