//! Evaluation, independent of any method: which bags are used for training and which for testing ([`Splits`]), how
//! predictions are scored ([`Metric`], [`Threshold`]), how certain the scores are ([`corrected_interval`],
//! [`bootstrap`]), whether methods differ ([`Influences`]), and the records of a run ([`Record`], [`RecordFile`]) from
//! which every table ([`summarise`]) is computed and can be computed again; and, over several data sets, which method
//! is better ([`ranking`]).

mod chosen;
mod differences;
mod fingerprint;
mod intervals;
mod metrics;
mod predictions;
mod protocol;
mod quantity;
pub mod ranking;
mod record;
mod roster;
mod split;
mod summary;
mod threshold;

pub use chosen::{AtGridEnd, most_chosen, often_at_grid_end, that_saw_test_bags};
pub use differences::{Difference, Influences, LEAST_UNITS, Standing, WIDENING, recommended};
pub use fingerprint::{content_digest, data_fingerprint, fingerprint};
pub use intervals::{
    Bootstrap, Interval, PairedTest, Resampling, bootstrap, corrected_interval, corrected_t_test,
    interval_of_draws, t_cdf, t_quantile, wilson,
};
pub use metrics::{Confusion, METRICS, Metric, MetricInfo, Tasks};
pub use predictions::{Classified, Predictions};
pub use protocol::{Protocol, ProtocolName};
pub use record::{
    EnsembleGain, FitOutcome, FitStatus, Key, POOL, RECORD_FORMAT, ReadRecords, Reason, Record, RecordFile,
    ScoredBags, read_records, read_records_checked,
};
pub use roster::{BagPrediction, GroundTruth, Truth};
pub use split::{Fold, FoldPlan, Pool, SHARES, Splits};
pub use summary::{
    MethodSummary, MetricSummary, PredictionRow, Repeat, bootstrap_method, pooled, prediction_rows,
    summarise, write_predictions,
};
pub use threshold::{Chosen, Threshold};
