//! Edits of a configuration file that keep its comments and formatting.

use serde_json::Value;
use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, TableLike};

use super::error::ConfigError;
use super::layer;

/// A change of one key.
#[derive(Debug, Clone, PartialEq)]
pub struct Edit {
    /// The dotted key.
    pub key: String,
    /// The new value. `null` removes the key.
    pub value: Value,
    /// What happens to a table that is already at the key.
    pub merge: Merge,
}

/// What happens to an existing table when its key is set again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Merge {
    /// The new table replaces the old one.
    Replace,
    /// The members of the new table are added to the old one.
    Upsert,
}

/// Applies an edit.
///
/// # Errors
///
/// Returns an error if the key is not a valid dotted key, if one of its parents is not a table, or if TOML cannot
/// express the value.
pub(super) fn apply(document: &mut DocumentMut, edit: &Edit) -> Result<(), ConfigError> {
    let parts = layer::split_key(&edit.key)?;
    let (last, parents) = parts.split_last().expect("a key that was split has a part");
    if edit.value.is_null() {
        let mut place: &mut dyn TableLike = document.as_table_mut();
        for part in parents {
            let Some(next) = place.get_mut(part).and_then(Item::as_table_like_mut) else { return Ok(()) };
            place = next;
        }
        place.remove(last);
        return Ok(());
    }
    let value = layer::json_to_toml(&edit.key, &edit.value)?;
    let mut place: &mut dyn TableLike = document.as_table_mut();
    for (depth, part) in parents.iter().enumerate() {
        place = place
            .entry(part)
            .or_insert_with(|| Item::Table(implicit_table()))
            .as_table_like_mut()
            .ok_or_else(|| ConfigError::Parent { key: edit.key.clone(), parent: parts[..=depth].join(".") })?;
    }
    put(place, last, &value, edit.merge);
    Ok(())
}

/// Sets a key of a table.
fn put(place: &mut dyn TableLike, key: &str, value: &toml::Value, merge: Merge) {
    match place.get_mut(key) {
        None => {
            place.insert(key, item_of(value));
        }
        Some(there) => match (there.as_table_like_mut(), value) {
            // The table itself is kept, because the comment before its header belongs to it.
            (Some(table), toml::Value::Table(members)) => {
                if merge == Merge::Replace {
                    table.clear();
                }
                for (key, value) in members {
                    put(table, key, value, merge);
                }
            }
            _ => replace(there, item_of(value)),
        },
    }
}

/// Replaces an item and keeps the comment beside it.
fn replace(there: &mut Item, item: Item) {
    match (there.as_value_mut(), item) {
        (Some(old), Item::Value(mut new)) => {
            *new.decor_mut() = old.decor().clone();
            *old = new;
        }
        (_, item) => *there = item,
    }
}

/// Returns a table whose header is written only if the table has values.
fn implicit_table() -> Table {
    let mut table = Table::new();
    table.set_implicit(true);
    table
}

/// Returns a value in the form that the file uses: tables have headers, and an array is on one line.
fn item_of(value: &toml::Value) -> Item {
    match value {
        toml::Value::Table(members) => {
            let mut table = Table::new();
            for (key, value) in members {
                table.insert(key, item_of(value));
            }
            Item::Table(table)
        }
        _ => Item::Value(value_of(value)),
    }
}

fn value_of(value: &toml::Value) -> toml_edit::Value {
    match value {
        toml::Value::String(text) => text.as_str().into(),
        toml::Value::Integer(number) => (*number).into(),
        toml::Value::Float(number) => (*number).into(),
        toml::Value::Boolean(value) => (*value).into(),
        // Clients send JSON, which has no type for dates and times.
        toml::Value::Datetime(time) => time.to_string().into(),
        toml::Value::Array(values) => values.iter().map(value_of).collect::<Array>().into(),
        toml::Value::Table(members) => {
            members.iter().map(|(key, value)| (key.as_str(), value_of(value))).collect::<InlineTable>().into()
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn edited(text: &str, edits: &[(&str, Value, Merge)]) -> Result<String, ConfigError> {
        let mut document = text.parse::<DocumentMut>().expect("TOML");
        for (key, value, merge) in edits {
            apply(&mut document, &Edit { key: (*key).into(), value: value.clone(), merge: *merge })?;
        }
        Ok(document.to_string())
    }

    const FILE: &str = "# mine\nmodel = \"a\" # good\n\n# where\n[providers.x]\nurl = \"u\"\nkeep = 1\n";

    #[test]
    fn a_value_changes_and_comments_stay() {
        assert_eq!(
            edited(FILE, &[("model", json!("b"), Merge::Replace), ("providers.x.url", json!("v"), Merge::Upsert)])
                .expect("it is there"),
            "# mine\nmodel = \"b\" # good\n\n# where\n[providers.x]\nurl = \"v\"\nkeep = 1\n"
        );
    }

    #[test]
    fn tables_are_merged_or_replaced() {
        let value = json!({"url": "v", "more": {"deep": [1, {"a": true}]}});
        assert_eq!(
            edited(FILE, &[("providers.x", value.clone(), Merge::Upsert)]).expect("an edit that is possible"),
            "# mine\nmodel = \"a\" # good\n\n# where\n[providers.x]\nurl = \"v\"\nkeep = 1\n\n\
             [providers.x.more]\ndeep = [1, { a = true }]\n"
        );
        assert_eq!(
            edited(FILE, &[("providers.x", value, Merge::Replace)]).expect("an edit that is possible"),
            "# mine\nmodel = \"a\" # good\n\n# where\n[providers.x]\nurl = \"v\"\n\n\
             [providers.x.more]\ndeep = [1, { a = true }]\n"
        );
    }

    #[test]
    fn new_keys_get_the_tables_they_need() {
        assert_eq!(
            edited("a = 1\n", &[("b.c.\"d.e\"", json!(2), Merge::Replace), ("f", json!(3), Merge::Replace)])
                .expect("an edit that is possible"),
            "a = 1\nf = 3\n\n[b.c]\n\"d.e\" = 2\n"
        );
        assert_eq!(
            edited("a = {b = 1}\n", &[("a.c.d", json!(2), Merge::Replace)])
                .expect("an edit that is possible")
                .parse::<toml::Table>()
                .expect("TOML"),
            toml::from_str::<toml::Table>("a = {b = 1, c = {d = 2}}").expect("TOML")
        );
    }

    #[test]
    fn null_removes_a_key() {
        for key in ["providers.x", "model"] {
            let text = edited(FILE, &[(key, Value::Null, Merge::Replace)]).expect("an edit that is possible");
            assert!(!text.contains(if key == "model" { "model" } else { "[providers.x]" }), "{text}");
        }
        for key in ["nothing", "providers.y.z", "model.x"] {
            assert_eq!(
                edited(FILE, &[(key, Value::Null, Merge::Replace)]).expect("an edit that is possible"),
                FILE,
                "{key}"
            );
        }
    }

    #[test]
    fn invalid_edits_are_refused() {
        let Err(ConfigError::Parent { parent, .. }) = edited(FILE, &[("model.x", json!(1), Merge::Replace)]) else {
            panic!()
        };
        assert_eq!(parent, "model");
        assert!(matches!(edited("", &[("a", json!([null]), Merge::Replace)]), Err(ConfigError::Value { .. })));
        assert!(matches!(edited("", &[("", json!(1), Merge::Replace)]), Err(ConfigError::Key { .. })));
    }
}
