//! Brings finished sessions to where an ingest finds them: packed, redacted on request, and once each.
//!
//! ```text
//! URL/team=red/agent=codex/day=2026-11-24/ID.trace     a packed session
//! URL/_push/ORIGIN/SESSION-STATE                       a receipt: this state of this session is there
//! ```
//!
//! The path of a session follows from the session, so a push that is repeated, or killed before it wrote the receipt, puts
//! the same object there again. A session that goes on after it was pushed is pushed again, in the place of the earlier one.
//! Receipts have hashes instead of paths, because those may name people.

use std::collections::HashSet;
use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

use serde::Serialize;
use tokio::runtime::Handle;
use trace_recorder::activity::activity;
use trace_recorder::pack::{DEFAULT_LEVEL, Level, PackError, Source, is_growing, is_packed, pack};
use trace_recorder::redact::{self, RedactError, Rules};
use trace_recorder::write::{WriteError, finish_growing};
use trace_recorder::{Bundle, BundleError};
use xxhash_rust::xxh3::xxh3_128;

use crate::causes::with_causes;
use crate::lake::data::day_text;
use crate::sessions::{Candidate, Place};
use crate::store::{Store, StoreError};
use crate::tables::common::day_of;

/// A session without an end counts as finished if nothing was written to it for this long.
pub const DEFAULT_QUIET: Duration = Duration::from_secs(15 * 60);

/// Largest packed session that is pushed, in bytes.
pub const MAX_PUSHED_BYTES: u64 = 2 << 30;

/// Folder of the receipts.
const RECEIPTS: &str = "_push";

/// Longest id of a session in a path. A longer one is cut, and a hash keeps it apart from others.
const MAX_ID_CHARS: usize = 128;

/// What a push does.
#[derive(Debug, Clone)]
pub struct Options {
    /// Team of the sessions, which becomes a folder of their paths.
    pub team: Option<String>,
    /// Rules by which secrets are replaced. `None` if sessions are pushed as they are.
    pub rules: Option<Rules>,
    /// A text for which the rules stand: sessions are pushed again if it changes.
    pub rules_name: String,
    /// Name of the machine, which tells its receipts from those of others.
    pub origin: String,
    /// How long nothing must have been written to a session without an end.
    pub quiet: Duration,
    /// Level of compression.
    pub level: Level,
    /// Number of threads.
    pub jobs: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            team: None,
            rules: None,
            rules_name: String::new(),
            origin: String::new(),
            quiet: DEFAULT_QUIET,
            level: DEFAULT_LEVEL,
            jobs: std::thread::available_parallelism().map_or(1, usize::from),
        }
    }
}

/// What a push did.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Report {
    /// Sessions of the roots.
    pub found: usize,
    /// Sessions that were pushed.
    pub pushed: usize,
    /// Sessions that were there already as they are.
    pub known: usize,
    /// Sessions that are still at work.
    pub unfinished: usize,
    /// Bytes that were uploaded.
    pub bytes: u64,
    /// Secrets that were replaced.
    pub secrets: usize,
    /// Sessions that could not be pushed, with the reason. The next push tries them again.
    pub failed: Vec<(String, String)>,
    /// Whether the push was stopped before it was done.
    pub stopped: bool,
}

