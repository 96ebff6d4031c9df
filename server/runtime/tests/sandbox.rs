//! What a confined command can and cannot do, tested from inside. The test program is its own launcher.

#[cfg(target_os = "linux")]
mod escapes;
mod support;

use std::ffi::OsString;
use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use support::{Reply, World, command, text};
use trace_needs::{Need, skip};
use trace_runtime::host::{Answer, Decision, Question};
use trace_runtime::item::WorkStatus;
use trace_runtime::sandbox::{Bubblewrap, Confinement, ControlGroups, SandboxLauncher, availability, become_confined};
use trace_runtime::settings::{ApprovalPolicy, ClosedTemporary, Network, SandboxPolicy};
use trace_runtime::tool::exec::program::SearchPath;
use trace_runtime::tool::{AfterCall, ToolOptions};

fn main() {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().is_some_and(|word| word == "sandbox-exec") {
        let words: Vec<OsString> = arguments.collect();
        let [option, policy, separator, command @ ..] = &words[..] else { panic!("bad words: {words:?}") };
        assert!(option == "--policy" && separator == "--");
        // The launcher must not have the variables for loaders that the command gets.
        let is_commands = policy.to_string_lossy().contains(r#""environment":[["HOME""#);
        assert!(!is_commands || std::env::var_os("HOME").is_none());
        match become_confined(policy.to_str().expect("a text"), command) {
            Ok(never) => match never {},
            Err(error) => panic!("{error}"),
        }
    }
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime");
    runtime.block_on(async {
        if let Err(error) = availability() {
            // On such a system commands fail with an error that says what is missing, and nothing runs unconfined.
            assert!(error.to_string().starts_with("commands cannot be confined on this system: "));
            nothing_runs_without_a_sandbox().await;
            return skip(Need::Sandbox, format_args!("what a confined command can and cannot do: {error}"));
        }
        // Arguments select tests, as for other test programs.
        let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
        let is_wanted = |name: &str| words.is_empty() || words.iter().any(|word| name.contains(word));
        macro_rules! run_tests {
            ($($test:path,)*) => {
                $(if is_wanted(stringify!($test)) {
                    $test().await;
                })*
            };
        }
        #[cfg(target_os = "linux")]
        run_tests![
            escapes::all_fail,
            escapes::repositories::leave_plain_repositories_alone,
            escapes::repositories::run_nothing_of_a_command,
        ];
        run_tests![
            files_stay_inside,
            nobody_follows_a_link_into_an_open_folder,
            patches_plant_nothing_in_repositories,
            loaders_are_told_by_the_command_only,
            a_read_only_command_reads,
            the_network_is_closed_unless_it_is_open,
            other_processes_are_out_of_reach,
            terminals_work,
            shared_memory_and_terminals_are_private_with_bubblewrap,
            an_interrupt_is_for_the_command,
            nobody_types_into_a_terminal,
            patches_of_a_confined_agent_are_made,
            renames_lead_no_patch_outside,
            a_control_group_bounds_root_and_ends_what_is_left,
            a_command_of_looser_days_is_not_typed_into,
            what_was_agreed_holds_for_the_settings_of_then,
            a_command_has_a_session_of_its_own,
            what_is_left_behind_ends,
            what_the_sandbox_refuses_is_asked_for,
            a_refusal_that_nobody_lifts_stays_one,
            a_program_that_is_put_in_place_while_people_are_asked_is_asked_for_again,
            a_program_that_the_first_run_left_is_asked_for,
        ];
    });
}

/// Returns the path of bubblewrap if it works here.
fn bubblewrap() -> Option<PathBuf> {
    let found = Bubblewrap::Auto.find().expect("it is not required");
    if found.is_none() {
        skip(Need::Bubblewrap, "commands and attempts under bubblewrap, and what only bubblewrap stops");
    }
    found
}

fn world(folder: &Path, sandbox: SandboxPolicy) -> World {
    wrapped_world(folder, sandbox, None)
}

fn wrapped_world(folder: &Path, sandbox: SandboxPolicy, bubblewrap: Option<PathBuf>) -> World {
    let mut world = World::new(folder, tool_options(bubblewrap));
    world.settings.sandbox = sandbox;
    world
}

fn tool_options(bubblewrap: Option<PathBuf>) -> ToolOptions {
    let program = std::env::current_exe().expect("a program");
    let launcher =
        Some(SandboxLauncher { program, args: vec!["sandbox-exec".to_owned()], bubblewrap, environment: vec![] });
    ToolOptions { launcher, ..ToolOptions::default() }
}

/// Runs a line. Returns whether it succeeded, and its output.
async fn run(world: &World, line: &str) -> (bool, String) {
    world.call("exec_command", &json!({ "cmd": line, "login": false, "yield_time_ms": 30000 })).await;
    let items = world.completed();
    let item = command(items.last().expect("an item"));
    (item.status == WorkStatus::Completed, item.output.clone().unwrap_or_default())
}

fn workspace(network: Network, roots: &[&Path]) -> SandboxPolicy {
    let writable_roots = roots.iter().map(|root| root.to_path_buf()).collect();
    SandboxPolicy::WorkspaceWrite { writable_roots, network, closed: ClosedTemporary { tmpdir: true, slash_tmp: true } }
}

async fn nothing_runs_without_a_sandbox() {
    let folder = tempfile::tempdir().expect("a folder");
    let world = world(folder.path(), workspace(Network::Closed, &[]));
    let outcome = world.call("exec_command", &json!({ "cmd": "touch made" })).await;
    assert!(!outcome.success && world.events().is_empty() && !folder.path().join("made").exists());
}

async fn files_stay_inside() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().canonicalize().expect("a path").join(name);
    for name in ["work", "other", "root"] {
        fs::create_dir(at(name)).expect("a folder");
    }
    fs::write(at("other/kept"), "kept\n").expect("writes");
    std::os::unix::fs::symlink(at("other"), at("work/link")).expect("a link");
    let world = world(&at("work"), workspace(Network::Closed, &[&at("root")]));
    let outside = at("other").display().to_string();
    let root = at("root").display().to_string();
    for line in [
        "echo x > made && mkdir -p a/b && mv made a/b && rm -r a".to_owned(),
        format!("echo x > {root}/made"),
        format!("cat {outside}/kept"),
        "echo x > /dev/null".to_owned(),
    ] {
        let (is_done, output) = run(&world, &line).await;
        assert!(is_done, "{line}: {output}");
    }
    for line in [
        format!("echo x > {outside}/made"),
        "echo x > link/made".to_owned(),
        "echo x > ../made".to_owned(),
        format!(": > {outside}/kept"),
        format!("rm {outside}/kept"),
        format!("mv {outside}/kept ."),
        format!("ln {outside}/kept hard && echo x > hard"),
        format!("mkdir {outside}/made"),
        format!("echo x > inner; mv inner {outside}/made"),
        "echo x > /tmp/trace-sandbox-made".to_owned(),
    ] {
        let (is_done, output) = run(&world, &line).await;
        assert!(!is_done, "{line}: {output}");
    }
    assert_eq!(fs::read_to_string(at("other/kept")).expect("reads"), "kept\n");
    assert_eq!(fs::read_dir(at("other")).expect("a folder").count(), 1);
    assert!(fs::metadata(at("root/made")).is_ok() && fs::metadata(at("made")).is_err());
}

