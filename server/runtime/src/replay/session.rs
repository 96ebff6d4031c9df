//! The parts of a bundle that can be replayed: the turns of each agent, and the requests, answers and calls of each turn.
//!
//! Payloads stay in the bundle until they are needed. Nothing here compares with live events.

use std::collections::HashMap;
use std::path::PathBuf;

use serde_json::Value;
use trace_recorder::format::{EventPayload, ExecutionStatus, Requester, ToolKind, ToolSummary};
use trace_recorder::log::parse_lines;
use trace_recorder::payloads::{PayloadError, PayloadFiles};
use trace_recorder::{Bundle, BundleError};

use super::user_messages;
use crate::recording::SIDE_CALL_PREFIX;
use crate::tool::CallDescription;

/// Path of the root agent.
pub(super) const ROOT: &str = "/root";

/// Size of the largest payload that is replayed, in bytes. In memory it takes several times as much.
pub const REPLAY_BODY_BYTES_MAX: usize = 64 << 20;

/// Why a bundle cannot be replayed.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// It is not a bundle, or cannot be read.
    #[error(transparent)]
    Bundle(#[from] BundleError),
    /// Its event log cannot be read.
    #[error("cannot read the event log of {path}: {reason}")]
    Log {
        /// Path of the bundle.
        path: PathBuf,
        /// Reason.
        reason: String,
    },
    /// It has no request of the root agent.
    #[error("{path} has no request of the agent {ROOT} that can be replayed")]
    Empty {
        /// Path of the bundle.
        path: PathBuf,
    },
    /// A required payload is missing or invalid.
    #[error("event {seq} of {bundle} names {payload}, which cannot be replayed: {reason}")]
    Payload {
        /// Path of the bundle.
        bundle: PathBuf,
        /// Sequence number of the event.
        seq: u64,
        /// Path of the payload in the bundle.
        payload: String,
        /// Reason.
        reason: String,
    },
    /// There is no such turn.
    #[error("the recording has no turn {asked} of {ROOT}: name one of 1 to {count}, or its id")]
    NoSuchTurn {
        /// The requested number or id.
        asked: String,
        /// Number of turns.
        count: usize,
    },
    /// A replay cannot start with this turn.
    #[error("turn {number} was not started by a message of the user; start the replay with another turn")]
    NotByUser {
        /// Number of the turn, from 1.
        number: usize,
    },
}

/// The turn that a replay starts with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FirstTurn {
    /// Number of the turn, from 1.
    Number(usize),
    /// Id of the turn.
    Id(String),
}

/// Settings of the root agent.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RecordedSettings {
    /// Name of the model.
    pub model: Option<String>,
    /// Instructions of the developer.
    pub developer_instructions: Option<String>,
    /// Working folder.
    pub cwd: Option<PathBuf>,
    /// Approval policy, as recorded.
    pub approval: Option<Value>,
    /// Sandbox policy, as recorded.
    pub sandbox: Option<Value>,
    /// System instructions.
    pub instructions: Option<String>,
}

/// Settings of the requests of a turn.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StepSettings {
    /// Name of the model.
    pub model: Option<String>,
    /// Reasoning effort.
    pub effort: Option<String>,
    /// Kind of the reasoning summary.
    pub summary: Option<String>,
    /// JSON schema of the final message.
    pub output_schema: Option<Value>,
}

/// A turn that the user starts in a replay.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// Number of the turn, from 1.
    pub number: usize,
    /// Id of the recorded turn.
    pub turn: String,
    /// How the turn starts.
    pub kind: StepKind,
    /// How the turn ended; `None` if the recording ends before.
    pub status: Option<ExecutionStatus>,
    /// Settings of its requests.
    pub settings: StepSettings,
}

/// How a turn starts.
#[derive(Debug, Clone, PartialEq)]
pub enum StepKind {
    /// By messages of the user, each a list of content parts in the format of the Responses API.
    Say(Vec<Vec<Value>>),
    /// By a request of the user to compact the history.
    Compact,
    /// Without an action of the user.
    ByItself,
}

/// A recorded session.
#[derive(Debug)]
pub(super) struct RecordedSession {
    path: PathBuf,
    /// Whether another program recorded it, which gives its agents other instructions.
    pub(super) is_foreign: bool,
    /// Whether the session was imported from the files of another agent.
    pub(super) is_imported: bool,
    /// Whether it records when agents took messages from their mailboxes.
    pub(super) knows_mail: bool,
    pub(super) tracks: Vec<AgentTrack>,
    /// Messages that users saw for failed turns.
    errors: Vec<String>,
    pub(super) metadata: Value,
    payloads: PayloadFiles,
}

