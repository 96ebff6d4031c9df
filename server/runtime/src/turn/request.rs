//! Builds the requests for models.

use serde_json::{Map, Value, json};

use super::task::Task;
use crate::identity::review_path;
use crate::item::ModelItem;
use crate::provider::{Origin, RequestBody};
use crate::settings::Settings;
use crate::tool::ModelAccess;

/// Name of the format if the last message must match a schema.
const SCHEMA_NAME: &str = "final_output";

/// Who gets an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Audience {
    /// The user. The answer joins the conversation.
    User,
    /// The caller. The user sees tool calls but no messages. The answer joins the conversation.
    Asker,
    /// The caller. Nothing is shown, and nothing joins the conversation.
    Nobody,
}

/// A request for an answer, without the conversation.
#[derive(Debug, Clone)]
pub(crate) struct Question {
    /// Who gets the answer.
    pub(crate) audience: Audience,
    /// System instructions.
    pub(crate) instructions: String,
    /// A last item for this request only.
    pub(crate) last: Option<ModelItem>,
    /// Whether tools are offered.
    pub(crate) tools: Offered,
    /// JSON schema of the last message.
    pub(crate) output_schema: Option<Value>,
    /// Service tier.
    pub(crate) service_tier: Option<String>,
}

/// Whether tools are offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Offered {
    All,
    None,
}

impl Question {
    /// Returns the body of the request in the format of the Responses API.
    pub(crate) fn body(&self, task: &Task) -> RequestBody {
        let settings: &Settings = &task.settings();
        let mut items = task.items();
        items.extend(self.last.clone());
        let tools: Vec<Value> = match self.tools {
            Offered::All => task.agent.tools().filter_map(|tool| tool.specification(settings)).collect(),
            Offered::None => Vec::new(),
        };
        let Value::Object(mut members) = json!({
            "model": settings.model,
            "instructions": self.instructions,
            "input": null,
            "tools": tools,
            "tool_choice": "auto",
            "parallel_tool_calls": true,
        }) else {
            unreachable!("it was made as an object")
        };
        let mut reasoning = Map::new();
        reasoning.extend(settings.effort.iter().map(|effort| ("effort".to_owned(), json!(effort))));
        reasoning.extend(settings.summary.iter().map(|summary| ("summary".to_owned(), json!(summary))));
        if !reasoning.is_empty() {
            members.insert("reasoning".to_owned(), Value::Object(reasoning));
        }
        members.insert("store".to_owned(), json!(false));
        members.insert("stream".to_owned(), json!(true));
        members.insert("include".to_owned(), json!(["reasoning.encrypted_content"]));
        members.insert("prompt_cache_key".to_owned(), json!(task.agent.identity.id));
        if let Some(schema) = &self.output_schema {
            let format = json!({ "type": "json_schema", "name": SCHEMA_NAME, "schema": schema, "strict": true });
            members.insert("text".to_owned(), json!({ "format": format }));
        }
        if let Some(tier) = self.service_tier.as_ref().or(settings.service_tier.as_ref()) {
            members.insert("service_tier".to_owned(), json!(tier));
        }
        RequestBody::new(members, items)
    }

    /// Returns the agent and turn that make the request.
    pub(crate) fn origin(&self, task: &Task) -> Origin {
        let path = &task.agent.identity.path;
        let path = if self.audience == Audience::Asker { review_path(path) } else { path.to_owned() };
        Origin { path, turn: task.turn.as_str().to_owned(), root_turn: task.root_turn.as_str().to_owned() }
    }

    /// Returns headers with the ids of session, thread and turn, for the logs of the provider.
    pub(crate) fn headers(&self, task: &Task) -> Vec<(String, String)> {
        headers(task)
    }
}

fn headers(task: &Task) -> Vec<(String, String)> {
    let header = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    vec![
        header("session-id", task.agent.identity.root().as_str()),
        header("thread-id", task.agent.identity.id.as_str()),
        header("turn-id", task.turn.as_str()),
    ]
}

/// Returns access to the model of a turn for its tools.
pub(crate) fn model_access(task: &Task) -> ModelAccess {
    let settings = task.settings();
    let origin = Origin {
        path: task.agent.identity.path.clone(),
        turn: task.turn.as_str().to_owned(),
        root_turn: task.root_turn.as_str().to_owned(),
    };
    let provider = task.agent.options().provider(&settings.provider).cloned();
    ModelAccess::new(provider, &settings.model, headers(task), origin, task.trace.clone(), task.cancelled.clone())
}
