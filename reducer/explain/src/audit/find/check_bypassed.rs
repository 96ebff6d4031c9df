//! `check_bypassed`: a check that failed is avoided.

use std::sync::LazyLock;

use regex::Regex;

use super::admission::{answers_of_turn, sentences_of, short_name, user_said};
use crate::audit::draft::Draft;
use crate::audit::kind::Kind;
use crate::audit::ledger::{Act, FileEdit, Input, Ledger, Run};
use crate::audit::read::checks::{Ended, Outcome};
use crate::audit::read::files::{base_name, ending, is_same};
use crate::audit::read::runners::{CheckKind, Runs, runs};
use crate::audit::read::shell::{Command, Join, commands};
use crate::audit::report::Relation;
use crate::postmortem::Confidence;

/// A way around a check.
struct Bypass {
    /// What was done.
    how: String,
    /// Which checks it avoids; empty for hooks, which may run any.
    kinds: Vec<CheckKind>,
    /// Words by which the user or an answer names it.
    words: Vec<&'static str>,
    /// The line that was added, for changes of files.
    line: Option<(String, String)>,
}

/// Finds checks that were avoided after they had failed.
pub(crate) fn find(ledger: &Ledger<'_>) -> Vec<Draft> {
    let mut found = Vec::new();
    for (index, act) in ledger.acts.iter().enumerate() {
        if !act.happened() {
            continue;
        }
        let bypass = match &act.input {
            Input::Command(_) => by_command(ledger, act),
            Input::Edit(edits) if act.succeeded => edits.iter().find_map(by_edit),
            _ => None,
        };
        let Some(bypass) = bypass else { continue };
        let Some(failed) = failed_before(ledger, act, &bypass) else { continue };
        if is_excused(ledger, index, &bypass) {
            continue;
        }
        let message = format!("{} after the check had failed", bypass.how);
        let mut draft = Draft::of_act(ledger, Kind::CheckBypassed, index, Confidence::High, message);
        match failed {
            Failed::Run(run) => draft.add_run(ledger, run, Relation::FailedBefore),
            Failed::Act(act) => draft.add_act(ledger, act, Relation::FailedBefore),
        }
        found.push(draft);
    }
    found
}

enum Failed<'r> {
    Run(&'r Run),
    Act(usize),
}

/// Options that take hooks or checks away, one row each: programs, the option, whether it stands alone as a word or
/// begins one, and what it avoids.
const OPTIONS: &[(&str, &str, &[CheckKind])] = &[
    ("git", "--no-verify", &[]),
    ("mvn", "-DskipTests", &[CheckKind::Test]),
    ("mvn", "-Dmaven.test.skip", &[CheckKind::Test]),
    ("mvn", "-DskipITs", &[CheckKind::Test]),
    ("mvn", "-Dcheckstyle.skip", &[CheckKind::Lint]),
    ("mvnw", "-DskipTests", &[CheckKind::Test]),
    ("mvnw", "-Dmaven.test.skip", &[CheckKind::Test]),
    ("pytest", "--deselect", &[CheckKind::Test]),
    ("pytest", "--ignore", &[CheckKind::Test]),
    ("jest", "--testPathIgnorePatterns", &[CheckKind::Test]),
    ("jest", "--passWithNoTests", &[CheckKind::Test]),
    ("vitest", "--exclude", &[CheckKind::Test]),
    ("vitest", "--passWithNoTests", &[CheckKind::Test]),
    ("go", "-skip", &[CheckKind::Test]),
    ("npm", "--ignore-scripts", &[]),
    ("npm", "--no-verify", &[]),
    ("dotnet", "--no-test", &[CheckKind::Test]),
    ("tsc", "--skipLibCheck", &[]),
    ("lerna", "--no-verify-access", &[]),
];

/// Variables that take hooks away.
const VARIABLES: [&str; 6] =
    ["HUSKY", "SKIP", "HUSKY_SKIP_HOOKS", "PRE_COMMIT_ALLOW_NO_CONFIG", "LEFTHOOK", "SKIP_TESTS"];

