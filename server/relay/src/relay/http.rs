//! The HTTP endpoints of a relay: `/server` for servers, `/pair` for codes, `/healthz`, and every other path for clients.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::ws::WebSocketUpgrade;
use axum::extract::{FromRequestParts as _, Request, State};
use axum::http::header::{AUTHORIZATION, CACHE_CONTROL, CONTENT_TYPE, ORIGIN, RETRY_AFTER, UPGRADE, WWW_AUTHENTICATE};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::response::{IntoResponse as _, Response};
use serde::Deserialize;
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::client::{self, SUBPROTOCOL, Speech};
use super::link::{ORDINARY, RESUMABLE, Refusal};
use super::registry::{Found, Registry};
use super::server;
use crate::devices::{Digest, PairError};
use crate::envelope::StreamKey;
use crate::pieces::MAX_MESSAGE_BYTES;
use crate::random::hex;

/// How long a connection may take until its WebSocket is open, or its request is complete.
pub const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(60);

/// Most bytes of a request for `/pair`.
pub const MAX_PAIR_BYTES: usize = 4 << 10;

/// Most bytes of a token that is looked up.
const MAX_TOKEN_BYTES: usize = 1 << 10;

/// Most bytes of a frame beside its message.
const ENVELOPE_BYTES: usize = 64 << 10;

/// The header with which a server names its process.
pub const INSTANCE_HEADER: &str = "x-trace-instance";

/// The header with which a server names the last envelope that it has handled.
pub const CURSOR_HEADER: &str = "x-codex-subscribe-cursor";

/// The header with which the relay names a stream.
pub const STREAM_HEADER: &str = "x-trace-stream";

/// Size of the read buffer of a connection.
const READ_BYTES: usize = 16 << 10;

/// What all requests share.
#[derive(Debug)]
pub(super) struct App {
    pub(super) registry: Registry,
    pub(super) clients: TaskTracker,
    pub(super) servers: TaskTracker,
    pub(super) stop_clients: CancellationToken,
    pub(super) stop_servers: CancellationToken,
}

/// A slot of a connection, which a WebSocket keeps.
pub(super) type Slot = Arc<tokio::sync::OwnedSemaphorePermit>;

pub(super) fn router(app: Arc<App>) -> Router {
    Router::new().fallback(enter).with_state(app)
}

async fn enter(State(app): State<Arc<App>>, request: Request) -> Response {
    if request.headers().contains_key(ORIGIN) {
        return (StatusCode::FORBIDDEN, "requests of web pages are refused\n").into_response();
    }
    let is_upgrade =
        request.headers().get(UPGRADE).is_some_and(|value| value.as_bytes().eq_ignore_ascii_case(b"websocket"));
    match (request.method(), request.uri().path()) {
        (&Method::POST, "/pair") => pair(app, request.into_body()).await,
        (_, "/pair") => (StatusCode::METHOD_NOT_ALLOWED, "expected a POST request\n").into_response(),
        (&Method::GET, "/server") if is_upgrade => server(&app, request).await,
        (&Method::GET, _) if is_upgrade => client(&app, request).await,
        (&Method::GET | &Method::HEAD, "/healthz") => StatusCode::OK.into_response(),
        _ => (StatusCode::BAD_REQUEST, "expected a WebSocket upgrade\n").into_response(),
    }
}

/// The body of a request for `/pair`.
#[derive(Deserialize)]
struct PairRequest {
    code: String,
    device: Option<String>,
    #[serde(default = "default_name")]
    name: String,
}

fn default_name() -> String {
    "client".to_owned()
}

