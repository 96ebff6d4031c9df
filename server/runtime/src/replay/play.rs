//! A replay: what a runtime needs to play a bundle, and what the user has to do for it.

use std::path::Path;
use std::sync::{Arc, PoisonError};

use serde_json::Value;
use tokio::sync::mpsc;

use super::compare::Rules;
use super::glance;
use super::provider::Recorded;
use super::report::ThreadReport;
use super::stage::{Cue, Stage, messages};
use super::tape::{FirstTurn, ROOT, ReplayError, RequestKind, Step, StepKind, Tape, TapeSettings, Track};
use super::tools::Played;
use crate::compaction::ASK_FOR_SUMMARY;
use crate::provider::Provider;
use crate::runtime::TurnEnd;
use crate::tool::{Tool, ToolFamily};

/// Most cues that wait for whoever plays the user.
const CUES_MAX: usize = 16;

/// How a bundle is played.
#[derive(Debug, Clone, Default)]
pub struct ReplayOptions {
    /// The turn of the first agent that the replay begins with; the first if nothing is said.
    pub from: Option<FirstTurn>,
    /// Where answers of tools come from.
    pub tools: ReplayTools,
    /// What a divergence does.
    pub on_divergence: OnDivergence,
}

/// Where answers of tools come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ReplayTools {
    /// The recording; the tools for other agents work all the same.
    #[default]
    Recorded,
    /// The tools.
    Live,
}

/// What a divergence does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnDivergence {
    /// The turn in which it is fails.
    #[default]
    Stop,
    /// Recorded answers are played on, for as long as there are any.
    Continue,
}

/// A bundle that is played. Clones are the same replay.
#[derive(Debug, Clone)]
pub struct Replay {
    stage: Arc<Stage>,
    first_turn: usize,
    tools: ReplayTools,
}

impl Replay {
    /// Opens a bundle for a replay.
    ///
    /// # Errors
    ///
    /// It cannot be read, has nothing to play, or has no such turn.
    pub fn open(path: &Path, options: &ReplayOptions) -> Result<Self, ReplayError> {
        let tape = Tape::open(path)?;
        let turns = tape.track(ROOT).map_or(&[][..], |(_, root)| &root.turns);
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
        let rules = Rules { only_conversation: tape.is_foreign, folders: None };
        let stage = Stage::new(tape, rules, options.on_divergence, first_turn);
        Ok(Self { stage: Arc::new(stage), first_turn, tools: options.tools })
    }

    /// Returns the provider that answers out of the recording.
    pub fn provider(&self) -> Arc<dyn Provider> {
        Arc::new(Recorded { stage: Arc::clone(&self.stage) })
    }

    /// Returns what stands before all tools, `all` of those that agents have.
    pub fn first_tools(&self, all: &[Arc<dyn Tool>]) -> Vec<Arc<dyn Tool>> {
        let agents = all.iter().filter(|tool| tool.family() == ToolFamily::Agents).cloned().collect();
        vec![Arc::new(Played { stage: Arc::clone(&self.stage), agents, tools: self.tools })]
    }

    /// Returns what has to hear of turns that end.
    pub fn on_turn_end(&self) -> TurnEnd {
        let stage = Arc::clone(&self.stage);
        Arc::new(move |path, turn| stage.turn_ended(path, turn.as_str()))
    }

    /// Takes over the part of the user: what the user did in the recording while turns ran comes here. Without anybody who does,
    /// what was said later is left out, and interrupted turns wait for somebody who interrupts them.
    pub fn cues(&self) -> mpsc::Receiver<Cue> {
        let (sender, receiver) = mpsc::channel(CUES_MAX);
        *self.stage.cues.lock().unwrap_or_else(PoisonError::into_inner) = Some(sender);
        receiver
    }

    /// Counts the folder in which the replay works as equal to the recorded one.
    pub fn work_in(&self, folder: &Path) {
        let recorded = self.settings().cwd.filter(|recorded| recorded != folder);
        let folders = recorded.map(|recorded| (recorded.display().to_string(), folder.display().to_string()));
        self.stage.rules.lock().unwrap_or_else(PoisonError::into_inner).folders = folders;
    }

    /// Tells whether another program recorded the bundle, so that only the conversation is compared.
    pub fn compares_only_the_conversation(&self) -> bool {
        self.stage.tape.is_foreign
    }

