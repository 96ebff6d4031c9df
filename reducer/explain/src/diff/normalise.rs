//! Removes from texts what differs between runs of the same task.
//!
//! Two runs of the same task never have the same ids, times and temporary directories. Before a comparison these are
//! replaced:
//!
//! | what | becomes |
//! |---|---|
//! | the working directory of the session | `<cwd>` |
//! | the directory that holds it, unless that is one of the first level | `<dir>` |
//! | the name below `/tmp`, `/var/tmp`, `/private/tmp`, `/var/folders` | `<tmp>` |
//! | UUIDs | `<uuid>` |
//! | ids with the prefixes of providers (`call_`, `msg_`, `resp_`, ...) and a digit in them | `<id>` |
//! | `Chunk ID: ...`, `session ID ...`, `"session_id": ...` | the same with `<id>` |
//! | dates with a time, and Unix times of this century in seconds or milliseconds | `<time>` |
//! | numbers with a unit of time | `<duration>` |
//!
//! Everything else stays: numbers, hashes, line numbers, file names.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::{Captures, Regex};

/// The replaced texts, with one named group per kind. A test checks that the pattern compiles.
const PATTERN: &str = concat!(
    r"(?<tmp>/(?:private/)?(?:var/)?tmp/|/var/folders/[^/\s]+/[^/\s]+/T/)[^/\s\x22'\\:;,)]+",
    r"|(?<uuid>(?-u:\b)[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}(?-u:\b))",
    r"|(?<id>(?-u:\b)(?:call|msg|resp|req|fc|fco|rs|ws|ig|ctc|cmp|amsg|item|toolu|chatcmpl)_[A-Za-z-]*[0-9][0-9A-Za-z_-]*(?-u:\b))",
    r"|(?<named>(?-u:\b)Chunk ID: |(?-u:\b)session ID |\x22session_id\x22: ?)[0-9a-f]+(?-u:\b)",
    r"|(?<time>(?-u:\b)[0-9]{4}-[0-9][0-9]-[0-9][0-9][T ][0-9][0-9]:[0-9][0-9](?::[0-9][0-9](?:[.,][0-9]+)?)?(?:Z|[+-][0-9][0-9]:?[0-9][0-9])?|(?-u:\b)1[0-9]{9}(?:[0-9]{3})?(?-u:\b))",
    r"|(?<duration>(?-u:\b)[0-9]+(?:\.[0-9]+)? ?(?:ns|us|µs|ms|s|sec|secs|second|seconds|min|mins|minutes)(?-u:\b))",
);

static VOLATILE: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(PATTERN).ok());

/// Length in bytes of the shortest working directory that is replaced. A shorter one could match other text.
const MIN_DIRECTORY_BYTES: usize = 4;

/// Replaces what differs between runs of the same task.
#[derive(Debug, Clone, Default)]
pub(super) struct Normaliser {
    /// Directories and their replacements, deepest first.
    directories: Vec<(String, &'static str)>,
}

impl Normaliser {
    /// Makes a normaliser for a session that ran in a directory.
    pub(super) fn new(directory: Option<&str>) -> Self {
        let directory = directory.map_or("", |directory| directory.trim_end_matches('/'));
        let mut directories = Vec::new();
        if directory.starts_with('/') && directory.len() >= MIN_DIRECTORY_BYTES {
            directories.push((directory.to_owned(), "<cwd>"));
        }
        // A session that is run for a comparison often has its own directory, with its work and its settings in
        // subdirectories.
        let parent = directory.rsplit_once('/').map_or("", |(parent, _)| parent);
        if parent.len() >= MIN_DIRECTORY_BYTES && parent.matches('/').count() > 1 {
            directories.push((parent.to_owned(), "<dir>"));
        }
        Self { directories }
    }

    /// Returns a text without what differs between runs.
    pub(super) fn apply<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut text = Cow::Borrowed(text);
        for (directory, replacement) in &self.directories {
            if text.contains(directory.as_str()) {
                text = Cow::Owned(replace_path(&text, directory, replacement));
            }
        }
        let Some(volatile) = &*VOLATILE else { return text };
        match volatile.replace_all(&text, replacement) {
            Cow::Borrowed(_) => text,
            Cow::Owned(replaced) => Cow::Owned(replaced),
        }
    }
}

fn replacement(found: &Captures<'_>) -> String {
    let group = |name: &str| found.name(name).map(|found| found.as_str());
    match (group("tmp"), group("named")) {
        (Some(directory), _) => format!("{directory}<tmp>"),
        (_, Some(name)) => format!("{name}<id>"),
        _ => ["uuid", "id", "time", "duration"]
            .into_iter()
            .find(|name| group(name).is_some())
            .map_or_else(String::new, |name| format!("<{name}>")),
    }
}

/// Replaces a path where it is complete or the beginning of a longer path.
fn replace_path(text: &str, path: &str, replacement: &str) -> String {
    let mut replaced = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(path) {
        let after = &rest[at + path.len()..];
        let ends_there = !after.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.'));
        replaced.push_str(&rest[..at]);
        replaced.push_str(if ends_there { replacement } else { path });
        rest = after;
    }
    replaced.push_str(rest);
    replaced
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_from_run_to_run_is_replaced() {
        assert!(VOLATILE.is_some());
        let normaliser = Normaliser::new(Some("/home/ada/work/"));
        for (text, expected) in [
            ("cd /home/ada/work/src", "cd <cwd>/src"),
            ("cd /home/ada/work", "cd <cwd>"),
            ("cd /home/ada/works", "cd <dir>/works"),
            ("cd /home/adam/work", "cd /home/adam/work"),
            ("rm -r /tmp/abc.1/x", "rm -r /tmp/<tmp>/x"),
            ("\"/private/tmp/q\"", "\"/private/tmp/<tmp>\""),
            ("/var/folders/ab/cd12/T/xyz/f", "/var/folders/ab/cd12/T/<tmp>/f"),
            ("thread 01a1ffd7-25ff-79d0-9bbd-e4f6e0516a9b!", "thread <uuid>!"),
            ("call_65 and msg_01a1ffd7-2685", "<id> and <id>"),
            ("Chunk ID: 74ed30\nWall time: 0.1414 seconds", "Chunk ID: <id>\nWall time: <duration>"),
            ("running with session ID 4711", "running with session ID <id>"),
            ("{\"session_id\":4711}", "{\"session_id\":<id>}"),
            ("at 2026-11-22T04:41:44Z", "at <time>"),
            ("at 1795301681.5 or 1795301681304", "at <time>.5 or <time>"),
            ("done in 12ms", "done in <duration>"),
        ] {
            assert_eq!(normaliser.apply(text), expected);
        }
    }

    #[test]
    fn the_rest_stays() {
        let normaliser = Normaliser::new(Some("/a"));
        for text in
            ["line 42", "exit code 1", "item_count", "2e4f0a1b", "callable_x", "/a/b", "1.2.3", "3 sheets", "12345"]
        {
            assert!(matches!(normaliser.apply(text), Cow::Borrowed(_)), "{text}");
        }
    }
}
