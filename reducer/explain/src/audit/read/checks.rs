//! Judges the checks that one command line ran, by its output first and by its exit code second.

use std::sync::LazyLock;

use regex::Regex;
use serde::Serialize;

use super::outputs::{Counts, Says, Summary, failed_tests, summaries, without_colours};
use super::runners::{CheckKind, Runs, runs};
use super::shell::{Command, Join, commands};

/// How a check ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It passed.
    Passed,
    /// It failed.
    Failed,
    /// It ran no test.
    NoTests,
    /// It did not start.
    DidNotStart,
    /// It was not allowed to start.
    Declined,
    /// Nothing shows its end.
    NotFinished,
    /// It ended, and nothing shows how.
    Unknown,
}

impl Outcome {
    /// Returns the name of the outcome.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::NoTests => "no_tests",
            Self::DidNotStart => "did_not_start",
            Self::Declined => "declined",
            Self::NotFinished => "not_finished",
            Self::Unknown => "unknown",
        }
    }

    /// Returns whether the check really ran.
    pub fn is_run(self) -> bool {
        matches!(self, Self::Passed | Self::Failed | Self::Unknown)
    }
}

/// What an outcome rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// A summary in the output.
    Summary,
    /// The exit code.
    ExitCode,
    /// A summary and the exit code.
    Both,
    /// A line of the output that is no summary.
    Text,
    /// The state of the call.
    State,
}

impl Basis {
    /// Returns the name of the basis.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Summary => "summary",
            Self::ExitCode => "exit_code",
            Self::Both => "both",
            Self::Text => "text",
            Self::State => "state",
        }
    }
}

/// One check that a command line ran.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CheckRun {
    /// What was checked.
    pub kind: CheckKind,
    /// The command that ran it, without what started it.
    pub command: String,
    /// Folder that a `cd` entered before it, relative to the folder of the command line.
    pub folder: Option<String>,
    /// Whether the program is known to run this kind of check. Otherwise the output or the name of a script shows it.
    pub is_known: bool,
    /// How it ended.
    pub outcome: Outcome,
    /// What the outcome rests on.
    pub basis: Basis,
    /// Numbers of the summary.
    pub counts: Counts,
    /// Numbers of the parts of the run, such as packages, if it has several.
    pub parts: Vec<Counts>,
    /// Names of the tests that failed.
    pub failed: Vec<String>,
    /// Place of the command in its line.
    pub place: usize,
}

/// Whether and how the call of a command line ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// It ended with this exit code, if one is recorded.
    Exited(Option<i64>),
    /// Nothing shows its end.
    Running,
    /// The user or a rule did not allow it, or it failed before it started.
    Declined,
}

/// Exit codes of shells for a program that was not found or cannot be executed.
const NOT_STARTED_CODES: [i64; 2] = [126, 127];

/// Texts of programs that say that a check did not start.
const NOT_STARTED: [&str; 18] = [
    "npx canceled due to missing packages",
    "error: Failed to spawn:",
    "Could not read package.json",
    "no such file or directory, open 'package.json'",
    "is not installed",
    "No module named unittest",
    "command not found",
    "No module named pytest",
    "No module named mypy",
    "No module named ruff",
    "is not recognized as an internal or external command",
    "Missing script:",
    "npm error could not determine executable to run",
    "npm ERR! could not determine executable to run",
    "error: no such command:",
    "Error: Cannot find module 'jest",
    "ERR_PNPM_NO_SCRIPT",
    "executable file not found in $PATH",
];

/// Returns the checks that a command line ran: one for each command and kind of check.
pub fn judge(script: &str, output: &str, exit_code: Option<i64>) -> Vec<CheckRun> {
    judge_ended(&commands(script), output, Ended::Exited(exit_code))
}

