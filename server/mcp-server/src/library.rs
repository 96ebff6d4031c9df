//! The sessions that questions are about. The program that serves says where they are.

use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;

use trace_explain::Session;
use xxhash_rust::xxh3::xxh3_64;

use crate::problem::Problem;

/// Names the newest session.
pub const LATEST: &str = "latest";

/// Fewest characters of the beginning of an id that names a session.
pub const MIN_NAME_CHARS: usize = 4;

/// Number of sessions that an error names.
const SUGGESTIONS: usize = 3;

/// A session of the library.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The id, by which answers name the session.
    pub id: String,
    /// Other ids of the session, such as that of its root thread.
    pub other_ids: Vec<String>,
    /// What names the session on the command line.
    pub path: PathBuf,
    /// Name of the agent that the session is of; `trace` for a recording.
    pub agent: &'static str,
    /// When it began, in milliseconds since the Unix epoch.
    pub started_unix_ms: Option<i64>,
}

impl Entry {
    /// Returns the place of the session in the order of the library: newest first.
    pub(crate) fn place(&self) -> (std::cmp::Reverse<i64>, u64) {
        (std::cmp::Reverse(self.started_unix_ms.unwrap_or(i64::MIN)), self.key())
    }

    /// Returns a number for the session, for cursors.
    pub(crate) fn key(&self) -> u64 {
        xxh3_64(self.path.as_os_str().as_encoded_bytes())
    }

    fn ids(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.id.as_str()).chain(self.other_ids.iter().map(String::as_str))
    }
}

/// What a list says of a session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Summary {
    /// When its last event happened, in milliseconds since the Unix epoch.
    pub ended_unix_ms: Option<i64>,
    /// The user's first prompt, or the title that the agent gave the session.
    pub prompt: Option<String>,
    /// The folder in which the agent worked.
    pub cwd: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// How it ended: `completed`, `failed`, `cancelled`, `aborted` or `running`.
    pub outcome: Option<String>,
    /// Number of agents.
    pub agents: u64,
    /// Number of turns.
    pub turns: u64,
    /// Number of turns that failed.
    pub failed_turns: u64,
    /// Number of tool calls.
    pub tool_calls: u64,
    /// Number of tool calls that failed.
    pub failed_tool_calls: u64,
    /// Tokens that models read.
    pub input_tokens: u64,
    /// Tokens that models wrote.
    pub output_tokens: u64,
    /// Why the session cannot be read.
    pub problem: Option<String>,
}

/// The rows of a query, each a JSON object in the order of the columns.
pub type Rows<'a> = Pin<Box<dyn Future<Output = Result<Vec<String>, Problem>> + Send + 'a>>;

/// Finds and opens sessions. All methods but [`rows`](Self::rows) may take their time; they are called outside of the tasks that
/// read and write messages.
pub trait Library: Send + Sync + 'static {
    /// Returns all sessions in any order, without reading them.
    ///
    /// # Errors
    ///
    /// Returns a problem if the folder of recordings cannot be listed.
    fn entries(&self) -> Result<Vec<Entry>, Problem>;

    /// Returns what a list says of each of some sessions, in their order.
    fn summaries(&self, entries: &[Entry]) -> Vec<Summary>;

    /// Opens a session.
    ///
    /// # Errors
    ///
    /// Returns a problem if the session cannot be read.
    fn open(&self, entry: &Entry) -> Result<Arc<Session>, Problem>;

    /// Returns the moment that a text such as `2026-11-22` or `7d` names, in milliseconds since the Unix epoch.
    ///
    /// # Errors
    ///
    /// Returns a problem if it names none.
    fn moment(&self, text: &str) -> Result<i64, Problem>;

    /// Runs a statement that [`trace_query::Query::new`] accepted over sessions, and returns its first rows, at most `limit`.
    fn rows<'a>(&'a self, sql: &'a str, entries: &'a [Entry], limit: u64) -> Rows<'a>;
}

/// The sessions of a library, newest first.
#[derive(Debug)]
pub(crate) struct Shelf(pub(crate) Vec<Entry>);

impl Shelf {
    /// Lists the sessions.
    pub(crate) fn of(library: &dyn Library) -> Result<Self, Problem> {
        let mut entries = library.entries()?;
        entries.sort_by_cached_key(Entry::place);
        Ok(Self(entries))
    }

