//! The isolation set-kernel against an independent implementation (`golden/isk`): cells and counts are equal, numbers
//! agree to 1e-12 (sums of a few hundred terms in another order), decisions of machines to 1e-6 (the solvers' tolerance).

use std::ops::Range;

use bagwise::unstable::engine::cells::{
    Distance, Ids, Mapper, Partitions, Share, Strategy, cosine, gram_of_ids, map_rows, products,
};
use bagwise::{Csr, Ctx, Instances, Mat};
use bagwise_svm::{Features, Form, Gram, LinearParams, SmoParams};
use serde_json::Value;

const STRATEGIES: [Strategy; 4] = [Strategy::Literal, Strategy::Fused, Strategy::Walk, Strategy::Scan];

fn golden(name: &str) -> Value {
    let path = format!("{}/tests/golden/isk/{name}.json", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"));
    serde_json::from_str(&text).unwrap()
}

fn list(value: &Value) -> &Vec<Value> {
    value.as_array().unwrap()
}

fn numbers(value: &Value) -> Vec<f64> {
    list(value).iter().map(|v| v.as_f64().unwrap()).collect()
}

fn rows(value: &Value) -> Vec<Vec<f64>> {
    list(value).iter().map(numbers).collect()
}

fn close(found: f64, expected: f64, what: &str) {
    assert!((found - expected).abs() <= 1e-12 * expected.abs(), "{what}: {found:e}, expected {expected:e}");
}

/// The rows dense and sparse.
fn storages(rows: &[Vec<f64>]) -> [Instances; 2] {
    let dense = Mat::from_rows(rows);
    let mut sparse = Csr::empty(dense.cols());
    rows.iter().for_each(|r| sparse.push_row(r.iter().enumerate().map(|(j, &v)| (j as u32, v))));
    [Instances::F64(dense), Instances::Sparse(sparse)]
}

fn bags(value: &Value) -> (Vec<Vec<f64>>, Vec<usize>) {
    let (mut all, mut offsets) = (Vec::new(), vec![0]);
    for bag in list(value) {
        all.extend(rows(bag));
        offsets.push(all.len());
    }
    (all, offsets)
}

fn ranges(offsets: &[usize]) -> Vec<Range<usize>> {
    offsets.windows(2).map(|w| w[0]..w[1]).collect()
}

fn assert_ids(ids: &Ids, expected: &Value, what: &str) {
    let expected: Vec<Vec<f64>> = list(expected).iter().flat_map(rows).collect();
    assert_eq!(ids.rows(), expected.len());
    for (row, expected) in expected.iter().enumerate() {
        let found: Vec<f64> = (0..ids.t()).map(|i| ids.get(row, i) as f64).collect();
        assert_eq!(&found, expected, "{what}, instance {row}");
    }
}

fn assert_counts(ids: &Ids, offsets: &[usize], expected: &Value, what: &str) {
    for (bag, expected) in ranges(offsets).into_iter().zip(list(expected)) {
        for (x, expected) in bag.clone().zip(rows(expected)) {
            let agree = |y: usize| (0..ids.t()).filter(|&i| ids.get(x, i) == ids.get(y, i)).count() as f64;
            assert_eq!(bag.clone().map(agree).collect::<Vec<_>>(), expected, "{what}");
        }
    }
}

fn assert_map(map: &Csr, expected: &Value, what: &str) {
    for (b, expected) in list(expected).iter().enumerate() {
        let (columns, values) = map.row(b);
        let expected = rows(expected);
        assert_eq!(columns.len(), expected.len(), "{what}, bag {b}");
        for ((&column, &value), expected) in columns.iter().zip(values).zip(&expected) {
            assert_eq!(f64::from(column), expected[0], "{what}, bag {b}");
            close(value, expected[1], what);
        }
    }
}

fn assert_matrix(found: &Mat, expected: &Value, what: &str) {
    let expected = Mat::from_rows(&rows(expected));
    assert_eq!((found.rows(), found.cols()), (expected.rows(), expected.cols()), "{what}");
    found.data().iter().zip(expected.data()).for_each(|(&f, &e)| close(f, e, what));
}

/// Maps divided by their lengths.
fn unit(map: &Csr) -> Csr {
    let mut unit = Csr::empty(map.cols());
    for b in 0..map.rows() {
        let (columns, values) = map.row(b);
        let length = values.iter().map(|v| v * v).sum::<f64>().sqrt();
        unit.push_row(columns.iter().copied().zip(values.iter().map(|v| v / length)));
    }
    unit
}

/// Everything that follows from cells and one weighting.
fn assert_kernel(
    ids: [&Ids; 2],
    offsets: [&[usize]; 2],
    weights: Option<[&[f64]; 2]>,
    expected: &Value,
    what: &str,
) -> usize {
    let ctx = Ctx::default();
    let t = ids[0].t();
    let maps = [0, 1].map(|s| map_rows(ids[s], &ranges(offsets[s]), weights.map(|w| w[s])));
    assert_map(&maps[0], &expected["feature_map"], what);
    assert_map(&maps[1], &expected["test_feature_map"], what);
    let equal: Vec<f64> =
        ranges(offsets[0]).into_iter().flat_map(|b| vec![1.0 / b.len() as f64; b.len()]).collect();
    let by_ids =
        gram_of_ids(ids[0], offsets[0], &[weights.map_or(&equal, |w| w[0])], &ctx).unwrap().remove(0);
    let mut normalised = Mat::zeros(0, 0);
    let mut by_maps = products(&maps[0], &maps[0], true, &ctx).unwrap();
    by_maps.data_mut().iter_mut().for_each(|k| *k /= t as f64);
    for gram in [by_ids, by_maps] {
        assert_matrix(&gram, &expected["gram"], what);
        normalised = gram;
        cosine(&mut normalised);
        assert_matrix(&normalised, &expected["gram_normalised"], what);
    }
    let mut cross = products(&maps[1], &maps[0], false, &ctx).unwrap();
    cross.data_mut().iter_mut().for_each(|k| *k /= t as f64);
    assert_matrix(&cross, &expected["cross"], what);
    let (train, test) = (unit(&maps[0]), unit(&maps[1]));
    let cross = products(&test, &train, false, &ctx).unwrap();
    assert_matrix(&cross, &expected["cross_normalised"], what);
    if expected["svm"].is_null() {
        return 0;
    }
    assert_machines(&normalised, &cross, &train, &test, &expected["svm"], what)
}

fn features_of(map: &Csr) -> Features<'_> {
    Features::Sparse {
        starts: map.indptr(),
        indices: map.indices(),
        values: map.values(),
        columns: map.cols(),
    }
}

