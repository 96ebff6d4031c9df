//! A connection to a server: its start, its tools and its resources.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use rmcp::model::{
    PaginatedRequestParams, Prompt, ReadResourceRequestParams, ReadResourceResponse, Resource, ResourceTemplate,
    ServerPeerInfo, Tool as RemoteTool,
};
use rmcp::service::{Peer, RunningService, ServiceError};
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::{RoleClient, ServiceExt};
use serde_json::Value;
use tokio::time::timeout;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::client::{CallRegistry, Client};
use crate::config::{ServerConfig, Transport};
use crate::environment::Variables;
use crate::failure::{Remedy, StartFailure, shown};
use crate::http::{self, Address};
use crate::launch_folders::LaunchFolders;
use crate::name;
use crate::oauth::tokens::Tokens;
use crate::oauth::{OAuth, OAuthError};
use crate::planted::{self, Plan};
use crate::process::{self, Keeper, LastErrorLine, Launch};
use crate::progress::ProgressTap;
use crate::roots::Roots;
use crate::schema::{self, MAX_SCHEMA_BYTES, MAX_SCHEMAS_BYTES};

/// Most tools of one server that are offered.
pub const MAX_TOOLS: usize = 512;

/// Most resources, and most resource templates, of one server that are listed.
pub const MAX_RESOURCES: usize = 2048;

/// Most pages of one list that are requested.
pub const MAX_LIST_PAGES: usize = 64;

/// A server that is connected.
pub(crate) struct Connection {
    pub(crate) peer: Peer<RoleClient>,
    pub(crate) registry: Arc<CallRegistry>,
    pub(crate) info: Option<Arc<ServerPeerInfo>>,
    tools: RwLock<Arc<Vec<OfferedTool>>>,
    /// The tokens of a user who has logged in.
    tokens: Option<Tokens>,
}

/// A tool that is offered to models.
#[derive(Debug, Clone)]
pub(crate) struct OfferedTool {
    /// The name of the tool for models.
    pub(crate) name: String,
    /// The tool as the server describes it.
    pub(crate) remote: RemoteTool,
    /// The schema of its arguments, in a form that all providers accept.
    pub(crate) parameters: Value,
}

/// The tasks behind a connection.
pub(crate) struct Running {
    pub(crate) service: RunningService<RoleClient, Client>,
    pub(crate) keeper: Option<Keeper>,
    pub(crate) last_error_line: LastErrorLine,
    /// Cancels the requests to a server over HTTP when it is dropped, which closes their connections.
    pub(crate) requests: Option<DropGuard>,
    /// The tokens of a user who has logged in.
    pub(crate) tokens: Option<Tokens>,
}

/// What a connection is made for.
pub(crate) struct Origin<'a> {
    pub(crate) config: &'a ServerConfig,
    pub(crate) namespace: &'a str,
    pub(crate) logins: &'a OAuth,
    pub(crate) roots: &'a Arc<Roots>,
}

/// Connects to a server and requests its tools. If the future is dropped, the process and its folder are removed.
pub(crate) async fn open(
    origin: &Origin<'_>,
    variables: &Variables,
    launch_folders: &LaunchFolders,
) -> Result<(Connection, Running), StartFailure> {
    let Origin { config, namespace, logins, roots } = *origin;
    let client = Client {
        registry: CallRegistry::new(&config.name),
        roots: config.roots.then(|| Arc::clone(roots)),
        sampling: config.sampling,
    };
    match &config.transport {
        Transport::Process { command, args, .. } => {
            let Plan { program, environment, cwd, hint, folder } = planned(config, variables, launch_folders).await?;
            let launch = Launch {
                server: &config.name,
                program: &program,
                arguments: args,
                environment: &environment,
                cwd: &cwd,
            };
            let mut started = process::start(&launch).map_err(|error| {
                StartFailure::new(format!("cannot start `{command}` in {}: {error}", cwd.display()))
            })?;
            started.keeper.holds(folder);
            let carrier = AsyncRwTransport::new_client(started.output, started.input);
            let carrier = ProgressTap::new(carrier, Arc::clone(&client.registry.progress));
            let last_error_line = started.last_error_line;
            let opened = greet(carrier, client, config, namespace, None).await;
            let (connection, service) = match opened {
                Ok(opened) => opened,
                Err(failure) => {
                    let failure = with_last_error_line(failure, &last_error_line).await;
                    let message = match hint {
                        Some(hint) => format!("{}; {hint}", failure.message),
                        None => failure.message,
                    };
                    return Err(StartFailure { need: failure.need, ..StartFailure::new(message) });
                }
            };
            let keeper = Some(started.keeper);
            Ok((connection, Running { service, keeper, last_error_line, requests: None, tokens: None }))
        }
        Transport::Http { url, bearer_token_env_var, headers, env_headers } => {
            let address = Address { url, bearer_token_env_var: bearer_token_env_var.as_deref(), headers, env_headers };
            let end = CancellationToken::new();
            let tokens = logins.tokens(config);
            if let Some(tokens) = &tokens {
                // A login that has ended is told before the server is asked for anything.
                tokens.bearer().await.map_err(|error| login_failure(&error))?;
            }
            let carrier = http::transport(&address, variables, tokens.clone(), end.clone())?;
            let carrier = ProgressTap::new(carrier, Arc::clone(&client.registry.progress));
            let requests = Some(end.drop_guard());
            let (connection, service) = greet(carrier, client, config, namespace, tokens.clone()).await?;
            let last_error_line = LastErrorLine::none();
            Ok((connection, Running { service, keeper: None, last_error_line, requests, tokens }))
        }
    }
}

