//! Scripted sessions of agents, recorded as bundles.
//!
//! A script says what the models answer, what the commands print and how long everything takes; [`Session`] records that
//! as the Codex CLI 0.169 records a session: the same events in the same order, the same payload shapes, requests that
//! repeat the whole history. Clock and ids are virtual, so that equal scripts make equal bytes. All texts are written
//! for this package.
//!
//! [`scenes`] holds the samples that lie beside this package, [`faults`] has sessions with planted faults and what is true
//! of them, [`mod@bench`] makes sessions of any size to measure with, and [`live`] plays sessions in real time through the
//! live writer.

pub mod bench;
pub mod faults;
pub mod hostile;
mod ids;
mod items;
pub mod live;
pub mod scenes;
pub mod session;
pub mod texts;

pub use session::{Agent, Child, Command, Session, Setup};
