//! What clients use of servers themselves: tools, resources and prompts. None of it is a part of a turn: nobody is asked for an
//! approval, since a client acts for the user, and nothing is recorded.

use std::collections::BTreeMap;
use std::sync::Arc;

use rmcp::model::{
    CallToolRequestParams, ClientRequest, GetPromptRequestParams, GetPromptResponse, JsonObject, Request,
    RequestMetaObject,
};
use rmcp::service::PeerRequestOptions;
use serde_json::{Map, Value, json};
use tokio::time::timeout;

use crate::call::{CANCEL_TIMEOUT, result_of};
use crate::connection::all;
use crate::failure::shown;
use crate::server_slot::ServerSlot;
use crate::servers::Servers;

/// Most characters of the texts of one prompt.
pub const MAX_PROMPT_CHARS: usize = 256 * 1024;

/// Why something of a server cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DirectError {
    /// There is no such server, tool or argument.
    #[error("{message}")]
    Unknown {
        /// What there is instead.
        message: String,
    },
    /// The server cannot be used, or it answered with an error.
    #[error("{message}")]
    Failed {
        /// What the server answered, or why it did not.
        message: String,
    },
}

/// A prompt of a server, filled in for the user.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FilledPrompt {
    /// Its description.
    pub description: Option<String>,
    /// Its messages, as the server sent them.
    pub messages: Vec<Value>,
    /// Its texts. Parts that are no texts are named in square brackets.
    pub text: String,
}

impl Servers {
    /// Calls a tool for a client. The result is the one of the server.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no such server or tool, if the arguments are no object, or if the call fails.
    pub async fn call_tool(
        &self,
        server: &str,
        tool: &str,
        arguments: Option<Value>,
        meta: Option<Value>,
    ) -> Result<Value, DirectError> {
        let slot = self.slot(server)?;
        let arguments = object("arguments", arguments)?;
        let meta = object("_meta", meta)?;
        let connection = slot.available().await.map_err(|message| failed(self, &slot, message))?;
        let tools = connection.tools();
        if !tools.iter().any(|known| known.remote.name == tool) {
            let known: Vec<&str> = tools.iter().map(|known| &*known.remote.name).collect();
            let message = format!("the MCP server {server} offers no tool `{tool}`; it has: {}", known.join(", "));
            return Err(DirectError::Unknown { message });
        }
        let mut params = CallToolRequestParams::new(tool.to_owned());
        params.arguments = Some(arguments.unwrap_or_default());
        let request = ClientRequest::CallToolRequest(Request::new(params));
        let mut options = PeerRequestOptions::no_options();
        if let Some(meta) = meta {
            options = options.with_meta(RequestMetaObject::from(meta));
        }
        let error = |error: &rmcp::ServiceError| DirectError::Failed { message: shown(error) };
        let mut handle =
            connection.peer.send_cancellable_request(request, options).await.map_err(|failure| error(&failure))?;
        let limit = slot.config.tool_timeout;
        match timeout(limit, &mut handle.rx).await {
            Ok(answer) => {
                let answer = answer.unwrap_or(Err(rmcp::ServiceError::TransportClosed));
                result_of(answer, || connection.closed(server)).map_err(|message| DirectError::Failed { message })
            }
            Err(_) => {
                let _ = timeout(CANCEL_TIMEOUT, handle.cancel(Some("it took too long".to_owned()))).await;
                let message = format!("timed out awaiting tools/call after {} s", limit.as_secs_f64());
                Err(DirectError::Failed { message })
            }
        }
    }

    /// Reads a resource for a client. The contents are those of the server.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no such server, or if it does not answer with the resource.
    pub async fn read_resource(&self, server: &str, uri: &str) -> Result<Vec<Value>, DirectError> {
        let slot = self.slot(server)?;
        let connection = slot.available().await.map_err(|message| failed(self, &slot, message))?;
        let contents = within(&slot, connection.read_resource(uri)).await?;
        match contents {
            Value::Array(contents) => Ok(contents),
            _ => Err(DirectError::Failed { message: "the server answered with something that is no resource".into() }),
        }
    }

    /// Returns the prompts of a server, or of all servers that answer, with the names of the servers. The prompts are as the
    /// servers sent them.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no such server, or if it does not answer.
    pub async fn prompts(&self, server: Option<&str>) -> Result<Vec<(String, Value)>, DirectError> {
        let slots = match server {
            Some(server) => vec![self.slot(server)?],
            None => self.slots().to_vec(),
        };
        let mut found = Vec::new();
        for slot in slots {
            match prompts_of(self, &slot).await {
                Ok(prompts) => found.extend(prompts.into_iter().map(|prompt| (slot.config.name.clone(), prompt))),
                Err(error) if server.is_some() => return Err(error),
                Err(error) => tracing::warn!(server = %slot.config.name, %error, "no list of prompts"),
            }
        }
        Ok(found)
    }