/// As [`judge`], for the commands of a line, which may not have ended.
pub fn judge_ended(all: &[Command], output: &str, ended: Ended) -> Vec<CheckRun> {
    let checks: Vec<(usize, Runs)> = all
        .iter()
        .enumerate()
        .map(|(at, command)| (at, runs(command)))
        .filter(|(_, runs)| *runs != Runs::Other)
        .collect();
    let mut checks = checks;
    for (at, runs) in &mut checks {
        let skips = all[*at]
            .arguments()
            .iter()
            .any(|word| word.starts_with("-DskipTests") || word.starts_with("-Dmaven.test.skip"))
            || all[*at].arguments().windows(2).any(|pair| pair[0] == "-x" && pair[1].contains("test"));
        if let Runs::Checks(kinds) = runs {
            kinds.retain(|kind| *kind != CheckKind::Test || !skips);
        }
    }
    if checks.is_empty() {
        return Vec::new();
    }
    let found = own_summaries(all, output);
    // The commands that may have printed a summary of each kind.
    let mut asked: Vec<(usize, CheckKind, bool)> = Vec::new();
    for (at, runs) in &checks {
        match runs {
            Runs::Checks(kinds) => asked.extend(kinds.iter().map(|kind| (*at, *kind, true))),
            Runs::Script(hints) => {
                let is_git = all[*at].program() == "git";
                let mut kinds: Vec<CheckKind> = if is_git { Vec::new() } else { hints.clone() };
                // What another command of the line is known to print is not the script's.
                let is_others = |kind: CheckKind| {
                    checks.iter().any(|(other, runs)| {
                        other != at && matches!(runs, Runs::Checks(kinds) if kinds.contains(&kind))
                    })
                };
                for summary in &found {
                    if !kinds.contains(&summary.kind) && !is_others(summary.kind) {
                        kinds.push(summary.kind);
                    }
                }
                asked.extend(kinds.into_iter().map(|kind| (*at, kind, false)));
            }
            Runs::Other => {}
        }
    }
    let failed = failed_tests(output);
    let mut judged: Vec<CheckRun> = Vec::new();
    for (at, kind, is_known) in &asked {
        let command = &all[*at];
        let rivals: Vec<usize> = asked.iter().filter(|(_, other, _)| other == kind).map(|(at, ..)| *at).collect();
        let own = share(&found, *kind, command, &rivals, *at);
        let (outcome, basis, counts) = decide(*kind, &own, all, *at, output, ended);
        judged.push(CheckRun {
            kind: *kind,
            command: command.line(),
            folder: command.folder.clone(),
            is_known: *is_known,
            outcome,
            basis,
            counts,
            parts: own.iter().filter(|summary| summary.adds_up).map(|summary| summary.counts).collect(),
            place: *at,
            failed: if *kind == CheckKind::Test && outcome == Outcome::Failed { failed.clone() } else { Vec::new() },
        });
    }
    // A command that only runs if the one before it succeeded did not run if that one failed.
    for index in 0..judged.len() {
        let at = asked[index].0;
        let is_after_failure = all[..=at].iter().rposition(|command| command.join != Join::And).is_some_and(|from| {
            judged.iter().zip(&asked).any(|(run, (other, ..))| {
                (from..at).contains(other) && run.outcome == Outcome::Failed && is_reached_by_and(all, *other, at)
            })
        });
        if is_after_failure && matches!(judged[index].basis, Basis::ExitCode | Basis::State | Basis::Text) {
            judged[index].outcome = Outcome::DidNotStart;
        }
    }
    judged
}

/// Returns whether everything between two commands is joined by `&&`, so that the later one needs the earlier one.
fn is_reached_by_and(all: &[Command], earlier: usize, later: usize) -> bool {
    all[earlier + 1..=later].iter().all(|command| command.join == Join::And)
}

/// Returns the summaries of an output, without the lines that `echo` and `printf` of the same command line printed.
fn own_summaries(all: &[Command], output: &str) -> Vec<Summary> {
    let echoed: Vec<&str> = all
        .iter()
        .filter(|command| matches!(command.program(), "echo" | "printf"))
        .flat_map(|command| command.arguments())
        .flat_map(|word| word.split("\\n"))
        .map(str::trim)
        .filter(|word| word.len() > 2)
        .collect();
    if echoed.is_empty() {
        return summaries(output);
    }
    let kept: Vec<&str> = output.lines().filter(|line| !echoed.iter().any(|text| line.trim() == *text)).collect();
    summaries(&kept.join("\n"))
}

