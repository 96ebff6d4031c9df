//! The status of a thread, which is derived from facts and never stored.

use trace_protocol::notification::ThreadStatusChangedNotification;
use trace_protocol::thread::{ThreadActiveFlag, ThreadStatus};
use trace_runtime::ThreadId;

use crate::hub::Hub;

/// Notifies all clients of the status of a thread.
pub(crate) fn tell_status(hub: &Hub, thread: &ThreadId, status: ThreadStatus) {
    hub.broadcast(ThreadStatusChangedNotification { thread_id: thread.to_string(), status });
}

/// The facts that determine the status of a loaded thread.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct StatusFacts {
    /// Whether a turn runs.
    pub(crate) is_running: bool,
    /// Number of open questions about commands and files.
    pub(crate) open_approvals: usize,
    /// Number of open questions to the user.
    pub(crate) open_user_inputs: usize,
    /// Whether the last turn failed and none has begun since.
    pub(crate) has_failed: bool,
}

impl StatusFacts {
    /// Returns the status of a loaded thread.
    pub(crate) fn status(self) -> ThreadStatus {
        if self.is_running || self.open_approvals > 0 || self.open_user_inputs > 0 {
            let mut active_flags = Vec::new();
            if self.open_approvals > 0 {
                active_flags.push(ThreadActiveFlag::WaitingOnApproval);
            }
            if self.open_user_inputs > 0 {
                active_flags.push(ThreadActiveFlag::WaitingOnUserInput);
            }
            ThreadStatus::Active { active_flags }
        } else if self.has_failed {
            ThreadStatus::SystemError
        } else {
            ThreadStatus::Idle
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_status_follows_from_the_facts() {
        let idle = StatusFacts::default();
        assert_eq!(idle.status(), ThreadStatus::Idle);
        assert_eq!(StatusFacts { has_failed: true, ..idle }.status(), ThreadStatus::SystemError);
        assert_eq!(
            StatusFacts { is_running: true, has_failed: true, ..idle }.status(),
            ThreadStatus::Active { active_flags: vec![] }
        );
        assert_eq!(
            StatusFacts { is_running: true, open_approvals: 2, open_user_inputs: 1, ..idle }.status(),
            ThreadStatus::Active {
                active_flags: vec![ThreadActiveFlag::WaitingOnApproval, ThreadActiveFlag::WaitingOnUserInput]
            }
        );
    }
}
