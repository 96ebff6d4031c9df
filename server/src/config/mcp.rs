//! The MCP servers that a configuration defines.

use std::collections::BTreeSet;

use trace_mcp::ServerConfig;
use trace_mcp::oauth::CallbackAddress;

use super::error::ConfigError;
use super::keys::Keys;

/// Returns the configured MCP servers. An invalid server is an error if it is `required`, and a warning otherwise.
pub(super) fn servers(keys: &Keys, remarks: &mut BTreeSet<String>) -> Result<Vec<ServerConfig>, ConfigError> {
    let mut servers = Vec::new();
    for (name, table) in &keys.mcp_servers {
        match ServerConfig::read(name, table) {
            Ok(read) => {
                let unknown = read.unknown.iter();
                remarks
                    .extend(unknown.map(|key| format!("`mcp_servers.{name}.{key}` is not a known key and is ignored")));
                servers.push(read.server);
            }
            Err(error) => {
                let message = format!("MCP server `{name}` cannot be used: {error}");
                if table.get("required").and_then(toml::Value::as_bool) == Some(true) {
                    return Err(ConfigError::Invalid { message });
                }
                remarks.insert(message);
            }
        }
    }
    Ok(servers)
}

/// Returns where the browser returns to after a login at an MCP server.
pub(super) fn callback(keys: &Keys) -> Result<CallbackAddress, ConfigError> {
    let url = keys.mcp_oauth_callback_url.as_deref().map(CallbackAddress::parse).transpose();
    let url = url.map_err(|error| ConfigError::Invalid { message: error.to_string() })?;
    if keys.mcp_oauth_callback_port == Some(0) {
        let message = "`mcp_oauth_callback_port` is 0; leave it out for any free port".to_owned();
        return Err(ConfigError::Invalid { message });
    }
    Ok(CallbackAddress { port: keys.mcp_oauth_callback_port, url })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (Result<Vec<ServerConfig>, ConfigError>, Vec<String>) {
        let mut remarks = BTreeSet::new();
        let servers = servers(&toml::from_str::<Keys>(text).expect("keys"), &mut remarks);
        (servers, remarks.into_iter().collect())
    }

    #[test]
    fn an_invalid_server_does_not_affect_others() {
        let (servers, remarks) = read(
            "[mcp_servers.good]\ncommand = 'x'\nskills = []\n[mcp_servers.bad]\ncommand = 'x'\nurl = 'http://a'\n[mcp_servers.'a b']\ncommand = 'x'",
        );
        let names: Vec<_> = servers.expect("servers").into_iter().map(|server| server.name).collect();
        assert_eq!(names, ["good"]);
        assert_eq!(
            remarks,
            [
                "MCP server `a b` cannot be used: `a b` is not a valid server name; use 1 to 128 of the characters A-Z a-z 0-9 _ -",
                "MCP server `bad` cannot be used: a server has either a `command` or a `url`",
                "`mcp_servers.good.skills` is not a known key and is ignored",
            ]
        );
    }

    #[test]
    fn an_invalid_required_server_is_an_error() {
        let (servers, _) = read("[mcp_servers.bad]\nrequired = true");
        let error = servers.expect_err("it is required").to_string();
        assert_eq!(
            error,
            "invalid configuration: MCP server `bad` cannot be used: a server has either a `command` or a `url`"
        );
    }
}
