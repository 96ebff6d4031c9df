//! What lists of threads are asked for.

use std::collections::HashSet;

use trace_protocol::common::Nullable;
use trace_protocol::history::{ThreadSearchParams, ThreadSearchSortKey};
use trace_protocol::settings::SortDirection;
use trace_protocol::thread::{ThreadListCwdFilter, ThreadListParams, ThreadSortKey, ThreadSourceKind};
use trace_runtime::ThreadId;

/// Rows of a page when nobody says how many.
pub const DEFAULT_LIST_LIMIT: u32 = 25;
/// Most rows of a page.
pub const MAX_LIST_LIMIT: u32 = 100;

/// Which threads to list, and in which order.
#[derive(Debug, Clone)]
pub struct ThreadListQuery {
    /// Where to go on.
    pub cursor: Option<String>,
    /// Most rows.
    pub limit: u32,
    /// What the order goes by.
    pub sort_key: ThreadSortKey,
    /// Which end comes first.
    pub direction: SortDirection,
    /// Providers; all if there are none.
    pub providers: Vec<String>,
    /// Sources.
    pub sources: SourceFilter,
    /// Whether to list what was put away instead.
    pub archived: bool,
    /// Folders; all if there are none.
    pub cwds: Vec<String>,
    /// A part of the title.
    pub search_term: Option<String>,
    /// Threads to leave out.
    pub excluded: HashSet<ThreadId>,
    /// The thread whose children are listed.
    pub parent: Option<ThreadId>,
    /// The thread whose descendants are listed.
    pub ancestor: Option<ThreadId>,
    /// Whether it asks for something that no thread here has, such as a project.
    pub unmatched: bool,
}

/// Where threads come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SourceFilter {
    /// From people.
    Interactive,
    /// From anywhere.
    Any,
    /// From these.
    Kinds(Vec<ThreadSourceKind>),
}

/// A part of a longer list.
#[derive(Debug, Clone, PartialEq)]
pub struct Page<T> {
    /// The rows.
    pub data: Vec<T>,
    /// Where the next page begins; nothing at the end.
    pub next_cursor: Option<String>,
    /// Where the rows before these are, for the opposite direction; nothing if there are no rows.
    pub backwards_cursor: Option<String>,
}

impl Default for ThreadListQuery {
    fn default() -> Self {
        Self::from(&ThreadListParams::default())
    }
}

impl From<&ThreadListParams> for ThreadListQuery {
    /// Takes what a client asks for. There are no projects, sections and attached threads here: nothing is in one.
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

/// Returns folders and where they lie: threads have paths without links.
fn with_real(folders: &[String]) -> Vec<String> {
    let real =
        folders.iter().filter_map(|folder| std::fs::canonicalize(folder).ok()?.into_os_string().into_string().ok());
    let mut all: Vec<String> = folders.iter().cloned().chain(real).collect();
    all.dedup();
    all
}

/// What to search all threads for.
#[derive(Debug, Clone)]
pub struct SearchQuery {
    /// The text; letters match in either case.
    pub term: String,
    /// Which threads, in which order; its own `search_term` is not looked at.
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
