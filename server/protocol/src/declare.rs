//! How a method is declared, and what comes of a declaration.
//!
//! The macros here turn the tables of `methods` into enums, decoders, gates and lists. They know nothing about any
//! method; the tables say nothing twice.

use std::fmt;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::common::{Nullable, from_raw};
use crate::error::RpcError;

/// How much a client misses without a method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Tier {
    /// A real client cannot do a normal session without it.
    One,
    /// A serious user would miss it.
    Two,
    /// Older clients call it; the protocol itself has it no more.
    Legacy,
    /// This server's own addition.
    Own,
}

/// Whether everyone may use something, or only connections that asked for experimental things.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Stability {
    /// Everyone.
    Stable,
    /// Only connections with the capability `experimentalApi`.
    Experimental,
}

/// Which part of the protocol is described.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum SchemaSet {
    /// What every connection may use.
    #[default]
    Stable,
    /// Everything.
    Experimental,
}

impl SchemaSet {
    /// Tells whether something of this stability is part of the set.
    #[must_use]
    pub fn contains(self, stability: Stability) -> bool {
        self == Self::Experimental || stability == Stability::Stable
    }
}

/// Whether a connection asked for experimental things.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Experimental {
    /// It has the capability `experimentalApi`.
    Enabled,
    /// It has not.
    #[default]
    Disabled,
}

impl Experimental {
    /// Tells whether a connection may use something of this stability.
    #[must_use]
    pub fn allows(self, stability: Stability) -> bool {
        matches!((self, stability), (Self::Enabled, _) | (_, Stability::Stable))
    }
}

/// Whether requests that only read may run together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Access {
    /// Together with others that share.
    Shared,
    /// Alone.
    Exclusive,
}

/// What kind of thing of one connection's own a request works on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ConnectionScope {
    /// A command that the connection started with `command/exec`, by its process id.
    Command,
    /// A process that the connection spawned, by its handle.
    Process,
    /// A watch on a path, by its id.
    Watch,
    /// A subscription to a trace, by its id.
    Trace,
}

/// Which requests have to wait for each other: those with equal scopes run one after another, in order of arrival.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scope {
    /// Waits for nobody.
    None,
    /// One thread, across connections.
    Thread(String),
    /// A rollout file, where a thread is named by its path.
    Path(String),
    /// The configuration.
    Config(Access),
    /// The account.
    Account,
    /// The servers of external tools.
    Mcp,
    /// Something that belongs to the connection which asks.
    Connection(ConnectionScope, String),
    /// One search session.
    Search(String),
}

/// The kind of a method's scope, as the table of methods says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ScopeKind {
    /// Waits for nobody.
    None,
    /// The thread that `threadId` names.
    Thread,
    /// The rollout file that `path` names, if it is set, and otherwise the thread.
    ThreadOrPath,
    /// The configuration, shared with other readers.
    ConfigShared,
    /// The configuration, alone.
    Config,
    /// The account.
    Account,
    /// The servers of external tools.
    Mcp,
    /// The connection's command that `processId` names.
    Command,
    /// The same, where there need not be a `processId`.
    CommandIfNamed,
    /// The connection's process that `processHandle` names.
    Process,
    /// The connection's watch that `watchId` names.
    Watch,
    /// The connection's subscription that `subscriptionId` names.
    TraceSubscription,
    /// The search session that `sessionId` names.
    Search,
}

impl fmt::Display for ScopeKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::None => "none",
            Self::Thread => "thread",
            Self::ThreadOrPath => "thread or path",
            Self::ConfigShared => "config (shared)",
            Self::Config => "config",
            Self::Account => "account",
            Self::Mcp => "mcp",
            Self::Command | Self::CommandIfNamed => "connection, process id",
            Self::Process => "connection, process handle",
            Self::Watch => "connection, watch id",
            Self::TraceSubscription => "connection, subscription id",
            Self::Search => "search session",
        })
    }
}

/// Takes a scope out of params, by its kind.
macro_rules! scope_of {
    (None, $params:ident) => {{
        let _ = $params;
        Scope::None
    }};
    (Thread, $params:ident) => {
        Scope::Thread($params.thread_id.clone())
    };
    (ThreadOrPath, $params:ident) => {
        $params.path.clone().map_or_else(|| Scope::Thread($params.thread_id.clone()), Scope::Path)
    };
    (ConfigShared, $params:ident) => {{
        let _ = $params;
        Scope::Config(Access::Shared)
    }};
    (Config, $params:ident) => {{
        let _ = $params;
        Scope::Config(Access::Exclusive)
    }};
    (Account, $params:ident) => {{
        let _ = $params;
        Scope::Account
    }};
    (Mcp, $params:ident) => {{
        let _ = $params;
        Scope::Mcp
    }};
    (Command, $params:ident) => {
        Scope::Connection(ConnectionScope::Command, $params.process_id.clone())
    };
    (CommandIfNamed, $params:ident) => {
        $params.process_id.clone().map_or(Scope::None, |id| Scope::Connection(ConnectionScope::Command, id))
    };
    (Process, $params:ident) => {
        Scope::Connection(ConnectionScope::Process, $params.process_handle.clone())
    };
    (Watch, $params:ident) => {
        Scope::Connection(ConnectionScope::Watch, $params.watch_id.clone())
    };
    (TraceSubscription, $params:ident) => {
        Scope::Connection(ConnectionScope::Trace, $params.subscription_id.clone())
    };
    (Search, $params:ident) => {
        Scope::Search($params.session_id.clone())
    };
}

