//! Model files from strangers: headers that are well-formed JSON and still lie. (Random damage is in
//! `conformance.rs`; here every lie is a deliberate one, and each must be refused, not believed.)

use bagwise::fold::{ResolvedConfig, TrainingTask};
use bagwise::fold::{TrainOptions, train};
use bagwise::judge::{Metric, Splits};
use bagwise::methods;
use bagwise::model::{Model, pack, unpack};
use bagwise::multiclass::Scheme;
use bagwise::params::{Grid, WhenUnset};
use bagwise::preprocess::Scale;
use bagwise::{Bags, Ctx, Dataset, Feature, FeatureKind, Instances, Mat, Target};
use serde_json::{Value, json};

/// Eight bags with a number, a category and, once, a missing value.
fn data(target: Target) -> Dataset {
    let rows: Vec<[f64; 2]> = (0..16)
        .map(|i| {
            let x = if i == 3 { f64::NAN } else { f64::from(i % 5) };
            [x, f64::from(i % 3)]
        })
        .collect();
    let categories = FeatureKind::Categorical { values: vec!["a".into(), "b".into(), "c".into()] };
    let features = [Feature::numeric("x"), Feature { name: "z".into(), kind: categories }];
    let bags =
        Bags::with_missing(Instances::F64(Mat::from_rows(&rows)), (0..=8).map(|b| 2 * b).collect()).unwrap();
    let bags = bags.with_features(features.into()).unwrap();
    Dataset::new("mixed", bags).with_target(target).unwrap()
}

fn model(method: &str, data: &Dataset) -> Vec<u8> {
    let method = methods::find(method).unwrap();
    let regression = matches!(data.target, Some(Target::Values(_)));
    let setup = ResolvedConfig {
        method,
        grid: Grid::new(method.info().name, method.params(), &[], WhenUnset::Default, regression).unwrap(),
        scale: Scale::MinMax,
        scheme: Scheme::OneVsOne,
        balanced: false,
        impute: true,
    };
    let metric = if regression { Metric::Mse } else { Metric::Accuracy };
    let learners = [TrainingTask::new(data, &setup, None).unwrap()];
    let wanted = TrainOptions::by(metric);
    let all: Vec<usize> = (0..data.bags.len()).collect();
    train(&learners, &all, Splits::KFold(2), &wanted, &Ctx::default()).unwrap().to_bytes().unwrap()
}

/// The same file with another header, and the checksum that belongs to it.
fn with_header(bytes: &[u8], change: impl FnOnce(&mut Value)) -> Vec<u8> {
    let (header, state) = unpack(bytes).unwrap();
    let mut header: Value = serde_json::from_str(&header).unwrap();
    change(&mut header);
    pack(&header.to_string(), state).unwrap()
}

fn classes() -> Dataset {
    data(Target::from_labels(&["p", "q", "p", "q", "p", "q", "p", "q"]))
}

fn values() -> Dataset {
    data(Target::Values(vec![0.1, 0.9, 0.2, 0.8, 0.3, 0.7, 0.4, 0.6]))
}

#[test]
fn categories_and_gaps_survive_saving() {
    for data in [classes(), values()] {
        for method in ["mi-kernel", "migraph", "wmksvm", "simple-mi", "migraph-explicit", "majority"] {
            let bytes = model(method, &data);
            let same = with_header(&bytes, |_| {});
            let before =
                Model::from_bytes(&bytes).unwrap().predict_with(&data.bags, &Ctx::default()).unwrap();
            let after = Model::from_bytes(&same).unwrap().predict_with(&data.bags, &Ctx::default()).unwrap();
            assert_eq!(before, after, "{method}");
            assert!(before.iter().all(|p| p.outputs[0].is_finite()), "{method}");
        }
    }
}

