//! Tests the live writer by the bundles that it leaves on disk.

#![cfg(unix)]

mod callers;
mod faults;
mod growing;
mod handles;
mod pressure;
mod reopening;
mod storage;
mod support;
