//! The names of the files in the folder of a run, for all code that reads, writes or protects such a folder.

/// Whose run it is: its fingerprint and settings.
pub const OWNER: &str = "run.json";
/// One line per fit.
pub const RECORDS: &str = "records.jsonl";
/// Which methods and points there was time for.
pub const PLAN: &str = "plan.json";
/// The folds.
pub const FOLDS: &str = "folds.json";
/// The bags with their labels and groups.
pub const ROSTER: &str = "roster.json";
/// What was predicted, bag by bag.
pub const PREDICTIONS: &str = "predictions.csv";
/// Every method against the best and against the baseline.
pub const DIFFERENCES: &str = "differences.csv";
/// The result as JSON; written by the command line.
pub const SUMMARY: &str = "summary.json";

/// What a report shows besides; written by whoever runs it.
pub const CONTEXT: &str = "report.json";
/// The report.
pub const REPORT: &str = "report.html";

/// What the report adds to the folder.
pub const REPORT_FILES: [&str; 2] = [CONTEXT, REPORT];

/// All of them.
pub const ALL_FILES: [&str; 8] = [OWNER, RECORDS, PLAN, FOLDS, ROSTER, PREDICTIONS, DIFFERENCES, SUMMARY];
