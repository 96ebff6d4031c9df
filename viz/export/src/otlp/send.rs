//! Sends spans to a collector.
//!
//! The exporter of `opentelemetry-otlp` encodes, compresses, retries and waits. It gets an HTTP client on top of `reqwest`
//! that sees the whole response, so it remembers what the errors of the exporter do not contain: the status and the text
//! of a refusal, and how many spans an accepted request rejected. Nothing else runs at the same time, so a runtime on the
//! thread of the caller is enough.
//!
//! The exporter adds headers from the environment variable `OTEL_EXPORTER_OTLP_HEADERS`. The client removes them again:
//! it sends only the headers of the [`Collector`]. `OTEL_EXPORTER_OTLP_COMPRESSION` still decides about compression,
//! because the exporter offers no way to ignore it.

use std::error::Error;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use opentelemetry_otlp::{Protocol, RetryPolicy, SpanExporter, WithExportConfig, WithHttpConfig};
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceResponse;
use opentelemetry_sdk::trace::SpanExporter as _;
use prost::Message;
use reqwest::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, redirect};
use rustls::ClientConfig;
use trace_explain::Session;

use super::batches::{batches, resource};
use super::content::Content;
use crate::text;

/// Timeout of one request.
pub const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);
/// Timeout of a batch with all its requests.
pub const DEADLINE: Duration = Duration::from_secs(30);
/// Most attempts for a request. Only the statuses that the protocol allows to retry are retried: 429, 502, 503, 504.
pub const ATTEMPTS: usize = 4;
/// Most bytes of a response that are read.
pub const MAX_ANSWER_BYTES: usize = 64 << 10;

/// Path of traces below the address of a collector.
const TRACES_PATH: &str = "/v1/traces";

/// Where spans are sent.
#[derive(Debug, Clone)]
pub struct Collector {
    address: String,
    /// `http` or `https`, in lower case.
    scheme: String,
    /// The address for messages, without user and password.
    endpoint: String,
    headers: HeaderMap,
}

/// Why a collector cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CollectorError {
    /// The address is not valid.
    #[error("{endpoint:?} is not the address of a collector: {why}")]
    Endpoint {
        /// The address, without user and password.
        endpoint: String,
        /// What is wrong with the address.
        why: String,
    },
    /// A header has an invalid name or value. The message does not contain the value, since it may be a secret.
    #[error("the header {name:?} has a name or a value that no header can have")]
    Header {
        /// Name of the header.
        name: String,
    },
}

/// Why spans could not be sent.
#[derive(Debug, thiserror::Error)]
pub enum SendError {
    /// The HTTP client could not be created.
    #[error("cannot prepare to send to {endpoint}: {why}")]
    Client {
        /// Address of the collector.
        endpoint: String,
        /// What is missing.
        why: String,
    },
    /// The exporter could not be created.
    #[error("cannot prepare to send to {endpoint}")]
    Exporter {
        /// Address of the collector.
        endpoint: String,
        /// The error of the exporter.
        source: opentelemetry_otlp::ExporterBuildError,
    },
    /// The collector did not answer.
    #[error("no answer from {endpoint} after {spans_sent} spans: {why}")]
    NoAnswer {
        /// Address of the collector.
        endpoint: String,
        /// How many spans were sent before.
        spans_sent: u64,
        /// Why there was no answer.
        why: String,
    },
    /// The collector refused the spans.
    #[error("{endpoint} refused spans with status {status} after {spans_sent} spans: {answer}")]
    Refused {
        /// Address of the collector.
        endpoint: String,
        /// How many spans were sent before.
        spans_sent: u64,
        /// HTTP status.
        status: u16,
        /// The beginning of the response.
        answer: String,
    },
    /// The exporter gave up before it sent anything.
    #[error("cannot send to {endpoint}")]
    NotSent {
        /// Address of the collector.
        endpoint: String,
        /// The error of the exporter.
        source: opentelemetry_sdk::error::OTelSdkError,
    },
}

