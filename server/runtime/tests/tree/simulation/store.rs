//! Stores all threads, and the story so far.
//!
//! It stores events as the database of a server does: a process that dies leaves here what it would leave on disk.
//! Invariants that hold at every moment are checked here, those that hold at the end in `laws`.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Duration;

use serde_json::Value;
use trace_runtime::agent::Lineage;
use trace_runtime::event::{TurnKind, TurnOutcome};
use trace_runtime::item::{Activity, ItemKind, ModelItem, WorkStatus};
use trace_runtime::mail::{Mail, Wake};
use trace_runtime::tree::{NAMESPACE, StoredAgent, TreeLimits};
use trace_runtime::{Agent, EventKind, ThreadId, TurnId};

use super::script::number;

/// Longer than a turn needs to stop its tools.
const STOP_TIME: Duration = Duration::from_secs(3);

/// Tolerance for effects that are immediate, such as mail ending a wait.
const AT_ONCE: Duration = Duration::from_millis(100);

/// Prefix of the ids of messages with the result of a turn.
pub(super) const RESULT: &str = "amsg_result_";

/// What loading depends on, of one thread.
pub(super) struct StoredRow {
    pub(super) id: ThreadId,
    pub(super) parent: Option<ThreadId>,
    path: String,
    worked_at: i64,
}

impl StoredRow {
    pub(super) fn agent(&self) -> StoredAgent<'_> {
        StoredAgent { id: &self.id, parent: self.parent.as_ref(), path: &self.path, worked_at: self.worked_at }
    }
}

/// The stored state of a thread.
pub(super) struct Kept {
    pub(super) lineage: Option<Lineage>,
    /// Path of the agent, with a number if other agents had the path before.
    pub(super) name: String,
    pub(super) history: Vec<ModelItem>,
    pub(super) known: BTreeSet<String>,
    pub(super) open: Vec<Mail>,
    pub(super) turns: Vec<KeptTurn>,
    /// Whether it was closed or released, and does not come back.
    pub(super) is_closed: bool,
    /// Whether it is about to end because it or an ancestor was killed.
    pub(super) is_going: bool,
    /// Order of loading and ends of turns: a higher number is later.
    pub(super) ended: u64,
}

pub(super) struct KeptTurn {
    pub(super) id: TurnId,
    pub(super) kind: TurnKind,
    /// `None` if the turn was cut off.
    pub(super) outcome: Option<TurnOutcome>,
    pub(super) life: usize,
    /// Whether another agent interrupted it.
    is_stopped: bool,
}

/// A received message.
pub(super) struct Came {
    pub(super) to: ThreadId,
    pub(super) id: String,
    pub(super) wake: Wake,
    /// Number of the message.
    pub(super) number: Option<u64>,
    life: usize,
}

/// A call of one of the collaboration tools.
pub(super) struct Called {
    pub(super) tool: String,
    /// Number of the message that it sends.
    pub(super) number: Option<u64>,
    /// Output; `None` if it was never reported.
    pub(super) output: Option<String>,
    pub(super) life: usize,
    /// Paths of the caller and of the target.
    from: String,
    to: String,
    /// Number of earlier calls.
    place: usize,
    /// Requested duration of a wait.
    time: Duration,
    waited: Option<Waited>,
    has_arrived: bool,
}

/// A running wait.
struct Wait {
    began: Duration,
    /// When mail arrived first.
    mail: Option<Duration>,
}

/// A wait that has ended.
#[derive(Clone, Copy)]
struct Waited {
    took: Duration,
    has_mail: bool,
    is_stopped: bool,
}

impl Called {
    pub(super) fn is_done(&self) -> bool {
        let output = self.output.as_deref();
        output.is_some_and(|output| {
            output.is_empty() || output.starts_with("{\"task_name\"") || output.starts_with("{\"previous_status\"")
        })
    }

    /// Whether it is unknown if the call had an effect.
    pub(super) fn is_open(&self) -> bool {
        self.output.as_deref().is_none_or(|output| output == "aborted")
    }
}

