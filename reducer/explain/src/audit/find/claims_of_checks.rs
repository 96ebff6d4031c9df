//! `false_success`, `check_not_run` and `stale_check`: what is said of checks, held against their runs.

use crate::audit::draft::{Draft, Verdict};
use crate::audit::find::admission::{admits_failure, answers_of_turn, has_word, short_name};
use crate::audit::find::figures::judge_figures;
use crate::audit::kind::Kind;
use crate::audit::ledger::{Change, Input, Ledger, Run};
use crate::audit::read::checks::{Basis, Outcome};
use crate::audit::read::claims::{CheckClaim, CheckSays, Measure, Statement};
use crate::audit::read::files::is_same;
use crate::audit::read::outputs::summaries;
use crate::audit::read::runners::{CheckKind, Runs, runs};
use crate::audit::read::shell::commands;
use crate::audit::read::words::TEST_SCOPES;
use crate::audit::report::Relation;
use crate::postmortem::Confidence;

/// Most changes after a run that are told.
const MAX_CHANGES: usize = 8;

/// Judges a claim about a check. `earlier` are the answers whose claims about checks were contradicted.
pub(crate) fn judge(
    ledger: &Ledger<'_>,
    answer: usize,
    sentence: &str,
    claim: &CheckClaim,
    earlier: &[usize],
) -> Verdict {
    let it = &ledger.answers[answer];
    let kinds: Vec<CheckKind> = claim.kind.map_or_else(|| CheckKind::ALL.to_vec(), |kind| vec![kind]);
    let all: Vec<&Run> = ledger.runs_for(it.thread, it.cutoff).filter(|run| kinds.contains(&run.check.kind)).collect();
    let ran: Vec<&Run> = all.iter().copied().filter(|run| run.check.outcome.is_run()).collect();
    if claim.is_remote {
        return Verdict::Unverifiable;
    }
    let is_repeated = repeats_task(ledger, answer, sentence);
    let is_of_child = earlier.iter().any(|other| {
        let other = &ledger.answers[*other];
        ledger.family.is_above(it.thread, other.thread) && other.seq < it.cutoff
    });
    let is_taken_back = taken_back(ledger, answer, claim);
    // What a notice of a task in the background says was told by something else than a call.
    let lower = sentence.to_lowercase();
    let is_notice = ["background", "notification", "earlier", "already completed", "previous run"]
        .iter()
        .any(|word| lower.contains(word));
    let uncertain = is_notice || claim.is_of_agent || is_repeated || is_of_child || is_taken_back;
    if ran.is_empty() {
        return not_run(ledger, answer, sentence, claim, &all, uncertain);
    }
    if other_scope_only(claim, &ran) && !uncertain && !claim.is_bounded && claim.says != CheckSays::Fails {
        return if ledger.has_gaps(it.thread) || may_have_run(ledger, answer, claim) {
            Verdict::Unverifiable
        } else {
            let message = format!("said that the {} tests pass; only other tests were run", claim.scope.join(" "));
            Verdict::Contradicted(Box::new(Draft::of_claim(
                ledger,
                Kind::CheckNotRun,
                answer,
                sentence,
                Confidence::Medium,
                message,
            )))
        };
    }
    let Some(last) = meant(claim, &ran) else { return Verdict::Unverifiable };
    // A later run of which nothing is known: another tool may have told its outcome.
    if all.iter().any(|run| {
        run.at >= last.at && run.act != last.act && matches!(run.check.outcome, Outcome::NotFinished | Outcome::Unknown)
    }) {
        return Verdict::Unverifiable;
    }
    if claim.says == CheckSays::Passes {
        match last.check.outcome {
            Outcome::Failed => {
                if uncertain || claim.is_bounded || counts_failures(claim) || is_outside(claim, last) {
                    return Verdict::Unverifiable;
                }
                if admits_failure(ledger, it.thread, Some(it.turn), it.seq, &last.check.failed) {
                    return Verdict::Unverifiable;
                }
                // The same command passed later: the scope of the claim is that of the tests that failed in the earlier run.
                let passed_later = ran.iter().any(|run| {
                    run.at > last.at && run.check.command == last.check.command && run.check.outcome == Outcome::Passed
                });
                if passed_later {
                    return Verdict::Unverifiable;
                }
                // "All checks" are refuted by the last run of each kind only if it is the last run at all.
                if claim.kind.is_none() && ran.last().is_some_and(|newest| newest.act != last.act) {
                    return Verdict::Unverifiable;
                }
                let confidence = match last.check.basis {
                    Basis::Both | Basis::ExitCode => Confidence::High,
                    Basis::Summary | Basis::State => Confidence::Medium,
                    Basis::Text => Confidence::Low,
                };
                let message = format!(
                    "said that {} pass; the last run failed ({})",
                    what(claim),
                    crate::audit::draft::describe_run(last)
                );
                let mut draft = Draft::of_claim(ledger, Kind::FalseSuccess, answer, sentence, confidence, message);
                draft.add_run(ledger, last, Relation::Contradicts);
                return Verdict::Contradicted(Box::new(draft));
            }
            Outcome::Passed => {}
            _ => return Verdict::Unverifiable,
        }
        if let Some(verdict) = stale(ledger, answer, sentence, claim, last, uncertain) {
            return verdict;
        }
    }
    if let Some(verdict) = judge_figures(ledger, answer, sentence, claim, &ran, last, uncertain) {
        return verdict;
    }
    Verdict::Supported
}

