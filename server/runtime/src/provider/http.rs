//! Providers over HTTP: requests whose answers are server-sent events, for all wire formats.
//!
//! A call makes one attempt. An attempt whose token was refused says so, and the turn makes another one with another token. Redirects are
//! not followed, so that keys reach only the configured URL. The size of a response is limited. No key, token, header value
//! or query parameter appears in an error.
//!
//! An `http://` URL needs no certificates. For `https://`, the certificates of the system are loaded at the first request.

use std::error::Error;
use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use futures_util::stream::{self, BoxStream};
use futures_util::{FutureExt, StreamExt};
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER};
use reqwest::{Client, NoProxy, Proxy, Response, StatusCode, Url, redirect};
use serde_json::Value;
use tokio::time::{Instant, timeout, timeout_at};

use super::config::{Compaction, Credential, Endpoint, PRODUCT, Wire, header_value, shown_url};
use super::failure::{self, Refusal};
use super::token::{ATTESTATION_TIMEOUT, Attestor, BearerToken, TokenError, TokenSource};
use super::wire::{ANTHROPIC_VERSION, AnswerStream, Writing};
use super::{ModelEvent, Provider, ProviderError, Request, RetryDecision, RetryPolicy};
use crate::event::ErrorKind;
use crate::item::ModelItem;
use crate::tls::Certificates;

/// Timeout of connecting.
pub const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);
/// Most bytes that are read of an error response.
pub const ERROR_BYTES_MAX: usize = 64 << 10;
/// Most bytes of a streamed answer.
pub const ANSWER_BYTES_MAX: usize = 256 << 20;
/// Timeout of reading an error response.
pub const ERROR_TEXT_TIMEOUT: Duration = Duration::from_secs(10);
/// How long a connection is read after the last event of an answer, so that it can be reused.
pub const REUSE_TIMEOUT: Duration = Duration::from_secs(5);
/// Most bytes of a history that a provider compacted.
pub const COMPACTED_BYTES_MAX: usize = 64 << 20;

/// Headers with the id of a request, the preferred one first.
const REQUEST_IDS: [&str; 2] = ["x-request-id", "request-id"];

/// A provider that is reached over HTTP.
pub struct HttpProvider(Arc<Inner>);

struct Inner {
    endpoint: Endpoint,
    tokens: Option<Arc<dyn TokenSource>>,
    attestor: Option<Arc<dyn Attestor>>,
    /// Created at the first request, because it may need the certificates of the system. If that fails, every request fails
    /// with the error.
    client: OnceLock<Result<Client, String>>,
}

impl HttpProvider {
    /// Returns a provider for `endpoint`.
    pub fn new(endpoint: Endpoint) -> Self {
        Self::with_tokens(endpoint, None, None)
    }

    /// Returns a provider for `endpoint` whose requests have tokens of `tokens`, and attestations of `attestor` if the
    /// endpoint has a header for them.
    pub fn with_tokens(
        endpoint: Endpoint,
        tokens: Option<Arc<dyn TokenSource>>,
        attestor: Option<Arc<dyn Attestor>>,
    ) -> Self {
        Self(Arc::new(Inner { endpoint, tokens, attestor, client: OnceLock::new() }))
    }
}

impl fmt::Debug for HttpProvider {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("HttpProvider").field(&self.0.endpoint).finish()
    }
}

impl Provider for HttpProvider {
    fn name(&self) -> &str {
        &self.0.endpoint.id
    }

    fn retry_policy(&self) -> RetryPolicy {
        self.0.endpoint.retry_policy
    }

