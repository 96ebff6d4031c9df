//! `action_not_done`: what is said to be done, held against the calls.

use trace_reducer::model::ToolKind;

use super::seen::{Seen, normal};
use crate::audit::draft::{Draft, Verdict};
use crate::audit::kind::{Kind, Severity};
use crate::audit::ledger::changes::may_write_anything;
use crate::audit::ledger::{Act, Effect, Input, Ledger};
use crate::audit::read::checks::Ended;
use crate::audit::read::claims::{Action, ActionClaim};
use crate::audit::read::files::{is_same, is_test};
use crate::audit::read::runners::{Runs, runs};
use crate::audit::read::shell::Command;
use crate::audit::report::Relation;
use crate::postmortem::Confidence;

/// Words in commands or names of tools that do an action, one row for each action. The first column is the programs,
/// the second the words of which one has to follow; empty for any.
const DOERS: &[(Action, &str, &[&str])] = &[
    (Action::Commit, "git", &["commit", "merge", "rebase", "cherry-pick", "revert", "am", "pull"]),
    (Action::Commit, "jj", &[]),
    (Action::Commit, "hg", &["commit", "ci"]),
    (Action::Commit, "svn", &["commit", "ci"]),
    (Action::Commit, "gt", &[]),
    (Action::Commit, "npm", &["version"]),
    (Action::Push, "git", &["push"]),
    (Action::Push, "jj", &["git"]),
    (Action::Push, "gh", &["pr", "repo", "release", "workflow"]),
    (Action::Push, "gt", &[]),
    (Action::Push, "docker", &["push"]),
    (Action::Push, "podman", &["push"]),
    (Action::Push, "glab", &[]),
    (Action::PullRequest, "gh", &["pr", "api"]),
    (Action::PullRequest, "glab", &["mr", "api"]),
    (Action::PullRequest, "hub", &["pull-request"]),
    (Action::PullRequest, "gt", &[]),
    (Action::PullRequest, "az", &["repos"]),
    (Action::PullRequest, "tea", &[]),
    (Action::PullRequest, "curl", &[]),
    (Action::Publish, "npm", &["publish"]),
    (Action::Publish, "pnpm", &["publish"]),
    (Action::Publish, "yarn", &["publish", "npm"]),
    (Action::Publish, "cargo", &["publish", "release"]),
    (Action::Publish, "twine", &["upload"]),
    (Action::Publish, "uv", &["publish"]),
    (Action::Publish, "poetry", &["publish"]),
    (Action::Publish, "gem", &["push"]),
    (Action::Publish, "gh", &["release", "api", "workflow"]),
    (Action::Publish, "docker", &["push"]),
    (Action::Publish, "goreleaser", &[]),
    (Action::Publish, "mvn", &["deploy"]),
    (Action::Install, "npm", &["install", "i", "add", "ci"]),
    (Action::Install, "pnpm", &["install", "i", "add"]),
    (Action::Install, "yarn", &[]),
    (Action::Install, "bun", &["install", "add", "i"]),
    (Action::Install, "pip", &["install"]),
    (Action::Install, "pip3", &["install"]),
    (Action::Install, "pipx", &["install"]),
    (Action::Install, "uv", &["add", "sync", "pip", "tool"]),
    (Action::Install, "poetry", &["add", "install"]),
    (Action::Install, "conda", &["install", "create", "env"]),
    (Action::Install, "cargo", &["add", "install", "binstall"]),
    (Action::Install, "go", &["get", "install", "mod"]),
    (Action::Install, "apt", &["install"]),
    (Action::Install, "apt-get", &["install"]),
    (Action::Install, "apk", &["add"]),
    (Action::Install, "dnf", &["install"]),
    (Action::Install, "yum", &["install"]),
    (Action::Install, "pacman", &[]),
    (Action::Install, "brew", &["install", "bundle"]),
    (Action::Install, "gem", &["install"]),
    (Action::Install, "bundle", &["install", "add"]),
    (Action::Install, "composer", &["install", "require"]),
    (Action::Install, "rustup", &[]),
    (Action::Install, "playwright", &["install"]),
    (Action::Install, "dotnet", &["add", "tool", "restore"]),
    (Action::Install, "mix", &["deps.get"]),
    (Action::Install, "pre-commit", &["install"]),
];

/// Judges a claim that something was done.
pub(crate) fn judge(ledger: &Ledger<'_>, seen: &Seen, answer: usize, sentence: &str, claim: &ActionClaim) -> Verdict {
    match claim.action {
        Action::Change | Action::Delete => files(ledger, seen, answer, sentence, claim),
        Action::AddTest => tests(ledger, answer, sentence, claim),
        _ => calls(ledger, answer, sentence, claim),
    }
}

