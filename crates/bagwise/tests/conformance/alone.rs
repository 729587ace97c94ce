//! What a model says of a bag depends on that bag alone: not on the other bags it is asked about at the same time.

use bagwise::params::WhenUnset;
use bagwise::{Bags, Ctx};

use crate::toys::{SMALL, all, can_learn, fit, setup, toy, toy_values, variants};

/// Bags of one instance, of many, and far from everything else.
fn new_bags() -> Bags {
    let rows = toy(120, 2, 9).bags;
    let mut offsets = vec![0];
    for size in [1, 1, 2, 5, 60, 1, 30, 100, 3, 49, 1, 7, 25] {
        offsets.push(offsets[offsets.len() - 1] + size);
    }
    let mut values: Vec<Vec<f64>> = Vec::new();
    let rows_of_all = 0..offsets[offsets.len() - 1];
    rows.instances().each_row(rows_of_all, |_, row| values.push(row.to_vec())).unwrap();
    for row in [9..20, 70..80, 100..140].into_iter().flatten() {
        values[row].iter_mut().for_each(|x| *x += 30.0);
    }
    Bags::new(bagwise::Instances::F64(bagwise::Mat::from_rows(&values)), offsets).unwrap()
}

/// Consecutive bags with at most so many rows together, or one with more.
fn pieces(bags: &Bags, most: usize) -> Vec<Vec<usize>> {
    let mut pieces: Vec<Vec<usize>> = Vec::new();
    let mut rows = usize::MAX;
    for bag in 0..bags.len() {
        let own = bags.rows(bag).len();
        rows = rows.saturating_add(own);
        if rows > most {
            pieces.push(Vec::new());
            rows = own;
        }
        pieces.last_mut().expect("one was begun").push(bag);
    }
    pieces
}

#[test]
fn pieces_of_1_of_500_and_of_16384_rows_are_answered_alike() {
    let few = new_bags();
    // The same bags again and again, each time elsewhere in its piece.
    let again: Vec<usize> = (0..few.len()).cycle().take(16_384 / 285 * 13 + 40).collect();
    let new = few.select(&again);
    assert!(new.instance_count() > 16_384);
    let data = toy(12, 2, 3);
    for method in variants().iter().filter(|m| can_learn(**m, &data)) {
        let model = fit(&setup(*method, SMALL, WhenUnset::Default, &data), &data, &all(&data));
        let answers = |bags: &Bags| model.predict_with(bags, &Ctx::default()).unwrap();
        // One after another: each bag once.
        let alone: Vec<_> = (0..few.len()).map(|bag| answers(&few.select(&[bag])).remove(0)).collect();
        for most in [500, 16_384] {
            for part in pieces(&new, most) {
                for (found, &bag) in answers(&new.select(&part)).iter().zip(&part) {
                    let other = &alone[again[bag]];
                    assert_eq!(found.outputs, other.outputs, "{}: {most} rows", method.info().name);
                }
            }
        }
    }
}

#[test]
fn a_bag_is_answered_to_the_bit_whatever_comes_with_it() {
    let new = new_bags();
    for data in [toy(24, 2, 3), toy(24, 3, 3), toy_values(24, 3)] {
        for method in variants().iter().filter(|m| can_learn(**m, &data)) {
            let model = fit(&setup(*method, SMALL, WhenUnset::Grid, &data), &data, &all(&data));
            let answers = |bags: &Bags| model.predict_with(bags, &Ctx::default()).unwrap();
            let together = answers(&new);
            for size in [1, 4] {
                let bags: Vec<usize> = (0..new.len()).collect();
                for part in bags.chunks(size) {
                    for (found, &bag) in answers(&new.select(part)).iter().zip(part) {
                        let other = &together[bag];
                        assert_eq!(found.outputs, other.outputs, "{}: bag {bag}", method.info().name);
                        assert_eq!(found, other, "{}: bag {bag}", method.info().name);
                    }
                }
            }
        }
    }
}
