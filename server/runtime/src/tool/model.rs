//! The model of a turn, for tools that ask it something outside of the conversation.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use serde_json::{Value, json};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use trace_recorder::write::{InferenceTrace, NewInference, TurnTrace};
use uuid::Uuid;

use crate::event::ErrorKind;
use crate::history;
use crate::provider::{ModelEvent, Origin, Provider, ProviderError, Renewal, Request, RequestBody, RetryDecision};
use crate::recording::{self, Answered, SIDE_CALL_PREFIX};

/// Most bytes of an answer that are kept, whatever the limit of tokens. A provider may ignore that limit.
pub const MAX_SIDE_ANSWER_BYTES: usize = 256 * 1024;

/// The model of a turn. A question to it is an inference call of the turn, without retries; one more with another token if the
/// first token was refused. Neither the question nor the answer joins the conversation.
#[derive(Clone)]
pub struct ModelAccess {
    provider: Option<Arc<dyn Provider>>,
    model: Arc<str>,
    headers: Vec<(String, String)>,
    origin: Origin,
    trace: TurnTrace,
    cancelled: CancellationToken,
}

/// A question to the model.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SideQuestion {
    /// Instructions.
    pub instructions: String,
    /// The messages, the oldest first.
    pub messages: Vec<SideMessage>,
    /// Most tokens of the answer.
    pub max_output_tokens: u64,
}

/// A message of a question to the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SideMessage {
    /// Whether the model said it, instead of the user.
    pub is_of_model: bool,
    /// The text. It may be empty if there are pictures.
    pub text: String,
    /// Pictures of the user, as `data:` URLs.
    pub pictures: Vec<String>,
}

/// The answer to a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SideAnswer {
    /// The text.
    pub text: String,
    /// Name of the model.
    pub model: String,
    /// Whether the answer ends at the limit of tokens.
    pub is_cut: bool,
}

/// Why a question has no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SideError {
    /// The turn was interrupted.
    #[error("the turn was interrupted")]
    Stopped,
    /// The provider did not answer.
    #[error("{message}")]
    Failed {
        /// What the provider said.
        message: String,
    },
}

impl ModelAccess {
    /// Returns access to no model. Each question fails.
    #[must_use]
    pub fn none() -> Self {
        Self {
            provider: None,
            model: "none".into(),
            headers: Vec::new(),
            origin: Origin::default(),
            trace: TurnTrace::disabled(),
            cancelled: CancellationToken::new(),
        }
    }

    pub(crate) fn new(
        provider: Option<Arc<dyn Provider>>,
        model: &str,
        headers: Vec<(String, String)>,
        origin: Origin,
        trace: TurnTrace,
        cancelled: CancellationToken,
    ) -> Self {
        Self { provider, model: model.into(), headers, origin, trace, cancelled }
    }

    /// Returns the name of the model.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.model
    }

    /// Asks the model, and records the inference calls. If the future is dropped, the call is recorded as cancelled.
    ///
    /// # Errors
    ///
    /// Returns an error if the turn is interrupted, or if the provider does not answer.
    pub async fn ask(&self, question: &SideQuestion) -> Result<SideAnswer, SideError> {
        let Some(provider) = &self.provider else {
            return Err(SideError::Failed { message: "there is no model to ask".to_owned() });
        };
        let body = Arc::new(self.body(question));
        let mut renewal = Renewal::default();
        loop {
            let mut error = match self.attempt(provider, &body).await? {
                Ok(answer) => return Ok(answer),
                Err(error) => error,
            };
            tokio::select! {
                biased;
                () = self.cancelled.cancelled() => return Err(SideError::Stopped),
                is_renewed = renewal.renew(&**provider, &mut error) => {
                    if !is_renewed {
                        return Err(SideError::Failed { message: error.message });
                    }
                }
            }
        }
    }

    /// Makes one attempt, and records it.
    async fn attempt(
        &self,
        provider: &Arc<dyn Provider>,
        body: &Arc<RequestBody>,
    ) -> Result<Result<SideAnswer, ProviderError>, SideError> {
        let new = NewInference {
            inference_call_id: &format!("{SIDE_CALL_PREFIX}{}", Uuid::now_v7()),
            model: &self.model,
            provider_name: provider.name(),
        };
        let trace = recording::start_inference(&self.trace, &new, body);
        let request =
            Arc::new(Request { body: Arc::clone(body), headers: self.headers.clone(), origin: self.origin.clone() });
        let mut hearing = Hearing { trace: Some(trace), answered: Answered::default(), partial: String::new() };
        tokio::select! {
            biased;
            () = self.cancelled.cancelled() => {
                hearing.cancel();
                Err(SideError::Stopped)
            }
            answer = hearing.listen(provider, request, &self.model) => Ok(answer),
        }
    }

    fn body(&self, question: &SideQuestion) -> RequestBody {
        let messages = question.messages.iter().map(|message| {
            let role = if message.is_of_model { "assistant" } else { "user" };
            if message.pictures.is_empty() {
                return history::text_message(role, &message.text);
            }
            // Some providers refuse empty texts.
            let text = (!message.text.is_empty()).then(|| json!({ "type": "input_text", "text": message.text }));
            let pictures = message.pictures.iter().map(|url| json!({ "type": "input_image", "image_url": url }));
            history::message(role, &text.into_iter().chain(pictures).collect::<Vec<_>>())
        });
        let Value::Object(members) = json!({
            "model": &*self.model,
            "instructions": question.instructions,
            "input": null,
            "tools": [],
            "tool_choice": "auto",
            "parallel_tool_calls": true,
            "max_output_tokens": question.max_output_tokens,
            "store": false,
            "stream": true,
        }) else {
            unreachable!("it was made as an object")
        };
        RequestBody::new(members, messages.collect())
    }
}

