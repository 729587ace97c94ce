//! The isolation set-kernel as a method: machines on Grams and on maps are the same, pools and scalings are kept, and the
//! kernel adapts to density as the paper's figures show.

use bagwise::Rng;
use bagwise::fold::{FoldScope, ResolvedConfig, TrainingTask};
use bagwise::fold::{TrainOptions, train};
use bagwise::judge::{Fold, Metric, Splits};
use bagwise::method::Explanation;
use bagwise::model::Model;
use bagwise::params::{Grid, WhenUnset};
use bagwise::preprocess::Scale;
use bagwise::unstable::engine::cells::{Distance, Mapper, Partition, Partitions, map_rows, products};
use bagwise::{
    Bags, Csr, Ctx, Dataset, Error, Feature, Instances, Mat, Target, feature_map, gram, io, methods,
};
use serde_json::Value;

fn setup(given: &[(&str, &str)], fill: WhenUnset, regression: bool) -> ResolvedConfig {
    let method = methods::find("isk").unwrap();
    let given: Vec<(String, String)> = given.iter().map(|(n, v)| (n.to_string(), v.to_string())).collect();
    ResolvedConfig::new(method, Grid::new("isk", method.params(), &given, fill, regression).unwrap())
}

fn fit(setup: &ResolvedConfig, data: &Dataset) -> Result<Model, Error> {
    let learners = [TrainingTask::new(data, setup, None)?];
    let metric = if learners[0].is_regression() { Metric::Mse } else { Metric::Accuracy };
    let all: Vec<usize> = (0..data.bags.len()).collect();
    train(&learners, &all, Splits::KFold(3), &TrainOptions::by(metric), &Ctx::seeded(7))
}

fn data(query: &str) -> Dataset {
    io::read(&format!("synthetic:gauss?{query}"), &Default::default()).unwrap()
}

/// The first feature's mean as a value to predict.
fn with_values(data: Dataset) -> Dataset {
    let mean = |b: usize| {
        let bag = data.bags.bag(b).to_dense().unwrap();
        (0..bag.rows()).map(|i| bag.get(i, 0)).sum::<f64>() / bag.rows() as f64
    };
    let values = (0..data.bags.len()).map(mean).collect();
    Dataset { target: Some(Target::Values(values)), ..data }
}

#[test]
fn machines_on_maps_are_those_on_the_gram() {
    for (data, regression) in [
        (data("bags=60&seed=1"), false),
        (data("bags=60&classes=3&seed=2"), false),
        (with_values(data("bags=60&seed=3")), true),
    ] {
        let new = self::data("bags=25&seed=9");
        let answers: Vec<Vec<Vec<f64>>> = ["gram", "map"]
            .iter()
            .map(|solver| {
                let given = [("psi", "32"), ("epsilon", "11/20"), ("c", "2"), ("solver", solver)];
                let model = fit(&setup(&given, WhenUnset::Default, regression), &data).unwrap();
                let loaded = Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
                let found = loaded.predict_with(&new.bags, &Ctx::default()).unwrap();
                assert_eq!(found, model.predict_with(&new.bags, &Ctx::default()).unwrap());
                for (p, machines) in
                    found.iter().zip(loaded.explain_with(&new.bags, &Ctx::default()).unwrap())
                {
                    for (value, explanation) in p.outputs.iter().zip(machines) {
                        let Explanation::Additive { bias, parts } = explanation else { unreachable!() };
                        let sum = bias + parts.iter().sum::<f64>();
                        assert!((sum - value).abs() < 1e-10, "{sum} and {value}");
                    }
                }
                // Only machines on Grams have compared the bags with each other.
                assert!(found.iter().all(|p| p.nearest.is_some() == (*solver == "gram")));
                found.into_iter().map(|p| p.outputs).collect()
            })
            .collect();
        for (a, b) in answers[0].iter().flatten().zip(answers[1].iter().flatten()) {
            // Both solvers stop at a gap of 1e-3 (in units of the target's spread, here below 1).
            assert!((a - b).abs() < 2e-3, "{a} and {b}");
        }
    }
}

