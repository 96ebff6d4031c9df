//! Implements the tools, except for waiting.

use std::sync::Arc;

use serde_json::{Value, json};
use trace_recorder::format::ExecutionStatus;
use trace_recorder::write::Json;

use super::arguments;
use super::letter::{self, Purpose};
use super::path::{self, ROOT};
use super::refused::Refused;
use super::registry::{AgentEntry, Tree};
use super::role::{self, Role};
use crate::agent::{Agent, Lineage, NewAgent, RecordingTarget};
use crate::id::{ThreadId, TurnId};
use crate::item::{Activity, Item, ItemKind};
use crate::runtime::Caller;
use crate::settings::{Settings, SettingsChange};
use crate::tool::{ToolCall, ToolContext, ToolFamily};

/// Starts an agent and gives it its task.
pub(super) fn spawn(
    tree: &Arc<Tree>,
    roles: &[Role],
    caller: &Caller,
    context: &ToolContext,
    call: &ToolCall,
) -> Result<String, Refused> {
    let asked: arguments::Spawn = arguments::read("spawn_agent", &call.input)?;
    let parent = &caller.agent;
    let path = path::child(parent.path(), &asked.task_name)?;
    letter::check(&asked.message)?;
    let (depth, limit) = (parent.depth() + 1, tree.limits().max_depth);
    if depth > limit {
        return Err(Refused::TooDeep { limit });
    }
    let change = settings_change(asked.model, asked.reasoning_effort)?;
    let role = asked.role.as_deref().map(|name| role::find(roles, name)).transpose()?;
    let base = role.map_or_else(|| Settings::clone(&context.settings), |role| role.apply(&context.settings));
    let settings = base.changed(&change);
    let place = tree.reserve(caller, path)?;
    let child = caller.runtime.start(NewAgent {
        without: parent.toolbox().without().to_vec(),
        history: asked.fork_turns.cut(parent.history(), &context.settings, &settings),
        dynamic_tools: parent.toolbox().definitions().to_vec(),
        tools: parent.toolbox().own().iter().filter(|tool| tool.family() != ToolFamily::Own).cloned().collect(),
        recorded: RecordingTarget::BundleOf(parent.clone()),
        lineage: Some(Lineage {
            parent: parent.id().clone(),
            root: parent.root().clone(),
            path: place.path.clone(),
            depth,
            nickname: Some(place.nickname.clone()),
            role: role.map(|role| role.name.clone()),
        }),
        ..NewAgent::new(ThreadId::new(), settings)
    });
    caller.runtime.host().adopt(child.clone());
    tell(context, call, &child, Activity::Started);
    let task = letter::write(parent.path(), child.path(), Purpose::Task, &asked.message, root_turn(parent));
    if let Err(refused) = tree.begin(place, parent, &child, &context.turn, task) {
        tree.let_go(&caller.runtime, child);
        return Err(refused);
    }
    Ok(json!({ "task_name": child.path() }).to_string())
}

fn settings_change(model: Option<String>, effort: Option<String>) -> Result<SettingsChange, Refused> {
    for (name, value) in [("model", &model), ("reasoning_effort", &effort)] {
        if value.as_ref().is_some_and(|value| value.trim().is_empty()) {
            let reason = format!("`{name}` is empty; leave it out to keep yours");
            return Err(Refused::BadArguments { tool: "spawn_agent", reason });
        }
    }
    Ok(SettingsChange { model, effort: effort.map(Some), ..SettingsChange::default() })
}

/// Sends a message or a task to an agent.
pub(super) fn send(
    tree: &Tree,
    from: &Agent,
    context: &ToolContext,
    call: &ToolCall,
    tool: &'static str,
    purpose: Purpose,
) -> Result<String, Refused> {
    let asked: arguments::Tell = arguments::read(tool, &call.input)?;
    letter::check(&asked.message)?;
    let to = tree.find(from.path(), &asked.target)?;
    if purpose == Purpose::Task && to.path() == ROOT {
        return Err(Refused::TaskForRoot);
    }
    if to.id() == from.id() {
        return Err(Refused::Oneself { path: to.path().to_owned() });
    }
    let mail = letter::write(from.path(), to.path(), purpose, &asked.message, root_turn(from));
    tree.deliver(from, &context.turn, &to, mail)?;
    tell(context, call, &to, Activity::Interacted);
    Ok(String::new())
}

/// Interrupts the turn of an agent.
pub(super) async fn interrupt(tree: &Tree, context: &ToolContext, call: &ToolCall) -> Result<String, Refused> {
    let asked: arguments::Target = arguments::read("interrupt_agent", &call.input)?;
    let target = tree.find(context.agent.path(), &asked.target)?;
    if target.path() == ROOT {
        return Err(Refused::InterruptRoot);
    }
    if target.id() == context.agent.id() {
        return Err(Refused::InterruptOneself);
    }
    let status = tree.status(&target).ok_or_else(|| Refused::NoSuchAgent { path: target.path().to_owned() })?;
    // An agent that was loaded again and has done nothing since is not in the bundle yet. It must be recorded first,
    // because readers ignore a call to an unknown agent.
    target.core().start_recording().await;
    tell(context, call, &target, Activity::Interrupted);
    // The host reports the end of the turn on the agent's own thread, so the caller need not wait for it.
    drop(target.interrupt_any());
    Ok(json!({ "previous_status": status.json() }).to_string())
}

/// Lists agents.
pub(super) fn list(tree: &Tree, context: &ToolContext, call: &ToolCall) -> Result<String, Refused> {
    let asked: arguments::List = arguments::read("list_agents", &call.input)?;
    let above = match &asked.path_prefix {
        Some(prefix) => path::resolve(context.agent.path(), prefix)?,
        None => ROOT.to_owned(),
    };
    let row = |entry: &AgentEntry| json!({ "agent_name": entry.path, "agent_status": entry.status.json() });
    let rows: Vec<Value> = tree.entries(&above).iter().map(row).collect();
    Ok(json!({ "agents": rows }).to_string())
}

/// Shows and records an activity that concerns another agent.
fn tell(context: &ToolContext, call: &ToolCall, other: &Agent, activity: Activity) {
    let settings = other.settings();
    let started = (activity == Activity::Started).then_some(&*settings);
    let kind = ItemKind::AgentActivity {
        activity,
        agent: other.id().clone(),
        path: other.path().to_owned(),
        model: started.map(|settings: &Settings| settings.model.clone()),
    };
    context.agent.show_item(&context.turn, Item { id: call.id.clone(), kind });
    let report = json!({
        "model": started.map(|settings| &settings.model),
        "reasoning_effort": started.and_then(|settings| settings.effort.as_ref()),
        "event_id": call.id,
        "occurred_at_ms": context.agent.now_ms(),
        "agent_thread_id": other.id(),
        "agent_path": other.path(),
        "kind": match activity {
            Activity::Started => "started",
            Activity::Interacted => "interacted",
            Activity::Interrupted => "interrupted",
            Activity::Completed => "completed",
        },
    });
    context.trace.end_runtime(ExecutionStatus::Completed, Json(&report));
}

/// Returns the turn of the root agent from which the running turn of an agent stems.
fn root_turn(agent: &Agent) -> Option<TurnId> {
    agent.core().state().turns.active.as_ref().map(|turn| turn.root_turn.clone())
}
