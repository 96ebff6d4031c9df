//! What happens in a session, told once for all agents.

use std::fmt;

/// What an agent does after one answer of the model.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    /// The model answers with words. This ends the turn.
    Say(&'static str),
    /// The model runs a command, which prints this and exits with this code.
    Run(&'static str, i32),
    /// The model calls a tool that does not exist.
    Unknown,
    /// The model gives a task to a child, whose steps these are.
    Task(Vec<Step>),
    /// The provider refuses the request, because there are too many. This ends the turn.
    Refuse,
    /// The model runs a command, and the program dies before it ends.
    Die,
}

/// A session with the verdicts on its turns.
#[derive(Debug)]
pub(crate) struct Plot {
    pub(crate) name: &'static str,
    /// Steps of each turn of the root.
    pub(crate) turns: Vec<Vec<Step>>,
    pub(crate) expected: Vec<Expected>,
}

/// The verdict on a turn: who, outcome, category, object. Calls have the ids `call-1`, `call-2` in the order of the plot, those of
/// children after the call that gave the task.
#[derive(Debug)]
pub(crate) struct Expected(&'static str, &'static str, &'static str, &'static str);

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {} {}", self.0, self.1, self.2, self.3)
    }
}

/// Numbers the calls of a plot.
#[derive(Debug, Default)]
pub(crate) struct Calls(usize);

impl Calls {
    pub(crate) fn next(&mut self) -> String {
        self.0 += 1;
        format!("call-{}", self.0)
    }
}

const OK: Expected = Expected("root", "ok", "-", "-");

pub(crate) fn plots() -> Vec<Plot> {
    use Step::{Die, Refuse, Run, Say, Task, Unknown};
    let plot = |name, turns: &[&[Step]], expected: Vec<Expected>| Plot {
        name,
        turns: turns.iter().map(|steps| steps.to_vec()).collect(),
        expected,
    };
    let failed = |who, outcome, call| Expected(who, outcome, "tool_failed", call);
    vec![
        plot("quiet", &[&[Run("3 files\n", 0), Say("Three.")]], vec![OK]),
        // Words of a failure in what a command prints, or in what the model says, are no failure.
        plot(
            "words-of-failure",
            &[&[
                Run("error: 2 tests FAILED\nExit code 3: Traceback, timed out, rate limit\n", 0),
                Say("It failed: error 500."),
            ]],
            vec![OK],
        ),
        plot("failed", &[&[Run("boom\n", 3), Say("Done.")]], vec![failed("root", "degraded", "call-1")]),
        plot(
            "second-of-two",
            &[&[Run("a\n", 0), Run("boom\n", 3), Say("Done.")]],
            vec![failed("root", "degraded", "call-2")],
        ),
        plot(
            "made-good",
            &[&[Run("boom\n", 3), Run("fine\n", 0), Say("Done.")]],
            vec![failed("root", "recovered", "call-1")],
        ),
        plot(
            "made-good-later",
            &[&[Run("boom\n", 3), Say("Sorry.")], &[Run("fine\n", 0), Say("Done.")]],
            vec![failed("root", "recovered", "call-1"), OK],
        ),
        plot("unknown-tool", &[&[Unknown, Say("Done.")]], vec![Expected("root", "degraded", "tool_unknown", "call-1")]),
        plot(
            "child-quiet",
            &[&[Task(vec![Run("x\n", 0), Say("Looked.")]), Say("Done.")]],
            vec![OK, Expected("child", "ok", "-", "-")],
        ),
        plot(
            "child-failed",
            &[&[Task(vec![Run("boom\n", 3), Say("Looked.")]), Say("Done.")]],
            vec![failed("root", "degraded", "call-2"), failed("child", "degraded", "call-2")],
        ),
        plot(
            "child-made-good",
            &[&[Task(vec![Run("boom\n", 3), Run("fine\n", 0), Say("Looked.")]), Say("Done.")]],
            vec![OK, failed("child", "recovered", "call-2")],
        ),
        plot(
            "child-refused",
            &[&[Task(vec![Run("x\n", 0), Refuse]), Say("Done.")]],
            vec![
                Expected("root", "degraded", "rate_limited", "inference_call"),
                Expected("child", "failed", "rate_limited", "inference_call"),
            ],
        ),
        plot(
            "refused",
            &[&[Run("x\n", 0), Refuse]],
            vec![Expected("root", "failed", "rate_limited", "inference_call")],
        ),
        plot("died", &[&[Run("x\n", 0), Die]], vec![Expected("root", "unfinished", "recording_truncated", "call-2")]),
    ]
}
