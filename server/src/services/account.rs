//! Answers requests about accounts. The server has none: providers authenticate with keys.

use trace_protocol::account::{BedrockCheckGovCloudRequirementsResponse, GetAccountParams, GetAccountResponse};
use trace_protocol::config::ConfigRequirementsReadResponse;

/// Answers requests about accounts.
#[derive(Debug, Default)]
pub struct AccountService;

impl AccountService {
    /// Returns that there is no account, and that none is required.
    #[must_use]
    pub fn read(&self, _params: &GetAccountParams) -> GetAccountResponse {
        GetAccountResponse { requires_openai_auth: false, account: None, user_id: None, workspace_routing: None }
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
