//! Who may talk to the parts of a cluster: whoever knows the token.
//!
//! The engine lets the user agent be set on every connection that it makes, and no other header. So the token travels there, in
//! clear text. Each part that listens refuses requests without it.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::extract::ConnectInfo;
use ballista_core::extension::EndpointOverrideFn;
use sha2::{Digest, Sha256};
use tonic::service::Interceptor;
use tonic::{Request, Status};
use url::Url;

use super::ClusterError;

/// Fewest bytes of a token.
pub const MIN_TOKEN_BYTES: usize = 16;

/// Most bytes of a token.
pub const MAX_TOKEN_BYTES: usize = 512;

/// Begins the user agent.
const AGENT: &str = "trace-fleet/";

/// A secret that the parts of a cluster share.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

/// Why a text is no token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a token has {MIN_TOKEN_BYTES} to {MAX_TOKEN_BYTES} letters, digits and signs without spaces")]
pub struct TokenError;

impl Token {
    /// Takes a text as a token. White space around it is dropped.
    ///
    /// # Errors
    ///
    /// Returns an error if it is too short, too long, or has other characters than visible ones of ASCII.
    pub fn parse(text: &str) -> Result<Self, TokenError> {
        let text = text.trim();
        let is_token = (MIN_TOKEN_BYTES..=MAX_TOKEN_BYTES).contains(&text.len())
            && text.bytes().all(|byte| byte.is_ascii_graphic());
        is_token.then(|| Self(text.to_owned())).ok_or(TokenError)
    }
}

// A token must not end up in a log.
impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(..)")
    }
}

/// When a connection is given up.
#[derive(Debug, Clone, Copy)]
struct Patience {
    /// Longest time until it is there.
    connect: Duration,
    /// Time between two questions whether the other side is still there.
    ask: Duration,
    /// Longest time until the answer.
    answer: Duration,
}

/// A request may take as long as its task. What is noticed is another side that is silent.
const PATIENCE: Patience =
    Patience { connect: Duration::from_secs(20), ask: Duration::from_secs(10), answer: Duration::from_secs(20) };

/// Returns what gives each connection the token, and ends it if the other side is silent.
pub(super) fn endpoints(token: Option<&Token>) -> EndpointOverrideFn {
    patient(token, PATIENCE)
}

fn patient(token: Option<&Token>, patience: Patience) -> EndpointOverrideFn {
    let agent = token.map(|token| format!("{AGENT}{}", token.0));
    Arc::new(move |endpoint| {
        let endpoint = endpoint
            .connect_timeout(patience.connect)
            .http2_keep_alive_interval(patience.ask)
            .keep_alive_timeout(patience.answer)
            .keep_alive_while_idle(true);
        match &agent {
            Some(agent) => Ok(endpoint.user_agent(agent.clone())?),
            None => Ok(endpoint),
        }
    })
}