#[test]
fn a_header_that_lies_is_refused() {
    type Lie = (&'static str, fn(&mut Value));
    let lies: &[Lie] = &[
        ("no upper ends", |h| h["familiarity"]["high"] = json!([])),
        ("no lower ends", |h| h["familiarity"]["low"] = json!([])),
        ("a category table with short rows", |h| {
            h["transform"]["columns"][1]["category"]["table"][0] = json!([])
        }),
        ("a category without columns", |h| h["transform"]["columns"][1]["category"]["names"] = json!([])),
        ("one column too few", |h| h["transform"]["columns"] = json!([])),
        ("no features", |h| h["features"] = json!([])),
        ("no machines", |h| h["tasks"] = json!([])),
        ("a machine too many", |h| {
            let task = h["tasks"][0].clone();
            h["tasks"] = json!([task, task]);
        }),
        ("a class that does not exist", |h| h["tasks"][0]["plus"] = json!(77)),
        ("an opponent that does not exist", |h| h["tasks"][0]["minus"] = json!(77)),
        ("one class", |h| h["classes"] = json!(["p"])),
        ("an unknown method", |h| h["method"] = json!("nonsense")),
        ("a parameter out of range", |h| h["parameters"]["c"] = json!(-1)),
        ("a parameter of another method", |h| h["parameters"]["nonsense"] = json!(1)),
        ("no parameters", |h| h["parameters"] = json!({})),
        ("a newer format", |h| h["format"] = json!(99)),
        ("a format that is no number", |h| h["format"] = json!("one")),
    ];
    for data in [classes(), values()] {
        let bytes = model("mi-kernel", &data);
        for (what, lie) in lies {
            let lied = with_header(&bytes, lie);
            // With real values there are no classes for a machine to miss: an opponent of any kind is the lie.
            let error = Model::from_bytes(&lied).err();
            assert!(error.is_some(), "{what}: believed");
        }
    }
    let opponent = with_header(&model("mi-kernel", &values()), |h| h["tasks"][0]["minus"] = json!(0));
    assert!(Model::from_bytes(&opponent).is_err(), "numbers have no opponent");
}

/// A file of the container from its parts: the JSON of the arrays, and their bytes.
fn container(json: &str, data: &[u8]) -> Vec<u8> {
    let mut bytes = (json.len() as u64).to_le_bytes().to_vec();
    bytes.extend(json.as_bytes());
    bytes.extend(data);
    bytes
}

/// The JSON and the bytes of a good file.
fn parts(bytes: &[u8]) -> (String, Vec<u8>) {
    let length = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    let json = String::from_utf8(bytes[8..8 + length].to_vec()).unwrap();
    (json.trim_end().to_string(), bytes[8 + length..].to_vec())
}

#[test]
fn a_container_that_lies_about_places_and_sizes_is_refused() {
    let good = model("mi-kernel", &classes());
    let (json, data) = parts(&good);
    assert!(Model::from_bytes(&container(&json, &data)).is_ok());
    let listed: Value = serde_json::from_str(&json).unwrap();
    let first = listed.as_object().unwrap().keys().find(|k| *k != "__metadata__").unwrap().clone();
    let changed = |change: &dyn Fn(&mut Value)| {
        let mut value = listed.clone();
        change(&mut value[&first]);
        container(&value.to_string(), &data)
    };
    let huge = u64::MAX;
    let entry = listed[&first].to_string();
    let twice = format!("{},\"{first}\":{entry}}}", &json[..json.len() - 1]);
    let nested = |open: &str, close: &str, depth: usize| open.repeat(depth) + &close.repeat(depth);
    let with_header = |header: &str| {
        let mut value = listed.clone();
        value["__metadata__"]["bagwise"] = json!(header);
        container(&value.to_string(), &data)
    };
    let mut files: Vec<(&str, Vec<u8>)> = vec![
        ("nothing", Vec::new()),
        ("half a length", good[..5].to_vec()),
        ("a length beyond the file", [&1_000_000u64.to_le_bytes()[..], &good[8..]].concat()),
        ("the largest length", [&huge.to_le_bytes()[..], &good[8..]].concat()),
        ("a length of zero", [&0u64.to_le_bytes()[..], &good[8..]].concat()),
        ("an end beyond the file", changed(&|t| t["data_offsets"][1] = json!(1u64 << 40))),
        ("the largest end", changed(&|t| t["data_offsets"][1] = json!(huge))),
        ("an end before the start", changed(&|t| t["data_offsets"] = json!([64, 0]))),
        ("a negative start", changed(&|t| t["data_offsets"][0] = json!(-8))),
        ("three places", changed(&|t| t["data_offsets"] = json!([0, 8, 16]))),
        ("a shape that is too large", changed(&|t| t["shape"] = json!([1u64 << 40]))),
        ("a shape that overflows", changed(&|t| t["shape"] = json!([1u64 << 33, 1u64 << 33]))),
        ("a shape that wraps to its size", changed(&|t| t["shape"] = json!([huge, huge]))),
        ("a negative shape", changed(&|t| t["shape"] = json!([-1]))),
        ("an unknown type", changed(&|t| t["dtype"] = json!("F7"))),
        ("another type of the same size", changed(&|t| t["dtype"] = json!("I64"))),
        ("an array that is none", changed(&|t| *t = json!([]))),
        ("an array twice", container(&twice, &data)),
        ("bytes behind the last array", container(&json, &[&data[..], &[0; 8]].concat())),
        ("a byte too few", container(&json, &data[..data.len() - 1])),
        ("JSON without end", container(&json[..json.len() - 1], &data)),
        ("deep JSON", container(&nested("[", "]", 100_000), &data)),
        ("deep JSON of objects", container(&nested("{\"a\":", "}", 100_000), &data)),
        ("a deep header", with_header(&nested("[", "]", 100_000))),
        ("a header that is none", with_header("7")),
        ("a header that is no JSON", with_header("{")),
        ("no header", container(&json.replace("\"bagwise\"", "\"other\""), &data)),
        ("not UTF-8", container("\u{1}", &[0xff; 100])),
    ];
    let mut swapped = good.clone();
    let at = swapped.len() - 3;
    swapped[at] ^= 1;
    files.push(("one bit of a number", swapped));
    for (what, bytes) in files {
        let error = Model::from_bytes(&bytes).err().unwrap_or_else(|| panic!("{what}: believed"));
        assert!(error.to_string().len() < 600, "{what}: {error}");
    }
}

/// A model is refused, or everything it offers is asked of it without a panic and without an infinite output.
fn assert_harmless(sealed: &[u8], data: &Dataset, what: &str) {
    let used = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let Ok(model) = Model::from_bytes(sealed) else { return true };
        let (bags, ctx) = (&data.bags, Ctx::default());
        let _ = (model.explain_with(bags, &ctx), model.attention(bags, &ctx), model.graphs(bags, &ctx));
        let _ = (model.map(bags, &ctx), model.votes(bags, &ctx), model.rules(), model.concepts());
        let _ = (model.trace(), model.representatives(), model.out_of_bag());
        let said = model.predict_with(bags, &ctx).unwrap_or_default();
        said.iter().all(|p| p.outputs.iter().all(|o| o.is_finite()))
    }));
    assert!(used.is_ok(), "{what}: a panic");
    assert!(used.is_ok_and(|finite| finite), "{what}: an output that is not finite");
}

