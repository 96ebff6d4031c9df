//! HTTP requests to authorization servers: in bounds, and without redirects.

use std::time::Duration;

use http::HeaderValue;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use reqwest::{Client, RequestBuilder, Response, StatusCode, Url, redirect};
use serde::de::DeserializeOwned;
use serde_json::Value;
use trace_runtime::tls::Certificates;

use super::error::{OAuthError, code, description};
use super::reach::shown;
use crate::failure;

/// Time limit of one request to an authorization server.
pub const FETCH_TIMEOUT: Duration = Duration::from_secs(20);

/// Time limit for establishing a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Most bytes of an answer that are read.
pub const MAX_ANSWER_BYTES: usize = 256 * 1024;

/// An answer whose body was read.
pub(super) struct Answer {
    pub(super) status: StatusCode,
    pub(super) body: Vec<u8>,
}

/// Returns a client for an address. It follows no redirects: what is sent is meant for this address only.
pub(super) fn client(url: &Url) -> Result<Client, OAuthError> {
    let network = |why: String| OAuthError::Network { endpoint: shown(url), why };
    let tls = Certificates::for_scheme(url.scheme()).client_config();
    let builder = Client::builder()
        .connect_timeout(CONNECT_TIMEOUT)
        .timeout(FETCH_TIMEOUT)
        .redirect(redirect::Policy::none())
        .user_agent(concat!("trace/", env!("CARGO_PKG_VERSION")))
        .no_proxy()
        .tls_backend_preconfigured(tls.map_err(|error| network(failure::shown(&error)))?);
    builder.build().map_err(|error| network(failure::shown(&error.without_url())))
}

/// Requests a document. `None` if it is not there.
pub(super) async fn document(url: &Url) -> Result<Option<Answer>, OAuthError> {
    let answer = send(url, client(url)?.get(url.clone()).header(ACCEPT, "application/json")).await?;
    Ok(answer.status.is_success().then_some(answer))
}

/// Sends a JSON document.
pub(super) async fn post_json(url: &Url, body: &Value) -> Result<Answer, OAuthError> {
    let request = client(url)?.post(url.clone()).header(CONTENT_TYPE, "application/json");
    send(url, request.header(ACCEPT, "application/json").body(body.to_string())).await
}

/// Sends a form. `authorization` is the value of the header.
pub(super) async fn post_form(
    url: &Url,
    fields: &[(&str, &str)],
    authorization: Option<&str>,
) -> Result<Answer, OAuthError> {
    let mut request = client(url)?
        .post(url.clone())
        .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
        .header(ACCEPT, "application/json")
        .body(encoded(fields));
    if let Some(authorization) = authorization {
        let value = HeaderValue::from_str(authorization);
        let mut value = value.map_err(|_| OAuthError::Network {
            endpoint: shown(url),
            why: "the client secret cannot be sent in a header".to_owned(),
        })?;
        value.set_sensitive(true);
        request = request.header(AUTHORIZATION, value);
    }
    send(url, request).await
}

async fn send(url: &Url, request: RequestBuilder) -> Result<Answer, OAuthError> {
    let network =
        |error: reqwest::Error| OAuthError::Network { endpoint: shown(url), why: failure::shown(&error.without_url()) };
    let response = request.send().await.map_err(network)?;
    let status = response.status();
    if status.is_redirection() {
        return Err(OAuthError::Refused {
            what: shown(url),
            why: format!("it redirects to another address ({status}), and such redirects are not followed"),
        });
    }
    Ok(Answer { status, body: body(url, response).await? })
}

async fn body(url: &Url, mut response: Response) -> Result<Vec<u8>, OAuthError> {
    let mut body = Vec::new();
    loop {
        let chunk = response
            .chunk()
            .await
            .map_err(|error| OAuthError::Network { endpoint: shown(url), why: failure::shown(&error.without_url()) })?;
        let Some(chunk) = chunk else { return Ok(body) };
        if body.len() + chunk.len() > MAX_ANSWER_BYTES {
            return Err(OAuthError::Network {
                endpoint: shown(url),
                why: format!("its answer has more than {MAX_ANSWER_BYTES} bytes"),
            });
        }
        body.extend_from_slice(&chunk);
    }
}

impl Answer {
    /// Parses the body.
    pub(super) fn json<T: DeserializeOwned>(&self, url: &Url) -> Result<T, OAuthError> {
        serde_json::from_slice(&self.body).map_err(|error| OAuthError::Network {
            endpoint: shown(url),
            // The text of the error would contain a part of the answer.
            why: format!("its answer is not the expected JSON (line {}, column {})", error.line(), error.column()),
        })
    }

    /// Returns the error that the answer reports. `secrets` are what was sent.
    pub(super) fn error(&self, url: &Url, secrets: &[&str]) -> OAuthError {
        let told: Value = serde_json::from_slice(&self.body).unwrap_or_default();
        let name = told.get("error").and_then(Value::as_str).map(code).filter(|name| !name.is_empty());
        let more = told.get("error_description").and_then(Value::as_str).map(|text| description(text, secrets));
        let mut answer = self.status.as_u16().to_string();
        for text in name.iter().chain(&more) {
            answer = format!("{answer}: {text}");
        }
        OAuthError::Answer { endpoint: shown(url), answer, code: name, status: self.status.as_u16() }
    }
}

/// Encodes a form.
pub(super) fn encoded(fields: &[(&str, &str)]) -> String {
    let mut url = Url::parse("http://form").expect("an address");
    url.query_pairs_mut().extend_pairs(fields);
    url.query().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_encoded() {
        assert_eq!(encoded(&[("a", "b c"), ("d", "https://e/?f=g&h")]), "a=b+c&d=https%3A%2F%2Fe%2F%3Ff%3Dg%26h");
    }

    #[test]
    fn errors_of_all_forms_are_told() {
        let url = Url::parse("https://a/token?x=secret").expect("an address");
        let told = |body: &str| {
            let answer = Answer { status: StatusCode::BAD_REQUEST, body: body.as_bytes().to_vec() };
            answer.error(&url, &["r-1"]).to_string()
        };
        let full = r#"{"error":"invalid_grant","error_description":"r-1 is\nold"}"#;
        assert_eq!(told(full), "https://a/token answered 400: invalid_grant: [left out] is old");
        assert_eq!(told("<html>r-1</html>"), "https://a/token answered 400");
    }
}
