//! One attempt to get an answer from a model: events are shown while they arrive, and items are kept.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use serde_json::{Map, Value, json};
use tokio::time::timeout;
use trace_recorder::write::{InferenceTrace, NewInference};
use uuid::Uuid;

use super::request::{Audience, Question};
use super::task::Task;
use crate::event::{Delta, ErrorKind, EventKind, TokenCounts};
use crate::history::{self, CallKind};
use crate::id::ItemId;
use crate::item::{Item, ItemKind, ModelItem};
use crate::open_item::OpenItem;
use crate::provider::{ModelEvent, Provider, ProviderError, Request, RetryDecision};
use crate::recording::Answered;
use crate::tool::{ToolCall, ToolInput};

/// The result of an attempt.
#[derive(Debug)]
pub(crate) struct Answer {
    /// Calls that the model made.
    pub(crate) calls: Vec<Call>,
    /// The last message.
    pub(crate) said: Option<Arc<Item>>,
    pub(crate) end: End,
}

/// How an attempt ended.
#[derive(Debug)]
pub(crate) enum End {
    /// The answer is complete.
    Whole,
    /// The turn was interrupted.
    Stopped,
    /// The answer is missing or incomplete.
    Broken(ProviderError),
}

/// A tool call of the model.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub(crate) kind: CallKind,
    pub(crate) call: ToolCall,
}

/// Makes one attempt. Afterwards all items that began have ended, and the attempt is recorded, whatever happened.
pub(crate) async fn ask_once(task: &Task, provider: &Arc<dyn Provider>, question: &Question) -> Answer {
    let body = Arc::new(question.body(task));
    let new = NewInference {
        inference_call_id: &Uuid::now_v7().to_string(),
        model: &task.settings().model,
        provider_name: provider.name(),
    };
    let trace = crate::recording::start_inference(&task.trace, &new, &body);
    let request = Arc::new(Request { body, headers: question.headers(task), origin: question.origin(task) });
    let mut listener = Listener::new(task, question.audience);
    let end = listener.listen(provider, request).await;
    listener.finish(&trace, end)
}

/// Most items of an answer that are shown while they are streamed. Further items are shown when they are complete.
pub(crate) const MAX_OPEN_ITEMS: usize = 256;

/// Additional time after the idle timeout in which the provider may report itself how an answer ended: some lack only the
/// final event.
pub(crate) const VERDICT_TIMEOUT: Duration = Duration::from_secs(5);

struct Listener<'a> {
    task: &'a Task,
    audience: Audience,
    /// Items that have begun, by the ids of the model.
    open: Vec<(String, OpenItem)>,
    calls: Vec<Call>,
    said: Option<Arc<Item>>,
    answered: Answered,
}

impl<'a> Listener<'a> {
    fn new(task: &'a Task, audience: Audience) -> Self {
        let answered = Answered::default();
        Self { task, audience, open: Vec::new(), calls: Vec::new(), said: None, answered }
    }

    async fn listen(&mut self, provider: &Arc<dyn Provider>, request: Arc<Request>) -> End {
        let idle_timeout = provider.retry_policy().idle_timeout;
        let mut stream = provider.stream(request);
        loop {
            let next =
                self.task.unless_stopped(timeout(idle_timeout.saturating_add(VERDICT_TIMEOUT), stream.next())).await;
            let event = match next {
                Err(_) => return End::Stopped,
                Ok(Err(_)) => {
                    let seconds = idle_timeout.as_secs();
                    return End::Broken(self.broke_off(&format!("nothing came for {seconds} s")));
                }
                Ok(Ok(None)) => return End::Broken(self.broke_off("it ended before the answer was whole")),
                Ok(Ok(Some(Err(error)))) => return End::Broken(error),
                Ok(Ok(Some(Ok(event)))) => event,
            };
            if let ModelEvent::Completed { response_id, usage, raw_usage } = event {
                self.answered.response_id = response_id.or(self.answered.response_id.take());
                self.used(usage, raw_usage);
                return End::Whole;
            }
            self.hear(event);
            if self.task.unless_stopped(self.task.agent.link.ready()).await.is_err() {
                return End::Stopped;
            }
        }
    }

