//! Runs the binary as a user does.

mod help;
mod ls;
mod redact;
mod reduce;
mod show;
mod support;
