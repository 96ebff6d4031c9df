//! The input of all answers: a bundle, its graph, and its payloads, which are read when an answer needs them.

use std::collections::HashMap;
use std::path::Path;
use std::sync::OnceLock;

use serde::Serialize;
use serde_json::Value;
use trace_recorder::payloads::PayloadError;
use trace_recorder::{Bundle, BundleError};
use trace_reducer::model::{Anchor, Moment, PayloadIdx, Producer, Symbol, ThreadIdx, Trace, Window};
use trace_reducer::{Diagnostics, Options, ReduceError, Reduction, reduce};

use crate::object::{Object, ObjectRef, TYPE_NAMES, name_of, numbered, own_id};

/// A session that can answer questions.
#[derive(Debug)]
pub struct Session {
    bundle: Bundle,
    trace: Trace,
    diagnostics: Diagnostics,
    /// Payloads by id. Built at the first search.
    payloads: OnceLock<HashMap<Symbol, PayloadIdx>>,
    /// All objects with an id of their own, by type and id. Built at the first search.
    by_name: OnceLock<HashMap<(&'static str, Symbol), Object>>,
}

/// A line of the session file of another agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct SourceLine<'s> {
    /// Path of the file.
    pub file: &'s str,
    /// Number of the line from 1, or of the record in a file that has no lines.
    pub line: u32,
    /// Whether the file has the time of the event. Otherwise it happened at the time that the event has, or later.
    pub is_timed: bool,
}

/// Why a session cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// The bundle could not be opened.
    #[error(transparent)]
    Bundle(#[from] BundleError),
    /// The bundle could not be reduced.
    #[error(transparent)]
    Reduce(#[from] ReduceError),
}

/// Why a payload cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum PayloadProblem {
    /// No event of the bundle refers to a payload with this id.
    #[error("{id} is not a payload of the bundle")]
    Unknown {
        /// Id of the payload.
        id: String,
    },
    /// The file cannot be read.
    #[error("{id} could not be read")]
    Unreadable {
        /// Id of the payload.
        id: String,
        /// Cause of the error.
        source: PayloadError,
    },
    /// The file is not JSON.
    #[error("{id} is not a JSON document")]
    Invalid {
        /// Id of the payload.
        id: String,
        /// Cause of the error.
        source: serde_json::Error,
    },
}

impl Session {
    /// Opens the bundle at `path` and reduces it.
    ///
    /// # Errors
    ///
    /// Returns an error if the bundle cannot be opened.
    pub fn open(path: &Path) -> Result<Self, SessionError> {
        let bundle = Bundle::open(path)?;
        let reduction = reduce(&bundle, Options::default())?;
        Ok(Self::new(bundle, reduction))
    }

    /// Makes a session from a bundle and its reduction.
    pub fn new(bundle: Bundle, reduction: Reduction) -> Self {
        let Reduction { trace, diagnostics } = reduction;
        Self { bundle, trace, diagnostics, payloads: OnceLock::new(), by_name: OnceLock::new() }
    }

    /// Returns the bundle.
    pub fn bundle(&self) -> &Bundle {
        &self.bundle
    }

    /// Returns the graph.
    pub fn trace(&self) -> &Trace {
        &self.trace
    }

    /// Returns the diagnostics of the reduction.
    pub fn diagnostics(&self) -> &Diagnostics {
        &self.diagnostics
    }

    /// Returns the payload with this id, if there is one.
    pub fn payload_of(&self, id: Symbol) -> Option<PayloadIdx> {
        let by_id = || self.trace.payloads.iter().map(|(index, payload)| (payload.id, index)).collect();
        self.payloads.get_or_init(by_id).get(&id).copied()
    }

    /// Reads the bytes of a payload.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no payload with this id, or its file cannot be read.
    pub fn read_payload(&self, id: Symbol) -> Result<Vec<u8>, PayloadProblem> {
        let name = || self.trace.text(id).to_owned();
        let payload = self.payload_of(id).ok_or_else(|| PayloadProblem::Unknown { id: name() })?;
        let mut bytes = Vec::new();
        let path = self.trace.text(self.trace.payloads[payload].path);
        self.bundle
            .payloads()
            .read(path, &mut bytes)
            .map_err(|source| PayloadProblem::Unreadable { id: name(), source })?;
        Ok(bytes)
    }

    /// Returns the size of a payload in bytes without reading it. `None` if there is no payload with this id, or no such file.
    pub fn payload_bytes(&self, id: Symbol) -> Option<u64> {
        let payload = self.payload_of(id)?;
        self.bundle.payloads().bytes_of(self.trace.text(self.trace.payloads[payload].path))
    }

    /// Reads a payload as JSON.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no payload with this id, or its file cannot be read or is not JSON.
    pub fn payload(&self, id: Symbol) -> Result<Value, PayloadProblem> {
        let bytes = self.read_payload(id)?;
        serde_json::from_slice(&bytes)
            .map_err(|source| PayloadProblem::Invalid { id: self.trace.text(id).to_owned(), source })
    }

    /// Returns the reference to an object.
    pub fn name(&self, object: Object) -> ObjectRef {
        name_of(&self.trace, object)
    }

