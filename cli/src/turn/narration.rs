//! Prints what an agent does, as text or as JSON.
//!
//! The agent's messages go to stdout as they are streamed, so that they can be piped, or to stderr; actions and approval
//! requests go to stderr. As JSON, every notification is a line on stdout.

use std::collections::HashMap;
use std::io::{BufRead, Write};

use trace_protocol::ServerNotification;
use trace_protocol::approval::{
    CommandExecutionApprovalDecision, CommandExecutionRequestApprovalParams, FileChangeApprovalDecision,
    FileChangeRequestApprovalParams,
};
use trace_protocol::item::{
    CommandExecutionItem, CommandExecutionStatus, FileUpdateChange, PatchApplyStatus, ThreadItem,
};
use trace_protocol::turn::TurnPlanStepStatus;
use trace_runtime::tool::exec::program::SearchPath;

use super::observer::{RawNotification, TurnObserver, can_ask};
use super::question::{Extent, QuestionContext, Shown};
use crate::signals::Signals;
use crate::ui::failure::Failure;
use crate::ui::output::Terminal;
use crate::ui::text;

/// Most lines of a command's output that are shown.
const OUTPUT_LINES: usize = 12;
/// Most characters of a line that are shown.
const LINE_CHARACTERS: usize = 200;
/// Most columns of a command that is reported. A command that needs an approval is shown in full.
const COMMAND_COLUMNS: usize = 400;
/// Columns of a terminal that does not report its width.
const USUAL_COLUMNS: u16 = 80;

/// How the messages of an agent are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Messages {
    /// As text on stdout.
    Stdout,
    /// As text on stderr, like everything else.
    Stderr,
    /// As notifications in JSON on stdout, like everything else.
    Json,
}

/// Prints what an agent does, and asks for approvals.
pub(crate) struct Narration<'a> {
    terminal: &'a Terminal,
    messages: Messages,
    /// Whether the printed message has not ended its line yet.
    is_in_line: bool,
    /// The file changes that have started, by the ids of their items.
    changes: HashMap<String, Vec<FileUpdateChange>>,
}

impl<'a> Narration<'a> {
    pub(crate) fn new(terminal: &'a Terminal, messages: Messages) -> Self {
        Self { terminal, messages, is_in_line: false, changes: HashMap::new() }
    }

    /// Writes a line to stderr. Untrusted texts in it must already be safe to print.
    fn print_note(&mut self, line: &str) -> Result<(), Failure> {
        self.end_line()?;
        let _ = std::io::stderr().write_all(format!("{line}\n").as_bytes());
        Ok(())
    }

    fn end_line(&mut self) -> Result<(), Failure> {
        if std::mem::take(&mut self.is_in_line) {
            self.print("\n")?;
        }
        Ok(())
    }

    /// Prints a part of a message.
    fn print(&self, text: &str) -> Result<(), Failure> {
        match self.messages {
            Messages::Stderr => {
                let _ = std::io::stderr().write_all(text.as_bytes());
                Ok(())
            }
            Messages::Stdout | Messages::Json => self.terminal.print(text),
        }
    }

    fn command(&mut self, item: &CommandExecutionItem) -> Result<(), Failure> {
        let output = item.aggregated_output.as_deref().unwrap_or_default();
        let lines: Vec<&str> = output.lines().collect();
        let left_out = lines.len().saturating_sub(OUTPUT_LINES);
        if left_out > 0 {
            self.print_note(&format!("  ... {} lines", text::number(left_out as u64)))?;
        }
        for line in &lines[left_out..] {
            self.print_note(&format!("  {}", text::clean(&line.chars().take(LINE_CHARACTERS).collect::<String>())))?;
        }
        match (item.status, item.exit_code) {
            (CommandExecutionStatus::Declined, _) => self.print_note("  declined"),
            (_, Some(0)) => Ok(()),
            (_, Some(code)) => self.print_note(&format!("  exit code {code}")),
            (_, None) => self.print_note("  stopped"),
        }
    }

    /// Asks the user at the terminal. Without a terminal, the answer is no.
    fn ask(
        &mut self,
        show: impl Fn(&QuestionContext, Extent) -> Shown,
        always: &str,
        rule: Option<&[String]>,
    ) -> Answer {
        if self.end_line().is_err() || !can_ask(self.messages != Messages::Stdout) {
            return Answer::No;
        }
        let asking = QuestionContext {
            paint: self.terminal.paint_stderr(),
            // A terminal that does not know its width reports 0.
            columns: usize::from(self.terminal.columns().filter(|columns| *columns > 0).unwrap_or(USUAL_COLUMNS)),
            search: SearchPath::from_variables(std::env::vars_os()),
        };
        let mut extent = Extent::Ends;
        loop {
            let Shown { text, is_cut } = show(&asking, extent);
            let offer = asking.offer(always, rule, is_cut);
            let _ = std::io::stderr().write_all(format!("{text}{offer}").as_bytes());
            let Some(line) = typed() else { return Answer::Stop };
            return match line.trim().to_ascii_lowercase().as_str() {
                "y" => Answer::Yes,
                "a" => Answer::Always,
                "p" if rule.is_some() => Answer::Prefix,
                "v" if is_cut => {
                    extent = Extent::Whole;
                    continue;
                }
                _ => Answer::No,
            };
        }
    }
}

