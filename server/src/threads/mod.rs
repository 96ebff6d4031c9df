//! Threads that are loaded.

pub(crate) mod loaded;
pub(crate) mod registry;
pub(crate) mod status;
pub(crate) mod view;

pub(crate) use loaded::{Beginning, Heard, LoadedThread, Origin, State, Turns};
pub(crate) use registry::Registry;