#[derive(Default)]
pub(super) struct Store {
    pub(super) threads: BTreeMap<ThreadId, Kept>,
    /// The threads in the order of their start.
    pub(super) order: Vec<ThreadId>,
    pub(super) came: Vec<Came>,
    /// Numbers of messages that were read, each with the life.
    pub(super) read: BTreeSet<(u64, usize)>,
    /// Turns whose result was read by a parent, each with the life.
    pub(super) read_ends: BTreeSet<(TurnId, usize)>,
    /// Calls by thread, life and call id.
    pub(super) calls: BTreeMap<(ThreadId, usize, String), Called>,
    pub(super) life: usize,
    pub(super) story: Vec<String>,
    /// Violated invariants.
    pub(super) broken: Vec<String>,
    turn_names: HashMap<TurnId, String>,
    all_mail: BTreeSet<String>,
    waits: HashMap<(ThreadId, String), Wait>,
    pub(super) longest_wait: Duration,
    pub(super) limits: TreeLimits,
    /// Number of agents that made room for others.
    pub(super) made_room: usize,
    /// The newest call of each agent whose message arrived at each other agent.
    heard: HashMap<(ThreadId, ThreadId), usize>,
    events: u64,
}

impl Store {
    pub(super) fn say(&mut self, at: Duration, what: &str) {
        self.story.push(format!("{}.{:>8.3} {what}", self.life, at.as_secs_f64()));
    }

    pub(super) fn broke(&mut self, what: String) {
        self.story.push(format!("BROKEN: {what}"));
        self.broken.push(what);
    }

    pub(super) fn begin(&mut self, agent: &Agent, at: Duration) {
        let path = agent.path();
        if agent.depth() > self.limits.max_depth {
            self.broke(format!("{path} stands too deep"));
        }
        let is_going = agent.parent().is_some_and(|parent| self.threads[parent].is_going);
        let same = self.threads.values().filter(|kept| kept.path() == path).count();
        let name = if same == 0 { path.to_owned() } else { format!("{path}~{}", same + 1) };
        self.say(at, &format!("{name} begins"));
        let kept = Kept {
            lineage: agent.lineage().cloned(),
            name,
            history: agent.history(),
            known: BTreeSet::new(),
            open: Vec::new(),
            turns: Vec::new(),
            is_closed: false,
            is_going,
            ended: self.next(),
        };
        self.order.push(agent.id().clone());
        self.threads.insert(agent.id().clone(), kept);
    }

    pub(super) fn close(&mut self, thread: &ThreadId, at: Duration) {
        let name = self.name(thread);
        self.threads.get_mut(thread).expect("it began").is_closed = true;
        self.say(at, &format!("{name} is put away"));
    }

    /// Returns what the order of loading depends on.
    pub(super) fn stored_row(&self, thread: &ThreadId) -> StoredRow {
        let kept = &self.threads[thread];
        let parent = kept.lineage.as_ref().map(|lineage| lineage.parent.clone());
        let worked_at = i64::try_from(kept.ended).expect("a small number");
        StoredRow { id: thread.clone(), parent, path: kept.path().to_owned(), worked_at }
    }

    /// Returns the newest turn of an agent that worked for a user or another agent.
    pub(super) fn last_work(&self, thread: &ThreadId) -> Option<(TurnId, TurnOutcome)> {
        let last = self.threads[thread].turns.iter().rfind(|turn| turn.kind == TurnKind::Regular)?;
        Some((last.id.clone(), last.outcome.clone().unwrap_or(TurnOutcome::Interrupted)))
    }

    /// Records that an agent was loaded.
    pub(super) fn load(&mut self, thread: &ThreadId) {
        let now = self.next();
        let kept = self.kept(thread);
        kept.ended = now;
        // If the process died before the removal was stored, the agent comes back.
        kept.is_going = false;
    }

    /// Records that an agent is about to end.
    pub(super) fn kill(&mut self, thread: &ThreadId) {
        self.kept(thread).is_going = true;
    }

    /// Returns whether an agent works or is about to.
    pub(super) fn is_busy(&self, thread: &ThreadId) -> bool {
        let kept = &self.threads[thread];
        let waits = |came: &Came| {
            let is_task = came.to == *thread && came.wake == Wake::Agent && came.life == self.life;
            is_task && kept.open.iter().any(|mail| mail.id == came.id)
        };
        kept.turns.last().is_some_and(|turn| turn.runs(self.life)) || self.came.iter().any(waits)
    }

    fn next(&mut self) -> u64 {
        self.events += 1;
        self.events
    }

    pub(super) fn name(&self, thread: &ThreadId) -> String {
        self.threads.get(thread).map_or_else(|| "somebody".to_owned(), |kept| kept.name.clone())
    }

    pub(super) fn turn_name(&mut self, turn: &TurnId) -> String {
        let next = self.turn_names.len() + 1;
        self.turn_names.entry(turn.clone()).or_insert_with(|| format!("turn {next}")).clone()
    }

