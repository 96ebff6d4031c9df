//! One tool call, from the model's arguments to the output: it is approved, made, shown, recorded, and cancelled if
//! needed.

use std::sync::Arc;
use std::time::Duration;

use rmcp::RoleClient;
use rmcp::model::{
    CallToolRequestParams, ClientRequest, JsonObject, Request, RequestMetaObject, ServerResult, Tool as RemoteTool,
};
use rmcp::service::{PeerRequestOptions, RequestHandle, ServiceError};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, sleep_until, timeout};
use trace_recorder::format::{ExecutionStatus, ToolKind};
use trace_recorder::write::Json;
use trace_runtime::event::Delta;
use trace_runtime::host::{Answer, ApprovalScope, Decision, Question, ServerToolQuestion};
use trace_runtime::item::{ItemKind, WorkStatus};
use trace_runtime::tool::{AfterCall, ToolCall, ToolContext, ToolInput, ToolOutcome};
use trace_runtime::{Item, OpenItem};
use uuid::Uuid;

use crate::approval::{self, Verdict};
use crate::client::RunningCall;
use crate::config::Approval;
use crate::connection::{Connection, OfferedTool};
use crate::failure::shown;
use crate::outcome::failed;
use crate::output;
use crate::server_slot::ServerSlot;

/// How long sending a cancellation to a server may take.
pub const CANCEL_TIMEOUT: Duration = Duration::from_secs(1);

/// Most progress reports of one call that are shown within a [`PROGRESS_PERIOD`]. At the end of the period, the newest
/// of the others is shown.
pub const PROGRESS_AT_ONCE: usize = 10;

/// The period for which [`PROGRESS_AT_ONCE`] is counted.
pub const PROGRESS_PERIOD: Duration = Duration::from_secs(1);

/// Most tools that are listed in the answer to an unknown name.
const MAX_NAMED_TOOLS: usize = 20;

/// How a call ended.
enum End {
    /// The server returned a result.
    Answered(Value),
    /// The call failed; the text says why.
    Failed(String),
    /// The user declined the call.
    Declined { why: &'static str, then: AfterCall },
    /// The turn was interrupted.
    Stopped,
}

/// Most characters of a tool's name and title in an approval request.
pub const MAX_ASKED_NAME_CHARS: usize = 120;

/// Most characters of a tool's description in an approval request.
pub const MAX_ASKED_DESCRIPTION_CHARS: usize = 2000;

/// The approvals of a thread that last: pairs of a server and the identity of a tool.
#[derive(Debug, Default)]
struct Approved(std::sync::Mutex<std::collections::BTreeSet<(String, String)>>);

/// Most approvals that one thread remembers. Beyond it, the user is asked again.
const MAX_AGREED: usize = 1000;

/// Makes a call and returns its outcome.
pub(crate) async fn call(slot: &ServerSlot, context: &ToolContext, call: ToolCall) -> ToolOutcome {
    let connection = tokio::select! {
        biased;
        () = context.cancelled.cancelled() => return failed("aborted by the user"),
        connection = slot.available() => connection,
    };
    let connection = match connection {
        Ok(connection) => connection,
        Err(why) => return failed(why),
    };
    let tools = connection.tools();
    let Some(tool) = tools.iter().find(|tool| tool.name == call.name) else {
        return failed(unknown(slot, &call.name, &tools));
    };
    let arguments = match read(&call) {
        Ok(arguments) => arguments,
        Err(why) => return failed(why),
    };
    Call { slot, connection: &connection, tool, context, call: &call, arguments, begun: Instant::now() }.run().await
}

fn unknown(slot: &ServerSlot, name: &str, tools: &[OfferedTool]) -> String {
    let known: Vec<_> = tools.iter().take(MAX_NAMED_TOOLS).map(|tool| tool.name.as_str()).collect();
    let more = tools.len().saturating_sub(MAX_NAMED_TOOLS);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("unsupported call: {}.{name}; there are {}{more}", slot.namespace, known.join(", "))
}

/// Returns what an approval of a tool applies to. It covers the whole description and not only the name, since a server
/// could give the same name to another tool later.
fn identity(tool: &RemoteTool) -> String {
    let described = json!([tool.name, tool.title, tool.description, tool.input_schema, tool.annotations]);
    let digest = Sha256::digest(described.to_string().as_bytes());
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns a text of a server as a single line that is safe to show. A long text is cut.
fn one_line(text: &str, limit: usize) -> String {
    let flat = text.split(|letter: char| letter.is_whitespace() || letter.is_control());
    let flat = flat.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
    match flat.char_indices().nth(limit) {
        Some((end, _)) => format!("{}...", &flat[..end]),
        None => flat,
    }
}

fn read(call: &ToolCall) -> Result<JsonObject, String> {
    match &call.input {
        ToolInput::Arguments(text) if text.trim().is_empty() => Ok(JsonObject::new()),
        ToolInput::Arguments(text) => {
            serde_json::from_str(text).map_err(|error| format!("failed to parse function arguments: {error}"))
        }
        ToolInput::Text(_) => Err(format!("{} takes JSON arguments", call.name)),
    }
}

struct Call<'a> {
    slot: &'a ServerSlot,
    connection: &'a Arc<Connection>,
    tool: &'a OfferedTool,
    context: &'a ToolContext,
    call: &'a ToolCall,
    arguments: JsonObject,
    begun: Instant,
}

impl Call<'_> {
    async fn run(self) -> ToolOutcome {
        let trace = &self.context.trace;
        let item = Item { id: self.call.id.clone(), kind: self.shown(None, None, WorkStatus::InProgress) };
        let mut open = self.context.agent.start_item(&self.context.turn, item);
        let kind = ToolKind::Mcp { server: self.slot.config.name.as_str().into(), tool: self.remote_name().into() };
        trace.start_runtime(kind, Json(&self.begun_report()));
        let end = match self.approve().await {
            Ok(()) => {
                let id = Uuid::new_v4().to_string();
                trace.assign_mcp_call(&id);
                self.make(&id, &mut open).await
            }
            Err(end) => end,
        };
        self.finish(open, end)
    }

