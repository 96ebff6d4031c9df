//! Commands as a model runs them, with real processes.

mod support;

use std::fs;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};
use support::{Reply, World, command, text};
use tempfile::TempDir;
use trace_runtime::event::{Delta, EventKind};
use trace_runtime::host::{Answer, Decision, Question};
use trace_runtime::item::{CommandSource, WorkStatus};
use trace_runtime::settings::{ApprovalPolicy, Network, SandboxPolicy};
use trace_runtime::tool::exec::MAX_BACKGROUND_COMMANDS;
use trace_runtime::tool::{AfterCall, ToolOptions, ToolOutcome};

fn world() -> (TempDir, World) {
    let folder = tempfile::tempdir().expect("a folder");
    let world = World::new(&folder.path().canonicalize().expect("a path"), ToolOptions::default());
    (folder, world)
}

/// Returns the arguments for a shell line plus others. The start-up files of the user are not read.
fn sh(line: &str, mut others: Value) -> Value {
    others["cmd"] = json!(line);
    others["login"] = json!(false);
    others
}

fn asking(approval: ApprovalPolicy) -> (TempDir, World) {
    let (folder, mut world) = world();
    world.settings.approval = approval;
    world.settings.sandbox = SandboxPolicy::ReadOnly { network: Network::Closed };
    (folder, world)
}

/// A named pipe: a command that reads it blocks until something is written.
fn gate(folder: &Path) -> PathBuf {
    let path = folder.join("gate");
    assert!(std::process::Command::new("mkfifo").arg(&path).status().expect("runs").success());
    path
}

/// Unblocks the reader of a gate, once there is one.
async fn open(gate: PathBuf) {
    tokio::task::spawn_blocking(move || fs::write(gate, "open\n").expect("writes")).await.expect("it ends");
}

async fn until_gone(pid: &str) {
    // A zombie process counts as ended.
    let runs = || fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| !stat.contains(") Z "));
    for _ in 0..6000 {
        if !runs() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("process {pid} runs on");
}

#[tokio::test]
async fn a_command_is_shown_and_reported() {
    let (_folder, world) = world();
    let outcome = world.call("exec_command", &sh("echo out-$((20+3)); echo err >&2; pwd; exit 4", json!({}))).await;
    let cwd = world.settings.cwd.display().to_string();
    let started = &world.started()[0];
    let completed = &world.completed()[0];
    assert_eq!((started.id.as_str(), completed.id.as_str()), ("call_1", "call_1"));
    let (first, last) = (command(started), command(completed));
    assert_eq!((first.status, first.exit_code, first.output.as_deref()), (WorkStatus::InProgress, None, None));
    assert_eq!(first.command, "/bin/bash -c 'echo out-$((20+3)); echo err >&2; pwd; exit 4'");
    assert_eq!(first.source, CommandSource::SessionStart);
    assert!(first.process_id.is_some() && first.process_id == last.process_id);
    assert_eq!((last.status, last.exit_code), (WorkStatus::Failed, Some(4)));
    let output = format!("out-23\nerr\n{cwd}\n");
    assert_eq!(last.output.as_deref(), Some(output.as_str()));
    assert_eq!(world.told("call_1"), output);
    assert!(last.duration_ms.is_some() && outcome.success);
    let report = text(&outcome);
    assert!(report.starts_with("Chunk ID: ") && report.contains("\nProcess exited with code 4\n"), "{report}");
    assert!(report.ends_with(&format!("\nOutput:\n{output}")), "{report}");
}

#[tokio::test]
async fn a_command_without_output_has_none() {
    let (_folder, world) = world();
    world.call("exec_command", &sh("true", json!({}))).await;
    let items = world.completed();
    let item = command(&items[0]);
    assert_eq!((item.output.as_deref(), item.status), (None, WorkStatus::Completed));
    assert_eq!(item.command, "/bin/bash -c true");
}

#[tokio::test]
async fn a_shell_reads_its_start_up_files_unless_it_is_told_not_to() {
    let (_folder, world) = world();
    world.call("exec_command", &json!({ "cmd": "a b", "shell": "/bin/echo" })).await;
    world.call("exec_command", &json!({ "cmd": "a b", "shell": "/bin/echo", "login": false })).await;
    assert_eq!((world.told("call_1").as_str(), world.told("call_2").as_str()), ("-lc a b\n", "-c a b\n"));
}

