//! Providers as `config.toml` describes them, and how a description is combined with the environment.
//!
//! There are two steps, so that a configuration can be read and shown without any secret: [`ProviderConfig`] is the written
//! description, [`Endpoint`] is what requests need. The caller passes a function that reads the environment.
//!
//! Unknown keys in the tables are ignored, because other programs may use them.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use reqwest::Url;
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue, USER_AGENT};
use toml::{Table, Value};

use super::RetryPolicy;

/// Table of `config.toml` with the providers.
pub const PROVIDERS_TABLE: &str = "model_providers";
/// Default number of retries if no answer began.
pub const REQUEST_RETRIES: u32 = 4;
/// Default number of retries if an answer was cut off.
pub const STREAM_RETRIES: u32 = 5;
/// Default time without an event after which an answer counts as cut off.
pub const STREAM_IDLE_TIMEOUT: Duration = Duration::from_secs(300);
/// Most retries. A larger number in the configuration means this one.
pub const RETRIES_MAX: u32 = 100;
/// URL of OpenAI.
pub const OPENAI_BASE_URL: &str = "https://api.openai.com/v1";
/// Name of the provider that needs no table.
pub const OPENAI_PROVIDER: &str = "openai";
/// Variable with the URL of the provider `openai`.
pub const OPENAI_BASE_URL_VARIABLE: &str = "OPENAI_BASE_URL";
/// Variable with the key for OpenAI.
pub const OPENAI_KEY_VARIABLE: &str = "OPENAI_API_KEY";
/// URL of Anthropic.
pub const ANTHROPIC_BASE_URL: &str = "https://api.anthropic.com/v1";
/// Variable with the key for Anthropic.
pub const ANTHROPIC_KEY_VARIABLE: &str = "ANTHROPIC_API_KEY";

/// This program in the header `user-agent`.
pub(super) const PRODUCT: &str = concat!("trace/", env!("CARGO_PKG_VERSION"));

/// Hosts that are never reached through a proxy.
const NEVER_BY_PROXY: &str = "localhost,127.0.0.0/8,::1";

/// Returns the value of an environment variable, if it is set.
pub type Environment<'a> = &'a dyn Fn(&str) -> Option<String>;

/// A provider as it is configured.
#[derive(Debug, Clone, PartialEq)]
pub struct ProviderConfig {
    /// Name of its table, by which settings select it.
    pub id: String,
    /// Display name.
    pub name: String,
    /// Base URL; the path of the wire format is appended.
    pub base_url: Url,
    /// Wire format.
    pub wire: Wire,
    /// Most tokens of an answer, if configured.
    pub max_output_tokens: Option<u64>,
    /// How models are told how much to reason.
    pub thinking: Thinking,
    /// Source of the API key.
    pub key: KeySource,
    /// Header with the account of a token, if configured.
    pub account_header: Option<String>,
    /// Header with the attestation of a client, if configured.
    pub attestation_header: Option<String>,
    /// Headers of every request.
    pub http_headers: BTreeMap<String, String>,
    /// Headers of every request whose values come from environment variables; maps a header to its variable.
    pub env_http_headers: BTreeMap<String, String>,
    /// Query parameters of every request.
    pub query_params: BTreeMap<String, String>,
    /// Number of retries and timeouts.
    pub retry_policy: RetryPolicy,
    /// Whether the provider or the runtime compacts histories.
    pub compaction: Compaction,
    /// The configuration file, for messages. `None` for a built-in provider.
    pub file: Option<PathBuf>,
}

/// Source of the API key of a provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeySource {
    /// The provider needs no key.
    Nowhere,
    /// An environment variable, which must be set.
    Variable {
        /// Name of the variable.
        name: String,
        /// Instructions for the user on how to get a key.
        instructions: Option<String>,
    },
    /// An environment variable, if it is set.
    VariableIfSet {
        /// Name of the variable.
        name: String,
    },
    /// Clients give a token, and renew it.
    Clients,
    /// A program prints a token.
    Command {
        /// The program, as it is written: its absolute path, or its name on the search path.
        program: String,
        /// Its arguments.
        arguments: Vec<String>,
    },
}

/// The wire format of a provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Wire {
    /// The Responses API of OpenAI.
    #[default]
    Responses,
    /// Chat Completions, which most servers for local models support.
    Chat,
    /// The Messages API of Anthropic.
    Anthropic,
}

