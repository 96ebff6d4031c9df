//! An MCP server over HTTP that is its own authorization server. It keeps the rules strictly, so that a client that breaks one is
//! refused: a code is valid once and only with its verifier, a refresh token is valid once, and one that is used again ends
//! everything that was granted.

#![allow(dead_code, reason = "not every set of tests uses all of it")]

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

/// What is different about a double.
#[derive(Debug, Clone)]
pub(crate) struct Rules {
    /// How long an access token is valid.
    pub(crate) life: Duration,
    /// Whether clients can be registered.
    pub(crate) registers: bool,
    /// The redirect address that a registration answers with, instead of the one that was asked for.
    pub(crate) registered_redirect: Option<String>,
    /// The state with which the browser returns, instead of the right one.
    pub(crate) state: Option<String>,
    /// The issuer with which the browser returns.
    pub(crate) returned_issuer: Option<String>,
    /// The issuer in the metadata, instead of the right one.
    pub(crate) issuer: Option<String>,
    /// The error with which the browser returns.
    pub(crate) denies: Option<&'static str>,
    /// Whether every code was used before.
    pub(crate) codes_are_used: bool,
    /// Whether refresh tokens are refused.
    pub(crate) refuses_refresh: bool,
    /// Where the metadata of the resource is said to be, instead of the right place.
    pub(crate) resource_metadata: Option<String>,
    /// Where the token endpoint redirects to.
    pub(crate) token_redirect: Option<String>,
    /// The methods of PKCE that it names.
    pub(crate) pkce: Value,
    /// How often a device is told to wait; `None` for no device grant.
    pub(crate) device_waits: Option<usize>,
    /// The address of the authorization server that the metadata names, instead of this one.
    pub(crate) authorization_server: Option<String>,
    /// The scopes that a login has to ask for.
    pub(crate) scope: &'static str,
    /// The challenge with which calls of tools are refused, which need more scopes.
    pub(crate) refuses_calls: Option<&'static str>,
    /// Whether the address of a document can be the id of a client.
    pub(crate) reads_client_documents: bool,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            life: Duration::from_secs(3600),
            registers: true,
            registered_redirect: None,
            state: None,
            returned_issuer: None,
            issuer: None,
            denies: None,
            codes_are_used: false,
            refuses_refresh: false,
            resource_metadata: None,
            token_redirect: None,
            pkce: json!(["plain", "S256"]),
            device_waits: None,
            authorization_server: None,
            scope: "read write",
            refuses_calls: None,
            reads_client_documents: false,
        }
    }
}

/// A running double. It runs until the tests end.
#[derive(Clone)]
pub(crate) struct Double {
    pub(crate) base: String,
    state: Arc<Mutex<State>>,
}

struct State {
    rules: Rules,
    next: u32,
    /// The codes that are valid: challenge, redirect address, resource and scope.
    codes: BTreeMap<String, (String, String, String)>,
    access: BTreeMap<String, Instant>,
    refresh: BTreeSet<String>,
    used_refresh: BTreeSet<String>,
    device_waits: usize,
    /// All requests: method, path, and for tokens the grant.
    seen: Vec<String>,
    /// Every secret that was given out.
    secrets: Vec<String>,
}

