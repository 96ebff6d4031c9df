//! What the runtime says, in the words of the protocol, and the other way round.
//!
//! Only this module knows both. Each file has one kind of thing, and every mapping is total: what one side cannot say has
//! its nearest neighbour on the other, named where it happens.

pub(crate) mod elicitation;
pub(crate) mod event;
pub(crate) mod input;
pub(crate) mod item;
pub(crate) mod question;
pub(crate) mod settings;
