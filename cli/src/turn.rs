//! One turn of an agent in a server of this process: what `trace run`, `trace exec` and `trace demo` share. An observer
//! prints what happens.

mod narration;
mod observer;
mod question;

use std::path::PathBuf;
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use trace_protocol::approval::{CommandExecutionRequestApprovalResponse, FileChangeRequestApprovalResponse};
use trace_protocol::item::UserInput;
use trace_protocol::methods::method;
use trace_protocol::thread::{Thread, ThreadForkParams, ThreadResumeParams, ThreadStartParams};
use trace_protocol::trace::TraceListParams;
use trace_protocol::turn::{ReviewStartParams, ReviewTarget, TurnInterruptParams, TurnStartParams, TurnStatus};
use trace_protocol::{Experimental, RequestId, RpcError, ServerNotification};
use trace_server::Server;
use trace_server::outbound::OutboundPolicy;
use trace_server::store::ACTIVE_WRITER;
use trace_server::transport::in_process::{self, CallError, ClientHandle, Event, Events};

pub(crate) use self::narration::{Messages, Narration};
pub(crate) use self::observer::{RawNotification, TurnObserver, can_ask};
use crate::signals::{Caught, Signals};
use crate::ui::failure::Failure;

/// Name by which the server knows this program.
pub(crate) const CLIENT: &str = "trace";

/// How long a thread is waited for that another process writes.
const WRITER_TIMEOUT: Duration = Duration::from_secs(5);
/// Pause between two attempts to resume such a thread.
const WRITER_PAUSE: Duration = Duration::from_millis(20);

/// The thread in which a turn runs.
#[derive(Debug)]
pub(crate) enum ThreadChoice {
    /// A new one.
    Start(Box<ThreadStartParams>),
    /// A stored one.
    Resume(Box<ThreadResumeParams>),
    /// A copy of a stored one.
    Fork(Box<ThreadForkParams>),
}

/// What an agent is asked to do.
#[derive(Debug)]
pub(crate) enum Task {
    /// To work on input. The id of the thread is filled in.
    Input(Box<TurnStartParams>),
    /// To review something.
    Review(ReviewTarget),
}

/// The outcome of a turn.
pub(crate) struct Outcome {
    pub(crate) status: TurnStatus,
    /// Why the turn failed; `None` if it did not.
    pub(crate) error: Option<String>,
    /// The bundle of the session; `None` if nothing was recorded.
    pub(crate) bundle: Option<PathBuf>,
}

/// Runs one turn of a new thread in a server.
///
/// # Errors
///
/// Returns an error if the turn cannot start, or if the output cannot be written.
pub(crate) async fn run(
    server: &Server,
    start: ThreadStartParams,
    prompt: String,
    observer: &mut impl TurnObserver,
    signals: (&mut Signals, &mut Option<Caught>),
) -> Result<Outcome, Failure> {
    let mut session = Session::connect(server, CLIENT).await?;
    let thread = session.open(ThreadChoice::Start(Box::new(start))).await?;
    let input = vec![UserInput::Text { text: prompt, text_elements: Vec::new() }];
    let task = Task::Input(Box::new(TurnStartParams { input, ..TurnStartParams::default() }));
    session.work(&thread, task, observer, signals).await
}

/// A connection to the server.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) client: ClientHandle,
    events: Events,
}

impl Session {
    /// Connects to a server as the client `name`.
    ///
    /// # Errors
    ///
    /// Returns an error if the server refuses the client.
    pub(crate) async fn connect(server: &Server, name: &str) -> Result<Self, Failure> {
        let (client, events) = in_process::connect(server.opener(), OutboundPolicy::Wait);
        client.initialize(name, env!("CARGO_PKG_VERSION"), Experimental::Enabled).await.map_err(refused)?;
        Ok(Self { client, events })
    }

    /// Starts, resumes or copies a thread, and returns its id.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no such thread, or if its settings are not possible.
    pub(crate) async fn open(&self, thread: ThreadChoice) -> Result<String, Failure> {
        let opened = match thread {
            ThreadChoice::Start(params) => self.client.call::<method::ThreadStart>(&params).await.map(|it| it.thread),
            ThreadChoice::Resume(params) => self.resume(&params).await,
            ThreadChoice::Fork(params) => self.client.call::<method::ThreadFork>(&params).await.map(|it| it.thread),
        };
        Ok(opened.map_err(refused)?.id)
    }

    /// Resumes a thread. If another process still writes it, such as one whose turn was just aborted, this waits for it.
    async fn resume(&self, params: &ThreadResumeParams) -> Result<Thread, CallError> {
        let end = tokio::time::Instant::now() + WRITER_TIMEOUT;
        loop {
            let resumed = self.client.call::<method::ThreadResume>(params).await.map(|resumed| resumed.thread);
            match resumed {
                Err(CallError::Refused(refusal)) if is_written(&refusal) && tokio::time::Instant::now() < end => {
                    tokio::time::sleep(WRITER_PAUSE).await;
                }
                resumed => return resumed,
            }
        }
    }

