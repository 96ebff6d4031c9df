//! Logins: by a browser that returns to this machine with a code, or by a code that the user types on another device.

use std::time::Duration;

use reqwest::Url;
use serde::Deserialize;
use serde_json::json;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep, timeout_at};

use super::callback::{self, Callback, CallbackAddress, Returned};
use super::error::OAuthError;
use super::fetch;
use super::grant::{Granted, as_client, grant};
use super::metadata::{self, Discovered, PKCE_METHOD};
use super::random;
use super::reach::{Reach, shown};
use super::store::{ClientIdentity, Credentials, Key, LOCK_TIMEOUT, Store};
use crate::config::ServerConfig;

/// The name under which this program is registered.
const CLIENT_NAME: &str = "trace";

/// The grant of a device, RFC 8628.
const DEVICE_GRANT: &str = "urn:ietf:params:oauth:grant-type:device_code";

/// Time between two polls of a device grant if the authorization server names none.
const DEVICE_INTERVAL: Duration = Duration::from_secs(5);

/// Shortest and longest time between two such questions at first, whatever the authorization server says.
const DEVICE_INTERVAL_BOUNDS: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(60)];

/// Shortest and longest life of the code that a user types, whatever the authorization server says.
const DEVICE_CODE_LIFE_BOUNDS: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(3600)];

/// Most characters of the code that a user types.
const MAX_USER_CODE_CHARS: usize = 64;

/// Most characters of a pasted address.
const MAX_PASTED_CHARS: usize = 16 * 1024;

/// How this program becomes known to an authorization server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Registration {
    /// By the configured client id, or else by dynamic registration.
    #[default]
    Auto,
    /// By dynamic registration, even if a client id is configured.
    Dynamic,
    /// By a document that describes this program, and whose address is the configured client id (client id metadata document).
    Document,
}

/// How a user logs in.
#[derive(Debug, Clone, Default)]
pub struct LoginOptions {
    /// The scopes; `None` for those that the configuration or the server names.
    pub scopes: Option<Vec<String>>,
    /// How this program becomes known.
    pub registration: Registration,
    /// Where the browser returns to.
    pub callback: CallbackAddress,
    /// Whether the user types a code on another device instead.
    pub device: bool,
}

/// What a user types on another device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceCode {
    /// The code.
    pub user_code: String,
    /// The address at which the code is typed.
    pub verification_url: Url,
}

/// A login that waits for the user. Dropping it ends the login.
#[derive(Debug)]
pub struct PendingLogin {
    store: Store,
    key: Key,
    client: ClientIdentity,
    discovered: Discovered,
    scopes: Option<String>,
    authorization_url: Url,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Browser { callback: Callback, state: String, verifier: Secret },
    Device { code: DeviceCode, device_code: Secret, interval: Duration, ends: Instant },
}

/// A text that `Debug` does not show.
struct Secret(String);

impl std::fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Secret")
    }
}

/// The answer of a registration endpoint, RFC 7591.
#[derive(Deserialize)]
struct Registered {
    client_id: String,
    client_secret: Option<String>,
    token_endpoint_auth_method: Option<String>,
    redirect_uris: Option<Vec<String>>,
}

/// The answer of a device authorization endpoint.
#[derive(Deserialize)]
struct DeviceAnswer {
    device_code: String,
    user_code: String,
    #[serde(alias = "verification_url")]
    verification_uri: String,
    verification_uri_complete: Option<String>,
    expires_in: f64,
    interval: Option<f64>,
}

