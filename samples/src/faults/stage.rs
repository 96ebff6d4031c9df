//! The stage of a planted session: the session, the expected verdicts so far, and steps that succeed.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::json;
use trace_recorder::format::{EVENT_LOG_FILE, SchemaVersion};

use super::truth::{Outcome, RootCause, TurnTruth, Verdict};
use crate::session::{Agent, Child, Command, McpCall, Session, Setup, UnderWay};
use crate::texts::Texts;

/// 2026-03-09, 08:00 UTC.
const MONDAY_UNIX_MS: i64 = 1_773_043_200_000;

/// Commands that succeed, in the order in which [`Stage::work`] runs them.
const WORK: [(&str, &str, i64); 12] = [
    ("git log --oneline -2", "4c1f09a Count wicks from one\n9be2d77 Read wicks from the settings\n", 18),
    ("ls src", "dim.rs\nlantern.rs\nsettings.rs\nwick.rs\n", 7),
    (
        "sed -n '1,6p' src/dim.rs",
        "//! Dims wicks.\n\nuse crate::wick::Wick;\n\n/// Dims one wick.\npub fn dim(wick: &mut Wick) {\n",
        9,
    ),
    ("cargo check --quiet", "", 3_120),
    ("rg -c wick src", "src/wick.rs:41\nsrc/dim.rs:9\n", 12),
    ("wc -l README.md", "88 README.md\n", 6),
    ("git status --short", " M src/dim.rs\n", 15),
    ("cat examples/small.toml", "[[wick]]\nlit = true\n", 5),
    ("cargo test --quiet dim", "running 4 tests\n....\ntest result: ok. 4 passed; 0 failed\n", 5_460),
    ("git diff --stat", " src/dim.rs | 4 ++--\n", 14),
    ("cargo fmt --check", "", 410),
    ("head -3 CHANGELOG.md", "# Changelog\n\n## Unreleased\n", 5),
];

/// Prompts of the user.
const PROMPTS: [&str; 6] = [
    "Please add a command that dims all wicks at once.",
    "Find out why the large example takes so long to light.",
    "Read the settings from the home directory as well.",
    "Prepare the next release: changelog and documentation.",
    "Make the wick numbers in the messages begin at one.",
    "Check whether the examples in the documentation still work.",
];

/// Tasks of children.
const TASKS: [&str; 5] = [
    "Look through src/ for places that count wicks from zero, and list them.",
    "Check the examples in docs/ and say which ones are out of date.",
    "Measure how long the large example takes, three times.",
    "Write the changelog entry for the commits since v0.3.",
    "Find out who calls `dim`, and with what.",
];

/// Final answers of agents.
const ANSWERS: [&str; 5] = [
    "That is as far as it went; the notes above say what is open.",
    "Here is what I have: the list is in docs/notes.md.",
    "I looked at everything that I could get at.",
    "The part that could be done is done.",
    "Summary: see the files that changed.",
];

/// Steps that succeed, by the kind of tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// A command.
    Command,
    /// A patch.
    Patch,
    /// A tool of an MCP server.
    Mcp,
}

/// A session with the expected verdicts on its turns.
#[derive(Debug)]
pub(super) struct Stage {
    pub(super) session: Session,
    pub(super) root: Agent,
    verdicts: HashMap<String, (Verdict, Vec<Verdict>)>,
    /// Pairs of a cause and another cause that is also accepted wherever the first one is expected.
    other_names: Vec<(RootCause, RootCause)>,
    steps: usize,
    path: PathBuf,
}

impl Stage {
    /// Starts a session. Its name is the seed of its ids and texts.
    pub(super) fn open(path: &Path, name: &str, schema: SchemaVersion) -> io::Result<Self> {
        let seed = seed(name);
        let setup = Setup {
            seed,
            started_at_unix_ms: MONDAY_UNIX_MS + i64::try_from(seed % 400_000).unwrap_or_default() * 1_000,
            schema,
            cwd: "/home/dev/lantern".to_owned(),
            model: "example-large".to_owned(),
            provider: "example".to_owned(),
            texts: Texts::short(),
        };
        let (session, root) = Session::create(path, setup)?;
        let steps = usize::try_from(seed % 997).unwrap_or_default();
        Ok(Self { session, root, verdicts: HashMap::new(), other_names: Vec::new(), steps, path: path.to_owned() })
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        self.steps += 1;
        from[self.steps % from.len()]
    }

    /// Records a prompt of the user to the root agent.
    pub(super) fn prompt(&mut self) -> io::Result<()> {
        let text = self.pick(&PROMPTS);
        self.session.prompt(self.root, text)
    }

    /// Makes the agent run `count` commands that succeed, one after the other.
    pub(super) fn work(&mut self, agent: Agent, count: usize) -> io::Result<()> {
        for _ in 0..count {
            let (line, output, duration_ms) = self.pick(&WORK);
            let command = Command::new(line, output).takes(duration_ms);
            self.session.run(agent, &[if self.steps.is_multiple_of(3) { command.reports_late() } else { command }])?;
        }
        Ok(())
    }

    /// Makes a step of the agent succeed.
    pub(super) fn succeed(&mut self, agent: Agent, step: Step) -> io::Result<()> {
        match step {
            Step::Command => self.work(agent, 1),
            Step::Patch => {
                let file = format!("docs/notes-{}.md", self.steps);
                self.steps += 1;
                self.session.patch(agent, &file, "Wicks are counted from one.\n").map(drop)
            }
            Step::Mcp => {
                self.steps += 1;
                let call = McpCall::new("tracker", "get_ticket", json!({ "number": self.steps }), "open: count wicks");
                self.session.call_mcp(agent, &call).map(drop)
            }
        }
    }