/// What there is to know about a method of a client without calling it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MethodInfo {
    /// The name on the wire.
    pub name: &'static str,
    /// The name of the type of its params.
    pub params: &'static str,
    /// The name of the type of its result.
    pub result: &'static str,
    /// How much it matters.
    pub tier: Tier,
    /// Who may call it.
    pub stability: Stability,
    /// The fields of its params, as on the wire, that only experimental connections may set.
    pub experimental_fields: &'static [&'static str],
    /// What it waits for.
    pub scope: ScopeKind,
}

/// A method of the protocol that this server knows by name only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnavailableMethod {
    /// The name on the wire.
    pub name: &'static str,
    /// Who could call it.
    pub stability: Stability,
}

/// What there is to know about a notification of the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotificationInfo {
    /// The name on the wire.
    pub name: &'static str,
    /// The name of the type of its params.
    pub params: &'static str,
    /// Who gets it.
    pub stability: Stability,
}

/// What there is to know about a request of the server to a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServerRequestInfo {
    /// The name on the wire.
    pub name: &'static str,
    /// The name of the type of its params.
    pub params: &'static str,
    /// The name of the type of its answer.
    pub result: &'static str,
    /// Who gets it.
    pub stability: Stability,
    /// The fields that other connections than experimental ones do not get.
    pub experimental_fields: &'static [&'static str],
}

/// One method of a client, as a type: what joins its params to its result.
pub trait ClientMethod {
    /// The name on the wire.
    const NAME: &'static str;
    /// What the client says.
    type Params: Serialize + DeserializeOwned + Send + 'static;
    /// What the server answers.
    type Result: Serialize + DeserializeOwned + Send + 'static;
}

/// One request of the server to a client, as a type.
pub trait ServerMethod {
    /// The name on the wire.
    const NAME: &'static str;
    /// What the server says.
    type Params: Serialize + DeserializeOwned + Send + 'static;
    /// What the client answers.
    type Result: Serialize + DeserializeOwned + Send + 'static;
}

/// The params of a method that has none; whatever a client sends in their place is ignored.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
pub struct NoParams {}

impl<'de> Deserialize<'de> for NoParams {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        serde::de::IgnoredAny::deserialize(deserializer).map(|_| Self {})
    }
}

/// Whether a field of params counts as set, for the gate on experimental fields.
pub(crate) trait IsSet {
    fn is_set(&self) -> bool;
}

impl<T> IsSet for Option<T> {
    fn is_set(&self) -> bool {
        self.is_some()
    }
}

impl<T> IsSet for Nullable<T> {
    /// Tells whether the field was there: its `null` asks for something, too.
    fn is_set(&self) -> bool {
        !self.is_absent()
    }
}

impl IsSet for bool {
    fn is_set(&self) -> bool {
        *self
    }
}

impl<T> IsSet for Vec<T> {
    fn is_set(&self) -> bool {
        !self.is_empty()
    }
}

/// Reads the params of a method; the error names the method and, where there is one, the field.
pub(crate) fn decode_params<P: DeserializeOwned>(method: &str, params: Option<&RawValue>) -> Result<P, RpcError> {
    let refuse = |error: &dyn fmt::Display| RpcError::undecodable(format_args!("{method}: {error}"));
    let Some(raw) = params.filter(|raw| raw.get() != "null") else {
        // Only a method without params can do with none.
        return serde_json::from_value(Value::Null).map_err(|_| refuse(&"missing field `params`"));
    };
    if raw.get().starts_with('[') {
        return Err(refuse(&"params are a list, expected an object"));
    }
    from_raw(raw).map_err(|error| refuse(&error))
}

/// Removes fields from an object.
pub(crate) fn without_fields(mut params: Value, fields: &[&str]) -> Value {
    if let Value::Object(object) = &mut params {
        for field in fields {
            object.shift_remove(*field);
        }
    }
    params
}

