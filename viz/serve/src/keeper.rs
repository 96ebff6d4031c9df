//! The thread that owns the session and answers questions about it.
//!
//! Answering reads files and uses all cores, which must not block the threads that handle connections. So one separate
//! thread owns the session and takes questions from a short queue, one after the other. If the queue is full, the
//! client is asked to try again.
//!
//! A session that is still written can be followed. It is replaced by its newer state only when a page is loaded, because
//! the numbers of objects differ between two states: a page that was loaded before is refused everything but the number of
//! the newest state, and has to be loaded again.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};

use axum::body::Bytes;
use tokio::sync::oneshot;
use trace_explain::{Object, Session};
use trace_viz::page::{Body, BodyError, BodySource, MAX_BODY_BYTES, MAX_PAYLOAD_BYTES, Number, PayloadText, Structure};

use crate::search::{Hits, search};

/// Most questions that wait for an answer.
pub const MAX_WAITING: usize = 64;

/// Most bytes of text in one answer with several bodies. Bodies after this limit are empty.
pub const MAX_BODIES_BYTES: usize = 64 << 20;

/// Number of bodies that are made at a time.
const BODIES_PER_STEP: usize = 8;

/// Looks for a newer state of a session. Returns `None` if there is none since the last call.
pub type Newer = Box<dyn FnMut() -> Option<Session> + Send>;

/// Number of the state of a session, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
pub(crate) struct Revision(pub(crate) u64);

/// The page was loaded with an earlier state of the session.
#[derive(Debug)]
struct Stale;

type Answer<T> = oneshot::Sender<Result<T, Stale>>;

/// The structure of a session as JSON.
pub(crate) type StructureText = Result<Bytes, Arc<serde_json::Error>>;

/// A question to the thread, with the channel for its answer.
#[derive(Debug)]
enum Question {
    Structure(Answer<(Revision, StructureText)>),
    Newest(Answer<Revision>),
    Bodies(Vec<Number>, Answer<Result<Vec<(Number, Body)>, BodyError>>),
    Payload(Number, Answer<Result<PayloadText, BodyError>>),
    Search(String, usize, Answer<Hits>),
}

impl Question {
    /// Returns whether the caller has stopped waiting for the answer.
    fn is_closed(&self) -> bool {
        match self {
            Self::Structure(answer) => answer.is_closed(),
            Self::Newest(answer) => answer.is_closed(),
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
            Self::Newest(answer) => drop(answer.send(Err(Stale))),
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
    /// The page was loaded with an earlier state of the session.
    #[error("the session has grown since this page was loaded; load it again")]
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
        let kept = Kept { name: name.to_owned(), revision: Revision(1), newer, next: None };
        std::thread::Builder::new().name("session".to_owned()).spawn(move || kept.answer(session, &asked))?;
        Ok(Self { questions })
    }

    /// Returns the structure of the newest state of the session.
    pub(crate) async fn structure(&self) -> Result<(Revision, StructureText), Busy> {
        self.ask(None, Question::Structure).await
    }

    /// Returns the number of the newest state of the session.
    pub(crate) async fn newest(&self) -> Result<Revision, Busy> {
        self.ask(None, Question::Newest).await
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
    name: String,
    /// Number of the state that is served.
    revision: Revision,
    newer: Option<Newer>,
    /// A newer state, which is served as soon as a page is loaded.
    next: Option<Session>,
}

impl Kept {
    fn answer(mut self, mut session: Session, asked: &Receiver<Asked>) {
        let mut waits = None;
        while let Some((next, answer)) = self.answer_until_loaded(&session, waits.take(), asked) {
            session = next;
            self.revision.0 += 1;
            waits = Some(answer);
        }
        // The process is about to end, and freeing a million objects one by one would delay that.
        std::mem::forget(session);
    }

    /// Answers questions about one state, first the one that `waits`. Returns the next state with the first question
    /// for it, or `None` if there are no more questions.
    fn answer_until_loaded(
        &mut self,
        session: &Session,
        waits: Option<Answer<(Revision, StructureText)>>,
        asked: &Receiver<Asked>,
    ) -> Option<(Session, Answer<(Revision, StructureText)>)> {
        let revision = self.revision;
        // Make it before the first question: a browser takes some time to start, and requests the structure first.
        let structure = serde_json::to_vec(&Structure::new(session, &self.name)).map(Bytes::from).map_err(Arc::new);
        let source = BodySource::new(session);
        if let Some(answer) = waits {
            let _ = answer.send(Ok((revision, structure.clone())));
        }
        for (of_revision, question) in asked {
            // The client may have closed the request. When a reader types and scrolls, only the last request is still open.
            if question.is_closed() {
                continue;
            }
            if of_revision.is_some_and(|of_revision| of_revision != revision) {
                question.refuse();
                continue;
            }
            match question {
                Question::Structure(answer) => {
                    if self.has_next() {
                        return self.next.take().map(|next| (next, answer));
                    }
                    let _ = answer.send(Ok((revision, structure.clone())));
                }
                Question::Newest(answer) => {
                    let newest = Revision(revision.0 + u64::from(self.has_next()));
                    let _ = answer.send(Ok(newest));
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
        None
    }

    /// Looks for a newer state. Returns whether there is one that is not served yet.
    fn has_next(&mut self) -> bool {
        if let Some(next) = self.newer.as_mut().and_then(|newer| newer()) {
            self.next = Some(next);
        }
        self.next.is_some()
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
