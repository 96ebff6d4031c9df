//! The thread that owns the session and answers questions about it.
//!
//! Answering reads files and uses all cores, which must not block the threads that handle connections. So one separate
//! thread owns the session and takes questions from a short queue, one after the other. If the queue is full, the
//! client is asked to try again.

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

/// A question to the thread, with the channel for its answer.
#[derive(Debug)]
enum Question {
    Structure(oneshot::Sender<Result<Bytes, Arc<serde_json::Error>>>),
    Bodies(Vec<Number>, oneshot::Sender<Result<Vec<(Number, Body)>, BodyError>>),
    Payload(Number, oneshot::Sender<Result<PayloadText, BodyError>>),
    Search(String, usize, oneshot::Sender<Hits>),
}

impl Question {
    /// Returns whether the caller has stopped waiting for the answer.
    fn is_closed(&self) -> bool {
        match self {
            Self::Structure(answer) => answer.is_closed(),
            Self::Bodies(_, answer) => answer.is_closed(),
            Self::Payload(_, answer) => answer.is_closed(),
            Self::Search(_, _, answer) => answer.is_closed(),
        }
    }
}

/// Why the keeper did not accept a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Busy {
    /// The queue is full.
    #[error("too many requests wait already; try again")]
    Full,
    /// The thread has ended, which is a bug.
    #[error("the session is no longer there")]
    Gone,
}

/// A handle to the thread. It sends questions about the session.
#[derive(Debug, Clone)]
pub(crate) struct Keeper {
    questions: SyncSender<Question>,
}

impl Keeper {
    /// Starts the thread that owns the session.
    pub(crate) fn start(session: Session, name: &str) -> io::Result<Self> {
        let (questions, asked) = sync_channel(MAX_WAITING);
        let name = name.to_owned();
        std::thread::Builder::new().name("session".to_owned()).spawn(move || {
            answer_all(&session, &name, &asked);
            // The process is about to end, and freeing a million objects one by one would delay that.
            std::mem::forget(session);
        })?;
        Ok(Self { questions })
    }

    /// Returns the structure of the session as JSON.
    pub(crate) async fn structure(&self) -> Result<Result<Bytes, Arc<serde_json::Error>>, Busy> {
        self.ask(Question::Structure).await
    }

    /// Returns bodies by number.
    pub(crate) async fn bodies(&self, of: Vec<Number>) -> Result<Result<Vec<(Number, Body)>, BodyError>, Busy> {
        self.ask(|answer| Question::Bodies(of, answer)).await
    }

    /// Returns a payload.
    pub(crate) async fn payload(&self, of: Number) -> Result<Result<PayloadText, BodyError>, Busy> {
        self.ask(|answer| Question::Payload(of, answer)).await
    }

    /// Searches all texts.
    pub(crate) async fn search(&self, text: String, limit: usize) -> Result<Hits, Busy> {
        self.ask(|answer| Question::Search(text, limit, answer)).await
    }

    async fn ask<T>(&self, question: impl FnOnce(oneshot::Sender<T>) -> Question) -> Result<T, Busy> {
        let (answer, answered) = oneshot::channel();
        self.questions.try_send(question(answer)).map_err(|error| match error {
            TrySendError::Full(_) => Busy::Full,
            TrySendError::Disconnected(_) => Busy::Gone,
        })?;
        answered.await.map_err(|_| Busy::Gone)
    }
}

fn answer_all(session: &Session, name: &str, asked: &Receiver<Question>) {
    // Make it before the first question: a browser takes some time to start, and requests the structure first.
    let structure = serde_json::to_vec(&Structure::new(session, name)).map(Bytes::from).map_err(Arc::new);
    let source = BodySource::new(session);
    for question in asked {
        // The client may have closed the request. When a reader types and scrolls, only the last request is still open.
        if question.is_closed() {
            continue;
        }
        match question {
            Question::Structure(answer) => {
                let _ = answer.send(structure.clone());
            }
            Question::Bodies(of, answer) => {
                let objects: Result<Vec<_>, _> = of.iter().map(|number| source.object(*number)).collect();
                let bodies = objects.map(|objects| {
                    of.into_iter().zip(bodies(&source, &objects, MAX_BODY_BYTES, MAX_BODIES_BYTES)).collect::<Vec<_>>()
                });
                let _ = answer.send(bodies);
            }
            Question::Payload(of, answer) => {
                let _ = answer.send(source.payload(of, MAX_PAYLOAD_BYTES));
            }
            Question::Search(text, limit, answer) => {
                let _ = answer.send(search(session, &source, &text, limit));
            }
        }
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
