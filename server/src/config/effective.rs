//! The configuration that results from merging the layers.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Map, Value};
use trace_mcp::ServerConfig;
use trace_mcp::oauth::CallbackAddress;
use trace_runtime::environment::VariableRules;
use trace_runtime::provider::{ConfigError as ProviderConfigError, ProviderConfig};
use trace_runtime::replay::PROVIDER_NAME;
use trace_runtime::sandbox::Bubblewrap;
use trace_runtime::settings::{ApprovalPolicy, ClosedTemporary, Mode, Network, SandboxPolicy};
use trace_runtime::tree::Role;
use trace_runtime::{ModelWindow, Settings};

use super::catalog::CatalogModel;
use super::error::ConfigError;
use super::keys::{Keys, RecordingForm, Reviewer, RoleKeys, SandboxMode, WorkspaceKeys};
use super::known;
use super::layer::{self, Layer, LayerName};
use super::mcp;
use super::variables;

/// The model if neither the configuration nor the client names one.
pub const DEFAULT_MODEL: &str = "gpt-6.1-sol";
/// The provider if neither the configuration nor the client names one.
pub const DEFAULT_PROVIDER: &str = "openai";
/// Providers that need no configuration.
pub const BUILT_IN_PROVIDERS: &[&str] = &["openai", "scripted"];
/// Permission profiles that need no configuration, with their sandbox modes.
pub const PERMISSION_PROFILES: &[(&str, SandboxMode)] = &[
    (":read-only", SandboxMode::ReadOnly),
    (":workspace", SandboxMode::WorkspaceWrite),
    (":danger-full-access", SandboxMode::DangerFullAccess),
];
/// Default for the most bytes of project instructions that a model is shown.
pub const MAX_PROJECT_DOC_BYTES_DEFAULT: u64 = 32 * 1024;
/// Default for the most tokens of a tool's output that a model is shown.
pub const TOOL_OUTPUT_TOKENS_DEFAULT: u64 = 10_000;
/// Most warnings about a configuration that users see one by one. The others are only counted.
pub const MAX_WARNINGS: usize = 50;
/// Default for the most threads of a session that can exist at the same time, including the root agent's.
pub const MAX_AGENT_THREADS_DEFAULT: u32 = 4;
/// Default for the most generations of agents below the root agent.
pub const MAX_AGENT_DEPTH_DEFAULT: u32 = 3;

/// The configuration that applies, after all layers were merged.
#[derive(Debug, Clone)]
pub struct Config {
    /// The model for new threads.
    pub model: String,
    /// The provider of that model.
    pub provider: String,
    /// The configured providers by name. Invalid ones are left out, with a warning.
    pub providers: BTreeMap<String, ProviderConfig>,
    /// Base URL of the provider `openai`, if it is not the usual one.
    pub openai_base_url: Option<String>,
    /// Models that clients can choose in addition to `model`.
    pub models: Vec<CatalogModel>,
    /// Reasoning effort.
    pub effort: Option<String>,
    /// Reasoning effort in plan mode.
    pub plan_effort: Option<String>,
    /// Kind of the reasoning summaries.
    pub summary: Option<String>,
    /// Service tier at the provider.
    pub service_tier: Option<String>,
    /// Size of the context window in tokens. It overrides what is known about the model.
    pub model_context_window: Option<u64>,
    /// Number of tokens in the history at which a thread is compacted.
    pub auto_compact_token_limit: Option<u64>,
    /// When the user is asked for an approval.
    pub approval: ApprovalPolicy,
    /// Who answers approvals. `None` stands for the user.
    pub approvals_reviewer: Option<Reviewer>,
    /// What commands may read and write.
    pub sandbox_mode: SandboxMode,
    /// Whether commands run in bubblewrap.
    pub bubblewrap: Bubblewrap,
    /// Instructions that replace those of the runtime.
    pub base_instructions: Option<String>,
    /// Instructions in addition to the base instructions.
    pub developer_instructions: Option<String>,
    /// Tone of the model's answers.
    pub personality: Option<String>,
    /// Most bytes of project instructions that a model is shown.
    pub project_doc_max_bytes: u64,
    /// Most tokens of a tool's output that a model is shown.
    pub tool_output_token_limit: u64,
    /// Limits of trees of agents.
    pub agents: AgentLimits,
    /// Roles that a model can give to the agents that it spawns.
    pub roles: Vec<Role>,
    /// What a recording is while it is written.
    pub recording: RecordingForm,
    /// Whether `trace exec` prints an event for each agent that is spawned, told something or interrupted.
    pub exec_shows_agents: bool,
    /// The configured MCP servers. Invalid ones are left out, with a warning.
    pub mcp_servers: Vec<ServerConfig>,
    /// Where the browser returns to after a login at an MCP server.
    pub mcp_oauth_callback: CallbackAddress,
    /// Which environment variables commands get.
    pub variables: VariableRules,
    /// Warnings for the user about the configuration.
    pub warnings: Vec<String>,
    workspace: Workspace,
    base: Arc<Path>,
    layers: Vec<Layer>,
    merged: toml::Table,
}

