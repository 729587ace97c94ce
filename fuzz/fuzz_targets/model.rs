//! A model file, as it is and with the checksum that belongs to it: a stranger can compute one too. What is believed
//! is also used.
#![no_main]

use bagwise::method::{State, Tensor};
use bagwise::model::{Model, pack};
use bagwise::{Bags, Ctx, Instances, Mat};
use safetensors::{Dtype, SafeTensors};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    use_it(bytes);
    if let Some(sealed) = seal(bytes) {
        use_it(&sealed);
    }
});

fn use_it(bytes: &[u8]) {
    let Ok(model) = Model::from_bytes(bytes) else { return };
    let width = model.header.features.len();
    if width == 0 || width > 1000 {
        return;
    }
    let rows = Mat::new(3, width, (0..3 * width).map(|i| (i % 7) as f64 / 4.0).collect());
    let Ok(bags) = Bags::new(Instances::F64(rows), vec![0, 1, 3]) else { return };
    let Ok(bags) = bags.with_features(model.header.features.clone().into()) else { return };
    let ctx = Ctx::default();
    let _ = (model.predict_with(&bags, &ctx), model.explain_with(&bags, &ctx), model.map(&bags, &ctx), model.concepts());
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
                let four = data.chunks_exact(4).map(|c| f32::from_le_bytes(c.try_into().expect("four bytes")));
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
