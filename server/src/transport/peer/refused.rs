//! Why a connection is not served.

/// Why a connection is not served.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "only Linux tells descendants apart"))]
pub(in crate::transport) enum Refused {
    /// The server itself runs the process.
    #[error("this server does not take connections of what it runs itself")]
    OwnProcess,
    /// Another server runs the process in a sandbox.
    #[error("this server does not take connections of commands in a sandbox")]
    ConfinedElsewhere,
    /// No process holds the other end any more.
    #[error("the process that connected is gone")]
    Gone,
    /// The server was too busy to find out who connects. The client may try again.
    #[error("this server is too busy to find out who connects; try again")]
    Busy,
    /// It cannot be found out who connects.
    #[error(
        "this server cannot tell which process connects ({0}), and refuses it: connect over a unix socket (--listen unix://)"
    )]
    Unknown(String),
}

#[cfg(target_os = "linux")]
impl Refused {
    pub(super) fn unknown(error: impl std::fmt::Display) -> Self {
        Self::Unknown(error.to_string())
    }
}
