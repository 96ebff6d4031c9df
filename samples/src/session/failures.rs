//! Requests that fail, and turns that fail with them.

use std::io;

use serde_json::{Value, json};
use trace_recorder::format::event::InferenceFailed;
use trace_recorder::format::{EventPayload, ExecutionStatus, PayloadKind, SchemaVersion};

use super::{Agent, Session, merge};
use crate::items;

/// How a request fails, in the words that the Codex CLI 0.169 has for it.
#[derive(Debug, Clone)]
pub struct Failure {
    /// What the failed request says.
    request: String,
    /// What the client is told when the turn fails by it.
    message: String,
    /// Kind of the error, as the client is told.
    info: Value,
    /// Whether the provider began to answer.
    answered: bool,
    /// What the model had said before.
    partial: Option<String>,
}

impl Failure {
    fn new(message: impl Into<String>, info: Value) -> Self {
        let message = message.into();
        Self { request: message.clone(), message, info, answered: false, partial: None }
    }

    /// The provider answers 500.
    pub fn internal_error() -> Self {
        Self::new(
            "We\u{2019}re currently experiencing high demand, which may cause temporary errors.",
            json!("internal_server_error"),
        )
    }

    /// The provider answers with an HTTP status, which has no words of its own.
    pub fn status(code: u16, reason: &str, body: &str) -> Self {
        Self::new(
            format!("unexpected status {code} {reason}: {body}, url: https://models.example/v1/responses"),
            json!({ "http_connection_failed": { "http_status_code": code } }),
        )
    }

    /// The provider answers 401. The failed request and the client are told in different words.
    pub fn unauthorized(body: &str) -> Self {
        let told = json!({ "error": { "message": body, "type": "invalid_request_error" } }).to_string();
        Self { request: format!("http 401 Unauthorized: Some({told:?})"), ..Self::status(401, "Unauthorized", body) }
    }

    /// The provider answers 429 to every attempt.
    pub fn too_many_requests() -> Self {
        Self::new(
            "exceeded retry limit, last status: 429 Too Many Requests",
            json!({ "response_too_many_failed_attempts": { "http_status_code": 429 } }),
        )
    }

    /// The response says that a rate limit is reached.
    pub fn rate_limit(message: &str) -> Self {
        Self::new(format!("rate limit exceeded: {message}"), json!("rate_limit_exceeded")).answered()
    }

    /// The request is larger than the context window.
    pub fn context_window() -> Self {
        Self::new(
            "Codex ran out of room in the model's context window. Start a new thread or clear earlier history before \
             retrying.",
            json!("context_window_exceeded"),
        )
    }

    /// The model takes no more requests.
    pub fn overloaded() -> Self {
        Self::new("Selected model is at capacity. Please try a different model.", json!("server_overloaded"))
    }

    /// The account has used up what it may.
    pub fn usage_limit() -> Self {
        Self::new("You\u{2019}ve hit your usage limit. Try again later.", json!("usage_limit_exceeded"))
    }

    /// The provider begins to answer and then says nothing for too long.
    pub fn stream_idle() -> Self {
        Self::new("stream disconnected before completion: idle timeout waiting for SSE", json!("other")).answered()
    }

    /// The stream ends before the response does.
    pub fn stream_closed() -> Self {
        Self::new("stream disconnected before completion: stream closed before response.completed", json!("other"))
            .answered()
    }

    /// The response reports a failure in its own words.
    pub fn response_failed(message: &str) -> Self {
        Self::new(format!("stream disconnected before completion: {message}"), json!("other")).answered()
    }

    /// The response ends before it is complete.
    pub fn incomplete(reason: &str) -> Self {
        Self::new(format!("Incomplete response returned, reason: {reason}"), json!("other")).answered()
    }

    /// The response refuses the prompt.
    pub fn invalid_prompt(message: &str) -> Self {
        Self::new(message, json!("invalid_prompt")).answered()
    }

    /// Something that none of the other words are for.
    pub fn other(message: &str) -> Self {
        Self::new(message, json!("other"))
    }

    /// The same failure after the provider began to answer.
    #[must_use]
    pub fn answered(self) -> Self {
        Self { answered: true, ..self }
    }

    /// The same failure after the model had said something, which stays in the history.
    #[must_use]
    pub fn after_saying(self, text: &str) -> Self {
        Self { partial: Some(text.to_owned()), ..self.answered() }
    }
}

impl Session {
    /// A request of the agent fails. Returns the id of the call.
    ///
    /// # Errors
    ///
    /// Returns an I/O error when something cannot be written.
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

    /// The agent's turn ends by a failure. Its parent gets to know. In schema 1 the turn itself is told as completed.
    ///
    /// # Errors
    ///
    /// Returns an I/O error when something cannot be written.
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

    /// The agent's turn ends as failed, and nothing says why. In schema 1 it is told as completed.
    ///
    /// # Errors
    ///
    /// Returns an I/O error when something cannot be written.
    pub fn fail_turn_silently(&mut self, agent: Agent) -> io::Result<()> {
        let status = match self.setup.schema {
            SchemaVersion::V1 => ExecutionStatus::Completed,
            _ => ExecutionStatus::Failed,
        };
        self.end_turn(agent, status)
    }

    /// Tells the parent of an agent that its turn failed.
    ///
    /// # Errors
    ///
    /// Returns an I/O error when something cannot be written.
    pub fn report_error(&mut self, agent: Agent, message: &str) -> io::Result<()> {
        let text = format!(
            "Agent errored: {message}\n\nThis agent's turn failed. If you still need this agent, use the available \
             collaboration tools to give it another task."
        );
        self.report(agent, &text, &json!({ "errored": message }))
    }
}