fn role((name, keys): (String, RoleKeys)) -> Role {
    Role {
        name,
        description: keys.description,
        model: keys.model,
        effort: keys.model_reasoning_effort,
        instructions: keys.developer_instructions,
    }
}

/// Limits of trees of agents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AgentLimits {
    /// Most threads of a session that can exist at the same time, including the root agent's.
    pub max_threads: u32,
    /// Most generations of agents below the root agent.
    pub max_depth: u32,
}

/// What the policy `workspace-write` means.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Workspace {
    writable_roots: Vec<PathBuf>,
    network: Network,
    closed: ClosedTemporary,
}

impl Config {
    /// Returns whether a layer sets the approval policy.
    #[must_use]
    pub fn has_approval_policy(&self) -> bool {
        self.merged.contains_key("approval_policy")
    }

    /// Merges the layers with the defaults, the lowest layer first. Relative paths are relative to `base`.
    ///
    /// # Errors
    ///
    /// Returns an error if a value is invalid or a provider is unknown.
    pub(super) fn of_layers(layers: Vec<Layer>, base: Arc<Path>) -> Result<Self, ConfigError> {
        let mut merged = toml::Table::new();
        for layer in &layers {
            layer::overlay(&mut merged, layer.table.clone());
        }
        let mut remarks = BTreeSet::new();
        let keys: Keys = serde_ignored::deserialize(merged.clone(), |path| {
            remarks.extend(known::remark(&path.to_string()));
        })
        .map_err(|error: toml::de::Error| ConfigError::Invalid { message: one_line(&error.to_string()) })?;
        check(&keys)?;
        let providers = providers(&keys, &mut remarks)?;
        let mcp_servers = mcp::servers(&keys, &mut remarks)?;
        let mcp_oauth_callback = mcp::callback(&keys)?;
        let variables =
            variables::rules(keys.shell_environment_policy, keys.sandbox.pass_variables, &providers, &mcp_servers);
        let chosen = keys.models.iter().find(|model| model.default);
        let model = keys.model.or_else(|| chosen.map(|model| model.id.clone())).unwrap_or_else(|| DEFAULT_MODEL.into());
        let known = keys.models.iter().find(|known| known.id == model);
        let known_effort = known.and_then(|known| known.default_effort.clone());
        let known_provider = known.and_then(|known| known.provider.clone());
        Ok(Self {
            effort: keys.model_reasoning_effort.or(known_effort),
            plan_effort: keys.plan_mode_reasoning_effort,
            model,
            provider: keys.model_provider.or(known_provider).unwrap_or_else(|| DEFAULT_PROVIDER.into()),
            providers,
            openai_base_url: keys.openai_base_url,
            models: keys.models,
            summary: keys.model_reasoning_summary.map(|summary| summary.as_str().to_owned()),
            service_tier: keys.service_tier,
            model_context_window: keys.model_context_window,
            auto_compact_token_limit: keys.model_auto_compact_token_limit,
            // The default of the Codex CLI. A caller that starts threads without a user sets `never` for them.
            approval: keys.approval_policy.map_or(ApprovalPolicy::OnRequest, |policy| policy.policy()),
            approvals_reviewer: keys.approvals_reviewer,
            sandbox_mode: keys.sandbox_mode.unwrap_or(SandboxMode::WorkspaceWrite),
            bubblewrap: keys.sandbox.bubblewrap,
            base_instructions: keys.instructions,
            developer_instructions: keys.developer_instructions,
            personality: keys.personality,
            project_doc_max_bytes: keys.project_doc_max_bytes.unwrap_or(MAX_PROJECT_DOC_BYTES_DEFAULT),
            tool_output_token_limit: keys.tool_output_token_limit.unwrap_or(TOOL_OUTPUT_TOKENS_DEFAULT),
            roles: keys.agents.roles.into_iter().map(role).collect(),
            recording: keys.recording.form.unwrap_or_default(),
            exec_shows_agents: keys.exec.agents,
            agents: AgentLimits {
                max_threads: keys.agents.max_threads.unwrap_or(MAX_AGENT_THREADS_DEFAULT),
                max_depth: keys.agents.max_depth.unwrap_or(MAX_AGENT_DEPTH_DEFAULT),
            },
            mcp_servers,
            mcp_oauth_callback,
            variables,
            warnings: warnings(remarks),
            workspace: workspace(&keys.sandbox_workspace_write, &base),
            base,
            layers,
            merged,
        })
    }

