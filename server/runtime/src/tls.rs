//! The TLS configuration of all HTTP clients: those of model providers, of MCP servers and of collectors.

use std::sync::Arc;

use rustls::{ClientConfig, Error, RootCertStore};
use rustls_platform_verifier::BuilderVerifierExt;

/// Certificates that connections trust.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Certificates {
    /// None: no connection is encrypted, and the machine may have no certificates.
    None,
    /// The certificates that the machine trusts.
    OfTheMachine,
}

impl Certificates {
    /// Returns the certificates that are needed for a URL with this scheme. Only `https` needs any.
    pub fn for_scheme(scheme: &str) -> Self {
        if scheme == "https" { Self::OfTheMachine } else { Self::None }
    }

    /// Returns the configuration of a client that trusts these certificates and has none of its own.
    ///
    /// # Errors
    ///
    /// Returns an error if the certificates of the machine cannot be loaded.
    pub fn client_config(self) -> Result<ClientConfig, Error> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
        let builder = match self {
            Self::OfTheMachine => builder.with_platform_verifier()?,
            Self::None => builder.with_root_certificates(RootCertStore::empty()),
        };
        Ok(builder.with_no_client_auth())
    }
}
