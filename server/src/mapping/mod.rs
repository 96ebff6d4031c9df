//! Converts types of the runtime to types of the protocol, and the other way round.
//!
//! Only this module knows both kinds of types. Each conversion is total: a value that the other side cannot express
//! becomes the nearest one, and a comment says which.

pub(crate) mod elicitation;
pub(crate) mod event;
mod id;
pub(crate) mod input;
pub(crate) mod item;
pub(crate) mod question;
pub(crate) mod settings;
mod source;

pub(crate) use id::thread_id;
pub(crate) use source::source_of_agent;