#[test]
fn many_bags_are_learned_from_their_maps() {
    let data = data("bags=1000&min=1&max=3&seed=4");
    let model =
        fit(&setup(&[("psi", "16"), ("t", "50"), ("c", "1")], WhenUnset::Default, false), &data).unwrap();
    let found = model.predict_with(&data.bags, &Ctx::default()).unwrap();
    assert!(found.iter().all(|p| p.nearest.is_none()), "nobody compared a thousand bags with each other");
    let Some(Target::Classes { codes, names }) = &data.target else { unreachable!() };
    let right =
        found.iter().zip(codes).filter(|(p, c)| p.label.as_ref() == Some(&names[**c as usize])).count();
    assert!(right > 800, "{right} of 1000");
    // The Gram is made for those who ask for it.
    let point = &setup(&[("psi", "16"), ("t", "50")], WhenUnset::Default, false).grid.points[0];
    let method = methods::find("isk").unwrap();
    let square = gram(method, point, Scale::None, false, &data.bags, None, None, &Ctx::default()).unwrap();
    assert_eq!((square.rows(), square.cols()), (1000, 1000));
    assert!((0..1000).all(|b| (square.get(b, b) - 1.0).abs() < 1e-12));
}

#[test]
fn the_map_gives_the_gram_and_rows_outside_memory_give_the_same_map() {
    let stored =
        io::read("synthetic:embeddings?bags=20&instances=60&features=9", &Default::default()).unwrap();
    let Instances::Stored(rows) = stored.bags.instances() else { panic!("embeddings are not in memory") };
    let mut values = vec![0.0f32; rows.rows() * rows.cols()];
    rows.read_f32(0..rows.rows(), &mut values).unwrap();
    let held = Instances::F32(Mat::new(rows.rows(), rows.cols(), values));
    let held = Bags::new(held, stored.bags.offsets().to_vec()).unwrap();
    let method = methods::find("isk").unwrap();
    for psi in ["16", "700"] {
        let point = &setup(&[("psi", psi), ("epsilon", "3/5")], WhenUnset::Default, false).grid.points[0];
        let ctx = Ctx::default();
        let map = |bags: &Bags| feature_map(method, point, Scale::ZScore, false, bags, None, &ctx).unwrap().0;
        let found = map(&stored.bags);
        assert!(found == map(&held), "psi {psi}");
        let square = gram(method, point, Scale::ZScore, false, &held, None, None, &ctx).unwrap();
        let inner = products(&found, &found, false, &ctx).unwrap();
        let far = square.data().iter().zip(inner.data()).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(far < 1e-12, "{far:e}");
        let wide = gram(method, point, Scale::ZScore, false, &held, Some(&stored.bags), None, &ctx).unwrap();
        let far = square.data().iter().zip(wide.data()).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(far < 1e-12, "{far:e}");
    }
}

#[test]
fn psi_above_the_pool_is_left_out_of_a_list_and_refused_alone() {
    // About 40 instances, fewer in inner folds, which share the centres of the whole.
    let data = data("bags=20&min=2&max=2&seed=5");
    let tuned =
        fit(&setup(&[("psi", "8,40,64,4096"), ("epsilon", "1")], WhenUnset::Default, false), &data).unwrap();
    assert!(tuned.header.parameters.whole("psi").unwrap() <= Some(40));
    for psi in ["41", "64,128"] {
        let error = fit(&setup(&[("psi", psi)], WhenUnset::Default, false), &data).err().unwrap().to_string();
        assert!(error.contains("cannot be drawn from 40 training instances"), "{error}");
    }
    assert!(fit(&setup(&[("psi", "40")], WhenUnset::Default, false), &data).is_ok());
}