/// The result of sending spans.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sent {
    /// Number of spans that were sent.
    pub spans: u64,
    /// Number of requests.
    pub requests: u64,
    /// Number of these spans that the collector did not keep although it accepted the request.
    pub rejected: u64,
    /// The message of the collector: why it rejected spans, or a warning.
    pub remark: Option<String>,
}

impl Collector {
    /// Makes a collector from its address and from headers for all requests. `/v1/traces` is appended to the address
    /// unless it ends so. Of several headers with one name the last is used.
    ///
    /// # Errors
    ///
    /// Returns an error if the address is not an HTTP address, or if a header has an invalid name or value.
    pub fn new(endpoint: &str, headers: Vec<(String, String)>) -> Result<Self, CollectorError> {
        let wrong = |why: String| CollectorError::Endpoint { endpoint: without_user(endpoint), why };
        let address: http::Uri = endpoint.parse().map_err(|error: http::uri::InvalidUri| wrong(error.to_string()))?;
        let scheme = address.scheme_str().unwrap_or_default().to_ascii_lowercase();
        if !matches!(&*scheme, "http" | "https") {
            return Err(wrong("it does not begin with http:// or https://".to_owned()));
        }
        if address.host().is_none_or(str::is_empty) {
            return Err(wrong("it names no host".to_owned()));
        }
        let after_host = address.authority().and_then(|authority| authority.as_str().rsplit_once(address.host()?));
        if after_host.is_some_and(|(_, port)| !port.is_empty()) && address.port_u16().is_none() {
            return Err(wrong("its port is none".to_owned()));
        }
        if address.query().is_some() || endpoint.contains('#') {
            return Err(wrong("it has a query or a fragment".to_owned()));
        }
        let mut known = HeaderMap::new();
        for (name, value) in headers {
            match (name.parse::<HeaderName>(), value.parse::<HeaderValue>()) {
                (Ok(name), Ok(mut value)) => {
                    value.set_sensitive(true);
                    known.insert(name, value);
                }
                _ => return Err(CollectorError::Header { name }),
            }
        }
        let trimmed = endpoint.trim_end_matches('/');
        let endpoint = match trimmed.strip_suffix(TRACES_PATH) {
            Some(_) => trimmed.to_owned(),
            None => format!("{trimmed}{TRACES_PATH}"),
        };
        Ok(Self { endpoint: without_user(&endpoint), address: endpoint, scheme, headers: known })
    }

    /// Returns the address that requests go to, without user and password.
    pub fn endpoint(&self) -> &str {
        &self.endpoint
    }

    /// Returns the scheme of the address in lower case. It decides which certificates [`Collector::send`] needs.
    pub fn scheme(&self) -> &str {
        &self.scheme
    }

    /// Sends the spans of a session, and waits until the collector has accepted them. `tls` has the certificates that an
    /// encrypted connection trusts. It must not be called from a task of a Tokio runtime.
    ///
    /// # Errors
    ///
    /// Returns an error if the collector cannot be reached or refuses the spans. Spans that were sent before the error
    /// stay with the collector. Sending them again is harmless, since they have the same ids.
    pub fn send(&self, session: &Session, content: Content, tls: ClientConfig) -> Result<Sent, SendError> {
        let not_ready = |why| SendError::Client { endpoint: self.endpoint.clone(), why };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| not_ready(error.to_string()))?;
        let wire = Wire::new(self.headers.clone(), tls).map_err(|error| not_ready(reason(&error)))?;
        let mut exporter = SpanExporter::builder()
            .with_http()
            .with_http_client(wire.clone())
            .with_protocol(Protocol::HttpBinary)
            .with_endpoint(self.address.clone())
            .with_timeout(DEADLINE)
            .with_retry_policy(RetryPolicy::recommended().with_max_retries(ATTEMPTS - 1))
            .build()
            .map_err(|source| SendError::Exporter { endpoint: self.endpoint.clone(), source })?;
        exporter.set_resource(&resource());
        let mut sent = Sent::default();
        for batch in batches(session, content) {
            let spans = batch.len() as u64;
            let result = runtime.block_on(exporter.export(batch));
            let heard = std::mem::take(&mut *wire.heard());
            if let Err(source) = result {
                return Err(self.failed(sent.spans, heard.failure, source));
            }
            sent.spans += spans;
            sent.requests += 1;
            sent.rejected = sent.rejected.saturating_add(heard.rejected);
            if sent.remark.is_none() {
                sent.remark = heard.remark;
            }
        }
        Ok(sent)
    }

    fn failed(
        &self,
        spans_sent: u64,
        failure: Option<WireFailure>,
        source: opentelemetry_sdk::error::OTelSdkError,
    ) -> SendError {
        let endpoint = self.endpoint.clone();
        match failure {
            Some(WireFailure::NoAnswer(why)) => SendError::NoAnswer { endpoint, spans_sent, why },
            Some(WireFailure::Refused(status, answer)) => SendError::Refused { endpoint, spans_sent, status, answer },
            None => SendError::NotSent { endpoint, source },
        }
    }
}

