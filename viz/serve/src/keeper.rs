//! The thread that owns the session and answers questions about it.
//!
//! Answering reads files and uses all cores, which must not block the threads that handle connections. So one separate
//! thread owns the session and takes questions from a short queue, one after the other. If the queue is full, the
//! client is asked to try again.
//!
//! A session that is still written is followed: as long as a page waits for changes, the thread looks for a newer state,
//! and answers with the changes that lead to it. The numbers of objects stay the same from state to state. When a type
//! of objects has no more numbers, all get other ones; the page then requests the whole structure again, with which a
//! new *numbering* begins.

use std::cell::OnceCell;
use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::time::{Duration, Instant};

use axum::body::Bytes;
use tokio::sync::oneshot;
use trace_explain::{Object, Session};
use trace_viz::page::{
    Body, BodyError, BodySource, MAX_BODY_BYTES, MAX_PAYLOAD_BYTES, Number, PayloadText, Recorder, Structure,
};

use crate::search::{Hits, search};

/// Most questions that wait for an answer.
pub const MAX_WAITING: usize = 64;

/// Most bytes of text in one answer with several bodies. Bodies after this limit are empty.
pub const MAX_BODIES_BYTES: usize = 64 << 20;

/// Most waiting pages that are answered with the next changes. A page that comes when there are more waits shorter.
pub(crate) const MAX_WATCHING: usize = 64;

/// Longest time that a page waits for changes. It asks again then.
pub(crate) const WATCH_TIME: Duration = Duration::from_secs(25);

/// How often the thread looks for a newer state while a page waits.
const LOOK_PAUSE: Duration = Duration::from_millis(100);

/// Shortest time between two states. In a large session it is longer, so that the thread also answers questions.
const STATE_PAUSE: Duration = Duration::from_millis(250);

/// The pause after a state is at least this many times as long as making the state took.
const PAUSES_PER_STATE: u32 = 2;

/// Most changes that are kept for pages that are behind, and their most bytes together.
const MAX_KEPT_CHANGES: usize = 64;
const MAX_KEPT_BYTES: usize = 32 << 20;

/// Number of bodies that are made at a time.
const BODIES_PER_STEP: usize = 8;

/// A way to the newer states of a session that is followed.
pub struct Newer {
    /// Looks for a newer state. Returns `None` if there is none since the last call.
    pub look: Box<dyn FnMut() -> Option<Session> + Send>,
    /// Returns whether the session is still recorded.
    pub recorder: Box<dyn Fn() -> Recorder + Send>,
}

/// Number of a numbering of objects, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
pub(crate) struct Revision(pub(crate) u64);

/// Number of a state of the session within a numbering, from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
pub(crate) struct StateNumber(pub(crate) u64);

/// Which state a structure describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) revision: Revision,
    pub(crate) state: StateNumber,
    /// Whether the session may still grow.
    pub(crate) is_followed: bool,
}

/// The objects have other numbers than those that the page knows.
#[derive(Debug)]
struct Stale;

type Answer<T> = oneshot::Sender<Result<T, Stale>>;

/// The structure of a session as JSON.
pub(crate) type StructureText = Result<Bytes, Arc<serde_json::Error>>;

/// The changes since a state, each as JSON, and the state that they lead to. There are none if nothing changed in time.
#[derive(Debug, Clone, Default)]
pub(crate) struct ChangesText {
    pub(crate) changes: Vec<Bytes>,
    pub(crate) state: Option<StateNumber>,
}

/// A question to the thread, with the channel for its answer.
#[derive(Debug)]
enum Question {
    Structure(Answer<(Place, StructureText)>),
    Changes(StateNumber, Answer<ChangesText>),
    Bodies(Vec<Number>, Answer<Result<Vec<(Number, Body)>, BodyError>>),
    Payload(Number, Answer<Result<PayloadText, BodyError>>),
    Search(String, usize, Answer<Hits>),
}

impl Question {
    /// Returns whether the caller has stopped waiting for the answer.
    fn is_closed(&self) -> bool {
        match self {
            Self::Structure(answer) => answer.is_closed(),
            Self::Changes(_, answer) => answer.is_closed(),
            Self::Bodies(_, answer) => answer.is_closed(),
            Self::Payload(_, answer) => answer.is_closed(),
            Self::Search(_, _, answer) => answer.is_closed(),
        }
    }

