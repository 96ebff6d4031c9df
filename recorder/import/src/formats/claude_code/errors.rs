//! Errors of the model's provider.

use serde_json::value::RawValue;
use trace_recorder::format::ExecutionStatus;

use super::records::{ApiError, ApiErrorBody, Number};
use super::scan::is_api_error;
use super::teller::{Attempt, Teller};
use crate::body::History;
use crate::event::Stamp;
use crate::note::Code;
use crate::thread::Answer;

impl<'a> Teller<'_, 'a> {
    pub(super) fn answer_failing(&mut self, attempt: &Attempt, answer: Answer<'_>, stamp: Stamp) {
        let nothing = History::default();
        self.told.last = self.writer.answer(self.draft, &attempt.call, answer, &nothing, None, None, stamp);
    }

    /// Fails the open request. If the file does not tell of requests, the error tells of one.
    pub(super) fn fail(&mut self, index: usize, error: &str, request_id: Option<&str>) {
        let entry = self.entry(index);
        let attempt = match self.failing.take() {
            Some(attempt) => attempt,
            None if self.scan.has_requests => return,
            None => {
                self.ensure_turn(index);
                if self.model.is_empty() {
                    self.draft.note(Code::NoModel, Some(entry.place));
                }
                Attempt { call: self.rebuilt(index), stamp: entry.untimed() }
            }
        };
        self.answer_failing(&attempt, Answer::Failed { error, request_id }, entry.stamp());
    }

    pub(super) fn api_error(&mut self, index: usize) {
        let Some(raw) = self.entry(index).line.error else { return };
        let error = ApiError::parse(raw.get()).unwrap_or_default();
        let text = error_text(&error, raw);
        self.fail(index, &text, error.request_id.as_deref());
        self.touch(index);
    }

    pub(super) fn synthetic(&mut self, index: usize) {
        let entry = self.entry(index);
        if !is_api_error(entry) {
            self.outputs_of(index);
            return;
        }
        self.link(index);
        let text = entry.first_text().unwrap_or_default();
        let request_id = entry.line.request_id.as_deref();
        if self.failing.is_some() || request_id.is_some() || is_refusal(text, entry.line.error) {
            self.fail(index, text, request_id);
        }
        self.end_turn(ExecutionStatus::Failed, entry.stamp());
    }
}

/// How the words begin that the program has for answers of the provider that refuse a request.
const REFUSALS: [&str; 4] =
    ["API Error", "Prompt is too long", "Credit balance is too low", "Claude AI usage limit reached"];

/// The names of errors that only the provider makes.
const REFUSED: [&str; 5] =
    ["\"rate_limit\"", "\"billing_error\"", "\"invalid_request\"", "\"server_error\"", "\"overloaded\""];

/// Returns whether an error is the provider's answer to a request. Others, such as a missing key, came before one was sent.
fn is_refusal(text: &str, error: Option<&RawValue>) -> bool {
    REFUSALS.iter().any(|start| text.starts_with(start)) || error.is_some_and(|error| REFUSED.contains(&error.get()))
}

/// Returns the text of an `api_error` line: the status, and type and message of the body.
fn error_text(error: &ApiError<'_>, raw: &RawValue) -> String {
    let message = error.message.as_deref().unwrap_or_default();
    let status = Number::or_zero(&error.status);
    let body = message.find('{').and_then(|start| ApiErrorBody::parse(&message[start..])).and_then(|body| body.error);
    let kind = body.as_ref().and_then(|body| body.kind.as_deref());
    let words = body.as_ref().and_then(|body| body.message.as_deref());
    let mut text = "API Error:".to_owned();
    if status > 0 {
        text.push_str(&format!(" {status}"));
    }
    match (kind, words) {
        (Some(kind), Some(words)) => text.push_str(&format!(" {kind}: {words}")),
        _ if !message.is_empty() => {
            let number = status.to_string();
            let rest = message.strip_prefix(number.as_str()).filter(|_| status > 0).unwrap_or(message);
            text.push_str(&format!(" {}", rest.trim_start()));
        }
        _ => match error.formatted.as_deref() {
            Some(formatted) => text.push_str(&format!(" {formatted}")),
            None if raw.get().len() > 2 => text.push_str(&format!(" {}", raw.get())),
            None => {}
        },
    }
    text
}