/// Returns an address without its user and password.
fn without_user(address: &str) -> String {
    let Some((scheme, rest)) = address.split_once("://") else { return address.to_owned() };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let host = rest[..end].rsplit_once('@').map_or(&rest[..end], |(_, host)| host);
    format!("{scheme}://{host}{}", &rest[end..])
}

/// What the client has learned since the last time this was read.
#[derive(Debug, Default)]
struct Heard {
    failure: Option<WireFailure>,
    rejected: u64,
    remark: Option<String>,
}

#[derive(Debug)]
enum WireFailure {
    NoAnswer(String),
    Refused(u16, String),
}

/// The HTTP client of the exporter.
#[derive(Clone)]
struct Wire {
    client: Client,
    headers: HeaderMap,
    heard: Arc<Mutex<Heard>>,
}

impl fmt::Debug for Wire {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Wire").field("heard", &self.heard).finish_non_exhaustive()
    }
}

impl Wire {
    fn new(headers: HeaderMap, tls: ClientConfig) -> reqwest::Result<Self> {
        let client = Client::builder()
            // Headers may contain a key, which no other server may see.
            .redirect(redirect::Policy::none())
            // Libraries of this project do not read the environment.
            .no_proxy()
            .user_agent(concat!(env!("CARGO_PKG_NAME"), "/", env!("CARGO_PKG_VERSION")))
            .tls_backend_preconfigured(tls)
            .timeout(REQUEST_TIMEOUT)
            .build()?;
        Ok(Self { client, headers, heard: Arc::default() })
    }

    fn heard(&self) -> MutexGuard<'_, Heard> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn exchange(&self, request: Request<Bytes>) -> reqwest::Result<Response<Bytes>> {
        let (mut parts, body) = request.into_parts();
        // Keep the exporter's own headers and those of the collector, and drop those from the environment.
        let mut headers = HeaderMap::new();
        for name in [CONTENT_TYPE, CONTENT_ENCODING] {
            headers.extend(parts.headers.remove(&name).map(|value| (name, value)));
        }
        headers.extend(self.headers.clone());
        // The builder moves a user and a password of the address into a header.
        let request = self.client.request(parts.method, parts.uri.to_string()).headers(headers).body(body);
        let mut answer = request.send().await?;
        let mut shown = Response::new(Bytes::new());
        *shown.status_mut() = answer.status();
        *shown.headers_mut() = answer.headers().clone();
        // The beginning is enough: the response of a collector is not longer than this limit.
        let mut bytes = Vec::new();
        while let Some(piece) = answer.chunk().await? {
            bytes.extend_from_slice(&piece[..piece.len().min(MAX_ANSWER_BYTES - bytes.len())]);
            if bytes.len() == MAX_ANSWER_BYTES {
                break;
            }
        }
        *shown.body_mut() = Bytes::from(bytes);
        Ok(shown)
    }
}

