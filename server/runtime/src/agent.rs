//! The handle of an agent.
//!
//! The requests to an agent are in [`control`](crate::control).

use std::any::Any;
use std::fmt;
use std::sync::{Arc, Weak};

use futures_util::future::BoxFuture;
use serde_json::Value;
use tokio::sync::watch;

pub use crate::agent_record::AgentRecord;
use crate::core::{AgentCore, Mailbox, State, ThreadHistory};
pub use crate::core::{Toolbox, TurnReport};
use crate::event::{ThreadUsage, TurnKind};
use crate::id::{ThreadId, TurnId};
use crate::identity::Identity;
pub use crate::identity::Lineage;
use crate::item::ModelItem;
use crate::mail::{Attention, Mail};
use crate::recording::Recording;
use crate::settings::Settings;
use crate::shared::Shared;
use crate::terminal::Terminals;
use crate::tool::{Tool, ToolAgent, ToolFamily};

/// An agent with its thread: the settings, the history, and at most one running turn. Clones refer to the same agent.
#[derive(Clone)]
pub struct Agent(Arc<AgentCore>);

/// A reference that does not keep the agent alive.
#[derive(Clone)]
pub struct WeakAgent(Weak<AgentCore>);

impl WeakAgent {
    /// Returns the agent, unless all its handles were dropped.
    pub fn upgrade(&self) -> Option<Agent> {
        self.0.upgrade().map(Agent)
    }
}

impl fmt::Debug for WeakAgent {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("WeakAgent").finish_non_exhaustive()
    }
}

/// What a new or loaded agent is created from.
pub struct NewAgent {
    /// Id of its thread.
    pub id: ThreadId,
    /// Its settings.
    pub settings: Settings,
    /// Its history.
    pub history: Vec<ModelItem>,
    /// Its mailbox. These messages start no turn; the next turn reads them.
    pub mail: Vec<Mail>,
    /// Its token usage so far.
    pub usage: ThreadUsage,
    /// Tools of the client, in the format of the protocol. If one is invalid, none is offered, so check them with
    /// [`dynamic::tools`](crate::tool::dynamic::tools) before.
    pub dynamic_tools: Vec<Value>,
    /// Tools that only this agent has.
    pub tools: Vec<Arc<dyn Tool>>,
    /// Tool families that this agent may not use.
    pub without: Vec<ToolFamily>,
    /// Where its session is recorded.
    pub recorded: RecordingTarget,
    /// The kind of client that started it, for the recording, such as `vscode` or `exec`.
    pub source: Option<String>,
    /// Its place in its tree; `None` for a root agent.
    pub lineage: Option<Lineage>,
}

impl NewAgent {
    /// Returns a root agent with an empty history.
    pub fn new(id: ThreadId, settings: Settings) -> Self {
        Self {
            id,
            settings,
            history: Vec::new(),
            mail: Vec::new(),
            usage: ThreadUsage::default(),
            dynamic_tools: Vec::new(),
            tools: Vec::new(),
            without: Vec::new(),
            recorded: RecordingTarget::default(),
            source: None,
            lineage: None,
        }
    }
}

/// Whether and where an agent's session is recorded.
#[derive(Debug, Clone, Default)]
pub enum RecordingTarget {
    /// In a bundle of its own, if the runtime records.
    #[default]
    OwnBundle,
    /// In the bundle of this agent.
    BundleOf(Agent),
    /// Nowhere.
    Nowhere,
}

impl Agent {
    pub(crate) fn new(shared: &Arc<Shared>, new: NewAgent) -> Self {
        let NewAgent { id, settings, history, mail, usage, dynamic_tools, tools, without, recorded, source, lineage } =
            new;
        let recording = match recorded {
            RecordingTarget::OwnBundle => Recording::new(shared.options.recording.clone(), id.clone(), source),
            RecordingTarget::BundleOf(agent) => Arc::clone(agent.recording().shared()),
            RecordingTarget::Nowhere => Recording::new(None, id.clone(), source),
        };
        let toolbox = Toolbox::new(&id, tools, dynamic_tools, without);
        let record = AgentRecord::new(recording, id.clone());
        let state = State::new(settings, ThreadHistory::restore(history, usage), Mailbox::restore(mail));
        Self(AgentCore::new(shared, Identity::new(id, lineage), toolbox, record, state))
    }

