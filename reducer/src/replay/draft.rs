//! The graph under construction, with what every part of replay needs: strings, threads and turns by id, the state of
//! payloads, diagnostics, and the event that is being applied.

use foldhash::fast::FixedState;
use hashbrown::HashMap;
use trace_recorder::format::{Manifest, PayloadRef};

use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::ingest::{Ingested, PayloadProblem};
use crate::model::{
    Arena, ExecutionStatus, ItemLists, Moment, Origin, PayloadIdx, RawPayload, RolloutStatus, SchemaVersion, Symbol,
    Symbols, Thread, ThreadIdx, Trace, Turn, TurnIdx, Window,
};

pub(super) type Table<K, V> = HashMap<K, V, FixedState>;

/// The diagnostic with which a strict reduction ends.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{0}")]
pub struct Refusal(pub Diagnostic);

/// Result of a step. A strict reduction ends at the first refusal; a lenient reduction never returns an error.
pub(crate) type Step<T = ()> = Result<T, Box<Refusal>>;

/// Time, thread and turn of the current event.
#[derive(Debug, Clone, Copy)]
pub(super) struct EventContext {
    pub(super) at: Moment,
    pub(super) thread: Option<Symbol>,
    pub(super) turn: Option<Symbol>,
}

/// State of the file that the last reference to a payload id names.
#[derive(Debug, Clone)]
struct PayloadState {
    problem: Option<(Code, Box<str>)>,
    seq: u64,
    /// Whether an event that needed the payload has reported the problem.
    reported: bool,
}

/// The graph under construction.
#[derive(Debug, Clone)]
pub(crate) struct Draft {
    pub(crate) trace: Trace,
    /// The event that is being applied.
    pub(super) event: EventContext,
    /// Whether the reduction ends at the first report.
    pub(crate) strict: bool,
    pub(crate) diagnostics: Diagnostics,
    payloads: Arena<PayloadIdx, PayloadState>,
    pub(super) payloads_by_id: Table<Symbol, PayloadIdx>,
    /// Id of the payload that was registered last. Nearly always it is the one that the event goes on to ask for.
    last_payload: Option<Symbol>,
    pub(super) threads_by_id: Table<Symbol, ThreadIdx>,
    pub(super) turns_by_id: Table<Symbol, TurnIdx>,
    /// Agent paths that activities name, by thread id, for threads that no event declares.
    pub(super) agent_paths: Table<Symbol, Symbol>,
}

impl Draft {
    pub(super) fn new(schema_version: SchemaVersion, manifest: &Manifest, strict: bool) -> Self {
        let mut symbols = Symbols::default();
        let trace = Trace {
            schema_version,
            trace_id: symbols.intern(&manifest.trace_id),
            rollout_id: symbols.intern(&manifest.rollout_id),
            root_thread_id: symbols.intern(&manifest.root_thread_id),
            started_at_unix_ms: manifest.started_at_unix_ms,
            ended: None,
            run_ends: Vec::new(),
            last_event: None,
            status: RolloutStatus::Running,
            recording_complete: false,
            threads: Arena::new(),
            turns: Arena::new(),
            items: Arena::new(),
            inferences: Arena::new(),
            cells: Arena::new(),
            tools: Arena::new(),
            sessions: Arena::new(),
            operations: Arena::new(),
            compactions: Arena::new(),
            compaction_requests: Arena::new(),
            edges: Arena::new(),
            payloads: Arena::new(),
            protocol_events: Vec::new(),
            undelivered: Vec::new(),
            agent_results: Vec::new(),
            lists: ItemLists::default(),
            symbols,
        };
        Self {
            trace,
            event: EventContext {
                at: Moment { unix_ms: manifest.started_at_unix_ms, seq: 0 },
                thread: None,
                turn: None,
            },
            strict,
            diagnostics: Diagnostics::default(),
            payloads: Arena::new(),
            payloads_by_id: Table::default(),
            last_payload: None,
            threads_by_id: Table::default(),
            turns_by_id: Table::default(),
            agent_paths: Table::default(),
        }
    }

    /// Returns whether the bundle follows the rules of schema 1.
    pub(super) fn is_v1(&self) -> bool {
        self.trace.schema_version < SchemaVersion::V2
    }

    pub(super) fn intern(&mut self, text: &str) -> Symbol {
        self.trace.symbols.intern(text)
    }

    /// Interns a text that is probably the one of `before`.
    pub(super) fn intern_again(&mut self, before: Option<Symbol>, text: &str) -> Symbol {
        before.filter(|before| self.trace.text(*before) == text).unwrap_or_else(|| self.intern(text))
    }

