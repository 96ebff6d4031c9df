//! Reduces a rollout-trace bundle to the semantic graph of its session.
//!
//! A reduction has two halves. *Ingest* reads the payloads that matter, each on its own and in parallel; a request is
//! compared with its predecessor, so that only what is new in it gets parsed. *Replay* then goes once over the events, in
//! their order, and links what ingest read.
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
//! On a bundle that its format allows, the graph is the one that the Codex CLI makes of it. On any other, a lenient
//! reduction goes as far as the evidence carries and says in [`Reduction::diagnostics`] what is missing; a strict one
//! ([`Options::strict`]) refuses it.

pub mod diagnostic;
pub mod ingest;
pub mod live;
pub mod model;
mod reducer;
mod replay;
pub mod state_json;

pub use diagnostic::{Code, Diagnostic, Diagnostics, Severity};
pub use live::LiveReduction;
pub use model::Trace;
pub use reducer::{Options, ReduceError, Reducer, Reduction, reduce};
pub use replay::Refusal;
