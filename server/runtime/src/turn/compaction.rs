//! Compacts a history: by the provider if it supports this, otherwise by asking the model for a summary.
//!
//! The new history is the current context, the last messages of the user that fit, and the summary.

use std::sync::{Arc, Mutex};

use serde_json::Value;
use trace_recorder::write::NewCompactionRequest;
use uuid::Uuid;

use super::ask::ask;
use super::request::{Audience, Offered, Question};
use super::task::{Conversation, Stop, Task};
use crate::core::CONTEXT_IS_FULL;
use crate::event::{ErrorKind, EventKind, Retry, TurnError};
use crate::history::{self, History};
use crate::id::ItemId;
use crate::instructions;
use crate::item::{Item, ItemKind, ModelItem};
use crate::open_item::OpenItem;
use crate::provider::{Provider, Renewal, Request, RetryDecision};
use crate::recording;

/// Most bytes of messages of the user that are kept.
pub(crate) const MAX_KEPT_USER_BYTES: usize = 80_000;

/// How often a history that is too long for the request for a summary is halved.
pub(crate) const MAX_CUTS: usize = 8;

/// Start of the message that replaces the removed items.
pub(crate) const SUMMARY_TAG: &str = "<conversation_summary>";

pub(crate) const ASK_FOR_SUMMARY: &str = "\
Your memory of this conversation is about to be cut: you will go on with nothing but the messages of the user and what you \
write now. Write a summary for yourself:

- what the user wants, and what they asked you to do or to avoid;
- what is done, with the files, commands and results that matter;
- what you found out and decided, and why;
- what is left to do, and what you were about to do next.

Be exact with names, paths and numbers. Write nothing but the summary.";

/// Compacts the history of the thread if it has too many tokens for the next request.
pub(crate) async fn when_needed(task: &Task, question: &Question) -> Result<(), Stop> {
    if matches!(task.conversation, Conversation::Aside(_)) {
        return Ok(());
    }
    let options = task.agent.options();
    let Some(pace) = &options.pace else {
        let limit = options.compact_at(&task.settings().model).unwrap_or(CONTEXT_IS_FULL);
        if task.agent.state().history.context_tokens >= limit {
            compact(task, question).await?;
        }
        return Ok(());
    };
    // Other programs compact before they read messages, so a replay may have to read some afterwards.
    while pace.compacts(&task.agent.identity.path, &task.turn) {
        compact(task, question).await?;
        task.paced().await?;
        task.take_up().await;
    }
    Ok(())
}

/// Compacts the history of the thread.
pub(crate) async fn compact(task: &Task, question: &Question) -> Result<(), Stop> {
    let item = Item { id: ItemId::new(), kind: ItemKind::Compaction };
    let open = OpenItem::start(&task.agent.link, &task.turn, item);
    let compaction = Uuid::now_v7().to_string();
    let provider = task.provider()?;
    let before = task.items();
    let question = Question {
        audience: Audience::Nobody,
        last: None,
        tools: Offered::None,
        output_schema: None,
        ..question.clone()
    };
    let (summary, rest) = match by_provider(task, &provider, &question, &compaction).await? {
        Some(items) => (None, items),
        None => {
            let summary = by_model(task, question).await?;
            let text = format!("{SUMMARY_TAG}\n{summary}\n</conversation_summary>");
            (Some(summary), vec![history::text_message("user", &text)])
        }
    };
    let mut after = instructions::context(&task.settings(), task.agent.options()).await;
    if !rest.iter().any(|item| user_text(item).is_some()) {
        after.extend(kept(&before));
    }
    after.extend(rest);
    install(task, &compaction, summary, &before, after);
    open.complete_as_shown();
    Ok(())
}

