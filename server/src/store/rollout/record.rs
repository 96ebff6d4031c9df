//! Converts events to the lines of a rollout.
//!
//! An item is stored when it ends, with the times at which it began and ended. Streamed pieces, and information that
//! can be derived from other lines, are not stored.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::{Map, Value, json};
use trace_protocol::thread::ThreadHistoryMode;
use trace_runtime::event::{EventKind, ThreadUsage, TokenCounts, TurnKind, TurnOutcome};
use trace_runtime::item::{ItemKind, ModelItem};
use trace_runtime::settings::Mode;
use trace_runtime::{Event, Item, ItemId, Settings, ThreadId, TurnId};

use super::item as whole;
use super::line::{LineKind, NewLine};
use super::spelling::{put, text};
use super::{outcome, settings, short_event};
use crate::mapping;

/// The event that stores a message of another agent until the model reads it.
pub(crate) const MAIL_EVENT: &str = "agent_mail_queued";

/// Member with the kind of a turn that does no work for the user. Other programs do not write it.
const TURN_KIND: &str = "turn_kind";

/// Converts the events of one thread to lines.
#[derive(Debug)]
pub(crate) struct Recorder {
    thread: ThreadId,
    mode: ThreadHistoryMode,
    /// The running turns.
    turns: HashMap<TurnId, Running>,
    /// Start times of the items that have not ended, in milliseconds since 1970.
    begun: HashMap<ItemId, i64>,
    settings: Option<Arc<Settings>>,
}

#[derive(Debug)]
struct Running {
    root: TurnId,
    started_at_ms: i64,
}

/// Whether the lines of an event justify creating a rollout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Storage {
    /// They do.
    Now,
    /// They are kept until other lines create the rollout.
    Deferred,
}

impl Recorder {
    pub(crate) fn new(thread: ThreadId, mode: ThreadHistoryMode) -> Self {
        Self { thread, mode, turns: HashMap::new(), begun: HashMap::new(), settings: None }
    }

    /// Returns the lines of an event, which may be none.
    pub(crate) fn lines(&mut self, event: &Event) -> (Storage, Vec<NewLine>) {
        let line = |kind: LineKind, payload: Value| vec![NewLine { at_ms: event.at_ms, kind, payload }];
        let lines = match &event.kind {
            EventKind::TurnStarted { turn, root_turn, kind, context_window } => {
                let mut payload = self.turn_started(turn, root_turn, *context_window, event.at_ms);
                if *kind != TurnKind::Regular {
                    payload[TURN_KIND] = kind.name().into();
                }
                line(LineKind::Event, payload)
            }
            EventKind::TurnEnded { turn, outcome } => {
                line(LineKind::Event, self.turn_ended(turn, outcome, event.at_ms))
            }
            EventKind::ItemStarted { item, .. } => {
                self.begun.insert(item.id.clone(), event.at_ms);
                Vec::new()
            }
            EventKind::ItemCompleted { turn, item } => self.item_completed(turn, item, event.at_ms),
            EventKind::TokensUsed { usage, .. } => line(LineKind::Event, tokens_used(usage)),
            EventKind::SettingsChanged { settings } => {
                let lines = line(LineKind::Event, self.settings_changed(settings));
                return (Storage::Deferred, lines);
            }
            EventKind::TurnContext { turn, settings } => {
                let root = self.turns.get(turn).map_or(turn, |running| &running.root);
                line(LineKind::TurnContext, settings::turn_context(turn, root, settings))
            }
            EventKind::MailCame { mail } => {
                line(LineKind::Event, json!({"type": MAIL_EVENT, "thread_id": self.thread.as_str(), "mail": mail}))
            }
            EventKind::Remembered { item } => line(LineKind::ResponseItem, item.to_value()),
            EventKind::HistoryReplaced { summary, history } => {
                let history: Vec<Value> = history.iter().map(ModelItem::to_value).collect();
                line(
                    LineKind::Compacted,
                    json!({"message": summary.as_deref().unwrap_or_default(), "replacement_history": history}),
                )
            }
            EventKind::ItemGrew { .. }
            | EventKind::Error { .. }
            | EventKind::Warning { .. }
            | EventKind::DiffChanged { .. }
            | EventKind::PlanChanged { .. } => Vec::new(),
        };
        (if lines.is_empty() { Storage::Deferred } else { Storage::Now }, lines)
    }

    fn turn_started(&mut self, turn: &TurnId, root: &TurnId, window: Option<u64>, at_ms: i64) -> Value {
        self.turns.insert(turn.clone(), Running { root: root.clone(), started_at_ms: at_ms });
        let mode = self.settings.as_ref().map_or(Mode::Default, |settings| settings.mode);
        json!({
            "type": "task_started",
            "turn_id": turn.as_str(),
            "root_turn_id": root.as_str(),
            "started_at": at_ms.div_euclid(1000),
            "model_context_window": window,
            "collaboration_mode_kind": mode,
        })
    }

