//! The context of a running turn.

use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::future::join_all;
use tokio_util::sync::CancellationToken;
use trace_recorder::write::TurnTrace;

use super::backoff::Backoff;
use super::input;
use crate::core::AgentCore;
use crate::event::{ErrorKind, TurnError};
use crate::history::{self, History};
use crate::id::{ItemId, TurnId};
use crate::instructions;
use crate::item::{Item, ItemKind, ModelItem, ToolOutput};
use crate::pace::PacedAgent;
use crate::provider::{Provider, ProviderError};
use crate::recording;
use crate::settings::Settings;
use serde_json::json;
use uuid::Uuid;

/// The context of a running turn.
pub(crate) struct Task {
    pub(crate) agent: Arc<AgentCore>,
    pub(crate) turn: TurnId,
    /// The turn of the root agent from which this one stems.
    pub(crate) root_turn: TurnId,
    /// The settings at the latest safe point.
    pub(crate) settings: Mutex<Arc<Settings>>,
    pub(crate) cancelled: CancellationToken,
    pub(crate) trace: TurnTrace,
    pub(crate) conversation: Conversation,
    pub(crate) jitter: Backoff,
}

/// The conversation that a turn continues.
pub(crate) enum Conversation {
    /// The history of the thread.
    Thread,
    /// A separate conversation that is not part of the thread's history.
    Aside(Mutex<History>),
}

/// Why a turn ends early.
#[derive(Debug)]
pub(crate) enum Stop {
    /// It was interrupted.
    Interrupted,
    /// It failed.
    Failed(TurnError),
}

impl Task {
    /// Waits for a future, or until the turn is interrupted.
    pub(crate) async fn unless_stopped<T>(&self, future: impl Future<Output = T>) -> Result<T, Stop> {
        tokio::select! {
            biased;
            () = self.cancelled.cancelled() => Err(Stop::Interrupted),
            value = future => Ok(value),
        }
    }

    /// Waits until the [`Pace`](crate::pace::Pace) lets the turn continue, or until the turn is interrupted.
    pub(crate) async fn paced(&self) -> Result<(), Stop> {
        match (&self.agent.options().pace, &self.conversation) {
            (Some(pace), Conversation::Thread) => {
                let agent: Arc<dyn PacedAgent> = Arc::<AgentCore>::clone(&self.agent);
                self.unless_stopped(pace.before_request(&agent, &self.turn)).await
            }
            _ => Ok(()),
        }
    }

