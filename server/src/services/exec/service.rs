//! The methods of commands, and the mapping of clients' ids to running commands.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures_util::future::BoxFuture;
use tokio_util::task::TaskTracker;
use trace_protocol::RpcError;
use trace_protocol::command::{
    CommandExecOutputStream, CommandExecParams, CommandExecResizeParams, CommandExecResizeResponse,
    CommandExecResponse, CommandExecTerminateParams, CommandExecTerminateResponse, CommandExecWriteParams,
    CommandExecWriteResponse,
};
use trace_protocol::common::Nullable;
use trace_protocol::error::INVALID_PARAMS;
use trace_protocol::notification::{
    CommandExecOutputDeltaNotification, ProcessExitedNotification, ProcessOutputDeltaNotification,
};
use trace_protocol::process::{
    ProcessKillParams, ProcessKillResponse, ProcessOutputStream, ProcessResizePtyParams, ProcessResizePtyResponse,
    ProcessSpawnParams, ProcessWriteStdinParams, ProcessWriteStdinResponse,
};
use trace_protocol::settings::{NetworkAccess, SandboxPolicy as WirePolicy};
use trace_runtime::environment::CommandEnvironment;
use trace_runtime::settings::{ClosedTemporary, Network, SandboxPolicy};

use super::child::{ChildCommand, Ended, GRACE_BEFORE_KILL, Running, StdinKind, TerminalSize};
use super::input::WriteError;
use super::output::{Captured, DRAIN_TIMEOUT, Destination, Piece, Stream, ToNotification};
use crate::config::Config;
use crate::connection::ConnectionId;
use crate::services::fs::decoded;
use crate::services::notify::Notifier;
use crate::services::page::shortened;

/// Time limit of a command if the client sets none.
pub const TIMEOUT_DEFAULT: Duration = Duration::from_secs(10);
/// Limit of each output stream in bytes if the client sets none.
pub const OUTPUT_CAP_BYTES_DEFAULT: usize = 1024 * 1024;
/// Most commands of one connection that run at the same time.
pub const CHILDREN_PER_CONNECTION: usize = 64;
/// Size of a terminal if the client sets none.
const TERMINAL_SIZE_DEFAULT: TerminalSize = TerminalSize { rows: 24, columns: 80 };

/// Returns the command line that runs a command confined by a policy in a folder, or the reason why that is not
/// possible. It may block, because it may look at many files.
pub type Launcher =
    Arc<dyn Fn(&[String], &SandboxPolicy, &Path, &mut Environment) -> Result<Confined, String> + Send + Sync>;

/// A command line that runs a command confined.
#[derive(Default)]
pub struct Confined {
    /// The program and its arguments.
    pub line: Vec<String>,
    /// What to do after the command has ended, for whatever reason.
    pub then: Option<Cleanup>,
}

impl fmt::Debug for Confined {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Confined").field("line", &self.line).finish_non_exhaustive()
    }
}

impl From<Vec<String>> for Confined {
    fn from(line: Vec<String>) -> Self {
        Self { line, then: None }
    }
}

/// Work to do after a command has ended. It may block, because it may look at many files.
type Cleanup = Box<dyn FnOnce() + Send>;

/// Runs the work once, at the latest when it is dropped.
struct RunOnDrop(Option<Cleanup>);

impl Drop for RunOnDrop {
    fn drop(&mut self) {
        if let Some(then) = self.0.take() {
            let _ = std::thread::Builder::new().name("trace-after-command".to_owned()).spawn(then);
        }
    }
}

/// Variables to add to the server's environment, or to remove if the value is `None`.
pub type Environment = BTreeMap<String, Option<String>>;

/// Resolves to the response of a `command/exec`. Dropping it ends the command.
pub type Finish = BoxFuture<'static, CommandExecResponse>;

/// The lifetime of a `process/spawn`. The caller polls it after the request was answered. Dropping it ends the process.
pub type Life = BoxFuture<'static, ()>;

/// Serves `command/exec*` and `process/*`.
pub struct ExecService {
    cwd: PathBuf,
    launcher: Option<Launcher>,
    environment: Arc<CommandEnvironment>,
    children: Arc<Mutex<Children>>,
    unnamed: AtomicU64,
    /// Counts the commands that have not ended.
    lives: TaskTracker,
}