    fn hear(&mut self, event: ModelEvent) {
        match event {
            ModelEvent::Created { response_id, request_id } => {
                self.answered.response_id = response_id;
                self.answered.request_id = request_id;
            }
            ModelEvent::ItemAdded(item) => self.begin(&item),
            ModelEvent::Text { item_id, delta } => {
                let empty = || ItemKind::AgentMessage { text: String::new(), phase: None };
                self.grow(&item_id, empty, Delta::Text(delta));
            }
            ModelEvent::SummaryPart { item_id, index } => {
                self.grow(&item_id, empty_reasoning, Delta::SummaryPart { index });
            }
            ModelEvent::Summary { item_id, index, delta } => {
                self.grow(&item_id, empty_reasoning, Delta::Summary { index, text: delta });
            }
            ModelEvent::Reasoning { item_id, index, delta } => {
                self.grow(&item_id, empty_reasoning, Delta::Reasoning { index, text: delta });
            }
            ModelEvent::ItemDone(item) => self.end(item),
            ModelEvent::Alive => {}
            ModelEvent::Completed { .. } => unreachable!("the end of an answer is heard by `listen`"),
        }
    }

    fn begin(&mut self, item: &Value) {
        let Some(id) = item.get("id").and_then(Value::as_str) else { return };
        if self.open.iter().any(|(open, _)| open == id) {
            return;
        }
        if let Some(kind) = shown(item)
            && self.open.len() < MAX_OPEN_ITEMS
        {
            self.open(id, kind);
        }
    }

    /// Shows the start of an item if the audience sees it. If the thread has an item with the same id, the new item gets
    /// another one.
    fn open(&mut self, id: &str, kind: ItemKind) -> Option<&mut OpenItem> {
        let is_shown = match self.audience {
            Audience::User => true,
            Audience::Asker => !matches!(kind, ItemKind::AgentMessage { .. }),
            Audience::Nobody => false,
        };
        if !is_shown {
            return None;
        }
        let own = self.own_id(id, prefix(&kind));
        let item = OpenItem::start(&self.task.agent.link, &self.task.turn, Item { id: ItemId::from(own), kind });
        self.open.push((id.to_owned(), item));
        self.open.last_mut().map(|(_, item)| item)
    }

    /// Shows the start of an item that arrived complete.
    fn open_whole(&mut self, id: &str, kind: &ItemKind) -> Option<OpenItem> {
        self.open(id, emptied(kind))?;
        self.open.pop().map(|(_, open)| open)
    }

    fn own_id(&self, id: &str, prefix: &str) -> String {
        self.task.agent.state().history.own_id(id, prefix)
    }

    fn grow(&mut self, id: &str, empty: impl FnOnce() -> ItemKind, delta: Delta) {
        let open = match self.open.iter().position(|(open, _)| open == id) {
            Some(index) => Some(&mut self.open[index].1),
            None if self.open.len() < MAX_OPEN_ITEMS => self.open(id, empty()),
            None => None,
        };
        if let Some(open) = open {
            for delta in in_order(open.kind(), delta) {
                open.grow(delta);
            }
        }
    }

    /// Handles a complete item: shows it, and adds it to the conversation.
    fn end(&mut self, mut item: Value) {
        let id = item.get("id").and_then(Value::as_str).unwrap_or_default().to_owned();
        let kind = shown(&item);
        let begun = self.open.iter().position(|(open, _)| *open == id).map(|index| self.open.remove(index).1);
        let open = match (begun, &kind) {
            (Some(begun), Some(kind)) if !leads_to(begun.kind(), kind) => {
                // The streamed text is not a prefix of the complete item, so they are shown as two items.
                begun.complete_as_shown();
                self.open_whole(&id, kind)
            }
            (Some(begun), _) => Some(begun),
            (None, Some(kind)) => self.open_whole(&id, kind),
            (None, None) => None,
        };
        let own = match &open {
            Some(open) => open.id().as_str().to_owned(),
            None => self.own_id(&id, history::prefix(&item)),
        };
        if let Some(members) = item.as_object_mut() {
            if members.get("type").is_some_and(|kind| kind == "message") {
                // The role of the model's messages is always `assistant`, whatever the model wrote.
                members.insert("role".to_owned(), json!("assistant"));
            }
            members.insert("id".to_owned(), json!(own));
            self.own_call_id(members);
        }
        if let (Ok(()), Some(ItemKind::AgentMessage { .. })) = (history::of_model(&item), &kind) {
            self.said = kind.clone().map(|kind| Arc::new(Item { id: ItemId::from(own), kind }));
        }
        self.keep(item);
        if let Some(mut open) = open {
            let now = kind.unwrap_or_else(|| open.kind().clone());
            catch_up(&mut open, &now);
            open.complete(now);
        }
    }

