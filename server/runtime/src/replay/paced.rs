//! Keeps agents in the order of the recording, and repeats what the user did while turns ran.

use std::collections::VecDeque;
use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json::Value;

use super::stage::{NextRequest, Place, Stage, is_stopped};
use super::tape::RequestKind;
use super::user_messages;
use crate::event::TurnOutcome;
use crate::id::TurnId;
use crate::mail::{Mail, Wake};
use crate::pace::{Pace, PacedAgent};

/// Keeps agents in the order of the recording.
pub(super) struct Paced {
    pub(super) stage: Arc<Stage>,
}

impl Pace for Paced {
    fn turn_started(&self, turn: &TurnId) {
        self.stage.order.begun(turn.as_str());
    }

    fn before_request<'a>(&'a self, agent: &'a Arc<dyn PacedAgent>, turn: &'a TurnId) -> BoxFuture<'a, ()> {
        async move {
            if let Some(place) = self.stage.match_turn(agent.path(), turn.as_str(), Some(Arc::downgrade(agent))) {
                self.hold(&**agent, turn, place).await;
            }
        }
        .boxed()
    }

    fn before_turn_end<'a>(&'a self, agent: &'a dyn PacedAgent, turn: &'a TurnId) -> BoxFuture<'a, ()> {
        async move {
            if let Some(place) = self.stage.live_place(agent.path(), turn.as_str()) {
                self.hold(agent, turn, place).await;
                self.wake_for_mail(agent, turn, place);
                self.settle_mail(agent, place);
            }
        }
        .boxed()
    }

    fn take_mail(&self, path: &str, turn: &TurnId, mail: &mut VecDeque<Arc<Mail>>) -> Vec<Arc<Mail>> {
        let stage = &self.stage;
        let place = stage.live_place(path, turn.as_str());
        let Some((place, next)) =
            place.and_then(|place| Some((place, stage.turn(place).exchanges.get(place.exchange)?)))
        else {
            return mail.drain(..).collect();
        };
        match stage.next_mail(place, turn.as_str()) {
            Some(recorded) => stage.take(recorded.iter(), mail),
            None if stage.tape.knows_mail => stage.take(stage.mail_before(place, next.seq), mail),
            None => mail.drain(..).collect(),
        }
    }

    fn compacts(&self, path: &str, turn: &TurnId) -> bool {
        self.stage.shortens(path, turn.as_str())
    }

    fn turn_ended<'a>(&'a self, path: &'a str, turn: &'a TurnId, outcome: &'a TurnOutcome) -> BoxFuture<'a, ()> {
        async move {
            let live = turn.as_str();
            let stopped = || (*outcome == TurnOutcome::Interrupted).then(|| self.stage.match_stopped_turn(path, live));
            let Some(place) = self.stage.live_place(path, live).or_else(|| stopped()?) else { return };
            self.stage.turn_ended(place, outcome);
            match self.stage.turn(place).told {
                Some(told) => {
                    // Moments of the turn that have not passed will not happen any more.
                    self.stage.order.pass_before(place.owner(), told);
                    // The next turn of the agent starts after this report. Some recorders wrote its request before the
                    // report.
                    let turns = &self.stage.tape.tracks[place.track].turns;
                    let next = turns[place.turn + 1..].iter().find_map(|turn| turn.exchanges.first());
                    let until = next.map_or(told, |next| next.seq.min(told));
                    self.stage.reach(turn.as_str(), until).await;
                }
                None => self.stage.order.pass_before(place.owner(), u64::MAX),
            }
        }
        .boxed()
    }

    fn runs_tools(&self) -> bool {
        // The own tools are set if outputs come from the recording.
        self.stage.own_tools.get().is_none()
    }

    fn end_reported(&self, path: &str, turn: &TurnId) {
        if let Some(place) = self.stage.live_place(path, turn.as_str()) {
            self.stage.deliver_late_mail(place, turn.as_str());
            self.stage.order.pass_before(place.owner(), u64::MAX);
        }
        self.stage.order.done(turn.as_str());
    }
}

