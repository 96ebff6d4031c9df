//! First half of a reduction: every payload that matters is read and normalized on its own, in parallel.
//!
//! Which payloads matter, and as what, follows from the events that name them alone. What ingest returns stands beside
//! the events by position; the ordered half, `replay`, then never waits for a file.

mod json;
mod normalize;
mod payload;
mod prefix;
mod problem;
mod request;

use foldhash::fast::FixedState;
use hashbrown::{HashMap, HashSet};
use rayon::prelude::*;
use serde_json::Value;
use trace_recorder::format::{Event, EventPayload, PayloadRef, ToolKind};
use trace_recorder::payloads::PayloadFiles;
use trace_recorder::write::GAP_EVENT;

pub use json::MAX_DEPTH;
pub(crate) use normalize::key_with_parts;
pub use normalize::{ItemProblem, Normalized};
pub(crate) use payload::{Checkpoint, Response};
pub use problem::PayloadProblem;
pub(crate) use request::{RequestDelta, Slot};

use crate::model::SchemaVersion;
use request::{KeptRequest, RequestReader};

/// Fewest payloads that are worth a second thread.
const PARALLEL_PAYLOADS: usize = 96;

/// Most requests that one run reads: enough to make the predecessor that it reads twice not matter, few enough to keep
/// all cores busy to the end.
const RUN_REQUESTS: usize = 48;

/// Payloads, other than requests, that one piece of parallel work reads.
const PIECE_PAYLOADS: usize = 64;

/// Most requests that are kept from one batch to the next. A session that comes event by event has each in a batch of its
/// own, of as many threads as are at work.
const KEPT_REQUESTS: usize = 4;

/// Largest request that is kept; others are read again.
const KEPT_REQUEST_BYTES: usize = 8 << 20;

/// What ingest made of the payload that an event names.
#[derive(Debug)]
pub(crate) enum Ingested {
    /// The event names no payload, or one that only has to exist.
    Nothing,
    /// The payload cannot be used as its event wants it.
    Failed(Failure),
    /// A request, as what it adds to the one before in its thread.
    Request(Request),
    /// A response.
    Response(Response),
    /// A checkpoint.
    Checkpoint(Box<Checkpoint>),
    /// An item that was accepted into a history; `None` for one that takes no place.
    Item(Option<Box<Normalized>>),
    /// Anything else, to be looked at when the event's context is known.
    Json(Value),
}

/// Why a payload cannot be used.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) problem: PayloadProblem,
    /// Whether the file is missing or no JSON document at all, which matters even if nobody needs it.
    pub(crate) is_broken: bool,
}

/// A request and where its items are.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) delta: RequestDelta,
    /// The run whose items [`Slot::Normalized`] counts.
    pub(crate) run: u32,
}

/// Everything that ingest made of a batch of events.
#[derive(Debug)]
pub(crate) struct Batch {
    /// Per event, in their order.
    pub(crate) payloads: Vec<Ingested>,
    /// Normalized items of each run of requests.
    pub(crate) runs: Vec<Vec<Normalized>>,
    /// What the id of a tool's invocation stands for from an event on, when that event gives the id another file.
    pub(crate) repointed: Vec<(usize, Ingested)>,
}

/// What a tool's payloads are looked at for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ToolUse {
    /// Nothing but agent activities.
    Plain,
    /// A terminal, whose operation may end with the tool's result.
    Stdin,
    /// A terminal or another agent.
    Watched,
}

/// Reads the payloads of a log, batch after batch.
///
/// Between batches it remembers what decides about payloads of later events: the kinds of tools, and the last request of
/// each thread, to which the next one is compared.
#[derive(Debug, Clone)]
pub(crate) struct Ingest {
    schema: SchemaVersion,
    verify: bool,
    tools: HashMap<Box<str>, ToolUse, FixedState>,
    /// Path of each tool's invocation, by the id of the payload.
    invocations: HashMap<Box<str>, Box<str>, FixedState>,
    last_requests: HashMap<Box<str>, Box<str>, FixedState>,
    /// Requests of the last batches, by path, the newest last.
    kept: Vec<(Box<str>, KeptRequest)>,
}

enum Job<'e> {
    Run { first_predecessor: Option<Predecessor>, requests: Vec<RequestJob<'e>> },
    Piece(Vec<(usize, &'e PayloadRef<'e>, Use)>),
}

/// The request before the first one of a run.
#[derive(Debug, Clone)]
struct Predecessor {
    path: Box<str>,
    /// Its event, if it is of the same batch.
    event: Option<usize>,
}

