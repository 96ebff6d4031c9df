//! What the log of a lake says: commits, and the batches of sessions that they add and remove.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Version of the layout of a lake.
pub const LAKE_FORMAT: u32 = 1;

/// A data file of one table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DataFile {
    /// Path relative to the folder of its table. Its name is a hash of its content.
    pub path: String,
    /// Size in bytes.
    pub bytes: u64,
    /// Number of rows.
    pub rows: u64,
    /// Range of the values of columns by which files are passed over. Other columns have none.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub stats: BTreeMap<String, Range>,
}

/// Range of the values of a column in a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Range {
    /// Smallest and largest value: days as `YYYY-MM-DD`. `None` if all values are null.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub values: Option<(String, String)>,
    /// Number of rows without a value.
    pub nulls: u64,
}

/// The rows of some sessions: at most one file per table. Batches are added and removed as a whole, so all rows of a session
/// become visible, change and go together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Batch {
    /// Id of the batch, which follows from its files.
    pub id: String,
    /// Number of sessions.
    pub sessions: u64,
    /// Its files by table. A table without rows has none.
    pub files: BTreeMap<String, DataFile>,
}

impl Batch {
    /// Returns the size of all files in bytes.
    pub fn bytes(&self) -> u64 {
        self.files.values().map(|file| file.bytes).sum()
    }
}

/// What made a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// The lake was made.
    Create,
    /// Sessions were added, or replaced because they had changed.
    Ingest,
    /// Batches were merged; the rows are the same.
    Compact,
    /// Sessions were removed.
    Remove,
}

impl Action {
    /// Returns the name of the action.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Ingest => "ingest",
            Self::Compact => "compact",
            Self::Remove => "remove",
        }
    }
}

/// A commit: one object of the log. Writing that object is what makes the change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Commit {
    /// [`LAKE_FORMAT`].
    pub format: u32,
    /// Number of the commit, from 0 without gaps. It is the version of the lake, and of the Delta table of each table.
    pub version: u64,
    /// Random id, by which a writer knows its own commit again if the answer of the store was lost.
    pub id: String,
    /// When the writer made it, in milliseconds since the Unix epoch.
    pub at_unix_ms: i64,
    /// What made it.
    pub action: Action,
    /// Batches that were added.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub add: Vec<Batch>,
    /// Batches that were removed: whole, as the Delta log names their files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remove: Vec<Batch>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_and_new_records_are_read() {
        let text = r#"{"format":1,"version":3,"id":"x","at_unix_ms":5,"action":"compact","later":1,"add":[{"id":"b","sessions":1,
            "files":{"sessions":{"path":"b.parquet","bytes":7,"rows":1,"stats":{"day":{"values":["2026-01-01","2026-01-02"],"nulls":0},"team":{"nulls":1}}}}}]}"#;
        let commit: Commit = serde_json::from_str(text).expect("parses");
        assert_eq!(commit.action, Action::Compact);
        assert!(commit.remove.is_empty());
        assert_eq!(commit.add[0].bytes(), 7);
        assert_eq!(commit.add[0].files["sessions"].stats["team"], Range { values: None, nulls: 1 });
        let again: Commit = serde_json::from_str(&serde_json::to_string(&commit).expect("serializes")).expect("parses");
        assert_eq!(again, commit);
    }
}