    /// Records an event of a thread.
    pub(super) fn take(&mut self, thread: &ThreadId, event: &EventKind, at: Duration) {
        let name = self.name(thread);
        if !self.threads.contains_key(thread) {
            self.broke("something happens in a thread that nobody adopted".to_owned());
            return;
        }
        match event {
            EventKind::TurnStarted { turn, kind, .. } => self.turn_began(thread, &name, turn, *kind, at),
            EventKind::TurnEnded { turn, outcome } => self.turn_ended(thread, &name, turn, outcome, at),
            EventKind::MailCame { mail } => self.mail_came(thread, &name, mail, at),
            EventKind::Remembered { item } => self.remembered(thread, &name, item, at),
            EventKind::HistoryReplaced { history, .. } => {
                self.say(at, &format!("{name} has a shorter history"));
                self.kept(thread).history = history.to_vec();
            }
            EventKind::ItemStarted { item, .. } => match &item.kind {
                ItemKind::AgentCall { .. } => {
                    let mail = if self.kept(thread).open.is_empty() { None } else { Some(at) };
                    self.waits.insert((thread.clone(), item.id.to_string()), Wait { began: at, mail });
                }
                ItemKind::AgentActivity { activity: Activity::Interrupted, agent, .. } => self.stops(agent),
                _ => {}
            },
            EventKind::ItemCompleted { item, .. } => {
                if let ItemKind::AgentCall { status, .. } = &item.kind {
                    self.waited(thread, &name, item.id.as_str(), *status, at);
                }
            }
            EventKind::Error { error, .. } => self.say(at, &format!("{name}: {}", error.message)),
            _ => {}
        }
    }

    /// Starts a new life of the process: running turns are cut off.
    pub(super) fn next_life(&mut self) {
        self.life += 1;
        self.waits.clear();
    }

    pub(super) fn open_waits(&self) -> usize {
        self.waits.len()
    }

    fn kept(&mut self, thread: &ThreadId) -> &mut Kept {
        self.threads.get_mut(thread).expect("it was looked for")
    }

    /// Expects that the turn of an agent ends as interrupted, because another agent interrupts it.
    fn stops(&mut self, agent: &ThreadId) {
        let life = self.life;
        if let Some(turn) = self.kept(agent).turns.last_mut().filter(|turn| turn.runs(life)) {
            turn.is_stopped = true;
        }
    }

    /// Checks that a wait took no longer than requested, and ended when there was mail.
    fn waited(&mut self, thread: &ThreadId, name: &str, call: &str, status: WorkStatus, at: Duration) {
        let wait = self.waits.remove(&(thread.clone(), call.to_owned()));
        let called = self.calls.get_mut(&(thread.clone(), self.life, call.to_owned()));
        let (Some(wait), Some(called)) = (wait, called) else {
            self.broke(format!("a wait of {name} ended that did not begin"));
            return;
        };
        let took = at.saturating_sub(wait.began);
        let (time, is_stopped) = (called.time, status == WorkStatus::Interrupted);
        called.waited = Some(Waited { took, has_mail: wait.mail.is_some(), is_stopped });
        self.longest_wait = self.longest_wait.max(took);
        if took > time + STOP_TIME {
            self.broke(format!("a wait of {name} for {time:?} took {took:?}"));
        }
        if wait.mail.is_some_and(|mail| at > mail + AT_ONCE) {
            self.broke(format!("a wait of {name} went on though there was mail"));
        }
    }

    /// Checks that the output of a wait matches how it ended.
    fn told_of_wait(&mut self, name: &str, is_root: bool, time: Duration, waited: Option<Waited>, output: &str) {
        let Ok(told) = serde_json::from_str::<Value>(output) else { return };
        let Some(Waited { took, has_mail, is_stopped }) = waited else {
            self.broke(format!("{name} is told of a wait that it did not end"));
            return;
        };
        let says = |words: &str| told["message"].as_str().is_some_and(|message| message.contains(words));
        let fits = match told["timed_out"].as_bool() {
            Some(true) => !has_mail && !is_stopped && took >= time,
            Some(false) => has_mail || (is_root && says("the user said something")) || (is_stopped && says("stopped")),
            None => false,
        };
        if !fits {
            self.broke(format!("{name} is told something else of a wait for {time:?} than what was: {output}"));
        }
    }