impl Double {
    pub(crate) fn start(rules: Rules) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let base = format!("http://{}", listener.local_addr().expect("an address"));
        let state = State {
            rules,
            next: 0,
            codes: BTreeMap::new(),
            access: BTreeMap::new(),
            refresh: BTreeSet::new(),
            used_refresh: BTreeSet::new(),
            device_waits: 0,
            seen: Vec::new(),
            secrets: Vec::new(),
        };
        let double = Self { base, state: Arc::new(Mutex::new(state)) };
        let serving = double.clone();
        std::thread::spawn(move || {
            for connection in listener.incoming().map_while(Result::ok) {
                let double = serving.clone();
                std::thread::spawn(move || double.serve(connection));
            }
        });
        double
    }

    /// Returns the address of the MCP server.
    pub(crate) fn url(&self) -> String {
        format!("{}/mcp", self.base)
    }

    pub(crate) fn change(&self, change: impl FnOnce(&mut Rules)) {
        change(&mut self.lock().rules);
    }

    /// Makes all access tokens end.
    pub(crate) fn forget_access(&self) {
        self.lock().access.clear();
    }

    pub(crate) fn seen(&self) -> Vec<String> {
        self.lock().seen.clone()
    }

    pub(crate) fn count(&self, what: &str) -> usize {
        self.lock().seen.iter().filter(|seen| seen.as_str() == what).count()
    }

    pub(crate) fn secrets(&self) -> Vec<String> {
        self.lock().secrets.clone()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn serve(&self, connection: TcpStream) {
        let mut reader = BufReader::new(connection.try_clone().expect("a socket"));
        let Some(request) = Request::read(&mut reader) else { return };
        let answer = self.answer(&request);
        let mut connection = connection;
        let _ = connection.write_all(answer.as_bytes());
    }

    fn answer(&self, request: &Request) -> String {
        let mut state = self.lock();
        let grant = request.form.get("grant_type").map(|grant| format!(" {grant}")).unwrap_or_default();
        state.seen.push(format!("{} {}{grant}", request.method, request.path));
        let base = &self.base;
        match (request.method.as_str(), request.path.as_str()) {
            ("POST", "/mcp") => state.mcp(base, request),
            ("GET", "/.well-known/oauth-protected-resource/mcp") => {
                let server = state.rules.authorization_server.clone().unwrap_or_else(|| base.clone());
                let servers = [server];
                reply(
                    200,
                    &json!({ "resource": format!("{base}/mcp"), "authorization_servers": servers, "scopes_supported": ["other"] }),
                )
            }
            ("GET", "/.well-known/oauth-authorization-server") => {
                let mut metadata = json!({
                    "issuer": state.rules.issuer.clone().unwrap_or_else(|| base.clone()),
                    "authorization_endpoint": format!("{base}/authorize"),
                    "token_endpoint": format!("{base}/token"),
                    "code_challenge_methods_supported": state.rules.pkce,
                    "authorization_response_iss_parameter_supported": state.rules.returned_issuer.is_some(),
                });
                if state.rules.reads_client_documents {
                    metadata["client_id_metadata_document_supported"] = json!(true);
                }
                if state.rules.registers {
                    metadata["registration_endpoint"] = json!(format!("{base}/register"));
                }
                if state.rules.device_waits.is_some() {
                    metadata["device_authorization_endpoint"] = json!(format!("{base}/device"));
                }
                reply(200, &metadata)
            }
            ("POST", "/register") => {
                let mut client: Value = serde_json::from_str(&request.body).unwrap_or_default();
                if client["token_endpoint_auth_method"] != "none" || client["application_type"] != "native" {
                    return reply(400, &json!({ "error": "invalid_client_metadata" }));
                }
                if let Some(redirect) = &state.rules.registered_redirect {
                    client["redirect_uris"] = json!([redirect]);
                }
                client["client_id"] = json!("registered");
                reply(201, &client)
            }
            ("GET", "/authorize") => state.authorize(base, request),
            ("POST", "/token") => state.token(base, request),
            ("POST", "/device") => {
                let code = state.secret("device");
                reply(
                    200,
                    &json!({
                        "device_code": code, "user_code": "ABCD-EFGH", "verification_uri": format!("{base}/activate"),
                        "verification_uri_complete": format!("{base}/activate?user_code=ABCD-EFGH"),
                        "expires_in": 600, "interval": 0.05,
                    }),
                )
            }
            _ => reply(404, &json!({})),
        }
    }
}

impl State {
    fn secret(&mut self, kind: &str) -> String {
        self.next += 1;
        let secret = format!("{kind}-secret-{:04}-{}", self.next, std::process::id());
        self.secrets.push(secret.clone());
        secret
    }

