//! The record file: nothing is lost, nothing is mixed, and damage is named.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;

use bagwise::judge::{
    FitOutcome, FitStatus, Key, RECORD_FORMAT, Reason, Record, RecordFile, ScoredBags, read_records,
};
use proptest::prelude::*;
use serde_json::json;

pub(crate) fn record(method: &str, repeat: usize, fold: usize, inner: Option<usize>) -> Record {
    Record {
        format: RECORD_FORMAT,
        key: Key { data: "toy".into(), method: method.into(), repeat, fold, inner, point: String::new() },
        run: "r1".into(),
        data: "d1".into(),
        protocol: "nested".into(),
        seed: 0,
        parameters: BTreeMap::from([("gamma".into(), json!(0.1)), ("c".into(), json!(100))]),
        trained: 9,
        scored: ScoredBags {
            bags: vec![3],
            labels: Some(vec![1]),
            scores: vec![0.1 + 0.2],
            probabilities: None,
        },
        reasons: vec![Reason { parts: vec![(4, 0.5), (0, -0.25)], bias: Some(0.1), ..Reason::default() }],
        metrics: BTreeMap::from([("accuracy".into(), Some(1.0)), ("roc_auc".into(), None)]),
        inner: Some(0.5),
        gain: None,
        threshold: None,
        on_edge: Vec::new(),
        outcome: FitOutcome {
            status: FitStatus::Converged,
            iterations: Some(12),
            objective: Some(-1.5),
            gap: Some(1e-4),
            message: None,
            changed: vec![3, 0],
        },
        seconds: 0.25,
    }
}

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Folder {
        Folder(tempfile::tempdir().unwrap())
    }

    fn file(&self) -> PathBuf {
        self.0.path().join("records.jsonl")
    }
}

#[test]
fn what_was_appended_is_found_again_in_the_same_order_whatever_order_it_came_in() {
    let folder = Folder::new();
    let records = [
        record("b", 0, 10, None),
        record("b", 0, 9, Some(1)),
        record("a", 1, 0, None),
        record("b", 0, 9, None),
    ];
    let mut file = RecordFile::open(&folder.file(), "r1").unwrap();
    assert!(file.is_empty());
    for r in &records {
        file.append(r.clone()).unwrap();
        // Flushed: a reader sees it at once.
        assert!(read_records(&folder.file()).unwrap().contains(r));
    }
    assert!(file.append(records[0].clone()).unwrap_err().to_string().contains("recorded already"));
    drop(file);
    let file = RecordFile::open(&folder.file(), "r1").unwrap();
    assert_eq!((file.len(), file.torn()), (4, 0));
    assert_eq!(file.get(&records[2].key), Some(&records[2]));
    assert!(!file.contains(&record("a", 1, 1, None).key));
    let sorted: Vec<Record> = file.records().cloned().collect();
    assert_eq!(sorted, [&records[2], &records[3], &records[1], &records[0]].map(Clone::clone));
    assert_eq!(file.into_records(), read_records(&folder.file()).unwrap());
}

#[test]
fn a_torn_last_line_is_cut_off_at_every_byte() {
    let folder = Folder::new();
    let records = [record("a", 0, 0, None), record("a", 0, 1, None), record("a", 0, 2, None)];
    let mut file = RecordFile::open(&folder.file(), "r1").unwrap();
    records.iter().for_each(|r| file.append(r.clone()).unwrap());
    drop(file);
    let bytes = std::fs::read(folder.file()).unwrap();
    for cut in 0..=bytes.len() {
        std::fs::write(folder.file(), &bytes[..cut]).unwrap();
        let whole = bytes[..cut].iter().filter(|&&b| b == b'\n').count();
        let start = bytes[..cut].iter().rposition(|&b| b == b'\n').map_or(0, |at| at + 1);
        assert_eq!(read_records(&folder.file()).unwrap(), records[..whole]);
        assert_eq!(std::fs::metadata(folder.file()).unwrap().len(), cut as u64, "reading changes nothing");
        let mut file = RecordFile::open(&folder.file(), "r1").unwrap();
        assert_eq!((file.len(), file.torn()), (whole, (cut - start) as u64), "cut at {cut}");
        assert_eq!(std::fs::metadata(folder.file()).unwrap().len(), start as u64, "the tail is gone");
        // The run goes on, and ends with the same bytes.
        for r in &records {
            if !file.contains(&r.key) {
                file.append(r.clone()).unwrap();
            }
        }
        drop(file);
        assert_eq!(std::fs::read(folder.file()).unwrap(), bytes, "cut at {cut}");
    }
}

