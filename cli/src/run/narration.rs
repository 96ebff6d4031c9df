//! Tells a person, or a program, what an agent does.
//!
//! What the agent says goes to stdout as it comes; what it does, and what it is asked about, to stderr. So the answer can
//! be piped on. As JSON, every notification is a line on stdout.

use std::io::{BufRead, IsTerminal, Write};

use trace_protocol::ServerNotification;
use trace_protocol::approval::{
    CommandExecutionApprovalDecision, CommandExecutionRequestApprovalParams, FileChangeApprovalDecision,
};
use trace_protocol::item::{CommandExecutionItem, CommandExecutionStatus, ThreadItem};
use trace_protocol::turn::TurnPlanStepStatus;

use super::{Audience, RawNotification};
use crate::failure::Failure;
use crate::output::Terminal;
use crate::text;

/// Lines of a command's output that are shown.
const OUTPUT_LINES: usize = 12;
/// Characters of a line that are shown.
const LINE_CHARACTERS: usize = 200;

/// Tells what an agent does.
pub(crate) struct Narration<'a> {
    terminal: &'a Terminal,
    is_json: bool,
    /// The message on stdout has not ended its line.
    is_in_line: bool,
}

impl<'a> Narration<'a> {
    pub(crate) fn new(terminal: &'a Terminal, is_json: bool) -> Self {
        Self { terminal, is_json, is_in_line: false }
    }

    /// Writes beside the answer.
    fn aside(&mut self, line: &str) -> Result<(), Failure> {
        self.end_line()?;
        let _ = std::io::stderr().write_all(format!("{}\n", text::clean(line)).as_bytes());
        Ok(())
    }

    fn end_line(&mut self) -> Result<(), Failure> {
        if std::mem::take(&mut self.is_in_line) {
            self.terminal.print("\n")?;
        }
        Ok(())
    }

    fn command(&mut self, item: &CommandExecutionItem) -> Result<(), Failure> {
        let output = item.aggregated_output.as_deref().unwrap_or_default();
        let lines: Vec<&str> = output.lines().collect();
        let left_out = lines.len().saturating_sub(OUTPUT_LINES);
        if left_out > 0 {
            self.aside(&format!("  ... {} lines", text::number(left_out as u64)))?;
        }
        for line in &lines[left_out..] {
            self.aside(&format!("  {}", line.chars().take(LINE_CHARACTERS).collect::<String>()))?;
        }
        match (item.status, item.exit_code) {
            (CommandExecutionStatus::Declined, _) => self.aside("  declined"),
            (_, Some(0)) => Ok(()),
            (_, Some(code)) => self.aside(&format!("  exit code {code}")),
            (_, None) => self.aside("  stopped"),
        }
    }

    /// Asks the person at the terminal; nobody is there when it is none.
    fn ask(&mut self, question: &str) -> Answer {
        if self.end_line().is_err() || self.is_json || !std::io::stdin().is_terminal() {
            return Answer::No;
        }
        let _ = std::io::stderr().write_all(format!("{} [y/N/a(lways)] ", text::clean(question)).as_bytes());
        match typed() {
            None => Answer::Stop,
            Some(line) if line.trim().eq_ignore_ascii_case("y") => Answer::Yes,
            Some(line) if line.trim().eq_ignore_ascii_case("a") => Answer::Always,
            Some(_) => Answer::No,
        }
    }
}

/// Returns the line that somebody types, or nothing after Ctrl-C. An end of the input is an empty line.
fn typed() -> Option<String> {
    let (sender, line) = tokio::sync::oneshot::channel();
    // Nothing ends a read of the terminal; after Ctrl-C it is left alone until the program ends.
    std::thread::spawn(move || {
        let mut line = String::new();
        let _ = std::io::stdin().lock().read_line(&mut line);
        let _ = sender.send(line);
    });
    let typed = async {
        tokio::select! {
            line = line => Some(line.unwrap_or_default()),
            _ = tokio::signal::ctrl_c() => None,
        }
    };
    tokio::task::block_in_place(|| tokio::runtime::Handle::current().block_on(typed))
}

enum Answer {
    Yes,
    Always,
    No,
    /// No, and nothing else either.
    Stop,
}

impl Audience for Narration<'_> {
    fn hear(&mut self, raw: &RawNotification<'_>, notification: Option<&ServerNotification>) -> Result<(), Failure> {
        if self.is_json {
            return self.terminal.print_json_line(raw);
        }
        match notification {
            Some(ServerNotification::ItemAgentMessageDelta(delta)) => {
                self.is_in_line = !delta.delta.ends_with('\n');
                let lines: Vec<_> = delta.delta.split('\n').map(text::clean).collect();
                self.terminal.print(&lines.join("\n"))
            }
            Some(ServerNotification::ItemStarted(started)) => match &started.item {
                ThreadItem::CommandExecution(item) => self.aside(&format!("$ {}", item.command)),
                _ => Ok(()),
            },
            Some(ServerNotification::ItemCompleted(completed)) => match &completed.item {
                ThreadItem::AgentMessage(_) => self.end_line(),
                ThreadItem::CommandExecution(item) => self.command(item),
                ThreadItem::FileChange(item) => {
                    for change in &item.changes {
                        self.aside(&format!("changed {}", change.path))?;
                    }
                    Ok(())
                }
                ThreadItem::SubAgentActivity(item) => {
                    self.aside(&format!("agent {} {}", item.agent_path, format!("{:?}", item.kind).to_lowercase()))
                }
                ThreadItem::ContextCompaction(_) => self.aside("the history was made shorter"),
                _ => Ok(()),
            },
            Some(ServerNotification::TurnPlanUpdated(plan)) => {
                for step in &plan.plan {
                    let sign = match step.status {
                        TurnPlanStepStatus::Pending => ' ',
                        TurnPlanStepStatus::InProgress => '>',
                        TurnPlanStepStatus::Completed => 'x',
                    };
                    self.aside(&format!("[{sign}] {}", step.step))?;
                }
                Ok(())
            }
            Some(ServerNotification::Error(error)) if error.will_retry => self.aside(&error.error.message),
            Some(ServerNotification::Warning(warning)) => self.aside(&format!("warning: {}", warning.message)),
            _ => Ok(()),
        }
    }

    fn may_run(&mut self, question: &CommandExecutionRequestApprovalParams) -> CommandExecutionApprovalDecision {
        let command = question.command.as_deref().unwrap_or("a command");
        let why = question.reason.as_deref().map(|reason| format!(" ({reason})")).unwrap_or_default();
        match self.ask(&format!("run {command}{why}?")) {
            Answer::Yes => CommandExecutionApprovalDecision::Accept,
            Answer::Always => CommandExecutionApprovalDecision::AcceptForSession,
            Answer::No => CommandExecutionApprovalDecision::Decline,
            Answer::Stop => CommandExecutionApprovalDecision::Cancel,
        }
    }

    fn may_change(&mut self) -> FileChangeApprovalDecision {
        match self.ask("change these files?") {
            Answer::Yes => FileChangeApprovalDecision::Accept,
            Answer::Always => FileChangeApprovalDecision::AcceptForSession,
            Answer::No => FileChangeApprovalDecision::Decline,
            Answer::Stop => FileChangeApprovalDecision::Cancel,
        }
    }
}
