//! Plays a script into a recorded session.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use serde_json::json;
use trace_recorder::format::SchemaVersion;

use super::plot::{Find, Script, Step};
use super::truth::{Evidence, Expectation, Expected, Named};
use crate::session::{
    Agent, Cell, Child, Command, Failure, McpCall, Patch, Refusal, RunningCommand, Session, Setup, UnderWay, Wait,
};
use crate::texts::Texts;

/// 2026-04-13, 08:00 UTC.
const MONDAY_UNIX_MS: i64 = 1_776_067_200_000;

/// Of so many commands, one is reported to have ended after its call has.
const COMMANDS_PER_LATE_REPORT: u64 = 3;

/// How long an agent waits for another one, in milliseconds.
const WAIT_MS: u32 = 60_000;

/// A session that is being played.
struct Stage {
    session: Session,
    agents: BTreeMap<String, Agent>,
    /// Objects by the names of the steps.
    objects: BTreeMap<String, Vec<Named>>,
    waits: BTreeMap<String, Wait>,
    background: BTreeMap<String, RunningCommand>,
    /// Agents whose turn has not ended.
    busy: Vec<String>,
    /// Number of the next command.
    commands: u64,
}

/// Records the session of a script as a new bundle at `path`. Returns what an audit of it must tell.
pub(super) fn play(script: &Script, path: &Path, seed: u64) -> io::Result<Expected> {
    let setup = Setup {
        seed,
        started_at_unix_ms: MONDAY_UNIX_MS + i64::try_from(seed % 400_000).unwrap_or_default() * 1_000,
        schema: SchemaVersion::CURRENT,
        cwd: "/home/dev/lantern".to_owned(),
        model: "example-large".to_owned(),
        provider: "example".to_owned(),
        texts: Texts::short(),
    };
    let (session, root) = Session::create(path, setup)?;
    let mut stage = Stage {
        session,
        agents: BTreeMap::from([("root".to_owned(), root)]),
        objects: BTreeMap::new(),
        waits: BTreeMap::new(),
        background: BTreeMap::new(),
        busy: Vec::new(),
        commands: seed % COMMANDS_PER_LATE_REPORT,
    };
    for step in &script.steps {
        stage.step(step)?;
    }
    let mut expected = Expected { supported: script.supported, ..Expected::default() };
    for find in &script.finds {
        let expectation = stage.expectation(find);
        if find.optional { expected.accepted.push(expectation) } else { expected.findings.push(expectation) }
    }
    stage.end()?;
    Ok(expected)
}

impl Stage {
    fn agent(&self, name: &str) -> Agent {
        *self.agents.get(name).unwrap_or_else(|| panic!("no agent {name}"))
    }