#[tokio::test]
async fn output_comes_while_the_command_runs() {
    let (folder, world) = world();
    let gate = gate(folder.path());
    let call =
        tokio::spawn(world.call("exec_command", &sh("printf early; cat gate", json!({ "yield_time_ms": 30000 }))));
    world.until("the first output", |world| world.told("call_1") == "early").await;
    assert!(world.completed().is_empty());
    open(gate).await;
    call.await.expect("it ends");
    assert_eq!(world.told("call_1"), "earlyopen\n");
}

#[tokio::test]
async fn a_command_that_takes_long_goes_on_in_the_background() {
    let (folder, world) = world();
    let gate = gate(folder.path());
    let outcome = world.call("exec_command", &sh("echo a; cat gate", json!({ "yield_time_ms": 250 }))).await;
    let (_, rest) = text(&outcome).split_once("Process running with session ID ").expect("runs");
    let session: u32 = rest.lines().next().expect("a line").parse().expect("is valid");
    let terminals = world.agent.terminals().list();
    assert_eq!((terminals.len(), terminals[0].process_id.as_str()), (1, session.to_string().as_str()));
    assert!(world.completed().is_empty());
    let refused = world.call("write_stdin", &json!({ "session_id": session, "chars": "x" })).await;
    assert!(!refused.success && text(&refused).contains("start it again with `tty`"), "{refused:?}");
    let waiting = tokio::spawn(world.call("write_stdin", &json!({ "session_id": session, "yield_time_ms": 60000 })));
    open(gate).await;
    let report = waiting.await.expect("it ends");
    assert!(text(&report).contains("Process exited with code 0\n"), "{report:?}");
    world.until("the end", |world| world.completed().len() == 1 && world.agent.terminals().list().is_empty()).await;
    assert_eq!(command(&world.completed()[0]).output.as_deref(), Some("a\nopen\n"));
    let gone = world.call("write_stdin", &json!({ "session_id": session })).await;
    assert_eq!(text(&gone), format!("write_stdin failed: unknown process id {session}; it may have ended"));
}

#[tokio::test]
async fn the_end_of_a_background_command_is_told_once_asked_for() {
    let (folder, world) = world();
    let gate = gate(folder.path());
    let outcome = world.call("exec_command", &sh("echo a; cat gate; exit 5", json!({ "yield_time_ms": 250 }))).await;
    let (_, rest) = text(&outcome).split_once("session ID ").expect("runs");
    let session: u32 = rest.lines().next().expect("a line").parse().expect("a number");
    open(gate).await;
    world.until("the end", |world| world.completed().len() == 1).await;
    let report = world.call("write_stdin", &json!({ "session_id": session })).await;
    assert!(text(&report).contains("Process exited with code 5\n") && text(&report).ends_with("open\n"), "{report:?}");
    assert!(!world.call("write_stdin", &json!({ "session_id": session })).await.success);
}

#[tokio::test]
async fn a_shell_of_nobody_knows_where_is_not_trusted() {
    let (folder, world) = asking(ApprovalPolicy::Untrusted);
    let shell = folder.path().join("bash");
    fs::write(&shell, "#!/bin/sh\ntouch made\n").expect("writes");
    world.reply(Reply::Give(Answer::Decision(Decision::Decline)));
    let outcome = world.call("exec_command", &sh("ls", json!({ "shell": shell }))).await;
    assert_eq!((outcome.success, world.questions().len()), (false, 1));
    let questions = world.questions();
    let Question::Command(question) = &questions[0] else { panic!("about a command") };
    assert_eq!(question.proposed_prefix.as_ref().map(Vec::len), Some(3));
}

#[tokio::test]
async fn lines_for_a_shell_that_quotes_in_another_way_are_asked_for() {
    let folder = tempfile::tempdir().expect("a folder");
    let shell = folder.path().join("fish");
    fs::write(&shell, "#!/bin/sh\ntouch made\n").expect("writes");
    let mut world = World::new(folder.path(), ToolOptions { shell, ..ToolOptions::default() });
    world.settings.approval = ApprovalPolicy::Untrusted;
    world.reply(Reply::Give(Answer::Decision(Decision::Decline)));
    let outcome = world.call("exec_command", &sh("ls", json!({}))).await;
    assert_eq!((outcome.success, world.questions().len()), (false, 1));
}