/// Parameters of every method, changed in the header: refused, or used without harm.
#[test]
fn parameters_that_lie_are_refused_or_harmless() {
    let data = classes();
    let lies = [
        json!(0),
        json!(-1),
        json!(1e308),
        json!(5e-324),
        json!(u64::MAX),
        json!(1u64 << 40),
        json!("x"),
        json!(""),
        json!(null),
        json!([1, 2]),
        json!({"number": 1e300}),
        json!(true),
        json!("1/0"),
        json!("1e400/median"),
    ];
    for method in methods::METHODS {
        let name = method.info().name;
        let bytes = model(name, &data);
        let (header, _) = unpack(&bytes).unwrap();
        let header: Value = serde_json::from_str(&header).unwrap();
        let parameters = header["parameters"].clone();
        let places: Vec<String> = match &parameters {
            Value::Object(fields) => fields.keys().map(|key| format!("/{key}")).collect(),
            Value::Array(items) => {
                (0..items.len()).flat_map(|i| [format!("/{i}"), format!("/{i}/1")]).collect()
            }
            _ => Vec::new(),
        };
        for place in places {
            for lie in &lies {
                let lying = with_header(&bytes, |h| {
                    if let Some(at) = h["parameters"].pointer_mut(&place) {
                        *at = lie.clone();
                    }
                });
                assert_harmless(&lying, &data, &format!("{name}, parameter {place} = {lie}"));
            }
        }
    }
}