    /// Shows and records how the call ended, and returns its outcome.
    fn finish(&self, open: OpenItem, end: End) -> ToolOutcome {
        let wall = self.begun.elapsed();
        let (recorded, result, error, status, then) = match end {
            End::Answered(result) => {
                let is_error = result.get("isError").and_then(Value::as_bool).unwrap_or(false);
                let status = if is_error { WorkStatus::Failed } else { WorkStatus::Completed };
                (ExecutionStatus::Completed, Some(result), None, status, AfterCall::Continue)
            }
            End::Failed(why) => (ExecutionStatus::Failed, None, Some(why), WorkStatus::Failed, AfterCall::Continue),
            End::Declined { why, then } => {
                (ExecutionStatus::Failed, None, Some(why.to_owned()), WorkStatus::Declined, then)
            }
            End::Stopped => {
                let why = "aborted by the user".to_owned();
                (ExecutionStatus::Cancelled, None, Some(why), WorkStatus::Interrupted, AfterCall::Continue)
            }
        };
        let output = match (&result, &error) {
            (Some(result), _) => output::output(result, wall),
            (None, error) => output::failure(error.as_deref().unwrap_or_default(), wall),
        };
        let report = match &result {
            Some(result) => json!({ "result": { "Ok": result } }),
            None => json!({ "result": { "Err": error } }),
        };
        self.context.trace.end_runtime(recorded, Json(&report));
        open.complete(self.shown(result, error, status));
        ToolOutcome { output, success: status == WorkStatus::Completed, then }
    }

    fn remote_name(&self) -> &str {
        &self.tool.remote.name
    }

    fn read_only(&self) -> Option<bool> {
        self.tool.remote.annotations.as_ref().and_then(|hints| hints.read_only_hint)
    }

    fn begun_report(&self) -> Value {
        json!({
            "call_id": self.call.id,
            "turn_id": self.context.turn,
            "invocation": {
                "server": self.slot.config.name,
                "tool": self.remote_name(),
                "arguments": self.arguments,
            },
            "read_only_hint": self.read_only(),
        })
    }

    fn shown(&self, result: Option<Value>, error: Option<String>, status: WorkStatus) -> ItemKind {
        let duration = (status != WorkStatus::InProgress).then(|| self.begun.elapsed().as_millis());
        ItemKind::McpCall {
            server: self.slot.config.name.clone(),
            tool: self.remote_name().to_owned(),
            arguments: Value::Object(self.arguments.clone()),
            read_only: self.read_only(),
            result,
            error,
            status,
            duration_ms: duration.map(|duration| u64::try_from(duration).unwrap_or(u64::MAX)),
        }
    }

