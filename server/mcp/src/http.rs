//! The HTTP transport.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use http::{HeaderName, HeaderValue};
use reqwest::{Client, Url, redirect};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use tokio_util::sync::CancellationToken;
use trace_runtime::tls::Certificates;

use crate::environment::Variables;
use crate::failure::{StartFailure, shown};
use crate::messenger::Messenger;
use crate::oauth::tokens::Tokens;

/// Time limit for establishing a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Most redirects that are followed. All must stay within the origin of the server, since its headers may contain keys.
const MAX_REDIRECTIONS: usize = 5;

/// How a server is reached over HTTP.
#[derive(Debug)]
pub(crate) struct Address<'a> {
    pub(crate) url: &'a Url,
    pub(crate) bearer_token_env_var: Option<&'a str>,
    pub(crate) headers: &'a BTreeMap<String, String>,
    pub(crate) env_headers: &'a BTreeMap<String, String>,
}

/// Returns the transport to a server. It works until `end` is cancelled. Each request has a bearer token of `tokens`, if a
/// user has logged in.
pub(crate) fn transport(
    address: &Address<'_>,
    variables: &Variables,
    tokens: Option<Tokens>,
    end: CancellationToken,
) -> Result<StreamableHttpClientTransport<Messenger>, StartFailure> {
    let variable = |name: &str| {
        let value = variables.get(name).and_then(|value| value.into_string().ok());
        value.ok_or_else(|| StartFailure::new(format!("the variable {name} is not set")))
    };
    let mut headers = HashMap::new();
    let set = address.headers.iter().map(|(name, value)| Ok((name, value.clone())));
    let from_variables = address.env_headers.iter().map(|(name, from)| Ok((name, variable(from)?)));
    for header in set.chain(from_variables) {
        let (name, value) = header?;
        let header = name.parse::<HeaderName>().ok().zip(HeaderValue::from_str(&value).ok());
        let (header, mut value) =
            header.ok_or_else(|| StartFailure::new(format!("the header `{name}` cannot be sent")))?;
        value.set_sensitive(true);
        headers.insert(header, value);
    }
    let mut config = StreamableHttpClientTransportConfig::with_uri(address.url.as_str()).custom_headers(headers);
    if let Some(name) = address.bearer_token_env_var {
        config = config.auth_header(variable(name)?);
    }
    Ok(StreamableHttpClientTransport::with_client(Messenger::new(client(address.url)?, tokens, end), config))
}

fn client(url: &Url) -> Result<Client, StartFailure> {
    let same_origin = |attempt: redirect::Attempt<'_>| {
        let previous = attempt.previous();
        let is_near = previous.last().is_some_and(|last| last.origin() == attempt.url().origin());
        if is_near && previous.len() <= MAX_REDIRECTIONS { attempt.follow() } else { attempt.stop() }
    };
    let tls = Certificates::for_scheme(url.scheme()).client_config();
    let builder = Client::builder()
        .connect_timeout(CONNECT_TIMEOUT)
        .redirect(redirect::Policy::custom(same_origin))
        .user_agent(concat!("trace/", env!("CARGO_PKG_VERSION")))
        .no_proxy()
        .tls_backend_preconfigured(tls.map_err(|error| StartFailure::new(shown(&error)))?);
    builder.build().map_err(|error| StartFailure::new(shown(&error)))
}
