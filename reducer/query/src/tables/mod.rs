//! The tables: what a row of each is, and per column its name, type, text and where its values come from.
//!
//! This is the only place that knows them. The database is created from it, `trace query --tables` shows it, and
//! `docs/query.md` is held against it.

mod agents;
mod bundles;
mod compactions;
mod conversation;
mod inference;
mod log;
mod threads;
mod tools;

use crate::table::Filled;

/// Every table, in the order in which people read about them.
pub(crate) static ALL: [&dyn Filled; 18] = [
    &bundles::BUNDLES,
    &threads::THREADS,
    &threads::TURNS,
    &inference::INFERENCE_CALLS,
    &conversation::ITEMS,
    &conversation::ITEM_PARTS,
    &tools::TOOL_CALLS,
    &tools::TERMINAL_OPERATIONS,
    &tools::CODE_CELLS,
    &compactions::COMPACTIONS,
    &compactions::COMPACTION_REQUESTS,
    &agents::EDGES,
    &log::EVENTS,
    &log::PROTOCOL_EVENTS,
    &log::PAYLOADS,
    &log::DIAGNOSTICS,
    &inference::COSTS,
    &inference::SUBTREE_COSTS,
];