/// The running commands. The value is `None` while the command is being started.
type Children = HashMap<(ConnectionId, Name), Option<Arc<Running>>>;

/// The name of a command within its connection.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Name {
    /// The `processId` of `command/exec`.
    Command(String),
    /// The `processHandle` of `process/spawn`.
    Process(String),
    /// A number of the server, for a command that its client did not name.
    Unnamed(u64),
}

impl fmt::Display for Name {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Command(id) => write!(formatter, "command/exec for process id \"{}\"", shortened(id)),
            Self::Process(handle) => write!(formatter, "process for process handle \"{}\"", shortened(handle)),
            Self::Unnamed(_) => formatter.write_str("command"),
        }
    }
}

/// Removes a command from the table when it is dropped.
struct Listed {
    children: Arc<Mutex<Children>>,
    key: (ConnectionId, Name),
}

impl Drop for Listed {
    fn drop(&mut self) {
        lock(&self.children).remove(&self.key);
    }
}

impl fmt::Debug for ExecService {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("ExecService").field("cwd", &self.cwd).finish_non_exhaustive()
    }
}

impl ExecService {
    /// Creates the service. `cwd` is the folder of the server. Without a launcher, commands that have to be confined
    /// are refused.
    #[must_use]
    pub fn new(cwd: PathBuf, launcher: Option<Launcher>, environment: Arc<CommandEnvironment>) -> Self {
        Self {
            cwd,
            launcher,
            environment,
            children: Arc::default(),
            unnamed: AtomicU64::new(0),
            lives: TaskTracker::new(),
        }
    }

    /// Starts a command. The returned future resolves when the command ends, so run it where other requests do not wait
    /// for it.
    ///
    /// # Errors
    ///
    /// Returns an error if the params contradict each other, if the id is in use, or if the command cannot be started.
    pub async fn command_exec(
        &self,
        connection: ConnectionId,
        params: CommandExecParams,
        notifier: &Notifier,
        config: &Config,
    ) -> Result<Finish, RpcError> {
        check_command(&params)?;
        let cwd = params.cwd.as_ref().map_or_else(|| self.cwd.clone(), |cwd| self.cwd.join(cwd));
        let policy = match (&params.sandbox_policy, &params.permission_profile) {
            (Some(policy), _) => policy_of(policy),
            (None, Some(id)) => config.sandbox(Config::permission_profile(id).ok_or_else(|| {
                RpcError::invalid_request(format_args!("unknown permission profile: {}", shortened(id)))
            })?),
            (None, None) => config.sandbox(config.sandbox_mode),
        };
        let mut env = checked_env(params.env)?;
        let command = self.without_keys(&params.command, &mut env);
        let Confined { line, then } = self.confined(command, policy, cwd.clone(), &mut env).await?;
        let mut then = RunOnDrop(then);
        let streams = params.stream_stdout_stderr || params.tty;
        let destination = match (&params.process_id, streams) {
            (Some(id), true) => Destination::Streamed(Arc::clone(notifier), command_notification(id.clone())),
            _ => Destination::Buffered,
        };
        let order = ChildCommand {
            line,
            cwd,
            env,
            stdin: stdin_kind(params.tty, params.size.map(|size| (size.rows, size.cols)), params.stream_stdin)?,
            time: match params.disable_timeout {
                true => None,
                false => Some(params.timeout_ms.map_or(Ok(TIMEOUT_DEFAULT), duration)?),
            },
            cap: match params.disable_output_cap {
                true => None,
                false => Some(params.output_bytes_cap.map_or(OUTPUT_CAP_BYTES_DEFAULT, bytes)),
            },
            destination,
        };
        let name = match params.process_id {
            Some(id) => Name::Command(id),
            None => Name::Unnamed(self.unnamed.fetch_add(1, Ordering::Relaxed)),
        };
        let life = self.start((connection, name), order, notifier).await?;
        Ok(Box::pin(async move {
            let Ended { exit_code, out, err } = life.await;
            if let Some(then) = then.0.take() {
                // The client learns of the end only after this work is done.
                let _ = tokio::task::spawn_blocking(then).await;
            }
            CommandExecResponse { exit_code, stdout: text(&out), stderr: text(&err) }
        }))
    }

