//! The routes of the page's data.
//!
//! | path | answer |
//! |---|---|
//! | `lake.json` | the newest version of the lake: its days, its sessions, what costs are; later questions are about it |
//! | `values.json` | the values that filters offer, at most [`MAX_VALUES`] of each column |
//! | `chart.json?of=sessions\|failures\|costs` | sums by day, at most [`MAX_POINTS`](super::MAX_POINTS) points of [`MAX_SERIES`](super::MAX_SERIES) series and the rest |
//! | `groups.json?by=category\|signature\|...` | groups, at most [`MAX_GROUPS`](super::MAX_GROUPS) |
//! | `sessions.json?order=O&limit=N&offset=N` | sessions, at most [`MAX_LISTED`](super::MAX_LISTED) |
//!
//! The last three take what narrows the lake: `since`, `until`, common columns (an empty value means that there is none), and
//! `category`, `signature`, `tool`, `finding`, `outcome` for sessions that have such a row.

use std::collections::HashMap;
use std::sync::Arc;

use axum::Router;
use axum::extract::{Query, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use serde_json::{Value, json};

use crate::board::{Board, BoardError, Version};
use crate::filters::{Filters, FiltersError};
use crate::groups::{By, groups};
use crate::range::Range;
use crate::series::{Of, chart};
use crate::sessions::{self, list};
use trace_fleet::query::QueryError;

/// Most values that a filter offers, those of most rows first.
pub const MAX_VALUES: usize = 200;

/// Columns whose values filters offer, with their tables.
const OFFERED: [(&str, &str); 7] = [
    ("team", "sessions"),
    ("repository", "sessions"),
    ("agent", "sessions"),
    ("agent_version", "sessions"),
    ("model", "sessions"),
    ("category", "failures"),
    ("kind", "findings"),
];

type Parameters = Query<HashMap<String, String>>;

/// Returns the routes of the data of a lake, relative to where they are mounted.
pub fn router(board: Arc<Board>) -> Router {
    Router::new()
        .route("/lake.json", get(lake_json))
        .route("/values.json", get(values_json))
        .route("/chart.json", get(chart_json))
        .route("/groups.json", get(groups_json))
        .route("/sessions.json", get(sessions_json))
        .with_state(board)
}

impl IntoResponse for BoardError {
    fn into_response(self) -> Response {
        let status = match &self {
            Self::Asked(_) => StatusCode::BAD_REQUEST,
            Self::Busy | Self::Query(QueryError::Timeout { .. } | QueryError::Memory { .. }) => {
                StatusCode::SERVICE_UNAVAILABLE
            }
            Self::Lake(_) | Self::Query(_) | Self::Output(_) => StatusCode::INTERNAL_SERVER_ERROR,
        };
        let mut message = self.to_string();
        if status == StatusCode::SERVICE_UNAVAILABLE {
            message.push_str("; fewer days or a team make it a smaller question");
        }
        tracing::warn!(error = %self, "a request of the page has no answer");
        (status, message).into_response()
    }
}

fn json_of(value: &impl serde::Serialize) -> Result<Response, BoardError> {
    let text = serde_json::to_vec(value).map_err(|error| trace_fleet::query::OutputError::Io(error.into()))?;
    Ok(([(header::CONTENT_TYPE, "application/json")], text).into_response())
}

fn today() -> i32 {
    i32::try_from(jiff::Timestamp::now().as_second().div_euclid(24 * 3600)).unwrap_or(i32::MAX)
}

/// What a request asks about.
struct Asked {
    version: Arc<Version>,
    filters: Filters,
    range: Range,
}

fn asked(board: &Board, given: &HashMap<String, String>, others: &[&'static str]) -> Result<Asked, BoardError> {
    let filters = Filters::new(given, others)?;
    let version = board.version();
    let range = Range::between(filters.since, filters.until, version.days, today());
    Ok(Asked { version, filters, range })
}

/// Returns the value of a parameter that names one of several things.
fn chosen<T>(filters: &Filters, name: &'static str, of_name: impl Fn(&str) -> Option<T>) -> Result<T, BoardError> {
    let value = filters.other(name).unwrap_or_default();
    let unknown = || FiltersError::Value { name: name.to_owned(), value: value.to_owned() };
    Ok(of_name(value).ok_or_else(unknown)?)
}

async fn lake_json(State(board): State<Arc<Board>>) -> Result<Response, BoardError> {
    let version = board.refresh().await?;
    let shown = Range::between(None, None, version.days, today());
    let mut url = board.lake().store().url().clone();
    // A URL may have a password.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.set_query(None);
    json_of(&json!({
        "url": url.as_str(),
        "version": version.number,
        "at_unix_ms": version.at_unix_ms,
        "sessions": version.sessions,
        "days": version.days.map(Range::texts),
        "shown": shown.texts(),
        "currency": board.currency(),
    }))
}

async fn values_json(State(board): State<Arc<Board>>) -> Result<Response, BoardError> {
    let version = board.version();
    let values = version.values.get_or_try_init(|| values(&board, &version)).await?;
    json_of(values)
}

async fn values(board: &Board, version: &Version) -> Result<Value, BoardError> {
    let mut all = serde_json::Map::new();
    for (column, table) in OFFERED {
        let sql = format!(
            "SELECT {column} AS value, count(*) AS rows FROM {table} GROUP BY value ORDER BY rows DESC, value NULLS LAST LIMIT {}",
            MAX_VALUES + 1
        );
        let (rows, is_cut) = board.objects(version, sql, MAX_VALUES).await?;
        let values: Vec<Value> = rows.into_iter().filter_map(|mut row| row.remove("value")).collect();
        all.insert(column.to_owned(), json!({ "values": values, "is_cut": is_cut }));
    }
    all.insert("version".to_owned(), version.number.into());
    Ok(all.into())
}

async fn chart_json(State(board): State<Arc<Board>>, Query(given): Parameters) -> Result<Response, BoardError> {
    let Asked { version, filters, range } = asked(&board, &given, &["of"])?;
    let of = chosen(&filters, "of", Of::of_name)?;
    json_of(&chart(&board, &version, of, &filters, range).await?)
}

async fn groups_json(State(board): State<Arc<Board>>, Query(given): Parameters) -> Result<Response, BoardError> {
    let Asked { version, filters, range } = asked(&board, &given, &["by"])?;
    let by = chosen(&filters, "by", By::of_name)?;
    let (rows, is_cut) = groups(&board, &version, by, &filters, range).await?;
    json_of(&json!({ "version": version.number, "by": by.as_str(), "rows": rows, "is_cut": is_cut }))
}

async fn sessions_json(State(board): State<Arc<Board>>, Query(given): Parameters) -> Result<Response, BoardError> {
    let Asked { version, filters, range } = asked(&board, &given, &sessions::OTHERS)?;
    let listed = list(&board, &version, &filters, range).await?;
    json_of(&json!({
        "version": version.number,
        "days": range.texts(),
        "total": listed.total,
        "offset": listed.offset,
        "rows": listed.rows,
    }))
}
