//! Scripted attempts to escape from the sandbox through the real launcher.
//!
//! Each line first runs without a sandbox and has to succeed, because an attempt that cannot succeed proves nothing. Then
//! it runs confined: with Landlock and the seccomp filter only, and with bubblewrap if it is installed.

pub(crate) mod repositories;
mod table;

use std::fs::{self, File, OpenOptions};
use std::net::{TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::symlink;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;
use trace_needs::{Need, skip};
use trace_runtime::sandbox::{Confinement, HiddenPlace, SandboxLauncher};
use trace_runtime::settings::Network;

use table::ATTEMPTS;

/// An attempt to escape.
struct Attempt {
    name: &'static str,
    what: &'static str,
    stops: &'static str,
    under: Under,
    needs: Needs,
    control: Control,
    line: &'static str,
}

/// The policies under which an attempt has to fail.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Under {
    Both,
    ReadOnly,
    Workspace,
    /// The working folder lies in another writable one: `open/a/outside` in `open`. It has the name of the folder outside,
    /// so that a symlink in place of `a` leads there.
    Nested,
    /// A hidden folder lies in the writable one: `room/b/home` in `room`. The working folder is `room/work`.
    Around,
}

/// Separates two consecutive commands, which are confined in the same way.
const THEN: &str = " =then=> ";

/// What an attempt requires in addition to a shell.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Needs {
    Nothing,
    Perl,
    Python,
    /// Only bubblewrap prevents it.
    Wrapper,
}

/// Which users succeed without a sandbox.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Control {
    Always,
    Root,
    /// It is not run: it would do harm, or some machines lack what it needs.
    Never,
}

/// Limit of processes per command, in addition to existing ones.
const PROCESSES: u32 = 64;

