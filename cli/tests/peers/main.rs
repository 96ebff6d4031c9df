//! Commands that a server runs must not become its clients, even with an open network; all other processes can.
//!
//! A real server runs the attackers, which are this program in a sandbox. An attacker succeeds if a file is created by
//! an unconfined process. If the system has no sandbox, the tests report that they are skipped.

#![cfg(target_os = "linux")]

mod attacker;
mod client;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{PoisonError, RwLock};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use trace_needs::Need;

use crate::attacker::{Orders, VARIABLES, attempt, knock, running_file, stop_file};
use crate::client::{Client, status, takeover};

const TRACE: &str = env!("CARGO_BIN_EXE_trace");

/// How long a test waits before it fails.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A starting server kills the commands that killed servers left behind, where control groups are available. Servers
/// start with a read lock, so a test that needs such a command to stay alive takes a write lock.
static STARTING: RwLock<()> = RwLock::new(());

/// Runs the orders of an attacker. As a test, it does nothing.
#[test]
fn attacker() {
    if let Some(orders) = Orders::read() {
        attempt(&orders);
    }
}

/// A server in a folder of its own.
struct Server {
    folder: tempfile::TempDir,
    process: Child,
    listen: String,
}

impl Server {
    /// Starts a server that listens on an address.
    fn start(listen: &str, more: &[&str]) -> Self {
        Self::start_as(listen, more, None)
    }