    /// Fills in a prompt for the user.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no such server, or if it does not answer with the prompt.
    pub async fn prompt(
        &self,
        server: &str,
        name: &str,
        arguments: BTreeMap<String, String>,
    ) -> Result<FilledPrompt, DirectError> {
        let slot = self.slot(server)?;
        let connection = slot.available().await.map_err(|message| failed(self, &slot, message))?;
        let mut params = GetPromptRequestParams::new(name);
        let arguments: JsonObject = arguments.into_iter().map(|(name, value)| (name, json!(value))).collect();
        params.arguments = (!arguments.is_empty()).then_some(arguments);
        let GetPromptResponse::Complete(result) = within(&slot, connection.peer.get_prompt_once(params)).await? else {
            let message = "the server wants to ask something before it answers, which is not supported for prompts";
            return Err(DirectError::Failed { message: message.to_owned() });
        };
        let messages: Vec<Value> =
            result.messages.iter().map(|message| serde_json::to_value(message).unwrap_or_default()).collect();
        let text = text_of(&messages);
        if text.chars().count() > MAX_PROMPT_CHARS {
            let message = format!("the prompt has more than {MAX_PROMPT_CHARS} characters");
            return Err(DirectError::Failed { message });
        }
        Ok(FilledPrompt { description: result.description, messages, text })
    }

    fn slot(&self, server: &str) -> Result<Arc<ServerSlot>, DirectError> {
        let found = self.slots().iter().find(|slot| slot.config.name == server);
        found.map(Arc::clone).ok_or_else(|| {
            let known: Vec<&str> = self.slots().iter().map(|slot| slot.config.name.as_str()).collect();
            let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            DirectError::Unknown { message: format!("there is no MCP server `{server}`; there are: {known}") }
        })
    }
}

async fn prompts_of(servers: &Servers, slot: &ServerSlot) -> Result<Vec<Value>, DirectError> {
    let connection = slot.available().await.map_err(|message| failed(servers, slot, message))?;
    if !connection.has_prompts() {
        return Ok(Vec::new());
    }
    let prompts = within(slot, all(|cursor| connection.prompts_page(cursor))).await?;
    Ok(prompts.iter().map(|prompt| serde_json::to_value(prompt).unwrap_or_default()).collect())
}

/// Waits for the answer of a server, within the time limit of its calls.
async fn within<T>(
    slot: &ServerSlot,
    asked: impl Future<Output = Result<T, rmcp::ServiceError>>,
) -> Result<T, DirectError> {
    let limit = slot.config.tool_timeout;
    match timeout(limit, asked).await {
        Ok(answer) => answer.map_err(|error| DirectError::Failed { message: shown(&error) }),
        Err(_) => {
            let (name, seconds) = (&slot.config.name, limit.as_secs_f64());
            Err(DirectError::Failed { message: format!("the MCP server {name} did not answer within {seconds} s") })
        }
    }
}

/// Returns why a server is not there. Clients may know the details, other than models.
fn failed(servers: &Servers, slot: &ServerSlot, message: String) -> DirectError {
    match servers.failure(slot) {
        Some(why) => DirectError::Failed { message: format!("{message}: {why}") },
        None => DirectError::Failed { message },
    }
}

fn object(what: &str, value: Option<Value>) -> Result<Option<Map<String, Value>>, DirectError> {
    match value {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Object(members)) => Ok(Some(members)),
        Some(_) => Err(DirectError::Unknown { message: format!("`{what}` is not an object") }),
    }
}

/// Returns the texts of the messages of a prompt.
fn text_of(messages: &[Value]) -> String {
    let text = |content: &Value| -> String {
        let text = |name: &str| content.get(name).and_then(Value::as_str);
        match text("type") {
            Some("text") => text("text").unwrap_or_default().to_owned(),
            Some("resource") => {
                let inner = content.get("resource").unwrap_or(&Value::Null);
                match inner.get("text").and_then(Value::as_str) {
                    Some(text) => text.to_owned(),
                    None => {
                        format!("[resource {}]", inner.get("uri").and_then(Value::as_str).unwrap_or("without address"))
                    }
                }
            }
            Some("resource_link") => format!("[resource {}]", text("uri").unwrap_or("without address")),
            Some(kind) => format!("[{kind} {}]", text("mimeType").unwrap_or("of an unknown type")),
            None => String::new(),
        }
    };
    let texts = messages.iter().map(|message| match message.get("content") {
        Some(Value::Array(parts)) => parts.iter().map(text).collect::<Vec<_>>().join("\n\n"),
        Some(content) => text(content),
        None => String::new(),
    });
    texts.filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prompts_become_text() {
        let messages = [
            json!({ "role": "user", "content": { "type": "text", "text": "Look:" } }),
            json!({ "role": "user", "content": { "type": "image", "mimeType": "image/png", "data": "AAAA" } }),
            json!({ "role": "user", "content": { "type": "resource", "resource": { "uri": "a:b", "text": "inside" } } }),
            json!({ "role": "assistant", "content": [{ "type": "resource_link", "uri": "c:d" }, { "type": "text", "text": "x" }] }),
            json!({ "role": "user" }),
        ];
        assert_eq!(text_of(&messages), "Look:\n\n[image image/png]\n\ninside\n\n[resource c:d]\n\nx");
    }
}
