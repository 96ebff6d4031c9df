//! Which sessions a lake has, and in which batch.

use std::collections::{BTreeSet, HashMap};

use futures::StreamExt;
use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

use arrow::array::AsArray;
use arrow::datatypes::Int64Type;

use super::record::Batch;
use super::{Lake, LakeError, REQUESTS, Snapshot};
use crate::lake::data::{file_path, texts};
use crate::tables::{SESSIONS, TABLES_VERSION};

/// What is known of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Entry {
    /// Hash of the fingerprint, or of another text if the rows are of another version of the tables.
    fingerprint: u64,
    /// Index in [`Index::batches`].
    batch: u32,
}

/// The sessions of a snapshot by address: 32 bytes each, whatever the length of the address. Two addresses with one hash of
/// 128 bits do not occur.
#[derive(Debug, Default)]
pub struct Index {
    entries: HashMap<u128, Entry>,
    /// Ids of batches that were read, in the order in which they were.
    batches: Vec<String>,
    /// Which sessions are of interest: shard and number of shards.
    shard: Option<(u64, u64)>,
}

/// What the lake has of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Known<'i> {
    /// Nothing.
    No,
    /// The session as it is now.
    Same,
    /// The session as it was, in this batch.
    Changed(&'i str),
}

/// Returns whether a session belongs to a shard.
pub fn is_in_shard(address: &str, shard: Option<(u64, u64)>) -> bool {
    shard.is_none_or(|(own, all)| xxh3_64(address.as_bytes()) % all.max(1) == own)
}

fn key(address: &str) -> u128 {
    xxh3_128(address.as_bytes())
}

fn fingerprint(text: &str, tables_version: i64) -> u64 {
    xxh3_64(format!("{tables_version} {text}").as_bytes())
}

impl Index {
    /// Makes an index of the sessions of a shard.
    pub fn of_shard(shard: Option<(u64, u64)>) -> Self {
        Self { shard, ..Self::default() }
    }

    /// Returns the number of sessions.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns whether there is no session.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns what the lake has of a session with this fingerprint.
    pub fn known(&self, address: &str, of: &str) -> Known<'_> {
        match self.entries.get(&key(address)) {
            None => Known::No,
            Some(entry) if entry.fingerprint == fingerprint(of, TABLES_VERSION.into()) => Known::Same,
            Some(entry) => Known::Changed(&self.batches[entry.batch as usize]),
        }
    }

    /// Reads the batches of a snapshot that are new since the last call, and forgets what only removed ones had.
    ///
    /// # Errors
    ///
    /// Returns an error if a file of sessions cannot be read.
    pub async fn update(&mut self, lake: &Lake, snapshot: &Snapshot) -> Result<(), LakeError> {
        let known: BTreeSet<&str> = self.batches.iter().map(String::as_str).collect();
        let new: Vec<&Batch> = snapshot.batches.values().filter(|batch| !known.contains(batch.id.as_str())).collect();
        let reads = new.into_iter().map(|batch| async move {
            let columns = ["address", "fingerprint", "tables_version"];
            Ok::<_, LakeError>((batch, lake.read_file(batch, SESSIONS, Some(&columns)).await?))
        });
        let mut reads = futures::stream::iter(reads).buffered(REQUESTS);
        while let Some(read) = reads.next().await {
            let (batch, rows) = read?;
            let path = file_path(SESSIONS, &batch.id);
            let number = self.batches.len() as u32;
            self.batches.push(batch.id.clone());
            for rows in &rows {
                let addresses = texts(rows, "address", &path)?;
                let fingerprints = texts(rows, "fingerprint", &path)?;
                let versions = rows.column_by_name("tables_version").and_then(|it| it.as_primitive_opt::<Int64Type>());
                for row in 0..rows.num_rows() {
                    let address = addresses.value(row);
                    if !is_in_shard(address, self.shard) {
                        continue;
                    }
                    let version = versions.map_or(0, |versions| versions.value(row));
                    let entry = Entry { fingerprint: fingerprint(fingerprints.value(row), version), batch: number };
                    self.entries.insert(key(address), entry);
                }
            }
        }
        drop(reads);
        let is_live: Vec<bool> = self.batches.iter().map(|id| snapshot.batches.contains_key(id)).collect();
        self.entries.retain(|_, entry| is_live[entry.batch as usize]);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_share_all_sessions() {
        let addresses: Vec<String> = (0..1000).map(|n| format!("/sessions/{n}")).collect();
        for address in &addresses {
            let owners = (0..3).filter(|shard| is_in_shard(address, Some((*shard, 3)))).count();
            assert_eq!(owners, 1, "{address}");
        }
        let first = addresses.iter().filter(|address| is_in_shard(address, Some((0, 3)))).count();
        assert!((250..450).contains(&first), "{first}");
    }

    #[test]
    fn a_fingerprint_is_of_a_version_of_the_tables() {
        let mut index = Index::default();
        index.batches.push("b".to_owned());
        let now = i64::from(TABLES_VERSION);
        index.entries.insert(key("same"), Entry { fingerprint: fingerprint("f", now), batch: 0 });
        index.entries.insert(key("old"), Entry { fingerprint: fingerprint("f", now - 1), batch: 0 });
        assert_eq!(index.known("same", "f"), Known::Same);
        assert_eq!(index.known("same", "g"), Known::Changed("b"));
        assert_eq!(index.known("old", "f"), Known::Changed("b"));
        assert_eq!(index.known("other", "f"), Known::No);
    }
}