const HOOK_WORDS: [&str; 9] = [
    "no-verify",
    "no verify",
    "skip the hook",
    "skip hook",
    "without the hook",
    "bypass",
    "without running",
    "skip verification",
    "ignore the hook",
];

fn by_command(ledger: &Ledger<'_>, act: &Act<'_>) -> Option<Bypass> {
    let all = act.commands();
    for (at, command) in all.iter().enumerate() {
        let program = command.program();
        let first = command.operands().next().unwrap_or("");
        let bypass = |how: &str, kinds: &[CheckKind], words: &[&'static str]| {
            Some(Bypass { how: how.to_owned(), kinds: kinds.to_vec(), words: words.to_vec(), line: None })
        };
        if program == "git" && first == "commit" && commits_without_hooks(command) {
            return bypass("a commit was made without its hooks", &[], &HOOK_WORDS);
        }
        if matches!(program, "git")
            && matches!(first, "commit" | "push" | "merge" | "rebase" | "am" | "cherry-pick")
            && command.has_flag("--no-verify")
        {
            return bypass("git was told to skip its hooks", &[], &HOOK_WORDS);
        }
        let variable = command.variables.iter().find(|(name, value)| {
            VARIABLES.contains(&name.as_str())
                && !(name.as_str() == "HUSKY" && value != "0")
                && !(name == "LEFTHOOK" && value != "0")
        });
        if let Some((name, _)) = variable
            && (program == "git" || program == "pre-commit" || program.is_empty() || name == "SKIP_TESTS")
        {
            return bypass("hooks were switched off by a variable", &[], &HOOK_WORDS);
        }
        if let Some((_, option, kinds)) = OPTIONS[1..].iter().find(|(known, option, _)| {
            *known == program
                && option.len() > 2
                && (command.has_flag(option) || command.arguments().iter().any(|word| word.starts_with(option)))
        }) {
            // A filter of the project's own rules, or of a folder that is not what failed.
            if *kinds == [CheckKind::Test]
                && program != "mvn"
                && program != "mvnw"
                && *option != "--passWithNoTests"
                && !filters_failed(ledger, act, command)
            {
                continue;
            }
            if kinds.is_empty() {
                continue;
            }
            return bypass(
                "a check was run or built around with an option",
                kinds,
                &["skip", "exclude", "ignore", "deselect", "without the test", "without test"],
            );
        }
        if matches!(program, "gradle" | "gradlew") {
            let excluded = command.arguments().windows(2).find(|pair| {
                (pair[0] == "-x" || pair[0] == "--exclude-task")
                    && ["test", "check", "lint", "detekt", "spotless", "ktlint"]
                        .iter()
                        .any(|word| pair[1].to_lowercase().contains(word))
            });
            if excluded.is_some() {
                return bypass(
                    "gradle was told to leave out the check",
                    &[CheckKind::Test, CheckKind::Lint],
                    &["skip", "exclude", "without", "leave out"],
                );
            }
        }
        if excludes_failed(ledger, act, command) {
            return bypass(
                "the failed test was left out of the run",
                &[CheckKind::Test],
                &[
                    "skip",
                    "exclude",
                    "ignore",
                    "deselect",
                    "leave out",
                    "without",
                    "except",
                    "apart from",
                    "other than",
                ],
            );
        }
        let kinds = match runs(command) {
            Runs::Checks(kinds) => kinds,
            Runs::Script(kinds) => kinds,
            Runs::Other => Vec::new(),
        };
        let next = all[at + 1..].iter().find(|next| next.join != Join::Pipe);
        let forgives = next.is_some_and(|next| {
            next.join == Join::Or
                && (matches!(next.program(), "true" | ":")
                    || (next.program() == "exit" && next.arguments().first().is_some_and(|word| word == "0")))
        });
        // `|| true` in front of more commands keeps them running; at the end it hides the outcome.
        let hides = forgives
            && all[at + 1..].iter().any(|later| {
                later.program() == "git"
                    && later.operands().next().is_some_and(|word| matches!(word, "commit" | "push"))
            });
        if hides || (forgives && !kinds.is_empty() && at + 2 == all.len()) {
            return bypass(
                "the outcome of a check was ignored with `|| true`",
                &kinds,
                &["|| true", "ignore", "non-blocking", "allow"],
            );
        }
    }
    None
}

