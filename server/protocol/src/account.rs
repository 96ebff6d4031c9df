//! Accounts and their limits. Clients read them at start. On a server that needs no login they are always empty.

use std::fmt;

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
#[cfg(feature = "schema")]
use ts_rs::TS;

/// An account with a model provider.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Account {
    /// An API key.
    ApiKey,
    /// A ChatGPT account.
    Chatgpt {
        /// Email address of the user.
        #[cfg_attr(feature = "schema", ts(optional = false))]
        email: Option<String>,
        /// The kind of subscription.
        plan_type: PlanType,
        /// Name of the workspace.
        #[serde(default)]
        workspace_name: Option<String>,
    },
    /// Credentials of Amazon Bedrock.
    AmazonBedrock {
        /// Whether the program manages the credentials.
        #[serde(default)]
        #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
        uses_codex_managed_credentials: bool,
    },
    /// Credentials of Google Cloud.
    Gcp,
}

/// The region to which the requests of an account are sent, if it is not the default.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "snake_case")]
pub enum AccountRoutingOverride {
    /// No constraint.
    #[serde(rename = "NO_CONSTRAINT")]
    NoConstraint,
    /// The United States.
    Us,
    /// The United States, with stricter rules.
    UsCr,
}

/// Params of `account/bedrock/checkGovCloudRequirements`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct BedrockCheckGovCloudRequirementsParams {}

/// Result of `account/bedrock/checkGovCloudRequirements`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct BedrockCheckGovCloudRequirementsResponse {
    /// Whether the account is in a government cloud.
    pub is_gov_cloud: bool,
    /// Whether the client should warn the user.
    pub should_warn: bool,
}

/// Credits of an account.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct CreditsSnapshot {
    /// Whether there are any credits.
    pub has_credits: bool,
    /// Whether the credits are unlimited.
    pub unlimited: bool,
    /// Remaining credits, as a decimal number.
    #[serde(default)]
    pub balance: Option<String>,
}

/// Params of `account/read`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct GetAccountParams {
    /// Whether tokens are refreshed first.
    #[serde(default, deserialize_with = "crate::common::null_is_default")]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub refresh_token: bool,
}

/// Result of `account/read`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct GetAccountResponse {
    /// Whether the user must log in before using the server.
    pub requires_openai_auth: bool,
    /// The account. `null` if there is none.
    #[serde(default)]
    pub account: Option<Account>,
    /// Id of the user.
    #[serde(default)]
    pub user_id: Option<String>,
    /// Routing of the workspace's requests.
    #[serde(default)]
    pub workspace_routing: Option<WorkspaceRouting>,
}

/// A secret in a message. Its `Debug` output does not contain it.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(transparent)]
#[cfg_attr(feature = "schema", schemars(inline), ts(as = "String"))]
pub struct SecretText(pub String);

impl fmt::Debug for SecretText {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("SecretText")
    }
}

/// Params of `account/login/start`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum LoginAccountParams {
    /// An API key.
    ApiKey {
        /// The key.
        api_key: SecretText,
    },
    /// A ChatGPT account, in a browser.
    Chatgpt {
        /// The product whose name the page shows.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        app_brand: Option<LoginAppBrand>,
        /// Whether the page is the short one.
        #[serde(default, deserialize_with = "crate::common::null_is_default")]
        #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
        codex_streamlined_login: bool,
        /// Whether the page at the end is a hosted one.
        #[serde(default, deserialize_with = "crate::common::null_is_default")]
        #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
        use_hosted_login_success_page: bool,
    },
    /// A ChatGPT account, with a code for another device.
    ChatgptDeviceCode,
    /// A token that the client has and renews.
    ChatgptAuthTokens {
        /// The token.
        access_token: SecretText,
        /// The account that it belongs to.
        chatgpt_account_id: String,
        /// The kind of subscription.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        chatgpt_plan_type: Option<String>,
    },
    /// A key of Amazon Bedrock.
    AmazonBedrock {
        /// The key.
        api_key: SecretText,
        /// The region.
        region: String,
    },
    /// Access keys of Amazon Bedrock.
    AmazonBedrockAccessKeys {
        /// Id of the key.
        access_key_id: String,
        /// The region.
        region: String,
        /// The key.
        secret_access_key: SecretText,
        /// The token of a session.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session_token: Option<SecretText>,
    },
}

/// How a client, or the server for it, proves to a provider who it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub enum AuthMode {
    /// An API key, which the server keeps.
    #[serde(rename = "apikey")]
    ApiKey,
    /// A ChatGPT account, whose tokens the server keeps.
    Chatgpt,
    /// Tokens that the client has and renews.
    ChatgptAuthTokens,
    /// Headers of requests.
    Headers,
    /// The identity of an agent.
    AgentIdentity,
    /// A personal access token.
    PersonalAccessToken,
    /// A bearer token of Amazon Bedrock.
    BedrockApiKey,
    /// Access keys of Amazon Bedrock.
    BedrockAccessKeys,
}

