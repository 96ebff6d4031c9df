//! Tools that the client of a thread has: the model calls them, the client carries them out.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::host::{Answer, Question};
use crate::item::{Item, ItemKind, WorkStatus};
use crate::settings::Settings;
use crate::tool::outcome::{describe, failed};
use crate::tool::{AfterCall, CallDescription, Tool, ToolCall, ToolContext, ToolInput, ToolOutcome};

/// Most tools that a client may have.
pub const MAX_DYNAMIC_TOOLS: usize = 256;

/// Longest name of a tool, in characters.
pub const MAX_TOOL_NAME_CHARS: usize = 128;

/// Longest name of a namespace, in characters.
pub const MAX_NAMESPACE_CHARS: usize = 64;

/// Why definitions of a client's tools are not taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DynamicToolError {
    /// One is no definition.
    #[error("dynamic tool {index}: {reason}")]
    Malformed {
        /// Which one, from 0.
        index: usize,
        /// What is wrong with it.
        reason: String,
    },
    /// One has a name that is none.
    #[error("dynamic tool {index}: `{name}` is no name; use 1 to {limit} of the characters A-Z a-z 0-9 _ -")]
    Name {
        /// Which one, from 0.
        index: usize,
        /// The name.
        name: String,
        /// Most characters that it may have.
        limit: usize,
    },
    /// Two are called the same.
    #[error("dynamic tool {index}: there is a tool `{name}` already")]
    Twice {
        /// Which one, from 0.
        index: usize,
        /// The name.
        name: String,
    },
    /// There are too many.
    #[error("{count} dynamic tools, more than {MAX_DYNAMIC_TOOLS}")]
    TooMany {
        /// How many.
        count: usize,
    },
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "camelCase")]
enum Definition {
    Function(Function),
    Namespace {
        name: String,
        #[serde(default)]
        description: String,
        tools: Vec<Value>,
    },
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Function {
    name: String,
    #[serde(default)]
    description: String,
    input_schema: Value,
}

/// Returns the tools that definitions of a client speak of.
///
/// # Errors
///
/// When one is no definition, has a bad name, or comes twice.
pub fn tools(definitions: &[Value]) -> Result<Vec<Arc<dyn Tool>>, DynamicToolError> {
    let mut tools: Vec<DynamicTool> = Vec::new();
    let mut count = 0;
    for (index, definition) in definitions.iter().enumerate() {
        let malformed = |error: serde_json::Error| DynamicToolError::Malformed { index, reason: error.to_string() };
        // Definitions without a type are functions.
        let definition = match definition.get("type") {
            None => Definition::Function(Function::deserialize(definition).map_err(malformed)?),
            Some(_) => Definition::deserialize(definition).map_err(malformed)?,
        };
        let tool = match definition {
            Definition::Function(function) => DynamicTool {
                namespace: None,
                names: vec![function.name.clone()],
                specification: function.specification(index)?,
            },
            Definition::Namespace { name, description, tools } => {
                check_name(index, &name, MAX_NAMESPACE_CHARS)?;
                let functions: Vec<Function> =
                    tools.iter().map(Function::deserialize).collect::<Result<_, _>>().map_err(malformed)?;
                let names = functions.iter().map(|function| function.name.clone()).collect();
                let tools: Vec<Value> =
                    functions.into_iter().map(|function| function.specification(index)).collect::<Result<_, _>>()?;
                let specification =
                    json!({ "type": "namespace", "name": name, "description": description, "tools": tools });
                DynamicTool { namespace: Some(name), names, specification }
            }
        };
        count += tool.names.len();
        if count > MAX_DYNAMIC_TOOLS {
            return Err(DynamicToolError::TooMany { count });
        }
        let mut known = tool.names.clone();
        known.sort();
        let twice = known.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0].clone());
        let taken = || {
            tool.names
                .iter()
                .find(|name| tools.iter().any(|other| other.is_called(tool.namespace.as_deref(), name)))
                .cloned()
        };
        if let Some(name) = twice.or_else(taken) {
            return Err(DynamicToolError::Twice { index, name });
        }
        tools.push(tool);
    }
    Ok(tools.into_iter().map(|tool| Arc::new(tool) as Arc<dyn Tool>).collect())
}