/// Declares the methods that clients call.
macro_rules! client_methods {
    ($(
        $variant:ident $name:literal: $params:ty => $result:ty, $tier:ident, $stability:ident, $scope:ident
        $([$($field:ident $wire:literal),* $(,)?])?;
    )*) => {
        /// A request of a client, with its params decoded.
        #[derive(Debug, Clone, PartialEq)]
        pub enum ClientRequest {
            $(
                #[doc = concat!("`", $name, "`.")]
                $variant(Box<$params>),
            )*
        }

        /// Every method that this server offers.
        pub const METHODS: &[MethodInfo] = &[$(
            MethodInfo {
                name: $name,
                params: stringify!($params),
                result: stringify!($result),
                tier: Tier::$tier,
                stability: Stability::$stability,
                experimental_fields: &[$($($wire),*)?],
                scope: ScopeKind::$scope,
            },
        )*];

        /// The methods of clients, one type each.
        pub mod method {
            use super::*;

            $(
                #[doc = concat!("`", $name, "`.")]
                #[derive(Debug, Clone, Copy)]
                pub enum $variant {}

                impl ClientMethod for $variant {
                    const NAME: &'static str = $name;
                    type Params = $params;
                    type Result = $result;
                }
            )*
        }

        impl ClientRequest {
            /// Decodes a request of a connection, unless the connection may not make it.
            ///
            /// # Errors
            ///
            /// The method is unknown or not offered here, it or a field that is set needs the experimental
            /// capability, or the params are missing or not what the method takes.
            pub fn decode(
                method: &str,
                params: Option<&RawValue>,
                experimental: Experimental,
            ) -> Result<Self, RpcError> {
                match method {
                    $(
                        $name => {
                            if !experimental.allows(Stability::$stability) {
                                return Err(RpcError::experimental($name));
                            }
                            let params: Box<$params> = Box::new(decode_params($name, params)?);
                            $($(
                                if experimental == Experimental::Disabled && IsSet::is_set(&params.$field) {
                                    return Err(RpcError::experimental(concat!($name, ".", $wire)));
                                }
                            )*)?
                            allowed(Self::$variant(params), experimental)
                        }
                    )*
                    _ => Err(unavailable(method, experimental)),
                }
            }

            /// Returns the name of the method.
            #[must_use]
            pub fn method(&self) -> &'static str {
                match self {
                    $(Self::$variant(_) => $name,)*
                }
            }

            /// Returns what the request has to wait for.
            #[must_use]
            pub fn scope(&self) -> Scope {
                match self {
                    $(Self::$variant(params) => scope_of!($scope, params),)*
                }
            }

            /// Returns the params as JSON.
            ///
            /// # Errors
            ///
            /// The params cannot be written as JSON.
            pub fn params(&self) -> Result<Value, serde_json::Error> {
                match self {
                    $(Self::$variant(params) => serde_json::to_value(params),)*
                }
            }
        }

        /// The types of every method, for the schemas.
        #[cfg(feature = "schema")]
        pub(crate) const METHOD_SHAPES: &[(Shape, Shape)] =
            &[$((Shape::of::<$params>(), Shape::of::<$result>()),)*];
    };
}

/// Declares what the server tells clients.
macro_rules! server_notifications {
    ($($variant:ident $name:literal: $params:ident, $stability:ident, $thread:expr;)*) => {
        /// A notification of the server.
        #[derive(Debug, Clone, PartialEq)]
        pub enum ServerNotification {
            $(
                #[doc = concat!("`", $name, "`.")]
                $variant(Box<$params>),
            )*
        }

        /// Every notification that this server sends.
        pub const NOTIFICATIONS: &[NotificationInfo] = &[$(
            NotificationInfo { name: $name, params: stringify!($params), stability: Stability::$stability },
        )*];

        $(
            impl From<$params> for ServerNotification {
                fn from(params: $params) -> Self {
                    Self::$variant(Box::new(params))
                }
            }
        )*

        impl ServerNotification {
            /// Decodes a notification, for those who receive it; `None` for one that is not in the list.
            ///
            /// # Errors
            ///
            /// The params are not what the notification has.
            pub fn decode(method: &str, params: Option<&RawValue>) -> Result<Option<Self>, RpcError> {
                match method {
                    $($name => Ok(Some(Self::$variant(Box::new(decode_params($name, params)?)))),)*
                    _ => Ok(None),
                }
            }

            /// Returns the name of the method.
            #[must_use]
            pub fn method(&self) -> &'static str {
                match self {
                    $(Self::$variant(_) => $name,)*
                }
            }

            /// Returns who gets it.
            #[must_use]
            pub fn stability(&self) -> Stability {
                match self {
                    $(Self::$variant(_) => Stability::$stability,)*
                }
            }

            /// Returns the thread that it is about, if it is about one.
            #[must_use]
            pub fn thread_id(&self) -> Option<&str> {
                match self {
                    $(Self::$variant(params) => {
                        let thread: fn(&$params) -> Option<&str> = $thread;
                        thread(params)
                    })*
                }
            }

            /// Returns the params as JSON.
            ///
            /// # Errors
            ///
            /// The params cannot be written as JSON.
            pub fn params(&self) -> Result<Value, serde_json::Error> {
                match self {
                    $(Self::$variant(params) => serde_json::to_value(params),)*
                }
            }

            /// Writes the notification as one line without its end.
            ///
            /// # Errors
            ///
            /// The params cannot be written as JSON.
            pub fn encode(&self, emitted_at_ms: i64) -> Result<String, EncodeError> {
                match self {
                    $(Self::$variant(params) => envelope::server_notification($name, params, emitted_at_ms),)*
                }
            }
        }

        /// The types of every notification, for the schemas.
        #[cfg(feature = "schema")]
        pub(crate) const NOTIFICATION_SHAPES: &[Shape] = &[$(Shape::of::<$params>(),)*];
    };
}

