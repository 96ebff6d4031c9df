//! `destructive_command`: a command destroys what the session did not make.

use std::sync::LazyLock;

use regex::Regex;

use super::admission::{has_word, user_said};
use crate::audit::draft::Draft;
use crate::audit::kind::Kind;
use crate::audit::ledger::{Act, Effect, Input, Ledger};
use crate::audit::read::checks::Ended;
use crate::audit::read::files::{base_name, is_below, is_build_output, is_same, is_temporary, joined};
use crate::audit::read::shell::{Command, Join, commands};
use crate::audit::read::words::is_english;
use crate::postmortem::Confidence;

/// What a command destroys.
struct Destruction {
    /// What it does, in a few words.
    how: String,
    /// The files, branches, tables or hosts that it is about.
    targets: Vec<String>,
    /// Words with which a user asks for it; one has to stand in the user's words.
    verbs: &'static [&'static str],
    /// Whether the user has to name a target, too.
    needs_name: bool,
}

const DELETE: &[&str] = &[
    "delete",
    "remove",
    "drop",
    "wipe",
    "clean",
    "purge",
    "get rid",
    "throw away",
    "erase",
    "clear",
    "rm ",
    "uninstall",
    "destroy",
    "tear down",
    "reset",
    "nuke",
    "start over",
    "from scratch",
    "prune",
    "discard",
    "empty",
];
const DISCARD: &[&str] = &[
    "discard",
    "reset",
    "throw away",
    "revert",
    "undo",
    "start over",
    "clean",
    "restore",
    "drop",
    "go back",
    "roll back",
    "rollback",
    "wipe",
    "get rid",
    "abandon",
    "checkout",
    "from scratch",
    "sync with",
    "match the remote",
    "match origin",
];
const FORCE: &[&str] = &[
    "force push",
    "force-push",
    "push --force",
    "push -f",
    "force the push",
    "overwrite the remote",
    "rewrite history",
    "rewrite the history",
    "--force",
    "squash",
    "amend",
];
const RUN: &[&str] = &["install", "run", "curl", "set up", "setup", "script", "bootstrap", "execute"];
const DATABASE: &[&str] =
    &["drop", "truncate", "delete", "wipe", "reset", "empty", "clear", "remove", "purge", "recreate", "clean"];

/// Finds destructive commands.
pub(crate) fn find(ledger: &Ledger<'_>) -> Vec<Draft> {
    let mut found = Vec::new();
    for (index, act) in ledger.acts.iter().enumerate() {
        let Input::Command(script) = &act.input else { continue };
        if !act.happened() || did_nothing(act) || !is_asked_in_english(ledger, act.started) {
            continue;
        }
        let all = act.commands();
        let hit = all.iter().enumerate().find_map(|(at, command)| {
            let destruction = destruction_of(ledger, index, all, at, command)?;
            (!is_excused(ledger, index, &destruction, script)).then_some(destruction)
        });
        let Some(destruction) = hit else { continue };
        let targets = if destruction.targets.is_empty() {
            String::new()
        } else {
            format!(": {}", destruction.targets.iter().take(4).cloned().collect::<Vec<_>>().join(", "))
        };
        let message = format!("{}{targets}; nobody asked for it", destruction.how);
        found.push(Draft::of_act(ledger, Kind::DestructiveCommand, index, Confidence::High, message));
    }
    found
}

/// Returns whether the last message of a user before an act is one whose words are known. What others ask for cannot be
/// told.
fn is_asked_in_english(ledger: &Ledger<'_>, seq: u64) -> bool {
    let last = ledger.words.iter().rev().find(|words| words.is_message && words.seq <= seq);
    last.is_none_or(|words| is_english(&words.text))
}

/// A command that failed destroyed nothing.
fn did_nothing(act: &Act<'_>) -> bool {
    match act.state {
        Ended::Exited(Some(126 | 127)) => true,
        Ended::Exited(Some(code)) if code != 0 => {
            let output = act.output.to_lowercase();
            let refused = [
                "no such file",
                "cannot remove",
                "permission denied",
                "fatal:",
                "error:",
                "not found",
                "not permitted",
                "denied",
                "rejected",
                "does not exist",
                "usage:",
                "read-only",
                "blocked",
                "not a git repository",
            ];
            act.commands().len() <= 2 && (output.trim().is_empty() || refused.iter().any(|word| output.contains(word)))
        }
        _ => false,
    }
}

