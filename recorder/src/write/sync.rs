//! The synchronization primitives of the queue. The model test of the queue replaces this module by types with the same
//! names.

pub(crate) use std::sync::{Condvar, Mutex, MutexGuard};
