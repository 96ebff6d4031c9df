//! What an agent holds that changes.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use trace_recorder::write::ThreadTrace;

use crate::event::{ThreadUsage, TurnKind};
use crate::history::History;
use crate::id::TurnId;
use crate::item::{Input, ModelItem, ToolOutput};
use crate::mail::{Mail, Wake};
use crate::settings::Settings;

/// Stands for the tokens of a history that a provider found too long: it is made shorter before it is sent again.
pub(crate) const CONTEXT_IS_FULL: u64 = u64::MAX;

/// What an agent holds that changes. Whoever locks it does nothing else meanwhile.
pub(crate) struct State {
    pub(crate) settings: Arc<Settings>,
    pub(crate) history: History,
    /// Ids of model items and calls that are in use: a model that repeats one gets another.
    pub(crate) used_ids: HashSet<String>,
    pub(crate) usage: ThreadUsage,
    /// Tokens that the newest request and its answer hold; nothing once the history was replaced.
    pub(crate) context_tokens: u64,
    pub(crate) turn: Option<ActiveTurn>,
    /// Is cancelled when all have heard what came of the newest turn that ended.
    pub(crate) reported: Option<CancellationToken>,
    /// Turns that begin when the one that runs has ended.
    pub(crate) planned: VecDeque<Plan>,
    pub(crate) mail: VecDeque<Arc<Mail>>,
    /// Items that join the history before the next request, or when the turn ends.
    pub(crate) notes: Vec<ModelItem>,
    /// Items that joined the history while no turn ran; the recording hears of them with the next turn.
    pub(crate) unrecorded: Vec<ModelItem>,
    pub(crate) trace: ThreadTrace,
    pub(crate) is_closed: bool,
    /// Turns do not begin: the history is being changed.
    pub(crate) is_held: bool,
}

/// A turn that runs.
pub(crate) struct ActiveTurn {
    pub(crate) id: TurnId,
    pub(crate) root_turn: TurnId,
    pub(crate) kind: TurnKind,
    /// What it works with from its next request on.
    pub(crate) settings: Arc<Settings>,
    /// What waits for the next request.
    pub(crate) inputs: VecDeque<UserInput>,
    /// How many commands of the user run beside the model.
    pub(crate) commands: usize,
    /// Tells that one of them ended.
    pub(crate) command_ended: Arc<Notify>,
    pub(crate) cancelled: CancellationToken,
    pub(crate) ended: CancellationToken,
    /// It does not look at input any more.
    pub(crate) is_closing: bool,
}

/// Something that a user said.
#[derive(Debug, Clone)]
pub(crate) struct UserInput {
    pub(crate) content: Vec<Input>,
    pub(crate) client_id: Option<String>,
    /// What another program says, in the place of a message.
    pub(crate) output: Option<ToolOutput>,
}

/// A turn before it begins.
pub(crate) struct Plan {
    pub(crate) id: TurnId,
    pub(crate) root_turn: TurnId,
    pub(crate) work: Work,
}

impl Plan {
    pub(crate) fn new(work: Work, root_turn: Option<TurnId>) -> Self {
        let id = TurnId::new();
        Self { root_turn: root_turn.unwrap_or_else(|| id.clone()), id, work }
    }
}

/// What a turn does.
pub(crate) enum Work {
    /// Works for the user, or on mail.
    Regular { inputs: VecDeque<UserInput>, output_schema: Option<Value>, service_tier: Option<String> },
    /// Makes the history shorter.
    Compact,
    /// Reviews changes.
    Review { instructions: String, shown: String },
    /// Runs a command of the user.
    UserShell { command: String, timeout: Option<Duration> },
}

impl Work {
    /// Returns the work that mail makes.
    pub(crate) fn for_mail() -> Self {
        Self::Regular { inputs: VecDeque::new(), output_schema: None, service_tier: None }
    }

    pub(crate) fn kind(&self) -> TurnKind {
        match self {
            Self::Regular { .. } => TurnKind::Regular,
            Self::Compact => TurnKind::Compact,
            Self::Review { .. } => TurnKind::Review,
            Self::UserShell { .. } => TurnKind::UserShell,
        }
    }
}

impl State {
    pub(crate) fn new(settings: Settings, history: History, usage: ThreadUsage) -> Self {
        let used_ids = history.items().iter().flat_map(|item| ids(item)).collect();
        Self {
            settings: Arc::new(settings),
            history,
            used_ids,
            usage,
            context_tokens: usage.last.total,
            turn: None,
            reported: None,
            planned: VecDeque::new(),
            mail: VecDeque::new(),
            notes: Vec::new(),
            unrecorded: Vec::new(),
            trace: ThreadTrace::disabled(),
            is_closed: false,
            is_held: false,
        }
    }

    /// Says whether mail waits that an agent must not end its turn before.
    pub(crate) fn has_urgent_mail(&self) -> bool {
        self.mail.iter().any(|mail| mail.wake == Wake::Agent)
    }

    /// Returns the turn that follows one that ends: the first that was planned, or one for mail that wants to be read.
    pub(crate) fn following(&mut self) -> Option<Plan> {
        if self.is_closed {
            return None;
        }
        self.planned.pop_front().or_else(|| {
            let mail = self.mail.iter().find(|mail| mail.wake == Wake::Agent)?;
            Some(Plan::new(Work::for_mail(), mail.root_turn.clone()))
        })
    }
}

/// Returns the ids that an item takes.
pub(crate) fn ids(item: &Value) -> impl Iterator<Item = String> {
    let is_output = item.get("type").and_then(Value::as_str).is_some_and(|kind| kind.ends_with("_output"));
    let call_id = if is_output { None } else { item.get("call_id") };
    item.get("id").into_iter().chain(call_id).filter_map(Value::as_str).map(str::to_owned)
}
