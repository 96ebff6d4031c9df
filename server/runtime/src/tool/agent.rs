//! The part of an agent that tools may use.

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

/// The part of an agent that tools may use. It cannot start turns, and does not keep the agent alive.
#[derive(Clone)]
pub struct ToolAgent {
    pub(crate) path: Arc<str>,
    pub(crate) link: Arc<HostLink>,
    pub(crate) extensions: Arc<Extensions>,
    pub(crate) terminals: Arc<Terminals>,
    pub(crate) folders: Arc<WritableFolderRegistry>,
    pub(crate) surroundings: Arc<Surroundings>,
    /// It is only kept alive: if a background command dropped the last reference to the bundle, it would wait for the disk. The
    /// record is dropped in a separate thread of the system.
    #[expect(dead_code, reason = "held, not looked at")]
    pub(crate) record: Arc<AgentRecord>,
}

impl ToolAgent {
    /// Returns the id of the agent's thread.
    pub fn id(&self) -> &ThreadId {
        self.link.thread()
    }

    /// Returns the path in the tree of agents, such as `/root/docs`.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Returns the time in milliseconds since 1970.
    pub fn now_ms(&self) -> i64 {
        self.link.now_ms()
    }

    /// Sends one event to the host.
    pub fn event(&self, kind: EventKind) {
        self.link.event(kind);
    }

    /// Starts an item. It completes in any case, see [`OpenItem`].
    pub fn start_item(&self, turn: &TurnId, item: Item) -> OpenItem {
        OpenItem::start(&self.link, turn, item)
    }

    /// Starts and completes an item.
    pub fn show_item(&self, turn: &TurnId, item: Item) {
        self.link.show_item(turn, item);
    }

    /// Asks a question and waits for the answer. If the future is dropped, the question is withdrawn.
    pub async fn ask(&self, question: Question) -> Answer {
        self.link.ask(question).await
    }

    /// Waits until the clients of the thread have read enough of its events. Work that produces many events waits here between them.
    pub fn ready(&self) -> BoxFuture<'static, ()> {
        self.link.ready()
    }

    /// Returns the value of a type that tools keep with the agent. It is created at the first call.
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

    /// Returns what the sandbox needs to know about the machine and the server.
    pub fn surroundings(&self) -> &Surroundings {
        &self.surroundings
    }
}

impl fmt::Debug for ToolAgent {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("ToolAgent").field(self.id()).finish()
    }
}