/// Declares what the server asks clients.
macro_rules! server_requests {
    ($(
        $variant:ident $name:literal: $params:ident => $result:ident, $stability:ident, $thread:expr
        $(, [$($wire:literal),* $(,)?])?;
    )*) => {
        /// A request of the server to a client.
        #[derive(Debug, Clone, PartialEq)]
        pub enum ServerRequest {
            $(
                #[doc = concat!("`", $name, "`.")]
                $variant(Box<$params>),
            )*
        }

        /// Every request that the server may make.
        pub const SERVER_REQUESTS: &[ServerRequestInfo] = &[$(
            ServerRequestInfo {
                name: $name,
                params: stringify!($params),
                result: stringify!($result),
                stability: Stability::$stability,
                experimental_fields: &[$($($wire),*)?],
            },
        )*];

        /// The requests of the server to clients, one type each.
        pub mod server_method {
            use super::*;

            $(
                #[doc = concat!("`", $name, "`.")]
                #[derive(Debug, Clone, Copy)]
                pub enum $variant {}

                impl ServerMethod for $variant {
                    const NAME: &'static str = $name;
                    type Params = $params;
                    type Result = $result;
                }
            )*
        }

        $(
            impl From<$params> for ServerRequest {
                fn from(params: $params) -> Self {
                    Self::$variant(Box::new(params))
                }
            }
        )*

        impl ServerRequest {
            /// Decodes a request of the server, for those who receive it.
            ///
            /// # Errors
            ///
            /// The method is unknown, or the params are not what it has.
            pub fn decode(method: &str, params: Option<&RawValue>) -> Result<Self, RpcError> {
                match method {
                    $($name => Ok(Self::$variant(Box::new(decode_params($name, params)?))),)*
                    _ => Err(RpcError::unknown_method(method)),
                }
            }

            /// Returns the name of the method.
            #[must_use]
            pub fn method(&self) -> &'static str {
                match self {
                    $(Self::$variant(_) => $name,)*
                }
            }

            /// Returns who may be asked.
            #[must_use]
            pub fn stability(&self) -> Stability {
                match self {
                    $(Self::$variant(_) => Stability::$stability,)*
                }
            }

            /// Returns the thread that it is about, if it is about one.
            #[must_use]
            pub fn thread_id(&self) -> Option<&str> {
                match self {
                    $(Self::$variant(params) => {
                        let thread: fn(&$params) -> Option<&str> = $thread;
                        thread(params)
                    })*
                }
            }

            /// Returns the params as JSON, without what the connection did not ask for.
            ///
            /// # Errors
            ///
            /// The params cannot be written as JSON.
            pub fn params(&self, experimental: Experimental) -> Result<Value, serde_json::Error> {
                let (params, fields): (Value, &[&str]) = match self {
                    $(Self::$variant(params) => (serde_json::to_value(params)?, &[$($($wire),*)?]),)*
                };
                Ok(match experimental {
                    Experimental::Enabled => params,
                    Experimental::Disabled => without_fields(params, fields),
                })
            }

            /// Writes the request as one line without its end.
            ///
            /// # Errors
            ///
            /// The params cannot be written as JSON.
            pub fn encode(&self, id: &RequestId, experimental: Experimental) -> Result<String, EncodeError> {
                envelope::request(id, self.method(), Some(&self.params(experimental)?), None)
            }
        }

        /// The types of every request of the server, for the schemas.
        #[cfg(feature = "schema")]
        pub(crate) const SERVER_REQUEST_SHAPES: &[(Shape, Shape)] =
            &[$((Shape::of::<$params>(), Shape::of::<$result>()),)*];
    };
}

pub(crate) use {client_methods, scope_of, server_notifications, server_requests};
