//! The locks of code that tests run with another scheduler.

pub(crate) use std::sync::{Mutex, MutexGuard};
