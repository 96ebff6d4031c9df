//! Generates scripted sessions of agents and records them as bundles.
//!
//! A script says what the models answer, what the commands print and how long everything takes. [`Session`] records it like
//! the Codex CLI 0.169 records a session: the same events in the same order, payloads of the same shape, and requests that
//! repeat the whole history. Clock and ids are virtual, so equal scripts give equal bytes. All texts were written for this
//! package.
//!
//! [`scenes`] has the samples in the directory of this package. [`faults`] has sessions with planted faults and the
//! expected verdicts, [`audit`] sessions with false claims and other misconduct, and the expected findings. [`mod@bench`]
//! generates sessions of any size for measurements. [`live`] runs sessions in real time with the live writer.

pub mod audit;
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
