//! Where a replay stands: which recorded request is the next of each agent, and what has diverged.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use tokio::sync::{mpsc, oneshot};
use trace_recorder::format::ExecutionStatus;

use super::compare::Rules;
use super::glance;
use super::order::Order;
use super::play::OnDivergence;
use super::report::{Divergence, ThreadReport};
use super::tape::{Exchange, ExchangeEnd, ROOT, ReplayError, RequestKind, Tape, TapeCall, TapeTurn};
use crate::event::ErrorKind;
use crate::provider::{Again, Origin, ProviderError, Request};
use crate::tool::ToolCall;

/// Most divergences of agents that the recording does not have which are kept.
const MAX_STRANGERS: usize = 100;

/// Something that the user did in the recording while a turn ran.
#[derive(Debug)]
pub struct Cue {
    /// What the user did.
    pub kind: CueKind,
    /// Is told when it is done; dropping it says the same.
    pub done: oneshot::Sender<()>,
}

/// What the user did.
#[derive(Debug, Clone, PartialEq)]
pub enum CueKind {
    /// Said more: messages, each a list of content parts in the words of the Responses API.
    Steer(Vec<Vec<Value>>),
    /// Interrupted the turn.
    Interrupt,
}

/// What is played, and how far.
#[derive(Debug)]
pub(super) struct Stage {
    pub(super) tape: Tape,
    pub(super) rules: Mutex<Rules>,
    pub(super) on_divergence: OnDivergence,
    pub(super) order: Order,
    /// Sequence number from which on the recording is played.
    pub(super) from: u64,
    pub(super) positions: Mutex<Positions>,
    pub(super) cues: Mutex<Option<mpsc::Sender<Cue>>>,
}

#[derive(Debug, Default)]
pub(super) struct Positions {
    tracks: Vec<Position>,
    /// Agents that the recording does not have.
    strangers: Vec<Divergence>,
}

/// How far the agents of a path are.
#[derive(Debug, Default)]
struct Position {
    next_turn: usize,
    /// Which recorded turn a live one is.
    turns: HashMap<String, usize>,
    /// How many requests of a recorded turn were made.
    asked: HashMap<usize, usize>,
    /// Calls that were made: turn and call.
    called: HashSet<(usize, usize)>,
    same: usize,
    divergence: Option<Divergence>,
}

/// A recorded request: track, turn and number.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    pub(super) track: usize,
    pub(super) turn: usize,
    pub(super) exchange: usize,
}

/// What answers a request.
#[derive(Debug)]
pub(super) enum Opened {
    /// A recorded answer.
    Recorded(Place),
    /// The turn was interrupted before it asked again.
    Interrupted(Place),
}

impl Stage {
    pub(super) fn new(tape: Tape, rules: Rules, on_divergence: OnDivergence, first_turn: usize) -> Self {
        let from = tape.track(ROOT).map_or(0, |(_, root)| root.turns.get(first_turn).map_or(0, |turn| turn.started));
        let mut points = Vec::new();
        let mut tracks = Vec::new();
        for track in &tape.tracks {
            let next_turn = track.turns.iter().take_while(|turn| turn.started < from).count();
            tracks.push(Position { next_turn, ..Position::default() });
            // What agents do that are older than the replay does not happen again.
            if track.path == ROOT || track.started >= from {
                points.extend(track.turns[next_turn..].iter().flat_map(points_of));
            }
        }
        Self {
            tape,
            rules: Mutex::new(rules),
            on_divergence,
            order: Order::new(points),
            from,
            positions: Mutex::new(Positions { tracks, strangers: Vec::new() }),
            cues: Mutex::new(None),
        }
    }

    pub(super) fn turn(&self, place: Place) -> &TapeTurn {
        &self.tape.tracks[place.track].turns[place.turn]
    }

    pub(super) fn exchange(&self, place: Place) -> &Exchange {
        &self.turn(place).exchanges[place.exchange]
    }

