//! Honest evaluation: splits, metrics, intervals, records and summaries.

mod golden;
mod judging;
mod printed_tables;
mod ranking;
mod records;
mod splits;
mod summaries;
