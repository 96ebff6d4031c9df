//! The history of a thread: read completely or in pages, searched, and reverted.

use std::sync::Arc;

use trace_protocol::RpcError;
use trace_protocol::history::{
    ThreadItemsListParams, ThreadItemsListResponse, ThreadItemsReadParams, ThreadItemsReadResponse,
    ThreadReadStateOperation, ThreadReadStateUpdateParams, ThreadReadStateUpdateResponse, ThreadSearchOccurrence,
    ThreadSearchOccurrencesParams, ThreadSearchOccurrencesResponse, ThreadSearchTextRange, ThreadTurnsListParams,
    ThreadTurnsListResponse,
};
use trace_protocol::notification::{ThreadReadStateChangedNotification, ThreadRevertedNotification};
use trace_protocol::settings::SortDirection;
use trace_protocol::thread::{
    ThreadHistoryMode, ThreadReadParams, ThreadReadResponse, ThreadReadState, ThreadRevertParams, ThreadRevertResponse,
    ThreadRollbackParams, ThreadRollbackResponse, ThreadStatus, ThreadUnreadPosition, TurnsPage,
};
use trace_protocol::turn::{Turn, TurnItemsView};
use trace_runtime::control::Refusal;
use trace_runtime::{ThreadId, TurnId};
use uuid::Uuid;

use super::turns::refused;
use crate::blocking::blocking;
use crate::mapping::thread_id;
use crate::store::{Page, Resolution, Store, StoredThread, page};
use crate::threads::{LoadedThread, Registry, Turns};

/// The turns of a thread, loaded or stored.
struct History {
    id: ThreadId,
    mode: ThreadHistoryMode,
    turns: Vec<Arc<Turn>>,
}

/// Serves the methods that read and revert the history of a thread.
pub(crate) struct HistoryHandlers {
    pub(crate) threads: Arc<Registry>,
    pub(crate) store: Store,
}

impl HistoryHandlers {
    pub(crate) async fn read(&self, params: ThreadReadParams) -> Result<ThreadReadResponse, RpcError> {
        let id = thread_id(&params.thread_id)?;
        let turns = if params.include_turns { Turns::Full } else { Turns::LeftOut };
        if let Some(thread) = self.threads.get(&id) {
            let settings = thread.agent().settings();
            let state = thread.state();
            if turns == Turns::Full && thread.origin().is_ephemeral {
                return Err(RpcError::invalid_request("an ephemeral thread has no stored turns to read"));
            }
            if turns == Turns::Full && state.view.is_empty() {
                let message = format!("thread {id} is not materialized yet: it has no turns before its first message");
                return Err(RpcError::new(trace_protocol::error::METHOD_NOT_FOUND, message));
            }
            let read_state = Some(state.read.clone());
            return Ok(ThreadReadResponse { thread: thread.show(&state, &settings, turns), read_state });
        }
        let wanted = id.clone();
        let summary = match blocking(&self.store, move |store| store.resolve(&wanted)).await? {
            Resolution::Found(summary) | Resolution::Archived(summary) => summary,
            Resolution::Unknown => return Err(RpcError::invalid_request(format!("thread not loaded: {id}"))),
        };
        let mut thread = summary.to_thread(ThreadStatus::NotLoaded);
        if turns == Turns::Full {
            thread.turns = self.stored(&id).await?.turns;
        }
        Ok(ThreadReadResponse { thread, read_state: None })
    }

    pub(crate) async fn list_turns(&self, params: ThreadTurnsListParams) -> Result<ThreadTurnsListResponse, RpcError> {
        let history = self.history(&params.thread_id).await?;
        let query = turns_query(params.cursor, params.limit, params.sort_direction, params.items_view);
        let page = page::turns_page(&history.id, &history.turns, &query)?;
        Ok(ThreadTurnsListResponse {
            data: page.data,
            backwards_cursor: page.backwards_cursor,
            next_cursor: page.next_cursor,
        })
    }

