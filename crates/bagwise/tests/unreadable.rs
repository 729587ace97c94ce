//! Rows outside memory that can no longer be read: every method, every verb. A failed read is an error, never a result.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bagwise::fold::{ResolvedConfig, TrainOptions, TrainingTask, train};
use bagwise::inspect::inspect;
use bagwise::judge::{Metric, Protocol, ProtocolName, Record, Splits, data_fingerprint};
use bagwise::method::Method;
use bagwise::methods::METHODS;
use bagwise::model::Model;
use bagwise::params::{Grid, WhenUnset};
use bagwise::preprocess::Scale;
use bagwise::run::{Candidate, Run, RunPlan};
use bagwise::{
    Bags, Ctx, Dataset, Error, Instances, Mat, Precision, Result, Rng, RowSource, Stored, Target,
    feature_map, gram,
};

const BAGS: usize = 24;
const SIZE: usize = 4;
const WIDTH: usize = 3;

/// Rows that can be read up to `readable`, which may be moved later on.
struct Failing {
    rows: Mat,
    readable: AtomicUsize,
}

impl Failing {
    /// Rows from here on cannot be read any more.
    fn break_at(&self, row: usize) {
        self.readable.store(row, Ordering::SeqCst);
    }
}

impl RowSource for Failing {
    fn kind(&self) -> &'static str {
        "failing"
    }
    fn rows(&self) -> usize {
        self.rows.rows()
    }
    fn cols(&self) -> usize {
        self.rows.cols()
    }
    fn bytes(&self) -> u64 {
        8 * self.rows.data().len() as u64
    }
    fn is_single(&self) -> bool {
        false
    }
    fn read_f32(&self, rows: Range<usize>, out: &mut [f32]) -> Result<()> {
        let mut double = vec![0.0; out.len()];
        self.read_f64(rows, &mut double)?;
        out.iter_mut().zip(double).for_each(|(o, v)| *o = v as f32);
        Ok(())
    }
    fn read_f64(&self, rows: Range<usize>, out: &mut [f64]) -> Result<()> {
        if rows.end > self.readable.load(Ordering::SeqCst) {
            return Err(Error::Invalid("the disk is gone".into()));
        }
        out.copy_from_slice(&self.rows.data()[rows.start * WIDTH..rows.end * WIDTH]);
        Ok(())
    }
}

/// Bags of two classes outside memory, and the disk they are on.
fn stored() -> (Arc<Failing>, Dataset) {
    let mut rng = Rng::new(2, "unreadable", &[]);
    let class = |row: usize| (row / SIZE % 2) as f64;
    let rows = BAGS * SIZE;
    let values = (0..rows * WIDTH).map(|i| 2.0 * class(i / WIDTH) + rng.normal()).collect();
    let disk = Arc::new(Failing { rows: Mat::new(rows, WIDTH, values), readable: AtomicUsize::new(rows) });
    let instances = Instances::Stored(Stored::new(disk.clone()));
    let bags = Bags::new(instances, (0..=BAGS).map(|b| b * SIZE).collect()).unwrap();
    let labels: Vec<String> = (0..BAGS).map(|b| (b % 2).to_string()).collect();
    (disk, Dataset::new("stored", bags).with_target(Target::from_labels(&labels)).unwrap())
}

fn setup(method: &'static dyn Method, fill: WhenUnset) -> ResolvedConfig {
    let known = |name: &str| method.params().iter().any(|p| p.name == name);
    let given: Vec<(String, String)> = [("psi", "4"), ("t", "20"), ("kernel", "linear"), ("embed", "mean")]
        .iter()
        .filter(|(name, _)| known(name))
        .map(|(name, value)| (name.to_string(), value.to_string()))
        .collect();
    let grid = Grid::new(method.info().name, method.params(), &given, fill, false);
    ResolvedConfig::new(method, grid.unwrap())
}

fn fit(setup: &ResolvedConfig, data: &Dataset) -> Result<Model> {
    let learners = [TrainingTask::new(data, setup, None)?];
    let all: Vec<usize> = (0..BAGS).collect();
    train(&learners, &all, Splits::KFold(3), &TrainOptions::by(Metric::Accuracy), &Ctx::seeded(7))
}

/// The majority method reads no instance to learn.
fn reads(method: &dyn Method) -> bool {
    method.info().name != "majority"
}

/// Refused for the reason that the rows cannot be read.
fn gone<T>(what: &str, result: Result<T>) {
    let error = result.err().unwrap_or_else(|| panic!("{what}: rows that cannot be read gave a result"));
    assert!(error.to_string().contains("the disk is gone"), "{what}: {error}");
}

#[test]
fn no_model_is_fitted_to_rows_that_cannot_be_read() {
    let (disk, data) = stored();
    for method in METHODS {
        let setup = setup(*method, WhenUnset::Default);
        disk.break_at(BAGS * SIZE);
        fit(&setup, &data).unwrap();
        // The last row, the last bag, some bags, all of them.
        for readable in [BAGS * SIZE - 1, BAGS * SIZE - SIZE, SIZE * 5 + 1, 0] {
            disk.break_at(readable);
            gone(method.info().name, fit(&setup, &data));
        }
    }
}

