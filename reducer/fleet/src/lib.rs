//! A fleet: all sessions of a company, as tables in object storage that are asked with SQL.
//!
//! [`ingest`] reduces sessions and commits their rows into a [`lake`]; [`query`] asks it; [`push`] brings sessions to where
//! an ingest finds them. `docs/fleet/design.md` says why it is built as it is.

mod causes;
#[cfg(feature = "cluster")]
pub mod cluster;
pub mod ingest;
pub mod lake;
pub mod push;
pub mod query;
pub mod remote;
pub mod sessions;
pub mod store;
pub mod tables;
pub mod work;
pub mod workers;

pub use store::Store;