    /// Runs one turn of a thread. A signal interrupts it; the last signal is returned through `signals`.
    ///
    /// # Errors
    ///
    /// Returns an error if the turn cannot start, or if the output cannot be written.
    pub(crate) async fn work(
        &mut self,
        thread: &str,
        task: Task,
        observer: &mut impl TurnObserver,
        signals: (&mut Signals, &mut Option<Caught>),
    ) -> Result<Outcome, Failure> {
        let started = match task {
            Task::Input(params) => {
                let params = TurnStartParams { thread_id: thread.to_owned(), ..*params };
                self.client.call::<method::TurnStart>(&params).await.map(|started| started.turn)
            }
            Task::Review(target) => {
                let params = ReviewStartParams { thread_id: thread.to_owned(), target, delivery: None };
                self.client.call::<method::ReviewStart>(&params).await.map(|started| started.turn)
            }
        };
        let turn = started.map_err(refused)?.id;
        let (status, error) = follow(&self.client, &mut self.events, thread, &turn, observer, signals).await?;
        let bundle = bundle_of(&self.client, thread).await;
        Ok(Outcome { status, error, bundle })
    }
}

/// Receives notifications until the turn has ended. A signal interrupts the turn; the last signal is returned.
async fn follow(
    client: &ClientHandle,
    events: &mut Events,
    thread: &str,
    turn: &str,
    observer: &mut impl TurnObserver,
    (signals, caught): (&mut Signals, &mut Option<Caught>),
) -> Result<(TurnStatus, Option<String>), Failure> {
    loop {
        let event = tokio::select! {
            event = events.next() => event,
            signal = signals.next() => {
                *caught = Some(signal);
                observer.on_signal();
                let params = TurnInterruptParams { thread_id: thread.to_owned(), turn_id: turn.to_owned() };
                // The request is refused if the turn has just ended. Its end is then received as a notification.
                let _ = client.call::<method::TurnInterrupt>(&params).await;
                continue;
            }
        };
        match event {
            None => return Err(Failure::internal(anyhow::anyhow!("the server ended before the turn did"))),
            Some(Event::Notification { method, params }) => {
                let notification = ServerNotification::decode(&method, params.as_deref()).ok().flatten();
                let text = RawNotification { method: &method, params: params.as_deref() };
                if let Some(notification) = &notification {
                    observer.on_tree_notification(notification);
                }
                // People see only the notifications of the root thread. Programs that read JSON get all of them.
                let is_own =
                    notification.as_ref().and_then(ServerNotification::thread_id).is_none_or(|id| id == thread);
                observer.on_notification(&text, notification.as_ref().filter(|_| is_own))?;
                if let Some(ServerNotification::TurnCompleted(ended)) = notification
                    && ended.turn.id == turn
                {
                    return Ok((ended.turn.status, ended.turn.error.map(|error| error.message)));
                }
            }
            Some(Event::Request { id, method, params }) => {
                answer(client, &id, &method, params.as_deref(), observer).await.map_err(refused)?;
            }
        }
    }
}

/// Answers a request of the server.
async fn answer(
    client: &ClientHandle,
    id: &RequestId,
    method: &str,
    params: Option<&RawValue>,
    observer: &mut impl TurnObserver,
) -> Result<(), CallError> {
    match method {
        "item/commandExecution/requestApproval" => match decoded(params) {
            Some(question) => {
                let decision = observer.may_run(&question);
                client.answer(id, &CommandExecutionRequestApprovalResponse { decision }).await
            }
            None => client.refuse(id, &RpcError::invalid_request("the request is not valid")).await,
        },
        "item/fileChange/requestApproval" => match decoded(params) {
            Some(question) => {
                let decision = observer.may_change(&question);
                client.answer(id, &FileChangeRequestApprovalResponse { decision }).await
            }
            None => client.refuse(id, &RpcError::invalid_request("the request is not valid")).await,
        },
        other => client.refuse(id, &RpcError::invalid_request(format!("nobody can answer `{other}` here"))).await,
    }
}

fn decoded<T: DeserializeOwned>(params: Option<&RawValue>) -> Option<T> {
    trace_protocol::common::from_raw(params?).ok()
}

pub(crate) async fn bundle_of(client: &ClientHandle, thread: &str) -> Option<PathBuf> {
    let traces = client.call::<method::TraceList>(&TraceListParams::default()).await.ok()?;
    let trace = traces.data.into_iter().find(|trace| trace.thread_ids.iter().any(|known| known == thread))?;
    Some(PathBuf::from(trace.path.into_string()))
}

/// Returns whether a request was refused because another process writes the thread.
fn is_written(refusal: &RpcError) -> bool {
    let code = refusal.data.as_ref().and_then(|data| data.get("thread_error_code"));
    code.and_then(serde_json::Value::as_str) == Some(ACTIVE_WRITER)
}

pub(crate) fn refused(error: CallError) -> Failure {
    match error {
        CallError::Refused(refusal) => Failure::data(anyhow::anyhow!("{}", refusal.message)),
        other => Failure::internal(other),
    }
}
