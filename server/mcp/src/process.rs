//! A server as a process. It leads its own process group, so that all of its children can be killed with it. Its error
//! stream is logged.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::launch_folders::OwnFolder;

/// How long a server may take to exit after its input was closed.
pub const EXIT_TIMEOUT: Duration = Duration::from_secs(2);

/// How long a server may take to exit after SIGTERM.
pub const KILL_TIMEOUT: Duration = Duration::from_secs(1);

/// Most bytes of one line of the error stream in the log. The rest of a longer line is logged as another line.
pub const MAX_STDERR_LINE_BYTES: usize = 4096;

/// Bytes of the last line of the error stream that are shown with a failure.
const SHOWN_STDERR_BYTES: usize = 300;

/// How a server is started.
#[derive(Debug)]
pub(crate) struct Launch<'a> {
    /// Name of the server, for the log.
    pub(crate) server: &'a str,
    pub(crate) program: &'a Path,
    pub(crate) arguments: &'a [String],
    pub(crate) environment: &'a BTreeMap<OsString, OsString>,
    pub(crate) cwd: &'a Path,
}

/// A server that was started.
pub(crate) struct Started {
    pub(crate) output: ChildStdout,
    pub(crate) input: ChildStdin,
    /// The last line of its error stream.
    pub(crate) last_error_line: LastErrorLine,
    pub(crate) keeper: Keeper,
}

/// How long the last line of the error stream is waited for after a server has ended. Programs that it left behind may hold
/// the stream open.
const STDERR_TIMEOUT: Duration = Duration::from_millis(500);

/// The last line that a server wrote to its error stream.
#[derive(Debug, Clone)]
pub(crate) struct LastErrorLine {
    line: Arc<Mutex<String>>,
    /// Is cancelled when the stream has ended.
    ended: CancellationToken,
}

impl LastErrorLine {
    fn new() -> Self {
        Self { line: Arc::default(), ended: CancellationToken::new() }
    }

    /// Returns the line of a server without an error stream.
    pub(crate) fn none() -> Self {
        let none = Self::new();
        none.ended.cancel();
        none
    }

    /// Returns the line when the stream has ended, or after a while.
    pub(crate) async fn at_the_end(&self) -> Option<String> {
        let _ = timeout(STDERR_TIMEOUT, self.ended.cancelled()).await;
        self.get()
    }

    /// Returns the line, cut to a limit.
    fn get(&self) -> Option<String> {
        let line = self.line.lock().unwrap_or_else(PoisonError::into_inner).clone();
        (!line.is_empty()).then_some(line)
    }