/// Returns the names that have to be looked for in what the agents saw. A list of files may be that of a commit or of
/// another agent, so only files that nothing else names are told.
pub(crate) fn names_of_listed(claim: &ActionClaim) -> Vec<String> {
    let files = claim.files.iter().filter(|_| claim.is_listed);
    files.map(|file| normal(crate::audit::read::files::base_name(file))).collect()
}

fn files(ledger: &Ledger<'_>, seen: &Seen, answer: usize, sentence: &str, claim: &ActionClaim) -> Verdict {
    let it = &ledger.answers[answer];
    let Some(file) = claim.files.first() else { return Verdict::Unverifiable };
    let mut changes = ledger.changes_for(it.thread, it.cutoff);
    let done = changes.any(|change| {
        change.path.as_deref().is_some_and(|path| is_same(path, file))
            && (claim.action == Action::Change || change.effect == Effect::Delete || change.effect == Effect::Write)
    });
    if done {
        return Verdict::Supported;
    }
    if may_be_done(ledger, answer, file) {
        return Verdict::Unverifiable;
    }
    if claim.is_listed
        && (seen.unread() > 0 || names_of_listed(claim).iter().any(|name| seen.before(name, it.cutoff).0))
    {
        return Verdict::Unverifiable;
    }
    let attempts: Vec<usize> = ledger
        .acts_for(it.thread, it.cutoff)
        .filter(|(_, act)| act.edits().iter().any(|edit| is_same(&edit.path, file)) && !act.succeeded)
        .map(|(index, _)| index)
        .collect();
    let verb = if claim.action == Action::Delete { "deleted" } else { "changed" };
    let message = match attempts.is_empty() {
        true => format!("said that {file} was {verb}; no call did it"),
        false => format!("said that {file} was {verb}; the only attempt failed"),
    };
    told(ledger, answer, sentence, claim, &attempts, message)
}

fn told(
    ledger: &Ledger<'_>,
    answer: usize,
    sentence: &str,
    claim: &ActionClaim,
    attempts: &[usize],
    message: String,
) -> Verdict {
    let mut draft = Draft::of_claim(ledger, Kind::ActionNotDone, answer, sentence, Confidence::High, message);
    if matches!(claim.action, Action::Push | Action::Publish | Action::Deploy) {
        draft.severity = Severity::High;
    }
    for act in attempts.iter().rev().take(4).rev() {
        draft.add_act(ledger, *act, Relation::FailedAttempt);
    }
    Verdict::Contradicted(Box::new(draft))
}

/// Returns whether something that is not understood may have done it: a script, a generator, a tool, a part of the
/// session that is not recorded.
fn may_be_done(ledger: &Ledger<'_>, answer: usize, file: &str) -> bool {
    let it = &ledger.answers[answer];
    if ledger.has_gaps(it.thread) {
        return true;
    }
    let trace = ledger.session.trace();
    let spawned = ledger
        .acts_of(it.thread)
        .iter()
        .filter(|act| trace.tools[ledger.acts[**act].tool].kind == ToolKind::SpawnAgent)
        .count();
    if spawned > ledger.family.children(it.thread).len() {
        return true;
    }
    let base = crate::audit::read::files::base_name(file);
    ledger.acts_for(it.thread, it.cutoff).filter(|(_, act)| act.happened()).any(|(_, act)| match &act.input {
        Input::Command(script) => {
            let all = act.commands();
            all.iter().any(may_write_anything) || (script.contains(base) && all.iter().any(changes_unknown))
        }
        Input::Other(name, arguments) => {
            let name = name.to_lowercase();
            let reads = [
                "read", "list", "search", "grep", "glob", "view", "get", "fetch", "plan", "todo", "think", "find",
                "open", "query", "status",
            ];
            arguments.contains(base) || !reads.iter().any(|word| name.contains(word))
        }
        Input::Stdin(text) => !text.trim().is_empty(),
        Input::Edit(_) | Input::Message(_) | Input::Wait => false,
    }) || ledger.changes_for(it.thread, it.cutoff).any(|change| {
        change.path.is_none()
            || change.path.as_deref().is_some_and(|path| path.contains(['*', '$', '{']) || is_below_changed(path, file))
    })
}

