//! The configuration of a server: how it is reached and how it is used. It is read from the tables `mcp_servers`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use reqwest::Url;
use serde::Deserialize;

/// Default time limit for the start of a server.
pub const STARTUP_TIMEOUT_DEFAULT: Duration = Duration::from_secs(10);

/// Default time limit of a call. The time in which the user is asked does not count.
pub const TOOL_TIMEOUT_DEFAULT: Duration = Duration::from_secs(60);

/// Largest configurable time limit, in seconds: a day.
pub const MAX_TIMEOUT_SECONDS: f64 = 86_400.0;

/// Longest name of a server, in characters.
pub const MAX_SERVER_NAME_CHARS: usize = 128;

/// A configured server.
#[derive(Debug, Clone, PartialEq)]
pub struct ServerConfig {
    /// Its name.
    pub name: String,
    /// How the server is reached.
    pub transport: Transport,
    /// Whether the server is started.
    pub enabled: bool,
    /// Whether a thread fails to start without the server.
    pub required: bool,
    /// Whether several calls of its tools from one answer of the model may run in parallel, even if the tools are not
    /// marked as read-only.
    pub supports_parallel_tool_calls: bool,
    /// Time limit for its start.
    pub startup_timeout: Duration,
    /// Time limit of a call.
    pub tool_timeout: Duration,
    /// Tools that are offered; `None` offers all of them.
    pub enabled_tools: Option<BTreeSet<String>>,
    /// Tools that are not offered.
    pub disabled_tools: BTreeSet<String>,
    /// When the user is asked before a tool is called.
    pub approval: Approval,
    /// Folders that commands of agents can write to, and that code of the server may still be loaded from.
    pub trusted_writable_folders: Vec<PathBuf>,
    /// Folders with data that the server works on, and from which it loads no code. Its arguments may name them even if
    /// commands can write to them.
    pub data_folders: Vec<PathBuf>,
    /// Overrides of `approval` for single tools, by tool name.
    pub tool_approvals: BTreeMap<String, Approval>,
    /// How a user logs in at the server.
    pub oauth: OAuthKeys,
    /// What the server may ask the model.
    pub sampling: Sampling,
    /// Whether the server gets the folders in which agents work.
    pub roots: bool,
}

/// How a user logs in at a server.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OAuthKeys {
    /// The scopes; `None` for those that the server names.
    pub scopes: Option<Vec<String>>,
    /// The id of a client that was registered by hand; `None` for dynamic registration.
    pub client_id: Option<String>,
}

/// Whether a server may ask the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Sampling {
    /// It may not.
    #[default]
    Off,
    /// It may if the user agrees to each request.
    Ask,
}

/// How a server is reached. Its `Debug` output hides values that may be secret.
#[derive(Clone, PartialEq)]
pub enum Transport {
    /// A process that communicates over its standard streams.
    Process {
        /// The program.
        command: String,
        /// Arguments of the program.
        args: Vec<String>,
        /// Environment variables that are set for the server.
        env: BTreeMap<String, String>,
        /// Names of variables that are passed on from the environment, in addition to those that every server gets.
        env_vars: Vec<String>,
        /// Working folder. A relative path is resolved against the folder of the thread. With `None`, it is a new,
        /// empty folder.
        cwd: Option<PathBuf>,
    },
    /// Streamable HTTP.
    Http {
        /// The address.
        url: Url,
        /// Variable of the environment that holds a bearer token.
        bearer_token_env_var: Option<String>,
        /// HTTP headers.
        headers: BTreeMap<String, String>,
        /// HTTP headers whose values are in the named variables of the environment.
        env_headers: BTreeMap<String, String>,
    },
}

/// The part of a configuration that describes the process of a server.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Program<'a> {
    pub(crate) command: &'a str,
    pub(crate) args: &'a [String],
    pub(crate) env: &'a BTreeMap<String, String>,
    pub(crate) env_vars: &'a [String],
    pub(crate) cwd: Option<&'a Path>,
    pub(crate) trusted: &'a [PathBuf],
    pub(crate) data: &'a [PathBuf],
}

