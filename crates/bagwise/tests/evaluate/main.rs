//! Honest evaluation: splits, metrics, intervals, records and summaries.

mod golden;
mod judging;
mod records;
mod splits;
mod summaries;
