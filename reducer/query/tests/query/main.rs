//! Runs queries on real sessions.

mod answers;
mod documentation;
mod hostile;
mod support;
mod tables;
