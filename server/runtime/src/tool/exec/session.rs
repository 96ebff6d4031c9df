//! The life of a command: its output is added to its item while it runs, and kept for the model.
//!
//! A separate task watches each command, so that nothing depends on the callers that wait for it. The item completes once
//! the command has ended, even if the callers are gone. The deltas of the item, joined, are its output. Stopping a command
//! stops its descendants.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::future::BoxFuture;
use serde_json::json;
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, sleep_until, timeout};
use tokio_util::sync::CancellationToken;
use trace_recorder::format::{ExecutionStatus, ToolKind};
use trace_recorder::write::{Json, ToolTrace};
use uuid::Uuid;

use super::output::{Decoder, HeadAndTail, ItemOutput};
use super::process::{self, Input, Process};
use super::report;
use crate::event::{Delta, EventKind};
use crate::id::{ItemId, TurnId};
use crate::item::{CommandAction, CommandItem, CommandSource, ItemKind, WorkStatus};
use crate::open_item::OpenItem;
use crate::sandbox::{ControlGroup, Watch};
use crate::settings::Settings;
use crate::terminal::{Background, Terminal};
use crate::tool::ToolAgent;

/// How long a command that is asked to end may take before it is killed.
pub const KILL_GRACE: Duration = Duration::from_millis(500);

/// How long to wait for the end of the output after a command has ended, while a descendant still holds the output open.
pub const DRAIN_GRACE: Duration = Duration::from_millis(200);

/// Size of the read buffer.
const READ_BYTES: usize = 32 * 1024;

/// Most reads after the time for the output of an ended command is over. A pipe holds two of them.
const LATE_READS: usize = 4;

/// Most writes to a command that are queued.
const WAITING_WRITES: usize = 16;

/// Most ended commands of one agent whose end the model has not seen. With more, the oldest are forgotten.
pub const MAX_UNHEARD_ENDS: usize = 64;

/// Most commands of one agent that run at the same time, including those that are waited for.
pub const MAX_COMMANDS_AT_ONCE: usize = 128;

/// The commands of one agent whose end the model has not seen, by the id that the model knows.
#[derive(Debug, Default)]
pub(super) struct Sessions(Mutex<BTreeMap<u32, Option<Arc<Session>>>>);

impl Sessions {
    /// Reserves an id that no other command of the agent has. `None` while too many commands run.
    pub(super) fn reserve(&self) -> Option<u32> {
        let mut sessions = self.lock();
        let runs = |session: &&Option<Arc<Session>>| session.as_ref().is_none_or(|session| !session.has_ended());
        if sessions.values().filter(runs).count() >= MAX_COMMANDS_AT_ONCE {
            return None;
        }
        loop {
            // Five random digits: a model that remembers an id from before the agent was reloaded is unlikely to reach
            // another command.
            let id = 10_000 + (Uuid::now_v7().as_u128() % 90_000) as u32;
            if let std::collections::btree_map::Entry::Vacant(free) = sessions.entry(id) {
                free.insert(None);
                return Some(id);
            }
        }
    }

    /// Returns a command that runs, or whose end was not reported yet.
    pub(super) fn get(&self, id: u32) -> Option<Arc<Session>> {
        self.lock().get(&id).cloned().flatten()
    }

    fn insert(&self, session: &Arc<Session>) {
        let mut sessions = self.lock();
        sessions.insert(session.id, Some(Arc::clone(session)));
        let mut ended: Vec<(Instant, u32)> = sessions
            .values()
            .flatten()
            .filter(|session| session.has_ended())
            .map(|session| (session.begun, session.id))
            .collect();
        ended.sort_unstable();
        for (_, id) in ended.iter().rev().skip(MAX_UNHEARD_ENDS) {
            sessions.remove(id);
        }
    }

