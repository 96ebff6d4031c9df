//! Requests an answer, with retries. Every attempt counts as one inference call, and the provider determines the number of
//! retries.

use std::sync::Arc;

use super::answer::{Answer, End, ask_once};
use super::calls;
use super::request::{Audience, Question};
use super::task::{Stop, Task};
use crate::core::CONTEXT_IS_FULL;
use crate::event::{ErrorKind, EventKind, Retry, TurnError};
use crate::item::Item;
use crate::provider::{Provider, ProviderError, Renewal, RetryDecision, RetryPolicy};

/// The answer of a model.
pub(crate) struct Reply {
    /// Tool calls.
    pub(crate) calls: Vec<calls::Call>,
    /// The last message.
    pub(crate) said: Option<Arc<Item>>,
}

/// Number of retries so far.
#[derive(Debug, Default)]
struct Tries {
    requests: u32,
    streams: u32,
}

/// Requests an answer until one is complete.
///
/// Complete items of an answer that was cut off stay in the conversation. Tool calls among them are run before the next
/// attempt, which then sees their outputs.
pub(crate) async fn ask(task: &Task, question: &Question) -> Result<Reply, Stop> {
    let provider: Arc<dyn Provider> = task.provider()?;
    let retry_policy = provider.retry_policy();
    let mut tries = Tries::default();
    let mut renewal = Renewal::default();
    loop {
        let Answer { calls, said, end } = ask_once(task, &provider, question).await;
        let mut error = match end {
            End::Whole => return Ok(Reply { calls, said }),
            End::Stopped => return Err(Stop::Interrupted),
            End::Broken(error) => error,
        };
        if error.kind == ErrorKind::ContextWindowExceeded {
            task.agent.state().history.context_tokens = CONTEXT_IS_FULL;
        }
        if task.unless_stopped(renewal.renew(&*provider, &mut error)).await? {
            continue;
        }
        let Some(retry) = tries.count(&retry_policy, &error) else {
            return Err(Stop::Failed(final_error(error, &tries)));
        };
        let message = format!("Reconnecting... {}/{}", retry.number, retry.of);
        let details =
            Some(error.details.map_or(error.message.clone(), |details| format!("{}: {details}", error.message)));
        task.agent.link.event(EventKind::Error {
            turn: task.turn.clone(),
            error: TurnError { message, details, kind: error.kind },
            retry: Retry::Follows,
        });
        calls::run(task, calls).await?;
        let delay = task.jitter.delay(retry.number, retry.after);
        task.unless_stopped(tokio::time::sleep(delay)).await?;
        if task.agent.options().pace.is_some() {
            task.paced().await?;
            // Other programs read messages before a retry, too, and their sessions are replayed. A summary replaces the history
            // from before it was asked for, so what joined the history meanwhile would be lost.
            if question.audience != Audience::Nobody {
                task.take_up().await;
            }
        }
    }
}

struct Next {
    number: u32,
    of: u32,
    after: Option<std::time::Duration>,
}

impl Tries {
    /// Counts a retry and returns its delay. `None` if there is no further retry.
    fn count(&mut self, retry_policy: &RetryPolicy, error: &ProviderError) -> Option<Next> {
        let (count, of, after) = match error.retry {
            RetryDecision::Never | RetryDecision::OtherToken { .. } => return None,
            RetryDecision::Request { after } => (&mut self.requests, retry_policy.request_retries, after),
            RetryDecision::Stream { after } => (&mut self.streams, retry_policy.stream_retries, after),
        };
        if *count >= of {
            return None;
        }
        *count += 1;
        Some(Next { number: *count, of, after })
    }
}

/// Returns the error with which the turn fails.
fn final_error(error: ProviderError, tries: &Tries) -> TurnError {
    let mut error = TurnError::from(error);
    if tries.requests + tries.streams > 0
        && let ErrorKind::HttpConnectionFailed { status } | ErrorKind::StreamConnectionFailed { status } = error.kind
    {
        error.kind = ErrorKind::TooManyFailedAttempts { status };
    }
    error
}