#[test]
fn damage_in_the_middle_is_an_error_that_names_the_line() {
    let folder = Folder::new();
    let good = |fold| serde_json::to_string(&record("a", 0, fold, None)).unwrap();
    let try_lines = |lines: &[String]| {
        std::fs::write(folder.file(), lines.iter().map(|l| format!("{l}\n")).collect::<String>()).unwrap();
        RecordFile::open(&folder.file(), "r1").map(|f| f.len()).map_err(|e| e.to_string())
    };
    assert_eq!(try_lines(&[good(0), good(1)]), Ok(2));
    let half = good(1)[..40].to_string();
    for damaged in [half, String::new(), "{}".into(), good(1).replace("nested\"", "nested\",\"x")] {
        let message = try_lines(&[good(0), damaged.clone(), good(2)]).unwrap_err();
        assert!(message.contains("records.jsonl, line 2: not a record"), "{damaged}: {message}");
        assert!(message.contains("delete the line"), "{message}");
        // A whole line, newline and all, is damage at the end of the file too.
        assert!(try_lines(&[good(0), damaged]).unwrap_err().contains("line 2"));
    }
    let twice = try_lines(&[good(0), good(1), good(0)]).unwrap_err();
    assert!(twice.contains("line 3: the fit of toy, a, repeat 0, fold 0 is recorded twice"), "{twice}");
}

/// A power cut leaves zeros where the disk never got a line, and lines behind them that it did get.
#[test]
fn zeros_in_place_of_lines_are_passed_over_and_the_fits_done_again() {
    let folder = Folder::new();
    let records: Vec<Record> = (0..4).map(|fold| record("a", 0, fold, None)).collect();
    let mut file = RecordFile::open(&folder.file(), "r1").unwrap();
    records.iter().for_each(|r| file.append(r.clone()).unwrap());
    drop(file);
    let bytes = std::fs::read(folder.file()).unwrap();
    let ends: Vec<usize> = (0..bytes.len()).filter(|&i| bytes[i] == b'\n').collect();
    // From the middle of the first line to the middle of the third: one line is left of the three.
    let mut holed = bytes.clone();
    holed[ends[0] / 2..ends[1] + 20].fill(0);
    std::fs::write(folder.file(), &holed).unwrap();
    assert_eq!(read_records(&folder.file()).unwrap(), records[3..]);
    let mut file = RecordFile::open(&folder.file(), "r1").unwrap();
    assert_eq!((file.len(), file.torn()), (1, ends[2] as u64 + 1));
    records[..3].iter().for_each(|r| file.append(r.clone()).unwrap());
    drop(file);
    assert_eq!(read_records(&folder.file()).unwrap(), records);
    // And at the very end, where no newline follows.
    std::fs::write(folder.file(), [&bytes[..ends[1] + 1], &[0; 600]].concat()).unwrap();
    let file = RecordFile::open(&folder.file(), "r1").unwrap();
    assert_eq!((file.len(), file.torn()), (2, 600));
}