/// One command replaces a folder above the working folder by a symlink; the next command must not write to its target.
async fn nobody_follows_a_link_into_an_open_folder() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().canonicalize().expect("a path").join(name);
    for name in ["open/a/outside", "outside"] {
        fs::create_dir_all(at(name)).expect("a folder");
    }
    let mut world = world(&at("open/a/outside"), workspace(Network::Closed, &[&at("open")]));
    world.settings.approval = ApprovalPolicy::Never;
    let patch = |name: &str| json!({ "input": format!("*** Begin Patch\n*** Add File: {name}\n+x\n*** End Patch\n") });
    assert!(world.call("apply_patch", &patch("made")).await.success);
    let (open, around) = (at("open").display().to_string(), at("").display().to_string());
    assert!(!told(&world, "echo x > made").await.contains("Closed for writing"));
    let (is_done, output) = run(&world, &format!("cd / && mv {open}/a {open}/was && ln -s {around} {open}/a")).await;
    assert!(is_done, "{output}");
    let outcome = world.call("apply_patch", &patch("made")).await;
    assert!(!outcome.success && text(&outcome).starts_with("patch rejected"), "{}", text(&outcome));
    let report = told(&world, "echo x > made").await;
    assert!(report.starts_with(&format!("[Closed for writing: {open}/a/outside. ")), "{report}");
    assert!(report.contains("Permission denied"), "{report}");
    assert_eq!(fs::read_dir(at("outside")).expect("a folder").count(), 0);
    // Other places in the writable folder are unaffected, and the folder is writable again once it is restored.
    assert!(run(&world, &format!("echo x > {open}/made && cd / && rm {open}/a && mv {open}/was {open}/a")).await.0);
    assert!(run(&world, "echo x > made").await.0);
}

