//! One running command: its streams, its time limit and its end.
//!
//! A command is the leader of its own process group, and on a terminal also of its own session. The whole group is
//! ended together: it gets SIGTERM first and SIGKILL later. If the command ends by itself, processes that it left
//! running continue.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::sync::{MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use rustix::process::{Pid, Signal, kill_process_group};
use rustix::termios::{Winsize, tcsetwinsize};
use tokio::process::{Child, Command};
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::input::{Ending, Input};
use super::output::{Capture, Captured, Destination, Stream, read};

/// How long a command may take to end after SIGTERM, before it is killed.
pub const GRACE_BEFORE_KILL: Duration = Duration::from_secs(2);

/// Exit code of a command that exceeded its time limit.
pub(super) const TIMED_OUT_EXIT_CODE: i32 = 124;
/// Shells add a signal's number to this to get the exit code of a command that the signal ended.
const SIGNAL_EXIT_CODE_BASE: i32 = 128;

/// A command to run.
pub(super) struct ChildCommand {
    /// The program and its arguments. It is not empty.
    pub(super) line: Vec<String>,
    pub(super) cwd: PathBuf,
    /// Variables to set, or to remove if the value is `None`.
    pub(super) env: BTreeMap<String, Option<String>>,
    pub(super) stdin: StdinKind,
    pub(super) time: Option<Duration>,
    pub(super) cap: Option<usize>,
    pub(super) destination: Destination,
}

/// The standard input of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StdinKind {
    /// The input is empty.
    Empty,
    /// A pipe that clients write to.
    Pipe,
    /// A terminal, which is also the output.
    Terminal(TerminalSize),
}

/// The size of a terminal in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TerminalSize {
    pub(super) rows: u16,
    pub(super) columns: u16,
}

/// The result of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Ended {
    pub(super) exit_code: i32,
    pub(super) out: Captured,
    pub(super) err: Captured,
}

/// A running command.
pub(super) struct Running {
    /// The standard input, if clients can write to it.
    pub(super) input: Option<Input>,
    /// The terminal, if the command has one.
    terminal: Option<OwnedFd>,
    terminate: CancellationToken,
}

