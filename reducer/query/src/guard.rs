//! Limits what a query may do: it can read the tables and nothing else.
//!
//! The engine asks for permission while it compiles a statement. Reading the tables, views and JSON functions is
//! allowed. Every other action is refused, including actions that a later release of the engine adds, and recorded for
//! the error message.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rusqlite::hooks::{AuthAction, AuthContext, Authorization};

use crate::{tables, views};

/// Tables of the engine that a query may read.
const ENGINE_TABLES: [&str; 4] = ["sqlite_master", "sqlite_schema", "json_each", "json_tree"];

/// Functions that reach outside the database. This build of the engine lacks some of them, but another build may have
/// them.
const FORBIDDEN_FUNCTIONS: [&str; 6] = ["load_extension", "readfile", "writefile", "edit", "fts3_tokenizer", "zipfile"];

/// The actions of a statement, as the engine reports them while it compiles it.
#[derive(Debug, Default)]
pub(crate) struct Record {
    /// Names of the columns that are read, by table.
    pub(crate) columns: BTreeMap<&'static str, BTreeSet<String>>,
    /// Names of the functions that are called.
    pub(crate) functions: BTreeSet<String>,
    /// The first action that was refused.
    pub(crate) refused: Option<String>,
}

/// Decides about actions and records them.
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
                // Counting rows reads no column. That is allowed also for a part of the statement, which may have any
                // name.
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
