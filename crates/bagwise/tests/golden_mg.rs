//! Diverse density, beliefs and marginalized kernels against an independent implementation (`golden/mg`, whose
//! concepts are fixed). Values and Grams agree to 1e-12 relative: some orders above the rounding of both; gradients to
//! 1e-9, because the reference's sums cancel; maxima to 1e-5, because theirs stop at a slope.

use bagwise::Precision;
use bagwise::method::Tensor;
use bagwise::model::unpack;
use bagwise::preprocess::{Scale, Transform};
use bagwise::unstable::engine::density::belief;
use bagwise::unstable::engine::density::{
    BagTarget, Concept, ConceptMetric, Evidence, SearchOptions, Starts, Stop, search, search_em,
};
use bagwise::unstable::engine::label_map::{BETA, LabelKernel, LabelMap, normaliser};
use bagwise::unstable::engine::{GramOutput, Side, symmetric};
use bagwise::{Bags, Ctx, Dataset, Instances, Mat, Model, Target};
use serde_json::Value;

const VALUES: f64 = 1e-12;
const GRADIENTS: f64 = 1e-9;
const MAXIMA: f64 = 1e-5;

fn golden(name: &str) -> Value {
    let path = format!("{}/tests/golden/mg/{name}.json", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"));
    serde_json::from_str(&text).unwrap()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(number).collect()
}

fn matrix(value: &Value) -> Mat {
    Mat::from_rows(&value.as_array().unwrap().iter().map(numbers).collect::<Vec<_>>())
}

fn bags(value: &Value) -> Bags {
    let (mut rows, mut offsets) = (Vec::new(), vec![0]);
    for bag in value.as_array().unwrap() {
        rows.extend(bag.as_array().unwrap().iter().map(numbers));
        offsets.push(rows.len());
    }
    Bags::new(Instances::F64(Mat::from_rows(&rows)), offsets).unwrap()
}

fn evidence(bags: &Bags, targets: Vec<BagTarget>) -> Evidence {
    let all: Vec<usize> = (0..bags.len()).collect();
    Evidence::new(bags, &all, targets, &Ctx::default()).unwrap()
}

fn classes(y: &Value) -> Vec<BagTarget> {
    numbers(y).iter().map(|&y| if y > 0.5 { BagTarget::Positive } else { BagTarget::Negative }).collect()
}

fn values(y: &Value) -> Vec<BagTarget> {
    numbers(y).into_iter().map(BagTarget::Value).collect()
}

/// A concept whose attributes all have the same squared weight.
fn even(point: Vec<f64>, rho: f64) -> Concept {
    let weights = vec![rho.sqrt(); point.len()];
    Concept { point, weights }
}

fn close(found: f64, expected: f64, tolerance: f64, case: &str) {
    let off = (found - expected).abs();
    assert!(off <= tolerance * expected.abs().max(1e-300), "{case}: {found:e}, expected {expected:e}");
}

fn all_close(found: &[f64], expected: &[f64], tolerance: f64, case: &str) {
    assert_eq!(found.len(), expected.len(), "{case}");
    for (i, (f, e)) in found.iter().zip(expected).enumerate() {
        close(*f, *e, tolerance, &format!("{case} [{i}]"));
    }
}

/// Gradients are compared in units of their largest entry.
fn gradients_close(found: &[f64], expected: &[f64], case: &str) {
    let size = expected.iter().fold(0.0, |m: f64, g| m.max(g.abs()));
    for (f, e) in found.iter().zip(expected) {
        assert!((f - e).abs() <= GRADIENTS * size, "{case}: {f:e}, expected {e:e}");
    }
}

fn same(found: &Mat, expected: &Mat, case: &str) {
    assert_eq!((found.rows(), found.cols()), (expected.rows(), expected.cols()), "{case}");
    all_close(found.data(), expected.data(), VALUES, case);
}

#[test]
fn label_similarities_and_their_edges() {
    let file = golden("g_tables");
    let (u, v) = (numbers(&file["u"]), numbers(&file["v"]));
    let tables = [
        (LabelKernel::Linear, &file["lin"]),
        (LabelKernel::Gaussian { beta: BETA }, &file["gauss"]),
        (LabelKernel::Gaussian { beta: 1.0 }, &file["other_beta"]["1.0"]),
        (LabelKernel::Gaussian { beta: 25.0 }, &file["other_beta"]["25.0"]),
    ];
    for (kernel, table) in tables {
        let expected = matrix(table);
        for (i, &u) in u.iter().enumerate() {
            for (j, &v) in v.iter().enumerate() {
                let found = kernel.similarity(u, v);
                close(found, expected.get(i, j), VALUES, &format!("{kernel:?} {u} {v}"));
                for other in [kernel.similarity(v, u), kernel.similarity(1.0 - u, 1.0 - v)] {
                    close(other, found, VALUES, &format!("{kernel:?} symmetry {u} {v}"));
                }
            }
        }
    }
    assert_eq!(number(&file["beta"]), BETA);
    for (u, z) in u.iter().zip(numbers(&file["Z"])) {
        close(normaliser(*u), z, VALUES, "Z");
    }
    // Where the closed form divides by a small width a series takes over; both give the limit (3/4)^2 of a constant.
    for (beta, tolerance) in [(2e-3, 1e-3), (1e-4, 1e-4), (1e-9, 1e-9)] {
        let found = LabelKernel::Gaussian { beta }.similarity(0.5, 0.5);
        assert!((found - 0.5625).abs() < tolerance, "{beta}: {found}");
    }
    let (below, above) = (LabelKernel::Gaussian { beta: 0.999e-3 }, LabelKernel::Gaussian { beta: 1.001e-3 });
    let slope = (above.similarity(0.2, 0.9) - below.similarity(0.2, 0.9)) / 2e-6;
    // The derivative by the width is minus the mean squared difference of the labels times the masses: smooth, below 1.
    assert!(slope < 0.0 && slope > -0.5, "{slope}");
}

#[test]
fn densities_and_gradients() {
    let file = golden("dd_tiny");
    let evidence = evidence(&bags(&file["bags"]), classes(&file["y"]));
    for (i, case) in file["cases"].as_array().unwrap().iter().enumerate() {
        let (h, rho) = (numbers(&case["h"]), number(&case["rho"]));
        let (value, by_point, _) = evidence.density(&even(h.clone(), rho));
        close(value, number(&case["logdd"]), VALUES, &format!("case {i}"));
        gradients_close(&by_point, &numbers(&case["grad"]), &format!("case {i}"));
        // The file's weighted distance is rho sum w^2 (h - x)^2 and its derivative is by its w.
        let weights = numbers(&case["w"]).iter().map(|w| w * rho.sqrt()).collect();
        let (value, by_point, by_weight) = evidence.density(&Concept { point: h, weights });
        close(value, number(&case["logdd_w"]), VALUES, &format!("case {i}, weighted"));
        gradients_close(&by_point, &numbers(&case["grad_h_w"]), &format!("case {i}, weighted"));
        let by_weight: Vec<f64> = by_weight.iter().map(|g| g * rho.sqrt()).collect();
        gradients_close(&by_weight, &numbers(&case["grad_w_w"]), &format!("case {i}, by weight"));
    }
}

#[test]
fn maxima_and_those_of_em_dd() {
    let file = golden("dd_tiny");
    let evidence = evidence(&bags(&file["bags"]), classes(&file["y"]));
    // A slope that leaves less than the tolerance.
    let stop = Stop { iterations: 500, gradient: 1e-9, gain: 0.0 };
    let options = SearchOptions { distance: ConceptMetric::Unweighted, rho: 1.0, starts: Starts::All, stop };
    let found = search(&evidence, &options, &Ctx::default()).unwrap();
    let em = search_em(&evidence, &options, &Ctx::default()).unwrap();
    let optima = file["optima"].as_array().unwrap();
    assert_eq!(found.len(), optima.len());
    for ((found, em), case) in found.iter().zip(&em).zip(optima) {
        let place = format!("bag {}, instance {}", case["bag"], case["inst"]);
        let start = even(evidence.instances().row(found.start).to_vec(), 1.0 / 3.0);
        close(evidence.density(&start).0, number(&case["logdd_start"]), VALUES, &place);
        // Tight tolerances, and steps short enough at first: the hill under the start is climbed by both.
        let reached = [
            (&found.concept.point, found.log_density, &case["h_opt"], &case["logdd_opt"]),
            (&em.concept.point, em.log_density, &case["emdd_h"], &case["emdd_obj"]),
        ];
        for (point, value, h, top) in reached {
            close(value, number(top), MAXIMA, &place);
            for (f, e) in point.iter().zip(numbers(h)) {
                // Around a maximum the point is known to the root of what the value is known to.
                assert!((f - e).abs() < 10.0 * MAXIMA, "{place}: {f} {e}");
            }
        }
        let slope = evidence.density(&found.concept).1;
        assert!(slope.iter().all(|g| g.abs() < 1e-6), "{place}: {slope:?}");
    }
}

/// The kernel by its definition: all pairs of instances and all pairs of concepts.
fn literal(bags: &Bags, gamma: f64, label: impl Fn(usize, usize) -> f64) -> Mat {
    let rows = dense(bags);
    let mut out = Mat::zeros(bags.len(), bags.len());
    for a in 0..bags.len() {
        for b in 0..bags.len() {
            let mut sum = 0.0;
            for i in bags.rows(a) {
                for j in bags.rows(b) {
                    let squared: f64 =
                        rows.row(i).iter().zip(rows.row(j)).map(|(x, z)| (x - z) * (x - z)).sum();
                    sum += (-gamma * squared).exp() * label(i, j);
                }
            }
            out.set(a, b, sum);
        }
    }
    out
}

fn dense(bags: &Bags) -> Mat {
    let Instances::F64(rows) = bags.instances() else { unreachable!() };
    rows.clone()
}

/// The same through weight vectors.
fn engine(bags: &Bags, gamma: f64, terms: &[Vec<f64>]) -> Mat {
    let side = Side { instances: bags.instances(), offsets: bags.offsets(), weights: terms };
    let output = [GramOutput { gamma, terms: (0..terms.len()).collect() }];
    symmetric(&side, &output, Precision::F64, &Ctx::default()).unwrap().remove(0)
}

fn cosine(gram: &Mat) -> Mat {
    let mut out = gram.clone();
    for i in 0..gram.rows() {
        for j in 0..gram.rows() {
            out.set(i, j, gram.get(i, j) / (gram.get(i, i) * gram.get(j, j)).sqrt());
        }
    }
    out
}

fn columns(of_rows: &Mat) -> Vec<Vec<f64>> {
    (0..of_rows.cols()).map(|t| (0..of_rows.rows()).map(|i| of_rows.get(i, t)).collect()).collect()
}

fn mixture(near: &Mat, belief: &[f64]) -> Vec<f64> {
    (0..near.rows()).map(|i| near.row(i).iter().zip(belief).map(|(u, p)| u * p).sum()).collect()
}

fn both_sides(p: &[f64]) -> Vec<Vec<f64>> {
    vec![p.to_vec(), p.iter().map(|p| 1.0 - p).collect()]
}

#[test]
fn classification_beliefs_and_grams() {
    let file = golden("cls_gram");
    let bags = bags(&file["bags"]);
    let evidence = evidence(&bags, classes(&file["y"]));
    let ctx = Ctx::default();
    let points: Vec<Vec<f64>> = file["H"].as_array().unwrap().iter().map(numbers).collect();
    for case in file["cases"].as_array().unwrap() {
        let (rho, gamma) = (number(&case["rho"]), number(&case["gamma"]));
        let concepts: Vec<Concept> = points.iter().map(|h| even(h.clone(), rho)).collect();
        let logs: Vec<f64> = concepts.iter().map(|c| evidence.density(c).0).collect();
        all_close(&logs, &numbers(&case["logdd"]), VALUES, "log densities");
        let near = belief::near(evidence.instances(), &concepts, &ctx).unwrap();
        same(&near, &matrix(&case["u"]), "u");
        let of_bags = belief::nearest_of_bags(&evidence, &concepts, &ctx).unwrap();
        let right: Vec<f64> = belief::correct(&of_bags, evidence.targets())
            .iter()
            .map(|&c| c as f64 / bags.len() as f64)
            .collect();
        all_close(&right, &numbers(&case["acc"]), VALUES, "accuracy");
        let beliefs =
            [("ddv", belief::by_density(&logs)), ("acc", belief::by_accuracy(&of_bags, evidence.targets()))];
        for (name, belief) in beliefs {
            all_close(&belief, &numbers(&case[format!("P_{name}")]), VALUES, name);
            let p = mixture(&near, &belief);
            all_close(&p, &numbers(&case[format!("p_{name}")]), VALUES, name);
            let gram = engine(&bags, gamma, &both_sides(&p));
            same(&gram, &matrix(&case[format!("K_{name}")]), name);
            same(&cosine(&gram), &matrix(&case[format!("Kn_{name}")]), name);
            same(&engine(&bags, gamma, &both_sides(&p)[..1]), &matrix(&case[format!("K_fn1_{name}")]), name);
            // Equation 9 with all its sums.
            let by_definition = literal(&bags, gamma, |i, j| {
                let mut sum = 0.0;
                for (u, pu) in near.row(i).iter().zip(&belief) {
                    for (v, pv) in near.row(j).iter().zip(&belief) {
                        sum += pu * pv * (u * v + (1.0 - u) * (1.0 - v));
                    }
                }
                sum
            });
            same(&gram, &by_definition, &format!("{name} against the double sum"));
        }
        let ones = vec![vec![1.0; bags.instance_count()]];
        same(&engine(&bags, gamma, &ones), &matrix(&case["K_mi"]), "MI kernel");
    }
    let weighted = &file["weighted"];
    let weights: Vec<Vec<f64>> = weighted["W"].as_array().unwrap().iter().map(numbers).collect();
    let concepts: Vec<Concept> =
        points.into_iter().zip(weights).map(|(point, weights)| Concept { point, weights }).collect();
    let near = belief::near(evidence.instances(), &concepts, &ctx).unwrap();
    same(&near, &matrix(&weighted["u"]), "u, weighted");
    let logs: Vec<f64> = concepts.iter().map(|c| evidence.density(c).0).collect();
    all_close(&logs, &numbers(&weighted["logdd"]), VALUES, "log densities, weighted");
    let p = mixture(&near, &belief::by_density(&logs));
    all_close(&p, &numbers(&weighted["p"]), VALUES, "p, weighted");
    let gram = engine(&bags, number(&weighted["gamma"]), &both_sides(&p));
    same(&cosine(&gram), &matrix(&weighted["Kn"]), "weighted");
}

/// What a saved model holds, by name.
fn tensor(model: &Model, name: &str) -> Vec<f64> {
    let (_, state) = unpack(&model.to_bytes().unwrap()).unwrap();
    match &state.tensors[&format!("model0.{name}")] {
        Tensor::F64(_, values) => values.clone(),
        other => panic!("{name} is {other:?}"),
    }
}

#[test]
fn models_compute_footnote_1_and_the_densest_concept_by_their_definition() {
    let file = golden("cls_gram");
    let bags = bags(&file["bags"]);
    let labels: Vec<String> = numbers(&file["y"]).iter().map(f64::to_string).collect();
    let data = Dataset::new("golden", bags.clone()).with_target(Target::from_labels(&labels)).unwrap();
    let gamma = 0.7;
    for method in ["mg-ddv", "mg-acc"] {
        let fit = |label: &str, hypotheses: &str| {
            let config = bagwise::method(method).unwrap().param("gamma", gamma).param("c", 10);
            let config = config.param("label-kernel", label).param("hypotheses", hypotheses);
            bagwise::fit(&data).method(config.scale(Scale::None)).inner(2).run().unwrap()
        };
        let all = fit("equal", "all").concepts().unwrap().remove(0);
        assert!(all.len() > 1, "{method}");
        for (label, hypotheses) in [("both", "all"), ("equal", "best"), ("both", "best")] {
            let what = format!("{method}, {label}, {hypotheses}");
            let model = fit(label, hypotheses);
            let found = model.concepts().unwrap().remove(0);
            if hypotheses == "best" {
                let densest = all.iter().map(|c| c.log_density).fold(f64::NEG_INFINITY, f64::max);
                assert_eq!((found.len(), found[0].belief, found[0].log_density), (1, 1.0, densest), "{what}");
            } else {
                assert_eq!(found, all, "{what}: the concepts do not depend on the label kernel");
            }
            let concepts: Vec<Concept> = found.iter().map(|c| c.concept.clone()).collect();
            let belief: Vec<f64> = found.iter().map(|c| c.belief).collect();
            let near = belief::near(&dense(&bags), &concepts, &Ctx::default()).unwrap();
            let p = mixture(&near, &belief);
            let gram = cosine(&literal(&bags, gamma, |i, j| {
                p[i] * p[j] + if label == "both" { 0.0 } else { (1.0 - p[i]) * (1.0 - p[j]) }
            }));
            let (coefficients, bias) = (tensor(&model, "coefficients"), tensor(&model, "biases")[0]);
            for (b, said) in model.predict(&bags).unwrap().iter().enumerate() {
                let expected = bias + gram.row(b).iter().zip(&coefficients).map(|(k, c)| k * c).sum::<f64>();
                // Coefficients up to 10, which may cancel.
                assert!((said.outputs[0] - expected).abs() < 1e-10, "{what}, bag {b}");
            }
        }
    }
    // The normalised kernel of footnote 1, from the file's own sums.
    for case in file["cases"].as_array().unwrap() {
        let p = numbers(&case["p_ddv"]);
        let expected = cosine(&matrix(&case["K_fn1_ddv"]));
        same(&cosine(&literal(&bags, number(&case["gamma"]), |i, j| p[i] * p[j])), &expected, "footnote 1");
    }
}

fn label_terms(kernel: LabelKernel, near: &Mat, belief: &[f64]) -> Vec<Vec<f64>> {
    let map = LabelMap::new(kernel);
    let mut out = Mat::zeros(near.rows(), map.terms());
    (0..near.rows()).for_each(|i| map.vector(near.row(i), belief, out.row_mut(i)));
    columns(&out)
}

#[test]
fn regression_beliefs_and_grams() {
    let file = golden("reg_gram");
    let bags = bags(&file["bags"]);
    let y = numbers(&file["y"]);
    let evidence = evidence(&bags, values(&file["y"]));
    let ctx = Ctx::default();
    for case in file["cases"].as_array().unwrap() {
        let (rho, gamma) = (number(&case["rho"]), number(&case["gamma"]));
        let concepts: Vec<Concept> =
            file["H"].as_array().unwrap().iter().map(|h| even(numbers(h), rho)).collect();
        let of_bags = belief::nearest_of_bags(&evidence, &concepts, &ctx).unwrap();
        same(&of_bags, &matrix(&case["maxsim"]), "max u");
        all_close(&belief::squared_errors(&of_bags, &y), &numbers(&case["e_h"]), VALUES, "errors");
        let by_error = belief::by_error(&of_bags, &y);
        all_close(&by_error, &numbers(&case["P17"]), VALUES, "belief by error");
        all_close(
            &belief::extended_log_densities(&of_bags, &y),
            &numbers(&case["log_ext_dd"]),
            VALUES,
            "extended density",
        );
        let by_density = belief::by_extended_density(&of_bags, &y);
        all_close(&by_density, &numbers(&case["P_extdd"]), VALUES, "belief by density");
        let at = case["ext_dd_at"].as_array().unwrap().iter().map(numbers);
        for (h, expected) in at.zip(case["ext_dd_grad"].as_array().unwrap()) {
            gradients_close(&evidence.density(&even(h, rho)).1, &numbers(expected), "extended gradient");
        }
        let near = belief::near(evidence.instances(), &concepts, &ctx).unwrap();
        let z = matrix(&case["Zx"]);
        near.data().iter().zip(z.data()).for_each(|(u, z)| close(normaliser(*u), *z, VALUES, "Z"));
        let first = Mat::from_rows(&(0..near.rows()).map(|i| vec![near.get(i, 0)]).collect::<Vec<_>>());
        for (name, kernel) in [("lin", LabelKernel::Linear), ("gauss", LabelKernel::Gaussian { beta: BETA })]
        {
            let gram = engine(&bags, gamma, &label_terms(kernel, &near, &by_error));
            same(&gram, &matrix(&case[format!("K_{name}")]), name);
            same(&cosine(&gram), &matrix(&case[format!("Kn_{name}")]), name);
            let one = engine(&bags, gamma, &label_terms(kernel, &first, &[1.0]));
            same(&one, &matrix(&case[format!("K1_{name}")]), &format!("{name}, one concept"));
            let extended = engine(&bags, gamma, &label_terms(kernel, &near, &by_density));
            same(&extended, &matrix(&case[format!("K_{name}_extdd")]), &format!("{name}, by density"));
            let by_definition = literal(&bags, gamma, |i, j| {
                let mut sum = 0.0;
                for (u, pu) in near.row(i).iter().zip(&by_error) {
                    for (v, pv) in near.row(j).iter().zip(&by_error) {
                        sum += pu * pv * kernel.similarity(*u, *v) / (normaliser(*u) * normaliser(*v));
                    }
                }
                sum
            });
            same(&gram, &by_definition, &format!("{name} against the double sum"));
        }
    }
}

#[test]
fn musk1_with_fixed_concepts() {
    let file = golden("musk1");
    let data = bagwise::io::read("musk1", &Default::default()).unwrap();
    let all: Vec<usize> = (0..data.bags.len()).collect();
    let ctx = Ctx::default();
    let transform = Transform::fit(Scale::ZScore, false, &data.bags, data.target.as_ref(), &all).unwrap();
    let bags = transform.apply(&data.bags, &ctx).unwrap();
    let Some(Target::Classes { codes, .. }) = &data.target else { unreachable!() };
    let positive: Vec<bool> = codes.iter().map(|&c| c == 1).collect();
    let targets: Vec<BagTarget> =
        positive.iter().map(|&p| if p { BagTarget::Positive } else { BagTarget::Negative }).collect();
    let evidence = evidence(&bags, targets);
    let first =
        |b: &Value| evidence.instances().row(evidence.offsets()[b.as_u64().unwrap() as usize]).to_vec();
    let points: Vec<Vec<f64>> = file["h_bags"].as_array().unwrap().iter().map(first).collect();
    let d = evidence.width();
    let rho = 1.0 / d as f64;
    let middle: Vec<f64> = points[0].iter().zip(&points[1]).map(|(a, b)| 0.5 * (a + b)).collect();
    for (i, (h, case)) in points.iter().chain([&middle]).zip(file["dd"].as_array().unwrap()).enumerate() {
        let (value, by_point, _) = evidence.density(&even(h.clone(), rho));
        close(value, number(&case["logdd"]), VALUES, &format!("point {i}"));
        gradients_close(&by_point[..8], &numbers(&case["grad_first8"]), &format!("point {i}"));
        let norm = by_point.iter().map(|g| g * g).sum::<f64>().sqrt();
        close(norm, number(&case["grad_norm"]), GRADIENTS, &format!("point {i}"));
        let weights = (0..d).map(|k| rho.sqrt() * (1.0 + 0.5 * (k as f64).sin())).collect();
        let (value, by_point, by_weight) = evidence.density(&Concept { point: h.clone(), weights });
        close(value, number(&case["logdd_w"]), VALUES, &format!("point {i}, weighted"));
        gradients_close(&by_point[..8], &numbers(&case["grad_h_first8"]), &format!("point {i}, weighted"));
        gradients_close(&by_weight[..8], &numbers(&case["grad_w_first8"]), &format!("point {i}, by weight"));
    }
    let concepts: Vec<Concept> = points.iter().map(|h| even(h.clone(), rho)).collect();
    let logs: Vec<f64> = concepts.iter().map(|c| evidence.density(c).0).collect();
    let ddv = belief::by_density(&logs);
    // A softmax turns an absolute error of log densities near -60 (1e-14 relative) into a relative one.
    all_close(&ddv, &numbers(&file["P_ddv"]), 1e-11, "belief by density");
    let of_bags = belief::nearest_of_bags(&evidence, &concepts, &ctx).unwrap();
    let acc = belief::by_accuracy(&of_bags, evidence.targets());
    all_close(&acc, &numbers(&file["P_acc"]), VALUES, "belief by accuracy");
    let y: Vec<f64> = (0..bags.len()).map(|b| (b % 11) as f64 / 10.0).collect();
    all_close(&belief::squared_errors(&of_bags, &y), &numbers(&file["e17"]), VALUES, "errors");
    let by_error = belief::by_error(&of_bags, &y);
    all_close(&by_error, &numbers(&file["P17"]), VALUES, "belief by error");
    let near = belief::near(evidence.instances(), &concepts, &ctx).unwrap();
    let p = mixture(&near, &acc);
    all_close(&p[..10], &numbers(&file["p_acc_first10"]), VALUES, "p");
    let corner =
        |gram: &Mat| Mat::from_rows(&(0..10).map(|i| gram.row(i)[..10].to_vec()).collect::<Vec<_>>());
    let gram = |terms: &[Vec<f64>]| cosine(&engine(&bags, rho, terms));
    same(&corner(&gram(&[vec![1.0; p.len()]])), &matrix(&file["Kn_mi_10"]), "MI kernel");
    same(&corner(&gram(&both_sides(&mixture(&near, &ddv)))), &matrix(&file["Kn_ddv_10"]), "by density");
    let by_accuracy = gram(&both_sides(&p));
    same(&corner(&by_accuracy), &matrix(&file["Kn_acc_10"]), "by accuracy");
    let cross = Mat::from_rows(&(0..10).map(|i| by_accuracy.row(i)[82..92].to_vec()).collect::<Vec<_>>());
    same(&cross, &matrix(&file["Kn_acc_cross"]), "by accuracy, both classes");
    close(by_accuracy.data().iter().sum(), number(&file["Kn_acc_sum"]), VALUES, "sum");
    let linear = gram(&label_terms(LabelKernel::Linear, &near, &by_error));
    same(&corner(&linear), &matrix(&file["Kreg_lin_10"]), "linear");
    let gaussian = gram(&label_terms(LabelKernel::Gaussian { beta: BETA }, &near, &by_error));
    same(&corner(&gaussian), &matrix(&file["Kreg_gauss_10"]), "gaussian");
    close(gaussian.data().iter().sum(), number(&file["Kreg_gauss_sum"]), VALUES, "sum, gaussian");
}