impl Wire {
    /// Names of the wire formats in configurations.
    const NAMES: [(&'static str, Self); 3] =
        [("responses", Self::Responses), ("chat", Self::Chat), ("anthropic", Self::Anthropic)];

    fn named(name: &str) -> Option<Self> {
        Self::NAMES.into_iter().find(|(known, _)| *known == name).map(|(_, wire)| wire)
    }
}

/// How a model is told how much to reason if an effort is set, for wire formats that have a choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Thinking {
    /// The model gets the effort and decides itself.
    #[default]
    Adaptive,
    /// The model gets a number of tokens that depends on the effort, as older models of Anthropic require.
    Budget,
    /// The model gets nothing.
    Off,
}

impl Thinking {
    const NAMES: [(&'static str, Self); 3] =
        [("adaptive", Self::Adaptive), ("budget", Self::Budget), ("off", Self::Off)];

    fn named(name: &str) -> Option<Self> {
        Self::NAMES.into_iter().find(|(known, _)| *known == name).map(|(_, thinking)| thinking)
    }
}

/// Who compacts histories.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Compaction {
    /// The runtime, by asking the model for a summary.
    #[default]
    Local,
    /// The provider, at a separate URL.
    Remote,
}

/// Why the configuration of a provider is invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// The file is not valid TOML.
    #[error("{} is not valid TOML: {message}", file.display())]
    Syntax {
        /// Path of the file.
        file: PathBuf,
        /// Message of the parser.
        message: String,
    },
    /// A key has an invalid value or is missing.
    #[error("`{key}`{} {problem}", place(file.as_deref()))]
    Key {
        /// Path of the file, if there is one.
        file: Option<PathBuf>,
        /// The key with the names of its tables.
        key: String,
        /// What is wrong, and what to write instead.
        problem: String,
    },
    /// An environment variable has an invalid value.
    #[error("the environment variable `{variable}` {problem}")]
    Variable {
        /// Name of the variable.
        variable: String,
        /// What is wrong, and what to do.
        problem: String,
    },
}

fn place(file: Option<&Path>) -> String {
    file.map(|file| format!(" in {}", file.display())).unwrap_or_default()
}

impl ProviderConfig {
    /// Reads the providers of a configuration by name. `file` is the path for messages.
    ///
    /// # Errors
    ///
    /// Returns an error if the text is not TOML, or if a provider lacks a key or has an invalid value.
    pub fn read_all(text: &str, file: &Path) -> Result<BTreeMap<String, Self>, ConfigError> {
        let root: Table = text.parse().map_err(|error: toml::de::Error| ConfigError::Syntax {
            file: file.to_owned(),
            message: error.to_string().trim_end().replace('\n', "; "),
        })?;
        let tables = match root.get(PROVIDERS_TABLE) {
            None => return Ok(BTreeMap::new()),
            Some(Value::Table(tables)) => tables,
            Some(other) => {
                return Err(ConfigError::Key {
                    file: Some(file.to_owned()),
                    key: PROVIDERS_TABLE.to_owned(),
                    problem: format!("must hold a table per provider, not {}", kind_of(other)),
                });
            }
        };
        tables.iter().map(|(id, table)| Ok((id.clone(), Self::read(id, table, Some(file))?))).collect()
    }

    /// Reads one provider from the value of `model_providers.ID`.
    ///
    /// # Errors
    ///
    /// Returns an error if it lacks a key or has an invalid value.
    pub fn read(id: &str, value: &Value, file: Option<&Path>) -> Result<Self, ConfigError> {
        let Value::Table(table) = value else {
            return Err(ConfigError::Key {
                file: file.map(Path::to_owned),
                key: format!("{PROVIDERS_TABLE}.{id}"),
                problem: format!("must be a table, not {}", kind_of(value)),
            });
        };
        let written = Written { id, table, file };
        let wire =
            written.one_of("wire_api", Wire::named, "\"responses\", \"chat\" or \"anthropic\"")?.unwrap_or_default();
        let thinking =
            written.one_of("thinking", Thinking::named, "\"adaptive\", \"budget\" or \"off\"")?.unwrap_or_default();
        let max_output_tokens = match written.count("max_output_tokens")? {
            Some(0) => return Err(written.error("max_output_tokens", "is 0; write 1 or more, or leave it out")),
            tokens => tokens,
        };
        let compaction = match written.flag("remote_compaction")? {
            Some(true) if wire != Wire::Responses => {
                return Err(written.error(
                    "remote_compaction",
                    "is true, but only services that speak \"responses\" can do that; leave it out",
                ));
            }
            Some(true) => Compaction::Remote,
            _ => Compaction::Local,
        };
        let is_openai = written.flag("requires_openai_auth")?.unwrap_or(false);
        // A provider with this wire format and without a URL is Anthropic itself.
        let is_anthropic = wire == Wire::Anthropic && !table.contains_key("base_url") && !is_openai;
        let base_url = match written.text("base_url")? {
            Some(text) => url(text).map_err(|problem| written.error("base_url", problem))?,
            None if is_openai => openai_base_url(),
            None if is_anthropic => Url::parse(ANTHROPIC_BASE_URL).expect("the constant is an address"),
            None => {
                return Err(written
                    .error("base_url", "is missing; write where the provider is, for example \"https://host/v1\""));
            }
        };
        let token = written.token_source()?;
        let key = match written.text("env_key")? {
            _ if token.is_some() => token.unwrap_or(KeySource::Nowhere),
            Some("") => return Err(written.error("env_key", "is empty; write the name of a variable or leave it out")),
            Some(name) => KeySource::Variable {
                name: name.to_owned(),
                instructions: written.text("env_key_instructions")?.map(str::to_owned),
            },
            None if is_openai => KeySource::Variable { name: OPENAI_KEY_VARIABLE.to_owned(), instructions: None },
            None if is_anthropic => KeySource::Variable { name: ANTHROPIC_KEY_VARIABLE.to_owned(), instructions: None },
            None => KeySource::Nowhere,
        };
        let idle_timeout = match written.count("stream_idle_timeout_ms")? {
            Some(0) => return Err(written.error("stream_idle_timeout_ms", "is 0; write 1 or more, or leave it out")),
            Some(milliseconds) => Duration::from_millis(milliseconds),
            None => STREAM_IDLE_TIMEOUT,
        };
        let config = Self {
            id: id.to_owned(),
            name: written.text("name")?.unwrap_or(id).to_owned(),
            base_url,
            wire,
            max_output_tokens,
            thinking,
            key,
            account_header: written.header("account_header")?,
            attestation_header: written.header("attestation_header")?,
            http_headers: written.texts("http_headers")?,
            env_http_headers: written.texts("env_http_headers")?,
            query_params: written.texts("query_params")?,
            retry_policy: RetryPolicy {
                request_retries: written.retries("request_max_retries")?.unwrap_or(REQUEST_RETRIES),
                stream_retries: written.retries("stream_max_retries")?.unwrap_or(STREAM_RETRIES),
                idle_timeout,
            },
            compaction,
            file: file.map(Path::to_owned),
        };
        for name in config.http_headers.keys().chain(config.env_http_headers.keys()) {
            if HeaderName::from_bytes(name.as_bytes()).is_err() {
                let table = if config.http_headers.contains_key(name) { "http_headers" } else { "env_http_headers" };
                return Err(written
                    .error(table, format!("names \"{}\", which is not a valid header name", name.escape_debug())));
            }
        }
        Ok(config)
    }

