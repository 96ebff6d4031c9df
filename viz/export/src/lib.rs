//! Exports reduced sessions to other tools: Perfetto, Chrome traces, OpenTelemetry collectors, readers of ATIF.
//!
//! [`perfetto`] and [`chrome`] write a timeline with a track per agent, slices for what took time, arrows for
//! hand-overs, and marks for moments. [`otlp`] makes spans according to the semantic conventions for generative AI, for
//! a file or for a collector. [`atif`] writes the steps of the agents as a trajectory. Equal sessions make equal bytes.
//! The output is written piece by piece, and memory use is proportional to the graph. Texts of a session are escaped for the format, and
//! truncated ([`MAX_VALUE_CHARS`]), but not in trajectories.

pub mod atif;
pub mod chrome;
mod hand_overs;
pub mod otlp;
pub mod perfetto;
mod scene;
mod text;

pub use self::text::{MAX_NAME_CHARS, MAX_VALUE_CHARS};