    /// Returns this configuration with a client's settings for one thread: a map of dotted keys.
    ///
    /// # Errors
    ///
    /// Returns an error if a key or its value is invalid.
    pub fn with(&self, map: &Map<String, Value>) -> Result<Self, ConfigError> {
        if map.is_empty() {
            return Ok(self.clone());
        }
        let mut layers = self.layers.clone();
        layers.push(Layer::flags(layer::table_of_map(map)?));
        Self::of_layers(layers, Arc::clone(&self.base))
    }

    /// Returns the settings of a new thread that works in the folder `cwd`.
    #[must_use]
    pub fn settings(&self, cwd: &Path) -> Settings {
        Settings {
            model: self.model.clone(),
            provider: self.provider.clone(),
            effort: self.effort.clone(),
            summary: self.summary.clone(),
            service_tier: self.service_tier.clone(),
            cwd: cwd.to_owned(),
            approval: self.approval,
            approvals_reviewer: self.approvals_reviewer.map(|reviewer| reviewer.as_str().to_owned()),
            sandbox: self.sandbox(self.sandbox_mode),
            base_instructions: self.base_instructions.clone(),
            developer_instructions: self.developer_instructions.clone(),
            personality: self.personality.clone(),
            mode: Mode::Default,
            mode_instructions: None,
        }
    }

    /// Returns the sandbox policy for a sandbox mode.
    #[must_use]
    pub fn sandbox(&self, mode: SandboxMode) -> SandboxPolicy {
        match mode {
            SandboxMode::DangerFullAccess => SandboxPolicy::FullAccess,
            SandboxMode::ReadOnly => SandboxPolicy::ReadOnly { network: Network::Closed },
            SandboxMode::WorkspaceWrite => SandboxPolicy::WorkspaceWrite {
                writable_roots: self.workspace.writable_roots.clone(),
                network: self.workspace.network,
                closed: self.workspace.closed,
            },
        }
    }

    /// Returns the sandbox mode of a built-in permission profile.
    #[must_use]
    pub fn permission_profile(id: &str) -> Option<SandboxMode> {
        PERMISSION_PROFILES.iter().find(|(name, _)| *name == id).map(|(_, mode)| *mode)
    }

    /// Returns the size of a model's context window in tokens, if it is known.
    #[must_use]
    pub fn context_window(&self, model: &str) -> Option<u64> {
        self.model_context_window
            .or_else(|| self.models.iter().find(|known| known.id == model).and_then(|known| known.context_window))
    }