    /// Removes a command because the model has seen its end, or because it never started.
    pub(super) fn remove(&self, id: u32) {
        self.lock().remove(&id);
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<u32, Option<Arc<Session>>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A command that is about to start.
#[derive(Debug)]
pub(super) struct NewSession {
    pub(super) id: u32,
    pub(super) turn: TurnId,
    pub(super) call: ItemId,
    pub(super) argv: Vec<String>,
    pub(super) item: CommandItem,
    pub(super) timeout: Option<Duration>,
    pub(super) leftovers: Leftovers,
    pub(super) settings: Arc<Settings>,
    pub(super) basis: Basis,
    /// The repositories before the command, if it is confined.
    pub(super) watch: Option<Watch>,
    /// The control group of the command, if it has one.
    pub(super) group: Option<Arc<ControlGroup>>,
}

/// Why a command has its rights.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Basis {
    /// The settings allow it.
    Policy,
    /// A user agreed to run it outside of the sandbox that the settings ask for.
    Agreement,
}

/// What happens to processes that a command left behind and that no longer hold its output. Users cannot list or stop them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Leftovers {
    /// They continue: the command was not confined.
    Stay,
    /// They are killed when the command ends.
    End,
}

/// A command that runs or has ended.
#[derive(Debug)]
pub(super) struct Session {
    id: u32,
    turn: TurnId,
    call: ItemId,
    item: ItemId,
    command: String,
    cwd: PathBuf,
    begun: Instant,
    unread: Mutex<HeadAndTail>,
    ended: watch::Sender<Option<Ended>>,
    /// Cancelled when the output has ended and nothing reads it any more: the process group is gone or belongs to another
    /// process.
    released: CancellationToken,
    stop: CancellationToken,
    writes: Option<mpsc::Sender<String>>,
    settings: Arc<Settings>,
    basis: Basis,
}

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Ended {
    /// The exit code that a shell would report.
    pub(super) code: i32,
    /// Why it ended.
    pub(super) cause: Cause,
}

/// What ended a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cause {
    /// The command exited by itself.
    Itself,
    /// The timeout.
    Timeout,
    /// A user or the model stopped it.
    Stopped,
}

impl Session {
    /// Returns whether text may be written to the command under these settings: typed input has the rights of the command.
    pub(super) fn may_be_told(&self, now: &Settings) -> bool {
        match self.basis {
            Basis::Policy => now.allow_what_was_started(&self.settings),
            Basis::Agreement => now.allow_what_was_agreed(&self.settings),
        }
    }

    /// Watches over a process and its item until both have ended.
    pub(super) fn start(
        agent: &ToolAgent,
        new: NewSession,
        mut process: Process,
        open: OpenItem,
        trace: ToolTrace,
    ) -> Arc<Self> {
        let input = process.take_input();
        let (writes, written) = mpsc::channel(WAITING_WRITES);
        let session = Arc::new(Self {
            id: new.id,
            turn: new.turn.clone(),
            call: new.call.clone(),
            item: open.id().clone(),
            command: new.item.command.clone(),
            cwd: new.item.cwd.clone(),
            begun: Instant::now(),
            unread: Mutex::new(report::unread()),
            ended: watch::Sender::new(None),
            released: CancellationToken::new(),
            stop: CancellationToken::new(),
            writes: input.is_some().then_some(writes),
            settings: Arc::clone(&new.settings),
            basis: new.basis,
        });
        agent.extension::<Sessions>().insert(&session);
        let begun = Begun { at: session.begun, at_ms: agent.now_ms() };
        trace.start_runtime(ToolKind::ExecCommand, Json(&begun_report(&session, &new, begun)));
        let watcher = Watcher {
            agent: agent.clone(),
            session: Arc::clone(&session),
            new,
            process,
            input,
            written,
            open,
            trace,
            begun,
            decoder: Decoder::default(),
            output: ItemOutput::default(),
        };
        tokio::spawn(watcher.watch());
        session
    }

    /// Returns the id of the command for the model.
    pub(super) fn id(&self) -> String {
        self.id.to_string()
    }

    /// Returns the id of the call that started the command.
    pub(super) fn call(&self) -> &ItemId {
        &self.call
    }

    /// Waits for the end of the command. Its item has completed then.
    pub(super) async fn ended(&self) -> Ended {
        let mut ended = self.ended.subscribe();
        let ended = ended.wait_for(Option::is_some).await.expect("the session holds the sender");
        ended.expect("waited for")
    }