    /// Writes to a command's standard input, or closes it.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no such command, if its input is closed or not a pipe, or if it reads too slowly.
    pub fn command_write(
        &self,
        connection: ConnectionId,
        params: CommandExecWriteParams,
    ) -> Result<CommandExecWriteResponse, RpcError> {
        let CommandExecWriteParams { process_id, close_stdin, delta_base64 } = params;
        self.write(&(connection, Name::Command(process_id)), delta_base64, close_stdin)?;
        Ok(CommandExecWriteResponse {})
    }

    /// Ends a command.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no such command.
    pub fn command_terminate(
        &self,
        connection: ConnectionId,
        params: CommandExecTerminateParams,
    ) -> Result<CommandExecTerminateResponse, RpcError> {
        self.find(&(connection, Name::Command(params.process_id)))?.terminate();
        Ok(CommandExecTerminateResponse {})
    }

    /// Resizes the terminal of a command.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no such command, if it has no terminal, or if the size is invalid.
    pub fn command_resize(
        &self,
        connection: ConnectionId,
        params: CommandExecResizeParams,
    ) -> Result<CommandExecResizeResponse, RpcError> {
        let CommandExecResizeParams { process_id, size } = params;
        self.resize(&(connection, Name::Command(process_id)), size.rows, size.cols)?;
        Ok(CommandExecResizeResponse {})
    }

    /// Starts a process. The caller has to poll the returned future after the request was answered.
    ///
    /// # Errors
    ///
    /// Returns an error if the params contradict each other, if the handle is in use, or if the process cannot be
    /// started.
    pub async fn process_spawn(
        &self,
        connection: ConnectionId,
        params: ProcessSpawnParams,
        notifier: &Notifier,
    ) -> Result<Life, RpcError> {
        if params.command.is_empty() {
            return Err(RpcError::invalid_request("command must not be empty"));
        }
        if params.process_handle.is_empty() {
            return Err(RpcError::invalid_request("processHandle must not be empty"));
        }
        let process_handle = params.process_handle;
        let destination = match params.stream_stdout_stderr || params.tty {
            true => Destination::Streamed(Arc::clone(notifier), process_notification(process_handle.clone())),
            false => Destination::Buffered,
        };
        let mut env = checked_env(params.env)?;
        let order = ChildCommand {
            line: self.without_keys(&params.command, &mut env),
            cwd: params.cwd.as_path().to_owned(),
            env,
            stdin: stdin_kind(params.tty, params.size.map(|size| (size.rows, size.cols)), params.stream_stdin)?,
            time: match params.timeout_ms {
                Nullable::Absent => Some(TIMEOUT_DEFAULT),
                Nullable::Null => None,
                Nullable::Value(milliseconds) => Some(duration(milliseconds)?),
            },
            cap: match params.output_bytes_cap {
                Nullable::Absent => Some(OUTPUT_CAP_BYTES_DEFAULT),
                Nullable::Null => None,
                Nullable::Value(cap) => Some(bytes(cap)),
            },
            destination,
        };
        let life = self.start((connection, Name::Process(process_handle.clone())), order, notifier).await?;
        let notifier = Arc::clone(notifier);
        Ok(Box::pin(async move {
            let Ended { exit_code, out, err } = life.await;
            let exited = ProcessExitedNotification {
                exit_code,
                process_handle,
                stderr: text(&err),
                stderr_cap_reached: err.cap_reached,
                stdout: text(&out),
                stdout_cap_reached: out.cap_reached,
                output_drain_timed_out: Some(out.drain_timed_out || err.drain_timed_out),
            };
            notifier.notify(exited.into());
        }))
    }

    /// Writes to a process's standard input, or closes it.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no such process, if its input is closed or not a pipe, or if it reads too slowly.
    pub fn process_write(
        &self,
        connection: ConnectionId,
        params: ProcessWriteStdinParams,
    ) -> Result<ProcessWriteStdinResponse, RpcError> {
        let ProcessWriteStdinParams { process_handle, close_stdin, delta_base64 } = params;
        self.write(&(connection, Name::Process(process_handle)), delta_base64, close_stdin)?;
        Ok(ProcessWriteStdinResponse {})
    }