/// Machines on the Gram and on the map, one for each pair of classes.
fn assert_machines(gram: &Mat, cross: &Mat, train: &Csr, test: &Csr, expected: &Value, what: &str) -> usize {
    let labels = numbers(&expected["labels"]);
    let cost = expected["C"].as_f64().unwrap();
    let mut classes = labels.clone();
    classes.sort_by(f64::total_cmp);
    classes.dedup();
    let binary = classes.len() == 2;
    let column = |value: &Value, k: usize| match binary {
        true => numbers(value),
        false => rows(value).iter().map(|r| r[k]).collect(),
    };
    let mut pair = 0;
    for a in 0..classes.len() {
        for b in a + 1..classes.len() {
            let own: Vec<usize> =
                (0..labels.len()).filter(|&i| [classes[a], classes[b]].contains(&labels[i])).collect();
            // Two classes: positive means the larger; several: the first of the pair.
            let positive = if binary { classes[b] } else { classes[a] };
            let y: Vec<f64> = own.iter().map(|&i| if labels[i] == positive { 1.0 } else { -1.0 }).collect();
            let bounds = vec![cost; own.len()];
            let tight = SmoParams { tolerance: 1e-10, ..SmoParams::default() };
            let form = Form::Classify { labels: &y };
            let kernel =
                bagwise_svm::fit(&Gram::new(gram.data(), gram.cols(), &own), form, &bounds, None, &tight);
            let picked = train.gather(&own);
            let features = |m: &Csr| -> Vec<f64> {
                let params = LinearParams { tolerance: 1e-10, ..LinearParams::default() };
                let machine = bagwise_svm::fit_linear(&features_of(&picked), form, &bounds, None, &params);
                machine.outputs(&features_of(m))
            };
            for (which, matrix, map) in [("decision", gram, train), ("test_decision", cross, test)] {
                let expected = column(&expected[which], pair);
                let linear = features(map);
                for (i, &expected) in expected.iter().enumerate() {
                    let found = kernel.output(|k| matrix.get(i, own[k]));
                    assert!(
                        (found - expected).abs() < 1e-6,
                        "{what} {which} {i}: {found}, expected {expected}"
                    );
                    assert!(
                        (linear[i] - expected).abs() < 1e-6,
                        "{what} {which} {i}: map {}, {expected}",
                        linear[i]
                    );
                }
            }
            pair += 1;
        }
    }
    pair
}

