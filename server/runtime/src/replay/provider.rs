//! Answers requests from the recording.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use futures_util::stream::{self, BoxStream};
use futures_util::{FutureExt, StreamExt};
use serde_json::Value;

use super::stage::{Opened, Place, Stage, is_asked_again, is_stopped, useless};
use super::tape::{ExchangeEnd, RequestKind};
use crate::event::{ErrorKind, TokenCounts};
use crate::item::ModelItem;
use crate::provider::{Again, ModelEvent, Provider, ProviderError, Request, RetryPolicy};

/// Name of the provider of a replay.
pub const PROVIDER_NAME: &str = "replay";

/// A recorded answer may have to wait for other events of the recording.
const IDLE_TIMEOUT: Duration = Duration::from_secs(24 * 60 * 60);

/// The provider of a replay.
#[derive(Debug)]
pub(super) struct Recorded {
    pub(super) stage: Arc<Stage>,
}

impl Provider for Recorded {
    fn name(&self) -> &str {
        PROVIDER_NAME
    }

    /// No retries by policy: each recorded failure says whether another attempt follows.
    fn retry_policy(&self) -> RetryPolicy {
        let retries = self.stage.tape.most_requests();
        RetryPolicy { request_retries: retries, stream_retries: retries, idle_timeout: IDLE_TIMEOUT }
    }

    fn stream(&self, request: Arc<Request>) -> BoxStream<'static, Result<ModelEvent, ProviderError>> {
        let stage = Arc::clone(&self.stage);
        let answer = async move {
            let live = request.origin.turn.clone();
            match answer(&stage, request, RequestKind::Answer).await {
                Err(error) => stream::iter(vec![Err(error)]).boxed(),
                Ok(Played { place, events, then, ended }) => {
                    let events = stream::iter(events);
                    let events = match then {
                        Then::End => events.boxed(),
                        Then::Stop => events.chain(stream::once(async move { stage.stop(place, &live).await })).boxed(),
                    };
                    // Tasks that wait for the end of this answer continue after its last event was read.
                    events.map(move |event| (event, &ended).0).boxed()
                }
            }
        };
        stream::once(answer).flatten().boxed()
    }

    fn compact(&self, request: Arc<Request>) -> Option<BoxFuture<'static, Result<Vec<ModelItem>, ProviderError>>> {
        let stage = Arc::clone(&self.stage);
        if self.stage.next_kind(&request.origin) != Some(RequestKind::Compaction) {
            return replaced(stage, &request);
        }
        Some(
            async move {
                let live = request.origin.turn.clone();
                let Played { place, events, then, ended: _ended } =
                    answer(&stage, request, RequestKind::Compaction).await?;
                if then == Then::Stop {
                    return stage.stop(place, &live).await;
                }
                let compacted = stage.compacted(place).map_err(|error| stage.unreadable(place, &error))?;
                if let Some(items) = compacted {
                    return Ok(items.into_iter().map(Arc::new).collect());
                }
                let mut items = Vec::new();
                for event in events {
                    if let ModelEvent::ItemDone(item) = event? {
                        items.push(Arc::new(item));
                    }
                }
                Ok(items)
            }
            .boxed(),
        )
    }
}

/// Returns the history that another one replaced without a recorded compaction: that of the next request.
fn replaced(stage: Arc<Stage>, request: &Request) -> Option<BoxFuture<'static, Result<Vec<ModelItem>, ProviderError>>> {
    let place = stage.live_place(&request.origin.path, &request.origin.turn)?;
    if !stage.tape.is_foreign || !stage.replace(place) {
        return None;
    }
    let read = tokio::task::spawn_blocking(move || {
        let items = stage.conversation(place).map_err(|error| stage.unreadable(place, &error))?;
        Ok(items.into_iter().map(Arc::new).collect())
    });
    Some(
        async move { read.await.unwrap_or_else(|_| Err(useless("cannot read the recording".to_owned(), None))) }
            .boxed(),
    )
}