    pub(crate) async fn list_items(&self, params: ThreadItemsListParams) -> Result<ThreadItemsListResponse, RpcError> {
        let history = self.history(&params.thread_id).await?;
        history.check_paginated("thread/items/list")?;
        let query = page::ItemsQuery {
            turn: params.turn_id,
            cursor: params.cursor,
            limit: params.limit,
            direction: params.sort_direction.unwrap_or(SortDirection::Asc),
        };
        let page = page::items_page(&history.id, &history.turns, &query)?;
        Ok(ThreadItemsListResponse {
            data: page.data,
            backwards_cursor: page.backwards_cursor,
            next_cursor: page.next_cursor,
        })
    }

    pub(crate) async fn read_items(&self, params: ThreadItemsReadParams) -> Result<ThreadItemsReadResponse, RpcError> {
        let history = self.history(&params.thread_id).await?;
        history.check_paginated("thread/items/read")?;
        let data = page::items_of(&history.turns, &params.turn_id, &params.item_ids)?;
        Ok(ThreadItemsReadResponse { data })
    }

    pub(crate) async fn search(
        &self,
        params: ThreadSearchOccurrencesParams,
    ) -> Result<ThreadSearchOccurrencesResponse, RpcError> {
        let id = thread_id(&params.thread_id)?;
        let page = blocking(&self.store, move |store| {
            store.search_occurrences(&id, &params.search_term, params.cursor.as_deref(), params.limit)
        })
        .await??;
        let data = page
            .data
            .into_iter()
            .map(|found| ThreadSearchOccurrence {
                turn_id: found.turn,
                item_id: found.item,
                snippet: found.snippet,
                snippet_match_range: ThreadSearchTextRange { start: found.range.start, end: found.range.end },
                turn_cursor: found.turn_cursor,
            })
            .collect();
        Ok(ThreadSearchOccurrencesResponse { data, next_cursor: page.next_cursor })
    }

    pub(crate) async fn revert(&self, params: ThreadRevertParams) -> Result<ThreadRevertResponse, RpcError> {
        let thread = self.threads.loaded(&params.thread_id)?;
        if thread.origin().history_mode == ThreadHistoryMode::Legacy {
            let message = "thread/revert needs a paginated thread";
            return Err(RpcError::new(trace_protocol::error::METHOD_NOT_FOUND, message));
        }
        self.drop_turns(&thread, &params.before_turn_id).await?;
        let settings = thread.agent().settings();
        let state = thread.state();
        let turns = state.view.snapshot();
        let (turns_backwards_cursor, items_backwards_cursor) = page::newest(thread.id(), &turns);
        state.tell(ThreadRevertedNotification { thread_id: params.thread_id });
        let thread = thread.show(&state, &settings, Turns::LeftOut);
        Ok(ThreadRevertResponse { thread, items_backwards_cursor, turns_backwards_cursor })
    }

    /// Serves the older form of `thread/revert`, which counts turns from the end.
    pub(crate) async fn rollback(&self, params: ThreadRollbackParams) -> Result<ThreadRollbackResponse, RpcError> {
        let thread = self.threads.loaded(&params.thread_id)?;
        let count = usize::try_from(params.num_turns).unwrap_or(usize::MAX);
        if count == 0 {
            return Err(RpcError::invalid_request("numTurns must be at least 1"));
        }
        let turns = thread.state().view.snapshot();
        let first = turns.len().saturating_sub(count);
        if let Some(turn) = turns.get(first) {
            self.drop_turns(&thread, &turn.id).await?;
        }
        let settings = thread.agent().settings();
        let state = thread.state();
        state.tell(ThreadRevertedNotification { thread_id: params.thread_id });
        Ok(ThreadRollbackResponse { thread: thread.show(&state, &settings, Turns::Full) })
    }

