//! Finds the authorization server of an MCP server: by its challenge, its own metadata, and the metadata of the authorization
//! server.

use reqwest::{StatusCode, Url};
use serde::Deserialize;
use serde_json::json;

use super::challenge::{self, Challenge};
use super::error::OAuthError;
use super::fetch;
use super::reach::{Reach, shown};

/// The method of PKCE that is used. A server that does not name it gets no login.
pub(super) const PKCE_METHOD: &str = "S256";

/// What is known of the authorization server of an MCP server. All addresses were checked.
#[derive(Debug, Clone)]
pub(super) struct Discovered {
    pub(super) issuer: String,
    pub(super) authorization_endpoint: Url,
    pub(super) token_endpoint: Url,
    pub(super) registration_endpoint: Option<Url>,
    pub(super) device_authorization_endpoint: Option<Url>,
    /// Whether the address of a document that describes a client can be its id.
    pub(super) reads_client_documents: bool,
    /// Whether the answer to an authorization names the issuer.
    pub(super) names_issuer: bool,
    /// The value of the parameter `resource`.
    pub(super) resource: String,
    /// The scopes that the server asks for: those of its challenge, or else those of its metadata.
    pub(super) scopes: Option<String>,
}

/// Metadata of a protected resource, RFC 9728.
#[derive(Debug, Deserialize)]
struct ResourceMetadata {
    resource: Option<String>,
    #[serde(default)]
    authorization_servers: Vec<String>,
    scopes_supported: Option<Vec<String>>,
}

/// Metadata of an authorization server, RFC 8414, or of an OpenID provider.
#[derive(Debug, Deserialize)]
struct ServerMetadata {
    issuer: String,
    authorization_endpoint: Option<String>,
    token_endpoint: Option<String>,
    registration_endpoint: Option<String>,
    device_authorization_endpoint: Option<String>,
    code_challenge_methods_supported: Option<Vec<String>>,
    #[serde(default)]
    authorization_response_iss_parameter_supported: bool,
    #[serde(default)]
    client_id_metadata_document_supported: bool,
}

/// Finds the authorization server of an MCP server.
pub(super) async fn discover(server: &Url, reach: &Reach) -> Result<Discovered, OAuthError> {
    let challenge = challenged(server).await?;
    let resource_metadata = resource_metadata(server, reach, &challenge).await?;
    let (issuer, resource, listed) = match resource_metadata {
        Some((from, metadata)) => {
            let issuer = metadata.authorization_servers.first().cloned();
            let issuer = issuer.ok_or_else(|| metadata_error(format!("{from} names no authorization server")))?;
            (issuer, resource(server, metadata.resource, &from)?, metadata.scopes_supported)
        }
        // Servers of the first version of the specification are their own authorization servers.
        None => (server.origin().ascii_serialization(), canonical(server), None),
    };
    let metadata = server_metadata(&issuer, reach).await?;
    let endpoint = |what: &str, address: Option<String>| {
        let Some(address) = address else { return Ok(None) };
        let url = Url::parse(&address)
            .map_err(|error| metadata_error(format!("the {what} of {issuer} is not an address ({error})")))?;
        reach.check(&format!("the {what} of {issuer}"), &url)?;
        Ok(Some(url))
    };
    let required = |what: &str, found: Option<Url>| {
        found.ok_or_else(|| metadata_error(format!("the metadata of {issuer} has no `{what}`")))
    };
    let methods = metadata.code_challenge_methods_supported.unwrap_or_default();
    if !methods.iter().any(|method| method == PKCE_METHOD) {
        return Err(OAuthError::Refused {
            what: format!("the authorization server {issuer}"),
            why: format!(
                "it does not say that it supports PKCE with {PKCE_METHOD} (`code_challenge_methods_supported`)"
            ),
        });
    }
    Ok(Discovered {
        authorization_endpoint: required(
            "authorization_endpoint",
            endpoint("authorization_endpoint", metadata.authorization_endpoint)?,
        )?,
        token_endpoint: required("token_endpoint", endpoint("token_endpoint", metadata.token_endpoint)?)?,
        registration_endpoint: endpoint("registration_endpoint", metadata.registration_endpoint)?,
        device_authorization_endpoint: endpoint(
            "device_authorization_endpoint",
            metadata.device_authorization_endpoint,
        )?,
        reads_client_documents: metadata.client_id_metadata_document_supported,
        names_issuer: metadata.authorization_response_iss_parameter_supported,
        resource,
        scopes: challenge.scope.or_else(|| listed.map(|scopes| scopes.join(" "))).filter(|scopes| !scopes.is_empty()),
        issuer,
    })
}

/// Asks the server without a token, and reads its challenge.
async fn challenged(server: &Url) -> Result<Challenge, OAuthError> {
    // A ping does nothing if the server answers it.
    let ping = json!({ "jsonrpc": "2.0", "id": 0, "method": "ping" });
    let request = fetch::client(server)?
        .post(server.clone())
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
        .body(ping.to_string());
    let response = request.send().await.map_err(|error| OAuthError::Network {
        endpoint: shown(server),
        why: crate::failure::shown(&error.without_url()),
    })?;
    if response.status() != StatusCode::UNAUTHORIZED && response.status() != StatusCode::FORBIDDEN {
        return Ok(Challenge::default());
    }
    let headers = response.headers().get_all("www-authenticate");
    let headers: Vec<&str> = headers.iter().filter_map(|value| value.to_str().ok()).collect();
    Ok(challenge::read(&headers))
}