/// Why a session was not pushed.
#[derive(Debug, thiserror::Error)]
pub enum PushError {
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The session cannot be opened.
    #[error(transparent)]
    Bundle(#[from] BundleError),
    /// The session of another agent cannot be read.
    #[error(transparent)]
    Import(#[from] trace_import::ImportError),
    /// Secrets cannot be replaced.
    #[error(transparent)]
    Redact(#[from] RedactError),
    /// A part of the session cannot be read, so it is not known whether it has secrets.
    #[error("{count} files of it cannot be read, so secrets in them cannot be replaced")]
    Unreadable {
        /// Number of such files.
        count: usize,
    },
    /// The session cannot be packed.
    #[error(transparent)]
    Pack(#[from] PackError),
    /// The file of a recorder that died cannot be finished.
    #[error(transparent)]
    Finish(#[from] WriteError),
    /// A temporary file failed.
    #[error("a temporary file cannot be used")]
    Temporary(#[source] std::io::Error),
    /// The session is too large.
    #[error("packed, it has {bytes} bytes; at most {MAX_PUSHED_BYTES} are pushed")]
    TooLarge {
        /// Its size in bytes.
        bytes: u64,
    },
}

/// Hears how a push goes on.
pub trait Observer: Sync {
    /// Called once with the number of sessions that are looked at.
    fn planned(&self, _sessions: usize) {}
    /// Called for each session that was looked at.
    fn done(&self) {}
}

impl Observer for () {}

fn hash(parts: &[&str]) -> String {
    format!("{:032x}", xxh3_128(parts.join("\n").as_bytes()))
}

/// Returns the name of the receipt of a session in a state.
fn receipt(candidate: &Candidate, options: &Options) -> (String, String) {
    let session = hash(&[&candidate.address]);
    let state =
        hash(&[&candidate.origin.fingerprint, &options.rules_name, options.team.as_deref().unwrap_or_default()]);
    (format!("{RECEIPTS}/{}/{session}", hash(&[&options.origin])), state)
}

/// Returns whether nobody will write to a session any more, as far as can be told.
fn is_finished(candidate: &Candidate, quiet: Duration, now: SystemTime) -> bool {
    match &candidate.place {
        Place::Bundle(path) => activity(path).is_ok_and(|activity| activity.is_quiet(quiet, now)),
        Place::Imported(_) => {
            let now = now.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |now| now.as_millis());
            let written = candidate.origin.modified_unix_ms.and_then(|at| u128::try_from(at).ok()).unwrap_or(0);
            now.saturating_sub(written) >= quiet.as_millis()
        }
        Place::Remote { .. } => true,
    }
}

/// Pushes the sessions that are finished and not there yet. If `stop` becomes true, those at work are completed.
///
/// # Errors
///
/// Returns an error if the receipts cannot be listed. A session that cannot be pushed is in the report.
pub fn push(
    candidates: &[Candidate],
    store: &Store,
    options: &Options,
    runtime: &Handle,
    stop: &AtomicBool,
    observer: &dyn Observer,
) -> Result<Report, StoreError> {
    let folder = format!("{RECEIPTS}/{}", hash(&[&options.origin]));
    let receipts: HashSet<String> =
        runtime.block_on(store.list(&folder, None))?.into_iter().map(|it| it.path).collect();
    observer.planned(candidates.len());
    let report = Mutex::new(Report { found: candidates.len(), ..Report::default() });
    let now = SystemTime::now();
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some(candidate) = candidates.get(next.fetch_add(1, Ordering::Relaxed)) {
            let (session, state) = receipt(candidate, options);
            let name = format!("{session}-{state}");
            let told = |change: &dyn Fn(&mut Report)| {
                change(&mut report.lock().unwrap_or_else(std::sync::PoisonError::into_inner));
                observer.done();
            };
            if receipts.contains(&name) {
                told(&|report| report.known += 1);
            } else if !is_finished(candidate, options.quiet, now) {
                told(&|report| report.unfinished += 1);
            } else if stop.load(Ordering::Relaxed) {
                told(&|report| report.stopped = true);
            } else {
                let pushed = one(candidate, store, options, runtime).and_then(|(bytes, secrets)| {
                    runtime.block_on(async {
                        store.write(&name, "").await?;
                        let earlier = |it: &&String| it.starts_with(&session) && **it != name;
                        for earlier in receipts.iter().filter(earlier) {
                            store.delete(earlier).await?;
                        }
                        Ok((bytes, secrets))
                    })
                });
                match pushed {
                    Ok((bytes, secrets)) => told(&|report| {
                        report.pushed += 1;
                        report.bytes += bytes;
                        report.secrets += secrets;
                    }),
                    Err(error) => {
                        let failed = (candidate.address.clone(), with_causes(&error));
                        told(&|report| report.failed.push(failed.clone()));
                    }
                }
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..options.jobs.clamp(1, candidates.len().max(1)) {
            scope.spawn(work);
        }
    });
    let mut report = report.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    report.failed.sort();
    Ok(report)
}

/// Packs and uploads one session. Returns its size and the number of secrets that were replaced.
fn one(candidate: &Candidate, store: &Store, options: &Options, runtime: &Handle) -> Result<(u64, usize), PushError> {
    let place = tempfile::tempdir().map_err(PushError::Temporary)?;
    let (mut folder, agent) = match &candidate.place {
        Place::Bundle(path) => (path.clone(), "trace"),
        Place::Imported(session) => {
            let written = place.path().join("imported");
            trace_import::write(&trace_import::open(session)?, &written)?;
            (written, session.format)
        }
        Place::Remote { store, path } => {
            let copy = place.path().join("remote.trace");
            let file = fs::File::create(&copy).map_err(PushError::Temporary)?;
            runtime.block_on(store.download(path, &file))?;
            (copy, "trace")
        }
    };
    // The file of a recorder that died is finished, so that the store has no torn end and no weak compression.
    if is_packed(&folder) && is_growing(&folder).map_err(PushError::Temporary)? {
        let finished = place.path().join("finished.trace");
        finish_growing(&folder, &finished, options.level)?;
        folder = finished;
    }
    let mut secrets = 0;
    if let Some(rules) = &options.rules {
        // Links are refused before anything in the bundle is read.
        redact::refuse_links(&folder)?;
        let copy = place.path().join("redacted");
        let report = redact::redact(&Bundle::open(&folder)?, rules, &copy)?;
        if !report.unreadable.is_empty() {
            return Err(PushError::Unreadable { count: report.unreadable.len() });
        }
        secrets = report.secrets.len();
        folder = copy;
    }
    let path = object_path(&folder, agent, candidate, options);
    let content = if is_packed(&folder) {
        let bytes = fs::metadata(&folder).map_err(PushError::Temporary)?.len();
        if bytes > MAX_PUSHED_BYTES {
            return Err(PushError::TooLarge { bytes });
        }
        fs::read(&folder).map_err(PushError::Temporary)?
    } else {
        let mut content = Vec::new();
        let source = Source::list(&folder)?;
        pack(&source, &mut content, options.level)?;
        // A recorder that takes no lock may have gone on meanwhile.
        source.check_unchanged()?;
        content
    };
    let bytes = content.len() as u64;
    if bytes > MAX_PUSHED_BYTES {
        return Err(PushError::TooLarge { bytes });
    }
    runtime.block_on(store.write(&path, content))?;
    Ok((bytes, secrets))
}

/// Returns the path of a session in the store. It follows from the session and the options.
fn object_path(bundle: &Path, agent: &str, candidate: &Candidate, options: &Options) -> String {
    let opened = Bundle::open(bundle).ok();
    let manifest = opened.as_ref().and_then(|bundle| bundle.manifest().ok());
    let id = match manifest {
        Some(manifest) => manifest.trace_id.clone(),
        // Without a manifest, the place where it lies is what is known of a session.
        None => format!("unnamed-{}", hash(&[&options.origin, &candidate.address])),
    };
    let day = manifest.and_then(|manifest| day_text(day_of(manifest.started_at_unix_ms)?));
    let agent = opened.as_ref().and_then(|it| it.import()).map_or(agent, |record| record.format.as_str());
    let team = options.team.as_ref().map(|team| format!("team={}/", plain(team))).unwrap_or_default();
    let day = day.unwrap_or_else(|| "unknown".to_owned());
    format!("{team}agent={}/day={day}/{}.trace", plain(agent), plain(&id))
}

/// Returns a name without characters that mean something in a path.
fn plain(name: &str) -> String {
    let is_plain = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let kept: String = name.chars().map(|c| if is_plain(&c) { c } else { '_' }).take(MAX_ID_CHARS).collect();
    if kept == name && !kept.starts_with('.') && !kept.is_empty() { kept } else { format!("_{kept}-{}", hash(&[name])) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_in_their_folder() {
        assert_eq!(plain("a-1_b.c"), "a-1_b.c");
        for name in ["", ".", "..", "a/b", "../../etc", "é", &"x".repeat(200)] {
            let plain = plain(name);
            assert!(plain.starts_with('_') && !plain.contains('/') && plain.len() < 200, "{name}: {plain}");
        }
        assert_ne!(plain("a/b"), plain("a:b"));
    }
}