/// Returns why a server cannot be used whose token cannot be had.
fn login_failure(error: &OAuthError) -> StartFailure {
    let need = if matches!(error, OAuthError::LoginNeeded { .. }) { Remedy::Login } else { Remedy::Unknown };
    StartFailure { need, ..StartFailure::new(error.to_string()) }
}

/// Checks what a server is started from. The check runs on a blocking thread, since file systems may be slow.
async fn planned(
    config: &ServerConfig,
    variables: &Variables,
    launch_folders: &LaunchFolders,
) -> Result<Plan, StartFailure> {
    let (config, variables, launch_folders) = (config.clone(), variables.clone(), launch_folders.clone());
    let plan = tokio::task::spawn_blocking(move || {
        let program = config.program().expect("the server is a process");
        planted::plan(&config.name, &program, &variables, &launch_folders)
    });
    match plan.await {
        Ok(plan) => plan.map_err(|refusal| StartFailure::new(refusal.to_string())),
        Err(error) => Err(StartFailure::new(format!("it cannot be started: {error}"))),
    }
}

/// Appends the last line of the server's error stream to a failure.
pub(crate) async fn with_last_error_line(failure: StartFailure, last_error_line: &LastErrorLine) -> StartFailure {
    match last_error_line.at_the_end().await {
        Some(words) => {
            StartFailure { need: failure.need, ..StartFailure::new(format!("{}; it said: {words}", failure.message)) }
        }
        None => failure,
    }
}

async fn greet(
    carrier: ProgressTap,
    client: Client,
    config: &ServerConfig,
    namespace: &str,
    tokens: Option<Tokens>,
) -> Result<(Connection, RunningService<RoleClient, Client>), StartFailure> {
    let registry = Arc::clone(&client.registry);
    let service = client.serve(carrier).await.map_err(|error| {
        let need = if error.is_authorization_required() { Remedy::Login } else { Remedy::Unknown };
        StartFailure { need, ..StartFailure::new(shown(&error)) }
    })?;
    let peer = service.peer().clone();
    let info = peer.peer_info();
    let connection = Connection { peer, registry, info, tools: RwLock::default(), tokens };
    connection
        .refresh_tools(config, namespace)
        .await
        .map_err(|error| StartFailure::new(format!("its tools cannot be listed: {}", shown(&error))))?;
    Ok((connection, service))
}