    fn start_as(listen: &str, more: &[&str], user: Option<u32>) -> Self {
        let _starting = STARTING.read().unwrap_or_else(PoisonError::into_inner);
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::create_dir(folder.path().join("work")).expect("a folder");
        // An attacker that becomes another user writes its result there too.
        for (path, mode) in [(folder.path().to_owned(), 0o711), (folder.path().join("work"), 0o777)] {
            let mode = std::os::unix::fs::PermissionsExt::from_mode(mode);
            std::fs::set_permissions(path, mode).expect("it is ours");
        }
        let mut command = Command::new(TRACE);
        if let Some(user) = user {
            command.uid(user);
            for path in [folder.path().to_owned(), folder.path().join("work")] {
                std::os::unix::fs::chown(path, Some(user), None).expect("root may");
            }
        }
        let mut process = command
            .args(["serve", "--provider", "scripted", "--home", "home", "--listen", listen])
            .args(["-c", "sandbox.bubblewrap=\"never\""])
            .args(more)
            .current_dir(folder.path())
            .env("HOME", folder.path().join("user"))
            .stdin(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts");
        let mut banner = BufReader::new(process.stderr.take().expect("a pipe"));
        let mut first = String::new();
        banner.read_line(&mut first).expect("text");
        let listen = first.trim_end().strip_prefix("listening on: ").unwrap_or_else(|| panic!("{first}")).to_owned();
        // The rest of stderr is read, so that it does not fill the pipe.
        std::thread::spawn(move || drop(banner.read_to_string(&mut String::new())));
        Self { folder, process, listen }
    }

    fn port(&self) -> u16 {
        self.listen.rsplit(':').next().and_then(|port| port.parse().ok()).unwrap_or(0)
    }

    fn socket(&self) -> PathBuf {
        self.listen.strip_prefix("unix://").unwrap_or_default().into()
    }

    fn client(&self) -> Client<TcpStream> {
        let stream = TcpStream::connect(("127.0.0.1", self.port())).expect("the server listens");
        stream.set_read_timeout(Some(TIMEOUT)).expect("a limit");
        Client::open(stream).expect("everybody else is let in")
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Makes a server run an attacker, and returns its result. `target` is the server that is attacked.
fn attack<S: Read + Write>(
    name: &str,
    (runner, client): (&Server, &mut Client<S>),
    target: &Server,
    policy: &str,
) -> String {
    begin(name, (runner, client), target, policy);
    end(name, (runner, client))
}

/// Has the server `runner` start a command that attacks the server `target`.
fn begin<S: Read + Write>(name: &str, (runner, client): (&Server, &mut Client<S>), target: &Server, policy: &str) {
    let (made, work) = (runner.path(&format!("made-{name}")), runner.path("work"));
    let token = target.path("token");
    let mut environment = json!({
        "ATTACK": name, "PORT": target.port().to_string(), "SOCKET": target.socket(),
        "MADE": made, "RESULT": result(name, runner), "TRACE": TRACE, "STEP": null, "TOKEN": null,
    });
    if let Ok(token) = std::fs::read_to_string(token) {
        environment["TOKEN"] = token.into();
    }
    let policy = match policy {
        "confined" => json!({"type": "workspaceWrite", "networkAccess": true}),
        _ => json!({"type": "dangerFullAccess"}),
    };
    let program = std::env::current_exe().expect("a program");
    client
        .say(&json!({"id": name, "method": "command/exec", "params": {
            "command": [program, "attacker", "--exact", "--nocapture"], "cwd": work, "env": environment,
            "sandboxPolicy": policy, "timeoutMs": 300_000,
        }}))
        .expect("the server reads");
}

/// Waits until an attacker has ended, and returns its result.
fn end<S: Read + Write>(name: &str, (runner, client): (&Server, &mut Client<S>)) -> String {
    let answer: Value = client.answer(&json!(name)).expect("the server answers");
    let told =
        std::fs::read_to_string(result(name, runner)).unwrap_or_else(|error| panic!("{name}: {error}: {answer}"));
    assert!(!runner.path(&format!("made-{name}")).exists(), "{name} took the server over: {told}");
    told.trim_end().to_owned()
}

/// Returns the result file of an attacker.
fn result(name: &str, runner: &Server) -> PathBuf {
    runner.path("work").join(format!("result-{name}"))
}

/// Returns whether the system has a sandbox.
fn confines() -> bool {
    let availability = trace_runtime::sandbox::availability();
    if let Err(error) = &availability {
        trace_needs::skip(Need::Sandbox, format_args!("attackers that a server runs confined: {error}"));
    }
    availability.is_ok()
}

#[test]
fn what_attackers_send_takes_a_server_over_if_it_is_let_in() {
    assert!(VARIABLES.iter().all(|name| std::env::var_os(name).is_none()), "this is no attacker");
    let server = Server::start("ws://127.0.0.1:0", &[]);
    let made = server.path("made");
    let mut stream = TcpStream::connect(("127.0.0.1", server.port())).expect("the server listens");
    stream.write_all(&takeover(&made, None)).expect("the server reads");
    assert_eq!(status(&mut stream), "101");
    until(|| made.exists());
}

#[test]
fn a_command_does_not_reach_its_own_server_over_tcp() {
    if !confines() {
        return;
    }
    let server = Server::start("ws://127.0.0.1:0", &[]);
    let mut client = server.client();
    let attacks = [
        "direct", "child", "orphan", "session", "handed", "parked", "mapped", "source", "hidden", "renamed", "many",
        "blind", "bridge", "health", "user",
    ];
    for name in attacks {
        let told = attack(name, (&server, &mut client), &server, "confined");
        let expected = match name {
            "many" => told.split(',').all(|word| word == "403") && told.split(',').count() == 64,
            "blind" => told == "gone",
            // Only root can become another user.
            "user" => told == "403" || told == "cannot",
            _ => told == "403",
        };
        assert!(expected, "{name}: {told}");
    }
    // An unconfined command is refused too. It may be an MCP server that fetches a URL which a model chose.
    assert_eq!(attack("unconfined", (&server, &mut client), &server, "open"), "403");
    drop(server.client());
}

#[test]
fn a_command_does_not_reach_its_own_server_on_an_address_for_all_even_with_the_token() {
    if !confines() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let token = folder.path().join("token");
    std::fs::write(&token, "a-token-of-some-length").expect("writes");
    std::fs::set_permissions(&token, std::fs::Permissions::from_mode(0o600)).expect("sets the mode");
    let token_file = token.to_str().expect("text");
    let more = ["--ws-auth", "capability-token", "--ws-token-file", token_file];
    let target = Server::start("ws://0.0.0.0:0", &more);
    std::fs::copy(&token, target.path("token")).expect("copies");
    // Other processes are accepted with the token.
    let mut stream = TcpStream::connect(("127.0.0.1", target.port())).expect("the server listens");
    let made = target.path("made");
    stream.write_all(&takeover(&made, Some("a-token-of-some-length"))).expect("it reads");
    assert_eq!(status(&mut stream), "101");
    until(|| made.exists());
    // The attacked server runs the attacker for a client with the token.
    let mut client = {
        let stream = TcpStream::connect(("127.0.0.1", target.port())).expect("the server listens");
        stream.set_read_timeout(Some(TIMEOUT)).expect("a limit");
        Client::open_with(stream, Some("a-token-of-some-length")).expect("the token is good")
    };
    assert_eq!(attack("token", (&target, &mut client), &target, "confined"), "403");
}

#[test]
fn a_command_does_not_reach_its_own_server_over_a_unix_socket() {
    if !confines() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let socket = folder.path().join("s.sock");
    let server = Server::start(&format!("unix://{}", socket.display()), &[]);
    let mut client = Client::open(UnixStream::connect(&socket).expect("it listens")).expect("everybody else is let in");
    for name in ["direct-unix", "child-unix", "orphan-unix", "parked-unix", "hidden-unix", "many-unix", "proxy"] {
        let told = attack(name, (&server, &mut client), &server, "confined");
        assert!(told.split(',').all(|word| word == "403"), "{name}: {told}");
    }
    // The process that connected has exited. The process that has the socket now is not known, so it is refused.
    assert_eq!(attack("handed-unix", (&server, &mut client), &server, "confined"), "403");
    assert_eq!(attack("unconfined-unix", (&server, &mut client), &server, "open"), "403");
    assert_eq!(knock(&socket), "101");
}

#[test]
fn a_command_of_another_server_in_a_sandbox_is_refused_too() {
    if !confines() {
        return;
    }
    let (runner, target) = (Server::start("ws://127.0.0.1:0", &[]), Server::start("ws://127.0.0.1:0", &[]));
    let mut client = runner.client();
    assert_eq!(attack("elsewhere", (&runner, &mut client), &target, "confined"), "403");
    drop(target.client());
}

/// Later servers refuse a command that a killed server left running, even if it hides its open files.
#[test]
fn a_command_that_a_killed_server_left_running_is_refused() {
    if !confines() {
        return;
    }
    // This is not the user of the test about clients that hide. These commands hide too, and could be mistaken for such
    // a client.
    for user in [None, another_user().map(|user| user - 1)] {
        for name in ["left", "left-hidden"] {
            // Where control groups are available, a server that starts later would kill the command with its group.
            let target = Server::start_as("ws://127.0.0.1:0", &[], user);
            let runner = Server::start_as("ws://127.0.0.1:0", &[], user);
            let mut client = runner.client();
            begin(name, (&runner, &mut client), &target, "confined");
            let told = result(name, &runner);
            until(|| running_file(&told).exists());
            let no_server_starts = STARTING.write().unwrap_or_else(PoisonError::into_inner);
            let mut runner = runner;
            runner.process.kill().and_then(|()| runner.process.wait()).expect("it ends");
            std::fs::write(stop_file(&told), "").expect("writes");
            until(|| std::fs::read_to_string(&told).is_ok_and(|told| told.ends_with('\n')));
            drop(no_server_starts);
            assert_eq!(std::fs::read_to_string(&told).expect("text"), "403\n", "{name} {user:?}");
            assert!(!runner.path(&format!("made-{name}")).exists(), "{name} took the server over");
            assert_eq!(visit("other", "direct", &target, user), "101", "everybody else is let in");
        }
    }
}

#[test]
fn a_server_that_ends_leaves_nothing_running() {
    for signal in [rustix::process::Signal::TERM, rustix::process::Signal::INT] {
        let mut server = Server::start("ws://127.0.0.1:0", &[]);
        let mut client = server.client();
        // The command is not confined, so it is not killed with a control group.
        let line = "setsid --fork sh -c 'trap \"\" TERM HUP INT; echo $$ > left; while :; do sleep 100; done' >/dev/null 2>&1 </dev/null";
        client
            .say(&json!({"id": 1, "method": "command/exec", "params": {
                "command": ["sh", "-c", line], "cwd": server.path("work"), "sandboxPolicy": {"type": "dangerFullAccess"},
            }}))
            .expect("it reads");
        let answer = client.answer(&json!(1)).expect("it answers");
        let left = server.path("work/left");
        until(|| std::fs::read_to_string(&left).is_ok_and(|left| left.ends_with('\n')));
        let left = std::fs::read_to_string(&left).expect("text");
        let process = PathBuf::from("/proc").join(left.trim());
        assert!(process.exists(), "{answer}");
        let id = i32::try_from(server.process.id()).ok().and_then(rustix::process::Pid::from_raw).expect("a number");
        rustix::process::kill_process(id, signal).expect("it runs");
        assert!(server.process.wait().expect("it ends").success());
        let stat = std::fs::read_to_string(process.join("stat")).unwrap_or_default();
        assert!(stat.is_empty() || stat.contains(") Z "), "it still runs: {stat}");
    }
}

/// The Codex terminal client hides its sockets from other processes. Root can still see them, so server and client run
/// as another user if possible.
#[test]
fn clients_that_hide_are_let_in_unless_a_command_might_be_meant() {
    let server = Server::start_as("ws://127.0.0.1:0", &[], another_user());
    let visit = |name: &str| visit(name, "hidden", &server, another_user());
    assert_eq!(visit("before"), "101");
    if !confines() {
        return;
    }
    let mut client = server.client();
    let mut run = |id: &str, network: bool| {
        client
            .say(&json!({"id": id, "method": "process/spawn", "params": {
                "command": ["sleep", "100"], "cwd": server.path("work"), "processHandle": id,
            }}))
            .expect("it reads");
        client.answer(&json!(id)).expect("it answers");
        let policy = json!({"type": "workspaceWrite", "networkAccess": network});
        let command = ["sh", "-c", "touch started; while ! [ -e stop ]; do sleep 0.01; done"];
        client
            .say(&json!({"id": format!("{id}-command"), "method": "command/exec", "params": {
                "command": command, "cwd": server.path("work"), "sandboxPolicy": policy, "timeoutMs": 300_000,
            }}))
            .expect("it reads");
        let (started, stop) = (server.path("work/started"), server.path("work/stop"));
        until(|| started.exists());
        let seen = visit(id);
        std::fs::write(&stop, "").expect("writes");
        client.answer(&json!(format!("{id}-command"))).expect("it ends");
        std::fs::remove_file(stop).and_then(|()| std::fs::remove_file(started)).expect("removes");
        seen
    };
    assert_eq!(run("closed", false), "101", "no command had a network so far");
    let seen = run("open", true);
    assert_eq!(seen, if another_user().is_some() { "403" } else { "101" }, "it might be the command");
    let seen = visit("after");
    assert_eq!(seen, if another_user().is_some() { "403" } else { "101" }, "it may have left its socket somewhere");
}

/// Connects to a server from a process that no server started, and returns the status of the response.
fn visit(name: &str, attack: &str, server: &Server, user: Option<u32>) -> String {
    let result = server.path("work").join(name);
    let mut visitor = Command::new(std::env::current_exe().expect("a program"));
    visitor.args(["attacker", "--exact", "--nocapture"]).env("ATTACK", attack).env("PORT", server.port().to_string());
    visitor.env("SOCKET", "").env("MADE", server.path(name)).env("RESULT", &result);
    if let Some(user) = user {
        visitor.uid(user);
    }
    assert!(visitor.stdout(Stdio::null()).status().expect("it runs").success());
    std::fs::read_to_string(result).expect("it tells").trim_end().to_owned()
}

/// A user that root can become. Other users cannot.
fn another_user() -> Option<u32> {
    rustix::process::geteuid().is_root().then_some(65_534)
}

#[test]
fn many_connections_of_one_client_are_let_in() {
    let server = Server::start("ws://127.0.0.1:0", &[]);
    let start = Instant::now();
    let clients: Vec<_> = (0..300).map(|_| server.client()).collect();
    #[expect(clippy::print_stderr, reason = "a figure for whoever asks")]
    {
        eprintln!("{} connections in {:?}", clients.len(), start.elapsed());
    }
}

/// A command that opens thousands of connections must not prevent new clients, known clients and open connections from
/// being served.
#[test]
fn a_flood_of_connections_of_a_command_keeps_no_client_out() {
    const CLIENTS: usize = 20;
    if !confines() {
        return;
    }
    let server = Server::start("ws://127.0.0.1:0", &[]);
    let mut client = server.client();
    begin("flood", (&server, &mut client), &server, "confined");
    let told = result("flood", &server);
    until(|| std::fs::read_to_string(&told).is_ok_and(|told| told.ends_with('\n')));
    let mut took = Vec::new();
    for number in 0..CLIENTS {
        let start = Instant::now();
        assert_eq!(visit(&format!("visit-{number}"), "direct", &server, None), "101", "a new client, number {number}");
        took.push(start.elapsed());
        drop(server.client());
    }
    std::fs::write(stop_file(&told), "").expect("writes");
    let told = end("flood", (&server, &mut client));
    let counts: Vec<usize> = told.lines().map(|count| count.parse().unwrap_or_else(|_| panic!("{told}"))).collect();
    let [all_open, in_all] = counts[..] else { panic!("{told}") };
    assert!(in_all > all_open, "it went on while the clients came: {told}");
    took.sort();
    #[expect(clippy::print_stderr, reason = "a figure for whoever asks")]
    {
        eprintln!(
            "{all_open}, then {in_all} connections; a new process was answered in {:?} (median), {:?} (longest)",
            took[CLIENTS / 2],
            took[CLIENTS - 1]
        );
    }
}

fn until(has_happened: impl Fn() -> bool) {
    let start = Instant::now();
    while !has_happened() {
        assert!(start.elapsed() < TIMEOUT, "it does not happen");
        std::thread::sleep(Duration::from_millis(5));
    }
}