    /// Adds the command to the list of background commands.
    pub(super) fn keep(self: &Arc<Self>, agent: &ToolAgent) {
        agent.terminals().keep(Arc::clone(self) as Arc<dyn Background>);
        if self.released.is_cancelled() {
            // The command ended in the meantime, and nothing else would remove it.
            agent.terminals().forget(&self.id());
        }
    }

    /// Returns whether the command has ended.
    pub(super) fn has_ended(&self) -> bool {
        self.ended.borrow().is_some()
    }

    /// Stops the command and its descendants.
    pub(super) fn stop(&self) {
        self.stop.cancel();
    }

    /// Takes the output since the last call.
    pub(super) fn take_unread(&self) -> HeadAndTail {
        std::mem::replace(&mut *self.unread(), report::unread())
    }

    /// Returns the queue for input, if the command is on a terminal.
    pub(super) fn writes(&self) -> Option<&mpsc::Sender<String>> {
        self.writes.as_ref()
    }

    fn unread(&self) -> MutexGuard<'_, HeadAndTail> {
        self.unread.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Background for Session {
    fn terminal(&self) -> Terminal {
        Terminal {
            turn: self.turn.clone(),
            item: self.item.clone(),
            process_id: self.id(),
            command: self.command.clone(),
            cwd: self.cwd.clone(),
        }
    }

    fn kill(&self) -> BoxFuture<'static, ()> {
        self.stop();
        let released = self.released.clone();
        Box::pin(async move { released.cancelled().await })
    }
}

/// When a command started.
#[derive(Debug, Clone, Copy)]
struct Begun {
    at: Instant,
    at_ms: i64,
}

/// Watches over a command.
struct Watcher {
    agent: ToolAgent,
    session: Arc<Session>,
    new: NewSession,
    process: Process,
    input: Option<Input>,
    written: mpsc::Receiver<String>,
    open: OpenItem,
    trace: ToolTrace,
    begun: Begun,
    decoder: Decoder,
    output: ItemOutput,
}

/// Whether the output of a command has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stream {
    Open,
    Ended,
}

impl Watcher {
    async fn watch(mut self) {
        let typing = self.input.take().map(|mut input| {
            let (typed, mut keys) = mpsc::channel::<String>(WAITING_WRITES);
            // A command that does not read its input must not block the reading of its output.
            tokio::spawn(async move {
                while let Some(text) = keys.recv().await {
                    if input.write(text.as_bytes()).await.is_err() {
                        break;
                    }
                }
            });
            typed
        });
        let (ended, stream) = self.run(typing).await;
        if ended.cause != Cause::Itself {
            // Descendants may still run.
            self.process.kill();
        }
        let leftovers = self.new.leftovers;
        let lingers = stream == Stream::Open && ended.cause == Cause::Itself;
        let group = self.new.group.take();
        if leftovers == Leftovers::End && !lingers {
            self.process.kill_leftovers();
            if let Some(group) = &group {
                group.kill();
            }
        }
        let mut watch = self.new.watch.take();
        if let Some(said) = checked(&mut watch).await {
            self.take(&said);
        }
        let Remains { agent, session, mut process } = self.complete(ended);
        session.ended.send_replace(Some(ended));
        if lingers {
            linger(&agent, &session, &mut process).await;
            if leftovers == Leftovers::End {
                process.kill_leftovers();
                if let Some(group) = &group {
                    group.kill();
                }
            }
            if let Some(said) = checked(&mut watch).await {
                agent.event(EventKind::Warning { message: said });
            }
        }
        if let Some(watch) = watch {
            watch.end();
        }
        drop(group);
        // The order matters: a task that adds the session to the list checks afterwards whether it was released.
        session.released.cancel();
        agent.terminals().forget(&session.id());
    }

