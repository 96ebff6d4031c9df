//! One running command: its streams, its time, its end.
//!
//! A command leads a process group of its own, and on a terminal a session of its own. It is ended as a group: first it
//! is asked, then it is killed. What it started and left running when it ended by itself goes on.

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

/// How long a command that is asked to end may take before it is killed.
pub const GRACE_BEFORE_KILL: Duration = Duration::from_secs(2);

/// Exit code of a command whose time was up.
pub(super) const TIMED_OUT_EXIT_CODE: i32 = 124;
/// What is added to a signal to make the exit code of a command that it ended.
const SIGNAL_EXIT_CODE_BASE: i32 = 128;

/// A command to be run.
pub(super) struct ChildCommand {
    /// The program and its words; not empty.
    pub(super) line: Vec<String>,
    pub(super) cwd: PathBuf,
    /// Variables that are set, or with `None` taken away.
    pub(super) env: BTreeMap<String, Option<String>>,
    pub(super) stdin: StdinKind,
    pub(super) time: Option<Duration>,
    pub(super) cap: Option<usize>,
    pub(super) destination: Destination,
}

/// What a command reads from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StdinKind {
    /// Nothing.
    Empty,
    /// What is written to it.
    Pipe,
    /// A terminal, which is its output too.
    Terminal(TerminalSize),
}

/// How many characters a terminal shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TerminalSize {
    pub(super) rows: u16,
    pub(super) columns: u16,
}

/// How a command ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Ended {
    pub(super) exit_code: i32,
    pub(super) out: Captured,
    pub(super) err: Captured,
}

/// A command that runs.
pub(super) struct Running {
    /// The way to its standard input, if it is written to.
    pub(super) input: Option<Input>,
    /// Its terminal, if it has one.
    terminal: Option<OwnedFd>,
    terminate: CancellationToken,
}

impl Running {
    /// Starts a command. The future is its life: it has to be polled for anything to happen, and ends the command when it
    /// is dropped.
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
        // What a command prints is not told before the life is run: whoever started it may have to answer first.
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
            // Dropped with the life, and all their tasks with them.
            let mut readers: JoinSet<()> = reading.into_iter().collect();
            let writers: JoinSet<()> = writing.into_iter().collect();
            let exit_code = lived(leader, time, &terminate).await;
            ended.cancel();
            tokio::select! {
                () = async { while readers.join_next().await.is_some() {} } => {}
                // Nobody waits for the rest of what a command prints that was told to end.
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

    /// Ends the command, soon.
    pub(super) fn terminate(&self) {
        self.terminate.cancel();
    }

    /// Gives the terminal another size. `None` says that there is no terminal.
    pub(super) fn resize(&self, size: TerminalSize) -> Option<io::Result<()>> {
        let TerminalSize { rows, columns } = size;
        let size = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        self.terminal.as_ref().map(|terminal| Ok(tcsetwinsize(terminal, size)?))
    }
}

/// Waits for the end of a command, or brings it about. Returns the exit code.
async fn lived(mut leader: Leader, time: Option<Duration>, terminate: &CancellationToken) -> i32 {
    // A time that is further away than clocks go is no limit.
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
            // How it took that does not matter.
            let _ = leader.end().await;
            TIMED_OUT_EXIT_CODE
        }
    }
}

/// The first process of a command, whose group ends with it if it is dropped before it has ended.
struct Leader(Child);

impl Leader {
    /// Asks the group to end, and kills it when it does not.
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
        // Others of the group may not have listened. While one of them lives, nobody else can get the group's number; if
        // none does, this comes too soon after the leader's end for the number to be in use again.
        signal(group, Signal::KILL);
        status
    }
}

impl Drop for Leader {
    fn drop(&mut self) {
        // The number is there as long as the process has not been waited for, so it is nobody else's.
        signal(self.0.id(), Signal::KILL);
    }
}

/// Sends a signal to a process group, if there is one.
fn signal(group: Option<u32>, signal: Signal) {
    let group = group.and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
    if let Some(group) = group {
        // It may have ended by itself.
        let _ = kill_process_group(group, signal);
    }
}

/// Returns an exit as shells count it.
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

/// Returns the error below a terminal's.
fn plain(error: pty_process::Error) -> io::Error {
    match error {
        pty_process::Error::Io(error) => error,
        error => io::Error::other(error),
    }
}

fn lock(capture: &Capture) -> MutexGuard<'_, Captured> {
    capture.lock().unwrap_or_else(PoisonError::into_inner)
}
