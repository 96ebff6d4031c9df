//! The ledger under an audit: what agents did, which checks they ran, what they changed, and what they claimed, each
//! with the objects that it rests on.

pub mod acts;
pub mod changes;
pub mod edits;
mod item_text;
mod user;

use std::collections::{HashMap, HashSet};

use rayon::prelude::*;
use trace_reducer::model::{ExecutionStatus, Handle, InferenceIdx, ItemIdx, ItemKind, Role, ThreadIdx, TurnIdx};

pub use acts::{Act, Input};
pub use changes::Effect;
pub use edits::{EditKind, FileEdit, Line};
pub use item_text::text_of_item;
pub use user::{Words, user_words};

use crate::audit::read::checks::{CheckRun, Ended, Outcome, judge_ended};
use crate::audit::read::files::{base_name, is_below, is_document, is_same, is_temporary, is_test, joined};
use crate::audit::read::sentences::{Claims, claims_in};
use crate::audit::read::shell::commands;
use crate::family::Family;
use crate::inherited::inherited_items;
use crate::session::Session;

/// Fewest acts, and fewest answers, that are worth another thread.
const MIN_ACTS: usize = 64;
const MIN_ANSWERS: usize = 8;

/// A check that an act ran.
#[derive(Debug)]
pub struct Run {
    /// Index of the act.
    pub act: usize,
    /// What it was and how it ended.
    pub check: CheckRun,
    /// Sequence number from which its end was known; that of the start of the act if it was not.
    pub at: u64,
    /// Folder in which it ran.
    pub folder: String,
}

/// A file that an act changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Index of the act.
    pub act: usize,
    /// Place of the command in its line; 0 for other acts.
    pub command: usize,
    /// The file, as a whole path if the folder is known; `None` if any file below `folder` may have changed.
    pub path: Option<String>,
    /// What happened to it.
    pub effect: Effect,
    /// Folder in which the act ran.
    pub folder: String,
    /// Sequence number of the end of the act.
    pub at: u64,
}

/// An answer of an agent.
#[derive(Debug)]
pub struct Answer {
    /// The message.
    pub item: ItemIdx,
    /// The inference call that wrote it.
    pub inference: InferenceIdx,
    /// The agent.
    pub thread: ThreadIdx,
    /// Its turn.
    pub turn: TurnIdx,
    /// Sequence number of the start of the inference call: what ended before it is evidence.
    pub cutoff: u64,
    /// Sequence number of the event that shows the message.
    pub seq: u64,
    /// Its text.
    pub text: String,
    /// What it claims.
    pub claims: Claims,
}

/// The ledger of a session.
#[derive(Debug)]
pub struct Ledger<'s> {
    /// The session.
    pub session: &'s Session,
    /// The tree of agents.
    pub family: Family,
    /// What agents did, in the order of the log.
    pub acts: Vec<Act<'s>>,
    /// The checks that they ran, in the order of the log.
    pub runs: Vec<Run>,
    /// What they changed, in the order of the log.
    pub changes: Vec<Change>,
    /// What they answered, in the order of the log.
    pub answers: Vec<Answer>,
    /// What users and instructions said.
    pub words: Vec<Words>,
    /// For each thread, whether it inherited a history.
    inherits: Vec<bool>,
    /// For each thread, whether something of it is missing in the recording.
    gaps: Vec<bool>,
    /// Indices of acts by thread.
    by_thread: HashMap<ThreadIdx, Vec<usize>>,
}

impl<'s> Ledger<'s> {
    /// Makes the ledger of a session. Takes time proportional to the graph and to the arguments of its calls.
    pub fn new(session: &'s Session) -> Self {
        let trace = session.trace();
        let family = Family::new(trace);
        let acts = acts::acts(session);
        let inherited = inherited_items(trace, &family);
        let mut inherits = vec![false; trace.threads.len()];
        for (item, flag) in trace.items.values().zip(&inherited) {
            if *flag {
                inherits[item.thread.index()] = true;
            }
        }
        let words = user_words(session, &family);
        let answers = answers(session, &inherited);
        let mut by_thread: HashMap<ThreadIdx, Vec<usize>> = HashMap::new();
        for (index, act) in acts.iter().enumerate() {
            by_thread.entry(act.thread).or_default().push(index);
        }
        let mut ledger = Self {
            session,
            family,
            acts,
            runs: Vec::new(),
            changes: Vec::new(),
            answers,
            words,
            inherits,
            gaps: Vec::new(),
            by_thread,
        };
        ledger.changes = ledger.find_changes();
        ledger.runs = ledger.find_runs();
        ledger.gaps = ledger.find_gaps();
        ledger
    }