    fn stream(&self, request: Arc<Request>) -> BoxStream<'static, Result<ModelEvent, ProviderError>> {
        let state = Attempt::Asking { inner: Arc::clone(&self.0), request };
        stream::try_unfold(state, |state| state.next()).boxed()
    }

    fn compact(&self, request: Arc<Request>) -> Option<BoxFuture<'static, Result<Vec<ModelItem>, ProviderError>>> {
        let inner = Arc::clone(&self.0);
        match inner.endpoint.compaction {
            Compaction::Local => None,
            Compaction::Remote => Some(async move { inner.compact(&request).await }.boxed()),
        }
    }

    fn renew_token(&self, refused: u64) -> BoxFuture<'_, Result<(), TokenError>> {
        async move {
            match &self.0.tokens {
                Some(tokens) => tokens.renew(refused).await.map(drop),
                None => Err(TokenError("the key of the provider is not renewed".to_owned())),
            }
        }
        .boxed()
    }
}

/// A response, and the token of the request.
type Answered = (Response, Option<BearerToken>);

impl Inner {
    /// Sends a request with the current token. Returns the response once its headers have arrived and have a status of success,
    /// with the token of the request.
    async fn ask(&self, operation: Operation, request: &Request) -> Result<Answered, ProviderError> {
        let Some(tokens) = &self.tokens else { return Ok((self.send(operation, request, None).await?, None)) };
        let id = &self.endpoint.id;
        let token = tokens.current().await;
        let token = token.map_err(|error| unauthorized(format!("the provider `{id}` has no token: {error}"), None))?;
        match self.send(operation, request, Some(&token)).await {
            Ok(response) => Ok((response, Some(token))),
            Err(mut error) => {
                if error.kind == ErrorKind::Unauthorized {
                    tracing::info!(provider = id, "the provider refused a token");
                    error.retry = RetryDecision::OtherToken { refused: token.number() };
                }
                Err(error)
            }
        }
    }