    /// Returns the built-in provider: OpenAI, or the service at `base_url`. A key is required for OpenAI itself; for other
    /// URLs it is used if it is set.
    ///
    /// # Errors
    ///
    /// Returns an error if `base_url` is not a URL.
    pub fn openai(base_url: Option<&str>) -> Result<Self, ConfigError> {
        let name = OPENAI_KEY_VARIABLE.to_owned();
        let (base_url, key) = match base_url.filter(|text| !text.is_empty()) {
            None => (openai_base_url(), KeySource::Variable { name, instructions: None }),
            Some(text) => {
                let url = url(text).map_err(|problem| ConfigError::Variable {
                    variable: OPENAI_BASE_URL_VARIABLE.to_owned(),
                    problem,
                })?;
                (url, KeySource::VariableIfSet { name })
            }
        };
        Ok(Self {
            id: OPENAI_PROVIDER.to_owned(),
            name: "OpenAI".to_owned(),
            base_url,
            wire: Wire::Responses,
            max_output_tokens: None,
            thinking: Thinking::default(),
            key,
            account_header: None,
            attestation_header: None,
            http_headers: BTreeMap::new(),
            env_http_headers: BTreeMap::new(),
            query_params: BTreeMap::new(),
            retry_policy: RetryPolicy {
                request_retries: REQUEST_RETRIES,
                stream_retries: STREAM_RETRIES,
                idle_timeout: STREAM_IDLE_TIMEOUT,
            },
            compaction: Compaction::Local,
            file: None,
        })
    }

    /// Returns what requests need. A missing key is not an error here, but makes every request fail: a configuration may
    /// describe providers that are never used. See [`Endpoint::missing_key`].
    ///
    /// # Errors
    ///
    /// Returns an error if a header or a key cannot be sent, or a proxy variable is invalid.
    pub fn resolve(&self, environment: Environment<'_>) -> Result<Endpoint, ConfigError> {
        let mut headers = HeaderMap::new();
        for (name, text) in &self.http_headers {
            let value = header_value(text).ok_or_else(|| self.error(&format!("http_headers.{name}"), NO_HEADER))?;
            headers.insert(header_name(name), value);
        }
        for (name, variable) in &self.env_http_headers {
            let Some(text) = set(environment, variable) else { continue };
            let value = header_value(&text)
                .ok_or_else(|| ConfigError::Variable { variable: variable.clone(), problem: NO_HEADER.to_owned() })?;
            headers.insert(header_name(name), value);
        }
        let credential = match &self.key {
            KeySource::Nowhere => Credential::None,
            KeySource::Variable { name, instructions } => match set(environment, name) {
                Some(key) => Credential::key(&key, name, self.wire)?,
                None => {
                    let mut message =
                        format!("the provider `{}` needs a key: set the environment variable `{name}`", self.id);
                    if let Some(instructions) = instructions {
                        message.push_str(&format!(" ({instructions})"));
                    }
                    Credential::Missing(message)
                }
            },
            KeySource::Clients | KeySource::Command { .. } => Credential::Missing(format!(
                "the provider `{}` takes a token from a client or a program, and this one asks neither",
                self.id
            )),
            KeySource::VariableIfSet { name } => {
                set(environment, name).map_or(Ok(Credential::None), |key| Credential::key(&key, name, self.wire))?
            }
        };
        Ok(Endpoint {
            id: self.id.clone(),
            base_url: self.base_url.clone(),
            wire: self.wire,
            max_output_tokens: self.max_output_tokens,
            thinking: self.thinking,
            credential,
            account_header: self.account_header.as_deref().map(header_name),
            attestation_header: self.attestation_header.as_deref().map(header_name),
            headers,
            query: self.query_params.clone().into_iter().collect(),
            retry_policy: self.retry_policy,
            compaction: self.compaction,
            proxies: Proxies::of(environment)?,
        })
    }