/// Finds the authorization server, registers this program, and prepares what the user has to do.
pub(super) async fn begin(
    store: Store,
    key: Key,
    server: &ServerConfig,
    url: &Url,
    options: LoginOptions,
) -> Result<PendingLogin, OAuthError> {
    let reach = Reach::of(url)?;
    // The port is taken first, so that a configuration that is wrong is told before anybody is asked.
    let callback = if options.device { None } else { Some(Callback::bind(&options.callback).await?) };
    let discovered = metadata::discover(url, &reach).await?;
    let configured = match options.registration {
        Registration::Auto => server.oauth.client_id.as_ref(),
        Registration::Dynamic => None,
        Registration::Document => Some(document(server, &discovered)?),
    };
    let scopes = options.scopes.or_else(|| server.oauth.scopes.clone()).map(|scopes| scopes.join(" "));
    let scopes = scopes.or_else(|| discovered.scopes.clone()).filter(|scopes| !scopes.is_empty());
    let Some(callback) = callback else {
        return begin_device(store, key, &reach, discovered, configured, scopes).await;
    };
    let client = match configured {
        Some(id) => ClientIdentity { id: id.clone(), secret: None, uses_header: false },
        None => register(&discovered, Some(callback.url()), scopes.as_deref()).await?,
    };
    let (state, verifier) = (random::secret()?, random::secret()?);
    let mut authorization_url = discovered.authorization_endpoint.clone();
    authorization_url
        .query_pairs_mut()
        .append_pair("response_type", "code")
        .append_pair("client_id", &client.id)
        .append_pair("redirect_uri", callback.url().as_str())
        .append_pair("state", &state)
        .append_pair("code_challenge", &random::challenge(&verifier))
        .append_pair("code_challenge_method", PKCE_METHOD)
        .append_pair("resource", &discovered.resource)
        .extend_pairs(scopes.iter().map(|scopes| ("scope", scopes)));
    let kind = Kind::Browser { callback, state, verifier: Secret(verifier) };
    Ok(PendingLogin { store, key, client, discovered, scopes, authorization_url, kind })
}

/// Returns the address of the document that describes this program. The user publishes it: it has to name the redirect address, and
/// this program has no address of its own.
fn document<'a>(server: &'a ServerConfig, discovered: &Discovered) -> Result<&'a String, OAuthError> {
    let failed = |why: &str| OAuthError::Registration { issuer: discovered.issuer.clone(), why: why.to_owned() };
    let is_address = |id: &&String| {
        Url::parse(id).is_ok_and(|url| url.scheme() == "https" && url.path() != "/" && url.fragment().is_none())
    };
    let id = server.oauth.client_id.as_ref().filter(is_address);
    let id =
        id.ok_or_else(|| failed("`oauth.client_id` is not the https:// address of a client id metadata document"))?;
    if !discovered.reads_client_documents {
        return Err(failed("it does not read client id metadata documents (`client_id_metadata_document_supported`)"));
    }
    Ok(id)
}

async fn begin_device(
    store: Store,
    key: Key,
    reach: &Reach,
    discovered: Discovered,
    configured: Option<&String>,
    scopes: Option<String>,
) -> Result<PendingLogin, OAuthError> {
    let Some(endpoint) = discovered.device_authorization_endpoint.clone() else {
        return Err(OAuthError::NoDeviceGrant { issuer: discovered.issuer });
    };
    let client = match configured {
        Some(id) => ClientIdentity { id: id.clone(), secret: None, uses_header: false },
        None => register(&discovered, None, scopes.as_deref()).await?,
    };
    let mut fields = vec![("resource", discovered.resource.as_str())];
    fields.extend(scopes.iter().map(|scopes| ("scope", scopes.as_str())));
    let answer = as_client(&endpoint, &client, fields).await?;
    if !answer.status.is_success() {
        return Err(answer.error(&endpoint, &[]));
    }
    let told: DeviceAnswer = answer.json(&endpoint)?;
    let page = |address: &str| {
        let url = Url::parse(address).map_err(|error| OAuthError::Metadata {
            why: format!("the page for the code at {} is not an address ({error})", shown(&endpoint)),
        })?;
        reach.check("the page for the code", &url)?;
        Ok(url)
    };
    let verification_url = page(&told.verification_uri)?;
    let authorization_url = match &told.verification_uri_complete {
        Some(address) => page(address)?,
        None => verification_url.clone(),
    };
    let user_code: String =
        told.user_code.chars().filter(|letter| !letter.is_control()).take(MAX_USER_CODE_CHARS).collect();
    let kind = Kind::Device {
        code: DeviceCode { user_code, verification_url },
        device_code: Secret(told.device_code),
        interval: told.interval.map_or(DEVICE_INTERVAL, |interval| within(interval, DEVICE_INTERVAL_BOUNDS)),
        ends: Instant::now() + within(told.expires_in, DEVICE_CODE_LIFE_BOUNDS),
    };
    Ok(PendingLogin { store, key, client, discovered, scopes, authorization_url, kind })
}

/// Converts a number of seconds, which becomes the nearest one within the bounds.
fn within(seconds: f64, [least, most]: [Duration; 2]) -> Duration {
    Duration::from_secs_f64(seconds.clamp(least.as_secs_f64(), most.as_secs_f64()))
}

