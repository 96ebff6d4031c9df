//! What the methods of the protocol do, one file per family.
//!
//! A handler takes decoded params and returns the result; the few whose answer has to stand at a certain point of a
//! thread's history answer by themselves.

mod fork;
mod goal;
mod history;
mod life;
mod list;
mod mcp;
mod overrides;
mod queue;
mod resume;
mod settings;
mod traces;
mod tree;
mod work;

use trace_protocol::RpcError;

pub(crate) use self::goal::UpdateGoal;
use crate::core::Core;
use crate::store::StoreError;

/// Says to a client why storage did not do what it was asked for.
#[expect(clippy::needless_pass_by_value, reason = "the form that map_err takes")]
pub(crate) fn failed(error: StoreError) -> RpcError {
    match &error {
        StoreError::Io { source, .. } => RpcError::internal(format!("{error}: {source}")),
        _ => RpcError::invalid_request(&error),
    }
}

impl Core {
    /// Runs file work where it holds nobody up.
    ///
    /// # Errors
    ///
    /// The server is about to end, or the work panicked.
    pub(crate) async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Core) -> T + Send + 'static,
    ) -> Result<T, RpcError> {
        let core = self.this().ok_or_else(|| RpcError::internal("the server is ending"))?;
        tokio::task::spawn_blocking(move || work(&core)).await.map_err(RpcError::internal)
    }
}
