//! Reduces a rollout-trace bundle to the semantic graph of its session.
//!
//! A reduction has two halves. *Ingest* reads the payloads that matter, each on its own and in parallel. It compares
//! each request with the request before it, so that it only parses what is new. *Replay* then goes once over the events
//! in order and links what ingest read.
//!
//! ```no_run
//! use trace_recorder::Bundle;
//! use trace_reducer::{Options, reduce};
//!
//! let bundle = Bundle::open("traces/trace-1".as_ref())?;
//! let reduction = reduce(&bundle, Options::default())?;
//! println!("{} threads", reduction.trace.threads.len());
//! for diagnostic in &reduction.diagnostics {
//!     eprintln!("{diagnostic}");
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! For a bundle that follows its format, the graph is the same as the one that the Codex CLI makes. For any other
//! bundle, a lenient reduction recovers as much as it can and lists in [`Reduction::diagnostics`] what is missing; a
//! strict reduction ([`Options::strict`]) returns an error.

pub mod diagnostic;
pub mod ingest;
pub mod live;
pub mod model;
mod reading;
mod reducer;
mod replay;
pub mod state_json;

pub use diagnostic::{Code, Diagnostic, Diagnostics, Severity};
pub use live::LiveReduction;
pub use model::Trace;
pub use reducer::{Options, ReduceError, Reducer, Reduction, reduce};
pub use replay::Refusal;