    /// Adds an item to the conversation if it is valid there.
    fn keep(&mut self, item: Value) {
        if let Err(reason) = history::of_model(&item) {
            tracing::debug!(thread = %self.task.agent.identity.id, reason, "an item of the model is left out");
            self.answered.odd_items.push(item);
            return;
        }
        let item = ModelItem::from(item);
        self.answered.output_items.push(item.clone());
        if self.audience != Audience::Nobody {
            self.task.remember(vec![item.clone()]);
            self.calls.extend(call(&item));
        }
    }

    /// Gives a call a new id if it has none or one that another call has. Everything that follows identifies calls by their
    /// ids.
    fn own_call_id(&self, item: &mut Map<String, Value>) {
        let is_call = matches!(item.get("type").and_then(Value::as_str), Some("function_call" | "custom_tool_call"));
        if is_call {
            let id = item.get("call_id").and_then(Value::as_str).unwrap_or_default();
            let own = self.own_id(id, "call");
            item.insert("call_id".to_owned(), json!(own));
        }
        if item.get("type").is_some_and(|kind| kind == "function_call") {
            // Providers accept a call in the history only if its arguments are a string.
            match item.get("arguments") {
                Some(Value::String(_)) => {}
                None | Some(Value::Null) => drop(item.insert("arguments".to_owned(), json!("{}"))),
                Some(other) => {
                    let text = other.to_string();
                    item.insert("arguments".to_owned(), json!(text));
                }
            }
        }
    }

    fn used(&mut self, usage: Option<TokenCounts>, raw: Option<Value>) {
        self.answered.usage = usage;
        self.answered.raw_usage = raw;
        let Some(counts) = usage else { return };
        let agent = &self.task.agent;
        let order = agent.link.order();
        let context_window = agent.options().context_window(&self.task.settings().model);
        let usage = agent.state().history.count(counts, context_window);
        agent.link.tell(&order, EventKind::TokensUsed { turn: self.task.turn.clone(), usage });
    }

    fn broke_off(&self, how: &str) -> ProviderError {
        ProviderError {
            message: format!("the stream broke off: {how}"),
            details: None,
            kind: ErrorKind::StreamDisconnected { status: None },
            retry: RetryDecision::Stream { after: None },
            request_id: self.answered.request_id.clone(),
        }
    }

    fn finish(self, trace: &InferenceTrace, end: End) -> Answer {
        for (_, open) in self.open {
            open.complete_as_shown();
        }
        match &end {
            End::Whole => self.answered.complete(trace),
            End::Stopped => self.answered.cancel(trace, "the turn was interrupted"),
            End::Broken(error) => self.answered.fail(trace, error),
        }
        Answer { calls: self.calls, said: self.said, end }
    }
}

/// Returns the visible form of a model's item, as far as it has arrived.
fn shown(item: &Value) -> Option<ItemKind> {
    let text = |value: &Value, name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
    let texts = |name: &str| -> Vec<String> {
        let parts = item.get(name).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        // A refusal of the model is in another member than its text.
        parts.iter().filter_map(|part| text(part, "text").or_else(|| text(part, "refusal"))).collect()
    };
    Some(match item.get("type")?.as_str()? {
        "message" => ItemKind::AgentMessage { text: texts("content").concat(), phase: text(item, "phase") },
        "reasoning" => ItemKind::Reasoning { summary: texts("summary"), content: texts("content") },
        "web_search_call" => {
            let action = item.get("action").filter(|action| !action.is_null()).cloned();
            let query = action.as_ref().and_then(|action| text(action, "query").or_else(|| text(action, "url")));
            ItemKind::WebSearch { query: query.unwrap_or_default(), action }
        }
        _ => return None,
    })
}

/// Returns the initial form of an item. The rest follows as deltas.
fn emptied(kind: &ItemKind) -> ItemKind {
    match kind {
        ItemKind::AgentMessage { phase, .. } => ItemKind::AgentMessage { text: String::new(), phase: phase.clone() },
        ItemKind::Reasoning { .. } => empty_reasoning(),
        other => other.clone(),
    }
}