/// A line as version 0.1.0 wrote it. If this fails, the seal is made of other fields than before, and every stored run counts as
/// edited: leave out new fields where they have their usual value.
#[test]
fn sealed_records_of_the_first_version_are_accepted() {
    let line = [
        r#"{"format":1,"key":{"data":"synthetic:gauss?bags=12&features=2&min=1&max=2","method":"simple-mi","repeat":0,"fold":0,"i"#,
        r#"nner":null,"point":""},"run":"ebe56a601f90ac49","data":"60de4b02dcc4b07f","protocol":"nested","seed":0,"parameters":{""#,
        r#"c":1.0,"embed":"minmax","gamma":1.0,"kernel":"rbf"},"trained":6,"scored":{"bags":[0,1,4,5,8,11],"labels":[1,1,0,0,0,1]"#,
        r#","scores":[0.8407808343987697,0.977314231718448,-0.946980655207263,-0.9488254046703162,-0.974050051884277,0.5198864539"#,
        r#"007737],"probabilities":[0.6064711404872493,0.6238873395429362,0.3703003818321299,0.3700685996492974,0.366905312459362"#,
        r#"1,0.5645309778014174]},"metrics":{"accuracy":1.0,"balanced_accuracy":1.0,"brier":0.14910860257706696,"calibration_erro"#,
        r#"r":0.3853974726848644,"f1":1.0,"kappa":1.0,"log_loss":0.4875726057803566,"mcc":1.0,"pr_auc":1.0,"precision":1.0,"recal"#,
        r#"l":1.0,"roc_auc":1.0,"specificity":1.0},"inner":0.5,"threshold":null,"on_edge":[],"outcome":{"status":"converged","ite"#,
        r#"rations":3,"objective":-3.398728113042788,"gap":0.0,"message":null},"seconds":0.0022645555,"seal":"9639b39d1d2ee1eb"}"#,
    ]
    .concat();
    let folder = Folder::new();
    std::fs::write(folder.file(), format!("{line}\n")).unwrap();
    assert_eq!(read_records(&folder.file()).unwrap()[0].scored.bags, [0, 1, 4, 5, 8, 11]);
    std::fs::write(folder.file(), format!("{}\n", line.replace("[1,1,0,0,0,1]", "[1,1,0,0,0,0]"))).unwrap();
    assert!(read_records(&folder.file()).is_err());
}

/// Records from before there was a version are of the first; newer ones are refused and not misread.
#[test]
fn records_carry_the_version_of_their_format() {
    let folder = Folder::new();
    let mut line = serde_json::to_value(record("a", 0, 0, None)).unwrap();
    let open = |line: &serde_json::Value| {
        std::fs::write(folder.file(), format!("{line}\n")).unwrap();
        RecordFile::open(&folder.file(), "r1").map(|f| f.len()).map_err(|e| e.to_string())
    };
    assert_eq!((line["format"].as_u64(), open(&line)), (Some(1), Ok(1)));
    line["format"] = json!(RECORD_FORMAT + 1);
    let message = open(&line).unwrap_err();
    assert!(
        message.contains("format 2, but this bagwise reads formats 1 to 1; use a newer bagwise"),
        "{message}"
    );
    line.as_object_mut().unwrap().remove("format");
    assert_eq!(open(&line), Ok(1));
}

#[test]
fn another_run_is_refused_and_its_file_left_alone() {
    let folder = Folder::new();
    RecordFile::open(&folder.file(), "r1").unwrap().append(record("a", 0, 0, None)).unwrap();
    std::fs::OpenOptions::new().append(true).open(folder.file()).unwrap().write_all(b"torn").unwrap();
    let before = std::fs::read(folder.file()).unwrap();
    let message = RecordFile::open(&folder.file(), "r2").unwrap_err().to_string();
    assert!(message.contains("line 1: this record belongs to another run"), "{message}");
    assert!(message.contains("start in a new folder"), "{message}");
    assert_eq!(std::fs::read(folder.file()).unwrap(), before);
    let mut file = RecordFile::open(&folder.file(), "r1").unwrap();
    let mut stranger = record("a", 0, 1, None);
    stranger.run = "r2".into();
    assert!(file.append(stranger).is_err());
}

#[test]
fn two_writers_of_one_file_are_refused() {
    let folder = Folder::new();
    let first = RecordFile::open(&folder.file(), "r1").unwrap();
    let message = RecordFile::open(&folder.file(), "r1").unwrap_err().to_string();
    assert!(message.contains("another process is writing"), "{message}");
    drop(first);
    assert!(RecordFile::open(&folder.file(), "r1").is_ok());
}

#[test]
fn numbers_that_do_not_exist_never_reach_the_file() {
    let folder = Folder::new();
    let mut file = RecordFile::open(&folder.file(), "r1").unwrap();
    let mut bad = record("a", 0, 0, None);
    bad.scored.scores = vec![f64::NAN];
    let message = file.append(bad).unwrap_err().to_string();
    assert!(message.contains("toy, a, repeat 0, fold 0: a score"), "{message}");
    let mut bad = record("a", 0, 0, None);
    bad.scored.scores = vec![1.0, 2.0, 3.0];
    bad.scored.bags = vec![1, 2];
    assert!(file.append(bad).unwrap_err().to_string().contains("do not match the bags"));
    assert_eq!(std::fs::metadata(folder.file()).unwrap().len(), 0, "refused before writing");
    let mut odd = record("a", 0, 0, None);
    odd.outcome.objective = Some(f64::INFINITY);
    file.append(odd).unwrap();
    drop(file);
    let back = read_records(&folder.file()).unwrap();
    assert_eq!(back[0].outcome.objective, None);
}