    fn find_changes(&self) -> Vec<Change> {
        self.acts
            .par_iter()
            .enumerate()
            .with_min_len(MIN_ACTS)
            .flat_map_iter(|(index, act)| changes_by(index, act))
            .collect()
    }

    fn find_runs(&self) -> Vec<Run> {
        let acts = self.acts.par_iter().enumerate().with_min_len(MIN_ACTS);
        let mut found: Vec<Run> = acts.flat_map_iter(|(index, act)| self.runs_by(index, act)).collect();
        // What a run in the background told later is known later.
        found.sort_by_key(|run| run.at);
        found
    }

    /// Returns the checks that an act ran.
    fn runs_by(&self, index: usize, act: &Act<'_>) -> Vec<Run> {
        let mut found = Vec::new();
        for mut check in judge_ended(act.commands(), &act.output, act.state) {
            // A program that the agent wrote itself, and that is no test of the project, checks nothing.
            if !check.is_known && self.is_own_script(index, &check.command) {
                continue;
            }
            if act.is_unreadable && check.outcome.is_run() {
                check.outcome = Outcome::Unknown;
            }
            let folder = check.folder.as_deref().map_or_else(|| act.cwd.to_owned(), |inner| joined(act.cwd, inner));
            found.push(Run { act: index, at: act.ended.unwrap_or(act.started), check, folder });
        }
        found
    }

    fn is_own_script(&self, act: usize, command: &str) -> bool {
        let own = &self.acts[act];
        let Some(script) = commands(command)
            .first()
            .and_then(|it| it.words.iter().find(|word| word.contains('.') || word.contains('/')).cloned())
        else {
            return false;
        };
        if is_temporary(&script) || is_temporary(&joined(own.cwd, &script)) {
            return true;
        }
        if is_test(&script) {
            return false;
        }
        self.changes.iter().any(|change| {
            change.act < act
                && change.effect == Effect::Write
                && change.path.as_deref().is_some_and(|path| is_same(path, &joined(own.cwd, &script)))
                && self.made(change.act, base_name(&script))
        })
    }

    /// Returns whether an act wrote a file anew.
    fn made(&self, act: usize, name: &str) -> bool {
        match &self.acts[act].input {
            Input::Edit(edits) => edits.iter().any(|edit| edit.kind == EditKind::Add && base_name(&edit.path) == name),
            Input::Command(_) => true,
            _ => false,
        }
    }

    fn find_gaps(&self) -> Vec<bool> {
        let trace = self.session.trace();
        let mut gaps = vec![false; trace.threads.len()];
        for act in &self.acts {
            if act.is_unreadable {
                gaps[act.thread.index()] = true;
            }
        }
        for turn in trace.turns.values() {
            if turn.execution.ended.is_none() || turn.execution.status == ExecutionStatus::Running {
                gaps[turn.thread.index()] = true;
            }
        }
        for (thread, it) in trace.threads.iter() {
            if !it.resumed.is_empty() {
                gaps[thread.index()] = true;
            }
            // A history that was there before the first request, and that is not the parent's, came from elsewhere.
            if !self.inherits[thread.index()] && self.has_earlier_history(thread) {
                gaps[thread.index()] = true;
            }
        }
        gaps
    }

    /// Returns whether the first request of a thread holds answers or outputs that no call of this session made.
    fn has_earlier_history(&self, thread: ThreadIdx) -> bool {
        let trace = self.session.trace();
        let first = trace.inferences.values().find(|call| call.thread == thread);
        first.is_some_and(|call| {
            trace.lists.get(call.request_items).iter().any(|item| {
                let item = &trace.items[*item];
                (item.role == Role::Assistant
                    && item.agent_message.is_none()
                    && item.kind != ItemKind::CompactionMarker)
                    || item.kind.is_output()
            })
        })
    }

    /// Returns whether something that an agent did or saw may be missing in the recording, before an event.
    pub fn has_gaps(&self, thread: ThreadIdx) -> bool {
        let below = self.family.order().iter().filter(|other| self.family.is_above(thread, **other));
        self.gaps[thread.index()] || below.into_iter().any(|other| self.gaps[other.index()])
    }

    /// Returns whether an act at `seq` of one agent is evidence for another: its own, that of agents below it, and what
    /// was done before it inherited a history.
    pub fn is_visible(&self, to: ThreadIdx, by: ThreadIdx, seq: u64) -> bool {
        if to == by || self.family.is_above(to, by) {
            return true;
        }
        let began = self.session.trace().threads[to].execution.started.seq;
        self.inherits[to.index()]
            && seq <= began
            && (self.family.is_above(by, to)
                || self.family.root(by) == self.family.root(to) && self.family.is_above(self.family.root(to), by))
    }

