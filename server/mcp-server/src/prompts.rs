//! The prompt that the server offers: to diagnose a session.

use serde_json::{Map, Value, json};

use crate::library::LATEST;
use crate::message::RpcError;

/// Name of the prompt.
pub(crate) const DIAGNOSE: &str = "diagnose";

/// Most characters of the session's name.
const MAX_NAME_CHARS: usize = 200;

/// Returns the result of `prompts/list`.
pub(crate) fn list() -> Value {
    json!({"prompts": [{
        "name": DIAGNOSE,
        "title": "Diagnose a session",
        "description": "Finds out why a recorded session failed, and what to change.",
        "arguments": [{"name": "session", "description": "id, its beginning, or latest (default)", "required": false}],
    }]})
}

/// Returns the result of `prompts/get`.
pub(crate) fn get(name: &str, arguments: &Map<String, Value>) -> Result<Value, RpcError> {
    if name != DIAGNOSE {
        return Err(RpcError::invalid_params(format!("there is no prompt {}", trace_text::quoted(name, 60))));
    }
    let session = match arguments.get("session") {
        None => LATEST,
        Some(Value::String(session)) if session.chars().count() <= MAX_NAME_CHARS => session,
        Some(_) => return Err(RpcError::invalid_params("`session` has to be the id of a session")),
    };
    let text = format!(
        "Find out why the recorded session {session} failed.\n\
         1. Call `postmortem` with session={session}. It has the root cause of each turn, and the way to it.\n\
         2. If the cause is a text that an agent was given or a tool printed, call `why` with the object of the cause.\n\
         3. If the model did what it should not have done, call `context` for the request before, and look at what it saw.\n\
         Answer with the root cause, the object and agent that show it, how sure you are, and one change that would have \
         prevented it. Say so if the recording does not show the reason."
    );
    Ok(json!({
        "description": "Why a recorded session failed",
        "messages": [{"role": "user", "content": {"type": "text", "text": text}}],
    }))
}