    /// Returns what is known about the context windows of single models.
    #[must_use]
    pub fn windows(&self) -> Vec<ModelWindow> {
        let of_model = |known: &CatalogModel| ModelWindow {
            model: known.id.clone(),
            context_window: known.context_window,
            compact_at: known.auto_compact_token_limit,
        };
        self.models.iter().map(of_model).collect()
    }

    /// Returns the providers that are reached over the network: `openai` and the configured ones. The base URL of
    /// `openai` is the configured one, or else `usual`, which callers can take from the environment.
    ///
    /// # Errors
    ///
    /// Returns an error if a base URL is invalid.
    pub fn network_providers(&self, usual: Option<&str>) -> Result<Vec<ProviderConfig>, ProviderConfigError> {
        let mut providers: Vec<_> = self.providers.values().cloned().collect();
        if !self.providers.contains_key(DEFAULT_PROVIDER) {
            providers.push(ProviderConfig::openai(self.openai_base_url.as_deref().or(usual))?);
        }
        Ok(providers)
    }

    /// Returns the names of all providers, the built-in ones first.
    #[must_use]
    pub fn provider_names(&self) -> Vec<&str> {
        let own = self.providers.keys().map(String::as_str).filter(|name| !BUILT_IN_PROVIDERS.contains(name));
        BUILT_IN_PROVIDERS.iter().copied().chain(own).collect()
    }

    /// Returns the layers, the lowest first.
    #[must_use]
    pub fn layers(&self) -> &[Layer] {
        &self.layers
    }

    /// Returns the effective layer of each key that is set.
    #[must_use]
    pub fn origins(&self) -> BTreeMap<String, &Layer> {
        let mut origins: BTreeMap<String, &Layer> = BTreeMap::new();
        for layer in &self.layers {
            layer::for_each_leaf(&layer.table, &mut |key| {
                // A value that replaces a table also replaces all members of the table.
                let inside = format!("{key}.");
                let below = origins.range(inside.clone()..).take_while(|(other, _)| other.starts_with(&inside));
                let below: Vec<String> = below.map(|(other, _)| other.clone()).collect();
                for other in below {
                    origins.remove(&other);
                }
                origins.insert(key.to_owned(), layer);
            });
        }
        origins
    }

    /// Returns the effective settings under their keys: the settings of the layers, and the defaults that clients read.
    #[must_use]
    pub fn to_json(&self) -> Map<String, Value> {
        let Value::Object(mut config) = layer::toml_to_json(&toml::Value::Table(self.merged.clone())) else {
            unreachable!("a table is an object")
        };
        let approval = match self.approval {
            ApprovalPolicy::Untrusted => "untrusted",
            ApprovalPolicy::OnRequest => "on-request",
            ApprovalPolicy::Never => "never",
        };
        config.insert("model".into(), self.model.clone().into());
        config.insert("model_provider".into(), self.provider.clone().into());
        config.insert("approval_policy".into(), approval.into());
        config.insert("sandbox_mode".into(), self.sandbox_mode.as_str().into());
        config.insert("project_doc_max_bytes".into(), self.project_doc_max_bytes.into());
        config.insert("tool_output_token_limit".into(), self.tool_output_token_limit.into());
        config
    }

    /// Returns the effective value at a dotted key that was split, if a layer sets it.
    pub(super) fn value_at(&self, key: &[String]) -> Option<Value> {
        layer::value_at(&self.merged, key).map(layer::toml_to_json)
    }

    /// Returns the highest layer that sets a value at or below a key.
    pub(super) fn layer_of(&self, key: &[String]) -> Option<&Layer> {
        self.layers.iter().rev().find(|layer| layer::value_at(&layer.table, key).is_some())
    }
}

