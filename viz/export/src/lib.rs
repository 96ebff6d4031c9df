//! Hands reduced sessions to the tools that people have already: Perfetto, Chrome traces, OpenTelemetry collectors.
//!
//! [`perfetto`] and [`chrome`] write a timeline: a track per agent with slices for what took time, arrows for what agents
//! handed to each other, marks for moments. [`otlp`] makes spans after the semantic conventions for generative AI, for a file
//! or for a collector. Equal sessions make equal bytes. Formats are written piece by piece; what is kept in memory is
//! proportional to the graph. Texts of a session are cut ([`MAX_VALUE_CHARS`]) and escaped for the format.

pub mod chrome;
mod hand_overs;
pub mod otlp;
pub mod perfetto;
mod scene;
mod text;

pub use self::text::{MAX_NAME_CHARS, MAX_VALUE_CHARS};
