//! The schema of the database, and the settings that protect it.

use rusqlite::Connection;
use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;

use crate::cell::MAX_VALUE_BYTES;
use crate::error::MAX_SQL_BYTES;
use crate::guard::Guard;
use crate::table::Table;
use crate::{tables, views};

/// Application id in the header of our database files: `trac` as a number.
pub const APPLICATION_ID: i32 = 0x7472_6163;

/// Version of the tables, in the header of a file. Incremented when a column changes its meaning or is removed, not
/// when one is added.
pub const SCHEMA_VERSION: i32 = 1;

/// Name of the column that every table has.
pub(crate) const BUNDLE_ID: &str = "bundle_id";

/// Size in bytes of the longest pattern of `LIKE` and `GLOB`, whose time is proportional to pattern times text.
const MAX_LIKE_BYTES: i32 = 1000;

/// Deepest nesting of an expression.
const MAX_EXPRESSION_DEPTH: i32 = 200;

/// Most columns of a result.
const MAX_COLUMNS: i32 = 500;

/// Returns the statement that creates a table.
pub(crate) fn statement(table: &dyn Table) -> String {
    let column = |column: crate::table::Column| format!("  {} {}", column.name, column.kind.as_str());
    let columns: Vec<String> = table.columns().into_iter().map(column).collect();
    format!("CREATE TABLE {} (\n{}\n) STRICT", table.name(), columns.join(",\n"))
}

/// Creates the tables and views, without rows.
pub(crate) fn create(connection: &Connection) -> rusqlite::Result<()> {
    let mut statements = String::from("BEGIN;\n");
    for &table in tables::ALL {
        statements.push_str(&statement(table));
        statements.push_str(";\n");
    }
    for view in views::ALL {
        statements.push_str(&format!("CREATE VIEW {} AS {};\n", view.name, view.sql));
    }
    statements
        .push_str(&format!("PRAGMA application_id = {APPLICATION_ID};\nPRAGMA user_version = {SCHEMA_VERSION};\n"));
    statements.push_str("COMMIT;");
    connection.execute_batch(&statements)
}

/// Creates the indexes of a table for the filled columns. This is faster after the rows are inserted.
pub(crate) fn index(connection: &Connection, table: &dyn Table, filled: &[usize]) -> rusqlite::Result<()> {
    let (name, columns) = (table.name(), table.columns());
    for column in filled.iter().map(|place| columns[*place].name).filter(|column| table.index().contains(column)) {
        let rest = if column == BUNDLE_ID { String::new() } else { format!(", {BUNDLE_ID}") };
        connection.execute_batch(&format!("CREATE INDEX {name}_by_{column} ON {name} ({column}{rest});"))?;
    }
    if !table.index().contains(&BUNDLE_ID) {
        // An empty index. It stops the engine from creating a temporary index on this column during a query: that index
        // would return all rows of a session for every joined row.
        let no_row = format!("CREATE INDEX {name}_not_by_bundle ON {name} ({BUNDLE_ID}) WHERE {BUNDLE_ID} IS NULL;");
        connection.execute_batch(&no_row)?;
    }
    Ok(())
}

/// Makes a connection read-only and sets the engine's limits.
pub(crate) fn protect(connection: &mut Connection, guard: &Guard) -> rusqlite::Result<()> {
    // Texts of a session must not be written to temporary files.
    connection.execute_batch("PRAGMA temp_store = MEMORY; PRAGMA query_only = ON; PRAGMA cell_size_check = ON;")?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    for (limit, value) in [
        (Limit::SQLITE_LIMIT_LENGTH, MAX_VALUE_BYTES),
        (Limit::SQLITE_LIMIT_SQL_LENGTH, MAX_SQL_BYTES as i32 + 1),
        (Limit::SQLITE_LIMIT_LIKE_PATTERN_LENGTH, MAX_LIKE_BYTES),
        (Limit::SQLITE_LIMIT_EXPR_DEPTH, MAX_EXPRESSION_DEPTH),
        (Limit::SQLITE_LIMIT_COLUMN, MAX_COLUMNS),
        (Limit::SQLITE_LIMIT_ATTACHED, 0),
        (Limit::SQLITE_LIMIT_WORKER_THREADS, 0),
    ] {
        connection.set_limit(limit, value)?;
    }
    let guard = guard.clone();
    connection.authorizer(Some(move |context: rusqlite::hooks::AuthContext<'_>| guard.decide(&context)))
}
