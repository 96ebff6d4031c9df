//! A process with its descendants and their output.
//!
//! The process leads a process group, so that it can be killed with its descendants, except those that start a session.
//! Both output streams use one pipe, which keeps their order; a terminal has only one stream.

use std::io;
use std::path::Path;
use std::process::{ExitStatus, Stdio};

use rustix::process::{Pid, Signal, kill_process, kill_process_group, test_kill_process};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::unix::pipe;
use tokio::process::{Child, Command};

use crate::environment::CommandEnvironment;

/// Rows of a command's terminal.
const TERMINAL_ROWS: u16 = 24;

/// Columns of a command's terminal.
const TERMINAL_COLUMNS: u16 = 120;

/// Environment variables of every command: its output is read by a model, not by a person at a terminal.
const ENVIRONMENT: [(&str, &str); 5] =
    [("TERM", "dumb"), ("NO_COLOR", "1"), ("PAGER", "cat"), ("GIT_PAGER", "cat"), ("GH_PAGER", "cat")];

/// How a process is started.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Launch<'a> {
    /// Path of the program.
    pub(crate) program: &'a Path,
    /// Arguments of the program.
    pub(crate) arguments: &'a [String],
    /// Working folder.
    pub(crate) cwd: &'a Path,
    /// Which environment variables the process gets.
    pub(crate) environment: &'a CommandEnvironment,
    /// Further variables that the process does not inherit.
    pub(crate) hidden_variables: &'a [String],
    /// Input and output.
    pub(crate) streams: Streams,
}

/// Input and output of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Streams {
    /// No input, output to a pipe.
    Pipe,
    /// The same for a program that starts a session at once, as the launcher of the sandbox does, and so has no access to
    /// the terminal of the server.
    DetachedPipe,
    /// A terminal for both.
    Terminal,
}

/// A running process.
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

/// Writes to a process on a terminal.
pub(crate) struct Input(pty_process::OwnedWritePty);

impl std::fmt::Debug for Input {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Input")
    }
}

impl Input {
    /// Writes all bytes. Waits while the process does not read.
    ///
    /// # Errors
    ///
    /// Returns an error if the terminal was closed.
    pub(crate) async fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.write_all(bytes).await
    }
}

impl Process {
    /// Starts a process.
    ///
    /// # Errors
    ///
    /// Returns an error if the system refuses: the program or folder is missing, the user has no permission, or there are
    /// too many processes.
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
                    // The leader of a process group cannot start a session.
                    command.process_group(0);
                }
                let child = command.spawn()?;
                // The command holds our ends of the pipe. While they are open, the output would never end.
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

    /// Returns the writer for the terminal, once. `None` if the process has no terminal.
    pub(crate) fn take_input(&mut self) -> Option<Input> {
        self.input.take()
    }

    /// Returns the child to wait for and the reader of its output, so that both can be used concurrently.
    pub(crate) fn parts(&mut self) -> (&mut Child, Reader<'_>) {
        (&mut self.child, Reader(&mut self.output))
    }

    /// Asks the process and its descendants to end.
    pub(crate) fn terminate(&self) {
        self.signal(Signal::TERM);
    }

    /// Kills the process and its descendants.
    pub(crate) fn kill(&self) {
        self.signal(Signal::KILL);
    }

    /// Kills what the process left behind in its group, after it has ended and was waited for.
    pub(crate) fn kill_leftovers(&self) {
        // The pid belongs to another process by now, so the group may not be ours.
        if test_kill_process(self.group).is_ok() {
            return;
        }
        let _ = kill_process_group(self.group, Signal::KILL);
    }

    fn signal(&self, signal: Signal) {
        let Err(error) = kill_process_group(self.group, signal) else { return };
        // A process that has not started its session yet leads no group. One that was waited for has no id any more.
        match self.child.id() {
            Some(_) => drop(kill_process(self.group, signal)),
            None => tracing::debug!(group = ?self.group, ?signal, %error, "the process group is gone"),
        }
    }
}

/// Reads the output of a process.
#[derive(Debug)]
pub(crate) struct Reader<'a>(&'a mut Output);

impl Reader<'_> {
    /// Reads the next bytes. Returns 0 once all writers have ended.
    pub(crate) async fn read(&mut self, buffer: &mut [u8]) -> usize {
        let result = match &mut self.0 {
            Output::Pipe(output) => output.read(buffer).await,
            Output::Terminal(output) => output.read(buffer).await,
        };
        // A closed terminal reports an error, which means the end too.
        result.unwrap_or(0)
    }
}

/// Returns the exit code that a shell would report.
pub(crate) fn exit_code(status: ExitStatus) -> i32 {
    use std::os::unix::process::ExitStatusExt;
    status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0))
}
