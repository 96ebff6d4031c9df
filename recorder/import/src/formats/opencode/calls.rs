//! Tool calls of opencode: what a part says of one.

use std::borrow::Cow;

use trace_recorder::format::{ExecutionStatus, ToolKind};

use super::records::{Part, ToolInput, ToolMetadata, ToolState};
use crate::text::{Text, compact};

/// How the output of a command ends that was stopped, in two eras of the program.
const STOPPED: [&str; 2] = ["<shell_metadata>", "<bash_metadata>"];

/// A tool call as its part has it.
#[derive(Debug)]
pub(crate) struct ToolCall<'a> {
    pub(crate) name: Cow<'a, str>,
    pub(crate) kind: ToolKind<'static>,
    /// The arguments as JSON text.
    pub(crate) arguments: Cow<'a, str>,
    pub(crate) began: Option<i64>,
    pub(crate) ended: Option<i64>,
    /// How it ended. `None` if it did not.
    pub(crate) status: Option<ExecutionStatus>,
    /// What the model saw of it. `None` if it did not end.
    pub(crate) output: Option<&'a str>,
    /// The command, if it runs still or ended by itself.
    pub(crate) command: Option<String>,
    /// The exit code of the command.
    pub(crate) exit: Option<i32>,
    /// The session of the child that it started.
    pub(crate) child: Option<String>,
    /// The task and the kind of agent, if the call started a child.
    pub(crate) task: Task,
}

/// What a child shall do.
#[derive(Debug, Default)]
pub(crate) struct Task {
    pub(crate) name: Option<String>,
    pub(crate) prompt: String,
    pub(crate) role: Option<String>,
}

impl<'a> ToolCall<'a> {
    /// Reads the call of a part, or returns `None` if the part is none. `is_aborted` tells whether the user stopped the answer.
    pub(crate) fn of(part: &'a Part<'a>, is_aborted: bool) -> Option<Self> {
        let state = part.state.as_ref()?;
        let tool = part.tool.as_deref()?;
        let input = ToolInput::parse(state.input);
        let metadata = ToolMetadata::parse(state.metadata);
        // The program puts a tool `invalid` in the place of one that does not exist.
        let unknown = input.tool.as_ref().filter(|_| tool == "invalid");
        let name = unknown.map_or(Cow::Borrowed(tool), |tool| Cow::Owned(tool.0.clone().into_owned()));
        let status = if unknown.is_some() && *state.status == *"completed" {
            Some(ExecutionStatus::Failed)
        } else {
            status(tool, state, &metadata, is_aborted)
        };
        let output = match &*state.status {
            "completed" => Some(state.output.as_deref().unwrap_or_default()),
            "error" => Some(state.error.as_deref().unwrap_or_default()),
            _ => None,
        };
        let own = |text: Option<Text<'_>>| text.map(|text| text.0.into_owned());
        let is_task = tool == "task";
        let exit = metadata.exit.filter(|_| tool == "bash" && output.is_some());
        let runs = exit.is_some() || *state.status == *"running";
        let command = own(input.command).filter(|_| tool == "bash" && runs);
        Some(Self {
            name,
            kind: kind(tool),
            arguments: state.input.map_or(Cow::Borrowed(""), |input| compact(input.get())),
            began: state.time.start(),
            ended: state.time.end(),
            status,
            output,
            command,
            exit,
            child: own(metadata.session).filter(|id| is_task && !id.is_empty()),
            task: Task {
                name: own(input.description),
                prompt: own(input.prompt).unwrap_or_default(),
                role: own(input.role),
            },
        })
    }
}

fn status(tool: &str, state: &ToolState<'_>, metadata: &ToolMetadata<'_>, is_aborted: bool) -> Option<ExecutionStatus> {
    match &*state.status {
        "completed" if tool == "bash" => Some(match metadata.exit {
            Some(0) => ExecutionStatus::Completed,
            Some(_) => ExecutionStatus::Failed,
            None if is_aborted => ExecutionStatus::Cancelled,
            None => {
                let output = state.output.as_deref().unwrap_or_default();
                let is_stopped = STOPPED.iter().any(|mark| output.contains(mark));
                if is_stopped { ExecutionStatus::Failed } else { ExecutionStatus::Completed }
            }
        }),
        "completed" => Some(ExecutionStatus::Completed),
        "error" => {
            let error = state.error.as_deref().unwrap_or_default();
            let is_stopped = matches!(error, "Task cancelled" | "Tool execution aborted")
                || (is_aborted && (error.contains("abort") || error.contains("cancel")));
            Some(if is_stopped { ExecutionStatus::Cancelled } else { ExecutionStatus::Failed })
        }
        _ => None,
    }
}

fn kind(tool: &str) -> ToolKind<'static> {
    match tool {
        "bash" => ToolKind::ExecCommand,
        "task" => ToolKind::SpawnAgent,
        "webfetch" | "websearch" => ToolKind::Web,
        _ => ToolKind::Other { name: tool.to_owned().into() },
    }
}
