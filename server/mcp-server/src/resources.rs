//! Resources: what a client can read without a tool.

use serde_json::{Value, json};
use trace_query::describe::{Description, describe};

use crate::library::{Library, Shelf};
use crate::message::RpcError;

/// The list of tables.
pub(crate) const SCHEMA: &str = "trace://schema";

/// The columns of a table.
pub(crate) const TABLE_TEMPLATE: &str = "trace://schema/{table}";

/// How to see a session as a page.
pub(crate) const PAGE_TEMPLATE: &str = "trace://session/{id}/page";

/// Most bytes of the list of tables.
pub const MAX_SCHEMA_BYTES: usize = 8_000;

/// Returns the result of `resources/list`.
pub(crate) fn list() -> Value {
    json!({"resources": [{
        "uri": SCHEMA,
        "name": "schema",
        "title": "Tables for SQL",
        "description": "Tables, views and functions of the tool `query`.",
        "mimeType": "text/plain",
    }]})
}

/// Returns the result of `resources/templates/list`.
pub(crate) fn templates() -> Value {
    json!({"resourceTemplates": [
        {
            "uriTemplate": TABLE_TEMPLATE,
            "name": "table",
            "title": "Columns of a table or view",
            "mimeType": "text/plain",
        },
        {
            "uriTemplate": PAGE_TEMPLATE,
            "name": "page",
            "title": "How to see a session as a page",
            "mimeType": "text/plain",
        },
    ]})
}

/// Returns the result of `resources/read`.
pub(crate) fn read(library: &dyn Library, uri: &str) -> Result<Value, RpcError> {
    let unknown = || {
        RpcError::not_found(format!("there is no resource {}", trace_text::quoted(uri, 120)))
            .with_data(json!({"uri": trace_text::cut(uri, 120)}))
    };
    let path = uri.strip_prefix("trace://").ok_or_else(unknown)?;
    let parts: Vec<&str> = path.split('/').collect();
    let text = match parts[..] {
        ["schema"] => schema(&describe()),
        ["schema", table] => {
            let mut description = describe();
            if !description.keep_only(&[table.to_owned()]).is_empty() {
                return Err(unknown());
            }
            described(&description)
        }
        ["session", id, "page"] => {
            let shelf = Shelf::of(library).map_err(|problem| RpcError::not_found(problem.text()))?;
            let entry = shelf.find(id).map_err(|problem| RpcError::not_found(problem.text()))?;
            format!(
                "`trace view {} --open` shows the session as a page in the browser. This server serves no page.\n",
                entry.id
            )
        }
        _ => return Err(unknown()),
    };
    Ok(json!({"contents": [{"uri": uri, "mimeType": "text/plain", "text": text}]}))
}

/// Returns the names of all tables and views.
pub(crate) fn table_names() -> Vec<&'static str> {
    let description = describe();
    let tables = description.tables.iter().map(|table| table.name);
    tables.chain(description.views.iter().map(|view| view.name)).collect()
}

/// Lists tables, views and functions with a sentence each.
fn schema(description: &Description) -> String {
    let mut text = String::from(
        "SQLite. Every table has bundle_id. Ids are those of other answers; times are Unix milliseconds (..._unix_ms) or \
         durations (..._ms).\nRead trace://schema/TABLE for the columns of one.\n\nTables\n",
    );
    for table in &description.tables {
        text.push_str(&format!("{}: {}\n", table.name, first_sentence(table.text)));
    }
    text.push_str("\nViews\n");
    for view in &description.views {
        text.push_str(&format!("{}: {}\n", view.name, first_sentence(view.text)));
    }
    text.push_str("\nFunctions, beside those of SQLite\n");
    for function in &description.functions {
        text.push_str(&format!("{}: {}\n", function.call, first_sentence(function.text)));
    }
    let names: Vec<&str> = trace_query::named::all().iter().map(|query| query.name).collect();
    text.push_str(&format!("\nNamed queries, for sql=@NAME\n@{}\n", names.join(", @")));
    text
}

/// Describes one table, view or function.
fn described(description: &Description) -> String {
    let mut text = String::new();
    for table in &description.tables {
        text.push_str(&format!("{}: {}\n\n", table.name, table.text));
        for column in &table.columns {
            text.push_str(&format!("{} {}: {}\n", column.name, column.kind, column.text));
        }
    }
    for view in &description.views {
        text.push_str(&format!("{}: {}\n\nColumns: {}\n", view.name, view.text, view.columns.join(", ")));
    }
    for function in &description.functions {
        text.push_str(&format!("{}: {}\n", function.call, function.text));
    }
    text
}

fn first_sentence(text: &str) -> &str {
    text.split_once(". ").map_or(text, |(first, _)| first).trim_end_matches('.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_of_tables_is_short() {
        let text = schema(&describe());
        assert!(text.len() <= MAX_SCHEMA_BYTES, "{} bytes", text.len());
        assert!(table_names().iter().all(|name| text.contains(&format!("\n{name}: "))));
    }

    #[test]
    fn a_table_is_described_with_its_columns() {
        let mut description = describe();
        assert!(description.keep_only(&["turns".to_owned()]).is_empty());
        let text = described(&description);
        assert!(text.starts_with("turns: ") && text.contains("\nduration_ms INTEGER: "), "{text}");
    }
}
