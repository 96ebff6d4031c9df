//! Errors of calls that concern other agents, worded so that a model can act on them.

use super::limits::{MAX_MESSAGE_BYTES, MAX_NAME_BYTES};
use crate::refusal::Refusal;

/// Why a call that concerns other agents fails.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum Refused {
    #[error("the arguments of {tool} do not fit: {reason}")]
    BadArguments { tool: &'static str, reason: String },
    #[error(
        "an agent's name must be made of lowercase letters a-z, digits and underscores, {MAX_NAME_BYTES} at most; \
         `{name}` is not"
    )]
    BadName { name: String },
    #[error("the name `root` is reserved: write `/root` for the root, and another name for an agent of your own")]
    ReservedName,
    #[error("`{target}` names no agent: a path begins with `/root`, or with the name of an agent below you")]
    NotBelowRoot { target: String },
    #[error(
        "there is an agent at `{path}` already: choose another name, or give that agent another task with followup_task"
    )]
    Taken { path: String },
    #[error("there is no live agent at `{path}`; list_agents shows those that there are")]
    NoSuchAgent { path: String },
    #[error(
        "agent thread limit reached: at most {limit} agents work at once, the root included. Wait until one is done \
         (wait_agent), or do the work yourself"
    )]
    TooManyThreads { limit: usize },
    #[error("there is no role `{name}`; known: {known}")]
    NoSuchRole { name: String, known: String },
    #[error("agents may not stand deeper than {limit} below the root: do the work yourself")]
    TooDeep { limit: u32 },
    #[error("the message is empty: say what the agent should know or do")]
    EmptyMessage,
    #[error(
        "the message is too long: it has {bytes} bytes, {MAX_MESSAGE_BYTES} are possible. Put the rest into a file"
    )]
    LongMessage { bytes: usize },
    #[error("`{path}` is you yourself")]
    Oneself { path: String },
    #[error("the root agent takes no tasks of other agents: use send_message to tell it something")]
    TaskForRoot,
    #[error("the root agent cannot be interrupted: it works for the user")]
    InterruptRoot,
    #[error("an agent cannot interrupt itself: end your turn with what you have instead")]
    InterruptOneself,
    #[error("timeout_ms must be at most {limit}; {asked} was asked for")]
    LongWait { asked: i64, limit: i64 },
    #[error("the other agents of this session are not there any more")]
    Gone,
    #[error("the agent did not take the message: {0}")]
    NotTaken(Refusal),
}