    /// Returns the session that a name stands for: `latest`, an id, or the beginning of one id. A name is never a path.
    pub(crate) fn find(&self, name: &str) -> Result<&Entry, Problem> {
        if name == LATEST {
            return self.0.first().ok_or_else(|| {
                Problem::new("there is no session: nothing was recorded, and no agent of this user has one")
                    .with_hint("`trace demo` records a small session")
            });
        }
        if let Some(exact) = self.0.iter().find(|entry| entry.id == name) {
            return Ok(exact);
        }
        // A thread that was resumed has several recordings. The newest is meant.
        if let Some(exact) = self.0.iter().find(|entry| entry.ids().any(|id| id == name)) {
            return Ok(exact);
        }
        if name.chars().count() < MIN_NAME_CHARS {
            return Err(Problem::new(format!("no session has the id {name:?}"))
                .with_hint(format!("give `{LATEST}`, an id, or its first {MIN_NAME_CHARS} characters or more")));
        }
        let begins: Vec<&Entry> = self.0.iter().filter(|entry| entry.ids().any(|id| id.starts_with(name))).collect();
        match begins[..] {
            [one] => Ok(one),
            [] => Err(Problem::new(format!("no session has the id {}", shown(name)))
                .with_hint(format!("the nearest are {}; `sessions` lists all", self.nearest(name)))),
            _ => {
                let some: Vec<&str> = begins.iter().take(SUGGESTIONS).map(|entry| entry.id.as_str()).collect();
                Err(Problem::new(format!("{} sessions have ids that begin with {}", begins.len(), shown(name)))
                    .with_hint(format!("for example {}; give more of the id", some.join(", "))))
            }
        }
    }

    /// Returns the session with this key.
    pub(crate) fn with_key(&self, key: u64) -> Result<&Entry, Problem> {
        self.0.iter().find(|entry| entry.key() == key).ok_or_else(|| {
            Problem::new("the session that the cursor is of is gone").with_hint("repeat the call without `cursor`")
        })
    }

    /// Returns the ids that have the longest beginning in common with a name; the newest of equals.
    fn nearest(&self, name: &str) -> String {
        let common = |entry: &&Entry| {
            let common = |id: &str| id.bytes().zip(name.bytes()).take_while(|(one, other)| one == other).count();
            std::cmp::Reverse(entry.ids().map(common).max())
        };
        let mut entries: Vec<&Entry> = self.0.iter().collect();
        entries.sort_by_key(common);
        let ids: Vec<&str> = entries.iter().take(SUGGESTIONS).map(|entry| entry.id.as_str()).collect();
        if ids.is_empty() { "none, since there is no session".to_owned() } else { ids.join(", ") }
    }
}

/// Returns a name of a client as an error shows it.
fn shown(name: &str) -> String {
    trace_text::quoted(name, 80)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shelf() -> Shelf {
        let entry = |id: &str, other: &str, at| Entry {
            id: id.to_owned(),
            other_ids: vec![other.to_owned()],
            path: id.into(),
            agent: "trace",
            started_unix_ms: Some(at),
        };
        let mut entries = vec![entry("aaaa-1", "thread-1", 1), entry("aaaa-2", "thread-1", 3), entry("bbbb-1", "x", 2)];
        entries.sort_by_cached_key(Entry::place);
        Shelf(entries)
    }

    #[test]
    fn sessions_are_found_by_their_ids() {
        let shelf = shelf();
        let find = |name: &str| shelf.find(name).map(|entry| entry.id.as_str()).map_err(|problem| problem.text());
        assert_eq!(find("latest"), Ok("aaaa-2"));
        assert_eq!(find("aaaa-1"), Ok("aaaa-1"));
        assert_eq!(find("bbbb"), Ok("bbbb-1"));
        assert_eq!(find("thread-1"), Ok("aaaa-2"), "the newest recording of a thread");
        let ambiguous = find("aaaa").expect_err("two");
        assert!(ambiguous.starts_with("2 sessions") && ambiguous.contains("aaaa-2, aaaa-1"), "{ambiguous}");
        let unknown = find("bbbz").expect_err("none");
        assert!(unknown.contains("bbbb-1, aaaa-2, aaaa-1"), "{unknown}");
        find("").expect_err("too short");
        find("../bbbb-1").expect_err("a name is no path");
    }

    #[test]
    fn an_empty_library_says_so() {
        let problem = Shelf(Vec::new()).find("latest").expect_err("nothing");
        assert!(problem.text().contains("trace demo"));
        Shelf(Vec::new()).find("some-id").expect_err("nothing");
    }
}