    fn error(&self, key: &str, problem: &str) -> ConfigError {
        ConfigError::Key {
            file: self.file.clone(),
            key: format!("{PROVIDERS_TABLE}.{}.{key}", self.id),
            problem: problem.to_owned(),
        }
    }
}

const NO_HEADER: &str = "cannot be sent as a header; only visible characters and spaces are allowed";

/// What requests to a provider need. Its `Debug` output contains no secrets.
#[derive(Clone)]
pub struct Endpoint {
    pub(super) id: String,
    pub(super) base_url: Url,
    pub(super) wire: Wire,
    pub(super) max_output_tokens: Option<u64>,
    pub(super) thinking: Thinking,
    pub(super) credential: Credential,
    pub(super) account_header: Option<HeaderName>,
    pub(super) attestation_header: Option<HeaderName>,
    pub(super) headers: HeaderMap,
    pub(super) query: Vec<(String, String)>,
    pub(super) retry_policy: RetryPolicy,
    pub(super) compaction: Compaction,
    pub(super) proxies: Proxies,
}

/// How requests are authenticated.
#[derive(Clone)]
pub(super) enum Credential {
    None,
    Key {
        name: HeaderName,
        value: HeaderValue,
        variable: String,
    },
    /// The key is missing; the text says what to do.
    Missing(String),
}

/// Proxies for requests.
#[derive(Debug, Clone, Default)]
pub(super) struct Proxies {
    pub(super) http: Option<Url>,
    pub(super) https: Option<Url>,
    /// Hosts that are reached directly, separated by commas.
    pub(super) except: String,
}

impl Endpoint {
    /// Returns the provider that the variables `OPENAI_BASE_URL` and `OPENAI_API_KEY` describe.
    ///
    /// # Errors
    ///
    /// Returns an error if one of them has an invalid value.
    pub fn from_openai_environment(environment: Environment<'_>) -> Result<Self, ConfigError> {
        ProviderConfig::openai(set(environment, OPENAI_BASE_URL_VARIABLE).as_deref())?.resolve(environment)
    }

    /// Returns the name by which settings select the provider.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns what to do if a required key is missing. Every request would fail with this message.
    pub fn missing_key(&self) -> Option<&str> {
        match &self.credential {
            Credential::Missing(message) => Some(message),
            Credential::None | Credential::Key { .. } => None,
        }
    }

    /// Returns an endpoint whose requests name the program that caused them: in the header `originator`, and at the
    /// beginning of `user-agent`. Configured headers take precedence. A name that cannot be sent is left out.
    #[must_use]
    pub fn with_originator(mut self, originator: &str) -> Self {
        let product = format!("{originator}/{} ({})", env!("CARGO_PKG_VERSION"), PRODUCT);
        for (name, text) in [(HeaderName::from_static("originator"), originator), (USER_AGENT, product.as_str())] {
            if let (false, Some(value)) = (self.headers.contains_key(&name), header_value(text)) {
                self.headers.insert(name, value);
            }
        }
        self
    }

    /// Returns the endpoint with another retry policy.
    #[must_use]
    pub fn with_retry_policy(mut self, retry_policy: RetryPolicy) -> Self {
        self.retry_policy = retry_policy;
        self
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Endpoint")
            .field("id", &self.id)
            .field("base_url", &shown_url(&self.base_url))
            .field("wire", &self.wire)
            .field("headers", &self.headers.keys().collect::<Vec<_>>())
            .field("retry_policy", &self.retry_policy)
            .field("compaction", &self.compaction)
            .finish_non_exhaustive()
    }
}

impl Credential {
    fn key(key: &str, variable: &str, wire: Wire) -> Result<Self, ConfigError> {
        let (name, text) = match wire {
            Wire::Responses | Wire::Chat => (AUTHORIZATION, format!("Bearer {}", key.trim())),
            Wire::Anthropic => (HeaderName::from_static("x-api-key"), key.trim().to_owned()),
        };
        let value = header_value(&text).ok_or_else(|| ConfigError::Variable {
            variable: variable.to_owned(),
            problem: "holds a key that cannot be sent as a header; copy the key again".to_owned(),
        })?;
        Ok(Self::Key { name, value, variable: variable.to_owned() })
    }
}

impl Proxies {
    /// Reads the usual variables `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY` and `NO_PROXY`, in upper or lower case.
    fn of(environment: Environment<'_>) -> Result<Self, ConfigError> {
        let proxy = |names: [&str; 4]| {
            let Some((name, text)) = names.into_iter().find_map(|name| Some((name, set(environment, name)?))) else {
                return Ok(None);
            };
            let text = if text.contains("://") { text } else { format!("http://{text}") };
            match Url::parse(&text).ok().filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host()) {
                Some(url) => Ok(Some(url)),
                None => Err(ConfigError::Variable {
                    variable: name.to_owned(),
                    problem: "is not the address of an HTTP proxy; write http://HOST:PORT or unset it".to_owned(),
                }),
            }
        };
        let mut except = NEVER_BY_PROXY.to_owned();
        if let Some(more) = set(environment, "no_proxy").or_else(|| set(environment, "NO_PROXY")) {
            except.push(',');
            except.push_str(&more);
        }
        Ok(Self {
            http: proxy(["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"])?,
            https: proxy(["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"])?,
            except,
        })
    }
}

