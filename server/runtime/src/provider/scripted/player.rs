//! Plays scripts: the provider itself.
//!
//! The output of a script is converted to the format of the Responses API and parsed like the answer of a service, so both
//! have the same effect. Nothing is random, and time comes from tokio, so tests can control it. Between requests the
//! provider keeps the number of ids used, the keys of `once`, the names of released holds, and how far each conversation has come in
//! its script.

use std::collections::{HashMap, HashSet};
use std::iter;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::future::BoxFuture;
use futures_util::stream::{self, BoxStream};
use futures_util::{FutureExt, StreamExt};
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

use super::script::{self, Action, Arguments, Dropped, ItemAction, Progress, Refused, ScriptError};
use super::spaced_json;
use crate::item::ModelItem;
use crate::provider::config::{Compaction, REQUEST_RETRIES, STREAM_IDLE_TIMEOUT, STREAM_RETRIES};
use crate::provider::failure::{self, Refusal};
use crate::provider::wire::AnswerReader;
use crate::provider::{ModelEvent, Provider, ProviderError, Request, RequestBody, RetryPolicy};

/// Timeout of a hold that is not released.
pub const HOLD_MAX: Duration = Duration::from_secs(60);
/// Most keys of `once` that a provider remembers. A script that brings more fails.
pub const ONCE_KEYS_MAX: usize = 10_000;
/// Most conversations for which a provider remembers how far they have come. It reads the others from their beginnings.
const CONVERSATIONS_MAX: usize = 1_000;

/// Default name of the provider.
const NAME: &str = "scripted";

/// Plays the scripts that it finds in conversations.
#[derive(Debug)]
pub struct Scripted {
    name: String,
    retry_policy: RetryPolicy,
    compaction: Compaction,
    stage: Arc<Stage>,
}

/// State that all answers of a provider share.
#[derive(Debug)]
struct Stage {
    /// The script for conversations without one.
    spare: Option<Vec<Value>>,
    next_id: AtomicU64,
    once_keys: Mutex<HashSet<String>>,
    released: watch::Sender<HashSet<String>>,
    /// How far each conversation has come in its script, by the `prompt_cache_key` of its requests.
    conversations: Mutex<HashMap<String, Conversation>>,
}

/// A conversation, as far as it was read.
#[derive(Debug)]
struct Conversation {
    /// Number of items that were read, at least one.
    items: usize,
    /// The last item that was read. A history is only continued or replaced as a whole, so a request with this item in the same place also
    /// has all items before it.
    last: ModelItem,
    progress: Progress,
}

impl Scripted {
    /// Returns a provider that plays the scripts in conversations.
    pub fn new() -> Self {
        Self::with_spare(None)
    }

    /// Returns a provider that plays the script of a file if a conversation has none: the steps as a JSON array, with or
    /// without the word `RUN` before it.
    ///
    /// # Errors
    ///
    /// Returns an error if the text is not a valid script.
    pub fn from_file(text: &str) -> Result<Self, ScriptError> {
        Ok(Self::with_spare(Some(script::from_file(text)?)))
    }

    fn with_spare(spare: Option<Vec<Value>>) -> Self {
        Self {
            name: NAME.to_owned(),
            retry_policy: RetryPolicy {
                request_retries: REQUEST_RETRIES,
                stream_retries: STREAM_RETRIES,
                idle_timeout: STREAM_IDLE_TIMEOUT,
            },
            compaction: Compaction::Local,
            stage: Arc::new(Stage {
                spare,
                next_id: AtomicU64::new(0),
                once_keys: Mutex::default(),
                released: watch::Sender::default(),
                conversations: Mutex::default(),
            }),
        }
    }

    /// Returns the provider with another name.
    #[must_use]
    pub fn with_name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Returns the provider with another retry policy.
    #[must_use]
    pub fn with_retry_policy(mut self, retry_policy: RetryPolicy) -> Self {
        self.retry_policy = retry_policy;
        self
    }

    /// Returns the provider with another kind of compaction.
    #[must_use]
    pub fn with_compaction(mut self, compaction: Compaction) -> Self {
        self.compaction = compaction;
        self
    }

    /// Releases answers that wait, or will wait, at the hold with this name.
    pub fn release(&self, name: &str) {
        self.stage.released.send_modify(|released| {
            released.insert(name.to_owned());
        });
    }
}

impl Default for Scripted {
    fn default() -> Self {
        Self::new()
    }
}

impl Provider for Scripted {
    fn name(&self) -> &str {
        &self.name
    }

