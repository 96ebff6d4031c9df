//! What the methods of the protocol do, one file per family.
//!
//! A handler takes decoded params and returns the result; the few whose answer has to stand at a certain point of a
//! thread's history answer by themselves.

mod fork;
mod goal;
mod history;
mod life;
mod list;
mod mcp;
mod overrides;
mod queue;
mod resume;
mod settings;
mod traces;
mod tree;
mod work;

pub(crate) use self::goal::UpdateGoal;