impl Function {
    fn specification(self, index: usize) -> Result<Value, DynamicToolError> {
        check_name(index, &self.name, MAX_TOOL_NAME_CHARS)?;
        if !self.input_schema.is_object() {
            return Err(DynamicToolError::Malformed { index, reason: "`inputSchema` is no JSON schema".to_owned() });
        }
        Ok(json!({
            "type": "function",
            "name": self.name,
            "description": self.description,
            "strict": false,
            "parameters": self.input_schema,
        }))
    }
}

fn check_name(index: usize, name: &str, limit: usize) -> Result<(), DynamicToolError> {
    let is_name = (1..=limit).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
    if is_name {
        Ok(())
    } else {
        Err(DynamicToolError::Name { index, name: name.chars().take(limit).collect(), limit })
    }
}

/// A tool of the client, or a namespace of them.
#[derive(Debug)]
struct DynamicTool {
    namespace: Option<String>,
    names: Vec<String>,
    specification: Value,
}

impl Tool for DynamicTool {
    fn specification(&self, _settings: &Settings) -> Option<Value> {
        Some(self.specification.clone())
    }

    fn is_called(&self, namespace: Option<&str>, name: &str) -> bool {
        self.namespace.as_deref() == namespace && self.names.iter().any(|known| known == name)
    }

    fn description(&self, call: &ToolCall) -> CallDescription {
        describe("other", call)
    }

    fn call(&self, context: ToolContext, call: ToolCall) -> BoxFuture<'static, ToolOutcome> {
        Box::pin(async move {
            let arguments = match &call.input {
                ToolInput::Arguments(arguments) if arguments.trim().is_empty() => json!({}),
                ToolInput::Arguments(arguments) => match serde_json::from_str(arguments) {
                    Ok(arguments) => arguments,
                    Err(error) => return failed(format!("failed to parse function arguments: {error}")),
                },
                ToolInput::Text(_) => return failed(format!("{} takes JSON arguments", call.name)),
            };
            ask_client(&context, call, arguments).await
        })
    }
}

async fn ask_client(context: &ToolContext, call: ToolCall, arguments: Value) -> ToolOutcome {
    let begun = Instant::now();
    let shown = |content, success, status, duration_ms| ItemKind::DynamicCall {
        namespace: call.namespace.clone(),
        tool: call.name.clone(),
        arguments: arguments.clone(),
        content,
        success,
        status,
        duration_ms,
    };
    let item = Item { id: call.id.clone(), kind: shown(None, None, WorkStatus::InProgress, None) };
    let open = context.agent.start_item(&context.turn, item);
    let question = Question::DynamicTool {
        turn: context.turn.clone(),
        item: call.id.clone(),
        namespace: call.namespace.clone(),
        tool: call.name.clone(),
        arguments: arguments.clone(),
    };
    let answer = tokio::select! {
        biased;
        () = context.cancelled.cancelled() => None,
        answer = context.agent.ask(question) => Some(answer),
    };
    let duration_ms = Some(u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX));
    match answer {
        Some(Answer::DynamicTool { success, content }) => {
            let parts: Vec<Value> = content.iter().map(model_part).collect();
            let status = if success { WorkStatus::Completed } else { WorkStatus::Failed };
            open.complete(shown(Some(Value::Array(content)), Some(success), status, duration_ms));
            ToolOutcome { output: Value::Array(parts), success, then: AfterCall::Continue }
        }
        Some(answer) => {
            open.complete(shown(None, Some(false), WorkStatus::Failed, duration_ms));
            match answer {
                Answer::Failed { message } => failed(format!("the client did not carry out {}: {message}", call.name)),
                _ => failed(format!("the client did not carry out {}", call.name)),
            }
        }
        None => {
            open.complete(shown(None, None, WorkStatus::Interrupted, duration_ms));
            failed("aborted by the user")
        }
    }
}