/// Registers this program at an authorization server.
async fn register(
    discovered: &Discovered,
    redirect: Option<&Url>,
    scopes: Option<&str>,
) -> Result<ClientIdentity, OAuthError> {
    let failed = |why: String| OAuthError::Registration { issuer: discovered.issuer.clone(), why };
    let endpoint = discovered.registration_endpoint.as_ref();
    let endpoint = endpoint.ok_or_else(|| failed("it has no `registration_endpoint`".to_owned()))?;
    let mut body = json!({
        "client_name": CLIENT_NAME,
        "token_endpoint_auth_method": "none",
        "application_type": "native",
    });
    match redirect {
        Some(redirect) => {
            body["redirect_uris"] = json!([redirect.as_str()]);
            body["grant_types"] = json!(["authorization_code", "refresh_token"]);
            body["response_types"] = json!(["code"]);
        }
        None => body["grant_types"] = json!([DEVICE_GRANT, "refresh_token"]),
    }
    if let Some(scopes) = scopes {
        body["scope"] = json!(scopes);
    }
    let answer = fetch::post_json(endpoint, &body).await?;
    if !answer.status.is_success() {
        return Err(failed(answer.error(endpoint, &[]).to_string()));
    }
    let registered: Registered = answer.json(endpoint)?;
    // Otherwise codes would go where this program does not listen.
    if let (Some(redirect), Some(addresses)) = (redirect, &registered.redirect_uris)
        && !addresses.iter().any(|address| address == redirect.as_str())
    {
        return Err(OAuthError::Refused {
            what: format!("the registration at {}", shown(endpoint)),
            why: format!("its redirect address is not {redirect}, on which this program listens"),
        });
    }
    Ok(ClientIdentity {
        uses_header: registered.token_endpoint_auth_method.as_deref() == Some("client_secret_basic"),
        id: registered.client_id,
        secret: registered.client_secret.filter(|secret| !secret.is_empty()),
    })
}

impl PendingLogin {
    /// Returns the address that the user has to visit.
    #[must_use]
    pub fn authorization_url(&self) -> &Url {
        &self.authorization_url
    }

    /// Returns what the user types on another device; `None` for a login with a browser that returns here.
    #[must_use]
    pub fn device_code(&self) -> Option<&DeviceCode> {
        match &self.kind {
            Kind::Device { code, .. } => Some(code),
            Kind::Browser { .. } => None,
        }
    }

    /// Waits until the user has agreed, at most for `limit`, and stores the tokens. `pasted` brings what the user pastes
    /// if the browser cannot return to this machine: the address at which it ended.
    ///
    /// # Errors
    ///
    /// Returns an error if the user did not agree, if the answer is not the one to this login, or if the authorization
    /// server gives no token.
    pub async fn finish(self, limit: Duration, pasted: Option<mpsc::Receiver<String>>) -> Result<(), OAuthError> {
        let deadline = Instant::now() + limit;
        let too_long = OAuthError::TooLong { seconds: limit.as_secs() };
        let granted = timeout_at(deadline, self.granted(pasted)).await.map_err(|_| too_long)??;
        let credentials = self.credentials(granted);
        let (store, key) = (self.store.clone(), self.key.clone());
        let saved = tokio::task::spawn_blocking(move || store.lock(&key, LOCK_TIMEOUT)?.save(&credentials));
        saved.await.map_err(|error| OAuthError::Store { message: error.to_string() })?
    }

    async fn granted(&self, pasted: Option<mpsc::Receiver<String>>) -> Result<Granted, OAuthError> {
        match &self.kind {
            Kind::Browser { callback, state, verifier } => {
                let returned = tokio::select! {
                    returned = callback.returned(state) => returned,
                    returned = pasted_address(pasted, callback.url()) => returned?,
                };
                let code = self.check(&returned, state)?;
                let fields = vec![
                    ("grant_type", "authorization_code"),
                    ("code", code),
                    ("redirect_uri", callback.url().as_str()),
                    ("code_verifier", verifier.0.as_str()),
                    ("resource", self.discovered.resource.as_str()),
                ];
                grant(&self.discovered.token_endpoint, &self.client, fields, &[code, &verifier.0]).await
            }
            Kind::Device { device_code, interval, ends, .. } => self.poll(&device_code.0, *interval, *ends).await,
        }
    }