async fn pair(app: Arc<App>, body: Body) -> Response {
    let body = match timeout(HANDSHAKE_TIMEOUT, to_bytes(body, MAX_PAIR_BYTES)).await {
        Ok(Ok(body)) => body,
        Ok(Err(_)) => return (StatusCode::PAYLOAD_TOO_LARGE, "the request is too long\n").into_response(),
        Err(_) => return StatusCode::REQUEST_TIMEOUT.into_response(),
    };
    let Ok(request) = serde_json::from_slice::<PairRequest>(&body) else {
        let why = "expected {\"code\": \"ABCD-EFGH\", \"name\": \"phone\"}\n";
        return (StatusCode::BAD_REQUEST, why).into_response();
    };
    // Changing the file may wait for another program.
    let paired =
        tokio::task::spawn_blocking(move || app.registry.pair(&request.code, request.device.as_deref(), &request.name));
    match paired.await {
        Ok(Ok(paired)) => {
            tracing::info!(client = paired.name, devices = ?paired.devices, "a client was paired");
            let answer = serde_json::json!({
                "token": paired.token,
                "name": paired.name,
                "devices": paired.devices,
                "expires": paired.expires,
            });
            ([(CONTENT_TYPE, "application/json"), (CACHE_CONTROL, "no-store")], format!("{answer}\n")).into_response()
        }
        Ok(Err(error @ PairError::Refused)) => (StatusCode::FORBIDDEN, format!("{error}\n")).into_response(),
        Ok(Err(PairError::Devices(error @ crate::devices::DevicesError::BadName(_)))) => {
            (StatusCode::BAD_REQUEST, format!("{error}\n")).into_response()
        }
        Ok(Err(PairError::Devices(error))) => {
            tracing::error!(%error, "a client cannot be paired");
            (StatusCode::INTERNAL_SERVER_ERROR, "the relay cannot store the client\n").into_response()
        }
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

async fn server(app: &Arc<App>, request: Request) -> Response {
    let Some((device, token)) = bearer(request.headers()).and_then(|token| app.registry.of_server(token)) else {
        return unauthorized("the device token is not valid\n");
    };
    let instance = text_of(request.headers(), INSTANCE_HEADER);
    let cursor = text_of(request.headers(), CURSOR_HEADER);
    let slot = request.extensions().get::<Slot>().cloned();
    let upgrade = match upgrade(request).await {
        Ok(upgrade) => upgrade,
        Err(refusal) => return refusal,
    };
    let app = Arc::clone(app);
    let task = app.servers.token();
    upgrade.on_upgrade(move |socket| async move {
        let connection = device.link().server_came(token, instance.as_deref(), cursor.as_deref());
        tracing::info!(device = %device.name, "a server has connected");
        server::serve(socket, device, connection, app.stop_servers.clone()).await;
        drop((task, slot));
    })
}

async fn client(app: &Arc<App>, request: Request) -> Response {
    let Some(token) = bearer(request.headers()).map(Digest::of) else {
        return unauthorized("a bearer token is required\n");
    };
    let name = request.uri().path().strip_prefix("/d/").map(str::to_owned);
    let device = match app.registry.of_client(&token, name.as_deref()) {
        Found::One(device) => device,
        Found::Unauthorized => return unauthorized("the bearer token is not valid\n"),
        Found::NotThis => {
            return (StatusCode::FORBIDDEN, "the token is not valid for this device\n").into_response();
        }
        Found::Several(names) => {
            let why =
                format!("the token is valid for several devices: name one with /d/DEVICE: {}\n", names.join(", "));
            return (StatusCode::BAD_REQUEST, why).into_response();
        }
    };
    let resumed = match resumed(request.uri().query().unwrap_or_default()) {
        Ok(resumed) => resumed,
        Err(why) => return (StatusCode::BAD_REQUEST, why).into_response(),
    };
    let slot = request.extensions().get::<Slot>().cloned();
    let upgrade = match upgrade(request).await {
        Ok(upgrade) => upgrade.protocols([SUBPROTOCOL]),
        Err(refusal) => return refusal,
    };
    let speech = match upgrade.selected_protocol() {
        Some(_) => Speech::Numbered,
        None => Speech::Plain,
    };
    let stop = app.stop_clients.clone();
    let task = app.clients.token();
    // The name is the same after a restart of the relay, and nobody without the token has it.
    let client = format!("c{}", &Digest::of(&format!("client {}", token.hex())).hex()[..24]);
    if let Some((stream, after)) = resumed {
        if speech == Speech::Plain {
            return (StatusCode::BAD_REQUEST, "a stream is resumed with the subprotocol trace.relay.v1\n")
                .into_response();
        }
        let key = StreamKey::new(&client, &stream);
        let response = upgrade.on_upgrade(move |socket| async move {
            let attached = device.link().resume(&key, token, after, Instant::now());
            match attached {
                Ok(at) => client::serve(socket, device, at, speech, stop).await,
                Err(why) => client::refuse(socket, why).await,
            }
            drop((task, slot));
        });
        return named(response, &stream);
    }
    let mut id = [0; 16];
    if let Err(error) = getrandom::fill(&mut id) {
        tracing::error!(%error, "no random numbers for the id of a stream");
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    }
    let kind = if speech == Speech::Numbered { RESUMABLE } else { ORDINARY };
    let stream = format!("{kind}{}", hex(&id));
    let key = StreamKey::new(&client, &stream);
    let attached = device.link().begin(&key, token, Instant::now());
    let at = match attached {
        Ok(at) => at,
        Err(Refusal::ServerAway) => {
            let why = format!("the server of the device `{}` is not connected\n", device.name);
            return (StatusCode::SERVICE_UNAVAILABLE, [(RETRY_AFTER, "5")], why).into_response();
        }
        Err(Refusal::TooManyStreams) => {
            let why = format!("the device `{}` has as many clients as it can have\n", device.name);
            return (StatusCode::SERVICE_UNAVAILABLE, [(RETRY_AFTER, "5")], why).into_response();
        }
    };
    let failed = (Arc::clone(&device), at.clone());
    let response = upgrade
        .on_failed_upgrade(move |_| failed.0.link().client_left(&failed.1, Instant::now()))
        .on_upgrade(move |socket| async move {
            client::serve(socket, device, at, speech, stop).await;
            drop((task, slot));
        });
    if speech == Speech::Numbered { named(response, &stream) } else { response }
}

fn text_of(headers: &HeaderMap, name: &str) -> Option<String> {
    headers.get(name)?.to_str().ok().map(str::to_owned)
}

/// Adds the header that names the stream.
fn named(mut response: Response, stream: &str) -> Response {
    if let Ok(value) = HeaderValue::from_str(stream) {
        response.headers_mut().insert(STREAM_HEADER, value);
    }
    response
}

/// Returns the stream to resume, and the last number that the client has, if the query names them.
fn resumed(query: &str) -> Result<Option<(String, u64)>, &'static str> {
    let value = |name: &str| {
        query.split('&').filter_map(|part| part.split_once('=')).find(|(key, _)| *key == name).map(|(_, value)| value)
    };
    let Some(stream) = value("stream") else { return Ok(None) };
    let is_id = stream.len() == 33
        && stream.starts_with(RESUMABLE)
        && stream.bytes().skip(1).all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    if !is_id {
        return Err("`stream` is not the id of a stream that can be resumed\n");
    }
    let after = value("after").map_or(Ok(0), str::parse).map_err(|_| "`after` is not a number\n")?;
    Ok(Some((stream.to_owned(), after)))
}

async fn upgrade(request: Request) -> Result<WebSocketUpgrade, Response> {
    let (mut parts, _) = request.into_parts();
    let upgrade = WebSocketUpgrade::from_request_parts(&mut parts, &()).await;
    let most = MAX_MESSAGE_BYTES + ENVELOPE_BYTES;
    upgrade
        .map(|upgrade| upgrade.max_message_size(most).max_frame_size(most).read_buffer_size(READ_BYTES))
        .map_err(axum::response::IntoResponse::into_response)
}

fn unauthorized(why: &'static str) -> Response {
    (StatusCode::UNAUTHORIZED, [(WWW_AUTHENTICATE, "Bearer")], why).into_response()
}

/// Returns the token of a request.
fn bearer(headers: &HeaderMap) -> Option<&str> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let (value, None) = (values.next()?, values.next()) else { return None };
    let (scheme, token) = value.to_str().ok()?.trim_start().split_once(' ')?;
    let token = token.trim();
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty() && token.len() <= MAX_TOKEN_BYTES).then_some(token)
}