/// What the agents with one path did.
#[derive(Debug)]
pub(super) struct AgentTrack {
    pub(super) path: String,
    pub(super) started: u64,
    /// Whether it is a review, which belongs to a turn of another track.
    pub(super) is_review: bool,
    pub(super) turns: Vec<RecordedTurn>,
    /// When messages were taken from the mailbox, and the items that they became; `null` if an item cannot be read.
    pub(super) mail: Vec<(u64, Value)>,
}

/// A recorded turn.
#[derive(Debug)]
pub(super) struct RecordedTurn {
    pub(super) id: String,
    pub(super) started: u64,
    pub(super) ended: Option<(u64, ExecutionStatus)>,
    /// When the parent got the result of the turn.
    pub(super) told: Option<u64>,
    pub(super) exchanges: Vec<Exchange>,
    pub(super) calls: Vec<RecordedCall>,
    pub(super) installs_compaction: bool,
    /// Number of items that the turn added to the conversation.
    accepted: usize,
    /// Whether it was a review or a command of the user. Those are not replayed.
    pub(super) is_aside: bool,
}

/// Kind of request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestKind {
    /// A request for an answer.
    Answer,
    /// A request for a compacted history.
    Compaction,
}

/// A recorded request with its answer.
#[derive(Debug)]
pub(super) struct Exchange {
    pub(super) seq: u64,
    pub(super) kind: RequestKind,
    pub(super) request: String,
    pub(super) model: String,
    pub(super) end: Option<(u64, ExchangeEnd)>,
    /// When the agent was done with the answer: some agents start calls before an answer has ended.
    pub(super) over: Option<u64>,
    /// Where the history is that a compaction left: sequence number and payload.
    pub(super) installed: Option<(u64, String)>,
}

/// How a request ended.
#[derive(Debug)]
pub(super) enum ExchangeEnd {
    Completed { response: String },
    Failed { error: String, request_id: Option<String>, partial: Option<String> },
    Cancelled { partial: Option<String> },
}

/// A recorded call.
#[derive(Debug)]
pub(super) struct RecordedCall {
    pub(super) id: String,
    pub(super) seq: u64,
    pub(super) description: CallDescription,
    pub(super) invocation: Option<String>,
    pub(super) end: Option<(u64, ExecutionStatus, Option<String>)>,
    /// Whether the call had done its work. It may have been interrupted afterwards, before it ended.
    pub(super) has_acted: bool,
}

impl RecordedSession {
    /// Reads the parts of a bundle that can be replayed.
    pub(super) fn read_from(bundle: Bundle) -> Result<Self, ReplayError> {
        let path = &bundle.path().to_owned();
        // The agent of an imported session was not this program.
        let is_imported = bundle.import().is_some();
        let log =
            bundle.log().map_err(|error| ReplayError::Log { path: path.to_owned(), reason: error.to_string() })?;
        let mut reader = Reader::default();
        let lines: Vec<_> = log.lines().collect();
        for parsed in parse_lines(&lines) {
            match parsed.event {
                Ok(Some(event)) => {
                    reader.take(event.seq, event.thread_id.as_deref(), event.codex_turn_id.as_deref(), event.payload);
                }
                Ok(None) => {}
                // An incomplete last line ends what can be replayed.
                Err(error) if error.is_cut() => break,
                Err(error) => {
                    let reason = format!("line {}: {error}", parsed.line.number);
                    return Err(ReplayError::Log { path: path.to_owned(), reason });
                }
            }
        }
        let Reader { is_foreign, metadata, tracks, mail, descriptions, errors, .. } = reader;
        let is_foreign = is_foreign || is_imported;
        let mut session = Self {
            path: path.to_owned(),
            is_foreign,
            is_imported,
            knows_mail: !is_foreign || !mail.is_empty(),
            tracks,
            errors: Vec::new(),
            metadata: Value::Null,
            payloads: bundle.into_payloads(),
        };
        session.tracks.iter_mut().flat_map(|track| &mut track.turns).for_each(RecordedTurn::end_answers);
        for (seq, payload) in errors {
            let message = session.read(seq, &payload).ok();
            session.errors.extend(message.and_then(|error| Some(error.get("message")?.as_str()?.to_owned())));
        }
        for (track, seq, payload) in mail {
            let item = session.read(seq, &payload).unwrap_or_default();
            session.tracks[track].mail.push((seq, item));
        }
        for (track, seq, payload) in descriptions {
            let role = session.read(seq, &payload).ok();
            session.tracks[track].is_review =
                role.is_some_and(|it| it.get("agent_role").is_some_and(|it| it == "review"));
        }
        session.find_asides();
        if session.track(ROOT).is_none_or(|(_, track)| track.turns.iter().all(|turn| turn.exchanges.is_empty())) {
            return Err(ReplayError::Empty { path: path.to_owned() });
        }
        if let Some((seq, payload)) = metadata {
            session.metadata = session.read(seq, &payload).unwrap_or_default();
        }
        Ok(session)
    }