#[tokio::test]
async fn a_background_command_survives_its_turn_and_ends_with_the_agent() {
    let (_folder, world) = world();
    world.call("exec_command", &sh("echo $$; exec sleep 1000", json!({ "yield_time_ms": 250 }))).await;
    world.until("the process id", |world| world.told("call_1").ends_with('\n')).await;
    world.cancelled.cancel();
    assert!(world.completed().is_empty());
    world.agent.shutdown().await;
    assert_eq!(command(&world.completed()[0]).status, WorkStatus::Failed);
    assert!(world.agent.terminals().list().is_empty());
    until_gone(world.told("call_1").trim()).await;
}

#[tokio::test]
async fn a_command_on_a_terminal_is_written_to() {
    let (_folder, world) = world();
    let arguments = sh("read x; echo got $x; test -t 1 && stty size", json!({ "tty": true, "yield_time_ms": 250 }));
    let outcome = world.call("exec_command", &arguments).await;
    let (_, rest) = text(&outcome).split_once("session ID ").expect("runs");
    let session: u32 = rest.lines().next().expect("a line").parse().expect("is valid");
    let report =
        world.call("write_stdin", &json!({ "session_id": session, "chars": "hello\n", "yield_time_ms": 30000 })).await;
    assert!(text(&report).contains("got hello\r\n24 120\r\n"), "{report:?}");
    let typed = world.events().into_iter().any(|event| {
        matches!(event, EventKind::ItemGrew { delta: Delta::TerminalInput { process_id, text }, .. } if process_id == session.to_string() && text == "hello\n")
    });
    assert!(typed);
    let items = world.completed();
    assert_eq!(command(&items[0]).output.as_deref(), Some(world.told("call_1").as_str()));
}

#[tokio::test]
async fn an_interrupt_ends_the_command_and_its_children() {
    let (_folder, world) = world();
    let call = tokio::spawn(
        world.call("exec_command", &sh("sleep 1000 & echo $!; echo $$; wait", json!({ "yield_time_ms": 30000 }))),
    );
    world.until("both ids", |world| world.told("call_1").lines().count() == 2).await;
    world.cancelled.cancel();
    call.await.expect("it ends");
    // The item has completed when the call has ended, which is before the turn ends.
    let items = world.completed();
    assert_eq!((command(&items[0]).status, command(&items[0]).exit_code), (WorkStatus::Failed, Some(143)));
    for pid in world.told("call_1").lines() {
        until_gone(pid).await;
    }
}

#[tokio::test]
async fn a_command_that_does_not_want_to_end_is_killed() {
    let (_folder, world) = world();
    let line = "trap '' TERM; echo $$; while :; do sleep 1000; done";
    let call = tokio::spawn(world.call("exec_command", &sh(line, json!({ "yield_time_ms": 30000 }))));
    world.until("its id", |world| world.told("call_1").ends_with('\n')).await;
    world.cancelled.cancel();
    call.await.expect("it ends");
    assert_eq!(command(&world.completed()[0]).exit_code, Some(137));
    until_gone(world.told("call_1").trim()).await;
}

#[tokio::test]
async fn a_call_that_is_dropped_stops_its_command() {
    let (_folder, world) = world();
    let call =
        tokio::spawn(world.call("exec_command", &sh("echo $$; exec sleep 1000", json!({ "yield_time_ms": 30000 }))));
    world.until("its id", |world| world.told("call_1").ends_with('\n')).await;
    call.abort();
    world.until("the end", |world| !world.completed().is_empty()).await;
    until_gone(world.told("call_1").trim()).await;
}

#[tokio::test]
async fn the_shell_tool_waits_for_the_end_and_stops_what_takes_too_long() {
    let (_folder, world) = world();
    let outcome = world.call("shell", &json!({ "command": ["printf", "%s|", "a b", "c"] })).await;
    assert!(text(&outcome).starts_with("Exit code: 0\n") && text(&outcome).ends_with("Output:\na b|c|"), "{outcome:?}");
    assert_eq!(command(&world.completed()[0]).command, "printf '%s|' 'a b' c");
    let outcome =
        world.call("shell_command", &json!({ "command": "echo a; exec sleep 1000", "timeout_ms": 300 })).await;
    assert!(text(&outcome).contains("it ran longer than 300 ms\n"), "{outcome:?}");
    assert_eq!(command(&world.completed()[1]).exit_code, Some(143));
}

