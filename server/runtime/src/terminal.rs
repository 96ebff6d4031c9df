//! Background processes of tools.

use std::path::PathBuf;

use futures_util::future::BoxFuture;

use crate::id::{ItemId, TurnId};

/// A background process in a list for clients.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Terminal {
    /// Id of the turn that started it.
    pub turn: TurnId,
    /// Id of its item.
    pub item: ItemId,
    /// Id of the process for clients and the model.
    pub process_id: String,
    /// The command line as a shell shows it.
    pub command: String,
    /// Working folder.
    pub cwd: PathBuf,
}

/// A background process, as its tool presents it to the agent.
pub trait Background: Send + Sync + 'static {
    /// Describes the process.
    fn terminal(&self) -> Terminal;

    /// Kills the process and its descendants. The future resolves when its item has completed.
    fn kill(&self) -> BoxFuture<'static, ()>;
}