    fn mcp(&mut self, base: &str, request: &Request) -> String {
        let token = request.headers.get("authorization").and_then(|value| value.strip_prefix("Bearer "));
        let is_valid = token.and_then(|token| self.access.get(token)).is_some_and(|ends| *ends > Instant::now());
        if !is_valid {
            let metadata = format!("{base}/.well-known/oauth-protected-resource/mcp");
            let metadata = self.rules.resource_metadata.clone().unwrap_or(metadata);
            let challenge = format!("Bearer resource_metadata=\"{metadata}\", scope=\"read write\"");
            return http(401, &format!("www-authenticate: {challenge}\r\n"), "");
        }
        let message: Value = serde_json::from_str(&request.body).unwrap_or_default();
        let id = message["id"].clone();
        let result = match message["method"].as_str() {
            _ if id.is_null() => return http(202, "", ""),
            Some("initialize") => json!({
                "protocolVersion": message["params"]["protocolVersion"], "capabilities": { "tools": {} },
                "serverInfo": { "name": "double", "version": "1" },
            }),
            Some("tools/list") => json!({ "tools": [{
                "name": "hello", "inputSchema": { "type": "object" }, "annotations": { "readOnlyHint": true },
            }] }),
            Some("tools/call") if let Some(challenge) = self.rules.refuses_calls => {
                return http(403, &format!("www-authenticate: {challenge}\r\n"), "");
            }
            Some("tools/call") => json!({ "content": [{ "type": "text", "text": "hello" }] }),
            _ => json!({}),
        };
        reply(200, &json!({ "jsonrpc": "2.0", "id": id, "result": result }))
    }

    fn authorize(&mut self, base: &str, request: &Request) -> String {
        let field = |name: &str| request.form.get(name).cloned().unwrap_or_default();
        let is_right = field("response_type") == "code"
            && field("code_challenge_method") == "S256"
            && field("resource") == format!("{base}/mcp")
            && field("scope") == self.rules.scope;
        if !is_right {
            return reply(400, &json!({ "error": "invalid_request" }));
        }
        let code = self.secret("code");
        let redirect = field("redirect_uri");
        self.codes.insert(code.clone(), (field("code_challenge"), redirect.clone(), field("client_id")));
        let state = self.rules.state.clone().unwrap_or_else(|| field("state"));
        let answer = match self.rules.denies {
            Some(error) => format!("error={error}&error_description=no+thanks"),
            None => format!("code={code}"),
        };
        let issuer = self.rules.returned_issuer.as_ref().map(|issuer| format!("&iss={issuer}")).unwrap_or_default();
        http(302, &format!("location: {redirect}?{answer}&state={state}{issuer}\r\n"), "")
    }

    fn token(&mut self, base: &str, request: &Request) -> String {
        if let Some(elsewhere) = &self.rules.token_redirect {
            return http(307, &format!("location: {elsewhere}\r\n"), "");
        }
        let field = |name: &str| request.form.get(name).map(String::as_str).unwrap_or_default();
        let refused = |error: &str, what: &str| {
            // Some authorization servers repeat what was sent.
            reply(400, &json!({ "error": error, "error_description": format!("{what} is not valid") }))
        };
        if field("resource") != format!("{base}/mcp") {
            return refused("invalid_target", "the resource");
        }
        match field("grant_type") {
            "authorization_code" => {
                let code = field("code");
                let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(field("code_verifier").as_bytes()));
                let expected = (challenge, field("redirect_uri").to_owned(), field("client_id").to_owned());
                if self.codes.remove(code) != Some(expected) || self.rules.codes_are_used {
                    return refused("invalid_grant", code);
                }
            }
            "refresh_token" => {
                let token = field("refresh_token").to_owned();
                if self.used_refresh.contains(&token) {
                    // Somebody has stolen it, or two processes have used it.
                    self.refresh.clear();
                    self.access.clear();
                }
                if self.rules.refuses_refresh || !self.refresh.remove(&token) {
                    return refused("invalid_grant", &token);
                }
                self.used_refresh.insert(token);
            }
            "urn:ietf:params:oauth:grant-type:device_code" => {
                if let Some(error) = self.rules.denies {
                    return refused(error, field("device_code"));
                }
                self.device_waits += 1;
                if Some(self.device_waits) <= self.rules.device_waits {
                    return refused("authorization_pending", "nothing");
                }
            }
            _ => return refused("unsupported_grant_type", "it"),
        }
        let (access, refresh) = (self.secret("access"), self.secret("refresh"));
        self.access.insert(access.clone(), Instant::now() + self.rules.life);
        self.refresh.insert(refresh.clone());
        let life = self.rules.life.as_secs_f64();
        reply(
            200,
            &json!({
                "access_token": access, "refresh_token": refresh, "token_type": "Bearer", "expires_in": life,
            }),
        )
    }
}