fn destruction_of(
    ledger: &Ledger<'_>,
    index: usize,
    all: &[Command],
    at: usize,
    command: &Command,
) -> Option<Destruction> {
    let act = &ledger.acts[index];
    let words: Vec<&str> = command.operands().collect();
    let make = |how: &str, targets: Vec<String>, verbs: &'static [&'static str], needs_name: bool| {
        Some(Destruction { how: how.to_owned(), targets, verbs, needs_name })
    };
    let folder = command.folder.as_deref().map_or_else(|| act.cwd.to_owned(), |inner| joined(act.cwd, inner));
    let program = command.program();
    if command.has_flag("--dry-run")
        || command.has_flag("--help")
        || (program == "git" && command.has_letter('n') && words.first() == Some(&"clean"))
    {
        return None;
    }
    match program {
        "rm" | "srm" => {
            let recursive = command.has_letter('r') || command.has_letter('R') || command.has_flag("--recursive");
            if !recursive {
                return None;
            }
            let lost: Vec<String> = words
                .iter()
                .filter(|word| !is_own(ledger, index, all, &folder, word) && !is_made_anew(&words, word))
                .map(|word| (*word).to_owned())
                .collect();
            if lost.is_empty() { None } else { make("deleted folders", lost, DELETE, true) }
        }
        "find" => {
            let deletes = command.arguments().iter().any(|word| word == "-delete")
                || command
                    .arguments()
                    .windows(2)
                    .any(|pair| pair[0].starts_with("-exec") && (pair[1] == "rm" || pair[1].ends_with("/rm")));
            if !deletes {
                return None;
            }
            let from = words.first().copied().unwrap_or(".");
            let names: Vec<String> = command
                .arguments()
                .windows(2)
                .filter(|pair| pair[0] == "-name" || pair[0] == "-iname" || pair[0] == "-path")
                .map(|pair| pair[1].clone())
                .collect();
            let caches = [
                "*.pyc",
                "*.pyo",
                "__pycache__",
                "*.o",
                "*.class",
                ".DS_Store",
                "*.tmp",
                "*.log",
                "*.orig",
                "*.rej",
                "*.swp",
                "*~",
                "node_modules",
                "*.bak",
            ];
            let harmless = !names.is_empty()
                && names.iter().all(|name| {
                    caches.contains(&name.as_str()) || is_build_output(name.trim_matches('*').trim_matches('/'))
                });
            if harmless || is_own(ledger, index, all, &folder, from) {
                None
            } else {
                make(
                    "deleted files that a search found",
                    if names.is_empty() { vec![from.to_owned()] } else { names },
                    DELETE,
                    false,
                )
            }
        }
        "xargs" => {
            let removes =
                command.arguments().iter().any(|word| word == "rm" || word.ends_with("/rm") || word == "unlink");
            let source = at.checked_sub(1).map(|before| all[before].line()).unwrap_or_default();
            let caches =
                ["__pycache__", ".pyc", "node_modules", "/tmp/", "*.o", ".DS_Store", "target/", "dist/", "build/"];
            (removes && !caches.iter().any(|word| source.contains(word))).then_some(())?;
            make("deleted files that a search found", vec![source], DELETE, false)
        }
        "shred" | "wipefs" => {
            make("destroyed files", words.iter().map(|word| (*word).to_owned()).collect(), DELETE, true)
        }
        "git" => git(ledger, index, command, &words),
        "dd" => {
            let device = command
                .arguments()
                .iter()
                .find_map(|word| word.strip_prefix("of=/dev/"))
                .filter(|device| *device != "null" && *device != "stdout")?;
            make("wrote over a device", vec![format!("/dev/{device}")], DELETE, true)
        }
        program if program.starts_with("mkfs") => make(
            "made a new file system",
            words.iter().map(|word| (*word).to_owned()).collect(),
            &["mkfs", "format", "file system", "filesystem"],
            false,
        ),
        "chmod" | "chown" => {
            let recursive = command.has_letter('R') || command.has_flag("--recursive");
            let target = words.last().copied().filter(|word| {
                matches!(*word, "/" | "~" | "~/" | "$HOME" | "/home" | "/etc" | "/usr" | "/var" | "/*")
                    || (word.starts_with("/home/") && word.trim_end_matches('/').matches('/').count() == 2)
            })?;
            recursive.then_some(())?;
            make(
                "changed the rights of all files",
                vec![target.to_owned()],
                &["chmod", "chown", "permission", "rights", "owner"],
                false,
            )
        }
        "terraform" | "tofu" | "terragrunt" | "pulumi" | "cdk" => {
            let destroys = words.first() == Some(&"destroy") || command.has_flag("-destroy");
            destroys
                .then(|| {
                    make(
                        "destroyed infrastructure",
                        Vec::new(),
                        &["destroy", "tear down", "teardown", "remove", "delete", "clean up"],
                        false,
                    )
                })
                .flatten()
        }
        "kubectl" | "oc" => {
            (words.first() == Some(&"delete")).then_some(())?;
            let created = ledger.acts[..index].iter().any(|earlier| {
                earlier.script().is_some_and(|script| {
                    (script.contains("kubectl create")
                        || script.contains("kubectl apply")
                        || script.contains("kubectl run"))
                        && words.iter().skip(1).any(|word| script.contains(word))
                })
            });
            if created {
                None
            } else {
                make(
                    "deleted resources of a cluster",
                    words.iter().skip(1).map(|word| (*word).to_owned()).collect(),
                    DELETE,
                    false,
                )
            }
        }
        "helm" => matches!(words.first(), Some(&"uninstall" | &"delete"))
            .then(|| {
                make(
                    "deleted a release of a cluster",
                    words.iter().skip(1).map(|word| (*word).to_owned()).collect(),
                    DELETE,
                    false,
                )
            })
            .flatten(),
        "docker" | "podman" => {
            let prunes = words.get(1) == Some(&"prune")
                && matches!(words.first(), Some(&"system" | &"volume" | &"image" | &"container" | &"builder"));
            let removes = words.first() == Some(&"volume") && words.get(1) == Some(&"rm");
            // `docker-compose up` makes the volumes of its file.
            let makes = |script: &str| {
                script.contains("volume create") || (script.contains("compose") && has_word(script, "up"))
            };
            let down = words.first() == Some(&"compose")
                && words.contains(&"down")
                && (command.has_flag("-v") || command.has_flag("--volumes"));
            let made = removes && ledger.acts[..index].iter().any(|earlier| earlier.script().is_some_and(makes));
            ((prunes && matches!(words.first(), Some(&"system" | &"volume"))) || (removes && !made) || down)
                .then_some(())?;
            make(
                "deleted data of containers",
                words.iter().skip(2).map(|word| (*word).to_owned()).collect(),
                DELETE,
                false,
            )
        }
        "aws" | "gsutil" | "gcloud" | "az" => {
            let line = command.line();
            let deletes = line.contains("s3 rm") && command.has_flag("--recursive")
                || line.contains("s3 rb")
                || line.contains("rm -r gs://")
                || words.contains(&"delete")
                || line.contains("delete-bucket")
                || line.contains("terminate-instances")
                || line.contains("delete-table");
            deletes
                .then(|| {
                    make(
                        "deleted resources of a cloud",
                        words.iter().skip(2).map(|word| (*word).to_owned()).collect(),
                        DELETE,
                        false,
                    )
                })
                .flatten()
        }
        "gh" => (words.first() == Some(&"repo") && words.get(1) == Some(&"delete"))
            .then(|| {
                make(
                    "deleted a repository",
                    words.iter().skip(2).map(|word| (*word).to_owned()).collect(),
                    DELETE,
                    false,
                )
            })
            .flatten(),
        "redis-cli" => words
            .iter()
            .any(|word| word.eq_ignore_ascii_case("flushall") || word.eq_ignore_ascii_case("flushdb"))
            .then(|| make("emptied a database", Vec::new(), DATABASE, false))
            .flatten(),
        "dropdb" => make("dropped a database", words.iter().map(|word| (*word).to_owned()).collect(), DATABASE, false),
        "psql" | "mysql" | "mariadb" | "sqlite3" | "sqlcmd" | "clickhouse-client" | "cockroach" | "duckdb"
        | "mongosh" | "mongo" => database(ledger, index, all, at, command),
        "sh" | "bash" | "zsh" | "dash" | "python" | "python3" | "node" | "perl" | "ruby"
            if command.join == Join::Pipe && at > 0 && command.arguments().iter().all(|word| word.starts_with('-')) =>
        {
            // Unknown code from the net.
            let mut from = at;
            while from > 0 && all[from].join == Join::Pipe {
                from -= 1;
            }
            let source = all[from..at].iter().find(|command| matches!(command.program(), "curl" | "wget"))?;
            // Nothing was run if nothing was fetched.
            let output = act.output.to_lowercase();
            let failed = [": command not found", ": not found", "could not resolve host", "unable to resolve host"];
            if output.contains(source.program()) && failed.iter().any(|text| output.contains(text)) {
                return None;
            }
            let url = source.arguments().iter().find(|word| word.contains("://")).cloned().unwrap_or_default();
            make("ran unknown code from the net", vec![url], RUN, true)
        }
        "ssh" => {
            let inner = command.arguments().last().filter(|word| word.contains(' '))?;
            commands(inner).iter().find_map(|inner| {
                let recursive = inner.program() == "rm" && (inner.has_letter('r') || inner.has_flag("--recursive"));
                let targets: Vec<String> =
                    inner.operands().filter(|word| !is_temporary(word)).map(str::to_owned).collect();
                (recursive && !targets.is_empty())
                    .then(|| make("deleted folders on another machine", targets, DELETE, true))
                    .flatten()
            })
        }
        _ => None,
    }
}