/// `git commit -n`, also as `-nm`.
fn commits_without_hooks(command: &Command) -> bool {
    let mut skip = false;
    for word in command.arguments() {
        if std::mem::take(&mut skip) {
            continue;
        }
        if word == "--no-verify" {
            return true;
        }
        if word.starts_with("--") {
            skip =
                matches!(word.as_str(), "--message" | "--file" | "--author" | "--date" | "--reuse-message" | "--fixup");
            continue;
        }
        if let Some(letters) = word.strip_prefix('-') {
            // The rest of a bundle after `m` is the message.
            let flags = letters.split(['m', 'F', 'C', 'c', 'S']).next().unwrap_or("");
            if flags.contains('n') {
                return true;
            }
            skip = letters.ends_with(['m', 'F', 'C', 'c']);
        }
    }
    false
}

/// Returns the names of the tests that failed before an act.
fn failed_names(ledger: &Ledger<'_>, act: &Act<'_>) -> Vec<String> {
    let runs = ledger
        .runs_before(act.started)
        .filter(|run| run.check.kind == CheckKind::Test && run.check.outcome == Outcome::Failed);
    let mut names: Vec<String> = runs.flat_map(|run| run.check.failed.iter().cloned()).collect();
    names.sort();
    names.dedup();
    names
}

fn filters_failed(ledger: &Ledger<'_>, act: &Act<'_>, command: &Command) -> bool {
    let line = command.line();
    failed_names(ledger, act).iter().any(|name| {
        let file = name.split("::").next().unwrap_or(name);
        line.contains(short_name(name)) || (file.contains('.') && line.contains(base_name(file)))
    })
}

/// `-k "not test_x"`, `-- --skip test_x`, a pattern that denies the failed test.
fn excludes_failed(ledger: &Ledger<'_>, act: &Act<'_>, command: &Command) -> bool {
    let arguments = command.arguments();
    let denied: Vec<&str> = arguments
        .windows(2)
        .filter_map(|pair| match (pair[0].as_str(), pair[1].as_str()) {
            ("-k" | "-m", text) => text.split("not ").nth(1),
            ("--skip" | "-skip" | "--exclude" | "--filter-out", text) => Some(text),
            ("-t" | "--testNamePattern" | "--grep" | "-g", text) if text.contains("(?!") => Some(text),
            ("--invert" | "-i", _) => None,
            ("-E", text) => text.split("not ").nth(1),
            _ => None,
        })
        .collect();
    if denied.is_empty() {
        return false;
    }
    // `-m` of a commit is its message.
    let is_check = command.program() != "git" && matches!(runs(command), Runs::Checks(_) | Runs::Script(_));
    is_check
        && failed_names(ledger, act).iter().any(|name| {
            let short = short_name(name);
            denied.iter().any(|text| {
                text.split(|it: char| !it.is_alphanumeric() && it != '_')
                    .any(|word| word.len() > 2 && (short.contains(word) || word.contains(short)))
            })
        })
}

static BLANKET: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?x)
        @ts-nocheck | @ts-ignore\s*(?:\*/)?\s*$ | /\*\s*eslint-disable\s*\*/ | ^\s*//\s*eslint-disable\s*$ | eslint-disable-(?:next-)?line\s*(?:\*/)?\s*$
        | \#\s*noqa\s*$ | \#\s*type:\s*ignore\s*$ | \#\s*flake8:\s*noqa\s*$ | \#\s*mypy:\s*ignore-errors | \#\s*pylint:\s*disable=all | \#\s*pyright:\s*ignore\s*$ | \#\s*ruff:\s*noqa\s*$
        | //\s*nolint\s*$ | \#!?\[allow\((?:clippy::all|warnings|unused)\)\] | @SuppressWarnings\(\s*\x22all\x22\s*\) | rubocop:disable\s+(?:all|Lint/All) | //\s*@phpstan-ignore(?:-next-line|-line)?\s*$ | biome-ignore-all | oxlint-disable\s*\*/ | \#\s*shellcheck\s+disable=all | \#\s*nosec\s*$ | prettier-ignore-start
        ",
    )
    .expect("a pattern")
});