#[tokio::test]
async fn a_noisy_command_is_kept_within_bounds() {
    let (_folder, world) = world();
    let outcome =
        world.call("exec_command", &sh("head -c 3000000 /dev/zero | tr '\\0' 'q'; echo TAIL", json!({}))).await;
    let items = world.completed();
    let output = command(&items[0]).output.clone().expect("an output");
    assert!(output.len() < (1 << 20) + 100 && output.ends_with("qTAIL\n"), "{}", output.len());
    assert_eq!(world.told("call_1"), output);
    let report = text(&outcome);
    assert!(
        report.len() < 42_000 && report.ends_with("qTAIL\n") && report.contains("Original token count: 750002\n"),
        "{}",
        report.len()
    );
}

#[tokio::test]
async fn a_listener_that_has_enough_holds_the_output_and_not_the_end() {
    let (_folder, world) = world();
    world.stall();
    let call = tokio::spawn(world.call("exec_command", &sh("yes", json!({ "yield_time_ms": 30000 }))));
    world.until("the first output", |world| !world.told("call_1").is_empty()).await;
    let first = world.told("call_1");
    world.cancelled.cancel();
    call.await.expect("it ends");
    let items = world.completed();
    assert_eq!(command(&items[0]).status, WorkStatus::Failed);
    let output = command(&items[0]).output.clone().expect("an output");
    assert!(output.starts_with(&first) && output == world.told("call_1"));
    // At most the content of the pipe and of one read: the command had to wait.
    assert!(output.len() <= 512 * 1024, "{}", output.len());
}

#[tokio::test]
async fn output_that_is_no_text_becomes_text() {
    let (_folder, world) = world();
    world.call("exec_command", &sh(r"printf '\303'; printf '\251 \377 \360\237\232'", json!({}))).await;
    let items = world.completed();
    assert_eq!(command(&items[0]).output.as_deref(), Some("é \u{fffd} \u{fffd}"));
    assert_eq!(world.told("call_1"), "é \u{fffd} \u{fffd}");
}

#[tokio::test]
async fn what_a_command_leaves_behind_is_listed_and_can_be_ended() {
    let (_folder, world) = world();
    let outcome = world.call("exec_command", &sh("sleep 1000 & echo $!", json!({}))).await;
    assert!(text(&outcome).contains("Process exited with code 0\n"), "{outcome:?}");
    assert_eq!(command(&world.completed()[0]).status, WorkStatus::Completed);
    let listed = async {
        while world.agent.terminals().list().is_empty() {
            tokio::task::yield_now().await;
        }
        world.agent.terminals().list()
    };
    let terminals = tokio::time::timeout(Duration::from_secs(60), listed).await.expect("it is listed");
    assert_eq!(terminals[0].item.as_str(), "call_1");
    assert!(world.agent.terminals().terminate(&terminals[0].process_id).await);
    until_gone(world.told("call_1").trim()).await;
    assert_eq!(world.completed().len(), 1);
}

#[tokio::test]
async fn the_environment_holds_no_secrets_and_no_pagers() {
    let folder = tempfile::tempdir().expect("a folder");
    let hidden_variables = vec!["HOME".to_owned()];
    let world = World::new(folder.path(), ToolOptions { hidden_variables, ..ToolOptions::default() });
    world.call("shell", &json!({ "command": ["env"] })).await;
    let told = world.told("call_1");
    let has = |begin: &str| told.lines().any(|line| line.starts_with(begin));
    assert!(has("PATH=") && has("TERM=dumb") && has("PAGER=cat") && !has("HOME="), "{told}");
}

