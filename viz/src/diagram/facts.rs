//! What all views need to know of a session: its times, its tree of agents, the costs and the outcomes of its parts.

use std::collections::HashMap;

use trace_explain::clock::Clock;
use trace_explain::costs::{Costs, Sums};
use trace_explain::family::Family;
use trace_explain::label::{tool_name, tool_subject};
use trace_explain::outcome::{Outcome, exit_code};
use trace_explain::postmortem::{self, Category, MAX_OTHER_CAUSES, Postmortem, TurnVerdict, postmortem};
use trace_explain::{Object, ObjectRef, Session};
use trace_reducer::model::{Handle, Symbol, ThreadIdx, ToolIdx, ToolKind, Trace, TurnIdx, Window};

use super::arguments;
use super::model::Mark;
use super::options::{DiagramError, Options};
use super::text::{count, duration, number, parts, since_start};

/// What all views need to know of a session.
pub(super) struct Facts<'s> {
    pub(super) session: &'s Session,
    pub(super) trace: &'s Trace,
    pub(super) clock: Clock,
    pub(super) family: Family,
    pub(super) postmortem: Postmortem,
    /// For each turn, the index of its verdict in `postmortem.turns`.
    verdicts: Vec<Option<usize>>,
    /// The objects that verdicts blame, each with the category and the message of the cause. Only verdicts that need
    /// attention count.
    causes: HashMap<ObjectRef, (Category, String)>,
    /// For each thread, the seq at which its last completed inference call started.
    last_answered: Vec<u64>,
    /// For each thread, its outcome: the worst mark of its turns and of the thread itself.
    thread_marks: Vec<Mark>,
    /// For each thread, the turn with the worst mark.
    worst_turns: Vec<Option<TurnIdx>>,
    /// For each thread, the sums of what it did, without its children.
    thread_sums: Vec<Sums>,
    /// For each turn, the sums of what was done in it.
    turn_sums: Vec<Sums>,
    pub(super) threads_by_id: HashMap<Symbol, ThreadIdx>,
    turns_by_id: HashMap<Symbol, TurnIdx>,
}

impl<'s> Facts<'s> {
    pub(super) fn new(session: &'s Session) -> Self {
        let trace = session.trace();
        let (clock, family) = (Clock::new(trace), Family::new(trace));
        let costs = Costs::with(trace, None, &clock, &family);
        let mut thread_sums = vec![Sums::default(); trace.threads.len()];
        for (thread, agent) in family.order().iter().zip(costs.agents) {
            thread_sums[thread.index()] = agent.own;
        }
        let mut turn_sums: Vec<Sums> = costs.turns.into_iter().map(|turn| turn.sums).collect();
        turn_sums.resize(trace.turns.len(), Sums::default());
        let postmortem = postmortem(session);
        let turns_by_id: HashMap<Symbol, TurnIdx> = trace.turns.iter().map(|(index, turn)| (turn.id, index)).collect();
        let mut verdicts = vec![None; trace.turns.len()];
        let mut causes = HashMap::new();
        for (index, verdict) in postmortem.turns.iter().enumerate() {
            let turn = trace.symbols.get(&verdict.turn_id).and_then(|id| turns_by_id.get(&id));
            if let Some(turn) = turn {
                verdicts[turn.index()] = Some(index);
            }
            if verdict.outcome.needs_attention() {
                let all = verdict.root_cause.iter().chain(&verdict.other_causes);
                for cause in all {
                    let told = || (cause.category, cause.message.clone());
                    causes.entry(cause.object.clone()).or_insert_with(told);
                }
            }
        }
        let mut last_answered = vec![0; trace.threads.len()];
        for call in trace.inferences.values().filter(|call| Outcome::of_window(&call.execution) == Outcome::Completed) {
            let last: &mut u64 = &mut last_answered[call.thread.index()];
            *last = (*last).max(call.execution.started.seq);
        }
        let threads_by_id = trace.threads.iter().map(|(index, thread)| (thread.id, index)).collect();
        let mut facts = Self {
            session,
            trace,
            clock,
            family,
            postmortem,
            verdicts,
            causes,
            last_answered,
            thread_marks: Vec::new(),
            worst_turns: Vec::new(),
            thread_sums,
            turn_sums,
            threads_by_id,
            turns_by_id,
        };
        for (thread, known) in trace.threads.iter() {
            let turns = facts.family.turns(thread).iter().copied();
            // `max_by_key` returns the last of equally bad turns, which is the one that the agent ended with.
            let worst = turns.max_by_key(|turn| facts.turn_mark(*turn));
            let of_turns = worst.map_or(Mark::Fine, |turn| facts.turn_mark(turn));
            facts.thread_marks.push(of_turns.max(mark_of(Outcome::of_window(&known.execution))));
            facts.worst_turns.push(worst);
        }
        facts
    }

