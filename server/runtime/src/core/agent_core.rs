//! What an agent consists of. Turns work with this, not with the agent's handle.

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

/// What an agent consists of.
pub(crate) struct AgentCore {
    pub(crate) identity: Identity,
    pub(crate) shared: Arc<Shared>,
    pub(crate) link: Arc<HostLink>,
    pub(crate) toolbox: Toolbox,
    pub(crate) record: Arc<AgentRecord>,
    pub(crate) signals: Signals,
    /// What tools get of the agent, with the values that they keep and the processes that they leave running.
    pub(crate) for_tools: ToolAgent,
    /// Locked after the events of `link`, never before.
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

    /// Returns the settings for turns that begin from now on.
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

    /// Adds items to what the model sees, and tells and records it. Without a turn that records, the next one does.
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

    /// Returns what records the thread. Begins the recording if that was not done yet.
    pub(crate) async fn start_recording(&self) -> ThreadTrace {
        let settings = self.settings();
        self.record.start(&self.identity, &settings).await
    }

    /// Begins the recording of a review.
    pub(crate) async fn record_review(&self) -> ReviewRecord {
        let settings = self.settings();
        self.record.start_review(&self.identity, &settings).await
    }
}
