//! The HTTP endpoints of a server: WebSockets on any path, health checks, and the bridge.
//!
//! Over TCP, requests that web pages make are refused, and every request needs a valid token if there is a rule for
//! tokens, except a health check. Over a unix socket, neither is checked, because only its owner can open it.

use std::sync::Arc;
use std::time::SystemTime;

use axum::Router;
use axum::extract::ws::WebSocketUpgrade;
use axum::extract::{FromRequestParts as _, Request, State};
use axum::http::header::{ORIGIN, UPGRADE, WWW_AUTHENTICATE};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::response::{IntoResponse as _, Response};

use super::admission::AdmissionControl;
use super::auth::Auth;
use super::bridge::Bridge;
use super::drain::Phase;
use super::slots::ConnectionSlot;
use super::websocket;
use crate::connection::TransportKind;
use crate::outbound::OutboundPolicy;

/// The state that all requests share.
pub(super) struct App {
    pub(super) admission: AdmissionControl,
    pub(super) gate: Gate,
    pub(super) bridge: Bridge,
}

/// Which requests are allowed.
#[derive(Debug)]
pub(super) enum Gate {
    /// Over TCP: no requests of web pages, and only requests with a valid token if there is a rule for tokens.
    Tcp(Option<Auth>),
    /// Over a unix socket: all requests.
    Unix,
}

pub(super) fn router(app: Arc<App>) -> Router {
    Router::new().fallback(enter).with_state(app)
}

async fn enter(State(app): State<Arc<App>>, request: Request) -> Response {
    let headers = request.headers();
    if app.gate.is_closed_to_pages() && headers.contains_key(ORIGIN) {
        return (StatusCode::FORBIDDEN, "requests of web pages are refused\n").into_response();
    }
    let is_upgrade = headers.get(UPGRADE).is_some_and(|value| value.as_bytes().eq_ignore_ascii_case(b"websocket"));
    let path = request.uri().path();
    let first = path.split('/').nth(1).unwrap_or_default();
    match (request.method(), path, first) {
        (&Method::GET, ..) if is_upgrade => match app.gate.refusal(headers) {
            Some(refusal) => refusal,
            None => upgrade(&app, request, &[]).await,
        },
        (&Method::GET | &Method::HEAD, "/healthz", _) => StatusCode::OK.into_response(),
        (&Method::GET | &Method::HEAD, "/readyz", _) => match app.admission.shutdown.phase() {
            Phase::Serving => StatusCode::OK.into_response(),
            Phase::Draining | Phase::Forced => AdmissionControl::ending(),
        },
        (_, _, "bridge") => match app.gate.refusal(headers) {
            Some(refusal) => refusal,
            None => app.bridge.answer(&app.admission, request).await,
        },
        _ => (StatusCode::BAD_REQUEST, "expected a WebSocket upgrade\n").into_response(),
    }
}

/// Opens a WebSocket for a client that may connect. Of the subprotocols that it offers, the response names one of
/// `protocols`.
pub(super) async fn upgrade(app: &App, request: Request, protocols: &[&'static str]) -> Response {
    if let Some(refusal) = app.admission.refusal() {
        return refusal;
    }
    let (mut parts, _) = request.into_parts();
    let upgrade = match WebSocketUpgrade::from_request_parts(&mut parts, &()).await {
        Ok(upgrade) => websocket::limited(upgrade).protocols(protocols.iter().copied()),
        Err(rejection) => return rejection.into_response(),
    };
    let held = parts.extensions.get::<ConnectionSlot>().cloned();
    let token = app.admission.tasks.token();
    let opener = app.admission.opener.clone();
    let transport = app.gate.transport();
    upgrade.on_upgrade(move |socket| async move {
        let (ingress, reader) = opener.open(transport, OutboundPolicy::SHARED);
        websocket::run(socket, ingress, reader).await;
        drop((token, held));
    })
}

impl Gate {
    fn is_closed_to_pages(&self) -> bool {
        matches!(self, Self::Tcp(_))
    }

    fn transport(&self) -> TransportKind {
        match self {
            Self::Tcp(_) => TransportKind::WebSocket,
            Self::Unix => TransportKind::Unix,
        }
    }

    /// Returns the response to a request without a valid token.
    fn refusal(&self, headers: &HeaderMap) -> Option<Response> {
        let Self::Tcp(Some(auth)) = self else { return None };
        let why = auth.check(headers, SystemTime::now()).err()?;
        Some((StatusCode::UNAUTHORIZED, [(WWW_AUTHENTICATE, "Bearer")], format!("{why}\n")).into_response())
    }
}