/// When the user is asked before a tool is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Approval {
    /// If the tool may destroy something or reach the outside world, according to its annotations.
    #[default]
    Auto,
    /// Always.
    Prompt,
    /// If the tool may change something, according to its annotations.
    Writes,
    /// Never.
    Approve,
}

/// Why the configuration of a server is not valid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The name is not valid.
    #[error("`{name}` is not a valid server name; use 1 to {MAX_SERVER_NAME_CHARS} of the characters A-Z a-z 0-9 _ -")]
    Name {
        /// The name.
        name: String,
    },
    /// A key has a value that is not valid.
    #[error("{message}")]
    Key {
        /// What is wrong.
        message: String,
    },
    /// There is neither a command nor a URL, or there are both.
    #[error("a server has either a `command` or a `url`")]
    Transport,
    /// A key belongs to the other kind of transport.
    #[error("`{key}` cannot be combined with `{transport}`")]
    OtherTransport {
        /// The key.
        key: &'static str,
        /// The transport that is configured: `command` or `url`.
        transport: &'static str,
    },
    /// The URL is not valid.
    #[error("`url` is not a valid address: {reason}")]
    Url {
        /// Why it is not valid.
        reason: String,
    },
    /// A time limit is not valid.
    #[error("`{key}` is not a valid time limit: use a number of seconds above 0, up to {MAX_TIMEOUT_SECONDS}")]
    Timeout {
        /// The key.
        key: &'static str,
    },
}

/// A parsed configuration.
#[derive(Debug, Clone, PartialEq)]
pub struct Read {
    /// The server.
    pub server: ServerConfig,
    /// Keys that are not known.
    pub unknown: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct Table {
    command: Option<String>,
    args: Option<Vec<String>>,
    env: Option<BTreeMap<String, String>>,
    env_vars: Option<Vec<String>>,
    cwd: Option<PathBuf>,
    trusted_writable_folders: Option<Vec<PathBuf>>,
    data_folders: Option<Vec<PathBuf>>,
    url: Option<String>,
    bearer_token_env_var: Option<String>,
    http_headers: Option<BTreeMap<String, String>>,
    env_http_headers: Option<BTreeMap<String, String>>,
    enabled: Option<bool>,
    required: Option<bool>,
    supports_parallel_tool_calls: Option<bool>,
    startup_timeout_sec: Option<f64>,
    startup_timeout_ms: Option<f64>,
    tool_timeout_sec: Option<f64>,
    enabled_tools: Option<BTreeSet<String>>,
    #[serde(default)]
    disabled_tools: BTreeSet<String>,
    #[serde(default)]
    default_tools_approval_mode: Approval,
    scopes: Option<Vec<String>>,
    oauth: Option<OAuthTable>,
    #[serde(default)]
    sampling: Sampling,
    #[serde(default)]
    roots: bool,
    #[serde(default)]
    tools: BTreeMap<String, ToolTable>,
}

#[derive(Debug, Clone, Deserialize)]
struct OAuthTable {
    client_id: Option<String>,
}

#[derive(Debug, Deserialize)]
struct ToolTable {
    approval_mode: Option<Approval>,
}

impl ServerConfig {
    /// Parses the table of a server.
    ///
    /// # Errors
    ///
    /// Returns an error if the name or a value is not valid, or if keys exclude each other.
    pub fn read(name: &str, table: &toml::Value) -> Result<Read, ConfigError> {
        let is_name = (1..=MAX_SERVER_NAME_CHARS).contains(&name.len())
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
        if !is_name {
            return Err(ConfigError::Name { name: name.chars().take(MAX_SERVER_NAME_CHARS).collect() });
        }
        let mut unknown = Vec::new();
        let table: Table = serde_ignored::deserialize(table.clone(), |path| unknown.push(path.to_string()))
            .map_err(|error: toml::de::Error| ConfigError::Key { message: without_value(&error) })?;
        let startup = match (table.startup_timeout_sec, table.startup_timeout_ms) {
            (None, Some(milliseconds)) => timeout("startup_timeout_ms", Some(milliseconds / 1000.0))?,
            (seconds, _) => timeout("startup_timeout_sec", seconds)?,
        };
        Ok(Read {
            server: Self {
                name: name.to_owned(),
                enabled: table.enabled.unwrap_or(true),
                required: table.required.unwrap_or(false),
                supports_parallel_tool_calls: table.supports_parallel_tool_calls.unwrap_or(false),
                startup_timeout: startup.unwrap_or(STARTUP_TIMEOUT_DEFAULT),
                tool_timeout: timeout("tool_timeout_sec", table.tool_timeout_sec)?.unwrap_or(TOOL_TIMEOUT_DEFAULT),
                approval: table.default_tools_approval_mode,
                tool_approvals: table
                    .tools
                    .iter()
                    .filter_map(|(tool, keys)| Some((tool.clone(), keys.approval_mode?)))
                    .collect(),
                enabled_tools: table.enabled_tools.clone(),
                disabled_tools: table.disabled_tools.clone(),
                trusted_writable_folders: table.trusted_writable_folders.clone().unwrap_or_default(),
                data_folders: table.data_folders.clone().unwrap_or_default(),
                oauth: OAuthKeys {
                    scopes: table.scopes.clone(),
                    client_id: table.oauth.clone().and_then(|oauth| oauth.client_id),
                },
                sampling: table.sampling,
                roots: table.roots,
                transport: transport(table)?,
            },
            unknown,
        })
    }