fn check(name: &str) -> usize {
    let case = golden(name);
    let distance = if case["distance"] == "modified" { Distance::Text } else { Distance::Euclidean };
    let (t, psi) = (case["t"].as_u64().unwrap() as usize, case["psi"].as_u64().unwrap() as usize);
    let centres: Vec<Vec<f64>> = list(&case["partitions"]).iter().flat_map(rows).collect();
    let (train, train_offsets) = bags(&case["bags"]);
    let (test, test_offsets) = bags(&case["test_bags"]);
    let ctx = Ctx::default();
    let mut machines = 0;
    for ((centres, train), test) in storages(&centres).into_iter().zip(storages(&train)).zip(storages(&test))
    {
        let partitions = Partitions::new(centres, (0..(t * psi) as u32).collect(), t, distance).unwrap();
        let mut last: Option<[Ids; 2]> = None;
        for strategy in STRATEGIES {
            let what = format!("{name}, {strategy:?}, {}", train.kind());
            let mapper = Mapper::by(&partitions, &[psi], strategy, &ctx).unwrap();
            let ids = [&train, &test].map(|side| mapper.ids(side, 0..side.rows(), &ctx).unwrap().remove(0));
            assert_ids(&ids[0], &case["cell_ids"], &what);
            assert_ids(&ids[1], &case["test_cell_ids"], &what);
            last = Some(ids);
        }
        let [ids, test_ids] = last.unwrap();
        assert_counts(&ids, &train_offsets, &case["match_counts"], name);
        assert_counts(&test_ids, &test_offsets, &case["test_match_counts"], name);
        let (ids, offsets) = ([&ids, &test_ids], [&train_offsets[..], &test_offsets[..]]);
        machines += assert_kernel(ids, offsets, None, &case["unweighted"], name);
        let shares: Vec<Share> = list(&case["weighted"])
            .iter()
            .map(|w| Share {
                numerator: w["eps_num"].as_u64().unwrap() as u32,
                denominator: w["eps_den"].as_u64().unwrap() as u32,
            })
            .collect();
        // All shares from one count, and bag after bag.
        let weights: Vec<Vec<Vec<f64>>> = [0, 1]
            .map(|s| {
                let mut all = vec![Vec::new(); shares.len()];
                for bag in ranges(offsets[s]) {
                    for (all, own) in all.iter_mut().zip(ids[s].weights(bag, &shares)) {
                        all.extend(own);
                    }
                }
                all
            })
            .to_vec();
        for (e, expected) in list(&case["weighted"]).iter().enumerate() {
            let what = format!("{name}, {:?}", shares[e]);
            for (s, field) in ["weights", "test_weights"].into_iter().enumerate() {
                let flat: Vec<f64> = list(&expected[field]).iter().flat_map(numbers).collect();
                assert_eq!(flat.len(), weights[s][e].len());
                weights[s][e].iter().zip(flat).for_each(|(&f, e)| close(f, e, &what));
            }
            let raw: Vec<f64> = list(&expected["raw_weights"]).iter().flat_map(numbers).collect();
            let similar =
                ranges(offsets[0]).into_iter().flat_map(|b| ids[0].similar(b, &shares[e..=e]).remove(0));
            similar.zip(raw).for_each(|(c, w)| close(1.0 / f64::from(c), w, &what));
            let own = Some([&weights[0][e][..], &weights[1][e][..]]);
            machines += assert_kernel(ids, offsets, own, expected, &what);
        }
    }
    machines
}

#[test]
fn euclidean_cells_and_everything_made_of_them() {
    for name in ["euclid_basic", "euclid_ties", "sparse_euclidean", "psi_one", "psi_all"] {
        check(name);
    }
}

#[test]
fn text_cells_and_everything_made_of_them() {
    check("modified_ties");
    check("sparse_modified");
}

#[test]
fn a_share_is_exceeded_strictly() {
    check("eps_boundary_t7");
    check("eps_boundary_t20");
    check("eps_boundary_t200");
}

#[test]
fn machines_decide_alike_on_the_gram_and_on_the_map() {
    // Two storages; one machine for two classes and three for three; with and without weights.
    assert_eq!(check("svm_binary"), 2 * 3);
    assert_eq!(check("svm_three_class"), 2 * 3 * 2);
}

#[test]
fn one_pass_gives_the_cells_of_every_prefix() {
    let case = golden("prefix");
    let x = rows(&case["X"]);
    let lists: Vec<u32> = list(&case["perms"]).iter().flat_map(numbers).map(|v| v as u32).collect();
    let psis = [1, 2, 4, 8, 16, 32];
    let ctx = Ctx::default();
    for instances in storages(&x) {
        let partitions = Partitions::new(instances.clone(), lists.clone(), 4, Distance::Euclidean).unwrap();
        for strategy in STRATEGIES {
            let mapper = Mapper::by(&partitions, &psis, strategy, &ctx).unwrap();
            for (ids, psi) in mapper.ids(&instances, 0..x.len(), &ctx).unwrap().iter().zip(psis) {
                let expected = Value::Array(vec![case["ids"][psi.to_string()].clone()]);
                assert_ids(ids, &expected, &format!("psi {psi}, {strategy:?}"));
            }
        }
    }
}
