//! Converts questions of the runtime to server requests, and their responses to answers.

use serde_json::Value;
use serde_json::value::RawValue;
use trace_protocol::ServerRequest;
use trace_protocol::approval as wire;
use trace_protocol::common::from_raw;
use trace_protocol::thread::ThreadActiveFlag;
use trace_runtime::host::{Answer, CommandQuestion, Decision, Question, ServerToolQuestion};
use trace_runtime::{ItemId, ThreadId, TurnId};

use super::elicitation;
use super::item;

/// Returns the server request that asks clients a question.
pub(crate) fn request(thread: &ThreadId, question: &Question, at_ms: i64) -> ServerRequest {
    let thread_id = thread.to_string();
    match question {
        Question::Command(command) => ServerRequest::from(command_request(thread_id, command, at_ms)),
        Question::FileChange { turn, item, reason, grant_root } => {
            ServerRequest::from(wire::FileChangeRequestApprovalParams {
                thread_id,
                turn_id: turn.to_string(),
                item_id: item.to_string(),
                started_at_ms: at_ms,
                grant_root: grant_root.as_ref().map(|root| root.to_string_lossy().into_owned()),
                reason: reason.clone(),
            })
        }
        Question::UserInput { turn, item, questions } => ServerRequest::from(wire::ToolRequestUserInputParams {
            thread_id,
            turn_id: turn.to_string(),
            item_id: item.to_string(),
            is_blocking: true,
            questions: questions.iter().filter_map(user_question).collect(),
            auto_resolution_ms: None,
        }),
        Question::DynamicTool { turn, item, namespace, tool, arguments } => {
            ServerRequest::from(wire::DynamicToolCallParams {
                thread_id,
                turn_id: turn.to_string(),
                arguments: arguments.clone(),
                call_id: item.to_string(),
                tool: tool.clone(),
                namespace: namespace.clone(),
            })
        }
        Question::ServerTool(tool) => ServerRequest::from(elicitation::approval(thread_id, tool)),
        Question::Elicitation { turn, server, request, .. } => {
            ServerRequest::from(elicitation::request(thread_id, turn, server, request))
        }
    }
}

fn command_request(
    thread_id: String,
    question: &CommandQuestion,
    at_ms: i64,
) -> wire::CommandExecutionRequestApprovalParams {
    let mut decisions = vec![wire::CommandExecutionApprovalDecision::Accept];
    if let Some(prefix) = &question.proposed_prefix {
        decisions.push(wire::CommandExecutionApprovalDecision::AcceptWithExecpolicyAmendment {
            execpolicy_amendment: prefix.clone(),
        });
    }
    decisions.push(wire::CommandExecutionApprovalDecision::AcceptForSession);
    decisions.push(wire::CommandExecutionApprovalDecision::Decline);
    decisions.push(wire::CommandExecutionApprovalDecision::Cancel);
    wire::CommandExecutionRequestApprovalParams {
        thread_id,
        turn_id: question.turn.to_string(),
        item_id: question.item.to_string(),
        started_at_ms: at_ms,
        available_decisions: Some(decisions),
        command: Some(question.command.clone()),
        command_actions: Some(question.actions.iter().map(item::action).collect()),
        cwd: Some(question.cwd.to_string_lossy().into_owned()),
        proposed_execpolicy_amendment: question.proposed_prefix.clone(),
        reason: question.reason.clone(),
        rights: Some(question.rights.clone()),
        ..Default::default()
    }
}