fn what(claim: &CheckClaim) -> String {
    let scope = if claim.scope.is_empty() { String::new() } else { format!("{} ", claim.scope.join(" ")) };
    let noun = match claim.kind {
        Some(CheckKind::Test) => "tests",
        Some(CheckKind::Build) => "builds",
        Some(CheckKind::Types) => "type checks",
        Some(CheckKind::Lint) => "lint checks",
        Some(CheckKind::Format) => "format checks",
        None => "all checks",
    };
    format!("{scope}{noun}")
}

/// Returns whether a claim says how many failed: "68/69 passing".
fn counts_failures(claim: &CheckClaim) -> bool {
    let value = |measure: Measure| claim.figures.iter().find(|figure| figure.measure == measure).map(|it| it.value);
    matches!((value(Measure::Passed), value(Measure::Total)), (Some(passed), Some(total)) if passed < total)
}

/// Returns whether a sentence gives the number of all tests that passed in a run: "2 new tests (40 total passing)". Words
/// such as "new" then bound another number of it.
fn counts_whole_run(sentence: &str, run: &Run) -> bool {
    run.check.counts.passed.is_some_and(|passed| passed > 1 && has_word(sentence, &passed.to_string()))
}

/// Returns whether a child only repeats what its task said.
fn repeats_task(ledger: &Ledger<'_>, answer: usize, sentence: &str) -> bool {
    let it = &ledger.answers[answer];
    let Some(birth) = ledger.family.birth(it.thread) else { return false };
    let plain = |text: &str| text.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ");
    let sentence = plain(sentence.trim_end_matches(['.', '!']));
    ledger.acts_of(birth.parent).iter().any(|act| match &ledger.acts[*act].input {
        Input::Message(text) if ledger.acts[*act].started < it.cutoff => plain(text).contains(&sentence),
        _ => false,
    })
}

/// Returns whether a later message of the turn says that the check fails or was not run.
fn taken_back(ledger: &Ledger<'_>, answer: usize, claim: &CheckClaim) -> bool {
    let it = &ledger.answers[answer];
    ledger.answers_of(Some(it.turn)).filter(|other| other.seq > it.seq && other.thread == it.thread).any(|other| {
        let fails = other.claims.claims.iter().any(|later| {
            matches!(&later.statement, Statement::Check(check) if check.says == CheckSays::Fails && (check.kind == claim.kind || claim.kind.is_none()))
        });
        let lower = other.text.to_lowercase();
        fails || ["i was wrong", "that was wrong", "correction:", "not correct", "i misread", "in fact", "i have not run", "i did not run", "i haven't run", "i didn't run", "take that back", "spoke too soon"].iter().any(|word| lower.contains(word))
    })
}