    /// Adds a diagnostic about something that the peer accepts.
    pub(crate) fn remark(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    /// Reports something that the peer refuses: records a diagnostic, or returns an error if the reduction is strict.
    pub(crate) fn report(&mut self, diagnostic: Diagnostic) -> Step {
        if self.strict {
            return Err(Box::new(Refusal(diagnostic)));
        }
        self.diagnostics.push(diagnostic);
        Ok(())
    }

    /// Reports something at the current event; see [`Self::report`].
    pub(super) fn odd(&mut self, code: Code, message: impl Into<Box<str>>) -> Step {
        self.report(Diagnostic::new(code, message).at_seq(self.event.at.seq))
    }

    /// Reports a problem of a payload that the current event needs.
    pub(super) fn bad_payload(&mut self, payload: Symbol, problem: &PayloadProblem) -> Step {
        if let Some(index) = self.payloads_by_id.get(&payload) {
            self.payloads[*index].reported = true;
        }
        let (code, message) = describe_problem(problem);
        let payload: Box<str> = self.trace.text(payload).into();
        self.report(Diagnostic::new(code, message).at_seq(self.event.at.seq).of_payload(payload))
    }

    /// Returns whether no event has reported a problem of a payload.
    pub(super) fn is_usable(&self, payload: Symbol) -> bool {
        self.payloads_by_id.get(&payload).is_none_or(|payload| !self.payloads[*payload].reported)
    }

    /// Returns the thread with this id. If no event declares it, reports that and adds a thread in its place.
    pub(super) fn thread(&mut self, id: Symbol) -> Step<ThreadIdx> {
        if let Some(thread) = self.threads_by_id.get(&id) {
            return Ok(*thread);
        }
        let message = format!("thread {} was never started; it is added without its start", self.trace.text(id));
        self.odd(Code::ThreadUnknown, message)?;
        Ok(self.imply_thread(id))
    }

    /// Adds a thread that no event declares, with what is known of it.
    pub(super) fn imply_thread(&mut self, id: Symbol) -> ThreadIdx {
        let path = match self.agent_paths.get(&id) {
            Some(path) => *path,
            None if id == self.trace.root_thread_id => self.intern("/root"),
            None => {
                let path = format!("/unknown/{}", self.trace.text(id));
                self.intern(&path)
            }
        };
        let origin = self.origin_of_path(id, path);
        let thread = Thread {
            id,
            agent_path: path,
            nickname: None,
            origin,
            execution: Window::running(self.event.at),
            resumed: Vec::new(),
            default_model: None,
            items: Vec::new(),
            implied: true,
        };
        self.add_thread(thread)
    }

    /// Returns the origin of a thread according to its agent path.
    pub(super) fn origin_of_path(&mut self, id: Symbol, path: Symbol) -> Origin {
        let text = self.trace.text(path).to_owned();
        let Some((parent_path, task_name)) = text.rsplit_once('/') else { return Origin::Root };
        let parent = self
            .trace
            .symbols
            .get(parent_path)
            .and_then(|path| self.trace.threads.values().find(|thread| thread.agent_path == path));
        let Some(parent_thread_id) = parent.map(|thread| thread.id) else { return Origin::Root };
        self.spawned(id, parent_thread_id, task_name, "")
    }

    /// Returns the origin of a thread that another thread spawned.
    pub(super) fn spawned(&mut self, id: Symbol, parent: Symbol, task_name: &str, agent_role: &str) -> Origin {
        Origin::Spawned {
            parent_thread_id: parent,
            spawn_edge_id: self.spawn_edge_id(parent, id),
            task_name: self.intern(task_name),
            agent_role: self.intern(agent_role),
        }
    }

    pub(super) fn spawn_edge_id(&mut self, parent: Symbol, child: Symbol) -> Symbol {
        let id = format!("edge:spawn:{}:{}", self.trace.text(parent), self.trace.text(child));
        self.intern(&id)
    }

    pub(super) fn add_thread(&mut self, thread: Thread) -> ThreadIdx {
        let id = thread.id;
        let index = self.trace.threads.push(thread);
        self.threads_by_id.insert(id, index);
        index
    }

    /// Returns the turn with this id. If no event declares it, reports that and adds a turn in its place. Reports a
    /// turn of another thread.
    pub(super) fn turn_of(&mut self, thread: ThreadIdx, id: Symbol) -> Step<TurnIdx> {
        let Some(turn) = self.turns_by_id.get(&id).copied() else {
            let message = format!("turn {} was never started; it is added without its start", self.trace.text(id));
            self.odd(Code::TurnUnknown, message)?;
            return Ok(self.add_turn(id, thread));
        };
        if self.trace.turns[turn].thread != thread {
            let message = format!("turn {} belongs to another thread", self.trace.text(id));
            self.odd(Code::TurnOfOtherThread, message)?;
        }
        Ok(turn)
    }

    /// Adds a turn that no event has declared yet.
    pub(super) fn add_turn(&mut self, id: Symbol, thread: ThreadIdx) -> TurnIdx {
        let turn = self.trace.turns.push(Turn { id, thread, execution: Window::running(self.event.at), implied: true });
        self.turns_by_id.insert(id, turn);
        turn
    }

    /// Returns the thread and turn that an event names. If it names no thread, the turn's thread is returned.
    pub(super) fn thread_and_turn(&mut self) -> Step<Option<(ThreadIdx, Option<TurnIdx>)>> {
        let thread = match (self.event.thread, self.event.turn) {
            (Some(thread), _) => self.thread(thread)?,
            (None, Some(turn)) => match self.turns_by_id.get(&turn) {
                Some(turn) => self.trace.turns[*turn].thread,
                None => {
                    let message =
                        format!("the event names only turn {}, which was never started", self.trace.text(turn));
                    self.odd(Code::TurnUnknown, message)?;
                    return Ok(None);
                }
            },
            (None, None) => {
                self.odd(Code::ContextMissing, "the event names neither its thread nor its turn")?;
                return Ok(None);
            }
        };
        let turn = match self.event.turn {
            Some(turn) => Some(self.turn_of(thread, turn)?),
            None => None,
        };
        Ok(Some((thread, turn)))
    }

    /// Interns the id of a payload that the event names.
    pub(super) fn payload_id(&mut self, reference: &PayloadRef<'_>) -> Symbol {
        self.intern_again(self.last_payload, &reference.raw_payload_id)
    }

    /// Adds a payload that the event names, or replaces what an earlier event said about it.
    pub(super) fn register_payload(&mut self, reference: &PayloadRef<'_>, ingested: &Ingested) {
        let id = self.intern(&reference.raw_payload_id);
        self.last_payload = Some(id);
        let raw = RawPayload { id, kind: self.intern(reference.kind.tag()), path: self.intern(&reference.path) };
        let problem = match ingested {
            Ingested::Failed(failure) if failure.is_broken => Some(describe_problem(&failure.problem)),
            _ => None,
        };
        let state = PayloadState { problem, seq: self.event.at.seq, reported: false };
        if let Some(index) = self.payloads_by_id.get(&id).copied() {
            self.trace.payloads[index] = raw;
            self.payloads[index] = state;
        } else {
            let index = self.trace.payloads.push(raw);
            self.payloads.push(state);
            self.payloads_by_id.insert(id, index);
        }
    }

    /// Returns what ingest read from a payload that the event needs. If it could not read the payload, reports that and
    /// returns `Nothing`.
    ///
    /// A broken payload that no rule needs is reported at the end of the log, not here.
    pub(super) fn readable(&mut self, payload: Symbol, ingested: Ingested) -> Step<Ingested> {
        match ingested {
            Ingested::Failed(failure) => {
                self.bad_payload(payload, &failure.problem)?;
                Ok(Ingested::Nothing)
            }
            read => Ok(read),
        }
    }

    /// Reports broken payloads that no rule needed.
    pub(super) fn check_payloads(&mut self) -> Step {
        if self.is_v1() {
            return Ok(());
        }
        let mut broken: Vec<_> = self
            .payloads
            .iter()
            .filter(|(_, state)| !state.reported)
            .filter_map(|(index, state)| Some((index, state.problem.clone()?, state.seq)))
            .collect();
        broken.sort_by_key(|(index, ..)| self.trace.text(self.trace.payloads[*index].id));
        for (index, (code, message), seq) in broken {
            let id: Box<str> = self.trace.text(self.trace.payloads[index].id).into();
            self.report(Diagnostic::new(code, message).at_seq(seq).of_payload(id))?;
        }
        Ok(())
    }
}

/// Returns the code and the message for a payload problem.
pub(super) fn describe_problem(problem: &PayloadProblem) -> (Code, Box<str>) {
    use trace_recorder::payloads::PayloadError;
    match problem {
        PayloadProblem::Missing => (Code::PayloadMissing, "the payload file is missing".into()),
        PayloadProblem::File(PayloadError::OutsideBundle) => {
            (Code::PayloadOutsideBundle, "the payload path leads out of the bundle and is not followed".into())
        }
        problem => (Code::PayloadInvalid, format!("the payload cannot be used: {problem}").into()),
    }
}

/// Returns the status, or `Aborted` for a status of a later release, which still ends the thread or session.
pub(super) fn known_rollout_status(status: RolloutStatus) -> RolloutStatus {
    if status == RolloutStatus::Unknown { RolloutStatus::Aborted } else { status }
}

/// Returns the status, or `Aborted` for a status of a later release, which still ends the object.
pub(super) fn known_status(status: ExecutionStatus) -> ExecutionStatus {
    if status == ExecutionStatus::Unknown { ExecutionStatus::Aborted } else { status }
}

/// Appends an entry if the list does not have it.
pub(super) fn push_unique<T: PartialEq>(list: &mut Vec<T>, entry: T) {
    if !list.contains(&entry) {
        list.push(entry);
    }
}