/// Converts a question that the model asks the user. Returns `None` for an invalid question.
fn user_question(question: &Value) -> Option<wire::ToolRequestUserInputQuestion> {
    let text = |value: &Value, name: &str| Some(value.get(name)?.as_str()?.to_owned());
    let options = question.get("options").and_then(Value::as_array).map(|options| {
        options
            .iter()
            .filter_map(|option| {
                Some(wire::ToolRequestUserInputOption {
                    label: text(option, "label")?,
                    description: text(option, "description").unwrap_or_default(),
                })
            })
            .collect()
    });
    Some(wire::ToolRequestUserInputQuestion {
        id: text(question, "id")?,
        header: text(question, "header").unwrap_or_default(),
        question: text(question, "question")?,
        is_other: question.get("isOther").and_then(Value::as_bool).unwrap_or(true),
        is_secret: question.get("isSecret").and_then(Value::as_bool).unwrap_or(false),
        options,
    })
}

/// Returns the flag that shows what a thread waits for while the question is open.
pub(crate) fn flag(question: &Question) -> Option<ThreadActiveFlag> {
    match question {
        Question::Command(_) | Question::FileChange { .. } | Question::ServerTool(_) | Question::Elicitation { .. } => {
            Some(ThreadActiveFlag::WaitingOnApproval)
        }
        Question::UserInput { .. } => Some(ThreadActiveFlag::WaitingOnUserInput),
        Question::DynamicTool { .. } => None,
    }
}

/// Returns the turn and the item that a question belongs to.
pub(crate) fn place(question: &Question) -> (&TurnId, &ItemId) {
    match question {
        Question::Command(CommandQuestion { turn, item, .. })
        | Question::FileChange { turn, item, .. }
        | Question::UserInput { turn, item, .. }
        | Question::DynamicTool { turn, item, .. }
        | Question::ServerTool(ServerToolQuestion { turn, item, .. })
        | Question::Elicitation { turn, item, .. } => (turn, item),
    }
}

/// Decodes a client's answer. An invalid answer becomes [`Answer::Failed`].
pub(crate) fn answer(question: &Question, result: &RawValue) -> Answer {
    let decoded = match question {
        Question::Command(_) => from_raw::<wire::CommandExecutionRequestApprovalResponse>(result)
            .map(|response| decision(response.decision)),
        Question::FileChange { .. } => from_raw::<wire::FileChangeRequestApprovalResponse>(result).map(|response| {
            Answer::Decision(match response.decision {
                wire::FileChangeApprovalDecision::Accept => Decision::Accept,
                wire::FileChangeApprovalDecision::AcceptForSession => Decision::AcceptForSession,
                wire::FileChangeApprovalDecision::Decline => Decision::Decline,
                wire::FileChangeApprovalDecision::Cancel => Decision::Cancel,
            })
        }),
        Question::UserInput { .. } => from_raw::<wire::ToolRequestUserInputResponse>(result).map(|response| {
            Answer::UserInput(response.answers.into_iter().map(|(id, answer)| (id, answer.answers)).collect())
        }),
        Question::DynamicTool { .. } => {
            from_raw::<wire::DynamicToolCallResponse>(result).map(|response| Answer::DynamicTool {
                success: response.success,
                content: response
                    .content_items
                    .iter()
                    .map(|item| serde_json::to_value(item).unwrap_or(Value::Null))
                    .collect(),
            })
        }
        Question::ServerTool(_) => from_raw(result).map(|response| elicitation::decision(&response)),
        Question::Elicitation { .. } => from_raw(result).map(elicitation::answer),
    };
    decoded.unwrap_or_else(|error| Answer::Failed { message: format!("the client's answer is invalid: {error}") })
}

fn decision(decision: wire::CommandExecutionApprovalDecision) -> Answer {
    use wire::CommandExecutionApprovalDecision as Given;
    Answer::Decision(match decision {
        Given::Accept => Decision::Accept,
        Given::AcceptForSession => Decision::AcceptForSession,
        Given::AcceptWithExecpolicyAmendment { execpolicy_amendment } => Decision::AcceptPrefix(execpolicy_amendment),
        Given::Decline => Decision::Decline,
        Given::Cancel => Decision::Cancel,
        Given::ApplyNetworkPolicyAmendment { .. } => {
            return Answer::Failed { message: "rules for the network are not supported".to_owned() };
        }
    })
}