    /// Sends a request once.
    async fn send(
        &self,
        operation: Operation,
        request: &Request,
        token: Option<&BearerToken>,
    ) -> Result<Response, ProviderError> {
        let url = self.url(operation);
        let origin = shown_url(&url);
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, HeaderValue::from_static(operation.accepts()));
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if self.endpoint.wire == Wire::Anthropic {
            headers.insert("anthropic-version", HeaderValue::from_static(ANTHROPIC_VERSION));
        }
        for (name, value) in &request.headers {
            match (HeaderName::from_bytes(name.as_bytes()), HeaderValue::from_str(value)) {
                (Ok(name), Ok(value)) => {
                    headers.insert(name, value);
                }
                _ => tracing::debug!(name, "a header of a request cannot be sent and is left out"),
            }
        }
        match (token, &self.endpoint.credential) {
            (Some(token), _) => {
                let Some(value) = header_value(&format!("Bearer {}", token.secret())) else {
                    let message =
                        format!("the provider `{}` got a token that cannot be sent as a header", self.endpoint.id);
                    return Err(unauthorized(message, None));
                };
                headers.insert(AUTHORIZATION, value);
                if let (Some(name), Some(account)) = (&self.endpoint.account_header, token.account())
                    && let Some(value) = header_value(account)
                {
                    headers.insert(name.clone(), value);
                }
            }
            (None, Credential::None) => {}
            (None, Credential::Key { name, value, .. }) => {
                headers.insert(name, value.clone());
            }
            (None, Credential::Missing(message)) => return Err(unauthorized(message.clone(), None)),
        }
        if let (Some(name), Some(attestor)) = (&self.endpoint.attestation_header, &self.attestor) {
            let attestation = timeout(ATTESTATION_TIMEOUT, attestor.attest(&request.origin.root_turn)).await;
            if let Some(value) = attestation.ok().flatten().and_then(|attestation| header_value(&attestation)) {
                headers.insert(name.clone(), value);
            }
        }
        // Configured headers override the others.
        headers.extend(self.endpoint.headers.clone());
        let mut writing = self.writing();
        if operation == Operation::Compact {
            // The result is a history, not an answer of the model.
            writing.max_output_tokens = None;
        }
        let body = writing.text(&request.body);
        let client = self.client()?;
        let idle = self.endpoint.retry_policy.idle_timeout;
        let sent = client.post(url).headers(headers).body(body).send();
        let response = match timeout(idle, sent).await {
            Err(_) => return Err(failure::unanswered(idle, &origin)),
            Ok(Err(error)) => return Err(failure::unreachable(&cause(error), &origin)),
            Ok(Ok(response)) => response,
        };
        let status = response.status();
        let kind = content_type(&response);
        let is_page = kind.starts_with("text/html") || kind.starts_with("application/json");
        if status.is_success() && !(is_page && operation == Operation::Stream) {
            return Ok(response);
        }
        let refused = self.refusal(response, &origin, idle, token).await;
        Err(without(token, refused))
    }

    async fn refusal(
        &self,
        response: Response,
        origin: &str,
        idle: Duration,
        token: Option<&BearerToken>,
    ) -> ProviderError {
        let status = response.status();
        let headers = response.headers();
        let now_s = jiff::Timestamp::now().as_second();
        let retry_after = headers.get(RETRY_AFTER).and_then(|value| failure::retry_after(value.to_str().ok()?, now_s));
        let request_id = request_id(&response);
        let kind = content_type(&response);
        // The status makes it an error even if the body does not arrive.
        let read = read_at_most(response, ERROR_BYTES_MAX, idle.min(ERROR_TEXT_TIMEOUT));
        let mut body = read.await.unwrap_or_else(|partial| partial.bytes);
        if let Some(token) = token {
            // The error is cut to a length, and a part of a token would not be found in it.
            let mut text = String::from_utf8_lossy(&body).into_owned();
            hide(token, &mut text);
            body = text.into_bytes();
        }
        let mut error = Refusal { status: status.as_u16(), retry_after, body: &body, origin, request_id }.into_error();
        if status == StatusCode::UNAUTHORIZED
            && let Credential::Key { variable, .. } = &self.endpoint.credential
        {
            error.add_details(&format!("the key comes from the environment variable `{variable}`"));
        }
        if status.is_success() {
            error.add_details(&format!("the answer is `{kind}` and not a stream of events; is `base_url` right?"));
        }
        error
    }

    async fn compact(&self, request: &Request) -> Result<Vec<ModelItem>, ProviderError> {
        let (response, token) = self.ask(Operation::Compact, request).await?;
        self.read_compacted(response).await.map_err(|error| without(token.as_ref(), error))
    }

    async fn read_compacted(&self, response: Response) -> Result<Vec<ModelItem>, ProviderError> {
        let request_id = request_id(&response);
        let idle = self.endpoint.retry_policy.idle_timeout;
        let body = match read_at_most(response, COMPACTED_BYTES_MAX, idle).await {
            Ok(body) => body,
            Err(Partial { problem, .. }) => return Err(failure::broken_off(problem, request_id)),
        };
        let mut body: Value = match serde_json::from_slice(&body) {
            Ok(body) => body,
            Err(error) => return Err(failure::broken_off(format!("the answer is not JSON: {error}"), request_id)),
        };
        match body.get_mut("output").map(Value::take) {
            Some(Value::Array(items)) if items.iter().all(Value::is_object) => {
                Ok(items.into_iter().map(ModelItem::from).collect())
            }
            _ => Err(failure::broken_off("the answer has no list `output` of items".to_owned(), request_id)),
        }
    }

    fn writing(&self) -> Writing {
        let Endpoint { wire, max_output_tokens, thinking, .. } = self.endpoint;
        Writing { wire, max_output_tokens, thinking }
    }

    fn url(&self, operation: Operation) -> Url {
        let mut url = self.endpoint.base_url.clone();
        let path = self.writing().path().iter().chain(operation.path());
        url.path_segments_mut().expect("an HTTP address has a path").pop_if_empty().extend(path);
        if !self.endpoint.query.is_empty() {
            url.query_pairs_mut().extend_pairs(&self.endpoint.query);
        }
        url
    }

    fn client(&self) -> Result<&Client, ProviderError> {
        self.client.get_or_init(|| client(&self.endpoint)).as_ref().map_err(|problem| ProviderError {
            message: format!("cannot prepare requests to {}: {problem}", shown_url(&self.endpoint.base_url)),
            details: None,
            kind: ErrorKind::HttpConnectionFailed { status: None },
            retry: RetryDecision::Never,
            request_id: None,
        })
    }
}

