//! The loop of a turn: requests and tool calls.

use std::sync::Arc;

use super::ask::ask;
use super::calls;
use super::compaction;
use super::request::Question;
use super::task::{Stop, Task};
use crate::item::Item;

/// Requests answers and runs tool calls until an answer has no calls. Returns the last message.
///
/// Before each request is a safe point: input of the user, notes and mail join the conversation there, and a history that
/// has grown too long is compacted.
pub(crate) async fn converse(task: &Task, question: &Question) -> Result<Option<Arc<Item>>, Stop> {
    let mut said = None;
    loop {
        task.paced().await?;
        task.take_up().await;
        compaction::when_needed(task, question).await?;
        task.tools_ready().await?;
        let reply = ask(task, question).await?;
        said = reply.said.or(said);
        if reply.calls.is_empty() {
            return Ok(said);
        }
        calls::run(task, reply.calls).await?;
    }
}
