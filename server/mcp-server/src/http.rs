//! Streamable HTTP: clients on the loopback interface.
//!
//! A client posts each of its messages. A request that may ask the client something, or tell of its progress, is answered with a
//! stream of events, any other with JSON. A client that begins gets the id of an HTTP session, which its later requests name; there is
//! no stream without a request.
//!
//! Whoever reaches this server can read all recordings and run agents. So it listens on the loopback interface only, takes the names of
//! that interface alone for `Host` and `Origin` (a page elsewhere that rebinds its domain name sends another), and asks for a token.

use std::collections::HashMap;
use std::convert::Infallible;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::header::{self, HeaderName};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::response::{IntoResponse as _, Response};
use futures_util::stream;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use trace_server::transport::{Auth, serve_routes};

use crate::connection::{Connection, VERSIONS};
use crate::definitions;
use crate::message::{self, Incoming, MAX_MESSAGE_BYTES, RpcError};
use crate::service::Service;
use crate::stdio::END_TIMEOUT;

/// Most HTTP sessions. The one that was used longest ago makes room for a new one.
pub const MAX_HTTP_SESSIONS: usize = 64;

/// Longest time in which a client has to send a whole message.
pub const BODY_TIMEOUT: Duration = Duration::from_secs(30);

/// Pause between two comments on a stream without events. Without them, a proxy or a client may take the stream for dead.
pub const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// The port that clients leave out of `Host`.
const DEFAULT_PORT: u16 = 80;

/// Messages of a request that wait to be sent.
const WAITING: usize = 256;

const SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");
const PROTOCOL_VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");

/// The address is not one to listen on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    /// It is no `http://IP:PORT/PATH`.
    #[error("cannot listen on `{0}`: expected an address such as http://127.0.0.1:8766/mcp")]
    NoAddress(String),
    /// It is not one of the loopback interface.
    #[error("cannot listen on `{0}`: only the loopback interface is served, such as 127.0.0.1")]
    NotLoopback(String),
}

/// Where the server listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    socket: SocketAddr,
    path: String,
}

impl std::str::FromStr for Address {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        let no_address = || AddressError::NoAddress(text.to_owned());
        let rest = text.strip_prefix("http://").ok_or_else(no_address)?;
        let (host, path) = rest.split_once('/').map_or((rest, ""), |(host, path)| (host, path));
        let host = host.strip_prefix("localhost:").map_or_else(|| host.to_owned(), |port| format!("127.0.0.1:{port}"));
        let socket: SocketAddr = host.parse().map_err(|_| no_address())?;
        if !socket.ip().is_loopback() {
            return Err(AddressError::NotLoopback(text.to_owned()));
        }
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./".contains(&byte);
        if !path.bytes().all(is_plain) {
            return Err(no_address());
        }
        Ok(Self { socket, path: format!("/{path}") })
    }
}

/// A server that listens and does not answer yet.
pub struct HttpServer {
    listener: TcpListener,
    address: Address,
    app: Arc<App>,
}

struct App {
    service: Arc<Service>,
    auth: Auth,
    path: String,
    /// The values of `Host` that are accepted.
    hosts: Vec<String>,
    sessions: Mutex<HashMap<String, Session>>,
}

struct Session {
    client: Arc<Connection>,
    used: Instant,
}

impl HttpServer {
    /// Binds the address.
    ///
    /// # Errors
    ///
    /// Returns an error if the address cannot be bound.
    pub async fn bind(service: Arc<Service>, address: &Address, auth: Auth) -> std::io::Result<Self> {
        let listener = TcpListener::bind(address.socket).await?;
        let socket = listener.local_addr()?;
        let address = Address { socket, path: address.path.clone() };
        let app = App { service, auth, path: address.path.clone(), hosts: hosts(socket), sessions: Mutex::default() };
        Ok(Self { listener, address, app: Arc::new(app) })
    }

    /// Returns the address that clients connect to.
    pub fn url(&self) -> String {
        format!("http://{}{}", self.address.socket, self.address.path)
    }

