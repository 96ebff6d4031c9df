//! Determines who is at the other end of a connection, and whether the server started that process.
//!
//! A command that the server runs must not become a client of the server, because it could ask for unconfined commands.
//! Therefore, every connection is judged before a byte of it is read, on every transport. See [`judge`] for the rules.

mod arrival;
#[cfg(target_os = "linux")]
mod batch;
#[cfg(target_os = "linux")]
mod diag;
#[cfg(target_os = "linux")]
mod here;
#[cfg(target_os = "linux")]
mod holders;
#[cfg(target_os = "linux")]
mod judge;
#[cfg(not(target_os = "linux"))]
#[path = "judge_elsewhere.rs"]
mod judge;
#[cfg(target_os = "linux")]
mod memory;
#[cfg(target_os = "linux")]
mod orphans;
mod refused;
#[cfg(target_os = "linux")]
mod search;
mod share;
#[cfg(target_os = "linux")]
mod verdict;

pub(super) use arrival::Arrival;
pub(super) use judge::Judge;
#[cfg(target_os = "linux")]
pub use orphans::{ENDING_TIMEOUT, ORPHAN_TIMEOUT, end_descendants, keep_descendants};
pub(super) use refused::Refused;
pub(super) use share::{Owner, Peer, Share, Shares};