/// Runs all attempts.
pub(crate) async fn all_fail() {
    assert!(ATTEMPTS.len() >= 80);
    the_document_lists_them();
    let scene = Scene::new();
    let bubblewrap = super::bubblewrap();
    let mut failures = Vec::new();
    let is_root = rustix::process::geteuid().is_root();
    if !is_root {
        skip(Need::Root, "that some attempts of root succeed without a sandbox");
    }
    for attempt in ATTEMPTS {
        let tool = match attempt.needs {
            Needs::Perl => "perl",
            Needs::Python => "python3",
            Needs::Nothing | Needs::Wrapper => "sh",
        };
        if !has(tool) {
            let need = if attempt.needs == Needs::Python { Need::Python } else { Need::Programs };
            skip(need, format_args!("the attempt `{}`, without {tool}", attempt.name));
            continue;
        }
        if attempt.control == Control::Always || attempt.control == Control::Root && is_root {
            let said = scene.run_all(attempt, None);
            if !said.contains("ESCAPED") {
                failures.push(format!("`{}` proves nothing: it fails without a sandbox too: {said}", attempt.name));
            }
            scene.reset();
        }
        for wrapper in [None, bubblewrap.clone()].into_iter().take(if bubblewrap.is_some() { 2 } else { 1 }) {
            if attempt.needs == Needs::Wrapper && wrapper.is_none() || is_beyond_the_kernel(attempt, wrapper.is_some())
            {
                continue;
            }
            for (under, writable) in [
                (Under::ReadOnly, vec![]),
                (Under::Workspace, vec![scene.at("work")]),
                (Under::Nested, vec![scene.at(NESTED), scene.at("open")]),
                (Under::Around, vec![scene.at("room")]),
            ] {
                // Bubblewrap is only an additional layer, so one policy is enough.
                let is_repeated = wrapper.is_some() && attempt.under == Under::Both && under == Under::ReadOnly;
                let is_other = match attempt.under {
                    Under::Both => matches!(under, Under::Nested | Under::Around),
                    own => own != under,
                };
                if is_repeated || is_other {
                    continue;
                }
                let network = if attempt.name.ends_with("-online") { Network::Open } else { Network::Closed };
                let mut confinement = Confinement { processes: PROCESSES, ..Confinement::new(writable, network) };
                confinement.hidden = scene.hidden();
                let launcher = SandboxLauncher { bubblewrap: wrapper.clone(), ..launcher() };
                let said = scene.run_all(attempt, Some((&launcher, &confinement)));
                if said.contains("ESCAPED") {
                    failures.push(format!("`{}` got out of {confinement:?}, {wrapper:?}: {said}", attempt.name));
                }
                scene.assert_untouched(attempt.name);
                scene.reset();
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Returns whether the running kernel is too old to prevent an attempt.
fn is_beyond_the_kernel(attempt: &Attempt, is_wrapped: bool) -> bool {
    let is_beyond = attempt.name.starts_with("kill") && !is_wrapped && !super::keeps_signals_in();
    if is_beyond {
        skip(Need::SignalScope, format_args!("the attempt `{}` without bubblewrap", attempt.name));
    }
    is_beyond
}

fn launcher() -> SandboxLauncher {
    let program = std::env::current_exe().expect("a program");
    SandboxLauncher { program, args: vec!["sandbox-exec".to_owned()], bubblewrap: None, environment: vec![] }
}

fn has(tool: &str) -> bool {
    let mut command = Command::new(tool);
    command.args(["-c", ""]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok()
}

/// The folders for attempts: a workspace, and what commands must not access.
struct Scene {
    folder: TempDir,
    victim: Child,
    tcp: TcpListener,
    udp: UdpSocket,
    datagrams: UnixDatagram,
    _socket: UnixListener,
    _abstract: UnixListener,
    words: Vec<(String, String)>,
}

impl Scene {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().canonicalize().expect("a path").join(name);
        for name in ["outside", "home"] {
            fs::create_dir(at(name)).expect("a folder");
        }
        fs::write(at("outside/kept"), KEPT).expect("writes");
        let file = OpenOptions::new().read(true).append(true).open(at("outside/kept")).expect("a file");
        let mut victim = Command::new("sleep");
        victim.arg("1000").env("SECRET", "a-secret-of-the-victim").current_dir(at("outside"));
        let victim = victim.stdin(file).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("starts");
        let tcp = TcpListener::bind("127.0.0.1:0").expect("a port");
        let udp = UdpSocket::bind("127.0.0.1:0").expect("a port");
        let socket = UnixListener::bind(at("docker.sock")).expect("a socket");
        let datagrams = UnixDatagram::bind(at("datagrams")).expect("a socket");
        udp.set_nonblocking(true).expect("can be set");
        datagrams.set_nonblocking(true).expect("can be set");
        let name = format!("trace-escape-{}", std::process::id());
        let address = SocketAddr::from_abstract_name(&name).expect("an address");
        let by_name = UnixListener::bind_addr(&address).expect("a socket");
        let mut words = vec![
            ("outside".to_owned(), text(&at("outside"))),
            ("open".to_owned(), text(&at("open"))),
            ("nested".to_owned(), text(&at(NESTED))),
            ("private".to_owned(), text(&at("private/home"))),
            ("room".to_owned(), text(&at("room"))),
            ("token".to_owned(), text(&at("token"))),
            ("around".to_owned(), text(&folder.path().canonicalize().expect("a path"))),
            ("socket".to_owned(), text(&at("docker.sock"))),
            ("datagrams".to_owned(), text(&at("datagrams"))),
            ("abstract".to_owned(), name),
            ("victim".to_owned(), victim.id().to_string()),
            ("server".to_owned(), std::process::id().to_string()),
            ("tcp".to_owned(), tcp.local_addr().expect("an address").port().to_string()),
            ("udp".to_owned(), udp.local_addr().expect("an address").port().to_string()),
            ("launcher".to_owned(), text(&launcher().program)),
            (
                "open-policy".to_owned(),
                launcher().arguments(&Confinement::new(vec!["/".into()], Network::Open), &[]).swap_remove(2),
            ),
        ];
        words.extend(CALLS.iter().map(|(name, number)| ((*name).to_owned(), number.to_string())));
        let scene = Self { folder, victim, tcp, udp, datagrams, _socket: socket, _abstract: by_name, words };
        scene.reset();
        scene
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().expect("a path").join(name)
    }

    /// Runs the commands of an attempt and returns their output.
    fn run_all(&self, attempt: &Attempt, confined: Option<(&SandboxLauncher, &Confinement)>) -> String {
        let cwd = self.at(match attempt.under {
            Under::Nested => NESTED,
            Under::Around => "room/work",
            _ => "work",
        });
        attempt.line.split(THEN).map(|line| self.run(line, &cwd, confined)).collect()
    }

    fn hidden(&self) -> Vec<HiddenPlace> {
        ["private/home", "room/b/home", "token"].iter().map(|name| HiddenPlace::new(&self.at(name))).collect()
    }

    /// Runs a line and returns its output. Descriptor 9 is a file outside, as a server might have inherited, and descriptor
    /// 8 is a file that commands must not read.
    fn run(&self, line: &str, cwd: &Path, confined: Option<(&SandboxLauncher, &Confinement)>) -> String {
        let mut line = line.to_owned();
        for (word, meaning) in &self.words {
            line = line.replace(&format!("{{{word}}}"), meaning);
        }
        let shell = ["/bin/bash".to_owned(), "-c".to_owned(), line];
        let mut command = Command::new("/bin/bash");
        command.args(["-c", "exec 9>>\"$0\" 8<\"${0%/*}/token\"; exec \"$@\""]).arg(self.at("inherited"));
        match confined {
            None => command.args(shell),
            Some((launcher, confinement)) => {
                command.arg(&launcher.program).args(launcher.arguments(confinement, &shell))
            }
        };
        command.current_dir(cwd).env("HOME", self.at("home")).stdin(Stdio::null());
        // Background processes keep the output open, so the output goes to a file instead of a pipe.
        let said = File::create(self.at("said")).expect("a file");
        command.stdout(said.try_clone().expect("a file")).stderr(said);
        // The folder may be in the middle of being replaced.
        (0..1000).find_map(|_| command.status().ok()).expect("starts");
        let said = String::from_utf8_lossy(&fs::read(self.at("said")).expect("reads")).into_owned();
        if said.contains("the-secret") { format!("{said} ESCAPED") } else { said }
    }

    /// Restores the initial state.
    fn reset(&self) {
        for name in ["work", "open", "room", "private"] {
            let _ = fs::remove_dir_all(self.at(name));
        }
        for name in ["work/.git/hooks", "work/.trace", "open/a/outside/.git/hooks"] {
            fs::create_dir_all(self.at(name)).expect("a folder");
        }
        for home in ["private/home", "room/b/home"] {
            fs::create_dir_all(self.at(home).join("sessions/2026")).expect("a folder");
            for name in ["config.toml", "state.sqlite-wal", "sessions/2026/thread.jsonl", "script"] {
                fs::write(self.at(home).join(name), SECRET).expect("writes");
            }
        }
        fs::write(self.at("token"), SECRET).expect("writes");
        for name in ["room/work", "room/beside"] {
            fs::create_dir_all(self.at(name)).expect("a folder");
        }
        symlink(self.at("private/home"), self.at("work/link-to-home")).expect("a link");
        symlink(self.at("room/b"), self.at("room/work/link-above")).expect("a link");
        fs::write(self.at("work/mine"), KEPT).expect("writes");
        symlink(self.at("outside"), self.at("work/ready-link")).expect("a link");
        for name in ["made", "kept"] {
            let _ = fs::remove_file(self.at("outside").join(name))
                .or_else(|_| fs::remove_dir(self.at("outside").join(name)));
        }
        fs::write(self.at("outside/kept"), KEPT).expect("writes");
        fs::write(self.at("home/.profile"), KEPT).expect("writes");
        File::create(self.at("inherited")).expect("a file");
        while self.udp.recv(&mut [0; 8]).is_ok() || self.datagrams.recv(&mut [0; 8]).is_ok() {}
        self.tcp.set_nonblocking(true).expect("can be set");
        while self.tcp.accept().is_ok() {}
    }

    fn assert_untouched(&self, name: &str) {
        let read = |name: &str| fs::read_to_string(self.at(name)).unwrap_or_default();
        assert_eq!(fs::read_dir(self.at("outside")).expect("a folder").count(), 1, "`{name}` made something outside");
        assert_eq!(
            (read("outside/kept").as_str(), read("home/.profile").as_str()),
            (KEPT, KEPT),
            "`{name}` wrote outside"
        );
        assert_eq!(read("inherited"), "", "`{name}` wrote to what it inherited");
        for home in ["private/home", "room/b/home"] {
            assert_eq!(read(&format!("{home}/config.toml")), SECRET, "`{name}` changed a hidden file");
        }
        assert!(
            self.udp.recv(&mut [0; 8]).is_err() && self.datagrams.recv(&mut [0; 8]).is_err(),
            "`{name}` sent something"
        );
        assert!(self.tcp.accept().is_err(), "`{name}` connected");
        assert!(Path::new(&format!("/proc/{}/fd", self.victim.id())).exists(), "`{name}` ended another process");
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        let _ = self.victim.kill();
        let _ = self.victim.wait();
    }
}

/// The working folder inside another writable folder.
const NESTED: &str = "open/a/outside";

/// Content of hidden files. A shell prints the secret when it runs them.
const SECRET: &str = "echo the-secret # the-secret\n";

const KEPT: &str = "kept\n";

fn text(path: &Path) -> String {
    path.to_str().expect("a text").to_owned()
}

/// Numbers of system calls by their placeholders.
const CALLS: &[(&str, i64)] = &[
    ("bpf", libc::SYS_bpf),
    ("clone", libc::SYS_clone),
    ("clone3", libc::SYS_clone3),
    ("finit_module", libc::SYS_finit_module),
    ("fsopen", libc::SYS_fsopen),
    ("ioctl", libc::SYS_ioctl),
    ("io_uring_setup", libc::SYS_io_uring_setup),
    ("kexec_load", libc::SYS_kexec_load),
    ("keyctl", libc::SYS_keyctl),
    ("memfd_create", libc::SYS_memfd_create),
    ("mount", libc::SYS_mount),
    ("open_by_handle_at", libc::SYS_open_by_handle_at),
    ("perf_event_open", libc::SYS_perf_event_open),
    ("pidfd_getfd", libc::SYS_pidfd_getfd),
    ("pidfd_open", libc::SYS_pidfd_open),
    ("pivot_root", libc::SYS_pivot_root),
    ("prlimit64", libc::SYS_prlimit64),
    ("process_vm_writev", libc::SYS_process_vm_writev),
    ("ptrace", libc::SYS_ptrace),
    ("reboot", libc::SYS_reboot),
    ("setns", libc::SYS_setns),
    ("setxattr", libc::SYS_setxattr),
    ("socket_call", libc::SYS_socket),
    ("umount2", libc::SYS_umount2),
    ("unshare", libc::SYS_unshare),
    ("userfaultfd", libc::SYS_userfaultfd),
];

/// Compares `docs/security.md` with the table.
fn the_document_lists_them() {
    let document =
        fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/security.md")).expect("it is there");
    let row = |attempt: &Attempt| format!("| `{}` | {} | {} |", attempt.name, attempt.what, attempt.stops);
    let expected: Vec<String> = ATTEMPTS.iter().map(row).collect();
    let (_, rows) = document.split_once("| attempt | what it tries | what stops it |\n").expect("the table");
    let rows: Vec<&str> = rows.lines().skip(1).take_while(|line| line.starts_with('|')).collect();
    assert_eq!(rows, expected, "docs/security.md should have these rows:\n{}\n", expected.join("\n"));
}