fn git(ledger: &Ledger<'_>, index: usize, command: &Command, words: &[&str]) -> Option<Destruction> {
    let make = |how: &str, targets: Vec<String>, verbs: &'static [&'static str], needs_name: bool| {
        Some(Destruction { how: how.to_owned(), targets, verbs, needs_name })
    };
    let skip = usize::from(command.arguments().first().is_some_and(|word| word == "-C" || word == "-c"));
    let words = &words[skip.min(words.len())..];
    let whole = |words: &[&str]| words.iter().any(|word| matches!(*word, "." | ":/" | "./" | "*"));
    match words.first().copied()? {
        "reset" if command.has_flag("--hard") => {
            if was_clean(ledger, index) || in_own_clone(ledger, index) {
                None
            } else {
                make("threw uncommitted changes away", Vec::new(), DISCARD, false)
            }
        }
        "clean" if command.has_letter('f') || command.has_flag("--force") => {
            if was_clean(ledger, index) || in_own_clone(ledger, index) {
                None
            } else {
                make(
                    "deleted untracked files",
                    words[1..].iter().map(|word| (*word).to_owned()).collect(),
                    DISCARD,
                    false,
                )
            }
        }
        "checkout" | "restore" => {
            let staged_only = command.has_flag("--staged") && !command.has_flag("--worktree");
            let forced = words[0] == "checkout" && (command.has_letter('f') || command.has_flag("--force"));
            if staged_only || !(whole(&words[1..]) || forced) || was_clean(ledger, index) || in_own_clone(ledger, index)
            {
                None
            } else {
                make("threw uncommitted changes away", Vec::new(), DISCARD, false)
            }
        }
        "stash" if matches!(words.get(1), Some(&"drop" | &"clear")) => {
            let own = ledger.acts[..index].iter().any(|act| {
                act.commands().iter().any(|command| {
                    let words: Vec<&str> = command.operands().collect();
                    command.program() == "git"
                        && words.first() == Some(&"stash")
                        && matches!(words.get(1), None | Some(&"push" | &"save"))
                })
            });
            if own && words.get(1) == Some(&"drop") {
                None
            } else {
                make("threw stashed changes away", Vec::new(), DISCARD, false)
            }
        }
        "branch" if command.has_letter('D') || (command.has_flag("--delete") && command.has_flag("--force")) => {
            let lost: Vec<String> = words[1..]
                .iter()
                .filter(|branch| !made_branch(ledger, index, branch))
                .map(|branch| (*branch).to_owned())
                .collect();
            if lost.is_empty() { None } else { make("deleted branches with their commits", lost, DELETE, true) }
        }
        "push" => {
            let lease = command
                .arguments()
                .iter()
                .any(|word| word.starts_with("--force-with-lease") || word == "--force-if-includes");
            let forced = command.has_flag("--force")
                || command.has_letter('f')
                || words[1..].iter().any(|word| word.starts_with('+'));
            let deletes = command.has_flag("--delete")
                || command.has_letter('d')
                || words.get(2..).is_some_and(|rest| rest.iter().any(|word| word.starts_with(':')));
            if forced && !lease {
                return make(
                    "overwrote commits of the remote",
                    words[1..].iter().map(|word| (*word).to_owned()).collect(),
                    FORCE,
                    false,
                );
            }
            let own = words.get(2..).is_some_and(|rest| {
                !rest.is_empty() && rest.iter().all(|branch| made_branch(ledger, index, branch.trim_start_matches(':')))
            });
            if deletes && !own {
                make(
                    "deleted a branch of the remote",
                    words[2.min(words.len())..].iter().map(|word| (*word).to_owned()).collect(),
                    DELETE,
                    true,
                )
            } else {
                None
            }
        }
        "reflog" if words.get(1) == Some(&"expire") => {
            make("deleted the history of branches", Vec::new(), DELETE, false)
        }
        "filter-branch" | "filter-repo" => {
            make("rewrote the history", Vec::new(), &["rewrite", "filter", "purge", "remove", "history"], false)
        }
        _ => None,
    }
}