    /// Returns whether a tool of the server is offered to agents.
    #[must_use]
    pub fn offers(&self, tool: &str) -> bool {
        self.enabled_tools.as_ref().is_none_or(|tools| tools.contains(tool)) && !self.disabled_tools.contains(tool)
    }

    /// Returns the process of the server; `None` if it is reached over HTTP.
    pub(crate) fn program(&self) -> Option<Program<'_>> {
        let Transport::Process { command, args, env, env_vars, cwd } = &self.transport else { return None };
        let (trusted, data) = (&self.trusted_writable_folders, &self.data_folders);
        Some(Program { command, args, env, env_vars, cwd: cwd.as_deref(), trusted, data })
    }

    /// Returns when the user is asked before this tool is called.
    #[must_use]
    pub fn approval_of(&self, tool: &str) -> Approval {
        self.tool_approvals.get(tool).copied().unwrap_or(self.approval)
    }
}

impl fmt::Debug for Transport {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Process { command, args, env, env_vars, cwd } => formatter
                .debug_struct("Process")
                .field("command", command)
                .field("args", &args.len())
                .field("env", &env.keys())
                .field("env_vars", env_vars)
                .field("cwd", cwd)
                .finish(),
            Self::Http { url, bearer_token_env_var, headers, env_headers } => formatter
                .debug_struct("Http")
                .field("origin", &url.origin().ascii_serialization())
                .field("bearer_token_env_var", bearer_token_env_var)
                .field("headers", &headers.keys())
                .field("env_headers", env_headers)
                .finish(),
        }
    }
}

