//! What a model says of a bag depends on that bag alone: not on the other bags it is asked about at the same time.

use bagwise::params::WhenUnset;
use bagwise::{Bags, Ctx};

use crate::toys::{SMALL, all, can_learn, fit, setup, toy, toy_values, variants};

#[test]
fn a_bag_is_answered_to_the_bit_whatever_comes_with_it() {
    // Bags of one instance, of many, and far from everything else.
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
    let new = Bags::new(bagwise::Instances::F64(bagwise::Mat::from_rows(&values)), offsets).unwrap();
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