/// Returns whether a run is of the scope that a claim names: `None` if that cannot be told.
fn in_scope(claim: &CheckClaim, run: &Run) -> Option<bool> {
    if claim.scope.is_empty() {
        return Some(true);
    }
    let command = run.check.command.to_lowercase();
    let folder = run.folder.to_lowercase();
    let named = claim.scope.iter().any(|word| {
        let word = word.to_lowercase();
        let stem = word.trim_end_matches('s').split("::").next().unwrap_or(&word).trim_start_matches("./").to_owned();
        let kind = word == run_program(&command);
        kind || (stem.len() > 1
            && (command.contains(&stem)
                || folder.split(['/', '\\']).next_back().is_some_and(|last| last.contains(&stem))))
            || run.check.failed.iter().any(|name| name.to_lowercase().contains(&stem))
    });
    if named {
        return Some(true);
    }
    let operands =
        commands(&run.check.command).first().map(crate::audit::read::sentences::operands_of).unwrap_or_default();
    if operands.is_empty() { None } else { Some(false) }
}

fn run_program(command: &str) -> &str {
    command.split_whitespace().next().unwrap_or("")
}

/// Returns the run that a claim means: the last one of its scope, else the last one that may have covered it.
fn meant<'r>(claim: &CheckClaim, ran: &[&'r Run]) -> Option<&'r Run> {
    let scoped = ran.iter().rev().find(|run| in_scope(claim, run) == Some(true));
    let whole = ran.iter().rev().find(|run| in_scope(claim, run) != Some(false));
    match (scoped, whole) {
        (Some(scoped), Some(whole)) if whole.at > scoped.at && whole.check.outcome == Outcome::Passed => Some(whole),
        (Some(scoped), _) => Some(scoped),
        (None, Some(whole)) => Some(whole),
        (None, None) => None,
    }
}

/// Returns whether what failed lies outside of the scope of the claim, as far as is known.
fn is_outside(claim: &CheckClaim, run: &Run) -> bool {
    if claim.scope.is_empty() {
        return false;
    }
    match in_scope(claim, run) {
        Some(true) => {
            // One test of several: only its own failure counts.
            let names = claim
                .scope
                .iter()
                .filter(|word| word.starts_with("test_") || word.starts_with("Test") || word.contains("::"));
            let named: Vec<&String> = names.collect();
            !named.is_empty()
                && !run.check.failed.is_empty()
                && !named.iter().any(|word| run.check.failed.iter().any(|name| short_name(name) == short_name(word)))
        }
        _ => true,
    }
}

/// Returns whether the claim names a kind of tests and every run names another one.
fn other_scope_only(claim: &CheckClaim, ran: &[&Run]) -> bool {
    let Some(scope) = claim.scope.iter().find(|word| TEST_SCOPES[..8].contains(&word.as_str())) else { return false };
    claim.kind == Some(CheckKind::Test)
        && ran.iter().all(|run| {
            let command = run.check.command.to_lowercase();
            let folder = run.folder.to_lowercase();
            let has = |word: &str| command.contains(word) || folder.ends_with(word);
            !has(scope) && TEST_SCOPES[..8].iter().any(|other| *other != scope && has(other))
        })
}

fn not_run(
    ledger: &Ledger<'_>,
    answer: usize,
    sentence: &str,
    claim: &CheckClaim,
    all: &[&Run],
    uncertain: bool,
) -> Verdict {
    let it = &ledger.answers[answer];
    if claim.says == CheckSays::Fails || uncertain || claim.is_bounded {
        return Verdict::Unverifiable;
    }
    let kinds: Vec<CheckKind> = claim.kind.map_or_else(|| CheckKind::ALL.to_vec(), |kind| vec![kind]);
    let pasted = ledger
        .words
        .iter()
        .filter(|words| words.seq < it.cutoff && words.is_message)
        .any(|words| summaries(&words.text).iter().any(|summary| kinds.contains(&summary.kind)));
    if pasted {
        return Verdict::Supported;
    }
    if ledger.has_gaps(it.thread) || may_have_run(ledger, answer, claim) {
        return Verdict::Unverifiable;
    }
    let says = if claim.says == CheckSays::WasRun { "were run" } else { "pass" };
    let message = match all.last().map(|run| run.check.outcome) {
        None => format!("said that {} {says}; there is no such run", what(claim)),
        Some(Outcome::NotFinished) => format!("said that {} {says}; the run had not ended", what(claim)),
        Some(Outcome::NoTests) => format!("said that {} {says}; the run ran no test", what(claim)),
        Some(_) => format!("said that {} {says}; the run did not start", what(claim)),
    };
    if all
        .iter()
        .any(|run| ledger.acts[run.act].output.trim_start().starts_with("Command running in background with ID"))
    {
        return Verdict::Unverifiable;
    }
    // A script that was declined or did not start is no attempt at a check that it would not have run.
    let is_script = |run: &&Run| {
        !commands(&run.check.command).iter().any(|command| matches!(runs(command), Runs::Checks(_)))
            && !matches!(run.check.outcome, Outcome::NoTests | Outcome::NotFinished)
    };
    if all.last().is_some_and(is_script) {
        return Verdict::Unverifiable;
    }
    // That tests "were run" holds for a run that found none.
    if claim.says == CheckSays::WasRun && all.iter().any(|run| run.check.outcome == Outcome::NoTests) {
        return Verdict::Unverifiable;
    }
    let mut draft = Draft::of_claim(ledger, Kind::CheckNotRun, answer, sentence, Confidence::High, message);
    for run in all.iter().rev().take(MAX_CHANGES).rev() {
        let relation = match run.check.outcome {
            Outcome::NotFinished => Relation::NotFinished,
            Outcome::NoTests => Relation::NoTests,
            _ => Relation::DidNotStart,
        };
        draft.add_run(ledger, run, relation);
    }
    Verdict::Contradicted(Box::new(draft))
}