/// Returns a URL without the parts that may contain a secret.
pub(super) fn shown_url(url: &Url) -> String {
    let mut url = url.clone();
    // These cannot fail for a URL with a host, and all URLs here have one.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.set_query(None);
    url.into()
}

fn set(environment: Environment<'_>, name: &str) -> Option<String> {
    environment(name).filter(|text| !text.trim().is_empty())
}

fn openai_base_url() -> Url {
    Url::parse(OPENAI_BASE_URL).expect("the constant is an address")
}

fn url(text: &str) -> Result<Url, String> {
    let example = "write one like \"https://host/v1\"";
    let url = Url::parse(text.trim()).map_err(|error| format!("is not a URL ({error}); {example}"))?;
    match url.scheme() {
        "http" | "https" => Ok(url),
        other => Err(format!("is a URL with the scheme `{other}`; {example}")),
    }
}

fn header_name(name: &str) -> HeaderName {
    HeaderName::from_bytes(name.as_bytes()).expect("names were checked when the configuration was read")
}

/// Parses a header value and marks it as sensitive, because it may be a key.
pub(super) fn header_value(text: &str) -> Option<HeaderValue> {
    let mut value = HeaderValue::from_str(text).ok()?;
    value.set_sensitive(true);
    Some(value)
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::String(_) => "a text",
        Value::Integer(_) => "a number",
        Value::Float(_) => "a number with a fraction",
        Value::Boolean(_) => "true or false",
        Value::Datetime(_) => "a time",
        Value::Array(_) => "a list",
        Value::Table(_) => "a table",
    }
}

/// The table of a provider.
struct Written<'a> {
    id: &'a str,
    table: &'a Table,
    file: Option<&'a Path>,
}

impl<'a> Written<'a> {
    fn error(&self, key: &str, problem: impl Into<String>) -> ConfigError {
        ConfigError::Key {
            file: self.file.map(Path::to_owned),
            key: format!("{PROVIDERS_TABLE}.{}.{key}", self.id),
            problem: problem.into(),
        }
    }

    fn wrong(&self, key: &str, expected: &str, found: &Value) -> ConfigError {
        self.error(key, format!("must be {expected}, not {}", kind_of(found)))
    }