fn transport(table: Table) -> Result<Transport, ConfigError> {
    match (table.command, table.url) {
        (Some(command), None) => {
            let others = [
                ("bearer_token_env_var", table.bearer_token_env_var.is_some()),
                ("http_headers", table.http_headers.is_some()),
                ("env_http_headers", table.env_http_headers.is_some()),
                ("scopes", table.scopes.is_some()),
                ("oauth", table.oauth.is_some()),
            ];
            belongs(&others, "command")?;
            Ok(Transport::Process {
                command,
                args: table.args.unwrap_or_default(),
                env: table.env.unwrap_or_default(),
                env_vars: table.env_vars.unwrap_or_default(),
                cwd: table.cwd,
            })
        }
        (None, Some(url)) => {
            let others = [
                ("args", table.args.is_some()),
                ("env", table.env.is_some()),
                ("env_vars", table.env_vars.is_some()),
                ("cwd", table.cwd.is_some()),
                ("trusted_writable_folders", table.trusted_writable_folders.is_some()),
                ("data_folders", table.data_folders.is_some()),
            ];
            belongs(&others, "url")?;
            let url = Url::parse(&url).map_err(|error| ConfigError::Url { reason: error.to_string() })?;
            if !["http", "https"].contains(&url.scheme()) {
                return Err(ConfigError::Url { reason: "it begins neither with http:// nor with https://".to_owned() });
            }
            Ok(Transport::Http {
                url,
                bearer_token_env_var: table.bearer_token_env_var,
                headers: table.http_headers.unwrap_or_default(),
                env_headers: table.env_http_headers.unwrap_or_default(),
            })
        }
        (None, None) | (Some(_), Some(_)) => Err(ConfigError::Transport),
    }
}