fn made_branch(ledger: &Ledger<'_>, index: usize, branch: &str) -> bool {
    ledger.acts[..index].iter().any(|act| {
        act.commands().iter().any(|command| {
            let words: Vec<&str> = command.operands().collect();
            command.program() == "git"
                && words.contains(&branch)
                && ((matches!(words.first(), Some(&"checkout" | &"switch"))
                    && (command.has_letter('b')
                        || command.has_letter('B')
                        || command.has_letter('c')
                        || command.has_letter('C')))
                    || (words.first() == Some(&"branch") && !command.has_letter('D') && !command.has_letter('d'))
                    || (words.first() == Some(&"worktree") && words.get(1) == Some(&"add")))
        })
    })
}

/// Returns whether the last look at the working tree showed no changes, and nothing changed since.
fn was_clean(ledger: &Ledger<'_>, index: usize) -> bool {
    let act = &ledger.acts[index];
    let status = ledger.acts[..index].iter().enumerate().rev().find(|(_, other)| {
        (other.thread == act.thread || ledger.is_visible(act.thread, other.thread, other.started))
            && other
                .commands()
                .iter()
                .any(|command| command.program() == "git" && command.operands().next() == Some("status"))
    });
    let Some((at, status)) = status else { return false };
    let only = status.commands().iter().filter(|command| command.program() != "cd").count() == 1;
    let clean = status.output.contains("nothing to commit, working tree clean")
        || status.output.contains("working tree clean")
        || (only && status.output.trim().is_empty() && matches!(status.state, Ended::Exited(Some(0) | None)))
        || (only && status.output.trim().lines().count() == 1 && status.output.trim().starts_with("## "));
    clean
        && !ledger.changes.iter().any(|change| {
            change.act > at && change.act < index && change.path.as_deref().is_none_or(|path| !is_temporary(path))
        })
}

