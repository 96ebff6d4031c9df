//! Merges small batches, so that a query opens few files.

use std::sync::atomic::AtomicBool;

use arrow::record_batch::RecordBatch;

use super::data::{self, Encoded, Order};
use super::record::{Action, Batch};
use super::{Appended, Lake, LakeError, MAX_COMMIT_ATTEMPTS, Snapshot};
use crate::tables;
use crate::workers::{Job, MAX_ROUND_BYTES, MAX_ROUND_TASKS, Task, WorkError, Workers};

/// Sessions of a merged batch, if nothing else is said.
pub const DEFAULT_TARGET_SESSIONS: u64 = 20_000;

/// Most bytes of the files that are merged at once, as they are in the store. In memory they take about ten times that.
pub const MAX_MERGED_BYTES: u64 = 128 << 20;

/// What a compaction did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Compacted {
    /// Batches that were merged.
    pub merged: u64,
    /// Batches that were made of them.
    pub made: u64,
    /// Merges that were given up because another writer changed a batch meanwhile.
    pub given_up: u64,
}

/// Why a compaction on workers ended. What was committed before stays.
#[derive(Debug, thiserror::Error)]
pub enum CompactError {
    /// The lake failed.
    #[error(transparent)]
    Lake(#[from] LakeError),
    /// The workers failed.
    #[error(transparent)]
    Work(#[from] WorkError),
}

/// Returns the batches that are to be merged with each other: small ones, in the order of their days, so that a merged batch
/// has few days.
pub fn plan(snapshot: &Snapshot, target_sessions: u64) -> Vec<Vec<Batch>> {
    let first_day = |batch: &Batch| {
        let range = batch.files.get(tables::SESSIONS).and_then(|file| file.stats.get("day"));
        range.and_then(|range| range.values.clone()).unwrap_or_default()
    };
    let is_small = |batch: &&Batch| batch.sessions <= target_sessions / 2;
    let mut small: Vec<&Batch> = snapshot.batches.values().filter(is_small).collect();
    small.sort_by_cached_key(|batch| (first_day(batch), batch.id.clone()));
    let mut groups: Vec<Vec<Batch>> = Vec::new();
    let mut group: Vec<Batch> = Vec::new();
    for batch in small {
        let sessions: u64 = group.iter().map(|batch| batch.sessions).sum();
        let bytes: u64 = group.iter().map(Batch::bytes).sum();
        if sessions + batch.sessions > target_sessions || bytes + batch.bytes() > MAX_MERGED_BYTES {
            groups.push(std::mem::take(&mut group));
        }
        group.push(batch.clone());
    }
    groups.push(group);
    groups.retain(|group| group.len() > 1);
    groups
}

/// Cuts groups into rounds for workers. A group that is too large for a message is cut as well; the next compaction merges its
/// parts further.
fn rounds(groups: Vec<Vec<Batch>>) -> Vec<Vec<Vec<Batch>>> {
    let mut rounds: Vec<Vec<Vec<Batch>>> = Vec::new();
    let mut of_round = 0;
    for (group, bytes) in groups.into_iter().flat_map(|group| parts(group, MAX_ROUND_BYTES)) {
        of_round += bytes;
        match rounds.last_mut() {
            Some(round) if round.len() < MAX_ROUND_TASKS && of_round <= MAX_ROUND_BYTES => round.push(group),
            _ => {
                of_round = bytes;
                rounds.push(vec![group]);
            }
        }
    }
    rounds
}

/// Cuts a group into parts of several batches whose texts have at most `max_bytes`, each with the size of its text.
fn parts(group: Vec<Batch>, max_bytes: usize) -> Vec<(Vec<Batch>, usize)> {
    let mut parts: Vec<(Vec<Batch>, usize)> = Vec::new();
    for batch in group {
        let bytes = serde_json::to_vec(&batch).map_or(0, |text| text.len());
        match parts.last_mut() {
            Some((part, of_part)) if *of_part + bytes <= max_bytes => {
                *of_part += bytes;
                part.push(batch);
            }
            _ => parts.push((vec![batch], bytes)),
        }
    }
    parts.retain(|(part, _)| part.len() > 1);
    parts
}

impl Lake {
    /// Reads all rows of batches, by table. Rows of addresses that `is_kept` refuses are left out.
    ///
    /// # Errors
    ///
    /// Returns an error if a file cannot be read.
    pub(crate) async fn merge(
        &self,
        batches: &[Batch],
        is_kept: &(dyn Fn(&str) -> bool + Sync),
    ) -> Result<Option<Encoded>, LakeError> {
        let mut all: Vec<(&'static str, Vec<RecordBatch>)> = Vec::new();
        for table in tables::ALL.iter() {
            let mut rows = Vec::new();
            for batch in batches {
                for read in self.read_file(batch, table.name(), None).await? {
                    rows.push(data::keep(&read, &batch.id, is_kept)?);
                }
            }
            all.push((table.name(), rows));
        }
        let order = if batches.len() == 1 { Order::Kept } else { Order::Any };
        let encoded = tokio::task::spawn_blocking(move || data::encode(all, order)).await;
        Ok(encoded.unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic()))?)
    }

    /// Merges small batches into batches of about `target_sessions`. Each merge is a commit of its own. Returns early if
    /// `is_stopped` says so; the lake is whole then, too.
    ///
    /// # Errors
    ///
    /// Returns an error if the store fails, or a file is damaged.
    pub async fn compact(
        &self,
        target_sessions: u64,
        is_stopped: &(dyn Fn() -> bool + Sync),
    ) -> Result<Compacted, LakeError> {
        let mut snapshot = self.snapshot().await?;
        self.project(&snapshot).await?;
        let mut done = Compacted::default();
        for group in plan(&snapshot, target_sessions) {
            if is_stopped() {
                break;
            }
            let Some(encoded) = self.merge(&group, &|_| true).await? else { continue };
            self.write_files(&encoded).await?;
            self.replace(&mut snapshot, group, encoded.batch, &mut done).await?;
        }
        Ok(done)
    }

    /// Does the same with workers that merge, and commits their receipts.
    ///
    /// # Errors
    ///
    /// Returns an error if the store or the workers fail. What was committed before stays.
    pub async fn compact_on(
        &self,
        workers: &dyn Workers,
        target_sessions: u64,
        stop: &AtomicBool,
    ) -> Result<Compacted, CompactError> {
        let mut snapshot = self.snapshot().await?;
        self.project(&snapshot).await?;
        let mut done = Compacted::default();
        let lake = self.store().url().to_string();
        for round in rounds(plan(&snapshot, target_sessions)) {
            let task = |group: &Vec<Batch>| Task::new(&lake, Job::Merge { batches: group.clone() });
            let receipts = match workers.work(round.iter().map(task).collect(), stop).await {
                Err(WorkError::Stopped) => break,
                other => other?,
            };
            for (group, receipt) in round.iter().zip(receipts) {
                for written in receipt.batches {
                    let sessions: u64 = group.iter().map(|batch| batch.sessions).sum();
                    if written.batch.sessions != sessions {
                        let message = format!("the receipt of batch {} is not that of its task", written.batch.id);
                        return Err(WorkError::Failed { message }.into());
                    }
                    // The round may have taken longer than a vacuum spares files that no commit names.
                    self.check_written(&written.batch).await?;
                    self.replace(&mut snapshot, group.clone(), written.batch, &mut done).await?;
                }
            }
        }
        Ok(done)
    }

    /// Commits a batch, whose files are written, in place of those that it was merged of.
    async fn replace(
        &self,
        snapshot: &mut Snapshot,
        group: Vec<Batch>,
        merged: Batch,
        done: &mut Compacted,
    ) -> Result<(), LakeError> {
        for _ in 0..MAX_COMMIT_ATTEMPTS {
            if group.iter().any(|batch| !snapshot.batches.contains_key(&batch.id)) {
                done.given_up += 1;
                return Ok(());
            }
            match self.append(snapshot, Action::Compact, vec![merged.clone()], group.clone()).await? {
                Appended::Done(newer) => {
                    *snapshot = newer;
                    self.project(snapshot).await?;
                    done.merged += group.len() as u64;
                    done.made += 1;
                    return Ok(());
                }
                Appended::Behind => *snapshot = self.newer(snapshot.clone()).await?,
            }
        }
        Err(LakeError::Busy)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::record::{DataFile, Range};
    use super::*;

    fn snapshot(batches: &[(&str, u64, &str)]) -> Snapshot {
        let batch = |(id, sessions, day): &(&str, u64, &str)| {
            let values = Some(((*day).to_owned(), (*day).to_owned()));
            let stats = BTreeMap::from([("day".to_owned(), Range { values, nulls: 0 })]);
            let file = DataFile { path: format!("{id}.parquet"), bytes: 1 << 20, rows: *sessions, stats };
            let files = BTreeMap::from([(tables::SESSIONS.to_owned(), file)]);
            ((*id).to_owned(), Batch { id: (*id).to_owned(), sessions: *sessions, files })
        };
        Snapshot {
            version: 1,
            lake_id: String::new(),
            created_at_unix_ms: 0,
            at_unix_ms: 0,
            batches: batches.iter().map(batch).collect(),
        }
    }

    #[test]
    fn small_batches_of_near_days_are_merged() {
        let lake = snapshot(&[
            ("a", 400, "2026-01-03"),
            ("b", 400, "2026-01-01"),
            ("c", 400, "2026-01-02"),
            ("d", 900, "2026-01-01"),
            ("e", 100, "2026-01-09"),
        ]);
        let ids = |groups: Vec<Vec<Batch>>| {
            groups
                .iter()
                .map(|group| group.iter().map(|batch| batch.id.as_str()).collect::<String>())
                .collect::<Vec<_>>()
        };
        assert_eq!(ids(plan(&lake, 1000)), ["bc", "ae"]);
        assert_eq!(ids(plan(&lake, 2000)), ["bdcae"[..0].to_owned() + "bdc", "ae".to_owned()]);
        assert_eq!(ids(plan(&lake, 100)), Vec::<String>::new());
    }

    #[test]
    fn a_merge_has_a_limit_of_bytes() {
        let many: Vec<(String, u64, &str)> = (0..300).map(|n| (format!("{n:03}"), 1, "2026-01-01")).collect();
        let many: Vec<(&str, u64, &str)> =
            many.iter().map(|(id, sessions, day)| (id.as_str(), *sessions, *day)).collect();
        let groups = plan(&snapshot(&many), 20_000);
        assert_eq!(groups.iter().map(Vec::len).collect::<Vec<_>>(), [128, 128, 44]);
    }

    #[test]
    fn what_a_round_names_fits_into_a_message() {
        let day = "2026-01-01".repeat(MAX_ROUND_BYTES / 200);
        let many: Vec<(String, u64, &str)> = (0..100).map(|n| (format!("{n:03}"), 1, day.as_str())).collect();
        let many: Vec<(&str, u64, &str)> =
            many.iter().map(|(id, sessions, day)| (id.as_str(), *sessions, *day)).collect();
        let size = |batches: &[Batch]| -> usize {
            batches.iter().map(|batch| serde_json::to_vec(batch).expect("serializes").len()).sum()
        };
        // One group of 100, of which each takes a tenth of a message, and a bit more.
        let groups = plan(&snapshot(&many), 20_000);
        assert_eq!(groups.iter().map(Vec::len).collect::<Vec<_>>(), [100]);
        let cut = rounds(groups);
        assert_eq!(cut.iter().flatten().map(Vec::len).collect::<Vec<_>>(), [9; 11]);
        for round in &cut {
            assert!(round.iter().map(|group| size(group)).sum::<usize>() <= MAX_ROUND_BYTES);
        }
        // Small groups share rounds, up to the number of tasks.
        let many: Vec<(String, u64, &str)> = (0..80).map(|n| (format!("{n:03}"), 1, "2026-01-01")).collect();
        let many: Vec<(&str, u64, &str)> =
            many.iter().map(|(id, sessions, day)| (id.as_str(), *sessions, *day)).collect();
        let cut = rounds(plan(&snapshot(&many), 2));
        assert_eq!(cut.iter().map(Vec::len).collect::<Vec<_>>(), [32, 8]);
    }
}