    pub(super) fn name(&self, object: Object) -> ObjectRef {
        self.session.name(object)
    }

    pub(super) fn turn_of(&self, id: Symbol) -> Option<TurnIdx> {
        self.turns_by_id.get(&id).copied()
    }

    /// Returns the verdict of a turn. `None` if the postmortem has none.
    pub(super) fn verdict(&self, turn: TurnIdx) -> Option<&TurnVerdict> {
        self.verdicts[turn.index()].map(|index| &self.postmortem.turns[index])
    }

    pub(super) fn turn_mark(&self, turn: TurnIdx) -> Mark {
        match self.verdict(turn) {
            Some(verdict) => mark_of_verdict(verdict.outcome),
            None => mark_of(Outcome::of_window(&self.trace.turns[turn].execution)),
        }
    }

    pub(super) fn thread_mark(&self, thread: ThreadIdx) -> Mark {
        self.thread_marks[thread.index()]
    }

    /// Returns the turn of a thread with the worst mark. `None` if the thread has no turns.
    pub(super) fn worst_turn(&self, thread: ThreadIdx) -> Option<TurnIdx> {
        self.worst_turns[thread.index()]
    }

    pub(super) fn thread_sums(&self, thread: ThreadIdx) -> &Sums {
        &self.thread_sums[thread.index()]
    }

    pub(super) fn turn_sums(&self, turn: TurnIdx) -> &Sums {
        &self.turn_sums[turn.index()]
    }

    /// Returns the category and the message of the cause for which a verdict blames an object. `None` if no verdict
    /// blames it.
    pub(super) fn blame(&self, object: Object) -> Option<&(Category, String)> {
        if self.causes.is_empty() { None } else { self.causes.get(&self.name(object)) }
    }

    /// Returns the outcome of a call, an inference call, a code cell or a request for a compaction. One that failed
    /// counts as recovered if the verdict of its turn does not blame it.
    pub(super) fn mark(&self, object: Object) -> Mark {
        let (outcome, turn) = match object {
            Object::Tool(tool) => {
                let call = &self.trace.tools[tool];
                (Outcome::of_tool(self.trace, call), call.turn)
            }
            Object::Inference(inference) => {
                let call = &self.trace.inferences[inference];
                (Outcome::of_window(&call.execution), Some(call.turn))
            }
            Object::Cell(cell) => {
                let cell = &self.trace.cells[cell];
                (Outcome::of_window(&cell.execution), Some(cell.turn))
            }
            Object::CompactionRequest(request) => {
                let request = &self.trace.compaction_requests[request];
                (Outcome::of_window(&request.execution), Some(request.turn))
            }
            _ => return Mark::Fine,
        };
        let mark = mark_of(outcome);
        if self.blame(object).is_some() {
            // A call can complete and return an error.
            return if mark == Mark::Fine { Mark::Failed } else { mark };
        }
        if let Object::Inference(inference) = object {
            // A verdict blames only the last attempt of an inference call, so an earlier attempt is judged by what
            // followed it.
            let call = &self.trace.inferences[inference];
            let is_made_good = call.execution.started.seq < self.last_answered[call.thread.index()];
            return if mark == Mark::Failed && is_made_good { Mark::Recovered } else { mark };
        }
        // A verdict lists a limited number of causes. If the list is full, a failure that is not in it may still be
        // one.
        let names_all = |verdict: &TurnVerdict| verdict.other_causes.len() < MAX_OTHER_CAUSES;
        let is_judged = turn.and_then(|turn| self.verdict(turn)).is_some_and(names_all);
        if mark == Mark::Failed && is_judged { Mark::Recovered } else { mark }
    }

    /// Returns the time of an event since the start of the session, for people.
    pub(super) fn since_start(&self, seq: u64) -> String {
        since_start(self.clock.at(seq))
    }

