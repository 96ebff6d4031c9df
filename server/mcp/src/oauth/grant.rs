//! Requests to token endpoints.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use reqwest::Url;
use serde::Deserialize;
use serde_json::Value;

use super::error::{OAuthError, code};
use super::fetch;
use super::reach::shown;
use super::store::{ClientIdentity, Credentials};

/// The answer of a token endpoint.
#[derive(Deserialize)]
pub(super) struct Granted {
    access_token: String,
    token_type: Option<String>,
    refresh_token: Option<String>,
    expires_in: Option<f64>,
    scope: Option<String>,
}

/// Returns the time in milliseconds since 1970.
pub(super) fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

impl Granted {
    /// Puts new tokens into stored ones. A token that is not given anew stays.
    pub(super) fn take_over(self, credentials: &mut Credentials) {
        let now = now_ms();
        credentials.access_token = self.access_token;
        credentials.refresh_token = self.refresh_token.or(credentials.refresh_token.take());
        // A clock that is set back must not make the new tokens older than the ones before.
        credentials.obtained_at_ms = now.max(credentials.obtained_at_ms.saturating_add(1));
        let life = seconds(self.expires_in).and_then(|life| i64::try_from(life.as_millis()).ok());
        credentials.expires_at_ms = life.map(|life| now.saturating_add(life));
        if let Some(scope) = self.scope {
            credentials.scopes = scope.split_whitespace().map(str::to_owned).collect();
        }
    }
}

/// Requests tokens. `secrets` are what must not be shown if the answer repeats it.
pub(super) async fn grant(
    endpoint: &Url,
    client: &ClientIdentity,
    fields: Vec<(&str, &str)>,
    secrets: &[&str],
) -> Result<Granted, OAuthError> {
    let answer = as_client(endpoint, client, fields).await?;
    let mut secrets = secrets.to_vec();
    secrets.extend(client.secret.as_deref());
    if !answer.status.is_success() {
        return Err(answer.error(endpoint, &secrets));
    }
    // GitHub answers errors with 200.
    if let Ok(told) = serde_json::from_slice::<Value>(&answer.body)
        && told.get("access_token").is_none()
        && told.get("error").is_some()
    {
        return Err(answer.error(endpoint, &secrets));
    }
    let granted: Granted = answer.json(endpoint)?;
    let is_bearer = granted.token_type.as_deref().is_none_or(|kind| kind.eq_ignore_ascii_case("bearer"));
    if granted.access_token.is_empty() || !is_bearer {
        let kind = granted.token_type.as_deref().map(code).unwrap_or_default();
        return Err(OAuthError::Refused {
            what: format!("the answer of {}", shown(endpoint)),
            why: format!("it is not a bearer token, but one of the type `{kind}`"),
        });
    }
    Ok(granted)
}

/// Sends a form as a registered client.
pub(super) async fn as_client<'a>(
    endpoint: &Url,
    client: &'a ClientIdentity,
    mut fields: Vec<(&'a str, &'a str)>,
) -> Result<fetch::Answer, OAuthError> {
    let mut authorization = None;
    match &client.secret {
        Some(secret) if client.uses_header => {
            let encode = |text: &str| fetch::encoded(&[("", text)]).trim_start_matches('=').to_owned();
            authorization =
                Some(format!("Basic {}", STANDARD.encode(format!("{}:{}", encode(&client.id), encode(secret)))));
        }
        Some(secret) => fields.extend([("client_id", client.id.as_str()), ("client_secret", secret.as_str())]),
        None => fields.push(("client_id", client.id.as_str())),
    }
    fetch::post_form(endpoint, &fields, authorization.as_deref()).await
}

/// Converts a number of seconds; `None` if it is not positive.
fn seconds(number: Option<f64>) -> Option<Duration> {
    number.filter(|number| *number > 0.0).and_then(|number| Duration::try_from_secs_f64(number).ok())
}
