//! How a method is declared, and what is generated from the declaration.
//!
//! The macros of this module turn the tables of `methods` into enums, decoders, checks and lists. They contain nothing
//! about single methods.

use std::fmt;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::common::Nullable;
use crate::error::RpcError;

/// How important a method is for clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Tier {
    /// Clients need it for a normal session.
    One,
    /// Experienced users would miss it.
    Two,
    /// Older clients call it. The current protocol no longer contains it.
    Legacy,
    /// An addition of this server.
    Own,
}

/// Which connections may use a part of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Stability {
    /// All connections.
    Stable,
    /// Only connections with the capability `experimentalApi`.
    Experimental,
}

/// Which part of the protocol a schema describes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum SchemaSet {
    /// The part that every connection may use.
    #[default]
    Stable,
    /// The whole protocol.
    Experimental,
}

impl SchemaSet {
    /// Says whether something of this stability is part of the set.
    #[must_use]
    pub fn contains(self, stability: Stability) -> bool {
        self == Self::Experimental || stability == Stability::Stable
    }
}

/// Whether a connection has the experimental capability.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Experimental {
    /// It has the capability `experimentalApi`.
    Enabled,
    /// It does not have the capability.
    #[default]
    Disabled,
}

impl Experimental {
    /// Says whether a connection may use something of this stability.
    #[must_use]
    pub fn allows(self, stability: Stability) -> bool {
        matches!((self, stability), (Self::Enabled, _) | (_, Stability::Stable))
    }
}

/// Whether a request may run at the same time as others with the same scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Access {
    /// At the same time as other shared ones.
    Shared,
    /// Only alone.
    Exclusive,
}

/// Kinds of objects that belong to one connection.
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

/// Which requests wait for each other. Requests with equal scopes run one after the other, in the order of their
/// arrival.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scope {
    /// Waits for no other request.
    None,
    /// One thread, across all connections.
    Thread(String),
    /// A thread that is named by the path of its file.
    Path(String),
    /// The configuration.
    Config(Access),
    /// The account.
    Account,
    /// The MCP servers.
    Mcp,
    /// An object that belongs to the connection.
    Connection(ConnectionScope, String),
    /// One search session.
    Search(String),
}

/// How the scope of a method is found, as declared in the table of methods.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ScopeKind {
    /// Waits for no other request.
    None,
    /// The thread in `threadId`.
    Thread,
    /// The file in `path` if that is set, otherwise the thread in `threadId`.
    ThreadOrPath,
    /// The configuration, shared with other readers.
    ConfigShared,
    /// The configuration, exclusively.
    Config,
    /// The account.
    Account,
    /// The MCP servers.
    Mcp,
    /// The command of the connection in `processId`.
    Command,
    /// The same if `processId` is set, otherwise none.
    CommandIfNamed,
    /// The process of the connection in `processHandle`.
    Process,
    /// The watch of the connection in `watchId`.
    Watch,
    /// The subscription of the connection in `subscriptionId`.
    TraceSubscription,
    /// The search session in `sessionId`.
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

/// Returns the scope of params for a kind of scope.
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

/// Describes a method of clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MethodInfo {
    /// Name on the wire.
    pub name: &'static str,
    /// Name of the type of the params.
    pub params: &'static str,
    /// Name of the type of the result.
    pub result: &'static str,
    /// How important it is for clients.
    pub tier: Tier,
    /// Which connections may call it.
    pub stability: Stability,
    /// Names on the wire of the params' fields that only experimental connections may set.
    pub experimental_fields: &'static [&'static str],
    /// Which requests it waits for.
    pub scope: ScopeKind,
}

/// A method of the protocol that this server knows but does not offer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnavailableMethod {
    /// Name on the wire.
    pub name: &'static str,
    /// Which connections could call it.
    pub stability: Stability,
}

/// Describes a notification of the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotificationInfo {
    /// Name on the wire.
    pub name: &'static str,
    /// Name of the type of the params.
    pub params: &'static str,
    /// Which connections receive it.
    pub stability: Stability,
}

