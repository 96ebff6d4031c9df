//! First half of a reduction: each payload that matters is read and normalized on its own, in parallel.
//!
//! The events alone determine which payloads matter and how each is read. Ingest returns one result per event, in the
//! order of the events, so that the second half, `replay`, never reads a file.

mod json;
mod limits;
mod normalize;
mod payload;
mod plain;
mod prefix;
mod problem;
mod request;
pub(crate) mod shapes;

use std::sync::{Arc, Mutex, PoisonError};

use foldhash::fast::FixedState;
use hashbrown::{HashMap, HashSet};
use rayon::prelude::*;
use trace_recorder::format::{Event, EventPayload, PayloadRef, ToolKind};
use trace_recorder::payloads::{PayloadError, PayloadFiles};
use trace_recorder::write::{GAP_EVENT, Gap};

pub use limits::{MAX_DEPTH, MAX_ITEMS, MAX_VALUES};
pub(crate) use normalize::key_with_parts;
pub use normalize::{ItemProblem, Normalized};
pub(crate) use payload::{Checkpoint, Response};
pub use problem::PayloadProblem;
pub(crate) use request::{RequestDelta, RunItem, Slot};

use crate::model::SchemaVersion;
use request::{KeptRequest, RequestReader};
use shapes::{AgentReport, Invocation, RuntimeEnd, RuntimeStart, SessionConfiguration, ThreadMetadata};

/// Fewest payloads for which reading in parallel pays.
const PARALLEL_PAYLOADS: usize = 96;

/// Most requests in one run. A run reads its predecessor a second time, so it must be long enough to make that cost
/// small, and short enough to keep all cores busy until the end.
const RUN_REQUESTS: usize = 48;

/// Most requests in one run of a bundle whose files share bytes: its requests cost no more the longer their history is, but each run
/// reads a whole one first.
const SHARED_RUN_REQUESTS: usize = 1 << 14;

/// Number of payloads, other than requests, in one unit of parallel work.
const PIECE_PAYLOADS: usize = 64;

/// Most requests that are kept in memory from one batch to the next. A live session feeds one event per batch, so each
/// running thread needs its last request.
const KEPT_REQUESTS: usize = 4;

/// Most requests that are kept of a bundle whose files share bytes. Of most of them only the end is kept, and reading one again means to
/// read its history.
const KEPT_SHARED_REQUESTS: usize = 256;

/// Size in bytes of the largest request that is kept. A larger one is read again.
const KEPT_REQUEST_BYTES: usize = 8 << 20;

/// Most bytes of all requests that are kept.
const KEPT_BYTES: usize = KEPT_REQUESTS * KEPT_REQUEST_BYTES;

/// Result of reading the payload that an event names.
#[derive(Debug)]
pub(crate) enum Ingested {
    /// The event names no payload, or its payload only has to exist.
    Nothing,
    /// The payload cannot be used as the event requires.
    Failed(Failure),
    /// A request, as its difference from the request before in the same thread.
    Request(Request),
    /// A response.
    Response(Response),
    /// The histories around a compaction.
    Checkpoint(Box<Checkpoint>),
    /// An item that was accepted into a history. `None` if the item has no place in a conversation.
    Item(Option<Box<Normalized>>),
    /// The metadata of a thread.
    Metadata(Box<ThreadMetadata>),
    /// The configuration of a session.
    Configuration(SessionConfiguration),
    /// What the recorder could not record. `None` if the payload does not say it.
    Gap(Option<Gap>),
    /// The invocation of a tool.
    Invocation(Invocation),
    /// The report of a tool's runtime when it starts.
    RuntimeStart(RuntimeStart),
    /// The report of a tool's runtime when it ends, or the result of a tool call.
    RuntimeEnd(Box<RuntimeEnd>),
}

/// Why a payload cannot be used.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) problem: PayloadProblem,
    /// Whether the file is missing or is not a JSON document. That is reported even if no rule needs the payload.
    pub(crate) is_broken: bool,
}

/// A request, and the run that it was read in.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) delta: RequestDelta,
    /// Index into [`Batch::runs`], where the items of [`Slot::Normalized`] are.
    pub(crate) run: u32,
}

