//! Holds a lake against itself: the log, the files, the tables against each other, and the Delta tables against the log.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use arrow::array::{Array, AsArray};
use arrow::datatypes::Int64Type;
use serde::Serialize;
use sha2::{Digest, Sha256};

use super::data::{file_path, texts};
use super::record::Batch;
use super::{Lake, LakeError, Snapshot, delta};
use crate::tables::{self, SESSIONS};

/// Maximum number of problems in a report. Further ones are left out.
pub const MAX_PROBLEMS: usize = 1000;

/// Columns of `sessions` that say how many rows another table has for the session.
const COUNTED: [(&str, &str); 6] = [
    ("turns", "turns"),
    ("inference_calls", "inference_calls"),
    ("tool_calls", "tool_calls"),
    ("failures", "failures"),
    ("edges", "edges"),
    ("findings", "findings"),
];

/// Kind of a problem. The names are stable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Problem {
    /// A file that a live batch names is not there.
    FileMissing,
    /// A file has another size, content or number of rows than the log says.
    FileChanged,
    /// A file cannot be read.
    FileDamaged,
    /// A session is in two batches.
    SessionTwice,
    /// A row belongs to a session that its batch does not have.
    RowWithoutSession,
    /// `sessions` says another number of rows than a table has.
    WrongCount,
    /// A Delta table lacks a commit, or says something else than the log.
    DeltaDiffers,
}

impl Problem {
    /// Returns the name of the problem.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::FileMissing => "file_missing",
            Self::FileChanged => "file_changed",
            Self::FileDamaged => "file_damaged",
            Self::SessionTwice => "session_twice",
            Self::RowWithoutSession => "row_without_session",
            Self::WrongCount => "wrong_count",
            Self::DeltaDiffers => "delta_differs",
        }
    }
}

/// One problem.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Found {
    /// Its kind.
    pub problem: Problem,
    /// The file or session.
    pub place: String,
    /// What is wrong, as a sentence.
    pub message: String,
}

/// The answer of a check.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Checked {
    /// Version of the lake.
    pub version: u64,
    /// Number of batches.
    pub batches: u64,
    /// Number of sessions.
    pub sessions: u64,
    /// Number of rows by table.
    pub rows: BTreeMap<String, u64>,
    /// Commits that the Delta tables still lack. That is no problem: the next writer completes them.
    pub delta_behind: u64,
    /// Problems, at most [`MAX_PROBLEMS`].
    pub problems: Vec<Found>,
}

impl Checked {
    fn found(&mut self, problem: Problem, place: &str, message: impl Into<String>) {
        if self.problems.len() < MAX_PROBLEMS {
            self.problems.push(Found { problem, place: place.to_owned(), message: message.into() });
        }
    }
}

impl Lake {
    /// Checks all files, rows and Delta tables of a snapshot. Every file is read.
    ///
    /// # Errors
    ///
    /// Returns an error if the store fails.
    pub async fn check(&self, snapshot: &Snapshot) -> Result<Checked, LakeError> {
        let mut checked =
            Checked { version: snapshot.version, batches: snapshot.batches.len() as u64, ..Checked::default() };
        let mut seen: HashMap<u128, &str> = HashMap::new();
        for batch in snapshot.batches.values() {
            let sessions = self.check_sessions(batch, &mut checked).await?;
            for address in sessions.keys() {
                let key = xxhash_rust::xxh3::xxh3_128(address.as_bytes());
                if let Some(other) = seen.insert(key, &batch.id) {
                    let message = format!("it is in batch {other} and in batch {}", batch.id);
                    checked.found(Problem::SessionTwice, address, message);
                }
            }
            checked.sessions += sessions.len() as u64;
            self.check_tables(batch, sessions, &mut checked).await?;
        }
        self.check_delta(snapshot, &mut checked).await?;
        Ok(checked)
    }

    /// Reads a file and holds it against the log. Returns its rows, if it can be read.
    async fn check_file(
        &self,
        batch: &Batch,
        table: &str,
        checked: &mut Checked,
    ) -> Result<Vec<arrow::record_batch::RecordBatch>, LakeError> {
        let Some(file) = batch.files.get(table) else { return Ok(Vec::new()) };
        let path = file_path(table, &file.path);
        let content = match self.store().read(&path).await {
            Ok(content) => content,
            Err(error) if error.is_missing() => {
                checked.found(Problem::FileMissing, &path, format!("batch {} names it", batch.id));
                return Ok(Vec::new());
            }
            Err(error) => return Err(error.into()),
        };
        let hash: String = Sha256::digest(&content).iter().map(|byte| format!("{byte:02x}")).collect();
        if content.len() as u64 != file.bytes || !hash.starts_with(file.path.trim_end_matches(".parquet")) {
            checked.found(Problem::FileChanged, &path, "its content is not that of its name");
        }
        let rows = match super::data::decode(table, &path, content, None) {
            Ok(rows) => rows,
            Err(error) => {
                checked.found(Problem::FileDamaged, &path, error.to_string());
                return Ok(Vec::new());
            }
        };
        let count: u64 = rows.iter().map(|rows| rows.num_rows() as u64).sum();
        if count != file.rows {
            let message = format!("it has {count} rows, and the log says {}", file.rows);
            checked.found(Problem::FileChanged, &path, message);
        }
        *checked.rows.entry(table.to_owned()).or_default() += count;
        Ok(rows)
    }

