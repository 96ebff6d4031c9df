//! Answers requests from the recording.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use futures_util::stream::{self, BoxStream};
use futures_util::{FutureExt, StreamExt};
use serde_json::Value;

use super::session::{ExchangeEnd, RequestKind};
use super::state::{ReplayState, RequestMatch, RequestPlace, is_asked_again, is_stopped, useless};
use crate::event::{ErrorKind, TokenCounts};
use crate::item::ModelItem;
use crate::provider::{ModelEvent, Provider, ProviderError, Request, RetryDecision, RetryPolicy};

/// Name of the provider of a replay.
pub const PROVIDER_NAME: &str = "replay";

/// A recorded answer may have to wait for other events of the recording.
const IDLE_TIMEOUT: Duration = Duration::from_secs(24 * 60 * 60);

/// The provider of a replay.
#[derive(Debug)]
pub(super) struct ReplayProvider {
    pub(super) state: Arc<ReplayState>,
}

impl Provider for ReplayProvider {
    fn name(&self) -> &str {
        PROVIDER_NAME
    }

    /// No retries by policy: each recorded failure says whether another attempt follows.
    fn retry_policy(&self) -> RetryPolicy {
        let retries = self.state.session.most_requests();
        RetryPolicy { request_retries: retries, stream_retries: retries, idle_timeout: IDLE_TIMEOUT }
    }

    fn stream(&self, request: Arc<Request>) -> BoxStream<'static, Result<ModelEvent, ProviderError>> {
        let state = Arc::clone(&self.state);
        let answer = async move {
            let live = request.origin.turn.clone();
            match answer(&state, request, RequestKind::Answer).await {
                Err(error) => stream::iter(vec![Err(error)]).boxed(),
                Ok(RecordedAnswer { place, events, then, ended }) => {
                    let events = stream::iter(events);
                    let events = match then {
                        AfterAnswer::End => events.boxed(),
                        AfterAnswer::Stop => {
                            events.chain(stream::once(async move { state.stop(place, &live).await })).boxed()
                        }
                    };
                    // Tasks that wait for the end of this answer continue after its last event was read.
                    events.map(move |event| (event, &ended).0).boxed()
                }
            }
        };
        stream::once(answer).flatten().boxed()
    }

    fn compact(&self, request: Arc<Request>) -> Option<BoxFuture<'static, Result<Vec<ModelItem>, ProviderError>>> {
        let state = Arc::clone(&self.state);
        if self.state.next_kind(&request.origin) != Some(RequestKind::Compaction) {
            return replaced(state, &request);
        }
        Some(
            async move {
                let live = request.origin.turn.clone();
                let RecordedAnswer { place, events, then, ended: _ended } =
                    answer(&state, request, RequestKind::Compaction).await?;
                if then == AfterAnswer::Stop {
                    return state.stop(place, &live).await;
                }
                let compacted = state.compacted(place).map_err(|error| state.unreadable(place, &error))?;
                if let Some(items) = compacted {
                    return Ok(items.into_iter().map(ModelItem::from).collect());
                }
                let mut items = Vec::new();
                for event in events {
                    if let ModelEvent::ItemDone(item) = event? {
                        items.push(item.into());
                    }
                }
                Ok(items)
            }
            .boxed(),
        )
    }
}

/// Returns the history that another one replaced without a recorded compaction: that of the next request.
fn replaced(
    state: Arc<ReplayState>,
    request: &Request,
) -> Option<BoxFuture<'static, Result<Vec<ModelItem>, ProviderError>>> {
    let place = state.live_place(&request.origin.path, &request.origin.turn)?;
    if !state.session.is_foreign || !state.replace(place) {
        return None;
    }
    let read = tokio::task::spawn_blocking(move || {
        let items = state.conversation(place).map_err(|error| state.unreadable(place, &error))?;
        Ok(items.into_iter().map(ModelItem::from).collect())
    });
    Some(
        async move { read.await.unwrap_or_else(|_| Err(useless("cannot read the recording".to_owned(), None))) }
            .boxed(),
    )
}