    /// Forwards the output of the command until it has ended.
    async fn run(&mut self, typing: Option<mpsc::Sender<String>>) -> (Ended, Stream) {
        let timeout = self.new.timeout.map(|timeout| self.begun.at + timeout);
        let mut cause = Cause::Itself;
        let mut kill_at = None;
        let mut exit = None;
        let mut drain_until = None;
        let mut stream = Stream::Open;
        let mut ready: Option<BoxFuture<'static, ()>> = None;
        let mut buffer = vec![0; READ_BYTES];
        let far = self.begun.at + Duration::from_secs(u32::MAX.into());
        loop {
            if let Some(code) = exit
                && stream == Stream::Ended
            {
                return (Ended { code, cause }, stream);
            }
            let (child, mut reader) = self.process.parts();
            // The order matters: a command that never stops writing can still be stopped.
            tokio::select! {
                biased;
                () = self.session.stop.cancelled(), if cause == Cause::Itself && exit.is_none() => {
                    cause = Cause::Stopped;
                    self.process.terminate();
                    kill_at = Some(Instant::now() + KILL_GRACE);
                    // Stopping does not wait for a slow host.
                    ready = None;
                }
                () = sleep_until(timeout.unwrap_or(far)), if timeout.is_some() && cause == Cause::Itself && exit.is_none() => {
                    cause = Cause::Timeout;
                    self.process.terminate();
                    kill_at = Some(Instant::now() + KILL_GRACE);
                    ready = None;
                }
                () = sleep_until(kill_at.unwrap_or(far)), if kill_at.is_some() => {
                    self.process.kill();
                    kill_at = None;
                }
                () = sleep_until(drain_until.unwrap_or(far)), if drain_until.is_some() && ready.is_none() => {
                    stream = self.read_late(&mut buffer).await;
                    return (Ended { code: exit.unwrap_or(-1), cause }, stream);
                }
                status = child.wait(), if exit.is_none() => {
                    exit = Some(status.map_or(-1, process::exit_code));
                    drain_until = Some(Instant::now() + DRAIN_GRACE);
                }
                Some((permit, text)) = next_input(typing.as_ref(), &mut self.written) => {
                    let process_id = self.session.id();
                    self.open.grow(Delta::TerminalInput { process_id, text: text.clone() });
                    permit.send(text);
                }
                () = async { ready.as_mut().expect("checked").await }, if ready.is_some() => {
                    ready = None;
                    // The pipe was not read while the host was busy, so it may still contain output.
                    drain_until = exit.map(|_| Instant::now() + DRAIN_GRACE);
                }
                length = reader.read(&mut buffer), if stream == Stream::Open && ready.is_none() => {
                    if length == 0 {
                        stream = Stream::Ended;
                        let rest = self.decoder.finish();
                        self.take(&rest);
                    } else {
                        let text = self.decoder.decode(&buffer[..length]);
                        self.take(&text);
                        ready = (cause == Cause::Itself).then(|| self.agent.ready());
                    }
                }
            }
        }
    }

    /// Reads what is in the pipe of an ended command now. On a busy machine the time for it may be over before the pipe was read
    /// once. Returns whether the stream has ended.
    async fn read_late(&mut self, buffer: &mut [u8]) -> Stream {
        for _ in 0..LATE_READS {
            let (_, mut reader) = self.process.parts();
            match timeout(Duration::ZERO, reader.read(buffer)).await {
                Ok(0) => return Stream::Ended,
                Ok(length) => {
                    let text = self.decoder.decode(&buffer[..length]);
                    self.take(&text);
                }
                Err(_) => break,
            }
        }
        Stream::Open
    }

    fn take(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        self.session.unread().push(text);
        if let Some(now) = self.output.push(text) {
            self.open.grow(Delta::Output(now.to_owned()));
        }
    }

    /// Completes the item and the recording.
    fn complete(mut self, ended: Ended) -> Remains {
        let rest = self.decoder.finish();
        self.take(&rest);
        if let Some(last) = self.output.finish() {
            self.open.grow(Delta::Output(last));
        }
        let elapsed = self.begun.at.elapsed();
        let is_success = ended.code == 0 && ended.cause == Cause::Itself;
        let item = CommandItem {
            output: self.output.shown(),
            exit_code: Some(ended.code),
            duration_ms: Some(u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX)),
            status: if is_success { WorkStatus::Completed } else { WorkStatus::Failed },
            ..self.new.item.clone()
        };
        let mut report = begun_report(&self.session, &self.new, self.begun);
        report["completed_at_ms"] = json!(self.agent.now_ms());
        report["aggregated_output"] = json!(item.output.as_deref().unwrap_or(""));
        report["exit_code"] = json!(ended.code);
        report["duration"] = json!({ "secs": elapsed.as_secs(), "nanos": elapsed.subsec_nanos() });
        report["status"] = json!(if is_success { "completed" } else { "failed" });
        let status = match (is_success, ended.cause) {
            (true, _) => ExecutionStatus::Completed,
            (false, Cause::Stopped) => ExecutionStatus::Cancelled,
            (false, _) => ExecutionStatus::Failed,
        };
        self.trace.end_runtime(status, Json(&report));
        self.open.complete(ItemKind::Command(item));
        Remains { agent: self.agent, session: self.session, process: self.process }
    }
}