    fn turn_began(&mut self, thread: &ThreadId, name: &str, turn: &TurnId, kind: TurnKind, at: Duration) {
        let turn_name = self.turn_name(turn);
        self.say(at, &format!("{name} begins {turn_name} ({})", kind.name()));
        let life = self.life;
        let kept = self.kept(thread);
        let is_alone = kept.turns.last().is_none_or(|last| !last.runs(life));
        kept.turns.push(KeptTurn { id: turn.clone(), kind, outcome: None, life, is_stopped: false });
        if !is_alone {
            self.broke(format!("{turn_name} of {name} began before the turn before it ended"));
        }
        // Agents that are about to end no longer occupy a place.
        let children = self.threads.values().filter(|kept| kept.lineage.is_some() && !kept.is_going && !kept.is_closed);
        let last = children.filter_map(|kept| kept.turns.last());
        let working = last.filter(|turn| turn.kind == TurnKind::Regular && turn.runs(life)).count();
        if working >= self.limits.max_threads {
            self.broke(format!("{working} agents work beside the root when {name} begins {turn_name}"));
        }
    }

    fn turn_ended(&mut self, thread: &ThreadId, name: &str, turn: &TurnId, outcome: &TurnOutcome, at: Duration) {
        let turn_name = self.turn_name(turn);
        self.say(at, &format!("{name} ends {turn_name}: {}", words(outcome)));
        let now = self.next();
        let kept = self.kept(thread);
        kept.ended = now;
        let is_stopped = match kept.turns.last_mut() {
            Some(last) if last.id == *turn && last.outcome.is_none() => {
                last.outcome = Some(outcome.clone());
                last.is_stopped
            }
            _ => {
                self.broke(format!("{turn_name} of {name} ended, and it did not run"));
                return;
            }
        };
        if is_stopped && *outcome != TurnOutcome::Interrupted {
            self.broke(format!("{turn_name} of {name} was interrupted, and went on"));
        }
    }

    fn mail_came(&mut self, thread: &ThreadId, name: &str, mail: &Mail, at: Duration) {
        let text = mail.content.iter().filter_map(said).collect::<String>();
        let number = if mail.id.starts_with(RESULT) { None } else { number(&text) };
        let what = self.letter(&mail.id, number);
        self.say(at, &format!("{what} comes to {name}"));
        if !self.all_mail.insert(mail.id.clone()) {
            self.broke(format!("{what} came twice"));
        }
        match (mail.id.strip_prefix(RESULT), number) {
            (Some(of), _) => self.check_result(thread, &what, of, &text),
            (None, Some(number)) => self.check_words(thread, &what, number, mail),
            (None, None) => self.broke(format!("{what} comes to {name}, and nobody said anything")),
        }
        if mail.recipient != self.kept(thread).path() {
            self.broke(format!("{what} for {} comes to {name}", mail.recipient));
        }
        for ((waits, _), wait) in &mut self.waits {
            if waits == thread {
                wait.mail.get_or_insert(at);
            }
        }
        let kept = self.kept(thread);
        kept.known.insert(mail.id.clone());
        kept.open.push(mail.clone());
        self.came.push(Came { to: thread.clone(), id: mail.id.clone(), wake: mail.wake, number, life: self.life });
    }

    /// Checks that a message arrives at its target, in the order of sending.
    fn check_words(&mut self, thread: &ThreadId, what: &str, number: u64, mail: &Mail) {
        let says = |called: &Called| {
            called.number == Some(number) && called.from == mail.author && called.to == mail.recipient
        };
        let calls = self.calls.iter_mut().filter(|(_, called)| !called.has_arrived && says(called));
        let Some(((from, ..), called)) = calls.max_by_key(|(_, called)| called.place) else {
            self.broke(format!("{what} of {} comes to {}, and was not meant for it", mail.author, mail.recipient));
            return;
        };
        called.has_arrived = true;
        let place = called.place;
        let before = self.heard.insert((from.clone(), thread.clone()), place);
        if before.is_some_and(|before| before > place) {
            self.broke(format!("{what} comes after what was said later"));
        }
    }

    /// Checks that a reported result matches the end of the turn.
    fn check_result(&mut self, parent: &ThreadId, what: &str, of: &str, text: &str) {
        let is_childs = |kept: &&Kept| kept.lineage.as_ref().is_some_and(|lineage| lineage.parent == *parent);
        let turns = self.threads.values().filter(is_childs).flat_map(|kept| &kept.turns);
        let turn = turns.into_iter().find(|turn| turn.id.as_str() == of);
        let expected = match turn {
            Some(turn) if turn.kind != TurnKind::Regular => {
                self.broke(format!("{what} tells of a turn that was no work"));
                return;
            }
            Some(turn) => turn.outcome.clone().unwrap_or(TurnOutcome::Interrupted),
            None if self.all_mail.contains(of) => TurnOutcome::Interrupted,
            None => {
                self.broke(format!("{what} tells of nothing that there was"));
                return;
            }
        };
        let fits = match &expected {
            TurnOutcome::Completed { last_message: None } => text.contains("without a word"),
            TurnOutcome::Completed { last_message: Some(item) } => {
                matches!(&item.kind, ItemKind::AgentMessage { text: said, .. } if text.ends_with(said.as_str()))
            }
            TurnOutcome::Failed(error) => text.contains("turn failed") && text.contains(&error.message),
            TurnOutcome::Interrupted => text.contains("was interrupted"),
        };
        if !fits {
            self.broke(format!("{what} says something else than how it ended: {} / {text}", words(&expected)));
        }
    }

