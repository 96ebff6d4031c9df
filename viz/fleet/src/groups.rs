//! Groups of rows: what the tables of the page show.

use serde_json::{Map, Value};

use crate::board::{Board, BoardError, Version};
use crate::filters::Filters;
use crate::range::Range;

/// Most groups of an answer.
pub const MAX_GROUPS: usize = 50;

/// By what rows are grouped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum By {
    /// Failures by category.
    Category,
    /// Failures with the same text, except for numbers, ids, paths and quoted names.
    Signature,
    /// Tool calls by tool.
    Tool,
    /// Inference calls by model.
    Model,
    /// Sessions by team.
    Team,
    /// Sessions by repository.
    Repository,
    /// Sessions by agent and version.
    Version,
    /// Findings of the audit by kind.
    Finding,
}

impl By {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Category,
        Self::Signature,
        Self::Tool,
        Self::Model,
        Self::Team,
        Self::Repository,
        Self::Version,
        Self::Finding,
    ];

    /// Returns its name in requests.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Category => "category",
            Self::Signature => "signature",
            Self::Tool => "tool",
            Self::Model => "model",
            Self::Team => "team",
            Self::Repository => "repository",
            Self::Version => "version",
            Self::Finding => "finding",
        }
    }

    pub(super) fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|by| by.as_str() == name)
    }

    fn sql(self, filters: &Filters, range: Range, has_prices: bool) -> String {
        let on = |table: &str| filters.on(table, range);
        let by = |columns: &str| {
            let of_calls = has_prices.then(|| on("inference_calls"));
            sessions(columns, &on("sessions"), of_calls.as_deref())
        };
        match self {
            Self::Category => format!(
                "SELECT category, count(*) AS failures, count(DISTINCT address) AS sessions, \
                 round(100.0 * count(*) / sum(count(*)) OVER (), 1) AS percent \
                 FROM failures WHERE {} GROUP BY category ORDER BY failures DESC, category",
                on("failures")
            ),
            Self::Signature => format!(
                "SELECT signature, min(category) AS category, min(tool) AS tool, min(substr(message, 1, 160)) AS message, \
                 count(*) AS failures, count(DISTINCT address) AS sessions, min(day) AS first_day, max(day) AS last_day \
                 FROM failures WHERE {} GROUP BY signature ORDER BY failures DESC, signature",
                on("failures")
            ),
            Self::Tool => format!(
                "SELECT tool, count(*) AS calls, count(*) FILTER (WHERE outcome = 'failed') AS failed, \
                 round(100.0 * count(*) FILTER (WHERE outcome = 'failed') / count(*), 1) AS percent, \
                 CAST(approx_percentile_cont(0.5) WITHIN GROUP (ORDER BY duration_ms) AS BIGINT) AS p50_ms, \
                 CAST(approx_percentile_cont(0.95) WITHIN GROUP (ORDER BY duration_ms) AS BIGINT) AS p95_ms, \
                 CAST(sum(duration_ms) AS BIGINT) AS total_ms \
                 FROM tool_calls WHERE {} GROUP BY tool ORDER BY failed DESC, calls DESC, tool",
                on("tool_calls")
            ),
            Self::Model => format!(
                "SELECT model, count(*) AS calls, count(*) FILTER (WHERE outcome = 'failed') AS failed, \
                 CAST(sum(input_tokens) AS BIGINT) AS input_tokens, CAST(sum(cached_input_tokens) AS BIGINT) AS cached_input_tokens, \
                 CAST(sum(output_tokens) AS BIGINT) AS output_tokens, round(sum(money), 4) AS money \
                 FROM costs WHERE {} GROUP BY model ORDER BY calls DESC, model NULLS LAST",
                on("inference_calls")
            ),
            Self::Team => by("team"),
            Self::Repository => by("repository"),
            Self::Version => by("agent, agent_version"),
            Self::Finding => format!(
                "SELECT kind, min(severity) AS severity, count(*) AS findings, count(DISTINCT address) AS sessions, \
                 min(message) AS message FROM findings WHERE {} GROUP BY kind ORDER BY findings DESC, kind",
                on("findings")
            ),
        }
    }
}

/// Returns the question for sessions by common columns. Their money, if there are prices, is that of their calls.
fn sessions(columns: &str, of_sessions: &str, of_calls: Option<&str>) -> String {
    let names: Vec<&str> = columns.split(", ").collect();
    let each = |write: &dyn Fn(&str) -> String, between: &str| {
        names.iter().map(|name| write(name)).collect::<Vec<_>>().join(between)
    };
    let counted = format!(
        "SELECT {columns}, count(*) AS sessions, count(*) FILTER (WHERE failures > 0) AS failed, \
         round(100.0 * count(*) FILTER (WHERE failures > 0) / count(*), 1) AS percent, CAST(sum(failures) AS BIGINT) AS failures, \
         CAST(sum(findings) AS BIGINT) AS findings, CAST(sum(input_tokens) AS BIGINT) AS input_tokens, \
         CAST(sum(output_tokens) AS BIGINT) AS output_tokens \
         FROM sessions WHERE {of_sessions} GROUP BY {columns}"
    );
    let order = each(&|name| format!("s.{name} NULLS LAST"), ", ");
    let Some(of_calls) = of_calls else {
        return format!("SELECT * FROM ({counted}) AS s ORDER BY s.sessions DESC, {order}");
    };
    let equal = each(&|name| format!("(s.{name} IS NOT DISTINCT FROM c.{name})"), " AND ");
    format!(
        "SELECT s.*, c.money FROM ({counted}) AS s \
         LEFT JOIN (SELECT {columns}, round(sum(money), 4) AS money FROM costs WHERE {of_calls} GROUP BY {columns}) AS c \
         ON {equal} ORDER BY s.sessions DESC, {order}"
    )
}

/// Asks for groups. Returns the largest ones, and whether there are more.
pub(super) async fn groups(
    board: &Board,
    version: &Version,
    by: By,
    filters: &Filters,
    range: Range,
) -> Result<(Vec<Map<String, Value>>, bool), BoardError> {
    // One more row than is returned tells whether there are more.
    let sql = format!("{} LIMIT {}", by.sql(filters, range, board.has_prices()), MAX_GROUPS + 1);
    board.objects(version, sql, MAX_GROUPS).await
}