    /// Returns how long something took, for people. The text is empty if it has no end.
    pub(super) fn took(&self, window: &Window) -> String {
        self.clock.duration(window).map(duration).unwrap_or_default()
    }

    /// Returns the path of an agent in the tree, with its nickname if it has one.
    pub(super) fn thread_name(&self, thread: ThreadIdx) -> String {
        let known = &self.trace.threads[thread];
        let path = self.session.agent_path(thread);
        let path = if path.is_empty() { self.trace.text(known.id) } else { path };
        match known.nickname.map(|name| self.trace.text(name)).filter(|name| !name.is_empty()) {
            Some(nickname) => format!("{path} ({nickname})"),
            None => path.to_owned(),
        }
    }

    /// Returns the number of a turn within its thread, counted from 1.
    pub(super) fn turn_number(&self, turn: TurnIdx) -> usize {
        let turns = self.family.turns(self.trace.turns[turn].thread);
        let started = self.trace.turns[turn].execution.started;
        let before = turns.partition_point(|other| self.trace.turns[*other].execution.started < started);
        let found = turns[before..].iter().position(|other| *other == turn);
        before + found.unwrap_or(0) + 1
    }

    /// Returns the lines of a label that tell the cause of a turn's failure. There are none if the turn needs no
    /// attention.
    pub(super) fn cause_of(&self, turn: TurnIdx) -> Vec<String> {
        let Some(verdict) = self.verdict(turn).filter(|verdict| verdict.outcome.needs_attention()) else {
            return Vec::new();
        };
        let Some(cause) = &verdict.root_cause else { return Vec::new() };
        let thread = self.trace.text(self.trace.threads[self.trace.turns[turn].thread].id);
        let within = if cause.thread_id == thread { String::new() } else { format!(" in {}", cause.agent_path) };
        vec![format!("cause: {}{within}", cause.category.as_str()), cause.message.clone()]
    }

    /// Returns the name of the tool of a call without the namespace of the agents' own tools.
    pub(super) fn tool_name(&self, tool: ToolIdx) -> String {
        let name = tool_name(self.trace, &self.trace.tools[tool]);
        // That namespace says nothing that the name does not.
        name.strip_prefix("collaboration.").map_or(name.clone(), str::to_owned)
    }

    /// Returns what a call was about, in one line: a command, a path, a message.
    pub(super) fn tool_subject(&self, tool: ToolIdx) -> String {
        let call = &self.trace.tools[tool];
        let subject = tool_subject(self.trace, call).unwrap_or_default();
        // The arguments of calls between agents are JSON. The message in them says more than the whole document.
        let field = |name: &str| arguments::text_field(&subject, name).unwrap_or_default();
        let words = match call.kind {
            ToolKind::SpawnAgent => parts([field("task_name"), field("message")]),
            ToolKind::AssignAgentTask | ToolKind::SendMessage => parts([field("target"), field("message")]),
            ToolKind::CloseAgent => field("target"),
            ToolKind::WaitAgent => {
                let limit = arguments::number_field(&subject, "timeout_ms").map(duration);
                limit.map(|limit| format!("at most {limit}")).unwrap_or_default()
            }
            _ => String::new(),
        };
        if words.is_empty() { subject } else { words }
    }

    /// Returns the outcome of a tool call and its exit code as text. The text is empty if the call completed.
    pub(super) fn tool_end(&self, tool: ToolIdx) -> String {
        let call = &self.trace.tools[tool];
        match (Outcome::of_tool(self.trace, call), exit_code(self.trace, call)) {
            (Outcome::Completed, _) => String::new(),
            (outcome, Some(code)) if code != 0 => format!("{}, exit code {code}", outcome.as_str()),
            (outcome, _) => outcome.as_str().to_owned(),
        }
    }

    /// Finds the thread that the options ask for. `None` if they ask for all.
    ///
    /// # Errors
    ///
    /// Returns an error if the session has no such thread.
    pub(super) fn asked_thread(&self, options: &Options) -> Result<Option<ThreadIdx>, DiagramError> {
        let Some(asked) = &options.thread else { return Ok(None) };
        let is_it = |thread: &ThreadIdx| {
            let known = &self.trace.threads[*thread];
            self.trace.text(known.agent_path) == asked || self.trace.text(known.id) == asked
        };
        let found = self.family.order().iter().copied().find(is_it);
        found.map(Some).ok_or_else(|| DiagramError::NoThread { thread: asked.clone() })
    }

