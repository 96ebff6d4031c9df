//! Logins at MCP servers over HTTP, by OAuth 2.1 as the Model Context Protocol has it.
//!
//! [`OAuth`] holds the folder with the tokens. [`OAuth::begin`] finds the authorization server of an MCP server, registers this
//! program there, and returns the address that the user has to visit; [`PendingLogin::finish`] waits until the user has agreed and stores
//! the tokens. The connection to the server then takes its bearer token from `tokens`, which renews it.
//!
//! Nothing that a server or an authorization server says is trusted: metadata is only read from the hosts that the protocol
//! names (`reach`), redirects are not followed, answers are limited, and no error contains a token.

mod callback;
mod challenge;
mod error;
mod fetch;
mod grant;
mod login;
mod metadata;
mod random;
mod reach;
mod scopes;
mod store;
pub(crate) mod tokens;

use std::path::{Path, PathBuf};

use reqwest::Url;

use crate::config::{ServerConfig, Transport};

pub use callback::{CallbackAddress, MAX_CALLBACK_BYTES};
pub use error::{MAX_SHOWN_DESCRIPTION_CHARS, OAuthError};
pub use fetch::{FETCH_TIMEOUT, MAX_ANSWER_BYTES};
pub use login::{DeviceCode, LoginOptions, PendingLogin, Registration};
pub use tokens::{MIN_REFRESH_INTERVAL, REFRESH_AHEAD_MAX};

pub use store::LOCK_TIMEOUT;
use store::{Key, Store};

/// Folder of the tokens in the server home.
pub const TOKEN_FOLDER_NAME: &str = "mcp-oauth";

/// The logins that are stored in a server home. Clones refer to the same folder.
#[derive(Debug, Clone)]
pub struct OAuth {
    store: Store,
}

/// A stored login, without its tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredLogin {
    /// The authorization server.
    pub issuer: String,
    /// The scopes that were granted.
    pub scopes: Vec<String>,
    /// When the access token ends, in milliseconds since 1970; `None` if the authorization server did not say it.
    pub expires_at_ms: Option<i64>,
    /// Whether the access token can be renewed without the user.
    pub is_renewable: bool,
}

impl OAuth {
    /// Returns the logins of a server home.
    #[must_use]
    pub fn of_home(home: &Path) -> Self {
        Self { store: Store::new(home.join(TOKEN_FOLDER_NAME)) }
    }

    /// Returns the folder with the tokens.
    #[must_use]
    pub fn folder(&self) -> PathBuf {
        self.store.folder().to_owned()
    }

    /// Returns the stored login at a server; `None` if there is none, or if the server does not use logins.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be read.
    pub fn stored(&self, server: &ServerConfig) -> Result<Option<StoredLogin>, OAuthError> {
        let Some(url) = address(server) else { return Ok(None) };
        let stored = self.store.load(&Key::new(&server.name, url))?;
        Ok(stored.map(|credentials| StoredLogin {
            is_renewable: credentials.refresh_token.is_some(),
            issuer: credentials.issuer,
            scopes: credentials.scopes,
            expires_at_ms: credentials.expires_at_ms,
        }))
    }

    /// Forgets the login at a server. Returns whether there was one.
    ///
    /// # Errors
    ///
    /// Returns an error if the server does not use logins, or if the file cannot be removed.
    pub async fn logout(&self, server: &ServerConfig) -> Result<bool, OAuthError> {
        let url = address(server).ok_or_else(|| OAuthError::NoLogin { why: no_login(server) })?;
        let (store, key) = (self.store.clone(), Key::new(&server.name, url));
        let removed = tokio::task::spawn_blocking(move || {
            // A process that renews the token at this moment would store it again.
            store.lock(&key, LOCK_TIMEOUT)?.remove()
        });
        removed.await.map_err(|error| OAuthError::Store { message: error.to_string() })?
    }

    /// Begins a login.
    ///
    /// # Errors
    ///
    /// Returns an error if the server does not use logins, if its authorization server cannot be found or breaks a rule, or
    /// if this program cannot be registered there.
    pub async fn begin(&self, server: &ServerConfig, options: LoginOptions) -> Result<PendingLogin, OAuthError> {
        let url = address(server).ok_or_else(|| OAuthError::NoLogin { why: no_login(server) })?;
        login::begin(self.store.clone(), Key::new(&server.name, url), server, url, options).await
    }

    pub(crate) fn tokens(&self, server: &ServerConfig) -> Option<tokens::Tokens> {
        let url = address(server)?;
        Some(tokens::Tokens::new(self.store.clone(), Key::new(&server.name, url), url.clone()))
    }
}

/// Returns the address of a server that may use a login: it is reached over HTTP, and no token of it is configured.
fn address(server: &ServerConfig) -> Option<&Url> {
    let Transport::Http { url, bearer_token_env_var: None, headers, env_headers } = &server.transport else {
        return None;
    };
    let mut names = headers.keys().chain(env_headers.keys());
    (!names.any(|name| name.eq_ignore_ascii_case("authorization"))).then_some(url)
}

fn no_login(server: &ServerConfig) -> String {
    match &server.transport {
        Transport::Process { .. } => format!("the MCP server `{}` is a program, which needs no login", server.name),
        Transport::Http { bearer_token_env_var: Some(name), .. } => {
            format!("the MCP server `{}` has its token from the variable {name} (`bearer_token_env_var`)", server.name)
        }
        Transport::Http { .. } => {
            format!("the MCP server `{}` has an `Authorization` header in its configuration", server.name)
        }
    }
}
