//! Where models are: one interface, whatever the wire.
//!
//! A provider makes **one** attempt per call. Trying again is the turn's business, since every attempt is recorded by itself.

pub mod config;
mod failure;
pub mod http;
mod request_body;
pub mod scripted;
pub mod sse;
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
pub use request_body::RequestBody;
pub use scripted::Scripted;
pub use wire::PARTS_MAX;

/// Asks models.
pub trait Provider: Send + Sync + 'static {
    /// Returns the name under which settings and recordings know the provider.
    fn name(&self) -> &str;

    /// Returns how often and how patiently to try.
    fn retry_policy(&self) -> RetryPolicy;

    /// Sends a request and returns the answer as it comes. Dropping the stream gives the request up. After an error
    /// nothing follows; a stream that ends without [`ModelEvent::Completed`] or an error broke off.
    fn stream(&self, request: Arc<Request>) -> BoxStream<'static, Result<ModelEvent, ProviderError>>;

    /// Asks the provider to shorten a history, if it can. The answer is the history from then on.
    fn compact(&self, request: Arc<Request>) -> Option<BoxFuture<'static, Result<Vec<ModelItem>, ProviderError>>>;
}

/// A request to a model.
#[derive(Debug, Clone)]
pub struct Request {
    /// What is asked, in the words of the Responses API; also what is recorded. Wires that have other words translate it.
    pub body: Arc<RequestBody>,
    /// Names of the thread and the turn, for the provider's own records.
    pub headers: Vec<(String, String)>,
    /// Who asks; never sent.
    pub origin: Origin,
}

/// Who asks a model.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Origin {
    /// Path of the agent; that of a review is below the agent that it reviews for.
    pub path: String,
    /// The turn.
    pub turn: String,
}

/// How often and how patiently to try.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryPolicy {
    /// Tries after the first when no answer began.
    pub request_retries: u32,
    /// Tries after the first when an answer broke off.
    pub stream_retries: u32,
    /// Silence after which an answer counts as broken off.
    pub idle_timeout: Duration,
}

/// A piece of an answer.
#[derive(Debug, Clone, PartialEq)]
pub enum ModelEvent {
    /// Something came that means nothing here: the provider is at work.
    Alive,
    /// The answer begins.
    Created {
        /// The provider's id of the answer.
        response_id: Option<String>,
        /// The provider's id of the request, from its headers.
        request_id: Option<String>,
    },
    /// An item begins.
    ItemAdded(Value),
    /// Text of a message.
    Text {
        /// The item.
        item_id: String,
        /// The text.
        delta: String,
    },
    /// A part of a summary begins.
    SummaryPart {
        /// The item.
        item_id: String,
        /// Which part.
        index: usize,
    },
    /// Text of a summary.
    Summary {
        /// The item.
        item_id: String,
        /// Which part.
        index: usize,
        /// The text.
        delta: String,
    },
    /// Text of reasoning.
    Reasoning {
        /// The item.
        item_id: String,
        /// Which part.
        index: usize,
        /// The text.
        delta: String,
    },
    /// An item is whole.
    ItemDone(Value),
    /// The answer is whole.
    Completed {
        /// The provider's id of the answer.
        response_id: Option<String>,
        /// What it used up.
        usage: Option<TokenCounts>,
        /// The same in the provider's words, for recordings.
        raw_usage: Option<Value>,
    },
}

/// Why there is no answer, or not a whole one.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct ProviderError {
    /// What happened, for people; the provider's own words where there are any.
    pub message: String,
    /// More about it.
    pub details: Option<String>,
    /// What kind of error it is.
    pub kind: ErrorKind,
    /// Whether trying again may help.
    pub again: Again,
    /// The provider's id of the request.
    pub request_id: Option<String>,
}

/// Whether trying again may help.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Again {
    /// It will not.
    Useless,
    /// It may, before an answer began; after this time if the provider named one.
    Request {
        /// How long to wait.
        after: Option<Duration>,
    },
    /// It may, after an answer broke off; after this time if the provider named one.
    Stream {
        /// How long to wait.
        after: Option<Duration>,
    },
}
