//! What the runtime says, in the words of the protocol, and the other way round.
//!
//! Only this module knows both. Each file has one kind of thing, and every mapping is total: what one side cannot say has
//! its nearest neighbour on the other, named where it happens.

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