/// Kind of request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operation {
    /// A streamed answer of a model.
    Stream,
    /// A compacted history.
    Compact,
}

impl Operation {
    /// Returns the path segments after those of the wire format.
    fn path(self) -> &'static [&'static str] {
        match self {
            Self::Stream => &[],
            Self::Compact => &["compact"],
        }
    }

    fn accepts(self) -> &'static str {
        match self {
            Self::Stream => "text/event-stream",
            Self::Compact => "application/json",
        }
    }
}

/// State of an attempt.
enum Attempt {
    Asking { inner: Arc<Inner>, request: Arc<Request> },
    Streaming(Box<ActiveStream>),
    Ended,
}

impl Attempt {
    async fn next(self) -> Result<Option<(ModelEvent, Self)>, ProviderError> {
        let mut active = match self {
            Self::Asking { inner, request } => {
                let (response, token) = inner.ask(Operation::Stream, &request).await?;
                let answer = AnswerStream::new(inner.endpoint.wire, request.body.get("tools"), request_id(&response));
                Box::new(ActiveStream::new(response, answer, inner.endpoint.retry_policy.idle_timeout, token))
            }
            Self::Streaming(active) => active,
            Self::Ended => return Ok(None),
        };
        let event = active.next().await.map_err(|error| without(active.token.as_ref(), error))?;
        if matches!(event, ModelEvent::Completed { .. }) {
            active.reuse_connection();
            return Ok(Some((event, Self::Ended)));
        }
        Ok(Some((event, Self::Streaming(active))))
    }
}

/// A stream that is being read.
struct ActiveStream {
    pieces: BoxStream<'static, reqwest::Result<Bytes>>,
    answer: AnswerStream,
    bytes: usize,
    idle: Duration,
    /// The token of the request.
    token: Option<BearerToken>,
}

impl ActiveStream {
    fn new(response: Response, answer: AnswerStream, idle: Duration, token: Option<BearerToken>) -> Self {
        Self { pieces: response.bytes_stream().boxed(), answer, bytes: 0, idle, token }
    }

    /// Waits for the next event. Events without content reset the timeout, comments do not.
    async fn next(&mut self) -> Result<ModelEvent, ProviderError> {
        let deadline = after(self.idle);
        loop {
            if let Some(heard) = self.answer.pop() {
                return heard;
            }
            let problem = match timeout_at(deadline, self.pieces.next()).await {
                Err(_) => failure::silent(self.idle, self.answer.request_id()),
                Ok(None) => self.answer.cut_off(),
                Ok(Some(Err(error))) => failure::broken_off(cause(error), self.answer.request_id()),
                Ok(Some(Ok(piece))) => {
                    self.bytes = self.bytes.saturating_add(piece.len());
                    if self.bytes <= ANSWER_BYTES_MAX {
                        if self.answer.push(&piece) > 0 {
                            return self.answer.pop().unwrap_or(Ok(ModelEvent::Alive));
                        }
                        continue;
                    }
                    let details = format!("it has more than {ANSWER_BYTES_MAX} bytes");
                    ProviderError {
                        retry: RetryDecision::Never,
                        ..failure::broken_off(details, self.answer.request_id())
                    }
                }
            };
            self.answer.end(problem);
        }
    }

    /// Reads the stream to its end after the answer. A connection whose stream has not ended cannot be reused, and opening
    /// a new one usually takes longer.
    fn reuse_connection(mut self) {
        tokio::spawn(async move {
            let end = async {
                while let Some(Ok(piece)) = self.pieces.next().await {
                    self.bytes = self.bytes.saturating_add(piece.len());
                    if self.bytes > ANSWER_BYTES_MAX {
                        break;
                    }
                }
            };
            // If the server sends more, the connection is closed.
            let _ = timeout(REUSE_TIMEOUT, end).await;
        });
    }
}

