//! Lists of threads, in pages.
//!
//! A cursor is the position of a row in the order: the sort key and the id. The next page therefore starts at the right
//! place even if that row no longer exists.

use std::cmp::Ordering;
use std::collections::HashSet;
use std::sync::Arc;

use trace_protocol::settings::SortDirection;
use trace_protocol::thread::{SessionSource, SubAgentSource, ThreadSortKey, ThreadSourceKind};
use trace_runtime::ThreadId;

use super::error::StoreError;
use super::page::invalid_cursor;
use super::query::{MAX_LIST_LIMIT, Page, SourceFilter, ThreadListQuery};
use super::rollout::place::is_id;
use super::summary::ThreadSummary;

/// Suffix of a cursor whose page starts with its row, not after it.
const HERE: &str = "|here";

/// The position of a row in an order.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct RowPlace {
    at_ms: i64,
    thread: ThreadId,
}

impl RowPlace {
    fn of(summary: &ThreadSummary, key: ThreadSortKey) -> Self {
        let at_ms = match key {
            ThreadSortKey::CreatedAt => summary.created_at_ms,
            ThreadSortKey::UpdatedAt => summary.updated_at_ms,
            // The server has no sections, so threads are ordered by their last use.
            ThreadSortKey::RecencyAt | ThreadSortKey::SectionPosition => summary.recency_at_ms,
        };
        Self { at_ms, thread: summary.id.clone() }
    }

    /// Returns the cursor of a page that starts after the row.
    fn behind(&self) -> String {
        format!("{}|{}", self.at_ms, self.thread)
    }

    /// Returns the cursor of a page that starts with the row.
    fn here(&self) -> String {
        format!("{}{HERE}", self.behind())
    }

    /// Parses a cursor. The second value is the greatest result of comparing the cursor with a row that belongs to the
    /// page.
    fn read(cursor: &str) -> Result<(Self, Ordering), StoreError> {
        let (place, least) = match cursor.strip_suffix(HERE) {
            Some(place) => (place, Ordering::Equal),
            None => (cursor, Ordering::Less),
        };
        let parts = place.split_once('|').filter(|(_, thread)| is_id(thread));
        let place =
            parts.and_then(|(at_ms, thread)| Some(Self { at_ms: at_ms.parse().ok()?, thread: ThreadId::from(thread) }));
        place.map(|place| (place, least)).ok_or_else(|| invalid_cursor(cursor))
    }
}

/// Returns the rows that match a query, sorted, from its cursor on.
pub(super) fn rows(
    summaries: Vec<Arc<ThreadSummary>>,
    descendants: Option<&HashSet<ThreadId>>,
    query: &ThreadListQuery,
) -> Result<Vec<Arc<ThreadSummary>>, StoreError> {
    let from = query.cursor.as_deref().map(RowPlace::read).transpose()?;
    let term = query.search_term.as_ref().map(|term| term.to_lowercase());
    let mut rows: Vec<(RowPlace, Arc<ThreadSummary>)> = summaries
        .into_iter()
        .filter(|summary| is_wanted(summary, descendants, term.as_deref(), query))
        .map(|summary| (RowPlace::of(&summary, query.sort_key), summary))
        .filter(|(place, _)| from.as_ref().is_none_or(|(from, least)| order(from, place, query.direction) <= *least))
        .collect();
    rows.sort_by(|(one, _), (other, _)| order(one, other, query.direction));
    Ok(rows.into_iter().map(|(_, summary)| summary).collect())
}

fn order(one: &RowPlace, other: &RowPlace, direction: SortDirection) -> Ordering {
    match direction {
        SortDirection::Asc => one.cmp(other),
        SortDirection::Desc => other.cmp(one),
    }
}

/// Returns the number of rows of a page.
pub(super) fn page_length(query: &ThreadListQuery) -> usize {
    query.limit.clamp(1, MAX_LIST_LIMIT) as usize
}

