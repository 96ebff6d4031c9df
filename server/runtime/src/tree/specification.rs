//! Specifications of the tools for the model.

use serde_json::{Value, json};

use super::registry::TreeLimits;
use super::role::{self, Role};
use super::wait::{DEFAULT_WAIT_MS, MAX_WAIT_MS, MIN_WAIT_MS};

/// Namespace of the tools.
pub const NAMESPACE: &str = "collaboration";

const TARGET: &str =
    "Path of the agent: absolute, as `/root/docs`, or the name of one below you, as `docs` or `docs/links`.";

/// Returns the namespace with its tools in the format of the Responses API.
pub(super) fn namespace(limits: TreeLimits, roles: &[Role]) -> Value {
    let TreeLimits { max_threads, max_depth } = limits;
    let description = format!(
        "Other agents that work for you, each with a conversation of its own, in the same folder and with the same rights. \
         At most {max_threads} agents work at once, the root included; they stand at most {max_depth} below the root. What \
         an agent says last in its turn comes to its parent as a message of the type FINAL_ANSWER, before the parent's next \
         step. Give agents work that does not touch the same files."
    );
    json!({ "type": "namespace", "name": NAMESPACE, "description": description, "tools": [
        spawn_agent(roles), send_message(), followup_task(), wait_agent(), interrupt_agent(), list_agents(),
    ] })
}

fn spawn_agent(roles: &[Role]) -> Value {
    let mut specification = function(
        "spawn_agent",
        "Starts an agent and gives it a task. It begins at once, and you go on: use wait_agent when you need its answer. \
         Returns its path.",
        &json!({
            "task_name": text("Name of the agent, unique among yours: lowercase letters, digits and underscores."),
            "message": text("The task, with all that the agent has to know."),
            "fork_turns": text(
                "How much of your conversation the agent gets to see: `all` (the default), `none`, or the number of the \
                 newest turns, as `3`.",
            ),
            "model": text("Another model than yours."),
            "reasoning_effort": text("Another effort of reasoning than yours."),
        }),
        &["task_name", "message"],
    );
    if let (Some(role), Some(Value::Object(properties))) =
        (role::argument(roles), specification.pointer_mut("/parameters/properties"))
    {
        properties.insert("role".to_owned(), role);
    }
    specification
}

fn send_message() -> Value {
    function(
        "send_message",
        "Tells an agent something. It reads it before its next step; an agent that is done reads it with its next task.",
        &json!({ "target": text(TARGET), "message": text("What the agent should know.") }),
        &["target", "message"],
    )
}

fn followup_task() -> Value {
    function(
        "followup_task",
        "Gives another task to an agent that there is already. One that is done begins again, one that works takes it up in \
         its turn. Not for the root.",
        &json!({ "target": text(TARGET), "message": text("The task.") }),
        &["target", "message"],
    )
}

fn wait_agent() -> Value {
    let timeout = format!(
        "How long to wait, in milliseconds: {MIN_WAIT_MS} to {MAX_WAIT_MS}; {DEFAULT_WAIT_MS} if you leave it out."
    );
    function(
        "wait_agent",
        "Waits until a message of any agent comes, or the user says something. Returns at once if one is there. What the \
         message says comes to you by itself.",
        &json!({ "timeout_ms": { "type": "integer", "description": timeout } }),
        &[],
    )
}

fn interrupt_agent() -> Value {
    function(
        "interrupt_agent",
        "Stops what an agent does. It keeps what it has seen and can be given another task. Returns how far it was.",
        &json!({ "target": text(TARGET) }),
        &["target"],
    )
}

fn list_agents() -> Value {
    function(
        "list_agents",
        "Lists the agents that there are, the root among them, and how far they are.",
        &json!({ "path_prefix": text("Only the agent at this path and those below it.") }),
        &[],
    )
}

fn function(name: &str, description: &str, properties: &Value, required: &[&str]) -> Value {
    json!({ "type": "function", "name": name, "description": description, "strict": false, "parameters": {
        "type": "object", "properties": properties, "required": required, "additionalProperties": false,
    } })
}

fn text(description: &str) -> Value {
    json!({ "type": "string", "description": description })
}