/// Checks the repositories that a command could reach. Returns what users should know, at most once.
async fn checked(watch: &mut Option<Watch>) -> Option<String> {
    let mut taken = watch.take()?;
    let checked = tokio::task::spawn_blocking(move || {
        let report = taken.check();
        (taken, report)
    });
    let Ok((taken, report)) = checked.await else {
        return Some(
            "[The repositories in the open folders could not be looked at: do not use Git there.]\n".to_owned(),
        );
    };
    *watch = Some(taken);
    if report.is_empty() {
        return None;
    }
    // Users see the report in the output of the command.
    tracing::info!(report = report.in_one_line(), "what a command left in repositories");
    Some(format!("\n[{}]\n", report.in_words()))
}

/// Waits for text that can be written to the process. Never resolves if there is no terminal or the process no longer
/// reads.
async fn next_input<'a>(
    typing: Option<&'a mpsc::Sender<String>>,
    written: &mut mpsc::Receiver<String>,
) -> Option<(mpsc::Permit<'a, String>, String)> {
    let permit = typing?.reserve().await.ok()?;
    let text = written.recv().await?;
    Some((permit, text))
}

/// What remains after an item has completed.
struct Remains {
    agent: ToolAgent,
    session: Arc<Session>,
    process: Process,
}

/// Keeps what a command left behind when it ended, such as a server: it can be listed and stopped, and its output is read.
async fn linger(agent: &ToolAgent, session: &Arc<Session>, process: &mut Process) {
    session.keep(agent);
    let mut buffer = vec![0; READ_BYTES];
    loop {
        let (_, mut reader) = process.parts();
        tokio::select! {
            biased;
            () = session.stop.cancelled() => {
                process.terminate();
                tokio::time::sleep(KILL_GRACE).await;
                process.kill();
                break;
            }
            length = reader.read(&mut buffer) => {
                if length == 0 {
                    break;
                }
            }
        }
    }
}

fn begun_report(session: &Session, new: &NewSession, begun: Begun) -> serde_json::Value {
    json!({
        "call_id": session.call.as_str(),
        "process_id": session.id(),
        "turn_id": session.turn.as_str(),
        "started_at_ms": begun.at_ms,
        "command": new.argv,
        "cwd": session.cwd.to_string_lossy(),
        "parsed_cmd": new.item.actions.iter().map(action_report).collect::<Vec<_>>(),
        "source": match new.item.source {
            CommandSource::Agent => "agent",
            CommandSource::UserShell => "user_shell",
            CommandSource::SessionStart => "unified_exec_startup",
            CommandSource::SessionInteraction => "unified_exec_interaction",
        },
    })
}

fn action_report(action: &CommandAction) -> serde_json::Value {
    match action {
        CommandAction::Read { command, name, path } => {
            json!({ "type": "read", "cmd": command, "name": name, "path": path.to_string_lossy() })
        }
        CommandAction::ListFiles { command, path } => json!({ "type": "list_files", "cmd": command, "path": path }),
        CommandAction::Search { command, query, path } => {
            json!({ "type": "search", "cmd": command, "query": query, "path": path })
        }
        CommandAction::Unknown { command } => json!({ "type": "unknown", "cmd": command }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn so_many_commands_run_at_once() {
        let sessions = Sessions::default();
        let ids: Vec<u32> = (0..MAX_COMMANDS_AT_ONCE).map(|_| sessions.reserve().expect("there is room")).collect();
        assert_eq!(sessions.reserve(), None);
        sessions.remove(ids[0]);
        assert!(sessions.reserve().is_some());
    }
}