    /// Refuses an answer, because the page was loaded with an earlier state.
    fn refuse(self) {
        // A caller that has gone needs no answer.
        match self {
            Self::Structure(answer) => drop(answer.send(Err(Stale))),
            Self::Changes(_, answer) => drop(answer.send(Err(Stale))),
            Self::Bodies(_, answer) => drop(answer.send(Err(Stale))),
            Self::Payload(_, answer) => drop(answer.send(Err(Stale))),
            Self::Search(_, _, answer) => drop(answer.send(Err(Stale))),
        }
    }
}

/// A question from a page that was loaded with this state. `None` asks about the current one.
type Asked = (Option<Revision>, Question);

/// Why the keeper did not accept a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Busy {
    /// The queue is full.
    #[error("too many requests wait already; try again")]
    Full,
    /// The thread has ended, which is a bug.
    #[error("the session is no longer there")]
    Gone,
    /// The objects have other numbers than those that the page knows.
    #[error("the objects of the session have other numbers now; request the structure again")]
    Stale,
}

/// A handle to the thread. It sends questions about the session.
#[derive(Debug, Clone)]
pub(crate) struct Keeper {
    questions: SyncSender<Asked>,
}

impl Keeper {
    /// Starts the thread that owns the session.
    pub(crate) fn start(session: Session, name: &str, newer: Option<Newer>) -> io::Result<Self> {
        let (questions, asked) = sync_channel(MAX_WAITING);
        let kept = Kept { newer, loading: Vec::new(), watching: Vec::new(), changes: VecDeque::new(), kept_bytes: 0 };
        let name = name.to_owned();
        std::thread::Builder::new().name("session".to_owned()).spawn(move || kept.answer(session, &name, &asked))?;
        Ok(Self { questions })
    }

    /// Returns the structure of the state that is served, with its place.
    pub(crate) async fn structure(&self) -> Result<(Place, StructureText), Busy> {
        self.ask(None, Question::Structure).await
    }

    /// Returns the changes since a state, and waits for them if there are none yet.
    pub(crate) async fn changes(&self, revision: Revision, since: StateNumber) -> Result<ChangesText, Busy> {
        self.ask(Some(revision), |answer| Question::Changes(since, answer)).await
    }

    /// Returns bodies by number.
    pub(crate) async fn bodies(
        &self,
        revision: Option<Revision>,
        of: Vec<Number>,
    ) -> Result<Result<Vec<(Number, Body)>, BodyError>, Busy> {
        self.ask(revision, |answer| Question::Bodies(of, answer)).await
    }

    /// Returns a payload.
    pub(crate) async fn payload(
        &self,
        revision: Option<Revision>,
        of: Number,
    ) -> Result<Result<PayloadText, BodyError>, Busy> {
        self.ask(revision, |answer| Question::Payload(of, answer)).await
    }

    /// Searches all texts.
    pub(crate) async fn search(&self, revision: Option<Revision>, text: String, limit: usize) -> Result<Hits, Busy> {
        self.ask(revision, |answer| Question::Search(text, limit, answer)).await
    }

    async fn ask<T>(
        &self,
        revision: Option<Revision>,
        question: impl FnOnce(Answer<T>) -> Question,
    ) -> Result<T, Busy> {
        let (answer, answered) = oneshot::channel();
        self.questions.try_send((revision, question(answer))).map_err(|error| match error {
            TrySendError::Full(_) => Busy::Full,
            TrySendError::Disconnected(_) => Busy::Gone,
        })?;
        answered.await.map_err(|_| Busy::Gone)?.map_err(|Stale| Busy::Stale)
    }
}

/// What the thread keeps beside the session.
struct Kept {
    newer: Option<Newer>,
    /// Pages that are loaded and wait for the structure.
    loading: Vec<Answer<(Place, StructureText)>>,
    /// Pages that wait for changes, and until when.
    watching: Vec<Watch>,
    /// The last changes of this numbering. The first one leads to the state behind those that are gone.
    changes: VecDeque<(StateNumber, Bytes)>,
    kept_bytes: usize,
}

/// A page that waits for changes.
struct Watch {
    since: StateNumber,
    until: Instant,
    answer: Answer<ChangesText>,
}

