//! Ids of threads, turns and items: texts that are cheap to clone and cannot be mixed up.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(Arc<str>);

        impl $name {
            /// Returns the id as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self(text.into())
            }
        }

        impl From<String> for $name {
            fn from(text: String) -> Self {
                Self(text.into())
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(&self.0)
            }
        }
    };
}

id! {
    /// Names a thread, in every process that knows it.
    ThreadId
}
id! {
    /// Names a turn.
    TurnId
}
id! {
    /// Names an item within its thread. An item that stems from a tool call has the id of that call.
    ItemId
}

impl ThreadId {
    /// Returns a new id; later ones sort behind earlier ones.
    pub fn new() -> Self {
        Self::from(Uuid::now_v7().to_string())
    }
}

impl Default for ThreadId {
    fn default() -> Self {
        Self::new()
    }
}

impl TurnId {
    /// Returns a new id; later ones sort behind earlier ones.
    pub fn new() -> Self {
        Self::from(Uuid::now_v7().to_string())
    }
}

impl Default for TurnId {
    fn default() -> Self {
        Self::new()
    }
}

impl ItemId {
    /// Returns a new id for an item that no model made.
    pub fn new() -> Self {
        Self::from(Uuid::now_v7().to_string())
    }
}

impl Default for ItemId {
    fn default() -> Self {
        Self::new()
    }
}
