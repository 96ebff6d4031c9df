//! Open questions of agents: their ids, and the thread that each belongs to.

use std::collections::HashMap;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use serde_json::value::RawValue;
use tokio::sync::oneshot;
use trace_protocol::{RequestId, RpcError};
use trace_runtime::ThreadId;
use trace_runtime::host::{Answer, Question, QuestionId};

use super::loaded::AnswerOutcome;
use super::registry::Registry;
use crate::connection::ConnectionId;
use crate::hub::Hub;

/// The open questions of all threads.
#[derive(Debug)]
pub(crate) struct Questions {
    threads: Arc<Registry>,
    hub: Hub,
    next: AtomicI64,
    asked: Mutex<HashMap<QuestionId, ThreadId>>,
}

impl Questions {
    /// Returns an empty set of questions for the threads of a registry.
    pub(crate) fn new(threads: Arc<Registry>, hub: Hub) -> Self {
        Self { threads, hub, next: AtomicI64::new(0), asked: Mutex::default() }
    }

    /// Returns how many questions are open.
    pub(crate) fn open(&self) -> usize {
        self.asked().len()
    }

    /// Puts a question of a thread's agent to the subscribers of the thread.
    pub(crate) fn ask(&self, thread: &ThreadId, question: Question, reply: oneshot::Sender<Answer>) -> QuestionId {
        let number = QuestionId(self.next.fetch_add(1, Ordering::Relaxed));
        let Some(loaded) = self.threads.get(thread) else { return number };
        let request = match question_request(number) {
            Ok(request) => request,
            Err(error) => {
                let _ = reply.send(Answer::Failed { message: format!("the question gets no id: {error}") });
                return number;
            }
        };
        self.asked().insert(number, thread.clone());
        if !loaded.ask(&self.hub, number, request, question, reply, Timestamp::now().as_millisecond()) {
            self.asked().remove(&number);
        }
        number
    }

    /// Takes a question back.
    pub(crate) fn withdraw(&self, thread: &ThreadId, question: QuestionId) {
        self.asked().remove(&question);
        if let Some(thread) = self.threads.get(thread) {
            thread.withdraw(&self.hub, question);
        }
    }

    /// Takes a client's answer to a question. It counts only if this connection was asked.
    pub(crate) fn answered(
        &self,
        connection: ConnectionId,
        request: &RequestId,
        answer: Result<&RawValue, &RpcError>,
    ) -> AnswerOutcome {
        let Some(number) = question_number(request) else { return AnswerOutcome::Ignored };
        let Some(thread) = self.asked().get(&number).cloned() else { return AnswerOutcome::Ignored };
        let Some(thread) = self.threads.get(&thread) else { return AnswerOutcome::Ignored };
        let heard = thread.answered(&self.hub, (connection, number), request, answer);
        if heard == AnswerOutcome::Accepted {
            self.asked().remove(&number);
        }
        heard
    }

    fn asked(&self) -> MutexGuard<'_, HashMap<QuestionId, ThreadId>> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the id under which a question is put to clients: its number, and 128 random bits, so that a client that was not asked
/// cannot guess it.
fn question_request(number: QuestionId) -> Result<RequestId, getrandom::Error> {
    let mut random = [0; 16];
    getrandom::fill(&mut random)?;
    Ok(RequestId::String(format!("{}-{:032x}", number.0, u128::from_ne_bytes(random))))
}

/// Returns the number in the id of a question. The loaded thread compares the rest.
fn question_number(request: &RequestId) -> Option<QuestionId> {
    let RequestId::String(text) = request else { return None };
    text.split_once('-')?.0.parse().ok().map(QuestionId)
}