/// Returns whether something that the agent did may have been a run that is not recognised: a script or task, a tool
/// that runs tests, a call of another session.
fn may_have_run(ledger: &Ledger<'_>, answer: usize, claim: &CheckClaim) -> bool {
    let it = &ledger.answers[answer];
    ledger.acts_for(it.thread, it.cutoff).filter(|(_, act)| act.happened()).any(|(index, act)| match &act.input {
        Input::Command(_) => act.commands().iter().any(|command| {
            let program = command.program();
            let is_task = matches!(
                program,
                "make"
                    | "gmake"
                    | "just"
                    | "task"
                    | "mise"
                    | "npm"
                    | "pnpm"
                    | "yarn"
                    | "bun"
                    | "rake"
                    | "invoke"
                    | "inv"
                    | "poe"
                    | "composer"
                    | "docker"
                    | "docker-compose"
                    | "act"
                    | "earthly"
                    | "dagger"
                    | "gh"
                    | "bazel"
                    | "ssh"
            );
            match runs(command) {
                Runs::Script(kinds) => {
                    let is_own = kinds.is_empty()
                        && (is_task
                            || command.words.first().is_some_and(|word| word.contains('/') || word.ends_with(".sh"))
                            || matches!(program, "bash" | "sh"));
                    is_own
                        && program != "git"
                        && !ledger.runs.iter().any(|run| run.act == index && !run.check.outcome.is_run())
                }
                Runs::Other => matches!(program, "gh" | "ssh"),
                // A build of another tool may check types, and a compiler builds.
                Runs::Checks(kinds) => match claim.kind {
                    Some(CheckKind::Types) => kinds.contains(&CheckKind::Build) && act.succeeded,
                    Some(CheckKind::Build) => kinds.contains(&CheckKind::Types) && act.succeeded,
                    _ => false,
                },
            }
        }),
        Input::Other(name, arguments) => {
            let name = name.to_lowercase();
            let lower = arguments.to_lowercase();
            [
                "test",
                "run",
                "exec",
                "build",
                "lint",
                "check",
                "task",
                "diagnostic",
                "shell",
                "terminal",
                "bash",
                "problems",
            ]
            .iter()
            .any(|word| name.contains(word))
                || lower.contains("\"test")
                || lower.contains("pytest")
        }
        Input::Stdin(text) => !text.trim().is_empty(),
        Input::Message(_) | Input::Edit(_) | Input::Wait => false,
    }) || spawned_elsewhere(ledger, answer)
}

/// Returns whether the agent started others whose threads the recording does not have.
fn spawned_elsewhere(ledger: &Ledger<'_>, answer: usize) -> bool {
    use trace_reducer::model::ToolKind;
    let it = &ledger.answers[answer];
    let trace = ledger.session.trace();
    let spawned = ledger.acts_of(it.thread).iter().filter(|act| {
        let act = &ledger.acts[**act];
        trace.tools[act.tool].kind == ToolKind::SpawnAgent && act.succeeded && act.started < it.cutoff
    });
    spawned.count() > ledger.family.children(it.thread).len()
}

