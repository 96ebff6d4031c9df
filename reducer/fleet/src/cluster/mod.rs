//! Many machines: a scheduler, executors, and the client that gives them work, on Ballista.
//!
//! The client plans a question over the files of a snapshot and submits the physical plan. An ingest or a compaction is a plan,
//! too: a table of tasks in memory, and above it a node of ours ([`leaf`]) that does them and returns a receipt for each. So
//! the engine shares out, repeats and watches tasks, and knows nothing of sessions or lakes; the client commits.
//!
//! Executors poll the scheduler, serve their results to each other and to the client, and let the scheduler end tasks
//! ([`control`]). Nothing else listens, so the token
//! ([`access`]) guards all that there is. Connections are not encrypted: `docs/fleet/cluster.md` says in which network they
//! must stay.

mod access;
mod chaos;
mod client;
mod codec;
mod control;
mod executor;
mod guard;
mod leaf;
mod scheduler;
mod stores;

use std::io;
use std::net::SocketAddr;

use crate::workers::WorkError;

pub use access::{MAX_TOKEN_BYTES, MIN_TOKEN_BYTES, Token, TokenError};
pub use client::{ATTEMPTS, Cluster};
pub use executor::{Executor, ExecutorOptions};
pub use scheduler::{Scheduler, SchedulerOptions};

/// Largest message between the parts, in bytes. A plan with the sessions of a round has a few megabytes.
pub const MAX_MESSAGE_BYTES: usize = 64 << 20;

/// Why a part of a cluster does not start or ended.
#[derive(Debug, thiserror::Error)]
pub enum ClusterError {
    /// The address cannot be bound.
    #[error("cannot listen on {address}")]
    Bind {
        /// The address.
        address: SocketAddr,
        /// Cause of the error.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// Other machines reach the address, and there is no token.
    #[error("other machines can reach {address}, and there is no token")]
    Open {
        /// The address.
        address: SocketAddr,
    },
    /// The scheduler is on another machine, and nobody but this one could fetch the results of the executor.
    #[error(
        "the scheduler {scheduler} is on another machine, and others cannot reach this executor to fetch its results"
    )]
    Hidden {
        /// URL of the scheduler.
        scheduler: String,
    },
    /// There is no place for intermediate results.
    #[error("the work folder cannot be used")]
    Folder(#[source] io::Error),
    /// The engine cannot be set up, or ended.
    #[error("{0}")]
    Engine(String),
    /// The scheduler cannot be used.
    #[error(transparent)]
    Work(#[from] WorkError),
}
