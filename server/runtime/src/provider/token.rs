//! Tokens that nobody knows when a provider is set up: clients or a program give them, and renew them while the runtime works.

use std::fmt;
use std::time::Duration;

use futures_util::future::BoxFuture;

/// Longest time that a request waits for an attestation. Then it is sent without one.
pub const ATTESTATION_TIMEOUT: Duration = Duration::from_millis(100);

/// A token for requests. Its `Debug` output does not contain it.
#[derive(Clone, PartialEq, Eq)]
pub struct BearerToken {
    text: String,
    account: Option<String>,
    number: u64,
}

impl BearerToken {
    /// Returns a token. Tokens of one source have ascending numbers, by which the source knows them.
    pub fn new(text: String, account: Option<String>, number: u64) -> Self {
        Self { text, account, number }
    }

    /// Returns the token itself. It must not get into a message, a log or a recording.
    pub fn secret(&self) -> &str {
        &self.text
    }

    /// Returns the account that the token belongs to, as its giver named it.
    pub fn account(&self) -> Option<&str> {
        self.account.as_deref()
    }

    /// Returns the number of the token in its source.
    pub fn number(&self) -> u64 {
        self.number
    }
}

impl fmt::Debug for BearerToken {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("BearerToken").field(&self.number).finish()
    }
}

/// Why there is no token.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct TokenError(pub String);

/// Gives the tokens of one provider.
pub trait TokenSource: fmt::Debug + Send + Sync + 'static {
    /// Returns the token for the next request.
    fn current(&self) -> BoxFuture<'_, Result<BearerToken, TokenError>>;

    /// Returns another token, because the provider refused the one with this number. Callers that were refused the same token share one
    /// renewal.
    fn renew(&self, refused: u64) -> BoxFuture<'_, Result<BearerToken, TokenError>>;
}

/// Attests requests.
pub trait Attestor: fmt::Debug + Send + Sync + 'static {
    /// Returns the attestation of a request of a turn; `None` if there is none. `root_turn` is the turn of the root agent
    /// from which the request stems. The future may be dropped at any time.
    fn attest(&self, root_turn: &str) -> BoxFuture<'_, Option<String>>;
}