    ///
    /// # Errors
    ///
    /// Returns an error if there is no such process.
    pub fn process_kill(
        &self,
        connection: ConnectionId,
        params: ProcessKillParams,
    ) -> Result<ProcessKillResponse, RpcError> {
        self.find(&(connection, Name::Process(params.process_handle)))?.terminate();
        Ok(ProcessKillResponse {})
    }

    /// Resizes the terminal of a process.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no such process, if it has no terminal, or if the size is invalid.
    pub fn process_resize(
        &self,
        connection: ConnectionId,
        params: ProcessResizePtyParams,
    ) -> Result<ProcessResizePtyResponse, RpcError> {
        let ProcessResizePtyParams { process_handle, size } = params;
        self.resize(&(connection, Name::Process(process_handle)), size.rows, size.cols)?;
        Ok(ProcessResizePtyResponse {})
    }

    /// Ends all commands of a connection.
    pub fn closed(&self, connection: ConnectionId) {
        for ((owner, _), running) in lock(&self.children).iter() {
            if let Some(running) = running.as_ref().filter(|_| *owner == connection) {
                running.terminate();
            }
        }
    }

    /// Ends all commands, also those that are still being started.
    pub fn shutdown(&self) {
        self.lives.close();
        lock(&self.children).values().flatten().for_each(|running| running.terminate());
    }

    /// Waits until all commands have ended, or until killing them has had no effect for a while. Call it after
    /// [`shutdown`](Self::shutdown).
    pub async fn ended(&self) {
        if tokio::time::timeout(GRACE_BEFORE_KILL + 2 * DRAIN_TIMEOUT, self.lives.wait()).await.is_err() {
            tracing::warn!(commands = self.running(), "commands of clients do not end");
        }
    }

    /// Returns the number of running commands.
    #[must_use]
    pub fn running(&self) -> usize {
        lock(&self.children).len()
    }

    /// Returns a command line that runs the command without the server's keys, and removes the keys from the
    /// environment. Variables that the client sets itself stay.
    fn without_keys(&self, line: &[String], env: &mut Environment) -> Vec<String> {
        let given: Vec<String> =
            env.iter().filter(|(_, value)| value.is_some()).map(|(name, _)| name.clone()).collect();
        for name in self.environment.removed() {
            env.entry(name.clone()).or_insert(None);
        }
        for (name, value) in self.environment.set() {
            env.entry(name.clone()).or_insert_with(|| Some(value.clone()));
        }
        self.environment.guarded(line, given.iter().map(String::as_str))
    }

    /// Returns the command line that runs a command confined.
    async fn confined(
        &self,
        line: Vec<String>,
        policy: SandboxPolicy,
        cwd: PathBuf,
        env: &mut Environment,
    ) -> Result<Confined, RpcError> {
        match (policy, &self.launcher) {
            (SandboxPolicy::FullAccess | SandboxPolicy::External { .. }, _) => Ok(line.into()),
            (policy, Some(launcher)) => {
                let (launcher, mut given) = (Arc::clone(launcher), std::mem::take(env));
                let work = move || (launcher(&line, &policy, &cwd, &mut given), given);
                let (confined, given) = tokio::task::spawn_blocking(work).await.map_err(RpcError::internal)?;
                *env = given;
                confined.map_err(RpcError::internal)
            }
            (_, None) => Err(RpcError::invalid_request(
                "commands cannot be confined here; ask for a sandboxPolicy of type dangerFullAccess",
            )),
        }
    }