/// Arrays of every method, changed and sealed with the checksum that belongs to them: refused, or used without harm.
#[test]
fn arrays_that_lie_are_refused_or_harmless() {
    use bagwise::method::Tensor;
    let data = classes();
    for method in methods::METHODS {
        let name = method.info().name;
        let bytes = model(name, &data);
        let (header, state) = unpack(&bytes).unwrap();
        for (array, tensor) in &state.tensors {
            let shape = tensor.shape().to_vec();
            let count: usize = shape.iter().product();
            let mut lies: Vec<Option<Tensor>> = vec![
                None,
                Some(Tensor::F64(vec![0], Vec::new())),
                Some(Tensor::U64(vec![0], Vec::new())),
                Some(Tensor::F64(vec![1], vec![f64::NAN])),
                Some(Tensor::F64(shape.clone(), vec![f64::INFINITY; count])),
                Some(Tensor::F64(shape.clone(), vec![f64::MAX; count])),
                Some(Tensor::F64(shape.clone(), vec![-1.0; count])),
                Some(Tensor::F32(shape.clone(), vec![f32::NAN; count])),
                Some(Tensor::U64(shape.clone(), vec![u64::MAX; count])),
                Some(Tensor::U64(shape.clone(), vec![1 << 40; count])),
                Some(Tensor::U64(shape.clone(), vec![0; count])),
                Some(Tensor::F64(vec![count + 1], vec![1.0; count + 1])),
                Some(Tensor::F64(vec![count, 1, 1], vec![1.0; count])),
            ];
            if let Tensor::F64(_, values) = tensor {
                let mut turned = shape.clone();
                turned.reverse();
                lies.push(Some(Tensor::F64(turned, values.clone())));
            }
            for (number, lie) in lies.into_iter().enumerate() {
                let mut lying = state.clone();
                match lie {
                    Some(tensor) => drop(lying.tensors.insert(array.clone(), tensor)),
                    None => drop(lying.tensors.remove(array)),
                }
                let sealed = pack(&header, lying).unwrap();
                assert_harmless(&sealed, &data, &format!("{name}, array '{array}', lie {number}"));
            }
        }
    }
}

#[test]
fn a_width_that_no_scaling_gives_is_refused_before_anything_is_made_of_it() {
    use bagwise::Csr;
    use bagwise::method::Tensor;
    let mut rows = Csr::empty(3);
    (0..8).for_each(|i| rows.push_row([(i % 3, f64::from(i + 1))]));
    let bags = Bags::new(Instances::Sparse(rows), (0..=8).collect()).unwrap();
    let labels = ["p", "q", "p", "q", "p", "q", "p", "q"];
    let data = Dataset::new("sparse", bags).with_target(Target::from_labels(&labels)).unwrap();
    let method = methods::find("mi-kernel").unwrap();
    let grid = Grid::new("mi-kernel", method.params(), &[], WhenUnset::Default, false).unwrap();
    let setup = ResolvedConfig { scale: Scale::None, ..ResolvedConfig::new(method, grid) };
    let learners = [TrainingTask::new(&data, &setup, None).unwrap()];
    let all: Vec<usize> = (0..8).collect();
    let wanted = TrainOptions::by(Metric::Accuracy);
    let model = train(&learners, &all, Splits::KFold(2), &wanted, &Ctx::default()).unwrap();
    let (header, mut state) = unpack(&model.to_bytes().unwrap()).unwrap();
    let name = state.tensors.keys().find(|name| name.ends_with(".width")).unwrap().clone();
    assert!(Model::from_bytes(&pack(&header, state.clone()).unwrap()).is_ok());
    state.tensors.insert(name, Tensor::U64(vec![1], vec![u64::from(u32::MAX)]));
    let error = Model::from_bytes(&pack(&header, state).unwrap()).err().unwrap().to_string();
    assert!(error.contains("4294967295, and its scaling gives 3 columns"), "{error}");
}