    /// Marks the turns of the root agent that were reviews or commands of the user.
    fn find_asides(&mut self) {
        let reviews = self.tracks.iter().filter(|track| track.is_review).flat_map(|track| &track.turns);
        let mut reviews: Vec<u64> = reviews.map(|turn| turn.started).collect();
        reviews.sort_unstable();
        let is_foreign = self.is_foreign;
        let root = self.tracks.iter_mut().filter(|track| track.path == ROOT).flat_map(|track| &mut track.turns);
        for turn in root.filter(|turn| turn.exchanges.is_empty()) {
            let next = reviews.get(reviews.partition_point(|review| *review < turn.started));
            let has_review = next.is_some_and(|review| turn.ended.is_none_or(|(end, _)| *review < end));
            // A command of the user adds one item. An interrupted turn adds the message of the user and the note about the
            // interrupt.
            turn.is_aside = has_review || (!is_foreign && turn.accepted < 2);
        }
    }

    /// Returns whether the recording ends before its turns do.
    pub(super) fn is_cut(&self) -> bool {
        self.tracks.iter().flat_map(|track| &track.turns).any(|turn| turn.ended.is_none())
    }

    /// Returns the track for a path, with its index.
    pub(super) fn track(&self, path: &str) -> Option<(usize, &AgentTrack)> {
        self.tracks.iter().enumerate().find(|(_, track)| track.path == path)
    }

    /// Returns the largest number of requests in a turn.
    pub(super) fn most_requests(&self) -> u32 {
        let counts = self.tracks.iter().flat_map(|track| &track.turns).map(|turn| turn.exchanges.len());
        u32::try_from(counts.max().unwrap_or_default()).unwrap_or(u32::MAX)
    }

    /// Splits a recorded error into the message that users saw and the details that only the recording has.
    pub(super) fn message_of<'a>(&self, error: &'a str) -> (&'a str, Option<&'a str>) {
        let details = |message: &&String| error.strip_prefix(message.as_str())?.strip_prefix(": ");
        let told = self.errors.iter().filter_map(|message| Some((message.len(), details(&message)?)));
        match told.max_by_key(|(length, _)| *length) {
            Some((length, details)) if !self.errors.iter().any(|message| message == error) => {
                (&error[..length], Some(details))
            }
            _ => (error, None),
        }
    }

    /// Reads a payload.
    pub(super) fn read(&self, seq: u64, payload: &str) -> Result<Value, ReplayError> {
        let broken = |reason: String| ReplayError::Payload {
            bundle: self.path.clone(),
            seq,
            payload: payload.to_owned(),
            reason,
        };
        let mut bytes = Vec::new();
        self.payloads.read(payload, &mut bytes).map_err(|error| match error {
            PayloadError::Io(error) if error.kind() == std::io::ErrorKind::NotFound => {
                broken("it is missing".to_owned())
            }
            error => broken(error.to_string()),
        })?;
        if bytes.len() > REPLAY_BODY_BYTES_MAX {
            return Err(broken(format!("it is longer than {REPLAY_BODY_BYTES_MAX} bytes")));
        }
        serde_json::from_slice(&bytes).map_err(|error| broken(format!("it is not JSON: {error}")))
    }

    /// Reads a request that contains the whole conversation.
    pub(super) fn request(&self, exchange: &Exchange) -> Result<Value, ReplayError> {
        let body = self.read(exchange.seq, &exchange.request)?;
        let reason = if !body.get("input").is_some_and(Value::is_array) {
            "it has no list `input`"
        } else if body.get("previous_response_id").is_some_and(|id| !id.is_null()) {
            "it contains only the items since another request"
        } else {
            return Ok(body);
        };
        Err(ReplayError::Payload {
            bundle: self.path.clone(),
            seq: exchange.seq,
            payload: exchange.request.clone(),
            reason: reason.to_owned(),
        })
    }
}

