//! The routes of the web client: its page, and the pages of recordings.
//!
//! | path | response | token |
//! |---|---|---|
//! | `/web/`, `/web/client.js`, `/web/client.css` | the page | no |
//! | `/web/recording/THREAD/` | the page of a recording, without any data | no |
//! | `/web/recording/THREAD/structure.json`, ... | its data, as of `trace view` | yes |
//! | `/web/token` | nothing | yes |
//!
//! Whoever mounts the routes checks hosts, origins and the token, and opens the WebSocket `/web/ws`.

use axum::Router;
use axum::body::Bytes;
use axum::extract::Request;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Redirect};
use axum::routing::get;
use trace_viz::client;
use trace_viz::page::document;

use crate::recordings::{MAX_ID_CHARS, RecordingSource, Recordings};
use crate::routes;

/// Path of the page of a recording, without the slash at its end.
const RECORDING: &str = "/web/recording/{thread}";

/// Title of the page of a recording until its data is there. Everybody can request that page, so it says nothing of the
/// session.
pub(crate) const RECORDING_TITLE: &str = "Recording";

/// The routes of the web client.
pub struct WebRoutes {
    /// Files without secrets.
    pub open: Router,
    /// The data of recordings, for requests with the token.
    pub guarded: Router,
}

/// Returns the routes of the web client of a server with these recordings.
#[must_use]
pub fn web(source: RecordingSource) -> WebRoutes {
    let shell = Bytes::from(document::served(RECORDING_TITLE));
    let open = Router::new()
        .route("/web", get(|| async { Redirect::permanent("/web/") }))
        .route("/web/", get(|| async { file("text/html; charset=utf-8", client::document()) }))
        .route("/web/client.js", get(|| async { file("text/javascript; charset=utf-8", client::script()) }))
        .route("/web/client.css", get(|| async { file("text/css; charset=utf-8", client::style()) }))
        .route(
            RECORDING,
            get(|request: Request| async move { Redirect::permanent(&format!("{}/", request.uri().path())) }),
        )
        .route(&format!("{RECORDING}/"), get(move || async move { routes::document(shell) }));
    let guarded = routes::data(RECORDING)
        .with_state(Recordings::new(source, MAX_ID_CHARS))
        // The page asks it whether the token is good, because browsers do not say why a WebSocket was refused.
        .route("/web/token", get(|| async { StatusCode::NO_CONTENT }));
    WebRoutes { open, guarded }
}

pub(crate) fn file(kind: &'static str, text: &'static str) -> impl IntoResponse {
    ([(header::CONTENT_TYPE, kind)], text)
}
