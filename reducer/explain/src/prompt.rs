//! The prompt with which a session began.

use trace_reducer::model::{ItemKind, Part, Role, Trace};

use crate::why::{Kind, by_user_role};

/// Returns the first text that a user wrote to the root agent.
pub fn first_prompt(trace: &Trace) -> Option<&str> {
    let root = trace.threads.values().find(|thread| thread.id == trace.root_thread_id)?;
    let items = root.items.iter().map(|item| &trace.items[*item]);
    let mut by_user = items.filter(|item| {
        item.kind == ItemKind::Message
            && item.role == Role::User
            && item.agent_message.is_none()
            && by_user_role(item) == Kind::UserInput
    });
    by_user.find_map(|item| {
        item.parts.iter().find_map(|part| match part {
            Part::Text(text) if !text.trim().is_empty() => Some(text.trim()),
            _ => None,
        })
    })
}