    /// Returns the runs that had ended before `cutoff` and are evidence for an agent, in the order of the log.
    pub fn runs_for(&self, thread: ThreadIdx, cutoff: u64) -> impl DoubleEndedIterator<Item = &Run> {
        let until = self.runs.partition_point(|run| run.at < cutoff);
        self.runs[..until].iter().filter(move |run| self.is_visible(thread, self.acts[run.act].thread, run.at))
    }

    /// Returns the runs of all agents that had ended before `cutoff`, in the order of the log.
    pub fn runs_before(&self, cutoff: u64) -> impl DoubleEndedIterator<Item = &Run> {
        self.runs[..self.runs.partition_point(|run| run.at < cutoff)].iter()
    }

    /// Returns the changes that had ended before `cutoff` and are evidence for an agent, in the order of the acts.
    pub fn changes_for(&self, thread: ThreadIdx, cutoff: u64) -> impl DoubleEndedIterator<Item = &Change> {
        self.changes.iter().filter(move |change| {
            change.at < cutoff && self.is_visible(thread, self.acts[change.act].thread, change.at)
        })
    }

    /// Returns the acts that had begun before `cutoff` and are evidence for an agent.
    pub fn acts_for(&self, thread: ThreadIdx, cutoff: u64) -> impl Iterator<Item = (usize, &Act<'s>)> {
        let until = self.acts.partition_point(|act| act.started < cutoff);
        self.acts[..until].iter().enumerate().filter(move |(_, act)| self.is_visible(thread, act.thread, act.started))
    }

    /// Returns the acts of a thread, in the order of the log.
    pub fn acts_of(&self, thread: ThreadIdx) -> &[usize] {
        self.by_thread.get(&thread).map_or(&[], Vec::as_slice)
    }

    /// Returns the answers of a turn.
    pub fn answers_of(&self, turn: Option<TurnIdx>) -> impl Iterator<Item = &Answer> {
        self.answers.iter().filter(move |answer| Some(answer.turn) == turn)
    }

    /// Returns whether a change is one that a run may depend on.
    pub fn covers(&self, run: &Run, change: &Change) -> bool {
        let Some(path) = &change.path else {
            return is_below(&run.folder, &change.folder)
                || is_below(&change.folder, &run.folder)
                || run.folder.is_empty()
                || change.folder.is_empty();
        };
        if is_document(path) || is_temporary(path) || is_beside_code(path) {
            return false;
        }
        let is_whole = path.starts_with('/');
        if is_whole && !run.folder.is_empty() && !is_below(path, &run.folder) {
            return false;
        }
        if !is_whole
            && change.folder.is_empty()
            && run.check.folder.as_deref().is_some_and(|folder| !path.starts_with(folder.trim_end_matches('/')))
        {
            return false;
        }
        let other_language = match (language_of_command(&run.check.command), language_of_file(path)) {
            (Some(run), Some(file)) => run != file,
            _ => false,
        };
        let named = crate::audit::read::sentences::operands_of(
            &commands(&run.check.command).into_iter().next().unwrap_or_else(empty_command),
        );
        let other_test = is_test(path)
            && named.iter().any(|name| is_test(name) && name.contains('.'))
            && !named.iter().any(|name| is_same(path, name.split("::").next().unwrap_or(name)));
        !other_language && !other_test
    }
}

/// Returns the files that an act changed.
fn changes_by(index: usize, act: &Act<'_>) -> Vec<Change> {
    let mut found = Vec::new();
    let at = act.ended.unwrap_or(act.started);
    if !act.happened() || is_not_started(act) {
        return found;
    }
    match &act.input {
        Input::Edit(edits) if act.succeeded => {
            for edit in edits {
                let effect = if edit.kind == EditKind::Delete { Effect::Delete } else { Effect::Write };
                let path = joined(act.cwd, edit.moved_to.as_ref().unwrap_or(&edit.path));
                found.push(Change { act: index, command: 0, path: Some(path), effect, folder: act.cwd.to_owned(), at });
                if edit.moved_to.is_some() {
                    let path = Some(joined(act.cwd, &edit.path));
                    found.push(Change {
                        act: index,
                        command: 0,
                        path,
                        effect: Effect::Delete,
                        folder: act.cwd.to_owned(),
                        at,
                    });
                }
            }
        }
        Input::Command(_) => {
            for change in changes::changes_of(act.commands()) {
                let folder =
                    change.folder.as_deref().map_or_else(|| act.cwd.to_owned(), |inner| joined(act.cwd, inner));
                let path = change.path.map(|path| joined(&folder, &path));
                found.push(Change { act: index, command: change.command, path, effect: change.effect, folder, at });
            }
        }
        _ => {}
    }
    found
}

