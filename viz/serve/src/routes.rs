//! The routes below the token.
//!
//! | path | response |
//! |---|---|
//! | `/` | the page |
//! | `/structure.json` | the structure of the newest state of the session; the header `trace-revision` has the number of the state |
//! | `/newest.json` | the number of the newest state |
//! | `/bodies.json?of=1,2` | bodies by number, at most [`MAX_BODIES`] with [`MAX_BODIES_BYTES`](crate::MAX_BODIES_BYTES) of text |
//! | `/payload.json?of=1` | a payload |
//! | `/search.json?text=T&limit=N` | objects with a text that contains `T`, at most [`MAX_HITS`] |
//!
//! The last three take `revision=R`, the number of the state that a page was loaded with. If another state is served, they
//! answer with status 409. `viz/src/page/assets/README.md` describes the responses.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Query, State};
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::get;
use serde::{Deserialize, Serialize};
use trace_viz::page::{BodyError, Number, document};

use crate::keeper::{Busy, Keeper, Revision};

/// Most bodies that one request may ask for.
pub const MAX_BODIES: usize = 200;

/// Most objects that one search returns.
pub const MAX_HITS: usize = 1000;

/// Header with the number of the state that a structure describes.
const REVISION: HeaderName = HeaderName::from_static("trace-revision");

/// Returns the routes below `root`, which begins with a slash and does not end with one.
pub(crate) fn routes(keeper: Keeper, name: &str, root: &str) -> Router {
    let page = Bytes::from(document::served(name));
    let below = |path: &str| format!("{root}/{path}");
    let with_slash = below("");
    Router::new()
        // Without the slash at its end, relative requests of the page would lack the token.
        .route(root, get(move || async move { Redirect::permanent(&with_slash) }))
        .route(&below(""), get(move || async move { document(page) }))
        .route(&below("structure.json"), get(structure))
        .route(&below("newest.json"), get(newest))
        .route(&below("bodies.json"), get(bodies))
        .route(&below("payload.json"), get(payload))
        .route(&below("search.json"), get(search))
        .with_state(keeper)
}

fn document(page: Bytes) -> Response {
    let policy = HeaderValue::from_str(&document::served_policy());
    let mut answer = ([(header::CONTENT_TYPE, "text/html; charset=utf-8")], page).into_response();
    if let Ok(policy) = policy {
        answer.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    answer
}

/// Why a request got no answer.
#[derive(Debug, thiserror::Error)]
enum Refusal {
    #[error("{0}")]
    Asked(String),
    #[error(transparent)]
    Busy(#[from] Busy),
    #[error(transparent)]
    Body(#[from] BodyError),
    #[error("the answer could not be written")]
    Json(#[source] Arc<serde_json::Error>),
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let status = match &self {
            Self::Asked(_) => StatusCode::BAD_REQUEST,
            Self::Busy(Busy::Stale) => StatusCode::CONFLICT,
            Self::Busy(Busy::Full | Busy::Gone) => StatusCode::SERVICE_UNAVAILABLE,
            Self::Body(BodyError::Unknown { .. } | BodyError::NotAPayload { .. }) => StatusCode::NOT_FOUND,
            Self::Body(BodyError::Unreadable(_)) | Self::Json(_) => StatusCode::INTERNAL_SERVER_ERROR,
        };
        let mut message = self.to_string();
        let mut source = std::error::Error::source(&self);
        while let Some(cause) = source {
            message = format!("{message}: {cause}");
            source = cause.source();
        }
        (status, message).into_response()
    }
}

fn json(bytes: Bytes) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], Body::from(bytes)).into_response()
}

fn json_of<T: Serialize>(value: &T) -> Result<Response, Refusal> {
    let bytes = serde_json::to_vec(value).map_err(|error| Refusal::Json(Arc::new(error)))?;
    Ok(json(bytes.into()))
}

async fn structure(State(keeper): State<Keeper>) -> Result<Response, Refusal> {
    let (Revision(revision), structure) = keeper.structure().await?;
    let mut answer = json(structure.map_err(Refusal::Json)?);
    answer.headers_mut().insert(REVISION, HeaderValue::from(revision));
    Ok(answer)
}

async fn newest(State(keeper): State<Keeper>) -> Result<Response, Refusal> {
    json_of(&keeper.newest().await?)
}

#[derive(Debug, Deserialize)]
struct Of {
    of: String,
    #[serde(default)]
    revision: Option<Revision>,
}

impl Of {
    fn numbers(&self) -> Result<Vec<Number>, Refusal> {
        let parts = self.of.split(',').filter(|part| !part.is_empty());
        let numbers: Result<Vec<Number>, _> = parts.map(|part| part.parse().map(Number)).collect();
        let numbers = numbers.map_err(|_| Refusal::Asked(format!("{:?} is not a list of numbers", self.of)))?;
        if numbers.len() > MAX_BODIES {
            return Err(Refusal::Asked(format!("at most {MAX_BODIES} objects can be asked for at once")));
        }
        Ok(numbers)
    }
}

async fn bodies(State(keeper): State<Keeper>, Query(of): Query<Of>) -> Result<Response, Refusal> {
    let bodies = keeper.bodies(of.revision, of.numbers()?).await??;
    json_of(&bodies.into_iter().map(|(Number(number), body)| (number, body)).collect::<BTreeMap<_, _>>())
}

async fn payload(State(keeper): State<Keeper>, Query(of): Query<Of>) -> Result<Response, Refusal> {
    let [number] = of.numbers()?[..] else {
        return Err(Refusal::Asked("one payload can be asked for at a time".to_owned()));
    };
    json_of(&keeper.payload(of.revision, number).await??)
}

#[derive(Debug, Deserialize)]
struct Sought {
    text: String,
    #[serde(default)]
    limit: Option<usize>,
    #[serde(default)]
    revision: Option<Revision>,
}

async fn search(State(keeper): State<Keeper>, Query(sought): Query<Sought>) -> Result<Response, Refusal> {
    if sought.text.is_empty() {
        return Err(Refusal::Asked("there is no text to look for".to_owned()));
    }
    json_of(&keeper.search(sought.revision, sought.text, sought.limit.unwrap_or(MAX_HITS).min(MAX_HITS)).await?)
}