/// Asks the provider for a compaction. `None` if it does not support this.
async fn by_provider(
    task: &Task,
    provider: &Arc<dyn Provider>,
    question: &Question,
    compaction: &str,
) -> Result<Option<Vec<ModelItem>>, Stop> {
    let body = Arc::new(question.body(task));
    let request = Request { body: Arc::clone(&body), headers: question.headers(task), origin: question.origin(task) };
    let request = Arc::new(request);
    let of = provider.retry_policy().request_retries;
    let mut number = 0;
    let mut renewal = Renewal::default();
    loop {
        let Some(answer) = provider.compact(Arc::clone(&request)) else { return Ok(None) };
        let new = NewCompactionRequest {
            compaction_id: compaction,
            compaction_request_id: &format!("compaction_request:{}", Uuid::now_v7()),
            model: &task.settings().model,
            provider_name: provider.name(),
        };
        let trace = recording::start_compaction(&task.trace, &new, &body);
        let mut error = match task.unless_stopped(answer).await {
            Ok(Ok(items)) => {
                recording::complete_compaction(&trace, &items);
                return Ok(Some(items.into_iter().filter_map(|item| history::with_id(item).ok()).collect()));
            }
            Ok(Err(error)) => error,
            Err(stop) => {
                trace.fail("the turn was interrupted");
                return Err(stop);
            }
        };
        trace.fail(&recording::words(&error));
        if task.unless_stopped(renewal.renew(&**provider, &mut error)).await? {
            continue;
        }
        let after = match error.retry {
            RetryDecision::Request { after } | RetryDecision::Stream { after } if number < of => after,
            _ => return Err(Stop::Failed(TurnError::from(error))),
        };
        number += 1;
        let (message, details) = (format!("Reconnecting... {number}/{of}"), Some(recording::words(&error)));
        task.agent.link.event(EventKind::Error {
            turn: task.turn.clone(),
            error: TurnError { message, details, kind: error.kind },
            retry: Retry::Follows,
        });
        task.unless_stopped(tokio::time::sleep(task.jitter.delay(number, after))).await?;
    }
}

/// Asks the model for a summary. If the history is too long even for that, its beginning is left out.
async fn by_model(task: &Task, question: Question) -> Result<String, Stop> {
    let last = Some(history::text_message("user", ASK_FOR_SUMMARY));
    let question = Question { last, ..question };
    let mut items = task.items();
    let mut reply = ask(task, &question).await;
    for _ in 0..MAX_CUTS {
        match &reply {
            Err(Stop::Failed(error)) if error.kind == ErrorKind::ContextWindowExceeded && items.len() > 1 => {}
            _ => break,
        }
        items.drain(..items.len() / 2);
        reply = ask(&aside(task, items.clone()), &question).await;
    }
    let reply = reply?;
    match reply.said.as_deref().map(|item| &item.kind) {
        Some(ItemKind::AgentMessage { text, .. }) if !text.trim().is_empty() => Ok(text.trim().to_owned()),
        _ => Err(Stop::Failed(TurnError {
            message: "the model gave no summary of the conversation".to_owned(),
            details: None,
            kind: ErrorKind::Other,
        })),
    }
}

/// Returns the task with a separate conversation.
fn aside(task: &Task, items: Vec<ModelItem>) -> Task {
    Task {
        agent: task.agent.clone(),
        turn: task.turn.clone(),
        root_turn: task.root_turn.clone(),
        settings: Mutex::new(task.settings()),
        cancelled: task.cancelled.clone(),
        trace: task.trace.clone(),
        conversation: Conversation::Aside(Mutex::new(History::restore(items))),
        jitter: task.jitter.fork(),
    }
}

/// Returns the last messages of the user that fit, in order. The newest message is always kept whole.
fn kept(items: &[ModelItem]) -> Vec<ModelItem> {
    let mut bytes = 0;
    let mut kept: Vec<ModelItem> = Vec::new();
    for item in items.iter().rev() {
        let Some(text) = user_text(item) else { continue };
        bytes += text;
        if bytes > MAX_KEPT_USER_BYTES && !kept.is_empty() {
            break;
        }
        kept.push(item.clone());
    }
    kept.reverse();
    kept
}

/// Returns the number of bytes of a message of the user. `None` if the item is another one, for example from the runtime.
fn user_text(item: &Value) -> Option<usize> {
    if item.get("role")?.as_str()? != "user" || instructions::is_context(item) {
        return None;
    }
    let parts = item.get("content")?.as_array()?;
    let texts = || parts.iter().filter_map(|part| part.get("text").and_then(Value::as_str));
    if texts().next().is_some_and(|text| text.starts_with(SUMMARY_TAG)) {
        return None;
    }
    Some(texts().map(str::len).sum())
}

fn install(task: &Task, compaction: &str, summary: Option<String>, before: &[ModelItem], after: Vec<ModelItem>) {
    let agent = &task.agent;
    let order = agent.link.order();
    let mut state = agent.state();
    let history = state.history.replace(after);
    drop(state);
    recording::install_compaction(&task.trace, compaction, before, &history);
    agent.link.tell(&order, EventKind::HistoryReplaced { summary, history });
}
