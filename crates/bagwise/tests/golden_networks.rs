//! Networks against an independent implementation (`golden/comparators/networks.json`): outputs, losses, gradients, steps of Adam,
//! attention and parts of all poolings. 1e-9: chains of products and exponentials in another order, divided by small slopes in Adam.

use bagwise::unstable::engine::network::{self, Activation, Adam, NetworkShape, Pooling};
use bagwise::{Bags, Ctx, Instances, Mat};
use serde_json::Value;

const TOLERANCE: f64 = 1e-9;

fn golden() -> Value {
    let path = format!("{}/tests/golden/comparators/networks.json", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"));
    serde_json::from_str(&text).unwrap()
}

/// All numbers of nested lists, in order.
fn numbers(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(items) => items.iter().flat_map(numbers).collect(),
        number => vec![number.as_f64().unwrap()],
    }
}

fn bags(value: &Value) -> Bags {
    let bags = value.as_array().unwrap();
    let rows: Vec<Vec<f64>> = bags.iter().flat_map(|b| b.as_array().unwrap()).map(numbers).collect();
    let mut offsets = vec![0];
    bags.iter().for_each(|b| offsets.push(offsets[offsets.len() - 1] + b.as_array().unwrap().len()));
    Bags::new(Instances::F64(Mat::from_rows(&rows)), offsets).unwrap()
}

/// Named arrays as one list, in the order of a network's parameters.
fn parameters(value: &Value) -> Vec<f64> {
    let names = ["W0", "c0", "W1", "c1", "V", "v", "U", "u", "a", "w", "b"];
    names.iter().filter_map(|name| value.get(name)).flat_map(numbers).collect()
}

fn shape(case: &Value) -> NetworkShape {
    let pooling = match (case["pool"].as_str().unwrap(), case["gated"] == true) {
        ("attention", false) => Pooling::Attention,
        ("attention", true) => Pooling::Gated,
        ("mean", _) => Pooling::Mean,
        ("max", _) => Pooling::Max,
        ("lse", _) => Pooling::LogSumExp,
        ("instance", _) => Pooling::Instance,
        other => panic!("{other:?}"),
    };
    let activation = match case["activation"].as_str().unwrap() {
        "relu" => Activation::Relu,
        "tanh" => Activation::Tanh,
        "sigmoid" => Activation::Sigmoid,
        other => panic!("{other}"),
    };
    NetworkShape { inputs: 3, widths: vec![4, 3], attention: 2, pooling, activation }
}

fn close(found: &[f64], expected: &[f64], what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (i, (f, e)) in found.iter().zip(expected).enumerate() {
        assert!((f - e).abs() <= TOLERANCE * (1.0 + e.abs()), "{what}, {i}: {f:e}, expected {e:e}");
    }
}

fn logistic(y: f64, f: f64) -> (f64, f64) {
    ((-y * f).exp().ln_1p(), -y / (1.0 + (y * f).exp()))
}

#[test]
fn all_poolings() {
    let golden = golden();
    let (bags, y, ctx) = (bags(&golden["bags"]), numbers(&golden["y"]), Ctx::default());
    let list: Vec<usize> = (0..bags.len()).collect();
    let cases = golden["cases"].as_array().unwrap();
    assert_eq!(cases.len(), 6);
    for case in cases {
        let shape = shape(case);
        let what = format!("{:?}", shape.pooling);
        let start = parameters(&case["parameters"]);
        assert_eq!(shape.parameters(), Some(start.len()), "{what}");
        let outputs = network::outputs(&shape, &start, &bags, &list, &ctx).unwrap();
        close(&outputs, &numbers(&case["output"]), &format!("{what}: outputs"));
        let mean = |at: usize, f: f64| {
            let (value, slope) = logistic(y[at], f);
            (value / y.len() as f64, slope / y.len() as f64)
        };
        let found = network::gradient(&shape, &start, &bags, &list, &mean, &ctx).unwrap();
        close(&[found.loss], &numbers(&case["loss"]), &format!("{what}: loss"));
        close(&found.gradient, &parameters(&case["gradient"]), &format!("{what}: gradient"));

        let adam = &case["adam"];
        let number = |name: &str| adam[name].as_f64().unwrap();
        let mut moving = start.clone();
        let mut search = Adam::new(start.len(), number("lr"), number("l2"), shape.decaying());
        for loss in numbers(&adam["losses"]) {
            let found = network::gradient(&shape, &moving, &bags, &list, &mean, &ctx).unwrap();
            close(&[found.loss], &[loss], &format!("{what}: loss on the way"));
            search.step(&mut moving, found.gradient);
        }
        close(&moving, &parameters(&adam["parameters"]), &format!("{what}: Adam"));

        if shape.pooling.attends() {
            let shares = network::shares(&shape, &start, &bags, &list, &ctx).unwrap();
            let attention: Vec<f64> = shares.iter().flat_map(|s| s.attention.clone()).collect();
            close(&attention, &numbers(&case["attention"]), &format!("{what}: attention"));
            let parts: Vec<f64> = shares.iter().flat_map(|s| s.parts.clone()).collect();
            close(&parts, &numbers(&case["parts"]), &format!("{what}: parts"));
        }
    }
}

