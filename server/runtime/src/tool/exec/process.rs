//! A process with everything that it starts, and what they write.
//!
//! The process leads a group of its own, so that it can be ended with its children, but for those that begin a session of
//! their own. What it writes to either stream comes through one pipe, in the order it was written; on a terminal there is one
//! stream anyway.

use std::io;
use std::path::Path;
use std::process::{ExitStatus, Stdio};

use rustix::process::{Pid, Signal, kill_process, kill_process_group, test_kill_process};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::unix::pipe;
use tokio::process::{Child, Command};

use crate::environment::CommandEnvironment;

/// Rows of the terminal that a command runs on.
const TERMINAL_ROWS: u16 = 24;

/// Columns of the terminal that a command runs on.
const TERMINAL_COLUMNS: u16 = 120;

/// What every command finds in its environment: it writes to a model, not to a person at a terminal.
const ENVIRONMENT: [(&str, &str); 5] =
    [("TERM", "dumb"), ("NO_COLOR", "1"), ("PAGER", "cat"), ("GIT_PAGER", "cat"), ("GH_PAGER", "cat")];

/// How a process is started.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Launch<'a> {
    /// The program.
    pub(crate) program: &'a Path,
    /// Its words.
    pub(crate) arguments: &'a [String],
    /// Folder that it runs in.
    pub(crate) cwd: &'a Path,
    /// Which variables of the environment it gets.
    pub(crate) environment: &'a CommandEnvironment,
    /// Further variables that it does not inherit.
    pub(crate) hidden_variables: &'a [String],
    /// What it reads from and writes to.
    pub(crate) streams: Streams,
}

/// What a process reads from and writes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Streams {
    /// It reads nothing and writes to a pipe.
    Pipe,
    /// The same for a program that begins a session of its own at once, as the sandbox's launcher does: then it has no part in
    /// the terminal that the server may have.
    DetachedPipe,
    /// Both are a terminal.
    Terminal,
}

/// A process that runs.
#[derive(Debug)]
pub(crate) struct Process {
    child: Child,
    group: Pid,
    output: Output,
    input: Option<Input>,
}

enum Output {
    Pipe(pipe::Receiver),
    Terminal(pty_process::OwnedReadPty),
}

impl std::fmt::Debug for Output {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Self::Pipe(_) => "Pipe",
            Self::Terminal(_) => "Terminal",
        })
    }
}

/// What is written to a process on a terminal.
pub(crate) struct Input(pty_process::OwnedWritePty);

impl std::fmt::Debug for Input {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Input")
    }
}

impl Input {
    /// Writes all of the bytes; waits while the process does not read.
    ///
    /// # Errors
    ///
    /// When nobody reads any more.
    pub(crate) async fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.write_all(bytes).await
    }
}

impl Process {
    /// Starts a process.
    ///
    /// # Errors
    ///
    /// When the system does not: no such program or folder, no rights, no more processes.
    pub(crate) fn start(launch: Launch<'_>) -> io::Result<Self> {
        let mut command = Command::new(launch.program);
        command.args(launch.arguments).current_dir(launch.cwd).envs(ENVIRONMENT).kill_on_drop(true);
        for variable in launch.hidden_variables.iter().chain(launch.environment.removed()) {
            command.env_remove(variable);
        }
        command.envs(launch.environment.set());
        let (child, output, input) = match launch.streams {
            Streams::Pipe | Streams::DetachedPipe => {
                let (reader, writer) = io::pipe()?;
                let both = writer.try_clone()?;
                command.stdin(Stdio::null()).stdout(writer).stderr(both);
                if launch.streams == Streams::Pipe {
                    // Who leads a group cannot begin a session.
                    command.process_group(0);
                }
                let child = command.spawn()?;
                // The command holds our ends of the pipe; with them open the output would never end.
                drop(command);
                (child, Output::Pipe(pipe::Receiver::from_owned_fd(reader.into())?), None)
            }
            Streams::Terminal => {
                let (terminal, other_end) = pty_process::open().map_err(io::Error::other)?;
                terminal.resize(pty_process::Size::new(TERMINAL_ROWS, TERMINAL_COLUMNS)).map_err(io::Error::other)?;
                let child = pty_process::Command::from(command).spawn(other_end).map_err(|error| match error {
                    pty_process::Error::Io(error) => error,
                    other => io::Error::other(other),
                })?;
                let (output, input) = terminal.into_split();
                (child, Output::Terminal(output), Some(Input(input)))
            }
        };
        let group = child
            .id()
            .and_then(|id| Pid::from_raw(id.cast_signed()))
            .expect("a process that was not waited for has an id");
        Ok(Self { child, group, output, input })
    }

    /// Returns what writes to the process, once, if it is on a terminal.
    pub(crate) fn take_input(&mut self) -> Option<Input> {
        self.input.take()
    }

    /// Returns what is waited for and what is read, to do both at once.
    pub(crate) fn parts(&mut self) -> (&mut Child, Reader<'_>) {
        (&mut self.child, Reader(&mut self.output))
    }

    /// Asks the process and all that it started to end.
    pub(crate) fn terminate(&self) {
        self.signal(Signal::TERM);
    }

    /// Ends the process and all that it started.
    pub(crate) fn kill(&self) {
        self.signal(Signal::KILL);
    }

    /// Ends what the process left behind in its group. It has ended and was waited for.
    pub(crate) fn kill_leftovers(&self) {
        // The number is that of another process by now, whose group may be no business of ours.
        if test_kill_process(self.group).is_ok() {
            return;
        }
        let _ = kill_process_group(self.group, Signal::KILL);
    }

    fn signal(&self, signal: Signal) {
        let Err(error) = kill_process_group(self.group, signal) else { return };
        // A process that has not begun its session yet leads no group. One that was waited for has no id any more.
        match self.child.id() {
            Some(_) => drop(kill_process(self.group, signal)),
            None => tracing::debug!(group = ?self.group, ?signal, %error, "the process group is gone"),
        }
    }
}

/// Reads what a process writes.
#[derive(Debug)]
pub(crate) struct Reader<'a>(&'a mut Output);

impl Reader<'_> {
    /// Reads what comes next. Nothing means that all who could write have ended.
    pub(crate) async fn read(&mut self, buffer: &mut [u8]) -> usize {
        let result = match &mut self.0 {
            Output::Pipe(output) => output.read(buffer).await,
            Output::Terminal(output) => output.read(buffer).await,
        };
        // A terminal whose other end is closed reports an error: the end too.
        result.unwrap_or(0)
    }
}

/// Returns the code that a shell would show for the end of a process.
pub(crate) fn exit_code(status: ExitStatus) -> i32 {
    use std::os::unix::process::ExitStatusExt;
    status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0))
}