#[test]
fn only_pool_all_sees_bags_that_are_not_trained_on() {
    let data = data("bags=40&seed=4");
    // The same training bags; what is to be judged lies elsewhere.
    let place = |b: usize, v: f64| if b < 20 { v } else { 0.5 * v - 3.0 };
    let bag = |b: usize| {
        data.bags.bag(b).to_dense().unwrap().data().iter().map(|&v| place(b, v)).collect::<Vec<f64>>()
    };
    let rows = Mat::new(data.bags.instance_count(), data.bags.width(), (0..40).flat_map(bag).collect());
    let other = Bags::new(Instances::F64(rows), data.bags.offsets().to_vec()).unwrap();
    let other = Dataset::new("other", other).with_target(data.target.clone().unwrap()).unwrap();
    let train: Vec<usize> = (0..20).collect();
    let outputs = |data: &Dataset, pool: &str| {
        let setup = setup(&[("psi", "16"), ("pool", pool)], WhenUnset::Default, false);
        let learner = TrainingTask::new(data, &setup, None).unwrap();
        let ctx = Ctx::seeded(7);
        let frame = learner.frame(&train, &setup.grid.points, &ctx).unwrap();
        let machines = learner.fit(&frame, &[0], &train, &ctx).unwrap().remove(0);
        learner.outputs(&frame, &machines, &train, &train, &ctx).unwrap()
    };
    assert_eq!(outputs(&data, "train"), outputs(&other, "train"));
    assert_ne!(outputs(&data, "all"), outputs(&other, "all"));
    assert_ne!(outputs(&data, "all"), outputs(&data, "train"));
}

#[test]
fn psi_is_bounded_by_what_it_is_drawn_from() {
    // The training bags of a fold of three have 26 or 28 of the 40 instances; pool=all draws from all.
    let data = data("bags=20&min=2&max=2&seed=5");
    let drawn = |pool: &str, given: &str| {
        let setup = setup(&[("psi", given), ("pool", pool)], WhenUnset::Default, false);
        let learner = TrainingTask::new(&data, &setup, None).unwrap();
        let all: Vec<usize> = (0..20).collect();
        let fold = |k: usize| {
            let (test, train) = all.iter().partition(|&&b| b % 3 == k);
            Fold { train, test }
        };
        let inner: Vec<Fold> = (0..3).map(fold).collect();
        learner
            .tune(&all, &inner, Metric::Accuracy, FoldScope::PerFold, &Ctx::default())
            .map(|tuned| tuned.best)
    };
    let error = drawn("train", "36").unwrap_err().to_string();
    assert!(
        error.contains("36 centres cannot be drawn from 26 training instances (in cross-validation"),
        "{error}"
    );
    assert!(drawn("all", "36").is_ok());
    assert!(drawn("all", "41").is_err());
}

#[test]
fn a_gram_against_others_has_no_pool_of_all() {
    let data = data("bags=10&seed=5");
    let setup = setup(&[("psi", "8"), ("pool", "all")], WhenUnset::Default, false);
    let gram = |against| {
        let (bags, ctx) = (&data.bags, Ctx::default());
        gram(setup.method, &setup.grid.points[0], setup.scale, false, bags, against, None, &ctx)
    };
    assert!(gram(None).is_ok());
    let error = gram(Some(&data.bags)).unwrap_err().to_string();
    assert!(error.contains("parameter pool of isk") && error.contains("leave pool=all out"), "{error}");
}

#[test]
fn of_equally_good_points_the_smallest_psi_and_the_largest_epsilon_win() {
    // Labels that every point finds.
    let data = data("bags=40&distance=60&witness=1&seed=6");
    let given = [("psi", "16,32"), ("epsilon", "11/20,15/20,20/20"), ("c", "2,8")];
    let model = fit(&setup(&given, WhenUnset::Default, false), &data).unwrap();
    let point = &model.header.parameters;
    assert_eq!((point.whole("psi").unwrap(), point.fraction("epsilon").unwrap()), (Some(16), (1, 1)));
    assert_eq!(point.number("c").unwrap(), 2.0);
}

#[test]
fn text_keeps_its_zeros() {
    let data = data("bags=20&seed=7");
    let text = setup(&[("distance", "text")], WhenUnset::Default, false);
    assert_eq!(text.scale, Scale::None);
    for scale in [Scale::ZScore, Scale::MinMax] {
        let error = fit(&ResolvedConfig { scale, ..text.clone() }, &data).err().unwrap().to_string();
        assert!(error.contains("changes zeros"), "{error}");
    }
    for scale in [Scale::None, Scale::MaxAbs] {
        fit(&ResolvedConfig { scale, ..text.clone() }, &data).unwrap();
    }
    assert_eq!(setup(&[], WhenUnset::Default, false).scale, Scale::ZScore);
}

