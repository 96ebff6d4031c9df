//! Decides which requests wait for each other.
//!
//! Requests with the same scope run one after the other, in the order of their arrival, regardless of their
//! connections. Requests that only read the configuration run in parallel. A request enters the queue when it is read,
//! not when its task runs for the first time, so that requests run in the order in which they were received.

use std::pin::Pin;
use std::task::{Context, Poll};

use trace_protocol::{Access, ConnectionScope, Scope};
use uuid::Uuid;

use crate::connection::ConnectionId;
use crate::fifo::{self, Queues};

/// The queues of requests. Clones share the same queues.
#[derive(Debug, Clone)]
pub struct ScopeQueues(Queues<Key>);

/// The key of a queue.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Key {
    Thread(String),
    Path(String),
    Config,
    Account,
    Mcp,
    Connection(ConnectionId, ConnectionScope, String),
    Search(String),
}

/// The numbers of requests in the queues of one kind of scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScopeGauge {
    /// The kind: `thread`, `path`, `config`, `account`, `mcp`, `connection` or `search`.
    pub kind: &'static str,
    /// Number of running requests.
    pub running: usize,
    /// Number of waiting requests.
    pub waiting: usize,
}

/// A position in a queue. The future completes when the request may run. Dropping it leaves the queue.
#[derive(Debug)]
#[must_use = "dropping the ticket leaves the queue"]
pub struct Ticket(Option<fifo::Ticket<Key>>);

/// The right to run. Dropping it lets the next request run.
#[derive(Debug)]
#[must_use = "dropping the guard lets the next request run"]
pub struct ScopeGuard(#[expect(dead_code, reason = "dropping it is its use")] Option<fifo::Guard<Key>>);

const KINDS: [&str; 7] = ["thread", "path", "config", "account", "mcp", "connection", "search"];

impl Key {
    /// Returns the index of the key's kind in [`KINDS`].
    fn kind(&self) -> usize {
        match self {
            Self::Thread(_) => 0,
            Self::Path(_) => 1,
            Self::Config => 2,
            Self::Account => 3,
            Self::Mcp => 4,
            Self::Connection(..) => 5,
            Self::Search(_) => 6,
        }
    }
}

impl ScopeQueues {
    /// Creates queues without requests.
    #[must_use]
    pub fn new() -> Self {
        Self(Queues::new())
    }

    /// Adds a request of a connection to the queue of a scope.
    pub fn enter(&self, scope: Scope, connection: ConnectionId) -> Ticket {
        let (key, access) = match scope {
            Scope::None => return Ticket(None),
            Scope::Thread(id) => (Key::Thread(canonical(id)), Access::Exclusive),
            Scope::Path(path) => (Key::Path(path), Access::Exclusive),
            Scope::Config(access) => (Key::Config, access),
            Scope::Account => (Key::Account, Access::Exclusive),
            Scope::Mcp => (Key::Mcp, Access::Exclusive),
            Scope::Connection(kind, id) => (Key::Connection(connection, kind, id), Access::Exclusive),
            Scope::Search(id) => (Key::Search(id), Access::Exclusive),
        };
        Ticket(Some(self.0.enter(key, access)))
    }

    /// Returns the numbers of running and waiting requests for each kind of scope.
    #[must_use]
    pub fn gauges(&self) -> Vec<ScopeGauge> {
        let mut gauges = KINDS.map(|kind| ScopeGauge { kind, running: 0, waiting: 0 });
        self.0.for_each(|key, length| {
            let gauge = &mut gauges[key.kind()];
            gauge.running += length.running;
            gauge.waiting += length.waiting;
        });
        gauges.to_vec()
    }
}

impl Default for ScopeQueues {
    fn default() -> Self {
        Self::new()
    }
}

/// Returns the canonical spelling of a thread id, so that all spellings lead to the same queue.
fn canonical(thread: String) -> String {
    Uuid::parse_str(&thread).map_or(thread, |id| id.to_string())
}

impl Future for Ticket {
    type Output = ScopeGuard;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<ScopeGuard> {
        match &mut self.0 {
            None => Poll::Ready(ScopeGuard(None)),
            Some(ticket) => Pin::new(ticket).poll(context).map(|guard| ScopeGuard(Some(guard))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: ConnectionId = ConnectionId(1);
    const B: ConnectionId = ConnectionId(2);

    fn try_run(ticket: &mut Ticket) -> Option<ScopeGuard> {
        let mut context = Context::from_waker(std::task::Waker::noop());
        match Pin::new(ticket).poll(&mut context) {
            Poll::Ready(guard) => Some(guard),
            Poll::Pending => None,
        }
    }

    fn thread(id: &str) -> Scope {
        Scope::Thread(id.to_owned())
    }

    /// Returns whether the second of two requests waits for the first.
    fn waits(first: (Scope, ConnectionId), second: (Scope, ConnectionId)) -> bool {
        let queues = ScopeQueues::new();
        let _first = queues.enter(first.0, first.1);
        try_run(&mut queues.enter(second.0, second.1)).is_none()
    }

    #[test]
    fn equal_scopes_wait_for_each_other_and_others_do_not() {
        let process = |id: &str| Scope::Connection(ConnectionScope::Process, id.to_owned());
        let command = |id: &str| Scope::Connection(ConnectionScope::Command, id.to_owned());
        let table = [
            ((thread("t"), A), (thread("t"), B), true),
            ((thread("t"), A), (thread("u"), A), false),
            ((thread("t"), A), (Scope::Path("t".to_owned()), A), false),
            ((Scope::None, A), (Scope::None, A), false),
            ((process("p"), A), (process("p"), A), true),
            ((process("p"), A), (process("p"), B), false),
            ((process("p"), A), (command("p"), A), false),
            ((Scope::Search("s".to_owned()), A), (Scope::Search("s".to_owned()), B), true),
            ((Scope::Config(Access::Shared), A), (Scope::Config(Access::Shared), B), false),
            ((Scope::Config(Access::Shared), A), (Scope::Config(Access::Exclusive), B), true),
            ((Scope::Config(Access::Exclusive), A), (Scope::Config(Access::Shared), B), true),
            ((Scope::Account, A), (Scope::Mcp, A), false),
        ];
        for (first, second, expected) in table {
            assert_eq!(waits(first.clone(), second.clone()), expected, "{first:?} {second:?}");
        }
    }

    #[test]
    fn a_thread_is_the_same_in_every_spelling() {
        let id = "01a00000-0000-7000-8000-0000000000ab";
        assert!(waits((thread(id), A), (thread(&id.to_uppercase()), A)));
        assert!(waits((thread(id), A), (thread(&id.replace('-', "")), A)));
    }

    #[test]
    fn gauges_count_running_and_waiting_requests() {
        let queues = ScopeQueues::new();
        let thread_gauge = || queues.gauges().into_iter().find(|gauge| gauge.kind == "thread").expect("a kind");
        let first = queues.enter(thread("t"), A);
        let second = queues.enter(thread("t"), B);
        let third = queues.enter(thread("u"), B);
        assert_eq!(thread_gauge(), ScopeGauge { kind: "thread", running: 2, waiting: 1 });
        drop((first, second, third));
        assert!(queues.gauges().iter().all(|gauge| gauge.running == 0 && gauge.waiting == 0));
    }
}