impl Running {
    /// Starts a command. The returned future must be polled: it reads the output and waits for the end. Dropping it
    /// ends the command.
    pub(super) fn start(order: ChildCommand) -> io::Result<(Self, impl Future<Output = Ended> + Send + 'static)> {
        let ChildCommand { line, cwd, env, stdin, time, cap, destination } = order;
        let (program, words) = line.split_first().expect("callers refuse empty commands");
        let mut command = Command::new(program);
        command.args(words).current_dir(cwd);
        for (name, value) in env {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        let ended = CancellationToken::new();
        let (out, err) = (Capture::default(), Capture::default());
        // Output is not reported before the future is polled, because the caller may have to answer the request first.
        let (mut reading, mut writing): (Vec<BoxFuture<'static, ()>>, Option<BoxFuture<'static, ()>>) =
            (Vec::new(), None);
        let (input, queue) = Input::new();
        let (leader, input, terminal) = if let StdinKind::Terminal(size) = stdin {
            let (outer, inner) = pty_process::open().map_err(plain)?;
            outer.resize(pty_process::Size::new(size.rows, size.columns)).map_err(plain)?;
            let terminal = outer.as_fd().try_clone_to_owned()?;
            let leader = Leader(pty_process::Command::from(command).spawn(inner).map_err(plain)?);
            let (from, to) = outer.into_split();
            reading.push(read(from, Stream::Out, destination, cap, Capture::clone(&out), ended.clone()).boxed());
            writing = Some(queue.write_to(to, Ending::Character).boxed());
            (leader, Some(input), Some(terminal))
        } else {
            let is_written_to = stdin == StdinKind::Pipe;
            let stdin = if is_written_to { Stdio::piped() } else { Stdio::null() };
            command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
            let mut leader = Leader(command.spawn()?);
            if let Some(from) = leader.0.stdout.take() {
                let capture = Capture::clone(&out);
                reading.push(read(from, Stream::Out, destination.clone(), cap, capture, ended.clone()).boxed());
            }
            if let Some(from) = leader.0.stderr.take() {
                reading.push(read(from, Stream::Err, destination, cap, Capture::clone(&err), ended.clone()).boxed());
            }
            if let Some(to) = leader.0.stdin.take() {
                writing = Some(queue.write_to(to, Ending::Close).boxed());
            }
            (leader, is_written_to.then_some(input), None)
        };
        let terminate = CancellationToken::new();
        let running = Self { input, terminal, terminate: terminate.clone() };
        let life = async move {
            // Dropping the future drops the sets, which aborts their tasks.
            let mut readers: JoinSet<()> = reading.into_iter().collect();
            let writers: JoinSet<()> = writing.into_iter().collect();
            let exit_code = wait_for_end(leader, time, &terminate).await;
            ended.cancel();
            tokio::select! {
                () = async { while readers.join_next().await.is_some() {} } => {}
                // If the client has terminated the command, the rest of the output is read only for a short time.
                () = terminate.cancelled() => {
                    let rest = async { while readers.join_next().await.is_some() {} };
                    let _ = tokio::time::timeout(super::output::DRAIN_TIMEOUT, rest).await;
                }
            }
            drop((readers, writers));
            let take = |capture: &Capture| std::mem::take(&mut *lock(capture));
            Ended { exit_code, out: take(&out), err: take(&err) }
        };
        Ok((running, life))
    }

    /// Asks the command to end. Returns at once.
    pub(super) fn terminate(&self) {
        self.terminate.cancel();
    }

    /// Resizes the terminal. Returns `None` if the command has no terminal.
    pub(super) fn resize(&self, size: TerminalSize) -> Option<io::Result<()>> {
        let TerminalSize { rows, columns } = size;
        let size = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        self.terminal.as_ref().map(|terminal| Ok(tcsetwinsize(terminal, size)?))
    }
}

/// Waits until a command ends, and ends it when `terminate` is cancelled or its time is up. Returns the exit code.
async fn wait_for_end(mut leader: Leader, time: Option<Duration>, terminate: &CancellationToken) -> i32 {
    // A deadline that `Instant` cannot express is no limit.
    let deadline = time.and_then(|time| Instant::now().checked_add(time));
    let time_is_up = async {
        match deadline {
            Some(deadline) => tokio::time::sleep_until(deadline).await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        status = leader.0.wait() => exit_code(status),
        () = terminate.cancelled() => exit_code(leader.end().await),
        () = time_is_up => {
            // The exit code is fixed, so the status does not matter.
            let _ = leader.end().await;
            TIMED_OUT_EXIT_CODE
        }
    }
}

/// The first process of a command. Dropping it before its end kills the process group.
struct Leader(Child);

impl Leader {
    /// Sends SIGTERM to the group, and SIGKILL after [`GRACE_BEFORE_KILL`].
    async fn end(&mut self) -> io::Result<ExitStatus> {
        let group = self.0.id();
        signal(group, Signal::TERM);
        let status = match tokio::time::timeout(GRACE_BEFORE_KILL, self.0.wait()).await {
            Ok(status) => status,
            Err(_) => {
                signal(self.0.id(), Signal::KILL);
                self.0.wait().await
            }
        };
        // Other processes of the group may have ignored SIGTERM. As long as one of them lives, the system does not
        // reuse the id of the group. If none lives, the leader ended only a moment ago, which is too short for the id
        // to be reused.
        signal(group, Signal::KILL);
        status
    }
}

impl Drop for Leader {
    fn drop(&mut self) {
        // `id` is `None` once the process has been waited for, so the id cannot belong to another process.
        signal(self.0.id(), Signal::KILL);
    }
}

/// Sends a signal to a process group. Does nothing if the id is `None`.
fn signal(group: Option<u32>, signal: Signal) {
    let group = group.and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
    if let Some(group) = group {
        // The group may have ended already.
        let _ = kill_process_group(group, signal);
    }
}

/// Returns the exit code as shells define it.
fn exit_code(status: io::Result<ExitStatus>) -> i32 {
    match status {
        Ok(status) => {
            status.code().or_else(|| status.signal().map(|signal| SIGNAL_EXIT_CODE_BASE + signal)).unwrap_or(-1)
        }
        Err(error) => {
            tracing::warn!(%error, "cannot wait for a command");
            -1
        }
    }
}

/// Extracts the I/O error from a terminal's error.
fn plain(error: pty_process::Error) -> io::Error {
    match error {
        pty_process::Error::Io(error) => error,
        error => io::Error::other(error),
    }
}

fn lock(capture: &Capture) -> MutexGuard<'_, Captured> {
    capture.lock().unwrap_or_else(PoisonError::into_inner)
}