/// Returns the innermost cause of an error, which says what happened and does not repeat the address.
fn reason(error: &reqwest::Error) -> String {
    if error.is_timeout() {
        return format!("no answer within {} s", REQUEST_TIMEOUT.as_secs());
    }
    let mut cause: &dyn Error = error;
    while let Some(next) = cause.source() {
        cause = next;
    }
    cause.to_string()
}

#[async_trait]
impl HttpClient for Wire {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let result = self.exchange(request).await;
        let mut heard = self.heard();
        match &result {
            Err(error) => heard.failure = Some(WireFailure::NoAnswer(reason(error))),
            Ok(answer) if !answer.status().is_success() => {
                let said = text::value(&String::from_utf8_lossy(answer.body()));
                let said = if said.trim().is_empty() { "no reason given".to_owned() } else { said };
                heard.failure = Some(WireFailure::Refused(answer.status().as_u16(), said));
            }
            Ok(answer) => {
                heard.failure = None;
                let kind = answer.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
                if kind.starts_with("text/html") {
                    heard.remark = Some("it answered with a web page, which no collector does".to_owned());
                }
                let partial = ExportTraceServiceResponse::decode(&answer.body()[..]).ok();
                if let Some(partial) = partial.and_then(|answer| answer.partial_success) {
                    heard.rejected = u64::try_from(partial.rejected_spans).unwrap_or(0);
                    heard.remark =
                        Some(partial.error_message).filter(|said| !said.is_empty()).map(|said| text::value(&said));
                }
            }
        }
        drop(heard);
        result.map_err(HttpError::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn endpoint(endpoint: &str) -> Result<String, String> {
        Collector::new(endpoint, Vec::new())
            .map(|collector| collector.endpoint().to_owned())
            .map_err(|error| error.to_string())
    }

    #[test]
    fn the_path_of_traces_is_added_where_it_is_missing() {
        for given in ["http://localhost:4318", "http://localhost:4318/", "http://localhost:4318/v1/traces"] {
            assert_eq!(endpoint(given).as_deref(), Ok("http://localhost:4318/v1/traces"));
        }
        assert_eq!(endpoint("https://host/otlp").as_deref(), Ok("https://host/otlp/v1/traces"));
    }

    #[test]
    fn what_is_no_address_is_refused() {
        let no_ports = ["http://host:99999", "http://[::1]:x"];
        let no_paths = ["http://host/?key=1", "http://host#here"];
        for given in
            ["localhost:4318", "ftp://host", "", "http://", "/v1/traces"].into_iter().chain(no_ports).chain(no_paths)
        {
            let message = endpoint(given).expect_err(given);
            assert!(message.starts_with(&format!("{given:?} is not the address of a collector: ")), "{message}");
        }
    }

    #[test]
    fn the_scheme_is_known_in_any_case() {
        for (address, scheme) in [("http://host", "http"), ("https://host", "https"), ("HTTPS://host", "https")] {
            assert_eq!(Collector::new(address, Vec::new()).expect("an address").scheme(), scheme);
        }
    }

    #[test]
    fn passwords_in_addresses_are_not_told() {
        assert_eq!(endpoint("http://me:secret@host:1/p").as_deref(), Ok("http://host:1/p/v1/traces"));
        assert_eq!(endpoint("http://[::1]:4318").as_deref(), Ok("http://[::1]:4318/v1/traces"));
        let refused = endpoint("http://me:secret@host/?x").expect_err("refused");
        assert!(!refused.contains("secret"), "{refused}");
    }

    #[test]
    fn a_header_that_cannot_be_sent_is_refused_without_its_value() {
        for (name, value) in [("a b", "x"), ("authorization", "secret\nX: y"), ("", "x")] {
            let error = Collector::new("http://host", vec![(name.to_owned(), value.to_owned())]).expect_err("refused");
            assert_eq!(error, CollectorError::Header { name: name.to_owned() });
            assert!(!error.to_string().contains("secret"));
        }
    }
}
