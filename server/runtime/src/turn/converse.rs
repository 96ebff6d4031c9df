//! A conversation with a model until it wants nothing done any more.

use std::sync::Arc;

use super::ask::ask;
use super::calls;
use super::request::Question;
use super::task::{Stop, Task};
use crate::compaction;
use crate::item::Item;

/// Asks a model and does what it wants, until it wants nothing any more. Returns what it said last.
///
/// Before each request is the safe point: what the user said meanwhile, notes and mail join the conversation there, and a
/// history that has grown too long is made shorter.
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