    fn set(&self, line: &str) {
        let end = (0..=SHOWN_STDERR_BYTES.min(line.len())).rev().find(|&at| line.is_char_boundary(at)).unwrap_or(0);
        line[..end].clone_into(&mut self.line.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

/// Starts a server. Dropping its keeper kills it.
pub(crate) fn start(launch: &Launch<'_>) -> io::Result<Started> {
    let mut command = Command::new(launch.program);
    command
        .args(launch.arguments)
        .env_clear()
        .envs(launch.environment)
        .current_dir(launch.cwd)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .kill_on_drop(true);
    let mut child = command.spawn()?;
    let id = child.id().and_then(|id| Pid::from_raw(id.cast_signed()));
    let group = Group(id.expect("a process that was not waited for has an id"));
    let streams = child.stdout.take().zip(child.stdin.take());
    let (output, input) = streams.expect("both were asked for");
    let last_error_line = LastErrorLine::new();
    if let Some(errors) = child.stderr.take() {
        let (server, line) = (launch.server.to_owned(), last_error_line.clone());
        tokio::spawn(async move {
            let _ended = line.ended.clone().drop_guard();
            log(server, errors, line).await;
        });
    }
    Ok(Started { output, input, last_error_line, keeper: Keeper { child, group, folder: None } })
}

/// Watches a server until its end.
pub(crate) struct Keeper {
    child: Child,
    group: Group,
    /// The folder of the server. It is removed after all processes of the group have ended.
    folder: Option<OwnFolder>,
}

impl Keeper {
    /// Keeps the folder of the server until the server has ended.
    pub(crate) fn holds(&mut self, folder: OwnFolder) {
        self.folder = Some(folder);
    }

    /// Waits until the server has exited by itself, or ends it after `end` is cancelled. All processes of its group are
    /// then killed.
    ///
    /// To end it, the caller must also close its input, which is how the protocol asks a server to exit.
    pub(crate) async fn keep(mut self, end: CancellationToken) {
        tokio::select! {
            _ = self.child.wait() => return,
            () = end.cancelled() => {}
        }
        if timeout(EXIT_TIMEOUT, self.child.wait()).await.is_err() {
            self.group.signal(Signal::TERM);
            if timeout(KILL_TIMEOUT, self.child.wait()).await.is_err() {
                // When this function returns, no process of the group is left, including orphans.
                self.group.signal(Signal::KILL);
                let _ = timeout(KILL_TIMEOUT, self.child.wait()).await;
            }
        }
    }
}

/// A process group that is killed when this is dropped.
struct Group(Pid);

impl Group {
    fn signal(&self, signal: Signal) {
        if let Err(error) = kill_process_group(self.0, signal) {
            tracing::debug!(group = ?self.0, ?signal, %error, "the process group has already ended");
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
    }
}

/// Writes the error stream of a server to the log, line by line.
async fn log(server: String, mut errors: impl AsyncRead + Unpin, last_error_line: LastErrorLine) {
    let mut line = Vec::new();
    let mut buffer = [0; 1024];
    let tell = |line: &mut Vec<u8>| {
        let text = String::from_utf8_lossy(line);
        let text = text.trim_end();
        if !text.is_empty() {
            tracing::info!(%server, "{text}");
            last_error_line.set(text);
        }
        line.clear();
    };
    while let Ok(count @ 1..) = errors.read(&mut buffer).await {
        for byte in &buffer[..count] {
            line.push(*byte);
            if *byte == b'\n' || line.len() >= MAX_STDERR_LINE_BYTES {
                tell(&mut line);
            }
        }
    }
    tell(&mut line);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn launch<'a>(line: &'a [String; 2], environment: &'a BTreeMap<OsString, OsString>) -> Launch<'a> {
        Launch { server: "test", program: Path::new("/bin/sh"), arguments: line, environment, cwd: Path::new("/") }
    }

    fn line(script: &str) -> [String; 2] {
        ["-c".to_owned(), script.to_owned()]
    }

    async fn read_all(mut output: ChildStdout) -> String {
        let mut text = String::new();
        output.read_to_string(&mut text).await.expect("text");
        text
    }

    #[tokio::test]
    async fn a_server_sees_only_its_own_environment() {
        let environment = BTreeMap::from([("A".into(), "b".into())]);
        let started = start(&launch(&line("echo $A; env | grep -c CARGO"), &environment)).expect("a shell");
        assert_eq!(read_all(started.output).await, "b\n0\n");
        started.keeper.keep(CancellationToken::new()).await;
    }

    #[tokio::test]
    async fn nothing_of_a_server_is_left() {
        let environment = BTreeMap::from([("PATH".into(), "/usr/bin:/bin".into())]);
        // The child of the shell inherits the output, so the output ends only when both have ended.
        let script = line("trap '' TERM HUP; sleep 1000 & echo started; exec sleep 1000");
        let mut started = start(&launch(&script, &environment)).expect("a shell");
        let mut begun = [0; 8];
        started.output.read_exact(&mut begun).await.expect("the shell runs");
        drop(started.keeper);
        assert_eq!(read_all(started.output).await, "");
    }

    #[tokio::test]
    async fn a_server_ends_with_its_input() {
        let started = start(&launch(&line("cat; echo ended"), &BTreeMap::new())).expect("a shell");
        let end = CancellationToken::new();
        end.cancel();
        drop(started.input);
        let (output, ()) = tokio::join!(read_all(started.output), started.keeper.keep(end));
        assert_eq!(output, "ended\n");
    }

    #[tokio::test]
    async fn last_words_are_kept_in_bounds() {
        let script = line("echo first >&2; printf '%05000d\\n' 7 >&2; printf 'é%.0s' $(seq 400) >&2");
        let environment = BTreeMap::from([("PATH".into(), "/usr/bin:/bin".into())]);
        let started = start(&launch(&script, &environment)).expect("a shell");
        let words = started.last_error_line.clone();
        started.keeper.keep(CancellationToken::new()).await;
        words.ended.cancelled().await;
        let words = words.get().expect("words");
        assert!(words.len() <= SHOWN_STDERR_BYTES && words.ends_with('é'), "{words}");
    }
}
