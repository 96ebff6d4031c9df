//! Makes a history shorter: by the provider where it can, else by asking the model for a summary.
//!
//! What follows is the context of the work as it is now, what the user said last, as far as it fits, and the summary.

use std::sync::Arc;

use serde_json::Value;
use trace_recorder::write::NewCompactionRequest;
use uuid::Uuid;

use crate::event::{ErrorKind, EventKind, TurnError};
use crate::history::{self, History};
use crate::id::ItemId;
use crate::instructions;
use crate::item::{Item, ItemKind, ModelItem};
use crate::provider::{Provider, Request};
use crate::recording;
use crate::turn::{Audience, Conversation, Offered, Question, Stop, Task, ask};

/// Most bytes of what the user said that stay as they are.
pub(crate) const MAX_KEPT_USER_BYTES: usize = 80_000;

/// Begins the message that stands for what was left out.
pub(crate) const SUMMARY_TAG: &str = "<conversation_summary>";

const ASK_FOR_SUMMARY: &str = "\
Your memory of this conversation is about to be cut: you will go on with nothing but the messages of the user and what you \
write now. Write a summary for yourself:

- what the user wants, and what they asked you to do or to avoid;
- what is done, with the files, commands and results that matter;
- what you found out and decided, and why;
- what is left to do, and what you were about to do next.

Be exact with names, paths and numbers. Write nothing but the summary.";

/// Makes the thread's history shorter if it holds too many tokens for the next request.
pub(crate) async fn when_needed(task: &Task, question: &Question) -> Result<(), Stop> {
    let Some(limit) = task.agent.runtime().compact_at(&task.settings.model) else { return Ok(()) };
    let is_due = task.agent.state().context_tokens >= limit;
    if is_due && matches!(task.conversation, Conversation::Thread) {
        compact(task, question).await?;
    }
    Ok(())
}

/// Makes the thread's history shorter.
pub(crate) async fn compact(task: &Task, question: &Question) -> Result<(), Stop> {
    let item = Item { id: ItemId::new(), kind: ItemKind::Compaction };
    let open = task.agent.start_item(&task.turn, item);
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
    let mut after = instructions::context(task).await;
    if !rest.iter().any(|item| user_text(item).is_some()) {
        after.extend(kept(&before));
    }
    after.extend(rest);
    install(task, &compaction, summary, &before, after);
    open.complete_as_shown();
    Ok(())
}

/// Asks the provider, if it can do it.
async fn by_provider(
    task: &Task,
    provider: &Arc<dyn Provider>,
    question: &Question,
    compaction: &str,
) -> Result<Option<Vec<ModelItem>>, Stop> {
    let body = Arc::new(question.body(task));
    let request = Arc::new(Request { body: Arc::clone(&body), headers: question.headers(task) });
    let Some(answer) = provider.compact(request) else { return Ok(None) };
    let new = NewCompactionRequest {
        compaction_id: compaction,
        compaction_request_id: &format!("compaction_request:{}", Uuid::now_v7()),
        model: &task.settings.model,
        provider_name: provider.name(),
    };
    let trace = recording::start_compaction(&task.trace, &new, &body);
    let answer = match task.unless_stopped(answer).await {
        Ok(answer) => answer,
        Err(stop) => {
            trace.fail("the turn was interrupted");
            return Err(stop);
        }
    };
    match answer {
        Ok(items) => {
            recording::complete_compaction(&trace, &items);
            Ok(Some(items.into_iter().filter_map(|item| history::with_id(item).ok()).collect()))
        }
        Err(error) => {
            trace.fail(&error.message);
            Err(Stop::Failed(TurnError::from(error)))
        }
    }
}

/// Asks the model for a summary.
async fn by_model(task: &Task, question: Question) -> Result<String, Stop> {
    let last = Some(history::text_message("user", ASK_FOR_SUMMARY));
    let reply = ask(task, &Question { last, ..question }).await?;
    match reply.said.as_deref().map(|item| &item.kind) {
        Some(ItemKind::AgentMessage { text, .. }) if !text.trim().is_empty() => Ok(text.trim().to_owned()),
        _ => Err(Stop::Failed(TurnError {
            message: "the model gave no summary of the conversation".to_owned(),
            details: None,
            kind: ErrorKind::Other,
        })),
    }
}

/// Returns what the user said last, as far as it fits, in its order. The newest message stays whole.
fn kept(items: &[ModelItem]) -> Vec<ModelItem> {
    let mut bytes = 0;
    let mut kept: Vec<ModelItem> = Vec::new();
    for item in items.iter().rev() {
        let Some(text) = user_text(item) else { continue };
        bytes += text;
        if bytes > MAX_KEPT_USER_BYTES && !kept.is_empty() {
            break;
        }
        kept.push(Arc::clone(item));
    }
    kept.reverse();
    kept
}

/// Returns how many bytes the user said in an item, if it is the user's and not the runtime's.
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
    let order = agent.order();
    let mut state = agent.state();
    state.history = History::restore(after);
    state.context_tokens = 0;
    let history: Arc<[ModelItem]> = state.history.items().into();
    drop(state);
    recording::install_compaction(&task.trace, compaction, before, &history);
    agent.tell(&order, EventKind::HistoryReplaced { summary, history });
}
