//! Named queries: those in `queries.sql`, which is part of this crate.

use std::sync::LazyLock;

use serde::Serialize;

/// A named query.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct NamedQuery {
    /// Its name, without the `@`.
    pub name: &'static str,
    /// What it answers.
    pub text: &'static str,
    /// The statement.
    pub sql: &'static str,
}

const FILE: &str = include_str!("../queries.sql");

/// Marks the beginning of a query in the file.
const HEAD: &str = "\n-- @";

static QUERIES: LazyLock<Vec<NamedQuery>> = LazyLock::new(|| parse(FILE));

/// Returns all named queries in the order of the file.
pub fn all() -> &'static [NamedQuery] {
    &QUERIES
}

/// Returns the query with this name, if there is one.
pub fn find(name: &str) -> Option<NamedQuery> {
    QUERIES.iter().find(|query| query.name == name).copied()
}

fn parse(file: &'static str) -> Vec<NamedQuery> {
    let sections = file.split(HEAD).skip(1);
    sections.filter_map(section).collect()
}

/// Parses one section: a line with the name, a line with the description, and the statement.
fn section(section: &'static str) -> Option<NamedQuery> {
    let (name, rest) = section.split_once('\n')?;
    let (text, sql) = rest.split_once('\n')?;
    let text = text.strip_prefix("--")?.trim();
    Some(NamedQuery { name: name.trim(), text, sql: sql.trim() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Query;

    #[test]
    fn every_query_is_named_described_and_accepted() {
        assert_eq!(all().len(), FILE.matches(HEAD).count());
        assert!(all().len() >= 20);
        for query in all() {
            let is_letter = |byte: u8| byte.is_ascii_lowercase() || byte == b'-';
            assert!(query.name.bytes().all(is_letter), "{}", query.name);
            assert!(query.text.ends_with('.'), "{}: {}", query.name, query.text);
            assert_eq!(find(query.name), Some(*query), "{} is there twice", query.name);
            Query::new(query.sql).unwrap_or_else(|error| panic!("@{}: {error}", query.name));
        }
    }
}
