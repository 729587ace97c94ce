//! The files of a run's folder: records, roster, context, plan. Each target replaces one of them in the folder of a real run
//! and reads, draws or repeats that run.

use std::path::PathBuf;
use std::sync::OnceLock;

use bagwise::io::{ReadOptions, read};
use bagwise::{Dataset, TimePlan};
use bagwise_report::{LoadedRun, ReportOptions, render};

use super::{file, fixed, refused};

/// The files of a real run, and its data.
struct RealRun {
    data: Dataset,
    files: Vec<(String, Vec<u8>)>,
}

fn real() -> &'static RealRun {
    static REAL: OnceLock<RealRun> = OnceLock::new();
    REAL.get_or_init(|| {
        let name = "synthetic:gauss?bags=12&features=2&min=1&max=3";
        let data = read(name, &ReadOptions::default()).expect("a generator");
        let folder = tempfile::tempdir().expect("a folder");
        let run = folder.path().join("run");
        let done = bagwise::compare(&data).methods(["majority"]).folds(3).inner(2).folder(&run).run();
        done.expect("a run");
        let files = std::fs::read_dir(&run).expect("a folder of a run").map(|entry| {
            let path = entry.expect("an entry").path();
            let name = path.file_name().expect("a name").to_string_lossy().into_owned();
            (name, std::fs::read(&path).expect("a file"))
        });
        RealRun { files: files.collect(), data }
    })
}

/// The folder of the real run, with one file replaced.
fn folder_with(name: &str, bytes: &[u8]) -> PathBuf {
    for (other, content) in real().files.iter().filter(|f| f.0 != name) {
        fixed(&format!("{name}-run/{other}"), content);
    }
    file(&format!("{name}-run/{name}"), bytes).parent().expect("inside a folder").to_path_buf()
}

/// Reads the folder and draws its page.
fn draw(folder: &std::path::Path) {
    match LoadedRun::read(folder) {
        Ok(run) => {
            if let Ok(page) = render(&[run], &ReportOptions::default()) {
                assert!(page.ends_with("</html>\n") || page.contains("</html>"));
            }
        }
        Err(error) => refused(&error.to_string()),
    }
}

/// Any bytes as records.
pub(crate) fn record(bytes: &[u8]) {
    if let Err(error) = bagwise::judge::read_records(&file("records.jsonl", bytes)) {
        refused(&error.to_string());
    }
    draw(&folder_with("records.jsonl", bytes));
}

/// Any bytes as the bags of a run.
pub(crate) fn roster(bytes: &[u8]) {
    draw(&folder_with("roster.json", bytes));
}

/// Any bytes as what else is known of a run.
pub(crate) fn report(bytes: &[u8]) {
    draw(&folder_with("report.json", bytes));
}

/// Any bytes as the plan of a run, which is repeated if it is one.
pub(crate) fn plan(bytes: &[u8]) {
    match TimePlan::read(&file("plan.json", bytes)) {
        Ok(plan) => {
            let _ = (plan.seconds(), plan.thinned().count());
            // Baselines alone: others would take the fuzzer's time.
            let quick =
                |name: &str| bagwise::BASELINES.contains(&name) || bagwise::methods::find(name).is_err();
            if plan.methods.iter().all(|m| quick(&m.method)) {
                let run =
                    bagwise::compare(&real().data).methods(["majority"]).folds(2).inner(2).time_plan(plan);
                if let Err(error) = run.run() {
                    assert!(!error.to_string().is_empty());
                }
            }
        }
        Err(error) => refused(&error.to_string()),
    }
}