/// The server writes patches itself, so no command is watched and nothing is mounted.
async fn patches_plant_nothing_in_repositories() {
    let evil = "+[core]\n+\trepositoryformatversion = 0\n+\tbare = false\n+\tworktree = ..\n+\tfsmonitor = ./x\n";
    let whole = format!(
        "*** Add File: d/HEAD\n+ref: refs/heads/main\n*** Add File: d/objects/x\n+x\n*** Add File: d/refs/x\n+x\n*** Add File: d/config\n{evil}"
    );
    let rest = "*** Add File: half/objects/x\n+x\n*** Add File: half/refs/x\n+x\n".to_owned();
    for (number, (patch, wanted)) in [
        (whole, "d/config"),
        (format!("*** Add File: bare/config.worktree\n{evil}"), "bare/config.worktree"),
        ("*** Add File: bare/hooks/pre-receive\n+#!/bin/sh\n".to_owned(), "bare/hooks/pre-receive"),
        ("*** Update File: mine/.husky/pre-commit\n@@\n-#!/bin/sh\n+#!./x\n".to_owned(), "mine/.husky/pre-commit"),
        (rest, "half/objects/x"),
        ("*** Add File: mine/src/hooks/useThings.ts\n+x\n".to_owned(), ""),
    ]
    .into_iter()
    .enumerate()
    {
        for is_bound in [false, true] {
            let folder = tempfile::tempdir().expect("a folder");
            let root = folder.path().canonicalize().expect("a path");
            for name in ["bare/objects", "bare/refs", "mine/.git", "mine/.husky", "mine/src", "half"] {
                fs::create_dir_all(root.join(name)).expect("a folder");
            }
            fs::write(root.join("mine/.git/config"), "[core]\n\thooksPath = .husky\n").expect("writes");
            fs::write(root.join("mine/.husky/pre-commit"), "#!/bin/sh\n").expect("writes");
            fs::write(root.join("half/config"), "[core]\n\tfsmonitor = ./x\n").expect("writes");
            let policy = if is_bound { workspace(Network::Closed, &[]) } else { SandboxPolicy::FullAccess };
            let mut world = world(&root, policy);
            world.settings.approval = ApprovalPolicy::Never;
            let patch = json!({ "input": format!("*** Begin Patch\n{patch}*** End Patch\n") });
            let outcome = world.call("apply_patch", &patch).await;
            assert_eq!(outcome.success, !is_bound || wanted.is_empty(), "{number}: {}", text(&outcome));
            if !outcome.success {
                let refused = format!("does not allow writing to {}", root.join(wanted).display());
                assert!(text(&outcome).contains(&refused), "{number}: {}", text(&outcome));
            }
        }
    }
}

/// The launcher would load code of a command before it is confined.
async fn loaders_are_told_by_the_command_only() {
    let folder = tempfile::tempdir().expect("a folder");
    let wrapper = bubblewrap();
    for wrapper in [None, wrapper] {
        let program = std::env::current_exe().expect("a program");
        let environment = vec![("HOME".to_owned(), "/given".to_owned())];
        let args = vec!["sandbox-exec".to_owned()];
        let launcher = Some(SandboxLauncher { program, args, bubblewrap: wrapper, environment });
        let mut world = World::new(folder.path(), ToolOptions { launcher, ..ToolOptions::default() });
        world.settings.sandbox = workspace(Network::Closed, &[]);
        assert_eq!(run(&world, "echo $HOME").await, (true, "/given\n".to_owned()));
    }
}

async fn a_read_only_command_reads() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("kept"), "kept\n").expect("writes");
    let world = world(folder.path(), SandboxPolicy::ReadOnly { network: Network::Closed });
    assert_eq!(run(&world, "cat kept 2>/dev/null; wc -c < kept").await, (true, "kept\n5\n".to_owned()));
    for line in [
        "echo x > made",
        "rm kept",
        ": > kept",
        "touch /tmp/trace-sandbox-made",
        "chmod 0 kept",
        "chmod -R a+w .",
        "chown $(id -u) kept",
        "touch -d 2001-01-01 kept",
    ] {
        assert!(!run(&world, line).await.0, "{line}");
    }
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1);
}

async fn the_network_is_closed_unless_it_is_open() {
    let folder = tempfile::tempdir().expect("a folder");
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let line = format!("exec 3<>/dev/tcp/127.0.0.1/{port} && echo connected");
    for (sandbox, is_open) in [
        (SandboxPolicy::ReadOnly { network: Network::Closed }, false),
        (workspace(Network::Closed, &[]), false),
        (SandboxPolicy::ReadOnly { network: Network::Open }, true),
        (workspace(Network::Open, &[]), true),
        (SandboxPolicy::FullAccess, true),
    ] {
        let name = format!("{sandbox:?}");
        let (is_done, output) = run(&world(folder.path(), sandbox), &line).await;
        assert_eq!(is_done, is_open, "{name}: {output}");
    }
}

/// A process that is unrelated to the agent.
struct Bystander(Child);

impl Bystander {
    fn start() -> Self {
        let mut command = Command::new("sleep");
        command.arg("1000").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        Self(command.spawn().expect("starts"))
    }
}