    /// Starts a command on a blocking thread.
    async fn start(
        &self,
        key: (ConnectionId, Name),
        order: ChildCommand,
        notifier: &Notifier,
    ) -> Result<BoxFuture<'static, Ended>, RpcError> {
        let program = order.line.first().cloned().unwrap_or_default();
        let listed = self.listed(key)?;
        let alive = self.lives.token();
        let started = tokio::task::spawn_blocking(move || Running::start(order)).await.map_err(RpcError::internal)?;
        let (running, life) = started
            .map_err(|error| RpcError::internal(format_args!("failed to spawn `{}`: {error}", shortened(&program))))?;
        let running = Arc::new(running);
        lock(&self.children).insert(listed.key.clone(), Some(Arc::clone(&running)));
        if notifier.has_ended() || self.lives.is_closed() {
            // The commands may have been ended before this one was in the table.
            running.terminate();
        }
        Ok(Box::pin(async move {
            let ended = life.await;
            drop((listed, alive));
            ended
        }))
    }

    /// Adds a command to the table.
    fn listed(&self, key: (ConnectionId, Name)) -> Result<Listed, RpcError> {
        let mut children = lock(&self.children);
        if children.contains_key(&key) {
            return Err(RpcError::invalid_request(format_args!("duplicate active {}", key.1)));
        }
        if children.keys().filter(|(owner, _)| *owner == key.0).count() >= CHILDREN_PER_CONNECTION {
            return Err(RpcError::invalid_request(format_args!(
                "a connection may run {CHILDREN_PER_CONNECTION} commands at once; wait for one of them"
            )));
        }
        children.insert(key.clone(), None);
        Ok(Listed { children: Arc::clone(&self.children), key })
    }

    fn find(&self, key: &(ConnectionId, Name)) -> Result<Arc<Running>, RpcError> {
        let found = lock(&self.children).get(key).cloned().flatten();
        found.ok_or_else(|| RpcError::invalid_request(format_args!("no active {}", key.1)))
    }

    fn write(&self, key: &(ConnectionId, Name), delta: Option<String>, closes: bool) -> Result<(), RpcError> {
        if delta.is_none() && !closes {
            return Err(RpcError::new(INVALID_PARAMS, "deltaBase64 or closeStdin is required"));
        }
        let bytes = delta.map(|delta| decoded("deltaBase64", &delta)).transpose()?;
        let running = self.find(key)?;
        let input = running
            .input
            .as_ref()
            .ok_or_else(|| RpcError::invalid_request("stdin streaming is not enabled for this process"))?;
        if let Some(bytes) = bytes {
            input.write(bytes).map_err(|error| match error {
                WriteError::Closed => RpcError::invalid_request("stdin is closed"),
                WriteError::Full => {
                    RpcError::invalid_request("the process reads its stdin too slowly; write again later")
                }
            })?;
        }
        if closes {
            input.close();
        }
        Ok(())
    }

    fn resize(&self, key: &(ConnectionId, Name), rows: u16, columns: u16) -> Result<(), RpcError> {
        let size = terminal_size(rows, columns)?;
        match self.find(key)?.resize(size) {
            Some(Ok(())) => Ok(()),
            Some(Err(error)) => Err(RpcError::internal(format_args!("cannot resize the terminal: {error}"))),
            None => Err(RpcError::invalid_request("the process is not attached to a terminal")),
        }
    }
}

/// Returns an error if params of `command/exec` contradict each other.
fn check_command(params: &CommandExecParams) -> Result<(), RpcError> {
    let invalid = |message: &str| Err(RpcError::invalid_request(message));
    let contradictory = |message: &str| Err(RpcError::new(INVALID_PARAMS, message));
    if params.command.is_empty() {
        return invalid("command must not be empty");
    }
    if params.process_id.is_none() && (params.tty || params.stream_stdin || params.stream_stdout_stderr) {
        return invalid("command/exec with tty or streaming requires a processId");
    }
    if params.sandbox_policy.is_some() && params.permission_profile.is_some() {
        return invalid("permissionProfile cannot be combined with sandboxPolicy");
    }
    if params.timeout_ms.is_some() && params.disable_timeout {
        return contradictory("timeoutMs cannot be combined with disableTimeout");
    }
    if params.output_bytes_cap.is_some() && params.disable_output_cap {
        return contradictory("outputBytesCap cannot be combined with disableOutputCap");
    }
    Ok(())
}

