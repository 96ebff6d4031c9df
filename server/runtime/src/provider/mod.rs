//! The interface to model providers, independent of their wire formats.
//!
//! A provider makes **one** attempt per call. The turn does the retries, because each attempt is recorded separately.

pub mod config;
mod failure;
pub mod http;
mod renewal;
mod request_body;
pub mod scripted;
pub mod sse;
pub mod token;
pub mod token_command;
pub mod wire;

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use futures_util::stream::BoxStream;
use serde_json::Value;

use crate::event::{ErrorKind, TokenCounts};
use crate::item::ModelItem;

pub use config::{Compaction, ConfigError, Endpoint, ProviderConfig, Thinking, Wire};
pub use failure::{RETRY_AFTER_MAX, SHOWN_TEXT_MAX};
pub use http::HttpProvider;
pub(crate) use renewal::Renewal;
pub use request_body::RequestBody;
pub use scripted::Scripted;
pub use token::{Attestor, BearerToken, TokenError, TokenSource};
pub use token_command::TokenCommand;
pub use wire::PARTS_MAX;

/// A service that answers inference calls.
pub trait Provider: Send + Sync + 'static {
    /// Returns the name of the provider in settings and recordings.
    fn name(&self) -> &str;

    /// Returns the number of retries and the timeouts.
    fn retry_policy(&self) -> RetryPolicy;

    /// Sends a request and streams the answer. Dropping the stream cancels the request. Nothing follows an error. A stream
    /// that ends without [`ModelEvent::Completed`] or an error was cut off.
    fn stream(&self, request: Arc<Request>) -> BoxStream<'static, Result<ModelEvent, ProviderError>>;

    /// Asks the provider to compact a history. Returns the compacted history, or `None` if the provider cannot do it.
    fn compact(&self, request: Arc<Request>) -> Option<BoxFuture<'static, Result<Vec<ModelItem>, ProviderError>>>;

    /// Replaces the token with this number, which was refused ([`RetryDecision::OtherToken`]). The next attempt then has another
    /// one. Callers that were refused the same token share one renewal.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no other token.
    fn renew_token(&self, refused: u64) -> BoxFuture<'_, Result<(), TokenError>> {
        let _ = refused;
        Box::pin(std::future::ready(Err(TokenError("the provider has no tokens that are renewed".to_owned()))))
    }
}

/// A request to a model.
#[derive(Debug, Clone)]
pub struct Request {
    /// The request in the format of the Responses API, which is also recorded. Providers with another wire format translate
    /// it.
    pub body: Arc<RequestBody>,
    /// Headers with the ids of the thread and the turn, for the logs of the provider.
    pub headers: Vec<(String, String)>,
    /// The agent and turn that make the request. They are not sent.
    pub origin: Origin,
}

/// The agent and turn that make a request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Origin {
    /// Path of the agent. The path of a review is below that of the reviewed agent.
    pub path: String,
    /// Id of the turn.
    pub turn: String,
    /// Id of the turn of the root agent from which the request stems.
    pub root_turn: String,
}

/// Number of retries and timeouts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryPolicy {
    /// Retries after the first attempt if no answer began.
    pub request_retries: u32,
    /// Retries after the first attempt if an answer was cut off.
    pub stream_retries: u32,
    /// Time without an event after which an answer counts as cut off.
    pub idle_timeout: Duration,
}

/// An event of a streamed answer.
#[derive(Debug, Clone, PartialEq)]
pub enum ModelEvent {
    /// An event without content arrived; the provider is still working.
    Alive,
    /// The answer has begun.
    Created {
        /// The provider's id of the answer.
        response_id: Option<String>,
        /// The provider's id of the request, from its headers.
        request_id: Option<String>,
    },
    /// An item has begun.
    ItemAdded(Value),
    /// A piece of the text of a message.
    Text {
        /// Id of the item.
        item_id: String,
        /// The piece of text.
        delta: String,
    },
    /// A part of a reasoning summary has begun.
    SummaryPart {
        /// Id of the item.
        item_id: String,
        /// Index of the part.
        index: usize,
    },
    /// A piece of a reasoning summary.
    Summary {
        /// Id of the item.
        item_id: String,
        /// Index of the part.
        index: usize,
        /// The piece of text.
        delta: String,
    },
    /// A piece of reasoning text.
    Reasoning {
        /// Id of the item.
        item_id: String,
        /// Index of the part.
        index: usize,
        /// The piece of text.
        delta: String,
    },
    /// An item is complete.
    ItemDone(Value),
    /// The answer is complete.
    Completed {
        /// The provider's id of the answer.
        response_id: Option<String>,
        /// Token usage.
        usage: Option<TokenCounts>,
        /// Token usage in the format of the provider, for recordings.
        raw_usage: Option<Value>,
    },
}

/// Why an answer is missing or incomplete.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct ProviderError {
    /// Message for users; the message of the provider if it sent one.
    pub message: String,
    /// Further details.
    pub details: Option<String>,
    /// Kind of the error.
    pub kind: ErrorKind,
    /// Whether a retry may succeed.
    pub retry: RetryDecision,
    /// The provider's id of the request.
    pub request_id: Option<String>,
}

impl ProviderError {
    /// Adds details behind those that are there.
    pub(crate) fn add_details(&mut self, more: &str) {
        self.details = Some(match self.details.take() {
            Some(details) => format!("{details}; {more}"),
            None => more.to_owned(),
        });
    }
}

/// Whether a retry may succeed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RetryDecision {
    /// A retry will not succeed.
    Never,
    /// The token was refused. Another attempt may succeed once [`Provider::renew_token`] got another token.
    OtherToken {
        /// Number of the refused token.
        refused: u64,
    },
    /// A retry may succeed. No answer had begun.
    Request {
        /// The pause that the provider asked for.
        after: Option<Duration>,
    },
    /// A retry may succeed. The answer was cut off.
    Stream {
        /// The pause that the provider asked for.
        after: Option<Duration>,
    },
}
