//! Ids as clients write them.

use trace_protocol::RpcError;
use trace_runtime::ThreadId;

/// Parses the id of a thread.
///
/// # Errors
///
/// Returns an error if the text is no UUID.
pub(crate) fn thread_id(id: &str) -> Result<ThreadId, RpcError> {
    let parsed = uuid::Uuid::try_parse(id);
    // However it was written, it is one thread.
    parsed
        .map(|id| ThreadId::from(id.to_string()))
        .map_err(|error| RpcError::invalid_request(format!("invalid thread id: {error}")))
}
