//! Processes that a tool left running in the background.

use std::path::PathBuf;

use futures_util::future::BoxFuture;

use crate::id::{ItemId, TurnId};

/// A process in the background, for those who list it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Terminal {
    /// Turn that started it.
    pub turn: TurnId,
    /// Item that shows it.
    pub item: ItemId,
    /// Id by which clients and the model name it.
    pub process_id: String,
    /// The line as a shell shows it.
    pub command: String,
    /// Folder that it runs in.
    pub cwd: PathBuf,
}

/// A process in the background, as the tool that has it offers it to the agent.
pub trait Background: Send + Sync + 'static {
    /// Describes the process.
    fn terminal(&self) -> Terminal;

    /// Ends the process with all that it started. The future resolves when its item has completed.
    fn kill(&self) -> BoxFuture<'static, ()>;
}
