//! Runs the binary as a user does.

mod help;
mod ls;
mod pack;
mod reduce;
mod show;
mod support;
