//! Where a replay stands: which recorded request is the next of each agent, and what has diverged.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use serde_json::{Value, json};
use trace_recorder::format::ExecutionStatus;

use super::choices::OnDivergence;
use super::compare::Rules;
use super::own_tools::OwnTools;
use super::report::{Divergence, ThreadReport};
use super::schedule::{Owner, Schedule, Stalled, Wait};
use super::tape::{Exchange, ExchangeEnd, ROOT, ReplayError, RequestKind, Tape, TapeCall, TapeTurn, Track};
use super::user_messages;
use crate::agent::{Agent, WeakAgent};
use crate::event::{ErrorKind, TurnOutcome};
use crate::id::TurnId;
use crate::item::Input;
use crate::provider::{Again, Origin, ProviderError};
use crate::tool::ToolCall;

/// Most divergences of agents that the recording does not have which are kept.
const MAX_STRANGERS: usize = 100;

/// What is played, and how far.
#[derive(Debug)]
pub(super) struct Stage {
    pub(super) tape: Tape,
    pub(super) rules: Mutex<Rules>,
    pub(super) on_divergence: OnDivergence,
    pub(super) order: Arc<Schedule>,
    /// Sequence number from which on the recording is played.
    from: u64,
    positions: Mutex<Positions>,
    /// The tools that every session has, where calls of all others are answered out of the recording.
    pub(super) own_tools: OnceLock<OwnTools>,
    /// Whether what the user did while turns ran is done here.
    plays_user: AtomicBool,
}

#[derive(Debug, Default)]
struct Positions {
    tracks: Vec<Position>,
    /// Agents that the recording does not have.
    strangers: Vec<Divergence>,
    /// The first divergence of all.
    first: Option<Divergence>,
    /// What the user says while turns of the first agent run: turn, and number of the request that has it.
    words: HashMap<(usize, usize), Vec<Vec<Value>>>,
    /// Turns of the first agent that do not come.
    left_out: HashSet<usize>,
}

impl Positions {
    /// Returns which recorded turn the next new one of a track is.
    fn next_turn(&self, number: usize, track: &Track) -> Option<usize> {
        let Position { next_turn, expected, .. } = &self.tracks[number];
        let comes = |at: &usize| has_part(&track.turns[*at]) && (track.path != ROOT || !self.left_out.contains(at));
        let expected = expected.filter(|expected| expected >= next_turn);
        expected.or_else(|| (*next_turn..track.turns.len()).find(comes))
    }
}

/// How far the agents of a path are.
#[derive(Debug, Default)]
struct Position {
    next_turn: usize,
    /// The recorded turn that the next live one is, if somebody knows.
    expected: Option<usize>,
    /// Which recorded turn a live one is.
    turns: HashMap<String, LiveTurn>,
    /// How many requests of a recorded turn were made.
    asked: HashMap<usize, usize>,
    /// Calls that were made: turn and call.
    called: HashSet<(usize, usize)>,
    /// Requests before which the user has said what the user said: turn and number.
    said: HashSet<(usize, usize)>,
    same: usize,
    divergence: Option<Divergence>,
    /// The recording ends before the live turn does.
    ends: bool,
}

#[derive(Debug)]
struct LiveTurn {
    turn: usize,
    agent: Option<WeakAgent>,
    /// Whether the next request shortens the history.
    shortens: bool,
}

/// A recorded request: track, turn and number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) track: usize,
    pub(super) turn: usize,
    pub(super) exchange: usize,
}