    /// Asks the user for an approval, if the call needs one.
    async fn approve(&self) -> Result<(), End> {
        let (config, settings) = (&self.slot.config, &self.context.settings);
        let mode = config.approval_of(self.remote_name());
        let verdict =
            approval::judge(mode, self.tool.remote.annotations.as_ref(), settings.approval, &settings.sandbox);
        match verdict {
            Verdict::Call => return Ok(()),
            Verdict::Refuse => return Err(End::Failed(approval::REFUSED.to_owned())),
            Verdict::Ask => {}
        }
        let agreed = self.context.agent.extension::<Approved>();
        let remote = &self.tool.remote;
        // With `Prompt`, the user wants to be asked about every call, so the approval does not last.
        let lasts = if mode == Approval::Prompt { ApprovalScope::Once } else { ApprovalScope::Thread };
        let name = (config.name.clone(), identity(remote));
        if lasts == ApprovalScope::Thread && agreed.has(&name) {
            return Ok(());
        }
        let titled = || remote.annotations.as_ref().and_then(|hints| hints.title.clone());
        let question = Question::ServerTool(ServerToolQuestion {
            turn: self.context.turn.clone(),
            item: self.call.id.clone(),
            server: config.name.clone(),
            tool: one_line(self.remote_name(), MAX_ASKED_NAME_CHARS),
            title: remote.title.clone().or_else(titled).map(|title| one_line(&title, MAX_ASKED_NAME_CHARS)),
            description: remote.description.as_deref().map(|text| one_line(text, MAX_ASKED_DESCRIPTION_CHARS)),
            annotations: remote.annotations.as_ref().and_then(|hints| serde_json::to_value(hints).ok()),
            arguments: Value::Object(self.arguments.clone()),
            lasts,
        });
        let answer = tokio::select! {
            biased;
            () = self.context.cancelled.cancelled() => return Err(End::Stopped),
            answer = self.context.agent.ask(question) => answer,
        };
        match answer {
            Answer::Decision(Decision::Accept | Decision::AcceptPrefix(_)) => Ok(()),
            Answer::Decision(Decision::AcceptForSession) => {
                if lasts == ApprovalScope::Thread {
                    agreed.add(name);
                }
                Ok(())
            }
            Answer::Decision(Decision::Decline) => {
                Err(End::Declined { why: "rejected by user", then: AfterCall::Continue })
            }
            Answer::Decision(Decision::Cancel) => {
                Err(End::Declined { why: "rejected by user", then: AfterCall::Interrupt })
            }
            Answer::Failed { message } => Err(End::Failed(format!("not called: nobody could be asked ({message})"))),
            Answer::UserInput(_) | Answer::DynamicTool { .. } | Answer::Elicitation { .. } => {
                Err(End::Failed("not called: the answer to the question made no sense".to_owned()))
            }
        }
    }

    /// Sends the call to the server and waits for its result.
    async fn make(&self, id: &str, open: &mut OpenItem) -> End {
        let running = Arc::new(RunningCall {
            agent: self.context.agent.clone(),
            turn: self.context.turn.clone(),
            item: self.call.id.clone(),
            policy: self.context.settings.approval,
            model: self.context.model.clone(),
            cancelled: self.context.cancelled.child_token(),
            questions: watch::Sender::new(0),
        });
        let _entry = self.connection.registry.enter(&running);
        let sent = self.connection.peer.send_cancellable_request(self.request(), self.options(id)).await;
        let mut handle = match sent {
            Ok(handle) => handle,
            Err(error) => return End::Failed(shown(&error)),
        };
        let token = handle.progress_token.clone();
        let mut progress = self.connection.registry.progress.listen(&token);
        let ended = self.wait(&mut handle, &mut progress, &running, open).await;
        self.connection.registry.progress.forget(&token);
        let (reason, end) = match ended {
            Waited::Answered(answer) => {
                return match result_of(*answer, || self.connection.closed(&self.slot.config.name)) {
                    Ok(result) => End::Answered(result),
                    Err(why) => End::Failed(why),
                };
            }
            Waited::Stopped => ("the turn was stopped", End::Stopped),
            Waited::TooLong => {
                let seconds = self.slot.config.tool_timeout.as_secs_f64();
                ("it took too long", End::Failed(format!("timed out awaiting tools/call after {seconds} s")))
            }
        };
        // The server is told that the call is cancelled. Its confirmation is not awaited.
        let _ = timeout(CANCEL_TIMEOUT, handle.cancel(Some(reason.to_owned()))).await;
        end
    }

