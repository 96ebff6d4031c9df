//! What a tool may use of the agent that calls it.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use futures_util::future::BoxFuture;

use crate::agent_record::AgentRecord;
use crate::event::EventKind;
use crate::extensions::Extensions;
use crate::host::{Answer, Question};
use crate::host_link::HostLink;
use crate::id::{ThreadId, TurnId};
use crate::item::Item;
use crate::open_item::OpenItem;
use crate::sandbox::{Surroundings, WritableFolderRegistry};
use crate::terminal::Terminals;

/// What a tool may use of the agent that calls it. It starts no turns and does not keep the agent alive.
#[derive(Clone)]
pub struct ToolAgent {
    pub(crate) path: Arc<str>,
    pub(crate) link: Arc<HostLink>,
    pub(crate) extensions: Arc<Extensions>,
    pub(crate) terminals: Arc<Terminals>,
    pub(crate) folders: Arc<WritableFolderRegistry>,
    pub(crate) surroundings: Arc<Surroundings>,
    /// Held only: a command in the background must not drop the last handle of the bundle, which waits for the disk. The record
    /// does that on a thread of its own.
    #[expect(dead_code, reason = "held, not looked at")]
    pub(crate) record: Arc<AgentRecord>,
}

impl ToolAgent {
    /// Returns the id of the agent's thread.
    pub fn id(&self) -> &ThreadId {
        self.link.thread()
    }

    /// Returns where the agent stands in the tree of agents, such as `/root/docs`.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Returns the time, in milliseconds since 1970.
    pub fn now_ms(&self) -> i64 {
        self.link.now_ms()
    }

    /// Tells the host what happened. Everything that an agent tells is told in one order.
    pub fn event(&self, kind: EventKind) {
        self.link.event(kind);
    }

    /// Begins an item. Whatever happens, it ends.
    pub fn start_item(&self, turn: &TurnId, item: Item) -> OpenItem {
        OpenItem::start(&self.link, turn, item)
    }

    /// Begins and ends an item.
    pub fn show_item(&self, turn: &TurnId, item: Item) {
        self.link.show_item(turn, item);
    }

    /// Puts a question and waits for the answer. A caller that stops waiting takes the question back.
    pub async fn ask(&self, question: Question) -> Answer {
        self.link.ask(question).await
    }

    /// Waits until those who listen have taken enough of what they were told. Work that produces much waits here between
    /// its pieces.
    pub fn ready(&self) -> BoxFuture<'static, ()> {
        self.link.ready()
    }

    /// Returns the one value of a type that tools keep with the agent, made when it is first asked for.
    pub fn extension<T: Any + Send + Sync + Default>(&self) -> Arc<T> {
        self.extensions.get()
    }

    /// Returns the processes that tools left running in the background.
    pub fn terminals(&self) -> &Terminals {
        &self.terminals
    }

    /// Returns the folders that commands may write to.
    pub fn folders(&self) -> &WritableFolderRegistry {
        &self.folders
    }

    /// Returns what the sandbox has to know of the machine and of the server.
    pub fn surroundings(&self) -> &Surroundings {
        &self.surroundings
    }
}

impl fmt::Debug for ToolAgent {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("ToolAgent").field(self.id()).finish()
    }
}