impl RecordedTurn {
    /// Determines when the agent was done with each answer: before its first call.
    fn end_answers(&mut self) {
        for exchange in &mut self.exchanges {
            let Some((end, _)) = exchange.end else { continue };
            let began = exchange.seq;
            let first = self.calls.iter().map(|call| call.seq).filter(|call| (began..end).contains(call)).min();
            exchange.over = Some(first.map_or(end, |first| first.saturating_sub(1)));
        }
    }
}

impl RecordedSession {
    /// Returns requests that together contain all that an agent had seen before a request of a turn. It is the last one, or
    /// all of the turn if the history was compacted, because the last one then lacks older items.
    pub(super) fn seen(&self, turn: &RecordedTurn, request: usize) -> Result<Vec<Value>, ReplayError> {
        let Some((last, earlier)) = turn.exchanges[..request].split_last() else { return Ok(Vec::new()) };
        let body = self.request(last)?;
        let is_cut = turn.installs_compaction || user_messages::asks_for_summary(&body);
        let mut seen = match is_cut {
            true => earlier.iter().map(|exchange| self.request(exchange)).collect::<Result<Vec<_>, _>>()?,
            false => Vec::new(),
        };
        seen.push(body);
        Ok(seen)
    }
}

#[derive(Default)]
struct Reader {
    is_foreign: bool,
    metadata: Option<(u64, String)>,
    tracks: Vec<AgentTrack>,
    /// Index of the track of each thread.
    threads: HashMap<String, usize>,
    /// Messages that agents took from their mailboxes: track, sequence number and payload.
    mail: Vec<(usize, u64, String)>,
    /// Messages that users saw for failed turns: sequence number and payload.
    errors: Vec<(u64, String)>,
    /// Metadata that may mark reviews: track, sequence number and payload.
    descriptions: Vec<(usize, u64, String)>,
    /// Indexes of the turns by their ids.
    turns: HashMap<String, (usize, usize)>,
    exchanges: HashMap<String, (usize, usize, usize)>,
    calls: HashMap<(String, String), (usize, usize, usize)>,
}

