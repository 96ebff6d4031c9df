//! Sums by day: what the charts show.

use std::collections::HashMap;

use serde::Serialize;

use crate::board::{Board, BoardError, Version};
use crate::filters::Filters;
use crate::range::Range;
use crate::rows::Columns;
use trace_fleet::lake::data::day_text;

/// Most series of a chart. The rest is one more.
pub const MAX_SERIES: usize = 7;

/// Most sums of one point and one value that are read for a chart, the largest first.
pub const MAX_CELLS: usize = 100_000;

/// What a chart is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Of {
    /// Sessions by the outcome of their last turn.
    Sessions,
    /// Failures by category.
    Failures,
    /// Money by model if there are prices, else tokens.
    Costs,
}

impl Of {
    pub(super) fn of_name(name: &str) -> Option<Self> {
        Some(match name {
            "sessions" => Self::Sessions,
            "failures" => Self::Failures,
            "costs" => Self::Costs,
            _ => return None,
        })
    }

    /// Returns table, column of the series, and sum.
    fn parts(self, has_prices: bool) -> [&'static str; 3] {
        match self {
            Self::Sessions => ["sessions", "outcome", "count(*)"],
            Self::Failures => ["failures", "category", "count(*)"],
            Self::Costs if has_prices => ["costs", "model", "sum(money)"],
            Self::Costs => ["inference_calls", "model", "sum(input_tokens + output_tokens)"],
        }
    }
}

/// What a chart shows.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Chart {
    /// Number of the version of the lake.
    version: u64,
    /// What the values are: `sessions`, `failures`, `money` or `tokens`.
    unit: &'static str,
    /// Days of a point.
    days: i32,
    /// First day of each point.
    starts: Vec<String>,
    /// Last day of the last point.
    last: String,
    series: Vec<Series>,
    /// Whether the smallest sums were left out.
    is_cut: bool,
}

/// A series of a chart.
#[derive(Debug, Clone, PartialEq, Serialize)]
struct Series {
    /// Its value; null if rows have none.
    name: Option<String>,
    /// Whether it is the sum of all others.
    is_rest: bool,
    /// A value for each point.
    values: Vec<f64>,
}

/// Asks for the sums of a chart.
pub(super) async fn chart(
    board: &Board,
    version: &Version,
    of: Of,
    filters: &Filters,
    range: Range,
) -> Result<Chart, BoardError> {
    let [table, column, sum] = of.parts(board.has_prices());
    let (first, width) = (range.first, range.width());
    let condition = filters.on(table, range);
    let sql = format!(
        "SELECT (CAST(day AS INT) - ({first})) / {width} AS point, {column} AS name, {sum} AS value FROM {table} \
         WHERE {condition} GROUP BY point, name HAVING {sum} IS NOT NULL ORDER BY value DESC, point, name"
    );
    let answer = board.ask(version, sql, MAX_CELLS).await?;
    let points = range.points();
    let mut sums: HashMap<Option<String>, Vec<f64>> = HashMap::new();
    for batch in &answer.rows {
        let columns = Columns(batch);
        let (at, names, values) = (columns.integers(0)?, columns.texts(1)?, columns.numbers(2)?);
        for ((point, name), value) in at.into_iter().zip(names).zip(values) {
            let series = sums.entry(name).or_insert_with(|| vec![0.0; points]);
            if let Some(sum) = usize::try_from(point).ok().and_then(|point| series.get_mut(point)) {
                *sum += value;
            }
        }
    }
    let start = |point: usize| day_text(first.saturating_add(width.saturating_mul(point as i32))).unwrap_or_default();
    Ok(Chart {
        version: version.number,
        unit: match of {
            Of::Sessions => "sessions",
            Of::Failures => "failures",
            Of::Costs if board.has_prices() => "money",
            Of::Costs => "tokens",
        },
        days: width,
        starts: (0..points).map(start).collect(),
        last: day_text(range.last).unwrap_or_default(),
        series: largest(sums, points),
        is_cut: answer.is_cut,
    })
}

/// Returns the series with the largest sums, and the sum of the rest.
fn largest(sums: HashMap<Option<String>, Vec<f64>>, points: usize) -> Vec<Series> {
    let mut all: Vec<(f64, Option<String>, Vec<f64>)> =
        sums.into_iter().map(|(name, values)| (values.iter().sum(), name, values)).collect();
    all.sort_by(|one, other| other.0.total_cmp(&one.0).then_with(|| one.1.cmp(&other.1)));
    let rest = all.split_off(all.len().min(MAX_SERIES));
    let mut series: Vec<Series> =
        all.into_iter().map(|(_, name, values)| Series { name, is_rest: false, values }).collect();
    if !rest.is_empty() {
        let mut values = vec![0.0; points];
        for (_, _, of_series) in &rest {
            values.iter_mut().zip(of_series).for_each(|(sum, value)| *sum += value);
        }
        series.push(Series { name: None, is_rest: true, values });
    }
    series
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chart_has_few_series_and_loses_nothing() {
        let sums = (0..20).map(|n| (Some(format!("{n:02}")), vec![f64::from(n), 1.0])).collect();
        let series = largest(sums, 2);
        let names: Vec<_> = series.iter().map(|it| it.name.as_deref().unwrap_or("rest")).collect();
        assert_eq!(names, ["19", "18", "17", "16", "15", "14", "13", "rest"]);
        assert_eq!(series.len(), MAX_SERIES + 1);
        let all: f64 = series.iter().flat_map(|it| &it.values).sum();
        assert_eq!(all, 190.0 + 20.0);
        assert_eq!(largest(HashMap::new(), 2), []);
    }
}
