//! Lists of threads, and searches in them.

use std::collections::BTreeMap;
use std::sync::Arc;

use trace_protocol::RpcError;
use trace_protocol::history::{ThreadSearchParams, ThreadSearchResponse, ThreadSearchResult, ThreadSearchSortKey};
use trace_protocol::thread::{
    Thread, ThreadListParams, ThreadListResponse, ThreadLoadedListParams, ThreadLoadedListResponse, ThreadSortKey,
    ThreadStatus,
};

use crate::blocking::blocking;
use crate::paging;
use crate::store::{SearchQuery, Store, ThreadListQuery, ThreadSummary};
use crate::threads::Registry;

/// Serves `thread/list`, `thread/loaded/list` and `thread/search`.
pub(crate) struct ListHandlers {
    pub(crate) threads: Arc<Registry>,
    pub(crate) store: Store,
}

impl ListHandlers {
    pub(crate) async fn list(&self, params: &ThreadListParams) -> Result<ThreadListResponse, RpcError> {
        if params.originators.as_ref().is_some_and(|originators| !originators.is_empty()) {
            return Err(RpcError::invalid_request("threads cannot be listed by originator here"));
        }
        if params.parent_thread_id.is_some() && params.ancestor_thread_id.is_some() {
            return Err(RpcError::invalid_request("`parentThreadId` and `ancestorThreadId` exclude each other"));
        }
        let query = ThreadListQuery::from(params);
        let page = blocking(&self.store, move |store| store.list(&query)).await??;
        let mut read_states = BTreeMap::new();
        let data = page
            .data
            .iter()
            .map(|summary| {
                if let Some(thread) = self.threads.get(&summary.id) {
                    read_states.insert(summary.id.to_string(), thread.state().read.clone());
                }
                self.row(summary)
            })
            .collect();
        Ok(ThreadListResponse {
            data,
            backwards_cursor: page.backwards_cursor,
            next_cursor: page.next_cursor,
            read_states: Some(read_states),
        })
    }

    pub(crate) fn loaded(&self, params: &ThreadLoadedListParams) -> Result<ThreadLoadedListResponse, RpcError> {
        let ids = self.threads.ids();
        // Without a limit all ids are returned: they are short, and clients look for one among them.
        let limit = params.limit.map_or(ids.len(), |limit| paging::limit(Some(limit)));
        let (page, next_cursor) = paging::by_key(&ids, |id| id.as_str(), params.cursor.as_deref(), limit)?;
        Ok(ThreadLoadedListResponse { data: page.iter().map(ToString::to_string).collect(), next_cursor })
    }

    pub(crate) async fn search(&self, params: ThreadSearchParams) -> Result<ThreadSearchResponse, RpcError> {
        if params.search_term.trim().is_empty() {
            return Err(RpcError::invalid_request("the search term is empty"));
        }
        let threads = ThreadListQuery::from(&ThreadListParams {
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
        });
        let query = SearchQuery { term: params.search_term, threads };
        let page = blocking(&self.store, move |store| store.search(&query)).await??;
        let data = page
            .data
            .iter()
            .map(|hit| ThreadSearchResult { snippet: hit.snippet.clone(), thread: self.row(&hit.thread) })
            .collect();
        Ok(ThreadSearchResponse { data, backwards_cursor: page.backwards_cursor, next_cursor: page.next_cursor })
    }

    /// Returns a thread for a list: in its loaded state if it is loaded, otherwise as it is stored.
    fn row(&self, summary: &ThreadSummary) -> Thread {
        match self.threads.get(&summary.id) {
            Some(thread) => thread.summary(),
            None => summary.to_thread(ThreadStatus::NotLoaded),
        }
    }
}