/// The state that is served.
struct Served {
    structure: Structure,
    place: Place,
    /// The structure as JSON, once somebody has asked for it.
    text: OnceCell<StructureText>,
}

impl Served {
    fn text(&self) -> StructureText {
        self.text.get_or_init(|| serde_json::to_vec(&self.structure).map(Bytes::from).map_err(Arc::new)).clone()
    }
}

impl Kept {
    fn answer(mut self, mut session: Session, name: &str, asked: &Receiver<Asked>) {
        let is_followed = self.newer.is_some();
        // Only a session that may grow needs room for more numbers.
        let structure = match &self.newer {
            Some(newer) => Structure::following(&session, name, (newer.recorder)()),
            None => Structure::new(&session, name),
        };
        let place = Place { revision: Revision(1), state: StateNumber(0), is_followed };
        let mut served = Served { structure, place, text: OnceCell::new() };
        // Make it before the first question: a browser takes some time to start, and requests the structure first.
        let _ = served.text();
        let mut next_look = Instant::now();
        while let Some(next) = self.answer_until_newer(&session, &served, next_look, asked) {
            let began = Instant::now();
            session = next;
            served = self.advance(&session, served);
            next_look = began + (began.elapsed() * (1 + PAUSES_PER_STATE)).max(STATE_PAUSE);
        }
    }

    /// Makes the structure of a newer state, and tells the pages that wait.
    fn advance(&mut self, session: &Session, served: Served) -> Served {
        let Served { structure, mut place, .. } = served;
        let recorder = self.newer.as_ref().map_or(Recorder::Gone, |newer| (newer.recorder)());
        let (structure, changes) = structure.next(session, recorder);
        let text = changes.and_then(|changes| serde_json::to_vec(&changes).ok()).map(Bytes::from);
        match text {
            Some(text) => {
                place.state.0 += 1;
                self.keep(place.state, text);
                for watch in std::mem::take(&mut self.watching) {
                    let _ = watch.answer.send(self.since(watch.since, place.state).ok_or(Stale));
                }
            }
            None => {
                place = Place { revision: Revision(place.revision.0 + 1), state: StateNumber(0), ..place };
                self.changes.clear();
                self.kept_bytes = 0;
                for watch in std::mem::take(&mut self.watching) {
                    let _ = watch.answer.send(Err(Stale));
                }
            }
        }
        Served { structure, place, text: OnceCell::new() }
    }

    fn keep(&mut self, state: StateNumber, text: Bytes) {
        self.kept_bytes += text.len();
        self.changes.push_back((state, text));
        while self.changes.len() > MAX_KEPT_CHANGES || (self.kept_bytes > MAX_KEPT_BYTES && self.changes.len() > 1) {
            let Some((_, dropped)) = self.changes.pop_front() else { break };
            self.kept_bytes -= dropped.len();
        }
    }

    /// Returns the changes since a state. `None` if some of them are no longer kept.
    fn since(&self, since: StateNumber, state: StateNumber) -> Option<ChangesText> {
        if since > state {
            return None;
        }
        let changes: Vec<Bytes> =
            self.changes.iter().filter(|(kept, _)| *kept > since).map(|(_, text)| text.clone()).collect();
        (changes.len() as u64 == state.0 - since.0).then_some(ChangesText { changes, state: Some(state) })
    }