    /// Makes the agent run one command. Returns the id of the call.
    pub(super) fn run(&mut self, agent: Agent, command: Command) -> io::Result<String> {
        self.session.run(agent, &[command]).map(|mut ids| ids.swap_remove(0))
    }

    /// Makes the agent spawn a child that knows only its task.
    pub(super) fn spawn(&mut self, agent: Agent, name: &str) -> io::Result<Agent> {
        self.spawn_all(agent, &[name]).map(|children| children[0])
    }

    /// Makes the agent spawn children.
    pub(super) fn spawn_all(&mut self, agent: Agent, names: &[&str]) -> io::Result<Vec<Agent>> {
        let children: Vec<Child> = names.iter().map(|name| self.child(name)).collect();
        self.session.spawn(agent, &children)
    }

    /// Makes the agent spawn a child that inherits its history.
    pub(super) fn fork(&mut self, agent: Agent, name: &str) -> io::Result<Agent> {
        let child = self.child(name);
        self.session.spawn_forked(agent, &child)
    }

    fn child(&mut self, name: &str) -> Child {
        let task = self.pick(&TASKS).to_owned();
        Child { task_name: name.to_owned(), nickname: format!("Agent {name}"), model: None, task }
    }

    /// Makes the agent give another task to an idle child.
    pub(super) fn follow_up(&mut self, agent: Agent, child: Agent) -> io::Result<()> {
        let task = self.pick(&TASKS);
        self.session.follow_up(agent, child, task)
    }

    /// Makes the agent give its final answer.
    pub(super) fn answer(&mut self, agent: Agent) -> io::Result<()> {
        let text = self.pick(&ANSWERS);
        self.session.answer(agent, text)
    }

    /// Sets the expected verdict on the agent's latest turn.
    pub(super) fn verdict(&mut self, agent: Agent, outcome: Outcome, cause: &RootCause) {
        let turn_id = self.session.latest_turn_id(agent);
        self.verdict_on(turn_id, outcome, cause);
    }

    /// Sets the expected verdict on a turn.
    pub(super) fn verdict_on(&mut self, turn_id: String, outcome: Outcome, cause: &RootCause) {
        self.verdicts.insert(turn_id, (Verdict::new(outcome, cause.clone()), Vec::new()));
    }

    /// Adds a verdict on the agent's latest turn that is also accepted.
    pub(super) fn or(&mut self, agent: Agent, verdict: Verdict) {
        let turn_id = self.session.latest_turn_id(agent);
        let (_, alternatives) = self.verdicts.entry(turn_id).or_insert((Verdict::OK, Vec::new()));
        alternatives.push(verdict);
    }

    /// Accepts `other` wherever `cause` is expected, in any turn.
    pub(super) fn or_named(&mut self, cause: &RootCause, other: RootCause) {
        self.other_names.push((cause.clone(), other));
    }

    /// Expects that the latest turns of these agents are degraded by a cause in another agent.
    pub(super) fn rises_to(&mut self, agents: &[Agent], cause: &RootCause) {
        for &agent in agents {
            self.verdict(agent, Outcome::Degraded, cause);
        }
    }

    /// Ends the session normally.
    pub(super) fn end(self) -> io::Result<Vec<TurnTruth>> {
        let (session, truth) = self.split();
        session.end()?;
        Ok(truth)
    }

    /// Ends the session while some agents are still working.
    pub(super) fn end_cutting_off(self, cut: Vec<UnderWay>) -> io::Result<Vec<TurnTruth>> {
        let (session, truth) = self.split();
        session.end_cutting_off(cut)?;
        Ok(truth)
    }

    /// Leaves the recording as it is, as if the process had died.
    pub(super) fn die(self) -> Vec<TurnTruth> {
        self.split().1
    }

    /// Leaves the recording as if the process had died while writing: the line after the last event of the given type is
    /// the last one, and incomplete.
    pub(super) fn die_writing_after(self, event_type: &str) -> io::Result<Vec<TurnTruth>> {
        let log = self.path.join(EVENT_LOG_FILE);
        let truth = self.die();
        let text = fs::read_to_string(&log)?;
        let tag = format!("\"type\":\"{event_type}\"");
        let whole =
            text.rfind(&tag).and_then(|at| Some(at + text[at..].find('\n')? + 1)).ok_or(io::ErrorKind::NotFound)?;
        let torn = text[whole..].find('\n').ok_or(io::ErrorKind::NotFound)? / 2;
        fs::write(&log, &text[..whole + torn])?;
        Ok(truth)
    }

    fn split(mut self) -> (Session, Vec<TurnTruth>) {
        let truth = (self.session.turns().iter())
            .map(|turn| {
                let (verdict, mut alternatives) =
                    self.verdicts.remove(&turn.turn_id).unwrap_or((Verdict::OK, Vec::new()));
                for (cause, other) in &self.other_names {
                    let named = std::iter::once(&verdict).chain(&alternatives);
                    let named = named.filter(|verdict| verdict.root_cause.as_ref() == Some(cause));
                    let others: Vec<_> = named.map(|named| Verdict::new(named.outcome, other.clone())).collect();
                    alternatives.extend(others);
                }
                TurnTruth {
                    turn_id: turn.turn_id.clone(),
                    thread_id: turn.thread_id.clone(),
                    agent_path: turn.agent_path.clone(),
                    verdict,
                    alternatives,
                }
            })
            .collect();
        (self.session, truth)
    }
}

/// Returns a number for a name (FNV-1a). It does not depend on the version of any dependency.
fn seed(name: &str) -> u64 {
    name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