/// Returns whether a host is this machine, whatever machine that is.
fn is_local(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

/// Refuses an executor whose rows nobody else could fetch: its scheduler is on another machine, and it listens for its own only.
pub(super) fn check_reach(address: SocketAddr, host: Option<&str>, scheduler: &str) -> Result<(), ClusterError> {
    let is_far = Url::parse(scheduler).ok().and_then(|url| url.host_str().map(|host| !is_local(host)));
    let is_hidden = host.map_or(address.ip().is_loopback(), is_local);
    if is_far == Some(true) && is_hidden {
        return Err(ClusterError::Hidden { scheduler: scheduler.to_owned() });
    }
    Ok(())
}

/// Refuses an address that other machines reach, if there is no token.
pub(super) fn check(address: SocketAddr, token: Option<&Token>) -> Result<(), ClusterError> {
    if token.is_none() && !address.ip().is_loopback() {
        return Err(ClusterError::Open { address });
    }
    Ok(())
}

/// Refuses requests without the token.
#[derive(Clone)]
pub(super) struct Guard {
    /// Hash of the token, so that the time of a comparison tells nothing of it.
    expected: Option<[u8; 32]>,
}

impl Guard {
    pub(super) fn new(token: Option<&Token>) -> Self {
        Self { expected: token.map(|token| Sha256::digest(&token.0).into()) }
    }

    fn allows(&self, agent: &str) -> bool {
        let Some(expected) = self.expected else { return true };
        // The client library adds its own name.
        let given = agent.strip_prefix(AGENT).and_then(|rest| rest.split(' ').next()).unwrap_or_default();
        <[u8; 32]>::from(Sha256::digest(given)) == expected
    }
}

impl Interceptor for Guard {
    fn call(&mut self, mut request: Request<()>) -> Result<Request<()>, Status> {
        let agent = request.metadata().get("user-agent").and_then(|agent| agent.to_str().ok()).unwrap_or_default();
        if !self.allows(agent) {
            return Err(Status::unauthenticated("the token is missing or another one"));
        }
        // An executor that does not tell its host has the address that it calls from.
        if let Some(address) = request.remote_addr() {
            request.extensions_mut().insert(ConnectInfo(address));
        }
        Ok(request)
    }
}

#[cfg(test)]
mod tests {
    use arrow_flight::Ticket;
    use arrow_flight::flight_service_client::FlightServiceClient;

    use super::*;

    #[test]
    fn a_token_is_of_visible_characters() {
        for text in ["", "short", "with a space in it", &"x".repeat(MAX_TOKEN_BYTES + 1), "sixteen-bytes-ä-and-more"] {
            assert_eq!(Token::parse(text), Err(TokenError), "{text}");
        }
        let token = Token::parse("0123456789abcdef\n").expect("a token");
        assert_eq!(format!("{token:?}"), "Token(..)");
    }

    #[test]
    fn only_the_token_is_allowed() {
        let token = Token::parse("0123456789abcdef").expect("a token");
        let guard = Guard::new(Some(&token));
        assert!(guard.allows("trace-fleet/0123456789abcdef tonic/0.14.0"));
        for agent in ["", "tonic/0.14.0", "trace-fleet/0123456789abcde", "trace-fleet/ 0123456789abcdef"] {
            assert!(!guard.allows(agent), "{agent}");
        }
        assert!(Guard::new(None).allows("tonic/0.14.0"));
    }

    #[test]
    fn without_a_token_only_this_machine_is_let_in() {
        let token = Token::parse("0123456789abcdef").expect("a token");
        for (address, is_local) in
            [("127.0.0.1:1", true), ("[::1]:1", true), ("0.0.0.0:1", false), ("10.0.0.1:1", false)]
        {
            let address: SocketAddr = address.parse().expect("an address");
            assert_eq!(check(address, None).is_ok(), is_local, "{address}");
            assert!(check(address, Some(&token)).is_ok());
        }
    }

    #[test]
    fn an_executor_of_another_machine_is_reached_by_others() {
        let far = "http://scheduler:50050";
        for (address, host, scheduler, is_reached) in [
            ("127.0.0.1:1", None, "http://127.0.0.1:50050", true),
            ("127.0.0.1:1", None, "http://localhost:50050", true),
            ("127.0.0.1:1", None, "http://[::1]:50050", true),
            ("127.0.0.1:1", None, far, false),
            ("[::1]:1", None, far, false),
            ("0.0.0.0:1", None, far, true),
            ("0.0.0.0:1", Some("localhost"), far, false),
            ("0.0.0.0:1", Some("127.0.0.1"), far, false),
            // Something passes connections on.
            ("127.0.0.1:1", Some("10.0.0.7"), far, true),
            ("10.0.0.7:1", None, "http://10.0.0.1:50050", true),
        ] {
            let checked = check_reach(address.parse().expect("an address"), host, scheduler);
            assert_eq!(checked.is_ok(), is_reached, "{address} {host:?} {scheduler}");
        }
    }

    #[tokio::test]
    async fn a_peer_that_says_nothing_is_given_up() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let silent = tokio::spawn(async move {
            let mut sockets = Vec::new();
            while let Ok((socket, _)) = listener.accept().await {
                sockets.push(socket);
            }
        });
        let patience = Patience {
            connect: Duration::from_secs(5),
            ask: Duration::from_millis(100),
            answer: Duration::from_millis(200),
        };
        let endpoint = tonic::transport::Endpoint::from_shared(url).expect("a URL");
        let endpoint = patient(None, patience)(endpoint).expect("an endpoint");
        let asked = async {
            let channel = endpoint.connect().await.map_err(|_| ())?;
            let mut client = FlightServiceClient::new(channel);
            client.do_get(Ticket { ticket: Vec::new().into() }).await.map(|_| ()).map_err(|_| ())
        };
        let ended = tokio::time::timeout(Duration::from_secs(60), asked).await;
        assert_eq!(ended, Ok(Err(())), "it ends with an error");
        silent.abort();
    }
}
