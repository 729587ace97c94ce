//! What every target asks of a reader: a result that keeps its promises, or an error with the file's name and a
//! remedy. Panics, hangs and memory are the fuzzer's to notice.
//!
//! [`TABLES`] and [`OTHERS`] list all of them. `main.rs` hands one to libFuzzer, and the tests of the command line call them
//! with the files in `corpus`.

mod choices;
mod learn;
mod made_mat;
mod made_npz;
mod made_parquet;
mod runs;
mod tables;

/// What the targets of tables use.
mod facade {
    pub(crate) use bagwise::Bags;
    pub(crate) use bagwise::io::{ReadOptions, read, write};
}

pub use tables::{TABLES, Target};
pub(crate) use tables::{file, fixed, refused};

use bagwise::method::{State, Tensor};
use bagwise::model::{Model, pack};
use bagwise::{Bags, Ctx, Instances, Mat};
use safetensors::{Dtype, SafeTensors};

/// The targets that need more than the readers of tables.
pub const OTHERS: &[Target] = &[
    ("experiment", experiment),
    ("learn", learn::learn),
    ("model", model),
    ("plan", runs::plan),
    ("printed", printed),
    ("record", runs::record),
    ("report", runs::report),
    ("roster", runs::roster),
];

/// Any bytes as an experiment.
fn experiment(bytes: &[u8]) {
    if let Err(error) = bagwise_cli::untrusted::experiment(&file("a.toml", bytes)) {
        assert!(format!("{error:#}").chars().count() < 3000, "{error:#}");
    }
}

/// Any bytes as a file of printed numbers.
fn printed(bytes: &[u8]) {
    if let Err(error) = bagwise_cli::untrusted::printed(&file("printed.csv", bytes)) {
        assert!(format!("{error:#}").chars().count() < 3000, "{error:#}");
    }
}

/// A model file, as it is and with the checksum that belongs to it: a stranger can compute one too. What is believed
/// is also used.
fn model(bytes: &[u8]) {
    use_model(bytes);
    if let Some(sealed) = seal(bytes) {
        use_model(&sealed);
    }
}

fn use_model(bytes: &[u8]) {
    let Ok(model) = Model::from_bytes(bytes) else { return };
    let width = model.header.features.len();
    if width == 0 || width > 1000 {
        return;
    }
    let rows = Mat::new(3, width, (0..3 * width).map(|i| (i % 7) as f64 / 4.0).collect());
    let Ok(bags) = Bags::new(Instances::F64(rows), vec![0, 1, 3]) else { return };
    let Ok(bags) = bags.with_features(model.header.features.clone().into()) else { return };
    let ctx = Ctx::default();
    if let Ok(predictions) = model.predict_with(&bags, &ctx) {
        assert!(predictions.iter().all(|p| p.outputs.iter().all(|o| o.is_finite())), "an infinite output");
    }
    let _ = (model.explain_with(&bags, &ctx), model.map(&bags, &ctx), model.concepts(), model.rules());
    let _ = (model.votes(&bags, &ctx), model.attention(&bags, &ctx), model.graphs(&bags, &ctx));
    let _ = (model.trace(), model.representatives(), model.out_of_bag());
}

/// The same content with its checksum.
fn seal(bytes: &[u8]) -> Option<Vec<u8>> {
    let (_, metadata) = SafeTensors::read_metadata(bytes).ok()?;
    let header = metadata.metadata().as_ref()?.get("bagwise")?.clone();
    let mut state = State::default();
    for (name, view) in SafeTensors::deserialize(bytes).ok()?.tensors() {
        let (shape, data) = (view.shape().to_vec(), view.data());
        let eight = || data.chunks_exact(8).map(|c| u64::from_le_bytes(c.try_into().expect("eight bytes")));
        let tensor = match view.dtype() {
            Dtype::F64 => Tensor::F64(shape, eight().map(f64::from_bits).collect()),
            Dtype::U64 => Tensor::U64(shape, eight().collect()),
            Dtype::F32 => {
                let four =
                    data.chunks_exact(4).map(|c| f32::from_le_bytes(c.try_into().expect("four bytes")));
                Tensor::F32(shape, four.collect())
            }
            _ => return None,
        };
        if name != "checksum" {
            state.tensors.insert(name, tensor);
        }
    }
    pack(&header, state).ok()
}