/// Returns the warnings about a configuration, at most [`MAX_WARNINGS`] and one that counts the others.
fn warnings(remarks: BTreeSet<String>) -> Vec<String> {
    let more = remarks.len().saturating_sub(MAX_WARNINGS);
    let more = (more > 0).then(|| format!("and {more} more"));
    remarks.into_iter().take(MAX_WARNINGS).chain(more).collect()
}

/// Checks the rules that concern several keys.
fn check(keys: &Keys) -> Result<(), ConfigError> {
    let invalid = |message: String| Err(ConfigError::Invalid { message });
    let is_unknown = |name: &str| !BUILT_IN_PROVIDERS.contains(&name) && !keys.model_providers.contains_key(name);
    // The provider of a recording exists only while the recording is replayed, which the configuration cannot know. If
    // it is missing, the turn reports it.
    let is_missing = |name: &&String| is_unknown(name) && name.as_str() != PROVIDER_NAME;
    if let Some(name) = keys.model_provider.as_ref().filter(is_missing) {
        return invalid(format!("`model_provider` names `{name}`, but there is no `[model_providers.{name}]`"));
    }
    let mut seen = BTreeSet::new();
    for model in &keys.models {
        if !seen.insert(&model.id) {
            return invalid(format!("`models` has `{}` twice", model.id));
        }
        if let Some(name) = model.provider.as_ref().filter(|name| is_unknown(name)) {
            let id = &model.id;
            return invalid(format!(
                "`models` gives `{id}` the provider `{name}`, but there is no `[model_providers.{name}]`"
            ));
        }
    }
    if keys.models.iter().filter(|model| model.default).count() > 1 {
        return invalid("`models` has more than one default".to_owned());
    }
    Ok(())
}

/// Returns the configured providers. The provider in use must be valid; an invalid one among the others leads to a
/// warning.
fn providers(keys: &Keys, remarks: &mut BTreeSet<String>) -> Result<BTreeMap<String, ProviderConfig>, ConfigError> {
    let mut providers = BTreeMap::new();
    for (id, table) in &keys.model_providers {
        match ProviderConfig::read(id, table, None) {
            Ok(provider) => {
                providers.insert(id.clone(), provider);
            }
            Err(error) if keys.model_provider.as_ref() == Some(id) => {
                return Err(ConfigError::Invalid { message: error.to_string() });
            }
            Err(error) => {
                remarks.insert(format!("provider `{id}` cannot be used: {error}"));
            }
        }
    }
    Ok(providers)
}

/// Returns the meaning of the policy `workspace-write`. Relative paths are relative to `base`.
fn workspace(keys: &WorkspaceKeys, base: &Path) -> Workspace {
    Workspace {
        writable_roots: keys.writable_roots.iter().map(|root| base.join(root)).collect(),
        network: if keys.network_access { Network::Open } else { Network::Closed },
        closed: ClosedTemporary { tmpdir: keys.exclude_tmpdir_env_var, slash_tmp: keys.exclude_slash_tmp },
    }
}

/// Joins the lines of a parser's error message.
pub(super) fn one_line(message: &str) -> String {
    message.split('\n').map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(", ")
}