/// Returns the summaries that belong to one of several commands that check the same.
fn share<'s>(
    found: &'s [Summary],
    kind: CheckKind,
    command: &Command,
    rivals: &[usize],
    at: usize,
) -> Vec<&'s Summary> {
    let is_own = |summary: &&Summary| {
        summary.kind == kind
            || match (kind, summary.kind) {
                (CheckKind::Build, CheckKind::Types) => {
                    summary.says == Says::Failed || command.program().contains("tsc")
                }
                (CheckKind::Types, CheckKind::Build) => command.program() == "cargo",
                (CheckKind::Lint, CheckKind::Build) => command.program() == "cargo",
                (CheckKind::Build, CheckKind::Test) => false,
                _ => false,
            }
    };
    let own: Vec<&Summary> = found.iter().filter(is_own).collect();
    let mut commands: Vec<usize> = rivals.to_vec();
    commands.dedup();
    if commands.len() < 2 {
        return own;
    }
    let place = commands.iter().position(|other| *other == at).unwrap_or(0);
    let single = own.iter().all(|summary| !summary.adds_up);
    if single && own.len() >= commands.len() {
        let is_last = place + 1 == commands.len();
        let from = place;
        let to = if is_last { own.len() } else { place + 1 };
        return own[from..to].to_vec();
    }
    if place + 1 == commands.len() { own } else { Vec::new() }
}

fn decide(
    kind: CheckKind,
    own: &[&Summary],
    all: &[Command],
    at: usize,
    output: &str,
    ended: Ended,
) -> (Outcome, Basis, Counts) {
    let (verdict, counts) = merged(own);
    let code = match ended {
        Ended::Declined => return (Outcome::Declined, Basis::State, counts),
        Ended::Running if verdict.is_none() => return (Outcome::NotFinished, Basis::State, counts),
        Ended::Running => ExitOf::Masked,
        Ended::Exited(code) => exit_of(all, at, code, output),
    };
    let with_code = |says: Outcome| match (says, code) {
        (Outcome::Failed, ExitOf::Code(code)) if code != 0 => Basis::Both,
        (Outcome::Passed, ExitOf::Code(0)) => Basis::Both,
        _ => Basis::Summary,
    };
    match verdict {
        Some(Says::Failed) => return (Outcome::Failed, with_code(Outcome::Failed), counts),
        Some(Says::NoTests) => return (Outcome::NoTests, Basis::Summary, counts),
        Some(Says::Passed) => {
            // Tests that passed do not make a run pass that ended with an error of another kind, such as too little
            // coverage; what failed is not known, though.
            if let (CheckKind::Test, ExitOf::Code(1..)) = (kind, code) {
                let text = without_colours(output);
                if text.contains("FAIL Required test coverage")
                    || text.contains("coverage threshold")
                    || text.contains("do not meet")
                {
                    return (Outcome::Failed, Basis::Both, counts);
                }
            }
            // `--max-warnings 0` and the like: the summary counts no errors, and the check failed all the same.
            let looks = matches!(kind, CheckKind::Lint | CheckKind::Types | CheckKind::Format);
            if looks && matches!(code, ExitOf::Code(1..)) && matches!(runs(&all[at]), Runs::Checks(_)) {
                return (Outcome::Failed, Basis::Both, counts);
            }
            return (Outcome::Passed, with_code(Outcome::Passed), counts);
        }
        Some(Says::Nothing) | None => {}
    }
    let text = without_colours(output);
    if kind == CheckKind::Test
        && [
            "COMPILATION ERROR",
            "Compilation failed",
            "compileJava FAILED",
            "compileTestJava FAILED",
            "compileKotlin FAILED",
        ]
        .iter()
        .any(|word| text.contains(word))
    {
        return (Outcome::DidNotStart, Basis::Text, counts);
    }
    let not_started = NOT_STARTED.iter().any(|known| text.contains(known));
    match code {
        ExitOf::Code(code) if NOT_STARTED_CODES.contains(&code) => (Outcome::DidNotStart, Basis::ExitCode, counts),
        ExitOf::Code(0) if !not_started => by_silence(kind, all, at, &text, counts),
        ExitOf::Code(5)
            if all[at].program().contains("pytest") || all[at].words.iter().any(|word| word == "pytest") =>
        {
            (Outcome::NoTests, Basis::ExitCode, counts)
        }
        _ if not_started => (Outcome::DidNotStart, Basis::Text, counts),
        ExitOf::Code(_) => (Outcome::Failed, Basis::ExitCode, counts),
        ExitOf::Masked | ExitOf::NotRecorded
            if says_failure(&text) || (kind == CheckKind::Test && !failed_tests(output).is_empty()) =>
        {
            (Outcome::Failed, Basis::Text, counts)
        }
        ExitOf::Masked => (Outcome::Passed, Basis::Text, counts),
        ExitOf::NotRecorded if kind != CheckKind::Test && text.trim().is_empty() => {
            (Outcome::Passed, Basis::Text, counts)
        }
        ExitOf::NotRecorded | ExitOf::Unclear => (Outcome::Unknown, Basis::State, counts),
    }
}

