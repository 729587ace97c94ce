//! What every target asks of a reader: a result that keeps its promises, or an error with the file's name and a
//! remedy. Panics, hangs and memory are the fuzzer's to notice.
//!
//! [`TARGETS`] lists all of them. `main.rs` hands one to libFuzzer, and the tests of the command line call them with the files
//! in `corpus`.

mod choices;
mod learn;
mod made_mat;
mod made_npz;
mod made_parquet;
mod runs;

use std::cell::RefCell;
use std::path::PathBuf;

use bagwise::io::{ReadOptions, read, write};
use bagwise::method::{State, Tensor};
use bagwise::model::{Model, pack};
use bagwise::{Bags, Ctx, Instances, Mat};
use safetensors::{Dtype, SafeTensors};

/// A target: its name, and what it does with the fuzzer's bytes.
pub type Target = (&'static str, fn(&[u8]));

/// Every target.
pub const TARGETS: &[Target] = &[
    ("arff", |bytes| table("a.arff", "arff", bytes)),
    ("c45", |bytes| table("a.data", "uci-musk", bytes)),
    ("csv", |bytes| table("a.csv", "csv", bytes)),
    ("experiment", experiment),
    ("gzip", |bytes| table("a.csv.gz", "csv", bytes)),
    ("labels", labels),
    ("learn", learn::learn),
    ("made-mat", |bytes| table("a.mat", "matlab", &made_mat::file(bytes))),
    ("made-npz", |bytes| table("a.npz", "npz", &made_npz::file(bytes))),
    ("made-parquet", |bytes| table("a.parquet", "parquet", &made_parquet::file(bytes))),
    ("matlab", |bytes| table("a.mat", "matlab", bytes)),
    ("model", model),
    ("npy", npy),
    ("npz", |bytes| table("a.npz", "npz", bytes)),
    ("parquet", |bytes| table("a.parquet", "parquet", bytes)),
    ("plan", runs::plan),
    ("printed", printed),
    ("record", runs::record),
    ("report", runs::report),
    ("roster", runs::roster),
    ("sparse", |bytes| table("a.sparse", "sparse", bytes)),
    ("zstd", |bytes| table("a.csv.zst", "csv", bytes)),
];

thread_local! {
    static FOLDER: RefCell<Option<tempfile::TempDir>> = const { RefCell::new(None) };
}

/// A file with these bytes, in memory where the system has a place for that.
pub(crate) fn file(name: &str, bytes: &[u8]) -> PathBuf {
    FOLDER.with_borrow_mut(|folder| {
        let folder = folder.get_or_insert_with(|| {
            let memory = std::path::Path::new("/dev/shm");
            if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() }
                .expect("a folder for the file")
        });
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().expect("inside the folder")).expect("a folder");
        std::fs::write(&path, bytes).expect("room for the file");
        path
    })
}

/// A refusal is short and has a remedy.
pub(crate) fn refused(message: &str) {
    assert!(message.contains("; "), "no remedy: {message}");
    assert!(message.chars().count() < 1500, "{message}");
}

/// Reads the bytes as a file of this name, in both moods, and writes what was read.
fn table(name: &str, format: &str, bytes: &[u8]) {
    let path = file(name, bytes);
    let typed = path.to_str().expect("a plain name");
    for lenient in [false, true] {
        let options = ReadOptions {
            format: Some(format.into()),
            allow_missing: lenient,
            unlabelled: lenient,
            ..ReadOptions::default()
        };
        match read(typed, &options) {
            Ok(data) => {
                check(&data.bags);
                assert!(lenient || !data.bags.has_missing());
                assert!(data.kept.iter().all(|k| k.values.len() == data.bags.instance_count()));
                if data.bags.instance_count() * data.bags.width() < 10_000 {
                    // Whatever was read can be written, or is refused with a reason.
                    let to = path.with_file_name("out.csv");
                    let _ = write(&data, &to, None);
                }
            }
            Err(error) => refused(&error.to_string()),
        }
    }
}

fn check(bags: &Bags) {
    assert!(bags.offsets().windows(2).all(|w| w[0] < w[1]));
    assert_eq!(bags.offsets().last(), Some(&bags.instance_count()));
    assert_eq!((bags.features().len(), bags.ids().len()), (bags.width(), bags.len()));
}

/// Any bytes as one bag of a folder of `.npy` files.
fn npy(bytes: &[u8]) {
    let path = file("bags/a.npy", bytes);
    table_in(path.parent().expect("inside the folder"), None);
}

/// Any bytes as the table of labels beside a folder of two bags.
fn labels(bytes: &[u8]) {
    let folder = file("labelled/a.npy", TWO_NUMBERS);
    file("labelled/b.npy", TWO_NUMBERS);
    let labels = file("labels.csv", bytes);
    table_in(folder.parent().expect("inside the folder"), Some(labels));
}

/// A `.npy` of two rows and one column.
const TWO_NUMBERS: &[u8] =
    b"\x93NUMPY\x01\x00\x36\x00{'descr':'<f4','fortran_order':False,'shape':(2,1)}  \n\
      \x00\x00\x80\x3f\x00\x00\x00\x40";

fn table_in(folder: &std::path::Path, labels: Option<PathBuf>) {
    for unlabelled in [false, true] {
        let options = ReadOptions { unlabelled, labels: labels.clone(), ..ReadOptions::default() };
        match read(folder.to_str().expect("a plain name"), &options) {
            Ok(data) => {
                check(&data.bags);
                let mut sum = 0.0;
                let rows = 0..data.bags.instance_count();
                let read = data.bags.instances().each_row(rows, |_, row| sum += row.iter().sum::<f64>());
                assert!(read.is_ok() && !sum.is_nan());
            }
            Err(error) => refused(&error.to_string()),
        }
    }
}

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