/// Returns an error if the system does not allow the name of a variable.
fn checked_env(env: Option<Environment>) -> Result<Environment, RpcError> {
    let env = env.unwrap_or_default();
    match env.keys().find(|name| name.is_empty() || name.contains(['=', '\0'])) {
        Some(name) => Err(RpcError::new(
            INVALID_PARAMS,
            format_args!("`{}` is not a valid name of a variable", shortened(name).escape_debug()),
        )),
        None => Ok(env),
    }
}

fn stdin_kind(tty: bool, size: Option<(u16, u16)>, streams: bool) -> Result<StdinKind, RpcError> {
    match (tty, size, streams) {
        (true, Some((rows, columns)), _) => Ok(StdinKind::Terminal(terminal_size(rows, columns)?)),
        (true, None, _) => Ok(StdinKind::Terminal(TERMINAL_SIZE_DEFAULT)),
        (false, Some(_), _) => Err(RpcError::new(INVALID_PARAMS, "size requires tty")),
        (false, None, true) => Ok(StdinKind::Pipe),
        (false, None, false) => Ok(StdinKind::Empty),
    }
}

fn terminal_size(rows: u16, columns: u16) -> Result<TerminalSize, RpcError> {
    match rows == 0 || columns == 0 {
        true => Err(RpcError::new(INVALID_PARAMS, "rows and cols must be greater than 0")),
        false => Ok(TerminalSize { rows, columns }),
    }
}

fn duration(milliseconds: i64) -> Result<Duration, RpcError> {
    u64::try_from(milliseconds).map(Duration::from_millis).map_err(|_| {
        RpcError::new(INVALID_PARAMS, format_args!("timeoutMs must not be negative, and is {milliseconds}"))
    })
}

/// Converts a number of bytes. A number that is too large for `usize` becomes the largest one.
fn bytes(cap: u64) -> usize {
    usize::try_from(cap).unwrap_or(usize::MAX)
}

/// Converts output to text. Bytes that are not UTF-8 become replacement characters, because JSON cannot contain them.
fn text(captured: &Captured) -> String {
    String::from_utf8_lossy(&captured.bytes).into_owned()
}

fn command_notification(process_id: String) -> ToNotification {
    Arc::new(move |Piece { stream, bytes, cap_reached }| {
        let stream = match stream {
            Stream::Out => CommandExecOutputStream::Stdout,
            Stream::Err => CommandExecOutputStream::Stderr,
        };
        let delta_base64 = STANDARD.encode(bytes);
        CommandExecOutputDeltaNotification { cap_reached, delta_base64, process_id: process_id.clone(), stream }.into()
    })
}

fn process_notification(process_handle: String) -> ToNotification {
    Arc::new(move |Piece { stream, bytes, cap_reached }| {
        let stream = match stream {
            Stream::Out => ProcessOutputStream::Stdout,
            Stream::Err => ProcessOutputStream::Stderr,
        };
        let delta_base64 = STANDARD.encode(bytes);
        ProcessOutputDeltaNotification { cap_reached, delta_base64, process_handle: process_handle.clone(), stream }
            .into()
    })
}

/// Converts a sandbox policy.
fn policy_of(policy: &WirePolicy) -> SandboxPolicy {
    let network = |open: bool| if open { Network::Open } else { Network::Closed };
    match policy {
        WirePolicy::DangerFullAccess => SandboxPolicy::FullAccess,
        WirePolicy::ReadOnly { network_access } => SandboxPolicy::ReadOnly { network: network(*network_access) },
        WirePolicy::ExternalSandbox { network_access } => {
            SandboxPolicy::External { network: network(*network_access == NetworkAccess::Enabled) }
        }
        WirePolicy::WorkspaceWrite { exclude_slash_tmp, exclude_tmpdir_env_var, network_access, writable_roots } => {
            SandboxPolicy::WorkspaceWrite {
                writable_roots: writable_roots.iter().map(|root| root.as_path().to_owned()).collect(),
                network: network(*network_access),
                closed: ClosedTemporary { tmpdir: *exclude_tmpdir_env_var, slash_tmp: *exclude_slash_tmp },
            }
        }
    }
}

fn lock(children: &Mutex<Children>) -> MutexGuard<'_, Children> {
    children.lock().unwrap_or_else(PoisonError::into_inner)
}
