//! The tables of a lake: what a row is, the columns, and how the values of a session are read from its graph.
//!
//! Each table is declared once, in the file of its topic. The Arrow schema, the Delta schema, `trace fleet tables` and
//! `docs/fleet/tables.md` come from that. The first columns of all tables are the same ([`common`]): they are copied onto
//! each row, so that the usual questions need no join.

mod agents;
mod calls;
mod cell;
mod column;
pub mod common;
mod failures;
mod origin;
mod sessions;
pub mod signature;
pub mod sketch;
mod source;
mod table;
mod turns;

use std::sync::LazyLock;

pub use cell::Cell;
pub use column::{Column, Kind};
pub use common::{Common, MAX_NAME_BYTES};
pub use failures::MAX_MESSAGE_BYTES;
pub use origin::{Origin, TABLES_VERSION, Unreadable};
pub use sessions::MAX_PROMPT_CHARS;
pub use source::{Given, Source};
pub use table::{Filled, Table};

use arrow::datatypes::SchemaRef;
use arrow::record_batch::RecordBatch;

/// Name of the table that decides which sessions a lake has.
pub const SESSIONS: &str = "sessions";

/// All tables. The sessions come last: that is the order in which the tables of a commit become visible to readers of Delta.
pub static ALL: LazyLock<Vec<&'static dyn Filled>> = LazyLock::new(|| {
    vec![
        &*turns::TURNS,
        &*calls::INFERENCE_CALLS,
        &*calls::TOOL_CALLS,
        &*failures::FAILURES,
        &*agents::EDGES,
        &*failures::DIAGNOSTICS,
        &*failures::FINDINGS,
        &*sessions::SESSIONS_TABLE,
    ]
});

/// Returns the table with this name.
pub fn find(name: &str) -> Option<&'static dyn Filled> {
    ALL.iter().copied().find(|table| table.name() == name)
}

/// Returns the schema of a table.
pub fn schema(table: &dyn Table) -> SchemaRef {
    table::schema(table)
}

/// The rows of one session: a batch per table, in the order of [`ALL`].
#[derive(Debug, Clone)]
pub struct SessionRows {
    /// Address of the session.
    pub address: String,
    /// Whether the session could be read. Otherwise its only rows are in `sessions` and `diagnostics`.
    pub is_readable: bool,
    /// One batch per table, in the order of [`ALL`]; a batch may be empty.
    pub tables: Vec<RecordBatch>,
}

impl SessionRows {
    /// Reads the rows of a session.
    pub fn new(source: &Source<'_>) -> Self {
        let tables = ALL.iter().map(|table| table.rows(source)).collect();
        Self { address: source.common().address.clone(), is_readable: source.session().is_some(), tables }
    }

    /// Returns how many bytes the rows take in memory.
    pub fn bytes(&self) -> usize {
        self.tables.iter().map(RecordBatch::get_array_memory_size).sum()
    }
}
