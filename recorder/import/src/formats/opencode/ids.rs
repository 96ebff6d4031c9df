//! Ids of threads.

use crate::thread::child_thread_id;

/// Returns the id of the thread of a session. The ids of sessions are no UUIDs, without which no edge leads to a thread.
pub(crate) fn thread_id(session: &str) -> String {
    child_thread_id("opencode", session)
}