    /// Serves clients until the future `end` completes, and then ends their requests. Processes that this one started, such as
    /// commands of agents, are turned away: the token may be in a file that they can read.
    pub async fn run(self, end: impl Future<Output = ()>) {
        let app = Arc::clone(&self.app);
        let router = Router::new().fallback(enter).with_state(self.app);
        let ended = async {
            end.await;
            let clients: Vec<Arc<Connection>> = app.lock().drain().map(|(_, session)| session.client).collect();
            clients.iter().for_each(|client| client.leave());
            let all = async {
                for client in &clients {
                    client.tasks.wait().await;
                }
            };
            let _ = tokio::time::timeout(END_TIMEOUT, all).await;
        };
        serve_routes(self.listener, router, ended).await;
    }
}

/// Returns the values of `Host` that name a server of this socket.
fn hosts(socket: SocketAddr) -> Vec<String> {
    let port = socket.port();
    let mut hosts = vec![socket.to_string(), format!("localhost:{port}")];
    if port == DEFAULT_PORT {
        hosts.extend(["localhost".to_owned(), shown(socket.ip())]);
    }
    hosts
}

/// Returns an address as `Host` has it.
fn shown(ip: IpAddr) -> String {
    match ip {
        IpAddr::V4(ip) => ip.to_string(),
        IpAddr::V6(ip) => format!("[{ip}]"),
    }
}

async fn enter(State(app): State<Arc<App>>, request: Request) -> Response {
    let mut response = match app.refusal(request.headers()) {
        Some(refusal) => refusal,
        None => app.answer(request).await,
    };
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}

impl App {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, Session>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the response to a request that may not reach the server.
    fn refusal(&self, headers: &HeaderMap) -> Option<Response> {
        let is_us = |host: &str| self.hosts.iter().any(|known| known.eq_ignore_ascii_case(host));
        let forbidden = |why: &'static str| Some((StatusCode::FORBIDDEN, why).into_response());
        match only(headers, &header::HOST) {
            Ok(Some(host)) if is_us(host) => {}
            _ => return forbidden("this server is one of the loopback interface; use the address that was printed\n"),
        }
        match only(headers, &header::ORIGIN) {
            Ok(None) => {}
            Ok(Some(origin)) if origin.strip_prefix("http://").is_some_and(is_us) => {}
            _ => return forbidden("requests of other pages are refused\n"),
        }
        let why = self.auth.check(headers, SystemTime::now()).err()?;
        let challenge = [(header::WWW_AUTHENTICATE, "Bearer")];
        Some((StatusCode::UNAUTHORIZED, challenge, format!("{why}\n")).into_response())
    }

    async fn answer(&self, request: Request) -> Response {
        if request.uri().path() != self.path {
            return (StatusCode::NOT_FOUND, format!("the server is at {}\n", self.path)).into_response();
        }
        let headers = request.headers();
        match only(headers, &PROTOCOL_VERSION) {
            Ok(None) => {}
            Ok(Some(version)) if VERSIONS.contains(&version) => {}
            _ => {
                let known = VERSIONS.join(", ");
                let error = RpcError::invalid_request(format!("the protocol version is none of {known}"));
                return refused(StatusCode::BAD_REQUEST, &error);
            }
        }
        match *request.method() {
            Method::POST => self.post(request).await,
            Method::DELETE => self.delete(headers),
            _ => {
                let allow = [(header::ALLOW, "POST, DELETE")];
                (StatusCode::METHOD_NOT_ALLOWED, allow, "there is no stream without a request\n").into_response()
            }
        }
    }

