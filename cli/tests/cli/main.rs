//! Runs the binary as a user does.

mod check;
mod context;
mod critical_path;
mod demo;
mod diff;
mod export;
mod gallery;
mod graph;
mod grep;
mod help;
mod ls;
mod pack;
mod postmortem;
mod prune;
mod query;
mod redact;
mod reduce;
mod replay;
mod schema;
mod serve;
mod show;
mod support;
mod tail;
mod timeline;
mod view;
mod why;