    fn positions(&self) -> MutexGuard<'_, Positions> {
        self.positions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns what the next request of a turn is in the recording, without asking it.
    pub(super) fn next_kind(&self, origin: &Origin) -> Option<RequestKind> {
        let (number, track) = self.tape.track(&origin.path)?;
        let positions = self.positions();
        let position = &positions.tracks[number];
        let turn = match position.turns.get(&origin.turn) {
            Some(turn) => *turn,
            None => next_with_requests(&track.turns, position.next_turn)?,
        };
        let asked = position.asked.get(&turn).copied().unwrap_or_default();
        Some(track.turns.get(turn)?.exchanges.get(asked)?.kind)
    }

    /// Finds what answers a request, and holds the request against the recorded one.
    pub(super) fn open(&self, request: &Request, kind: RequestKind) -> Result<Opened, ProviderError> {
        let origin = &request.origin;
        let place = self.find(origin, kind)?;
        let Opened::Recorded(place) = place else { return Ok(place) };
        let exchange = self.exchange(place);
        self.order.pass(exchange.seq);
        let is_compared = self.positions().tracks[place.track].divergence.is_none();
        if is_compared {
            let recorded = self.tape.request(exchange).map_err(|error| broken(&error))?;
            let rules = self.rules.lock().unwrap_or_else(PoisonError::into_inner);
            let difference = rules.difference(&recorded, request.body.value());
            drop(rules);
            match difference {
                None => self.positions().tracks[place.track].same += 1,
                Some(difference) => {
                    let message = "the request is not the recorded one".to_owned();
                    let mut divergence = self.divergence(place, difference.place, message);
                    divergence.request = Some(place.exchange + 1);
                    divergence.diff = Some(difference.diff);
                    self.diverge(place.track, divergence)?;
                }
            }
        }
        Ok(Opened::Recorded(place))
    }

    fn find(&self, origin: &Origin, kind: RequestKind) -> Result<Opened, ProviderError> {
        let Some((number, track)) = self.tape.track(&origin.path) else { return Err(self.stranger(origin)) };
        let mut positions = self.positions();
        let position = &mut positions.tracks[number];
        let turn = match position.turns.get(&origin.turn) {
            Some(turn) => *turn,
            None => {
                let Some(turn) = next_with_requests(&track.turns, position.next_turn) else {
                    drop(positions);
                    let place = Place { track: number, turn: track.turns.len().saturating_sub(1), exchange: 0 };
                    let message = "the recording has no further turn of this agent".to_owned();
                    return Err(self.at_a_loss(place, "turn", message));
                };
                position.turns.insert(origin.turn.clone(), turn);
                position.next_turn = turn + 1;
                turn
            }
        };
        let asked = position.asked.entry(turn).or_default();
        let place = Place { track: number, turn, exchange: *asked };
        match track.turns[turn].exchanges.get(place.exchange) {
            Some(exchange) if exchange.kind == kind => {
                *asked += 1;
                Ok(Opened::Recorded(place))
            }
            Some(_) => {
                drop(positions);
                let message = "an answer and a shorter history are not asked for in the recorded order".to_owned();
                Err(self.at_a_loss(place, "request", message))
            }
            None => {
                drop(positions);
                if is_stopped(&track.turns[turn]) {
                    return Ok(Opened::Interrupted(place));
                }
                let message = format!("the recorded turn has {} requests, and asks for no more", place.exchange);
                Err(self.at_a_loss(place, "request", message))
            }
        }
    }

    /// Keeps a divergence after which there is nothing to answer with.
    fn at_a_loss(&self, place: Place, what: &str, message: String) -> ProviderError {
        let mut divergence = self.divergence(place, what.to_owned(), message);
        divergence.request = Some(place.exchange + 1);
        let error = error_of(&divergence);
        let _ = self.diverge(place.track, divergence);
        error
    }

    fn stranger(&self, origin: &Origin) -> ProviderError {
        let divergence = Divergence {
            agent: origin.path.clone(),
            turn: None,
            turn_id: None,
            request: None,
            place: "agent".to_owned(),
            message: "the recording has no such agent".to_owned(),
            diff: None,
        };
        self.order.give_up();
        let error = error_of(&divergence);
        let mut positions = self.positions();
        let is_known = positions.strangers.iter().any(|known| known.agent == divergence.agent);
        if !is_known && positions.strangers.len() < MAX_STRANGERS {
            positions.strangers.push(divergence);
        }
        error
    }

