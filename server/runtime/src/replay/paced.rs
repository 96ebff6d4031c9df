//! Keeps agents in the order of the recording, and repeats what the user did while turns ran.

use std::collections::VecDeque;
use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json::Value;

use super::state::{NextRequest, RequestPlace, ReplayState, is_stopped};
use super::session::RequestKind;
use super::user_messages;
use crate::event::TurnOutcome;
use crate::id::TurnId;
use crate::mail::{Mail, Wake};
use crate::pace::{Pace, PacedAgent};

/// Keeps agents in the order of the recording.
pub(super) struct ReplayPace {
    pub(super) state: Arc<ReplayState>,
}

impl Pace for ReplayPace {
    fn turn_started(&self, turn: &TurnId) {
        self.state.order.begun(turn.as_str());
    }

    fn before_request<'a>(&'a self, agent: &'a Arc<dyn PacedAgent>, turn: &'a TurnId) -> BoxFuture<'a, ()> {
        async move {
            if let Some(place) = self.state.match_turn(agent.path(), turn.as_str(), Some(Arc::downgrade(agent))) {
                self.hold(&**agent, turn, place).await;
            }
        }
        .boxed()
    }

    fn before_turn_end<'a>(&'a self, agent: &'a dyn PacedAgent, turn: &'a TurnId) -> BoxFuture<'a, ()> {
        async move {
            if let Some(place) = self.state.live_place(agent.path(), turn.as_str()) {
                self.hold(agent, turn, place).await;
                self.wake_for_mail(agent, turn, place);
                self.settle_mail(agent, place);
            }
        }
        .boxed()
    }

    fn take_mail(&self, path: &str, turn: &TurnId, mail: &mut VecDeque<Arc<Mail>>) -> Vec<Arc<Mail>> {
        let state = &self.state;
        let place = state.live_place(path, turn.as_str());
        let Some((place, next)) =
            place.and_then(|place| Some((place, state.turn(place).exchanges.get(place.exchange)?)))
        else {
            return mail.drain(..).collect();
        };
        match state.next_mail(place, turn.as_str()) {
            Some(recorded) => state.take(recorded.iter(), mail),
            None if state.session.knows_mail => state.take(state.mail_before(place, next.seq), mail),
            None => mail.drain(..).collect(),
        }
    }

    fn compacts(&self, path: &str, turn: &TurnId) -> bool {
        self.state.shortens(path, turn.as_str())
    }

    fn turn_ended<'a>(&'a self, path: &'a str, turn: &'a TurnId, outcome: &'a TurnOutcome) -> BoxFuture<'a, ()> {
        async move {
            let live = turn.as_str();
            let stopped = || (*outcome == TurnOutcome::Interrupted).then(|| self.state.match_stopped_turn(path, live));
            let Some(place) = self.state.live_place(path, live).or_else(|| stopped()?) else { return };
            self.state.turn_ended(place, outcome);
            match self.state.turn(place).told {
                Some(told) => {
                    // Moments of the turn that have not passed will not happen any more.
                    self.state.order.pass_before(place.owner(), told);
                    // The next turn of the agent starts after this report. Some recorders wrote its request before the
                    // report.
                    let turns = &self.state.session.tracks[place.track].turns;
                    let next = turns[place.turn + 1..].iter().find_map(|turn| turn.exchanges.first());
                    let until = next.map_or(told, |next| next.seq.min(told));
                    self.state.reach(turn.as_str(), until).await;
                }
                None => self.state.order.pass_before(place.owner(), u64::MAX),
            }
        }
        .boxed()
    }

    fn runs_tools(&self) -> bool {
        // The own tools are set if outputs come from the recording.
        self.state.own_tools.get().is_none()
    }

    fn end_reported(&self, path: &str, turn: &TurnId) {
        if let Some(place) = self.state.live_place(path, turn.as_str()) {
            self.state.deliver_late_mail(place, turn.as_str());
            self.state.order.pass_before(place.owner(), u64::MAX);
        }
        self.state.order.done(turn.as_str());
    }
}

impl ReplayPace {
    /// Waits for the next moment of a turn: a request, or its end. Before a request the messages of the user are sent.
    async fn hold(&self, agent: &dyn PacedAgent, turn: &TurnId, place: RequestPlace) {
        let (state, live) = (&self.state, turn.as_str());
        let recorded_turn = state.turn(place);
        let next = recorded_turn.exchanges.get(place.exchange);
        // What was found for the request before does not hold any more, also if the turn has no further request.
        state.set_next(place, live, NextRequest::default());
        // An interrupted turn makes no further request, whatever the recording has.
        if next.is_some() && agent.is_stopped() {
            return;
        }
        let seq = next.map(|exchange| exchange.seq).or(recorded_turn.ended.map(|(seq, _)| seq));
        // Without one the recording ends here, which the next request reports.
        let Some(seq) = seq else { return };
        // All earlier moments of the turn have passed.
        state.order.pass_before(place.owner(), seq);
        state.reach(live, seq).await;
        if next.is_none() {
            if is_stopped(recorded_turn) && !agent.is_stopped() {
                let () = state.stop(place, live).await;
            }
            return;
        }
        state.say(place, live).await;
        let reading = Arc::clone(state);
        let next = tokio::task::spawn_blocking(move || next_request(&reading, place)).await;
        // A payload that cannot be read is reported where it is needed.
        state.set_next(place, live, next.unwrap_or_default());
    }