    /// Returns what the first agent worked with.
    pub fn settings(&self) -> TapeSettings {
        let tape = &self.stage.tape;
        let metadata = |name: &str| tape.metadata.get(name).filter(|value| !value.is_null()).cloned();
        let first = self.root().turns[self.first_turn..].iter().find_map(|turn| turn.exchanges.first());
        let request = first.and_then(|exchange| tape.request(exchange).ok()).unwrap_or_default();
        let text = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
        let reasoning = |name: &str| text(request.get("reasoning").and_then(|reasoning| reasoning.get(name)));
        TapeSettings {
            model: first.map(|exchange| exchange.model.clone()),
            cwd: metadata("cwd").and_then(|cwd| cwd.as_str().map(Into::into)),
            approval: metadata("approval_policy"),
            sandbox: metadata("sandbox_policy"),
            instructions: text(request.get("instructions")),
            effort: reasoning("effort"),
            summary: reasoning("summary"),
        }
    }

    /// Returns what the user does, turn by turn.
    ///
    /// # Errors
    ///
    /// A request that says it is missing or not whole.
    pub fn steps(&self) -> Result<Vec<Step>, ReplayError> {
        let tape = &self.stage.tape;
        let mut earlier = self.before(self.first_turn)?;
        let mut steps = Vec::new();
        for (at, turn) in self.root().turns.iter().enumerate().skip(self.first_turn) {
            let Some(first) = turn.exchanges.first() else { continue };
            let request = tape.request(first)?;
            let new = glance::new_messages(earlier.as_ref(), &request);
            let (said, asks) = split(&request, new);
            let is_alone = tape.is_foreign && turn.installs_compaction && turn.exchanges.len() == 1;
            let kind = if said.is_empty() && (asks || first.kind == RequestKind::Compaction) || is_alone {
                StepKind::Compact
            } else if said.is_empty() {
                StepKind::ByItself
            } else {
                StepKind::Say(messages(&request, &said))
            };
            steps.push(Step {
                number: at + 1,
                turn: turn.id.clone(),
                kind,
                status: turn.ended.map(|(_, status)| status),
            });
            earlier = turn.exchanges.last().map(|last| tape.request(last)).transpose()?;
        }
        Ok(steps)
    }

    /// Returns what the model had seen before the replay begins.
    ///
    /// # Errors
    ///
    /// The user did not begin the first turn, or its request is missing or not whole.
    pub fn history(&self) -> Result<Vec<Value>, ReplayError> {
        if self.first_turn == 0 {
            return Ok(Vec::new());
        }
        let not_by_user = || ReplayError::NotByUser { number: self.first_turn + 1 };
        let first = self.root().turns[self.first_turn].exchanges.first().ok_or_else(not_by_user)?;
        let mut request = self.stage.tape.request(first)?;
        let earlier = self.before(self.first_turn)?;
        let (said, _) = split(&request, glance::new_messages(earlier.as_ref(), &request));
        let begin = *said.first().ok_or_else(not_by_user)?;
        let mut items = request.get_mut("input").and_then(Value::as_array_mut).map(std::mem::take).unwrap_or_default();
        items.truncate(begin);
        Ok(items)
    }

    /// Waits until everything has happened that the recording has before a turn of the first agent.
    pub async fn before_turn(&self, step: &Step) {
        if let Some(turn) = self.root().turns.get(step.number.saturating_sub(1)) {
            self.stage.order.reach(turn.started).await;
        }
    }

    /// Tells whether a divergence has stopped the replay.
    pub fn stops(&self) -> bool {
        self.stage.on_divergence == OnDivergence::Stop && self.stage.has_diverged()
    }

    /// Returns how the agents compare with the recording, those that were recorded first come first. What was not asked until
    /// now counts as missing.
    pub fn reports(&self) -> Vec<ThreadReport> {
        self.stage.reports()
    }

    fn root(&self) -> &Track {
        // `Tape::open` refuses bundles without one.
        self.stage.tape.track(ROOT).expect("a tape has a first agent").1
    }

    /// Returns the last request before a turn.
    fn before(&self, turn: usize) -> Result<Option<Value>, ReplayError> {
        let last = self.root().turns[..turn].iter().rev().find_map(|turn| turn.exchanges.last());
        last.map(|last| self.stage.tape.request(last)).transpose()
    }
}

/// Tells messages of the user from the question for a summary, which the runtime puts in the user's place.
fn split(request: &Value, new: Vec<usize>) -> (Vec<usize>, bool) {
    let asks = |place: &usize| {
        let item = request.get("input").and_then(|items| items.get(*place));
        item.is_some_and(|item| glance::texts(item).first() == Some(&ASK_FOR_SUMMARY))
    };
    let before = new.len();
    let said: Vec<usize> = new.into_iter().filter(|place| !asks(place)).collect();
    let asks = said.len() < before;
    (said, asks)
}
