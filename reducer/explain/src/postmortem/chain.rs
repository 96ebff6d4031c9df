//! Words the findings about a turn: the symptom, the steps from it to the cause, and a summary in one sentence.

use std::collections::HashMap;

use serde_json::Value;
use trace_reducer::model::{
    Anchor, CellIdx, EdgeKind, ItemIdx, OperationIdx, Part, Symbol, ThreadIdx, ToolIdx, ToolKind, Trace, TurnIdx,
};

use super::cause::Cause;
use super::charges::{Hop, Hops, Way};
use super::faults::{describe_call, error_message, signal_of};
use super::finding::Finding;
use super::verdict::{Category, MAX_CHAIN_AGENTS, MAX_RESTS_ON, Outcome, RootCause, Step, Symptom, TurnVerdict};
use super::words::shortened;
use crate::causal::is_nested;
use crate::object::Object;
use crate::session::Session;

/// What is needed to word the findings of a session.
pub(super) struct Teller<'s> {
    session: &'s Session,
    errors: &'s HashMap<Symbol, Value>,
    hops: &'s Hops,
    /// The items that showed the answers of agents, by agent and id of the answering turn.
    answers: HashMap<(ThreadIdx, Symbol), ItemIdx>,
    /// The calls that waited for agents, by turn, in the order of the log.
    waits: HashMap<TurnIdx, Vec<ToolIdx>>,
    /// The code cell that made each call.
    cells: HashMap<ToolIdx, CellIdx>,
}

impl<'s> Teller<'s> {
    pub(super) fn new(session: &'s Session, errors: &'s HashMap<Symbol, Value>, hops: &'s Hops) -> Self {
        let trace = session.trace();
        let turns: HashMap<Symbol, (ThreadIdx, Symbol)> =
            trace.agent_results.iter().map(|result| (result.edge_id, (result.child, result.child_turn_id))).collect();
        let mut answers: HashMap<(ThreadIdx, Symbol), ItemIdx> = HashMap::new();
        for edge in trace.edges.values().filter(|edge| edge.kind == EdgeKind::AgentResult) {
            if let (Anchor::Item(item), Some(turn)) = (edge.target, turns.get(&edge.id)) {
                answers.entry(*turn).or_insert(item);
            }
        }
        let mut waits: HashMap<TurnIdx, Vec<ToolIdx>> = HashMap::new();
        for (index, call) in trace.tools.iter().filter(|(_, call)| call.kind == ToolKind::WaitAgent) {
            if let Some(turn) = call.turn {
                waits.entry(turn).or_default().push(index);
            }
        }
        // As in the causal graph, a call of another turn is not part of the cell.
        let nested =
            trace.cells.iter().flat_map(|(cell, code)| code.nested_tools.iter().map(move |tool| (*tool, cell)));
        let nested = nested.filter(|(tool, cell)| is_nested(trace, *tool, *cell));
        Self { session, errors, hops, answers, waits, cells: nested.collect() }
    }
}

pub(super) fn tell(teller: &Teller<'_>, index: TurnIdx, findings: &HashMap<TurnIdx, Finding>) -> TurnVerdict {
    let session = teller.session;
    let trace = session.trace();
    let turn = &trace.turns[index];
    let finding = &findings[&index];
    let mut verdict = TurnVerdict {
        turn_id: trace.text(turn.id).to_owned(),
        thread_id: trace.text(trace.threads[turn.thread].id).to_owned(),
        agent_path: session.agent_path(turn.thread).to_owned(),
        outcome: finding.outcome,
        verdict: "the turn completed".to_owned(),
        symptom: None,
        root_cause: None,
        other_causes: Vec::new(),
        chain: Vec::new(),
        time_lost_ms: total(&within(&finding.lost, session, index)),
        rests_on: Vec::new(),
        missing: Vec::new(),
    };
    let Some(cause) = &finding.cause else { return verdict };
    let symptom = teller.symptom(index, finding, cause);
    verdict.verdict = sentence(session, finding, cause, turn.thread);
    verdict.chain = teller.chain(index, &symptom, finding, cause, findings);
    verdict.symptom = Some(symptom);
    verdict.rests_on = ends_of(&cause.rests_on, MAX_RESTS_ON).map(|object| session.name(*object)).collect();
    verdict.missing.clone_from(&cause.missing);
    verdict.root_cause = Some(root_cause(session, cause));
    verdict.other_causes = finding.others.iter().map(|cause| root_cause(session, cause)).collect();
    verdict
}