#[tokio::test]
async fn a_command_that_cannot_start_fails() {
    let (_folder, world) = world();
    let outcome = world.call("exec_command", &sh("ls", json!({ "shell": "/no/such/shell" }))).await;
    assert!(!outcome.success && text(&outcome).contains("cannot start /no/such/shell"), "{outcome:?}");
    let items = world.completed();
    assert_eq!(command(&items[0]).status, WorkStatus::Failed);
    assert_eq!(command(&items[0]).output.as_deref(), Some(world.told("call_1").as_str()));
    let outcome = world.call("exec_command", &sh("ls", json!({ "workdir": "absent" }))).await;
    assert!(text(&outcome).ends_with("absent: there is no such folder"), "{outcome:?}");
    assert_eq!(world.started().len(), 1);
}

#[tokio::test]
async fn bad_arguments_are_an_answer() {
    let (_folder, world) = world();
    for (name, arguments) in [
        ("exec_command", json!({})),
        ("shell", json!({ "command": 1 })),
        ("write_stdin", json!({})),
        ("write_stdin", json!({ "session_id": 5 })),
    ] {
        let outcome = world.call(name, &arguments).await;
        assert!(!outcome.success && outcome.then == AfterCall::Continue, "{name}");
    }
    assert!(world.events().is_empty());
}

#[tokio::test]
async fn the_number_of_background_commands_is_limited() {
    let (_folder, world) = world();
    let all = (0..MAX_BACKGROUND_COMMANDS)
        .map(|_| world.call("exec_command", &sh("exec sleep 1000", json!({ "yield_time_ms": 250 }))));
    futures_util::future::join_all(all).await;
    let outcome = world.call("exec_command", &sh("true", json!({}))).await;
    assert!(text(&outcome).starts_with("32 commands run in the background already"), "{outcome:?}");
    world.agent.terminals().terminate_all().await;
    assert_eq!(world.completed().len(), MAX_BACKGROUND_COMMANDS);
    assert!(world.call("exec_command", &sh("true", json!({}))).await.success);
}

fn escalated(line: &str) -> Value {
    sh(line, json!({ "sandbox_permissions": "require_escalated", "justification": "because" }))
}

#[tokio::test]
async fn an_accepted_command_runs() {
    let (_folder, world) = asking(ApprovalPolicy::OnRequest);
    world.reply(Reply::Give(Answer::Decision(Decision::Accept)));
    world.call("exec_command", &escalated("echo hi > made")).await;
    let questions = world.questions();
    let Question::Command(question) = &questions[0] else { panic!("about a command") };
    assert_eq!((question.item.as_str(), question.reason.as_deref()), ("call_1", Some("because")));
    assert_eq!(question.rights, "runs without a sandbox, with all rights of the server");
    assert_eq!(question.command, "/bin/bash -c 'echo hi > made'");
    assert_eq!(question.proposed_prefix.as_ref().map(Vec::len), Some(3));
    let started = world.started();
    assert_eq!((command(&started[0]).source, command(&started[0]).process_id.as_deref()), (CommandSource::Agent, None));
    assert_eq!(command(&world.completed()[0]).status, WorkStatus::Completed);
    assert_eq!(fs::read_to_string(world.settings.cwd.join("made")).expect("reads"), "hi\n");
}

#[tokio::test]
async fn a_command_that_is_not_accepted_does_not_run() {
    for (answer, status, then) in [
        (Answer::Decision(Decision::Decline), WorkStatus::Declined, AfterCall::Continue),
        (Answer::Decision(Decision::Cancel), WorkStatus::Declined, AfterCall::Interrupt),
        (Answer::Failed { message: "no".to_owned() }, WorkStatus::Failed, AfterCall::Continue),
        (Answer::UserInput(Default::default()), WorkStatus::Failed, AfterCall::Continue),
    ] {
        let (_folder, world) = asking(ApprovalPolicy::OnRequest);
        world.reply(Reply::Give(answer));
        let outcome = world.call("exec_command", &escalated("touch made")).await;
        assert_eq!((outcome.success, outcome.then), (false, then));
        assert_eq!(command(&world.completed()[0]).status, status);
        assert!(!world.settings.cwd.join("made").exists());
    }
}

