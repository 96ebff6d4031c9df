//! The routes below the token.
//!
//! | path | response |
//! |---|---|
//! | `/` | the page |
//! | `/structure.json` | the structure of the session; the header `trace-revision` has the number of its numbering of objects, and `trace-state` the number of the state if the session may grow |
//! | `/changes.json?revision=R&since=S` | the changes since state `S`, `{changes, state}`; it waits for some time if there are none. `{renumbered}` if the objects have other numbers by now, so that the page requests the structure again |
//! | `/bodies.json?of=1,2` | bodies by number, at most [`MAX_BODIES`] with [`MAX_BODIES_BYTES`](crate::MAX_BODIES_BYTES) of text |
//! | `/payload.json?of=1` | a payload |
//! | `/search.json?text=T&limit=N` | objects with a text that contains `T`, at most [`MAX_HITS`] |
//!
//! The last three take `revision=R`, too, and answer with status 409 if the objects have other numbers by now. `viz/src/page/assets/README.md` describes the responses.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::Arc;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{FromRequestParts, Query};
use axum::http::request::Parts;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::get;
use serde::{Deserialize, Serialize};
use trace_viz::page::{BodyError, Number, document};

use crate::keeper::{Busy, Keeper, Place, Revision, StateNumber};

/// Most bodies that one request may ask for.
pub const MAX_BODIES: usize = 200;

/// Most objects that one search returns.
pub const MAX_HITS: usize = 1000;

/// Header with the number of the numbering of objects in a structure.
const REVISION: HeaderName = HeaderName::from_static("trace-revision");

/// Header with the number of the state that a structure describes, if the session may grow.
const STATE: HeaderName = HeaderName::from_static("trace-state");

/// Returns the routes of one session below `root`, which begins with a slash and does not end with one.
pub(crate) fn routes(keeper: Keeper, name: &str, root: &str) -> Router {
    let page = Bytes::from(document::served(name));
    let with_slash = format!("{root}/");
    Router::new()
        // Without the slash at its end, relative requests of the page would lack the token.
        .route(root, get(move || async move { Redirect::permanent(&with_slash) }))
        .route(&format!("{root}/"), get(move || async move { document(page) }))
        .merge(data(root))
        .with_state(keeper)
}

/// Returns the routes of the data that the page of a session requests. The state knows the keeper of the session.
pub(crate) fn data<S>(root: &str) -> Router<S>
where
    S: Clone + Send + Sync + 'static,
    Asked: FromRequestParts<S>,
{
    let below = |path: &str| format!("{root}/{path}");
    Router::new()
        .route(&below("structure.json"), get(structure))
        .route(&below("changes.json"), get(changes))
        .route(&below("bodies.json"), get(bodies))
        .route(&below("payload.json"), get(payload))
        .route(&below("search.json"), get(search))
}

/// The keeper of the session that a request is about.
pub(crate) struct Asked(pub(crate) Keeper);

impl FromRequestParts<Keeper> for Asked {
    type Rejection = Infallible;

    async fn from_request_parts(_: &mut Parts, keeper: &Keeper) -> Result<Self, Infallible> {
        Ok(Self(keeper.clone()))
    }
}

/// Returns the response with the page of a session, which allows nothing but its own script and style.
pub(crate) fn document(page: Bytes) -> Response {
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

async fn structure(Asked(keeper): Asked) -> Result<Response, Refusal> {
    let (Place { revision: Revision(revision), state: StateNumber(state), is_followed }, structure) =
        keeper.structure().await?;
    let mut answer = json(structure.map_err(Refusal::Json)?);
    answer.headers_mut().insert(REVISION, HeaderValue::from(revision));
    if is_followed {
        answer.headers_mut().insert(STATE, HeaderValue::from(state));
    }
    Ok(answer)
}

#[derive(Debug, Deserialize)]
struct Since {
    revision: Revision,
    since: StateNumber,
}

async fn changes(Asked(keeper): Asked, Query(Since { revision, since }): Query<Since>) -> Result<Response, Refusal> {
    let told = match keeper.changes(revision, since).await {
        // This is expected now and then, so it is no error: browsers report those.
        Err(Busy::Stale) => return Ok(json(Bytes::from_static(br#"{"renumbered":true}"#))),
        told => told?,
    };
    let StateNumber(state) = told.state.unwrap_or(since);
    // Each of them is JSON already.
    let mut text = b"{\"changes\":[".to_vec();
    for (place, changes) in told.changes.iter().enumerate() {
        if place > 0 {
            text.push(b',');
        }
        text.extend_from_slice(changes);
    }
    text.extend_from_slice(format!("],\"state\":{state}}}").as_bytes());
    Ok(json(text.into()))
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

async fn bodies(Asked(keeper): Asked, Query(of): Query<Of>) -> Result<Response, Refusal> {
    let bodies = keeper.bodies(of.revision, of.numbers()?).await??;
    json_of(&bodies.into_iter().map(|(Number(number), body)| (number, body)).collect::<BTreeMap<_, _>>())
}

async fn payload(Asked(keeper): Asked, Query(of): Query<Of>) -> Result<Response, Refusal> {
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

async fn search(Asked(keeper): Asked, Query(sought): Query<Sought>) -> Result<Response, Refusal> {
    if sought.text.is_empty() {
        return Err(Refusal::Asked("there is no text to look for".to_owned()));
    }
    json_of(&keeper.search(sought.revision, sought.text, sought.limit.unwrap_or(MAX_HITS).min(MAX_HITS)).await?)
}