    fn retry_policy(&self) -> RetryPolicy {
        self.retry_policy
    }

    fn stream(&self, request: Arc<Request>) -> BoxStream<'static, Result<ModelEvent, ProviderError>> {
        let idle = self.retry_policy.idle_timeout;
        let answer = Answer::Asked { stage: Arc::clone(&self.stage), request, idle };
        stream::try_unfold(answer, |answer| answer.next()).boxed()
    }

    fn compact(&self, _: Arc<Request>) -> Option<BoxFuture<'static, Result<Vec<ModelItem>, ProviderError>>> {
        let stage = Arc::clone(&self.stage);
        match self.compaction {
            Compaction::Local => None,
            Compaction::Remote => Some(async move { Ok(vec![stage.compacted().into()]) }.boxed()),
        }
    }
}

/// The next step of an answer.
enum AnswerStep {
    /// An event of the Responses API.
    Event(Value),
    Pause(Duration),
    Hold(String),
    /// The stream ends without a final event.
    Cut,
}

type AnswerSteps = Box<dyn Iterator<Item = AnswerStep> + Send>;

/// State of an answer.
enum Answer {
    Asked { stage: Arc<Stage>, request: Arc<Request>, idle: Duration },
    Playing(Playing),
    Ended,
}

struct Playing {
    stage: Arc<Stage>,
    answer_steps: AnswerSteps,
    reader: AnswerReader,
    idle: Duration,
}

impl Answer {
    async fn next(self) -> Result<Option<(ModelEvent, Self)>, ProviderError> {
        let mut playing = match self {
            Self::Asked { stage, request, idle } => stage.play(&request, idle)?,
            Self::Playing(playing) => playing,
            Self::Ended => return Ok(None),
        };
        let Some(event) = playing.next().await? else { return Ok(None) };
        let ended = matches!(event, ModelEvent::Completed { .. });
        Ok(Some((event, if ended { Self::Ended } else { Self::Playing(playing) })))
    }
}

impl Playing {
    async fn next(&mut self) -> Result<Option<ModelEvent>, ProviderError> {
        for answer_step in self.answer_steps.by_ref() {
            match answer_step {
                AnswerStep::Event(event) => {
                    if let Some(event) = self.reader.read_event(None, event)? {
                        return Ok(Some(event));
                    }
                }
                AnswerStep::Pause(pause) => {
                    sleep(pause.min(self.idle)).await;
                    if pause > self.idle {
                        return Err(failure::silent(self.idle, self.reader.request_id()));
                    }
                }
                AnswerStep::Hold(name) => {
                    let mut released = self.stage.released.subscribe();
                    let hold = released.wait_for(|released| released.contains(&name));
                    if timeout(HOLD_MAX.min(self.idle), hold).await.is_err() && self.idle < HOLD_MAX {
                        return Err(failure::silent(self.idle, self.reader.request_id()));
                    }
                }
                AnswerStep::Cut => return Err(failure::cut_off("response.completed", self.reader.request_id())),
            }
        }
        Ok(None)
    }
}

impl Stage {
    fn play(self: Arc<Self>, request: &Request, idle: Duration) -> Result<Playing, ProviderError> {
        let step = self.step(&request.body).unwrap_or_else(|error| vec![script::says(&error.to_string())]);
        let (step, faults) = match self.faults(&step) {
            Ok(faults) => (step, faults),
            Err(error) => (vec![script::says(&error.to_string())], Faults::Happen),
        };
        if faults == Faults::Happen
            && let Some(refused) = step.iter().find_map(|action| action.status.as_ref())
        {
            return Err(refusal(refused));
        }
        let response_id = format!("resp_{}", self.next_id());
        let reader = AnswerReader::new(Some(format!("req_{response_id}")));
        let request_bytes = request.body.bytes();
        let answer_steps = self.answer_steps(step, &response_id, request_bytes, faults);
        Ok(Playing { stage: self, answer_steps, reader, idle })
    }

    fn step(&self, body: &RequestBody) -> Result<Vec<Action>, ScriptError> {
        let progress = match body.get("input") {
            Value::String(text) => {
                let mut progress = Progress::default();
                progress.take(&json!({"type": "message", "role": "user", "content": text}));
                progress
            }
            _ => self.progress(body),
        };
        progress.step(self.spare.as_deref())
    }

