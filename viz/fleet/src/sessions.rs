//! Lists of sessions, and the session of an address.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Map, Value};
use tokio::runtime::Handle;
use trace_serve::{Opened, RecordingSource, address_of};

use crate::board::{Board, BoardError, Version};
use crate::filters::{Filters, FiltersError};
use crate::range::Range;
use trace_fleet::lake::data::{day_number, day_text};
use trace_fleet::query::literal;
use trace_fleet::sessions::open_address;

/// Most sessions of one answer.
pub const MAX_LISTED: usize = 100;

/// Most sessions before those of an answer. Whoever looks for more narrows the lake, or asks it with SQL.
pub const MAX_OFFSET: usize = 1000;

/// Sessions of an answer, if nothing else is said.
const DEFAULT_LISTED: usize = 25;

/// The orders of a list: name, and what is largest first.
const ORDERS: [(&str, &str); 5] = [
    ("newest", "started_at"),
    ("failures", "failures"),
    ("findings", "findings"),
    ("tokens", "input_tokens + output_tokens"),
    ("longest", "duration_ms"),
];

/// Parameters of a list.
pub(super) const OTHERS: [&str; 3] = ["order", "limit", "offset"];

/// Sessions, and how many there are in all.
pub(super) struct Listed {
    pub(super) rows: Vec<Map<String, Value>>,
    pub(super) total: i64,
    pub(super) offset: usize,
}

/// Asks for sessions.
pub(super) async fn list(
    board: &Board,
    version: &Version,
    filters: &Filters,
    range: Range,
) -> Result<Listed, BoardError> {
    let order = filters.other("order").unwrap_or(ORDERS[0].0);
    let (_, order) = ORDERS
        .iter()
        .find(|(name, _)| *name == order)
        .ok_or_else(|| FiltersError::Value { name: "order".to_owned(), value: order.to_owned() })?;
    let limit = filters.number("limit", DEFAULT_LISTED, MAX_LISTED)?;
    let offset = filters.number("offset", 0, MAX_OFFSET)?;
    let condition = filters.on("sessions", range);
    let counted =
        board.objects(version, format!("SELECT count(*) AS total FROM sessions WHERE {condition}"), 1).await?;
    let total = counted.0.first().and_then(|row| row.get("total")?.as_i64()).unwrap_or(0);
    let sql = format!(
        "SELECT address, day, team, repository, agent, agent_version, model, readable, outcome, failures, findings, turns, tool_calls, \
         input_tokens, output_tokens, duration_ms, first_prompt FROM sessions WHERE {condition} \
         ORDER BY {order} DESC NULLS LAST, address LIMIT {limit} OFFSET {offset}"
    );
    let (mut rows, _) = board.objects(version, sql, MAX_LISTED).await?;
    if board.has_prices() && !rows.is_empty() {
        add_money(board, version, range, &mut rows).await?;
    }
    Ok(Listed { rows, total, offset })
}

/// Gives sessions the money of their calls.
async fn add_money(
    board: &Board,
    version: &Version,
    range: Range,
    rows: &mut [Map<String, Value>],
) -> Result<(), BoardError> {
    let addresses: Vec<String> = rows.iter().filter_map(|row| Some(literal(row.get("address")?.as_str()?))).collect();
    let [first, last] = range.texts();
    let sql = format!(
        "SELECT address, round(sum(money), 4) AS money FROM costs WHERE day BETWEEN DATE '{first}' AND DATE '{last}' \
         AND address IN ({}) GROUP BY address",
        addresses.join(", ")
    );
    let (costs, _) = board.objects(version, sql, MAX_LISTED).await?;
    for row in rows {
        let own = costs.iter().find(|cost| cost.get("address") == row.get("address"));
        row.insert("money".to_owned(), own.and_then(|cost| cost.get("money")).cloned().unwrap_or(Value::Null));
    }
    Ok(())
}

/// Finds and opens the sessions of a lake by their ids in the page. Only those that the lake has are opened.
#[must_use]
pub fn source(board: Arc<Board>, options: Vec<(String, String)>, runtime: Handle) -> RecordingSource {
    let asking = runtime.clone();
    RecordingSource {
        locate: Box::new(move |id| {
            let (day, address) = address_of(id)?;
            let day = match day {
                // A text that is not a day never gets into the SQL.
                Some(day) => format!("day = DATE '{}'", day_text(day_number(&day)?)?),
                None => "day IS NULL".to_owned(),
            };
            let sql = format!("SELECT address FROM sessions WHERE {day} AND address = {} LIMIT 1", literal(&address));
            let found = asking.block_on(async { board.objects(&board.version(), sql, 1).await });
            let found = found.inspect_err(|error| tracing::warn!(%error, "a session is not looked up")).ok()?;
            (!found.0.is_empty()).then(|| PathBuf::from(address))
        }),
        open: Box::new(move |address| {
            let address = address.to_str().ok_or("the address is no text")?;
            let session = open_address(address, &options, &runtime)?;
            let name = Path::new(address).file_name().map(|name| name.to_string_lossy().into_owned());
            Ok(Opened { session, newer: None, name: name.unwrap_or_else(|| address.to_owned()) })
        }),
    }
}