    fn request(&self) -> ClientRequest {
        let mut params = CallToolRequestParams::new(self.remote_name().to_owned());
        params.arguments = Some(self.arguments.clone());
        ClientRequest::CallToolRequest(Request::new(params))
    }

    /// Returns the metadata of the request, which contains the ids of the call.
    fn options(&self, id: &str) -> PeerRequestOptions {
        let mut meta = Map::new();
        meta.insert("callId".to_owned(), json!(self.call.id));
        meta.insert("mcpCallId".to_owned(), json!(id));
        meta.insert("threadId".to_owned(), json!(self.context.agent.id()));
        meta.insert("turnId".to_owned(), json!(self.context.turn));
        PeerRequestOptions::no_options().with_meta(RequestMetaObject::from(meta))
    }

    /// Waits for the result and shows progress. The time in which a question to the user is open does not count.
    async fn wait(
        &self,
        handle: &mut RequestHandle<RoleClient>,
        progress: &mut mpsc::Receiver<String>,
        running: &RunningCall,
        open: &mut OpenItem,
    ) -> Waited {
        let too_long = run_out(self.slot.config.tool_timeout, running.questions.subscribe());
        tokio::pin!(too_long);
        let mut throttle = Throttle::default();
        loop {
            tokio::select! {
                biased;
                () = self.context.cancelled.cancelled() => return Waited::Stopped,
                // The timeout comes before progress: otherwise a server that reports progress all the time would never
                // reach it.
                () = &mut too_long => return Waited::TooLong,
                Some(text) = throttle.next(progress) => open.grow(Delta::Progress(text)),
                answer = &mut handle.rx => {
                    return Waited::Answered(Box::new(answer.unwrap_or(Err(ServiceError::TransportClosed))));
                }
            }
        }
    }
}

/// Limits how much progress is shown.
#[derive(Debug, Default)]
struct Throttle {
    shown: usize,
    /// The end of the current period.
    period_ends: Option<Instant>,
}

impl Throttle {
    /// Returns the next report to show. It is cancel-safe: no report is lost if the future is dropped.
    async fn next(&mut self, progress: &mut mpsc::Receiver<String>) -> Option<String> {
        if let Some(end) = self.period_ends
            && self.shown >= PROGRESS_AT_ONCE
        {
            sleep_until(end).await;
        }
        let mut text = progress.recv().await?;
        let now = Instant::now();
        if self.period_ends.is_none_or(|end| end <= now) {
            if self.shown >= PROGRESS_AT_ONCE {
                while let Ok(newer) = progress.try_recv() {
                    text = newer;
                }
            }
            *self = Self { shown: 0, period_ends: Some(now + PROGRESS_PERIOD) };
        }
        self.shown += 1;
        Some(text)
    }
}

/// Returns when `limit` has passed, without the time in which a question was open.
async fn run_out(limit: Duration, mut questions: watch::Receiver<usize>) {
    let mut left = limit;
    loop {
        // The call holds the sender. If it was dropped, no question is open any more.
        let _ = questions.wait_for(|open| *open == 0).await.map(drop);
        let begun = Instant::now();
        let asked = async {
            if questions.wait_for(|open| *open > 0).await.is_err() {
                std::future::pending::<()>().await;
            }
        };
        if timeout(left, asked).await.is_err() {
            return;
        }
        left = left.saturating_sub(begun.elapsed());
    }
}

/// How the wait for a result ended.
enum Waited {
    Answered(Box<Result<ServerResult, ServiceError>>),
    Stopped,
    TooLong,
}

