//! Background processes of tools.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::future::{BoxFuture, join_all};

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

/// The processes of one agent that run in the background, by their ids.
#[derive(Default)]
pub struct Terminals(Mutex<BTreeMap<String, Arc<dyn Background>>>);

impl Terminals {
    /// Adds a process that a tool leaves running. It replaces one with the same id.
    pub fn keep(&self, process: Arc<dyn Background>) {
        let id = process.terminal().process_id;
        self.kept().insert(id, process);
    }

    /// Removes a process that has ended.
    pub fn forget(&self, process_id: &str) {
        self.kept().remove(process_id);
    }

    /// Describes the processes.
    pub fn list(&self) -> Vec<Terminal> {
        let kept: Vec<_> = self.kept().values().cloned().collect();
        kept.iter().map(|process| process.terminal()).collect()
    }

    /// Ends a process and waits for its end. Returns false if there is none with this id.
    pub async fn terminate(&self, process_id: &str) -> bool {
        let process = self.kept().remove(process_id);
        match process {
            Some(process) => {
                process.kill().await;
                true
            }
            None => false,
        }
    }

    /// Ends all processes and waits for their ends.
    pub async fn terminate_all(&self) {
        let kept = std::mem::take(&mut *self.kept());
        join_all(kept.values().map(|process| process.kill())).await;
    }

    fn kept(&self) -> MutexGuard<'_, BTreeMap<String, Arc<dyn Background>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