/// Returns whether a layer is the user's file.
pub(super) fn is_user(layer: &Layer) -> bool {
    matches!(layer.name, LayerName::User { .. })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn config(file: &str, flags: &str) -> Result<Config, ConfigError> {
        let user = Layer {
            name: LayerName::User { file: "/home/config.toml".into() },
            table: toml::from_str(file).expect("TOML"),
            version: "1".into(),
        };
        Config::of_layers(vec![user, Layer::flags(toml::from_str(flags).expect("TOML"))], Path::new("/home").into())
    }

    fn map(value: Value) -> Map<String, Value> {
        let Value::Object(map) = value else { panic!() };
        map
    }

    #[test]
    fn an_empty_configuration_means_the_defaults() {
        let config = config("", "").expect("a configuration");
        let settings = config.settings(Path::new("/work"));
        assert_eq!(settings.model, DEFAULT_MODEL);
        assert_eq!(settings.provider, DEFAULT_PROVIDER);
        assert_eq!(settings.approval, ApprovalPolicy::OnRequest);
        assert_eq!(
            settings.sandbox,
            SandboxPolicy::WorkspaceWrite {
                writable_roots: Vec::new(),
                network: Network::Closed,
                closed: ClosedTemporary::default(),
            }
        );
        assert_eq!(settings.cwd, Path::new("/work"));
        assert_eq!(
            config.agents,
            AgentLimits { max_threads: MAX_AGENT_THREADS_DEFAULT, max_depth: MAX_AGENT_DEPTH_DEFAULT }
        );
        // On Windows, a lock keeps readers out of the file.
        let form = if cfg!(windows) { RecordingForm::Directory } else { RecordingForm::Packed };
        assert_eq!(config.recording, form);
        assert_eq!(config.project_doc_max_bytes, MAX_PROJECT_DOC_BYTES_DEFAULT);
        assert_eq!(config.tool_output_token_limit, TOOL_OUTPUT_TOKENS_DEFAULT);
        assert!(config.warnings.is_empty());
    }

    #[test]
    fn agent_roles_are_read() {
        let text = "[agents.roles.reviewer]\ndescription = 'looks for mistakes'\nmodel = 'large'";
        let roles = config(text, "model = 'b'").expect("a configuration").roles;
        let expected = Role {
            name: "reviewer".to_owned(),
            description: "looks for mistakes".to_owned(),
            model: Some("large".to_owned()),
            effort: None,
            instructions: None,
        };
        assert_eq!(roles, [expected]);
        let error = config("[agents.roles.x]\nmodel = 'm'", "model = 'b'").expect_err("it says not what for");
        assert!(error.to_string().contains("description"), "{error}");
    }

    #[test]
    fn flags_override_the_file_and_a_thread_overrides_both() {
        let config = config("model = 'a'\nservice_tier = 'x'\n[agents]\nmax_threads = 7\nmax_depth = 1", "model = 'b'")
            .expect("a configuration");
        assert_eq!(config.model, "b");
        assert_eq!(config.agents, AgentLimits { max_threads: 7, max_depth: 1 });
        let thread = config
            .with(&map(json!({
                "model": "c", "agents.max_depth": 2, "sandbox_mode": "read-only", "service_tier": null,
                "model_reasoning_summary": "none", "approvals_reviewer": "auto_review",
            })))
            .expect("it is there");
        let settings = thread.settings(Path::new("/work"));
        assert_eq!(settings.model, "c");
        assert_eq!(settings.service_tier.as_deref(), Some("x"));
        assert_eq!(settings.summary.as_deref(), Some("none"));
        assert_eq!(settings.approvals_reviewer.as_deref(), Some("auto_review"));
        assert_eq!(settings.sandbox, SandboxPolicy::ReadOnly { network: Network::Closed });
        assert_eq!(thread.agents, AgentLimits { max_threads: 7, max_depth: 2 });
        assert_eq!(config.model, "b");
    }

    #[test]
    fn the_documented_keys_are_read() {
        let documentation = include_str!("../../../docs/configuration.md");
        let (_, rest) = documentation.split_once("```toml\n").expect("an example");
        let (example, _) = rest.split_once("```").expect("its end");
        let config = config(example, "").expect("a configuration");
        assert_eq!(config.warnings, [""; 0]);
        assert_eq!((config.model.as_str(), config.provider.as_str()), ("large", "mine"));
        assert_eq!(config.mcp_servers[0].name, "docs");
        // The example has every key of the tables.
        let keys = documentation.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next());
        let is_elsewhere =
            |key: &&str| ["model_providers", "mcp_servers", "agents.roles"].iter().any(|table| key.starts_with(table));
        for key in keys.filter(|key| !is_elsewhere(key)) {
            let last = key.rsplit('.').next().expect("a part");
            assert!(example.lines().any(|line| line.contains(last)), "`{key}` is not in the example");
        }
    }

    #[test]
    fn the_workspace_of_the_file_is_used() {
        let config = config(
            "sandbox_mode = 'workspace-write'\n[sandbox_workspace_write]\nwritable_roots = ['/data', 'near']\n\
             network_access = true\nexclude_slash_tmp = true",
            "",
        )
        .expect("it is there");
        assert_eq!(
            config.settings(Path::new("/work")).sandbox,
            SandboxPolicy::WorkspaceWrite {
                writable_roots: vec!["/data".into(), "/home/near".into()],
                network: Network::Open,
                closed: ClosedTemporary { tmpdir: false, slash_tmp: true },
            }
        );
        assert_eq!(config.sandbox(SandboxMode::DangerFullAccess), SandboxPolicy::FullAccess);
        assert_eq!(config.bubblewrap, Bubblewrap::Auto);
    }

    #[test]
    fn every_approval_policy_of_the_file_has_an_equivalent() {
        for (text, policy) in [
            ("'untrusted'", ApprovalPolicy::Untrusted),
            ("'on-failure'", ApprovalPolicy::OnRequest),
            ("'on-request'", ApprovalPolicy::OnRequest),
            ("'never'", ApprovalPolicy::Never),
            (
                "{granular = {sandbox_approval = true, rules = true, mcp_elicitations = false}}",
                ApprovalPolicy::OnRequest,
            ),
            ("{granular = {sandbox_approval = false, rules = true, mcp_elicitations = true}}", ApprovalPolicy::Never),
        ] {
            assert_eq!(
                config(&format!("approval_policy = {text}"), "").expect("a configuration").approval,
                policy,
                "{text}"
            );
        }
    }

    #[test]
    fn a_model_of_the_catalogue_sets_its_defaults() {
        let file = "[[models]]\nid = 'small'\ncontext_window = 1000\n\
                    [[models]]\nid = 'large'\ndefault = true\ncontext_window = 2000\nauto_compact_token_limit = 1500\n\
                    default_effort = 'high'";
        let chosen = config(file, "").expect("a configuration");
        assert_eq!((chosen.model.as_str(), chosen.effort.as_deref()), ("large", Some("high")));
        assert_eq!(chosen.context_window("large"), Some(2000));
        assert_eq!(chosen.context_window("other"), None);
        assert_eq!(chosen.provider, DEFAULT_PROVIDER);
        let elsewhere = "[[models]]\nid = 'a'\nprovider = 'scripted'\ndefault = true";
        assert_eq!(config(elsewhere, "").expect("a configuration").provider, "scripted");
        assert_eq!(config(elsewhere, "model_provider = 'openai'").expect("a configuration").provider, "openai");
        assert!(config("[[models]]\nid = 'a'\nprovider = 'nobody'", "").is_err());
        let large = ModelWindow { model: "large".into(), context_window: Some(2000), compact_at: Some(1500) };
        assert_eq!(chosen.windows()[1], large);
        let named = config(file, "model = 'small'\nmodel_context_window = 5").expect("a configuration");
        assert_eq!((named.model.as_str(), named.effort.as_deref()), ("small", None));
        assert_eq!(named.context_window("large"), Some(5));
    }

    #[test]
    fn wrong_values_are_refused_with_their_key() {
        for (flags, message) in [
            ("model = 3", "invalid type: integer `3`, expected a string, in `model`"),
            ("agents.max_depth = -1", "invalid value: integer `-1`, expected u32, in `agents.max_depth`"),
            ("model_provider = 'x'", "`model_provider` names `x`, but there is no `[model_providers.x]`"),
            ("models = [{id = 'a'}, {id = 'a'}]", "`models` has `a` twice"),
            ("models = [{id = 'a', default = true}, {id = 'b', default = true}]", "`models` has more than one default"),
        ] {
            let Err(ConfigError::Invalid { message: found }) = config("", flags) else { panic!("{flags}") };
            assert_eq!(found, message, "{flags}");
        }
    }

    #[test]
    fn keys_that_are_not_read_lead_to_warnings() {
        let config = config(
            "modle = 'x'\n[sandbox_workspace_write]\nnetwork = true\n[hooks.a]\ncommand = 'x'\nargs = []\n[tui]\na = 1",
            "",
        )
        .expect("it is there");
        assert_eq!(
            config.warnings,
            [
                "`hooks` has no effect here",
                "`modle` is not a known key and is ignored",
                "`sandbox_workspace_write.network` is not a known key and is ignored",
            ]
        );
    }

    #[test]
    fn only_the_provider_in_use_must_be_valid() {
        let file = "[model_providers.good]\nbase_url = 'http://host/v1'\nname = 'Good'\nrequest_max_retries = 1\n\
                    [model_providers.bad]\nwire_api = 'smoke'";
        let good = config(file, "model_provider = 'good'").expect("a configuration");
        assert_eq!(good.providers["good"].name, "Good");
        assert_eq!(good.provider_names(), ["openai", "scripted", "good"]);
        assert_eq!(good.warnings.len(), 1);
        assert!(good.warnings[0].starts_with("provider `bad` cannot be used: `model_providers.bad.wire_api`"));
        let Err(ConfigError::Invalid { message }) = config(file, "model_provider = 'bad'") else { panic!() };
        assert!(message.contains("model_providers.bad.wire_api"), "{message}");
        assert!(config("model_providers = 3", "").is_err());

        let asked = |config: &Config, usual| {
            let providers = config.network_providers(usual).expect("addresses");
            providers.iter().map(|one| (one.id.clone(), one.base_url.to_string())).collect::<Vec<_>>()
        };
        let openai = |url: &str| ("openai".to_owned(), url.to_owned());
        assert_eq!(asked(&good, Some("http://usual/v1"))[1], openai("http://usual/v1"));
        let named = config("openai_base_url = 'http://named/v1'", "").expect("a configuration");
        assert_eq!(asked(&named, Some("http://usual/v1")), [openai("http://named/v1")]);
        let own = config("[model_providers.openai]\nbase_url = 'http://own/v1'", "").expect("a configuration");
        assert_eq!(asked(&own, None), [openai("http://own/v1")]);
        assert_eq!(own.provider_names(), ["openai", "scripted"]);
    }

    #[test]
    fn origins_name_the_effective_layer() {
        let config =
            config("model = 'a'\nservice_tier = 'x'\n[agents]\nmax_depth = 1", "model = 'b'").expect("a configuration");
        let origins = config.origins();
        let names = origins.iter().map(|(key, layer)| (key.as_str(), is_user(layer))).collect::<Vec<_>>();
        assert_eq!(names, [("agents.max_depth", true), ("model", false), ("service_tier", true)]);
    }

    #[test]
    fn a_value_that_replaces_a_table_is_the_only_origin() {
        let config = config("a.b = 1\na.c.d = 2\na-b = 3\nab = 4", "a = 5").expect("a configuration");
        let keys: Vec<String> = config.origins().into_keys().collect();
        assert_eq!(keys, ["a", "a-b", "ab"]);
    }

    #[test]
    fn warnings_are_limited() {
        let text: String = (0..MAX_WARNINGS + 3).map(|number| format!("x{number} = 1\n")).collect();
        let warnings = config(&text, "").expect("a configuration").warnings;
        assert_eq!(warnings.len(), MAX_WARNINGS + 1);
        assert_eq!(warnings.last().expect("a warning"), "and 3 more");
    }

    #[test]
    fn clients_read_defaults_and_unknown_keys() {
        let json = config("unknown = 1\nmodel = 'a'", "").expect("a configuration").to_json();
        assert_eq!(
            Value::Object(json),
            json!({
                "unknown": 1, "model": "a", "model_provider": DEFAULT_PROVIDER, "approval_policy": "on-request",
                "sandbox_mode": "workspace-write", "project_doc_max_bytes": MAX_PROJECT_DOC_BYTES_DEFAULT,
                "tool_output_token_limit": TOOL_OUTPUT_TOKENS_DEFAULT,
            })
        );
    }
}