    fn text(&self, key: &str) -> Result<Option<&'a str>, ConfigError> {
        match self.table.get(key) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(self.wrong(key, "a text", other)),
        }
    }

    /// Reads where a token comes from that is not known yet; `None` if the provider needs none.
    fn token_source(&self) -> Result<Option<KeySource>, ConfigError> {
        let from_clients = |text: &str| (text == "client").then_some(KeySource::Clients);
        let clients = self.one_of("auth", from_clients, "\"client\", or leave it out")?;
        let command = match self.table.get("auth_command") {
            None => None,
            Some(Value::Array(words)) => {
                let text = |word: &Value| word.as_str().map(str::to_owned);
                let words: Option<Vec<String>> = words.iter().map(text).collect();
                let mut words = words.unwrap_or_default().into_iter();
                let program = words.next().filter(|program| !program.is_empty());
                let example = "must be a list of texts, like [\"/usr/local/bin/token\", \"--json\"]";
                let program = program.ok_or_else(|| self.error("auth_command", example))?;
                if program.contains('/') && !program.starts_with('/') {
                    // Commands of agents could replace it.
                    let problem = "names a program by a relative path; write an absolute one, or a name on the PATH";
                    return Err(self.error("auth_command", problem));
                }
                Some(KeySource::Command { program, arguments: words.collect() })
            }
            Some(other) => return Err(self.wrong("auth_command", "a list of texts", other)),
        };
        let source = match (clients, command) {
            (Some(_), Some(_)) => return Err(self.error("auth_command", "and `auth` exclude each other; keep one")),
            (clients, command) => clients.or(command),
        };
        let other = match self.flag("requires_openai_auth")? {
            Some(true) => Some("requires_openai_auth"),
            _ => self.table.contains_key("env_key").then_some("env_key"),
        };
        match (source, other) {
            (Some(_), Some(key)) => {
                Err(self.error(key, "is a second source of keys beside `auth` or `auth_command`; keep one"))
            }
            (source, _) => Ok(source),
        }
    }

    /// Reads the name of a header.
    fn header(&self, key: &str) -> Result<Option<String>, ConfigError> {
        let Some(name) = self.text(key)? else { return Ok(None) };
        match HeaderName::from_bytes(name.as_bytes()) {
            Ok(_) => Ok(Some(name.to_owned())),
            Err(_) => Err(self.error(key, format!("is \"{}\", which is not a valid header name", name.escape_debug()))),
        }
    }

    fn one_of<T>(
        &self,
        key: &str,
        named: impl FnOnce(&str) -> Option<T>,
        names: &str,
    ) -> Result<Option<T>, ConfigError> {
        let Some(text) = self.text(key)? else { return Ok(None) };
        let unknown = || self.error(key, format!("is \"{}\"; write {names}", text.escape_debug()));
        named(text).map(Some).ok_or_else(unknown)
    }

    fn flag(&self, key: &str) -> Result<Option<bool>, ConfigError> {
        match self.table.get(key) {
            None => Ok(None),
            Some(Value::Boolean(flag)) => Ok(Some(*flag)),
            Some(other) => Err(self.wrong(key, "true or false", other)),
        }
    }

    fn count(&self, key: &str) -> Result<Option<u64>, ConfigError> {
        match self.table.get(key) {
            None => Ok(None),
            Some(Value::Integer(number)) => match u64::try_from(*number) {
                Ok(number) => Ok(Some(number)),
                Err(_) => Err(self.error(key, format!("is {number}; write 0 or more"))),
            },
            Some(other) => Err(self.wrong(key, "a whole number", other)),
        }
    }

    fn retries(&self, key: &str) -> Result<Option<u32>, ConfigError> {
        let count = self.count(key)?;
        Ok(count.map(|count| u32::try_from(count).unwrap_or(RETRIES_MAX).min(RETRIES_MAX)))
    }

    fn texts(&self, key: &str) -> Result<BTreeMap<String, String>, ConfigError> {
        match self.table.get(key) {
            None => Ok(BTreeMap::new()),
            Some(Value::Table(table)) => table
                .iter()
                .map(|(name, value)| match value {
                    Value::String(text) => Ok((name.clone(), text.clone())),
                    other => Err(self.wrong(&format!("{key}.{name}"), "a text", other)),
                })
                .collect(),
            Some(other) => Err(self.wrong(key, "a table of texts", other)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(table: &str) -> Result<ProviderConfig, ConfigError> {
        let text = format!("model = \"x\"\n[model_providers.mine]\n{table}");
        Ok(ProviderConfig::read_all(&text, Path::new("/home/config.toml"))?.remove("mine").expect("it is there"))
    }

    fn nothing(_: &str) -> Option<String> {
        None
    }

    #[test]
    fn a_provider_that_says_little_gets_the_defaults() {
        let config = read("base_url = \"http://127.0.0.1:1/v1\"").expect("a provider");
        assert_eq!(
            (config.id.as_str(), config.name.as_str(), config.base_url.as_str()),
            ("mine", "mine", "http://127.0.0.1:1/v1")
        );
        assert_eq!(
            config.retry_policy,
            RetryPolicy { request_retries: 4, stream_retries: 5, idle_timeout: Duration::from_secs(300) }
        );
        assert_eq!((config.key.clone(), config.compaction), (KeySource::Nowhere, Compaction::Local));
        assert_eq!(config.resolve(&nothing).expect("resolves").missing_key(), None);
    }

    #[test]
    fn a_token_comes_from_clients_or_from_a_program() {
        let key = |more: &str| read(&format!("base_url = \"http://h/v1\"\n{more}")).map(|provider| provider.key);
        assert_eq!(key("auth = \"client\""), Ok(KeySource::Clients));
        let command = KeySource::Command { program: "/bin/token".to_owned(), arguments: vec!["-j".to_owned()] };
        assert_eq!(key("auth_command = [\"/bin/token\", \"-j\"]"), Ok(command));
        for (more, problem) in [
            ("auth = \"me\"", "`model_providers.mine.auth` in /home/config.toml is \"me\"; write \"client\""),
            ("auth_command = \"token\"", "auth_command` in /home/config.toml must be a list of texts"),
            ("auth_command = []", "must be a list of texts, like"),
            ("auth_command = [3]", "must be a list of texts, like"),
            ("auth_command = [\"./token\"]", "by a relative path"),
            ("auth = \"client\"\nauth_command = [\"token\"]", "exclude each other"),
            ("auth = \"client\"\nenv_key = \"K\"", "a second source of keys"),
            ("account_header = \"a b\"", "which is not a valid header name"),
        ] {
            let error = key(more).expect_err(more).to_string();
            assert!(error.contains(problem), "{more}: {error}");
        }
    }

    #[test]
    fn an_originator_is_a_header_unless_it_is_configured() {
        let named = |table: &str, originator: &str| {
            let text = format!("base_url = \"http://127.0.0.1:1/v1\"\n{table}");
            let headers = read(&text)
                .expect("a provider")
                .resolve(&nothing)
                .expect("resolves")
                .with_originator(originator)
                .headers;
            let value = |name: &str| headers.get(name).map(|value| value.to_str().expect("a text").to_owned());
            (value("originator"), value("user-agent"))
        };
        let (originator, agent) = named("", "my_sdk");
        assert_eq!(originator.as_deref(), Some("my_sdk"));
        assert!(agent.is_some_and(|agent| agent.starts_with("my_sdk/") && agent.ends_with(&format!("({PRODUCT})"))));
        assert_eq!(named("http_headers = { Originator = \"other\" }", "my_sdk").0.as_deref(), Some("other"));
        assert_eq!(named("", "my\nsdk"), (None, None));
    }

    #[test]
    fn a_provider_that_says_everything_is_read() {
        let config = read(
            r#"
            name = "My models"
            base_url = "https://host.example/v1"
            env_key = "MY_KEY"
            env_key_instructions = "ask Ann"
            wire_api = "responses"
            http_headers = { x-a = "1" }
            env_http_headers = { x-b = "MY_B", x-c = "MY_C" }
            query_params = { version = "2" }
            request_max_retries = 1000000
            stream_max_retries = 0
            stream_idle_timeout_ms = 50
            remote_compaction = true
            supports_websockets = false
            "#,
        )
        .expect("a provider");
        assert_eq!(
            config.retry_policy,
            RetryPolicy { request_retries: 100, stream_retries: 0, idle_timeout: Duration::from_millis(50) }
        );
        let missing = config.resolve(&nothing).expect("resolves");
        assert_eq!(
            missing.missing_key(),
            Some("the provider `mine` needs a key: set the environment variable `MY_KEY` (ask Ann)")
        );
        let environment = |name: &str| match name {
            "MY_KEY" => Some(" secret-key\n".to_owned()),
            "MY_B" => Some("secret-b".to_owned()),
            _ => None,
        };
        let endpoint = config.resolve(&environment).expect("resolves");
        assert_eq!(endpoint.missing_key(), None);
        assert!(matches!(&endpoint.credential, Credential::Key { value, .. } if value == "Bearer secret-key"));
        assert_eq!(endpoint.headers.len(), 2, "a variable that is not set gives no header");
        assert_eq!(
            (endpoint.headers["x-a"].as_bytes(), endpoint.headers["x-b"].as_bytes()),
            (&b"1"[..], &b"secret-b"[..])
        );
        let shown = format!("{endpoint:?}");
        assert!(!shown.contains("secret"), "{shown}");
    }

    #[test]
    fn errors_name_the_file_and_the_key_and_say_what_to_do() {
        let cases = [
            (
                "",
                r#"`model_providers.mine.base_url` in /home/config.toml is missing; write where the provider is, for example "https://host/v1""#,
            ),
            ("base_url = 7", "`model_providers.mine.base_url` in /home/config.toml must be a text, not a number"),
            (
                "base_url = \"host\"",
                r#"`model_providers.mine.base_url` in /home/config.toml is not a URL (relative URL without a base); write one like "https://host/v1""#,
            ),
            (
                "base_url = \"file:///x\"",
                r#"`model_providers.mine.base_url` in /home/config.toml is a URL with the scheme `file`; write one like "https://host/v1""#,
            ),
            (
                "wire_api = \"smoke\"",
                r#"`model_providers.mine.wire_api` in /home/config.toml is "smoke"; write "responses", "chat" or "anthropic""#,
            ),
            (
                "wire_api = \"anthropic\"\nthinking = \"hard\"",
                r#"`model_providers.mine.thinking` in /home/config.toml is "hard"; write "adaptive", "budget" or "off""#,
            ),
            (
                "base_url = \"http://h\"\nwire_api = \"chat\"\nremote_compaction = true",
                r#"`model_providers.mine.remote_compaction` in /home/config.toml is true, but only services that speak "responses" can do that; leave it out"#,
            ),
            (
                "base_url = \"http://h\"\nmax_output_tokens = 0",
                "`model_providers.mine.max_output_tokens` in /home/config.toml is 0; write 1 or more, or leave it out",
            ),
            (
                "base_url = \"http://h\"\nrequest_max_retries = -1",
                "`model_providers.mine.request_max_retries` in /home/config.toml is -1; write 0 or more",
            ),
            (
                "base_url = \"http://h\"\nstream_idle_timeout_ms = 0",
                "`model_providers.mine.stream_idle_timeout_ms` in /home/config.toml is 0; write 1 or more, or leave it out",
            ),
            (
                "base_url = \"http://h\"\nhttp_headers = { \"a b\" = \"\" }",
                r#"`model_providers.mine.http_headers` in /home/config.toml names "a b", which is not a valid header name"#,
            ),
            (
                "base_url = \"http://h\"\nquery_params = { a = 1 }",
                "`model_providers.mine.query_params.a` in /home/config.toml must be a text, not a number",
            ),
            (
                "base_url = \"http://h\"\nenv_key = \"\"",
                "`model_providers.mine.env_key` in /home/config.toml is empty; write the name of a variable or leave it out",
            ),
        ];
        for (table, expected) in cases {
            assert_eq!(read(table).expect_err(table).to_string(), expected);
        }
        let file = Path::new("c.toml");
        assert_eq!(ProviderConfig::read_all("model = 1", file), Ok(BTreeMap::new()));
        let broken = ProviderConfig::read_all("a = = 1", file).expect_err("no TOML").to_string();
        assert!(broken.starts_with("c.toml is not valid TOML: ") && !broken.contains('\n'), "{broken}");
        assert!(ProviderConfig::read_all("model_providers = 1", file).is_err());
        assert!(ProviderConfig::read_all("model_providers = { a = 1 }", file).is_err());
    }

    #[test]
    fn what_cannot_be_sent_is_an_error_that_shows_no_secret() {
        let config =
            read("base_url = \"http://h\"\nenv_key = \"K\"\nenv_http_headers = { h = \"H\" }").expect("a provider");
        for variable in ["K", "H"] {
            let error = config
                .resolve(&|name| (name == variable).then(|| "secret\u{1}".to_owned()))
                .expect_err("no header")
                .to_string();
            assert!(
                error.starts_with(&format!("the environment variable `{variable}` ")) && !error.contains("secret"),
                "{error}"
            );
        }
        let config = read("base_url = \"http://h\"\nhttp_headers = { h = \"a\\nb\" }").expect("a provider");
        assert!(
            config
                .resolve(&nothing)
                .expect_err("no header")
                .to_string()
                .starts_with("`model_providers.mine.http_headers.h` in")
        );
    }

    #[test]
    fn openai_needs_a_key_and_another_address_takes_one() {
        let endpoint = Endpoint::from_openai_environment(&nothing).expect("resolves");
        assert_eq!((endpoint.id(), endpoint.base_url.as_str()), ("openai", OPENAI_BASE_URL));
        assert_eq!(
            endpoint.missing_key(),
            Some("the provider `openai` needs a key: set the environment variable `OPENAI_API_KEY`")
        );
        let local = |name: &str| (name == OPENAI_BASE_URL_VARIABLE).then(|| "http://localhost:8080/v1".to_owned());
        let endpoint = Endpoint::from_openai_environment(&local).expect("resolves");
        assert!(matches!(endpoint.credential, Credential::None));
        let both =
            |name: &str| Some(if name == OPENAI_KEY_VARIABLE { "k" } else { "http://localhost:8080/v1" }.to_owned());
        let endpoint = Endpoint::from_openai_environment(&both).expect("resolves");
        assert!(matches!(endpoint.credential, Credential::Key { .. }));
        let wrong = |name: &str| (name == OPENAI_BASE_URL_VARIABLE).then(|| "nonsense".to_owned());
        let error = Endpoint::from_openai_environment(&wrong).expect_err("no address").to_string();
        assert!(error.starts_with("the environment variable `OPENAI_BASE_URL` is not a URL"), "{error}");
        let config = read("requires_openai_auth = true").expect("a provider");
        assert_eq!(config.base_url.as_str(), OPENAI_BASE_URL);
        assert!(matches!(config.key, KeySource::Variable { name, .. } if name == OPENAI_KEY_VARIABLE));
    }

    #[test]
    fn a_wire_has_its_own_key_and_anthropic_needs_no_address() {
        let config = read("wire_api = \"anthropic\"").expect("a provider");
        assert_eq!((config.wire, config.base_url.as_str()), (Wire::Anthropic, ANTHROPIC_BASE_URL));
        let environment = |name: &str| (name == ANTHROPIC_KEY_VARIABLE).then(|| "secret".to_owned());
        let endpoint = config.resolve(&environment).expect("resolves");
        let Credential::Key { name, value, .. } = &endpoint.credential else { panic!("no key") };
        assert_eq!((name.as_str(), value.as_bytes()), ("x-api-key", &b"secret"[..]));
        let elsewhere =
            read("wire_api = \"anthropic\"\nbase_url = \"http://h/v1\"\nthinking = \"budget\"\nmax_output_tokens = 9");
        let elsewhere = elsewhere.expect("a provider");
        assert_eq!((elsewhere.key, elsewhere.thinking), (KeySource::Nowhere, Thinking::Budget));
        assert_eq!(elsewhere.max_output_tokens, Some(9));
        let local = read("wire_api = \"chat\"\nbase_url = \"http://localhost:11434/v1\"").expect("a provider");
        assert_eq!((local.wire, local.key), (Wire::Chat, KeySource::Nowhere));
        assert!(read("wire_api = \"chat\"").is_err(), "nobody knows where");
    }

    #[test]
    fn proxies_come_from_the_environment_and_never_stand_before_loopback() {
        let proxies = |pairs: &[(&str, &str)]| {
            Proxies::of(&|name| pairs.iter().find(|pair| pair.0 == name).map(|pair| pair.1.to_owned()))
        };
        let found = proxies(&[("ALL_PROXY", "proxy:3128"), ("https_proxy", "http://other"), ("NO_PROXY", "a.example")]);
        let found = found.expect("proxies");
        assert_eq!(found.http.expect("a proxy").as_str(), "http://proxy:3128/");
        assert_eq!(found.https.expect("a proxy").as_str(), "http://other/");
        assert_eq!(found.except, "localhost,127.0.0.0/8,::1,a.example");
        assert!(proxies(&[]).expect("none").http.is_none());
        assert!(proxies(&[("http_proxy", "socks5://x")]).is_err());
    }

    #[test]
    fn addresses_are_shown_without_secrets() {
        let url = Url::parse("https://user:pass@host/v1/responses?key=secret").expect("an address");
        assert_eq!(shown_url(&url), "https://host/v1/responses");
    }
}