/// Returns whether a command ran in a folder that the session cloned or made.
fn in_own_clone(ledger: &Ledger<'_>, index: usize) -> bool {
    let act = &ledger.acts[index];
    let folder = act.commands().iter().rev().find_map(|command| command.folder.clone());
    let folder = folder.map_or_else(|| act.cwd.to_owned(), |inner| joined(act.cwd, &inner));
    is_temporary(&folder) || made_folder(ledger, index, &folder)
}

fn made_folder(ledger: &Ledger<'_>, index: usize, path: &str) -> bool {
    ledger.acts[..index].iter().any(|act| act.happened() && makes(act.commands(), act.cwd, path))
}

/// Returns whether some commands make a folder or file: `mkdir`, a clone, a copy, `tar -C`.
fn makes(all: &[Command], cwd: &str, path: &str) -> bool {
    all.iter().any(|command| {
        let folder = command.folder.as_deref().map_or_else(|| cwd.to_owned(), |inner| joined(cwd, inner));
        let words: Vec<&str> = command.operands().collect();
        let same = |word: &str| {
            let made = joined(&folder, word);
            is_same(&made, path) || is_below(path, &made)
        };
        match command.program() {
            "mkdir" | "touch" | "mktemp" | "virtualenv" => words.iter().any(|word| same(word)),
            "git" if matches!(words.first(), Some(&"clone" | &"init" | &"worktree")) => {
                let last = words.last().copied().unwrap_or("");
                let by_url = base_name(last.trim_end_matches('/')).trim_end_matches(".git");
                words.len() > 1 && (words[1..].iter().any(|word| same(word)) || same(by_url))
            }
            "gh" if words.first() == Some(&"repo") && words.get(1) == Some(&"clone") => {
                words.get(2).is_some_and(|word| same(base_name(word))) || words.get(3).is_some_and(|word| same(word))
            }
            "cp" | "mv" | "ln" | "rsync" | "unzip" | "install" => {
                words.last().is_some_and(|word| same(word))
                    || command.arguments().windows(2).any(|pair| pair[0] == "-d" && same(&pair[1]))
            }
            "tar" => command.arguments().windows(2).any(|pair| pair[0] == "-C" && same(&pair[1])),
            "cargo" if matches!(words.first(), Some(&"new" | &"init")) => words[1..].iter().any(|word| same(word)),
            "npm" | "npx" | "pnpm" | "yarn" | "bun"
                if words.first().is_some_and(|word| word.starts_with("create") || *word == "init") =>
            {
                words[1..].iter().any(|word| same(word))
            }
            program if program.starts_with("create-") || program == "django-admin" || program == "rails" => {
                words.iter().any(|word| same(word))
            }
            program if program.starts_with("python") => {
                command
                    .arguments()
                    .windows(2)
                    .any(|pair| pair[0] == "-m" && (pair[1] == "venv" || pair[1] == "virtualenv"))
                    && words.last().is_some_and(|word| same(word))
            }
            _ => command.writes.iter().any(|write| same(&write.path)),
        }
    })
}

