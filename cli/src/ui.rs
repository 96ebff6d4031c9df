//! Output for people: tables, colours, texts, numbers, diagnostics, errors and exit codes.

pub(crate) mod amount;
pub(crate) mod diagnostics;
pub(crate) mod exit;
pub(crate) mod failed;
pub(crate) mod failure;
pub(crate) mod output;
pub(crate) mod text;
