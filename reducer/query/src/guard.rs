//! What a query may do: read the tables, and nothing else.
//!
//! The engine asks before it compiles anything. Reading the tables, views and JSON functions is allowed; every other action,
//! also one that a later release of the engine brings, is refused and remembered, so that the user is told what it was.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rusqlite::hooks::{AuthAction, AuthContext, Authorization};

use crate::{tables, views};

/// Tables of the engine that a query may read.
const ENGINE_TABLES: [&str; 4] = ["sqlite_master", "sqlite_schema", "json_each", "json_tree"];

/// Functions that reach beyond the database. Those that this engine lacks may come with another build of it.
const FORBIDDEN_FUNCTIONS: [&str; 6] = ["load_extension", "readfile", "writefile", "edit", "fts3_tokenizer", "zipfile"];

/// What a statement does, as the engine tells while it compiles it.
#[derive(Debug, Default)]
pub(crate) struct Record {
    /// Names of columns that are read, by table.
    pub(crate) columns: BTreeMap<&'static str, BTreeSet<String>>,
    /// Names of functions that are called.
    pub(crate) functions: BTreeSet<String>,
    /// What was refused first.
    pub(crate) refused: Option<String>,
}

/// Decides, and remembers.
#[derive(Debug, Clone, Default)]
pub(crate) struct Guard(Arc<Mutex<Record>>);

impl Guard {
    pub(crate) fn record(&self) -> MutexGuard<'_, Record> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn decide(&self, context: &AuthContext<'_>) -> Authorization {
        let mut record = self.record();
        let refused = match context.action {
            AuthAction::Select | AuthAction::Recursive => return Authorization::Allow,
            AuthAction::Read { table_name, column_name } => {
                if let Some(table) = tables::ALL.iter().find(|table| table.name() == table_name) {
                    record.columns.entry(table.name()).or_default().insert(column_name.to_owned());
                    return Authorization::Allow;
                }
                // Rows are counted, also those of a part of the statement, which goes by whatever name it has there.
                let is_of_engine = ["pragma_", "sqlite_", "dbstat"].iter().any(|name| table_name.starts_with(name));
                let is_counted = column_name.is_empty() && !is_of_engine;
                if is_counted
                    || ENGINE_TABLES.contains(&table_name)
                    || views::ALL.iter().any(|view| view.name == table_name)
                {
                    return Authorization::Allow;
                }
                format!("reading {table_name}")
            }
            AuthAction::Function { function_name } => {
                if !FORBIDDEN_FUNCTIONS.iter().any(|name| name.eq_ignore_ascii_case(function_name)) {
                    record.functions.insert(function_name.to_ascii_lowercase());
                    return Authorization::Allow;
                }
                format!("the function {function_name}")
            }
            AuthAction::Attach { .. } => "ATTACH".to_owned(),
            AuthAction::Detach { .. } => "DETACH".to_owned(),
            AuthAction::Pragma { pragma_name, .. } => format!("PRAGMA {pragma_name}"),
            AuthAction::Insert { table_name }
            | AuthAction::Update { table_name, .. }
            | AuthAction::Delete { table_name }
                if table_name.starts_with("sqlite_") =>
            {
                "changing the database".to_owned()
            }
            AuthAction::Insert { table_name } => format!("writing to {table_name}"),
            AuthAction::Update { table_name, .. } => format!("changing {table_name}"),
            AuthAction::Delete { table_name } => format!("deleting from {table_name}"),
            AuthAction::Transaction { .. } | AuthAction::Savepoint { .. } => "a transaction".to_owned(),
            _ => "changing the database".to_owned(),
        };
        record.refused.get_or_insert(refused);
        Authorization::Deny
    }
}