    async fn post(&self, request: Request) -> Response {
        let (parts, body) = request.into_parts();
        let is_json = only(&parts.headers, &header::CONTENT_TYPE).ok().flatten().is_some_and(|kind| {
            kind.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json"))
        });
        if !is_json {
            let error = RpcError::invalid_request("the content type has to be application/json");
            return refused(StatusCode::UNSUPPORTED_MEDIA_TYPE, &error);
        }
        let accepted = Accepted::of(&parts.headers);
        if !accepted.json || !accepted.events {
            let error = RpcError::invalid_request("`Accept` has to name application/json and text/event-stream");
            return refused(StatusCode::NOT_ACCEPTABLE, &error);
        }
        let read = tokio::time::timeout(BODY_TIMEOUT, axum::body::to_bytes(body, MAX_MESSAGE_BYTES)).await;
        let body = match read {
            Ok(Ok(body)) => body,
            Ok(Err(_)) => {
                let error = RpcError::invalid_request(format!("a message has {MAX_MESSAGE_BYTES} bytes at most"));
                return refused(StatusCode::PAYLOAD_TOO_LARGE, &error);
            }
            Err(_) => {
                let error = RpcError::invalid_request("the message did not arrive in time");
                return refused(StatusCode::REQUEST_TIMEOUT, &error);
            }
        };
        let parsed = std::str::from_utf8(&body)
            .map_err(|error| message::error(&Value::Null, &RpcError::parse(format!("not UTF-8: {error}"))))
            .and_then(message::parse);
        let message = match parsed {
            Ok(message) => message,
            Err(refusal) => return json(StatusCode::BAD_REQUEST, refusal),
        };
        if let Incoming::Request { method, .. } = &message
            && method == "initialize"
        {
            return self.begin(message).await;
        }
        let client = match self.client(&parts.headers) {
            Ok(client) => client,
            Err(refusal) => return *refusal,
        };
        match &message {
            Incoming::Request { method, params, .. } => {
                let tool = params.get("name").and_then(Value::as_str).unwrap_or_default();
                let is_long = method == "tools/call" && definitions::runs_agents(tool);
                let (outbox, texts) = mpsc::channel(WAITING);
                client.take(message, outbox);
                if is_long { events(texts) } else { one(texts).await }
            }
            _ => {
                let (outbox, _) = mpsc::channel(1);
                client.take(message, outbox);
                StatusCode::ACCEPTED.into_response()
            }
        }
    }

    /// Begins an HTTP session.
    async fn begin(&self, message: Incoming) -> Response {
        let mut random = [0; 16];
        if getrandom::fill(&mut random).is_err() {
            let error = RpcError::busy("the system has no random numbers");
            return refused(StatusCode::INTERNAL_SERVER_ERROR, &error);
        }
        let id: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
        let client = Connection::new(Arc::clone(&self.service));
        let (outbox, texts) = mpsc::channel(WAITING);
        client.take(message, outbox);
        let mut response = one(texts).await;
        let left = {
            let mut sessions = self.lock();
            let oldest = (sessions.len() >= MAX_HTTP_SESSIONS).then(|| {
                let by_use = |(_, session): &(&String, &Session)| (session.client.is_busy(), session.used);
                sessions.iter().min_by_key(by_use).map(|(id, _)| id.clone())
            });
            let left = oldest.flatten().and_then(|oldest| sessions.remove(&oldest));
            sessions.insert(id.clone(), Session { client, used: Instant::now() });
            left
        };
        if let Some(left) = left {
            left.client.leave();
        }
        if let Ok(id) = HeaderValue::from_str(&id) {
            response.headers_mut().insert(SESSION_ID, id);
        }
        response
    }

    fn delete(&self, headers: &HeaderMap) -> Response {
        let id = only(headers, &SESSION_ID).ok().flatten();
        match id.and_then(|id| self.lock().remove(id)) {
            Some(session) => {
                session.client.leave();
                StatusCode::NO_CONTENT.into_response()
            }
            None => no_session(id.is_some()),
        }
    }

    /// Returns the client whose session a request names.
    fn client(&self, headers: &HeaderMap) -> Result<Arc<Connection>, Box<Response>> {
        let id = only(headers, &SESSION_ID).ok().flatten();
        let mut sessions = self.lock();
        match id.and_then(|id| sessions.get_mut(id)) {
            Some(session) => {
                session.used = Instant::now();
                Ok(Arc::clone(&session.client))
            }
            None => Err(Box::new(no_session(id.is_some()))),
        }
    }
}

