//! The options of the web client, and what the server's web client is made of.

use std::io::Write as _;
use std::path::PathBuf;

use clap::Args;
use trace_serve::{Opened, RecordingSource, WebRoutes};
use trace_server::Server;
use trace_server::transport::{Auth, WebClient, WebToken};

use crate::session::{self, Watched};
use crate::ui::failure::Failure;

/// The web client.
#[derive(Debug, Args)]
#[command(next_help_heading = "The web client")]
pub(super) struct WebArgs {
    /// With ws://: serve a page for the browser, at the address that is printed. Who has the address can use it
    #[arg(long)]
    web: bool,
    /// The file with the token of the page, which is created if it is missing [default: another token at each start]
    #[arg(long, value_name = "FILE", requires = "web", conflicts_with = "ws_auth")]
    web_token_file: Option<PathBuf>,
    /// Another name and port by which the browser reaches the server, such as that of a proxy. Can be repeated
    #[arg(long, value_name = "NAME[:PORT]", requires = "web")]
    web_host: Vec<String>,
    /// Open the page in the browser
    #[arg(long, requires = "web")]
    open: bool,
}

/// Who may use the web client.
pub(super) struct WebAccess {
    token: Option<WebToken>,
    auth: Option<Auth>,
    names: Vec<String>,
}

impl WebArgs {
    pub(super) fn is_on(&self) -> bool {
        self.web
    }

    pub(super) fn opens(&self) -> bool {
        self.open
    }

    pub(super) fn token_file(&self) -> &Option<PathBuf> {
        &self.web_token_file
    }

    /// Returns who may use the web client, or `None` if it is not asked for. With a rule for WebSocket clients, that rule
    /// counts, and the page asks for the token.
    ///
    /// # Errors
    ///
    /// Returns an error if an option has an invalid value, or if the file with the token cannot be used.
    pub(super) fn access(&self, auth: Option<&Auth>) -> Result<Option<WebAccess>, Failure> {
        if !self.web {
            return Ok(None);
        }
        if let Some(name) = self.web_host.iter().find(|name| !is_name(name)) {
            let message = format!("{name:?} is not a name with an optional port");
            return Err(
                Failure::usage(message).with_hint("write it without a scheme, as in --web-host phone.example:8443")
            );
        }
        let token = match (auth, &self.web_token_file) {
            (Some(_), _) => None,
            (None, Some(file)) => Some(WebToken::from_file(file).map_err(Failure::usage)?),
            (None, None) => Some(WebToken::random().map_err(Failure::internal)?),
        };
        Ok(Some(WebAccess { token, auth: auth.cloned(), names: self.web_host.clone() }))
    }
}

impl WebAccess {
    /// Returns the web client of a server.
    pub(super) fn client(self, server: &Server) -> WebClient {
        let server = server.clone();
        let WebRoutes { open, guarded } = trace_serve::web(RecordingSource {
            locate: Box::new(move |thread| server.recording_of(thread)),
            open: Box::new(|bundle| {
                let Watched { session, newer } = session::open_to_watch(bundle).map_err(|failure| failure.message())?;
                let name = bundle.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
                Ok(Opened { session, newer, name })
            }),
        });
        WebClient { open, guarded, token: self.token, auth: self.auth, names: self.names }
    }
}

/// Opens the page in the browser. A server that cannot do so serves nevertheless.
pub(super) fn open(url: &str) {
    if let Err(error) = open::that_detached(url) {
        let _ = writeln!(std::io::stderr(), "cannot open a browser: {error}; open the address yourself");
    }
}

/// Returns whether a text can be the value of a `Host` header.
fn is_name(text: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b".-:[]".contains(&byte);
    !text.is_empty() && text.bytes().all(allowed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_no_scheme_and_no_path() {
        for good in ["phone.example", "phone.example:8443", "[::1]:80"] {
            assert!(is_name(good), "{good}");
        }
        for bad in ["", "https://phone.example", "phone.example/", "a b", "a;b"] {
            assert!(!is_name(bad), "{bad}");
        }
    }
}