/// What has arrived of an answer.
struct Hearing {
    /// The trace of the inference call. `None` after its end was recorded.
    trace: Option<InferenceTrace>,
    answered: Answered,
    partial: String,
}

impl Hearing {
    async fn listen(
        &mut self,
        provider: &Arc<dyn Provider>,
        request: Arc<Request>,
        model: &str,
    ) -> Result<SideAnswer, ProviderError> {
        let idle = provider.retry_policy().idle_timeout.saturating_add(Duration::from_secs(1));
        let mut stream = provider.stream(request);
        let answer = |text: String, is_cut| Ok(SideAnswer { text, model: model.to_owned(), is_cut });
        loop {
            let event = match timeout(idle, stream.next()).await {
                Ok(Some(Ok(event))) => event,
                Ok(Some(Err(error))) => {
                    let is_cut = error.is_cut_at_limit() && !self.partial.is_empty();
                    self.fail(&error);
                    return match is_cut {
                        true => answer(std::mem::take(&mut self.partial), true),
                        false => Err(error),
                    };
                }
                Ok(None) => return self.broke_off("it ended before the answer was whole"),
                Err(_) => return self.broke_off(&format!("nothing came for {} s", idle.as_secs())),
            };
            match event {
                ModelEvent::Created { response_id, request_id } => {
                    self.answered.response_id = response_id;
                    self.answered.request_id = request_id;
                }
                ModelEvent::Text { delta, .. } => self.partial.push_str(&delta),
                ModelEvent::ItemDone(item) => self.keep(item),
                ModelEvent::Completed { response_id, usage, raw_usage } => {
                    self.answered.response_id = response_id.or(self.answered.response_id.take());
                    self.answered.usage = usage;
                    self.answered.raw_usage = raw_usage;
                    let text = self.answered.output_items.iter().map(|item| text(item)).collect();
                    if let Some(trace) = self.trace.take() {
                        std::mem::take(&mut self.answered).complete(&trace);
                    }
                    return answer(text, false);
                }
                ModelEvent::Alive
                | ModelEvent::ItemAdded(_)
                | ModelEvent::SummaryPart { .. }
                | ModelEvent::Summary { .. }
                | ModelEvent::Reasoning { .. } => {}
            }
            if self.partial.len() > MAX_SIDE_ANSWER_BYTES {
                return self.broke_off(&format!("the answer has more than {MAX_SIDE_ANSWER_BYTES} bytes"));
            }
        }
    }

    fn keep(&mut self, item: Value) {
        match history::of_model(&item).and_then(|()| history::with_id(item.clone().into())) {
            Ok(item) => self.answered.output_items.push(item),
            Err(_) => self.answered.odd_items.push(item),
        }
    }

    fn broke_off(&mut self, how: &str) -> Result<SideAnswer, ProviderError> {
        let error = ProviderError {
            message: format!("the stream broke off: {how}"),
            details: None,
            kind: ErrorKind::StreamDisconnected { status: None },
            retry: RetryDecision::Stream { after: None },
            request_id: self.answered.request_id.clone(),
        };
        self.fail(&error);
        Err(error)
    }

    fn fail(&mut self, error: &ProviderError) {
        if let Some(trace) = self.trace.take() {
            std::mem::take(&mut self.answered).fail(&trace, error);
        }
    }

    fn cancel(&mut self) {
        if let Some(trace) = self.trace.take() {
            std::mem::take(&mut self.answered).cancel(&trace, "nobody waits for the answer any more");
        }
    }
}

impl Drop for Hearing {
    fn drop(&mut self) {
        self.cancel();
    }
}

/// Returns the text of a message of the model.
fn text(item: &Value) -> String {
    if item.get("type").is_none_or(|kind| kind != "message") {
        return String::new();
    }
    let parts = item.get("content").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    parts.iter().filter_map(|part| part.get("text").or_else(|| part.get("refusal"))?.as_str()).collect()
}

impl fmt::Debug for ModelAccess {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("ModelAccess").field(&self.model).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use futures_util::future::BoxFuture;
    use futures_util::stream::{self, BoxStream};

    use super::*;
    use crate::item::ModelItem;
    use crate::provider::RetryPolicy;

    /// A provider that answers with these events, and then waits for ever.
    struct Told(Mutex<Vec<Result<ModelEvent, ProviderError>>>);

    impl Provider for Told {
        fn name(&self) -> &str {
            "told"
        }

