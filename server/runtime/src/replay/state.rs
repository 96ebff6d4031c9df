//! The state of a replay: the next recorded request of each agent, and the divergences so far.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

use serde_json::{Value, json};
use trace_recorder::format::ExecutionStatus;

use super::choices::OnDivergence;
use super::compare::Rules;
use super::own_tools::OwnTools;
use super::report::{Divergence, ThreadReport};
use super::schedule::{Owner, Schedule, Stalled, Wait};
use super::session::{
    AgentTrack, Exchange, ExchangeEnd, ROOT, RecordedCall, RecordedSession, RecordedTurn, ReplayError, RequestKind,
};
use super::user_messages;
use crate::event::{ErrorKind, TurnOutcome};
use crate::id::TurnId;
use crate::item::Input;
use crate::pace::PacedAgent;
use crate::provider::{Origin, ProviderError, RetryDecision};
use crate::tool::ToolCall;

/// Most divergences that are kept of agents without a counterpart in the recording.
const MAX_UNKNOWN_AGENTS: usize = 100;

/// The recording that is replayed, and the state of the replay.
#[derive(Debug)]
pub(super) struct ReplayState {
    pub(super) session: RecordedSession,
    pub(super) rules: Mutex<Rules>,
    pub(super) on_divergence: OnDivergence,
    pub(super) order: Arc<Schedule>,
    /// Sequence number at which the replay starts.
    pub(super) from: u64,
    positions: Mutex<Positions>,
    /// The tools that every session has. Set if all calls of other tools are answered from the recording.
    pub(super) own_tools: OnceLock<OwnTools>,
    /// Whether the replay repeats what the user did while turns ran.
    plays_user: AtomicBool,
}

#[derive(Debug, Default)]
struct Positions {
    tracks: Vec<Position>,
    /// Divergences of agents without a counterpart in the recording.
    unknown_agents: Vec<Divergence>,
    /// The first divergence of all agents.
    first: Option<Divergence>,
    /// Messages of the user while turns of the root agent run, by turn and index of the first request that contains them.
    user_messages: HashMap<(usize, usize), Vec<Vec<Value>>>,
    /// Turns of the root agent that are not replayed.
    left_out: HashSet<usize>,
}

impl Positions {
    /// Returns the recorded turn for the next new turn of a track.
    fn next_turn(&self, number: usize, track: &AgentTrack) -> Option<usize> {
        let Position { next_turn, expected, .. } = &self.tracks[number];
        let comes = |at: &usize| has_part(&track.turns[*at]) && (track.path != ROOT || !self.left_out.contains(at));
        let expected = expected.filter(|expected| expected >= next_turn);
        expected.or_else(|| (*next_turn..track.turns.len()).find(comes))
    }
}

/// State of the agents with one path.
#[derive(Debug, Default)]
struct Position {
    next_turn: usize,
    /// The recorded turn for the next live turn, if it is known.
    expected: Option<usize>,
    /// The recorded turn for each live turn.
    turns: HashMap<String, LiveTurn>,
    /// Number of requests made in each recorded turn.
    asked: HashMap<usize, usize>,
    /// Calls that were made, by turn and call.
    called: HashSet<(usize, usize)>,
    /// Requests before which the messages of the user were already sent, by turn and request.
    said: HashSet<(usize, usize)>,
    /// Requests before which the history was replaced, by turn and request.
    replaced: HashSet<(usize, usize)>,
    /// Ids of messages that came too late for the turn that ends, and start the next one.
    late_mail: Vec<String>,
    same: usize,
    divergence: Option<Divergence>,
    /// Whether the recording ends before the live turn does.
    ends: bool,
}

#[derive(Debug)]
struct LiveTurn {
    turn: usize,
    agent: Option<Weak<dyn PacedAgent>>,
    next: NextRequest,
}

/// What happens before the next request of a live turn.
#[derive(Debug, Default)]
pub(super) struct NextRequest {
    /// Whether the history is compacted.
    pub(super) shortens: bool,
    /// The messages of agents that the request is the first to have. `None` if the recording has this itself.
    pub(super) mail: Option<Vec<Value>>,
}

