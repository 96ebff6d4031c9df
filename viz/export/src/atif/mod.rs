//! Trajectories in ATIF, the Agent Trajectory Interchange Format of Harbor, version 1.7.
//!
//! A session is one document. Each agent is a trajectory: that of the root is the document, and those of children are inside of their
//! parent's. A request and its answer are a step of the agent, with the calls of the answer and their results; a message to the
//! agent is a step of the user or of the system. What the format has no place for is in members `extra.rollout`: turns, statuses, ids and
//! times. The document has all texts of the session.

mod document;
mod steps;

use std::io::{self, BufWriter, Write};

use serde_json::json;
use trace_explain::audit::{self, Finding, audit};
use trace_explain::{Family, Session};
use trace_reducer::model::ThreadIdx;

use self::document::{Agent, FinalMetrics, OwnThread, OwnTurn, Step};
use self::steps::Steps;

/// The version of the format.
pub const VERSION: &str = "ATIF-v1.7";

/// Agents below one another that are nested in the document. Those below are written beside one another at this depth.
const MAX_DEPTH: usize = 16;

/// Writes a session as a trajectory.
///
/// # Errors
///
/// Returns an error if writing to `out` fails.
pub fn write(session: &Session, out: &mut dyn Write) -> io::Result<()> {
    let mut out = BufWriter::new(out);
    let trace = session.trace();
    let family = Family::new(trace);
    let steps = Steps::new(session, &family);
    let root = trace.threads.iter().find(|(_, thread)| thread.id == trace.root_thread_id).map(|(index, _)| index);
    let root = root.or_else(|| trace.threads.handles().next());
    let findings = audit(session, audit::Options::default()).findings;
    let writer = Writer { session, family: &family, steps: &steps, findings: &findings };
    match root {
        Some(root) => writer.trajectory(root, 0, &mut out)?,
        None => serde_json::to_writer(&mut out, &writer.nobody())?,
    }
    out.write_all(b"\n")?;
    out.flush()
}

/// Writes trajectories.
struct Writer<'s> {
    session: &'s Session,
    family: &'s Family,
    steps: &'s Steps<'s>,
    findings: &'s [Finding],
}

impl Writer<'_> {
    /// Returns the document of a session without agents.
    fn nobody(&self) -> serde_json::Value {
        let trace = self.session.trace();
        json!({
            "schema_version": VERSION,
            "session_id": trace.text(trace.rollout_id),
            "agent": {"name": "unknown", "version": "unknown"},
            "steps": [],
        })
    }

    fn trajectory(&self, thread: ThreadIdx, depth: usize, out: &mut impl Write) -> io::Result<()> {
        let trace = self.session.trace();
        let id = trace.text(trace.threads[thread].id);
        write!(out, "{{\"schema_version\":\"{VERSION}\",\"session_id\":")?;
        serde_json::to_writer(&mut *out, trace.text(trace.rollout_id))?;
        out.write_all(b",\"trajectory_id\":")?;
        serde_json::to_writer(&mut *out, id)?;
        out.write_all(b",\"agent\":")?;
        serde_json::to_writer(&mut *out, &self.agent(thread))?;
        out.write_all(b",\"steps\":[")?;
        let mut metrics = FinalMetrics::default();
        for step in self.steps.of(thread) {
            if metrics.total_steps > 0 {
                out.write_all(b",")?;
            }
            let step: Step<'_> = step;
            metrics.add(&step);
            serde_json::to_writer(&mut *out, &step)?;
        }
        out.write_all(b"],\"final_metrics\":")?;
        serde_json::to_writer(&mut *out, &metrics)?;
        out.write_all(b",\"extra\":{\"rollout\":")?;
        serde_json::to_writer(&mut *out, &self.own(thread))?;
        out.write_all(b"}")?;
        self.children(thread, depth, out)?;
        out.write_all(b"}")
    }

    fn children(&self, thread: ThreadIdx, depth: usize, out: &mut impl Write) -> io::Result<()> {
        let trace = self.session.trace();
        let mut children = match depth {
            0..MAX_DEPTH => self.family.children(thread).to_vec(),
            MAX_DEPTH => self.below(thread),
            _ => Vec::new(),
        };
        // Agents that belong to nobody are written beside the children of the root.
        if trace.threads[thread].id == trace.root_thread_id {
            let is_other = |other: &ThreadIdx| *other != thread && self.family.birth(*other).is_none();
            children.extend(trace.threads.handles().filter(is_other));
        }
        for (number, child) in children.iter().enumerate() {
            out.write_all(if number == 0 { b",\"subagent_trajectories\":[" } else { b"," })?;
            self.trajectory(*child, depth + 1, out)?;
        }
        if children.is_empty() { Ok(()) } else { out.write_all(b"]") }
    }

    /// Returns all agents below one.
    fn below(&self, thread: ThreadIdx) -> Vec<ThreadIdx> {
        let mut found = self.family.children(thread).to_vec();
        let mut next = 0;
        while let Some(child) = found.get(next).copied() {
            found.extend_from_slice(self.family.children(child));
            next += 1;
        }
        found
    }

    fn agent(&self, index: ThreadIdx) -> Agent<'_> {
        let trace = self.session.trace();
        let thread = &trace.threads[index];
        let import = self.session.bundle().import();
        let name = thread.nickname.map(|name| trace.text(name)).filter(|name| !name.is_empty());
        Agent {
            name: name.unwrap_or_else(|| trace.text(thread.agent_path)),
            version: import.and_then(|import| import.agent_version.as_deref()).unwrap_or("unknown"),
            model_name: thread.default_model.map(|model| trace.text(model)),
        }
    }

    fn own(&self, index: ThreadIdx) -> OwnThread<'_> {
        let trace = self.session.trace();
        let thread = &trace.threads[index];
        let turns = self.family.turns(index).iter().map(|turn| {
            let turn = &trace.turns[*turn];
            OwnTurn {
                id: trace.text(turn.id),
                status: turn.execution.status.as_str(),
                started_at: self.steps.time(turn.execution.started.seq),
                ended_at: turn.execution.ended.map(|ended| self.steps.time(ended.seq)),
            }
        });
        let (task, role) = match &thread.origin {
            trace_reducer::model::Origin::Root => (None, None),
            trace_reducer::model::Origin::Spawned { task_name, agent_role, .. } => {
                (Some(trace.text(*task_name)), Some(trace.text(*agent_role)))
            }
        };
        OwnThread {
            thread_id: trace.text(thread.id),
            agent_path: trace.text(thread.agent_path),
            nickname: thread.nickname.map(|name| trace.text(name)),
            task,
            role,
            turns: turns.collect(),
            findings: self.findings.iter().filter(|finding| finding.thread_id == trace.text(thread.id)).collect(),
        }
    }
}