/// Points in the square, evenly or a hundred on the right and ten thousand on the left.
fn square(even: bool, seed: u64) -> Bags {
    let mut rng = Rng::new(seed, "square", &[]);
    let rows: Vec<[f64; 2]> = (0..10_100)
        .map(|i| {
            let (x, y) = (2.0 * rng.uniform() - 1.0, 2.0 * rng.uniform() - 1.0);
            if even { [x, y] } else { [if i < 100 { x.abs() } else { -x.abs() }, y] }
        })
        .collect();
    Bags::new(Instances::F64(Mat::from_rows(&rows)), vec![0, 10_100]).unwrap()
}

/// The unnormalised kernel of two bags of four points around two places on the horizontal axis.
fn kernel(pool: &Bags, psi: usize, places: [f64; 2]) -> f64 {
    let rows: Vec<[f64; 2]> =
        places.iter().flat_map(|&p| [[p, 0.1], [p, -0.1], [p + 0.1, 0.0], [p - 0.1, 0.0]]).collect();
    let ctx = Ctx::seeded(3);
    let partitions =
        Partitions::draw(pool, &[0], 800, &[psi], Partition::Voronoi(Distance::Euclidean), &ctx).unwrap();
    let mapper = Mapper::new(&partitions, &[psi], &ctx).unwrap();
    let ids = mapper.ids(&Instances::F64(Mat::from_rows(&rows)), 0..8, &ctx).unwrap().remove(0);
    let maps = map_rows(&ids, &[0..4, 4..8], None);
    products(&maps, &maps, true, &ctx).unwrap().get(0, 1) / 800.0
}

#[test]
fn the_kernel_adapts_to_density_as_the_papers_figures_show() {
    let path = format!("{}/tests/golden/isk/figures_tolerances.json", env!("CARGO_MANIFEST_DIR"));
    let expected: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let (even, two) = (square(true, 1), square(false, 1));
    let figures = expected.as_object().unwrap();
    assert_eq!(figures.len(), 14);
    for (name, figure) in figures {
        let words: Vec<&str> = name.split_whitespace().collect();
        let number = |word: &str| word.split_once('=').unwrap().1.parse::<f64>().unwrap();
        let (psi, last) = (number(words[2]) as usize, number(words[3]));
        let found = match words[..2] {
            ["fig1", "uniform"] => kernel(&even, psi, [0.0, last]),
            ["fig1", "two"] => kernel(&two, psi, [0.0, last]),
            // Two bags so far apart, about the middle of the sparse or the dense half.
            ["fig2", "sparse"] => kernel(&two, psi, [0.5 - last / 2.0, 0.5 + last / 2.0]),
            ["fig2", "dense"] => kernel(&two, psi, [-0.5 - last / 2.0, -0.5 + last / 2.0]),
            _ => panic!("{name}"),
        };
        let (mean, sd) =
            (figure["mean"].as_f64().unwrap(), figure["sd_over_datasets_t800"].as_f64().unwrap());
        assert!(
            (found - mean).abs() <= 4.0 * sd,
            "{name}: {found:.3}, expected {mean:.3} within 4 times {sd:.3}"
        );
    }
}

const PARTITIONS: [&str; 3] = ["voronoi", "forest", "sphere"];

#[test]
fn every_partition_learns_saves_and_explains_on_grams_and_maps() {
    let (data, new) = (data("bags=60&seed=1"), data("bags=25&seed=9"));
    for partition in PARTITIONS {
        let outputs = ["gram", "map"].map(|solver| {
            let given = [
                ("psi", "16"),
                ("epsilon", "11/20"),
                ("c", "2"),
                ("solver", solver),
                ("partition", partition),
            ];
            let model = fit(&setup(&given, WhenUnset::Default, false), &data).unwrap();
            let loaded = Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
            let found = loaded.predict_with(&new.bags, &Ctx::default()).unwrap();
            assert_eq!(found, model.predict_with(&new.bags, &Ctx::default()).unwrap(), "{partition}");
            for (p, machines) in found.iter().zip(loaded.explain_with(&new.bags, &Ctx::default()).unwrap()) {
                let Explanation::Additive { bias, parts } = &machines[0] else { unreachable!() };
                let sum = bias + parts.iter().sum::<f64>();
                assert!((sum - p.outputs[0]).abs() < 1e-10, "{partition}: {sum} and {}", p.outputs[0]);
            }
            found.into_iter().map(|p| p.outputs[0]).collect::<Vec<f64>>()
        });
        for (a, b) in outputs[0].iter().zip(&outputs[1]) {
            // Both solvers stop at a gap of 1e-3.
            assert!((a - b).abs() < 2e-3, "{partition}: {a} and {b}");
        }
    }
}

