//! The redirect address: a port of this machine to which the browser returns with the code.

use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use reqwest::Url;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::error::{OAuthError, code, description};
use super::random;
use super::reach;

/// Most bytes of a request of the browser that are read.
pub const MAX_CALLBACK_BYTES: usize = 16 * 1024;

/// Time limit for one request of the browser.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);

/// Most connections that are served at the same time. Browsers open some in advance.
const MAX_CONNECTIONS: usize = 32;

/// Where the browser returns to, as the configuration says it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CallbackAddress {
    /// The port (`mcp_oauth_callback_port`); `None` takes a free one.
    pub port: Option<u16>,
    /// The whole address (`mcp_oauth_callback_url`), for a machine that the browser reaches by another name; `None` takes
    /// an address of the loopback interface with a random path. The port must be set as well if a proxy passes the
    /// browser on: for another host, and for `https://`.
    pub url: Option<Url>,
}

impl CallbackAddress {
    /// Parses and checks a redirect address: it is on this machine, or encrypted.
    ///
    /// # Errors
    ///
    /// Returns an error if the address is not valid, or if a code must not be sent to it.
    pub fn parse(text: &str) -> Result<Url, OAuthError> {
        let url = Url::parse(text).map_err(|error| OAuthError::Callback {
            why: format!("`mcp_oauth_callback_url` is {text}, which is not an address ({error})"),
        })?;
        check(&url)?;
        Ok(url)
    }
}

/// A bound redirect address.
#[derive(Debug)]
pub(super) struct Callback {
    listener: TcpListener,
    url: Url,
}

/// The parameters with which the browser returned.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Returned {
    pub(super) code: Option<String>,
    pub(super) state: Option<String>,
    pub(super) issuer: Option<String>,
    pub(super) error: Option<String>,
}

impl Callback {
    /// Binds the address.
    pub(super) async fn bind(address: &CallbackAddress) -> Result<Self, OAuthError> {
        let refused = |why: String| OAuthError::Callback { why };
        let (host, port) = place(address)?;
        let listener = TcpListener::bind((host, port)).await.map_err(|error| {
            refused(match error.kind() {
                ErrorKind::AddrInUse => format!(
                    "port {port} of {host} is in use, perhaps by a login that still waits for its user; finish or stop that one, or \
                     set another `mcp_oauth_callback_port`"
                ),
                _ => format!("port {port} of {host} cannot be used: {error}"),
            })
        })?;
        let bound = listener.local_addr().map_err(|error| refused(error.to_string()))?.port();
        let url = match &address.url {
            Some(url) => url.clone(),
            None => {
                let url = format!("http://127.0.0.1:{bound}/callback/{}", random::secret()?);
                Url::parse(&url).map_err(|error| refused(error.to_string()))?
            }
        };
        Ok(Self { listener, url })
    }

    /// Returns the redirect address.
    pub(super) fn url(&self) -> &Url {
        &self.url
    }

    /// Waits until the browser returns with the `state` of this login. Other requests get an error.
    pub(super) async fn returned(&self, state: &str) -> Returned {
        let mut requests = JoinSet::new();
        loop {
            tokio::select! {
                accepted = self.listener.accept(), if requests.len() < MAX_CONNECTIONS => {
                    let (path, state) = (self.url.path().to_owned(), state.to_owned());
                    match accepted {
                        Ok((connection, _)) => {
                            requests.spawn(timeout(REQUEST_TIMEOUT, serve(connection, path, state)));
                        }
                        // No descriptor is free. One may be later.
                        Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
                    }
                }
                Some(served) = requests.join_next() => {
                    if let Ok(Ok(Some(returned))) = served {
                        return returned;
                    }
                }
            }
        }
    }
}

/// Returns where the browser is waited for. The port may be 0, for a free one.
fn place(address: &CallbackAddress) -> Result<(IpAddr, u16), OAuthError> {
    let localhost = IpAddr::from(Ipv4Addr::LOCALHOST);
    let Some(url) = &address.url else { return Ok((localhost, address.port.unwrap_or(0))) };
    check(url)?;
    // What reaches this machine from elsewhere comes through a proxy on it, which also ends the encryption.
    let of_url = url.port_or_known_default().filter(|_| url.scheme() == "http");
    match address.port.or(of_url) {
        Some(port) => Ok((reach::loopback(url).unwrap_or(localhost), port)),
        None => Err(OAuthError::Callback {
            why: format!(
                "`mcp_oauth_callback_url` is {url}, which needs a proxy on this machine; set `mcp_oauth_callback_port` to the port of 127.0.0.1 that the proxy passes it on to"
            ),
        }),
    }
}