fn root_cause(session: &Session, cause: &Cause) -> RootCause {
    let trace = session.trace();
    RootCause {
        category: cause.category,
        object: session.name(cause.object),
        turn_id: cause.turn.map(|turn| trace.text(trace.turns[turn].id).to_owned()),
        thread_id: trace.text(trace.threads[cause.thread].id).to_owned(),
        agent_path: session.agent_path(cause.thread).to_owned(),
        seq: Some(cause.at.seq),
        message: cause.message.clone(),
        confidence: cause.confidence,
        http_status: cause.http_status,
        exit_code: cause.exit_code,
        signal: cause.exit_code.and_then(signal_of),
        attempts: cause.attempts,
    }
}

/// Iterates over a list, or over its first and last entries if it has more than `most`.
fn ends_of<T>(list: &[T], most: usize) -> impl Iterator<Item = &T> {
    let head = if list.len() > most { most / 2 } else { list.len() };
    let tail = if list.len() > most { list.len() - (most - head) } else { list.len() };
    list[..head].iter().chain(&list[tail..])
}

/// Limits spans to the time of a turn: what continues after the turn costs it no time.
fn within(spans: &[(i64, i64)], session: &Session, turn: TurnIdx) -> Vec<(i64, i64)> {
    let window = &session.trace().turns[turn].execution;
    let (first, last) = (window.started.unix_ms, window.ended.unwrap_or_else(|| session.end()).unix_ms);
    spans.iter().map(|(from, until)| (*from.max(&first), *until.min(&last))).collect()
}

/// Returns the total length of spans in milliseconds. Overlaps count once.
fn total(spans: &[(i64, i64)]) -> u64 {
    let mut spans: Vec<(i64, i64)> = spans.iter().copied().filter(|(from, until)| from < until).collect();
    spans.sort_unstable();
    let mut total = 0u64;
    let mut covered = i64::MIN;
    for (from, until) in spans {
        let from = from.max(covered);
        if until > from {
            total = total.saturating_add(until.abs_diff(from));
            covered = until;
        }
    }
    total
}