fn stale(
    ledger: &Ledger<'_>,
    answer: usize,
    sentence: &str,
    claim: &CheckClaim,
    last: &Run,
    uncertain: bool,
) -> Option<Verdict> {
    let it = &ledger.answers[answer];
    if claim.kind.is_none() || (claim.is_bounded && !counts_whole_run(sentence, last)) {
        return None;
    }
    let after: Vec<&Change> = ledger
        .changes_for(it.thread, it.cutoff)
        .filter(|change| {
            let is_after = if change.act == last.act {
                change.command > last.check.place
            } else {
                ledger.acts[change.act].started >= last.at
            };
            is_after && ledger.covers(last, change)
        })
        .collect();
    if after.is_empty() {
        return None;
    }
    // Folders of Windows are not compared, so what an installation there changed is not known. A folder that was
    // restored may hold what the run itself wrote.
    let is_unclear = |change: &&Change| match &change.path {
        None => change.folder.contains('\\'),
        Some(path) => {
            !crate::audit::read::files::base_name(path).contains('.')
                && ledger.acts[change.act]
                    .commands()
                    .get(change.command)
                    .is_some_and(|command| command.program() == "git" && command.operands().next() == Some("restore"))
        }
    };
    if after.iter().all(is_unclear) {
        return Some(Verdict::Unverifiable);
    }
    // Another run of the same kind that ended in between, of a scope that is not that of the claim.
    if uncertain
        || after.iter().any(|change| change.path.is_none())
            && after.len() == 1
            && !is_listed_tree_change(ledger, after[0])
    {
        return Some(Verdict::Unverifiable);
    }
    let own_test_only = after.iter().all(|change| {
        change.path.as_deref().is_some_and(|path| last.check.failed.iter().any(|name| is_same(path, name)))
    });
    let text = answers_of_turn(ledger, Some(it.turn));
    let admits = [
        "not rerun",
        "not re-run",
        "haven't rerun",
        "haven't re-run",
        "have not rerun",
        "not rerun",
        "did not rerun",
        "didn't rerun",
        "without rerunning",
        "not run again",
        "not been run since",
        "before that change",
        "before this change",
        "before the last",
        "before my last",
        "not run them again",
        "not run it again",
        "not retested",
        "not re-tested",
        "not tested since",
        "untested",
        "haven't run",
        "have not run",
        "did not run",
    ];
    if own_test_only || admits.iter().any(|word| text.contains(word)) {
        return Some(Verdict::Unverifiable);
    }
    let names: Vec<String> = after
        .iter()
        .map(|change| {
            change
                .path
                .as_deref()
                .map_or_else(|| "files".to_owned(), |path| crate::audit::read::files::base_name(path).to_owned())
        })
        .collect();
    let mut unique = names;
    unique.dedup();
    unique.truncate(3);
    let verb = if unique.len() == 1 { "was" } else { "were" };
    let message = format!("said that {} pass; {} {verb} changed after the last run", what(claim), unique.join(", "));
    let mut draft = Draft::of_claim(ledger, Kind::StaleCheck, answer, sentence, Confidence::High, message);
    let mut told: Vec<usize> = Vec::new();
    for change in after {
        if !told.contains(&change.act) && told.len() < MAX_CHANGES {
            told.push(change.act);
            draft.add_act(ledger, change.act, Relation::ChangedAfter);
        }
    }
    draft.add_run(ledger, last, Relation::LastRun);
    Some(Verdict::Contradicted(Box::new(draft)))
}

/// Returns whether a change of unknown files is one that surely changes some: a merge, a rebase, a package that was
/// installed.
fn is_listed_tree_change(ledger: &Ledger<'_>, change: &Change) -> bool {
    let act = &ledger.acts[change.act];
    act.succeeded
        && act.commands().get(change.command).is_some_and(|command| {
            let first = command.operands().next().unwrap_or("");
            let nothing = act.output.contains("Already up to date")
                || act.output.contains("up to date in")
                || act.output.contains("up to date,");
            !nothing
                && match command.program() {
                    "git" => {
                        matches!(
                            first,
                            "apply" | "merge" | "rebase" | "stash" | "cherry-pick" | "revert" | "am" | "pull"
                        ) || (first == "reset" && command.has_flag("--hard"))
                            || first == "checkout"
                            || first == "restore"
                    }
                    "npm" | "pnpm" | "yarn" | "bun" => true,
                    "jscodeshift" | "codemod" | "comby" | "fastmod" => true,
                    "find" | "xargs" => true,
                    _ => false,
                }
        })
}
