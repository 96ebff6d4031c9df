//! Tells what was found about a turn: the symptom, the way back to the cause, and the story in a sentence.

use std::collections::HashMap;

use serde_json::Value;
use trace_reducer::model::{Anchor, CellIdx, EdgeKind, ItemIdx, Part, Symbol, ThreadIdx, ToolIdx, Trace, TurnIdx};

use super::faults::{describe_call, error_message};
use super::judge::{Cause, Finding};
use super::words::shortened;
use super::{Category, MAX_CHAIN_AGENTS, Outcome, RootCause, Step, Symptom, TurnVerdict};
use crate::family::Family;
use crate::object::Object;
use crate::session::Session;

/// What is needed to tell.
pub(super) struct Teller<'s> {
    session: &'s Session,
    family: &'s Family,
    errors: &'s HashMap<Symbol, Value>,
    /// The items that showed parents the last answers of their children, by parent and path of the child.
    answers: HashMap<(ThreadIdx, Symbol), ItemIdx>,
    /// The cells whose code made a call.
    cells: HashMap<ToolIdx, CellIdx>,
}

impl<'s> Teller<'s> {
    pub(super) fn new(session: &'s Session, family: &'s Family, errors: &'s HashMap<Symbol, Value>) -> Self {
        let trace = session.trace();
        let children: HashMap<Symbol, Symbol> =
            trace.agent_results.iter().map(|result| (result.edge_id, trace.threads[result.child].agent_path)).collect();
        let mut answers: HashMap<(ThreadIdx, Symbol), ItemIdx> = HashMap::new();
        for edge in trace.edges.values().filter(|edge| edge.kind == EdgeKind::AgentResult) {
            let (Anchor::Item(item), Some(child)) = (edge.target, children.get(&edge.id)) else { continue };
            let latest = answers.entry((trace.items[item].thread, *child)).or_insert(item);
            if trace.items[*latest].first_seen < trace.items[item].first_seen {
                *latest = item;
            }
        }
        let nested =
            trace.cells.iter().flat_map(|(cell, code)| code.nested_tools.iter().map(move |tool| (*tool, cell)));
        Self { session, family, errors, answers, cells: nested.collect() }
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
        time_lost_ms: total(&finding.lost),
        rests_on: Vec::new(),
        missing: Vec::new(),
    };
    let Some(cause) = &finding.cause else { return verdict };
    let symptom = teller.symptom(index, finding, cause);
    verdict.verdict = sentence(session, finding, cause, turn.thread);
    verdict.chain = teller.chain(index, &symptom, cause, findings);
    verdict.symptom = Some(symptom);
    verdict.rests_on = cause.rests_on.iter().map(|object| session.name(*object)).collect();
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
        attempts: cause.attempts,
    }
}

/// Adds up spans of time, each moment once.
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
    /// Finds what of a failure was to be seen: the error that ended the turn, the output that showed a failed call, the
    /// answer of a failed child.
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
            Outcome::Unfinished => return of_turn("the turn has no end".to_owned()),
            Outcome::Degraded | Outcome::Recovered | Outcome::Ok => {}
        }
        let shown = match finding.from_child {
            Some(child) => self.answers.get(&(turn.thread, trace.threads[child].agent_path)).copied(),
            None => self.output_of(cause.object),
        };
        match shown {
            Some(item) => Symptom {
                object: session.name(Object::Item(item)),
                seq: Some(trace.items[item].first_seen.seq),
                text: item_text(trace, item),
            },
            None if finding.from_child.is_some() => of_turn("the turn completed without the child's answer".to_owned()),
            None => {
                Symptom { object: session.name(cause.object), seq: Some(cause.at.seq), text: cause.message.clone() }
            }
        }
    }

    /// Returns the item that showed the model what came of an object.
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
        cause: &Cause,
        findings: &HashMap<TurnIdx, Finding>,
    ) -> Vec<Step> {
        let (session, trace) = (self.session, self.session.trace());
        let mut upwards: Vec<(Object, &'static str, String)> = Vec::new();
        if Some(cause.object) != cause.turn.map(Object::Turn) && cause.object != Object::Thread(cause.thread) {
            upwards.push((cause.object, "contains", self.describe(cause.object, &cause.message)));
            upwards.extend(self.cell_around(cause.object));
        }
        let mut thread = cause.thread;
        let mut turn = cause.turn;
        let target = trace.turns[index].thread;
        let levels = self.family.depth(thread).saturating_sub(self.family.depth(target));
        let left_out = levels.saturating_sub(MAX_CHAIN_AGENTS);
        // From the cause up, so that every step is the one way there is.
        for level in 0.. {
            if thread == target {
                break;
            }
            // Of a line without end, both ends are told.
            if left_out > 0 && (MAX_CHAIN_AGENTS / 2..MAX_CHAIN_AGENTS / 2 + left_out).contains(&level) {
                let Some(birth) = self.family.birth(thread) else { break };
                if level == MAX_CHAIN_AGENTS / 2 {
                    let text = format!("and {left_out} agents between");
                    upwards.push((Object::Thread(thread), "agent_failed", text));
                }
                (thread, turn) = (birth.parent, birth.turn);
                continue;
            }
            if let Some(turn) = turn {
                let outcome = findings.get(&turn).map_or("failed", |finding| finding.outcome.as_str());
                let path = session.agent_path(thread);
                upwards.push((Object::Turn(turn), "agent_failed", format!("the turn of {path} ended {outcome}")));
            }
            upwards.push((Object::Thread(thread), "spawned", session.agent_path(thread).to_owned()));
            let Some(birth) = self.family.birth(thread) else { break };
            if let Some(tool) = birth.tool {
                upwards.push((Object::Tool(tool), "contains", describe_call(trace, &trace.tools[tool])));
                upwards.extend(self.cell_around(Object::Tool(tool)));
            }
            (thread, turn) = (birth.parent, birth.turn);
        }
        let first =
            Step { object: symptom.object.clone(), relation: "symptom", seq: symptom.seq, text: symptom.text.clone() };
        let turn = Object::Turn(index);
        let mut steps = vec![first];
        if session.name(turn) != symptom.object {
            steps.push(Step {
                object: session.name(turn),
                relation: "contains",
                seq: session.seq_of(turn),
                text: format!("the turn of {}", session.agent_path(trace.turns[index].thread)),
            });
        }
        steps.extend(upwards.into_iter().rev().map(|(object, relation, text)| Step {
            object: session.name(object),
            relation,
            seq: if object == cause.object { Some(cause.at.seq) } else { session.seq_of(object) },
            text,
        }));
        steps
    }

    /// Returns the step to the code that made a call, if code did.
    fn cell_around(&self, object: Object) -> Option<(Object, &'static str, String)> {
        let Object::Tool(tool) = object else { return None };
        let trace = self.session.trace();
        let cell = self.cells.get(&tool).filter(|cell| Some(trace.cells[**cell].turn) == trace.tools[tool].turn)?;
        let source = &trace.cells[*cell].source_js;
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

/// Returns the readable texts of an item.
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
        Outcome::Unfinished => "the turn has no end",
        Outcome::Degraded => "the turn completed on top of a failure",
        Outcome::Recovered => "the turn recovered",
        Outcome::Ok => "the turn completed",
    };
    match cause.category {
        // Their messages say the same in other words.
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