/// Indexes of a recorded request: track, turn and request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RequestPlace {
    pub(super) track: usize,
    pub(super) turn: usize,
    pub(super) exchange: usize,
}

impl RequestPlace {
    pub(super) fn owner(self) -> Owner {
        Owner { track: self.track, turn: self.turn }
    }
}

/// How a request is answered.
#[derive(Debug)]
pub(super) enum RequestMatch {
    /// With a recorded answer.
    Recorded(RequestPlace),
    /// Not at all: the turn was interrupted before it made the request.
    Interrupted(RequestPlace),
}

impl ReplayState {
    pub(super) fn new(session: RecordedSession, rules: Rules, on_divergence: OnDivergence, first_turn: usize) -> Self {
        let from = session.track(ROOT).map_or(0, |(_, root)| root.turns.get(first_turn).map_or(0, |turn| turn.started));
        let mut moments = Vec::new();
        let mut tracks = Vec::new();
        for (number, track) in session.tracks.iter().enumerate() {
            let next_turn = track.turns.iter().take_while(|turn| turn.started < from).count();
            tracks.push(Position { next_turn, ..Position::default() });
            // Agents that are older than the replay do nothing.
            if !track.is_review && (track.path == ROOT || track.started >= from) {
                let turns = track.turns.iter().enumerate().skip(next_turn);
                moments.extend(turns.flat_map(|(turn, recorded_turn)| {
                    moments_of(recorded_turn).into_iter().map(move |seq| (seq, Owner { track: number, turn }))
                }));
            }
        }
        Self {
            session,
            rules: Mutex::new(rules),
            on_divergence,
            order: Schedule::new(moments),
            from,
            positions: Mutex::new(Positions { tracks, ..Positions::default() }),
            own_tools: OnceLock::new(),
            plays_user: AtomicBool::new(false),
        }
    }

    /// Returns whether an agent is older than the replay and does nothing.
    pub(super) fn is_older(&self, path: &str) -> bool {
        self.session.track(path).is_some_and(|(_, track)| track.path != ROOT && track.started < self.from)
    }

    pub(super) fn turn(&self, place: RequestPlace) -> &RecordedTurn {
        &self.session.tracks[place.track].turns[place.turn]
    }

    pub(super) fn exchange(&self, place: RequestPlace) -> &Exchange {
        &self.turn(place).exchanges[place.exchange]
    }

    /// Returns the request that the agent makes after this one, in the same turn or a later one.
    pub(super) fn next_exchange(&self, place: RequestPlace) -> Option<&Exchange> {
        let turns = &self.session.tracks[place.track].turns;
        let rest = self.turn(place).exchanges.get(place.exchange + 1);
        rest.or_else(|| turns[place.turn + 1..].iter().find_map(|turn| turn.exchanges.first()))
    }

    pub(super) fn rules(&self) -> MutexGuard<'_, Rules> {
        self.rules.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn positions(&self) -> MutexGuard<'_, Positions> {
        self.positions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// From now on the replay repeats what the user did while turns ran.
    pub(super) fn play_user(&self) {
        self.plays_user.store(true, Ordering::Relaxed);
    }

    fn plays_user(&self) -> bool {
        self.plays_user.load(Ordering::Relaxed)
    }

    /// Sets the recorded turn for the next live turn of the root agent.
    pub(super) fn expect(&self, turn: usize) {
        if let Some((root, _)) = self.session.track(ROOT) {
            self.positions().tracks[root].expected = Some(turn);
        }
    }

    /// Returns the recorded turn for a live one. `None` if the live turn is not known yet.
    pub(super) fn live_place(&self, path: &str, turn: &str) -> Option<RequestPlace> {
        let (track, _) = self.session.track(path)?;
        let positions = self.positions();
        let position = &positions.tracks[track];
        let turn = position.turns.get(turn)?.turn;
        let exchange = position.asked.get(&turn).copied().unwrap_or_default();
        Some(RequestPlace { track, turn, exchange })
    }