/// Results of ingest for a batch of events.
#[derive(Debug)]
pub(crate) struct Batch {
    /// A result for each event, in the order of the events.
    pub(crate) payloads: Vec<Ingested>,
    /// Normalized items of each run.
    pub(crate) runs: Vec<Vec<Normalized>>,
    /// Invocation payloads whose id an event gave another file: the index of the event, and the content of the new
    /// file.
    pub(crate) repointed: Vec<(usize, Ingested)>,
}

/// Which payloads of a tool call are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ToolUse {
    /// Only reports about other agents.
    Plain,
    /// Those of a write to a terminal; the result of the tool may end the operation.
    Stdin,
    /// Those of a terminal, or of work with another agent.
    Watched,
}

/// Reads the payloads of a log, batch after batch.
///
/// Between batches it remembers what determines how payloads of later events are read: the kinds of tools, and the last
/// request of each thread, because the next request is compared with it.
#[derive(Debug, Clone)]
pub(crate) struct Ingest {
    schema: SchemaVersion,
    verify: bool,
    tools: HashMap<Box<str>, ToolUse, FixedState>,
    /// Path of each invocation payload, by payload id.
    invocations: HashMap<Box<str>, Box<str>, FixedState>,
    last_requests: HashMap<Box<str>, Box<str>, FixedState>,
    /// Paths and requests of the last batches, newest last.
    kept: Vec<(Box<str>, Arc<KeptRequest>)>,
}

enum Job<'e> {
    Run {
        first_predecessor: Option<Predecessor>,
        /// The first predecessor, if an earlier batch kept it.
        kept: Mutex<Option<Arc<KeptRequest>>>,
        requests: Vec<RequestJob<'e>>,
    },
    Piece(Vec<(usize, &'e PayloadRef<'e>, Use)>),
}

/// The request before the first request of a run.
#[derive(Debug, Clone)]
struct Predecessor {
    path: Box<str>,
    /// Index of its event; `None` if the event is in an earlier batch.
    event: Option<usize>,
}

/// Index of an event that names a request, and the payload reference.
type PlannedRequest<'e> = (usize, &'e PayloadRef<'e>);

struct RequestJob<'e> {
    event: usize,
    reference: &'e PayloadRef<'e>,
    /// Whether the request before it in the run belongs to the same thread.
    follows: bool,
}

/// How a payload is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Use {
    Response,
    Checkpoint,
    Item,
    Metadata,
    Invocation,
    /// An event gave the payload id of an invocation this file.
    Repointed,
    RuntimeStart,
    RuntimeEnd,
    /// The end of a tool's runtime, if it reports about another agent.
    Activity,
    /// The configuration of a session; an unreadable file is no problem.
    Configuration,
    /// What the recorder could not record; an unreadable file is no problem.
    Gap,
    /// Not parsed, but the file must be a JSON document.
    Present,
}

impl Ingest {
    pub(crate) fn new(schema: SchemaVersion, verify: bool) -> Self {
        Self {
            schema,
            verify,
            tools: HashMap::default(),
            invocations: HashMap::default(),
            last_requests: HashMap::default(),
            kept: Vec::new(),
        }
    }

