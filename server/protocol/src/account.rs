//! Accounts and their limits: read by clients at start, and always empty on a server that needs no login.

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
    /// A key.
    ApiKey,
    /// A ChatGPT account.
    Chatgpt {
        /// The address of the user.
        #[cfg_attr(feature = "schema", ts(optional = false))]
        email: Option<String>,
        /// The kind of subscription.
        plan_type: PlanType,
        /// The workspace.
        #[serde(default)]
        workspace_name: Option<String>,
    },
    /// Credentials of Amazon Bedrock.
    AmazonBedrock {
        /// Whether the program keeps the credentials.
        #[serde(default)]
        #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
        uses_codex_managed_credentials: bool,
    },
    /// Credentials of Google Cloud.
    Gcp,
}

/// Where the requests of an account are sent, against the usual choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "snake_case")]
pub enum AccountRoutingOverride {
    /// Nowhere in particular.
    #[serde(rename = "NO_CONSTRAINT")]
    NoConstraint,
    /// The United States.
    Us,
    /// The United States, under their stricter rules.
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
    /// Whether the account is in the cloud for authorities.
    pub is_gov_cloud: bool,
    /// Whether the client should warn.
    pub should_warn: bool,
}

/// What is left of an account's credits.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct CreditsSnapshot {
    /// Whether there are any.
    pub has_credits: bool,
    /// Whether there is no end of them.
    pub unlimited: bool,
    /// What is left, as a decimal number.
    #[serde(default)]
    pub balance: Option<String>,
}

/// Params of `account/read`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct GetAccountParams {
    /// Whether tokens are renewed first.
    #[serde(default, deserialize_with = "crate::common::null_is_default")]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub refresh_token: bool,
}

/// Result of `account/read`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct GetAccountResponse {
    /// Whether clients have to let the user log in first.
    pub requires_openai_auth: bool,
    /// The account; `null` where there is none.
    #[serde(default)]
    pub account: Option<Account>,
    /// The id of the user.
    #[serde(default)]
    pub user_id: Option<String>,
    /// Where the requests of the workspace go.
    #[serde(default)]
    pub workspace_routing: Option<WorkspaceRouting>,
}

/// The kind of subscription of an account.
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
    /// Pro, light.
    Prolite,
    /// Pro, large.
    Promax,
    /// Team.
    Team,
    /// Business, bought by oneself, light.
    SelfServeBusinessProlite,
    /// Business, bought by oneself, by usage.
    SelfServeBusinessUsageBased,
    /// Business.
    Business,
    /// Enterprise of 2026.
    Ent26,
    /// Enterprise, for automation.
    EnterpriseCbpAutomation,
    /// Enterprise, by usage.
    EnterpriseCbpUsageBased,
    /// Enterprise.
    Enterprise,
    /// Education.
    Edu,
    /// Education, plus.
    EduPlus,
    /// Education, pro.
    EduPro,
    /// Science.
    Sci,
    /// Science, plus.
    SciPlus,
    /// One that this version does not know.
    Unknown,
}

/// Which limit was reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "snake_case")]
pub enum RateLimitReachedType {
    /// The limit of the account.
    RateLimitReached,
    /// The credits of the workspace.
    WorkspaceOwnerCreditsDepleted,
    /// The credits that a member of the workspace had.
    WorkspaceMemberCreditsDepleted,
    /// The limit of the workspace.
    WorkspaceOwnerUsageLimitReached,
    /// The limit of a member of the workspace.
    WorkspaceMemberUsageLimitReached,
}

/// How much of an account's limits is used.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct RateLimitSnapshot {
    /// What is left of the credits.
    #[serde(default)]
    pub credits: Option<CreditsSnapshot>,
    /// The limit on what this user spends.
    #[serde(default)]
    pub individual_limit: Option<SpendControlLimitSnapshot>,
    /// The id of the limit.
    #[serde(default)]
    pub limit_id: Option<String>,
    /// The name of the limit.
    #[serde(default)]
    pub limit_name: Option<String>,
    /// The model that the limit is about.
    #[serde(default)]
    pub normal_model_slug: Option<String>,
    /// The kind of subscription.
    #[serde(default)]
    pub plan_type: Option<PlanType>,
    /// The first span of time.
    #[serde(default)]
    pub primary: Option<RateLimitWindow>,
    /// The limit that was reached.
    #[serde(default)]
    pub rate_limit_reached_type: Option<RateLimitReachedType>,
    /// The second span of time.
    #[serde(default)]
    pub secondary: Option<RateLimitWindow>,
    /// Whether a limit on spending was reached.
    #[serde(default)]
    pub spend_control_reached: Option<bool>,
}

/// A span of time with a limit.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct RateLimitWindow {
    /// What was used, in percent.
    pub used_percent: i32,
    /// When it begins anew, in Unix seconds.
    #[serde(default)]
    pub resets_at: Option<i64>,
    /// How long the span is, in minutes.
    #[serde(default)]
    pub window_duration_mins: Option<i64>,
}

/// How much of a limit on spending is used.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct SpendControlLimitSnapshot {
    /// The limit, as a decimal number.
    pub limit: String,
    /// What is left, in percent.
    pub remaining_percent: i32,
    /// When it begins anew, in Unix seconds.
    pub resets_at: i64,
    /// What was used, as a decimal number.
    pub used: String,
}

/// Where the requests of a workspace go.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct WorkspaceRouting {
    /// Where the requests of the account go against the usual choice.
    pub account_routing_override: AccountRoutingOverride,
    /// The address of the service.
    pub backend_origin: String,
    /// The id of the account.
    pub chatgpt_account_id: String,
}
