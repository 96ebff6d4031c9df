//! Descriptions of the tables, views and functions, for users and programs.

use serde::Serialize;

use crate::table::{Column, Table};
use crate::{Query, functions, schema, tables, views};

/// Description of everything that a query can use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Description {
    /// Version of the tables.
    pub schema_version: i32,
    /// The tables.
    pub tables: Vec<TableDescription>,
    /// The views.
    pub views: Vec<ViewDescription>,
    /// The functions that this crate adds to those of SQLite.
    pub functions: Vec<FunctionDescription>,
}

/// A table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TableDescription {
    /// Name of the table.
    pub name: &'static str,
    /// What a row is.
    pub text: &'static str,
    /// Its columns, in order.
    pub columns: Vec<ColumnDescription>,
}

/// A column.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ColumnDescription {
    /// Name of the column.
    pub name: &'static str,
    /// SQL type of its values.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// Meaning of its values.
    pub text: &'static str,
}

/// A view.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ViewDescription {
    /// Name of the view.
    pub name: &'static str,
    /// What a row is.
    pub text: &'static str,
    /// Names of its columns, in order.
    pub columns: Vec<String>,
}

/// A function.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FunctionDescription {
    /// Name and arguments.
    pub call: &'static str,
    /// What it returns.
    pub text: &'static str,
}

impl From<Column> for ColumnDescription {
    fn from(column: Column) -> Self {
        Self { name: column.name, kind: column.kind.as_str(), text: column.text }
    }
}

impl From<&dyn Table> for TableDescription {
    fn from(table: &dyn Table) -> Self {
        let columns = table.columns().into_iter().map(Into::into).collect();
        Self { name: table.name(), text: table.text(), columns }
    }
}

/// Returns the description of everything that a query can use.
pub fn describe() -> Description {
    let view = |view: &views::View| {
        let columns = Query::new(&format!("SELECT * FROM {}", view.name)).map(|query| query.columns().to_vec());
        // A test checks that every view compiles.
        ViewDescription { name: view.name, text: view.text, columns: columns.unwrap_or_default() }
    };
    Description {
        schema_version: schema::SCHEMA_VERSION,
        tables: tables::ALL.iter().map(|table| (*table as &dyn Table).into()).collect(),
        views: views::ALL.iter().map(view).collect(),
        functions: functions::ALL.iter().map(|f| FunctionDescription { call: f.call, text: f.text }).collect(),
    }
}

impl Description {
    /// Keeps only the tables, views and functions with one of the names. Returns the names that were not found.
    pub fn keep_only<'n>(&mut self, names: &'n [String]) -> Vec<&'n str> {
        let mut found = vec![false; names.len()];
        let mut is_named = |name: &str| {
            let mut is_named = false;
            for (found, _) in found.iter_mut().zip(names).filter(|(_, wanted)| wanted.eq_ignore_ascii_case(name)) {
                *found = true;
                is_named = true;
            }
            is_named
        };
        self.tables.retain(|table| is_named(table.name));
        self.views.retain(|view| is_named(view.name));
        self.functions.retain(|function| is_named(function.call.split('(').next().unwrap_or_default()));
        names.iter().zip(found).filter(|(_, found)| !found).map(|(name, _)| name.as_str()).collect()
    }

    /// Returns the description as a section of a Markdown document.
    pub fn to_markdown(&self) -> String {
        let mut text = String::new();
        for table in &self.tables {
            text.push_str(&format!("### `{}`\n\n{}\n\n", table.name, table.text));
            text.push_str("| column | type | meaning |\n|---|---|---|\n");
            for column in &table.columns {
                text.push_str(&format!(
                    "| `{}` | {} | {} |\n",
                    column.name,
                    column.kind,
                    column.text.replace('|', "\\|")
                ));
            }
            text.push('\n');
        }
        text.push_str("### Views\n\n| view | what a row is | columns |\n|---|---|---|\n");
        for view in &self.views {
            text.push_str(&format!("| `{}` | {} | `{}` |\n", view.name, view.text, view.columns.join("`, `")));
        }
        text.push_str(
            "\n### Functions\n\nIn addition to [those of SQLite](https://sqlite.org/lang_corefunc.html):\n\n",
        );
        text.push_str("| function | what it returns |\n|---|---|\n");
        for function in &self.functions {
            text.push_str(&format!("| `{}` | {} |\n", function.call, function.text));
        }
        text
    }
}
