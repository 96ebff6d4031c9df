//! What the queue synchronizes with. The queue's model test puts other types of the same names in this place.

pub(crate) use std::sync::{Condvar, Mutex, MutexGuard};
