//! Why streams end, as close codes of WebSockets.

use std::fmt;

/// Why a stream ends, or why a stream cannot be resumed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum StreamEnd {
    /// Another connection continues the stream.
    Replaced,
    /// A frame was not of the form that `trace.relay.v1` has.
    BadFrame,
    /// The token was revoked or has ended.
    Revoked,
    /// The stream does not exist, or not everything that the client misses is still there.
    Gone,
    /// The server has ended the stream, or another process is now the server of the device.
    ServerLeft,
    /// The server has been away for too long.
    ServerAway,
    /// The client takes too little of what the server sends.
    TooMuchWaiting,
    /// The device has as many streams as it can have.
    TooManyStreams,
    /// The first message of the stream was not `initialize`.
    NotInitialize,
    /// The relay shuts down. A stream can be resumed at the next one.
    RelayEnds,
}

impl StreamEnd {
    /// Returns the close code.
    #[must_use]
    pub fn code(self) -> u16 {
        match self {
            Self::RelayEnds => 1001,
            Self::Replaced => 4001,
            Self::BadFrame => 4002,
            Self::Revoked => 4003,
            Self::Gone => 4004,
            Self::ServerLeft => 4005,
            Self::ServerAway => 4006,
            Self::TooManyStreams => 4007,
            Self::TooMuchWaiting => 4008,
            Self::NotInitialize => 4009,
        }
    }
}

impl fmt::Display for StreamEnd {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::RelayEnds => "the relay is shutting down",
            Self::Replaced => "another connection has taken the place of this one",
            Self::BadFrame => "a frame is neither a numbered message nor an acknowledgement",
            Self::Revoked => "the token is no longer valid",
            Self::Gone => "the stream does not exist anymore",
            Self::ServerLeft => "the server has ended the stream",
            Self::ServerAway => "the server of the device is not connected",
            Self::TooManyStreams => "the device has too many streams",
            Self::TooMuchWaiting => "the client takes too little of what the server sends",
            Self::NotInitialize => "the first message must be the request `initialize`",
        })
    }
}