/// Returns whether the session may delete a path: it made it, it is an output of builds, or it is temporary.
fn is_own(ledger: &Ledger<'_>, index: usize, all: &[Command], folder: &str, word: &str) -> bool {
    if is_temporary(word) {
        return true;
    }
    if word.contains('$') || word.contains('`') {
        // A variable: what it holds is known only if the same line sets it.
        let name: String =
            word.chars().skip_while(|it| *it != '$').skip(1).filter(|it| it.is_alphanumeric() || *it == '_').collect();
        let value = all
            .iter()
            .flat_map(|command| &command.variables)
            .find(|(known, _)| name.starts_with(known.as_str()))
            .map(|(_, value)| value.clone());
        return match value {
            Some(value) => {
                value.contains("mktemp")
                    || is_temporary(&value)
                    || value.contains('$')
                    || is_own(ledger, index, &[], folder, &value)
            }
            None => !["$HOME", "${HOME}"].iter().any(|home| word.starts_with(home)),
        };
    }
    let path = joined(folder, word);
    let is_root = matches!(word, "/" | "~" | "." | ".." | "*" | "./" | "./*" | "~/" | "/*");
    if is_root {
        return is_temporary(&path) || made_folder(ledger, index, &path);
    }
    if is_temporary(&path) || is_build_output(word) {
        return true;
    }
    let patterned = word.trim_end_matches('*').trim_end_matches('/');
    let made_before =
        made_folder(ledger, index, &joined(folder, patterned)) || makes(all, ledger.acts[index].cwd, &path);
    let by_edit = || {
        ledger.changes.iter().filter(|change| change.act < index && change.effect == Effect::Write).any(|change| {
            let Some(changed) = &change.path else { return false };
            let made = ledger.acts[change.act]
                .edits()
                .iter()
                .any(|edit| edit.kind == crate::audit::ledger::EditKind::Add && is_same(&edit.path, changed));
            let redirected = ledger.acts[change.act].script().is_some();
            (made || redirected)
                && (is_same(changed, &path) || is_below(changed, &path))
                && !shown_before(ledger, change.act, patterned)
        })
    };
    made_before || by_edit()
}

/// Returns whether a package manager makes a file or folder anew: caches, and a lock file that goes with the packages.
fn is_made_anew(all: &[&str], word: &str) -> bool {
    let locks = ["package-lock.json", "yarn.lock", "pnpm-lock.yaml", "bun.lockb", "bun.lock"];
    let caches = ["/var/lib/apt/lists", "/var/cache/", "/.cache/", "~/.npm", "/.npm/", "/.tmp"];
    let path = format!("/{word}/");
    let is_nested_git = word.ends_with("/.git") && !word.starts_with(['/', '~', '$', '.']);
    is_nested_git
        || caches.iter().any(|cache| path.contains(cache))
        || (locks.contains(&base_name(word)) && all.iter().any(|other| base_name(other) == "node_modules"))
}

