//! The names of servers and tools for models. They are short, contain only harmless characters, and are unique.
//!
//! A model calls a tool by the namespace of its server, `mcp__SERVER`, and a name in this namespace. For providers
//! without namespaces, the two are joined by `__`, and the result has at most [`MAX_JOINED_CHARS`] characters. Every
//! character that is not an ASCII letter, digit or underscore becomes an underscore. If a name would be too long, or
//! equal to another one, it ends with a digest of the original name. So a name depends as little as possible on the
//! other names and their order.

use std::collections::{BTreeMap, BTreeSet};

use sha2::{Digest, Sha256};

/// Longest name of a tool with its namespace and the separator, in characters.
pub const MAX_JOINED_CHARS: usize = 64;

/// Longest namespace, in characters.
pub const MAX_NAMESPACE_CHARS: usize = 40;

/// Prefix of every namespace.
pub const NAMESPACE_PREFIX: &str = "mcp__";

/// Separator of a namespace and a name.
pub const JOINT: &str = "__";

/// Length of a digest, in characters.
const DIGEST_CHARS: usize = 8;

/// Returns the namespaces of servers, by server name.
pub fn namespaces<'a>(servers: impl IntoIterator<Item = &'a str>) -> BTreeMap<String, String> {
    let room = MAX_NAMESPACE_CHARS - NAMESPACE_PREFIX.len();
    let names = unique(servers, room);
    names.into_iter().map(|(server, name)| (server, format!("{NAMESPACE_PREFIX}{name}"))).collect()
}

/// Returns the names of the tools in a namespace, by their original names. A tool whose name still collides is left
/// out.
pub fn tools<'a>(namespace: &str, tools: impl IntoIterator<Item = &'a str>) -> BTreeMap<String, String> {
    unique(tools, MAX_JOINED_CHARS.saturating_sub(namespace.len() + JOINT.len()))
}

fn unique<'a>(raw: impl IntoIterator<Item = &'a str>, room: usize) -> BTreeMap<String, String> {
    let raw: BTreeSet<&str> = raw.into_iter().collect();
    let mut sharing: BTreeMap<String, usize> = BTreeMap::new();
    for name in &raw {
        *sharing.entry(harmless(name)).or_default() += 1;
    }
    let mut names = BTreeMap::new();
    let mut taken = BTreeSet::new();
    // Names that need no change are assigned first, so that no other tool can take them.
    let (good, others): (Vec<&str>, Vec<&str>) =
        raw.iter().partition(|name| harmless(name) == **name && name.len() <= room);
    for name in good {
        taken.insert(name.to_owned());
        names.insert(name.to_owned(), name.to_owned());
    }
    for name in others {
        let made = harmless(name);
        let made = if sharing[&made] == 1 && made.len() <= room { made } else { digested(&made, name, room) };
        if taken.insert(made.clone()) {
            names.insert(name.to_owned(), made);
        }
    }
    names
}

/// Replaces all characters that are not harmless.
fn harmless(name: &str) -> String {
    let made: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    if made.is_empty() { "_".to_owned() } else { made }
}

/// Returns the beginning of a name, followed by a digest of the original name.
fn digested(made: &str, raw: &str, room: usize) -> String {
    let digest = Sha256::digest(raw.as_bytes());
    let digest: String = digest.iter().take(DIGEST_CHARS / 2).map(|byte| format!("{byte:02x}")).collect();
    let kept = made.len().min(room.saturating_sub(DIGEST_CHARS + 1));
    format!("{}_{digest}", &made[..kept])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn named(namespace: &str, raw: &[&str]) -> Vec<String> {
        let names = tools(namespace, raw.iter().copied());
        raw.iter().map(|name| names[*name].clone()).collect()
    }

    #[test]
    fn names_are_kept_where_they_can_be() {
        assert_eq!(named("mcp__docs", &["search", "get-page", "a b/ü", ""]), ["search", "get_page", "a_b__", "_"]);
        assert_eq!(named("mcp__docs", &["a_b", "a-b", "a.b"]), ["a_b", "a_b_d44362d6", "a_b_2e7336dc"]);
        assert_eq!(named("mcp__docs", &[&"x".repeat(80)]), [format!("{}_d929cdee", "x".repeat(64 - 9 - 2 - 9))]);
        let servers = namespaces(["docs", "my-docs", "my_docs"]);
        assert_eq!(servers["docs"], "mcp__docs");
        assert_eq!(servers["my_docs"], "mcp__my_docs");
        assert!(servers["my-docs"].starts_with("mcp__my_docs_"));
    }

    proptest! {
        #[test]
        fn names_are_unique_short_and_harmless(
            servers in prop::collection::vec("[a-zA-Z0-9_-]{1,128}", 1..6),
            raw in prop::collection::vec("(\\PC{0,80}|[a-c._-]{1,3})", 0..40),
        ) {
            let spaces = namespaces(servers.iter().map(String::as_str));
            let mut joined = BTreeSet::new();
            for namespace in spaces.values() {
                prop_assert!(namespace.len() <= MAX_NAMESPACE_CHARS);
                let names = tools(namespace, raw.iter().map(String::as_str));
                for name in names.values() {
                    let whole = format!("{namespace}{JOINT}{name}");
                    prop_assert!(whole.len() <= MAX_JOINED_CHARS, "{}", whole);
                    prop_assert!(whole.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_'));
                    prop_assert!(joined.insert((namespace.clone(), name.clone())));
                }
            }
            prop_assert_eq!(spaces.values().collect::<BTreeSet<_>>().len(), spaces.len());
        }

        #[test]
        fn names_do_not_depend_on_the_order(mut raw in prop::collection::vec("[a-c._-]{1,3}", 0..20)) {
            let names = tools("mcp__docs", raw.iter().map(String::as_str));
            raw.reverse();
            prop_assert_eq!(names, tools("mcp__docs", raw.iter().map(String::as_str)));
        }

        #[test]
        fn good_names_stay_whatever_else_there_is(others in prop::collection::vec("[a-c._-]{1,3}", 0..20)) {
            let names = tools("mcp__docs", others.iter().map(String::as_str).chain(["a_b"]));
            prop_assert_eq!(&names["a_b"], "a_b");
        }
    }
}
