//! Answers requests about accounts. The server has none: providers authenticate with keys, or with tokens that clients give.

use std::sync::Arc;

use serde_json::Value;
use trace_protocol::account::{
    AuthMode, BedrockCheckGovCloudRequirementsResponse, GetAccountParams, GetAccountResponse, LoginAccountParams,
    LoginAccountResponse, LogoutAccountResponse, PlanType,
};
use trace_protocol::config::ConfigRequirementsReadResponse;
use trace_protocol::notification::{AccountLoginCompletedNotification, AccountUpdatedNotification};
use trace_protocol::{RpcError, ServerNotification};
use trace_runtime::provider::config::KeySource;

use crate::client_tokens::ClientTokens;
use crate::config::Config;
use crate::connection::Connection;

/// Answers requests about accounts.
#[derive(Debug, Default)]
pub struct AccountService {
    /// The tokens that clients gave.
    pub tokens: Arc<ClientTokens>,
}

impl AccountService {
    /// Takes a token that a client gives for the provider in use.
    ///
    /// # Errors
    ///
    /// Returns an error if the client wants another kind of login, or if no provider takes tokens from clients.
    pub fn login(
        &self,
        config: &Config,
        connection: &Arc<Connection>,
        params: LoginAccountParams,
    ) -> Result<LoginAccountResponse, RpcError> {
        let LoginAccountParams::ChatgptAuthTokens { access_token, chatgpt_account_id, .. } = params else {
            let message = "this server keeps no accounts: only a login of the type `chatgptAuthTokens` is possible";
            return Err(RpcError::invalid_request(message));
        };
        if access_token.0.trim().is_empty() {
            return Err(RpcError::invalid_request("`accessToken` is empty"));
        }
        let provider = provider_of_clients(config)?;
        self.tokens.give(connection, provider, access_token.0, chatgpt_account_id);
        Ok(LoginAccountResponse::ChatgptAuthTokens {})
    }

    /// Forgets the tokens of a client.
    #[must_use]
    pub fn logout(&self, connection: &Connection) -> LogoutAccountResponse {
        self.tokens.take_back(connection.id());
        LogoutAccountResponse {}
    }

    /// Returns that there is no account, and that none is required.
    #[must_use]
    pub fn read(&self, _params: &GetAccountParams) -> GetAccountResponse {
        GetAccountResponse { requires_openai_auth: false, account: None, user_id: None, workspace_routing: None }
    }
}

/// Returns the subscription that a client names, if it is a known one.
#[must_use]
pub(super) fn plan_of(params: &LoginAccountParams) -> Option<PlanType> {
    let LoginAccountParams::ChatgptAuthTokens { chatgpt_plan_type: Some(plan), .. } = params else { return None };
    serde_json::from_value(Value::String(plan.clone())).ok()
}

/// Returns what a client hears after the answer to its login, as from the Codex CLI. Other clients hear nothing: the token
/// is not theirs.
#[must_use]
pub(super) fn logged_in(plan_type: Option<PlanType>) -> [ServerNotification; 2] {
    [
        AccountLoginCompletedNotification { success: true, ..AccountLoginCompletedNotification::default() }.into(),
        AccountUpdatedNotification { auth_mode: Some(AuthMode::ChatgptAuthTokens), plan_type }.into(),
    ]
}

/// Returns the provider that takes tokens from clients: the one in use, or else the only one.
fn provider_of_clients(config: &Config) -> Result<&str, RpcError> {
    let takes_tokens = |name: &&String| config.providers.get(*name).is_some_and(|it| it.key == KeySource::Clients);
    if takes_tokens(&&config.provider) {
        return Ok(&config.provider);
    }
    let mut others = config.providers.keys().filter(takes_tokens);
    match (others.next(), others.next()) {
        (Some(only), None) => Ok(only),
        (Some(_), Some(_)) => Err(RpcError::invalid_request(
            "several providers take tokens from clients, and none of them is the `model_provider`: choose one",
        )),
        (None, _) => Err(RpcError::invalid_request(
            "no provider takes a token from a client: set `auth = \"client\"` in its table of `model_providers`",
        )),
    }
}

/// Returns that no cloud for governments is in use.
#[must_use]
pub fn check_gov_cloud() -> BedrockCheckGovCloudRequirementsResponse {
    BedrockCheckGovCloudRequirementsResponse { is_gov_cloud: false, should_warn: false }
}

/// Returns that no administrator limits the configuration.
#[must_use]
pub fn configuration_requirements() -> ConfigRequirementsReadResponse {
    ConfigRequirementsReadResponse { requirements: None, supports_independent_speed_modes: None }
}
