//! HTTP requests to a server that can be cancelled.
//!
//! The protocol library waits for some answers without a limit, even after its user has dropped it. So each request
//! here ends when a token is cancelled. Errors do not contain the URL, which may contain a key.
//!
//! If a user has logged in at the server, each request has the newest bearer token. A request that the server refuses for its
//! token was not carried out, so it is sent again with another token if there is one.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use http::{HeaderName, HeaderValue};
use reqwest::{Client, Error};
use rmcp::model::ClientJsonRpcMessage;
use rmcp::transport::streamable_http_client::{
    SseError, StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse, StreamableHttpResponseLimits,
};
use sse_stream::Sse;
use tokio_util::sync::CancellationToken;

use crate::oauth::OAuthError;
use crate::oauth::tokens::{Tokens, token_scope_error};

type Headers = HashMap<HeaderName, HeaderValue>;
type Failure = StreamableHttpError<Error>;
type Events = BoxStream<'static, Result<Sse, SseError>>;

/// Sends requests until its token is cancelled.
#[derive(Debug, Clone)]
pub(crate) struct Messenger {
    client: Client,
    tokens: Option<Tokens>,
    end: CancellationToken,
}

impl Messenger {
    pub(crate) fn new(client: Client, tokens: Option<Tokens>, end: CancellationToken) -> Self {
        Self { client, tokens, end }
    }

    /// Sends a request with the newest token; `configured` is the one that the configuration has.
    async fn authorized<T, F>(
        &self,
        configured: Option<String>,
        request: impl Fn(Option<String>) -> F,
    ) -> Result<T, Failure>
    where
        F: Future<Output = Result<T, Failure>>,
    {
        let answer = match &self.tokens {
            Some(tokens) => self.with_login(tokens, request).await,
            None => self.until_the_end(request(configured)).await,
        };
        let Err(Failure::InsufficientScope(refused)) = answer else { return answer };
        let error = match &self.tokens {
            Some(tokens) => tokens.scope_error(&refused.www_authenticate_header).await,
            None => token_scope_error(&refused.www_authenticate_header),
        };
        Err(error.map_or(Failure::InsufficientScope(refused), |error| no_token(&error)))
    }

    /// Sends a request with the token of a login.
    async fn with_login<T, F>(&self, tokens: &Tokens, request: impl Fn(Option<String>) -> F) -> Result<T, Failure>
    where
        F: Future<Output = Result<T, Failure>>,
    {
        let token = self.until_the_end(async { tokens.bearer().await.map_err(|error| no_token(&error)) }).await?;
        let refused = match self.until_the_end(request(token.clone())).await {
            Err(Failure::AuthRequired(refused)) => refused,
            other => return other,
        };
        let Some(token) = token else { return Err(Failure::AuthRequired(refused)) };
        match self.until_the_end(async { tokens.after_refusal(&token).await.map_err(|error| no_token(&error)) }).await?
        {
            Some(other) => self.until_the_end(request(Some(other))).await,
            None => Err(Failure::AuthRequired(refused)),
        }
    }

    async fn until_the_end<T>(&self, request: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
        tokio::select! {
            biased;
            () = self.end.cancelled() => Err(Failure::TransportChannelClosed),
            answer = request => answer.map_err(without_address),
        }
    }

    fn bounded(&self, events: Events) -> Events {
        events.take_until(self.end.clone().cancelled_owned()).boxed()
    }
}

fn no_token(error: &OAuthError) -> Failure {
    Failure::UnexpectedServerResponse(Cow::Owned(error.to_string()))
}

fn without_address(failure: Failure) -> Failure {
    match failure {
        Failure::Client(error) => Failure::Client(error.without_url()),
        other => other,
    }
}

impl StreamableHttpClient for Messenger {
    type Error = Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        token: Option<String>,
        headers: Headers,
    ) -> Result<StreamableHttpPostResponse, Failure> {
        let limits = StreamableHttpResponseLimits::default();
        self.post_message_with_response_limits(uri, message, session, token, headers, limits).await
    }

    async fn post_message_with_response_limits(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        token: Option<String>,
        headers: Headers,
        limits: StreamableHttpResponseLimits,
    ) -> Result<StreamableHttpPostResponse, Failure> {
        let post = |token| {
            let (uri, message, session, headers) =
                (Arc::clone(&uri), message.clone(), session.clone(), headers.clone());
            self.client.post_message_with_response_limits(uri, message, session, token, headers, limits)
        };
        let answer = self.authorized(token, post).await?;
        Ok(match answer {
            StreamableHttpPostResponse::Sse(events, session) => {
                StreamableHttpPostResponse::Sse(self.bounded(events), session)
            }
            other => other,
        })
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session: Arc<str>,
        token: Option<String>,
        headers: Headers,
    ) -> Result<(), Failure> {
        let delete = |token| self.client.delete_session(Arc::clone(&uri), Arc::clone(&session), token, headers.clone());
        self.authorized(token, delete).await
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last_event: Option<String>,
        token: Option<String>,
        headers: Headers,
    ) -> Result<Events, Failure> {
        let limit = StreamableHttpResponseLimits::default().max_sse_event_size;
        self.get_stream_with_max_sse_event_size(uri, session, last_event, token, headers, limit).await
    }

    async fn get_stream_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last_event: Option<String>,
        token: Option<String>,
        headers: Headers,
        limit: usize,
    ) -> Result<Events, Failure> {
        let get = |token| {
            let (uri, session, headers) = (Arc::clone(&uri), session.clone(), headers.clone());
            self.client.get_stream_with_max_sse_event_size(uri, session, last_event.clone(), token, headers, limit)
        };
        Ok(self.bounded(self.authorized(token, get).await?))
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt;
    use tokio::net::TcpListener;

    use super::*;
    use crate::failure::shown;

    fn client() -> Client {
        let tls = trace_runtime::tls::Certificates::None.client_config().expect("a configuration");
        Client::builder().no_proxy().tls_backend_preconfigured(tls).build().expect("a client")
    }

    fn uri(port: u16) -> Arc<str> {
        format!("http://127.0.0.1:{port}/mcp?key=secret").into()
    }

    #[tokio::test]
    async fn requests_that_nobody_answers_end_and_their_connections_too() {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let end = CancellationToken::new();
        let messenger = Messenger::new(client(), None, end.clone());
        let uri = uri(listener.local_addr().expect("an address").port());
        let asked = tokio::spawn(async move {
            messenger.get_stream(uri, None, None, None, Headers::new()).await.err().map(|error| shown(&error))
        });
        let (mut connection, _) = listener.accept().await.expect("a connection");
        let mut byte = [0];
        connection.read_exact(&mut byte).await.expect("a request");
        end.cancel();
        assert_eq!(asked.await.expect("an end").as_deref(), Some("Transport channel closed"));
        let mut rest = Vec::new();
        connection.read_to_end(&mut rest).await.expect("the end of the connection");
    }

    #[tokio::test]
    async fn failures_do_not_tell_the_address() {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let port = listener.local_addr().expect("an address").port();
        drop(listener);
        let messenger = Messenger::new(client(), None, CancellationToken::new());
        let failure = messenger.get_stream(uri(port), None, None, None, Headers::new()).await.err().expect("a failure");
        let told = format!("{} {failure:?}", shown(&failure));
        assert!(!told.contains("secret") && told.contains("error sending request"), "{told}");
    }
}
