//! The environment variables of commands, as a configuration defines them.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use trace_mcp::{INHERITED_VARIABLES, ServerConfig, Transport};
use trace_runtime::environment::{Inherit, NamePattern, VariableRules};
use trace_runtime::provider::ProviderConfig;
use trace_runtime::provider::config::KeySource;

/// The table `shell_environment_policy`, whose keys are those of the Codex CLI.
#[derive(Debug, Clone, Default, Deserialize)]
pub(super) struct VariableKeys {
    #[serde(default)]
    inherit: Inherit,
    #[serde(default)]
    ignore_default_excludes: bool,
    #[serde(default)]
    exclude: Vec<NamePattern>,
    #[serde(default)]
    include_only: Vec<NamePattern>,
    #[serde(default)]
    set: BTreeMap<String, String>,
}

/// Variables that MCP servers are often given and that hold no keys.
const ORDINARY: &[&str] = &[
    "ALL_PROXY",
    "DBUS_SESSION_BUS_ADDRESS",
    "DEBUG",
    "DISPLAY",
    "EDITOR",
    "FTP_PROXY",
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "LOG_LEVEL",
    "NODE_ENV",
    "NODE_OPTIONS",
    "NODE_PATH",
    "NO_PROXY",
    "PYTHONPATH",
    "PYTHONUNBUFFERED",
    "RUST_BACKTRACE",
    "RUST_LOG",
    "TEMP",
    "TMP",
    "VIRTUAL_ENV",
    "WAYLAND_DISPLAY",
];

/// Returns the rules for the variables of commands.
pub(super) fn rules(
    keys: VariableKeys,
    pass: Vec<NamePattern>,
    providers: &BTreeMap<String, ProviderConfig>,
    servers: &[ServerConfig],
) -> VariableRules {
    let of_providers = providers.values().flat_map(of_provider);
    let of_servers = servers.iter().flat_map(of_server);
    VariableRules {
        keys: of_providers.chain(of_servers).chain(["OPENAI_API_KEY", "CODEX_API_KEY"].map(str::to_owned)).collect(),
        inherit_key_names: keys.ignore_default_excludes,
        exclude: keys.exclude,
        pass,
        include_only: keys.include_only,
        inherit: keys.inherit,
        set: keys.set,
    }
}

/// Returns the names of the variables from which a model provider takes keys.
fn of_provider(provider: &ProviderConfig) -> BTreeSet<String> {
    let key = match &provider.key {
        KeySource::Variable { name, .. } | KeySource::VariableIfSet { name } => Some(name.clone()),
        KeySource::Nowhere | KeySource::Clients | KeySource::Command { .. } => None,
    };
    provider.env_http_headers.values().cloned().chain(key).collect()
}

/// Returns the names of the variables from which an MCP server takes keys. Every variable that the server is given by
/// name may hold a key, unless it is one that all programs get.
fn of_server(server: &ServerConfig) -> BTreeSet<String> {
    match &server.transport {
        Transport::Http { bearer_token_env_var, env_headers, .. } => {
            bearer_token_env_var.iter().chain(env_headers.values()).cloned().collect()
        }
        Transport::Process { env, env_vars, .. } => {
            let is_ordinary = |name: &str| {
                let capitals = name.to_ascii_uppercase();
                INHERITED_VARIABLES.contains(&name)
                    || ORDINARY.contains(&capitals.as_str())
                    || capitals.starts_with("LC_")
            };
            env.keys().chain(env_vars).filter(|name| !is_ordinary(name)).cloned().collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::{CONFIG_FILE_NAME, ConfigStore};
    use super::*;

    fn read(text: &str) -> Result<VariableRules, String> {
        let home = tempfile::tempdir().expect("a folder");
        std::fs::write(home.path().join(CONFIG_FILE_NAME), text).expect("the file system works");
        let open = |home: &Path| ConfigStore::open(home, &[]).map_err(|error| error.to_string());
        Ok(open(home.path())?.last_good().variables.clone())
    }

    #[test]
    fn variables_that_are_configured_as_keys_count_as_keys() {
        let rules = read(
            "[model_providers.a]\nbase_url = 'http://a'\nenv_key = 'A_MODEL'\nenv_http_headers = { X = 'A_HEADER' }\n\
             [mcp_servers.b]\nurl = 'http://b'\nbearer_token_env_var = 'B_BEARER'\nenv_http_headers = { X = 'B_HEADER' }\n\
             [mcp_servers.c]\ncommand = 'c'\nenv = { C_SET = 'x', PATH = '/bin', no_proxy = 'x' }\nenv_vars = ['C_PASSED', 'DISPLAY', 'LC_TIME']\n",
        );
        let keys: Vec<String> = rules.expect("rules").keys.into_iter().collect();
        assert_eq!(
            keys,
            ["A_HEADER", "A_MODEL", "B_BEARER", "B_HEADER", "CODEX_API_KEY", "C_PASSED", "C_SET", "OPENAI_API_KEY"]
        );
    }

    #[test]
    fn variable_rules_have_the_keys_of_the_codex_cli() {
        let rules = read(
            "[shell_environment_policy]\ninherit = 'core'\nignore_default_excludes = true\nexclude = ['A*']\n\
             include_only = ['B?']\nset = { C = 'd' }\n[sandbox]\npass_variables = ['D_TOKEN']",
        )
        .expect("rules");
        let patterns = |text: &str| vec![NamePattern::new(text).expect("a pattern")];
        let expected = VariableRules {
            keys: BTreeSet::from(["CODEX_API_KEY", "OPENAI_API_KEY"].map(str::to_owned)),
            inherit_key_names: true,
            exclude: patterns("A*"),
            pass: patterns("D_TOKEN"),
            include_only: patterns("B?"),
            inherit: Inherit::Core,
            set: BTreeMap::from([("C".to_owned(), "d".to_owned())]),
        };
        assert_eq!(rules, expected);
        let error = read("[sandbox]\npass_variables = ['A=b']").expect_err("it is no name");
        assert!(error.contains("a name of a variable has"), "{error}");
    }

    #[test]
    fn the_list_is_sorted() {
        assert!(ORDINARY.is_sorted());
    }
}
