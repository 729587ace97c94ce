//! The isolation set-kernel against an independent implementation (`golden/isk`): cells and counts are equal, numbers
//! agree to 1e-12 (sums of a few hundred terms in another order), decisions of machines to 1e-6 (the solvers' tolerance).

use std::ops::Range;

use bagwise::unstable::engine::cells::{
    CentreLists, Distance, Forest, Ids, Mapper, Partitions, Share, Split, Strategy, cosine, gram_of_ids,
    map_rows, products,
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
        let found: Vec<f64> =
            (0..ids.t()).map(|i| ids.get(row, i).map_or(-1.0, |cell| cell as f64)).collect();
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
        gram_of_ids(ids[0], offsets[0], 0..offsets[0].len() - 1, &[weights.map_or(&equal, |w| w[0])], &ctx)
            .unwrap()
            .remove(0);
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

/// Cells of the instances of `partitions.json`, instance x partitioning, and what follows from them.
fn assert_partition(partitions: &Partitions, case: &Value, expected: &Value, what: &str) {
    let x = rows(&case["instances"]);
    let mut offsets = vec![0];
    numbers(&case["sizes"]).iter().for_each(|size| offsets.push(offsets[offsets.len() - 1] + *size as usize));
    let ctx = Ctx::default();
    let t = partitions.t();
    let by_tree = rows(&expected["cells"]);
    for instances in storages(&x) {
        let mapper = Mapper::new(partitions, &[partitions.psi()], &ctx).unwrap();
        let ids = mapper.ids(&instances, 0..x.len(), &ctx).unwrap().remove(0);
        for row in 0..x.len() {
            let found = (0..t).map(|i| ids.get(row, i).map_or(-1.0, |cell| cell as f64));
            let expected: Vec<f64> = by_tree.iter().map(|cells| cells[row]).collect();
            assert_eq!(found.collect::<Vec<_>>(), expected, "{what}, instance {row}");
        }
        // Every instance a bag of its own: the kernel of instances.
        let singles: Vec<usize> = (0..=x.len()).collect();
        let kernel = gram_of_ids(&ids, &singles, 0..singles.len() - 1, &[&vec![1.0; x.len()]], &ctx)
            .unwrap()
            .remove(0);
        assert_matrix(&kernel, &expected["kernel"], what);
        let maps = map_rows(&ids, &ranges(&offsets), None);
        let equal: Vec<f64> =
            ranges(&offsets).into_iter().flat_map(|b| vec![1.0 / b.len() as f64; b.len()]).collect();
        for mut gram in [
            gram_of_ids(&ids, &offsets, 0..offsets.len() - 1, &[&equal], &ctx).unwrap().remove(0),
            products(&maps, &maps, true, &ctx).unwrap(),
        ] {
            cosine(&mut gram);
            assert_matrix(&gram, &expected["gram"], what);
        }
    }
}

/// A tree's nodes in preorder.
fn preorder(tree: &Value, nodes: &mut Vec<Option<Split>>) {
    if tree.is_null() {
        return nodes.push(None);
    }
    let attribute = tree["attribute"].as_u64().unwrap() as u32;
    nodes.push(Some(Split { attribute, at: tree["split"].as_f64().unwrap() }));
    preorder(&tree["left"], nodes);
    preorder(&tree["right"], nodes);
}

#[test]
fn spheres_and_everything_made_of_them() {
    let case = golden("partitions");
    let x = rows(&case["instances"]);
    let expected = &case["sphere"];
    let lists: Vec<u32> = list(&case["centres"]).iter().flat_map(numbers).map(|c| c as u32).collect();
    let t = list(&case["centres"]).len();
    let radii: Vec<f64> = list(&expected["radius"]).iter().flat_map(numbers).collect();
    for centres in storages(&x) {
        let lists = CentreLists::new(centres, lists.clone(), t, Distance::Euclidean).unwrap();
        let lists = lists.with_spheres(&[5], &Ctx::default()).unwrap();
        let squared = lists.squared_radii(5).unwrap();
        assert_eq!(squared.len(), radii.len());
        squared.iter().zip(&radii).for_each(|(found, expected)| close(found.sqrt(), *expected, "radius"));
        assert_partition(&Partitions::Centres(lists), &case, expected, "sphere");
    }
}

#[test]
fn trees_and_everything_made_of_them() {
    let case = golden("partitions");
    let expected = &case["forest"];
    let trees = list(&expected["trees"]);
    let mut nodes = Vec::new();
    trees.iter().for_each(|tree| preorder(tree, &mut nodes));
    let forest = Forest::new(3, trees.len(), 5, &nodes).unwrap();
    assert_partition(&Partitions::Forests(vec![forest]), &case, expected, "forest");
}
