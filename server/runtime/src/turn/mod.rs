//! Running turns.

mod answer;
mod ask;
mod backoff;
mod begin;
mod calls;
mod compaction;
mod converse;
mod input;
mod lifecycle;
mod queue;
mod request;
mod review;
mod shell;
mod task;

pub(crate) use begin::{begin, start};
pub(crate) use compaction::ASK_FOR_SUMMARY;
pub(crate) use lifecycle::run_beside;