/// Checks a configured address: it is on this machine, or encrypted.
fn check(url: &Url) -> Result<(), OAuthError> {
    let refused = |why: &str| Err(OAuthError::Callback { why: format!("`mcp_oauth_callback_url` is {url}: {why}") });
    if reach::is_unspecified(url) {
        return refused("a browser cannot open this host; name 127.0.0.1 or [::1]");
    }
    match url.scheme() {
        "https" => {}
        "http" if reach::loopback(url).is_some() => {}
        "http" => return refused("an address on another machine must begin with https://, since the code goes there"),
        _ => return refused("it begins neither with http:// nor with https://"),
    }
    if url.query().is_some() || url.fragment().is_some() || !url.username().is_empty() || url.password().is_some() {
        return refused("it must have neither a user name, a query nor a fragment");
    }
    Ok(())
}

/// Serves one request. Returns the parameters if it is for the path and has the state.
async fn serve(mut connection: TcpStream, path: String, state: String) -> Option<Returned> {
    let mut request = Vec::new();
    let mut buffer = [0; 1024];
    while !request.windows(4).any(|end| end == b"\r\n\r\n") {
        let count = connection.read(&mut buffer).await.ok().filter(|count| *count > 0)?;
        request.extend_from_slice(&buffer[..count]);
        if request.len() > MAX_CALLBACK_BYTES {
            answer(&mut connection, "431 Request Header Fields Too Large", "The address is too long.").await;
            // Data that was not read would make the system drop the answer.
            while connection.read(&mut buffer).await.is_ok_and(|count| count > 0) {}
            return None;
        }
    }
    let line = request.split(|byte| *byte == b'\r').next().unwrap_or_default();
    match std::str::from_utf8(line).ok().and_then(|line| target(line, &path)) {
        // It may be anybody's, also one that reports an error. The one of this login may still come.
        Some(Returned { state: other, .. })
            if !other.as_deref().is_some_and(|other| random::is_equal(other, &state)) =>
        {
            let text = "This is not the answer to the login that trace waits for. Nothing was done with it.";
            answer(&mut connection, "400 Bad Request", text).await;
            None
        }
        Some(returned) => {
            let (status, text) = match returned.code {
                Some(_) => ("200 OK", "trace has got the answer. You can close this page."),
                None => ("400 Bad Request", "The login failed. trace says why."),
            };
            answer(&mut connection, status, text).await;
            Some(returned)
        }
        None => {
            answer(&mut connection, "404 Not Found", "There is nothing here.").await;
            None
        }
    }
}

/// Reads the first line of a request. `None` if it is for another path.
fn target(line: &str, path: &str) -> Option<Returned> {
    let rest = line.strip_prefix("GET ")?;
    let (target, _version) = rest.rsplit_once(' ')?;
    let url = Url::parse("http://127.0.0.1/").ok()?.join(target).ok()?;
    (random::is_equal(url.path(), path)).then(|| parameters(&url))
}

/// Reads the parameters of an address at which the browser ended.
pub(super) fn parameters(url: &Url) -> Returned {
    let mut returned = Returned::default();
    let mut description_of_error = None;
    for (name, value) in url.query_pairs() {
        let place = match &*name {
            "code" => &mut returned.code,
            "state" => &mut returned.state,
            "iss" => &mut returned.issuer,
            "error" => {
                returned.error = Some(code(&value));
                continue;
            }
            "error_description" => &mut description_of_error,
            _ => continue,
        };
        *place = Some(value.into_owned());
    }
    if let (Some(error), Some(text)) = (&mut returned.error, description_of_error) {
        *error = format!("{error}: {}", description(&text, &[]));
    }
    if returned.error.is_some() {
        returned.code = None;
    }
    returned
}

