//! Fills the columns of the structure.

use std::collections::HashMap;

use serde_json::Value;
use trace_explain::activity::{Activities, Work, describe};
use trace_explain::audit::{self, audit_beside};
use trace_explain::clock::Clock;
use trace_explain::costs::{Costs, Sums};
use trace_explain::family::Family;
use trace_explain::inherited::inherited_items;
use trace_explain::label::{request_subject, tool_name, tool_subject};
use trace_explain::mail::lost_messages;
use trace_explain::outcome::{Outcome, exit_code};
use trace_explain::postmortem::{Outcome as VerdictOutcome, TurnVerdict, postmortem};
use trace_explain::texts::Calls;
use trace_explain::{CausalGraph, Object, ObjectRef, Relation, Session, Sightings};
use trace_reducer::model::{
    Anchor, ConversationItem, EdgeKind, Handle, InteractionEdge, ItemKind, Origin, Part, Producer, RolloutStatus,
    Symbol, ThreadIdx, ToolSummary, Trace, TurnIdx, Window,
};

use super::{About, AuditedState, FORMAT, Finding, Imported, Numbers, Recorder, Structure};
use crate::page::columns::{
    Attached, Bars, Column, Edges, Inferences, Items, Lane, Links, Lost, Objects, Threads, Tools, Totals, Transcript,
    Turns, Uses,
};
use crate::page::strings::{Strings, command, line};

/// A missing value in a column.
const NONE: i64 = -1;

/// Outcome of a turn that still runs.
const RUNNING: &str = "running";

/// Bits of the marks of items in a transcript.
const INHERITED: i64 = 1;
const COMPACTION_MARKER: i64 = 2;
const REPLACEMENT: i64 = 4;
const NEVER_SENT: i64 = 8;

/// Names of outcomes. Their indexes are the numbers in the columns.
const OUTCOMES: [&str; 5] = ["none", "completed", "failed", "cancelled", "unfinished"];

/// Relations of the causal graph. Their indexes are the numbers in the columns.
const RELATIONS: [Relation; 10] = [
    Relation::Contains,
    Relation::Requested,
    Relation::ProducedBy,
    Relation::Observed,
    Relation::Spawned,
    Relation::Delivered,
    Relation::ResultOf,
    Relation::Interrupted,
    Relation::WaitedOn,
    Relation::ReplacedBy,
];

impl Structure {
    /// Makes the structure of a session. `name` is the name that the page displays.
    pub fn new(session: &Session, name: &str) -> Self {
        Self::with(session, name, Recorder::Gone, Numbers::new(session.trace()), Strings::new(), None)
    }

    /// Makes the structure of a session that is followed.
    pub fn following(session: &Session, name: &str, recorder: Recorder) -> Self {
        Self::with(session, name, recorder, Numbers::following(session.trace(), None), Strings::new(), None)
    }

