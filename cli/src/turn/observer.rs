//! What an observer of a turn receives, and what it is asked.

use std::io::IsTerminal;

use serde_json::value::RawValue;
use trace_protocol::ServerNotification;
use trace_protocol::approval::{
    CommandExecutionApprovalDecision, CommandExecutionRequestApprovalParams, FileChangeApprovalDecision,
    FileChangeRequestApprovalParams,
};

use crate::ui::failure::Failure;

/// Receives what happens in a turn, and answers approval requests.
pub(crate) trait TurnObserver {
    /// Receives a notification of the root thread, as it was sent and as it was parsed.
    fn on_notification(
        &mut self,
        text: &RawNotification<'_>,
        notification: Option<&ServerNotification>,
    ) -> Result<(), Failure>;

    /// Decides whether a command may run.
    fn may_run(&mut self, question: &CommandExecutionRequestApprovalParams) -> CommandExecutionApprovalDecision;

    /// Decides whether files may be changed.
    fn may_change(&mut self, question: &FileChangeRequestApprovalParams) -> FileChangeApprovalDecision;

    /// Receives a notification of any thread, because an approval request may refer to it.
    fn on_tree_notification(&mut self, notification: &ServerNotification);

    /// Learns of a signal that asks the program to end. The turn is interrupted, and its last notifications still come.
    fn on_signal(&mut self) {}
}

/// A notification as it was sent.
#[derive(Debug, serde::Serialize)]
pub(crate) struct RawNotification<'a> {
    pub(crate) method: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) params: Option<&'a RawValue>,
}

/// Returns whether there is a terminal on which a user can be asked.
pub(crate) fn can_ask(is_json: bool) -> bool {
    !is_json && std::io::stdin().is_terminal()
}