    /// Reads what is new in a conversation.
    fn progress(&self, body: &RequestBody) -> Progress {
        let key = body.get("prompt_cache_key").as_str().unwrap_or_default();
        let mut conversations = self.conversations.lock().unwrap_or_else(PoisonError::into_inner);
        let known = conversations
            .remove(key)
            .filter(|known| body.items().get(known.items - 1).is_some_and(|item| item.is_clone_of(&known.last)));
        let (read, mut progress) = known.map_or_else(Default::default, |known| (known.items, known.progress));
        let items = body.items();
        items[read..].iter().for_each(|item| item.read(|item| progress.take(item)));
        if let (Some(last), false) = (items.last(), key.is_empty()) {
            if conversations.len() == CONVERSATIONS_MAX {
                conversations.clear();
            }
            let known = Conversation { items: items.len(), last: last.clone(), progress: progress.clone() };
            conversations.insert(key.to_owned(), known);
        }
        progress
    }

    /// Returns whether the faults of a step happen: always if it has no keys, otherwise if its last key is new.
    fn faults(&self, step: &[Action]) -> Result<Faults, ScriptError> {
        let mut seen = self.once_keys.lock().unwrap_or_else(PoisonError::into_inner);
        let mut faults = Faults::Happen;
        for key in step.iter().filter_map(|action| action.once.as_ref()) {
            if seen.contains(key) {
                faults = Faults::AreOver;
            } else if seen.len() < ONCE_KEYS_MAX {
                seen.insert(key.clone());
                faults = Faults::Happen;
            } else {
                return Err(ScriptError::new(format!("more than {ONCE_KEYS_MAX} keys of `once`")));
            }
        }
        Ok(faults)
    }

    fn answer_steps(&self, step: Vec<Action>, response_id: &str, request_bytes: usize, faults: Faults) -> AnswerSteps {
        // Every action uses an id, even one that makes no item, so that an id tells the position in the step.
        let first_id = self.next_id.fetch_add(step.len() as u64, Ordering::Relaxed) + 1;
        let mut items = Vec::new();
        let mut after = Vec::new();
        let mut input_tokens = request_bytes as u64 / 4;
        let mut last = None;
        for (id, action) in (first_id..).zip(step) {
            if let Some(item) = action.item {
                items.push((item_value(&item, id), item));
            }
            if last.is_some() {
                continue;
            }
            after.extend(action.sleep.map(AnswerStep::Pause));
            after.extend(action.hold.map(AnswerStep::Hold));
            input_tokens = action.tokens.unwrap_or(input_tokens);
            if faults == Faults::Happen {
                last = match (action.drops, action.failed) {
                    (Some(Dropped), _) => Some(AnswerStep::Cut),
                    (None, Some(failed)) => Some(AnswerStep::Event(json!({"type": "response.failed", "response": {
                        "id": response_id, "error": {"code": failed.code, "message": failed.message}}}))),
                    (None, None) => None,
                };
            }
        }
        let written: usize = items.iter().map(|(item, _)| spaced_json::write(item).len()).sum();
        let output_tokens = written as u64 / 4 + 1;
        let last = last.unwrap_or_else(|| {
            AnswerStep::Event(json!({"type": "response.completed", "response": {"id": response_id, "usage": {
                "input_tokens": input_tokens, "input_tokens_details": {"cached_tokens": input_tokens / 2},
                "output_tokens": output_tokens, "output_tokens_details": {"reasoning_tokens": 0},
                "total_tokens": input_tokens.saturating_add(output_tokens)}}}))
        });
        let created = json!({"type": "response.created", "response": {"id": response_id, "status": "in_progress"}});
        let items = items.into_iter().enumerate().flat_map(|(index, (item, action))| item_steps(index, &item, action));
        Box::new(iter::once(AnswerStep::Event(created)).chain(items).chain(after).chain([last]))
    }

    fn compacted(&self) -> Value {
        let id = self.next_id();
        json!({"type": "compaction", "id": format!("cmp_{id}"), "encrypted_content": format!("sealed-summary-{id}")})
    }

    fn next_id(&self) -> u64 {
        self.next_id.fetch_add(1, Ordering::Relaxed) + 1
    }
}

/// Whether the faults of a step happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Faults {
    Happen,
    AreOver,
}

/// Returns the error that a service would send.
fn refusal(refused: &Refused) -> ProviderError {
    let body = json!({"error": {"message": refused.message, "type": "server_error", "code": refused.code}});
    Refusal {
        status: refused.status,
        retry_after: refused
            .retry_after
            .as_deref()
            .and_then(|text| failure::retry_after(text, jiff::Timestamp::now().as_second())),
        body: body.to_string().as_bytes(),
        origin: "the scripted provider",
        request_id: None,
    }
    .into_error()
}

