//! The names of OpenTelemetry's semantic conventions, in one table.
//!
//! The conventions for generative AI have no release yet and change. These names are from
//! <https://github.com/open-telemetry/semantic-conventions-genai> at [`CONVENTIONS_COMMIT`], files
//! `model/gen-ai/spans.yaml` and `docs/gen-ai/client-inference.md`, and from the general conventions 1.44.0. When they
//! change, only this file must change.
//!
//! Attributes for which the conventions have no name are below `rollout.`.

/// The commit of the conventions that the names are taken from.
pub const CONVENTIONS_COMMIT: &str = "ac48b1f9df15fdf281b96cccf15eb707e1fc1868";

// Operations. The name of a span is the operation and its subject.
pub(crate) const OPERATION_NAME: &str = "gen_ai.operation.name";
pub(crate) const OPERATION_CHAT: &str = "chat";
pub(crate) const OPERATION_EXECUTE_TOOL: &str = "execute_tool";
pub(crate) const OPERATION_INVOKE_AGENT: &str = "invoke_agent";

// Agents and conversations.
pub(crate) const AGENT_ID: &str = "gen_ai.agent.id";
pub(crate) const AGENT_NAME: &str = "gen_ai.agent.name";
pub(crate) const CONVERSATION_ID: &str = "gen_ai.conversation.id";
pub(crate) const CONVERSATION_COMPACTED: &str = "gen_ai.conversation.compacted";

// Requests and responses.
pub(crate) const PROVIDER_NAME: &str = "gen_ai.provider.name";
pub(crate) const REQUEST_MODEL: &str = "gen_ai.request.model";
pub(crate) const RESPONSE_ID: &str = "gen_ai.response.id";
pub(crate) const INPUT_TOKENS: &str = "gen_ai.usage.input_tokens";
pub(crate) const OUTPUT_TOKENS: &str = "gen_ai.usage.output_tokens";
pub(crate) const CACHE_READ_INPUT_TOKENS: &str = "gen_ai.usage.cache_read.input_tokens";
pub(crate) const CACHE_WRITE_INPUT_TOKENS: &str = "gen_ai.usage.cache_write.input_tokens";
pub(crate) const REASONING_OUTPUT_TOKENS: &str = "gen_ai.usage.reasoning.output_tokens";

// Tools.
pub(crate) const TOOL_NAME: &str = "gen_ai.tool.name";
pub(crate) const TOOL_CALL_ID: &str = "gen_ai.tool.call.id";
pub(crate) const TOOL_TYPE: &str = "gen_ai.tool.type";
pub(crate) const TOOL_TYPE_FUNCTION: &str = "function";
pub(crate) const TOOL_TYPE_EXTENSION: &str = "extension";

// Content, which the conventions leave out by default.
pub(crate) const INPUT_MESSAGES: &str = "gen_ai.input.messages";
pub(crate) const OUTPUT_MESSAGES: &str = "gen_ai.output.messages";
pub(crate) const TOOL_CALL_ARGUMENTS: &str = "gen_ai.tool.call.arguments";
pub(crate) const TOOL_CALL_RESULT: &str = "gen_ai.tool.call.result";

// The general conventions.
pub(crate) const ERROR_TYPE: &str = "error.type";
pub(crate) const PROCESS_EXIT_CODE: &str = "process.exit.code";
pub(crate) const SERVICE_NAME: &str = "service.name";
pub(crate) const SESSION_ID: &str = "session.id";

/// Kinds of errors. The conventions define none.
pub(crate) const ERROR_REQUEST: &str = "request_failed";
pub(crate) const ERROR_EXIT: &str = "nonzero_exit";
pub(crate) const ERROR_TOOL: &str = "tool_failed";
pub(crate) const ERROR_CODE: &str = "code_failed";
pub(crate) const ERROR_TURN: &str = "turn_failed";
pub(crate) const ERROR_AGENT: &str = "agent_failed";
pub(crate) const ERROR_SESSION: &str = "session_failed";

// Names of this program.
pub(crate) const OBJECT: &str = "rollout.object";
pub(crate) const OUTCOME: &str = "rollout.outcome";
pub(crate) const END_IS_ASSUMED: &str = "rollout.end_is_assumed";
pub(crate) const TRACE_ID: &str = "rollout.trace_id";
pub(crate) const SCHEMA_VERSION: &str = "rollout.schema_version";
pub(crate) const STATUS: &str = "rollout.status";
pub(crate) const NICKNAME: &str = "rollout.agent.nickname";
pub(crate) const ROLE: &str = "rollout.agent.role";
pub(crate) const TASK: &str = "rollout.agent.task";
pub(crate) const COMPACTION_ID: &str = "rollout.compaction_id";
pub(crate) const TOOL_KIND: &str = "rollout.tool.kind";
/// The name of the tool in its kind, where the name that the model used is longer.
pub(crate) const TOOL_OWN_NAME: &str = "rollout.tool.name";
/// The name of the provider as recorded, where the conventions have another one.
pub(crate) const PROVIDER_RECORDED: &str = "rollout.provider.name";
pub(crate) const UPSTREAM_REQUEST_ID: &str = "rollout.upstream_request_id";
pub(crate) const EDGE_KIND: &str = "rollout.edge.kind";
pub(crate) const TARGET_THREAD_ID: &str = "rollout.target_thread_id";
pub(crate) const MESSAGE: &str = "rollout.message";
pub(crate) const FINDING_KIND: &str = "rollout.finding.kind";
pub(crate) const FINDING_SEVERITY: &str = "rollout.finding.severity";
pub(crate) const FINDING_CONFIDENCE: &str = "rollout.finding.confidence";
pub(crate) const FINDING_CLAIM: &str = "rollout.finding.claim";
pub(crate) const FINDING_EVIDENCE: &str = "rollout.finding.evidence";
pub(crate) const ITEMS_BEFORE: &str = "rollout.compaction.items_before";
pub(crate) const ITEMS_AFTER: &str = "rollout.compaction.items_after";

/// Names of providers in the conventions. A provider in this list must be given this name.
const PROVIDERS: [&str; 16] = [
    "anthropic",
    "aws.bedrock",
    "azure.ai.inference",
    "azure.ai.openai",
    "cohere",
    "deepseek",
    "gcp.gemini",
    "gcp.gen_ai",
    "gcp.vertex_ai",
    "groq",
    "ibm.watsonx.ai",
    "mistral_ai",
    "moonshot_ai",
    "openai",
    "perplexity",
    "x_ai",
];

/// Returns the name of a provider in the conventions, or the name unchanged if they have none.
pub(crate) fn provider(name: &str) -> String {
    let known = PROVIDERS.iter().find(|known| known.eq_ignore_ascii_case(name));
    known.map_or_else(|| name.to_owned(), |known| (*known).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_providers_have_the_name_of_the_conventions() {
        assert_eq!(provider("OpenAI"), "openai");
        assert_eq!(provider("Local Lab"), "Local Lab");
    }
}