    pub(crate) fn core(&self) -> &Arc<AgentCore> {
        &self.0
    }

    /// Returns the id of the thread.
    pub fn id(&self) -> &ThreadId {
        &self.0.identity.id
    }

    /// Returns the path in the tree of agents, such as `/root/docs`.
    pub fn path(&self) -> &str {
        &self.0.identity.path
    }

    /// Returns the place in the tree; `None` for a root agent.
    pub fn lineage(&self) -> Option<&Lineage> {
        self.0.identity.lineage.as_ref()
    }

    /// Returns the thread of the parent.
    pub fn parent(&self) -> Option<&ThreadId> {
        self.0.identity.parent()
    }

    /// Returns the thread of the root agent, which may be this one.
    pub fn root(&self) -> &ThreadId {
        self.0.identity.root()
    }

    /// Returns the number of ancestors.
    pub fn depth(&self) -> u32 {
        self.0.identity.depth()
    }

    /// Returns the settings for new turns.
    pub fn settings(&self) -> Arc<Settings> {
        self.0.settings()
    }

    /// Returns what the model has seen.
    pub fn history(&self) -> Vec<ModelItem> {
        self.0.history()
    }

    /// Returns the running turn and its kind.
    pub fn active_turn(&self) -> Option<(TurnId, TurnKind)> {
        self.0.state().turns.active.as_ref().map(|turn| (turn.id.clone(), turn.kind))
    }

    /// Returns the tools that belong to this agent.
    pub fn toolbox(&self) -> &Toolbox {
        &self.0.toolbox
    }

    /// Returns the part of the agent that tools may use.
    pub fn for_tools(&self) -> &ToolAgent {
        &self.0.for_tools
    }

    /// Returns the value of a type that the agent keeps for its tools. It is created at the first call.
    pub fn extension<T: Any + Send + Sync + Default>(&self) -> Arc<T> {
        self.0.for_tools.extension()
    }

    /// Returns the processes that tools left running in the background.
    pub fn terminals(&self) -> &Terminals {
        self.0.for_tools.terminals()
    }

    /// Returns the recording of the agent.
    pub fn recording(&self) -> &AgentRecord {
        &self.0.record
    }

    /// Returns a receiver of counters, which change when a message arrives or the user steers a turn.
    pub fn attention(&self) -> watch::Receiver<Attention> {
        self.0.signals.attention()
    }

    /// Returns whether the mailbox has messages.
    pub fn has_mail(&self) -> bool {
        !self.0.state().mailbox.is_empty()
    }

    /// Returns the messages in the mailbox.
    pub fn open_mail(&self) -> Vec<Mail> {
        self.0.state().mailbox.list()
    }

    /// Sets the observer that is called with the result of each turn, after its last event. There is at most one.
    pub fn observe_turns(&self, observer: Arc<dyn Fn(&TurnReport) + Send + Sync>) {
        self.0.signals.observe_turns(observer);
    }

    /// Sets a function that is called first when the agent is shut down, while its turn is being interrupted. There is at most one.
    pub fn before_shutdown(&self, first: impl FnOnce() -> BoxFuture<'static, ()> + Send + 'static) {
        self.0.signals.before_shutdown(Box::new(first));
    }

    /// Returns a reference that does not keep the agent alive.
    pub fn downgrade(&self) -> WeakAgent {
        WeakAgent(Arc::downgrade(&self.0))
    }
}

impl fmt::Debug for Agent {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Agent").field(self.id()).finish()
    }
}