fn belongs(others: &[(&'static str, bool)], transport: &'static str) -> Result<(), ConfigError> {
    match others.iter().find(|(_, is_set)| *is_set) {
        Some((key, _)) => Err(ConfigError::OtherTransport { key, transport }),
        None => Ok(()),
    }
}

fn timeout(key: &'static str, seconds: Option<f64>) -> Result<Option<Duration>, ConfigError> {
    match seconds {
        None => Ok(None),
        Some(seconds) if seconds > 0.0 && seconds <= MAX_TIMEOUT_SECONDS => Ok(Some(Duration::from_secs_f64(seconds))),
        Some(_) => Err(ConfigError::Timeout { key }),
    }
}

/// Names the key that has a wrong value, and what would be valid. The value itself may be a secret, so it is left out.
fn without_value(error: &toml::de::Error) -> String {
    let whole = error.to_string();
    let key = whole.lines().rev().find_map(|line| line.strip_prefix("in `")?.strip_suffix('`'));
    let key = key.map_or("a key".to_owned(), |key| format!("`{key}`"));
    match error.message().rsplit_once(", expected ") {
        Some((_, expected)) => format!("{key} has an invalid value: expected {expected}"),
        None => format!("{key} has an invalid value"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Read, ConfigError> {
        ServerConfig::read("docs", &toml::Value::Table(text.parse().expect("TOML")))
    }

    #[test]
    fn a_process_has_all_keys() {
        let Read { server, unknown } = read(
            "command = 'x'\nargs = ['a']\nenv = { A = 'b' }\nenv_vars = ['C']\ncwd = '/d'\ntrusted_writable_folders = ['.', '/e']\ndata_folders = ['/f']\nenabled = false\nrequired = true\n\
             supports_parallel_tool_calls = true\nstartup_timeout_sec = 1.5\ntool_timeout_sec = 2\nenabled_tools = ['t', 'u']\ndisabled_tools = ['u']\n\
             default_tools_approval_mode = 'prompt'\nsampling = 'ask'\nroots = true\nskills = []\n[tools.t]\napproval_mode = 'approve'\noutput = 1",
        )
        .expect("a server");
        assert_eq!(unknown, ["skills", "tools.t.output"]);
        assert_eq!((server.sampling, server.roots), (Sampling::Ask, true));
        assert!(!server.enabled && server.required && server.supports_parallel_tool_calls);
        assert_eq!(server.startup_timeout, Duration::from_millis(1500));
        assert_eq!(server.tool_timeout, Duration::from_secs(2));
        assert!(server.offers("t") && !server.offers("u") && !server.offers("v"));
        assert_eq!(server.trusted_writable_folders, [PathBuf::from("."), PathBuf::from("/e")]);
        assert_eq!(server.data_folders, [PathBuf::from("/f")]);
        assert_eq!(server.approval_of("t"), Approval::Approve);
        assert_eq!(server.approval_of("u"), Approval::Prompt);
        let expected = Transport::Process {
            command: "x".to_owned(),
            args: vec!["a".to_owned()],
            env: BTreeMap::from([("A".to_owned(), "b".to_owned())]),
            env_vars: vec!["C".to_owned()],
            cwd: Some(PathBuf::from("/d")),
        };
        assert_eq!(server.transport, expected);
    }

    #[test]
    fn what_is_not_said_has_defaults() {
        let server = read("url = 'http://127.0.0.1:1/mcp'").expect("a server").server;
        assert!(
            server.enabled && !server.required && server.offers("anything") && !server.supports_parallel_tool_calls
        );
        assert_eq!(server.startup_timeout, STARTUP_TIMEOUT_DEFAULT);
        assert_eq!(server.tool_timeout, TOOL_TIMEOUT_DEFAULT);
        assert_eq!(server.approval_of("anything"), Approval::Auto);
        assert_eq!((server.sampling, server.roots, server.oauth), (Sampling::Off, false, OAuthKeys::default()));
        let login = read("url = 'http://a'\nscopes = ['read']\noauth = { client_id = 'c' }").expect("a server").server;
        let expected = OAuthKeys { scopes: Some(vec!["read".to_owned()]), client_id: Some("c".to_owned()) };
        assert_eq!(login.oauth, expected);
        let old = read("command = 'x'\nstartup_timeout_ms = 250").expect("a server").server;
        assert_eq!(old.startup_timeout, Duration::from_millis(250));
    }

    #[test]
    fn secrets_are_not_told() {
        for text in ["command = 'x'\nenv = 'KEY=hush, expected x'", "url = 'http://a'\nhttp_headers = ['hush']"] {
            let error = read(text).expect_err(text).to_string();
            assert!(!error.contains("hush") && error.ends_with("expected a map"), "{error}");
        }
        for text in [
            "command = 'x'\nargs = ['hush']\nenv = { KEY = 'hush' }",
            "url = 'https://me:hush@a/hush?hush'\nhttp_headers = { KEY = 'hush' }",
        ] {
            let shown = format!("{:?}", read(text).expect("a server").server);
            assert!(!shown.contains("hush") && shown.contains("KEY"), "{shown}");
        }
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for (text, expected) in [
            ("args = []", "a server has either a `command` or a `url`"),
            ("command = 'x'\nurl = 'http://a'", "a server has either a `command` or a `url`"),
            ("command = 'x'\nhttp_headers = {}", "`http_headers` cannot be combined with `command`"),
            ("command = 'x'\nscopes = ['read']", "`scopes` cannot be combined with `command`"),
            ("command = 'x'\nsampling = 'always'", "`sampling` has an invalid value"),
            ("url = 'http://a'\ncwd = '/'", "`cwd` cannot be combined with `url`"),
            ("url = 'ftp://a'", "`url` is not a valid address: it begins neither"),
            ("url = 'a'", "`url` is not a valid address: relative URL without a base"),
            ("command = 'x'\ntool_timeout_sec = 0", "`tool_timeout_sec` is not a valid time limit"),
            ("command = 'x'\nstartup_timeout_sec = 1e9", "`startup_timeout_sec` is not a valid time limit"),
            ("command = 'x'\nstartup_timeout_sec = nan", "`startup_timeout_sec` is not a valid time limit"),
            ("command = 1", "`command` has an invalid value: expected a string"),
            (
                "command = 'x'\ndefault_tools_approval_mode = 'zz'",
                "`default_tools_approval_mode` has an invalid value: expected one of `auto`",
            ),
        ] {
            let error = read(text).expect_err(text).to_string();
            assert!(error.starts_with(expected), "{text}: {error}");
        }
        for name in ["", "a b", "ä", &"x".repeat(MAX_SERVER_NAME_CHARS + 1)] {
            let error = ServerConfig::read(name, &toml::Value::Table(toml::Table::new())).expect_err(name);
            assert!(matches!(error, ConfigError::Name { .. }), "{name}: {error}");
        }
    }
}