        fn retry_policy(&self) -> RetryPolicy {
            RetryPolicy { request_retries: 0, stream_retries: 0, idle_timeout: Duration::from_secs(5) }
        }

        fn stream(&self, request: Arc<Request>) -> BoxStream<'static, Result<ModelEvent, ProviderError>> {
            let expected = json!([{ "role": "user", "text": "q" }, { "role": "assistant", "text": "a" }]);
            let said = |item: &ModelItem| json!({ "role": item["role"], "text": item["content"][0]["text"] });
            assert_eq!(request.body.items().iter().map(said).collect::<Value>(), expected);
            assert_eq!(
                (request.body.get("instructions"), request.body.get("max_output_tokens")),
                (&json!("i"), &json!(9))
            );
            let events = std::mem::take(&mut *self.0.lock().expect("nobody panicked"));
            stream::iter(events).chain(stream::pending()).boxed()
        }

        fn compact(&self, _: Arc<Request>) -> Option<BoxFuture<'static, Result<Vec<ModelItem>, ProviderError>>> {
            None
        }
    }

    async fn ask(events: Vec<Result<ModelEvent, ProviderError>>) -> Result<SideAnswer, SideError> {
        let provider: Arc<dyn Provider> = Arc::new(Told(Mutex::new(events)));
        let cancelled = CancellationToken::new();
        let trace = TurnTrace::disabled();
        let access = ModelAccess::new(Some(provider), "m", Vec::new(), Origin::default(), trace, cancelled);
        let message =
            |is_of_model, text: &str| SideMessage { is_of_model, text: text.to_owned(), pictures: Vec::new() };
        let messages = vec![message(false, "q"), message(true, "a")];
        access.ask(&SideQuestion { instructions: "i".to_owned(), messages, max_output_tokens: 9 }).await
    }

    fn text(delta: &str) -> Result<ModelEvent, ProviderError> {
        Ok(ModelEvent::Text { item_id: "x".to_owned(), delta: delta.to_owned() })
    }

    fn failed(message: &str) -> Result<ModelEvent, ProviderError> {
        let (kind, retry) = (ErrorKind::Other, RetryDecision::Never);
        Err(ProviderError { message: message.to_owned(), details: None, kind, retry, request_id: None })
    }

    #[tokio::test(start_paused = true)]
    async fn answers_are_whole_cut_or_missing() {
        let item =
            json!({ "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": "words" }] });
        let done = || Ok(ModelEvent::Completed { response_id: None, usage: None, raw_usage: None });
        let answer = |text: &str, is_cut| Ok(SideAnswer { text: text.to_owned(), model: "m".to_owned(), is_cut });
        let missing = |message: &str| Err(SideError::Failed { message: message.to_owned() });
        let reasoning = json!({ "type": "reasoning", "summary": [] });
        let whole = vec![Ok(ModelEvent::ItemDone(reasoning)), text("wor"), Ok(ModelEvent::ItemDone(item)), done()];
        assert_eq!(ask(whole).await, answer("words", false));
        let limit = "the provider cut the answer short: max_output_tokens";
        assert_eq!(ask(vec![text("wor"), failed(limit)]).await, answer("wor", true));
        assert_eq!(ask(vec![failed(limit)]).await, missing(limit));
        assert_eq!(ask(vec![text("wor"), failed("no")]).await, missing("no"));
        assert_eq!(ask(Vec::new()).await, missing("the stream broke off: nothing came for 6 s"));
        let long = "x".repeat(MAX_SIDE_ANSWER_BYTES + 1);
        let expected = format!("the stream broke off: the answer has more than {MAX_SIDE_ANSWER_BYTES} bytes");
        assert_eq!(ask(vec![text(&long)]).await, missing(&expected));
    }

    #[test]
    fn pictures_follow_the_text_of_their_message() {
        let picture = "data:image/png;base64,AA";
        let message =
            |text: &str| SideMessage { is_of_model: false, text: text.to_owned(), pictures: vec![picture.to_owned()] };
        let messages = vec![message("look"), message("")];
        let question = SideQuestion { messages, ..SideQuestion::default() };
        let body = ModelAccess::none().body(&question);
        let content: Vec<_> = body.items().iter().map(|item| item["content"].clone()).collect();
        let picture = json!({ "type": "input_image", "image_url": picture });
        assert_eq!(content, [json!([{ "type": "input_text", "text": "look" }, picture]), json!([picture])]);
    }

    #[tokio::test]
    async fn an_interrupted_turn_gets_no_answer() {
        let question = SideQuestion::default();
        assert!(matches!(ModelAccess::none().ask(&question).await, Err(SideError::Failed { .. })));
        let provider: Arc<dyn Provider> = Arc::new(crate::provider::Scripted::new());
        let cancelled = CancellationToken::new();
        cancelled.cancel();
        let trace = TurnTrace::disabled();
        let access = ModelAccess::new(Some(provider), "m", Vec::new(), Origin::default(), trace, cancelled);
        assert_eq!(access.ask(&question).await, Err(SideError::Stopped));
    }
}