impl Drop for Bystander {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

async fn other_processes_are_out_of_reach() {
    let folder = tempfile::tempdir().expect("a folder");
    let bystander = Bystander::start();
    let world = world(folder.path(), workspace(Network::Closed, &[]));
    // Kernels before 6.12 cannot restrict signals.
    let (is_killed, _) = run(&world, &format!("kill -0 {}", bystander.0.id())).await;
    let (is_own_killed, output) = run(&world, "sleep 1000 & kill $! && ! wait $!").await;
    assert!(is_own_killed, "{output}");
    assert!(!is_killed || !keeps_signals_in());
}

fn keeps_signals_in() -> bool {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").expect("reads");
    let mut numbers = release.split(['.', '-']).map(|number| number.parse::<u32>().unwrap_or(0));
    (numbers.next(), numbers.next()) >= (Some(6), Some(12))
}

async fn terminals_work() {
    let folder = tempfile::tempdir().expect("a folder");
    let world = world(folder.path(), SandboxPolicy::ReadOnly { network: Network::Closed });
    let line = "test -t 0 && echo shown > /dev/tty && ! echo x > made";
    world.call("exec_command", &json!({ "cmd": line, "tty": true, "login": false, "yield_time_ms": 30000 })).await;
    let items = world.completed();
    let item = command(&items[0]);
    assert_eq!(item.status, WorkStatus::Completed, "{item:?}");
    assert!(item.output.as_deref().expect("a text").starts_with("shown\r\n"), "{item:?}");
}

/// The interrupt must not end bubblewrap while the command continues.
async fn an_interrupt_is_for_the_command() {
    let folder = tempfile::tempdir().expect("a folder");
    let wrapper = bubblewrap();
    for wrapper in [None, wrapper] {
        let world = wrapped_world(folder.path(), workspace(Network::Closed, &[]), wrapper);
        let line = "trap 'echo caught' INT; echo ready; read word; read word; echo \"got $word\"";
        world.call("exec_command", &json!({ "cmd": line, "tty": true, "login": false, "yield_time_ms": 250 })).await;
        world.until("the start", |world| world.told("call_1").contains("ready")).await;
        let session: u32 = world.agent.terminals().list()[0].process_id.parse().expect("a number");
        let write = |chars: &str| json!({ "session_id": session, "chars": chars, "yield_time_ms": 250 });
        world.call("write_stdin", &write("\u{3}")).await;
        world.until("the interrupt", |world| world.told("call_1").contains("caught")).await;
        world.call("write_stdin", &write("one\ntwo\n")).await;
        world.until("the end", |world| !world.completed().is_empty()).await;
        assert!(world.told("call_1").contains("got "), "{}", world.told("call_1"));
    }
}

/// The command must not have access to the server's terminal, where it could ask questions and wait for answers.
async fn a_command_has_a_session_of_its_own() {
    let folder = tempfile::tempdir().expect("a folder");
    let world = world(folder.path(), workspace(Network::Closed, &[]));
    let line = "set -- $$ $(cut -d ' ' -f 5-7 /proc/$$/stat); test \"$1 $2 $3 $4\" = \"$$ $$ $$ 0\"";
    let (is_done, output) = run(&world, line).await;
    assert!(is_done, "{output}");
    let arguments = json!({ "cmd": "sleep 1000 & echo $!; wait", "login": false, "yield_time_ms": 250 });
    world.call("exec_command", &arguments).await;
    world.until("a child", |world| world.told("call_2").ends_with('\n')).await;
    let child = format!("/proc/{}/stat", world.told("call_2").trim());
    world.agent.terminals().terminate_all().await;
    let gone = async {
        while fs::read_to_string(&child).is_ok_and(|stat| !stat.contains(") Z")) {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), gone).await.expect("the child ends with the command");
}

/// Input inserted into a terminal of the server would run with all rights after the server ends; input inserted into a
/// terminal of an approved command would run with the rights of that command.
async fn nobody_types_into_a_terminal() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut agreed = world(folder.path(), SandboxPolicy::ReadOnly { network: Network::Closed });
    agreed.settings.approval = ApprovalPolicy::OnRequest;
    agreed.reply(Reply::Give(Answer::Decision(Decision::Accept)));
    let arguments = json!({
        "cmd": "tty; exec cat", "tty": true, "login": false, "yield_time_ms": 250, "sandbox_permissions": "require_escalated",
    });
    agreed.call("exec_command", &arguments).await;
    agreed.until("the start", |world| world.told("call_1").contains('\n')).await;
    let terminal = agreed.told("call_1").trim().to_owned();
    assert!(terminal.starts_with("/dev/pts/"), "{terminal}");
    let wrapper = bubblewrap();
    for network in [Network::Open, Network::Closed] {
        for sandbox in [workspace(network, &[]), SandboxPolicy::ReadOnly { network }] {
            for wrapper in [None, wrapper.clone()] {
                let world = wrapped_world(folder.path(), sandbox.clone(), wrapper);
                // The command's own terminal, that of another command if it can be opened, and a request number of which
                // the kernel uses only the lower half.
                let line = format!(
                    "perl -e 'open(F, \"<\", \"{terminal}\"); for $file (fileno(STDIN), fileno(F)) {{ next unless defined $file;\
                     for (0x5412, 0x541c, 0x100005412, 0x10000541c) {{\
                     syscall({}, $file, $_, $key = \"\\3x\"); print $!{{EPERM}} ? \"refused \" : \"TYPED \" }} }}'",
                    libc::SYS_ioctl
                );
                let arguments = json!({ "cmd": line, "tty": true, "login": false, "yield_time_ms": 30000 });
                world.call("exec_command", &arguments).await;
                let items = world.completed();
                let output = command(&items[0]).output.clone().expect("a text");
                assert!(
                    output.starts_with("refused refused refused refused ") && !output.contains("TYPED"),
                    "{output}"
                );
            }
        }
    }
    agreed.agent.terminals().terminate_all().await;
    assert!(!agreed.told("call_1").contains('x'), "{}", agreed.told("call_1"));
}

