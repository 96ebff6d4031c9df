//! Answers requests out of the recording.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::{self, BoxFuture};
use futures_util::stream::{self, BoxStream};
use futures_util::{FutureExt, StreamExt};
use serde_json::Value;

use super::stage::{self, CueKind, Opened, Place, Stage, broken, useless};
use super::tape::{ExchangeEnd, ROOT, RequestKind};
use crate::event::{ErrorKind, TokenCounts};
use crate::item::ModelItem;
use crate::provider::{Again, ModelEvent, Patience, Provider, ProviderError, Request};

/// Name of the provider.
pub const PROVIDER_NAME: &str = "replay";

/// A recorded answer may come when others have come first.
const IDLE_TIMEOUT: Duration = Duration::from_secs(24 * 60 * 60);

/// The model of a replay.
#[derive(Debug)]
pub(super) struct Recorded {
    pub(super) stage: Arc<Stage>,
}

impl Provider for Recorded {
    fn name(&self) -> &str {
        PROVIDER_NAME
    }

    /// Failures say themselves whether the recording has another try.
    fn patience(&self) -> Patience {
        let retries = self.stage.tape.most_requests();
        Patience { request_retries: retries, stream_retries: retries, idle_timeout: IDLE_TIMEOUT }
    }

    fn stream(&self, request: Arc<Request>) -> BoxStream<'static, Result<ModelEvent, ProviderError>> {
        let stage = Arc::clone(&self.stage);
        let is_root = request.origin.path == ROOT;
        let answer = async move {
            match answer(&stage, request, RequestKind::Answer).await {
                Err(error) => stream::iter(vec![Err(error)]).boxed(),
                Ok(Played { events, then, ended }) => {
                    let events = stream::iter(events);
                    let events = match then {
                        Then::End => events.boxed(),
                        Then::Wait => events.chain(stream::once(wait(stage, is_root))).boxed(),
                    };
                    // Whoever waits for the end of this answer goes on when the last event was heard.
                    events.map(move |event| (event, &ended).0).boxed()
                }
            }
        };
        stream::once(answer).flatten().boxed()
    }

    fn compact(&self, request: Arc<Request>) -> Option<BoxFuture<'static, Result<Vec<ModelItem>, ProviderError>>> {
        if self.stage.next_kind(&request.origin) != Some(RequestKind::Compaction) {
            return None;
        }
        let stage = Arc::clone(&self.stage);
        let is_root = request.origin.path == ROOT;
        Some(
            async move {
                let Played { events, then, ended: _ended } = answer(&stage, request, RequestKind::Compaction).await?;
                if then == Then::Wait {
                    return wait(stage, is_root).await;
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

struct Played {
    events: Vec<Result<ModelEvent, ProviderError>>,
    then: Then,
    ended: Ended,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Then {
    End,
    /// Nothing comes any more until somebody stops the turn.
    Wait,
}

/// Says that an answer ended, however it does.
struct Ended {
    stage: Arc<Stage>,
    seq: Option<u64>,
}

impl Drop for Ended {
    fn drop(&mut self) {
        if let Some(seq) = self.seq {
            self.stage.order.pass(seq);
        }
    }
}

/// Returns the recorded answer when its time has come.
async fn answer(stage: &Arc<Stage>, request: Arc<Request>, kind: RequestKind) -> Result<Played, ProviderError> {
    let (opened, events) = {
        let stage = Arc::clone(stage);
        // Bodies are read and compared, which may take a while.
        let read = tokio::task::spawn_blocking(move || {
            let opened = stage.open(&request, kind)?;
            let events = match &opened {
                Opened::Recorded(place) => events(&stage, *place)?,
                Opened::Interrupted(_) => (Vec::new(), Then::Wait),
            };
            Ok((opened, events))
        });
        read.await.unwrap_or_else(|_| Err(useless("the recording could not be read".to_owned(), None)))?
    };
    let (events, then) = events;
    let (Opened::Recorded(place) | Opened::Interrupted(place)) = opened;
    let end = match opened {
        Opened::Recorded(_) => stage.exchange(place).end.as_ref().map(|(seq, _)| *seq),
        Opened::Interrupted(_) => stage.turn(place).ended.map(|(seq, _)| seq),
    };
    let ended = Ended { stage: Arc::clone(stage), seq: end };
    if let Some(seq) = end {
        stage.order.reach(seq).await;
    }
    if then == Then::End && stage.tape.tracks[place.track].path == ROOT {
        steer(stage, place).await?;
    }
    Ok(Played { events, then, ended })
}

/// Waits for somebody who stops the turn; for the user, where the user did.
async fn wait<T>(stage: Arc<Stage>, is_root: bool) -> T {
    if is_root {
        stage.cue(CueKind::Interrupt).await;
    }
    future::pending().await
}

/// Lets the user say what the recording has between this answer and the next request.
async fn steer(stage: &Arc<Stage>, place: Place) -> Result<(), ProviderError> {
    let read = Arc::clone(stage);
    let said = tokio::task::spawn_blocking(move || read.steered_after(place)).await;
    let said = said.unwrap_or_else(|_| Ok(Vec::new())).map_err(|error| broken(&error))?;
    if !said.is_empty() {
        stage.cue(CueKind::Steer(said)).await;
    }
    Ok(())
}

/// Returns the events of a recorded answer.
fn events(stage: &Stage, place: Place) -> Result<(Vec<Result<ModelEvent, ProviderError>>, Then), ProviderError> {
    let exchange = stage.exchange(place);
    let read = |seq: u64, payload: &str| stage.tape.read(seq, payload).map_err(|error| broken(&error));
    Ok(match &exchange.end {
        None => {
            let message = "the recording ends before this answer: there is nothing to play any more".to_owned();
            (vec![Err(useless(message, None))], Then::End)
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
        Some((seq, ExchangeEnd::Failed { error, request_id, partial })) => {
            let partial = partial.as_ref().map(|partial| read(*seq, partial)).transpose()?;
            let mut events: Vec<_> = partial.iter().flat_map(items).map(Ok).collect();
            let again = match stage::is_asked_again(stage.turn(place), place.exchange) {
                true => Again::Stream { after: Some(Duration::ZERO) },
                false => Again::Useless,
            };
            events.push(Err(ProviderError {
                message: error.clone(),
                details: None,
                kind: kind(error),
                again,
                request_id: request_id.clone(),
            }));
            (events, Then::End)
        }
        Some((seq, ExchangeEnd::Cancelled { partial })) => {
            let partial = partial.as_ref().map(|partial| read(*seq, partial)).transpose()?;
            (partial.iter().flat_map(items).map(Ok).collect(), Then::Wait)
        }
    })
}

/// Returns the beginning of an answer and its items.
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

/// Returns the kind of a recorded error. Only one kind changes what an agent does next, and recordings have only words.
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
