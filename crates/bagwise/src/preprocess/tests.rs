//! Medians, categories and scaling on small bags.

use super::*;

fn bags(rows: &[[f64; 3]]) -> Bags {
    let offsets = (0..=rows.len()).collect();
    Bags::with_missing(Instances::F64(Mat::from_rows(rows)), offsets).unwrap()
}

fn applied(scale: Scale, data: &Bags, train: &[usize]) -> Vec<Vec<f64>> {
    let out = Transform::fit(scale, data.has_missing(), data, None, train)
        .unwrap()
        .apply(data, &Ctx::default())
        .unwrap();
    (0..out.len()).map(|b| out.bag(b).to_dense().unwrap().into_data()).collect()
}

#[test]
fn scaling_is_fitted_on_training_bags_and_applied_to_all() {
    let data = bags(&[[0.0, 7.0, -2.0], [10.0, 7.0, 4.0], [20.0, 8.0, 0.0]]);
    assert_eq!(
        applied(Scale::MinMax, &data, &[0, 1]),
        [vec![0.0, 0.0, 0.0], vec![1.0, 0.0, 1.0], vec![2.0, 0.0, 2.0 / 6.0]]
    );
    assert_eq!(applied(Scale::ZScore, &data, &[0, 1])[2], [3.0, 1.0, (0.0 - 1.0) / 3.0]);
    assert_eq!(applied(Scale::MaxAbs, &data, &[0, 1])[2], [2.0, 8.0 / 7.0, 0.0]);
}

#[test]
fn rows_that_are_scaled_as_they_are_read_equal_a_scaled_copy() {
    let rows = [[0.1, 7.0, -2.0], [10.3, 7.0, 4.7], [21.7, 8.0, 0.0]];
    let single: Vec<f32> = rows.iter().flatten().map(|&v| v as f32).collect();
    for instances in [Instances::F64(Mat::from_rows(&rows)), Instances::F32(Mat::new(3, 3, single))] {
        let data = Bags::new(instances, vec![0, 1, 2, 3]).unwrap();
        for scale in [Scale::MinMax, Scale::ZScore, Scale::MaxAbs] {
            let transform = Transform::fit(scale, false, &data, None, &[0, 1]).unwrap();
            let with = |memory: u64| {
                let mut ctx = Ctx::default();
                ctx.memory = memory;
                transform.apply(&data, &ctx).unwrap()
            };
            let (copied, read) = (with(1000), with(1));
            assert!(matches!(read.instances(), Instances::Stored(_)));
            assert!(!matches!(copied.instances(), Instances::Stored(_)));
            for b in 0..3 {
                assert_eq!(read.bag(b).to_dense().unwrap(), copied.bag(b).to_dense().unwrap(), "{scale:?}");
            }
        }
    }
}

#[test]
fn a_weight_is_so_many_copies_of_a_bag() {
    let rows = [[0.5, f64::NAN, -2.0], [10.0, 7.0, 4.0], [21.0, 0.0, 0.0]];
    let once = bags(&rows);
    let copies = bags(&[rows[0], rows[1], rows[1], rows[1], rows[2], rows[2]]);
    let weighted = |data: &Bags, train: &[usize], weights: &[f64]| {
        let transform = Transform::fit(Scale::ZScore, true, data, None, train).unwrap();
        transform.weighted(data, train, weights).unwrap()
    };
    let one = weighted(&once, &[0, 1, 2], &[1.0, 3.0, 2.0]);
    let many = weighted(&copies, &[0, 1, 2, 3, 4, 5], &[1.0; 6]);
    let plain = Transform::fit(Scale::ZScore, true, &copies, None, &[0, 1, 2, 3, 4, 5]).unwrap();
    for j in 0..3 {
        let ColumnTransform::Number { shift, divisor, .. } = one.columns[j] else { panic!("a number") };
        for other in [&many, &plain] {
            let ColumnTransform::Number { shift: s, divisor: d, .. } = other.columns[j] else {
                panic!("a number")
            };
            assert!(
                (shift - s).abs() < 1e-14 && (divisor - d).abs() < 1e-14,
                "{j}: {shift} {s} {divisor} {d}"
            );
        }
    }
}

#[test]
fn numbers_whose_squares_are_none_are_scaled_like_others() {
    // Powers of two, so that the quotients are the same to the last bit.
    let plain = [[0.0, 7.0, -2.0], [10.0, 7.0, 4.0], [20.0, 8.0, 0.0]];
    let expected = applied(Scale::ZScore, &bags(&plain), &[0, 1, 2]);
    for factor in [2f64.powi(1000), 2f64.powi(-900), 2f64.powi(600)] {
        let scaled = plain.map(|row| row.map(|v| v * factor));
        assert_eq!(applied(Scale::ZScore, &bags(&scaled), &[0, 1, 2]), expected, "{factor:e}");
    }
}