    fn note(&mut self, name: &str, id: String) {
        self.objects.entry(name.to_owned()).or_default().push(Named::Object { r#type: "tool_call", id });
    }

    fn step(&mut self, step: &Step) -> io::Result<()> {
        let agent = self.agent(&step.agent);
        match step.verb.as_str() {
            "user" => {
                let mut text = step.text.clone();
                for line in &step.lines {
                    text.push('\n');
                    text.push_str(line);
                }
                self.session.prompt(agent, &text)?;
                self.busy.push(step.agent.clone());
            }
            "think" => self.session.think(agent, &step.text),
            "say" => self.session.remark(agent, &step.text),
            "answer" => self.answer(agent, step)?,
            "fail" => {
                self.session.fail_turn_by(agent, &Failure::other(&step.text))?;
                self.ended(&step.agent);
            }
            "run" | "repeat" => self.run(agent, step)?,
            "cell" => self.cell(agent, step)?,
            "background" => {
                let command = self.session.begin_background_command(agent, &command(step, 0))?;
                self.note(&step.name, command.id().to_owned());
                self.background.insert(step.name.clone(), command);
            }
            "poll" => {
                let command = self.background.remove(&step.text).expect("a poll names a command in the background");
                self.session.outlive_turn(&command)?;
                let id = self.session.poll_command(agent, &command, "")?;
                self.note(&step.name, id);
            }
            "refuse" => {
                let id = self.session.refuse(agent, &Refusal::declined_command(&step.text))?;
                self.note(&step.name, id);
            }
            "patch" | "add" => {
                let id = self.session.apply(agent, &patch(step))?;
                self.note(&step.name, id);
            }
            "refuse-patch" => {
                let problem = format!("Failed to find expected lines in {}", step.text);
                let id = self.session.refuse(agent, &Refusal::patch(&patch(step).text(), &problem))?;
                self.note(&step.name, id);
            }
            "decline-patch" => {
                let id = self.session.decline_patch(agent, &step.text, &added(&step.lines))?;
                self.note(&step.name, id);
            }
            "mcp" | "repeat-mcp" => self.mcp(agent, step)?,
            "spawn" | "fork" => self.spawn(agent, step)?,
            "follow" => {
                self.session.follow_up(agent, self.agent(&step.name), &step.text)?;
                self.busy.push(step.name.clone());
            }
            "stop" => {
                let target = self.agent(&step.name);
                self.session.stop_agent(agent, target, &json!("running"))?;
                self.session.interrupt_idle(target)?;
                self.ended(&step.name);
            }
            "compact" => drop(self.session.compact(agent, &step.text)?),
            "wait" => {
                let wait = self.session.begin_wait(agent, WAIT_MS)?;
                self.waits.insert(step.agent.clone(), wait);
            }
            "end-wait" => {
                let wait = self.waits.remove(&step.agent).expect("end-wait ends a wait");
                self.session.end_wait(wait)?;
            }
            verb => panic!("no verb {verb}"),
        }
        Ok(())
    }

    fn ended(&mut self, name: &str) {
        self.busy.retain(|busy| busy != name);
    }

    fn answer(&mut self, agent: Agent, step: &Step) -> io::Result<()> {
        let mut text = step.text.clone();
        for line in &step.lines {
            text.push('\n');
            text.push_str(line);
        }
        self.session.answer(agent, &text)?;
        let thread_id = self.session.thread_id(agent).to_owned();
        self.objects.insert(format!("{}.answer", step.agent), vec![Named::Message { thread_id, text }]);
        self.ended(&step.agent);
        Ok(())
    }

    fn run(&mut self, agent: Agent, step: &Step) -> io::Result<()> {
        for time in 0..step.times {
            if let Some(between) = step.between.as_ref().filter(|_| time > 0) {
                let ids = self.session.run(agent, &[Command::new(between, "")])?;
                ids.into_iter().for_each(|id| self.note(&format!("{}.between", step.name), id));
            }
            self.commands += 1;
            let command = command(step, time);
            let is_late = self.commands.is_multiple_of(COMMANDS_PER_LATE_REPORT);
            let ids = self.session.run(agent, &[if is_late { command.reports_late() } else { command }])?;
            ids.into_iter().for_each(|id| self.note(&step.name, id));
        }
        Ok(())
    }

    /// Runs a command in a code cell. The cell and the command in it are both the run.
    fn cell(&mut self, agent: Agent, step: &Step) -> io::Result<()> {
        let line = serde_json::Value::from(step.text.as_str());
        let source = format!("const run = await tools.exec_command({{ cmd: {line} }});\ntext(run.output);\n");
        let cell = Cell::new(&source, &step.output()).runs(&[command(step, 0)]);
        let id = self.session.run_cell(agent, &cell)?;
        let nested = self.session.latest_call_id().to_owned();
        let objects = self.objects.entry(step.name.clone()).or_default();
        objects.push(Named::Object { r#type: "code_cell", id: format!("code_cell:{id}") });
        for id in [id, nested] {
            objects.push(Named::Object { r#type: "tool_call", id });
        }
        Ok(())
    }

    fn mcp(&mut self, agent: Agent, step: &Step) -> io::Result<()> {
        let (tool, arguments) = step.text.split_once(' ').expect("a tool has arguments");
        let (server, tool) = tool.split_once('/').expect("a tool has a server");
        let arguments = serde_json::from_str(arguments).expect("arguments are JSON");
        let call = McpCall::new(server, tool, arguments, step.lines.join("\n").as_str());
        for _ in 0..step.times {
            let id = self.session.call_mcp(agent, &call)?;
            self.note(&step.name, id);
        }
        Ok(())
    }

    fn spawn(&mut self, agent: Agent, step: &Step) -> io::Result<()> {
        let child = Child {
            task_name: step.name.clone(),
            nickname: format!("Agent {}", step.name),
            model: None,
            task: step.text.clone(),
        };
        let child = match step.verb.as_str() {
            "fork" => self.session.spawn_forked(agent, &child)?,
            _ => self.session.spawn(agent, &[child])?[0],
        };
        let id = self.session.latest_call_id().to_owned();
        self.note(&format!("{}.spawn", step.name), id);
        self.agents.insert(step.name.clone(), child);
        self.busy.push(step.name.clone());
        Ok(())
    }

    fn expectation(&self, find: &Find) -> Expectation {
        let agent = self.agent(&find.agent);
        let evidence = find.evidence.iter().flat_map(|(name, relations)| self.evidence(name, relations)).collect();
        Expectation {
            kinds: find.kinds.clone(),
            agent_path: self.session.path(agent).to_owned(),
            thread_id: self.session.thread_id(agent).to_owned(),
            claim: find.claim.clone(),
            evidence,
        }
    }

    /// Returns the evidence that a plot names. `a|b` accepts either, and `c*` is each call of a repeated step.
    fn evidence(&self, names: &str, relations: &str) -> Vec<Evidence> {
        let relations: Vec<String> = relations.split('|').map(str::to_owned).collect();
        let one = |objects, optional| Evidence { objects, relations: relations.clone(), optional };
        if let Some(name) = names.strip_suffix('*') {
            return self.named(name).into_iter().map(|object| one(vec![object], false)).collect();
        }
        let (names, optional) = names.strip_suffix('?').map_or((names, false), |names| (names, true));
        vec![one(names.split('|').flat_map(|name| self.named(name)).collect(), optional)]
    }

    fn named(&self, name: &str) -> Vec<Named> {
        if let Some(agent) = name.strip_suffix(".turn") {
            let id = self.session.latest_turn_id(self.agent(agent));
            return vec![Named::Object { r#type: "codex_turn", id }];
        }
        // An agent without an answer has none to name.
        let missing = || if name.ends_with(".answer") { Vec::new() } else { panic!("no step {name}") };
        self.objects.get(name).cloned().unwrap_or_else(missing)
    }

    fn end(self) -> io::Result<()> {
        let Self { mut session, agents, background, busy, .. } = self;
        for command in background.values() {
            session.kill_command(command)?;
        }
        if busy.is_empty() {
            return session.end();
        }
        session.end_cutting_off(busy.iter().map(|name| UnderWay::Nothing(agents[name])).collect())
    }
}

fn command(step: &Step, time: usize) -> Command {
    let mut output = step.output();
    if let Some(varies) = &step.varies {
        output = output.replace(varies, &format!("0.{}s", 40 + time));
    }
    let command =
        Command::new(&step.text, output).exits(step.exit).takes(310 + i64::try_from(time).unwrap_or_default());
    match &step.shows {
        Some(shown) => command.shows(shown),
        None => command,
    }
}

fn patch(step: &Step) -> Patch {
    match step.verb.as_str() {
        "add" => Patch::add(&step.text, &added(&step.lines)),
        _ => Patch::update(&step.text, &step.lines),
    }
}

/// Returns the content of a file of which a patch has the lines.
fn added(lines: &[String]) -> String {
    lines.iter().map(|line| format!("{}\n", line.strip_prefix('+').unwrap_or(line))).collect()
}
