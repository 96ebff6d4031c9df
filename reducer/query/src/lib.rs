//! Answers SQL over reduced sessions.
//!
//! The graphs of sessions become tables of an SQLite database, in memory or in a file, and a [`Query`] runs on them. A
//! query is first compiled against the empty tables. This shows whether it is a single statement that only reads, and
//! which columns it needs; a database in memory gets no others. The query may come from an untrusted user, so it can
//! neither write nor reach anything but the tables, and it has a time limit.
//!
//! ```no_run
//! use trace_explain::Session;
//! use trace_query::{Builder, Query};
//!
//! let query = Query::new("SELECT agent_path, status FROM turns")?;
//! let mut builder = Builder::in_memory(&query)?;
//! builder.add("trace-1", Session::open("traces/trace-1".as_ref())?)?;
//! let mut database = builder.finish()?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod cell;
mod database;
pub mod describe;
mod error;
mod events;
pub mod functions;
mod guard;
pub mod named;
mod query;
mod schema;
mod source;
pub mod table;
mod tables;
mod targets;
pub mod views;

pub use cell::MAX_VALUE_BYTES;
pub use database::{Builder, Database, Limits, Outcome, TakeAnswer, Value};
pub use error::{MAX_SQL_BYTES, QueryError};
pub use query::Query;
pub use schema::{APPLICATION_ID, SCHEMA_VERSION};