#[test]
fn one_bag_a_step_with_momentum() {
    // The published schedule: nothing we train by, but a gradient of every single bag.
    let golden = golden();
    let (bags, y, ctx) = (bags(&golden["bags"]), numbers(&golden["y"]), Ctx::default());
    let mut seen = 0;
    for case in golden["cases"].as_array().unwrap().iter().filter(|c| c.get("sgd").is_some()) {
        let (shape, sgd) = (shape(case), &case["sgd"]);
        let number = |name: &str| sgd[name].as_f64().unwrap();
        let mut moving = parameters(&case["parameters"]);
        let mut velocity = vec![0.0; moving.len()];
        for bag in numbers(&sgd["order"]).into_iter().map(|b| b as usize) {
            let loss = |_: usize, f: f64| logistic(y[bag], f);
            let mut slope = network::gradient(&shape, &moving, &bags, &[bag], &loss, &ctx).unwrap().gradient;
            for i in shape.decaying().into_iter().flatten() {
                slope[i] += number("l2") * moving[i];
            }
            for i in 0..moving.len() {
                velocity[i] = number("momentum") * velocity[i] + slope[i];
                moving[i] -= number("lr") * velocity[i];
            }
        }
        close(&moving, &parameters(&sgd["parameters"]), &format!("{:?}: SGD", shape.pooling));
        seen += 1;
    }
    assert_eq!(seen, 2);
}

#[test]
fn bp_mip() {
    let golden = golden();
    let (bags, ctx) = (bags(&golden["bags"]), Ctx::default());
    let list: Vec<usize> = (0..bags.len()).collect();
    let shape = NetworkShape {
        inputs: 3,
        widths: vec![4, 3],
        attention: 2,
        pooling: Pooling::Instance,
        activation: Activation::Sigmoid,
    };
    let start = parameters(&golden["bp_mip"]["parameters"]);
    for case in golden["bp_mip"]["cases"].as_array().unwrap() {
        let (kind, target) = (case["kind"].as_str().unwrap(), numbers(&case["target"]));
        let sigmoid = |f: f64| 1.0 / (1.0 + (-f).exp());
        let loss = |at: usize, f: f64| {
            let (o, y) = (sigmoid(f), target[at]);
            let wanted = match kind {
                "classes" if (o >= 0.5) == (y > 0.0) => return (0.0, 0.0),
                "classes" => 0.5,
                _ => y,
            };
            ((o - wanted) * (o - wanted) / 2.0, (o - wanted) * o * (1.0 - o))
        };
        let found = network::gradient(&shape, &start, &bags, &list, &loss, &ctx).unwrap();
        close(&[found.loss], &numbers(&case["error"]), kind);
        close(&found.gradient, &parameters(&case["gradient"]), kind);
        let outputs = network::outputs(&shape, &start, &bags, &list, &ctx).unwrap();
        let outputs: Vec<f64> = outputs.into_iter().map(sigmoid).collect();
        close(&outputs, &numbers(&case["output"]), kind);
        let chosen = network::shares(&shape, &start, &bags, &list, &ctx).unwrap();
        let chosen: Vec<f64> = chosen.iter().map(|s| s.chosen.unwrap() as f64).collect();
        assert_eq!(chosen, numbers(&case["deciding"]), "{kind}");
    }
}