#[test]
fn every_partition_maps_rows_outside_memory_and_in_any_storage_alike() {
    let stored =
        io::read("synthetic:embeddings?bags=20&instances=60&features=9", &Default::default()).unwrap();
    let Instances::Stored(rows) = stored.bags.instances() else { panic!("embeddings are not in memory") };
    let mut values = vec![0.0f32; rows.rows() * rows.cols()];
    rows.read_f32(0..rows.rows(), &mut values).unwrap();
    let wide = Mat::new(rows.rows(), rows.cols(), values.iter().map(|&v| f64::from(v)).collect());
    let mut sparse = Csr::empty(rows.cols());
    (0..wide.rows())
        .for_each(|r| sparse.push_row(wide.row(r).iter().enumerate().map(|(j, &v)| (j as u32, v))));
    let single = Instances::F32(Mat::new(rows.rows(), rows.cols(), values));
    let method = methods::find("isk").unwrap();
    let ctx = Ctx::default();
    for partition in PARTITIONS {
        let given = [("psi", "32"), ("epsilon", "3/5"), ("t", "40"), ("partition", partition)];
        let point = &setup(&given, WhenUnset::Default, false).grid.points[0];
        let map = |bags: &Bags| feature_map(method, point, Scale::None, false, bags, None, &ctx).unwrap().0;
        let expected = map(&stored.bags);
        assert!(expected.nnz() > 0);
        for held in [single.clone(), Instances::F64(wide.clone()), Instances::Sparse(sparse.clone())] {
            let kind = held.kind();
            let held = Bags::new(held, stored.bags.offsets().to_vec()).unwrap();
            assert!(map(&held) == expected, "{partition}, {kind}");
        }
        let square = gram(method, point, Scale::None, false, &stored.bags, None, None, &ctx).unwrap();
        let inner = products(&expected, &expected, false, &ctx).unwrap();
        let far = square.data().iter().zip(inner.data()).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(far < 1e-12, "{partition}: {far:e}");
    }
}

/// Bags of one instance in a line, the last of which lie far away from all others.
fn with_outsiders() -> Dataset {
    let mut values: Vec<f64> = (0..40).map(|b| f64::from(b % 2) + 0.01 * f64::from(b)).collect();
    values.extend([1e6, -1e6]);
    let bags = Bags::new(Instances::F64(Mat::new(42, 1, values)), (0..=42).collect()).unwrap();
    let labels: Vec<String> = (0..42).map(|b| (b % 2).to_string()).collect();
    Dataset::new("outsiders", bags).with_target(Target::from_labels(&labels)).unwrap()
}

#[test]
fn bags_outside_all_spheres_are_similar_to_themselves_alone_and_get_the_bias() {
    let data = with_outsiders();
    let method = methods::find("isk").unwrap();
    let all: Vec<usize> = (0..42).collect();
    let mut trained: Vec<Mat> = Vec::new();
    for solver in ["gram", "map"] {
        // Few centres, so that the outsiders are seldom among them; with some seed never.
        let given = [("psi", "4"), ("t", "3"), ("partition", "sphere"), ("solver", solver)];
        let setup = ResolvedConfig { scale: Scale::None, ..setup(&given, WhenUnset::Default, false) };
        let outside = |seed: &u64| {
            let bags = &data.bags;
            let ctx = Ctx::seeded(*seed);
            let map =
                feature_map(method, &setup.grid.points[0], Scale::None, false, bags, None, &ctx).unwrap().0;
            [40, 41].iter().all(|&b| map.row(b).0.is_empty())
        };
        let ctx = Ctx::seeded((0..50).find(outside).unwrap());
        let learner = TrainingTask::new(&data, &setup, None).unwrap();
        let frame = learner.frame(&all, &setup.grid.points, &ctx).unwrap();
        let machines = learner.fit(&frame, &[0], &all, &ctx).unwrap().remove(0);
        let outputs = learner.outputs(&frame, &machines, &all, &[0, 1, 2, 3], &ctx).unwrap();
        let square =
            gram(method, &setup.grid.points[0], Scale::None, false, &data.bags, None, None, &ctx).unwrap();
        for b in [40, 41] {
            for other in 0..42 {
                assert_eq!(
                    square.get(b, other),
                    f64::from(u8::from(b == other)),
                    "{solver}: {b} and {other}"
                );
            }
        }
        trained.push(outputs);
        // New bags farther away than anything: no cell, and the bias is all there is.
        let model = fit(&setup, &data).unwrap();
        let far = Instances::F64(Mat::new(2, 1, vec![1e12, -1e12]));
        let far = Bags::new(far, vec![0, 1, 2]).unwrap();
        let found = model.predict_with(&far, &Ctx::default()).unwrap();
        assert_eq!(found[0].outputs, found[1].outputs);
        for (found, explained) in found.iter().zip(model.explain_with(&far, &Ctx::default()).unwrap()) {
            let Explanation::Additive { bias, parts } = &explained[0] else { unreachable!() };
            assert_eq!((*bias + parts[0], parts.len()), (found.outputs[0], 1));
        }
    }
    // The same machine to the solvers' tolerance.
    for (a, b) in trained[0].data().iter().zip(trained[1].data()) {
        assert!((a - b).abs() < 2e-3, "{a} and {b}");
    }
}

