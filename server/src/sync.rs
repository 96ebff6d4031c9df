//! The locks of the parts that tests run on another scheduler.

pub(crate) use std::sync::{Mutex, MutexGuard};
