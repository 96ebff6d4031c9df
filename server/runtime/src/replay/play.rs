//! A replay: what a runtime needs to replay a bundle, and what the user has to do for it.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use serde_json::Value;
use trace_recorder::Bundle;

use super::choices::{OnDivergence, ReplayTools};
use super::compare::{Folders, Rules};
use super::own_tools::OwnTools;
use super::paced::ReplayPace;
use super::provider::ReplayProvider;
use super::report::ThreadReport;
use super::session::{
    AgentTrack, FirstTurn, ROOT, RecordedSession, RecordedSettings, ReplayError, RequestKind, Step, StepKind,
    StepSettings,
};
use super::state::{ReplayState, is_stopped, messages};
use super::tools::ReplayTool;
use super::user_messages;
use crate::instructions;
use crate::pace::Pace;
use crate::provider::Provider;
use crate::tool::{Tool, ToolFamily};
use crate::tree::TreeLimits;

/// Options of a replay.
#[derive(Debug, Clone, Default)]
pub struct ReplayOptions {
    /// The turn of the root agent that the replay starts with. `None` means the first turn.
    pub from: Option<FirstTurn>,
    /// Where outputs of tools come from.
    pub tools: ReplayTools,
    /// What happens after a divergence.
    pub on_divergence: OnDivergence,
}

/// A bundle that is replayed. Clones refer to the same replay.
#[derive(Debug, Clone)]
pub struct Replay {
    state: Arc<ReplayState>,
    first_turn: usize,
    tools: ReplayTools,
}

impl Replay {
    /// Opens a bundle for a replay.
    ///
    /// # Errors
    ///
    /// Returns an error if the bundle cannot be read, has nothing to replay, or does not have the turn `options.from`.
    pub fn open(path: &Path, options: &ReplayOptions) -> Result<Self, ReplayError> {
        Self::of(Bundle::open(path)?, options)
    }

    /// Replays a bundle that is open, such as that of an imported session.
    ///
    /// # Errors
    ///
    /// Returns an error if the bundle cannot be read, has nothing to replay, or does not have the turn `options.from`.
    pub fn of(bundle: Bundle, options: &ReplayOptions) -> Result<Self, ReplayError> {
        let session = RecordedSession::read_from(bundle)?;
        let turns = session.track(ROOT).map_or(&[][..], |(_, root)| &root.turns);
        let no_such = |asked: String| ReplayError::NoSuchTurn { asked, count: turns.len() };
        let first_turn = match &options.from {
            None => 0,
            Some(FirstTurn::Number(number)) => {
                number.checked_sub(1).filter(|at| *at < turns.len()).ok_or_else(|| no_such(number.to_string()))?
            }
            Some(FirstTurn::Id(id)) => {
                turns.iter().position(|turn| turn.id == *id).ok_or_else(|| no_such(id.clone()))?
            }
        };
        let rules = Rules { only_conversation: session.is_foreign, folders: None };
        let state = ReplayState::new(session, rules, options.on_divergence, first_turn);
        Ok(Self { state: Arc::new(state), first_turn, tools: options.tools })
    }

    /// Returns the provider that answers from the recording.
    pub fn provider(&self) -> Arc<dyn Provider> {
        Arc::new(ReplayProvider { state: Arc::clone(&self.state) })
    }

    /// Returns the tools that intercept calls of `all`, the tools of agents.
    pub fn first_tools(&self, all: &[Arc<dyn Tool>]) -> Vec<Arc<dyn Tool>> {
        if self.tools == ReplayTools::Recorded {
            let _ = self.state.own_tools.set(OwnTools::new(all));
        }
        let agents = all.iter().filter(|tool| tool.family() == ToolFamily::Agents).cloned().collect();
        vec![Arc::new(ReplayTool { state: Arc::clone(&self.state), agents, all: all.to_vec(), tools: self.tools })]
    }

    /// Returns the [`Pace`] that keeps agents in the recorded order.
    pub fn pace(&self) -> Arc<dyn Pace> {
        Arc::new(ReplayPace { state: Arc::clone(&self.state) })
    }

    /// Treats the working folder of the replay as equal to the recorded one.
    pub fn work_in(&self, folder: &Path) {
        let recorded = self.settings().cwd.filter(|recorded| recorded != folder);
        let folders = recorded
            .map(|recorded| Folders { then: recorded.display().to_string(), now: folder.display().to_string() });
        self.state.rules().folders = folders;
    }

