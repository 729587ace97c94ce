//! Honest evaluation: splits, metrics, intervals, records and summaries.

mod golden;
mod judging;
mod pooling;
mod printed_tables;
mod ranking;
mod records;
mod splits;
mod summaries;