/// A run that ended with exit code 0 and printed no summary passed, but for programs that list what is wrong and end
/// with 0.
fn by_silence(kind: CheckKind, all: &[Command], at: usize, text: &str, counts: Counts) -> (Outcome, Basis, Counts) {
    let lists = kind == CheckKind::Format && matches!(all[at].program(), "gofmt" | "gofumpt" | "goimports" | "shfmt");
    if lists && !text.trim().is_empty() && all.len() == 1 {
        return (Outcome::Failed, Basis::Text, counts);
    }
    (Outcome::Passed, Basis::ExitCode, counts)
}

fn says_failure(text: &str) -> bool {
    static FAILURE: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"(?m)^(?:\s*(?:npm )?(?:ERR!|error)(?:\[\w+\])?(?::| )|FAILED\b|FAIL\b|Traceback \(most recent call last\)|The following tests FAILED|Errors while running CTest|.*\bexit(?:ed with)? (?:code|status) [1-9]|E   \S|\s*[✖✗] )")
            .expect("a pattern")
    });
    FAILURE.is_match(text)
}

#[derive(Debug, Clone, Copy)]
enum ExitOf {
    /// The exit code is that of the command.
    Code(i64),
    /// The exit code is that of another command, and is 0.
    Masked,
    /// The exit code is that of another command, or of one of several.
    Unclear,
    /// There is none.
    NotRecorded,
}

/// Returns what the exit code of the whole line says of one of its commands.
fn exit_of(all: &[Command], at: usize, code: Option<i64>, output: &str) -> ExitOf {
    if let Some(told) = told_exit(all, at, output) {
        return ExitOf::Code(told);
    }
    let Some(code) = code else { return ExitOf::NotRecorded };
    if all[at].in_background {
        return ExitOf::Unclear;
    }
    let after = &all[at + 1..];
    let sets = |option: &str| {
        all[..at]
            .iter()
            .any(|command| command.program() == "set" && command.arguments().iter().any(|word| word == option))
    };
    let has_pipefail = sets("pipefail");
    let stops = all[..at].iter().any(|command| {
        command.program() == "set" && command.arguments().iter().any(|word| word.starts_with('-') && word.contains('e'))
    });
    // The rest of the pipe that the command is in.
    let piped = after.iter().take_while(|command| command.join == Join::Pipe).count();
    if piped > 0 && !has_pipefail {
        return if code == 0 { ExitOf::Masked } else { ExitOf::Unclear };
    }
    let rest = &after[piped..];
    match rest.first().map(|command| command.join) {
        None => ExitOf::Code(code),
        Some(Join::And) if rest.iter().all(|command| matches!(command.join, Join::And | Join::Pipe)) => {
            if code == 0 {
                ExitOf::Code(0)
            } else {
                ExitOf::Unclear
            }
        }
        Some(Join::Then) if stops && code == 0 => ExitOf::Code(0),
        _ if code == 0 => ExitOf::Masked,
        _ => ExitOf::Unclear,
    }
}

