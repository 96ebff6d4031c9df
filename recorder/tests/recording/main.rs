//! The live writer, seen from outside: what it leaves on the disk, whatever happens to it.

#![cfg(unix)]

mod callers;
mod faults;
mod handles;
mod pressure;
mod reopening;
mod storage;
mod support;
