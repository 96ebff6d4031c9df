//! Runs the binary as a user does.

mod check;
mod context;
mod help;
mod ls;
mod pack;
mod prune;
mod redact;
mod reduce;
mod schema;
mod show;
mod support;
mod tail;
