//! The handle of an agent: who it is, and what it holds.
//!
//! What may be asked of an agent is in [`control`](crate::control).

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

/// One thread of a conversation: its settings, what the model has seen, and at most one turn that runs. Clones are the same
/// agent.
#[derive(Clone)]
pub struct Agent(Arc<AgentCore>);

/// An agent that may be gone.
#[derive(Clone)]
pub struct WeakAgent(Weak<AgentCore>);

impl WeakAgent {
    /// Returns the agent, if somebody has it still.
    pub fn upgrade(&self) -> Option<Agent> {
        self.0.upgrade().map(Agent)
    }
}

impl fmt::Debug for WeakAgent {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("WeakAgent").finish_non_exhaustive()
    }
}

/// An agent that begins, or goes on.
pub struct NewAgent {
    /// Id of its thread.
    pub id: ThreadId,
    /// What it works with.
    pub settings: Settings,
    /// What its model has seen already.
    pub history: Vec<ModelItem>,
    /// Messages of other agents that came already, and that its model has not seen. They wait for the next turn: none of them
    /// begins one any more.
    pub mail: Vec<Mail>,
    /// Tokens that it has used already.
    pub usage: ThreadUsage,
    /// Tools of the client, in the protocol's words. None of them is offered if one is wrong: whoever takes them from a client
    /// asks [`dynamic::tools`](crate::tool::dynamic::tools) first.
    pub dynamic_tools: Vec<Value>,
    /// Tools that only this agent has.
    pub tools: Vec<Arc<dyn Tool>>,
    /// Tool families that this agent may not use.
    pub without: Vec<ToolFamily>,
    /// Whether its session is recorded.
    pub recorded: RecordingTarget,
    /// Who started it, for the description in the recording: `vscode`, `exec`.
    pub source: Option<String>,
    /// Who its parent is, if an agent started it.
    pub lineage: Option<Lineage>,
}

impl NewAgent {
    /// Returns an agent that has seen nothing yet, at the root of a tree of its own.
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
    /// In the bundle of the agent that started it.
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

    /// Returns where the agent stands in the tree of agents, such as `/root/docs`.
    pub fn path(&self) -> &str {
        &self.0.identity.path
    }

    /// Returns where the agent stands, if another agent started it.
    pub fn lineage(&self) -> Option<&Lineage> {
        self.0.identity.lineage.as_ref()
    }

    /// Returns the agent that started this one.
    pub fn parent(&self) -> Option<&ThreadId> {
        self.0.identity.parent()
    }

    /// Returns the agent at the root of the tree; that may be this one.
    pub fn root(&self) -> &ThreadId {
        self.0.identity.root()
    }

    /// Returns how many agents are above this one.
    pub fn depth(&self) -> u32 {
        self.0.identity.depth()
    }

    /// Returns the settings for turns that begin from now on.
    pub fn settings(&self) -> Arc<Settings> {
        self.0.settings()
    }

    /// Returns what the model has seen.
    pub fn history(&self) -> Vec<ModelItem> {
        self.0.history()
    }

    /// Returns the turn that runs.
    pub fn active_turn(&self) -> Option<(TurnId, TurnKind)> {
        self.0.state().turns.active.as_ref().map(|turn| (turn.id.clone(), turn.kind))
    }

    /// Returns the tools that belong to this agent.
    pub fn toolbox(&self) -> &Toolbox {
        &self.0.toolbox
    }

    /// Returns what a tool may use of the agent.
    pub fn for_tools(&self) -> &ToolAgent {
        &self.0.for_tools
    }

    /// Returns the one value of a type that the agent keeps for its tools, made when it is first asked for.
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

    /// Returns what tells that mail came or that the user said something while a turn ran.
    pub fn attention(&self) -> watch::Receiver<Attention> {
        self.0.signals.attention()
    }

    /// Says whether mail waits for the model.
    pub fn has_mail(&self) -> bool {
        !self.0.state().mailbox.is_empty()
    }

    /// Returns the mail that the model has not seen.
    pub fn open_mail(&self) -> Vec<Mail> {
        self.0.state().mailbox.list()
    }

    /// Sets who hears what comes of the turns, after their last event. There is one at most.
    pub fn observe_turns(&self, observer: Arc<dyn Fn(&TurnReport) + Send + Sync>) {
        self.0.signals.observe_turns(observer);
    }

    /// Sets what is done first when the agent is shut down, while its turn is being stopped. There is one at most.
    pub fn before_shutdown(&self, first: impl FnOnce() -> BoxFuture<'static, ()> + Send + 'static) {
        self.0.signals.before_shutdown(Box::new(first));
    }

    /// Returns what does not keep the agent.
    pub fn downgrade(&self) -> WeakAgent {
        WeakAgent(Arc::downgrade(&self.0))
    }
}

impl fmt::Debug for Agent {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Agent").field(self.id()).finish()
    }
}