/// Describes a request of the server to a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServerRequestInfo {
    /// Name on the wire.
    pub name: &'static str,
    /// Name of the type of the params.
    pub params: &'static str,
    /// Name of the type of the result.
    pub result: &'static str,
    /// Which connections receive it.
    pub stability: Stability,
    /// Names on the wire of the params' fields that only experimental connections receive.
    pub experimental_fields: &'static [&'static str],
}

/// A method of clients as a type, which connects the types of params and result.
pub trait ClientMethod {
    /// Name on the wire.
    const NAME: &'static str;
    /// Type of the params.
    type Params: Serialize + DeserializeOwned + Send + 'static;
    /// Type of the result.
    type Result: Serialize + DeserializeOwned + Send + 'static;
}

/// A request of the server to a client as a type.
pub trait ServerMethod {
    /// Name on the wire.
    const NAME: &'static str;
    /// Type of the params.
    type Params: Serialize + DeserializeOwned + Send + 'static;
    /// Type of the result.
    type Result: Serialize + DeserializeOwned + Send + 'static;
}

/// The params of a method that has none. Anything that a client sends in their place is ignored.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
pub struct NoParams {}

impl<'de> Deserialize<'de> for NoParams {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        serde::de::IgnoredAny::deserialize(deserializer).map(|_| Self {})
    }
}

/// Says whether a field of params counts as set, for the check of experimental fields.
pub(crate) trait IsSet {
    fn is_set(&self) -> bool;
}

impl<T> IsSet for Option<T> {
    fn is_set(&self) -> bool {
        self.is_some()
    }
}

impl<T> IsSet for Nullable<T> {
    /// Returns true for `null` too, since `null` has a meaning of its own.
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

/// Decodes the params of a method. The error message contains the name of the method and, if known, of the field.
pub(crate) fn decode_params<P: DeserializeOwned>(method: &str, params: Option<&RawValue>) -> Result<P, RpcError> {
    let value = value_of_params(method, params)?;
    let absent = value.is_null();
    serde_json::from_value(value).map_err(|error| refused_params(method, absent, &error))
}

/// Returns the value that params are decoded from: an object, or `null` if there are none. It is not generic, so that it is
/// compiled once and not for every method.
fn value_of_params(method: &str, params: Option<&RawValue>) -> Result<Value, RpcError> {
    let Some(raw) = params.filter(|raw| raw.get() != "null") else { return Ok(Value::Null) };
    if raw.get().starts_with('[') {
        return Err(RpcError::undecodable(format_args!("{method}: params are a list, expected an object")));
    }
    serde_json::from_str(raw.get()).map_err(|error| RpcError::undecodable(format_args!("{method}: {error}")))
}

/// Returns the error for params that do not have the form of the method. Only the type of a method without params can be
/// decoded from `null`.
fn refused_params(method: &str, absent: bool, error: &serde_json::Error) -> RpcError {
    if absent {
        return RpcError::undecodable(format_args!("{method}: missing field `params`"));
    }
    RpcError::undecodable(format_args!("{method}: {error}"))
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

/// Declares the methods of clients.
macro_rules! client_methods {
    ($(
        $variant:ident $name:literal: $params:ty => $result:ty, $tier:ident, $stability:ident, $scope:ident
        $([$($field:ident $wire:literal),* $(,)?])?;
    )*) => {
        /// A request of a client with decoded params.
        #[derive(Debug, Clone, PartialEq)]
        pub enum ClientRequest {
            $(
                #[doc = concat!("`", $name, "`.")]
                $variant(Box<$params>),
            )*
        }

        /// All methods that this server offers.
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

        /// The methods of clients, as one type each.
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
            /// Decodes a request of a connection and checks that the connection may make it.
            ///
            /// # Errors
            ///
            /// Returns an error if the method is unknown or not offered, if it or a field of the params requires the
            /// experimental capability and the connection does not have it, or if the params are missing or invalid.
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

            /// Returns which other requests the request waits for.
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
            /// Returns an error if the params cannot be serialized.
            #[cfg(any(test, feature = "rewrite"))]
            pub fn params(&self) -> Result<Value, serde_json::Error> {
                match self {
                    $(Self::$variant(params) => serde_json::to_value(params),)*
                }
            }
        }

        /// The types of all methods, for the schemas.
        #[cfg(feature = "schema")]
        pub(crate) const METHOD_SHAPES: &[(Shape, Shape)] =
            &[$((Shape::of::<$params>(), Shape::of::<$result>()),)*];
    };
}

/// Declares the notifications of the server.
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

