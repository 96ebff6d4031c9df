//! What the analyses say of the planted faults: the critical path, the timeline, the provenance of texts, and the difference to the same
//! session without the fault.

use trace_explain::Session;
use trace_explain::activity::Work;
use trace_explain::critical_path::CriticalPath;
use trace_explain::diff::{Aspect, Diff, Difference, Kind};
use trace_explain::outcome::Outcome;
use trace_explain::timeline::{AgentLine, Timeline};
use trace_explain::why::{self, Needle, why};

use super::plot::{Plot, Step, plots};
use super::{WRITERS, played};

/// Calls a function with each plot in the files of each agent, and fails with all problems that it returns.
fn judge(problems_of: impl Fn(&str, &Plot, &Session) -> Vec<String>) {
    let mut problems = Vec::new();
    for (format, write) in WRITERS {
        for plot in plots() {
            let imported = played(format, write, &plot);
            let found = problems_of(format, &plot, &imported.session);
            problems.extend(found.into_iter().map(|problem| format!("{format} {}: {problem}", plot.name)));
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// The steps of a plot, with how deep each is.
fn steps(plot: &Plot) -> Vec<(usize, Step)> {
    fn below(steps: &[Step], depth: usize, found: &mut Vec<(usize, Step)>) {
        for step in steps {
            found.push((depth, step.clone()));
            if let Step::Task(steps) = step {
                below(steps, depth + 1, found);
            }
        }
    }
    let mut found = Vec::new();
    plot.turns.iter().for_each(|steps| below(steps, 0, &mut found));
    found
}

/// A call of a plot.
struct Planted {
    id: String,
    /// Whether a child made it.
    is_of_child: bool,
    step: Step,
}

/// The calls of a plot in their order, with their ids.
fn calls(plot: &Plot) -> Vec<Planted> {
    let is_call = |step: &Step| !matches!(step, Step::Say(_) | Step::Refuse);
    let calls = steps(plot).into_iter().filter(|(_, step)| is_call(step));
    let planted = |(index, (depth, step)): (usize, (usize, Step))| Planted {
        id: format!("call-{}", index + 1),
        is_of_child: depth > 0,
        step,
    };
    calls.enumerate().map(planted).collect()
}

impl Planted {
    fn fails(&self) -> bool {
        matches!(self.step, Step::Unknown) || matches!(self.step, Step::Run(_, code) if code != 0)
    }

    /// How the call ended, as the files of an agent tell it.
    fn outcome(&self, format: &str) -> Outcome {
        match &self.step {
            Step::Die => Outcome::Unfinished,
            // The call of the Codex CLI ends when the child has begun. A trajectory does not say that a child failed.
            Step::Task(steps) if !["codex", "atif"].contains(&format) && matches!(steps.last(), Some(Step::Refuse)) => {
                Outcome::Failed
            }
            _ if self.fails() => Outcome::Failed,
            _ => Outcome::Completed,
        }
    }
}

/// Returns whether the files of an agent show a call that ran when the program died. Gemini CLI writes calls when they have ended, and
/// exporters of traces send spans then.
fn shows_running_calls(format: &str) -> bool {
    !["gemini-cli", "otel"].contains(&format)
}

#[test]
fn the_culprit_is_on_the_critical_path() {
    judge(|format, plot, session| {
        let path = CriticalPath::new(session, None);
        let mut problems = Vec::new();
        let mut at = 0;
        for segment in &path.segments {
            if segment.start_ms != at || segment.end_ms < at {
                problems.push(format!("a gap or an overlap at {at} ms"));
            }
            at = segment.end_ms;
        }
        if at != path.wall_ms || path.clock_set_back_ms != 0 {
            problems.push(format!("the path ends at {at} of {} ms", path.wall_ms));
        }
        let is_on_path =
            |id: &str| path.segments.iter().filter_map(|segment| segment.object.as_ref()).any(|object| object.id == id);
        // Calls run one after another, so all of them are on the path, but for those without a duration: trajectories have no times
        // of calls.
        for call in calls(plot).iter().filter(|call| format != "atif" && !matches!(call.step, Step::Die)) {
            if !is_on_path(&call.id) {
                problems.push(format!("{} is not on the path", call.id));
            }
        }
        let fails = path.segments.iter().any(|segment| segment.outcome == Some(Outcome::Failed));
        let culprit = calls(plot).iter().any(|call| is_on_path(&call.id) && call.outcome(format) == Outcome::Failed);
        if culprit && !fails {
            problems.push("no segment of the path failed".to_owned());
        }
        problems
    });
}

#[test]
fn the_times_of_calls_are_in_order() {
    judge(|format, plot, session| {
        let timeline = Timeline::new(session);
        let mut problems = Vec::new();
        if timeline.clock_set_back_ms != 0 {
            problems.push("the clock goes back".to_owned());
        }
        for agent in &timeline.agents {
            problems.extend(disorder(agent, timeline.wall_ms));
        }
        let tools = |agent: &AgentLine| {
            let tools = agent.intervals.iter().filter(|interval| interval.work == Work::Tool);
            tools.map(|interval| (interval.object.id.clone(), interval.outcome)).collect::<Vec<_>>()
        };
        for is_child in [false, true] {
            let agents = timeline.agents.iter().filter(|agent| (agent.depth > 0) == is_child);
            let found: Vec<_> = agents.flat_map(tools).collect();
            let planted = calls(plot);
            let planted = planted.iter().filter(|call| call.is_of_child == is_child);
            let told = planted.filter(|call| shows_running_calls(format) || !matches!(call.step, Step::Die));
            let expected: Vec<_> = told.map(|call| (call.id.clone(), call.outcome(format))).collect();
            if found != expected {
                problems.push(format!("the calls are {found:?}, and were {expected:?}"));
            }
        }
        // A child works between the call that starts it and the call that returns its answer.
        let [root, children @ ..] = &timeline.agents[..] else { return vec!["nobody".to_owned()] };
        for child in children {
            let spans = root.intervals.iter().filter(|interval| matches!(interval.work, Work::Tool | Work::Wait));
            let start = spans.clone().map(|interval| interval.start_ms).min().unwrap_or(u64::MAX);
            let end = spans.map(|interval| interval.end_ms).max().unwrap_or(0);
            // Calls of trajectories have no end. The next request has their outputs.
            let end = if format == "atif" { timeline.wall_ms } else { end };
            for turn in &child.turns {
                if turn.start_ms < start || turn.end_ms > end {
                    problems.push(format!("the child works from {} to {} ms", turn.start_ms, turn.end_ms));
                }
            }
        }
        problems
    });
}

/// Returns what is out of order in the line of one agent.
fn disorder(agent: &AgentLine, wall_ms: u64) -> Vec<String> {
    let mut problems = Vec::new();
    for interval in &agent.intervals {
        if interval.start_ms > interval.end_ms || interval.end_ms > wall_ms {
            problems.push(format!("{} lasts from {} to {} ms", interval.object, interval.start_ms, interval.end_ms));
        }
        let turn = agent.turns.iter().find(|turn| Some(&turn.turn_id) == interval.turn_id.as_ref());
        if turn.is_none_or(|turn| interval.start_ms < turn.start_ms || interval.end_ms > turn.end_ms) {
            problems.push(format!("{} is outside of its turn", interval.object));
        }
    }
    for pair in agent.intervals.windows(2) {
        if pair[0].end_ms > pair[1].start_ms {
            problems.push(format!("{} begins before {} has ended", pair[1].object, pair[0].object));
        }
    }
    problems
}

#[test]
fn the_output_of_a_tool_that_failed_leads_to_its_call() {
    judge(|format, plot, session| {
        let mut problems = Vec::new();
        for call in calls(plot).iter().filter(|call| call.fails()) {
            let text = match (&call.step, format) {
                (Step::Run(printed, _), _) => printed.trim(),
                (_, "codex") => "unsupported call",
                (_, "claude-code") => "No such tool available",
                (_, "gemini-cli") => "not found. Did you mean",
                // The arguments of a call that opencode made of the model's one have the error, too.
                (_, "opencode-export") => "The arguments provided to the tool are invalid",
                _ => r#"Tool "nope" not found"#,
            };
            let told = why(session, &Needle::new(text).expect("a text"));
            let Some(origin) = told.origin else {
                problems.push(format!("{text:?} is nowhere"));
                continue;
            };
            let found = (origin.kind, &*origin.object.id, origin.agent_path != "/root");
            if found != (why::Kind::ToolOutput, &*call.id, call.is_of_child) || told.unread_payloads > 0 {
                problems.push(format!("{text:?} comes from {found:?}"));
            }
        }
        problems
    });
}

/// Returns the same plot without its faults.
fn honest(plot: &Plot) -> Plot {
    fn mend(step: &Step) -> Vec<Step> {
        match step {
            Step::Run(_, code) if *code != 0 => vec![Step::Run("well\n", 0)],
            Step::Unknown => vec![Step::Run("well\n", 0)],
            Step::Refuse => vec![Step::Say("Done.")],
            Step::Die => vec![Step::Run("well\n", 0), Step::Say("Done.")],
            Step::Task(steps) => vec![Step::Task(steps.iter().flat_map(mend).collect())],
            other => vec![other.clone()],
        }
    }
    let turns = plot.turns.iter().map(|steps| steps.iter().flat_map(mend).collect()).collect();
    Plot { name: plot.name, turns, expected: Vec::new() }
}

/// Returns what is wrong with the first differences to the honest session, which is the first of the two.
fn divergence(format: &str, fault: &Step, culprit: &str, differences: &[Difference]) -> Option<String> {
    let shown = || {
        let side = |difference: &Difference| {
            let side = difference.a.as_ref().or(difference.b.as_ref());
            let sides = [&difference.a, &difference.b].map(|side| side.as_ref().and_then(|side| side.quote.clone()));
            format!("{:?} {:?} {:?} {sides:?}", difference.kind, side.map(|side| &side.object.id), difference.aspects)
        };
        Some(differences.iter().take(3).map(side).collect::<Vec<_>>().join("; "))
    };
    let kind_of =
        |difference: &Difference| difference.a.as_ref().map(|side| side.object.kind.clone()).unwrap_or_default();
    let is_culprit = |difference: &Difference, aspects: &[Aspect]| {
        difference.kind == Kind::Changed
            && [&difference.a, &difference.b]
                .iter()
                .all(|side| side.as_ref().is_some_and(|side| side.object.id == culprit))
            && aspects.iter().all(|aspect| difference.aspects.contains(aspect))
    };
    let first = differences.first()?;
    let is_right = match (fault, format) {
        (Step::Run(..), _) => is_culprit(first, &[Aspect::Status, Aspect::Output]),
        // The model asked for another tool before that tool failed.
        (Step::Unknown, _) => {
            kind_of(first) == "inference_call"
                && first.aspects == [Aspect::Said]
                && differences.get(1).is_some_and(|second| is_culprit(second, &[Aspect::Tool, Aspect::Status]))
        }
        // The request is not in these files, so the difference is that it is missing.
        (Step::Refuse, "gemini-cli" | "atif") | (Step::Die, "otel") => {
            kind_of(first) == "inference_call" && first.kind == Kind::OnlyA
        }
        (Step::Refuse, _) => {
            kind_of(first) == "inference_call" && first.kind == Kind::Changed && first.aspects.contains(&Aspect::Status)
        }
        // The answer is there, without its call.
        (Step::Die, "gemini-cli") => kind_of(first) == "inference_call" && first.aspects == [Aspect::Said],
        (Step::Die, _) => is_culprit(first, &[Aspect::Status]),
        _ => false,
    };
    if is_right { None } else { shown() }
}

#[test]
fn the_difference_to_an_honest_session_begins_at_the_fault() {
    let writers: std::collections::HashMap<_, _> = WRITERS.into_iter().collect();
    judge(|format, plot, session| {
        let twin = played(format, writers[format], &honest(plot));
        let diff = Diff::new(&twin.session, session, None);
        let planted = calls(plot);
        let culprit = planted.iter().find(|call| call.fails() || matches!(call.step, Step::Die));
        let is_refused = steps(plot).into_iter().find(|(_, step)| matches!(step, Step::Refuse));
        let fault = is_refused.map(|(_, step)| step).or_else(|| culprit.map(|call| call.step.clone()));
        let Some(fault) = fault else {
            return if diff.is_same { Vec::new() } else { vec!["the honest session differs from itself".to_owned()] };
        };
        if diff.is_same || diff.first.as_ref() != diff.differences.first() {
            return vec!["there is no first difference".to_owned()];
        }
        let culprit = culprit.map(|call| call.id.as_str()).unwrap_or_default();
        divergence(format, &fault, culprit, &diff.differences).into_iter().collect()
    });
}