    /// Reads the payloads of a batch of events. The batch must follow the last batch.
    pub(crate) fn read(&mut self, events: &[Event<'_>], files: &PayloadFiles) -> Batch {
        let run_requests = if files.share_bytes() { SHARED_RUN_REQUESTS } else { RUN_REQUESTS };
        let jobs = self.plan(events, run_requests);
        let payload_count: usize = jobs
            .iter()
            .map(|job| match job {
                Job::Run { requests, .. } => requests.len(),
                Job::Piece(payloads) => payloads.len(),
            })
            .sum();
        let work = |job: &Job<'_>| self.work(job, files);
        let mut done: Vec<Done> = if payload_count < PARALLEL_PAYLOADS {
            jobs.iter().map(work).collect()
        } else {
            jobs.par_iter().with_max_len(1).map(work).collect()
        };
        self.read_again_after_damage(events, jobs, &mut done, files);
        let max_kept = if files.share_bytes() { KEPT_SHARED_REQUESTS } else { KEPT_REQUESTS };
        self.keep(&mut done, max_kept);
        let mut payloads: Vec<Ingested> = Vec::new();
        payloads.resize_with(events.len(), || Ingested::Nothing);
        let mut runs = Vec::new();
        let mut repointed = Vec::new();
        for done in done {
            match done {
                Done::Run { deltas, normalized, .. } => {
                    let run = runs.len() as u32;
                    runs.push(normalized);
                    for (event, delta) in deltas {
                        payloads[event] = match delta {
                            Ok(delta) => Ingested::Request(Request { delta, run }),
                            Err(problem) => Ingested::Failed(Failure { problem, is_broken: true }),
                        };
                    }
                }
                Done::Piece(ingested) => {
                    for (event, usage, ingested) in ingested {
                        if usage == Use::Repointed {
                            repointed.push((event, ingested));
                        } else {
                            payloads[event] = ingested;
                        }
                    }
                }
            }
        }
        Batch { payloads, runs, repointed }
    }

    /// Keeps the last request of each run if there are few runs, because the next batch probably continues with them.
    fn keep(&mut self, done: &mut [Done], max_requests: usize) {
        let last = |done: &mut Done| match done {
            Done::Run { last, .. } => last.take(),
            Done::Piece(_) => None,
        };
        let last: Vec<_> = done.iter_mut().filter_map(last).collect();
        if last.len() > max_requests {
            return;
        }
        for (path, request) in last.into_iter().filter(|(_, request)| request.bytes() <= KEPT_REQUEST_BYTES) {
            self.kept.retain(|(known, _)| *known != path);
            self.kept.push((path, Arc::new(request)));
        }
        let mut bytes = 0;
        let newest = self.kept.iter().rev().take(max_requests);
        let kept = newest.take_while(|(_, request)| {
            bytes += request.bytes();
            bytes <= KEPT_BYTES
        });
        let surplus = self.kept.len() - kept.count();
        self.kept.drain(..surplus);
    }

    /// Reads those runs again whose first request follows a damaged request. Only the run that read a damaged request
    /// knows which of its items were recovered, so another run cannot express a request as an addition to it.
    fn read_again_after_damage(
        &mut self,
        events: &[Event<'_>],
        jobs: Vec<Job<'_>>,
        done: &mut [Done],
        files: &PayloadFiles,
    ) {
        let mut damaged: HashSet<usize, FixedState> = done.iter().flat_map(Done::damaged_requests).collect();
        if damaged.is_empty() {
            return;
        }
        for (job, done) in jobs.into_iter().zip(done) {
            let Job::Run { first_predecessor: Some(Predecessor { event: Some(event), .. }), mut requests, .. } = job
            else {
                continue;
            };
            if damaged.contains(&event) {
                requests[0].follows = false;
                *done = self.work(&Job::Run { first_predecessor: None, kept: Mutex::default(), requests }, files);
                // The run may have relied on the damaged request and be damaged too. Then the run after it must be read
                // again.
                damaged.extend(done.damaged_requests());
            }
        }
        for event in damaged {
            if let EventPayload::InferenceStarted(started) = &events[event].payload
                && self
                    .last_requests
                    .get(started.thread_id.as_str())
                    .is_some_and(|last| **last == *started.request_payload.path)
            {
                self.last_requests.remove(started.thread_id.as_str());
            }
        }
    }

    fn plan<'e>(&mut self, events: &'e [Event<'e>], run_requests: usize) -> Vec<Job<'e>> {
        let mut requests: Vec<(&'e str, Vec<PlannedRequest<'e>>)> = Vec::new();
        let mut threads: HashMap<&str, usize, FixedState> = HashMap::default();
        let mut others = Vec::new();
        for (event, at) in events.iter().zip(0..) {
            for reference in event.payload.payload_refs() {
                if self.is_repointed(&event.payload, reference) {
                    others.push((at, reference, Use::Repointed));
                }
            }
            if let EventPayload::InferenceStarted(started) = &event.payload {
                let thread = started.thread_id.as_str();
                let group = *threads.entry(thread).or_insert_with(|| {
                    requests.push((thread, Vec::new()));
                    requests.len() - 1
                });
                requests[group].1.push((at, &started.request_payload));
                continue;
            }
            let usage = self.usage(&event.payload);
            if let Some(reference) = event.payload.payload_refs().first() {
                // In schema 1, payloads that no rule needs are not opened.
                let is_needed = !matches!(usage, Use::Present | Use::Configuration | Use::Gap);
                if is_needed || self.schema >= SchemaVersion::V2 {
                    others.push((at, reference, usage));
                }
            }
        }
        let mut jobs = self.plan_runs(requests, run_requests);
        let mut others = others.into_iter().peekable();
        while others.peek().is_some() {
            jobs.push(Job::Piece(others.by_ref().take(PIECE_PAYLOADS).collect()));
        }
        jobs
    }

    /// Divides the requests, ordered by thread, into runs of at most `run_requests`.
    fn plan_runs<'e>(&mut self, threads: Vec<(&'e str, Vec<PlannedRequest<'e>>)>, run_requests: usize) -> Vec<Job<'e>> {
        let mut jobs = Vec::new();
        let mut run: Vec<RequestJob<'e>> = Vec::new();
        let mut first_predecessor: Option<Predecessor> = None;
        for (thread, requests) in threads {
            let last = self.last_requests.get(thread).cloned();
            let mut predecessor = last.map(|path| Predecessor { path, event: None });
            for (index, (event, reference)) in requests.into_iter().enumerate() {
                // A predecessor from an earlier batch is not in `requests`, so a new run must start after it.
                let resumes = index == 0 && predecessor.is_some();
                // Runs of several threads only pay if they are short.
                let is_next_thread = index == 0 && run.len() >= RUN_REQUESTS;
                if run.len() >= run_requests || is_next_thread || (resumes && !run.is_empty()) {
                    let requests = std::mem::take(&mut run);
                    jobs.push(self.run(first_predecessor.take(), requests));
                }
                let follows = predecessor.is_some();
                if run.is_empty() {
                    first_predecessor = predecessor;
                }
                run.push(RequestJob { event, reference, follows });
                predecessor = Some(Predecessor { path: reference.path.as_str().into(), event: Some(event) });
            }
            if let Some(last) = predecessor {
                self.last_requests.insert(thread.into(), last.path);
            }
        }
        if !run.is_empty() {
            jobs.push(self.run(first_predecessor, run));
        }
        jobs
    }

    /// Plans a run. Its first predecessor is not needed again.
    fn run<'e>(&mut self, first_predecessor: Option<Predecessor>, requests: Vec<RequestJob<'e>>) -> Job<'e> {
        let place =
            first_predecessor.as_ref().and_then(|before| self.kept.iter().position(|(path, _)| *path == before.path));
        let kept = Mutex::new(place.map(|place| self.kept.remove(place).1));
        Job::Run { first_predecessor, kept, requests }
    }

    /// Returns whether a reference gives the payload id of a tool's invocation another file.
    fn is_repointed(&mut self, payload: &EventPayload<'_>, reference: &PayloadRef<'_>) -> bool {
        let id = reference.raw_payload_id.as_str();
        match self.invocations.get_mut(id) {
            Some(path) if **path == *reference.path => false,
            Some(path) => {
                *path = reference.path.as_str().into();
                true
            }
            None => {
                if matches!(payload, EventPayload::ToolCallStarted(_)) {
                    self.invocations.insert(id.into(), reference.path.as_str().into());
                }
                false
            }
        }
    }

    /// Returns how the payload of an event is read.
    fn usage(&mut self, payload: &EventPayload<'_>) -> Use {
        match payload {
            EventPayload::ThreadStarted(_) => Use::Metadata,
            EventPayload::ProtocolEventObserved(event) if event.event_type == "session_configured" => {
                Use::Configuration
            }
            EventPayload::ProtocolEventObserved(event) if event.event_type == GAP_EVENT => Use::Gap,
            EventPayload::HistoryItemAccepted(_) => Use::Item,
            EventPayload::InferenceCompleted(_)
            | EventPayload::InferenceFailed(_)
            | EventPayload::InferenceCancelled(_) => Use::Response,
            EventPayload::CompactionInstalled(_) => Use::Checkpoint,
            EventPayload::ToolCallStarted(started) => {
                self.remember(&started.tool_call_id, &started.kind);
                Use::Invocation
            }
            EventPayload::ToolCallRuntimeStarted(started) => {
                if let Some(kind) = started.kind.as_ref().filter(|_| self.schema >= SchemaVersion::V2) {
                    self.remember(&started.tool_call_id, &kind.0);
                }
                self.tool_use(&started.tool_call_id, Use::RuntimeStart, Use::Present)
            }
            EventPayload::ToolCallRuntimeEnded(ended) => {
                self.tool_use(&ended.tool_call_id, Use::RuntimeEnd, Use::Activity)
            }
            EventPayload::ToolCallEnded(ended) => match self.tools.get(ended.tool_call_id.as_str()) {
                Some(ToolUse::Stdin) => Use::RuntimeEnd,
                _ => Use::Present,
            },
            _ => Use::Present,
        }
    }

    fn remember(&mut self, tool: &str, kind: &ToolKind<'_>) {
        let known = self.tools.get(tool).copied();
        let usage = match kind {
            // The invocation has made an operation, which the result ends even if a later event changes the kind.
            _ if known == Some(ToolUse::Stdin) => ToolUse::Stdin,
            ToolKind::WriteStdin => ToolUse::Stdin,
            ToolKind::ExecCommand
            | ToolKind::SpawnAgent
            | ToolKind::AssignAgentTask
            | ToolKind::SendMessage
            | ToolKind::CloseAgent => ToolUse::Watched,
            // The operation exists already, so the end of its runtime must be read.
            _ if known == Some(ToolUse::Watched) => ToolUse::Watched,
            _ => ToolUse::Plain,
        };
        if known != Some(usage) {
            self.tools.insert(tool.into(), usage);
        }
    }

    fn tool_use(&self, tool: &str, watched: Use, plain: Use) -> Use {
        match self.tools.get(tool) {
            None | Some(ToolUse::Plain) => plain,
            Some(ToolUse::Stdin | ToolUse::Watched) => watched,
        }
    }

    fn work(&self, job: &Job<'_>, files: &PayloadFiles) -> Done {
        let mut buffer = Vec::new();
        match job {
            Job::Run { first_predecessor, kept, requests } => {
                let mut reader = RequestReader::new(self.schema, self.verify);
                if let Some(predecessor) = first_predecessor {
                    let mut text = Vec::new();
                    if let Some(kept) = kept.lock().unwrap_or_else(PoisonError::into_inner).take() {
                        // A snapshot of the reduction may have it too.
                        reader.begin_after_kept(Arc::unwrap_or_clone(kept));
                    } else if files.read(&predecessor.path, &mut text).is_ok() {
                        reader.begin_after(text);
                    }
                }
                let mut deltas = Vec::with_capacity(requests.len());
                let mut before = first_predecessor.as_ref().map(|predecessor| &*predecessor.path);
                for request in requests {
                    let known_before = before.replace(&request.reference.path).filter(|_| request.follows);
                    let read = read_request(&mut reader, files, known_before, request, &mut buffer);
                    let delta = match read {
                        Ok(delta) => Ok(delta),
                        Err(error) => {
                            // Forget the predecessor: the next request must not be compared with a request that is not
                            // directly before it.
                            reader.begin_after(Vec::new());
                            Err(error.into())
                        }
                    };
                    deltas.push((request.event, delta));
                }
                let (normalized, last) = reader.finish();
                let path = requests.last().map(|request| request.reference.path.as_str().into());
                Done::Run { deltas, normalized, last: path.zip(last) }
            }
            Job::Piece(payloads) => Done::Piece(
                payloads
                    .iter()
                    .map(|(event, reference, usage)| {
                        if *usage == Use::Present && files.is_document(&reference.path) {
                            return (*event, *usage, Ingested::Nothing);
                        }
                        let ingested = match files.read(&reference.path, &mut buffer) {
                            Err(error) => Ingested::Failed(Failure { problem: error.into(), is_broken: true }),
                            Ok(()) => self.interpret(&buffer, *usage).unwrap_or_else(|problem| {
                                Ingested::Failed(Failure { problem, is_broken: json::scan(&buffer).is_err() })
                            }),
                        };
                        (*event, *usage, ingested)
                    })
                    .collect(),
            ),
        }
    }

    fn interpret(&self, text: &[u8], usage: Use) -> Result<Ingested, PayloadProblem> {
        Ok(match usage {
            Use::Response => Ingested::Response(payload::read_response(text, self.schema)?),
            Use::Checkpoint => Ingested::Checkpoint(Box::new(payload::read_checkpoint(text, self.schema)?)),
            Use::Item => Ingested::Item(normalize::normalize(&json::parse(text)?, self.schema).map(Box::new)),
            Use::Metadata => Ingested::Metadata(Box::new(ThreadMetadata::read(text)?)),
            Use::Invocation | Use::Repointed => {
                Ingested::Invocation(Invocation::read(text, self.schema < SchemaVersion::V2)?)
            }
            Use::RuntimeStart => Ingested::RuntimeStart(RuntimeStart::read(text)?),
            Use::RuntimeEnd => Ingested::RuntimeEnd(Box::new(RuntimeEnd::read(text)?)),
            Use::Activity => match RuntimeEnd::read(text)? {
                end @ RuntimeEnd { agent: AgentReport::Activity(_), .. } => Ingested::RuntimeEnd(Box::new(end)),
                _ => Ingested::Nothing,
            },
            Use::Configuration => match SessionConfiguration::read(text) {
                Ok(configuration) => Ingested::Configuration(configuration),
                Err(_) => present(text)?,
            },
            Use::Gap => match json::parse(text) {
                Ok(value) => Ingested::Gap(serde_json::from_value(value).ok()),
                Err(_) => present(text)?,
            },
            Use::Present => present(text)?,
        })
    }
}

/// Checks that a payload whose content is not read is a JSON document.
fn present(text: &[u8]) -> Result<Ingested, PayloadProblem> {
    json::scan(text).map(|()| Ingested::Nothing)
}

/// Reads a request. `before` is the path of the request before it, if that is one of the same thread.
fn read_request(
    reader: &mut RequestReader,
    files: &PayloadFiles,
    before: Option<&str>,
    request: &RequestJob<'_>,
    buffer: &mut Vec<u8>,
) -> Result<RequestDelta, PayloadError> {
    let path = &request.reference.path;
    if let Some(before) = before
        && let Some(start) = reader.start_behind(files.known_prefix(before, path))
    {
        if start < reader.offset() {
            hold_from(reader, files, before, start)?;
        }
        files.read_from(path, start, buffer)?;
        if let Some(delta) = reader.read_behind(start, buffer) {
            return Ok(delta);
        }
        hold_from(reader, files, before, 0)?;
    }
    files.read(path, buffer)?;
    Ok(reader.read(buffer, request.follows))
}

/// Reads more of the request before again, which is compared with the next one.
fn hold_from(reader: &mut RequestReader, files: &PayloadFiles, before: &str, start: usize) -> Result<(), PayloadError> {
    let mut text = Vec::new();
    files.read_from(before, start, &mut text)?;
    reader.hold(text, start);
    Ok(())
}

enum Done {
    Run {
        deltas: Vec<(usize, Result<RequestDelta, PayloadProblem>)>,
        normalized: Vec<Normalized>,
        /// The last request and its path; `None` if a later request cannot be compared with it.
        last: Option<(Box<str>, KeptRequest)>,
    },
    Piece(Vec<(usize, Use, Ingested)>),
}

impl Done {
    /// Returns the indexes of the events whose requests cannot be read to their end.
    fn damaged_requests(&self) -> impl Iterator<Item = usize> {
        let deltas = match self {
            Self::Run { deltas, .. } => deltas.as_slice(),
            Self::Piece(_) => &[],
        };
        deltas
            .iter()
            .filter(|(_, delta)| delta.as_ref().map_or(true, |delta| delta.problem.is_some()))
            .map(|(event, _)| *event)
    }
}

/// Reads one model item from the text of a payload, as ingest does. For tests and fuzzing.
///
/// # Errors
///
/// Returns an error if the text is not JSON.
pub fn normalize_text(text: &[u8], schema: SchemaVersion) -> Result<Option<Normalized>, PayloadProblem> {
    let value = json::parse(text)?;
    Ok(normalize::normalize(&value, schema))
}