    /// Returns the object that a reference names, if there is one.
    pub fn find(&self, name: &ObjectRef) -> Option<Object> {
        if let Some(object) = numbered(&self.trace, name) {
            return Some(object);
        }
        let kind = TYPE_NAMES.into_iter().find(|kind| *kind == name.kind)?;
        let id = self.trace.symbols.get(&name.id)?;
        let by_name = || {
            let named =
                self.objects().filter_map(|object| Some(((object.type_name(), own_id(&self.trace, object)?), object)));
            named.collect()
        };
        self.by_name.get_or_init(by_name).get(&(kind, id)).copied()
    }

    /// Returns all objects, grouped by type in the order of `state.json`.
    pub fn objects(&self) -> impl Iterator<Item = Object> + '_ {
        let trace = &self.trace;
        let sessions = trace.sessions.iter().filter(|(_, session)| !session.dissolved).map(|(session, _)| session);
        (trace.threads.handles().map(Object::Thread))
            .chain(trace.turns.handles().map(Object::Turn))
            .chain(trace.items.handles().map(Object::Item))
            .chain(trace.inferences.handles().map(Object::Inference))
            .chain(trace.cells.handles().map(Object::Cell))
            .chain(trace.tools.handles().map(Object::Tool))
            .chain(sessions.map(Object::Session))
            .chain(trace.operations.handles().map(Object::Operation))
            .chain(trace.compactions.handles().map(Object::Compaction))
            .chain(trace.compaction_requests.handles().map(Object::CompactionRequest))
            .chain(trace.edges.handles().map(Object::Edge))
            .chain(trace.payloads.handles().map(Object::Payload))
    }

    /// Returns the thread of an object, or `None` for a payload. The thread of an edge is the one where it starts.
    pub fn thread_of(&self, object: Object) -> Option<ThreadIdx> {
        let trace = &self.trace;
        Some(match object {
            Object::Thread(thread) => thread,
            Object::Turn(turn) => trace.turns[turn].thread,
            Object::Item(item) => trace.items[item].thread,
            Object::Inference(inference) => trace.inferences[inference].thread,
            Object::Cell(cell) => trace.cells[cell].thread,
            Object::Tool(tool) => trace.tools[tool].thread,
            Object::Session(session) => trace.sessions[session].thread,
            Object::Operation(operation) => trace.tools[trace.operations[operation].tool].thread,
            Object::Compaction(compaction) => trace.compactions[compaction].thread,
            Object::CompactionRequest(request) => trace.compaction_requests[request].thread,
            Object::Edge(edge) => match trace.edges[edge].source {
                Anchor::Item(item) => trace.items[item].thread,
                Anchor::Tool(tool) => trace.tools[tool].thread,
                Anchor::Thread(thread) => thread,
            },
            Object::Payload(_) => return None,
        })
    }

    /// Returns the sequence number of the event that started an object, or `None` for a payload.
    pub fn seq_of(&self, object: Object) -> Option<u64> {
        let trace = &self.trace;
        let started = |window: &Window| window.started.seq;
        Some(match object {
            Object::Thread(thread) => started(&trace.threads[thread].execution),
            Object::Turn(turn) => started(&trace.turns[turn].execution),
            Object::Item(item) => trace.items[item].first_seen.seq,
            Object::Inference(inference) => started(&trace.inferences[inference].execution),
            Object::Cell(cell) => started(&trace.cells[cell].execution),
            Object::Tool(tool) => started(&trace.tools[tool].execution),
            Object::Session(session) => trace.sessions[session].started.seq,
            Object::Operation(operation) => started(&trace.operations[operation].execution),
            Object::Compaction(compaction) => trace.compactions[compaction].installed.seq,
            Object::CompactionRequest(request) => started(&trace.compaction_requests[request].execution),
            Object::Edge(edge) => trace.edges[edge].seq,
            Object::Payload(_) => return None,
        })
    }

    /// Returns the sequence number of the event that shows best where an object comes from: for an item, the event by
    /// which it became part of the history, or the end of the tool call whose output it is. `None` for a payload.
    fn evidence_of(&self, object: Object) -> Option<u64> {
        let Object::Item(item) = object else { return self.seq_of(object) };
        let item = &self.trace.items[item];
        let output_of = item.produced_by.iter().find_map(|producer| match *producer {
            Producer::Tool(tool) => self.trace.tools[tool].execution.ended,
            Producer::Inference(_) | Producer::Cell(_) | Producer::Compaction(_) => None,
        });
        Some(item.accepted.or(output_of).unwrap_or(item.first_seen).seq)
    }

    /// Returns the line of the session file that an object of an imported session comes from. `None` for a recorded
    /// session, and for a payload.
    pub fn source_of(&self, object: Object) -> Option<SourceLine<'_>> {
        self.source_of_event(self.evidence_of(object)?)
    }

    /// Returns the line of the session file that an event of an imported session comes from.
    pub fn source_of_event(&self, seq: u64) -> Option<SourceLine<'_>> {
        let record = self.bundle.import()?;
        let origin = record.origin(seq)?;
        Some(SourceLine { file: record.path(origin.place)?, line: origin.place.line, is_timed: origin.is_timed })
    }

    /// Returns the agent path of a thread: its place in the tree of agents.
    pub fn agent_path(&self, thread: ThreadIdx) -> &str {
        self.trace.text(self.trace.threads[thread].agent_path)
    }

    /// Returns the last moment of the log, or the start of the session if the log is empty.
    pub fn end(&self) -> Moment {
        self.trace.last_event.unwrap_or(Moment { seq: 0, unix_ms: self.trace.started_at_unix_ms })
    }
}