    /// Returns the sessions of a batch with what they say of other tables.
    async fn check_sessions(
        &self,
        batch: &Batch,
        checked: &mut Checked,
    ) -> Result<BTreeMap<String, Vec<i64>>, LakeError> {
        let mut sessions = BTreeMap::new();
        for rows in self.check_file(batch, SESSIONS, checked).await? {
            let addresses = texts(&rows, "address", &batch.id)?;
            let counts: Vec<_> = COUNTED
                .iter()
                .map(|(column, _)| rows.column_by_name(column).and_then(|it| it.as_primitive_opt::<Int64Type>()))
                .collect();
            for row in 0..rows.num_rows() {
                let count = |column: &Option<&arrow::array::Int64Array>| {
                    column.map_or(0, |column| if column.is_null(row) { 0 } else { column.value(row) })
                };
                let address = addresses.value(row).to_owned();
                if sessions.insert(address.clone(), counts.iter().map(count).collect()).is_some() {
                    checked.found(Problem::SessionTwice, &address, format!("it is in batch {} twice", batch.id));
                }
            }
        }
        Ok(sessions)
    }

    async fn check_tables(
        &self,
        batch: &Batch,
        sessions: BTreeMap<String, Vec<i64>>,
        checked: &mut Checked,
    ) -> Result<(), LakeError> {
        for table in tables::ALL.iter().map(|table| table.name()).filter(|name| *name != SESSIONS) {
            let mut counts: BTreeMap<String, i64> = BTreeMap::new();
            for rows in self.check_file(batch, table, checked).await? {
                for address in texts(&rows, "address", &batch.id)?.iter().flatten() {
                    match counts.get_mut(address) {
                        Some(count) => *count += 1,
                        None => {
                            counts.insert(address.to_owned(), 1);
                        }
                    }
                }
            }
            for address in counts.keys().filter(|address| !sessions.contains_key(*address)) {
                let message = format!("table {table} of batch {} has rows of it", batch.id);
                checked.found(Problem::RowWithoutSession, address, message);
            }
            let Some(column) = COUNTED.iter().position(|(_, counted)| *counted == table) else { continue };
            for (address, said) in &sessions {
                let count = counts.get(address).copied().unwrap_or(0);
                if said[column] != count {
                    let message = format!(
                        "it has {count} rows in {table}, and sessions.{} is {}",
                        COUNTED[column].0, said[column]
                    );
                    checked.found(Problem::WrongCount, address, message);
                }
            }
        }
        Ok(())
    }

    /// Replays the Delta log of each table and compares the files with those of the log.
    async fn check_delta(&self, snapshot: &Snapshot, checked: &mut Checked) -> Result<(), LakeError> {
        let mut versions = snapshot.version + 1;
        while versions > 0 && self.store().look(&delta::version_path(SESSIONS, versions - 1)).await?.is_none() {
            versions -= 1;
        }
        checked.delta_behind = snapshot.version + 1 - versions;
        let Some(version) = versions.checked_sub(1) else { return Ok(()) };
        let at = self.snapshot_at(version).await?;
        for table in tables::ALL.iter().map(|table| table.name()) {
            let mut live: BTreeSet<String> = BTreeSet::new();
            for number in 0..=version {
                let path = delta::version_path(table, number);
                let text = match self.store().read(&path).await {
                    Ok(text) => text,
                    Err(error) if error.is_missing() => {
                        checked.found(Problem::DeltaDiffers, &path, "the version is missing, and later ones are there");
                        continue;
                    }
                    Err(error) => return Err(error.into()),
                };
                for line in text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
                    let Ok(action) = serde_json::from_slice::<serde_json::Value>(line) else {
                        checked.found(Problem::DeltaDiffers, &path, "a line of it is no JSON");
                        continue;
                    };
                    let file = |kind: &str| action[kind]["path"].as_str().map(str::to_owned);
                    live.extend(file("add"));
                    if let Some(gone) = file("remove") {
                        live.remove(&gone);
                    }
                }
            }
            let expected: BTreeSet<String> =
                at.batches.values().filter_map(|batch| Some(batch.files.get(table)?.path.clone())).collect();
            if live != expected {
                let message = format!("it has {} files, and the log has {}", live.len(), expected.len());
                checked.found(Problem::DeltaDiffers, &tables_folder(table), message);
            }
        }
        Ok(())
    }
}

fn tables_folder(table: &str) -> String {
    super::data::table_folder(table)
}
