//! Which addresses the metadata of an MCP server may name.
//!
//! A server is not trusted, and what it names is asked by this process, which may reach what the server cannot: the machine
//! itself and the network that it is in. So a server on the internet may name addresses on the internet only.

use std::net::{IpAddr, Ipv4Addr};

use reqwest::Url;

use super::error::OAuthError;

/// Where the host of an address is, as far as the address itself says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    /// Anywhere.
    Internet,
    /// In a network that is not part of the internet.
    Network,
    /// On this machine.
    Machine,
}

/// The addresses that one MCP server may name.
#[derive(Debug, Clone)]
pub(super) struct Reach {
    server: Url,
}

impl Reach {
    /// Returns the addresses that this server may name.
    ///
    /// # Errors
    ///
    /// Returns an error if the address of the server itself is not safe for tokens.
    pub(super) fn of(server: &Url) -> Result<Self, OAuthError> {
        let reach = Self { server: server.clone() };
        reach.check("the MCP server", server)?;
        Ok(reach)
    }

    /// Checks an address that the server or its authorization server names.
    pub(super) fn check(&self, what: &str, url: &Url) -> Result<(), OAuthError> {
        let refused = |why: String| Err(OAuthError::Refused { what: format!("{what} at {}", shown(url)), why });
        let (here, there) = (place(&self.server), place(url));
        match url.scheme() {
            "https" => {}
            "http" if there == Place::Machine => {}
            "http" => return refused("a token could be read on its way; it must begin with https://".to_owned()),
            other => return refused(format!("`{other}` is neither https nor http")),
        }
        if !url.username().is_empty() || url.password().is_some() {
            return refused("it contains a user name or a password".to_owned());
        }
        if url.fragment().is_some() {
            return refused("it has a fragment".to_owned());
        }
        if there > here {
            let whose = if there == Place::Machine { "on this machine" } else { "in a private network" };
            return refused(format!("it is {whose}, but the MCP server at {} is not", shown(&self.server)));
        }
        Ok(())
    }

    /// Checks that an address has the origin of the server.
    pub(super) fn check_origin(&self, what: &str, url: &Url) -> Result<(), OAuthError> {
        if url.origin() == self.server.origin() {
            return self.check(what, url);
        }
        Err(OAuthError::Refused {
            what: format!("{what} at {}", shown(url)),
            why: format!("it is on another host than the MCP server at {}", shown(&self.server)),
        })
    }
}

/// Returns an address without what may be secret: user name, query and fragment.
pub(super) fn shown(url: &Url) -> String {
    let mut url = url.clone();
    url.set_query(None);
    url.set_fragment(None);
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.to_string().chars().take(200).collect()
}

/// Returns the loopback address that the host of an address stands for. `None` if the host is another one.
pub(super) fn loopback(url: &Url) -> Option<IpAddr> {
    match host(url) {
        Host::Localhost => Some(Ipv4Addr::LOCALHOST.into()),
        Host::Address(address) => Some(address).filter(IpAddr::is_loopback),
        Host::Name => None,
    }
}

/// Returns whether the host of an address stands for all addresses of a machine, such as 0.0.0.0.
pub(super) fn is_unspecified(url: &Url) -> bool {
    matches!(host(url), Host::Address(address) if address.is_unspecified())
}

enum Host {
    Localhost,
    Address(IpAddr),
    Name,
}

fn host(url: &Url) -> Host {
    let host = url.host_str().unwrap_or_default().trim_end_matches('.').to_ascii_lowercase();
    if host == "localhost" || host.ends_with(".localhost") {
        return Host::Localhost;
    }
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    address.map_or(Host::Name, |address| Host::Address(address.to_canonical()))
}

fn place(url: &Url) -> Place {
    match host(url) {
        Host::Localhost => Place::Machine,
        Host::Name => Place::Internet,
        Host::Address(address) => place_of(address),
    }
}

fn place_of(address: IpAddr) -> Place {
    if address.is_loopback() || address.is_unspecified() {
        return Place::Machine;
    }
    let is_private = match address {
        IpAddr::V4(address) => {
            let [first, second, ..] = address.octets();
            // Shared addresses of providers, 100.64.0.0/10, are not reachable from the internet either.
            address.is_private() || address.is_link_local() || (first == 100 && second & 0xc0 == 64)
        }
        IpAddr::V6(address) => address.is_unique_local() || address.is_unicast_link_local(),
    };
    if is_private { Place::Network } else { Place::Internet }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).expect("an address")
    }

    fn allows(server: &str, named: &str) -> bool {
        Reach::of(&url(server)).expect("a server").check("it", &url(named)).is_ok()
    }

    #[test]
    fn a_server_names_only_what_it_could_reach_itself() {
        let (internet, network, machine) =
            ("https://mcp.example.org/mcp", "https://10.0.0.5/mcp", "http://127.0.0.1:9/mcp");
        for (named, by) in [
            ("https://auth.example.net/x", [true, true, true]),
            ("http://auth.example.net/x", [false, false, false]),
            ("https://192.168.1.1/", [false, true, true]),
            ("https://169.254.169.254/", [false, true, true]),
            ("https://100.64.0.1/", [false, true, true]),
            ("https://[fd00::1]/", [false, true, true]),
            ("http://192.168.1.1/", [false, false, false]),
            ("https://localhost/", [false, false, true]),
            ("https://a.localhost./", [false, false, true]),
            ("https://[::1]/", [false, false, true]),
            ("https://[::ffff:127.0.0.1]/", [false, false, true]),
            ("http://0.0.0.0/", [false, false, true]),
            ("http://127.1/", [false, false, true]),
            ("https://me@auth.example.net/", [false, false, false]),
            ("https://auth.example.net/#x", [false, false, false]),
            ("ftp://auth.example.net/", [false, false, false]),
        ] {
            assert_eq!([internet, network, machine].map(|server| allows(server, named)), by, "{named}");
        }
        assert!(
            Reach::of(&url("http://mcp.example.org/mcp")).is_err(),
            "a token would go over the network unencrypted"
        );
    }

    #[test]
    fn metadata_is_read_from_the_host_of_the_server_only() {
        let reach = Reach::of(&url("https://mcp.example.org/mcp")).expect("a server");
        assert!(reach.check_origin("it", &url("https://mcp.example.org/other")).is_ok());
        for other in ["https://mcp.example.net/", "https://mcp.example.org:8443/", "https://x.mcp.example.org/"] {
            let error = reach.check_origin("the metadata", &url(other)).expect_err("another host");
            assert!(
                error.to_string().contains("another host than the MCP server at https://mcp.example.org/mcp"),
                "{error}"
            );
        }
    }
}
