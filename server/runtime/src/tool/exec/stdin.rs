//! The tool `write_stdin`, which continues a command in the background.

use std::sync::atomic::{AtomicBool, Ordering};

use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::report::{self, Progress};
use super::request::WriteRequest;
use super::session::Sessions;
use crate::settings::Settings;
use crate::tool::outcome::{describe, done, failed};
use crate::tool::{
    CallDescription, CallOrder, Resource, Tool, ToolCall, ToolContext, ToolFamily, ToolInput, ToolOutcome,
};

/// Tells the model that text did not reach a command.
const NOT_WRITTEN: &str =
    "\n[`chars` was not written: the command has ended, or does not read what was written before]";

/// The tool `write_stdin`.
#[derive(Debug)]
pub struct WriteStdin;

impl Tool for WriteStdin {
    fn family(&self) -> ToolFamily {
        ToolFamily::Shell
    }

    fn specification(&self, _settings: &Settings) -> Option<Value> {
        Some(json!({
            "type": "function",
            "name": "write_stdin",
            "description": "Writes to a command that exec_command left running, waits, and returns what the command wrote meanwhile.",
            "strict": false,
            "parameters": {
                "type": "object",
                "properties": {
                    "session_id": { "type": "number", "description": "The session ID that exec_command returned." },
                    "chars": { "type": "string", "description": "What to write; nothing only looks how far the command is. Needs a command that was started with `tty`." },
                    "yield_time_ms": { "type": "number", "description": "How long to wait: from 250 to 30000 after writing (default: 250), from 5000 to 300000 without (default: 5000)." },
                    "max_output_tokens": { "type": "number", "description": "How much of the output to return (default: 10000 tokens)." },
                },
                "required": ["session_id"],
                "additionalProperties": false,
            },
        }))
    }

    fn is_called(&self, namespace: Option<&str>, name: &str) -> bool {
        namespace.is_none() && name == "write_stdin"
    }

    fn description(&self, call: &ToolCall) -> CallDescription {
        describe("write_stdin", call)
    }

    /// Input for one command arrives in the order of the calls.
    fn order(&self, call: &ToolCall) -> CallOrder {
        let session = match &call.input {
            ToolInput::Arguments(arguments) => WriteRequest::new(arguments).map(|request| request.session).ok(),
            ToolInput::Text(_) => None,
        };
        session.map_or(CallOrder::Independent, |session| CallOrder::Changes(Resource::Terminal(session)))
    }

    fn call(&self, context: ToolContext, call: ToolCall) -> BoxFuture<'static, ToolOutcome> {
        Box::pin(async move {
            let ToolInput::Arguments(arguments) = &call.input else {
                return failed("write_stdin takes JSON arguments");
            };
            match WriteRequest::new(arguments) {
                Ok(request) => write(&context, request).await,
                Err(error) => failed(format!("write_stdin failed: {error}")),
            }
        })
    }
}

/// The character that a terminal turns into an interrupt.
const INTERRUPT: &str = "\u{3}";

async fn write(context: &ToolContext, request: WriteRequest) -> ToolOutcome {
    let sessions = context.agent.extension::<Sessions>();
    let Some(session) = sessions.get(request.session) else {
        return failed(format!("write_stdin failed: unknown process id {}; it may have ended", request.session));
    };
    context.trace.resolve_stdin_target(session.call().as_str());
    let begun = Instant::now();
    let is_silent = request.text.is_empty();
    // An interrupt is always allowed.
    if !is_silent && request.text != INTERRUPT && !session.may_be_told(&context.settings) {
        return failed(
            "write_stdin failed: this command was started when more was allowed than now; interrupt it and start it again",
        );
    }
    let is_taken = AtomicBool::new(is_silent);
    let work = async {
        if !is_silent && !session.has_ended() {
            // A full queue means that the command does not read; the timeout ends the wait.
            match session.writes() {
                Some(writes) => is_taken.store(writes.send(request.text).await.is_ok(), Ordering::Relaxed),
                None => {
                    return Err(
                        "write_stdin failed: this command reads nothing; start it again with `tty` to write to it",
                    );
                }
            }
        }
        Ok(session.ended().await)
    };
    let ended = tokio::select! {
        biased;
        ended = work => match ended {
            Ok(ended) => Some(ended),
            Err(why) => return failed(why),
        },
        // The command continues in the background.
        () = context.cancelled.cancelled() => None,
        () = tokio::time::sleep(request.wait) => None,
    };
    if ended.is_some() {
        sessions.remove(request.session);
    }
    let output = session.take_unread();
    let id = session.id();
    let progress = ended.map_or(Progress::Running(&id), |ended| Progress::Exited(ended.code));
    let mut text = report::chunk(&output, request.max_output_tokens, begun.elapsed(), progress);
    if !is_taken.load(Ordering::Relaxed) {
        text.push_str(NOT_WRITTEN);
    }
    done(text)
}