struct Played {
    place: Place,
    events: Vec<Result<ModelEvent, ProviderError>>,
    then: Then,
    ended: Ended,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Then {
    End,
    /// Nothing follows: the turn is interrupted.
    Stop,
}

/// Marks an answer as ended when it is dropped.
struct Ended {
    stage: Arc<Stage>,
    seq: Option<u64>,
    /// The turn that is interrupted while it waits for a retry.
    stopped: Option<(Place, String)>,
}

impl Drop for Ended {
    fn drop(&mut self) {
        if let Some(seq) = self.seq {
            self.stage.order.pass(seq);
        }
        if let Some((place, live)) = self.stopped.take()
            && let Some((end, _)) = self.stage.turn(place).ended
        {
            let stage = Arc::clone(&self.stage);
            tokio::spawn(async move {
                stage.reach_unseen(end).await;
                stage.interrupt(place, &live).await;
            });
        }
    }
}

/// Returns the recorded answer once its moment has come.
async fn answer(stage: &Arc<Stage>, request: Arc<Request>, kind: RequestKind) -> Result<Played, ProviderError> {
    let live = request.origin.turn.clone();
    let opened = stage.find(&request.origin, kind)?;
    let place = match opened {
        Opened::Recorded(place) => place,
        Opened::Interrupted(place) => {
            let ended = Ended { stage: Arc::clone(stage), seq: None, stopped: None };
            if let Some((seq, _)) = stage.turn(place).ended {
                stage.reach(&live, seq).await;
            }
            return Ok(Played { place, events: Vec::new(), then: Then::Stop, ended });
        }
    };
    let exchange = stage.exchange(place);
    stage.reach(&live, exchange.seq).await;
    stage.order.pass(exchange.seq);
    let reading = Arc::clone(stage);
    // Reading and comparing a large payload may take long.
    let read = tokio::task::spawn_blocking(move || {
        reading.compare(place, request.body.value())?;
        events(&reading, place)
    });
    let read = read.await.unwrap_or_else(|_| Err(useless("cannot read the recording".to_owned(), None)));
    let end = exchange.over;
    let mut ended = Ended { stage: Arc::clone(stage), seq: end, stopped: None };
    let (events, then) = read?;
    // If the recording does not say when a cancelled answer ended, it ended with its turn.
    let turn_end = stage.turn(place).ended.map(|(seq, _)| seq);
    if let Some(seq) = end.or(turn_end.filter(|_| then == Then::Stop)) {
        stage.reach(&live, seq).await;
    }
    if matches!(events.last(), Some(Err(error)) if error.again == STOPPED_LATER) {
        ended.stopped = Some((place, live));
    }
    Ok(Played { place, events, then, ended })
}

/// A failure that a retry would follow, if the turn had not been interrupted before.
const STOPPED_LATER: Again = Again::Stream { after: Some(IDLE_TIMEOUT) };

/// Returns the events of a recorded answer.
fn events(stage: &Stage, place: Place) -> Result<(Vec<Result<ModelEvent, ProviderError>>, Then), ProviderError> {
    let (turn, exchange) = (stage.turn(place), stage.exchange(place));
    let read = |seq: u64, payload: &str| stage.tape.read(seq, payload).map_err(|error| stage.unreadable(place, &error));
    let is_last = place.exchange + 1 == turn.exchanges.len();
    Ok(match &exchange.end {
        None if is_stopped(turn) => (Vec::new(), Then::Stop),
        None if turn.ended.is_none() => (vec![Err(stage.recording_ends(place))], Then::End),
        None => {
            let message = "the recording has no answer to this request".to_owned();
            (vec![Err(stage.missing_in_recording(place, "answer", message))], Then::End)
        }
        Some((seq, ExchangeEnd::Completed { response })) => {
            let response = read(*seq, response)?;
            let mut events = items(&response);
            events.push(ModelEvent::Completed {
                response_id: text(&response, "response_id"),
                usage: usage(&response),
                raw_usage: response.get("raw_token_usage").filter(|usage| !usage.is_null()).cloned(),
            });
            (events.into_iter().map(Ok).collect(), Then::End)
        }
        // A cancelled request for a compaction is replayed as a failed one.
        Some((_, ExchangeEnd::Failed { .. }))
            if exchange.kind == RequestKind::Compaction && is_last && is_stopped(turn) =>
        {
            (Vec::new(), Then::Stop)
        }
        Some((seq, ExchangeEnd::Failed { error, request_id, partial })) => {
            let mut partial = partial.as_ref().map(|partial| read(*seq, partial)).transpose()?;
            if let Some(partial) = &mut partial {
                let dropped = stage.drop_forgotten_calls(place, partial);
                dropped.map_err(|error| stage.unreadable(place, &error))?;
            }
            let mut events: Vec<_> = partial.iter().flat_map(items).map(Ok).collect();
            let is_asked_again = is_asked_again(stage, place).map_err(|error| stage.unreadable(place, &error))?;
            let again = match (is_asked_again, is_last && is_stopped(turn)) {
                (true, _) => Again::Stream { after: Some(Duration::ZERO) },
                (false, true) => STOPPED_LATER,
                (false, false) => Again::Useless,
            };
            let (message, details) = stage.tape.message_of(error);
            // Only a request for a summary that was too long is retried in a shorter form.
            let kind = if is_last || is_asked_again { kind(error) } else { ErrorKind::ContextWindowExceeded };
            events.push(Err(ProviderError {
                message: message.to_owned(),
                details: details.map(str::to_owned),
                kind,
                again,
                request_id: request_id.clone(),
            }));
            (events, Then::End)
        }
        Some((seq, ExchangeEnd::Cancelled { partial })) => {
            let partial = partial.as_ref().map(|partial| read(*seq, partial)).transpose()?;
            (partial.iter().flat_map(items).map(Ok).collect(), Then::Stop)
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