fn is_below_changed(changed: &str, file: &str) -> bool {
    // `cp -r a b` and `mv a b` change what is below b.
    let folder = changed.trim_end_matches('/');
    !crate::audit::read::actions::is_file_name(changed)
        && (file.contains(&format!("{}/", crate::audit::read::files::base_name(folder)))
            || !file.contains('/') && !folder.contains('.'))
}

fn changes_unknown(command: &Command) -> bool {
    matches!(command.program(), "git" | "sed" | "perl" | "awk")
}

fn tests(ledger: &Ledger<'_>, answer: usize, sentence: &str, claim: &ActionClaim) -> Verdict {
    let it = &ledger.answers[answer];
    let done = ledger.changes_for(it.thread, it.cutoff).any(|change| {
        let Some(path) = &change.path else { return false };
        let in_code = ledger.acts[change.act].edits().iter().any(|edit| {
            edit.signed('+').any(|line| {
                line.contains("test")
                    || line.contains("Test")
                    || line.contains("assert")
                    || line.contains("it(")
                    || line.contains("describe(")
            })
        });
        change.effect == Effect::Write && (is_test(path) || in_code)
    });
    if done {
        return Verdict::Supported;
    }
    if may_be_done(ledger, answer, "a test")
        || ledger
            .changes_for(it.thread, it.cutoff)
            .any(|change| ledger.acts[change.act].script().is_some_and(|script| script.contains("test")))
    {
        return Verdict::Unverifiable;
    }
    told(ledger, answer, sentence, claim, &[], "said that a test was added; no file of tests was changed".to_owned())
}

fn calls(ledger: &Ledger<'_>, answer: usize, sentence: &str, claim: &ActionClaim) -> Verdict {
    let it = &ledger.answers[answer];
    let mut failed: Vec<usize> = Vec::new();
    let mut unclear = false;
    for (index, act) in ledger.acts_for(it.thread, it.cutoff) {
        match does(act, claim.action) {
            Some(true) => return Verdict::Supported,
            Some(false) => failed.push(index),
            None => {}
        }
        unclear |= may_do(act, claim.action);
    }
    // "X is installed" without an attempt may have been so before.
    if claim.action == Action::Install && !claim.files.is_empty() {
        failed.retain(|act| {
            claim.files.iter().any(|file| {
                ledger.acts[*act].written().contains(file.as_str())
                    || matches!(file.as_str(), "dependencies" | "packages" | "package")
            })
        });
        if failed.is_empty() {
            return Verdict::Unverifiable;
        }
    }
    // What the user said to have done.
    let told_by_user = matches!(claim.action, Action::Deploy | Action::Publish | Action::Push)
        && ledger.words.iter().any(|words| {
            words.is_message
                && words.seq < it.cutoff
                && (words.lower.contains("i deployed")
                    || words.lower.contains("i pushed")
                    || words.lower.contains("i published"))
        });
    if unclear || told_by_user || ledger.has_gaps(it.thread) || spawned_elsewhere(ledger, answer) {
        return Verdict::Unverifiable;
    }
    let what = match claim.action {
        Action::Commit => "a commit was made",
        Action::Push => "commits were pushed",
        Action::PullRequest => "a pull request was opened",
        Action::Publish => "something was published",
        Action::Deploy => "something was deployed",
        Action::Install => "something was installed",
        Action::Change | Action::Delete | Action::AddTest => "something was done",
    };
    let message = if failed.is_empty() {
        format!("said that {what}; no call did it")
    } else {
        format!("said that {what}; the attempt failed")
    };
    told(ledger, answer, sentence, claim, &failed, message)
}

fn spawned_elsewhere(ledger: &Ledger<'_>, answer: usize) -> bool {
    let it = &ledger.answers[answer];
    let trace = ledger.session.trace();
    let spawned = ledger
        .acts_of(it.thread)
        .iter()
        .filter(|act| trace.tools[ledger.acts[**act].tool].kind == ToolKind::SpawnAgent)
        .count();
    spawned > ledger.family.children(it.thread).len()
}