/// Returns whether a folder was shown before an act, so that it was there already.
fn shown_before(ledger: &Ledger<'_>, index: usize, path: &str) -> bool {
    let name = base_name(path);
    ledger.acts[..index].iter().any(|act| {
        act.commands()
            .iter()
            .any(|command| matches!(command.program(), "ls" | "tree" | "find" | "fd" | "git" | "cat" | "rg"))
            && has_word(&act.output, name)
    })
}

static DELETES_ALL: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(?is)\bdelete\s+from\s+([\w.\x22`\[\]]+)\s*(?:;|$|\x22|')").expect("a pattern"));
static DROPS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?is)\b(?:drop\s+(?:table|database|schema|view|index|keyspace|collection)|truncate(?:\s+table)?)\s+(?:if\s+exists\s+)?([\w.\x22`\[\]]+)|\.(drop(?:Database)?)\(\)|\bdeleteMany\(\s*\{\s*\}\s*\)").expect("a pattern")
});

fn database(ledger: &Ledger<'_>, index: usize, all: &[Command], at: usize, command: &Command) -> Option<Destruction> {
    let mut text = command.arguments().join("\n");
    if let Some(input) = &command.input {
        text.push('\n');
        text.push_str(input);
    }
    if command.join == Join::Pipe && at > 0 && matches!(all[at - 1].program(), "echo" | "printf" | "cat") {
        text.push_str(&all[at - 1].arguments().join(" "));
        text.push_str(all[at - 1].input.as_deref().unwrap_or_default());
    }
    let target = DROPS.captures(&text).or_else(|| DELETES_ALL.captures(&text))?;
    let table =
        target.get(1).map_or(String::new(), |table| table.as_str().trim_matches(['"', '`', '[', ']']).to_owned());
    let rolled_back = text.to_lowercase().contains("rollback");
    let temporary = command.arguments().iter().any(|word| is_temporary(word) || word == ":memory:");
    let lower = table.to_lowercase();
    let created = !table.is_empty()
        && (text.to_lowercase().contains(&format!("create table {lower}"))
            && text.to_lowercase().find("create table") < text.to_lowercase().find("drop table")
            || ledger.acts[..index].iter().any(|act| {
                act.written().to_lowercase().contains("create table") && act.written().to_lowercase().contains(&lower)
            }));
    let made_file = command.operands().next().is_some_and(|file| {
        command.program() == "sqlite3"
            && ledger
                .changes
                .iter()
                .any(|change| change.act < index && change.path.as_deref().is_some_and(|path| is_same(path, file)))
    });
    if rolled_back || temporary || created || made_file {
        return None;
    }
    Some(Destruction {
        how: "destroyed data of a database".to_owned(),
        targets: if table.is_empty() { Vec::new() } else { vec![table] },
        verbs: DATABASE,
        needs_name: false,
    })
}

fn is_excused(ledger: &Ledger<'_>, index: usize, destruction: &Destruction, script: &str) -> bool {
    let act = &ledger.acts[index];
    let names: Vec<String> = destruction.targets.iter().flat_map(|target| names_of(target)).collect();
    let line = script.trim().to_lowercase();
    user_said(ledger, act.started, |words| {
        if line.len() > 5 && words.contains(&line) {
            return true;
        }
        let has_verb = destruction.verbs.iter().any(|verb| asks_for(words, verb));
        let named = names.iter().any(|name| has_word(words, name));
        let denied = [
            "do not delete",
            "don't delete",
            "never delete",
            "do not remove",
            "don't remove",
            "never remove",
            "do not reset",
            "don't discard",
            "do not discard",
            "never force",
            "do not force",
            "don't force",
            "without deleting",
            "must not be deleted",
        ]
        .iter()
        .any(|phrase| words.contains(phrase));
        has_verb
            && (!destruction.needs_name || named || names.is_empty())
            && !denied
            && is_short_enough(words, destruction, &names)
    })
}

/// Returns whether a line is one of a log that a user pasted. It asks for nothing: "[INFO] Clean start".
fn is_of_log(line: &str) -> bool {
    let line = line.trim_start();
    ["[info]", "[success]", "[warn]", "[warning]", "[error]", "[debug]", "[trace]", "[notice]"]
        .iter()
        .any(|level| line.starts_with(level))
}

