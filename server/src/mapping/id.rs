//! Parses ids from clients.

use trace_protocol::RpcError;
use trace_runtime::ThreadId;

/// Parses the id of a thread.
///
/// # Errors
///
/// Returns an error if the text is not a UUID.
pub(crate) fn thread_id(id: &str) -> Result<ThreadId, RpcError> {
    let parsed = uuid::Uuid::try_parse(id);
    // All spellings of a UUID mean the same thread, so the id is normalized.
    parsed
        .map(|id| ThreadId::from(id.to_string()))
        .map_err(|error| RpcError::invalid_request(format!("invalid thread id: {error}")))
}