async fn answer(connection: &mut TcpStream, status: &str, text: &str) {
    let body = format!("<!doctype html><meta charset=utf-8><title>trace</title><p>{text}</p>\n");
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-type: text/html; charset=utf-8\r\ncontent-length: {}\r\ncache-control: no-store\r\n\
         content-security-policy: default-src 'none'\r\nreferrer-policy: no-referrer\r\nx-content-type-options: nosniff\r\n\
         connection: close\r\n\r\n",
        body.len()
    );
    // The browser may be gone, which changes nothing.
    let _ = connection.write_all(format!("{head}{body}").as_bytes()).await;
    let _ = connection.shutdown().await;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_secret_path_is_answered() {
        let read = |line: &str| target(line, "/callback/x");
        let whole = Returned {
            code: Some("a b".to_owned()),
            state: Some("s".to_owned()),
            issuer: Some("https://i".to_owned()),
            error: None,
        };
        assert_eq!(read("GET /callback/x?code=a+b&state=s&iss=https%3A%2F%2Fi&z=1 HTTP/1.1"), Some(whole));
        let refused = read("GET /callback/x?error=access_denied&error_description=no%0Athanks&code=c HTTP/1.1");
        let refused = refused.expect("the path is right");
        assert_eq!((refused.code, refused.error.as_deref()), (None, Some("access_denied: no thanks")));
        for line in ["GET /callback/y?code=a HTTP/1.1", "POST /callback/x?code=a HTTP/1.1", "GET /callback/x", ""] {
            assert_eq!(read(line), None, "{line}");
        }
    }

    #[tokio::test]
    async fn addresses_are_random_configured_or_refused() {
        let one = Callback::bind(&CallbackAddress::default()).await.expect("an address");
        let other = Callback::bind(&CallbackAddress::default()).await.expect("an address");
        assert!(reach::loopback(one.url()).is_some() && one.url().path() != other.url().path());
        let port = one.url().port();
        let taken = Callback::bind(&CallbackAddress { port, url: None }).await.expect_err("the port is taken");
        assert!(taken.to_string().contains("is in use, perhaps by a login that still waits"), "{taken}");
        drop(one);
        let (v4, v6) = (IpAddr::from([127, 0, 0, 1]), IpAddr::from([0, 0, 0, 0, 0, 0, 0, 1]));
        for (url, port, expected) in [
            ("https://box.example.org/mcp/callback", Some(9), Some((v4, 9))),
            ("https://box.example.org/mcp/callback", None, None),
            ("https://localhost:8443/callback", None, None),
            ("http://localhost/callback", None, Some((v4, 80))),
            ("http://localhost:7/callback", Some(9), Some((v4, 9))),
            ("http://127.0.0.2:7/callback", None, Some((IpAddr::from([127, 0, 0, 2]), 7))),
            ("http://[::1]:7/callback", None, Some((v6, 7))),
            ("http://0.0.0.0:7/callback", None, None),
            ("https://[::]/callback", Some(9), None),
            ("http://192.0.2.7:9/callback", Some(9), None),
            ("http://box.example.org/callback", Some(9), None),
            ("https://box.example.org/callback?x=1", Some(9), None),
            ("ftp://127.0.0.1/callback", Some(9), None),
        ] {
            let address = CallbackAddress { port, url: Some(Url::parse(url).expect("an address")) };
            assert_eq!(place(&address).ok(), expected, "{url}");
        }
        let url = Url::parse(&format!("http://127.0.0.1:{}/callback", port.expect("a port"))).expect("an address");
        let bound = Callback::bind(&CallbackAddress { port: None, url: Some(url.clone()) }).await.expect("an address");
        assert_eq!((bound.url(), bound.listener.local_addr().ok().map(|at| at.port())), (&url, port));
    }

    #[tokio::test]
    async fn other_requests_do_not_end_the_wait() {
        let callback = Callback::bind(&CallbackAddress::default()).await.expect("an address");
        let port = callback.url().port().expect("a port");
        let ask = async |target: String| {
            let mut connection = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await.expect("a connection");
            let request = format!("GET {target} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
            connection.write_all(request.as_bytes()).await.expect("a request");
            let mut answer = String::new();
            connection.read_to_string(&mut answer).await.expect("an answer");
            answer
        };
        let silent = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await.expect("a connection");
        let path = callback.url().path().to_owned();
        let asked = async {
            let first = ask("/favicon.ico".to_owned()).await;
            let long = ask(format!("/{}", "x".repeat(MAX_CALLBACK_BYTES))).await;
            for state in ["", "&state=", "&state=guessed"] {
                for what in ["code=c", "error=access_denied"] {
                    let other = ask(format!("{path}?{what}{state}")).await;
                    assert!(other.starts_with("HTTP/1.1 400") && other.contains("not the answer"), "{other}");
                }
            }
            (first, long, ask(format!("{path}?code=c&state=s")).await)
        };
        let (returned, (first, long, last)) = tokio::join!(callback.returned("s"), asked);
        drop(silent);
        assert_eq!((returned.code.as_deref(), returned.state.as_deref()), (Some("c"), Some("s")));
        assert!(first.starts_with("HTTP/1.1 404") && long.starts_with("HTTP/1.1 431"), "{first} {long}");
        assert!(last.starts_with("HTTP/1.1 200") && !last.contains("code"), "{last}");
    }
}