    /// Finds the turn that the options ask for, by its id or by the beginning or the end of its id. `None` if they ask
    /// for all.
    ///
    /// # Errors
    ///
    /// Returns an error if no turn or more than one turn matches, or if the turn is of another thread than the one that
    /// the options ask for.
    pub(super) fn asked_turn(&self, options: &Options) -> Result<Option<TurnIdx>, DiagramError> {
        let Some(asked) = options.turn.as_deref() else { return Ok(None) };
        let no_turn = || DiagramError::NoTurn { turn: asked.to_owned() };
        if asked.is_empty() {
            return Err(no_turn());
        }
        let text = |turn: TurnIdx| self.trace.text(self.trace.turns[turn].id);
        let handles = || self.trace.turns.handles();
        let found = match handles().find(|turn| text(*turn) == asked) {
            Some(turn) => turn,
            None => {
                let is_part = |turn: &TurnIdx| text(*turn).starts_with(asked) || text(*turn).ends_with(asked);
                let fits: Vec<TurnIdx> = handles().filter(is_part).collect();
                match fits[..] {
                    [] => return Err(no_turn()),
                    [turn] => turn,
                    _ => return Err(DiagramError::ManyTurns { turn: asked.to_owned(), count: fits.len() }),
                }
            }
        };
        match (&options.thread, self.asked_thread(options)?) {
            (Some(thread), Some(of)) if self.trace.turns[found].thread != of => {
                Err(DiagramError::OtherThread { turn: asked.to_owned(), thread: thread.clone() })
            }
            _ => Ok(Some(found)),
        }
    }
}

/// Returns whether something with a mark counts as trouble. A view folds trouble only after everything that went well.
pub(super) fn is_trouble(mark: Mark) -> bool {
    mark > Mark::Recovered
}

pub(super) fn mark_of(outcome: Outcome) -> Mark {
    match outcome {
        Outcome::Completed => Mark::Fine,
        Outcome::Failed => Mark::Failed,
        Outcome::Cancelled => Mark::Cancelled,
        Outcome::Unfinished => Mark::Unfinished,
    }
}

pub(super) fn mark_of_verdict(outcome: postmortem::Outcome) -> Mark {
    match outcome {
        postmortem::Outcome::Ok => Mark::Fine,
        postmortem::Outcome::Recovered => Mark::Recovered,
        postmortem::Outcome::Degraded => Mark::Degraded,
        postmortem::Outcome::Cancelled => Mark::Cancelled,
        postmortem::Outcome::Unfinished => Mark::Unfinished,
        postmortem::Outcome::Failed => Mark::Failed,
    }
}

/// Returns the word for an outcome.
pub(super) fn word(mark: Mark) -> &'static str {
    match mark {
        Mark::Fine => "completed",
        mark => mark.as_str(),
    }
}

/// Returns how many calls there were and how many of them failed.
pub(super) fn calls(sums: &Sums) -> String {
    let told = |calls: &trace_explain::costs::Calls, noun: &str| match (calls.count, calls.failed) {
        (0, _) => String::new(),
        (all, 0) => count(all, noun),
        (all, failed) => format!("{} ({} failed)", count(all, noun), number(failed)),
    };
    parts([told(&sums.inference_calls, "request"), told(&sums.tool_calls, "tool call")])
}

/// Returns the number of input and output tokens, for people.
pub(super) fn tokens(sums: &Sums) -> String {
    match (sums.tokens.input, sums.tokens.output) {
        (0, 0) => String::new(),
        (input, output) => format!("{} tokens in, {} out", number(input), number(output)),
    }
}

/// Counts marks, and returns the counts in words with the worst mark first.
pub(super) fn tally(marks: impl IntoIterator<Item = Mark>) -> String {
    let mut counts: [(Mark, u64); 6] =
        [Mark::Failed, Mark::Unfinished, Mark::Cancelled, Mark::Degraded, Mark::Recovered, Mark::Fine]
            .map(|mark| (mark, 0));
    for mark in marks {
        for (known, count) in &mut counts {
            *count += u64::from(*known == mark);
        }
    }
    let told = counts.iter().filter(|(_, count)| *count > 0);
    let told: Vec<String> = told.map(|(mark, count)| format!("{} {}", number(*count), word(*mark))).collect();
    told.join(", ")
}