    /// Makes the structure with these numbers of objects. Texts are added to `strings`. `before` is the structure of an earlier state
    /// whose objects have the same numbers; its findings stand until another turn has ended.
    pub(super) fn with(
        session: &Session,
        name: &str,
        recorder: Recorder,
        numbers: Numbers,
        strings: Strings,
        before: Option<&Self>,
    ) -> Self {
        let trace = session.trace();
        let clock = Clock::new(trace);
        let family = Family::new(trace);
        let activities = Activities::new(trace, &clock);
        let costs = Costs::with(trace, None, &clock, &family);
        let verdicts = postmortem(session).turns;
        let mut builder = Builder {
            recorder,
            session,
            trace,
            clock,
            family,
            activities,
            numbers,
            strings,
            threads_by_id: trace.threads.iter().map(|(index, thread)| (thread.id, index)).collect(),
            turns_by_id: trace.turns.iter().map(|(index, turn)| (turn.id, index)).collect(),
            places_of_turns: vec![0; trace.turns.len()],
        };
        for thread in builder.family.order() {
            for (place, turn) in builder.family.turns(*thread).iter().enumerate() {
                builder.places_of_turns[turn.index()] = place + 1;
            }
        }
        let objects = builder.objects();
        let threads = builder.threads(&costs);
        let turns = builder.turns(&verdicts);
        let sightings = Sightings::new(trace).counts();
        let items = builder.items(&sightings);
        let inferences = builder.inferences();
        let tools = builder.tools();
        let edges = builder.edges();
        let lost = builder.lost();
        let (bars, lanes) = builder.bars();
        let total = &costs.total;
        let audited = AuditedState::of(trace, recorder);
        let findings = match before.filter(|before| before.audited == audited) {
            Some(before) => before.findings.clone(),
            None => audit_beside(session).map(|audit| audit.findings.iter().map(|it| builder.audited(it)).collect()),
        };
        Structure {
            numbers,
            format: FORMAT,
            session: builder.about(name),
            types: builder.numbers.types(),
            objects,
            outcomes: OUTCOMES,
            threads,
            order: builder.family.order().iter().map(|thread| builder.number(Object::Thread(*thread))).collect(),
            turns,
            items,
            inferences,
            tools,
            edges,
            lost,
            works: Work::ALL.iter().map(|work| work.as_str()).collect(),
            bars,
            lanes,
            relations: RELATIONS.iter().map(|relation| relation.as_str()).collect(),
            links: builder.links(),
            uses: builder.uses(),
            transcripts: builder.transcripts(&sightings),
            attached: builder.attached(),
            verdicts: verdicts.iter().map(|verdict| builder.verdict(verdict)).collect(),
            findings,
            audited,
            diagnostics: builder.findings(),
            imported: builder.imported(),
            totals: Totals {
                threads: trace.threads.len(),
                turns: total.turns.count,
                model_calls: total.inference_calls.count,
                failed_model_calls: total.inference_calls.failed,
                tool_calls: total.tool_calls.count,
                failed_tool_calls: total.tool_calls.failed,
                compactions: trace.compactions.len(),
                input_tokens: total.tokens.input,
                cached_tokens: total.tokens.cached_input,
                output_tokens: total.tokens.output,
            },
            strings: builder.strings,
        }
    }
}

struct Builder<'s> {
    recorder: Recorder,
    session: &'s Session,
    trace: &'s Trace,
    clock: Clock,
    family: Family,
    activities: Activities,
    numbers: Numbers,
    strings: Strings,
    threads_by_id: HashMap<Symbol, ThreadIdx>,
    turns_by_id: HashMap<Symbol, TurnIdx>,
    /// For each turn, its number within its thread, counted from 1.
    places_of_turns: Vec<usize>,
}

