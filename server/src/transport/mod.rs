//! The transports. Each one moves texts between a client and a pair of an [`Ingress`](crate::ingress::Ingress) and an
//! [`OutboundReader`](crate::outbound::OutboundReader).

mod accept;
mod admission;
mod auth;
mod bind;
mod bind_error;
mod bridge;
mod drain;
mod http;
pub mod in_process;
mod lines;
mod listen;
mod peer;
mod proxy;
mod remote;
mod serve;
mod sessions;
mod slots;
mod stdio;
mod turn_away;
mod unix;
mod web;
mod websocket;

pub use accept::HEAD_TIMEOUT;
pub use admission::{MAX_CONNECTIONS, MAX_CONNECTIONS_PER_OWNER, MAX_CONNECTIONS_PER_PEER};
pub use auth::{
    Auth, AuthError, AuthMode, AuthOptions, DEFAULT_CLOCK_SKEW_SECONDS, MAX_TOKEN_BYTES, MIN_SECRET_BYTES, Unauthorized,
};
pub use bind::{Banner, Bound, bind};
pub use bind_error::BindError;
pub use bridge::{
    CONTENT_TIMEOUT, KEEP_ALIVE, MAX_KEPT_BYTES, MAX_KEPT_EVENTS, MAX_WAITING_BYTES, MAX_WAITING_MESSAGES,
    SESSION_TIMEOUT,
};
pub use drain::{Phase, Shutdown};
pub use listen::{DEFAULT_SOCKET, Listen, ListenError};
#[cfg(target_os = "linux")]
pub use peer::{ENDING_TIMEOUT, ORPHAN_TIMEOUT, end_descendants, keep_descendants};
pub use proxy::{ProxyError, proxy};
pub use remote::{
    ConnectEvent, ConnectOptions, FIRST_RETRY, LAST_RETRY, MAX_ASSEMBLIES, MAX_UNACKNOWLEDGED, REMOTE_PING_INTERVAL,
    REMOTE_SILENCE_TIMEOUT, REVOCATION_INTERVAL, RelayClient, Remote, RemoteError, RemoteOptions, RemoteStatus,
    STREAM_SILENCE_TIMEOUT, Sealing, Stop, UNSEALED_CODE,
};
pub use serve::{KEEP_ALIVE_AFTER, serve, serve_routes};
pub use sessions::{MAX_SESSIONS, MAX_SESSIONS_PER_OWNER, MAX_SESSIONS_PER_PEER};
pub use stdio::{ANSWER_TIMEOUT, MAX_LINE_BYTES, serve_stdio};
pub use turn_away::{MAX_TURNED_AWAY, REFUSAL_TIMEOUT};
pub use web::{MIN_WEB_TOKEN_CHARS, WebClient, WebToken, WebTokenError};
pub use websocket::{CLOSE_TIMEOUT, MAX_MESSAGE_BYTES};
