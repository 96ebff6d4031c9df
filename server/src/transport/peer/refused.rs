//! Reasons for refusing a connection.

/// Why a connection is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "only Linux tells descendants apart"))]
pub(in crate::transport) enum Refused {
    /// This server has started the process.
    #[error("this server refuses connections from processes that it has started")]
    OwnProcess,
    /// The process is a confined command of another server.
    #[error("this server refuses connections from commands in a sandbox")]
    ConfinedElsewhere,
    /// No process holds the other end any more.
    #[error("the process that connected has ended")]
    Gone,
    /// The connection was not judged in time. The client may try again.
    #[error("this server is too busy to determine which process connects; try again")]
    Busy,
    /// The process cannot be determined.
    #[error("this server cannot determine which process connects ({0}): connect over a unix socket (--listen unix://)")]
    Unknown(String),
}

#[cfg(target_os = "linux")]
impl Refused {
    pub(super) fn unknown(error: impl std::fmt::Display) -> Self {
        Self::Unknown(error.to_string())
    }
}