impl Reader {
    fn take(&mut self, seq: u64, thread: Option<&str>, turn: Option<&str>, payload: EventPayload<'_>) {
        match payload {
            EventPayload::ThreadStarted(event) => {
                let path = event.agent_path.as_str();
                let known = self.tracks.iter().position(|track| track.path == path);
                let track = known.unwrap_or_else(|| {
                    let path = path.to_owned();
                    let (turns, mail) = (Vec::new(), Vec::new());
                    self.tracks.push(AgentTrack { path, started: seq, is_review: false, turns, mail });
                    self.tracks.len() - 1
                });
                self.threads.insert(event.thread_id.as_str().to_owned(), track);
                let metadata = event.metadata_payload.map(|payload| payload.path.as_str().to_owned());
                match (path, metadata) {
                    (ROOT, Some(metadata)) => {
                        self.metadata.get_or_insert((seq, metadata));
                    }
                    (path, Some(metadata)) if path.ends_with("/review") => {
                        self.descriptions.push((track, seq, metadata));
                    }
                    _ => {}
                }
            }
            EventPayload::CodexTurnStarted(event) => {
                self.turn(seq, event.thread_id.as_str(), event.codex_turn_id.as_str());
            }
            EventPayload::CodexTurnEnded(event) => {
                if let Some(&(track, turn)) = self.turns.get(event.codex_turn_id.as_str()) {
                    self.tracks[track].turns[turn].ended = Some((seq, event.status));
                }
            }
            // A replay does not run the tool that asked, or the tool asks again.
            EventPayload::InferenceStarted(event) if event.inference_call_id.as_str().starts_with(SIDE_CALL_PREFIX) => {
            }
            EventPayload::InferenceStarted(event) => self.asked(
                (seq, event.thread_id.as_str(), event.codex_turn_id.as_str()),
                event.inference_call_id.as_str(),
                (RequestKind::Answer, event.request_payload.path.as_str(), event.model.as_str()),
            ),
            EventPayload::CompactionRequestStarted(event) => self.asked(
                (seq, event.thread_id.as_str(), event.codex_turn_id.as_str()),
                event.compaction_request_id.as_str(),
                (RequestKind::Compaction, event.request_payload.path.as_str(), event.model.as_str()),
            ),
            EventPayload::InferenceCompleted(event) => {
                let response = event.response_payload.path.as_str().to_owned();
                self.answered(seq, &event.inference_call_id, ExchangeEnd::Completed { response });
            }
            EventPayload::CompactionRequestCompleted(event) => {
                let response = event.response_payload.path.as_str().to_owned();
                self.answered(seq, &event.compaction_request_id, ExchangeEnd::Completed { response });
            }
            EventPayload::InferenceFailed(event) => {
                let end = ExchangeEnd::Failed {
                    error: event.error.as_str().to_owned(),
                    request_id: event.upstream_request_id.map(|id| id.as_str().to_owned()),
                    partial: event.partial_response_payload.map(|payload| payload.path.as_str().to_owned()),
                };
                self.answered(seq, &event.inference_call_id, end);
            }
            EventPayload::CompactionRequestFailed(event) => {
                let error = event.error.as_str().to_owned();
                let end = ExchangeEnd::Failed { error, request_id: None, partial: None };
                self.answered(seq, &event.compaction_request_id, end);
            }
            EventPayload::InferenceCancelled(event) => {
                let partial = event.partial_response_payload.map(|payload| payload.path.as_str().to_owned());
                self.answered(seq, &event.inference_call_id, ExchangeEnd::Cancelled { partial });
            }
            EventPayload::ToolCallStarted(event) => {
                if !matches!(event.requester, Requester::Model) {
                    return;
                }
                let (Some(thread), Some(turn)) = (thread, turn) else { return };
                let Some((track, turn)) = self.turn(seq, thread, turn) else { return };
                let calls = &mut self.tracks[track].turns[turn].calls;
                let (label, input_preview) = match &event.summary {
                    ToolSummary::Generic { label, input_preview, .. } => {
                        (label.as_str().to_owned(), input_preview.as_ref().map(|text| text.as_str().to_owned()))
                    }
                    _ => (event.kind.tag().to_owned(), None),
                };
                let kind = match &event.kind {
                    ToolKind::Other { .. } => "other".to_owned(),
                    kind => kind.tag().to_owned(),
                };
                let id = event.model_visible_call_id.as_ref().unwrap_or(&event.tool_call_id).as_str().to_owned();
                calls.push(RecordedCall {
                    id,
                    seq,
                    description: CallDescription { kind, label, input_preview },
                    invocation: event.invocation_payload.map(|payload| payload.path.as_str().to_owned()),
                    end: None,
                    has_acted: false,
                });
                let place = (track, turn, calls.len() - 1);
                self.calls.insert((thread.to_owned(), event.tool_call_id.as_str().to_owned()), place);
            }
            EventPayload::ToolCallRuntimeEnded(event) if event.status == ExecutionStatus::Completed => {
                let Some(thread) = thread else { return };
                let key = (thread.to_owned(), event.tool_call_id.as_str().to_owned());
                if let Some(&(track, turn, call)) = self.calls.get(&key) {
                    self.tracks[track].turns[turn].calls[call].has_acted = true;
                }
            }
            EventPayload::ToolCallEnded(event) => {
                let Some(thread) = thread else { return };
                let key = (thread.to_owned(), event.tool_call_id.as_str().to_owned());
                if let Some(&(track, turn, call)) = self.calls.get(&key) {
                    let result = event.result_payload.map(|payload| payload.path.as_str().to_owned());
                    self.tracks[track].turns[turn].calls[call].end = Some((seq, event.status, result));
                }
            }
            EventPayload::HistoryItemAccepted(event) => {
                if let Some(&(track, turn)) = turn.and_then(|turn| self.turns.get(turn)) {
                    self.tracks[track].turns[turn].accepted += 1;
                }
                let track = thread.and_then(|thread| self.threads.get(thread)).copied();
                if let (Some(track), Some(payload)) = (track, event.agent_message_payload) {
                    self.mail.push((track, seq, payload.path.as_str().to_owned()));
                }
            }
            EventPayload::AgentResultObserved(event) => {
                if let Some(&(track, turn)) = self.turns.get(event.child_codex_turn_id.as_str()) {
                    self.tracks[track].turns[turn].told.get_or_insert(seq);
                }
            }
            EventPayload::CompactionInstalled(event) => {
                if let Some(&(track, turn)) = turn.and_then(|turn| self.turns.get(turn)) {
                    let turn = &mut self.tracks[track].turns[turn];
                    turn.installs_compaction = true;
                    if let Some(last) = turn.exchanges.last_mut() {
                        last.installed = Some((seq, event.checkpoint_payload.path.as_str().to_owned()));
                    }
                }
            }
            // The Codex CLI records this event at the start of each thread; this program does not.
            EventPayload::ProtocolEventObserved(event) if event.event_type == "session_configured" => {
                self.is_foreign = true;
            }
            EventPayload::ProtocolEventObserved(event) if event.event_type == "error" => {
                self.errors.push((seq, event.event_payload.path.as_str().to_owned()));
            }
            _ => {}
        }
    }