/// Returns the result of a call as the server sent it, or why there is none. `closed` says why the connection was closed.
pub(crate) fn result_of(
    answer: Result<ServerResult, ServiceError>,
    closed: impl FnOnce() -> String,
) -> Result<Value, String> {
    let no_result = || Err("the server answered with something that is no result of a tool".to_owned());
    let result = match answer {
        Ok(ServerResult::CallToolResult(result)) => serde_json::to_value(result).unwrap_or_default(),
        // The result has a part that the protocol library does not know. It is passed on unchanged.
        Ok(ServerResult::CustomResult(result)) if result.0.get("content").is_some() => result.0,
        Ok(ServerResult::EmptyResult(_)) => json!({ "content": [] }),
        Ok(_) => return no_result(),
        Err(ServiceError::TransportClosed) => return Err(closed()),
        Err(error) => return Err(shown(&error)),
    };
    match result {
        Value::Object(mut members) => {
            members.remove("resultType");
            Ok(Value::Object(members))
        }
        _ => no_result(),
    }
}

impl Approved {
    fn has(&self, name: &(String, String)) -> bool {
        self.lock().contains(name)
    }

    fn add(&self, name: (String, String)) {
        let mut agreed = self.lock();
        if agreed.len() < MAX_AGREED {
            agreed.insert(name);
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, std::collections::BTreeSet<(String, String)>> {
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::sleep;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn time_in_which_the_user_is_asked_does_not_count() {
        let questions = watch::Sender::new(0);
        let begun = Instant::now();
        let asking = async {
            sleep(Duration::from_secs(4)).await;
            questions.send_modify(|open| *open += 1);
            sleep(Duration::from_secs(50)).await;
            questions.send_modify(|open| *open += 1);
            sleep(Duration::from_secs(50)).await;
            questions.send_modify(|open| *open -= 2);
        };
        tokio::join!(asking, run_out(Duration::from_secs(10), questions.subscribe()));
        assert_eq!(begun.elapsed().as_secs(), 110);
    }

    #[tokio::test(start_paused = true)]
    async fn a_flood_of_progress_is_shown_now_and_then() {
        let (sender, mut progress) = mpsc::channel(100);
        for number in 0..30 {
            sender.try_send(number.to_string()).expect("room");
        }
        let (begun, mut throttle) = (Instant::now(), Throttle::default());
        for number in 0..PROGRESS_AT_ONCE {
            assert_eq!(throttle.next(&mut progress).await, Some(number.to_string()));
        }
        assert_eq!(begun.elapsed(), Duration::ZERO);
        assert!(timeout(PROGRESS_PERIOD / 2, throttle.next(&mut progress)).await.is_err());
        assert_eq!(throttle.next(&mut progress).await.as_deref(), Some("29"));
        assert_eq!(begun.elapsed().as_secs(), PROGRESS_PERIOD.as_secs());
        sender.try_send("later".to_owned()).expect("room");
        assert_eq!(throttle.next(&mut progress).await.as_deref(), Some("later"));
        drop(sender);
        assert_eq!(throttle.next(&mut progress).await, None);
    }

    #[test]
    fn another_tool_of_the_same_name_is_another_one() {
        let tool = |description: &str, read_only: bool| -> RemoteTool {
            let tool = json!({ "name": "a", "description": description, "inputSchema": {}, "annotations": { "readOnlyHint": read_only } });
            serde_json::from_value(tool).expect("a tool")
        };
        assert_eq!(identity(&tool("x", true)), identity(&tool("x", true)));
        assert_ne!(identity(&tool("x", true)), identity(&tool("y", true)));
        assert_ne!(identity(&tool("x", true)), identity(&tool("x", false)));
    }

    #[test]
    fn what_people_are_asked_is_one_line() {
        assert_eq!(one_line(" a\n\n\u{1b}[2J\tb ", 20), "a [2J b");
        assert_eq!(one_line("äöü", 2), "äö...");
    }

    #[test]
    fn answers_of_all_kinds_are_read() {
        let read = |result: Value| {
            let result: ServerResult = serde_json::from_value(result).expect("a result");
            result_of(Ok(result), || panic!("nothing was closed"))
        };
        let text = json!({ "content": [{ "type": "text", "text": "a" }], "isError": true });
        assert_eq!(read(text.clone()), Ok(text));
        let odd = json!({ "content": [{ "type": "hologram", "depth": 3 }] });
        assert_eq!(read(odd.clone()), Ok(odd));
        assert_eq!(read(json!({})), Ok(json!({ "content": [] })));
        assert!(read(json!({ "tools": [] })).is_err());
    }
}