    /// Returns the place of the first request of a turn of the root agent.
    pub(super) fn root_place(&self, turn: usize) -> RequestPlace {
        let track = self.session.track(ROOT).map_or(0, |(root, _)| root);
        RequestPlace { track, turn, exchange: 0 }
    }

    /// Returns the live turn for a recorded turn of the root agent.
    pub(super) fn live_turn(&self, turn: usize) -> Option<String> {
        let (root, _) = self.session.track(ROOT)?;
        let positions = self.positions();
        let mut turns = positions.tracks[root].turns.iter();
        turns.find_map(|(live, it)| (it.turn == turn).then(|| live.clone()))
    }

    /// Returns the recorded turn for a live one. For a new live turn it is the next turn of the agent.
    pub(super) fn match_turn(
        &self,
        path: &str,
        turn: &str,
        agent: Option<Weak<dyn PacedAgent>>,
    ) -> Option<RequestPlace> {
        let (number, track) = self.session.track(path)?;
        let mut positions = self.positions();
        if !positions.tracks[number].turns.contains_key(turn) {
            let next = positions.next_turn(number, track)?;
            let position = &mut positions.tracks[number];
            position.expected = None;
            position.turns.insert(turn.to_owned(), LiveTurn { turn: next, agent, next: NextRequest::default() });
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

    /// Returns the recorded turn for a live one that was interrupted before its first request: the next one, if it was
    /// interrupted too.
    pub(super) fn match_stopped_turn(&self, path: &str, turn: &str) -> Option<RequestPlace> {
        let (number, track) = self.session.track(path)?;
        let next = self.positions().next_turn(number, track)?;
        let is_same = track.turns[next].exchanges.is_empty() && is_stopped(&track.turns[next]);
        is_same.then(|| self.match_turn(path, turn, None))?
    }

    /// Sets the turns of the root agent that are not replayed.
    pub(super) fn skip_turns(&self, turns: HashSet<usize>) {
        if let Some((root, _)) = self.session.track(ROOT) {
            self.order.pass_turns(root, |turn| turns.contains(&turn));
            self.positions().left_out = turns;
        }
    }

    /// Sets what happens before the next request of a live turn.
    pub(super) fn set_next(&self, place: RequestPlace, live: &str, next: NextRequest) {
        if let Some(turn) = self.positions().tracks[place.track].turns.get_mut(live) {
            turn.next = next;
        }
    }

    /// Returns who sent the first message that the next request of a live turn is the first to have.
    pub(super) fn author_of_next_mail(&self, place: RequestPlace, live: &str) -> Option<String> {
        let positions = self.positions();
        let mail = positions.tracks[place.track].turns.get(live)?.next.mail.as_ref()?;
        mail.first()?.get("author")?.as_str().map(str::to_owned)
    }

    /// Returns the messages of agents that the next request of a live turn is the first to have.
    pub(super) fn next_mail(&self, place: RequestPlace, live: &str) -> Option<Vec<Value>> {
        self.positions().tracks[place.track].turns.get_mut(live)?.next.mail.take()
    }

    /// Returns whether the history has to be replaced before this request. Returns false the second time.
    pub(super) fn replace(&self, place: RequestPlace) -> bool {
        self.positions().tracks[place.track].replaced.insert((place.turn, place.exchange))
    }

    pub(super) fn was_replaced(&self, place: RequestPlace) -> bool {
        self.positions().tracks[place.track].replaced.contains(&(place.turn, place.exchange))
    }

    /// Notes the ids of messages that start the next turn of an agent.
    pub(super) fn note_late_mail(&self, place: RequestPlace, mail: impl IntoIterator<Item = String>) {
        self.positions().tracks[place.track].late_mail.extend(mail);
    }

    /// Starts the next turn of an agent with the messages that came too late for the turn that ended. If the recording has no
    /// further turn of the agent, for example because it was cut, the messages stay unread in the mailbox.
    pub(super) fn wake_for_late_mail(&self, place: RequestPlace, live: &str) {
        let (mail, has_next) = {
            let mut positions = self.positions();
            let has_next = positions.next_turn(place.track, &self.session.tracks[place.track]).is_some();
            (std::mem::take(&mut positions.tracks[place.track].late_mail), has_next)
        };
        let Some(agent) = self.agent(place, live).filter(|_| has_next && !mail.is_empty()) else { return };
        if let Err(refusal) = Arc::clone(&agent).wake_for(&mail) {
            // The turn will be missing, which is reported as a divergence.
            tracing::debug!(agent = agent.path(), %refusal, "late messages start no turn");
        }
    }

    /// Returns whether the next request of a live turn compacts the history.
    pub(super) fn shortens(&self, path: &str, live: &str) -> bool {
        let Some((track, _)) = self.session.track(path) else { return false };
        self.positions().tracks[track].turns.get(live).is_some_and(|turn| turn.next.shortens)
    }

    /// Returns the messages that the user sent while a turn ran, before this request or before the interrupt. Returns
    /// nothing the second time.
    pub(super) fn user_messages(&self, place: RequestPlace) -> Result<Vec<Vec<Value>>, ReplayError> {
        {
            let mut positions = self.positions();
            let is_users = self.plays_user() && self.session.tracks[place.track].path == ROOT;
            if !is_users || !positions.tracks[place.track].said.insert((place.turn, place.exchange)) {
                return Ok(Vec::new());
            }
            if let Some(words) = positions.user_messages.remove(&(place.turn, place.exchange)) {
                return Ok(words);
            }
        }
        let turn = self.turn(place);
        let (Some(number), Some(next)) = (place.exchange.checked_sub(1), turn.exchanges.get(place.exchange)) else {
            return Ok(Vec::new());
        };
        let earlier = &turn.exchanges[number];
        // A history that another program compacted contains texts of that program in the role of the user.
        if earlier.kind == RequestKind::Compaction && self.session.is_foreign {
            return Ok(Vec::new());
        }
        let request = self.session.request(next)?;
        let said = user_messages::new_messages(&self.session.seen(turn, place.exchange)?, &request);
        // The first new one is the summary if the history was replaced by one.
        let summaries = usize::from(self.is_replaced(place)?);
        Ok(messages(&request, said.get(summaries..).unwrap_or_default()))
    }

    /// Stores the messages that the user sends before a request of the root agent, or before its turn is interrupted.
    pub(super) fn store_user_messages(&self, turn: usize, request: usize, words: Vec<Vec<Value>>) {
        if !words.is_empty() {
            self.positions().user_messages.insert((turn, request), words);
        }
    }

    fn agent(&self, place: RequestPlace, live: &str) -> Option<Arc<dyn PacedAgent>> {
        self.positions().tracks[place.track].turns.get(live)?.agent.as_ref()?.upgrade()
    }

    /// Sends the messages that the user sent while a turn ran, before a request.
    pub(super) async fn say(self: &Arc<Self>, place: RequestPlace, live: &str) {
        let state = Arc::clone(self);
        let words = tokio::task::spawn_blocking(move || state.user_messages(place)).await;
        // A payload that cannot be read is reported where it is needed.
        let (Ok(Ok(words)), Some(agent)) = (words, self.agent(place, live)) else { return };
        for parts in &words {
            if let Err(refusal) = agent.steer(&TurnId::from(live), inputs(parts), None) {
                // The message will be missing in the next request, which is reported as a divergence.
                tracing::debug!(agent = agent.path(), %refusal, "a recorded message of the user was refused");
            }
        }
    }

    /// Interrupts a live turn whose recorded turn was interrupted, and waits for its end. The user interrupts turns of the
    /// root agent.
    pub(super) async fn stop<T>(self: &Arc<Self>, place: RequestPlace, live: &str) -> T {
        let _wait = self.order.wait(live, Wait::Stop);
        self.interrupt(place, live).await;
        futures_util::future::pending().await
    }

    /// Interrupts a live turn where the recorded turn was interrupted.
    pub(super) async fn interrupt(self: &Arc<Self>, place: RequestPlace, live: &str) {
        let end = RequestPlace { exchange: self.turn(place).exchanges.len(), ..place };
        self.say(end, live).await;
        let is_ours = self.plays_user() || self.session.tracks[place.track].path != ROOT;
        if let Some(agent) = self.agent(place, live).filter(|_| is_ours) {
            // Another agent may have interrupted it already.
            drop(agent.interrupt(&TurnId::from(live)));
        }
    }

    /// Waits until all earlier moments have passed. If they cannot pass any more, that is a divergence.
    pub(super) async fn reach(&self, live: &str, seq: u64) {
        let _wait = self.order.wait(live, Wait::Moment(seq));
        self.reach_unseen(seq).await;
    }

    /// Waits for a moment without counting as a task that could continue.
    pub(super) async fn reach_unseen(&self, seq: u64) {
        while let Err(still) = self.order.reach(seq).await {
            if !self.is_user_action(still) {
                self.report_stall(still);
            }
        }
    }

    /// Waits until all agents are idle.
    pub(super) async fn rest(&self) {
        self.order.rest().await;
        if let Some(still) = self.order.first() {
            self.report_stall(still);
        }
    }

    /// Returns whether the missing moment is an action that the user may still do.
    fn is_user_action(&self, still: Stalled) -> bool {
        let track = &self.session.tracks[still.owner.track];
        let positions = self.positions();
        let mut live = positions.tracks[still.owner.track].turns.iter();
        let is_live = live.any(|(live, turn)| turn.turn == still.owner.turn && self.order.is_live(live));
        track.path == ROOT && !self.plays_user() && (!is_live || is_stopped(&track.turns[still.owner.turn]))
    }

    /// Reports a stall as a divergence, and releases all waiting tasks.
    fn report_stall(&self, still: Stalled) {
        let Owner { track, turn } = still.owner;
        let recorded_turn = &self.session.tracks[track].turns[turn];
        let asks = recorded_turn.exchanges.iter().position(|exchange| exchange.seq == still.seq);
        let answers = recorded_turn.exchanges.iter().position(|exchange| exchange.over == Some(still.seq));
        let what = match (asks, answers) {
            (Some(number), _) => format!("request {}", number + 1),
            (None, Some(number)) => format!("the end of answer {}", number + 1),
            (None, None) if recorded_turn.ended.is_some_and(|(seq, _)| seq == still.seq) => {
                "the end of the turn".to_owned()
            }
            (None, None) if recorded_turn.told == Some(still.seq) => "the message about its end".to_owned(),
            (None, None) => "a call that reaches other agents".to_owned(),
        };
        let place = RequestPlace { track, turn, exchange: 0 };
        let message = format!("the replay is stuck: {what} comes next in the recording and did not happen");
        let mut divergence = self.divergence(place, "order".to_owned(), message);
        divergence.request = asks.map(|number| number + 1);
        self.order.give_up();
        let _ = self.diverge(track, divergence);
    }

    /// Returns the kind of the next recorded request of a turn, without using it up.
    pub(super) fn next_kind(&self, origin: &Origin) -> Option<RequestKind> {
        let place = self.live_place(&origin.path, &origin.turn)?;
        Some(self.turn(place).exchanges.get(place.exchange)?.kind)
    }

    /// Returns how a request is answered.
    pub(super) fn find(&self, origin: &Origin, kind: RequestKind) -> Result<RequestMatch, ProviderError> {
        if self.on_divergence == OnDivergence::Stop
            && let Some(first) = &self.positions().first
        {
            // All agents of a large tree fail. Only the one that diverged reports the difference.
            let diff = first.diff.clone().filter(|_| first.agent == origin.path);
            return Err(useless(first.to_string(), diff));
        }
        let Some((number, track)) = self.session.track(&origin.path) else { return Err(self.unknown_agent(origin)) };
        let Some(place) = self.match_turn(&origin.path, &origin.turn, None) else {
            let place = RequestPlace { track: number, turn: track.turns.len().saturating_sub(1), exchange: 0 };
            if self.session.is_cut() {
                return Err(self.recording_ends(place));
            }
            let message = "the recording has no further turn of this agent".to_owned();
            return Err(self.missing_in_recording(place, "turn", message));
        };
        let turn = self.turn(place);
        match turn.exchanges.get(place.exchange) {
            Some(exchange) if exchange.kind == kind => {
                *self.positions().tracks[number].asked.entry(place.turn).or_default() += 1;
                Ok(RequestMatch::Recorded(place))
            }
            Some(_) => {
                let message = "requests for answers and compactions are not in the recorded order".to_owned();
                Err(self.missing_in_recording(place, "request", message))
            }
            None if turn.ended.is_none() => Err(self.recording_ends(place)),
            None if is_stopped(turn) => Ok(RequestMatch::Interrupted(place)),
            None if self.fails_unrecorded(turn) => {
                Err(useless("the recorded turn failed here, for a reason that is not recorded".to_owned(), None))
            }
            None => {
                let message = format!("the recorded turn has only {} requests", place.exchange);
                Err(self.missing_in_recording(place, "request", message))
            }
        }
    }

    /// Compares a request with the recorded one.
    pub(super) fn compare(&self, place: RequestPlace, body: &Value) -> Result<(), ProviderError> {
        if self.positions().tracks[place.track].divergence.is_some() {
            return Ok(());
        }
        let recorded = self.session.request(self.exchange(place)).map_err(|error| self.unreadable(place, &error))?;
        let rules = self.rules().clone();
        let agent = &self.session.tracks[place.track].path;
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

    /// Records that the recording ends before this turn does.
    pub(super) fn recording_ends(&self, place: RequestPlace) -> ProviderError {
        self.positions().tracks[place.track].ends = true;
        ends_here()
    }

    /// Reports a divergence after which there is no recorded answer.
    pub(super) fn missing_in_recording(&self, place: RequestPlace, what: &str, message: String) -> ProviderError {
        let mut divergence = self.divergence(place, what.to_owned(), message);
        divergence.request = Some(place.exchange + 1);
        let error = error_of(&divergence);
        let _ = self.diverge(place.track, divergence);
        error
    }

    /// Reports as a divergence that the recording cannot be read.
    pub(super) fn unreadable(&self, place: RequestPlace, error: &ReplayError) -> ProviderError {
        self.missing_in_recording(place, "recording", error.to_string())
    }

    fn unknown_agent(&self, origin: &Origin) -> ProviderError {
        if self.session.is_cut() {
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
        let is_known = positions.unknown_agents.iter().any(|known| known.agent == divergence.agent);
        if !is_known && positions.unknown_agents.len() < MAX_UNKNOWN_AGENTS {
            positions.unknown_agents.push(divergence);
        }
        drop(positions);
        if self.on_divergence == OnDivergence::Stop {
            self.order.give_up();
        }
        error
    }

    pub(super) fn divergence(&self, place: RequestPlace, what: String, message: String) -> Divergence {
        let track = &self.session.tracks[place.track];
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

    /// Stores a divergence if it is the first of its agents. Returns an error if the replay stops at it.
    pub(super) fn diverge(&self, track: usize, divergence: Divergence) -> Result<(), ProviderError> {
        tracing::debug!("{divergence}");
        let error = error_of(&divergence);
        let mut positions = self.positions();
        let is_over = self.on_divergence == OnDivergence::Stop && positions.first.is_some();
        // Differences after the replay has stopped have no meaning.
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

    /// Finds the recorded call for a live one: by its id, otherwise by its name.
    pub(super) fn call(&self, paths: &[&str], turn: &str, call: &ToolCall) -> Option<(RequestPlace, &RecordedCall)> {
        let id = call.id.as_str();
        let has_id = |recorded: &RecordedCall| recorded.id == id;
        let has_name = |recorded: &RecordedCall| {
            let label = &recorded.description.label;
            label == &call.name || label.rsplit('.').next() == Some(&call.name)
        };
        paths.iter().find_map(|path| {
            let place = self.newest(path, turn)?;
            let by_name = || {
                // A call has another id than in the recording only if the model had used the id before. The recorded answer
                // is read without a lock, because it may be large.
                let asked = self.turn(place).exchanges.get(place.exchange);
                let is_recorded = asked.is_some_and(|asked| self.is_recorded_call(asked, id));
                if is_recorded { None } else { self.take_call(place, has_name) }
            };
            self.take_call(place, has_id).or_else(by_name)
        })
    }

    /// Takes the first recorded call of a turn that matches and was not taken before.
    fn take_call(
        &self,
        place: RequestPlace,
        matches: impl Fn(&RecordedCall) -> bool,
    ) -> Option<(RequestPlace, &RecordedCall)> {
        let mut positions = self.positions();
        let called = &mut positions.tracks[place.track].called;
        let mut calls = self.turn(place).calls.iter().enumerate();
        let (at, call) = calls.find(|(at, call)| matches(call) && !called.contains(&(place.turn, *at)))?;
        called.insert((place.turn, at));
        Some((place, call))
    }

    /// Returns the newest request of a live turn.
    pub(super) fn newest(&self, path: &str, turn: &str) -> Option<RequestPlace> {
        let place = self.live_place(path, turn)?;
        Some(RequestPlace { exchange: place.exchange.saturating_sub(1), ..place })
    }

    /// Returns whether there was a divergence.
    pub(super) fn has_diverged(&self) -> bool {
        self.positions().first.is_some()
    }

    /// Compares the end of a live turn with the recorded one.
    pub(super) fn turn_ended(&self, place: RequestPlace, outcome: &TurnOutcome) {
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
        let is_same = live.starts_with(then)
            || (matches!(outcome, TurnOutcome::Failed(_)) && then == "completed" && self.is_failed(self.turn(place)));
        if !is_same && !is_known {
            let message = format!("the turn ended differently: {then} in the recording, {live} now");
            let _ = self.diverge(place.track, self.divergence(place, "end".to_owned(), message));
        }
    }

    /// Returns the state of each agent and its first divergence. Recorded requests that were not made yet count as missing,
    /// unless the replay has stopped.
    pub(super) fn reports(&self) -> Vec<ThreadReport> {
        let positions = self.positions();
        let is_stopped = self.on_divergence == OnDivergence::Stop && positions.first.is_some();
        let mut reports = Vec::new();
        for (number, (track, position)) in self.session.tracks.iter().zip(&positions.tracks).enumerate() {
            let turns = track.turns.iter().enumerate().filter(|(_, turn)| turn.started >= self.from);
            let recorded_requests = turns.clone().map(|(_, turn)| turn.exchanges.len()).sum();
            let is_played = recorded_requests > 0 && (!self.is_older(&track.path) || !position.turns.is_empty());
            if !is_played && position.divergence.is_none() {
                continue;
            }
            let missing = turns.clone().find_map(|(at, turn)| {
                let asked = position.asked.get(&at).copied().unwrap_or_default();
                (asked < turn.exchanges.len()).then_some(RequestPlace { track: number, turn: at, exchange: asked })
            });
            let missing = missing.filter(|_| is_played && !is_stopped).map(|place| {
                let message = match track.is_review {
                    true => "reviews are not replayed".to_owned(),
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
        reports.extend(positions.unknown_agents.iter().map(|divergence| ThreadReport {
            agent: divergence.agent.clone(),
            recorded_requests: 0,
            same_requests: 0,
            divergence: Some(divergence.clone()),
            recording_ends: false,
        }));
        reports
    }

    /// Returns requests of the root agent before a turn that together contain all that it had seen.
    pub(super) fn before(&self, turn: usize) -> Result<Vec<Value>, ReplayError> {
        let Some((_, root)) = self.session.track(ROOT) else { return Ok(Vec::new()) };
        let last = root.turns[..turn].iter().rev().find(|turn| !turn.exchanges.is_empty());
        last.map_or(Ok(Vec::new()), |last| self.session.seen(last, last.exchanges.len()))
    }
}

/// Returns the messages of the user at these indexes of a request.
pub(super) fn messages(request: &Value, places: &[usize]) -> Vec<Vec<Value>> {
    let content = |place: &usize| match request.get("input")?.get(place)?.get("content")? {
        Value::String(text) => Some(vec![json!({ "type": "input_text", "text": text })]),
        content => content.as_array().cloned(),
    };
    places.iter().filter_map(content).collect()
}

/// Returns whether the turn was interrupted.
pub(super) fn is_stopped(turn: &RecordedTurn) -> bool {
    matches!(turn.ended, Some((_, ExecutionStatus::Cancelled | ExecutionStatus::Aborted)))
}

/// Returns whether a call was interrupted together with its turn.
pub(super) fn was_stopped(turn: &RecordedTurn, call: &RecordedCall) -> bool {
    let is_cancelled = matches!(call.end, None | Some((_, ExecutionStatus::Cancelled | ExecutionStatus::Aborted, _)));
    is_cancelled && is_stopped(turn)
}

/// Returns whether a turn takes part in the replay: it made requests, or was interrupted before it could.
fn has_part(turn: &RecordedTurn) -> bool {
    !turn.exchanges.is_empty() || (is_stopped(turn) && !turn.is_aside)
}

/// Returns the moments of a turn at which agents act on each other.
fn moments_of(turn: &RecordedTurn) -> Vec<u64> {
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

/// Returns the last component of the name of a call.
fn name(call: &RecordedCall) -> &str {
    call.description.label.rsplit('.').next().unwrap_or_default()
}

/// Returns whether a call waits for other agents.
pub(super) fn waits(call: &RecordedCall) -> bool {
    call.description.kind == "wait_agent" || name(call) == "wait_agent"
}

/// Returns whether a call interrupts another agent. Its output is the state of that agent, which differs from moment to
/// moment.
pub(super) fn stops_other(call: &RecordedCall) -> bool {
    call.description.kind == "close_agent" || name(call) == "interrupt_agent"
}

/// Returns whether a call acts on other agents.
pub(super) fn acts_on_others(call: &RecordedCall) -> bool {
    let by_kind =
        matches!(call.description.kind.as_str(), "spawn_agent" | "assign_agent_task" | "send_message" | "close_agent");
    by_kind || matches!(name(call), "interrupt_agent" | "followup_task")
}

/// Returns the error for a divergence.
pub(super) fn error_of(divergence: &Divergence) -> ProviderError {
    useless(divergence.to_string(), divergence.diff.clone())
}

fn ends_here() -> ProviderError {
    useless("the recording ends here".to_owned(), None)
}

pub(super) fn useless(message: String, details: Option<String>) -> ProviderError {
    ProviderError { message, details, kind: ErrorKind::Other, retry: RetryDecision::Never, request_id: None }
}

/// Returns whether an exchange failed and was followed by a retry of the same kind: a request for a summary that is too
/// long is shortened.
pub(super) fn is_asked_again(state: &ReplayState, place: RequestPlace) -> Result<bool, ReplayError> {
    let turn = state.turn(place);
    let exchange = state.exchange(place);
    let Some(next) = turn.exchanges.get(place.exchange + 1) else { return Ok(false) };
    if !matches!(exchange.end, Some((_, ExchangeEnd::Failed { .. }))) || next.kind != exchange.kind {
        return Ok(false);
    }
    let items = |body: &Value| body.get("input").and_then(Value::as_array).map_or(0, Vec::len);
    Ok(items(&state.session.request(next)?) >= items(&state.session.request(exchange)?))
}

/// Converts the parts of a recorded message to input of the user.
fn inputs(parts: &[Value]) -> Vec<Input> {
    let text = |part: &Value, name: &str| part.get(name).and_then(Value::as_str).map(str::to_owned);
    let input = |part: &Value| match text(part, "image_url") {
        Some(url) => Some(Input::Image { url, detail: text(part, "detail") }),
        None => Some(Input::Text { text: text(part, "text")?, elements: Vec::new() }),
    };
    parts.iter().filter_map(input).collect()
}
