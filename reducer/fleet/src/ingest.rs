//! Reduces sessions that a lake does not have, and commits their rows.
//!
//! Sources are listed, and what the lake has is left out. Threads reduce what remains, in an order of which the writer
//! takes the results one by one: so memory is bounded by a window of sessions, and the same sessions make the same files.
//! A batch of sessions is one commit. Whoever dies in between has committed whole batches, and the next ingest goes on.
//!
//! The sessions can also be reduced by workers on other machines, which write the files of batches themselves; then only
//! receipts come back here, and are committed.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Condvar, Mutex};

use serde::Serialize;
use tokio::runtime::Handle;

use crate::lake::data::encode_sessions;
use crate::lake::index::{Index, Known, is_in_shard};
use crate::lake::record::{Action, Batch};
use crate::lake::{Appended, Lake, LakeError, MAX_COMMIT_ATTEMPTS, Snapshot};
use crate::sessions::{self, Candidate, FetchError, Given, SourceError};
use crate::tables::SessionRows;
use crate::workers::{Item, Job, MAX_ROUND_BYTES, MAX_ROUND_TASKS, Receipt, Reduced, Task, WorkError, Workers};

/// Sessions of a batch, if nothing else is said.
pub const DEFAULT_BATCH_SESSIONS: usize = 500;

/// Most bytes that the rows of a batch take in memory. A batch ends early if it has more.
pub const MAX_BATCH_BYTES: usize = 256 << 20;

/// Sessions that may be reduced before the writer has taken those before them.
const WINDOW_SESSIONS: usize = 64;

/// Failures to fetch sessions after which an ingest gives up: the store is gone.
pub const MAX_FAILED: usize = 100;

/// What an ingest does.
#[derive(Debug, Clone)]
pub struct Options {
    /// Names that are given for all sessions.
    pub given: Given,
    /// Only sessions that were written at or after this time, in milliseconds since the Unix epoch.
    pub since_unix_ms: Option<i64>,
    /// Own shard, from 0, and number of shards.
    pub shard: Option<(u64, u64)>,
    /// Number of threads that reduce.
    pub jobs: usize,
    /// Sessions of a batch.
    pub batch_sessions: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            given: Given::default(),
            since_unix_ms: None,
            shard: None,
            jobs: std::thread::available_parallelism().map_or(1, usize::from),
            batch_sessions: DEFAULT_BATCH_SESSIONS,
        }
    }
}

/// Hears how an ingest goes on.
pub trait Observer: Sync {
    /// Called once: this many sessions will be reduced.
    fn planned(&self, _plan: &Plan) {}
    /// Called for each session that was reduced.
    fn reduced(&self) {}
    /// Called after each commit with the number of its sessions.
    fn committed(&self, _version: u64, _sessions: usize) {}
}

/// Hears nothing.
impl Observer for () {}

/// The sessions that an ingest would reduce.
#[derive(Debug, Default)]
pub struct Plan {
    /// Sessions of the sources, after `since` and the shard.
    pub listed: usize,
    /// Of these, sessions that the lake has as they are.
    pub known: usize,
    /// Sessions that the lake does not have.
    pub new: usize,
    /// Sessions that changed since the lake got them.
    pub changed: usize,
    /// New and changed ones in the order in which they are reduced.
    pub candidates: Vec<Candidate>,
}

/// What an ingest did.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Report {
    /// Sessions of the sources, after `since` and the shard.
    pub listed: usize,
    /// Sessions that the lake had as they are.
    pub known: usize,
    /// Sessions that were committed.
    pub committed: usize,
    /// Of these, sessions that replaced earlier rows.
    pub replaced: usize,
    /// Of these, sessions that cannot be read; `diagnostics` says why.
    pub unreadable: usize,
    /// Sessions that another ingest committed meanwhile.
    pub raced: usize,
    /// Sessions that could not be fetched. The next ingest tries them again.
    pub failed: Vec<(String, String)>,
    /// Sessions that vanished after they were listed.
    pub vanished: usize,
    /// Commits that were made.
    pub commits: usize,
    /// Version of the lake after the last commit.
    pub version: u64,
    /// Whether the ingest was stopped before it was done.
    pub stopped: bool,
}

