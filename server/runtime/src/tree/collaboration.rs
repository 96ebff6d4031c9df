//! The tools with which agents start and message each other, as one namespace.

use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json::{Value, json};

use super::letter::Purpose;
use super::operations;
use super::refused::Refused;
use super::registry::{Tree, TreeLimits};
use super::role::Role;
use super::specification::{self, NAMESPACE};
use super::wait;
use crate::runtime::Caller;
use crate::settings::Settings;
use crate::tool::{
    AfterCall, CallDescription, CallOrder, Resource, Tool, ToolCall, ToolContext, ToolFamily, ToolInput, ToolOutcome,
};

/// Most characters of a call's input in its short description.
const MAX_PREVIEW_CHARS: usize = 160;

/// The tools with which agents start and message each other.
#[derive(Debug)]
pub(super) struct Collaboration {
    limits: TreeLimits,
    roles: Arc<[Role]>,
}

/// One of the tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operation {
    Spawn,
    Send,
    Assign,
    Wait,
    Interrupt,
    List,
}

impl Operation {
    fn named(name: &str) -> Option<Self> {
        Some(match name {
            "spawn_agent" => Self::Spawn,
            "send_message" => Self::Send,
            "followup_task" => Self::Assign,
            "wait_agent" => Self::Wait,
            "interrupt_agent" => Self::Interrupt,
            "list_agents" => Self::List,
            _ => return None,
        })
    }

    /// Returns the kind of the call as bundles name it.
    fn recorded(self) -> &'static str {
        match self {
            Self::Spawn => "spawn_agent",
            Self::Send => "send_message",
            Self::Assign => "assign_agent_task",
            Self::Wait => "wait_agent",
            Self::Interrupt => "close_agent",
            Self::List => "other",
        }
    }
}

impl Collaboration {
    pub(super) fn new(limits: TreeLimits, roles: Vec<Role>) -> Self {
        Self { limits, roles: roles.into() }
    }
}

impl Tool for Collaboration {
    fn family(&self) -> ToolFamily {
        ToolFamily::Agents
    }

    fn specification(&self, _settings: &Settings) -> Option<Value> {
        Some(specification::namespace(self.limits, &self.roles))
    }

    fn is_called(&self, namespace: Option<&str>, name: &str) -> bool {
        namespace == Some(NAMESPACE) && Operation::named(name).is_some()
    }

    fn description(&self, call: &ToolCall) -> CallDescription {
        let kind = Operation::named(&call.name).map_or("other", Operation::recorded);
        let (ToolInput::Arguments(input) | ToolInput::Text(input)) = &call.input;
        let input_preview = match input.char_indices().nth(MAX_PREVIEW_CHARS) {
            Some((end, _)) => format!("{}...", &input[..end]),
            None => input.clone(),
        };
        CallDescription {
            kind: kind.to_owned(),
            label: format!("{NAMESPACE}.{}", call.name),
            input_preview: Some(input_preview),
        }
    }

    /// Calls of one answer run in order: a model that starts an agent and then writes to it means the new agent, and a wait
    /// after that waits for its result.
    fn order(&self, call: &ToolCall) -> CallOrder {
        match Operation::named(&call.name) {
            Some(Operation::Wait) | None => CallOrder::AfterChanges(Resource::Agents),
            Some(Operation::List) => CallOrder::Reads(Resource::Agents),
            Some(Operation::Spawn | Operation::Send | Operation::Assign | Operation::Interrupt) => {
                CallOrder::Changes(Resource::Agents)
            }
        }
    }

    fn call(&self, context: ToolContext, call: ToolCall) -> BoxFuture<'static, ToolOutcome> {
        let (limits, roles) = (self.limits, Arc::clone(&self.roles));
        async move {
            let (output, success) = match carry_out(limits, &roles, &context, &call).await {
                Ok(output) => (output, true),
                Err(refused) => (refused.to_string(), false),
            };
            ToolOutcome { output: json!(output), success, then: AfterCall::Continue }
        }
        .boxed()
    }
}

async fn carry_out(
    limits: TreeLimits,
    roles: &[Role],
    context: &ToolContext,
    call: &ToolCall,
) -> Result<String, Refused> {
    let caller = Caller::of(context).ok_or(Refused::Gone)?;
    let tree = Tree::of(&caller.agent, limits)?;
    match Operation::named(&call.name).expect("only calls of these tools come here") {
        Operation::Spawn => operations::spawn(&tree, roles, &caller, context, call),
        Operation::Send => operations::send(&tree, &caller.agent, context, call, "send_message", Purpose::Message),
        Operation::Assign => operations::send(&tree, &caller.agent, context, call, "followup_task", Purpose::Task),
        Operation::Interrupt => operations::interrupt(&tree, context, call).await,
        Operation::List => operations::list(&tree, context, call),
        Operation::Wait => {
            // Only the wait itself remains; it must not keep the other agents alive.
            drop(tree);
            wait::wait(&caller.agent, context, call).await
        }
    }
}