#[test]
fn test_bags_do_not_move_the_transform() {
    let one = bags(&[[0.0, 7.0, -2.0], [10.0, 7.0, 4.0], [20.0, 8.0, f64::NAN]]);
    let other = bags(&[[0.0, 7.0, -2.0], [10.0, 7.0, 4.0], [-9e9, 1e300, f64::NAN]]);
    for (_, scale) in Scale::ALL {
        let a = Transform::fit(scale, true, &one, None, &[0, 1]).unwrap();
        let b = Transform::fit(scale, true, &other, None, &[0, 1]).unwrap();
        assert_eq!(a, b);
    }
}

#[test]
fn gaps_take_the_median_of_the_training_bags() {
    let data = bags(&[[1.0, 0.0, 0.0], [5.0, 0.0, 0.0], [2.0, 0.0, 0.0], [f64::NAN, 0.0, 0.0]]);
    assert_eq!(applied(Scale::None, &data, &[0, 1, 2])[3][0], 2.0);
    assert_eq!(applied(Scale::None, &data, &[0, 1])[3][0], 3.0);
}

#[test]
fn sparse_rows_give_the_same_numbers_as_dense_ones() {
    let dense = bags(&[[0.0, 3.0, 0.0], [0.0, 0.0, 4.0], [2.0, 1.0, 0.0]]);
    let negative = bags(&[[0.0, 3.0, 0.0], [0.0, 0.0, -4.0], [2.0, 1.0, 0.0]]);
    for data in [dense, negative] {
        let mut csr = Csr::empty(3);
        for b in 0..3 {
            let row = data.bag(b).to_dense().unwrap().into_data();
            csr.push_row(row.iter().enumerate().map(|(j, &x)| (j as u32, x)));
        }
        let sparse = Bags::new(Instances::Sparse(csr), vec![0, 1, 2, 3]).unwrap();
        for (_, scale) in Scale::ALL {
            assert_eq!(applied(scale, &sparse, &[0, 1, 2]), applied(scale, &data, &[0, 1, 2]), "{scale:?}");
        }
    }
}

#[test]
fn vdm_matches_the_golden_file() {
    let golden: serde_json::Value =
        serde_json::from_str(include_str!("../../tests/golden/gauss/vdm.json")).unwrap();
    let columns = golden["train_columns"].as_array().unwrap();
    let labels: Vec<String> =
        golden["train_labels"].as_array().unwrap().iter().map(|l| l.to_string()).collect();
    let text = |v: &serde_json::Value| v.as_str().unwrap().to_string();
    let values: Vec<Vec<String>> = columns
        .iter()
        .map(|c| {
            let mut v: Vec<String> = c.as_array().unwrap().iter().map(text).collect();
            v.sort();
            v.dedup();
            v
        })
        .collect();
    let n = labels.len();
    let code = |column: usize, value: &str| {
        values[column].iter().position(|v| v == value).unwrap_or(values[column].len()) as f64
    };
    let mut rows = Mat::zeros(n, columns.len());
    for (j, column) in columns.iter().enumerate() {
        for i in 0..n {
            rows.set(i, j, code(j, column[i].as_str().unwrap()));
        }
    }
    let features: Arc<[Feature]> = values
        .iter()
        .enumerate()
        .map(|(j, v)| Feature { name: format!("z{j}"), kind: FeatureKind::Categorical { values: v.clone() } })
        .collect();
    let data =
        Bags::new(Instances::F64(rows), (0..=n).collect()).unwrap().with_features(features.clone()).unwrap();
    let target = Target::from_labels(&labels);
    let train: Vec<usize> = (0..n).collect();
    let transform = Transform::fit(Scale::MinMax, false, &data, Some(&target), &train).unwrap();
    let probabilities = |codes: Vec<f64>| {
        let bags = Bags::new(Instances::F64(Mat::new(1, codes.len(), codes)), vec![0, 1]).unwrap();
        let bags = bags.with_features(features.clone()).unwrap();
        transform.apply(&bags, &Ctx::default()).unwrap().bag(0).to_dense().unwrap().into_data()
    };
    let squared = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| (x - y) * (x - y)).sum::<f64>();
    let classes = 2;
    for case in golden["vdm_first_attribute"].as_array().unwrap() {
        let at = |key: &str| probabilities(vec![code(0, case[key].as_str().unwrap()), 0.0]);
        let vdm = squared(&at("z1")[..classes], &at("z2")[..classes]);
        assert!((vdm - case["vdm"].as_f64().unwrap()).abs() < 1e-15, "{case}");
    }
    for case in golden["mixed"].as_array().unwrap() {
        let at = |key: &str| {
            let list = case[key].as_array().unwrap();
            probabilities(list.iter().enumerate().map(|(j, v)| code(j, v.as_str().unwrap())).collect())
        };
        let numbers = |key: &str| -> Vec<f64> {
            case[key].as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect()
        };
        let total = squared(&at("cat1"), &at("cat2")) + squared(&numbers("num1"), &numbers("num2"));
        assert!((total - case["sqdist"].as_f64().unwrap()).abs() < 1e-14, "{case}");
    }
}