/// Why an ingest ended. What was committed before stays.
#[derive(Debug, thiserror::Error)]
pub enum IngestError {
    /// A source cannot be listed.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// The lake failed.
    #[error(transparent)]
    Lake(#[from] LakeError),
    /// Too many sessions could not be fetched.
    #[error("{MAX_FAILED} sessions could not be fetched; the last one, {address}")]
    TooManyFailed {
        /// Address of the last one.
        address: String,
        /// Cause of the error.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// Workers failed.
    #[error(transparent)]
    Work(#[from] WorkError),
}

/// A session that is about to be committed.
struct Pending {
    /// Its place in the plan.
    number: usize,
    is_readable: bool,
}

/// Where the rows of a commit are.
enum Content {
    /// In memory, with the places of their sessions in the plan.
    Rows(Vec<(usize, SessionRows)>),
    /// In files that a worker wrote.
    Files(Batch),
}

/// Sessions that a worker reduces at once, with their places in the plan.
struct Group {
    numbers: Vec<usize>,
    items: Vec<Item>,
}

/// An ingest into a lake.
pub struct Ingest<'l> {
    lake: &'l Lake,
    runtime: Handle,
    options: Options,
    index: Index,
    snapshot: Snapshot,
}

impl<'l> Ingest<'l> {
    /// Looks at what the lake has.
    ///
    /// # Errors
    ///
    /// Returns an error if the lake cannot be read.
    pub fn new(lake: &'l Lake, options: Options, runtime: &Handle) -> Result<Self, LakeError> {
        let snapshot = runtime.block_on(lake.snapshot())?;
        let mut index = Index::of_shard(options.shard);
        runtime.block_on(index.update(lake, &snapshot))?;
        Ok(Self { lake, runtime: runtime.clone(), options, index, snapshot })
    }

    /// Decides which sessions are reduced, and in which order: changed ones by the batch that has them, so that each batch
    /// is written anew once, then new ones by time.
    pub fn plan(&self, found: Vec<Candidate>) -> Plan {
        let mut plan = Plan::default();
        let mut changed: Vec<(String, Candidate)> = Vec::new();
        let mut new = Vec::new();
        for candidate in sessions::unique(found) {
            let is_recent = |since| candidate.origin.modified_unix_ms.is_none_or(|modified| modified >= since);
            if !self.options.since_unix_ms.is_none_or(is_recent) || !is_in_shard(&candidate.address, self.options.shard)
            {
                continue;
            }
            plan.listed += 1;
            match self.index.known(&candidate.address, &candidate.origin.fingerprint) {
                Known::Same => plan.known += 1,
                Known::Changed(batch) => changed.push((batch.to_owned(), candidate)),
                Known::No => new.push(candidate),
            }
        }
        (plan.new, plan.changed) = (new.len(), changed.len());
        changed.sort_by(|one, other| (&one.0, &one.1.address).cmp(&(&other.0, &other.1.address)));
        new.sort_by(|one, other| {
            let key = |it: &Candidate| it.origin.modified_unix_ms;
            key(one).cmp(&key(other)).then_with(|| one.address.cmp(&other.address))
        });
        plan.candidates = changed.into_iter().map(|(_, candidate)| candidate).chain(new).collect();
        plan
    }

    /// Reduces the sessions of a plan and commits their rows. If `stop` becomes true, what was reduced in order so far is
    /// committed, and the report says that there is more.
    ///
    /// # Errors
    ///
    /// Returns an error if the lake cannot be written, or the sources are gone. What was committed before stays.
    pub fn run(&mut self, plan: Plan, stop: &AtomicBool, observer: &dyn Observer) -> Result<Report, IngestError> {
        let mut report = self.begin(&plan, observer)?;
        let candidates = plan.candidates;
        let taken = Taken::default();
        let next = AtomicUsize::new(0);
        let given = self.options.given.clone();
        let runtime = self.runtime.clone();
        let jobs = self.options.jobs.clamp(1, candidates.len().max(1));
        let result = std::thread::scope(|scope| {
            let (send, receive) = sync_channel(WINDOW_SESSIONS);
            for _ in 0..jobs {
                let send = send.clone();
                let (candidates, next, taken, given, runtime) = (&candidates, &next, &taken, &given, &runtime);
                scope.spawn(move || {
                    loop {
                        let number = next.fetch_add(1, Ordering::Relaxed);
                        let Some(candidate) = candidates.get(number) else { return };
                        if !taken.wait_for(number, stop) {
                            return;
                        }
                        let rows = sessions::rows(candidate, given, runtime);
                        observer.reduced();
                        if send.send((number, rows)).is_err() {
                            return;
                        }
                    }
                });
            }
            drop(send);
            let result = self.write(&candidates, &receive, &taken, observer, &mut report);
            // Threads that wait for a place, or to send, end.
            taken.close();
            drop(receive);
            result
        });
        result?;
        report.stopped = stop.load(Ordering::Relaxed) && report.committed + report.raced < candidates.len();
        report.version = self.snapshot.version;
        Ok(report)
    }

    fn begin(&self, plan: &Plan, observer: &dyn Observer) -> Result<Report, IngestError> {
        observer.planned(plan);
        // A writer that died may have left the Delta tables behind.
        self.runtime.block_on(self.lake.project(&self.snapshot))?;
        Ok(Report { listed: plan.listed, known: plan.known, version: self.snapshot.version, ..Report::default() })
    }

    /// Lets workers reduce the sessions of a plan, and commits their receipts, a batch after the other. The files are those of
    /// [`Ingest::run`] if no session fails. If `stop` becomes true, the report says that there is more.
    ///
    /// # Errors
    ///
    /// Returns an error if the lake cannot be written, or the workers fail. What was committed before stays.
    pub fn run_on(
        &mut self,
        workers: &dyn Workers,
        plan: Plan,
        stop: &AtomicBool,
        observer: &dyn Observer,
    ) -> Result<Report, IngestError> {
        let mut report = self.begin(&plan, observer)?;
        let candidates = plan.candidates;
        let lake = self.lake.store().url().to_string();
        for round in self.rounds(&candidates, &mut report) {
            let task = |group: &Group| {
                let job = Job::Reduce { sessions: group.items.clone(), given: self.options.given.clone() };
                Task::new(&lake, job)
            };
            let receipts = match self.runtime.block_on(workers.work(round.iter().map(task).collect(), stop)) {
                Err(WorkError::Stopped) => break,
                other => other?,
            };
            for (group, receipt) in round.iter().zip(receipts) {
                self.take(&candidates, group, receipt, observer, &mut report)?;
            }
        }
        report.stopped = stop.load(Ordering::Relaxed) && report.committed + report.raced < candidates.len();
        report.version = self.snapshot.version;
        Ok(report)
    }

    /// Cuts a plan into groups of the size of a batch, and these into rounds.
    fn rounds(&self, candidates: &[Candidate], report: &mut Report) -> Vec<Vec<Group>> {
        let mut rounds: Vec<Vec<Group>> = Vec::new();
        let mut bytes = 0;
        let numbered: Vec<(usize, &Candidate)> = candidates.iter().enumerate().collect();
        for part in numbered.chunks(self.options.batch_sessions.max(1)) {
            let mut group = Group { numbers: Vec::new(), items: Vec::new() };
            for (number, candidate) in part {
                match Item::of(candidate) {
                    Some(item) => {
                        group.numbers.push(*number);
                        group.items.push(item);
                    }
                    None => report.failed.push((candidate.address.clone(), "its path is no text".to_owned())),
                }
            }
            let of_group: usize = group.items.iter().map(Item::bytes).sum();
            bytes += of_group;
            match rounds.last_mut() {
                Some(round) if round.len() < MAX_ROUND_TASKS && bytes <= MAX_ROUND_BYTES => round.push(group),
                _ => {
                    bytes = of_group;
                    rounds.push(vec![group]);
                }
            }
        }
        rounds
    }

    /// Commits what a receipt has.
    fn take(
        &mut self,
        candidates: &[Candidate],
        group: &Group,
        receipt: Receipt,
        observer: &dyn Observer,
        report: &mut Report,
    ) -> Result<(), IngestError> {
        report.vanished += receipt.vanished;
        report.failed.extend(receipt.failed);
        if report.failed.len() >= MAX_FAILED {
            let (address, reason) = report.failed.last().cloned().unwrap_or_default();
            return Err(IngestError::TooManyFailed { address, source: reason.into() });
        }
        for _ in &group.items {
            observer.reduced();
        }
        for written in receipt.batches {
            let pending =
                |it: &Reduced| Some(Pending { number: *group.numbers.get(it.number)?, is_readable: it.is_readable });
            let sessions: Option<Vec<Pending>> = written.sessions.iter().map(pending).collect();
            let sessions = sessions.filter(|sessions| sessions.len() as u64 == written.batch.sessions);
            let Some(sessions) = sessions else {
                let message = format!("the receipt of batch {} is not that of its task", written.batch.id);
                return Err(WorkError::Failed { message }.into());
            };
            self.commit(candidates, sessions, &Content::Files(written.batch), observer, report)?;
        }
        Ok(())
    }

    /// Takes results in order and commits a batch whenever it is full.
    fn write(
        &mut self,
        candidates: &[Candidate],
        results: &Receiver<(usize, Result<SessionRows, FetchError>)>,
        taken: &Taken,
        observer: &dyn Observer,
        report: &mut Report,
    ) -> Result<(), IngestError> {
        let mut early: BTreeMap<usize, Result<SessionRows, FetchError>> = BTreeMap::new();
        let mut pending: Vec<(usize, SessionRows)> = Vec::new();
        let (mut expected, mut bytes) = (0, 0);
        for (number, result) in results {
            early.insert(number, result);
            while let Some(result) = early.remove(&expected) {
                let number = expected;
                expected += 1;
                taken.set(expected);
                match result {
                    Ok(rows) => {
                        bytes += rows.bytes();
                        pending.push((number, rows));
                    }
                    Err(FetchError::Vanished) => report.vanished += 1,
                    Err(error) => {
                        let address = candidates[number].address.clone();
                        report.failed.push((address.clone(), error.to_string()));
                        if report.failed.len() >= MAX_FAILED {
                            return Err(IngestError::TooManyFailed { address, source: Box::new(error) });
                        }
                    }
                }
                if pending.len() >= self.options.batch_sessions.max(1) || bytes >= MAX_BATCH_BYTES {
                    self.commit_rows(candidates, std::mem::take(&mut pending), observer, report)?;
                    bytes = 0;
                }
            }
        }
        if !pending.is_empty() {
            self.commit_rows(candidates, pending, observer, report)?;
        }
        Ok(())
    }

    fn commit_rows(
        &mut self,
        candidates: &[Candidate],
        rows: Vec<(usize, SessionRows)>,
        observer: &dyn Observer,
        report: &mut Report,
    ) -> Result<(), IngestError> {
        let pending =
            |(number, rows): &(usize, SessionRows)| Pending { number: *number, is_readable: rows.is_readable };
        let sessions = rows.iter().map(pending).collect();
        self.commit(candidates, sessions, &Content::Rows(rows), observer, report)
    }

    /// Writes the files of sessions, unless a worker wrote files that have these sessions and no others.
    fn batch_of(
        &self,
        candidates: &[Candidate],
        sessions: &[Pending],
        content: &Content,
    ) -> Result<Option<Batch>, LakeError> {
        let encoded = match content {
            Content::Files(batch) if batch.sessions == sessions.len() as u64 => {
                // The round may have taken longer than a vacuum spares files that no commit names.
                self.runtime.block_on(self.lake.check_written(batch))?;
                return Ok(Some(batch.clone()));
            }
            Content::Files(batch) => {
                let kept: BTreeSet<&str> = sessions.iter().map(|it| candidates[it.number].address.as_str()).collect();
                let is_kept = |address: &str| kept.contains(address);
                self.runtime.block_on(self.lake.merge(std::slice::from_ref(batch), &is_kept))?
            }
            Content::Rows(rows) => {
                let kept: BTreeSet<usize> = sessions.iter().map(|it| it.number).collect();
                let rows: Vec<SessionRows> =
                    rows.iter().filter(|(number, _)| kept.contains(number)).map(|(_, rows)| rows.clone()).collect();
                encode_sessions(&rows)?
            }
        };
        if let Some(encoded) = &encoded {
            self.runtime.block_on(self.lake.write_files(encoded))?;
        }
        Ok(encoded.map(|encoded| encoded.batch))
    }

    /// Commits a batch. If another writer commits meanwhile, what it committed is looked at first.
    fn commit(
        &mut self,
        candidates: &[Candidate],
        mut sessions: Vec<Pending>,
        content: &Content,
        observer: &dyn Observer,
        report: &mut Report,
    ) -> Result<(), IngestError> {
        let runtime = self.runtime.clone();
        let mut batch: Option<Batch> = None;
        for _ in 0..MAX_COMMIT_ATTEMPTS {
            runtime.block_on(self.index.update(self.lake, &self.snapshot))?;
            let mut replaced: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
            let before = sessions.len();
            let known = |it: &Pending| {
                let candidate = &candidates[it.number];
                self.index.known(&candidate.address, &candidate.origin.fingerprint)
            };
            sessions.retain(|it| known(it) != Known::Same);
            if sessions.len() < before {
                report.raced += before - sessions.len();
                batch = None;
            }
            for it in &sessions {
                if let Known::Changed(batch) = known(it) {
                    replaced.entry(batch.to_owned()).or_default().insert(&candidates[it.number].address);
                }
            }
            if batch.is_none() {
                batch = self.batch_of(candidates, &sessions, content)?;
            }
            let Some(new) = &batch else { return Ok(()) };
            let mut add = vec![new.clone()];
            let mut remove: Vec<Batch> = Vec::new();
            for (id, addresses) in &replaced {
                let Some(batch) = self.snapshot.batches.get(id) else { continue };
                let is_kept = |address: &str| !addresses.contains(address);
                let rest = runtime.block_on(self.lake.merge(std::slice::from_ref(batch), &is_kept))?;
                remove.push(batch.clone());
                if let Some(rest) = rest {
                    runtime.block_on(self.lake.write_files(&rest))?;
                    add.push(rest.batch);
                }
            }
            let appended = runtime.block_on(self.lake.append(&self.snapshot, Action::Ingest, add, remove))?;
            match appended {
                Appended::Done(snapshot) => {
                    self.snapshot = snapshot;
                    runtime.block_on(self.lake.project(&self.snapshot))?;
                    report.commits += 1;
                    report.committed += sessions.len();
                    report.replaced += replaced.values().map(BTreeSet::len).sum::<usize>();
                    report.unreadable += sessions.iter().filter(|it| !it.is_readable).count();
                    observer.committed(self.snapshot.version, sessions.len());
                    return Ok(());
                }
                Appended::Behind => {
                    self.snapshot = runtime.block_on(self.lake.newer(self.snapshot.clone()))?;
                }
            }
        }
        Err(LakeError::Busy.into())
    }
}

/// How many results the writer has taken, for threads that must not run too far ahead.
#[derive(Default)]
struct Taken {
    count: Mutex<Option<usize>>,
    grew: Condvar,
}

impl Taken {
    /// Waits until a session is within the window. Returns whether it is to be reduced.
    fn wait_for(&self, number: usize, stop: &AtomicBool) -> bool {
        let mut count = self.count.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        loop {
            let taken = match *count {
                // No one takes any more.
                Some(usize::MAX) => return false,
                Some(taken) => taken,
                None => 0,
            };
            if stop.load(Ordering::Relaxed) {
                return false;
            }
            if number < taken.saturating_add(WINDOW_SESSIONS) {
                return true;
            }
            count = self.grew.wait(count).unwrap_or_else(std::sync::PoisonError::into_inner);
        }
    }

    fn set(&self, taken: usize) {
        *self.count.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(taken);
        self.grew.notify_all();
    }

    fn close(&self) {
        self.set(usize::MAX);
    }
}
