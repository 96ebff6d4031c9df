//! Requests that fail, and turns that fail because of them.

use std::io;

use serde_json::{Value, json};
use trace_recorder::format::event::InferenceFailed;
use trace_recorder::format::{EventPayload, ExecutionStatus, PayloadKind, SchemaVersion};

use super::{Agent, Session, merge};
use crate::items;

/// A failure of a request, with the error messages of the Codex CLI 0.169.
#[derive(Debug, Clone)]
pub struct Failure {
    /// Error message of the failed request.
    request: String,
    /// Error message for the client if the failure ends the turn.
    message: String,
    /// Error code for the client.
    info: Value,
    /// Whether the provider had begun its response.
    answered: bool,
    /// What the model had said before the failure.
    partial: Option<String>,
}

impl Failure {
    fn new(message: impl Into<String>, info: Value) -> Self {
        let message = message.into();
        Self { request: message.clone(), message, info, answered: false, partial: None }
    }

    /// The provider returned status 500.
    pub fn internal_error() -> Self {
        Self::new(
            "We\u{2019}re currently experiencing high demand, which may cause temporary errors.",
            json!("internal_server_error"),
        )
    }

    /// The provider returned an HTTP status for which the Codex CLI has no message.
    pub fn status(code: u16, reason: &str, body: &str) -> Self {
        Self::new(
            format!("unexpected status {code} {reason}: {body}, url: https://models.example/v1/responses"),
            json!({ "http_connection_failed": { "http_status_code": code } }),
        )
    }

    /// The provider returned status 401. The failed request and the client get different messages.
    pub fn unauthorized(body: &str) -> Self {
        let told = json!({ "error": { "message": body, "type": "invalid_request_error" } }).to_string();
        Self { request: format!("http 401 Unauthorized: Some({told:?})"), ..Self::status(401, "Unauthorized", body) }
    }

    /// The provider returned status 429 to every attempt.
    pub fn too_many_requests() -> Self {
        Self::new(
            "exceeded retry limit, last status: 429 Too Many Requests",
            json!({ "response_too_many_failed_attempts": { "http_status_code": 429 } }),
        )
    }

    /// The response reported that a rate limit was reached.
    pub fn rate_limit(message: &str) -> Self {
        Self::new(format!("rate limit exceeded: {message}"), json!("rate_limit_exceeded")).answered()
    }

    /// The request was larger than the context window.
    pub fn context_window() -> Self {
        Self::new(
            "Codex ran out of room in the model's context window. Start a new thread or clear earlier history before \
             retrying.",
            json!("context_window_exceeded"),
        )
    }

    /// The model was overloaded.
    pub fn overloaded() -> Self {
        Self::new("Selected model is at capacity. Please try a different model.", json!("server_overloaded"))
    }

    /// The account reached its usage limit.
    pub fn usage_limit() -> Self {
        Self::new("You\u{2019}ve hit your usage limit. Try again later.", json!("usage_limit_exceeded"))
    }

    /// The provider began its response and then sent nothing for too long.
    pub fn stream_idle() -> Self {
        Self::new("stream disconnected before completion: idle timeout waiting for SSE", json!("other")).answered()
    }

    /// The stream ended before the response was complete.
    pub fn stream_closed() -> Self {
        Self::new("stream disconnected before completion: stream closed before response.completed", json!("other"))
            .answered()
    }

    /// The response reported a failure with its own message.
    pub fn response_failed(message: &str) -> Self {
        Self::new(format!("stream disconnected before completion: {message}"), json!("other")).answered()
    }

    /// The response ended incomplete.
    pub fn incomplete(reason: &str) -> Self {
        Self::new(format!("Incomplete response returned, reason: {reason}"), json!("other")).answered()
    }

    /// The response refused the prompt.
    pub fn invalid_prompt(message: &str) -> Self {
        Self::new(message, json!("invalid_prompt")).answered()
    }

    /// Any other failure.
    pub fn other(message: &str) -> Self {
        Self::new(message, json!("other"))
    }