/// An event that names a request, by position, and the reference.
type PlannedRequest<'e> = (usize, &'e PayloadRef<'e>);

struct RequestJob<'e> {
    event: usize,
    reference: &'e PayloadRef<'e>,
    /// Whether the request before it in the run is of the same thread.
    follows: bool,
}

/// As what a payload is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Use {
    Response,
    Checkpoint,
    Item,
    Json,
    /// As JSON, if it tells of another agent.
    Activity,
    /// As JSON, if it can be read.
    Hint,
    /// As JSON that the id of an earlier payload now stands for.
    Repointed,
    /// Not at all, but it has to be there.
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

    /// Reads the payloads of a batch of events, which follow those of the batch before.
    pub(crate) fn read(&mut self, events: &[Event<'_>], files: &PayloadFiles) -> Batch {
        let jobs = self.plan(events);
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
        self.keep(&mut done);
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

    /// Keeps the requests that runs ended with, as long as they are few: the next batch is likely to go on from them.
    fn keep(&mut self, done: &mut [Done]) {
        let last = |done: &mut Done| match done {
            Done::Run { last, .. } => last.take(),
            Done::Piece(_) => None,
        };
        let last: Vec<_> = done.iter_mut().filter_map(last).collect();
        if last.len() > KEPT_REQUESTS {
            return;
        }
        for (path, request) in last.into_iter().filter(|(_, request)| request.bytes() <= KEPT_REQUEST_BYTES) {
            self.kept.retain(|(known, _)| *known != path);
            self.kept.push((path, request));
        }
        let surplus = self.kept.len().saturating_sub(KEPT_REQUESTS);
        self.kept.drain(..surplus);
    }

    /// Reads those runs again that began after a damaged request. What such a request still says is known only to the
    /// run that read it, so nothing can be told as an addition to it.
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
            let Job::Run { first_predecessor: Some(Predecessor { event: Some(event), .. }), mut requests } = job else {
                continue;
            };
            if damaged.contains(&event) {
                requests[0].follows = false;
                *done = self.work(&Job::Run { first_predecessor: None, requests }, files);
                // What the run took over unseen from the damaged request may damage its own, and so the run behind it.
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

    fn plan<'e>(&mut self, events: &'e [Event<'e>]) -> Vec<Job<'e>> {
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
                // Nothing that schema 1 does not need is opened.
                let is_needed = !matches!(usage, Use::Present | Use::Hint);
                if is_needed || self.schema >= SchemaVersion::V2 {
                    others.push((at, reference, usage));
                }
            }
        }
        let mut jobs = self.plan_runs(requests);
        let mut others = others.into_iter().peekable();
        while others.peek().is_some() {
            jobs.push(Job::Piece(others.by_ref().take(PIECE_PAYLOADS).collect()));
        }
        jobs
    }

    /// Cuts the requests, thread after thread, into runs.
    fn plan_runs<'e>(&mut self, threads: Vec<(&'e str, Vec<PlannedRequest<'e>>)>) -> Vec<Job<'e>> {
        let mut jobs = Vec::new();
        let mut run: Vec<RequestJob<'e>> = Vec::new();
        let mut first_predecessor: Option<Predecessor> = None;
        for (thread, requests) in threads {
            let last = self.last_requests.get(thread).cloned();
            let mut predecessor = last.map(|path| Predecessor { path, event: None });
            for (index, (event, reference)) in requests.into_iter().enumerate() {
                // What the last batch ended with can only stand before a run.
                let resumes = index == 0 && predecessor.is_some();
                if run.len() >= RUN_REQUESTS || (resumes && !run.is_empty()) {
                    let requests = std::mem::take(&mut run);
                    jobs.push(Job::Run { first_predecessor: first_predecessor.take(), requests });
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
            jobs.push(Job::Run { first_predecessor, requests: run });
        }
        jobs
    }

    /// Says whether a reference gives the id of a tool's invocation another file.
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

    /// Says as what an event's payload is read.
    fn usage(&mut self, payload: &EventPayload<'_>) -> Use {
        match payload {
            EventPayload::ThreadStarted(_) => Use::Json,
            EventPayload::ProtocolEventObserved(event)
                if event.event_type == "session_configured" || event.event_type == GAP_EVENT =>
            {
                Use::Hint
            }
            EventPayload::HistoryItemAccepted(_) => Use::Item,
            EventPayload::InferenceCompleted(_)
            | EventPayload::InferenceFailed(_)
            | EventPayload::InferenceCancelled(_) => Use::Response,
            EventPayload::CompactionInstalled(_) => Use::Checkpoint,
            EventPayload::ToolCallStarted(started) => {
                self.remember(&started.tool_call_id, &started.kind);
                Use::Json
            }
            EventPayload::ToolCallRuntimeStarted(started) => {
                if let Some(kind) = started.kind.as_ref().filter(|_| self.schema >= SchemaVersion::V2) {
                    self.remember(&started.tool_call_id, &kind.0);
                }
                self.tool_use(&started.tool_call_id, Use::Json, Use::Present)
            }
            EventPayload::ToolCallRuntimeEnded(ended) => self.tool_use(&ended.tool_call_id, Use::Json, Use::Activity),
            EventPayload::ToolCallEnded(ended) => match self.tools.get(ended.tool_call_id.as_str()) {
                Some(ToolUse::Stdin) => Use::Json,
                _ => Use::Present,
            },
            _ => Use::Present,
        }
    }

    fn remember(&mut self, tool: &str, kind: &ToolKind<'_>) {
        let known = self.tools.get(tool).copied();
        let usage = match kind {
            // The result ends the operation that the invocation made, whatever the kind becomes later.
            _ if known == Some(ToolUse::Stdin) => ToolUse::Stdin,
            ToolKind::WriteStdin => ToolUse::Stdin,
            ToolKind::ExecCommand
            | ToolKind::SpawnAgent
            | ToolKind::AssignAgentTask
            | ToolKind::SendMessage
            | ToolKind::CloseAgent => ToolUse::Watched,
            // An operation that exists keeps reading the ends of its tool.
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
            Job::Run { first_predecessor, requests } => {
                let mut reader = RequestReader::new(self.schema, self.verify);
                if let Some(predecessor) = first_predecessor {
                    let mut text = Vec::new();
                    if let Some((_, kept)) = self.kept.iter().find(|(path, _)| *path == predecessor.path) {
                        reader.begin_after_kept(kept.clone());
                    } else if files.read(&predecessor.path, &mut text).is_ok() {
                        reader.begin_after(text);
                    }
                }
                let mut deltas = Vec::with_capacity(requests.len());
                for request in requests {
                    let delta = match files.read(&request.reference.path, &mut buffer) {
                        Ok(()) => Ok(reader.read(&mut buffer, request.follows)),
                        Err(error) => {
                            // The next request must not take this one's predecessor for its own.
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
        if usage == Use::Present {
            json::scan(text)?;
            return Ok(Ingested::Nothing);
        }
        let value = match json::parse(text) {
            Ok(value) => value,
            Err(_) if usage == Use::Hint => {
                json::scan(text)?;
                return Ok(Ingested::Nothing);
            }
            Err(problem) => return Err(problem),
        };
        Ok(match usage {
            Use::Response => Ingested::Response(payload::read_response(&value, self.schema)?),
            Use::Checkpoint => Ingested::Checkpoint(Box::new(payload::read_checkpoint(&value, self.schema)?)),
            Use::Item => Ingested::Item(normalize::normalize(&value, self.schema).map(Box::new)),
            Use::Activity if value.get("agent_thread_id").is_none() => Ingested::Nothing,
            Use::Json | Use::Activity | Use::Hint | Use::Repointed | Use::Present => Ingested::Json(prune(value)),
        })
    }
}

/// Members of payloads that no rule reads and that can be large. They are left out, so that a batch of events does not
/// hold the outputs of all its tools twice.
const UNREAD_MEMBERS: [&str; 6] = ["formatted_output", "stdout", "stderr", "parsed_cmd", "changes", "result"];

fn prune(mut value: Value) -> Value {
    if let Some(object) = value.as_object_mut() {
        for member in UNREAD_MEMBERS {
            object.shift_remove(member);
        }
    }
    value
}

enum Done {
    Run {
        deltas: Vec<(usize, Result<RequestDelta, PayloadProblem>)>,
        normalized: Vec<Normalized>,
        /// The last request and its path, if another one may be compared with it.
        last: Option<(Box<str>, KeptRequest)>,
    },
    Piece(Vec<(usize, Use, Ingested)>),
}

impl Done {
    /// Returns the events whose requests cannot be read to their end.
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
/// Returns why the text is not JSON.
pub fn normalize_text(text: &[u8], schema: SchemaVersion) -> Result<Option<Normalized>, PayloadProblem> {
    let value = json::parse(text)?;
    Ok(normalize::normalize(&value, schema))
}