/// What brought somebody to the login of the desktop program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "snake_case")]
pub enum DesktopOnboardingEntrypoint {
    /// Life sciences.
    LifeSciences,
}

/// A product whose name a login page shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub enum LoginAppBrand {
    /// Codex.
    Codex,
    /// ChatGPT.
    Chatgpt,
}

/// Result of `account/login/start`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum LoginAccountResponse {
    /// The key is used.
    ApiKey {},
    /// The user logs in at a URL.
    Chatgpt {
        /// The URL.
        auth_url: String,
        /// Id of the login.
        login_id: String,
    },
    /// The user enters a code at a URL.
    ChatgptDeviceCode {
        /// Id of the login.
        login_id: String,
        /// The code.
        user_code: String,
        /// The URL.
        verification_url: String,
    },
    /// The token is used.
    ChatgptAuthTokens {},
    /// The credentials are used.
    AmazonBedrock {},
}

/// Result of `account/logout`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct LogoutAccountResponse {}

/// The subscription of an account.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "snake_case")]
pub enum PlanType {
    /// Free.
    Free,
    /// Go.
    Go,
    /// Plus.
    Plus,
    /// Pro.
    Pro,
    /// Pro Lite.
    Prolite,
    /// Pro Max.
    Promax,
    /// Team.
    Team,
    /// Business Pro Lite, self-service.
    SelfServeBusinessProlite,
    /// Business by usage, self-service.
    SelfServeBusinessUsageBased,
    /// Business.
    Business,
    /// Enterprise of 2026.
    Ent26,
    /// Enterprise CBP for automation.
    EnterpriseCbpAutomation,
    /// Enterprise CBP by usage.
    EnterpriseCbpUsageBased,
    /// Enterprise.
    Enterprise,
    /// Education.
    Edu,
    /// Education Plus.
    EduPlus,
    /// Education Pro.
    EduPro,
    /// Science.
    Sci,
    /// Science Plus.
    SciPlus,
    /// A subscription that this version does not know.
    Unknown,
}

/// The limit that was reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "snake_case")]
pub enum RateLimitReachedType {
    /// Rate limit of the account.
    RateLimitReached,
    /// Credits of the workspace.
    WorkspaceOwnerCreditsDepleted,
    /// Credits of a member of the workspace.
    WorkspaceMemberCreditsDepleted,
    /// Usage limit of the workspace.
    WorkspaceOwnerUsageLimitReached,
    /// Usage limit of a member of the workspace.
    WorkspaceMemberUsageLimitReached,
}

/// Usage of an account's limits.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct RateLimitSnapshot {
    /// Credits of the account.
    #[serde(default)]
    pub credits: Option<CreditsSnapshot>,
    /// Spending limit of this user.
    #[serde(default)]
    pub individual_limit: Option<SpendControlLimitSnapshot>,
    /// The id of the limit.
    #[serde(default)]
    pub limit_id: Option<String>,
    /// The name of the limit.
    #[serde(default)]
    pub limit_name: Option<String>,
    /// Model that the limit applies to.
    #[serde(default)]
    pub normal_model_slug: Option<String>,
    /// The kind of subscription.
    #[serde(default)]
    pub plan_type: Option<PlanType>,
    /// First time window.
    #[serde(default)]
    pub primary: Option<RateLimitWindow>,
    /// The limit that was reached.
    #[serde(default)]
    pub rate_limit_reached_type: Option<RateLimitReachedType>,
    /// Second time window.
    #[serde(default)]
    pub secondary: Option<RateLimitWindow>,
    /// Whether a spending limit was reached.
    #[serde(default)]
    pub spend_control_reached: Option<bool>,
}

/// A time window with a limit.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct RateLimitWindow {
    /// Used share of the limit, in percent.
    pub used_percent: i32,
    /// Time of the next reset in Unix seconds.
    #[serde(default)]
    pub resets_at: Option<i64>,
    /// Length of the window in minutes.
    #[serde(default)]
    pub window_duration_mins: Option<i64>,
}

/// Usage of a spending limit.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct SpendControlLimitSnapshot {
    /// The limit, as a decimal number.
    pub limit: String,
    /// Remaining share of the limit, in percent.
    pub remaining_percent: i32,
    /// Time of the next reset in Unix seconds.
    pub resets_at: i64,
    /// Amount used, as a decimal number.
    pub used: String,
}

/// Routing of a workspace's requests.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct WorkspaceRouting {
    /// The region to which requests are sent, if it is not the default.
    pub account_routing_override: AccountRoutingOverride,
    /// Origin of the provider's service.
    pub backend_origin: String,
    /// The id of the account.
    pub chatgpt_account_id: String,
}
