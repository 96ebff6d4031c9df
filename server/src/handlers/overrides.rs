//! Settings that a client gives when it starts, resumes or forks a thread.

use trace_protocol::common::JsonObject;
use trace_protocol::settings::{ApprovalsReviewer, AskForApproval, Personality, SandboxMode};
use trace_protocol::thread::{ThreadForkParams, ThreadResumeParams, ThreadStartParams};

/// Settings of a client that replace those of the configuration.
#[derive(Debug, Default)]
pub(crate) struct Overrides {
    pub(crate) model: Option<String>,
    pub(crate) provider: Option<String>,
    pub(crate) service_tier: Option<String>,
    pub(crate) cwd: Option<String>,
    pub(crate) approval: Option<AskForApproval>,
    pub(crate) reviewer: Option<ApprovalsReviewer>,
    pub(crate) sandbox: Option<SandboxMode>,
    pub(crate) permissions: Option<String>,
    pub(crate) config: Option<JsonObject>,
    pub(crate) base_instructions: Option<String>,
    pub(crate) developer_instructions: Option<String>,
    pub(crate) personality: Option<Personality>,
}

/// Takes the fields that the params of the three methods share.
macro_rules! shared {
    ($params:expr, $personality:expr) => {
        Overrides {
            model: $params.model.clone(),
            provider: $params.model_provider.clone(),
            service_tier: $params.service_tier.clone(),
            cwd: $params.cwd.clone(),
            approval: $params.approval_policy.clone(),
            reviewer: $params.approvals_reviewer,
            sandbox: $params.sandbox,
            permissions: $params.permissions.clone(),
            config: $params.config.clone(),
            base_instructions: $params.base_instructions.clone(),
            developer_instructions: $params.developer_instructions.clone(),
            personality: $personality,
        }
    };
}

impl From<&ThreadStartParams> for Overrides {
    fn from(params: &ThreadStartParams) -> Self {
        shared!(params, params.personality)
    }
}

impl From<&ThreadResumeParams> for Overrides {
    fn from(params: &ThreadResumeParams) -> Self {
        shared!(params, params.personality)
    }
}

impl From<&ThreadForkParams> for Overrides {
    fn from(params: &ThreadForkParams) -> Self {
        shared!(params, None)
    }
}

/// Whether an agent has a folder to work in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    Folder,
    None,
}
