//! Keeps agents in the order of the recording, and repeats what the user did while turns ran.

use std::collections::VecDeque;
use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json::Value;

use super::session::RequestKind;
use super::state::{NextRequest, ReplayState, RequestPlace, is_stopped};
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
            self.state.wake_for_late_mail(place, turn.as_str());
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

    /// Keeps a turn from going on with messages that the recorded turn did not read before it ended. They stay in the mailbox and
    /// start the next turn, as in the Codex CLI. Turns of this program read all messages before they end.
    fn settle_mail(&self, agent: &dyn PacedAgent, place: RequestPlace) {
        let state = &self.state;
        let recorded_turn = state.turn(place);
        let Some((end, _)) =
            recorded_turn.ended.filter(|_| state.session.is_foreign && place.exchange >= recorded_turn.exchanges.len())
        else {
            return;
        };
        let mut read = Vec::new();
        agent.with_mail(&mut |waiting| {
            read = state.take(state.mail_before(place, end), waiting);
            let late = waiting.iter_mut().filter(|mail| mail.wake == Wake::Agent);
            state.note_late_mail(
                place,
                late.map(|mail| {
                    let mail = Arc::make_mut(mail);
                    mail.wake = Wake::Nobody;
                    mail.id.clone()
                }),
            );
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

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test that fails says where")]
mod tests {
    use std::path::Path;
    use std::sync::Mutex;

    use serde_json::json;
    use tokio_util::sync::CancellationToken;
    use trace_recorder::Bundle;
    use trace_recorder::format::Manifest;
    use trace_recorder::payloads::MemoryFiles;

    use super::*;
    use crate::item::Input;
    use crate::refusal::Refusal;
    use crate::replay::choices::OnDivergence;
    use crate::replay::compare::Rules;
    use crate::replay::session::RecordedSession;

    /// An agent with a mailbox, that notes for which messages it was woken.
    #[derive(Default)]
    struct Waiting {
        mail: Mutex<VecDeque<Arc<Mail>>>,
        woken: Mutex<Vec<String>>,
    }

    impl PacedAgent for Waiting {
        fn path(&self) -> &str {
            "/root/a"
        }

        fn is_stopped(&self) -> bool {
            false
        }

        fn steer(&self, _: &TurnId, _: Vec<Input>, _: Option<String>) -> Result<TurnId, Refusal> {
            Err(Refusal::NoDirectInput)
        }

        fn interrupt(&self, _: &TurnId) -> Result<CancellationToken, Refusal> {
            Err(Refusal::NoActiveTurn)
        }

        fn with_mail(&self, change: &mut dyn FnMut(&mut VecDeque<Arc<Mail>>)) {
            change(&mut self.mail.lock().unwrap());
        }

        fn remember_mail(&self, _: &[Arc<Mail>]) {}

        fn wake_for(self: Arc<Self>, mail: &[String]) -> Result<(), Refusal> {
            self.woken.lock().unwrap().extend(mail.iter().cloned());
            Ok(())
        }
    }

    /// A recording of the Codex CLI in which a child has these numbers of turns, with one request each.
    fn session(turns_of_child: usize) -> RecordedSession {
        let mut events = vec![
            (None, json!({"type": "rollout_started", "trace_id": "t", "root_thread_id": "r"})),
            (None, thread("r", "/root")),
            (None, protocol_event()),
            (None, thread("a", "/root/a")),
            (Some(("r", "r1")), json!({"type": "codex_turn_started", "codex_turn_id": "r1", "thread_id": "r"})),
            (Some(("r", "r1")), request("r", "r1")),
        ];
        for turn in (1..=turns_of_child).map(|number| format!("a{number}")) {
            let started = json!({"type": "codex_turn_started", "codex_turn_id": turn, "thread_id": "a"});
            let ended = json!({"type": "codex_turn_ended", "codex_turn_id": turn, "status": "completed"});
            events.extend([(None, started), (None, request("a", &turn)), (None, ended)]);
        }
        let log: String = (1..)
            .zip(events)
            .map(|(seq, (context, payload))| {
                let (thread, turn) = context.unzip();
                let line = json!({
                    "schema_version": 2, "seq": seq, "wall_time_unix_ms": 1_000 + seq, "rollout_id": "r",
                    "thread_id": thread, "codex_turn_id": turn, "payload": payload,
                });
                format!("{line}\n")
            })
            .collect();
        let manifest = Manifest::new("t", "r", "r", 1_000);
        let files = MemoryFiles::default();
        RecordedSession::read_from(Bundle::from_memory(Path::new("memory"), manifest, log.into_bytes(), files)).unwrap()
    }

    fn thread(id: &str, path: &str) -> Value {
        json!({"type": "thread_started", "thread_id": id, "agent_path": path, "metadata_payload": null})
    }

    fn payload(kind: &str) -> Value {
        json!({"raw_payload_id": "p", "kind": {"type": kind}, "path": "payloads/p.json"})
    }

    fn protocol_event() -> Value {
        let event_payload = payload("protocol_event");
        json!({"type": "protocol_event_observed", "event_type": "session_configured", "event_payload": event_payload})
    }

    fn request(thread: &str, turn: &str) -> Value {
        json!({
            "type": "inference_started", "inference_call_id": format!("i{turn}"), "thread_id": thread,
            "codex_turn_id": turn, "model": "m", "provider_name": "p",
            "request_payload": payload("inference_request"),
        })
    }

    fn task() -> Arc<Mail> {
        Arc::new(Mail {
            id: "amsg_1".to_owned(),
            author: "/root".to_owned(),
            recipient: "/root/a".to_owned(),
            content: Vec::new(),
            wake: Wake::Agent,
            root_turn: None,
        })
    }

    /// Ends the first turn of a child while a task waits. Returns the agent.
    async fn end_first_turn(turns_of_child: usize) -> Arc<Waiting> {
        let rules = Rules { only_conversation: true, folders: None };
        let state = Arc::new(ReplayState::new(session(turns_of_child), rules, OnDivergence::Continue, 0));
        state.order.give_up();
        let pace = ReplayPace { state: Arc::clone(&state) };
        let (agent, turn) = (Arc::new(Waiting::default()), TurnId::from("live"));
        let paced: Arc<dyn PacedAgent> = Arc::<Waiting>::clone(&agent);
        let place = state.match_turn("/root/a", turn.as_str(), Some(Arc::downgrade(&paced))).unwrap();
        agent.mail.lock().unwrap().push_back(task());
        pace.settle_mail(&*paced, RequestPlace { exchange: 1, ..place });
        assert_eq!(agent.mail.lock().unwrap()[0].wake, Wake::Nobody, "the turn does not go on with it");
        pace.end_reported("/root/a", &turn);
        agent
    }

    #[tokio::test]
    async fn late_messages_start_the_next_recorded_turn() {
        let agent = end_first_turn(2).await;
        assert_eq!(*agent.woken.lock().unwrap(), ["amsg_1"]);
        assert_eq!(agent.mail.lock().unwrap().len(), 1);
    }

    #[tokio::test]
    async fn late_messages_stay_in_the_mailbox_if_the_recording_has_no_further_turn() {
        let agent = end_first_turn(1).await;
        assert!(agent.woken.lock().unwrap().is_empty());
        assert_eq!(agent.mail.lock().unwrap().len(), 1, "nothing is lost");
    }
}