struct RecordedAnswer {
    place: RequestPlace,
    events: Vec<Result<ModelEvent, ProviderError>>,
    then: AfterAnswer,
    ended: Ended,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AfterAnswer {
    End,
    /// Nothing follows: the turn is interrupted.
    Stop,
}

/// Marks an answer as ended when it is dropped.
struct Ended {
    state: Arc<ReplayState>,
    seq: Option<u64>,
    /// The turn that is interrupted while it waits for a retry.
    stopped: Option<(RequestPlace, String)>,
}

impl Drop for Ended {
    fn drop(&mut self) {
        if let Some(seq) = self.seq {
            self.state.order.pass(seq);
        }
        if let Some((place, live)) = self.stopped.take()
            && let Some((end, _)) = self.state.turn(place).ended
        {
            let state = Arc::clone(&self.state);
            tokio::spawn(async move {
                state.reach_unseen(end).await;
                state.interrupt(place, &live).await;
            });
        }
    }
}

/// Returns the recorded answer once its moment has come.
async fn answer(
    state: &Arc<ReplayState>,
    request: Arc<Request>,
    kind: RequestKind,
) -> Result<RecordedAnswer, ProviderError> {
    let live = request.origin.turn.clone();
    let opened = state.find(&request.origin, kind)?;
    let place = match opened {
        RequestMatch::Recorded(place) => place,
        RequestMatch::Interrupted(place) => {
            let ended = Ended { state: Arc::clone(state), seq: None, stopped: None };
            if let Some((seq, _)) = state.turn(place).ended {
                state.reach(&live, seq).await;
            }
            return Ok(RecordedAnswer { place, events: Vec::new(), then: AfterAnswer::Stop, ended });
        }
    };
    let exchange = state.exchange(place);
    state.reach(&live, exchange.seq).await;
    state.order.pass(exchange.seq);
    let reading = Arc::clone(state);
    // Reading and comparing a large payload may take long.
    let read = tokio::task::spawn_blocking(move || {
        reading.compare(place, request.body.value())?;
        events(&reading, place)
    });
    let read = read.await.unwrap_or_else(|_| Err(useless("cannot read the recording".to_owned(), None)));
    let end = exchange.over;
    let mut ended = Ended { state: Arc::clone(state), seq: end, stopped: None };
    let (events, then) = read?;
    // If the recording does not say when a cancelled answer ended, it ended with its turn.
    let turn_end = state.turn(place).ended.map(|(seq, _)| seq);
    if let Some(seq) = end.or(turn_end.filter(|_| then == AfterAnswer::Stop)) {
        state.reach(&live, seq).await;
    }
    if matches!(events.last(), Some(Err(error)) if error.retry == STOPPED_LATER) {
        ended.stopped = Some((place, live));
    }
    Ok(RecordedAnswer { place, events, then, ended })
}

/// A failure that a retry would follow, if the turn had not been interrupted before.
const STOPPED_LATER: RetryDecision = RetryDecision::Stream { after: Some(IDLE_TIMEOUT) };

/// Returns the events of a recorded answer.
fn events(
    state: &ReplayState,
    place: RequestPlace,
) -> Result<(Vec<Result<ModelEvent, ProviderError>>, AfterAnswer), ProviderError> {
    let (turn, exchange) = (state.turn(place), state.exchange(place));
    let read =
        |seq: u64, payload: &str| state.session.read(seq, payload).map_err(|error| state.unreadable(place, &error));
    let is_last = place.exchange + 1 == turn.exchanges.len();
    Ok(match &exchange.end {
        None if is_stopped(turn) => (Vec::new(), AfterAnswer::Stop),
        None if turn.ended.is_none() => (vec![Err(state.recording_ends(place))], AfterAnswer::End),
        None => {
            let message = "the recording has no answer to this request".to_owned();
            (vec![Err(state.missing_in_recording(place, "answer", message))], AfterAnswer::End)
        }
        Some((seq, ExchangeEnd::Completed { response })) => {
            let response = read(*seq, response)?;
            let mut events = items(&response);
            events.push(ModelEvent::Completed {
                response_id: text(&response, "response_id"),
                usage: usage(&response),
                raw_usage: response.get("raw_token_usage").filter(|usage| !usage.is_null()).cloned(),
            });
            (events.into_iter().map(Ok).collect(), AfterAnswer::End)
        }
        // A cancelled request for a compaction is replayed as a failed one.
        Some((_, ExchangeEnd::Failed { .. }))
            if exchange.kind == RequestKind::Compaction && is_last && is_stopped(turn) =>
        {
            (Vec::new(), AfterAnswer::Stop)
        }
        Some((seq, ExchangeEnd::Failed { error, request_id, partial })) => {
            let mut partial = partial.as_ref().map(|partial| read(*seq, partial)).transpose()?;
            if let Some(partial) = &mut partial {
                let dropped = state.drop_forgotten_calls(place, partial);
                dropped.map_err(|error| state.unreadable(place, &error))?;
            }
            let mut events: Vec<_> = partial.iter().flat_map(items).map(Ok).collect();
            let is_asked_again = is_asked_again(state, place).map_err(|error| state.unreadable(place, &error))?;
            let retry = match (is_asked_again, is_last && is_stopped(turn)) {
                (true, _) => RetryDecision::Stream { after: Some(Duration::ZERO) },
                (false, true) => STOPPED_LATER,
                (false, false) => RetryDecision::Never,
            };
            let (message, details) = state.session.message_of(error);
            // Only a request for a summary that was too long is retried in a shorter form.
            let kind = if is_last || is_asked_again { kind(error) } else { ErrorKind::ContextWindowExceeded };
            events.push(Err(ProviderError {
                message: message.to_owned(),
                details: details.map(str::to_owned),
                kind,
                retry,
                request_id: request_id.clone(),
            }));
            (events, AfterAnswer::End)
        }
        Some((seq, ExchangeEnd::Cancelled { partial })) => {
            let partial = partial.as_ref().map(|partial| read(*seq, partial)).transpose()?;
            (partial.iter().flat_map(items).map(Ok).collect(), AfterAnswer::Stop)
        }
    })
}

/// Returns the events for the start of an answer and its items.
fn items(response: &Value) -> Vec<ModelEvent> {
    let list = |name: &str| response.get(name).and_then(Value::as_array).cloned().unwrap_or_default();
    let created = ModelEvent::Created {
        response_id: text(response, "response_id"),
        request_id: text(response, "upstream_request_id"),
    };
    let items = list("output_items").into_iter().chain(list("other_items"));
    std::iter::once(created).chain(items.map(ModelEvent::ItemDone)).collect()
}

fn text(value: &Value, name: &str) -> Option<String> {
    value.get(name)?.as_str().map(str::to_owned)
}

fn usage(response: &Value) -> Option<TokenCounts> {
    let usage = response.get("token_usage").filter(|usage| usage.is_object())?;
    let count = |name: &str| usage.get(name).and_then(Value::as_u64).unwrap_or_default();
    Some(TokenCounts {
        input: count("input_tokens"),
        cached_input: count("cached_input_tokens"),
        cache_write_input: count("cache_write_input_tokens"),
        output: count("output_tokens"),
        reasoning_output: count("reasoning_output_tokens"),
        total: count("total_tokens"),
    })
}

/// Returns the kind of a recorded error. Only one kind changes what an agent does next, and recordings contain only the
/// message.
fn kind(error: &str) -> ErrorKind {
    let error = error.to_ascii_lowercase();
    let words = [
        "prompt is too long",
        "maximum context length",
        "context size",
        "context window",
        "context length",
        "model's window",
    ];
    if words.iter().any(|word| error.contains(word)) { ErrorKind::ContextWindowExceeded } else { ErrorKind::Other }
}