        /// All notifications that this server sends.
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
            /// Decodes a notification, for clients. `None` if it is unknown.
            ///
            /// # Errors
            ///
            /// Returns an error if the params are invalid.
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

            /// Returns which connections receive it.
            #[must_use]
            pub fn stability(&self) -> Stability {
                match self {
                    $(Self::$variant(_) => Stability::$stability,)*
                }
            }

            /// Returns the id of the thread that it is about. `None` if it is about no thread.
            #[must_use]
            pub fn thread_id(&self) -> Option<&str> {
                match self {
                    $(Self::$variant(params) => {
                        let thread: fn(&$params) -> Option<&str> = $thread;
                        thread(params)
                    })*
                }
            }

            /// Encodes the notification as one line without the final line feed. `emitted_at_ms` is its time in Unix
            /// milliseconds.
            ///
            /// # Errors
            ///
            /// Returns an error if the params cannot be serialized.
            pub fn encode(&self, emitted_at_ms: i64) -> Result<String, EncodeError> {
                match self {
                    $(Self::$variant(params) => envelope::server_notification($name, params, emitted_at_ms),)*
                }
            }
        }

        /// The types of all notifications, for the schemas.
        #[cfg(feature = "schema")]
        pub(crate) const NOTIFICATION_SHAPES: &[Shape] = &[$(Shape::of::<$params>(),)*];
    };
}

/// Declares the requests of the server to clients.
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

        /// All requests that the server may make.
        pub const SERVER_REQUESTS: &[ServerRequestInfo] = &[$(
            ServerRequestInfo {
                name: $name,
                params: stringify!($params),
                result: stringify!($result),
                stability: Stability::$stability,
                experimental_fields: &[$($($wire),*)?],
            },
        )*];

        /// The requests of the server to clients, as one type each.
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
            /// Decodes a request of the server, for clients.
            ///
            /// # Errors
            ///
            /// Returns an error if the method is unknown or the params are invalid.
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

            /// Returns which connections may receive it.
            #[must_use]
            pub fn stability(&self) -> Stability {
                match self {
                    $(Self::$variant(_) => Stability::$stability,)*
                }
            }

            /// Returns the id of the thread that it is about. `None` if it is about no thread.
            #[must_use]
            pub fn thread_id(&self) -> Option<&str> {
                match self {
                    $(Self::$variant(params) => {
                        let thread: fn(&$params) -> Option<&str> = $thread;
                        thread(params)
                    })*
                }
            }

            /// Returns the params as JSON. Without the experimental capability, the experimental fields are left out.
            ///
            /// # Errors
            ///
            /// Returns an error if the params cannot be serialized.
            pub fn params(&self, experimental: Experimental) -> Result<Value, serde_json::Error> {
                let (params, fields): (Value, &[&str]) = match self {
                    $(Self::$variant(params) => (serde_json::to_value(params)?, &[$($($wire),*)?]),)*
                };
                Ok(match experimental {
                    Experimental::Enabled => params,
                    Experimental::Disabled => without_fields(params, fields),
                })
            }

            /// Encodes the request as one line without the final line feed.
            ///
            /// # Errors
            ///
            /// Returns an error if the params cannot be serialized.
            pub fn encode(&self, id: &RequestId, experimental: Experimental) -> Result<String, EncodeError> {
                envelope::request(id, self.method(), Some(&self.params(experimental)?), None)
            }
        }

        /// The types of all requests of the server, for the schemas.
        #[cfg(feature = "schema")]
        pub(crate) const SERVER_REQUEST_SHAPES: &[(Shape, Shape)] =
            &[$((Shape::of::<$params>(), Shape::of::<$result>()),)*];
    };
}

pub(crate) use {client_methods, scope_of, server_notifications, server_requests};