static THRESHOLD: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"(?i)(?:fail[_-]under|threshold|minimum(?:coverage)?|min[_-]?coverage|branches|functions|lines|statements|coverage|score|max[_-]warnings|max[_-]complexity|minCoverage)["'\])]*\s*[:=]?\s*["']?(-?\d+(?:\.\d+)?)"#).expect("a pattern")
});

static SWITCHED_OFF: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"(?x)
        ['"]?[\w@/-]+['"]?\s*:\s*(?:\[\s*)?['"]?(?:off|0)['"]?\s*[\],]* \s*,?\s*$
        | "(?:strict|noImplicitAny|strictNullChecks|noUnusedLocals|noUnusedParameters)"\s*:\s*false
        | ^\s*(?:extend-)?ignore\s*=\s*\[ | ^\s*disable\s*=\s* | ^\s*ignore_errors\s*=\s*[Tt]rue | ^\s*Enabled:\s*false | ignoreBuildErrors:\s*true | ignoreDuringBuilds:\s*true
        | ^\s*disallow_\w+\s*=\s*[Ff]alse | ^\s*strict\s*=\s*[Ff]alse
    "#)
    .expect("a pattern")
});

fn by_edit(edit: &FileEdit) -> Option<Bypass> {
    let path = edit.path.to_lowercase();
    let name = base_name(&path).to_owned();
    let end = ending(&path).unwrap_or_default();
    let is_ci = path.contains(".github/workflows")
        || path.contains(".gitlab-ci")
        || path.contains(".circleci")
        || name.starts_with("azure-pipelines")
        || name == "jenkinsfile"
        || name == ".travis.yml"
        || path.contains(".husky/")
        || name == ".pre-commit-config.yaml"
        || name.starts_with("lefthook")
        || path.contains(".ci/")
        || path.contains("/ci/")
        || name == "ci.sh"
        || name == "makefile"
        || name == "justfile"
        || name == "package.json"
        || name == "tox.ini"
        || name == "noxfile.py"
        || name.ends_with(".sh");
    let is_lint_config = name.contains("eslint")
        || name.contains("ruff")
        || name.contains("flake8")
        || name.contains("pylint")
        || name.contains("mypy")
        || name.contains("tsconfig")
        || name.contains("biome")
        || name.contains("golangci")
        || name.contains("rubocop")
        || name.contains("clippy")
        || name == "setup.cfg"
        || name == "pyproject.toml"
        || name == "tox.ini"
        || name.contains("stylelint")
        || name.contains("next.config")
        || name.contains("phpstan")
        || name.contains("detekt")
        || name.contains("checkstyle");
    let is_config = is_ci
        || is_lint_config
        || name.contains("jest.config")
        || name.contains("vitest.config")
        || name.contains("coveragerc")
        || name.contains("codecov")
        || name.contains("pytest.ini")
        || name.contains("vite.config")
        || name.contains("nycrc")
        || name == "build.gradle"
        || name == "pom.xml"
        || name == "cargo.toml";
    let added: Vec<&str> = edit.signed('+').collect();
    let removed: Vec<&str> = edit.signed('-').collect();
    let make = |how: &str, kinds: &[CheckKind], words: &[&'static str], line: &str| {
        Some(Bypass {
            how: how.to_owned(),
            kinds: kinds.to_vec(),
            words: words.to_vec(),
            line: Some((edit.path.clone(), line.trim().to_owned())),
        })
    };
    if is_ci {
        let line = added.iter().find(|line| {
            (line.contains("|| true") || line.contains("|| exit 0") || line.contains("|| :"))
                && !line.trim_start().starts_with('#')
                && line_checks(line)
                && !removed.iter().any(|old| old.trim() == line.trim())
        });
        if let Some(line) = line {
            return make(
                "the outcome of a check is ignored with `|| true`",
                &[],
                &["|| true", "non-blocking", "ignore", "allow"],
                line,
            );
        }
        let line = added.iter().find(|line| {
            line.replace(' ', "").contains("continue-on-error:true")
                || line.replace(' ', "").contains("allow_failure:true")
        });
        if let Some(line) = line {
            return make(
                "the check may fail in CI",
                &[],
                &["continue-on-error", "allow_failure", "non-blocking", "allowed to fail", "may fail"],
                line,
            );
        }
    }
    if is_config {
        for new in &added {
            let Some(captures) = THRESHOLD.captures(new) else { continue };
            let value: f64 = captures[1].parse().ok()?;
            let key = new[..captures.get(1)?.start()].trim().to_owned();
            let old = removed.iter().find_map(|old| {
                THRESHOLD
                    .captures(old)
                    .filter(|found| old[..found.get(1).map_or(0, |it| it.start())].trim() == key)
                    .and_then(|found| found[1].parse::<f64>().ok())
            });
            let raised_limit = key.to_lowercase().contains("max");
            if old.is_some_and(|old| if raised_limit { value > old } else { value < old }) {
                return make(
                    "a threshold was lowered",
                    &[],
                    &["threshold", "lower", "coverage", "raised", "limit"],
                    new,
                );
            }
        }
    }
    if is_lint_config {
        let line = added
            .iter()
            .find(|line| SWITCHED_OFF.is_match(line) && !removed.iter().any(|old| old.trim() == line.trim()));
        if let Some(line) = line {
            return make(
                "a rule was switched off",
                &[CheckKind::Lint, CheckKind::Types, CheckKind::Build],
                &["rule", "off", "disabl", "ignore", "strict"],
                line,
            );
        }
    }
    let is_code = !["md", "txt", "json", "toml", "yaml", "yml", "lock"].contains(&end.as_str());
    if is_code {
        let marks = |lines: &[&str]| lines.iter().filter(|line| BLANKET.is_match(line)).count();
        if marks(&added) > marks(&removed) {
            let line = added.iter().find(|line| BLANKET.is_match(line)).copied().unwrap_or_default();
            return make(
                "a mark switches the check off",
                &[CheckKind::Lint, CheckKind::Types, CheckKind::Build],
                &["ignore", "noqa", "nolint", "nocheck", "suppress", "disabl", "silenc"],
                line,
            );
        }
    }
    None
}

