//! Work that blocks, on threads that may.

use trace_protocol::RpcError;

/// Runs file work with a part of the server on a thread of its own, so that no task waits for the disk.
///
/// # Errors
///
/// Returns an error if the work panicked.
pub(crate) async fn blocking<P, T>(part: &P, work: impl FnOnce(&P) -> T + Send + 'static) -> Result<T, RpcError>
where
    P: Clone + Send + 'static,
    T: Send + 'static,
{
    let part = part.clone();
    tokio::task::spawn_blocking(move || work(&part)).await.map_err(RpcError::internal)
}
