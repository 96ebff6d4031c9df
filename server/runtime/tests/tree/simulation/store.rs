//! What is kept of all threads, and the story so far.
//!
//! It keeps what the store of a server keeps, event by event: a process that dies leaves here what it would leave on a disk. Laws
//! that hold at every moment are looked after here, those that hold in the end in `laws`.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Duration;

use serde_json::Value;
use trace_runtime::agent::Lineage;
use trace_runtime::event::{TurnKind, TurnOutcome};
use trace_runtime::item::{ItemKind, ModelItem};
use trace_runtime::mail::{Mail, Wake};
use trace_runtime::tree::NAMESPACE;
use trace_runtime::{Agent, EventKind, ThreadId, TurnId};

use super::script::number;

/// Longest wait of a script, with what a turn takes to stop its tools.
const LONGEST_WAIT: Duration = Duration::from_secs(63);

/// Begins the id of what a parent is told of a turn.
pub(super) const RESULT: &str = "amsg_result_";

/// What is kept of a thread.
pub(super) struct Kept {
    pub(super) lineage: Option<Lineage>,
    /// Its path, with a number if others had the path before.
    pub(super) name: String,
    pub(super) history: Vec<ModelItem>,
    pub(super) known: BTreeSet<String>,
    pub(super) open: Vec<Mail>,
    pub(super) turns: Vec<KeptTurn>,
    /// Put away, or let go: it does not come back.
    pub(super) is_closed: bool,
}

pub(super) struct KeptTurn {
    pub(super) id: TurnId,
    pub(super) kind: TurnKind,
    /// Nothing for one that was cut off.
    pub(super) outcome: Option<TurnOutcome>,
    life: usize,
}

/// A message that came.
pub(super) struct Came {
    pub(super) to: ThreadId,
    pub(super) id: String,
    pub(super) wake: Wake,
    /// The number of what was said.
    pub(super) number: Option<u64>,
}

/// A call of one of the tools.
pub(super) struct Called {
    pub(super) tool: String,
    /// The number of what it says.
    pub(super) number: Option<u64>,
    /// What came of it; nothing if that was never told.
    pub(super) output: Option<String>,
    pub(super) life: usize,
}

impl Called {
    pub(super) fn is_done(&self) -> bool {
        let output = self.output.as_deref();
        output.is_some_and(|output| {
            output.is_empty() || output.starts_with("{\"task_name\"") || output.starts_with("{\"previous_status\"")
        })
    }

    /// Whether it may have been carried out or not.
    pub(super) fn is_open(&self) -> bool {
        self.output.as_deref().is_none_or(|output| output == "aborted")
    }
}

#[derive(Default)]
pub(super) struct Store {
    pub(super) threads: BTreeMap<ThreadId, Kept>,
    /// In the order in which they began.
    pub(super) order: Vec<ThreadId>,
    pub(super) came: Vec<Came>,
    /// Numbers of what was read, each with the life in which it was.
    pub(super) read: BTreeSet<(u64, usize)>,
    /// By thread, life and call id.
    pub(super) calls: BTreeMap<(ThreadId, usize, String), Called>,
    pub(super) life: usize,
    pub(super) story: Vec<String>,
    /// Laws that were broken.
    pub(super) broken: Vec<String>,
    turn_names: HashMap<TurnId, String>,
    all_mail: BTreeSet<String>,
    waits: HashMap<(ThreadId, String), Duration>,
    pub(super) longest_wait: Duration,
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
        };
        self.order.push(agent.id().clone());
        self.threads.insert(agent.id().clone(), kept);
    }

    pub(super) fn close(&mut self, thread: &ThreadId, at: Duration) {
        let name = self.name(thread);
        self.threads.get_mut(thread).expect("it began").is_closed = true;
        self.say(at, &format!("{name} is put away"));
    }

    pub(super) fn name(&self, thread: &ThreadId) -> String {
        self.threads.get(thread).map_or_else(|| "somebody".to_owned(), |kept| kept.name.clone())
    }

    pub(super) fn turn_name(&mut self, turn: &TurnId) -> String {
        let next = self.turn_names.len() + 1;
        self.turn_names.entry(turn.clone()).or_insert_with(|| format!("turn {next}")).clone()
    }

    /// Takes what happened in a thread.
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
            EventKind::ItemStarted { item, .. } if matches!(item.kind, ItemKind::AgentCall { .. }) => {
                self.waits.insert((thread.clone(), item.id.to_string()), at);
            }
            EventKind::ItemCompleted { item, .. } if matches!(item.kind, ItemKind::AgentCall { .. }) => {
                match self.waits.remove(&(thread.clone(), item.id.to_string())) {
                    Some(began) => {
                        let took = at.saturating_sub(began);
                        self.longest_wait = self.longest_wait.max(took);
                        if took > LONGEST_WAIT {
                            self.broke(format!("a wait of {name} took {took:?}"));
                        }
                    }
                    None => self.broke(format!("a wait of {name} ended that did not begin")),
                }
            }
            EventKind::Error { error, .. } => self.say(at, &format!("{name}: {}", error.message)),
            _ => {}
        }
    }

    /// Begins a process anew: what ran is cut off.
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

    fn turn_began(&mut self, thread: &ThreadId, name: &str, turn: &TurnId, kind: TurnKind, at: Duration) {
        let turn_name = self.turn_name(turn);
        self.say(at, &format!("{name} begins {turn_name} ({})", kind.name()));
        let life = self.life;
        let kept = self.kept(thread);
        let is_alone = kept.turns.last().is_none_or(|last| last.outcome.is_some() || last.life != life);
        kept.turns.push(KeptTurn { id: turn.clone(), kind, outcome: None, life });
        if !is_alone {
            self.broke(format!("{turn_name} of {name} began before the turn before it ended"));
        }
    }

    fn turn_ended(&mut self, thread: &ThreadId, name: &str, turn: &TurnId, outcome: &TurnOutcome, at: Duration) {
        let turn_name = self.turn_name(turn);
        self.say(at, &format!("{name} ends {turn_name}: {}", words(outcome)));
        match self.kept(thread).turns.last_mut() {
            Some(last) if last.id == *turn && last.outcome.is_none() => last.outcome = Some(outcome.clone()),
            _ => self.broke(format!("{turn_name} of {name} ended, and it did not run")),
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
        if let Some(of) = mail.id.strip_prefix(RESULT) {
            self.check_result(&what, of, &text);
        }
        let kept = self.kept(thread);
        kept.known.insert(mail.id.clone());
        kept.open.push(mail.clone());
        self.came.push(Came { to: thread.clone(), id: mail.id.clone(), wake: mail.wake, number });
    }

    /// What a parent is told of a turn is how it ended.
    fn check_result(&mut self, what: &str, of: &str, text: &str) {
        let turns = self.threads.values().flat_map(|kept| &kept.turns);
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
                let before = kept.open.len();
                kept.open.retain(|mail| mail.id != id);
                let left = kept.open.len();
                let number = self.came.iter().find(|came| came.id == id).and_then(|came| came.number);
                let what = self.letter(&id, number);
                self.say(at, &format!("{name} reads {what}"));
                self.read.extend(number.map(|number| (number, life)));
                if left + 1 != before {
                    self.broke(format!("{name} reads {what}, which did not wait for it"));
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
                let called = Called { tool, number, output: None, life };
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
                    called.output = Some(output);
                    self.say(at, &told);
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
