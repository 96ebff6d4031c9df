//! What clients use of MCP servers directly: tools, resources, prompts and another start.

use serde::de::DeserializeOwned;
use serde_json::Value;
use trace_mcp::{DirectError, Servers};
use trace_protocol::RpcError;
use trace_protocol::mcp::{
    McpPrompt, McpPromptArgument, McpResourceReadParams, McpResourceReadResponse, McpServerPromptGetParams,
    McpServerPromptGetResponse, McpServerPromptListParams, McpServerPromptListResponse, McpServerRefreshResponse,
    McpServerToolCallParams, McpServerToolCallResponse, ResourceContent,
};
use trace_runtime::ThreadId;

use super::mcp::McpService;
use super::mcp_login::configured;
use super::page::page;
use crate::config::Config;

impl McpService {
    /// Starts the MCP servers of all loaded threads again that are not there or are reached over HTTP.
    pub async fn reload(&self) -> McpServerRefreshResponse {
        self.forget_reports().await;
        for servers in self.all() {
            servers.reload();
        }
        McpServerRefreshResponse {}
    }

    /// Calls a tool of a thread's MCP server.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no such thread, MCP server or tool, or if the call fails.
    pub async fn call_tool(&self, params: McpServerToolCallParams) -> Result<McpServerToolCallResponse, RpcError> {
        let McpServerToolCallParams { server, thread_id, tool, arguments, meta } = params;
        let servers = self.needed(&thread_id)?;
        let result = servers.call_tool(&server, &tool, arguments, meta).await.map_err(error)?;
        readable("result", result)
    }

    /// Reads a resource of an MCP server. Without a thread, the MCP server is started for this request.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no such thread, MCP server or resource.
    pub async fn read_resource(
        &self,
        config: &Config,
        params: &McpResourceReadParams,
    ) -> Result<McpResourceReadResponse, RpcError> {
        let read = async |servers: &Servers| servers.read_resource(&params.server, &params.uri).await.map_err(error);
        let contents = match &params.thread_id {
            Some(thread) => read(&self.needed(thread)?).await?,
            None => {
                if !configured(config, &params.server)?.enabled {
                    return Err(RpcError::invalid_request(format!("the MCP server `{}` is disabled", params.server)));
                }
                let servers = self.started_for(config, &params.server);
                servers.settled().await;
                let contents = read(&servers).await;
                servers.shutdown().await;
                contents?
            }
        };
        let contents: Result<Vec<ResourceContent>, RpcError> =
            contents.into_iter().map(|content| readable("resource", content)).collect();
        Ok(McpResourceReadResponse { contents: contents?, origin_call_id: None })
    }

    /// Lists the prompts of a thread's MCP servers.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no such thread or MCP server, or if the cursor is invalid.
    pub async fn list_prompts(
        &self,
        params: &McpServerPromptListParams,
    ) -> Result<McpServerPromptListResponse, RpcError> {
        let servers = self.needed(&params.thread_id)?;
        let prompts = servers.prompts(params.server.as_deref()).await.map_err(error)?;
        let prompts = prompts.into_iter().filter_map(|(server, prompt)| shown(server, &prompt)).collect();
        let (data, next_cursor) = page(prompts, params.cursor.as_deref(), params.limit)?;
        Ok(McpServerPromptListResponse { data, next_cursor })
    }

    /// Fills in a prompt of a thread's MCP server.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no such thread, MCP server or prompt.
    pub async fn get_prompt(&self, params: McpServerPromptGetParams) -> Result<McpServerPromptGetResponse, RpcError> {
        let McpServerPromptGetParams { thread_id, server, name, arguments } = params;
        let servers = self.needed(&thread_id)?;
        let filled = servers.prompt(&server, &name, arguments.unwrap_or_default()).await.map_err(error)?;
        Ok(McpServerPromptGetResponse { description: filled.description, messages: filled.messages, text: filled.text })
    }

    fn needed(&self, thread: &str) -> Result<Servers, RpcError> {
        self.of_tree(&ThreadId::from(thread)).ok_or_else(|| {
            RpcError::invalid_request(format!("the thread {thread} is not loaded, or it has no MCP servers"))
        })
    }
}

fn error(error: DirectError) -> RpcError {
    match error {
        DirectError::Unknown { message } => RpcError::invalid_request(message),
        other => RpcError::internal(other),
    }
}

fn readable<T: DeserializeOwned>(what: &str, value: Value) -> Result<T, RpcError> {
    serde_json::from_value(value)
        .map_err(|error| RpcError::internal(format!("the {what} of the MCP server is not valid: {error}")))
}

/// Returns a prompt for clients. `None` if it has no name.
fn shown(server: String, prompt: &Value) -> Option<McpPrompt> {
    let text = |value: &Value, name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
    let arguments = prompt.get("arguments").and_then(Value::as_array).into_iter().flatten().filter_map(|argument| {
        Some(McpPromptArgument {
            name: text(argument, "name")?,
            title: text(argument, "title"),
            description: text(argument, "description"),
            required: argument.get("required").and_then(Value::as_bool).unwrap_or(false),
        })
    });
    Some(McpPrompt {
        server,
        name: text(prompt, "name")?,
        title: text(prompt, "title"),
        description: text(prompt, "description"),
        arguments: arguments.collect(),
    })
}