proptest! {
    #[test]
    fn records_round_trip_to_the_last_bit(
        scores in prop::collection::vec(prop::num::f64::NORMAL | prop::num::f64::SUBNORMAL | prop::num::f64::ZERO, 1..20),
        name in "\\PC{0,12}", seed in any::<u64>(), message in prop::option::of("[\\n\\t\"é]{0,8}"),
        objective in prop::option::of(prop::num::f64::NORMAL),
    ) {
        let folder = Folder::new();
        let mut r = record(&name, 3, 4, Some(5));
        r.scored = ScoredBags {
            bags: (0..scores.len()).collect(), labels: None, probabilities: Some(scores.clone()), scores,
        };
        let reason = |v: &f64| Reason { machine: Some((2, None)), bias: None, parts: vec![(7, *v)], rest: (3, *v) };
        r.reasons = r.scored.scores.iter().map(reason).collect();
        r.seed = seed;
        r.outcome.message = message;
        r.outcome.objective = objective;
        RecordFile::open(&folder.file(), "r1").unwrap().append(r.clone()).unwrap();
        let back = read_records(&folder.file()).unwrap();
        prop_assert_eq!(&back[..], &[r.clone()][..]);
        let bits = |r: &Record| r.scored.scores.iter().map(|s| s.to_bits()).collect::<Vec<_>>();
        prop_assert_eq!(bits(&back[0]), bits(&r));
    }
}

#[test]
fn reasons_are_short_and_checked() {
    let folder = Folder::new();
    let mut file = RecordFile::open(&folder.file(), "r1").unwrap();
    file.append(record("a", 0, 0, None)).unwrap();
    let line = std::fs::read_to_string(folder.file()).unwrap();
    let reasons = "\"reasons\":[{\"b\":0.1,\"p\":[[4,0.5],[0,-0.25]]}],";
    assert!(line.contains(reasons), "{line}");
    // Records from before have none.
    std::fs::write(folder.file(), line.replace(reasons, "")).unwrap();
    assert!(read_records(&folder.file()).unwrap()[0].reasons.is_empty());
    for (wrong, why) in [
        ("[{},{}]", "reasons do not match the bags"),
        ("[{\"p\":[[1,0.5],[1,0.25]]}]", "a reason has more than ten instances, or the same instance twice"),
        (
            "[{\"p\":[[0,1],[1,1],[2,1],[3,1],[4,1],[5,1],[6,1],[7,1],[8,1],[9,1],[10,1]]}]",
            "a reason has more than ten instances, or the same instance twice",
        ),
        ("[{\"p\":[[1,null]]}]", "not a record"),
    ] {
        std::fs::write(folder.file(), line.replace(reasons, &format!("\"reasons\":{wrong},"))).unwrap();
        let error = read_records(&folder.file()).unwrap_err().to_string();
        assert!(error.contains(why), "{wrong}: {error}");
    }
    let mut endless = record("b", 0, 0, None);
    endless.reasons[0].rest = (1, f64::INFINITY);
    let error = file.append(endless).unwrap_err().to_string();
    assert!(error.contains("a contribution in a reason is not a finite number"), "{error}");
}

#[test]
fn records_from_before_trajectories_were_kept_are_still_read() {
    let folder = Folder::new();
    let mut file = RecordFile::open(&folder.file(), "r1").unwrap();
    file.append(record("a", 0, 0, None)).unwrap();
    drop(file);
    let line = std::fs::read_to_string(folder.file()).unwrap();
    let old = line.replace(",\"changed\":[3,0]", "");
    assert_ne!(old, line);
    std::fs::write(folder.file(), old).unwrap();
    let records = RecordFile::open(&folder.file(), "r1").unwrap().into_records();
    let mut expected = record("a", 0, 0, None);
    expected.outcome.changed.clear();
    assert_eq!(records, [expected]);
}