    /// Returns whether another program recorded the bundle, so that only the conversation is compared.
    pub fn compares_only_the_conversation(&self) -> bool {
        self.state.session.is_foreign
    }

    /// Returns the settings of the root agent.
    pub fn settings(&self) -> RecordedSettings {
        let session = &self.state.session;
        let metadata = |name: &str| session.metadata.get(name).filter(|value| !value.is_null()).cloned();
        let first = self.root().turns[self.first_turn..].iter().find_map(|turn| turn.exchanges.first());
        let request = first.and_then(|exchange| session.request(exchange).ok()).unwrap_or_default();
        let own = |_: &()| !session.is_foreign;
        RecordedSettings {
            model: first.map(|exchange| exchange.model.clone()),
            cwd: metadata("cwd").and_then(|cwd| cwd.as_str().map(Into::into)),
            approval: metadata("approval_policy"),
            sandbox: metadata("sandbox_policy"),
            instructions: text(&request, "/instructions"),
            developer_instructions: Some(()).filter(own).and_then(|()| instructions::developer_of(&request)),
        }
    }

    /// Returns the limits of the tree of agents. If another program recorded the bundle and no tool runs live, the tree may
    /// grow as large as the recorded one.
    pub fn limits(&self, own: TreeLimits) -> TreeLimits {
        let tracks = &self.state.session.tracks;
        if !self.state.session.is_foreign || self.tools == ReplayTools::Live {
            return own;
        }
        let depth = |path: &str| u32::try_from(path.matches('/').count()).unwrap_or(u32::MAX).saturating_sub(1);
        let deepest = tracks.iter().map(|track| depth(&track.path)).max().unwrap_or_default();
        TreeLimits {
            max_threads: own.max_threads.max(tracks.len()),
            // One level more than recorded: an agent without the tools for other agents could not replay its messages.
            max_depth: own.max_depth.max(deepest + 1),
        }
    }

    /// Makes the replay repeat what the user did while turns ran. Returns the steps that the caller does to start the
    /// turns.
    ///
    /// # Errors
    ///
    /// Returns an error if a request with messages of the user is missing or incomplete.
    pub fn play_user(&self) -> Result<Vec<Step>, ReplayError> {
        let state = &self.state;
        let turns = &self.root().turns;
        let mut earlier = state.before(self.first_turn)?;
        let mut steps = Vec::new();
        // Turns that were interrupted since the last request.
        let mut stopped: Vec<usize> = Vec::new();
        for (at, turn) in turns.iter().enumerate().skip(self.first_turn) {
            let Some(first) = turn.exchanges.first() else {
                // A command or a review leaves no note about an interrupt.
                stopped.extend((is_stopped(turn) && !turn.is_aside).then_some(at));
                continue;
            };
            let request = state.session.request(first)?;
            let mut said = user_messages::new_between_stops(&earlier, &request);
            let mut own = said.pop().unwrap_or_default();
            let mut begun = Vec::new();
            // The last note belongs to the turn that was interrupted last.
            for at in stopped.drain(..).rev() {
                let words = messages(&request, &said.pop().unwrap_or_default());
                let turn = &turns[at];
                if !turn.exchanges.is_empty() {
                    state.store_user_messages(at, turn.exchanges.len(), words);
                } else if let Some((_, more)) = words.split_first() {
                    state.store_user_messages(at, 0, more.to_vec());
                    begun.push(self.step(at, StepKind::Say(words), &request));
                }
            }
            steps.extend(begun.into_iter().rev());
            own.splice(0..0, said.concat());
            if state.is_replaced(state.root_place(at))? && !own.is_empty() {
                // The first new one is the summary that replaced the history.
                own.remove(0);
            }
            let is_alone = state.session.is_foreign && turn.installs_compaction && turn.exchanges.len() == 1;
            let asks = user_messages::asks_for_summary(&request) || first.kind == RequestKind::Compaction;
            let words = messages(&request, &own);
            let kind = match words.split_first() {
                _ if is_alone || (own.is_empty() && asks) => StepKind::Compact,
                None => StepKind::ByItself,
                Some((_, more)) => {
                    state.store_user_messages(at, 0, more.to_vec());
                    StepKind::Say(words)
                }
            };
            steps.push(self.step(at, kind, &request));
            earlier = state.session.seen(turn, turn.exchanges.len())?;
            stopped.extend(is_stopped(turn).then_some(at));
        }
        // If no request followed, the messages of the user in a turn that was interrupted before its first request are
        // unknown.
        let begun: HashSet<usize> = steps.iter().map(|step| step.number - 1).collect();
        state.skip_turns((self.first_turn..turns.len()).filter(|at| !begun.contains(at)).collect());
        state.play_user();
        Ok(steps)
    }