fn item_value(item: &ItemAction, id: u64) -> Value {
    match item {
        ItemAction::Say { text, phase, .. } => {
            let mut item = json!({"type": "message", "id": format!("msg_{id}"), "role": "assistant", "status": "completed",
                "content": [{"type": "output_text", "text": text, "annotations": []}]});
            if let Some(phase) = phase {
                item["phase"] = json!(phase);
            }
            item
        }
        ItemAction::Think(text) => json!({"type": "reasoning", "id": format!("rs_{id}"),
            "summary": [{"type": "summary_text", "text": text}], "encrypted_content": format!("sealed-{id}")}),
        ItemAction::Call { name, arguments, namespace } => {
            let arguments = match arguments {
                Arguments::Raw(text) => text.clone(),
                Arguments::Value(value) => spaced_json::write(value),
            };
            let mut item = json!({"type": "function_call", "id": format!("fc_{id}"), "call_id": format!("call_{id}"),
                "name": name, "arguments": arguments});
            if let Some(namespace) = namespace {
                item["namespace"] = json!(namespace);
            }
            item
        }
        ItemAction::Custom { name, input } => json!({"type": "custom_tool_call", "id": format!("ct_{id}"),
            "call_id": format!("call_{id}"), "name": name, "input": input}),
        ItemAction::Search(query) => json!({"type": "web_search_call", "id": format!("ws_{id}"), "status": "completed",
            "action": {"type": "search", "query": query}}),
    }
}

/// Returns the events of an item: its start, its text in pieces, and its end. They are created lazily, because a long text
/// may have many pieces.
fn item_steps(index: usize, item: &Value, action: ItemAction) -> AnswerSteps {
    let id = item["id"].clone();
    let mut opening = item.clone();
    let growth: AnswerSteps = match action {
        ItemAction::Say { text, chunk, gap, .. } => {
            opening["content"] = json!([]);
            opening["status"] = json!("in_progress");
            Box::new(script::pieces(text, chunk).flat_map(move |piece| {
                let delta = json!({"type": "response.output_text.delta", "item_id": id, "output_index": index,
                    "content_index": 0, "delta": piece});
                iter::once(AnswerStep::Event(delta)).chain((!gap.is_zero()).then_some(AnswerStep::Pause(gap)))
            }))
        }
        ItemAction::Think(text) => {
            opening["summary"] = json!([]);
            let part = json!({"type": "response.reasoning_summary_part.added", "item_id": id, "output_index": index,
                "summary_index": 0, "part": {"type": "summary_text", "text": ""}});
            let deltas = script::pieces(text, script::CHUNK).map(move |piece| {
                AnswerStep::Event(
                    json!({"type": "response.reasoning_summary_text.delta", "item_id": id, "output_index": index,
                    "summary_index": 0, "delta": piece}),
                )
            });
            Box::new(iter::once(AnswerStep::Event(part)).chain(deltas))
        }
        ItemAction::Call { .. } | ItemAction::Custom { .. } | ItemAction::Search(_) => Box::new(iter::empty()),
    };
    let added = json!({"type": "response.output_item.added", "output_index": index, "item": opening});
    let done = json!({"type": "response.output_item.done", "output_index": index, "item": item});
    Box::new(iter::once(AnswerStep::Event(added)).chain(growth).chain([AnswerStep::Event(done)]))
}

#[cfg(test)]
mod tests {
    use tokio::time::Instant;

    use super::*;
    use crate::event::ErrorKind;
    use crate::provider::{Origin, RequestBody, RetryDecision};