fn empty_reasoning() -> ItemKind {
    ItemKind::Reasoning { summary: Vec::new(), content: Vec::new() }
}

/// Corrects the deltas of an item: parts are numbered without gaps and start once, and a delta for another kind of item is
/// dropped.
fn in_order(kind: &ItemKind, delta: Delta) -> Vec<Delta> {
    match (kind, delta) {
        (ItemKind::AgentMessage { .. }, delta @ Delta::Text(_)) => vec![delta],
        (ItemKind::Reasoning { summary, .. }, Delta::SummaryPart { index }) if index >= summary.len() => {
            vec![Delta::SummaryPart { index: summary.len() }]
        }
        (ItemKind::Reasoning { summary, .. }, Delta::Summary { index, text }) if index >= summary.len() => {
            let index = summary.len();
            vec![Delta::SummaryPart { index }, Delta::Summary { index, text }]
        }
        (ItemKind::Reasoning { .. }, delta @ Delta::Summary { .. }) => vec![delta],
        (ItemKind::Reasoning { content, .. }, Delta::Reasoning { index, text }) => {
            vec![Delta::Reasoning { index: index.min(content.len()), text }]
        }
        _ => Vec::new(),
    }
}

/// Returns whether the shown part of an item is a prefix of the complete item.
fn leads_to(told: &ItemKind, now: &ItemKind) -> bool {
    let all_lead = |told: &[String], now: &[String]| {
        told.len() <= now.len() && told.iter().zip(now).all(|(told, now)| now.starts_with(told.as_str()))
    };
    match (told, now) {
        (ItemKind::AgentMessage { text: told, .. }, ItemKind::AgentMessage { text, .. }) => text.starts_with(told),
        (ItemKind::Reasoning { summary: told, content: told_content }, ItemKind::Reasoning { summary, content }) => {
            all_lead(told, summary) && all_lead(told_content, content)
        }
        (ItemKind::WebSearch { .. }, ItemKind::WebSearch { .. }) => true,
        _ => false,
    }
}

/// Shows the rest of an item that was not streamed, so that the deltas add up to the complete item.
fn catch_up(open: &mut OpenItem, now: &ItemKind) {
    let deltas = match (open.kind(), now) {
        (ItemKind::AgentMessage { text: told, .. }, ItemKind::AgentMessage { text, .. }) => {
            missing(told, text).map(Delta::Text).into_iter().collect()
        }
        (ItemKind::Reasoning { summary: told, content: told_content }, ItemKind::Reasoning { summary, content }) => {
            let mut deltas = Vec::new();
            for (index, text) in summary.iter().enumerate() {
                if index >= told.len() {
                    deltas.push(Delta::SummaryPart { index });
                }
                let told = told.get(index).map_or("", String::as_str);
                deltas.extend(missing(told, text).map(|text| Delta::Summary { index, text }));
            }
            for (index, text) in content.iter().enumerate() {
                let told = told_content.get(index).map_or("", String::as_str);
                deltas.extend(missing(told, text).map(|text| Delta::Reasoning { index, text }));
            }
            deltas
        }
        _ => Vec::new(),
    };
    for delta in deltas {
        open.grow(delta);
    }
}

fn missing(told: &str, text: &str) -> Option<String> {
    text.strip_prefix(told).filter(|rest| !rest.is_empty()).map(str::to_owned)
}

fn prefix(kind: &ItemKind) -> &'static str {
    match kind {
        ItemKind::Reasoning { .. } => "rs",
        ItemKind::WebSearch { .. } => "ws",
        _ => "msg",
    }
}

/// Returns the call that an item contains.
fn call(item: &Value) -> Option<Call> {
    let text = |name: &str| item.get(name).and_then(Value::as_str).map(str::to_owned);
    let (kind, input) = match item.get("type")?.as_str()? {
        "function_call" => (CallKind::Function, ToolInput::Arguments(text("arguments").unwrap_or_default())),
        "custom_tool_call" => (CallKind::Custom, ToolInput::Text(text("input").unwrap_or_default())),
        _ => return None,
    };
    let id = ItemId::from(text("call_id")?);
    let call = ToolCall { id, namespace: text("namespace"), name: text("name").unwrap_or_default(), input };
    Some(Call { kind, call })
}