    /// Returns the code with which the browser returned.
    fn check<'a>(&self, returned: &'a Returned, state: &str) -> Result<&'a str, OAuthError> {
        let failed = |why: String| Err(OAuthError::NotAgreed { why });
        // The state comes first: an answer without it may be anybody's, also one that reports an error.
        if !returned.state.as_deref().is_some_and(|returned| random::is_equal(returned, state)) {
            return failed("the answer has another `state` than this login; nothing was done with it".to_owned());
        }
        match &returned.issuer {
            Some(issuer) if issuer.trim_end_matches('/') != self.discovered.issuer.trim_end_matches('/') => {
                let issuer = super::error::description(issuer, &[]);
                return failed(format!("the answer comes from {issuer}, not from {}", self.discovered.issuer));
            }
            None if self.discovered.names_issuer => {
                return failed(format!("the answer does not name its issuer, as {} promises", self.discovered.issuer));
            }
            _ => {}
        }
        if let Some(error) = &returned.error {
            return failed(format!("{} answered {error}", self.discovered.issuer));
        }
        match &returned.code {
            Some(code) if !code.is_empty() => Ok(code),
            _ => failed("the answer has no code".to_owned()),
        }
    }

    /// Asks until the user has agreed on another device.
    async fn poll(&self, device_code: &str, mut interval: Duration, ends: Instant) -> Result<Granted, OAuthError> {
        let endpoint = &self.discovered.token_endpoint;
        loop {
            if Instant::now() + interval > ends {
                return Err(OAuthError::NotAgreed { why: "the code was not used in time".to_owned() });
            }
            sleep(interval).await;
            let fields = vec![
                ("grant_type", DEVICE_GRANT),
                ("device_code", device_code),
                ("resource", self.discovered.resource.as_str()),
            ];
            match grant(endpoint, &self.client, fields, &[device_code]).await {
                Ok(granted) => return Ok(granted),
                Err(OAuthError::Answer { code: Some(code), answer, .. }) => match code.as_str() {
                    "authorization_pending" => {}
                    "slow_down" => interval += DEVICE_INTERVAL,
                    _ => return Err(OAuthError::NotAgreed { why: format!("{} answered {answer}", shown(endpoint)) }),
                },
                // The network may be back at the next time.
                Err(OAuthError::Network { .. }) => interval = interval.max(DEVICE_INTERVAL),
                Err(other) => return Err(other),
            }
        }
    }

    fn credentials(&self, granted: Granted) -> Credentials {
        let mut credentials = Credentials {
            server: self.key.server.clone(),
            url: self.key.url.clone(),
            issuer: self.discovered.issuer.clone(),
            token_endpoint: self.discovered.token_endpoint.to_string(),
            resource: self.discovered.resource.clone(),
            client: self.client.clone(),
            access_token: String::new(),
            refresh_token: None,
            obtained_at_ms: 0,
            expires_at_ms: None,
            scopes: self.scopes.iter().flat_map(|scopes| scopes.split(' ')).map(str::to_owned).collect(),
        };
        granted.take_over(&mut credentials);
        credentials
    }
}

/// Waits for the address that the user pastes.
async fn pasted_address(pasted: Option<mpsc::Receiver<String>>, redirect: &Url) -> Result<Returned, OAuthError> {
    let wrong = |why: String| OAuthError::NotAgreed { why };
    let Some(mut pasted) = pasted else { return std::future::pending().await };
    let Some(text) = pasted.recv().await else { return std::future::pending().await };
    let text = text.trim();
    if text.chars().count() > MAX_PASTED_CHARS {
        return Err(wrong("the pasted text is too long to be the address of the browser".to_owned()));
    }
    let url =
        Url::parse(text).map_err(|_| wrong(format!("the pasted text is not an address; it begins with {redirect}")))?;
    if (url.origin(), url.path()) != (redirect.origin(), redirect.path()) {
        return Err(wrong(format!("the pasted address does not begin with {redirect}")));
    }
    Ok(callback::parameters(&url))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_an_authorization_server_are_bounded() {
        let [least, most] = DEVICE_INTERVAL_BOUNDS;
        for (seconds, expected) in
            [(0.001, least), (-1.0, least), (2.5, Duration::from_millis(2500)), (1e300, most), (f64::INFINITY, most)]
        {
            assert_eq!(within(seconds, DEVICE_INTERVAL_BOUNDS), expected, "{seconds}");
        }
        assert_eq!(within(1e18, DEVICE_CODE_LIFE_BOUNDS), Duration::from_secs(3600));
    }
}