    /// Keeps a turn from ending if the recorded turn went on with a message. In the Codex CLI any message does that, and in
    /// this program only one that wakes the agent.
    fn wake_for_mail(&self, agent: &dyn PacedAgent, turn: &TurnId, place: RequestPlace) {
        let state = &self.state;
        let next = state.turn(place).exchanges.get(place.exchange).filter(|_| state.session.is_foreign);
        let Some(next) = next else { return };
        let author = || state.mail_before(place, next.seq).find_map(|item| item.get("author")?.as_str());
        let author = state.author_of_next_mail(place, turn.as_str()).or_else(|| author().map(str::to_owned));
        agent.with_mail(&mut |waiting| {
            let first = waiting.iter_mut().find(|mail| author.as_ref().is_some_and(|author| mail.author == *author));
            if let Some(mail) = first {
                Arc::make_mut(mail).wake = Wake::Agent;
            }
        });
    }

    /// Keeps a turn from going on with messages that the recorded turn did not read before it ended. They start the next
    /// turn, as in the Codex CLI. Turns of this program read all messages before they end.
    fn settle_mail(&self, agent: &dyn PacedAgent, place: RequestPlace) {
        let state = &self.state;
        let recorded_turn = state.turn(place);
        let Some((end, _)) = recorded_turn.ended.filter(|_| state.session.is_foreign && place.exchange >= recorded_turn.exchanges.len())
        else {
            return;
        };
        let mut read = Vec::new();
        agent.with_mail(&mut |waiting| {
            read = state.take(state.mail_before(place, end), waiting);
            let (late, rest): (Vec<_>, Vec<_>) = waiting.drain(..).partition(|mail| mail.wake == Wake::Agent);
            waiting.extend(rest);
            state.keep_mail(place, late);
        });
        agent.remember_mail(&read);
    }
}

impl ReplayState {
    /// Returns the recorded messages that an agent read after its previous request and before `until`.
    fn mail_before(&self, place: RequestPlace, until: u64) -> impl Iterator<Item = &Value> {
        let track = &self.session.tracks[place.track];
        let exchanges = track.turns[..=place.turn].iter().flat_map(|turn| &turn.exchanges);
        let before = exchanges.map(|exchange| exchange.seq).filter(|seq| *seq < until).max().unwrap_or_default();
        track.mail.iter().filter(move |(seq, _)| (before..until).contains(seq)).map(|(_, item)| item)
    }

    /// Takes recorded messages out of a mailbox.
    fn take<'a>(&self, recorded: impl Iterator<Item = &'a Value>, mailbox: &mut VecDeque<Arc<Mail>>) -> Vec<Arc<Mail>> {
        let mut taken = Vec::new();
        for item in recorded {
            let author = item.get("author").and_then(Value::as_str);
            // If the author is unknown, any message matches.
            let came = mailbox.iter().position(|mail| author.is_none_or(|author| mail.author == author));
            match came.and_then(|at| mailbox.remove(at)) {
                Some(mail) => taken.push(mail),
                None => taken.extend(author.filter(|author| self.is_older(author)).and_then(|_| earlier(item))),
            }
        }
        taken
    }
}

/// Returns a recorded message of an agent that is older than the replay, because no live agent sends it.
fn earlier(item: &Value) -> Option<Arc<Mail>> {
    let text = |name: &str| item.get(name).and_then(Value::as_str).map(str::to_owned);
    Some(Arc::new(Mail {
        id: text("id").unwrap_or_else(Mail::new_id),
        author: text("author")?,
        recipient: text("recipient")?,
        content: item.get("content")?.as_array()?.clone(),
        wake: Wake::Nobody,
        root_turn: None,
    }))
}

/// Returns what happens before a request.
fn next_request(state: &ReplayState, place: RequestPlace) -> NextRequest {
    // The history is replaced once. The history that took its place has the messages that the request is the first to have.
    if state.was_replaced(place) {
        return NextRequest { shortens: shortens(state, place), mail: Some(Vec::new()) };
    }
    let is_replaced = || state.is_replaced(place).unwrap_or_default();
    NextRequest {
        shortens: shortens(state, place) || is_replaced(),
        mail: state.mail_in_request(place).unwrap_or_default(),
    }
}

/// Returns whether a request compacts the history.
fn shortens(state: &ReplayState, place: RequestPlace) -> bool {
    let turn = state.turn(place);
    turn.exchanges.get(place.exchange).is_some_and(|exchange| {
        exchange.kind == RequestKind::Compaction
            || (!state.session.is_foreign
                && state.session.request(exchange).is_ok_and(|it| user_messages::asks_for_summary(&it)))
    })
}