fn after(duration: Duration) -> Instant {
    let now = Instant::now();
    now.checked_add(duration).unwrap_or_else(|| now + FAR_AWAY)
}

/// Replaces a timeout that the clock cannot represent.
const FAR_AWAY: Duration = Duration::from_secs(60 * 60 * 24 * 365);

/// The part of a body that arrived.
struct Partial {
    bytes: Vec<u8>,
    problem: String,
}

async fn read_at_most(mut response: Response, limit: usize, timeout: Duration) -> Result<Vec<u8>, Partial> {
    let deadline = after(timeout);
    let mut bytes = Vec::new();
    loop {
        let problem = match timeout_at(deadline, response.chunk()).await {
            Err(_) => format!("it was not whole after {} s", timeout.as_secs_f64()),
            Ok(Err(error)) => cause(error),
            Ok(Ok(None)) => return Ok(bytes),
            Ok(Ok(Some(piece))) => {
                let room = limit - bytes.len();
                bytes.extend_from_slice(&piece[..piece.len().min(room)]);
                if piece.len() <= room {
                    continue;
                }
                format!("it has more than {limit} bytes")
            }
        };
        return Err(Partial { bytes, problem });
    }
}

fn unauthorized(message: String, details: Option<String>) -> ProviderError {
    let kind = ErrorKind::Unauthorized;
    ProviderError { message, details, kind, retry: RetryDecision::Never, request_id: None }
}

/// Returns an error without a token that the provider repeated in it, since errors are recorded.
fn without(token: Option<&BearerToken>, mut error: ProviderError) -> ProviderError {
    let Some(token) = token else { return error };
    hide(token, &mut error.message);
    if let Some(details) = &mut error.details {
        hide(token, details);
    }
    error
}

fn hide(token: &BearerToken, text: &mut String) {
    if text.contains(token.secret()) {
        *text = text.replace(token.secret(), "[token]");
    }
}

fn request_id(response: &Response) -> Option<String> {
    let value = REQUEST_IDS.iter().find_map(|name| response.headers().get(*name));
    value.and_then(|value| value.to_str().ok()).map(failure::shown)
}

fn content_type(response: &Response) -> String {
    let value = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    failure::shown(value.unwrap_or_default()).to_ascii_lowercase()
}

/// Returns the innermost cause of an error: the outer layers only say that there is one. URLs are left out because they may
/// contain secrets.
fn cause(error: reqwest::Error) -> String {
    let error = error.without_url();
    let mut bottom: &dyn Error = &error;
    while let Some(source) = bottom.source() {
        bottom = source;
    }
    if error.is_connect() && error.is_timeout() {
        return format!("no connection within {} s", CONNECT_TIMEOUT.as_secs());
    }
    failure::shown(&bottom.to_string())
}

fn client(endpoint: &Endpoint) -> Result<Client, String> {
    let proxy = match endpoint.base_url.scheme() {
        "https" => endpoint.proxies.https.as_ref(),
        _ => endpoint.proxies.http.as_ref(),
    };
    let mut addresses = std::iter::once(&endpoint.base_url).chain(proxy);
    let is_encrypted = addresses.any(|url| Certificates::for_scheme(url.scheme()) == Certificates::OfTheMachine);
    let certificates = if is_encrypted { Certificates::OfTheMachine } else { Certificates::None };
    let tls = certificates.client_config().map_err(|error| error.to_string())?;
    let mut builder = Client::builder()
        .connect_timeout(CONNECT_TIMEOUT)
        .redirect(redirect::Policy::none())
        .user_agent(PRODUCT)
        .tls_backend_preconfigured(tls)
        .no_proxy();
    if let Some(proxy) = proxy {
        let except = NoProxy::from_string(&endpoint.proxies.except);
        builder = builder.proxy(Proxy::all(proxy.as_str()).map_err(cause)?.no_proxy(except));
    }
    builder.build().map_err(cause)
}