impl Paced {
    /// Waits for the next moment of a turn: a request, or its end. Before a request the messages of the user are sent.
    async fn hold(&self, agent: &dyn PacedAgent, turn: &TurnId, place: Place) {
        let (stage, live) = (&self.stage, turn.as_str());
        let taped = stage.turn(place);
        let next = taped.exchanges.get(place.exchange);
        // What was found for the request before does not hold any more, also if the turn has no further request.
        stage.set_next(place, live, NextRequest::default());
        // An interrupted turn makes no further request, whatever the recording has.
        if next.is_some() && agent.is_stopped() {
            return;
        }
        let seq = next.map(|exchange| exchange.seq).or(taped.ended.map(|(seq, _)| seq));
        // Without one the recording ends here, which the next request reports.
        let Some(seq) = seq else { return };
        // All earlier moments of the turn have passed.
        stage.order.pass_before(place.owner(), seq);
        stage.reach(live, seq).await;
        if next.is_none() {
            if is_stopped(taped) && !agent.is_stopped() {
                let () = stage.stop(place, live).await;
            }
            return;
        }
        stage.say(place, live).await;
        let reading = Arc::clone(stage);
        let next = tokio::task::spawn_blocking(move || next_request(&reading, place)).await;
        // A payload that cannot be read is reported where it is needed.
        stage.set_next(place, live, next.unwrap_or_default());
    }

    /// Keeps a turn from ending if the recorded turn went on with a message. In the Codex CLI any message does that, and in
    /// this program only one that wakes the agent.
    fn wake_for_mail(&self, agent: &dyn PacedAgent, turn: &TurnId, place: Place) {
        let stage = &self.stage;
        let next = stage.turn(place).exchanges.get(place.exchange).filter(|_| stage.tape.is_foreign);
        let Some(next) = next else { return };
        let author = || stage.mail_before(place, next.seq).find_map(|item| item.get("author")?.as_str());
        let author = stage.author_of_next_mail(place, turn.as_str()).or_else(|| author().map(str::to_owned));
        agent.with_mail(&mut |waiting| {
            let first = waiting.iter_mut().find(|mail| author.as_ref().is_some_and(|author| mail.author == *author));
            if let Some(mail) = first {
                Arc::make_mut(mail).wake = Wake::Agent;
            }
        });
    }

    /// Keeps a turn from going on with messages that the recorded turn did not read before it ended. They start the next
    /// turn, as in the Codex CLI. Turns of this program read all messages before they end.
    fn settle_mail(&self, agent: &dyn PacedAgent, place: Place) {
        let stage = &self.stage;
        let taped = stage.turn(place);
        let Some((end, _)) = taped.ended.filter(|_| stage.tape.is_foreign && place.exchange >= taped.exchanges.len())
        else {
            return;
        };
        let mut read = Vec::new();
        agent.with_mail(&mut |waiting| {
            read = stage.take(stage.mail_before(place, end), waiting);
            let (late, rest): (Vec<_>, Vec<_>) = waiting.drain(..).partition(|mail| mail.wake == Wake::Agent);
            waiting.extend(rest);
            stage.keep_mail(place, late);
        });
        agent.remember_mail(&read);
    }
}

impl Stage {
    /// Returns the recorded messages that an agent read after its previous request and before `until`.
    fn mail_before(&self, place: Place, until: u64) -> impl Iterator<Item = &Value> {
        let track = &self.tape.tracks[place.track];
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
fn next_request(stage: &Stage, place: Place) -> NextRequest {
    // The history is replaced once. The history that took its place has the messages that the request is the first to have.
    if stage.was_replaced(place) {
        return NextRequest { shortens: shortens(stage, place), mail: Some(Vec::new()) };
    }
    let is_replaced = || stage.is_replaced(place).unwrap_or_default();
    NextRequest {
        shortens: shortens(stage, place) || is_replaced(),
        mail: stage.mail_in_request(place).unwrap_or_default(),
    }
}

/// Returns whether a request compacts the history.
fn shortens(stage: &Stage, place: Place) -> bool {
    let turn = stage.turn(place);
    turn.exchanges.get(place.exchange).is_some_and(|exchange| {
        exchange.kind == RequestKind::Compaction
            || (!stage.tape.is_foreign
                && stage.tape.request(exchange).is_ok_and(|it| user_messages::asks_for_summary(&it)))
    })
}