/// Returns the exit code that the line itself printed with `echo $?` directly after a command.
fn told_exit(all: &[Command], at: usize, output: &str) -> Option<i64> {
    static TOLD: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"(?m)^\D*?(\d{1,3})\D*$").expect("a pattern"));
    let piped = all[at + 1..].iter().take_while(|command| command.join == Join::Pipe).count();
    let next = all.get(at + 1 + piped)?;
    if next.program() != "echo" || next.join != Join::Then {
        return None;
    }
    let text = next.line();
    let asks =
        if piped > 0 { text.contains("PIPESTATUS[0]") || text.contains("pipestatus[1]") } else { text.contains("$?") };
    if !asks || at + 2 + piped != all.len() {
        return None;
    }
    let last = output.trim_end().lines().last()?;
    TOLD.captures(last).and_then(|found| found[1].parse().ok())
}

/// Brings the summaries of one run together.
fn merged(own: &[&Summary]) -> (Option<Says>, Counts) {
    let mut counts = Counts::default();
    let mut verdict: Option<Says> = None;
    let mut forms: Vec<usize> = Vec::new();
    for summary in own {
        if forms.contains(&summary.row) {
            continue;
        }
        forms.push(summary.row);
        let of_form: Vec<&&Summary> = own.iter().filter(|other| other.row == summary.row).collect();
        let mut form_counts = Counts::default();
        if of_form.iter().any(|part| part.adds_up) {
            of_form.iter().filter(|part| part.adds_up).for_each(|part| form_counts.add(&part.counts));
        } else {
            // Of totals that are printed one after the other, the last of each number counts.
            for part in &of_form {
                form_counts = part.counts.or(form_counts);
            }
        }
        let failed = of_form.iter().any(|part| part.says == Says::Failed);
        let last = of_form.last().map_or(Says::Nothing, |part| part.says);
        let has_numbers = form_counts.failed.is_some() || form_counts.errors.is_some();
        let says = if of_form.iter().any(|part| part.adds_up) || !has_numbers {
            if failed {
                Says::Failed
            } else if of_form.iter().any(|part| part.says == Says::Passed) {
                Says::Passed
            } else {
                last
            }
        } else if form_counts.failed.unwrap_or(0) > 0 && last != Says::Passed {
            Says::Failed
        } else {
            last
        };
        let says = if of_form.iter().any(|part| part.says == Says::Failed && part.counts == Counts::default()) {
            Says::Failed
        } else {
            says
        };
        // Failed suites are no failed tests.
        let failed_tests = if summary.form.ends_with("suites") { None } else { form_counts.failed };
        counts = counts.or(Counts { failed: failed_tests, ..form_counts });
        verdict = Some(match (verdict, says) {
            (Some(Says::Failed), _) | (_, Says::Failed) => Says::Failed,
            (Some(Says::Passed), _) | (_, Says::Passed) => Says::Passed,
            (Some(Says::NoTests), _) | (_, Says::NoTests) => Says::NoTests,
            _ => Says::Nothing,
        });
    }
    if counts.passed.is_none()
        && let (Some(total), Some(failed)) = (counts.total, counts.failed)
    {
        counts.passed = Some(total.saturating_sub(failed).saturating_sub(counts.skipped.unwrap_or(0)));
    }
    if counts.total.is_none()
        && let Some(passed) = counts.passed
    {
        counts.total = Some(passed + counts.failed.unwrap_or(0) + counts.skipped.unwrap_or(0));
    }
    (verdict, counts)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcomes(script: &str, output: &str, code: Option<i64>) -> Vec<(CheckKind, Outcome)> {
        judge(script, output, code).into_iter().map(|run| (run.kind, run.outcome)).collect()
    }

    use CheckKind::{Build, Lint, Test, Types};

    #[test]
    fn the_output_counts_before_the_exit_code() {
        let failing = "test result: FAILED. 3 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out";
        assert_eq!(outcomes("cargo test 2>&1 | tail -3", failing, Some(0))[0], (Test, Outcome::Failed));
        assert_eq!(
            outcomes("npx jest || echo done", "Tests: 1 failed, 2 passed, 3 total\ndone", Some(0)),
            [(Test, Outcome::Failed)]
        );
        assert_eq!(outcomes("pytest -q", "", Some(0)), [(Test, Outcome::Passed)]);
        assert_eq!(outcomes("pytest -q", "", Some(1)), [(Test, Outcome::Failed)]);
        assert_eq!(outcomes("pytest -q", "sh: pytest: command not found", Some(127)), [(Test, Outcome::DidNotStart)]);
        assert_eq!(outcomes("pytest -q", "no tests ran in 0.01s", Some(5)), [(Test, Outcome::NoTests)]);
    }

    #[test]
    fn each_check_of_a_line_has_its_outcome() {
        let output = "All checks passed!\n1 failed, 4 passed in 0.38s";
        assert_eq!(
            outcomes("ruff check && pytest -q", output, Some(1)),
            [(Lint, Outcome::Passed), (Test, Outcome::Failed)]
        );
        let output = "Found 2 errors.\n";
        assert_eq!(
            outcomes("ruff check && pytest -q", output, Some(1)),
            [(Lint, Outcome::Failed), (Test, Outcome::DidNotStart)]
        );
        assert_eq!(
            outcomes("npx tsc --noEmit; npx jest", "Tests: 2 passed, 2 total", Some(0))[0],
            (Types, Outcome::Passed)
        );
    }

    #[test]
    fn packages_without_tests_are_ordinary_beside_others() {
        let output = "?   \ta/b\t[no test files]\nok  \ta/c\t0.1s\n";
        assert_eq!(outcomes("go test ./...", output, Some(0))[0], (Test, Outcome::Passed));
        assert_eq!(outcomes("go test ./...", "?   \ta/b\t[no test files]\n", Some(0))[0], (Test, Outcome::NoTests));
        let none = "test result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\n";
        let some = "test result: ok. 5 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\n";
        let runs = judge("cargo test", &format!("{none}{some}{none}"), Some(0));
        assert_eq!((runs[0].outcome, runs[0].counts.passed), (Outcome::Passed, Some(5)));
    }

    #[test]
    fn scripts_are_what_their_output_shows() {
        assert_eq!(outcomes("./ci.sh", "Tests: 2 passed, 2 total\n", Some(0)), [(Test, Outcome::Passed)]);
        assert_eq!(outcomes("./ci.sh", "hello", Some(0)), []);
        assert_eq!(outcomes("git commit -m x", "pytest..........Failed\n", Some(1)), [(Test, Outcome::Failed)]);
        assert_eq!(outcomes("make", "gcc -c a.c\n", Some(0)), [(Build, Outcome::Passed)]);
    }

    #[test]
    fn what_other_programs_print_is_no_check() {
        assert_eq!(outcomes("cat log.txt", "14 passed in 0.1s", Some(0)), []);
        assert_eq!(outcomes("echo '14 passed in 0.1s'", "14 passed in 0.1s", Some(0)), []);
        let output = "1 failed in 0.1s\n14 passed in 0.1s\n";
        assert_eq!(outcomes("pytest -q; echo '14 passed in 0.1s'", output, Some(0)), [(Test, Outcome::Failed)]);
    }

    #[test]
    fn a_printed_exit_code_counts() {
        assert_eq!(outcomes("pytest -q > log; echo \"exit: $?\"", "exit: 1\n", Some(0)), [(Test, Outcome::Failed)]);
        assert_eq!(outcomes("npx tsc | tail -3; echo ${PIPESTATUS[0]}", "2\n", Some(0))[0], (Types, Outcome::Failed));
    }
}
