//! The web client: a page that speaks the app-server protocol, and the recordings that it links to.
//!
//! Who has the token has the machine, because the page runs commands on it. So the token is in no request for a document:
//! it is in the fragment of the page's address, which browsers do not send. The page shows it as a subprotocol of its
//! WebSocket, and as a bearer token when it reads a recording. There is no cookie, so no other page can make the
//! browser show the token.
//!
//! Every request must name the server by one of its own names. A page that makes its own domain name resolve to this
//! machine (DNS rebinding) still sends its own name.

use std::fmt;
use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::net::SocketAddr;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::header::{self, HeaderName};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse as _, Response};
use axum::routing::any;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::auth::Auth;
use super::http::{App, upgrade};
use crate::secret_file::{self, SecretFileError};

/// The subprotocol of the page's WebSocket, and the only one that a response names.
const PROTOCOL: &str = "trace.v2";

/// Prefix of the subprotocol that carries the token.
const TOKEN_PROTOCOL: &str = "trace.token.";

/// Prefix of the subprotocol that carries a token with characters that a subprotocol cannot have, as base64url.
const ENCODED_TOKEN_PROTOCOL: &str = "trace.token64.";

/// Fewest characters of a token in a file.
pub const MIN_WEB_TOKEN_CHARS: usize = 32;

/// Bytes of a random token.
const TOKEN_BYTES: usize = 24;

/// Headers of every response. No other site may embed the page or share a process with it, nothing may cache it or guess
/// its type, and no link may reveal its address.
const HEADERS: [(HeaderName, &str); 5] = [
    (header::CACHE_CONTROL, "no-store"),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];

/// The secret of the web client. Its `Debug` output does not contain it.
#[derive(Clone, PartialEq, Eq)]
pub struct WebToken(String);

/// Why a file holds no token.
#[derive(Debug, thiserror::Error)]
pub enum WebTokenError {
    /// The operating system provides no random bytes.
    #[error("no random token")]
    Random(#[source] io::Error),
    /// The file cannot be created.
    #[error("the token file {} cannot be created", path.display())]
    NotMade {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The file cannot be read, or can be read by others.
    #[error(transparent)]
    File(#[from] SecretFileError),
    /// The file does not hold a token.
    #[error(
        "the token file {} must hold at least {MIN_WEB_TOKEN_CHARS} hexadecimal digits and nothing else; delete it to get a new one",
        path.display()
    )]
    Invalid {
        /// The file.
        path: PathBuf,
    },
}

impl WebToken {
    /// Makes a token from the random source of the operating system.
    ///
    /// # Errors
    ///
    /// Returns an error if the operating system provides no random bytes.
    pub fn random() -> Result<Self, WebTokenError> {
        let mut bytes = [0; TOKEN_BYTES];
        getrandom::fill(&mut bytes).map_err(|error| WebTokenError::Random(io::Error::other(error)))?;
        Ok(Self(bytes.iter().map(|byte| format!("{byte:02x}")).collect()))
    }

    /// Reads the token in a file. If there is no file, it is created with a random token.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be read or created, holds something else, or can be read by other users.
    pub fn from_file(path: &Path) -> Result<Self, WebTokenError> {
        let failed = |source| WebTokenError::NotMade { path: path.to_owned(), source };
        match OpenOptions::new().write(true).create_new(true).mode(0o600).open(path) {
            Ok(mut file) => {
                let token = Self::random()?;
                file.write_all(format!("{}\n", token.0).as_bytes()).map_err(failed)?;
                return Ok(token);
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(failed(error)),
        }
        let invalid = || WebTokenError::Invalid { path: path.to_owned() };
        let token = match secret_file::read_text(path) {
            Ok(token) => token,
            Err(SecretFileError::Empty { .. } | SecretFileError::NotText { .. }) => return Err(invalid()),
            Err(error) => return Err(error.into()),
        };
        if token.len() < MIN_WEB_TOKEN_CHARS || !token.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(invalid());
        }
        Ok(Self(token))
    }

    /// Returns the token.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for WebToken {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("WebToken(..)")
    }
}