/// Patches of a confined agent add, change, move and delete files.
async fn patches_of_a_confined_agent_are_made() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().canonicalize().expect("a path").join(name);
    for sandbox in [workspace(Network::Closed, &[]), SandboxPolicy::FullAccess] {
        for name in ["changed", "moved", "deleted"] {
            fs::create_dir_all(at("work/sub")).expect("a folder");
            fs::write(at(&format!("work/sub/{name}")), "a\nb\n").expect("writes");
        }
        let world = world(&at("work"), sandbox.clone());
        let patch = "*** Begin Patch\n*** Add File: sub/added\n+x\n*** Update File: sub/changed\n@@\n a\n-b\n+c\n\
                     *** Update File: sub/moved\n*** Move to: sub/there\n@@\n a\n-b\n+d\n*** Delete File: sub/deleted\n*** End Patch\n";
        let outcome = world.call("apply_patch", &json!({ "input": patch })).await;
        assert!(outcome.success, "{sandbox:?}: {}", text(&outcome));
        let read = |name: &str| fs::read_to_string(at(&format!("work/sub/{name}"))).ok();
        assert_eq!(
            ["added", "changed", "there", "moved", "deleted"].map(read),
            [Some("x\n".to_owned()), Some("a\nc\n".to_owned()), Some("a\nd\n".to_owned()), None, None]
        );
        fs::remove_dir_all(at("work/sub")).expect("a folder");
    }
}

/// A command replaces folders and files repeatedly while patches are applied.
///
/// A patch may create the folder `d` anew while the command has renamed it. The command then removes the new folder,
/// because otherwise all its later replacements would fail and no patch would be applied any more.
async fn renames_lead_no_patch_outside() {
    const ROUNDS: usize = 150;
    // The test needs both a patch that is applied and one that is refused; on a busy machine either may need more rounds.
    const MOST_ROUNDS: usize = 20 * ROUNDS;
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().canonicalize().expect("a path").join(name);
    for name in ["work/d/deep", "outside/deep"] {
        fs::create_dir_all(at(name)).expect("a folder");
    }
    for name in ["work/d/f", "work/d/deep/f", "outside/f", "outside/deep/f"] {
        fs::write(at(name), "0\n").expect("writes");
    }
    let racing = world(&at("work"), workspace(Network::Closed, &[]));
    let outside = at("outside").display().to_string();
    let line = format!(
        "perl -e 'until (-e \"stop\") {{ rename \"d\", \"was\"; symlink \"{outside}\", \"d\"; select undef, undef, undef, 0.0003;\
         unlink \"d\"; rename \"was\", \"d\"; rename \"d/f\", \"d/g\"; symlink \"{outside}/f\", \"d/f\"; rename \"d/g\", \"d/f\";\
         rename \"d/deep\", \"d/was\"; symlink \"{outside}/deep\", \"d/deep\"; unlink \"d/deep\"; rename \"d/was\", \"d/deep\";\
         if (-d \"was\") {{ rename \"d\", \"lost-\" . $n++; rename \"was\", \"d\" }}\
         select undef, undef, undef, rand 0.003 }}'"
    );
    racing.call("exec_command", &json!({ "cmd": line, "login": false, "yield_time_ms": 250 })).await;
    for sandbox in [workspace(Network::Closed, &[]), SandboxPolicy::FullAccess] {
        let (mut made, mut failed) = (0, 0);
        for round in 0..MOST_ROUNDS {
            if round >= ROUNDS && made > 0 && failed > 0 {
                break;
            }
            let world = world(&at("work"), sandbox.clone());
            let flat = fs::read_to_string(at("work/d/f")).unwrap_or_default();
            let deep = fs::read_to_string(at("work/d/deep/f")).unwrap_or_default();
            let patch = format!(
                "*** Begin Patch\n*** Update File: d/f\n@@\n-{}\n+{round}\n*** Update File: d/deep/f\n@@\n-{}\n+{round}\n\
                 *** Add File: d/made-{round}/n\n+x\n*** End Patch\n",
                flat.trim(),
                deep.trim()
            );
            let outcome = world.call("apply_patch", &json!({ "input": patch })).await;
            let said = text(&outcome).to_owned();
            assert!(!said.contains("broke down"), "{said}");
            if outcome.success {
                made += 1;
            } else {
                failed += 1;
                let is_clear =
                    ["changed meanwhile", "cannot write", "cannot change", "cannot read", "rejected", "lead to"];
                assert!(is_clear.iter().any(|words| said.contains(words)), "{said}");
            }
            // Without a sandbox, a patch may follow the path as it leads when it is judged, but not as it leads later.
            if sandbox != SandboxPolicy::FullAccess {
                assert_eq!(fs::read_to_string(at("outside/f")).expect("reads"), "0\n");
                assert_eq!(fs::read_to_string(at("outside/deep/f")).expect("reads"), "0\n");
                assert_eq!(fs::read_dir(at("outside")).expect("a folder").count(), 2);
            }
        }
        assert!(made > 0 && failed > 0, "{sandbox:?}: {made} were made and {failed} were not");
    }
    fs::write(at("work/stop"), "").expect("writes");
    racing.until("the end", |world| !world.completed().is_empty()).await;
    let all = Command::new("find").arg(folder.path()).args(["-name", ".patch-*"]).output().expect("starts");
    assert!(all.stdout.is_empty(), "{}", String::from_utf8_lossy(&all.stdout));
}