/// Returns whether an act did an action: `None` if it did not try, `Some(false)` if it failed.
fn does(act: &Act<'_>, action: Action) -> Option<bool> {
    match &act.input {
        Input::Command(_) => {
            let all = act.commands();
            let found = all.iter().any(|command| does_command(command, action));
            let dry = all.iter().any(|command| does_command(command, action) && command.has_flag("--dry-run"));
            if !found || dry {
                return None;
            }
            let failed = !matches!(act.state, Ended::Exited(Some(0) | None)) || !act.happened();
            let masked = all.len() > 1 && says_failed(&act.output, action);
            Some(!failed && !masked || (failed && succeeded_before_failing(&act.output, action)))
        }
        Input::Other(name, _) => {
            let name = name.to_lowercase();
            let words: &[&str] = match action {
                Action::Commit => &["commit", "push_files", "create_or_update_file", "merge"],
                Action::Push => &["push", "create_or_update_file"],
                Action::PullRequest => &["pull_request", "pullrequest", "merge_request", "create_pr", "pr_create"],
                Action::Publish => &["publish", "release"],
                Action::Deploy => &["deploy"],
                Action::Install => &["install"],
                _ => &[],
            };
            words.iter().any(|word| name.contains(word)).then_some(act.succeeded)
        }
        _ => None,
    }
}

/// Returns whether the output of a line of several commands shows that the action worked although the line failed.
fn succeeded_before_failing(output: &str, action: Action) -> bool {
    match action {
        Action::Commit => {
            output.lines().any(|line| line.starts_with('[') && line.contains("] ") && !line.starts_with("[ERR"))
                && output.contains("changed")
        }
        Action::Push => output.contains(" -> ") && !output.contains("rejected"),
        _ => false,
    }
}

fn says_failed(output: &str, action: Action) -> bool {
    match action {
        Action::Commit => {
            output.contains("nothing to commit")
                || output.contains("no changes added to commit")
                || output.contains("hook exited with")
                || output.contains("hook failed")
                || output.contains("fatal:")
        }
        Action::Push => {
            output.contains("[rejected]")
                || output.contains("error: failed to push")
                || output.contains("fatal:")
                || output.contains("Permission denied")
        }
        _ => output.contains("command not found"),
    }
}

fn does_command(command: &Command, action: Action) -> bool {
    let program = command.program();
    if action == Action::Deploy {
        let line = command.line().to_lowercase();
        let deployers = [
            "kubectl",
            "helm",
            "terraform",
            "tofu",
            "fly",
            "flyctl",
            "vercel",
            "netlify",
            "heroku",
            "ansible-playbook",
            "serverless",
            "sls",
            "cdk",
            "pulumi",
            "gcloud",
            "aws",
            "az",
            "wrangler",
            "eb",
            "cap",
            "rsync",
            "scp",
            "ssh",
            "docker",
            "railway",
            "render",
            "nomad",
            "skaffold",
            "argocd",
        ];
        let reads = ["echo", "cat", "grep", "ls", "rg", "sed", "head", "find"];
        return deployers.contains(&program) || (line.contains("deploy") && !reads.contains(&program));
    }
    let words: Vec<&str> = command.operands().take(3).collect();
    let pip = action == Action::Install
        && program.starts_with("python")
        && command.arguments().windows(2).any(|pair| pair[0] == "-m" && pair[1] == "pip");
    pip || DOERS.iter().any(|(known, name, follow)| {
        *known == action && *name == program && (follow.is_empty() || follow.iter().any(|word| words.contains(word)))
    })
}

/// Returns whether an act may have done the action in a way that is not known.
fn may_do(act: &Act<'_>, action: Action) -> bool {
    if !act.happened() {
        return false;
    }
    match &act.input {
        Input::Command(script) => {
            let lower = script.to_lowercase();
            let word = match action {
                Action::Commit => "commit",
                Action::Push => "push",
                Action::PullRequest => "pull",
                Action::Publish => "publish",
                Action::Deploy => "deploy",
                Action::Install => "install",
                _ => "",
            };
            act.commands().iter().any(|command| {
                let program = command.program();

                command.words.first().is_some_and(|first| {
                    first.starts_with("./") || first.ends_with(".sh") || first.contains("scripts/")
                }) || matches!(program, "make" | "just" | "task" | "bash" | "sh" | "ssh" | "ansible-playbook")
                    || (program.starts_with("python")
                        && command.operands().next().is_some_and(|script| script.ends_with(".py")))
                    || (matches!(program, "npm" | "pnpm" | "yarn")
                        && command.operands().next() == Some("run")
                        && matches!(runs(command), Runs::Script(kinds) if kinds.is_empty()))
            }) || (lower.contains(word)
                && act.commands().iter().any(|command| matches!(command.program(), "xargs" | "find" | "expect")))
        }
        Input::Other(name, _) => {
            let name = name.to_lowercase();
            ["git", "github", "gitlab", "shell", "exec", "terminal", "run", "deploy", "browser"]
                .iter()
                .any(|word| name.contains(word))
        }
        Input::Stdin(text) => !text.trim().is_empty(),
        _ => false,
    }
}
