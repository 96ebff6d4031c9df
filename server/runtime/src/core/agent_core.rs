//! The parts of an agent together. Turns use this type instead of the agent's handle.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use trace_recorder::write::{ThreadTrace, TurnTrace};

use super::signals::Signals;
use super::state::State;
use super::toolbox::Toolbox;
use crate::agent_record::AgentRecord;
use crate::event::EventKind;
use crate::extensions::Extensions;
use crate::host_link::{EventGuard, HostLink};
use crate::identity::Identity;
use crate::item::ModelItem;
use crate::options::RuntimeOptions;
use crate::recording::{self, ReviewRecord};
use crate::settings::Settings;
use crate::shared::Shared;
use crate::terminal::Terminals;
use crate::tool::{Tool, ToolAgent};

/// The parts of an agent.
pub(crate) struct AgentCore {
    pub(crate) identity: Identity,
    pub(crate) shared: Arc<Shared>,
    pub(crate) link: Arc<HostLink>,
    pub(crate) toolbox: Toolbox,
    pub(crate) record: Arc<AgentRecord>,
    pub(crate) signals: Signals,
    /// What tools may use of the agent, with the values that they keep and their background processes.
    pub(crate) for_tools: ToolAgent,
    /// It is locked after the event lock of `link`, never before it.
    state: Mutex<State>,
}

impl AgentCore {
    pub(crate) fn new(
        shared: &Arc<Shared>,
        identity: Identity,
        toolbox: Toolbox,
        record: AgentRecord,
        state: State,
    ) -> Arc<Self> {
        let (options, record) = (&shared.options, Arc::new(record));
        let link = HostLink::new(Arc::clone(&shared.host), identity.id.clone(), Arc::clone(&options.clock));
        let for_tools = ToolAgent {
            path: identity.path.as_str().into(),
            link: Arc::clone(&link),
            extensions: Arc::<Extensions>::default(),
            terminals: Arc::<Terminals>::default(),
            folders: Arc::clone(&options.folders),
            surroundings: Arc::new(options.surroundings.clone()),
            record: Arc::clone(&record),
        };
        let (shared, signals, state) = (Arc::clone(shared), Signals::default(), Mutex::new(state));
        Arc::new(Self { identity, shared, link, toolbox, record, signals, for_tools, state })
    }

    pub(crate) fn options(&self) -> &RuntimeOptions {
        &self.shared.options
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the settings for new turns.
    pub(crate) fn settings(&self) -> Arc<Settings> {
        Arc::clone(&self.state().settings)
    }

    /// Returns what the model has seen.
    pub(crate) fn history(&self) -> Vec<ModelItem> {
        self.state().history.items().to_vec()
    }

    /// Returns the tools that the agent may use, in the order in which a call looks for one.
    pub(crate) fn tools(&self) -> impl Iterator<Item = &Arc<dyn Tool>> {
        self.toolbox.all(self.options())
    }

    /// Adds items to the history, sends an event for each, and records them: in `trace`, or else with the next turn.
    pub(crate) fn remember(&self, order: &EventGuard<'_>, items: Vec<ModelItem>, trace: Option<&TurnTrace>) {
        let mut state = self.state();
        items.iter().for_each(|item| state.history.push(item));
        if trace.is_none() {
            state.history.unrecorded.extend(items.iter().cloned());
        }
        drop(state);
        if let Some(trace) = trace {
            items.iter().for_each(|item| recording::accept(trace, item));
        }
        for item in items {
            self.link.tell(order, EventKind::Remembered { item });
        }
    }

    /// Returns the recording of the thread, and starts it if it has not started.
    pub(crate) async fn start_recording(&self) -> ThreadTrace {
        let settings = self.settings();
        self.record.start(&self.identity, &settings).await
    }

    /// Starts the recording of a review.
    pub(crate) async fn record_review(&self) -> ReviewRecord {
        let settings = self.settings();
        self.record.start_review(&self.identity, &settings).await
    }
}