impl Builder<'_> {
    fn number(&self, object: Object) -> i64 {
        i64::from(self.numbers.of(object).0)
    }

    fn number_of(&self, object: Option<Object>) -> i64 {
        object.map_or(NONE, |object| self.number(object))
    }

    fn at(&self, seq: u64) -> i64 {
        count(self.clock.at(seq))
    }

    /// Returns the number of the first line of a text that may be long.
    fn line(&mut self, text: &str) -> i64 {
        i64::from(self.strings.add(&line(text)))
    }

    /// Returns the number of a text that is not truncated, such as a name or an id.
    fn text(&mut self, text: &str) -> i64 {
        i64::from(self.strings.add(text))
    }

    fn symbol(&mut self, symbol: Option<Symbol>) -> i64 {
        symbol.map_or(0, |symbol| i64::from(self.strings.add(self.trace.text(symbol))))
    }

    fn about(&self, name: &str) -> About {
        let trace = self.trace;
        About {
            name: name.to_owned(),
            rollout_id: trace.text(trace.rollout_id).to_owned(),
            trace_id: trace.text(trace.trace_id).to_owned(),
            status: match trace.status {
                RolloutStatus::Running => "running",
                RolloutStatus::Completed => "completed",
                RolloutStatus::Failed => "failed",
                RolloutStatus::Aborted | RolloutStatus::Unknown => "aborted",
            },
            schema_version: trace.schema_version.0,
            recording_complete: trace.recording_complete,
            started_at_unix_ms: self.clock.started_at_unix_ms(),
            wall_ms: self.clock.wall_ms(),
            clock_set_back_ms: self.clock.set_back_ms(),
        }
    }

    fn objects(&mut self) -> Objects {
        let mut objects = Objects::default();
        for number in self.numbers.all() {
            let Some(object) = self.numbers.object(number) else { continue };
            let ObjectRef { kind, id } = self.session.name(object);
            let index = number.0 - self.numbers.of_first(object).0;
            let says_index = id.strip_prefix(&kind).and_then(|rest| rest.strip_prefix(':'));
            let is_derived = says_index.is_some_and(|rest| rest == (index + 1).to_string());
            objects.id.push((!is_derived).then_some(id));
            let label = self.label(object);
            objects.label.push(match object {
                // The end of a command may be what matters, so the label keeps both ends.
                Object::Tool(_) | Object::Session(_) | Object::Operation(_) | Object::Cell(_) => {
                    i64::from(self.strings.add(&command(&label)))
                }
                _ => self.line(&label),
            });
            // Payloads are the last and most numerous objects, and only these columns apply to them.
            if matches!(object, Object::Payload(_)) {
                continue;
            }
            let thread = self.session.thread_of(object).map(Object::Thread);
            objects.thread.push(self.number_of(thread.filter(|thread| *thread != object)));
            objects.turn.push(self.number_of(self.turn_of(object)));
            objects.seq.push(self.session.seq_of(object).map_or(NONE, count));
            let (start, end) = self.times(object);
            objects.start.push(start);
            objects.end.push(end);
            objects.outcome.push(self.outcome(object));
        }
        objects
    }

    fn window(&self, object: Object) -> Option<Window> {
        let trace = self.trace;
        Some(match object {
            Object::Thread(it) => trace.threads[it].execution,
            Object::Turn(it) => trace.turns[it].execution,
            Object::Inference(it) => trace.inferences[it].execution,
            Object::Cell(it) => trace.cells[it].execution,
            Object::Tool(it) => trace.tools[it].execution,
            Object::Operation(it) => trace.operations[it].execution,
            Object::CompactionRequest(it) => trace.compaction_requests[it].execution,
            Object::Item(_) | Object::Session(_) | Object::Compaction(_) | Object::Edge(_) | Object::Payload(_) => {
                return None;
            }
        })
    }

    fn turn_of(&self, object: Object) -> Option<Object> {
        let trace = self.trace;
        let turn = match object {
            Object::Inference(it) => Some(trace.inferences[it].turn),
            Object::Cell(it) => Some(trace.cells[it].turn),
            Object::Tool(it) => trace.tools[it].turn,
            Object::Operation(it) => trace.tools[trace.operations[it].tool].turn,
            Object::Session(it) => trace.tools[trace.operations[trace.sessions[it].created_by].tool].turn,
            Object::Compaction(it) => Some(trace.compactions[it].turn),
            Object::CompactionRequest(it) => Some(trace.compaction_requests[it].turn),
            Object::Item(it) => {
                let item = &trace.items[it];
                let turn = item.codex_turn_id.and_then(|id| self.turns_by_id.get(&id)).copied();
                turn.filter(|turn| trace.turns[*turn].thread == item.thread)
            }
            Object::Edge(it) => match trace.edges[it].source {
                Anchor::Tool(tool) => trace.tools[tool].turn,
                Anchor::Item(_) | Anchor::Thread(_) => None,
            },
            Object::Thread(_) | Object::Turn(_) | Object::Payload(_) => None,
        };
        turn.map(Object::Turn)
    }

    fn times(&self, object: Object) -> (i64, i64) {
        if let Some(window) = self.window(object) {
            return (self.at(window.started.seq), window.ended.map_or(NONE, |ended| self.at(ended.seq)));
        }
        match object {
            Object::Edge(edge) => {
                let (sent, received) = self.hand_over(&self.trace.edges[edge]);
                (sent, received)
            }
            Object::Payload(_) => (NONE, NONE),
            _ => {
                let at = self.session.seq_of(object).map_or(NONE, |seq| self.at(seq));
                (at, at)
            }
        }
    }

    fn outcome(&self, object: Object) -> i64 {
        let outcome = match object {
            Object::Tool(tool) => Some(Outcome::of_tool(self.trace, &self.trace.tools[tool])),
            _ => self.window(object).as_ref().map(Outcome::of_window),
        };
        match outcome {
            None => 0,
            Some(Outcome::Completed) => 1,
            Some(Outcome::Failed) => 2,
            Some(Outcome::Cancelled) => 3,
            Some(Outcome::Unfinished) => 4,
        }
    }

    fn label(&self, object: Object) -> String {
        let trace = self.trace;
        let path = |thread: ThreadIdx| self.session.agent_path(thread);
        match object {
            Object::Thread(it) => path(it).to_owned(),
            Object::Turn(it) => {
                format!("turn {} of {}", self.places_of_turns[it.index()], path(trace.turns[it].thread))
            }
            Object::Item(it) => item_label(&trace.items[it]),
            Object::Cell(it) => trace.cells[it].source_js.chars().take(400).collect(),
            Object::Session(it) => request_subject(&trace.operations[trace.sessions[it].created_by].request),
            Object::Operation(it) => request_subject(&trace.operations[it].request),
            Object::Compaction(it) => {
                let compaction = &trace.compactions[it];
                format!("{} items became {}", compaction.input_items.len(), compaction.replacement_items.len())
            }
            Object::Edge(it) => {
                let (from, to) = self.ends(&trace.edges[it]);
                format!("{} {} → {}", trace.edges[it].kind.as_str(), path(from), path(to))
            }
            Object::Payload(it) => trace.text(trace.payloads[it].kind).to_owned(),
            Object::Inference(_) | Object::Tool(_) | Object::CompactionRequest(_) => {
                describe(trace, object).unwrap_or_default()
            }
        }
    }

    fn threads(&mut self, costs: &Costs) -> Threads {
        let trace = self.trace;
        let sums: HashMap<&str, (&Sums, &Sums)> =
            costs.agents.iter().map(|agent| (&*agent.thread_id, (&agent.own, &agent.subtree))).collect();
        let mut columns = Threads::default();
        for (index, thread) in trace.threads.iter() {
            columns.path.push(self.symbol(Some(thread.agent_path)));
            columns.nickname.push(self.symbol(thread.nickname));
            columns.model.push(self.symbol(thread.default_model));
            let (task, role) = match &thread.origin {
                Origin::Root => (None, None),
                Origin::Spawned { task_name, agent_role, .. } => (Some(*task_name), Some(*agent_role)),
            };
            columns.task.push(self.symbol(task));
            columns.role.push(self.symbol(role));
            columns.parent.push(self.number_of(self.family.parent(index).map(Object::Thread)));
            columns.depth.push(count(self.family.depth(index) as u64));
            let none = Sums::default();
            let (own, all) = sums.get(trace.text(thread.id)).copied().unwrap_or((&none, &none));
            columns.model_calls.push(count(own.inference_calls.count));
            columns.failed_model_calls.push(count(own.inference_calls.failed));
            columns.tool_calls.push(count(own.tool_calls.count));
            columns.failed_tool_calls.push(count(own.tool_calls.failed));
            columns.input_tokens.push(count(own.tokens.input));
            columns.cached_tokens.push(count(own.tokens.cached_input));
            columns.output_tokens.push(count(own.tokens.output));
            columns.all_model_calls.push(count(all.inference_calls.count));
            columns.all_failed_model_calls.push(count(all.inference_calls.failed));
            columns.all_tool_calls.push(count(all.tool_calls.count));
            columns.all_failed_tool_calls.push(count(all.tool_calls.failed));
            columns.all_input_tokens.push(count(all.tokens.input));
            columns.all_cached_tokens.push(count(all.tokens.cached_input));
            columns.all_output_tokens.push(count(all.tokens.output));
        }
        columns
    }

    fn turns(&mut self, verdicts: &[TurnVerdict]) -> Turns {
        let outcome = |verdict: &TurnVerdict| if self.goes_on(verdict) { RUNNING } else { verdict.outcome.as_str() };
        let outcomes: HashMap<&str, &'static str> =
            verdicts.iter().map(|verdict| (&*verdict.turn_id, outcome(verdict))).collect();
        let mut columns = Turns::default();
        for (index, turn) in self.trace.turns.iter() {
            let outcome = outcomes.get(self.trace.text(turn.id)).copied().unwrap_or_default();
            columns.verdict.push(self.text(outcome));
            columns.must_end.push(self.at(self.activities.turn_end(index)));
        }
        columns
    }

    fn items(&mut self, sightings: &[u32]) -> Items {
        let trace = self.trace;
        let mut columns = Items::default();
        for (index, item) in trace.items.iter() {
            columns.role.push(self.text(item.role.as_str()));
            columns.kind.push(self.text(item.kind.as_str()));
            columns.channel.push(self.text(item.channel.map_or("", |channel| channel.as_str())));
            columns.call_id.push(self.symbol(item.call_id));
            columns.author.push(self.symbol(item.agent_message.map(|(author, _)| author)));
            columns.recipient.push(self.symbol(item.agent_message.map(|(_, recipient)| recipient)));
            columns.seen_by.push(sightings.get(index.index()).map_or(0, |seen| i64::from(*seen)));
            let producer = item.produced_by.first().map(|producer| match *producer {
                Producer::Inference(it) => Object::Inference(it),
                Producer::Tool(it) => Object::Tool(it),
                Producer::Cell(it) => Object::Cell(it),
                Producer::Compaction(it) => Object::Compaction(it),
            });
            columns.producer.push(self.number_of(producer));
        }
        columns
    }

    fn inferences(&mut self) -> Inferences {
        let trace = self.trace;
        let mut columns = Inferences::default();
        for call in trace.inferences.values() {
            columns.model.push(self.symbol(Some(call.model)));
            columns.provider.push(self.symbol(Some(call.provider_name)));
            let tokens = |of: fn(&trace_reducer::model::Usage) -> u64| {
                call.usage.as_ref().map_or(NONE, |usage| count(of(usage)))
            };
            columns.input_tokens.push(tokens(|usage| usage.input_tokens));
            columns.cached_tokens.push(tokens(|usage| usage.cached_input_tokens));
            columns.output_tokens.push(tokens(|usage| usage.output_tokens));
            columns.reasoning_tokens.push(tokens(|usage| usage.reasoning_output_tokens));
            columns.error.push(self.line(call.error.as_deref().unwrap_or_default()));
        }
        columns
    }

    fn tools(&mut self) -> Tools {
        let trace = self.trace;
        let mut cells = vec![NONE; trace.tools.len()];
        for (cell, it) in trace.cells.iter() {
            for tool in &it.nested_tools {
                cells[tool.index()] = self.number(Object::Cell(cell));
            }
        }
        let mut columns = Tools { cell: cells, ..Tools::default() };
        for call in trace.tools.values() {
            columns.name.push(self.line(&tool_name(trace, call)));
            let subject = command(&tool_subject(trace, call).unwrap_or_default());
            columns.subject.push(i64::from(self.strings.add(&subject)));
            columns.exit_code.push(exit_code(trace, call));
            columns.operation.push(self.number_of(call.operation.map(Object::Operation)));
        }
        columns
    }

    fn ends(&self, edge: &InteractionEdge) -> (ThreadIdx, ThreadIdx) {
        (self.trace.thread_of(edge.source), self.trace.thread_of(edge.target))
    }

    /// Returns when a hand-over was sent and when it arrived. The times of the edge itself are less precise, because
    /// the format does not keep all of them.
    fn hand_over(&self, edge: &InteractionEdge) -> (i64, i64) {
        let trace = self.trace;
        let sent = match edge.source {
            Anchor::Tool(tool) => self.at(trace.tools[tool].execution.started.seq),
            Anchor::Item(_) | Anchor::Thread(_) => self.at(edge.seq),
        };
        let received = match edge.target {
            Anchor::Item(item) => trace.items[item].first_seen.seq,
            Anchor::Tool(tool) => trace.tools[tool].execution.started.seq,
            // The thread of a child starts during the call that spawns it. The thread of a closed agent ends when the
            // call does.
            Anchor::Thread(thread) => match edge.source {
                Anchor::Tool(tool) if edge.kind == EdgeKind::CloseAgent => {
                    trace.tools[tool].execution.ended.map_or(edge.seq, |ended| ended.seq)
                }
                _ => trace.threads[thread].execution.started.seq,
            },
        };
        (sent, self.at(received).max(sent))
    }

    fn edges(&mut self) -> Edges {
        let trace = self.trace;
        let answers: HashMap<Symbol, &str> =
            trace.agent_results.iter().map(|result| (result.edge_id, &*result.message)).collect();
        let mut columns = Edges::default();
        for edge in trace.edges.values() {
            columns.kind.push(self.text(edge.kind.as_str()));
            columns.source.push(self.number(anchored(edge.source)));
            columns.target.push(self.number(anchored(edge.target)));
            let (from, to) = self.ends(edge);
            columns.from.push(self.number(Object::Thread(from)));
            columns.to.push(self.number(Object::Thread(to)));
            let (sent, received) = self.hand_over(edge);
            columns.sent.push(sent);
            columns.received.push(received);
            let carried = edge.carried_items.first().map(|item| item_label(&trace.items[*item]));
            let answer = answers.get(&edge.id).map(|answer| (*answer).to_owned());
            let message = match edge.source {
                Anchor::Tool(tool) => match &trace.tools[tool].summary {
                    ToolSummary::Agent { message_preview, .. } => Some(message_preview.to_string()),
                    _ => None,
                },
                Anchor::Item(_) | Anchor::Thread(_) => None,
            };
            let text = answer.or(message.filter(|text| !text.is_empty())).or(carried).unwrap_or_default();
            columns.text.push(self.line(&text));
        }
        columns
    }

    fn lost(&self) -> Vec<Lost> {
        let lost = lost_messages(self.trace).into_iter().map(|lost| Lost {
            kind: lost.kind.as_str(),
            source: self.number(anchored(lost.source)),
            from: self.number(Object::Thread(self.trace.thread_of(lost.source))),
            to: self.number_of(self.threads_by_id.get(&lost.target_thread_id).copied().map(Object::Thread)),
            to_id: self.trace.text(lost.target_thread_id).to_owned(),
            sent: self.at(lost.seq),
            seq: lost.seq,
            text: line(&lost.text),
        });
        lost.collect()
    }

    fn bars(&self) -> (Bars, Vec<Lane>) {
        let mut by_thread = vec![Vec::new(); self.trace.threads.len()];
        for activity in self.activities.all() {
            by_thread[activity.thread.index()].push(activity);
        }
        let (mut bars, mut lanes) = (Bars::default(), Vec::new());
        for thread in self.family.order() {
            let activities = &mut by_thread[thread.index()];
            activities.sort_by_key(|activity| (activity.start, std::cmp::Reverse(activity.end)));
            let (first, thread) = (bars.object.len(), self.number(Object::Thread(*thread)));
            lanes.push(Lane { thread, first, count: activities.len() });
            for activity in activities {
                bars.object.push(self.number(activity.object));
                let work = Work::ALL.iter().position(|work| *work == activity.work).unwrap_or(0);
                bars.work.push(count(work as u64));
                bars.start.push(self.at(activity.start));
                bars.end.push(self.at(activity.end));
                bars.inside.push(self.number_of(activity.inside.map(Object::Cell)));
            }
        }
        (bars, lanes)
    }

    fn links(&self) -> Links {
        let causal = CausalGraph::new(self.session);
        let graph = causal.graph();
        let mut links = Links::default();
        for edge in graph.raw_edges() {
            links.from.push(self.number(graph[edge.source()]));
            links.to.push(self.number(graph[edge.target()]));
            let relation = RELATIONS.iter().position(|relation| *relation == edge.weight.relation).unwrap_or(0);
            links.relation.push(count(relation as u64));
            links.at.push(self.at(edge.weight.at.seq));
        }
        links
    }

    fn uses(&self) -> Uses {
        let trace = self.trace;
        let mut uses = Uses::default();
        let mut add = |object: Object, payload: Option<Symbol>| {
            if let Some(payload) = payload.and_then(|id| self.session.payload_of(id)) {
                uses.object.push(self.number(object));
                uses.payload.push(self.number(Object::Payload(payload)));
            }
        };
        for (index, item) in trace.items.iter() {
            add(Object::Item(index), item.payload_id);
        }
        for (index, call) in trace.inferences.iter() {
            add(Object::Inference(index), Some(call.request_payload_id));
            add(Object::Inference(index), call.response_payload_id);
        }
        for (index, cell) in trace.cells.iter() {
            add(Object::Cell(index), cell.initial_response_payload_id);
            add(Object::Cell(index), cell.result_payload_id);
        }
        for (index, call) in trace.tools.iter() {
            add(Object::Tool(index), call.invocation_payload_id);
            call.runtime_payload_ids.iter().for_each(|id| add(Object::Tool(index), Some(*id)));
            add(Object::Tool(index), call.result_payload_id);
        }
        for (index, operation) in trace.operations.iter() {
            operation.payload_ids.iter().for_each(|id| add(Object::Operation(index), Some(*id)));
        }
        for (index, request) in trace.compaction_requests.iter() {
            add(Object::CompactionRequest(index), Some(request.request_payload_id));
            add(Object::CompactionRequest(index), request.response_payload_id);
        }
        for (index, edge) in trace.edges.iter() {
            edge.carried_payload_ids.iter().for_each(|id| add(Object::Edge(index), Some(*id)));
        }
        uses
    }

    fn transcripts(&self, sightings: &[u32]) -> Vec<Transcript> {
        let trace = self.trace;
        let inherited = inherited_items(trace, &self.family);
        let mut is_replacement = vec![false; trace.items.len()];
        for compaction in trace.compactions.values() {
            for item in &compaction.replacement_items {
                is_replacement[item.index()] = true;
            }
        }
        let transcript = |thread: &ThreadIdx| {
            let items = &trace.threads[*thread].items;
            let marks = items.iter().map(|item| {
                let mut marks = 0;
                let is_marker = trace.items[*item].kind == ItemKind::CompactionMarker;
                let never_sent = sightings.get(item.index()).is_none_or(|seen| *seen == 0);
                for (is, mark) in [
                    (inherited[item.index()], INHERITED),
                    (is_marker, COMPACTION_MARKER),
                    (is_replacement[item.index()], REPLACEMENT),
                    (never_sent && !is_marker, NEVER_SENT),
                ] {
                    marks += if is { mark } else { 0 };
                }
                marks
            });
            Transcript {
                thread: self.number(Object::Thread(*thread)),
                items: items.iter().map(|item| self.number(Object::Item(*item))).collect(),
                marks: marks.collect::<Column>(),
            }
        };
        self.family.order().iter().map(transcript).collect()
    }

    fn attached(&self) -> Attached {
        let calls = Calls::new(self.trace);
        let mut attached = Attached::default();
        for (index, item) in self.trace.items.iter() {
            if (item.kind.is_call() || item.kind.is_output())
                && let Some(tool) = calls.tool_of(self.trace, index)
            {
                attached.item.push(self.number(Object::Item(index)));
                attached.tool.push(self.number(Object::Tool(tool)));
            }
        }
        attached
    }

    /// Returns whether a turn has no end because it still runs.
    fn goes_on(&self, verdict: &TurnVerdict) -> bool {
        self.recorder == Recorder::AtWork && verdict.outcome == VerdictOutcome::Unfinished
    }

    /// Returns a verdict in which every object has its number beside its name. A turn that still runs has no verdict yet.
    fn verdict(&self, verdict: &TurnVerdict) -> Value {
        let mut value = if self.goes_on(verdict) {
            let running = TurnVerdict {
                turn_id: verdict.turn_id.clone(),
                thread_id: verdict.thread_id.clone(),
                agent_path: verdict.agent_path.clone(),
                outcome: verdict.outcome,
                verdict: "the turn goes on".to_owned(),
                symptom: None,
                root_cause: None,
                other_causes: Vec::new(),
                chain: Vec::new(),
                time_lost_ms: 0,
                rests_on: Vec::new(),
                missing: Vec::new(),
            };
            let mut value = serde_json::to_value(running).unwrap_or_default();
            value["outcome"] = RUNNING.into();
            value
        } else {
            serde_json::to_value(verdict).unwrap_or_default()
        };
        self.add_numbers(&mut value);
        let turn = ObjectRef { kind: "codex_turn".to_owned(), id: verdict.turn_id.clone() };
        if let Some(members) = value.as_object_mut() {
            members.insert("turn".to_owned(), self.number_of(self.session.find(&turn)).into());
        }
        value
    }

    /// Returns a finding of an audit in which every object has its number beside its name.
    fn audited(&self, finding: &audit::Finding) -> Value {
        let mut value = serde_json::to_value(finding).unwrap_or_default();
        self.add_numbers(&mut value);
        value
    }

    fn add_numbers(&self, value: &mut Value) {
        match value {
            Value::Array(elements) => elements.iter_mut().for_each(|element| self.add_numbers(element)),
            Value::Object(members) => {
                members.values_mut().for_each(|member| self.add_numbers(member));
                let named = members.get("object").and_then(|object| serde_json::from_value(object.clone()).ok());
                if let Some(name) = named {
                    members.insert("n".to_owned(), self.number_of(self.session.find(&name)).into());
                }
            }
            _ => {}
        }
    }

    /// Returns the line of a session file for every object but payloads, which come last.
    fn imported(&self) -> Option<Imported> {
        let record = self.session.bundle().import()?;
        let files: Vec<_> = record.sources.iter().map(|source| source.path.clone()).collect();
        let index_of: HashMap<&str, i64> =
            record.sources.iter().zip(0..).map(|(source, index)| (source.path.as_str(), index)).collect();
        let objects = self.numbers.all().filter_map(|number| self.numbers.object(number));
        let lines = objects.filter(|object| !matches!(object, Object::Payload(_))).map(|object| {
            self.session.source_of(object).map_or((NONE, NONE), |at| (index_of[at.file], at.line.into()))
        });
        let (file, line) = lines.unzip();
        Some(Imported {
            format: record.format.clone(),
            agent_version: record.agent_version.clone(),
            files,
            notes: record.notes.clone(),
            file,
            line,
        })
    }

    fn findings(&self) -> Vec<Finding> {
        let findings = self.session.diagnostics().into_iter().map(|finding| Finding {
            code: finding.code.as_str().to_owned(),
            message: finding.message.to_string(),
            seq: finding.seq,
        });
        findings.collect()
    }
}

fn anchored(anchor: Anchor) -> Object {
    match anchor {
        Anchor::Item(item) => Object::Item(item),
        Anchor::Tool(tool) => Object::Tool(tool),
        Anchor::Thread(thread) => Object::Thread(thread),
    }
}

/// Returns the beginning of the text of an item.
fn item_label(item: &ConversationItem) -> String {
    let text = item.parts.iter().find_map(|part| match part {
        Part::Text(text) | Part::Summary(text) => Some(&**text),
        Part::Json { summary } => Some(&**summary),
        Part::Code { source, .. } => Some(&**source),
        Part::Encoded { .. } => None,
        Part::PayloadRef { label, .. } => Some(&**label),
    });
    // This is more than fits into a line, because white space is shortened later.
    text.unwrap_or_default().chars().take(800).collect()
}

fn count(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}