impl Teller<'_> {
    /// Finds where a failure became visible: the error that ended the turn, the output of a failed call, or the answer
    /// of a failed child.
    fn symptom(&self, index: TurnIdx, finding: &Finding, cause: &Cause) -> Symptom {
        let (session, trace) = (self.session, self.session.trace());
        let turn = &trace.turns[index];
        let of_turn = |text: String| Symptom {
            object: session.name(Object::Turn(index)),
            seq: Some(turn.execution.ended.map_or_else(|| session.end().seq, |ended| ended.seq)),
            text,
        };
        match finding.outcome {
            Outcome::Failed => {
                let told = self.errors.get(&turn.id).and_then(error_message);
                return of_turn(told.map_or_else(|| cause.message.clone(), shortened));
            }
            Outcome::Cancelled => return of_turn("the turn was stopped".to_owned()),
            Outcome::Unfinished => {
                let text = if turn.execution.ended.is_some() {
                    "the turn ended with the session"
                } else {
                    "the turn has no end"
                };
                return of_turn(text.to_owned());
            }
            Outcome::Degraded | Outcome::Recovered | Outcome::Ok => {}
        }
        let hop = finding.hop.map(|hop| self.hops.get(hop));
        let shown = match hop {
            Some(hop) => self.answer_of(index, hop),
            None => self.output_of(cause.told_by.map_or(cause.object, Object::Tool)),
        };
        match shown {
            Some(item) => Symptom {
                object: session.name(Object::Item(item)),
                seq: Some(trace.items[item].first_seen.seq),
                text: Some(item_text(trace, item))
                    .filter(|text| !text.is_empty())
                    .unwrap_or_else(|| cause.message.clone()),
            },
            // If the release does not record answers, their absence means nothing.
            None if hop.is_some() && trace.agent_results.is_empty() => of_turn("the turn completed".to_owned()),
            None if hop.is_some() => of_turn("the turn completed without the child's answer".to_owned()),
            None => {
                Symptom { object: session.name(cause.object), seq: Some(cause.at.seq), text: cause.message.clone() }
            }
        }
    }

    /// Returns the item that showed a turn how another agent's work ended.
    fn answer_of(&self, index: TurnIdx, hop: &Hop) -> Option<ItemIdx> {
        let trace = self.session.trace();
        if let Way::Waited(tool) = hop.charge.way {
            return self.output_of(Object::Tool(tool));
        }
        let child_turn = &trace.turns[hop.child_turn?];
        let answer = self.answers.get(&(hop.child, child_turn.id)).copied();
        let wait = || {
            // Without recorded answers, use the wait that was still running when the agent ended, and its output.
            let ended = child_turn.execution.ended.filter(|_| trace.agent_results.is_empty())?;
            let waits = self.waits.get(&index)?;
            let is_over = |tool: &&ToolIdx| trace.tools[**tool].execution.ended.is_some_and(|end| end.seq > ended.seq);
            self.output_of(Object::Tool(*waits.iter().find(is_over)?))
        };
        answer.filter(|item| trace.items[*item].thread == trace.turns[index].thread).or_else(wait)
    }

    /// Returns the item that showed the model the output of an object.
    fn output_of(&self, object: Object) -> Option<ItemIdx> {
        let trace = self.session.trace();
        let (items, thread) = match object {
            Object::Tool(tool) => (&trace.tools[tool].output_items, trace.tools[tool].thread),
            Object::Cell(cell) => (&trace.cells[cell].output_items, trace.cells[cell].thread),
            _ => return None,
        };
        items.iter().copied().find(|item| trace.items[*item].thread == thread)
    }

    /// Walks from the turn down to the cause, agent by agent.
    fn chain(
        &self,
        index: TurnIdx,
        symptom: &Symptom,
        finding: &Finding,
        cause: &Cause,
        findings: &HashMap<TurnIdx, Finding>,
    ) -> Vec<Step> {
        let (session, trace) = (self.session, self.session.trace());
        let mut way: Vec<(Object, &'static str, String)> = Vec::new();
        if session.name(Object::Turn(index)) != symptom.object {
            let path = session.agent_path(trace.turns[index].thread);
            way.push((Object::Turn(index), "contains", format!("the turn of {path}")));
        }
        if let Some(hop) = finding.hop {
            // Of a very long line of agents, list only both ends.
            let (head, tail, between) = self.hops.line(hop, MAX_CHAIN_AGENTS);
            head.into_iter().for_each(|hop| self.step_down(hop, findings, &mut way));
            if let Some(next) = tail.first() {
                let above = trace.turns[next.charge.turn].thread;
                way.push((Object::Thread(above), "agent_failed", format!("and {between} agents between")));
                way.push((Object::Turn(next.charge.turn), "contains", self.describe_turn(next.charge.turn, findings)));
            }
            tail.into_iter().for_each(|hop| self.step_down(hop, findings, &mut way));
        }
        if let Some(teller) = cause.told_by.filter(|teller| trace.tools[*teller].turn != cause.turn) {
            // The command was started in another turn. The write that returned its exit code leads to that call.
            way.push((Object::Tool(teller), "contains", describe_call(trace, &trace.tools[teller])));
            if let Some(operation) = self.started_by(cause.object) {
                way.push((Object::Operation(operation), "waited_on", "the command in the background".to_owned()));
            }
        }
        if Some(cause.object) != cause.turn.map(Object::Turn) && cause.object != Object::Thread(cause.thread) {
            way.extend(self.cell_around(cause.object));
            way.push((cause.object, "contains", self.describe(cause.object, &cause.message)));
        }
        let first =
            Step { object: symptom.object.clone(), relation: "symptom", seq: symptom.seq, text: symptom.text.clone() };
        let mut steps = vec![first];
        steps.extend(way.into_iter().map(|(object, relation, text)| Step {
            object: session.name(object),
            relation,
            seq: if object == cause.object { Some(cause.at.seq) } else { session.seq_of(object) },
            text,
        }));
        steps
    }

    /// Adds the steps from a turn to the turn of the agent that caused its failure.
    fn step_down(
        &self,
        hop: &Hop,
        findings: &HashMap<TurnIdx, Finding>,
        way: &mut Vec<(Object, &'static str, String)>,
    ) {
        let trace = self.session.trace();
        let path = self.session.agent_path(hop.child);
        let mut call = |tool: ToolIdx| {
            way.extend(self.cell_around(Object::Tool(tool)));
            way.push((Object::Tool(tool), "contains", describe_call(trace, &trace.tools[tool])));
        };
        match hop.charge.way {
            Way::Spawned(tool) => {
                tool.into_iter().for_each(&mut call);
                way.push((Object::Thread(hop.child), "spawned", path.to_owned()));
            }
            Way::Tasked(tool, item) => {
                call(tool);
                way.push((Object::Item(item), "delivered", item_text(trace, item)));
            }
            Way::Waited(tool) => {
                call(tool);
                way.push((Object::Thread(hop.child), "waited_on", path.to_owned()));
            }
        }
        if let Some(turn) = hop.child_turn {
            way.push((Object::Turn(turn), "agent_failed", self.describe_turn(turn, findings)));
        }
    }

    fn describe_turn(&self, turn: TurnIdx, findings: &HashMap<TurnIdx, Finding>) -> String {
        let outcome = findings.get(&turn).map_or("failed", |finding| finding.outcome.as_str());
        let path = self.session.agent_path(self.session.trace().turns[turn].thread);
        format!("the turn of {path} ended {outcome}")
    }

    /// Returns the terminal operation of a call that left its command running.
    fn started_by(&self, object: Object) -> Option<OperationIdx> {
        let Object::Tool(tool) = object else { return None };
        self.session.trace().tools[tool].operation
    }

    /// Returns the step to the code cell that made a call, or `None` if no code made it.
    fn cell_around(&self, object: Object) -> Option<(Object, &'static str, String)> {
        let Object::Tool(tool) = object else { return None };
        let cell = self.cells.get(&tool)?;
        let source = &self.session.trace().cells[*cell].source_js;
        Some((Object::Cell(*cell), "contains", shortened(source)))
    }

    fn describe(&self, object: Object, message: &str) -> String {
        let trace = self.session.trace();
        match object {
            Object::Tool(tool) => shortened(&format!("{}: {message}", describe_call(trace, &trace.tools[tool]))),
            Object::Inference(inference) => {
                let call = &trace.inferences[inference];
                let (model, provider) = (trace.text(call.model), trace.text(call.provider_name));
                shortened(&format!("request to {model} ({provider}): {message}"))
            }
            _ => message.to_owned(),
        }
    }
}

/// Returns the readable text of an item.
fn item_text(trace: &Trace, item: ItemIdx) -> String {
    let texts: Vec<&str> = trace.items[item]
        .parts
        .iter()
        .filter_map(|part| match part {
            Part::Text(text) | Part::Summary(text) => Some(&**text),
            Part::Json { summary } => Some(&**summary),
            Part::Code { source, .. } => Some(&**source),
            Part::Encoded { .. } | Part::PayloadRef { .. } => None,
        })
        .collect();
    shortened(&texts.join(" "))
}

fn sentence(session: &Session, finding: &Finding, cause: &Cause, thread: ThreadIdx) -> String {
    let trace = session.trace();
    let path = session.agent_path(cause.thread);
    let of_agent = if cause.thread == thread { String::new() } else { format!(" of {path}") };
    let tries = match cause.attempts {
        0 | 1 => String::new(),
        attempts => format!(" in {attempts} attempts"),
    };
    let status = cause.http_status.map(|status| format!(" ({status})")).unwrap_or_default();
    let call = match cause.object {
        Object::Tool(tool) => describe_call(trace, &trace.tools[tool]),
        _ => String::new(),
    };
    let what = match cause.category {
        Category::ProviderError => format!("the provider answered a request{of_agent} with an error{status}{tries}"),
        Category::RateLimited => format!("the provider limited the requests{of_agent}{status}{tries}"),
        Category::AuthError => format!("the provider did not accept the credentials{of_agent}{status}{tries}"),
        Category::ContextOverflow => format!("a request{of_agent} was larger than the model's context"),
        Category::ModelError => format!("the response to a request{of_agent} reported an error{tries}"),
        Category::StreamInterrupted => format!("the response to a request{of_agent} broke off{tries}"),
        Category::ToolFailed => format!("a tool call{of_agent} failed ({call})"),
        Category::ToolTimeout => format!("a tool call{of_agent} ran into its time limit ({call})"),
        Category::ToolUnknown => format!("a tool that does not exist was called{} ({call})", by(&of_agent, path)),
        Category::ToolBadArguments => format!("the arguments of a tool call{of_agent} could not be read ({call})"),
        Category::ToolDeclined => format!("a tool call{of_agent} was not allowed ({call})"),
        Category::PatchFailed => format!("a patch{of_agent} could not be applied"),
        Category::McpError => format!("a tool of an MCP server reported an error{} ({call})", to(&of_agent, path)),
        Category::CodeCellFailed => format!("code{of_agent} threw"),
        Category::AgentFailed => format!("{path} failed"),
        Category::AgentNeverFinished => format!("{path} was cut off by the end of the session"),
        Category::MessageUndelivered => format!("a message{of_agent} reached nobody ({call})"),
        Category::WaitTimeout => format!("a wait{of_agent} ran out before the agent was done"),
        Category::InterruptedByUser => "the user stopped it".to_owned(),
        Category::InterruptedByAgent => cause.message.clone(),
        Category::RecordingTruncated => format!("the recording ends while {path} is at work"),
        Category::Unknown => "the evidence does not say why".to_owned(),
    };
    let outcome = match finding.outcome {
        Outcome::Failed => "the turn failed",
        Outcome::Cancelled => "the turn was cancelled",
        Outcome::Unfinished => "the turn did not finish",
        Outcome::Degraded => "the turn completed on top of a failure",
        Outcome::Recovered => "the turn recovered",
        Outcome::Ok => "the turn completed",
    };
    match cause.category {
        // The messages of these categories repeat what the sentence says already.
        Category::InterruptedByUser
        | Category::InterruptedByAgent
        | Category::AgentNeverFinished
        | Category::WaitTimeout => shortened(&format!("{outcome}: {what}")),
        _ => shortened(&format!("{outcome}: {what}: {}", cause.message)),
    }
}

fn by(of_agent: &str, path: &str) -> String {
    if of_agent.is_empty() { String::new() } else { format!(" by {path}") }
}

fn to(of_agent: &str, path: &str) -> String {
    if of_agent.is_empty() { String::new() } else { format!(" to {path}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_long_lists_both_ends_are_named() {
        let list: Vec<usize> = (0..10).collect();
        let ends = |most| ends_of(&list, most).copied().collect::<Vec<_>>();
        assert_eq!(ends(10), list);
        assert_eq!(ends(4), [0, 1, 8, 9]);
        assert_eq!(ends(5), [0, 1, 7, 8, 9]);
    }

    #[test]
    fn each_moment_is_lost_once() {
        assert_eq!(total(&[(0, 10), (5, 12), (20, 30), (22, 25), (40, 35)]), 22);
        assert_eq!(total(&[]), 0);
    }
}