    fn turn(&mut self, seq: u64, thread: &str, turn: &str) -> Option<(usize, usize)> {
        if let Some(&place) = self.turns.get(turn) {
            return Some(place);
        }
        let track = *self.threads.get(thread)?;
        let turns = &mut self.tracks[track].turns;
        turns.push(RecordedTurn {
            id: turn.to_owned(),
            started: seq,
            ended: None,
            told: None,
            exchanges: Vec::new(),
            calls: Vec::new(),
            installs_compaction: false,
            accepted: 0,
            is_aside: false,
        });
        let place = (track, turns.len() - 1);
        self.turns.insert(turn.to_owned(), place);
        Some(place)
    }

    fn asked(&mut self, at: (u64, &str, &str), id: &str, what: (RequestKind, &str, &str)) {
        let (seq, thread, turn) = at;
        let (kind, request, model) = what;
        let Some((track, turn)) = self.turn(seq, thread, turn) else { return };
        let exchanges = &mut self.tracks[track].turns[turn].exchanges;
        exchanges.push(Exchange {
            seq,
            kind,
            request: request.to_owned(),
            model: model.to_owned(),
            end: None,
            over: None,
            installed: None,
        });
        self.exchanges.insert(id.to_owned(), (track, turn, exchanges.len() - 1));
    }

    fn answered(&mut self, seq: u64, id: &str, end: ExchangeEnd) {
        if let Some(&(track, turn, exchange)) = self.exchanges.get(id) {
            self.tracks[track].turns[turn].exchanges[exchange].end = Some((seq, end));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use serde_json::json;
    use trace_recorder::format::Manifest;
    use trace_recorder::payloads::MemoryFiles;

    use super::*;

    #[test]
    fn what_tools_ask_the_model_belongs_to_no_conversation() {
        let request = |id: &str| {
            let payload =
                json!({"raw_payload_id": "p", "kind": {"type": "inference_request"}, "path": "payloads/p.json"});
            json!({
                "type": "inference_started", "inference_call_id": id, "thread_id": "r", "codex_turn_id": "u", "model": "m",
                "provider_name": "p", "request_payload": payload,
            })
        };
        let thread =
            json!({"type": "thread_started", "thread_id": "r", "agent_path": "/root", "metadata_payload": null});
        let turn = json!({"type": "codex_turn_started", "codex_turn_id": "u", "thread_id": "r"});
        let start = json!({"type": "rollout_started", "trace_id": "t", "root_thread_id": "r"});
        let side = request(&format!("{SIDE_CALL_PREFIX}1"));
        let events = [start, thread, turn, request("1"), side, request("2")];
        let line = |(seq, payload): (usize, Value)| {
            let line = json!({
                "schema_version": 2, "seq": seq, "wall_time_unix_ms": seq, "rollout_id": "r", "thread_id": "r",
                "codex_turn_id": "u", "payload": payload,
            });
            format!("{line}\n")
        };
        let log: String = (1..).zip(events).map(line).collect();
        let (manifest, files) = (Manifest::new("t", "r", "r", 1), MemoryFiles::default());
        let bundle = Bundle::from_memory(Path::new("memory"), manifest, log.into_bytes(), files);
        let session = RecordedSession::read_from(bundle).expect("a session");
        let (_, track) = session.track("/root").expect("an agent");
        assert_eq!(track.turns[0].exchanges.len(), 2);
    }
}
