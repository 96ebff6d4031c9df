//! Prints a turn for programs, as events, or for people.

use trace_protocol::ServerNotification;
use trace_protocol::approval::{
    CommandExecutionApprovalDecision, CommandExecutionRequestApprovalParams, FileChangeApprovalDecision,
    FileChangeRequestApprovalParams,
};
use trace_protocol::item::ThreadItem;

use super::events::{EventMapper, ExecEvent};
use crate::turn::{Messages, Narration, RawNotification, TurnObserver};
use crate::ui::failure::Failure;
use crate::ui::output::Terminal;

/// Prints what happens in a turn, and remembers the last message of the agent.
pub(super) struct Printer<'a> {
    terminal: &'a Terminal,
    output: Output<'a>,
    last_message: Option<String>,
    /// Whether a signal came. Nothing is printed after it.
    is_ending: bool,
}

enum Output<'a> {
    Events(Box<EventMapper>),
    Text(Narration<'a>),
}

impl<'a> Printer<'a> {
    /// Returns a printer of events.
    pub(super) fn of_events(terminal: &'a Terminal, events: EventMapper) -> Self {
        Self { terminal, output: Output::Events(Box::new(events)), last_message: None, is_ending: false }
    }

    /// Returns a printer of text on stderr.
    pub(super) fn of_text(terminal: &'a Terminal) -> Self {
        let output = Output::Text(Narration::new(terminal, Messages::Stderr));
        Self { terminal, output, last_message: None, is_ending: false }
    }

    /// Prints which thread the turn is in.
    ///
    /// # Errors
    ///
    /// Returns an error if stdout cannot be written to.
    pub(super) fn thread(&self, id: &str) -> Result<(), Failure> {
        match &self.output {
            Output::Events(_) => self.terminal.print_json_line(&ExecEvent::ThreadStarted { thread_id: id.to_owned() }),
            Output::Text(_) => Ok(()),
        }
    }

    /// Returns the last message of the agent, if it said anything.
    pub(super) fn last_message(&self) -> Option<&str> {
        self.last_message.as_deref()
    }
}

impl TurnObserver for Printer<'_> {
    fn on_notification(
        &mut self,
        raw: &RawNotification<'_>,
        notification: Option<&ServerNotification>,
    ) -> Result<(), Failure> {
        if self.is_ending {
            return Ok(());
        }
        if let Some(ServerNotification::ItemCompleted(completed)) = notification
            && let ThreadItem::AgentMessage(message) = &completed.item
        {
            self.last_message = Some(message.text.clone());
        }
        match &mut self.output {
            Output::Text(narration) => narration.on_notification(raw, notification),
            Output::Events(events) => {
                for event in notification.map(|notification| events.events(notification)).unwrap_or_default() {
                    self.terminal.print_json_line(&event)?;
                }
                Ok(())
            }
        }
    }

    fn on_tree_notification(&mut self, notification: &ServerNotification) {
        if let Output::Text(narration) = &mut self.output {
            narration.on_tree_notification(notification);
        }
    }

    fn on_signal(&mut self) {
        self.is_ending = true;
    }

    // The policy is to ask for nothing. If a server asks nevertheless, nobody can decide.
    fn may_run(&mut self, _: &CommandExecutionRequestApprovalParams) -> CommandExecutionApprovalDecision {
        CommandExecutionApprovalDecision::Decline
    }

    fn may_change(&mut self, _: &FileChangeRequestApprovalParams) -> FileChangeApprovalDecision {
        FileChangeApprovalDecision::Decline
    }
}