#[tokio::test]
async fn a_question_is_taken_back_when_the_turn_is_stopped() {
    let (_folder, world) = asking(ApprovalPolicy::OnRequest);
    world.reply(Reply::Hold);
    let call = tokio::spawn(world.call("exec_command", &escalated("touch made")));
    world.until("the question", |world| world.questions().len() == 1).await;
    world.cancelled.cancel();
    assert!(!call.await.expect("it ends").success);
    assert_eq!(world.withdrawn(), 1);
    assert_eq!(command(&world.completed()[0]).status, WorkStatus::Interrupted);
}

#[tokio::test]
async fn acceptances_are_remembered() {
    let (_folder, world) = asking(ApprovalPolicy::OnRequest);
    world.reply(Reply::Give(Answer::Decision(Decision::AcceptForSession)));
    world.call("exec_command", &escalated("echo hi >> made")).await;
    world.call("exec_command", &escalated("echo hi >> made")).await;
    assert_eq!(world.questions().len(), 1);
    assert_eq!(fs::read_to_string(world.settings.cwd.join("made")).expect("reads"), "hi\nhi\n");
    world.reply(Reply::Give(Answer::Decision(Decision::AcceptPrefix(vec!["touch".to_owned()]))));
    world.call("exec_command", &escalated("touch a")).await;
    world.call("exec_command", &escalated("touch b")).await;
    assert_eq!(world.questions().len(), 2);
    assert!(world.settings.cwd.join("b").exists());
    let outcome = world.call("exec_command", &escalated("touch c; rm a")).await;
    assert_eq!(world.questions().len(), 3);
    assert!(!outcome.success && world.settings.cwd.join("a").exists());
}

#[tokio::test]
async fn nothing_is_asked_where_nobody_wants_to_be() {
    let (_folder, world) = asking(ApprovalPolicy::Never);
    let outcome = world.call("exec_command", &escalated("touch made")).await;
    assert!(!outcome.success && text(&outcome).contains("approval policy `never`"), "{outcome:?}");
    // No launcher is configured: a command that should be confined must not run unconfined.
    let outcome = world.call("exec_command", &sh("touch made", json!({}))).await;
    assert!(text(&outcome).contains("no launcher for sandboxed commands"), "{outcome:?}");
    assert!(world.events().is_empty() && world.questions().is_empty() && !world.settings.cwd.join("made").exists());
}

#[tokio::test]
async fn without_a_sandbox_people_are_asked() {
    let (_folder, world) = asking(ApprovalPolicy::OnRequest);
    world.reply(Reply::Give(Answer::Decision(Decision::Accept)));
    world.call("exec_command", &sh("touch made", json!({}))).await;
    let questions = world.questions();
    let Question::Command(question) = &questions[0] else { panic!("about a command") };
    assert!(question.reason.as_deref().expect("a text").starts_with("runs without a sandbox: "), "{question:?}");
    assert!(world.settings.cwd.join("made").exists());
}

#[tokio::test]
async fn a_full_terminal_keeps_no_output_back() {
    // The command does not read its input. Writing must not block the reading of its output.
    let (folder, world) = world();
    let gate = gate(folder.path());
    let arguments = sh("stty -echo raw; echo ready; cat gate; echo end", json!({ "tty": true, "yield_time_ms": 250 }));
    let outcome = world.call("exec_command", &arguments).await;
    let (_, rest) = text(&outcome).split_once("session ID ").expect("runs");
    let session: u32 = rest.lines().next().expect("a line").parse().expect("is valid");
    world.until("the command", |world| world.told("call_1").contains("ready")).await;
    let write = json!({ "session_id": session, "chars": "x".repeat(60_000), "yield_time_ms": 250 });
    let writes = futures_util::future::join_all((0..40).map(|_| world.call("write_stdin", &write))).await;
    // The queue is limited, and the model is told which writes were lost.
    let is_lost = |outcome: &&ToolOutcome| text(outcome).contains("`chars` was not written");
    assert!((1..40).contains(&writes.iter().filter(is_lost).count()), "{writes:?}");
    open(gate).await;
    world.until("the end", |world| world.completed().len() == 1).await;
    assert!(world.told("call_1").contains("end"));
}

#[test]
fn gates_are_pipes() {
    let folder = tempfile::tempdir().expect("a folder");
    let gate = gate(folder.path());
    // Opening a pipe for reading and writing does not block.
    assert!(fs::OpenOptions::new().read(true).write(true).mode(0o600).open(gate).is_ok());
}