/// The web client of a server.
#[derive(Debug)]
pub struct WebClient {
    /// The documents, scripts and style sheets below `/web/`. They contain no secret, so everybody gets them.
    pub open: Router,
    /// What only a request with the token gets: the data of recordings.
    pub guarded: Router,
    /// The token. `None` if clients show a token by the rule of `--ws-auth`, which the page then asks for.
    pub token: Option<WebToken>,
    /// The rule of `--ws-auth`.
    pub auth: Option<Auth>,
    /// Names with ports by which browsers also reach the server, such as those of a proxy with TLS.
    pub names: Vec<String>,
}

impl WebClient {
    /// Returns the URL of the page. Its fragment has the token, if there is one.
    pub(super) fn url(&self, address: SocketAddr) -> String {
        match &self.token {
            Some(token) => format!("http://{address}/web/#token={}", token.as_str()),
            None => format!("http://{address}/web/"),
        }
    }
}

/// What decides about requests.
struct Guard {
    names: Names,
    auth: Auth,
    app: Arc<App>,
}

/// The names of the server.
#[derive(Debug)]
struct Names {
    /// The address, and `localhost` on the loopback interface. Browsers reach them without TLS.
    own: Vec<String>,
    /// Names of proxies.
    others: Vec<String>,
}

/// Returns the routes below `/web`.
pub(super) fn routes(web: WebClient, address: SocketAddr, app: Arc<App>) -> Router {
    let auth = match (&web.token, web.auth) {
        (Some(token), _) => Auth::of_token(token.as_str()),
        (None, Some(auth)) => auth,
        // Without any rule, nobody gets in.
        (None, None) => Auth::of_token(""),
    };
    let guard = Arc::new(Guard { names: Names::new(address, web.names), auth, app });
    let guarded = web.guarded.layer(from_fn_with_state(Arc::clone(&guard), check_bearer));
    Router::new()
        .route("/web/ws", any(socket).with_state(Arc::clone(&guard)))
        .route("/web/{*rest}", any(|| async { (StatusCode::NOT_FOUND, "there is no such page\n") }))
        .merge(web.open)
        .merge(guarded)
        .layer(from_fn_with_state(guard, check))
}

/// Checks the host and the origin of every request, and adds the headers of every response.
async fn check(State(guard): State<Arc<Guard>>, request: Request, next: Next) -> Response {
    let host = guard.names.host(request.headers()).map(str::to_owned);
    let is_socket = request.uri().path() == "/web/ws";
    let mut response = match &host {
        None => {
            (StatusCode::FORBIDDEN, "this server has another name; use the address that it printed\n").into_response()
        }
        Some(_) if is_socket => next.run(request).await,
        Some(_) if request.headers().contains_key(header::ORIGIN) => {
            (StatusCode::FORBIDDEN, "requests of other pages are refused\n").into_response()
        }
        Some(_) if !matches!(*request.method(), Method::GET | Method::HEAD) => {
            (StatusCode::METHOD_NOT_ALLOWED, [(header::ALLOW, "GET, HEAD")]).into_response()
        }
        Some(_) => next.run(request).await,
    };
    let headers = response.headers_mut();
    for (name, value) in HEADERS {
        headers.insert(name, HeaderValue::from_static(value));
    }
    let policy = host.and_then(|host| HeaderValue::from_str(&guard.names.policy(&host)).ok());
    // A recording's page has a policy of its own, which allows even less.
    if let (Some(policy), false) = (policy, headers.contains_key(header::CONTENT_SECURITY_POLICY)) {
        headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    response
}

/// Lets only requests with the token pass.
async fn check_bearer(State(guard): State<Arc<Guard>>, request: Request, next: Next) -> Response {
    match guard.auth.check(request.headers(), SystemTime::now()) {
        Ok(()) => next.run(request).await,
        Err(why) => unauthorized(&why.to_string()),
    }
}

/// Opens the WebSocket of the page.
async fn socket(State(guard): State<Arc<Guard>>, request: Request) -> Response {
    let headers = request.headers();
    if !guard.names.is_own_origin(headers) {
        return (StatusCode::FORBIDDEN, "only the page of this server may connect here\n").into_response();
    }
    let Some(token) = offered_token(headers) else { return unauthorized("the subprotocol with the token is missing") };
    if let Err(why) = guard.auth.check_token(&token, SystemTime::now()) {
        return unauthorized(&why.to_string());
    }
    upgrade(&guard.app, request, &[PROTOCOL]).await
}

fn unauthorized(why: &str) -> Response {
    (StatusCode::UNAUTHORIZED, [(header::WWW_AUTHENTICATE, "Bearer")], format!("{why}\n")).into_response()
}

/// Returns the token among the subprotocols that a client offers. A client that offers several tokens shows none.
fn offered_token(headers: &HeaderMap) -> Option<String> {
    let lists = headers.get_all(header::SEC_WEBSOCKET_PROTOCOL).iter();
    let offered: Vec<&str> = lists
        .map(|list| list.to_str())
        .collect::<Result<Vec<_>, _>>()
        .ok()?
        .into_iter()
        .flat_map(|list| list.split(','))
        .map(str::trim)
        .collect();
    if !offered.contains(&PROTOCOL) {
        return None;
    }
    let plain = offered.iter().filter_map(|one| one.strip_prefix(TOKEN_PROTOCOL)).map(|token| Some(token.to_owned()));
    let encoded = offered.iter().filter_map(|one| one.strip_prefix(ENCODED_TOKEN_PROTOCOL)).map(|token| {
        let bytes = URL_SAFE_NO_PAD.decode(token).ok()?;
        String::from_utf8(bytes).ok()
    });
    let mut tokens = plain.chain(encoded);
    match (tokens.next(), tokens.next()) {
        (Some(token), None) => token.filter(|token| !token.is_empty()),
        _ => None,
    }
}

/// Returns the value of a header that a request has exactly once.
fn only(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (Some(value), None) => value.to_str().ok(),
        _ => None,
    }
}