/// Returns a page. `rows` start with the first row of the page. `take` converts a row, or skips it by returning `None`.
pub(super) fn page<T>(
    rows: &[Arc<ThreadSummary>],
    query: &ThreadListQuery,
    mut take: impl FnMut(&ThreadSummary) -> Option<T>,
) -> Page<T> {
    let length = page_length(query);
    let mut page = Page { data: Vec::new(), next_cursor: None, backwards_cursor: None };
    let mut last: Option<&Arc<ThreadSummary>> = None;
    for row in rows {
        let Some(taken) = take(row) else { continue };
        if page.data.len() == length {
            page.next_cursor = last.map(|last| RowPlace::of(last, query.sort_key).behind());
            break;
        }
        if page.data.is_empty() {
            page.backwards_cursor = Some(RowPlace::of(row, query.sort_key).here());
        }
        page.data.push(taken);
        last = Some(row);
    }
    page
}

fn is_wanted(
    summary: &ThreadSummary,
    descendants: Option<&HashSet<ThreadId>>,
    term: Option<&str>,
    query: &ThreadListQuery,
) -> bool {
    let is_asked_for = query.parent.is_some() || query.ancestor.is_some();
    // A thread without a message or a name gives users nothing to recognize it by.
    let is_shown = is_asked_for
        || query.sources != SourceFilter::Interactive
        || !summary.preview.is_empty()
        || summary.name.is_some();
    is_shown
        && !query.unmatched
        && summary.archived == query.archived
        && (query.providers.is_empty() || query.providers.contains(&summary.provider))
        && is_from(&summary.source, &query.sources)
        && (query.cwds.is_empty() || query.cwds.iter().any(|cwd| cwd == summary.cwd.as_str()))
        && term.is_none_or(|term| is_titled(summary, term))
        && !query.excluded.contains(&summary.id)
        && query.parent.as_ref().is_none_or(|parent| summary.parent.as_ref() == Some(parent))
        && descendants.is_none_or(|descendants| descendants.contains(&summary.id))
}

fn is_titled(summary: &ThreadSummary, term: &str) -> bool {
    let name = summary.name.as_deref().unwrap_or_default();
    name.to_lowercase().contains(term) || summary.preview.to_lowercase().contains(term)
}

fn is_from(source: &SessionSource, sources: &SourceFilter) -> bool {
    match sources {
        SourceFilter::Any => true,
        SourceFilter::Interactive => matches!(source, SessionSource::Cli | SessionSource::Vscode),
        SourceFilter::Kinds(kinds) => kinds.iter().any(|kind| is_kind(source, *kind)),
    }
}

fn is_kind(source: &SessionSource, kind: ThreadSourceKind) -> bool {
    let agent = match source {
        SessionSource::SubAgent(agent) => Some(agent),
        _ => None,
    };
    match kind {
        ThreadSourceKind::Cli => *source == SessionSource::Cli,
        ThreadSourceKind::Vscode => *source == SessionSource::Vscode,
        ThreadSourceKind::Exec => *source == SessionSource::Exec,
        ThreadSourceKind::AppServer => *source == SessionSource::AppServer,
        ThreadSourceKind::SubAgent => agent.is_some(),
        ThreadSourceKind::SubAgentReview => matches!(agent, Some(SubAgentSource::Review)),
        ThreadSourceKind::SubAgentCompact => matches!(agent, Some(SubAgentSource::Compact)),
        ThreadSourceKind::SubAgentThreadSpawn => matches!(agent, Some(SubAgentSource::ThreadSpawn { .. })),
        ThreadSourceKind::SubAgentOther => {
            matches!(agent, Some(SubAgentSource::Other(_) | SubAgentSource::MemoryConsolidation))
        }
        ThreadSourceKind::Unknown => matches!(source, SessionSource::Unknown | SessionSource::Custom(_)),
    }
}
