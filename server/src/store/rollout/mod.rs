//! Rollouts: the files that store threads.

pub(super) mod cap;
pub(super) mod chain;
pub(super) mod file;
pub(super) mod item;
pub(super) mod line;
pub(super) mod lock;
pub(super) mod meta;
pub(super) mod outcome;
pub(super) mod place;
pub(super) mod reader;
pub(super) mod record;
pub(super) mod scan;
pub(super) mod settings;
pub(super) mod short_event;
pub(super) mod spelling;