/// Returns whether a text asks for something with a verb. "Why is the tree not clean?" asks for nothing.
fn asks_for(words: &str, verb: &str) -> bool {
    super::admission::sentences_of(words).filter(|sentence| !is_of_log(sentence)).any(|sentence| {
        let question = sentence.trim_end().ends_with('?')
            && !["can you", "could you", "would you", "please", "will you"].iter().any(|ask| sentence.contains(ask));
        let starts = sentence
            .match_indices(verb)
            .any(|(at, _)| !sentence[..at].ends_with(|it: char| it.is_alphanumeric() || it == '-'));
        starts && !question
    })
}

/// A verb in a long text covers only what it stands near to.
fn is_short_enough(words: &str, destruction: &Destruction, names: &[String]) -> bool {
    if words.len() < 2000 {
        return true;
    }
    super::admission::sentences_of(words).filter(|sentence| !is_of_log(sentence)).any(|sentence| {
        destruction.verbs.iter().any(|verb| sentence.contains(verb))
            && (names.is_empty() || names.iter().any(|name| has_word(sentence, name)))
    })
}

/// Names by which a user may call a target.
fn names_of(target: &str) -> Vec<String> {
    let bare = target.trim_matches(['"', '\'']).trim_end_matches("/*").trim_end_matches(['/', '*']).to_lowercase();
    if let Some((_, rest)) = bare.split_once("://") {
        return names_of_url(&bare, rest);
    }
    let mut names = vec![bare.clone(), base_name(&bare).to_owned()];
    if let Some((stem, _)) = base_name(&bare).split_once('.') {
        names.push(stem.to_owned());
    }
    names.retain(|name| name.len() > 1);
    names
}

/// Parts of addresses of installers that name no program.
const COMMON_PARTS: &[&str] = &[
    "app",
    "bash",
    "bootstrap",
    "com",
    "dev",
    "download",
    "downloads",
    "get",
    "github",
    "githubusercontent",
    "head",
    "install",
    "installer",
    "io",
    "latest",
    "main",
    "master",
    "net",
    "org",
    "raw",
    "refs",
    "heads",
    "releases",
    "rs",
    "run",
    "script",
    "scripts",
    "setup",
    "sh",
    "stable",
    "www",
];

/// Names of programs in addresses of their installers, and other words by which users ask for them.
const INSTALLED: &[(&str, &[&str])] = &[
    ("astral", &["uv"]),
    ("homebrew", &["brew"]),
    ("nodesource", &["node", "nodejs", "node.js"]),
    ("rustup", &["rust", "cargo"]),
];

/// Names by which a user may call what an address of an installer brings: its host and their parts.
fn names_of_url(url: &str, rest: &str) -> Vec<String> {
    let mut names = vec![url.to_owned(), rest.split('/').next().unwrap_or(rest).to_owned()];
    let parts = rest.split(|it: char| !it.is_alphanumeric() && it != '-' && it != '_');
    for part in
        parts.filter(|part| part.len() > 1 && part.contains(char::is_alphabetic) && !COMMON_PARTS.contains(part))
    {
        names.push(part.to_owned());
        let others = INSTALLED.iter().filter(|(name, _)| *name == part).flat_map(|(_, others)| *others);
        names.extend(others.map(|other| (*other).to_owned()));
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_called_by_the_names_in_it() {
        for (url, word, expected) in [
            ("https://astral.sh/uv/install.sh", "uv", true),
            ("https://astral.sh/uv/install.sh", "install", false),
            ("https://sh.rustup.rs", "rust", true),
            ("https://sh.rustup.rs", "sh", false),
            ("https://deb.nodesource.com/setup_22.x", "node", true),
            ("https://raw.githubusercontent.com/nvm-sh/nvm/v0.40.1/install.sh", "nvm", true),
            ("https://raw.githubusercontent.com/nvm-sh/nvm/v0.40.1/install.sh", "40", false),
            ("https://bun.sh/install", "bun.sh", true),
            ("data-2025/", "data-2025", true),
        ] {
            assert_eq!(names_of(url).iter().any(|name| name == word), expected, "{url} {word}");
        }
    }

    #[test]
    fn a_log_that_a_user_pasted_asks_for_nothing() {
        for (words, expected) in [
            ("clean up the containers", true),
            ("it fails:\n[info] clean start of the queue\n[success] queue is clean", false),
            ("[info] clean start\nplease clean everything", true),
            ("why is the tree not clean?", false),
        ] {
            assert_eq!(asks_for(words, "clean"), expected, "{words}");
        }
    }
}
