//! Commands of agents that run in the background.

use std::sync::Arc;

use trace_protocol::RpcError;
use trace_protocol::thread::{
    ThreadBackgroundTerminal, ThreadBackgroundTerminalsCleanParams, ThreadBackgroundTerminalsCleanResponse,
    ThreadBackgroundTerminalsListParams, ThreadBackgroundTerminalsListResponse,
    ThreadBackgroundTerminalsTerminateParams, ThreadBackgroundTerminalsTerminateResponse,
};

use crate::paging;
use crate::threads::Registry;

/// Serves `thread/backgroundTerminals/*`.
pub(crate) struct TerminalHandlers {
    pub(crate) threads: Arc<Registry>,
}

impl TerminalHandlers {
    pub(crate) fn list(
        &self,
        params: &ThreadBackgroundTerminalsListParams,
    ) -> Result<ThreadBackgroundTerminalsListResponse, RpcError> {
        let thread = self.threads.loaded(&params.thread_id)?;
        let terminals = thread.agent().terminals().list();
        let (page, next_cursor) = paging::by_key(
            &terminals,
            |terminal| &terminal.process_id,
            params.cursor.as_deref(),
            paging::limit(params.limit),
        )?;
        let data = page
            .iter()
            .map(|terminal| ThreadBackgroundTerminal {
                item_id: terminal.item.to_string(),
                command: terminal.command.clone(),
                cwd: terminal.cwd.to_string_lossy().into_owned(),
                process_id: terminal.process_id.clone(),
                ..ThreadBackgroundTerminal::default()
            })
            .collect();
        Ok(ThreadBackgroundTerminalsListResponse { data, next_cursor })
    }

    pub(crate) async fn terminate(
        &self,
        params: &ThreadBackgroundTerminalsTerminateParams,
    ) -> Result<ThreadBackgroundTerminalsTerminateResponse, RpcError> {
        let thread = self.threads.loaded(&params.thread_id)?;
        let terminated = thread.agent().terminals().terminate(&params.process_id).await;
        Ok(ThreadBackgroundTerminalsTerminateResponse { terminated })
    }

    pub(crate) async fn clean(
        &self,
        params: &ThreadBackgroundTerminalsCleanParams,
    ) -> Result<ThreadBackgroundTerminalsCleanResponse, RpcError> {
        self.threads.loaded(&params.thread_id)?.agent().terminals().terminate_all().await;
        Ok(ThreadBackgroundTerminalsCleanResponse {})
    }
}
