//! Running turns.

mod answer;
mod ask;
mod backoff;
mod begin;
mod calls;
mod converse;
mod input;
mod lifecycle;
mod queue;
mod request;
mod shell;
mod task;

pub(crate) use ask::ask;
pub(crate) use begin::{begin, start};
pub(crate) use converse::converse;
pub(crate) use lifecycle::run_beside;
pub(crate) use request::{Audience, Offered, Question};
pub(crate) use task::{Conversation, Stop, Task};