/// Which forms of a response a client takes.
struct Accepted {
    json: bool,
    events: bool,
}

impl Accepted {
    fn of(headers: &HeaderMap) -> Self {
        let values = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
        let kinds: Vec<String> = values
            .flat_map(|value| value.split(','))
            .map(|kind| kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase())
            .collect();
        let has = |whole: &str, group: &str| kinds.iter().any(|kind| kind == whole || kind == group || kind == "*/*");
        Self { json: has("application/json", "application/*"), events: has("text/event-stream", "text/*") }
    }
}

/// Returns the value of a header that stands there once at most.
fn only<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Result<Option<&'h str>, ()> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (None, _) => Ok(None),
        (Some(value), None) => value.to_str().map(Some).map_err(|_| ()),
        (Some(_), Some(_)) => Err(()),
    }
}

fn no_session(is_named: bool) -> Response {
    // Status 404 makes a client begin anew.
    match is_named {
        true => refused(StatusCode::NOT_FOUND, &RpcError::invalid_request("the session has ended; initialize again")),
        false => refused(
            StatusCode::BAD_REQUEST,
            &RpcError::invalid_request("`Mcp-Session-Id` is missing; initialize first"),
        ),
    }
}

fn refused(status: StatusCode, error: &RpcError) -> Response {
    json(status, message::error(&Value::Null, error))
}

fn json(status: StatusCode, text: String) -> Response {
    (status, [(header::CONTENT_TYPE, "application/json")], text).into_response()
}

/// Answers with the only message of a request. A cancelled request has none.
async fn one(mut texts: mpsc::Receiver<String>) -> Response {
    match texts.recv().await {
        Some(text) => json(StatusCode::OK, text),
        None => StatusCode::ACCEPTED.into_response(),
    }
}

/// Answers with a stream of the messages of a request, the response last.
fn events(texts: mpsc::Receiver<String>) -> Response {
    let body = stream::unfold(texts, |mut texts| async move {
        let event = match tokio::time::timeout(KEEP_ALIVE, texts.recv()).await {
            // JSON has no line feeds, so an event has one line.
            Ok(Some(text)) => format!("event: message\ndata: {text}\n\n"),
            Ok(None) => return None,
            Err(_) => ": the request is still running\n\n".to_owned(),
        };
        Some((Ok::<_, Infallible>(Bytes::from(event)), texts))
    });
    let kind = [(header::CONTENT_TYPE, "text/event-stream")];
    (StatusCode::OK, kind, Body::from_stream(body)).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_loopback_interface_is_listened_on() {
        let address = |text: &str| text.parse::<Address>();
        assert_eq!(address("http://127.0.0.1:80/mcp").map(|it| it.path), Ok("/mcp".to_owned()));
        assert_eq!(address("http://localhost:0").map(|it| it.path), Ok("/".to_owned()));
        address("http://[::1]:8766/mcp").expect("IPv6");
        for other in ["http://0.0.0.0:80/mcp", "http://192.168.0.1:80/mcp", "http://[::]:80/mcp"] {
            assert_eq!(address(other), Err(AddressError::NotLoopback(other.to_owned())));
        }
        for wrong in [
            "",
            "https://127.0.0.1:80/mcp",
            "127.0.0.1:80",
            "http://host:80/mcp",
            "http://127.0.0.1/mcp",
            "http://127.0.0.1:80/a b",
        ] {
            assert_eq!(address(wrong), Err(AddressError::NoAddress(wrong.to_owned())));
        }
    }

    #[test]
    fn a_server_has_few_names() {
        let of = |socket: &str| hosts(socket.parse().expect("an address"));
        assert_eq!(of("127.0.0.1:8766"), ["127.0.0.1:8766", "localhost:8766"]);
        assert_eq!(of("[::1]:8766"), ["[::1]:8766", "localhost:8766"]);
        assert_eq!(of("[::1]:80"), ["[::1]:80", "localhost:80", "localhost", "[::1]"]);
    }
}