    pub(super) fn divergence(&self, place: Place, what: String, message: String) -> Divergence {
        let track = &self.tape.tracks[place.track];
        Divergence {
            agent: track.path.clone(),
            turn: Some(place.turn + 1),
            turn_id: track.turns.get(place.turn).map(|turn| turn.id.clone()),
            request: None,
            place: what,
            message,
            diff: None,
        }
    }

    /// Keeps a divergence, if it is the first of its agents. An error if the replay is to stop there.
    pub(super) fn diverge(&self, track: usize, divergence: Divergence) -> Result<(), ProviderError> {
        tracing::warn!("{divergence}");
        self.order.give_up();
        let error = error_of(&divergence);
        self.positions().tracks[track].divergence.get_or_insert(divergence);
        match self.on_divergence {
            OnDivergence::Stop => Err(error),
            OnDivergence::Continue => Ok(()),
        }
    }

    /// Finds the recorded call that a live one is: by its id, else by its name.
    pub(super) fn call(&self, paths: &[&str], turn: &str, call: &ToolCall) -> Option<(Place, &TapeCall)> {
        for path in paths {
            let Some((number, track)) = self.tape.track(path) else { continue };
            let mut positions = self.positions();
            let position = &mut positions.tracks[number];
            let Some(&turn) = position.turns.get(turn) else { continue };
            let calls = &track.turns[turn].calls;
            let free = |at: &usize| !position.called.contains(&(turn, *at));
            let by_id = (0..calls.len()).filter(free).find(|at| calls[*at].id == call.id.as_str());
            let name = |at: &usize| {
                let label = &calls[*at].description.label;
                label == &call.name || label.rsplit('.').next() == Some(&call.name)
            };
            let Some(at) = by_id.or_else(|| (0..calls.len()).filter(free).find(name)) else { continue };
            position.called.insert((turn, at));
            let exchange = position.asked.get(&turn).copied().unwrap_or_default().saturating_sub(1);
            return Some((Place { track: number, turn, exchange }, &calls[at]));
        }
        None
    }

    /// Returns where the agents of a path are in a live turn: its newest request.
    pub(super) fn place(&self, path: &str, turn: &str) -> Option<Place> {
        let (track, _) = self.tape.track(path)?;
        let positions = self.positions();
        let position = &positions.tracks[track];
        let turn = *position.turns.get(turn)?;
        let exchange = position.asked.get(&turn).copied().unwrap_or_default().saturating_sub(1);
        Some(Place { track, turn, exchange })
    }

    /// Returns what the user said between a request and the next one of its turn.
    pub(super) fn steered_after(&self, place: Place) -> Result<Vec<Vec<Value>>, ReplayError> {
        let Some(next) = self.turn(place).exchanges.get(place.exchange + 1) else { return Ok(Vec::new()) };
        let earlier = self.tape.request(self.exchange(place))?;
        let request = self.tape.request(next)?;
        Ok(messages(&request, &glance::new_messages(Some(&earlier), &request)))
    }

    /// Tells whoever plays the user what the user did, and waits until it is done.
    pub(super) async fn cue(&self, kind: CueKind) {
        let cues = self.cues.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let Some(cues) = cues else { return };
        let (done, is_done) = oneshot::channel();
        if cues.send(Cue { kind, done }).await.is_ok() {
            // Whoever drops it has done what it could.
            let _ = is_done.await;
        }
    }

    /// Tells whether anything has diverged.
    pub(super) fn has_diverged(&self) -> bool {
        let positions = self.positions();
        !positions.strangers.is_empty() || positions.tracks.iter().any(|position| position.divergence.is_some())
    }

    /// Hears that a live turn ended.
    pub(super) fn turn_ended(&self, path: &str, turn: &str) {
        let Some((number, track)) = self.tape.track(path) else { return };
        let Some(&turn) = self.positions().tracks[number].turns.get(turn) else { return };
        if let Some((seq, _)) = track.turns[turn].ended {
            self.order.pass(seq);
        }
    }