#[test]
fn no_model_answers_for_rows_that_cannot_be_read() {
    let (_, training) = stored();
    let (disk, new) = stored();
    let ctx = Ctx::default();
    for method in METHODS {
        let name = method.info().name;
        disk.break_at(BAGS * SIZE);
        let model = fit(&setup(*method, WhenUnset::Default), &training).unwrap();
        let explains = model.explain_with(&new.bags, &ctx).is_ok();
        let draws = model.graphs(&new.bags, &ctx).is_ok();
        let maps = model.map(&new.bags, &ctx).is_ok();
        model.predict_with(&new.bags, &ctx).unwrap();
        for readable in [BAGS * SIZE - 1, SIZE + 1] {
            disk.break_at(readable);
            gone(&format!("{name} predict"), model.predict_with(&new.bags, &ctx));
            if explains && reads(*method) {
                gone(&format!("{name} explain"), model.explain_with(&new.bags, &ctx));
            }
            if draws {
                gone(&format!("{name} graphs"), model.graphs(&new.bags, &ctx));
            }
            if maps {
                gone(&format!("{name} map"), model.map(&new.bags, &ctx));
            }
        }
    }
}

/// Kernel methods keep training bags, which may be outside memory still when the model is used and written.
#[test]
fn no_model_is_written_or_used_with_training_rows_that_cannot_be_read() {
    let (_, new) = stored();
    let ctx = Ctx::default();
    for method in METHODS {
        let (disk, training) = stored();
        let model = fit(&setup(*method, WhenUnset::Default), &training).unwrap();
        let (bytes, answers) = (model.to_bytes().unwrap(), model.predict_with(&new.bags, &ctx).unwrap());
        disk.break_at(SIZE + 1);
        // What it needs is in memory, or it says that it is not there.
        match model.to_bytes() {
            Ok(found) => assert!(found == bytes, "{}: another model is written", method.info().name),
            refused => gone(method.info().name, refused),
        }
        match model.predict_with(&new.bags, &ctx) {
            Ok(found) => assert_eq!(found, answers, "{}", method.info().name),
            refused => gone(method.info().name, refused),
        }
    }
}

#[test]
fn no_fold_is_judged_by_rows_that_cannot_be_read() {
    let plan = RunPlan {
        protocol: Protocol::new(ProtocolName::Nested, 4, 3),
        metric: Metric::Accuracy,
        threshold: None,
        best: false,
        positive: None,
        precision: Precision::F64,
        seed: 5,
        repeats: 1,
        probabilities: true,
    };
    for method in METHODS.iter().filter(|m| reads(**m)) {
        let (disk, data) = stored();
        let candidates =
            [Candidate { name: method.info().name.into(), setups: vec![setup(*method, WhenUnset::Default)] }];
        let mut kept: Vec<Record> = Vec::new();
        let mut evaluate = || {
            let run = Run::new(&data, &candidates, &plan, None)?;
            kept.clear();
            run.execute(
                &|_| false,
                &mut |record| {
                    kept.push(record);
                    Ok(())
                },
                &Ctx::seeded(5),
            )?;
            Ok::<Vec<Record>, Error>(kept.clone())
        };
        assert!(evaluate().unwrap().iter().all(Record::succeeded));
        // One of the four folds is tested on the last bag, the others train on it.
        disk.break_at(BAGS * SIZE - 1);
        match evaluate() {
            Ok(records) => {
                for record in records {
                    let said = record.outcome.message.as_deref().unwrap_or("");
                    assert!(!record.succeeded() && said.contains("the disk is gone"), "{record:?}");
                }
            }
            refused => gone(method.info().name, refused),
        }
    }
}

#[test]
fn no_gram_or_map_is_made_of_rows_that_cannot_be_read() {
    let ctx = Ctx::default();
    for method in METHODS {
        let name = method.info().name;
        let point = &setup(*method, WhenUnset::Default).grid.points[0];
        let ((disk, data), (other_disk, other)) = (stored(), stored());
        for scale in [Scale::None, Scale::ZScore] {
            let square = || gram(*method, point, scale, false, &data.bags, None, None, &ctx);
            let against = || gram(*method, point, scale, false, &data.bags, Some(&other.bags), None, &ctx);
            let map = || feature_map(*method, point, scale, false, &data.bags, None, &ctx);
            disk.break_at(BAGS * SIZE);
            other_disk.break_at(BAGS * SIZE);
            let (has_gram, has_against, has_map) = (square().is_ok(), against().is_ok(), map().is_ok());
            other_disk.break_at(SIZE + 1);
            if has_against {
                gone(&format!("{name} gram against"), against());
            }
            other_disk.break_at(BAGS * SIZE);
            disk.break_at(BAGS * SIZE - 1);
            if has_gram {
                gone(&format!("{name} gram"), square());
            }
            if has_against {
                gone(&format!("{name} gram of new bags"), against());
            }
            if has_map {
                gone(&format!("{name} map"), map());
            }
        }
    }
}

#[test]
fn nothing_is_said_of_data_that_cannot_be_read() {
    let (disk, data) = stored();
    let (ctx, folder) = (Ctx::default(), tempfile::tempdir().unwrap());
    let y: Vec<f64> = (0..BAGS).map(|b| 2.0 * (b % 2) as f64 - 1.0).collect();
    for readable in [BAGS * SIZE - 1, 0] {
        disk.break_at(readable);
        gone("inspect", inspect(&data));
        gone("fingerprint", data_fingerprint(&data));
        gone("memory", Arc::new(data.bags.clone()).in_memory(&ctx));
        gone("bag", data.bags.bag(BAGS - 1).to_dense());
        gone("check", Bags::new(data.bags.instances().clone(), data.bags.offsets().to_vec()));
        for method in METHODS.iter().filter(|m| m.info().name.starts_with("mi-svm")) {
            let point = &setup(*method, WhenUnset::Default).grid.points[0];
            let name = method.info().name;
            gone(name, bagwise::unstable::follow(name, point, &data.bags, &y, None, 1e-3, &ctx));
        }
        for ending in ["csv", "arff", "npz", "parquet", "sparse"] {
            let path = folder.path().join(format!("bags.{ending}"));
            gone(ending, bagwise::io::write(&data, &path, None));
            assert!(!path.exists(), "half a file is left");
        }
    }
}