impl Place {
    pub(super) fn owner(self) -> Owner {
        Owner { track: self.track, turn: self.turn }
    }
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
        let mut moments = Vec::new();
        let mut tracks = Vec::new();
        for (number, track) in tape.tracks.iter().enumerate() {
            let next_turn = track.turns.iter().take_while(|turn| turn.started < from).count();
            tracks.push(Position { next_turn, ..Position::default() });
            // What agents do that are older than the replay does not happen again.
            if !track.is_review && (track.path == ROOT || track.started >= from) {
                let turns = track.turns.iter().enumerate().skip(next_turn);
                moments.extend(turns.flat_map(|(turn, taped)| {
                    moments_of(taped).into_iter().map(move |seq| (seq, Owner { track: number, turn }))
                }));
            }
        }
        Self {
            tape,
            rules: Mutex::new(rules),
            on_divergence,
            order: Schedule::new(moments),
            from,
            positions: Mutex::new(Positions { tracks, ..Positions::default() }),
            own_tools: OnceLock::new(),
            plays_user: AtomicBool::new(false),
        }
    }

    /// Tells whether an agent is one from before the replay, which does nothing any more.
    pub(super) fn is_older(&self, path: &str) -> bool {
        self.tape.track(path).is_some_and(|(_, track)| track.path != ROOT && track.started < self.from)
    }

    pub(super) fn turn(&self, place: Place) -> &TapeTurn {
        &self.tape.tracks[place.track].turns[place.turn]
    }

    pub(super) fn exchange(&self, place: Place) -> &Exchange {
        &self.turn(place).exchanges[place.exchange]
    }

    pub(super) fn rules(&self) -> MutexGuard<'_, Rules> {
        self.rules.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn positions(&self) -> MutexGuard<'_, Positions> {
        self.positions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes over the part of the user while turns run.
    pub(super) fn play_user(&self) {
        self.plays_user.store(true, Ordering::Relaxed);
    }

    fn plays_user(&self) -> bool {
        self.plays_user.load(Ordering::Relaxed)
    }

    /// Says which recorded turn the next one of the first agent is.
    pub(super) fn expect(&self, turn: usize) {
        if let Some((root, _)) = self.tape.track(ROOT) {
            self.positions().tracks[root].expected = Some(turn);
        }
    }

    /// Tells which recorded turn a live one is, if it is one that has begun.
    pub(super) fn live_place(&self, path: &str, turn: &str) -> Option<Place> {
        let (track, _) = self.tape.track(path)?;
        let positions = self.positions();
        let position = &positions.tracks[track];
        let turn = position.turns.get(turn)?.turn;
        let exchange = position.asked.get(&turn).copied().unwrap_or_default();
        Some(Place { track, turn, exchange })
    }

    /// Returns the live turn that is a recorded one of the first agent.
    pub(super) fn live_turn(&self, turn: usize) -> Option<String> {
        let (root, _) = self.tape.track(ROOT)?;
        let positions = self.positions();
        let mut turns = positions.tracks[root].turns.iter();
        turns.find_map(|(live, it)| (it.turn == turn).then(|| live.clone()))
    }

    /// Tells which recorded turn a live one is. The next of its agent, if it is new.
    pub(super) fn arrive(&self, path: &str, turn: &str, agent: Option<WeakAgent>) -> Option<Place> {
        let (number, track) = self.tape.track(path)?;
        let mut positions = self.positions();
        if !positions.tracks[number].turns.contains_key(turn) {
            let next = positions.next_turn(number, track)?;
            let position = &mut positions.tracks[number];
            position.expected = None;
            position.turns.insert(turn.to_owned(), LiveTurn { turn: next, agent, shortens: false });
            let skipped = position.next_turn..next;
            position.next_turn = next + 1;
            drop(positions);
            if !skipped.is_empty() {
                self.order.pass_turns(number, |turn| skipped.contains(&turn));
            }
        } else {
            drop(positions);
        }
        self.live_place(path, turn)
    }

    /// Tells which recorded turn a live one is that was stopped before it looked at anything: the next one, if that was, too.
    pub(super) fn arrive_stopped(&self, path: &str, turn: &str) -> Option<Place> {
        let (number, track) = self.tape.track(path)?;
        let next = self.positions().next_turn(number, track)?;
        let is_same = track.turns[next].exchanges.is_empty() && is_stopped(&track.turns[next]);
        is_same.then(|| self.arrive(path, turn, None))?
    }

    /// Says which turns of the first agent do not come.
    pub(super) fn leave_out(&self, turns: HashSet<usize>) {
        if let Some((root, _)) = self.tape.track(ROOT) {
            self.order.pass_turns(root, |turn| turns.contains(&turn));
            self.positions().left_out = turns;
        }
    }

    /// Says whether the next request of a live turn shortens the history.
    pub(super) fn set_shortens(&self, place: Place, live: &str, shortens: bool) {
        if let Some(turn) = self.positions().tracks[place.track].turns.get_mut(live) {
            turn.shortens = shortens;
        }
    }

    /// Tells whether the next request of a live turn shortens the history.
    pub(super) fn shortens(&self, path: &str, live: &str) -> bool {
        let Some((track, _)) = self.tape.track(path) else { return false };
        self.positions().tracks[track].turns.get(live).is_some_and(|turn| turn.shortens)
    }

    /// Returns what the user says while a turn runs, before this request or before the turn is stopped. Nothing the second time.
    pub(super) fn words(&self, place: Place) -> Result<Vec<Vec<Value>>, ReplayError> {
        {
            let mut positions = self.positions();
            let is_users = self.plays_user() && self.tape.tracks[place.track].path == ROOT;
            if !is_users || !positions.tracks[place.track].said.insert((place.turn, place.exchange)) {
                return Ok(Vec::new());
            }
            if let Some(words) = positions.words.remove(&(place.turn, place.exchange)) {
                return Ok(words);
            }
        }
        let turn = self.turn(place);
        let (Some(number), Some(next)) = (place.exchange.checked_sub(1), turn.exchanges.get(place.exchange)) else {
            return Ok(Vec::new());
        };
        let earlier = &turn.exchanges[number];
        // A history that another program made shorter holds words of its own in the user's place.
        if earlier.kind == RequestKind::Compaction && self.tape.is_foreign {
            return Ok(Vec::new());
        }
        let request = self.tape.request(next)?;
        let said = user_messages::new_messages(&self.tape.seen(turn, place.exchange)?, &request);
        Ok(messages(&request, &said))
    }

    /// Keeps what the user says before a request of the first agent, or before its turn is stopped.
    pub(super) fn keep_words(&self, turn: usize, request: usize, words: Vec<Vec<Value>>) {
        if !words.is_empty() {
            self.positions().words.insert((turn, request), words);
        }
    }

    fn agent(&self, place: Place, live: &str) -> Option<Agent> {
        self.positions().tracks[place.track].turns.get(live)?.agent.as_ref()?.upgrade()
    }

    /// Says what the user says while a turn runs, before a request.
    pub(super) async fn say(self: &Arc<Self>, place: Place, live: &str) {
        let stage = Arc::clone(self);
        let words = tokio::task::spawn_blocking(move || stage.words(place)).await;
        // A body that cannot be read is told where it is needed.
        let (Ok(Ok(words)), Some(agent)) = (words, self.agent(place, live)) else { return };
        for parts in &words {
            if let Err(refusal) = agent.steer(&TurnId::from(live), inputs(parts), None) {
                // What does not reach the turn is missing in its next request, where it is told.
                tracing::debug!(agent = agent.path(), %refusal, "a recorded message of the user is not taken");
            }
        }
    }

    /// Stops a live turn that was stopped, and waits for its end. That of the first agent is the user's to stop.
    pub(super) async fn stop<T>(self: &Arc<Self>, place: Place, live: &str) -> T {
        let _wait = self.order.wait(live, Wait::Stop);
        self.interrupt(place, live).await;
        futures_util::future::pending().await
    }

    /// Stops a live turn where it was stopped.
    pub(super) async fn interrupt(self: &Arc<Self>, place: Place, live: &str) {
        let end = Place { exchange: self.turn(place).exchanges.len(), ..place };
        self.say(end, live).await;
        let is_ours = self.plays_user() || self.tape.tracks[place.track].path != ROOT;
        if let Some(agent) = self.agent(place, live).filter(|_| is_ours) {
            // Another agent may have done it already.
            drop(agent.interrupt(&TurnId::from(live)));
        }
    }

    /// Waits until everything before a moment has passed. Where that cannot happen any more, that is a divergence.
    pub(super) async fn reach(&self, live: &str, seq: u64) {
        let _wait = self.order.wait(live, Wait::Moment(seq));
        self.reach_unseen(seq).await;
    }

    /// Waits for a moment without being one of those who could go on.
    pub(super) async fn reach_unseen(&self, seq: u64) {
        while let Err(still) = self.order.reach(seq).await {
            if !self.is_users(still) {
                self.stand_still(still);
            }
        }
    }

    /// Waits until nothing happens any more.
    pub(super) async fn rest(&self) {
        self.order.rest().await;
        if let Some(still) = self.order.first() {
            self.stand_still(still);
        }
    }

    /// Tells whether something is awaited that a user may still do.
    fn is_users(&self, still: Stalled) -> bool {
        let track = &self.tape.tracks[still.owner.track];
        let positions = self.positions();
        let mut live = positions.tracks[still.owner.track].turns.iter();
        let is_live = live.any(|(live, turn)| turn.turn == still.owner.turn && self.order.is_live(live));
        track.path == ROOT && !self.plays_user() && (!is_live || is_stopped(&track.turns[still.owner.turn]))
    }

    /// Keeps it as a divergence that nobody can go on, and lets everybody.
    fn stand_still(&self, still: Stalled) {
        let Owner { track, turn } = still.owner;
        let taped = &self.tape.tracks[track].turns[turn];
        let asks = taped.exchanges.iter().position(|exchange| exchange.seq == still.seq);
        let answers = taped.exchanges.iter().position(|exchange| exchange.over == Some(still.seq));
        let what = match (asks, answers) {
            (Some(number), _) => format!("request {}", number + 1),
            (None, Some(number)) => format!("the end of answer {}", number + 1),
            (None, None) if taped.ended.is_some_and(|(seq, _)| seq == still.seq) => "the end of the turn".to_owned(),
            (None, None) if taped.told == Some(still.seq) => "the mail of its end".to_owned(),
            (None, None) => "a call that reaches others".to_owned(),
        };
        let place = Place { track, turn, exchange: 0 };
        let message = format!("nobody can go on: {what} comes next in the recording, and did not come");
        let mut divergence = self.divergence(place, "order".to_owned(), message);
        divergence.request = asks.map(|number| number + 1);
        self.order.give_up();
        let _ = self.diverge(track, divergence);
    }

    /// Returns what the next request of a turn is in the recording, without asking it.
    pub(super) fn next_kind(&self, origin: &Origin) -> Option<RequestKind> {
        let place = self.live_place(&origin.path, &origin.turn)?;
        Some(self.turn(place).exchanges.get(place.exchange)?.kind)
    }

    /// Finds what answers a request.
    pub(super) fn find(&self, origin: &Origin, kind: RequestKind) -> Result<Opened, ProviderError> {
        if self.on_divergence == OnDivergence::Stop
            && let Some(first) = &self.positions().first
        {
            // The agents of a large tree all fail: only the one that diverged tells how.
            let diff = first.diff.clone().filter(|_| first.agent == origin.path);
            return Err(useless(first.to_string(), diff));
        }
        let Some((number, track)) = self.tape.track(&origin.path) else { return Err(self.stranger(origin)) };
        let Some(place) = self.arrive(&origin.path, &origin.turn, None) else {
            let place = Place { track: number, turn: track.turns.len().saturating_sub(1), exchange: 0 };
            if self.tape.is_cut() {
                return Err(self.recording_ends(place));
            }
            let message = "the recording has no further turn of this agent".to_owned();
            return Err(self.at_a_loss(place, "turn", message));
        };
        let turn = self.turn(place);
        match turn.exchanges.get(place.exchange) {
            Some(exchange) if exchange.kind == kind => {
                *self.positions().tracks[number].asked.entry(place.turn).or_default() += 1;
                Ok(Opened::Recorded(place))
            }
            Some(_) => {
                let message = "an answer and a shorter history are not asked for in the recorded order".to_owned();
                Err(self.at_a_loss(place, "request", message))
            }
            None if turn.ended.is_none() => Err(self.recording_ends(place)),
            None if is_stopped(turn) => Ok(Opened::Interrupted(place)),
            None => {
                let message = format!("the recorded turn has {} requests, and asks for no more", place.exchange);
                Err(self.at_a_loss(place, "request", message))
            }
        }
    }

    /// Holds a request against the recorded one.
    pub(super) fn compare(&self, place: Place, body: &Value) -> Result<(), ProviderError> {
        if self.positions().tracks[place.track].divergence.is_some() {
            return Ok(());
        }
        let recorded = self.tape.request(self.exchange(place)).map_err(|error| self.unreadable(place, &error))?;
        let rules = self.rules().clone();
        let agent = &self.tape.tracks[place.track].path;
        let own = self.own_tools.get();
        let counts = |tool: &Value| own.is_none_or(|own| own.has(tool));
        let Some(difference) = rules.difference(agent, &recorded, body, counts) else {
            self.positions().tracks[place.track].same += 1;
            return Ok(());
        };
        let message = "the request is not the recorded one".to_owned();
        let mut divergence = self.divergence(place, difference.place, message);
        divergence.request = Some(place.exchange + 1);
        divergence.diff = Some(difference.diff);
        self.diverge(place.track, divergence)
    }

    /// Notes that the recording has nothing more of a turn that had not ended.
    pub(super) fn recording_ends(&self, place: Place) -> ProviderError {
        self.positions().tracks[place.track].ends = true;
        ends_here()
    }

    /// Keeps a divergence after which there is nothing to answer with.
    pub(super) fn at_a_loss(&self, place: Place, what: &str, message: String) -> ProviderError {
        let mut divergence = self.divergence(place, what.to_owned(), message);
        divergence.request = Some(place.exchange + 1);
        let error = error_of(&divergence);
        let _ = self.diverge(place.track, divergence);
        error
    }

    /// Keeps it as a divergence that the recording cannot be read.
    pub(super) fn unreadable(&self, place: Place, error: &ReplayError) -> ProviderError {
        self.at_a_loss(place, "recording", error.to_string())
    }

    fn stranger(&self, origin: &Origin) -> ProviderError {
        if self.tape.is_cut() {
            return ends_here();
        }
        let divergence = Divergence {
            agent: origin.path.clone(),
            turn: None,
            turn_id: None,
            request: None,
            place: "agent".to_owned(),
            message: "the recording has no such agent".to_owned(),
            diff: None,
        };
        let error = error_of(&divergence);
        let mut positions = self.positions();
        positions.first.get_or_insert_with(|| divergence.clone());
        let is_known = positions.strangers.iter().any(|known| known.agent == divergence.agent);
        if !is_known && positions.strangers.len() < MAX_STRANGERS {
            positions.strangers.push(divergence);
        }
        drop(positions);
        if self.on_divergence == OnDivergence::Stop {
            self.order.give_up();
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
        tracing::debug!("{divergence}");
        let error = error_of(&divergence);
        let mut positions = self.positions();
        let is_over = self.on_divergence == OnDivergence::Stop && positions.first.is_some();
        // What agents do differently after the replay has stopped says nothing.
        if !is_over {
            positions.first.get_or_insert_with(|| divergence.clone());
            positions.tracks[track].divergence.get_or_insert(divergence);
        }
        drop(positions);
        match self.on_divergence {
            OnDivergence::Stop => {
                self.order.give_up();
                Err(error)
            }
            OnDivergence::Continue => Ok(()),
        }
    }

    /// Finds the recorded call that a live one is: by its id, else by its name.
    pub(super) fn call(&self, paths: &[&str], turn: &str, call: &ToolCall) -> Option<(Place, &TapeCall)> {
        for path in paths {
            let Some((number, track)) = self.tape.track(path) else { continue };
            let mut positions = self.positions();
            let position = &mut positions.tracks[number];
            let Some(turn) = position.turns.get(turn).map(|turn| turn.turn) else { continue };
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

    /// Returns the newest request of a live turn.
    pub(super) fn newest(&self, path: &str, turn: &str) -> Option<Place> {
        let place = self.live_place(path, turn)?;
        Some(Place { exchange: place.exchange.saturating_sub(1), ..place })
    }

    /// Tells whether anything has diverged.
    pub(super) fn has_diverged(&self) -> bool {
        self.positions().first.is_some()
    }

    /// Holds the end of a live turn against the recorded one.
    pub(super) fn turn_ended(&self, place: Place, outcome: &TurnOutcome) {
        let Some((_, recorded)) = self.turn(place).ended else {
            self.positions().tracks[place.track].ends = true;
            return;
        };
        let live = match outcome {
            TurnOutcome::Completed { .. } => "completed".to_owned(),
            TurnOutcome::Interrupted => "interrupted".to_owned(),
            TurnOutcome::Failed(error) => format!("failed: {}", error.message),
        };
        let then = match recorded {
            ExecutionStatus::Cancelled | ExecutionStatus::Aborted => "interrupted",
            ExecutionStatus::Failed => "failed",
            _ => "completed",
        };
        let is_known = {
            let positions = self.positions();
            positions.tracks[place.track].divergence.is_some() || positions.tracks[place.track].ends
        };
        if !live.starts_with(then) && !is_known {
            let message = format!("the turn ended in another way: {then} in the recording, now {live}");
            let _ = self.diverge(place.track, self.divergence(place, "end".to_owned(), message));
        }
    }

    /// Returns how far each agent is, and what has diverged. What was not asked until now counts as missing, unless the replay has
    /// stopped.
    pub(super) fn reports(&self) -> Vec<ThreadReport> {
        let positions = self.positions();
        let is_stopped = self.on_divergence == OnDivergence::Stop && positions.first.is_some();
        let mut reports = Vec::new();
        for (number, (track, position)) in self.tape.tracks.iter().zip(&positions.tracks).enumerate() {
            let turns = track.turns.iter().enumerate().filter(|(_, turn)| turn.started >= self.from);
            let recorded_requests = turns.clone().map(|(_, turn)| turn.exchanges.len()).sum();
            let is_played = recorded_requests > 0 && (!self.is_older(&track.path) || !position.turns.is_empty());
            if !is_played && position.divergence.is_none() {
                continue;
            }
            let missing = turns.clone().find_map(|(at, turn)| {
                let asked = position.asked.get(&at).copied().unwrap_or_default();
                (asked < turn.exchanges.len()).then_some(Place { track: number, turn: at, exchange: asked })
            });
            let missing = missing.filter(|_| is_played && !is_stopped).map(|place| {
                let message = match track.is_review {
                    true => "a review is not begun again".to_owned(),
                    false => "the recorded request was not made".to_owned(),
                };
                let mut divergence = self.divergence(place, "request".to_owned(), message);
                divergence.request = Some(place.exchange + 1);
                divergence
            });
            reports.push(ThreadReport {
                agent: track.path.clone(),
                recorded_requests,
                same_requests: position.same,
                divergence: position.divergence.clone().or(missing),
                recording_ends: position.ends,
            });
        }
        reports.extend(positions.strangers.iter().map(|divergence| ThreadReport {
            agent: divergence.agent.clone(),
            recorded_requests: 0,
            same_requests: 0,
            divergence: Some(divergence.clone()),
            recording_ends: false,
        }));
        reports
    }

    /// Returns requests of the first agent before a turn that have all that it had seen.
    pub(super) fn before(&self, turn: usize) -> Result<Vec<Value>, ReplayError> {
        let Some((_, root)) = self.tape.track(ROOT) else { return Ok(Vec::new()) };
        let last = root.turns[..turn].iter().rev().find(|turn| !turn.exchanges.is_empty());
        last.map_or(Ok(Vec::new()), |last| self.tape.seen(last, last.exchanges.len()))
    }
}

/// Returns the messages of the user at these places of a request.
pub(super) fn messages(request: &Value, places: &[usize]) -> Vec<Vec<Value>> {
    let content = |place: &usize| match request.get("input")?.get(place)?.get("content")? {
        Value::String(text) => Some(vec![json!({ "type": "input_text", "text": text })]),
        content => content.as_array().cloned(),
    };
    places.iter().filter_map(content).collect()
}

/// Tells whether somebody stopped the turn.
pub(super) fn is_stopped(turn: &TapeTurn) -> bool {
    matches!(turn.ended, Some((_, ExecutionStatus::Cancelled | ExecutionStatus::Aborted)))
}

/// Tells whether a call was stopped with its turn.
pub(super) fn was_stopped(turn: &TapeTurn, call: &TapeCall) -> bool {
    let is_cancelled = matches!(call.end, None | Some((_, ExecutionStatus::Cancelled | ExecutionStatus::Aborted, _)));
    is_cancelled && is_stopped(turn)
}

/// Tells whether a turn has a part in what is played: it asked, or was stopped before it could.
fn has_part(turn: &TapeTurn) -> bool {
    !turn.exchanges.is_empty() || (is_stopped(turn) && !turn.is_aside)
}

/// Returns the moments of a turn at which agents act on each other.
fn moments_of(turn: &TapeTurn) -> Vec<u64> {
    if !has_part(turn) {
        return Vec::new();
    }
    let asks = turn.exchanges.iter().map(|exchange| exchange.seq);
    let answers = turn.exchanges.iter().filter_map(|exchange| exchange.over);
    let calls = turn.calls.iter().filter_map(|call| match (waits(call), &call.end) {
        (true, Some((end, ..))) => Some(*end),
        (true, None) => None,
        (false, _) => (was_stopped(turn, call) || acts_on_others(call)).then_some(call.seq),
    });
    let ends = turn.ended.iter().map(|(seq, _)| *seq).chain(turn.told);
    asks.chain(answers).chain(calls).chain(ends).collect()
}

/// Returns the last part of the name of a call.
fn name(call: &TapeCall) -> &str {
    call.description.label.rsplit('.').next().unwrap_or_default()
}

/// Tells whether a call waits for other agents.
pub(super) fn waits(call: &TapeCall) -> bool {
    call.description.kind == "wait_agent" || name(call) == "wait_agent"
}

/// Tells whether a call stops another agent. It answers how far that agent was, which is another thing at every moment.
pub(super) fn stops_other(call: &TapeCall) -> bool {
    call.description.kind == "close_agent" || name(call) == "interrupt_agent"
}

/// Tells whether a call does something to other agents.
pub(super) fn acts_on_others(call: &TapeCall) -> bool {
    let by_kind =
        matches!(call.description.kind.as_str(), "spawn_agent" | "assign_agent_task" | "send_message" | "close_agent");
    by_kind || matches!(name(call), "interrupt_agent" | "followup_task")
}

/// Returns the error of a divergence.
pub(super) fn error_of(divergence: &Divergence) -> ProviderError {
    useless(divergence.to_string(), divergence.diff.clone())
}

fn ends_here() -> ProviderError {
    useless("the recording ends here: there is nothing to play any more".to_owned(), None)
}

pub(super) fn useless(message: String, details: Option<String>) -> ProviderError {
    ProviderError { message, details, kind: ErrorKind::Other, again: Again::Useless, request_id: None }
}

/// Tells whether an exchange failed, and the model was asked the same again: a question for a summary that is too long is cut.
pub(super) fn is_asked_again(stage: &Stage, place: Place) -> Result<bool, ReplayError> {
    let turn = stage.turn(place);
    let exchange = stage.exchange(place);
    let Some(next) = turn.exchanges.get(place.exchange + 1) else { return Ok(false) };
    if !matches!(exchange.end, Some((_, ExchangeEnd::Failed { .. }))) || next.kind != exchange.kind {
        return Ok(false);
    }
    let items = |body: &Value| body.get("input").and_then(Value::as_array).map_or(0, Vec::len);
    Ok(items(&stage.tape.request(next)?) >= items(&stage.tape.request(exchange)?))
}

/// Returns what a user says, out of the parts of a recorded message.
fn inputs(parts: &[Value]) -> Vec<Input> {
    let text = |part: &Value, name: &str| part.get(name).and_then(Value::as_str).map(str::to_owned);
    let input = |part: &Value| match text(part, "image_url") {
        Some(url) => Some(Input::Image { url, detail: text(part, "detail") }),
        None => Some(Input::Text { text: text(part, "text")?, elements: Vec::new() }),
    };
    parts.iter().filter_map(input).collect()
}