    /// Returns how far each agent is, and what has diverged. What was not asked until now counts as missing.
    pub(super) fn reports(&self) -> Vec<ThreadReport> {
        let positions = self.positions();
        let mut reports = Vec::new();
        for (number, (track, position)) in self.tape.tracks.iter().zip(&positions.tracks).enumerate() {
            let turns = track.turns.iter().enumerate().filter(|(_, turn)| turn.started >= self.from);
            let recorded_requests = turns.clone().map(|(_, turn)| turn.exchanges.len()).sum();
            let is_older = track.path != ROOT && track.started < self.from;
            if recorded_requests == 0 || (is_older && position.turns.is_empty()) {
                continue;
            }
            let missing = turns.clone().find_map(|(at, turn)| {
                let asked = position.asked.get(&at).copied().unwrap_or_default();
                (asked < turn.exchanges.len()).then_some(Place { track: number, turn: at, exchange: asked })
            });
            let missing = missing.map(|place| {
                let message = "the recorded request was not made".to_owned();
                let mut divergence = self.divergence(place, "request".to_owned(), message);
                divergence.request = Some(place.exchange + 1);
                divergence
            });
            let divergence = position.divergence.clone().or(missing);
            let same_requests = position.same;
            reports.push(ThreadReport { agent: track.path.clone(), recorded_requests, same_requests, divergence });
        }
        reports.extend(positions.strangers.iter().map(|divergence| ThreadReport {
            agent: divergence.agent.clone(),
            recorded_requests: 0,
            same_requests: 0,
            divergence: Some(divergence.clone()),
        }));
        reports
    }
}

/// Returns the messages of the user at these places of a request.
pub(super) fn messages(request: &Value, places: &[usize]) -> Vec<Vec<Value>> {
    let content = |place: &usize| request.get("input")?.get(place)?.get("content")?.as_array().cloned();
    places.iter().filter_map(content).collect()
}

/// Tells whether somebody stopped the turn.
pub(super) fn is_stopped(turn: &TapeTurn) -> bool {
    matches!(turn.ended, Some((_, ExecutionStatus::Cancelled | ExecutionStatus::Aborted)))
}

fn next_with_requests(turns: &[TapeTurn], from: usize) -> Option<usize> {
    (from..turns.len()).find(|turn| !turns[*turn].exchanges.is_empty())
}

/// Returns the points of a turn at which agents act on each other.
fn points_of(turn: &TapeTurn) -> impl Iterator<Item = u64> {
    let asks = turn.exchanges.iter().map(|exchange| exchange.seq);
    let answers = turn.exchanges.iter().filter_map(|exchange| Some(exchange.end.as_ref()?.0));
    let calls = turn.calls.iter().filter(|call| reaches_others(call)).filter_map(|call| Some(call.end.as_ref()?.0));
    let is_played = !turn.exchanges.is_empty();
    let ends = turn.ended.iter().map(|(seq, _)| *seq);
    asks.chain(answers).chain(calls).chain(ends).filter(move |_| is_played)
}

/// Tells whether other agents notice a call.
pub(super) fn reaches_others(call: &TapeCall) -> bool {
    let kind = call.description.kind.as_str();
    matches!(kind, "spawn_agent" | "assign_agent_task" | "send_message" | "close_agent")
        && matches!(call.end, Some((_, ExecutionStatus::Completed, _)))
}

/// Tells whether an answer fails and is asked for again.
pub(super) fn is_asked_again(turn: &TapeTurn, exchange: usize) -> bool {
    matches!(turn.exchanges[exchange].end, Some((_, ExchangeEnd::Failed { .. }))) && exchange + 1 < turn.exchanges.len()
}

/// Returns the error of a divergence.
pub(super) fn error_of(divergence: &Divergence) -> ProviderError {
    useless(divergence.to_string(), divergence.diff.clone())
}

/// Returns the error of a bundle that cannot be played.
pub(super) fn broken(error: &ReplayError) -> ProviderError {
    useless(error.to_string(), None)
}

pub(super) fn useless(message: String, details: Option<String>) -> ProviderError {
    ProviderError { message, details, kind: ErrorKind::Other, again: Again::Useless, request_id: None }
}
