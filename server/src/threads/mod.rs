//! Loaded threads, and what loads, locks and unloads them.

mod children;
mod loaded;
mod origin;
mod questions;
mod registry;
mod status;
mod tree_locks;
mod unloading;
mod view;

pub(crate) use children::ChildThreads;
pub(crate) use loaded::{AnswerOutcome, LoadedThread, State, Turns};
pub(crate) use origin::{InitialState, Origin};
pub(crate) use questions::Questions;
pub(crate) use registry::Registry;
pub(crate) use status::tell_status;
pub(crate) use tree_locks::TreeLocks;
pub(crate) use unloading::Unloading;