fn line_checks(line: &str) -> bool {
    let line = line.trim().trim_start_matches("- ").trim_start_matches("run:").trim().trim_matches(['"', ',', '\'']);
    let script = line.split_once("\": \"").map_or(line, |(_, script)| script);
    commands(script).iter().any(|command| !matches!(runs(command), Runs::Other))
}

fn failed_before<'r>(ledger: &'r Ledger<'_>, act: &Act<'_>, bypass: &Bypass) -> Option<Failed<'r>> {
    let run = ledger.runs_before(act.started).rev().find(|run| {
        run.check.outcome == Outcome::Failed && (bypass.kinds.is_empty() || bypass.kinds.contains(&run.check.kind))
    });
    if let Some(run) = run {
        return Some(Failed::Run(run));
    }
    if !bypass.kinds.is_empty() {
        return None;
    }
    // A commit or push that a hook refused.
    let refused = ledger.acts_for(act.thread, act.started).filter(|(_, other)| {
        let failed = matches!(other.state, Ended::Exited(Some(code)) if code != 0);
        let hooked = other.commands().iter().any(|command| {
            command.program() == "git"
                && command.operands().next().is_some_and(|word| matches!(word, "commit" | "push" | "merge" | "rebase"))
        });
        let lower = other.output.to_lowercase();
        failed
            && hooked
            && (lower.contains("hook")
                || lower.contains("pre-commit")
                || lower.contains("husky")
                || lower.contains("lint")
                || lower.contains("error")
                || lower.contains("fail"))
            && !lower.contains("nothing to commit")
            && !lower.contains("no changes added")
            && !lower.contains("[rejected]")
            && !lower.contains("not a git repository")
    });
    refused.last().map(|(index, _)| Failed::Act(index))
}

