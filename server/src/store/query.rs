//! Queries of lists of threads.

use std::collections::HashSet;

use trace_protocol::common::Nullable;
use trace_protocol::history::{ThreadSearchParams, ThreadSearchSortKey};
use trace_protocol::settings::SortDirection;
use trace_protocol::thread::{ThreadListCwdFilter, ThreadListParams, ThreadSortKey, ThreadSourceKind};
use trace_runtime::ThreadId;

/// Rows of a page if the client sets no limit.
pub const DEFAULT_LIST_LIMIT: u32 = 25;
/// Most rows of a page.
pub const MAX_LIST_LIMIT: u32 = 100;

/// Which threads to list, and in which order.
#[derive(Debug, Clone)]
pub struct ThreadListQuery {
    /// Where to continue.
    pub cursor: Option<String>,
    /// Most rows.
    pub limit: u32,
    /// The sort key.
    pub sort_key: ThreadSortKey,
    /// The direction of the order.
    pub direction: SortDirection,
    /// Providers of the threads. An empty list stands for all.
    pub providers: Vec<String>,
    /// Sources of the threads.
    pub sources: SourceFilter,
    /// Whether to list archived threads instead of the others.
    pub archived: bool,
    /// Folders of the threads. An empty list stands for all.
    pub cwds: Vec<String>,
    /// A part of the title.
    pub search_term: Option<String>,
    /// Threads to leave out.
    pub excluded: HashSet<ThreadId>,
    /// The parent of the threads.
    pub parent: Option<ThreadId>,
    /// An ancestor of the threads.
    pub ancestor: Option<ThreadId>,
    /// Whether the query asks for something that this server does not have, such as a project. Such a list is empty.
    pub unmatched: bool,
}

/// Sources of threads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SourceFilter {
    /// Threads that a user started.
    Interactive,
    /// All threads.
    Any,
    /// Threads from these sources.
    Kinds(Vec<ThreadSourceKind>),
}

/// A page of a list.
#[derive(Debug, Clone, PartialEq)]
pub struct Page<T> {
    /// The rows.
    pub data: Vec<T>,
    /// The cursor of the next page, or `None` on the last page.
    pub next_cursor: Option<String>,
    /// The cursor for the opposite direction, which leads to the rows before this page. `None` if the page is empty.
    pub backwards_cursor: Option<String>,
}

impl Default for ThreadListQuery {
    fn default() -> Self {
        Self::from(&ThreadListParams::default())
    }
}

impl From<&ThreadListParams> for ThreadListQuery {
    /// Converts the params of a request. The server has no projects, sections and attached threads, so a query for them
    /// matches nothing.
    fn from(params: &ThreadListParams) -> Self {
        let parent = params.parent_thread_id.as_deref().map(ThreadId::from);
        let ancestor = params.ancestor_thread_id.as_deref().map(ThreadId::from);
        let kinds = params.source_kinds.clone().unwrap_or_default();
        Self {
            cursor: params.cursor.clone(),
            limit: params.limit.unwrap_or(DEFAULT_LIST_LIMIT),
            sort_key: params.sort_key.unwrap_or(ThreadSortKey::CreatedAt),
            direction: params.sort_direction.unwrap_or(SortDirection::Desc),
            providers: params.model_providers.clone().unwrap_or_default(),
            sources: match (kinds.is_empty(), parent.is_some() || ancestor.is_some()) {
                (false, _) => SourceFilter::Kinds(kinds),
                (true, true) => SourceFilter::Any,
                (true, false) => SourceFilter::Interactive,
            },
            archived: params.archived.unwrap_or(false),
            cwds: match &params.cwd {
                None => Vec::new(),
                Some(ThreadListCwdFilter::One(cwd)) => with_real(std::slice::from_ref(cwd)),
                Some(ThreadListCwdFilter::Many(cwds)) => with_real(cwds),
            },
            search_term: params.search_term.clone().filter(|term| !term.is_empty()),
            excluded: params.excluded_thread_ids.iter().flatten().map(|id| ThreadId::from(id.as_str())).collect(),
            parent,
            ancestor,
            unmatched: matches!(params.project_id, Nullable::Value(_))
                || matches!(params.section_id, Nullable::Value(_))
                || params.attached_to_thread_id.is_some(),
        }
    }
}

/// Returns the folders together with their canonical paths, because stored paths contain no symlinks.
fn with_real(folders: &[String]) -> Vec<String> {
    let real =
        folders.iter().filter_map(|folder| std::fs::canonicalize(folder).ok()?.into_os_string().into_string().ok());
    let mut all: Vec<String> = folders.iter().cloned().chain(real).collect();
    all.dedup();
    all
}

/// A search in all threads.
#[derive(Debug, Clone)]
pub struct SearchQuery {
    /// The text. Case is ignored.
    pub term: String,
    /// Which threads to search, and in which order. The `search_term` of this query is ignored.
    pub threads: ThreadListQuery,
}

impl From<&ThreadSearchParams> for SearchQuery {
    fn from(params: &ThreadSearchParams) -> Self {
        let threads = ThreadListParams {
            archived: params.archived,
            cursor: params.cursor.clone(),
            limit: params.limit,
            sort_direction: params.sort_direction,
            sort_key: params.sort_key.map(|key| match key {
                ThreadSearchSortKey::CreatedAt => ThreadSortKey::CreatedAt,
                ThreadSearchSortKey::UpdatedAt => ThreadSortKey::UpdatedAt,
                ThreadSearchSortKey::RecencyAt => ThreadSortKey::RecencyAt,
            }),
            source_kinds: params.source_kinds.clone(),
            ..ThreadListParams::default()
        };
        Self { term: params.search_term.clone(), threads: ThreadListQuery::from(&threads) }
    }
}