/// The kernel's limit does not apply to processes of root, but a control group's does.
async fn a_control_group_bounds_root_and_ends_what_is_left() {
    let groups = Arc::new(ControlGroups::find());
    if !groups.are_there() {
        return skip(Need::ControlGroups, "fork bombs of root");
    }
    let folder = tempfile::tempdir().expect("a folder");
    let wrapper = bubblewrap();
    for bubblewrap in [None, wrapper] {
        // A fork bomb that stops when it is refused, and then waits.
        const MOST: u32 = 40;
        let group = groups.make(MOST).expect("it can be made");
        let mut confinement = Confinement::new(vec![folder.path().to_owned()], Network::Closed);
        confinement.group = Some(group.path().to_owned());
        let bomb = "$SIG{CHLD} = \"IGNORE\"; for (1 .. 400) { $kid = fork; if (!defined $kid) { print \"refused\\n\"; $| = 1; print \"\"; sleep 1000 }\
                    if (!$kid) { fork while 1; } } sleep 1000";
        let program = std::env::current_exe().expect("a program");
        let launcher =
            SandboxLauncher { program, args: vec!["sandbox-exec".to_owned()], bubblewrap, environment: vec![] };
        let words = launcher.arguments(&confinement, &["perl".to_owned(), "-e".to_owned(), bomb.to_owned()]);
        let mut child = Command::new(&launcher.program);
        child.args(words).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = child.spawn().expect("starts");
        let count = || {
            fs::read_to_string(group.path().join("pids.current"))
                .expect("reads")
                .trim()
                .parse::<u32>()
                .expect("a number")
        };
        let refused = || {
            let events = fs::read_to_string(group.path().join("pids.events")).expect("reads");
            !events.trim().ends_with(" 0")
        };
        while !refused() {
            assert!(count() <= MOST);
            tokio::task::yield_now().await;
        }
        assert!(count() <= MOST);
        group.kill();
        child.wait().expect("ends");
        let path = group.path().to_owned();
        drop(group);
        while path.exists() {
            tokio::task::yield_now().await;
        }
    }
    // Without bubblewrap, a process that starts its own session ends with its command too.
    let mut options = tool_options(None);
    options.surroundings.groups = groups;
    let mut world = World::new(folder.path(), options);
    world.settings.sandbox = workspace(Network::Closed, &[]);
    let word = format!("1000.{}7", std::process::id());
    let (is_done, output) = run(&world, &format!("setsid sleep {word} > /dev/null 2>&1 &")).await;
    assert!(is_done, "{output}");
    until_ended(&word).await;
}

/// Python's `multiprocessing` needs shared memory, and `script` needs a pseudo-terminal.
async fn shared_memory_and_terminals_are_private_with_bubblewrap() {
    let Some(bubblewrap) = bubblewrap() else { return };
    for sandbox in [workspace(Network::Closed, &[]), SandboxPolicy::ReadOnly { network: Network::Closed }] {
        let folder = tempfile::tempdir().expect("a folder");
        let world = wrapped_world(folder.path(), sandbox, Some(bubblewrap.clone()));
        let name = format!("trace-private-{}", std::process::id());
        let line = format!(": > /dev/shm/{name} && ls /dev/shm && script -qec 'test -t 0 && echo terminal' /dev/null");
        let (succeeded, output) = run(&world, &line).await;
        assert!(succeeded && output.contains(&name) && output.contains("terminal"), "{output}");
        assert!(!Path::new("/dev/shm").join(name).exists());
        assert_eq!(run(&world, "ls /dev/shm").await, (true, String::new()));
    }
}