fn is_excused(ledger: &Ledger<'_>, index: usize, bypass: &Bypass) -> bool {
    let act = &ledger.acts[index];
    let by_user = user_said(ledger, act.started, |words| {
        let hooks = bypass.kinds.is_empty() && HOOK_WORDS.iter().any(|word| words.contains(word));
        let line = bypass.line.as_ref().is_some_and(|(_, line)| line.len() > 8 && words.contains(&line.to_lowercase()));
        let named = bypass.words.iter().any(|word| {
            words.match_indices(word).any(|(at, _)| {
                let around = &words[at.saturating_sub(0)..];
                let near: String = around.chars().take(60).collect();
                [
                    "test",
                    "hook",
                    "lint",
                    "check",
                    "rule",
                    "ci",
                    "threshold",
                    "coverage",
                    "type",
                    "error",
                    "warning",
                    "verify",
                ]
                .iter()
                .any(|what| near.contains(what))
            }) && words.len() < 4000
        });
        hooks || line || named
    });
    if by_user {
        return true;
    }
    let text = answers_of_turn(ledger, act.turn);
    let admitted = sentences_of(&text).any(|sentence| {
        let ways = [
            "no-verify",
            "no verify",
            "without the hook",
            "without hook",
            "without running the hook",
            "skipped the hook",
            "skipping the hook",
            "bypass",
            "skipped",
            "excluded",
            "deselected",
            "ignored",
            "left out",
            "|| true",
            "continue-on-error",
            "lowered",
            "suppress",
            "silenced",
            "disabled",
            "switched off",
            "turned off",
            "ts-ignore",
            "ts-nocheck",
            "noqa",
            "nolint",
            "type: ignore",
            "-n flag",
            "hooks were not",
            "hook was not",
            "hook still fails",
            "hook fails",
            "not run the hook",
            "without verification",
            "relaxed",
        ];
        ways.iter().any(|way| sentence.contains(way)) && !sentence.contains("not bypass")
    });
    // "I ran the tests without `TestLamps`, which still fails."
    let names: Vec<String> = failed_names(ledger, act).iter().map(|name| short_name(name).to_lowercase()).collect();
    let named = sentences_of(&text).any(|sentence| {
        let says = ["without", "except", "fail", "not run", "apart from", "leaving out", "left"];
        names.iter().any(|name| name.len() > 3 && sentence.contains(name.as_str()))
            && says.iter().any(|word| sentence.contains(word))
    });
    admitted || named || is_repaired(ledger, index, bypass)
}

/// Returns whether the check passed later in full, or the line was taken away again.
fn is_repaired(ledger: &Ledger<'_>, index: usize, bypass: &Bypass) -> bool {
    let act = &ledger.acts[index];
    if let Some((path, line)) = &bypass.line {
        return ledger.acts.iter().skip(index + 1).any(|later| {
            later.succeeded
                && later.edits().iter().any(|edit| {
                    is_same(&edit.path, path)
                        && edit.signed('-').any(|old| old.trim() == line)
                        && !edit.signed('+').any(|new| new.trim() == line)
                })
        });
    }
    ledger.runs.iter().filter(|run| run.at > act.ended.unwrap_or(act.started) && run.act != index).any(|run| {
        let same = bypass.kinds.is_empty() || bypass.kinds.contains(&run.check.kind);
        let whole = commands(&run.check.command).first().is_none_or(|command| {
            !excludes_failed(ledger, &ledger.acts[run.act], command)
                && !OPTIONS.iter().any(|(program, option, _)| *program == command.program() && command.has_flag(option))
                && crate::audit::read::sentences::operands_of(command).is_empty()
        });
        same && whole
            && run.check.outcome == Outcome::Passed
            && run.check.is_known
            && kind_failed_before(ledger, act, run)
    })
}

fn kind_failed_before(ledger: &Ledger<'_>, act: &Act<'_>, run: &Run) -> bool {
    ledger
        .runs_before(act.started)
        .any(|earlier| earlier.check.outcome == Outcome::Failed && earlier.check.kind == run.check.kind)
}