/// Returns a part of an answer in the words of the Responses API. What is neither text nor picture is told as JSON.
fn model_part(part: &Value) -> Value {
    match (part["type"].as_str(), part["text"].as_str(), part["imageUrl"].as_str()) {
        (Some("inputText"), Some(text), _) => json!({ "type": "input_text", "text": text }),
        (Some("inputImage"), _, Some(url)) => json!({ "type": "input_image", "image_url": url }),
        _ => json!({ "type": "input_text", "text": part.to_string() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn function(name: &str) -> Value {
        json!({ "type": "function", "name": name, "description": "d", "inputSchema": { "type": "object" }, "deferLoading": true })
    }

    #[test]
    fn definitions_become_tools() {
        let namespace =
            json!({ "type": "namespace", "name": "ns", "description": "n", "tools": [function("a"), function("b")] });
        let tools =
            tools(&[function("a"), namespace, json!({ "name": "old", "inputSchema": {} })]).expect("definitions");
        assert_eq!(tools.len(), 3);
        assert!(tools[0].is_called(None, "a") && !tools[0].is_called(Some("ns"), "a"));
        assert!(tools[1].is_called(Some("ns"), "b") && !tools[1].is_called(None, "b"));
        assert!(tools[2].is_called(None, "old"));
    }

    #[test]
    fn bad_definitions_are_refused() {
        let error = |definitions: &[Value]| tools(definitions).err().expect("refused").to_string();
        let long = "x".repeat(MAX_NAMESPACE_CHARS + 1);
        for (definitions, expected) in [
            (vec![json!({ "type": "function", "name": "a" })], "dynamic tool 0: missing field `inputSchema`"),
            (vec![json!({ "type": "custom", "name": "a" })], "dynamic tool 0: unknown variant `custom`"),
            (vec![function("a"), function("a b")], "dynamic tool 1: `a b` is no name; use 1 to 128"),
            (vec![function("")], "dynamic tool 0: `` is no name"),
            (vec![json!({ "type": "namespace", "name": long, "tools": [] })], "dynamic tool 0: `xxx"),
            (vec![function("a"), function("a")], "dynamic tool 1: there is a tool `a` already"),
            (
                vec![json!({ "type": "namespace", "name": "n", "tools": [function("a"), function("a")] })],
                "dynamic tool 0: there is a tool `a` already",
            ),
            (
                vec![json!({ "type": "function", "name": "a", "inputSchema": 1 })],
                "dynamic tool 0: `inputSchema` is no JSON schema",
            ),
        ] {
            assert!(error(&definitions).starts_with(expected), "{}", error(&definitions));
        }
        let many: Vec<Value> = (0..=MAX_DYNAMIC_TOOLS).map(|number| function(&format!("t{number}"))).collect();
        assert_eq!(tools(&many[..MAX_DYNAMIC_TOOLS]).map(|tools| tools.len()).ok(), Some(MAX_DYNAMIC_TOOLS));
        assert_eq!(error(&many), "257 dynamic tools, more than 256");
    }

    #[test]
    fn answers_are_told_in_the_words_of_the_model() {
        let parts = [
            json!({ "type": "inputText", "text": "t" }),
            json!({ "type": "inputImage", "imageUrl": "data:x" }),
            json!({ "type": "other" }),
        ];
        let told: Vec<Value> = parts.iter().map(model_part).collect();
        assert_eq!(
            told,
            [
                json!({ "type": "input_text", "text": "t" }),
                json!({ "type": "input_image", "image_url": "data:x" }),
                json!({ "type": "input_text", "text": "{\"type\":\"other\"}" }),
            ]
        );
    }
}