/// Input for a shell runs with the rights of the shell.
async fn a_command_of_looser_days_is_not_typed_into() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut world = world(folder.path(), SandboxPolicy::FullAccess);
    let arguments = json!({ "cmd": "exec cat", "tty": true, "login": false, "yield_time_ms": 250 });
    world.call("exec_command", &arguments).await;
    let session: u32 = world.agent.terminals().list()[0].process_id.parse().expect("a number");
    let write = |chars: &str| json!({ "session_id": session, "chars": chars, "yield_time_ms": 250 });
    assert!(world.call("write_stdin", &write("one\n")).await.success);
    world.settings.sandbox = SandboxPolicy::ReadOnly { network: Network::Closed };
    let outcome = world.call("write_stdin", &write("two\n")).await;
    assert!(!outcome.success && text(&outcome).contains("more was allowed than now"), "{}", text(&outcome));
    assert!(world.call("write_stdin", &write("")).await.success);
    world.call("write_stdin", &write("\u{3}")).await;
    world.until("the end", |world| !world.completed().is_empty()).await;
}

/// A command that was approved to run outside of the sandbox accepts no input after the settings have changed.
async fn what_was_agreed_holds_for_the_settings_of_then() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut world = world(folder.path(), SandboxPolicy::ReadOnly { network: Network::Closed });
    world.settings.approval = ApprovalPolicy::OnRequest;
    world.reply(Reply::Give(Answer::Decision(Decision::Accept)));
    let arguments = json!({
        "cmd": "exec cat", "tty": true, "login": false, "yield_time_ms": 250, "sandbox_permissions": "require_escalated",
    });
    world.call("exec_command", &arguments).await;
    let session: u32 = world.agent.terminals().list()[0].process_id.parse().expect("a number");
    let write = |chars: &str| json!({ "session_id": session, "chars": chars, "yield_time_ms": 250 });
    assert!(world.call("write_stdin", &write("one\n")).await.success);
    world.settings.sandbox = workspace(Network::Closed, &[]);
    let outcome = world.call("write_stdin", &write("two\n")).await;
    assert!(!outcome.success && text(&outcome).contains("more was allowed than now"), "{}", text(&outcome));
    world.call("write_stdin", &write("\u{3}")).await;
    world.until("the end", |world| !world.completed().is_empty()).await;
}

/// Returns whether a process with this word in its command line runs.
fn runs(word: &str) -> bool {
    let processes = fs::read_dir("/proc").expect("a folder").flatten();
    let mut lines = processes.filter_map(|process| fs::read(process.path().join("cmdline")).ok());
    lines.any(|line| line.split(|byte| *byte == 0).any(|part| part == word.as_bytes()))
}

async fn until_ended(word: &str) {
    let ended = async {
        while runs(word) {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), ended).await.unwrap_or_else(|_| panic!("`sleep {word}` runs on"));
}

