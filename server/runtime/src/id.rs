//! Ids of threads, turns and items: strings with distinct types that are cheap to clone.

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
            /// Returns the id as a string.
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
    /// Id of a thread. It is globally unique.
    ThreadId
}
id! {
    /// Id of a turn.
    TurnId
}
id! {
    /// Id of an item, unique within its thread. The item of a tool call has the id of the call.
    ItemId
}

impl ThreadId {
    /// Creates a new id. Ids are ordered by time of creation.
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
    /// Creates a new id. Ids are ordered by time of creation.
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
    /// Creates a new id for an item that was not made by a model.
    pub fn new() -> Self {
        Self::from(Uuid::now_v7().to_string())
    }
}

impl Default for ItemId {
    fn default() -> Self {
        Self::new()
    }
}
