//! The messages of the app-server protocol, version 2. This crate defines their form and nothing of what they do.
//!
//! - [`envelope`] is the frame of all messages: requests, responses, errors and notifications, each one JSON text.
//! - [`methods`] is the table of methods: it declares every method, notification and server request once.
//! - The other modules contain the types of params and results, grouped by topic.
//! - [`table`], and with the feature `schema` the modules `schema` and `typescript`, generate descriptions of the
//!   protocol. `docs/protocol/` contains their output, and [`generated`] embeds that output into programs.
//!
//! An incoming text goes through [`envelope::decode`] and then, if it is a request, through [`ClientRequest::decode`],
//! which checks the method, the experimental capability and the params. Outgoing messages are types of this crate,
//! which [`envelope`], [`ServerNotification::encode`] or [`ServerRequest::encode`] write.
//!
//! # What the types promise
//!
//! - Params accept what the peer's schema allows, ignore unknown fields, and treat `null` like an absent field. A field
//!   for which `null` has a meaning of its own is a [`common::Nullable`].
//! - Results and notifications always contain all of their fields, with `null` for missing values, because clients
//!   check that fields exist. Params and server requests leave out fields that are not set.
//! - In params, an unknown value of an enum is an error.
//! - No message of a client makes decoding panic, and the nesting of JSON is limited by [`common::MAX_DEPTH`].
//!
//! # Adding a method
//!
//! 1. Write the types of its params and result in the module of its topic, with the same derives as their neighbours.
//! 2. Add one line to `client_methods!` in `methods`: name, types, tier, stability, scope and, for a stable method, the
//!    fields that only experimental connections may set.
//! 3. Serve it: the compiler reports that the lists of the server's `requests.rs` lack the new variant of
//!    [`ClientRequest`], and then the `match` that lacks the variant of its list.
//! 4. Run `TRACE_REGENERATE=1 cargo test -p trace-protocol --test schema`, which regenerates `docs/protocol/`.
//!
//! A notification is a line of `server_notifications!`, a request to clients is a line of `server_requests!`.

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
pub mod mcp;
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