fn empty_command() -> crate::audit::read::shell::Command {
    crate::audit::read::shell::Command {
        words: Vec::new(),
        variables: Vec::new(),
        writes: Vec::new(),
        input: None,
        join: crate::audit::read::shell::Join::Then,
        folder: None,
        in_background: false,
    }
}

fn is_not_started(act: &Act<'_>) -> bool {
    matches!(act.state, Ended::Exited(Some(126 | 127))) && act.commands().len() == 1
}

/// Files on which no check depends: pictures, settings of editors and of services.
fn is_beside_code(path: &str) -> bool {
    let parts = [".github/", ".vscode/", ".idea/", ".git/", ".claude/", ".codex/", ".husky/"];
    let ends = [
        ".png",
        ".jpg",
        ".jpeg",
        ".gif",
        ".svg",
        ".ico",
        ".pdf",
        ".log",
        ".env",
        ".out",
        ".patch",
        ".diff",
        ".csv",
        ".tmp",
        ".bak",
        ".lock.tmp",
    ];
    let name = base_name(path);
    let is_service = ["docker-compose", "compose."].iter().any(|start| name.starts_with(start));
    is_service || parts.iter().any(|part| path.contains(part)) || ends.iter().any(|end| path.ends_with(end))
}

fn language_of_file(path: &str) -> Option<&'static str> {
    let ending = crate::audit::read::files::ending(path)?;
    Some(match ending.as_str() {
        "rs" => "rust",
        "py" | "pyi" => "python",
        "go" => "go",
        "js" | "jsx" | "ts" | "tsx" | "mjs" | "cjs" | "vue" | "svelte" => "javascript",
        "java" | "kt" | "kts" | "scala" | "groovy" => "jvm",
        "rb" => "ruby",
        "php" => "php",
        "c" | "h" | "cc" | "cpp" | "hpp" | "cxx" => "c",
        "cs" | "fs" => "dotnet",
        "swift" => "swift",
        "ex" | "exs" => "elixir",
        "css" | "scss" | "less" | "html" => "web",
        _ => return None,
    })
}

fn language_of_command(command: &str) -> Option<&'static str> {
    let command = commands(command).into_iter().next()?;
    let program = command.program();
    Some(match program {
        "cargo" | "cargo-nextest" => "rust",
        "pytest" | "mypy" | "ruff" | "flake8" | "pylint" | "black" | "tox" | "nox" | "pyright" => "python",
        program if program.starts_with("python") => "python",
        "go" | "golangci-lint" | "gofmt" | "gotestsum" => "go",
        "rspec" | "rubocop" => "ruby",
        "phpunit" | "phpstan" | "pest" => "php",
        "mix" => "elixir",
        "dotnet" => "dotnet",
        "swift" => "swift",
        "mvn" | "mvnw" | "gradle" | "gradlew" | "sbt" => "jvm",
        _ => return None,
    })
}

/// Returns whether a message is the summary that a model wrote in place of a history: it tells what others did.
fn is_summary(text: &str) -> bool {
    let start = text.trim_start();
    ["<analysis>", "<summary>", "<context_summary>", "## Conversation summary"]
        .iter()
        .any(|mark| start.starts_with(mark))
}

/// Returns the answers of agents to users and parents: messages that the model itself wrote.
fn answers(session: &Session, inherited: &[bool]) -> Vec<Answer> {
    let trace = session.trace();
    let mut items: Vec<(ItemIdx, InferenceIdx)> = Vec::new();
    let mut seen: HashSet<ItemIdx> = HashSet::new();
    for (inference, call) in trace.inferences.iter() {
        for item in &call.response_items {
            let it = &trace.items[*item];
            let is_answer = it.kind == ItemKind::Message
                && it.role == Role::Assistant
                && it.agent_message.is_none()
                && it.thread == call.thread
                && !inherited[item.index()];
            if !is_answer || !seen.insert(*item) {
                continue;
            }
            items.push((*item, inference));
        }
    }
    let answer = |&(item, inference): &(ItemIdx, InferenceIdx)| {
        let (it, call) = (&trace.items[item], &trace.inferences[inference]);
        let text = text_of_item(session, item);
        if text.trim().is_empty() || text.trim_start().starts_with("Message Type:") || is_summary(&text) {
            return None;
        }
        Some(Answer {
            item,
            inference,
            thread: call.thread,
            turn: call.turn,
            cutoff: call.execution.started.seq,
            seq: it.accepted.or(call.execution.ended).unwrap_or(it.first_seen).seq,
            claims: claims_in(&text),
            text,
        })
    };
    let mut found: Vec<Answer> = items.par_iter().with_min_len(MIN_ANSWERS).filter_map(answer).collect();
    found.sort_by_key(|answer| answer.seq);
    found
}