/// Remaining processes are listed and can be stopped, or they are killed. Only a process namespace includes processes that
/// start their own session.
async fn what_is_left_behind_ends() {
    let folder = tempfile::tempdir().expect("a folder");
    let word = |number: u32| format!("1000.{}{number}", std::process::id());
    let wrapper = bubblewrap();
    for (number, wrapper) in [(1, None), (2, wrapper)] {
        let is_wrapped = wrapper.is_some();
        let world = wrapped_world(folder.path(), workspace(Network::Closed, &[]), wrapper);
        let begin = if is_wrapped { "setsid " } else { "" };
        let line = |word: &str| format!("{begin}sleep {word} > /dev/null 2>&1 &");
        let (quick, slow) = (word(10 * number), word(10 * number + 1));
        let (is_done, output) = run(&world, &line(&quick)).await;
        assert!(is_done, "{output}");
        // The first process of the namespace waits for the process, so it is listed soon, unless the whole namespace has
        // ended.
        let ended = async {
            while runs(&quick) {
                if is_wrapped {
                    world.agent.terminals().terminate_all().await;
                }
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(Duration::from_secs(60), ended).await.expect("it ends");
        let arguments = json!({ "cmd": line(&slow) + " sleep 1000", "login": false, "yield_time_ms": 250 });
        world.call("exec_command", &arguments).await;
        let begun = async {
            while !runs(&slow) {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(Duration::from_secs(60), begun).await.expect("it begins");
        world.agent.terminals().terminate_all().await;
        until_ended(&slow).await;
    }
}

fn asked(world: &World) -> usize {
    world.questions().len()
}

fn reading(folder: &Path) -> World {
    let mut world = world(folder, SandboxPolicy::ReadOnly { network: Network::Closed });
    world.settings.approval = ApprovalPolicy::OnRequest;
    world
}

async fn told(world: &World, line: &str) -> String {
    let outcome = world.call("exec_command", &json!({ "cmd": line, "login": false, "yield_time_ms": 30000 })).await;
    text(&outcome).to_owned()
}

async fn what_the_sandbox_refuses_is_asked_for() {
    let folder = tempfile::tempdir().expect("a folder");
    let made = || fs::read_to_string(folder.path().join("made")).unwrap_or_default();
    let world = reading(folder.path());
    let answer = |decision| Reply::Give(Answer::Decision(decision));
    world.reply(answer(Decision::Accept));
    let report = told(&world, "echo hi >> made && cat made").await;
    assert!(report.starts_with("[The sandbox seems to have refused something") && report.ends_with("hi\n"), "{report}");
    let (questions, items) = (world.questions(), world.completed());
    let Question::Command(question) = &questions[0] else { panic!("about a command") };
    let reason = question.reason.as_deref().expect("a text");
    assert!(reason.contains("the sandbox refused something"), "{reason}");
    let states: Vec<_> = items.iter().map(|item| command(item).status).collect();
    assert_eq!(states, [WorkStatus::Failed, WorkStatus::Completed]);
    assert!(items[0].id.as_str() == "call_1" && items[1].id == question.item && question.item != items[0].id);
    // An approval for the session: the same line is tried in the sandbox and then run without a question.
    world.reply(answer(Decision::AcceptForSession));
    told(&world, "echo hi >> made").await;
    told(&world, "echo hi >> made").await;
    assert_eq!((asked(&world), made().as_str()), (2, "hi\nhi\nhi\n"));
    // An approval by a rule: all commands with this prefix.
    world.reply(answer(Decision::AcceptPrefix(vec!["touch".to_owned()])));
    told(&world, "touch a").await;
    told(&world, "touch b").await;
    assert_eq!(asked(&world), 3);
    assert!(folder.path().join("a").exists() && folder.path().join("b").exists());
}

async fn a_refusal_that_nobody_lifts_stays_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut world = reading(folder.path());
    world.reply(Reply::Give(Answer::Decision(Decision::Decline)));
    let report = told(&world, "touch made").await;
    assert!(report.contains("Permission denied") && report.ends_with("rejected by user]"), "{report}");
    let states: Vec<_> = world.completed().iter().map(|item| command(item).status).collect();
    assert_eq!(states, [WorkStatus::Failed, WorkStatus::Declined]);
    world.reply(Reply::Give(Answer::Decision(Decision::Cancel)));
    let outcome = world.call("exec_command", &json!({ "cmd": "touch made", "login": false })).await;
    assert_eq!((outcome.then, asked(&world)), (AfterCall::Interrupt, 2));
    // Other failures, and commands that only read, are not attributed to the sandbox.
    told(&world, "exit 3").await;
    told(&world, "cat /proc/1/mem").await;
    world.settings.approval = ApprovalPolicy::Never;
    told(&world, "touch made").await;
    assert_eq!(asked(&world), 2);
    assert!(!folder.path().join("made").exists());
}

/// Returns an agent that searches programs first in the folder `bin` of its working folder, which commands may write to.
fn searching(folder: &Path) -> World {
    let path = std::env::join_paths([&folder.join("bin"), Path::new("/usr/bin"), Path::new("/bin")]).expect("a path");
    let search = SearchPath::from_variables([(OsString::from("PATH"), path)]);
    let mut world = World::new(folder, ToolOptions { search, ..tool_options(None) });
    world.settings.sandbox = workspace(Network::Closed, &[]);
    world.settings.approval = ApprovalPolicy::OnRequest;
    world
}

fn reason(world: &World, number: usize) -> String {
    let Question::Command(question) = &world.questions()[number] else { panic!("about a command") };
    question.reason.clone().unwrap_or_default()
}

async fn a_program_that_is_put_in_place_while_people_are_asked_is_asked_for_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path().canonicalize().expect("is there");
    fs::create_dir(folder.join("bin")).expect("a folder");
    let world = searching(&folder);
    world.reply(Reply::Hold);
    world.reply(Reply::Give(Answer::Decision(Decision::Decline)));
    let arguments = json!({
        "cmd": "env git --version > made", "login": false, "yield_time_ms": 30000, "sandbox_permissions": "require_escalated",
    });
    let outcome = tokio::spawn(world.call("exec_command", &arguments));
    world.until("the question", |world| asked(world) == 1).await;
    let git = folder.join("bin/git");
    fs::write(&git, "#!/bin/sh\n").expect("writes");
    fs::set_permissions(&git, fs::Permissions::from_mode(0o755)).expect("a mode");
    world.answer_open(Answer::Decision(Decision::AcceptForSession));
    let outcome = outcome.await.expect("it ends");
    assert!(text(&outcome).ends_with("rejected by user"), "{}", text(&outcome));
    assert!(!reason(&world, 0).contains("CAREFUL"), "{}", reason(&world, 0));
    assert!(reason(&world, 1).contains(&format!("git: {}", git.display())), "{}", reason(&world, 1));
    assert!(asked(&world) == 2 && !folder.join("made").exists());
}

async fn a_program_that_the_first_run_left_is_asked_for() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path().canonicalize().expect("is there");
    let world = searching(&folder);
    world.reply(Reply::Give(Answer::Decision(Decision::Decline)));
    told(&world, "mkdir bin; echo > bin/docs; chmod +x bin/docs; echo docs; /usr/bin/touch /etc/docs-made").await;
    assert!(reason(&world, 0).contains("CAREFUL") && reason(&world, 0).contains("bin/docs"), "{}", reason(&world, 0));
    assert_eq!(asked(&world), 1);
}