    /// Drops a turn and all later ones from the file, from the view and from the history of the agent.
    async fn drop_turns(&self, thread: &Arc<LoadedThread>, before: &str) -> Result<(), RpcError> {
        let hold = thread.agent().hold().map_err(|refusal| match refusal {
            Refusal::Busy(_) => RpcError::invalid_request("a turn is running: interrupt it, or wait for its end"),
            other => refused(other),
        })?;
        let turn = TurnId::from(before);
        let history = blocking(thread, move |thread| thread.revert_stored(&turn)).await??;
        hold.replace_history(history);
        thread.state().view.revert_to_before(before);
        Ok(())
    }

    pub(crate) fn update_read_state(
        &self,
        params: ThreadReadStateUpdateParams,
    ) -> Result<ThreadReadStateUpdateResponse, RpcError> {
        let thread = self.threads.loaded(&params.thread_id)?;
        let mut state = thread.state();
        if state.read.revision != params.expected_revision {
            let message = format!("the read state has changed: its revision is {}", state.read.revision);
            return Err(RpcError::invalid_request(message));
        }
        let first_unread = match params.operation {
            ThreadReadStateOperation::Read => None,
            ThreadReadStateOperation::Unread => {
                let last = state.view.last().map(|turn| turn.id.clone());
                Some(last.map_or(ThreadUnreadPosition::ThreadStart, |turn_id| ThreadUnreadPosition::Turn { turn_id }))
            }
        };
        if state.read.first_unread != first_unread {
            state.read = ThreadReadState { revision: Uuid::now_v7().to_string(), first_unread };
            let read_state = state.read.clone();
            state.tell(ThreadReadStateChangedNotification { thread_id: params.thread_id, read_state });
        }
        Ok(ThreadReadStateUpdateResponse { read_state: state.read.clone() })
    }

    /// Returns the turns of a thread.
    ///
    /// # Errors
    ///
    /// Returns an error if the thread is unknown or ephemeral, or if it is loaded and has no turns yet.
    async fn history(&self, id: &str) -> Result<History, RpcError> {
        let id = thread_id(id)?;
        if let Some(thread) = self.threads.get(&id) {
            if thread.origin().is_ephemeral {
                return Err(RpcError::invalid_request("an ephemeral thread has no stored turns to list"));
            }
            let state = thread.state();
            if state.view.is_empty() {
                let message = format!("thread {id} is not materialized yet; it has no turns before its first message");
                return Err(RpcError::invalid_request(message));
            }
            return Ok(History { id, mode: thread.origin().history_mode, turns: state.view.snapshot() });
        }
        let stored = self.stored(&id).await?;
        Ok(History { id, mode: stored.summary.history_mode, turns: stored.turns.into_iter().map(Arc::new).collect() })
    }

    async fn stored(&self, id: &ThreadId) -> Result<StoredThread, RpcError> {
        let id = id.clone();
        Ok(blocking(&self.store, move |store| store.load(&id)).await??)
    }
}

impl History {
    fn check_paginated(&self, method: &str) -> Result<(), RpcError> {
        match self.mode {
            ThreadHistoryMode::Paginated => Ok(()),
            ThreadHistoryMode::Legacy => Err(RpcError::new(
                trace_protocol::error::METHOD_NOT_FOUND,
                format!("{method} needs a paginated thread; {} is a legacy one", self.id),
            )),
        }
    }
}

/// Returns a query with the defaults for what the params leave out.
pub(crate) fn turns_query(
    cursor: Option<String>,
    limit: Option<u32>,
    direction: Option<SortDirection>,
    view: Option<TurnItemsView>,
) -> page::TurnsQuery {
    page::TurnsQuery {
        cursor,
        limit,
        direction: direction.unwrap_or(SortDirection::Desc),
        view: view.unwrap_or(TurnItemsView::Summary),
    }
}

/// Returns a page of turns in the form of the protocol.
pub(crate) fn turns_page(page: Page<Turn>) -> TurnsPage {
    TurnsPage { data: page.data, next_cursor: page.next_cursor, backwards_cursor: page.backwards_cursor }
}
