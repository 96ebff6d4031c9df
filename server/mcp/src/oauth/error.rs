//! Why a login or the renewal of a token failed.

/// Most characters of an authorization server's own description of an error that are shown.
pub const MAX_SHOWN_DESCRIPTION_CHARS: usize = 200;

/// Most characters of the code of an error that are shown.
const MAX_CODE_CHARS: usize = 64;

/// Why a login or the renewal of a token failed. No message contains a token, a code or a verifier.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OAuthError {
    /// The server does not use logins.
    #[error("{why}")]
    NoLogin {
        /// Why it does not.
        why: String,
    },
    /// The server, or what it names, must not be used: another host, no encryption, another issuer.
    #[error("{what} is refused: {why}")]
    Refused {
        /// What is refused, with its address.
        what: String,
        /// Which rule it breaks.
        why: String,
    },
    /// Metadata is missing or not valid.
    #[error("the authorization server of the MCP server cannot be found: {why}")]
    Metadata {
        /// What was tried, and what came of it.
        why: String,
    },
    /// This program cannot be registered, and has no client id there.
    #[error(
        "this program cannot be registered at {issuer}: {why}; set `oauth.client_id` in the table of the MCP server to the id of a client that was registered by hand"
    )]
    Registration {
        /// The authorization server.
        issuer: String,
        /// What came of the attempt.
        why: String,
    },
    /// The authorization server offers no device grant.
    #[error(
        "{issuer} has no login for devices (`device_authorization_endpoint`); log in with a browser, or paste the address that the browser ends at (`--no-browser`)"
    )]
    NoDeviceGrant {
        /// The authorization server.
        issuer: String,
    },
    /// The redirect address is not possible.
    #[error("the redirect address cannot be used: {why}")]
    Callback {
        /// Why it cannot.
        why: String,
    },
    /// The browser came back with something else than the agreement of the user.
    #[error("the login failed: {why}")]
    NotAgreed {
        /// Why.
        why: String,
    },
    /// The authorization server answered with an error.
    #[error("{endpoint} answered {answer}")]
    Answer {
        /// The address that was asked, without its query.
        endpoint: String,
        /// Status, code and description of the error.
        answer: String,
        /// The code of the error as RFC 6749 has it.
        code: Option<String>,
        /// The HTTP status.
        status: u16,
    },
    /// The authorization server cannot be reached, or broke off.
    #[error("{endpoint} cannot be asked: {why}")]
    Network {
        /// The address that was asked, without its query.
        endpoint: String,
        /// Why it cannot.
        why: String,
    },
    /// The user has to log in again.
    #[error("the login at the MCP server has ended ({why}); log in again with `trace mcp login {server}`")]
    LoginNeeded {
        /// Name of the MCP server.
        server: String,
        /// Why.
        why: String,
    },
    /// Nobody finished the login in time.
    #[error("nobody finished the login within {seconds} s")]
    TooLong {
        /// The limit.
        seconds: u64,
    },
    /// The stored tokens cannot be read or written.
    #[error("the stored login cannot be used: {message}")]
    Store {
        /// Which file, and why.
        message: String,
    },
    /// Another process changes the stored login.
    #[error(
        "the login at the MCP server {server} cannot be used now: another process holds {lock}, because it renews the token or cannot write a renewed one (is the disk full?)"
    )]
    Locked {
        /// Name of the MCP server.
        server: String,
        /// The file that is locked.
        lock: String,
    },
    /// The login does not cover what was asked for.
    #[error("{message}")]
    Scope {
        /// Which scopes are missing, and how to log in with them.
        message: String,
    },
    /// The system gave no random bytes.
    #[error("the system gave no random bytes: {message}")]
    Random {
        /// Why.
        message: String,
    },
}

/// Returns the code of an error as it is shown.
pub(super) fn code(text: &str) -> String {
    let is_plain = |letter: &char| letter.is_ascii_alphanumeric() || "_-.".contains(*letter);
    text.chars().filter(is_plain).take(MAX_CODE_CHARS).collect()
}

/// Returns an authorization server's text as one line in bounds, with each of the `secrets` left out.
pub(super) fn description(text: &str, secrets: &[&str]) -> String {
    let mut text = text.to_owned();
    for secret in secrets.iter().filter(|secret| !secret.is_empty()) {
        text = text.replace(secret, "[left out]");
    }
    let flat = text.split(|letter: char| letter.is_whitespace() || letter.is_control());
    let flat = flat.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
    match flat.char_indices().nth(MAX_SHOWN_DESCRIPTION_CHARS) {
        Some((end, _)) => format!("{}...", &flat[..end]),
        None => flat,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_server_says_is_shown_in_bounds_and_without_secrets() {
        assert_eq!(code("invalid_grant\u{1b}[2J<b>"), "invalid_grant2Jb");
        assert_eq!(code(&"x".repeat(100)).len(), MAX_CODE_CHARS);
        assert_eq!(description("no\n token-1 \u{7} here", &["token-1", ""]), "no [left out] here");
        assert_eq!(description(&"é".repeat(300), &[]).chars().count(), MAX_SHOWN_DESCRIPTION_CHARS + 3);
    }
}