    fn remembered(&mut self, thread: &ThreadId, name: &str, item: &ModelItem, at: Duration) {
        let text = |member: &str| item.get(member).and_then(Value::as_str).unwrap_or_default().to_owned();
        let life = self.life;
        match text("type").as_str() {
            "agent_message" => {
                let id = text("id");
                let kept = self.kept(thread);
                let place = kept.open.iter().position(|mail| mail.id == id);
                kept.open.retain(|mail| mail.id != id);
                let number = self.came.iter().find(|came| came.id == id).and_then(|came| came.number);
                let what = self.letter(&id, number);
                self.say(at, &format!("{name} reads {what}"));
                self.read.extend(number.map(|number| (number, life)));
                self.read_ends.extend(id.strip_prefix(RESULT).map(|turn| (TurnId::from(turn), life)));
                match place {
                    Some(0) => {}
                    Some(_) => self.broke(format!("{name} reads {what} before what came before it")),
                    None => self.broke(format!("{name} reads {what}, which did not wait for it")),
                }
            }
            "function_call" if item["namespace"] == NAMESPACE => {
                let arguments: Value = serde_json::from_str(&text("arguments")).unwrap_or_default();
                let number = arguments["message"].as_str().and_then(number);
                let tool = text("name");
                let target = arguments["target"].as_str().or(arguments["task_name"].as_str()).unwrap_or_default();
                self.say(
                    at,
                    &format!(
                        "{name} calls {tool} {target} {}",
                        number.map_or_else(String::new, |number| number.to_string())
                    ),
                );
                let from = self.kept(thread).path().to_owned();
                let called = Called {
                    to: if target.starts_with('/') { target.to_owned() } else { format!("{from}/{target}") },
                    from,
                    tool,
                    number,
                    output: None,
                    life,
                    place: self.calls.len(),
                    time: Duration::from_millis(arguments["timeout_ms"].as_u64().unwrap_or_default()),
                    waited: None,
                    has_arrived: false,
                };
                self.calls.insert((thread.clone(), life, text("call_id")), called);
            }
            "function_call_output" => {
                if let Some(called) = self.calls.get_mut(&(thread.clone(), life, text("call_id"))) {
                    let output = text("output");
                    let told = format!(
                        "{name} is answered to {}: {}",
                        called.tool,
                        output.chars().take(80).collect::<String>()
                    );
                    let (is_wait, time, waited) = (called.tool == "wait_agent", called.time, called.waited);
                    called.output = Some(output.clone());
                    self.say(at, &told);
                    if is_wait {
                        let is_root = self.kept(thread).lineage.is_none();
                        self.told_of_wait(name, is_root, time, waited, &output);
                    }
                }
            }
            _ => {}
        }
        self.kept(thread).history.push(ModelItem::clone(item));
    }

    fn letter(&mut self, id: &str, number: Option<u64>) -> String {
        match (id.strip_prefix(RESULT), number) {
            (Some(of), _) if self.turn_names.contains_key(&TurnId::from(of)) => {
                format!("what came of {}", self.turn_name(&TurnId::from(of)))
            }
            (Some(_), _) => "what came of a task".to_owned(),
            (None, Some(number)) => format!("note {number}"),
            (None, None) => "a note".to_owned(),
        }
    }
}

impl KeptTurn {
    pub(super) fn runs(&self, life: usize) -> bool {
        self.outcome.is_none() && self.life == life
    }
}

impl Kept {
    pub(super) fn path(&self) -> &str {
        self.lineage.as_ref().map_or("/root", |lineage| &lineage.path)
    }
}

pub(super) fn words(outcome: &TurnOutcome) -> String {
    match outcome {
        TurnOutcome::Completed { .. } => "completed".to_owned(),
        TurnOutcome::Interrupted => "interrupted".to_owned(),
        TurnOutcome::Failed(error) => format!("failed ({})", error.message),
    }
}

fn said(part: &Value) -> Option<&str> {
    part["text"].as_str().or(part["encrypted_content"].as_str())
}