    fn step(&self, at: usize, kind: StepKind, request: &Value) -> Step {
        let turn = &self.root().turns[at];
        let settings = StepSettings {
            model: text(request, "/model"),
            effort: text(request, "/reasoning/effort"),
            summary: text(request, "/reasoning/summary"),
            output_schema: request.pointer("/text/format/schema").cloned(),
        };
        Step { number: at + 1, turn: turn.id.clone(), kind, status: turn.ended.map(|(_, status)| status), settings }
    }

    /// Returns the conversation that the model had seen before the replay starts.
    ///
    /// # Errors
    ///
    /// Returns an error if a user did not start the first turn, or if its request is missing or incomplete.
    pub fn history(&self) -> Result<Vec<Value>, ReplayError> {
        let not_by_user = || ReplayError::NotByUser { number: self.first_turn + 1 };
        let mut turns = self.root().turns[self.first_turn..].iter();
        // The first request of a resumed session contains its history.
        let first = match self.first_turn {
            0 => turns.find_map(|turn| turn.exchanges.first()),
            _ => turns.next().and_then(|turn| turn.exchanges.first()),
        };
        let mut request = self.state.session.request(first.ok_or_else(not_by_user)?)?;
        if self.first_turn == 0 && user_messages::carried(&request) == 0 {
            return Ok(Vec::new());
        }
        let earlier = self.state.before(self.first_turn)?;
        let said = user_messages::new_messages(&earlier, &request);
        let asks = usize::from(user_messages::asks_for_summary(&request));
        let mut items = request.get_mut("input").and_then(Value::as_array_mut).map(std::mem::take).unwrap_or_default();
        match said.first() {
            Some(begin) => items.truncate(*begin),
            None if self.first_turn == 0 => items.truncate(items.len() - asks),
            None => return Err(not_by_user()),
        }
        Ok(items)
    }

    /// Waits until all recorded moments before a turn of the root agent have passed, so that the caller can start the turn.
    pub async fn before_turn(&self, step: &Step) {
        let at = step.number.saturating_sub(1);
        let Some(turn) = self.root().turns.get(at) else { return };
        let first = turn.exchanges.first().map(|exchange| exchange.seq).or(turn.ended.map(|(seq, _)| seq));
        if let Some(seq) = first {
            self.state.reach_unseen(seq).await;
        }
        self.state.expect(at);
    }

    /// Waits until all agents are idle: all recorded moments have passed, or the replay is stuck.
    pub async fn rest(&self) {
        self.state.rest().await;
    }

    /// Releases all tasks that wait for recorded moments. A server must call this before it shuts down.
    pub fn end(&self) {
        self.state.order.give_up();
    }

    /// Returns whether there was a divergence.
    pub fn has_diverged(&self) -> bool {
        self.state.has_diverged()
    }

    /// Returns the live turn for the recorded turn of a step, if it has started.
    pub fn live_turn(&self, step: &Step) -> Option<String> {
        self.state.live_turn(step.number.checked_sub(1)?)
    }

    /// Returns whether a divergence has stopped the replay.
    pub fn stops(&self) -> bool {
        self.state.on_divergence == OnDivergence::Stop && self.state.has_diverged()
    }

    /// Compares the agents with the recording, in the order in which they were recorded. Recorded requests that were not
    /// made yet count as missing.
    pub fn reports(&self) -> Vec<ThreadReport> {
        self.state.reports()
    }

    fn root(&self) -> &AgentTrack {
        // `RecordedSession::read_from` rejects bundles without it.
        self.state.session.track(ROOT).expect("a session has a first agent").1
    }
}

fn text(value: &Value, pointer: &str) -> Option<String> {
    value.pointer(pointer)?.as_str().map(str::to_owned)
}