/// Requests the metadata of the resource: where the challenge says, or else at the well-known places.
async fn resource_metadata(
    server: &Url,
    reach: &Reach,
    challenge: &Challenge,
) -> Result<Option<(String, ResourceMetadata)>, OAuthError> {
    let places = match &challenge.resource_metadata {
        Some(address) => {
            let url = Url::parse(address)
                .map_err(|error| metadata_error(format!("`resource_metadata` is not an address ({error})")))?;
            reach.check_origin("the metadata that the challenge names", &url)?;
            vec![url]
        }
        None => well_known(server, "oauth-protected-resource"),
    };
    for url in places {
        if let Some(answer) = fetch::document(&url).await? {
            return Ok(Some((shown(&url), answer.json(&url)?)));
        }
        if challenge.resource_metadata.is_some() {
            return Err(metadata_error(format!("there is nothing at {}, which the server names", shown(&url))));
        }
    }
    Ok(None)
}

/// Requests the metadata of an authorization server and compares its issuer.
async fn server_metadata(issuer: &str, reach: &Reach) -> Result<ServerMetadata, OAuthError> {
    let url = Url::parse(issuer).map_err(|error| metadata_error(format!("`{issuer}` is not an address ({error})")))?;
    reach.check("the authorization server", &url)?;
    let mut places = well_known(&url, "oauth-authorization-server");
    // Without a path, both well-known places of OpenID are the same.
    places.truncate(1);
    places.extend(well_known(&url, "openid-configuration").into_iter().take(1));
    if !is_root(&url) {
        let mut appended = url.clone();
        appended.set_query(None);
        appended.set_path(&format!("{}/.well-known/openid-configuration", url.path().trim_end_matches('/')));
        places.push(appended);
    }
    for place in &places {
        let Some(answer) = fetch::document(place).await? else { continue };
        let metadata: ServerMetadata = answer.json(place)?;
        // Otherwise one authorization server could speak for another one, and get its codes.
        if metadata.issuer.trim_end_matches('/') != issuer.trim_end_matches('/') {
            return Err(OAuthError::Refused {
                what: format!("the metadata at {}", shown(place)),
                why: format!("its issuer is {}, not {issuer}", super::error::description(&metadata.issuer, &[])),
            });
        }
        return Ok(metadata);
    }
    let tried: Vec<String> = places.iter().map(shown).collect();
    Err(metadata_error(format!("there is no metadata at {}", tried.join(", "))))
}

/// Returns the well-known places of a document: with the path of the address, and at its root.
fn well_known(url: &Url, name: &str) -> Vec<Url> {
    let mut places = Vec::new();
    let path = url.path().trim_end_matches('/');
    let with_path = (!is_root(url)).then(|| format!("/.well-known/{name}{path}"));
    for path in with_path.into_iter().chain([format!("/.well-known/{name}")]) {
        let mut place = url.clone();
        place.set_query(None);
        place.set_fragment(None);
        place.set_path(&path);
        places.push(place);
    }
    places
}

fn is_root(url: &Url) -> bool {
    url.path().trim_end_matches('/').is_empty()
}

/// Returns the value of the parameter `resource`: what the metadata says, if it covers the server.
fn resource(server: &Url, named: Option<String>, from: &str) -> Result<String, OAuthError> {
    let Some(named) = named else { return Ok(canonical(server)) };
    let covers = Url::parse(&named).is_ok_and(|url| {
        let above = url.path().trim_end_matches('/');
        let below = server.path().trim_end_matches('/').strip_prefix(above);
        url.origin() == server.origin() && below.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    });
    if covers {
        return Ok(named);
    }
    Err(OAuthError::Refused {
        what: format!("the metadata at {from}"),
        why: format!(
            "its resource is {}, which does not cover {}",
            super::error::description(&named, &[]),
            shown(server)
        ),
    })
}

/// Returns the address of a server as the parameter `resource` has it.
fn canonical(server: &Url) -> String {
    let mut url = server.clone();
    url.set_query(None);
    url.set_fragment(None);
    let text = url.to_string();
    if is_root(&url) { text.trim_end_matches('/').to_owned() } else { text }
}

fn metadata_error(why: String) -> OAuthError {
    OAuthError::Metadata { why }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).expect("an address")
    }

    #[test]
    fn documents_are_looked_for_with_the_path_first() {
        let places = |text: &str| well_known(&url(text), "x").iter().map(Url::to_string).collect::<Vec<_>>();
        assert_eq!(places("https://a/mcp/?q#f"), ["https://a/.well-known/x/mcp", "https://a/.well-known/x"]);
        assert_eq!(places("https://a"), ["https://a/.well-known/x"]);
    }

    #[test]
    fn a_resource_must_cover_the_server() {
        let server = url("https://a/mcp/v1");
        let named = |text: &str| resource(&server, Some(text.to_owned()), "m").ok();
        for good in ["https://a/mcp/v1", "https://a/mcp/", "https://a", "https://a/"] {
            assert_eq!(named(good).as_deref(), Some(good));
        }
        for bad in ["https://b/mcp/v1", "https://a/mcp/v", "https://a/mcp/v1/x", "http://a/mcp/v1", "mcp"] {
            assert_eq!(named(bad), None, "{bad}");
        }
        assert_eq!(resource(&url("https://a/?q"), None, "m").as_deref(), Ok("https://a"));
    }
}
