//! Tests of lakes: with real sessions, in folders and in an S3 server, with writers that die, race and are refused.

mod addresses;
mod browser;
#[cfg(feature = "cluster")]
mod cluster;
mod docs;
mod faults;
mod fixture;
mod kills;
mod lakes;
mod page;
mod questions;
mod ranges;
mod readers;