#[test]
fn trees_have_no_distance() {
    let data = data("bags=20&seed=7");
    let given = [("distance", "text"), ("partition", "forest")];
    let error = fit(&setup(&given, WhenUnset::Default, false), &data).err().unwrap().to_string();
    assert!(
        error.contains("parameter distance of isk") && error.contains("does not use distances"),
        "{error}"
    );
    // Spheres have one, and then keep zeros.
    let spheres = setup(&[("distance", "text"), ("partition", "sphere")], WhenUnset::Default, false);
    assert_eq!(spheres.scale, Scale::None);
    fit(&spheres, &data).unwrap();
    assert!(fit(&ResolvedConfig { scale: Scale::ZScore, ..spheres }, &data).is_err());
}

#[test]
fn a_grid_may_hold_every_partition() {
    let data = data("bags=40&seed=6");
    let given = [("partition", "voronoi,forest,sphere"), ("psi", "8,16"), ("epsilon", "3/5,1"), ("t", "50")];
    let together = setup(&given, WhenUnset::Default, false);
    assert_eq!(together.grid.points.len(), 12);
    let learner = TrainingTask::new(&data, &together, None).unwrap();
    let ctx = Ctx::seeded(7);
    let all: Vec<usize> = (0..40).collect();
    let frame = learner.frame(&all, &together.grid.points, &ctx).unwrap();
    for (k, point) in together.grid.points.iter().enumerate() {
        let alone = ResolvedConfig {
            grid: Grid::of(together.method.params(), vec![point.clone()]),
            ..together.clone()
        };
        let learner = TrainingTask::new(&data, &alone, None).unwrap();
        let own = learner.frame(&all, &alone.grid.points, &ctx).unwrap();
        let outputs = |frame, k| {
            let machines = learner.fit(frame, &[k], &all, &ctx).unwrap().remove(0);
            learner.outputs(frame, &machines, &all, &all, &ctx).unwrap()
        };
        // Grams from counts or from maps, whichever is cheaper for the grid, agree to rounding.
        let (a, b) = (outputs(&frame, k), outputs(&own, 0));
        let far = a.data().iter().zip(b.data()).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(far < 2e-3, "{point}: {far:e}");
    }
}

/// Bags of two features in small whole numbers, so that nothing is rounded.
fn in_whole_numbers(names: [&str; 2]) -> Dataset {
    let values = (0..80).map(|i| f64::from(i * i % 17 + i % 5)).collect();
    let features = names.map(Feature::numeric).to_vec();
    let bags = Bags::new(Instances::F64(Mat::new(40, 2, values)), (0..=20).map(|b| 2 * b).collect()).unwrap();
    let labels: Vec<String> = (0..20).map(|b| (b % 2).to_string()).collect();
    let bags = bags.with_features(features.into()).unwrap();
    Dataset::new("whole numbers", bags).with_target(Target::from_labels(&labels)).unwrap()
}