    /// Returns the settings that apply until the next safe point.
    pub(crate) fn settings(&self) -> Arc<Settings> {
        Arc::clone(&self.settings.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Waits until all tools are ready to be offered.
    pub(crate) async fn tools_ready(&self) -> Result<(), Stop> {
        let waits: Vec<_> = self.agent.tools().filter_map(|tool| tool.ready()).collect();
        self.unless_stopped(join_all(waits)).await.map(drop)
    }

    /// Returns the provider of the turn.
    pub(crate) fn provider(&self) -> Result<Arc<dyn Provider>, Stop> {
        let name = &self.settings().provider;
        self.agent.options().provider(name).cloned().ok_or_else(|| {
            Stop::Failed(TurnError {
                message: format!("there is no provider `{name}`"),
                details: None,
                kind: ErrorKind::Other,
            })
        })
    }

    /// Returns the items that the model has seen.
    pub(crate) fn items(&self) -> Vec<ModelItem> {
        match &self.conversation {
            Conversation::Thread => self.agent.history(),
            Conversation::Aside(history) => lock(history).items().to_vec(),
        }
    }

    /// Adds items to the conversation.
    pub(crate) fn remember(&self, items: Vec<ModelItem>) {
        match &self.conversation {
            Conversation::Thread => self.agent.remember(&self.agent.link.order(), items, Some(&self.trace)),
            Conversation::Aside(history) => {
                let mut history = lock(history);
                for item in items {
                    recording::accept(&self.trace, &item);
                    history.push(&item);
                }
            }
        }
    }

    /// Adds context that the model has not seen yet or that has changed.
    pub(crate) async fn tell_news(&self) {
        let news = instructions::news(&self.items(), &self.settings(), self.agent.options()).await;
        if !news.is_empty() {
            self.remember(news);
        }
    }

    /// Records items that joined the conversation while no turn ran.
    pub(crate) fn record_earlier(&self) {
        let earlier = std::mem::take(&mut self.agent.state().history.unrecorded);
        earlier.iter().for_each(|item| recording::accept(&self.trace, item));
    }

    /// Adds what waits for a request to the conversation: input of the user, notes, and mail. Nothing joins a separate
    /// conversation.
    pub(crate) async fn take_up(&self) {
        if matches!(self.conversation, Conversation::Aside(_)) {
            return;
        }
        self.take_up_settings();
        self.take_up_inputs().await;
        self.take_up_notes();
        let pace = self.agent.options().pace.as_deref();
        let mail = self.agent.state().mailbox.take(pace, &self.agent.identity.path, &self.turn);
        self.remember(mail.iter().map(|mail| mail.item().into()).collect());
    }

    /// Applies changes of the settings for this turn.
    fn take_up_settings(&self) {
        let newest = self.agent.state().turns.active.as_ref().map(|turn| Arc::clone(&turn.settings));
        if let Some(newest) = newest {
            *self.settings.lock().unwrap_or_else(PoisonError::into_inner) = newest;
        }
    }

    /// Adds input of the user to the conversation.
    pub(crate) async fn take_up_inputs(&self) {
        loop {
            let next = self.agent.state().turns.active.as_mut().and_then(|turn| turn.inputs.pop_front());
            let Some(said) = next else { return };
            if let Some(told) = said.output {
                self.take_up_output(told);
                continue;
            }
            let message = history::message("user", &input::parts(&said.content).await);
            let id = history::id(&message).map_or_else(ItemId::new, ItemId::from);
            let kind = ItemKind::UserMessage { client_id: said.client_id, content: said.content };
            self.remember(vec![message]);
            self.agent.link.show_item(&self.turn, Item { id, kind });
        }
    }

    /// Adds output of a client's tool to the conversation.
    fn take_up_output(&self, told: ToolOutput) {
        let id = ItemId::from(format!("fco_{}", Uuid::now_v7()));
        let ToolOutput { name, namespace, output } = told;
        let mut item = json!({ "type": "function_call_output", "id": id.as_str(), "name": name, "output": output });
        if let Some(namespace) = &namespace {
            item["namespace"] = namespace.as_str().into();
        }
        self.remember(vec![item.into()]);
        self.agent.link.show_item(&self.turn, Item { id, kind: ItemKind::ToolOutput { name, namespace, output } });
    }

    /// Adds items that joined the history while the turn ran.
    pub(crate) fn take_up_notes(&self) {
        let notes = std::mem::take(&mut self.agent.state().history.notes);
        if !notes.is_empty() {
            self.agent.remember(&self.agent.link.order(), notes, Some(&self.trace));
        }
    }

    /// Adds the output `aborted` to every call that has no output.
    pub(crate) fn answer_open_calls(&self) {
        let unanswered = match &self.conversation {
            Conversation::Thread => self.agent.state().history.unanswered(),
            Conversation::Aside(history) => lock(history).unanswered(),
        };
        if !unanswered.is_empty() {
            self.remember(unanswered);
        }
    }
}

impl From<ProviderError> for TurnError {
    fn from(error: ProviderError) -> Self {
        Self { message: error.message, details: error.details, kind: error.kind }
    }
}

fn lock(history: &Mutex<History>) -> std::sync::MutexGuard<'_, History> {
    history.lock().unwrap_or_else(PoisonError::into_inner)
}