    /// Answers questions about one state. Returns the next state when there is one, or `None` if there are no more
    /// questions.
    fn answer_until_newer(
        &mut self,
        session: &Session,
        served: &Served,
        mut next_look: Instant,
        asked: &Receiver<Asked>,
    ) -> Option<Session> {
        self.load(served);
        let source = BodySource::of(session, &served.structure);
        loop {
            self.end_watches();
            let question = if self.watching.is_empty() {
                asked.recv().map_err(|_| RecvTimeoutError::Disconnected)
            } else {
                asked.recv_timeout(next_look.saturating_duration_since(Instant::now()))
            };
            let (of_revision, question) = match question {
                Ok(question) => question,
                Err(RecvTimeoutError::Disconnected) => return None,
                Err(RecvTimeoutError::Timeout) => {
                    next_look = Instant::now() + LOOK_PAUSE;
                    match self.newer() {
                        Some(next) => return Some(next),
                        None => continue,
                    }
                }
            };
            // The client may have closed the request. When a reader types and scrolls, only the last request is still open.
            if question.is_closed() {
                continue;
            }
            if of_revision.is_some_and(|of_revision| of_revision != served.place.revision) {
                question.refuse();
                continue;
            }
            match question {
                Question::Structure(answer) => {
                    self.loading.push(answer);
                    // A page that is loaded shows the newest state.
                    if let Some(next) = self.newer() {
                        return Some(next);
                    }
                    self.load(served);
                }
                Question::Changes(since, answer) if since == served.place.state => {
                    let is_full = self.watching.len() >= MAX_WATCHING;
                    let wait = if is_full || !served.place.is_followed { Duration::ZERO } else { WATCH_TIME };
                    self.watching.push(Watch { since, until: Instant::now() + wait, answer });
                }
                Question::Changes(since, answer) => {
                    let _ = answer.send(self.since(since, served.place.state).ok_or(Stale));
                }
                Question::Bodies(of, answer) => {
                    let objects: Result<Vec<_>, _> = of.iter().map(|number| source.object(*number)).collect();
                    let bodies = objects.map(|objects| {
                        let bodies = bodies(&source, &objects, MAX_BODY_BYTES, MAX_BODIES_BYTES);
                        of.into_iter().zip(bodies).collect::<Vec<_>>()
                    });
                    let _ = answer.send(Ok(bodies));
                }
                Question::Payload(of, answer) => {
                    let _ = answer.send(Ok(source.payload(of, MAX_PAYLOAD_BYTES)));
                }
                Question::Search(text, limit, answer) => {
                    let _ = answer.send(Ok(search(session, &source, &text, limit)));
                }
            }
        }
    }

    /// Answers the pages that are loaded.
    fn load(&mut self, served: &Served) {
        for answer in self.loading.drain(..) {
            let _ = answer.send(Ok((served.place, served.text())));
        }
    }

    /// Answers the pages that have waited long enough, and forgets those that have gone.
    fn end_watches(&mut self) {
        let now = Instant::now();
        let (over, waiting): (Vec<_>, Vec<_>) = std::mem::take(&mut self.watching)
            .into_iter()
            .filter(|watch| !watch.answer.is_closed())
            .partition(|watch| watch.until <= now);
        self.watching = waiting;
        for watch in over {
            let _ = watch.answer.send(Ok(ChangesText::default()));
        }
    }

    /// Looks for a newer state.
    fn newer(&mut self) -> Option<Session> {
        self.newer.as_mut().and_then(|newer| (newer.look)())
    }
}

/// Returns the bodies of objects, each with at most `max_body` bytes of text, and at most `max_all` bytes together.
fn bodies(source: &BodySource<'_>, objects: &[Object], max_body: usize, max_all: usize) -> Vec<Body> {
    let mut left = max_all;
    let mut bodies: Vec<Body> = Vec::with_capacity(objects.len());
    for objects in objects.chunks(BODIES_PER_STEP) {
        for mut body in source.bodies(objects, max_body.min(left)) {
            body.cut(left);
            left -= body.bytes();
            bodies.push(body);
        }
    }
    bodies
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_has_a_limit() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("bundle");
        trace_samples::scenes::one_agent(&path).expect("a sample");
        let session = Session::open(&path).expect("a bundle");
        let source = BodySource::new(&session);
        let objects: Vec<Object> = session.objects().filter(|object| matches!(object, Object::Item(_))).collect();
        assert!(objects.len() > BODIES_PER_STEP);
        let whole = bodies(&source, &objects, 1000, usize::MAX);
        let sum = |bodies: &[Body]| bodies.iter().map(Body::bytes).sum::<usize>();
        let omitted =
            |bodies: &[Body]| bodies.iter().flat_map(|body| &body.blocks).map(|block| block.omitted).sum::<u64>();
        let cut = bodies(&source, &objects, 1000, 700);
        assert_eq!((whole.len(), cut.len()), (objects.len(), objects.len()));
        assert!(sum(&whole) > 700 && (690..=700).contains(&sum(&cut)), "{}", sum(&cut));
        assert_eq!(sum(&whole) as u64 + omitted(&whole), sum(&cut) as u64 + omitted(&cut), "omitted bytes count");
    }
}