impl Names {
    fn new(address: SocketAddr, others: Vec<String>) -> Self {
        let port = address.port();
        let mut own = vec![address.to_string()];
        let ip = address.ip().to_canonical();
        if ip.is_loopback() || ip.is_unspecified() {
            own.push(format!("localhost:{port}"));
        }
        if ip.is_unspecified() {
            own.push(format!("127.0.0.1:{port}"));
        }
        Self { own, others }
    }

    /// Returns the name by which a request addresses the server. `None` if it is not one of the server's own.
    fn host<'h>(&self, headers: &'h HeaderMap) -> Option<&'h str> {
        let host = only(headers, header::HOST)?;
        let mut all = self.own.iter().chain(&self.others);
        all.any(|name| name.eq_ignore_ascii_case(host)).then_some(host)
    }

    /// Returns whether a request comes from a page of this server.
    fn is_own_origin(&self, headers: &HeaderMap) -> bool {
        let Some(origin) = only(headers, header::ORIGIN) else { return false };
        let is_one_of = |names: &[String], host: &str| names.iter().any(|name| name.eq_ignore_ascii_case(host));
        match (origin.strip_prefix("http://"), origin.strip_prefix("https://")) {
            (Some(host), _) => is_one_of(&self.own, host) || is_one_of(&self.others, host),
            // TLS ends at a proxy, which has a name of its own.
            (_, Some(host)) => is_one_of(&self.others, host),
            _ => false,
        }
    }

    /// Returns the content security policy of a page that was requested by this name: only the server's own scripts and
    /// style sheets, and no text that becomes markup.
    fn policy(&self, host: &str) -> String {
        let is_own = self.own.iter().any(|name| name.eq_ignore_ascii_case(host));
        let secure = if is_own { String::new() } else { format!(" wss://{host}") };
        format!(
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self' \
             ws://{host}{secure}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
             require-trusted-types-for 'script'"
        )
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn headers(values: &[(HeaderName, &str)]) -> HeaderMap {
        let mut map = HeaderMap::new();
        for (name, value) in values {
            map.append(name, HeaderValue::from_str(value).expect("a value"));
        }
        map
    }

    fn names(address: &str, others: &[&str]) -> Names {
        Names::new(address.parse().expect("an address"), others.iter().map(|name| (*name).to_owned()).collect())
    }

    #[test]
    fn only_own_names_are_hosts() {
        let names = names("127.0.0.1:8000", &["phone.example"]);
        let is_own = |hosts: &[&str]| {
            let values: Vec<_> = hosts.iter().map(|host| (header::HOST, *host)).collect();
            names.host(&headers(&values)).is_some()
        };
        for own in ["127.0.0.1:8000", "LocalHost:8000", "phone.example"] {
            assert!(is_own(&[own]), "{own}");
        }
        for other in
            ["127.0.0.1", "localhost:8001", "evil.example:8000", "127.0.0.1:8000.evil.example", "[::1]:8000", ""]
        {
            assert!(!is_own(&[other]), "{other}");
        }
        assert!(!is_own(&[]) && !is_own(&["127.0.0.1:8000", "127.0.0.1:8000"]));
    }

    #[test]
    fn only_own_pages_are_origins() {
        let names = names("127.0.0.1:8000", &["phone.example"]);
        let is_own = |origin: &str| names.is_own_origin(&headers(&[(header::ORIGIN, origin)]));
        for own in ["http://127.0.0.1:8000", "http://localhost:8000", "https://phone.example", "http://phone.example"] {
            assert!(is_own(own), "{own}");
        }
        for other in ["null", "", "http://evil.example", "https://127.0.0.1:8000", "http://127.0.0.1:8000/", "file://"]
        {
            assert!(!is_own(other), "{other}");
        }
        assert!(!names.is_own_origin(&HeaderMap::new()));
        let twice = [(header::ORIGIN, "http://127.0.0.1:8000"), (header::ORIGIN, "http://127.0.0.1:8000")];
        assert!(!names.is_own_origin(&headers(&twice)));
    }

    #[test]
    fn a_server_for_all_interfaces_has_the_loopback_names() {
        let names = names("0.0.0.0:80", &[]);
        assert_eq!(names.own, ["0.0.0.0:80", "localhost:80", "127.0.0.1:80"]);
    }

    #[test]
    fn a_token_is_offered_as_one_subprotocol() {
        let offered = |list: &str| offered_token(&headers(&[(header::SEC_WEBSOCKET_PROTOCOL, list)]));
        assert_eq!(offered("trace.v2, trace.token.abc").as_deref(), Some("abc"));
        assert_eq!(offered("trace.token64.YS9iPT0,trace.v2").as_deref(), Some("a/b=="));
        for none in [
            "trace.v2",
            "trace.token.abc",
            "trace.v2, trace.token.",
            "trace.v2, trace.token.a, trace.token.b",
            "trace.v2, trace.token64.!",
        ] {
            assert_eq!(offered(none), None, "{none}");
        }
        assert_eq!(offered_token(&HeaderMap::new()), None);
    }

    #[test]
    fn the_policy_allows_the_own_files_and_the_own_socket() {
        let names = names("127.0.0.1:8000", &["phone.example"]);
        assert_eq!(
            names.policy("127.0.0.1:8000"),
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self' \
             ws://127.0.0.1:8000; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
             require-trusted-types-for 'script'"
        );
        assert!(names.policy("phone.example").contains("ws://phone.example wss://phone.example;"));
    }

    #[test]
    fn a_token_file_is_made_once_and_must_be_private() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("token");
        let made = WebToken::from_file(&path).expect("made");
        assert_eq!(made.as_str().len(), 2 * TOKEN_BYTES);
        assert_eq!(std::fs::metadata(&path).expect("there").permissions().mode() & 0o777, 0o600);
        assert_eq!(WebToken::from_file(&path).expect("read"), made);
        assert_eq!(format!("{made:?}"), "WebToken(..)");
        let set = |mode| std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).expect("set");
        set(0o644);
        assert!(matches!(
            WebToken::from_file(&path),
            Err(WebTokenError::File(SecretFileError::Shared { mode: 0o644, .. }))
        ));
        set(0o600);
        for wrong in ["", "0123", &"g".repeat(MIN_WEB_TOKEN_CHARS)] {
            std::fs::write(&path, wrong).expect("written");
            assert!(matches!(WebToken::from_file(&path), Err(WebTokenError::Invalid { .. })), "{wrong}");
        }
        let missing = WebToken::from_file(&folder.path().join("no/token"));
        assert!(matches!(missing, Err(WebTokenError::NotMade { .. })));
    }
}
