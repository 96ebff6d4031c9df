//! Logins at MCP servers that clients begin.

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;
use trace_mcp::ServerConfig;
use trace_mcp::oauth::{LoginOptions, OAuthError, PendingLogin, Registration};
use trace_protocol::RpcError;
use trace_protocol::mcp::{
    McpServerOauthClientRegistration, McpServerOauthLoginCompletedNotification, McpServerOauthLoginParams,
    McpServerOauthLoginResponse,
};
use uuid::Uuid;

use super::mcp::{LOGINS_AT_ONCE, McpService, WaitingLogin};
use super::notify::Notifier;
use crate::config::Config;

/// Time limit of a login if the client names none.
pub const LOGIN_TIMEOUT_DEFAULT: Duration = Duration::from_secs(300);

/// Longest time limit of a login.
pub const LOGIN_TIMEOUT_MAX: Duration = Duration::from_secs(3600);

impl McpService {
    /// Begins a login at an MCP server. Its end is notified to `notifier`, and loaded threads then connect to the MCP server.
    /// An earlier login there that still waits for the user ends.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no such MCP server, if it has no login, or if too many logins wait.
    pub async fn login(
        self: &Arc<Self>,
        config: &Config,
        params: McpServerOauthLoginParams,
        notifier: Notifier,
    ) -> Result<McpServerOauthLoginResponse, RpcError> {
        let McpServerOauthLoginParams { name, thread_id, scopes, timeout_secs, client_registration, device } = params;
        let server = configured(config, &name)?;
        let limit = match timeout_secs {
            None => LOGIN_TIMEOUT_DEFAULT,
            Some(seconds) => match u64::try_from(seconds) {
                Ok(seconds @ 1..) => Duration::from_secs(seconds).min(LOGIN_TIMEOUT_MAX),
                _ => return Err(RpcError::invalid_request("`timeoutSecs` must be above 0")),
            },
        };
        let registration = match client_registration {
            None | Some(McpServerOauthClientRegistration::Auto) => Registration::Auto,
            Some(McpServerOauthClientRegistration::Dcr) => Registration::Dynamic,
            Some(McpServerOauthClientRegistration::Cimd) => Registration::Document,
        };
        let callback = config.mcp_oauth_callback.clone();
        let options = LoginOptions { scopes, registration, callback, device: device.unwrap_or(false) };
        self.end_login(&name).await;
        let room = self.login_room().ok_or_else(|| {
            RpcError::invalid_request(format!(
                "{LOGINS_AT_ONCE} logins wait already; finish one, or wait until it ends"
            ))
        })?;
        let pending = self.logins.begin(server, options).await.map_err(|error| RpcError::invalid_request(&error))?;
        let login_id = Uuid::now_v7().to_string();
        let code = pending.device_code();
        let response = McpServerOauthLoginResponse {
            authorization_url: pending.authorization_url().to_string(),
            login_id: Some(login_id.clone()),
            user_code: code.map(|code| code.user_code.clone()),
            verification_url: code.map(|code| code.verification_url.to_string()),
        };
        let completed = McpServerOauthLoginCompletedNotification {
            name: name.clone(),
            success: false,
            error: None,
            login_id: Some(login_id),
            thread_id,
        };
        let (service, shutdown, replaced) = (Arc::downgrade(self), self.ending.clone(), CancellationToken::new());
        let is_replaced = replaced.clone();
        let task = tokio::spawn(async move {
            let _room = room;
            let finished = tokio::select! {
                biased;
                () = shutdown.cancelled() => return,
                finished = finish(pending, limit) => finished.map_err(|error| error.to_string()),
                () = is_replaced.cancelled() => {
                    Err(format!("another login at the MCP server `{}` was begun", completed.name))
                }
            };
            if finished.is_ok()
                && let Some(service) = service.upgrade()
            {
                service.logged_in(&completed.name).await;
            }
            let error = finished.err();
            let completed = McpServerOauthLoginCompletedNotification { success: error.is_none(), error, ..completed };
            notifier.notify(completed.into());
        });
        if let Some(other) = self.waiting_logins().insert(name, WaitingLogin { replaced, task }) {
            other.replaced.cancel();
        }
        Ok(response)
    }

    /// Ends the login at an MCP server that waits for the user, if there is one. Its port is free afterwards.
    async fn end_login(&self, server: &str) {
        let waiting = self.waiting_logins().remove(server);
        if let Some(WaitingLogin { replaced, task }) = waiting {
            replaced.cancel();
            let _ = task.await;
        }
    }

    /// Connects loaded threads to an MCP server at which a user has logged in.
    async fn logged_in(&self, server: &str) {
        self.forget_reports().await;
        for servers in self.all() {
            servers.logged_in(server);
        }
    }
}

/// Returns the configuration of an MCP server, also of a disabled one.
pub(super) fn configured<'a>(config: &'a Config, name: &str) -> Result<&'a ServerConfig, RpcError> {
    config.mcp_servers.iter().find(|server| server.name == name).ok_or_else(|| {
        let known: Vec<&str> = config.mcp_servers.iter().map(|server| server.name.as_str()).collect();
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        RpcError::invalid_request(format!("there is no MCP server `{name}`; there are: {known}"))
    })
}

async fn finish(pending: PendingLogin, limit: Duration) -> Result<(), OAuthError> {
    pending.finish(limit, None).await
}