impl Connection {
    /// Returns the tools that are offered to models.
    pub(crate) fn tools(&self) -> Arc<Vec<OfferedTool>> {
        Arc::clone(&self.tools.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns why a call has no result whose connection was closed.
    pub(crate) fn closed(&self, server: &str) -> String {
        match self.tokens.as_ref().and_then(Tokens::login_needed) {
            Some(error) => error.to_string(),
            // The call is not made again: nobody knows what it has already done.
            None => format!(
                "the MCP server {server} ended during this call, which may have had an effect; the call is not repeated"
            ),
        }
    }

    /// Requests the list of tools again.
    pub(crate) async fn refresh_tools(&self, config: &ServerConfig, namespace: &str) -> Result<(), ServiceError> {
        let has_tools = self.info.as_ref().is_none_or(|info| info.capabilities.tools.is_some());
        let mut listed: Vec<RemoteTool> = Vec::new();
        if has_tools {
            let mut cursor = None;
            for _ in 0..MAX_LIST_PAGES {
                let page = self.peer.list_tools(from(cursor)).await?;
                listed.extend(page.tools.into_iter().filter(|tool| config.offers(&tool.name)));
                cursor = page.next_cursor;
                if cursor.is_none() || listed.len() >= MAX_TOOLS {
                    break;
                }
            }
            if cursor.is_some() || listed.len() > MAX_TOOLS {
                tracing::warn!(server = %config.name, "the server has more tools than the {MAX_TOOLS} that are offered");
                listed.truncate(MAX_TOOLS);
            }
        }
        let mut names = name::tools(namespace, listed.iter().map(|tool| &*tool.name));
        // If a name occurs twice, the first tool is used.
        let named = listed.into_iter().filter_map(|remote| Some((names.remove(&*remote.name)?, remote)));
        let offered = within_bounds(&config.name, named);
        *self.tools.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(offered);
        Ok(())
    }

    /// Returns whether the server has resources.
    pub(crate) fn has_resources(&self) -> bool {
        self.info.as_ref().is_some_and(|info| info.capabilities.resources.is_some())
    }

    /// Tells the server that the folders in which agents work have changed.
    pub(crate) async fn tell_of_roots(&self) {
        if let Ok(Err(error)) = timeout(LIST_TIMEOUT, self.peer.notify_roots_list_changed()).await {
            tracing::debug!(error = %shown(&error), "the server is not told of the new folders");
        }
    }

    /// Returns the instructions of the server for models.
    pub(crate) fn instructions(&self) -> Option<&str> {
        self.info.as_ref()?.instructions.as_deref().map(str::trim).filter(|instructions| !instructions.is_empty())
    }

    /// Returns a page of the server's resources, and the cursor of the next one.
    pub(crate) async fn resources_page(
        &self,
        cursor: Option<String>,
    ) -> Result<(Vec<Resource>, Option<String>), ServiceError> {
        let page = self.peer.list_resources(from(cursor)).await?;
        Ok((page.resources, page.next_cursor))
    }

    /// Returns whether the server has prompts.
    pub(crate) fn has_prompts(&self) -> bool {
        self.info.as_ref().is_some_and(|info| info.capabilities.prompts.is_some())
    }

    /// Returns a page of the server's prompts, and the cursor of the next one.
    pub(crate) async fn prompts_page(
        &self,
        cursor: Option<String>,
    ) -> Result<(Vec<Prompt>, Option<String>), ServiceError> {
        let page = self.peer.list_prompts(from(cursor)).await?;
        Ok((page.prompts, page.next_cursor))
    }

    /// Returns a page of the server's resource templates, and the cursor of the next one.
    pub(crate) async fn templates_page(
        &self,
        cursor: Option<String>,
    ) -> Result<(Vec<ResourceTemplate>, Option<String>), ServiceError> {
        let page = self.peer.list_resource_templates(from(cursor)).await?;
        Ok((page.resource_templates, page.next_cursor))
    }

    /// Reads a resource.
    pub(crate) async fn read_resource(&self, uri: &str) -> Result<Value, ServiceError> {
        match self.peer.read_resource_once(ReadResourceRequestParams::new(uri)).await? {
            ReadResourceResponse::Complete(result) => Ok(serde_json::to_value(result.contents).unwrap_or_default()),
            _ => Err(ServiceError::UnexpectedResponse),
        }
    }
}

/// Returns the tools with their schemas. Tools whose schemas exceed the limits are left out.
fn within_bounds(server: &str, tools: impl Iterator<Item = (String, RemoteTool)>) -> Vec<OfferedTool> {
    let mut room = MAX_SCHEMAS_BYTES;
    let offered = tools.filter_map(|(name, remote)| {
        let parameters = schema::parameters(&remote.input_schema);
        let bytes = parameters.to_string().len();
        if bytes > MAX_SCHEMA_BYTES.min(room) {
            tracing::warn!(%server, tool = %remote.name, bytes, "a tool is left out: its schema is too large");
            return None;
        }
        room -= bytes;
        Some(OfferedTool { name, remote, parameters })
    });
    offered.collect()
}

/// Requests all pages of a list, up to [`MAX_RESOURCES`] entries and [`MAX_LIST_PAGES`] pages.
pub(crate) async fn all<T, F>(mut page: impl FnMut(Option<String>) -> F) -> Result<Vec<T>, ServiceError>
where
    F: Future<Output = Result<(Vec<T>, Option<String>), ServiceError>>,
{
    let (mut items, mut cursor) = (Vec::new(), None);
    for _ in 0..MAX_LIST_PAGES {
        let (more, next) = page(cursor).await?;
        items.extend(more);
        cursor = next;
        if cursor.is_none() || items.len() >= MAX_RESOURCES {
            break;
        }
    }
    items.truncate(MAX_RESOURCES);
    Ok(items)
}

fn from(cursor: Option<String>) -> Option<PaginatedRequestParams> {
    cursor.map(|cursor| PaginatedRequestParams::default().with_cursor(Some(cursor)))
}

/// Time limit for requesting the lists of a server again.
pub(crate) const LIST_TIMEOUT: Duration = Duration::from_secs(30);

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn tools_whose_schemas_are_too_large_are_left_out() {
        let tool = |name: String, bytes: usize| {
            let schema = json!({ "description": "x".repeat(bytes) });
            let remote = serde_json::from_value(json!({ "name": name, "inputSchema": schema })).expect("a tool");
            (name, remote)
        };
        let names = |tools: Vec<_>| -> Vec<String> {
            within_bounds("s", tools.into_iter()).into_iter().map(|tool| tool.name).collect()
        };
        let large = tool("large".to_owned(), MAX_SCHEMA_BYTES);
        assert_eq!(names(vec![tool("a".to_owned(), 9), large, tool("b".to_owned(), 9)]), ["a", "b"]);
        let fit = MAX_SCHEMAS_BYTES / (MAX_SCHEMA_BYTES / 2);
        let many = (0..2 * fit).map(|number| tool(number.to_string(), MAX_SCHEMA_BYTES / 2)).collect();
        assert_eq!(names(many).len(), fit - 1);
    }
}