/// Returns the line that the user types; `None` after a signal that asks the program to end. The end of the input is an
/// empty line.
fn typed() -> Option<String> {
    let (sender, line) = tokio::sync::oneshot::channel();
    // A blocking read of the terminal cannot be cancelled. After Ctrl-C, the thread is left blocked until the program
    // ends.
    std::thread::spawn(move || {
        let mut line = String::new();
        let _ = std::io::stdin().lock().read_line(&mut line);
        let _ = sender.send(line);
    });
    let typed = async {
        let signal = async {
            match Signals::catch() {
                Ok(mut signals) => drop(signals.next().await),
                Err(_) => std::future::pending().await,
            }
        };
        tokio::select! {
            line = line => Some(line.unwrap_or_default()),
            _ = signal => None,
        }
    };
    tokio::task::block_in_place(|| tokio::runtime::Handle::current().block_on(typed))
}

enum Answer {
    Yes,
    Always,
    /// Yes, for all commands with the prefix of the rule.
    Prefix,
    No,
    /// No, and the turn is interrupted.
    Stop,
}

impl TurnObserver for Narration<'_> {
    fn on_notification(
        &mut self,
        raw: &RawNotification<'_>,
        notification: Option<&ServerNotification>,
    ) -> Result<(), Failure> {
        if self.messages == Messages::Json {
            return self.terminal.print_json_line(raw);
        }
        match notification {
            Some(ServerNotification::ItemAgentMessageDelta(delta)) => {
                self.is_in_line = !delta.delta.ends_with('\n');
                let lines: Vec<_> = delta.delta.split('\n').map(text::clean).collect();
                self.print(&lines.join("\n"))
            }
            Some(ServerNotification::ItemStarted(started)) => match &started.item {
                ThreadItem::CommandExecution(item) => {
                    self.print_note(&format!("$ {}", text::command(&item.command, COMMAND_COLUMNS)))
                }
                _ => Ok(()),
            },
            Some(ServerNotification::ItemCompleted(completed)) => match &completed.item {
                ThreadItem::AgentMessage(_) => self.end_line(),
                ThreadItem::CommandExecution(item) => self.command(item),
                ThreadItem::FileChange(item) => {
                    let what = match item.status {
                        PatchApplyStatus::Completed => "changed",
                        PatchApplyStatus::Declined => "not changed, since it was declined:",
                        PatchApplyStatus::Failed | PatchApplyStatus::InProgress => {
                            "not changed, since the patch failed:"
                        }
                    };
                    for change in &item.changes {
                        self.print_note(&format!("{what} {}", trace_text::path(change.path.as_ref())))?;
                    }
                    Ok(())
                }
                ThreadItem::SubAgentActivity(item) => {
                    let kind = format!("{:?}", item.kind).to_lowercase();
                    self.print_note(&format!("agent {} {kind}", text::clean(&item.agent_path)))
                }
                ThreadItem::ContextCompaction(_) => self.print_note("the history was compacted"),
                _ => Ok(()),
            },
            Some(ServerNotification::TurnPlanUpdated(plan)) => {
                for step in &plan.plan {
                    let sign = match step.status {
                        TurnPlanStepStatus::Pending => ' ',
                        TurnPlanStepStatus::InProgress => '>',
                        TurnPlanStepStatus::Completed => 'x',
                    };
                    self.print_note(&format!("[{sign}] {}", text::clean(&step.step)))?;
                }
                Ok(())
            }
            Some(ServerNotification::Error(error)) if error.will_retry => {
                self.print_note(&text::clean(&error.error.message))
            }
            Some(ServerNotification::Warning(warning)) => {
                self.print_note(&format!("warning: {}", text::clean(&warning.message)))
            }
            _ => Ok(()),
        }
    }

    fn on_tree_notification(&mut self, notification: &ServerNotification) {
        match notification {
            ServerNotification::ItemStarted(started) => {
                if let ThreadItem::FileChange(item) = &started.item {
                    self.changes.insert(item.id.clone(), item.changes.clone());
                }
            }
            ServerNotification::ItemCompleted(completed) => {
                if let ThreadItem::FileChange(item) = &completed.item {
                    self.changes.remove(&item.id);
                }
            }
            _ => {}
        }
    }

    fn may_run(&mut self, question: &CommandExecutionRequestApprovalParams) -> CommandExecutionApprovalDecision {
        let rule = question.proposed_execpolicy_amendment.as_deref();
        let always = "yes, and always for this very command in this folder, until the agent is done";
        match self.ask(|asking, extent| asking.command(question, extent), always, rule) {
            Answer::Yes => CommandExecutionApprovalDecision::Accept,
            Answer::Always => CommandExecutionApprovalDecision::AcceptForSession,
            Answer::Prefix => CommandExecutionApprovalDecision::AcceptWithExecpolicyAmendment {
                execpolicy_amendment: rule.unwrap_or_default().to_vec(),
            },
            Answer::No => CommandExecutionApprovalDecision::Decline,
            Answer::Stop => CommandExecutionApprovalDecision::Cancel,
        }
    }

    fn may_change(&mut self, question: &FileChangeRequestApprovalParams) -> FileChangeApprovalDecision {
        // If the changes were not announced, they cannot be shown, so they are declined.
        let Some(changes) = self.changes.get(&question.item_id).cloned() else {
            return FileChangeApprovalDecision::Decline;
        };
        let always = "yes, and always for these files, until the agent is done";
        let reason = question.reason.as_deref();
        match self.ask(|asking, extent| asking.changes(&changes, reason, extent), always, None) {
            Answer::Yes => FileChangeApprovalDecision::Accept,
            Answer::Always => FileChangeApprovalDecision::AcceptForSession,
            Answer::No | Answer::Prefix => FileChangeApprovalDecision::Decline,
            Answer::Stop => FileChangeApprovalDecision::Cancel,
        }
    }
}