struct Request {
    method: String,
    path: String,
    headers: BTreeMap<String, String>,
    /// The fields of the query, or of the form.
    form: BTreeMap<String, String>,
    body: String,
}

impl Request {
    fn read(reader: &mut BufReader<TcpStream>) -> Option<Self> {
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|count| *count > 0)?;
        let mut words = line.split_whitespace();
        let (method, target) = (words.next()?.to_owned(), words.next()?.to_owned());
        let mut headers = BTreeMap::new();
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).ok()?;
            let Some((name, value)) = line.trim_end().split_once(": ") else { break };
            headers.insert(name.to_ascii_lowercase(), value.to_owned());
        }
        let length = headers.get("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
        let mut body = vec![0; length];
        reader.read_exact(&mut body).ok()?;
        let body = String::from_utf8(body).ok()?;
        let (path, query) = target.split_once('?').unwrap_or((&target, &body));
        let form = query.split('&').filter_map(|field| field.split_once('='));
        let form = form.map(|(name, value)| (decoded(name), decoded(value))).collect();
        Some(Self { method, path: path.to_owned(), headers, form, body })
    }
}

fn decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        let hex = after.get(..2).and_then(|hex| u8::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok());
        match (first, hex) {
            (b'%', Some(byte)) => {
                bytes.push(byte);
                rest = &after[2..];
                continue;
            }
            (b'+', _) => bytes.push(b' '),
            (other, _) => bytes.push(*other),
        }
        rest = after;
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn reply(status: u16, body: &Value) -> String {
    http(status, "content-type: application/json\r\n", &body.to_string())
}

fn http(status: u16, headers: &str, body: &str) -> String {
    format!("HTTP/1.1 {status} Answer\r\n{headers}content-length: {}\r\nconnection: close\r\n\r\n{body}", body.len())
}

/// Opens an address as a browser does, and follows its redirects. Returns the last status and address.
pub(crate) fn browse(address: &str) -> (u16, String) {
    let mut address = address.to_owned();
    for _ in 0..5 {
        let (status, location) = get(&address);
        match location {
            Some(next) => address = next,
            None => return (status, address),
        }
    }
    panic!("{address} redirects for ever");
}

/// Requests an address. Returns the status, and where it redirects to. The status is 0 if nobody listens.
pub(crate) fn get(address: &str) -> (u16, Option<String>) {
    let rest = address.strip_prefix("http://").expect("an address without encryption");
    let (host, target) = rest.split_once('/').expect("a path");
    let Ok(mut connection) = TcpStream::connect(host) else { return (0, None) };
    let request = format!("GET /{target} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n");
    if connection.write_all(request.as_bytes()).is_err() {
        return (0, None);
    }
    let mut answer = String::new();
    let _ = connection.read_to_string(&mut answer);
    let status = answer.split_whitespace().nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
    let location = answer.lines().find_map(|line| line.strip_prefix("location: "));
    (status, location.map(str::to_owned))
}
