//! The tool `request_user_input`, with which a model in plan mode asks the user questions.

use std::collections::HashSet;

use futures_util::future::BoxFuture;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::host::{Answer, Question};
use crate::settings::{Mode, Settings};
use crate::tool::outcome::{describe, done, failed};
use crate::tool::{CallDescription, Tool, ToolCall, ToolContext, ToolInput, ToolOutcome};

/// Most questions of one call.
pub const MAX_QUESTIONS: usize = 3;

/// The tool `request_user_input`.
#[derive(Debug)]
pub struct RequestUserInput;

#[derive(Deserialize)]
struct Arguments {
    questions: Vec<Map<String, Value>>,
}

impl Tool for RequestUserInput {
    fn specification(&self, settings: &Settings) -> Option<Value> {
        if settings.mode != Mode::Plan {
            return None;
        }
        let text = |description: &str| json!({ "type": "string", "description": description });
        let option = json!({
            "type": "object",
            "properties": { "label": text("The answer in a few words."), "description": text("What it leads to, in one sentence.") },
            "required": ["label", "description"],
            "additionalProperties": false,
        });
        let question = json!({
            "type": "object",
            "properties": {
                "id": text("Name of the question, unique in this call."),
                "header": text("One or two words above the question."),
                "question": text("The question, in one sentence."),
                "options": { "type": "array", "items": option, "description": "Two or three answers that exclude each other, the best one first. The user can always give another one." },
            },
            "required": ["id", "header", "question", "options"],
            "additionalProperties": false,
        });
        Some(json!({
            "type": "function",
            "name": "request_user_input",
            "description": "Asks the user one to three questions that the plan depends on, and waits for the answers.",
            "strict": false,
            "parameters": {
                "type": "object",
                "properties": { "questions": { "type": "array", "items": question } },
                "required": ["questions"],
                "additionalProperties": false,
            },
        }))
    }

    fn is_called(&self, namespace: Option<&str>, name: &str) -> bool {
        namespace.is_none() && name == "request_user_input"
    }

    fn description(&self, call: &ToolCall) -> CallDescription {
        describe("request_user_input", call)
    }

    fn call(&self, context: ToolContext, call: ToolCall) -> BoxFuture<'static, ToolOutcome> {
        Box::pin(async move {
            if context.settings.mode != Mode::Plan {
                return failed(
                    "request_user_input works in plan mode only; decide yourself, or end the turn with the question",
                );
            }
            let ToolInput::Arguments(arguments) = &call.input else {
                return failed("request_user_input takes JSON arguments");
            };
            let questions = match read(arguments) {
                Ok(questions) => questions,
                Err(error) => return failed(error),
            };
            let question = Question::UserInput { turn: context.turn.clone(), item: call.id, questions };
            let answer = tokio::select! {
                biased;
                () = context.cancelled.cancelled() => return failed("aborted by the user"),
                answer = context.agent.ask(question) => answer,
            };
            match answer {
                Answer::UserInput(answers) => {
                    let answers: Map<String, Value> =
                        answers.into_iter().map(|(id, answers)| (id, json!({ "answers": answers }))).collect();
                    done(json!({ "answers": answers }).to_string())
                }
                Answer::Failed { message } => failed(format!("the user was not asked: {message}")),
                Answer::Decision(_) | Answer::DynamicTool { .. } | Answer::Elicitation { .. } => {
                    failed("the user gave no answer")
                }
            }
        })
    }
}

fn read(arguments: &str) -> Result<Vec<Value>, String> {
    let Arguments { questions } =
        serde_json::from_str(arguments).map_err(|error| format!("failed to parse function arguments: {error}"))?;
    if questions.is_empty() || questions.len() > MAX_QUESTIONS {
        return Err(format!("request_user_input takes one to {MAX_QUESTIONS} questions"));
    }
    let mut ids = HashSet::new();
    for question in &questions {
        for member in ["id", "header", "question"] {
            if question.get(member).and_then(Value::as_str).is_none_or(str::is_empty) {
                return Err(format!("each question needs a text `{member}`"));
            }
        }
        let options =
            question.get("options").and_then(Value::as_array).ok_or("each question needs a list `options`")?;
        if !options.iter().all(|option| option["label"].is_string() && option["description"].is_string()) {
            return Err("each option needs the texts `label` and `description`".to_owned());
        }
        if !ids.insert(question["id"].as_str()) {
            return Err(format!("two questions have the id {}", question["id"]));
        }
    }
    drop(ids);
    Ok(questions.into_iter().map(Value::Object).collect())
}