    fn request(text: &str) -> Arc<Request> {
        let body =
            json!({"input": [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}]});
        Arc::new(Request { body: Arc::new(RequestBody::from(body)), headers: vec![], origin: Origin::default() })
    }

    async fn play(provider: &Scripted, script: &str) -> Vec<Result<ModelEvent, ProviderError>> {
        provider.stream(request(&format!("RUN {script}"))).collect().await
    }

    fn text_of(events: &[Result<ModelEvent, ProviderError>]) -> String {
        let text = |event: &Result<ModelEvent, ProviderError>| match event {
            Ok(ModelEvent::Text { delta, .. }) => Some(delta.clone()),
            _ => None,
        };
        events.iter().filter_map(text).collect()
    }

    #[test]
    fn a_conversation_is_read_from_where_it_was_or_from_its_beginning() {
        let provider = Scripted::new();
        let item = |role: &str, text: &str| {
            let item = ModelItem::from(json!({"type": "message", "role": role, "content": [{"text": text}]}));
            item.listed();
            item.kept()
        };
        let said = |key: &str, items: &[ModelItem]| {
            let members = json!({"prompt_cache_key": key}).as_object().cloned().unwrap_or_default();
            let step = provider.stage.step(&RequestBody::new(members, items.to_vec())).expect("a step");
            match step.into_iter().next().and_then(|action| action.item) {
                Some(ItemAction::Say { text, .. }) => text,
                other => panic!("{other:?}"),
            }
        };
        let script = r#"RUN [[{"say":"one"}],[{"say":"two"}],[{"say":"three"}]]"#;
        let mut items = vec![item("user", script)];
        assert_eq!((said("a", &items), said("a", &items)), ("one".to_owned(), "one".to_owned()), "a retry");
        items.extend([item("assistant", "one"), item("user", "go on")]);
        assert_eq!(said("a", &items), "two");
        let read = || provider.stage.conversations.lock().expect("no panic").get("a").map(|known| known.items);
        assert_eq!(read(), Some(3));
        let at_two = items.clone();
        items.extend([item("assistant", "two"), item("user", "and on")]);
        assert_eq!((said("a", &items), said("b", &at_two)), ("three".to_owned(), "two".to_owned()), "a fork");
        assert_eq!(said("a", &at_two), "two", "the last turn was taken back");
        // A shorter history takes its place, or an equal item that is not the same.
        assert_eq!(said("a", &[item("user", "no more")]), "no script");
        let equal: Vec<_> = [item("user", script), item("assistant", "one")].into();
        assert_eq!((said("a", &equal), said("", &equal)), ("two".to_owned(), "two".to_owned()));
        for number in 0..=CONVERSATIONS_MAX {
            assert_eq!(said(&number.to_string(), &equal), "two");
            assert!(provider.stage.conversations.lock().expect("no panic").len() <= CONVERSATIONS_MAX);
        }
    }

    #[tokio::test]
    async fn an_answer_has_items_that_begin_grow_and_end() {
        let script = r#"[[{"think":"hm"},{"say":"hello","chunk":3},{"call":"f","args":{"a":[1,"ä"]},"ns":"n"},
            {"custom":"c","input":"i"},{"search":"q"},{"tokens":40}]]"#;
        insta::assert_debug_snapshot!(play(&Scripted::new(), script).await);
    }

    #[tokio::test]
    async fn equal_requests_get_equal_answers_from_equal_providers() {
        let script = r#"[[{"say":"a"},{"call":"f"}]]"#;
        assert_eq!(play(&Scripted::new(), script).await, play(&Scripted::new(), script).await);
    }

    #[tokio::test(start_paused = true)]
    async fn pauses_take_their_time() {
        let began = Instant::now();
        let events = play(&Scripted::new(), r#"[[{"say":"abcd","chunk":2,"gap":1.5},{"sleep":10}]]"#).await;
        assert_eq!((text_of(&events).as_str(), began.elapsed()), ("abcd", Duration::from_secs(13)));
    }

    #[tokio::test(start_paused = true)]
    async fn a_hold_waits_until_it_is_released_and_later_ones_do_not() {
        let provider = Scripted::new();
        let script = r#"[[{"say":"a"},{"hold":"gate"}]]"#;
        let began = Instant::now();
        let mut answer = provider.stream(request(&format!("RUN {script}")));
        let mut events = Vec::new();
        while !matches!(events.last(), Some(Ok(ModelEvent::ItemDone(_)))) {
            events.push(answer.next().await.expect("an event"));
        }
        provider.release("other");
        assert!(timeout(Duration::from_secs(30), answer.next()).await.is_err(), "it waits");
        provider.release("gate");
        assert!(matches!(answer.next().await, Some(Ok(ModelEvent::Completed { .. }))));
        assert!(answer.next().await.is_none());
        play(&provider, script).await;
        assert_eq!(began.elapsed(), Duration::from_secs(30));
        let events = play(&provider, r#"[[{"hold":"forgotten"}]]"#).await;
        assert!(matches!(events.last(), Some(Ok(ModelEvent::Completed { .. }))));
        assert_eq!(began.elapsed(), Duration::from_secs(30) + HOLD_MAX);
    }

    #[tokio::test(start_paused = true)]
    async fn a_pause_above_the_idle_timeout_breaks_the_answer_off() {
        let retry_policy = RetryPolicy { idle_timeout: Duration::from_secs(5), ..Scripted::new().retry_policy() };
        for script in [r#"[[{"sleep":6}]]"#, r#"[[{"hold":"x"}]]"#] {
            let events = play(&Scripted::new().with_retry_policy(retry_policy), script).await;
            let Some(Err(error)) = events.last() else { panic!("no error: {events:?}") };
            assert_eq!(error.message, "the provider was silent for 5 s");
        }
        let events = play(&Scripted::new().with_retry_policy(retry_policy), r#"[[{"sleep":5}]]"#).await;
        assert!(matches!(events.last(), Some(Ok(ModelEvent::Completed { .. }))));
    }

    #[tokio::test]
    async fn faults_happen_once_where_a_script_says_so() {
        let provider = Scripted::new();
        let script = r#"[[{"once":"k"},{"say":"text"},{"status":429,"message":"slow","retry_after":7}]]"#;
        let events = play(&provider, script).await;
        let [Err(error)] = events.as_slice() else { panic!("not one error: {events:?}") };
        assert_eq!(error.message, "slow");
        assert_eq!(error.kind, ErrorKind::HttpConnectionFailed { status: Some(429) });
        assert_eq!(error.retry, RetryDecision::Request { after: Some(Duration::from_secs(7)) });
        assert_eq!(text_of(&play(&provider, script).await), "text");
        assert!(play(&Scripted::new(), script).await[0].is_err(), "keys belong to a provider");
        for (fault, retry) in [
            (r#"{"drop":true}"#, RetryDecision::Stream { after: None }),
            (r#"{"failed":"f","code":"insufficient_quota"}"#, RetryDecision::Never),
        ] {
            let script = format!(r#"[[{{"once":"l"}},{{"say":"text"}},{fault},{{"sleep":599}}]]"#);
            let provider = Scripted::new();
            let events = play(&provider, &script).await;
            assert_eq!(text_of(&events), "text");
            let Some(Err(error)) = events.last() else { panic!("no error: {events:?}") };
            assert_eq!((error.retry, error.request_id.as_deref()), (retry, Some("req_resp_1")));
        }
    }

    #[tokio::test]
    async fn keys_of_once_are_limited() {
        let provider = Scripted::new();
        for number in 0..ONCE_KEYS_MAX {
            provider.stage.once_keys.lock().expect("no panic").insert(number.to_string());
        }
        assert_eq!(text_of(&play(&provider, r#"[[{"once":"7"},{"say":"x"}]]"#).await), "x");
        let refused = text_of(&play(&provider, r#"[[{"once":"new"},{"say":"x"}]]"#).await);
        assert_eq!(refused, "script error: more than 10000 keys of `once`");
    }

    #[tokio::test]
    async fn a_file_is_for_conversations_without_a_script() {
        let provider = Scripted::from_file(r#"[[{"say":"from the file"}]]"#).expect("a script");
        let events: Vec<_> = provider.stream(request("hello")).collect().await;
        assert_eq!(text_of(&events), "from the file");
        assert_eq!(text_of(&play(&provider, r#"[[{"say":"own"}]]"#).await), "own");
    }

    #[tokio::test]
    async fn broken_scripts_and_bodies_are_answered() {
        assert_eq!(text_of(&play(&Scripted::new(), "[7]").await), "script error: a step is an array of actions");
        for body in [json!({}), json!(null), json!({"input": 7}), json!({"input": [null, {"type": 7, "content": {}}]})]
        {
            let request = Arc::new(Request {
                body: Arc::new(RequestBody::from(body)),
                headers: vec![],
                origin: Origin::default(),
            });
            let events: Vec<_> = Scripted::new().stream(request).collect().await;
            assert_eq!(text_of(&events), "no script");
        }
        let request = Request {
            body: Arc::new(json!({"input": "RUN [[{\"say\":\"x\"}]]"}).into()),
            headers: vec![],
            origin: Origin::default(),
        };
        let events: Vec<_> = Scripted::new().stream(Arc::new(request)).collect().await;
        assert_eq!(text_of(&events), "x");
    }

    #[tokio::test]
    async fn a_history_is_made_shorter_only_where_that_is_configured() {
        assert!(Scripted::new().compact(request("")).is_none());
        let provider = Scripted::new().with_compaction(Compaction::Remote);
        let items = provider.compact(request("")).expect("it can").await.expect("items");
        let expected = json!({"type": "compaction", "id": "cmp_1", "encrypted_content": "sealed-summary-1"});
        assert_eq!(items, [ModelItem::from(expected)]);
    }
}