    /// Makes the failure happen after the provider began its response.
    #[must_use]
    pub fn answered(self) -> Self {
        Self { answered: true, ..self }
    }

    /// Makes the failure happen after the model said something, which stays in the history.
    #[must_use]
    pub fn after_saying(self, text: &str) -> Self {
        Self { partial: Some(text.to_owned()), ..self.answered() }
    }
}

impl Session {
    /// Records a request of the agent that fails. Returns the id of the call.
    ///
    /// # Errors
    ///
    /// Returns an I/O error if something cannot be written.
    pub fn fail_request_by(&mut self, agent: Agent, failure: &Failure) -> io::Result<String> {
        let inference_call_id = self.request(agent)?;
        self.advance(230);
        let upstream_request_id = failure.answered.then(|| format!("req_{}", self.ids.hex(16)));
        let said = failure.partial.as_ref().map(|text| {
            let id = format!("msg_{}", self.ids.hex(16));
            (id.clone(), items::output_message(&id, text))
        });
        let partial_response_payload = match &said {
            Some((_, item)) => Some(self.writer.payload(
                PayloadKind::InferenceResponse,
                &json!({
                    "response_id": null,
                    "upstream_request_id": upstream_request_id,
                    "token_usage": null,
                    "output_items": [item],
                }),
            )?),
            None => None,
        };
        self.turn_event(
            agent,
            EventPayload::InferenceFailed(InferenceFailed {
                inference_call_id: inference_call_id.clone().into(),
                upstream_request_id: upstream_request_id.map(Into::into),
                error: failure.request.as_str().into(),
                partial_response_payload,
            }),
        )?;
        if let Some((id, item)) = said {
            self.accept(agent, item, &id)?;
        }
        Ok(inference_call_id)
    }

    /// Ends the agent's turn with a failure and notifies its parent. In schema 1 the turn is recorded as completed.
    ///
    /// # Errors
    ///
    /// Returns an I/O error if something cannot be written.
    pub fn fail_turn_by(&mut self, agent: Agent, failure: &Failure) -> io::Result<()> {
        let Failure { message, info, .. } = failure;
        let info = json!({ "message": message, "codex_error_info": info });
        let mut event = json!({ "type": "error" });
        merge(&mut event, &info);
        self.protocol_event("error", &event)?;
        let status = match self.setup.schema {
            SchemaVersion::V1 => ExecutionStatus::Completed,
            _ => ExecutionStatus::Failed,
        };
        self.end_turn(agent, status)?;
        let completion = self.completion(agent, None);
        let mut complete = json!({});
        for (key, value) in completion.as_object().into_iter().flatten() {
            complete[key] = value.clone();
            if key == "last_agent_message" {
                complete["error"] = info.clone();
            }
        }
        if let Some(first_token_ms) = self.turn(agent).first_token_ms {
            complete["time_to_first_token_ms"] = json!(first_token_ms);
        }
        self.protocol_event("turn_complete", &complete)?;
        self.report_error(agent, message)
    }

    /// Ends the agent's turn as failed without recording a reason. In schema 1 the turn is recorded as completed.
    ///
    /// # Errors
    ///
    /// Returns an I/O error if something cannot be written.
    pub fn fail_turn_silently(&mut self, agent: Agent) -> io::Result<()> {
        let status = match self.setup.schema {
            SchemaVersion::V1 => ExecutionStatus::Completed,
            _ => ExecutionStatus::Failed,
        };
        self.end_turn(agent, status)
    }

    /// Notifies the parent of an agent that its turn failed.
    ///
    /// # Errors
    ///
    /// Returns an I/O error if something cannot be written.
    pub fn report_error(&mut self, agent: Agent, message: &str) -> io::Result<()> {
        let text = format!(
            "Agent errored: {message}\n\nThis agent's turn failed. If you still need this agent, use the available \
             collaboration tools to give it another task."
        );
        self.report(agent, &text, &json!({ "errored": message }))
    }
}
