//! Declarations of the tables: what a row is, and for each column its name, type, description and value.
//!
//! The declarations are the only definition of the tables: the database is created from them, `trace query --tables`
//! shows them, and a test compares `docs/query.md` with them.

mod agents;
mod audit;
mod bundles;
mod compactions;
mod conversation;
mod inference;
mod log;
mod threads;
mod tools;

use crate::table::Filled;

/// All tables, in the order of the documentation.
pub(crate) static ALL: &[&dyn Filled] = &[
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
    &bundles::IMPORT_NOTES,
    &inference::COSTS,
    &inference::SUBTREE_COSTS,
    &audit::CHECKS,
    &audit::CHANGES,
    &audit::CLAIMS,
    &audit::FINDINGS,
];