    fn turn_ended(&mut self, turn: &TurnId, outcome: &TurnOutcome, at_ms: i64) -> Value {
        let running = self.turns.remove(turn);
        let mut members = Map::new();
        let kind = match outcome {
            TurnOutcome::Interrupted => "turn_aborted",
            TurnOutcome::Completed { .. } | TurnOutcome::Failed(_) => "task_complete",
        };
        members.insert("type".into(), kind.into());
        members.insert("turn_id".into(), turn.as_str().into());
        put(&mut members, "root_turn_id", running.as_ref().map(|running| running.root.as_str()));
        match outcome {
            TurnOutcome::Interrupted => {
                members.insert("reason".into(), "interrupted".into());
            }
            TurnOutcome::Completed { last_message } => {
                members.insert("last_agent_message".into(), json!(last_message.as_deref().and_then(message)));
            }
            TurnOutcome::Failed(error) => {
                members.insert("last_agent_message".into(), Value::Null);
                members.insert("error".into(), outcome::stored_error(error));
            }
        }
        put(&mut members, "started_at", running.as_ref().map(|running| running.started_at_ms.div_euclid(1000)));
        members.insert("completed_at".into(), at_ms.div_euclid(1000).into());
        put(&mut members, "duration_ms", running.map(|running| at_ms.saturating_sub(running.started_at_ms).max(0)));
        Value::Object(members)
    }

    fn item_completed(&mut self, turn: &TurnId, item: &Item, at_ms: i64) -> Vec<NewLine> {
        let started_at_ms = self.begun.remove(&item.id).unwrap_or(at_ms);
        let item = mapping::item::to_wire(&self.thread, item);
        let completed = json!({
            "type": "item_completed",
            "thread_id": self.thread.as_str(),
            "turn_id": turn.as_str(),
            "item": whole::stored(&item),
            "started_at_ms": started_at_ms,
            "completed_at_ms": at_ms,
        });
        let mut events = vec![completed];
        if self.mode == ThreadHistoryMode::Legacy {
            events.extend(short_event::short(turn.as_str(), &item));
        }
        events.into_iter().map(|payload| NewLine { at_ms, kind: LineKind::Event, payload }).collect()
    }

    fn settings_changed(&mut self, settings: &Arc<Settings>) -> Value {
        self.settings = Some(Arc::clone(settings));
        settings_applied(&self.thread, settings)
    }
}

/// Returns the event that stores the settings of a thread.
pub(crate) fn settings_applied(thread: &ThreadId, settings: &Settings) -> Value {
    json!({
        "type": "thread_settings_applied",
        "thread_id": thread.as_str(),
        "thread_settings": settings::applied(settings),
    })
}

fn message(item: &Item) -> Option<&str> {
    match &item.kind {
        ItemKind::AgentMessage { text, .. } => Some(text),
        _ => None,
    }
}

fn tokens_used(usage: &ThreadUsage) -> Value {
    json!({
        "type": "token_count",
        "info": {
            "total_token_usage": counts(&usage.total),
            "last_token_usage": counts(&usage.last),
            "model_context_window": usage.context_window,
        },
        "rate_limits": null,
    })
}

fn counts(counts: &TokenCounts) -> Value {
    json!({
        "input_tokens": counts.input,
        "cached_input_tokens": counts.cached_input,
        "cache_write_input_tokens": counts.cache_write_input,
        "output_tokens": counts.output,
        "reasoning_output_tokens": counts.reasoning_output,
        "total_tokens": counts.total,
    })
}

/// Returns the id of a turn that an event starts, if the turn does no work for the user, such as a compaction.
pub(crate) fn turn_beside_work(kind: &str, payload: &Value) -> Option<String> {
    let is_beside =
        kind == "task_started" && payload.get(TURN_KIND).is_some_and(|kind| kind != TurnKind::Regular.name());
    if is_beside { text(payload, "turn_id") } else { None }
}

/// Reads the token usage in a `token_count` event. Returns `None` if the event contains none.
pub(crate) fn read_usage(value: &Value) -> Option<ThreadUsage> {
    let info = value.get("info")?;
    let counts = |name: &str| {
        let counts = info.get(name)?;
        let count = |name: &str| counts.get(name).and_then(Value::as_u64).unwrap_or(0);
        Some(TokenCounts {
            input: count("input_tokens"),
            cached_input: count("cached_input_tokens"),
            cache_write_input: count("cache_write_input_tokens"),
            output: count("output_tokens"),
            reasoning_output: count("reasoning_output_tokens"),
            total: count("total_tokens"),
        })
    };
    Some(ThreadUsage {
        total: counts("total_token_usage")?,
        last: counts("last_token_usage").unwrap_or_default(),
        context_window: info.get("model_context_window").and_then(Value::as_u64),
    })
}
