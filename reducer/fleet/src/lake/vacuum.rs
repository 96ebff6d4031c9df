//! Deletes data files that no version of the lake needs any more.

use std::collections::BTreeSet;
use std::time::Duration;

use futures::StreamExt;

use super::{Lake, LakeError, REQUESTS};

/// How long a file is kept that no commit names any more, if nothing else is said: readers may still use the version that
/// named it.
pub const DEFAULT_KEEP: Duration = Duration::from_secs(7 * 24 * 3600);

/// Shortest time for which files are kept. An ingest writes files before it commits them, and a file that is deleted in
/// between would be missing: no ingest may take longer than this for one batch. An ingest or a compaction on a cluster, whose
/// rounds take longer, looks at the files before it commits them.
pub const MIN_KEEP: Duration = Duration::from_secs(3600);

/// What a vacuum found and deleted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Vacuumed {
    /// Files that no live batch names.
    pub unused: u64,
    /// Files of these that were old enough, and were deleted unless it was a dry run.
    pub deleted: u64,
    /// Size of the deleted files in bytes.
    pub bytes: u64,
}

impl Lake {
    /// Deletes the data files that the lake does not name and that were written more than `keep` ago; with `dry_run`, only
    /// counts them. The age is that which the store tells, compared with `now_unix_ms`.
    ///
    /// # Errors
    ///
    /// Returns an error if the store fails. Some files may be deleted then.
    pub async fn vacuum(&self, keep: Duration, now_unix_ms: i64, dry_run: bool) -> Result<Vacuumed, LakeError> {
        // The files are listed before the lake is looked at: one that is committed in between is then known to be live.
        let listed = self.store().list("tables", None).await?;
        let snapshot = self.snapshot().await?;
        self.project(&snapshot).await?;
        let live: BTreeSet<String> = Self::live_files(&snapshot);
        let is_data = |path: &str| path.ends_with(".parquet") && !path.contains("/_delta_log/");
        let unused: Vec<_> = listed.into_iter().filter(|it| is_data(&it.path) && !live.contains(&it.path)).collect();
        let oldest_kept = now_unix_ms.saturating_sub(i64::try_from(keep.as_millis()).unwrap_or(i64::MAX));
        let mut done = Vacuumed { unused: unused.len() as u64, ..Vacuumed::default() };
        let old: Vec<_> = unused.into_iter().filter(|it| it.modified_unix_ms < oldest_kept).collect();
        done.deleted = old.len() as u64;
        done.bytes = old.iter().map(|it| it.bytes).sum();
        if !dry_run {
            let deletions = old.iter().map(|it| self.store().delete(&it.path));
            let mut deletions = futures::stream::iter(deletions).buffer_unordered(REQUESTS);
            while let Some(deleted) = deletions.next().await {
                deleted?;
            }
        }
        Ok(done)
    }
}
