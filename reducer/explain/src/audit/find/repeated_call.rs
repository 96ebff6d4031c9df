//! `repeated_call`: the same call with the same outcome, again and again.

use std::collections::HashMap;

use trace_reducer::model::{ThreadIdx, TurnIdx};

use crate::audit::draft::Draft;
use crate::audit::kind::Kind;
use crate::audit::ledger::changes::{changes_of, may_write_anything};
use crate::audit::ledger::{Act, Input, Ledger};
use crate::audit::read::checks::Ended;
use crate::audit::read::runners::{Runs, runs};
use crate::audit::report::Relation;
use crate::postmortem::Confidence;

/// How often a call has to be repeated to be told.
pub(crate) const MIN_REPETITIONS: usize = 4;

/// Words of commands that wait for something or look at it again on purpose.
const POLLS: [&str; 10] =
    ["sleep", "--watch", "watch", "wait", "wait-for-it", "-w", "poll", "--follow", "-f", "status"];

/// Finds repeated calls.
pub(crate) fn find(ledger: &Ledger<'_>) -> Vec<Draft> {
    let mut found = Vec::new();
    let mut turns: HashMap<(ThreadIdx, Option<TurnIdx>), HashMap<u64, Vec<usize>>> = HashMap::new();
    let mut report = |ledger: &Ledger<'_>, calls: &[usize]| {
        if calls.len() < MIN_REPETITIONS {
            return;
        }
        let mut outcomes: HashMap<u64, Vec<usize>> = HashMap::new();
        for call in calls {
            outcomes.entry(ledger.acts[*call].outcome_hash()).or_default().push(*call);
        }
        found
            .extend(outcomes.values().filter(|calls| calls.len() >= MIN_REPETITIONS).map(|calls| draft(ledger, calls)));
    };
    for (index, act) in ledger.acts.iter().enumerate() {
        let alters = alters(act);
        if alters {
            // What an agent changes may alter the outcomes of all agents that work in the same folder.
            let own_hash = act.input_hash();
            turns.retain(|_, calls| {
                let own = calls.remove(&own_hash);
                calls.drain().for_each(|(_, calls)| report(ledger, &calls));
                calls.extend(own.map(|own| (own_hash, own)));
                !calls.is_empty()
            });
        }
        if is_poll(act) || matches!(act.state, Ended::Running) {
            continue;
        }
        let is_edit = matches!(act.input, Input::Edit(_) | Input::Message(_) | Input::Wait | Input::Stdin(_));
        // A change that has the same outcome each time changes something.
        if (is_edit && act.succeeded) || matches!(act.input, Input::Wait | Input::Message(_) | Input::Stdin(_)) {
            continue;
        }
        turns.entry((act.thread, act.turn)).or_default().entry(act.input_hash()).or_default().push(index);
    }
    for calls in turns.into_values() {
        calls.into_values().for_each(|calls| report(ledger, &calls));
    }
    found.sort_by_key(|draft| draft.seq);
    found
}

fn draft(ledger: &Ledger<'_>, calls: &[usize]) -> Draft {
    let what = crate::audit::draft::describe_act(ledger, calls[0]);
    let message = format!("made the same call {} times with the same outcome: {what}", calls.len());
    let mut draft = Draft::of_act(ledger, Kind::RepeatedCall, calls[0], Confidence::High, message);
    for call in &calls[1..] {
        draft.add_act(ledger, *call, Relation::Action);
    }
    draft
}

fn alters(act: &Act<'_>) -> bool {
    match &act.input {
        Input::Command(_) => {
            let changes = changes_of(act.commands())
                .iter()
                .any(|change| change.path.as_deref().is_none_or(|path| !path.starts_with("/dev/")));
            let commits = act.commands().iter().any(|command| {
                command.program() == "git"
                    && command.operands().next().is_some_and(|word| {
                        matches!(word, "commit" | "add" | "push" | "fetch" | "tag" | "branch" | "config" | "init")
                    })
            });
            let writes = act.commands().iter().any(|command| match runs(command) {
                Runs::Checks(_) => false,
                Runs::Script(kinds) => kinds.is_empty(),
                Runs::Other => {
                    may_write_anything(command) || matches!(command.program(), "mkdir" | "chmod" | "kill" | "pkill")
                }
            });
            changes || commits || writes
        }
        Input::Edit(_) | Input::Message(_) => true,
        Input::Stdin(text) => !text.trim().is_empty(),
        Input::Wait => false,
        Input::Other(name, _) => {
            let name = name.to_lowercase();
            let reads = [
                "read", "list", "search", "grep", "glob", "view", "get", "fetch", "find", "query", "todo", "plan",
                "think", "open",
            ];
            !reads.iter().any(|word| name.contains(word))
        }
    }
}

fn is_poll(act: &Act<'_>) -> bool {
    match &act.input {
        Input::Command(_) => act.commands().iter().any(|command| {
            let program = command.program();
            let words = command.words.iter().any(|word| POLLS[..6].contains(&word.as_str())) && program != "git";
            (program == "git" && command.operands().next() == Some("status"))
                || words
                || matches!(
                    program,
                    "gh" | "kubectl"
                        | "curl"
                        | "wget"
                        | "ps"
                        | "docker"
                        | "pgrep"
                        | "lsof"
                        | "ping"
                        | "nc"
                        | "ss"
                        | "netstat"
                        | "journalctl"
                        | "squeue"
                        | "nvidia-smi"
                        | "date"
                        | "jobs"
                        | "tail"
                        | "free"
                        | "uptime"
                        | "df"
                        | "systemctl"
                )
        }),
        Input::Wait => true,
        Input::Stdin(text) => text.trim().is_empty(),
        Input::Other(name, _) => {
            let name = name.to_lowercase();
            [
                "wait",
                "poll",
                "status",
                "output",
                "todo",
                "plan",
                "list_agents",
                "sleep",
                "screenshot",
                "snapshot",
                "progress",
                "check_",
                "monitor",
            ]
            .iter()
            .any(|word| name.contains(word))
        }
        _ => false,
    }
}
