//! Keeps agents in the order of the recording, and repeats what the user did while turns ran.

use std::collections::VecDeque;
use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json::Value;

use super::stage::{Place, Stage, is_stopped};
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
            }
        }
        .boxed()
    }

    fn take_mail(&self, path: &str, turn: &TurnId, mail: &mut VecDeque<Arc<Mail>>) -> Vec<Arc<Mail>> {
        let stage = &self.stage;
        let place = stage.live_place(path, turn.as_str()).filter(|_| stage.tape.knows_mail);
        let Some((place, next)) =
            place.and_then(|place| Some((place, stage.turn(place).exchanges.get(place.exchange)?)))
        else {
            return mail.drain(..).collect();
        };
        let track = &stage.tape.tracks[place.track];
        let exchanges = track.turns[..=place.turn].iter().flat_map(|turn| &turn.exchanges);
        let before = exchanges.map(|exchange| exchange.seq).filter(|seq| *seq < next.seq).max().unwrap_or_default();
        let mut taken = Vec::new();
        for (_, item) in track.mail.iter().filter(|(seq, _)| (before..next.seq).contains(seq)) {
            let author = item.get("author").and_then(Value::as_str);
            // If the author is unknown, any message matches.
            let came = mail.iter().position(|mail| author.is_none_or(|author| mail.author == author));
            match came.and_then(|at| mail.remove(at)) {
                Some(mail) => taken.push(mail),
                None => taken.extend(author.filter(|author| stage.is_older(author)).and_then(|_| earlier(item))),
            }
        }
        taken
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
        let is_short = tokio::task::spawn_blocking(move || shortens(&reading, place)).await;
        // A payload that cannot be read is reported where it is needed.
        stage.set_shortens(place, live, is_short.unwrap_or_default());
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

/// Returns whether a request compacts the history.
fn shortens(stage: &Stage, place: Place) -> bool {
    let turn = stage.turn(place);
    turn.exchanges.get(place.exchange).is_some_and(|exchange| {
        exchange.kind == RequestKind::Compaction
            || (!stage.tape.is_foreign
                && stage.tape.request(exchange).is_ok_and(|it| user_messages::asks_for_summary(&it)))
    })
}
