//! The messages of the app-server protocol, version 2: what goes over the wire, and nothing of what it does.
//!
//! - [`envelope`] is the frame: requests, responses, errors, notifications, as one JSON text each.
//! - [`methods`] is the table: every method, notification and request, each declared once.
//! - The other modules are the types of params and results, by family.
//! - [`table`], and with the feature `schema` the modules `schema` and `typescript`, describe all of it for others.
//!   `docs/protocol/` has their output, and [`generated`] embeds that output into programs.
//!
//! A text that comes in goes through [`envelope::decode`] and then, if it is a request, through
//! [`ClientRequest::decode`], which knows the methods, the experimental gate and the params. What goes out is a type
//! of this crate, written by [`envelope`], [`ServerNotification::encode`] or [`ServerRequest::encode`].
//!
//! # What the types promise
//!
//! - Params take what the peer's schema allows, ignore fields they do not know, and treat `null` like no field. Where
//!   `null` says something of its own, the field is a [`common::Nullable`].
//! - Results and notifications always write all of their fields, `null` where there is nothing: clients check for
//!   missing ones. Params and requests of the server leave out what is not set.
//! - Values of an enum that this version does not know are an error in params.
//! - Nothing that a client sends makes decoding panic, and nesting is bounded by [`common::MAX_DEPTH`].
//!
//! # Adding a method
//!
//! 1. Write the types of its params and result in the module of its family, with the derives of their neighbours.
//! 2. Add one line to `client_methods!` in `methods`: name, types, tier, stability, scope and, for a stable method, the
//!    fields that only experimental connections may set.
//! 3. Serve it: the compiler names the `match` in the server that lacks the new variant of [`ClientRequest`].
//! 4. Run `TRACE_REGENERATE=1 cargo test -p trace-protocol --test schema`, which writes
//!    `docs/protocol/` anew.
//!
//! A notification is a line of `server_notifications!`, a request to clients one of `server_requests!`.

#[cfg(all(test, feature = "schema"))]
mod conformance;
mod declare;
#[cfg(feature = "schema")]
mod shape;

pub mod account;
pub mod approval;
pub mod catalog;
pub mod command;
pub mod common;
pub mod config;
pub mod connection;
pub mod envelope;
pub mod error;
pub mod fs;
pub mod generated;
pub mod goal;
pub mod history;
pub mod hook;
pub mod item;
pub mod methods;
pub mod model;
pub mod notification;
pub mod permission;
pub mod process;
pub mod queue;
#[cfg(feature = "schema")]
pub mod schema;
pub mod search;
pub mod settings;
pub mod table;
pub mod thread;
pub mod trace;
pub mod turn;
#[cfg(feature = "schema")]
pub mod typescript;

pub use declare::{
    Access, ClientMethod, ConnectionScope, Experimental, MethodInfo, NoParams, NotificationInfo, SchemaSet, Scope,
    ScopeKind, ServerMethod, ServerRequestInfo, Stability, Tier, UnavailableMethod,
};
pub use envelope::{Incoming, RequestId};
pub use error::RpcError;
pub use methods::{ClientNotification, ClientRequest, ServerNotification, ServerRequest};