#[test]
fn the_digest_of_a_map_is_that_of_all_that_makes_it_and_of_nothing_else() {
    let data = in_whole_numbers(["a", "b"]);
    let mut digests = Vec::new();
    for partition in PARTITIONS {
        let usual = [("t", "5"), ("psi", "3"), ("epsilon", "3/5"), ("partition", partition), ("c", "1")];
        let model = |changed: &[(&str, &str)], scale: Scale, data: &Dataset, seed: u64| {
            let mut given = usual.to_vec();
            given.retain(|(name, _)| changed.iter().all(|(other, _)| other != name));
            given.extend(changed);
            let setup = ResolvedConfig { scale, ..setup(&given, WhenUnset::Default, false) };
            let learners = [TrainingTask::new(data, &setup, None).unwrap()];
            let all: Vec<usize> = (0..data.bags.len()).collect();
            let by = TrainOptions::by(Metric::Accuracy);
            train(&learners, &all, Splits::KFold(3), &by, &Ctx::seeded(seed)).unwrap()
        };
        let first = model(&[], Scale::MinMax, &data, 7);
        let digest = first.map_digest().unwrap();
        digests.push(digest.clone());
        // A model that was read back is the same, and so is the map without a model.
        let loaded = Model::from_bytes(&first.to_bytes().unwrap()).unwrap();
        assert_eq!(loaded.map_digest().unwrap(), digest, "{partition}");
        let setup = setup(&usual, WhenUnset::Default, false);
        let map = |seed| {
            let (point, ctx) = (&setup.grid.points[0], Ctx::seeded(seed));
            feature_map(setup.method, point, Scale::MinMax, false, &data.bags, None, &ctx).unwrap()
        };
        assert_eq!(map(7).1, digest, "{partition}");
        assert_ne!(map(8).1, digest, "{partition}");
        // The machine does not matter, nor what else a grid has.
        for same in [[("c", "8")], [("solver", "map")], [("c", "1,2,8")], [("psi", "3,3")]] {
            let found = model(&same, Scale::MinMax, &data, 7).map_digest().unwrap();
            assert_eq!(found, digest, "{partition}, {same:?}");
        }
        let turned = in_whole_numbers(["b", "a"]);
        let others = [
            model(&[], Scale::MinMax, &data, 8),
            model(&[], Scale::ZScore, &data, 7),
            model(&[], Scale::None, &data, 7),
            model(&[], Scale::MinMax, &turned, 7),
            model(&[("epsilon", "4/5")], Scale::MinMax, &data, 7),
            model(&[("psi", "4")], Scale::MinMax, &data, 7),
            model(&[("t", "4")], Scale::MinMax, &data, 7),
        ];
        let mut all: Vec<String> = others.iter().map(|m| m.map_digest().unwrap()).collect();
        all.push(digest);
        all.sort();
        all.dedup();
        assert_eq!(all.len(), 8, "{partition}");
    }
    // Files keep them, so later versions must give the same.
    assert_eq!(digests, ["df1895c9bb8aae91", "ec4c7982ee09336e", "1eb0293e0cab4e73"]);
}

#[test]
fn maps_of_negated_data_and_of_another_distance_have_other_digests() {
    let data = in_whole_numbers(["a", "b"]);
    let rows = data.bags.instances();
    let negated: Vec<f64> = (0..40)
        .flat_map(|r| {
            let mut row = [0.0; 2];
            rows.row_into(r, &mut row).unwrap();
            row.map(|v| -v)
        })
        .collect();
    let negated = Bags::new(Instances::F64(Mat::new(40, 2, negated)), data.bags.offsets().to_vec()).unwrap();
    let negated = negated.with_features(data.bags.features().clone()).unwrap();
    let digest = |bags: &Bags, distance: &str| {
        let given = [("t", "4"), ("psi", "4"), ("distance", distance)];
        let setup = setup(&given, WhenUnset::Default, false);
        let (point, ctx) = (&setup.grid.points[0], Ctx::seeded(1));
        feature_map(setup.method, point, Scale::None, false, bags, None, &ctx).unwrap().1
    };
    let own = digest(&data.bags, "euclidean");
    assert_ne!(own, digest(&negated, "euclidean"));
    assert_ne!(own, digest(&data.bags, "text"));
}
