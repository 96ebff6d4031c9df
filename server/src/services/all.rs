//! All services, and the dispatch of methods to them.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use trace_mcp::Variables;
use trace_protocol::RpcError;
use trace_protocol::methods::method;
use trace_protocol::notification::AccountUpdatedNotification;
use trace_runtime::environment::CommandEnvironment;
use trace_runtime::sandbox::WritableFolderRegistry;

use super::account::{self, AccountService};
use super::catalogs::CatalogService;
use super::config::ConfigService;
use super::diagnostics::{Gauge, diagnostics};
use super::exec::{ExecService, Launcher};
use super::fs::FsService;
use super::mcp::McpService;
use super::models::ModelService;
use super::notify::Notifier;
use super::search::SearchService;
use super::watch::WatchService;
use crate::client_tokens::ClientTokens;
use crate::config::ConfigStore;
use crate::connection::{Connection, ConnectionId};
use crate::ingress::Responder;
use crate::requests::ServiceRequest;

/// What the services need from the server.
pub struct ServiceOptions {
    /// The folder that relative paths are relative to. It must be absolute.
    pub cwd: PathBuf,
    /// The configuration of the server.
    pub configuration: Arc<ConfigStore>,
    /// Confines commands. If it is `None`, only commands that ask for no sandbox are run.
    pub launcher: Option<Launcher>,
    /// The environment variables that MCP servers may use.
    pub variables: Variables,
    /// The tokens that clients give for providers. The providers of the runtime ask them.
    pub tokens: Arc<ClientTokens>,
}

impl fmt::Debug for ServiceOptions {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("ServiceOptions").field("cwd", &self.cwd).finish_non_exhaustive()
    }
}

/// The services for requests that do not concern threads.
#[derive(Debug)]
pub struct Services {
    /// Answers requests about accounts.
    pub account: AccountService,
    /// Returns catalogues.
    pub catalogs: CatalogService,
    /// Reads and changes the configuration.
    pub config: ConfigService,
    /// Runs commands.
    pub exec: ExecService,
    /// Reads and changes files.
    pub fs: FsService,
    /// Starts MCP servers and lists them.
    pub mcp: Arc<McpService>,
    /// Lists models and providers.
    pub models: ModelService,
    /// Searches for files.
    pub search: SearchService,
    /// Watches files.
    pub watch: WatchService,
}

impl Services {
    /// Creates the services of a server without agents.
    #[must_use]
    pub fn new(options: ServiceOptions) -> Self {
        Self::beside(options, Arc::default(), Arc::default())
    }

    /// Creates the services of a server whose agents share `folders` and whose commands share `environment`.
    #[must_use]
    pub fn beside(
        options: ServiceOptions,
        folders: Arc<WritableFolderRegistry>,
        environment: Arc<CommandEnvironment>,
    ) -> Self {
        let ServiceOptions { cwd, configuration, launcher, variables, tokens } = options;
        Self {
            account: AccountService { tokens },
            catalogs: CatalogService::new(cwd.clone()),
            config: ConfigService::new(Arc::clone(&configuration)),
            exec: ExecService::new(cwd.clone(), launcher, environment),
            fs: FsService::default(),
            mcp: Arc::new(McpService::new(cwd.clone(), variables, configuration.home().to_owned(), folders)),
            models: ModelService,
            search: SearchService::new(cwd),
            watch: WatchService::default(),
        }
    }

    /// Ends everything that belongs to a connection.
    pub fn closed(&self, connection: ConnectionId) {
        self.account.tokens.closed(connection);
        self.exec.closed(connection);
        self.watch.closed(connection);
        self.search.closed(connection);
    }

    /// Ends everything that runs.
    pub fn shutdown(&self) {
        self.exec.shutdown();
    }

    /// Waits until everything that was running has ended. Call it after [`shutdown`](Self::shutdown).
    pub async fn ended(&self) {
        self.exec.ended().await;
    }

    /// Serves a request that does not concern threads. `gauges` are the measurements of the whole server.
    ///
    /// A `command/exec` is answered by a task of its own when the command ends. Later requests for the same command do
    /// not wait for that.
    pub async fn serve(
        &self,
        request: ServiceRequest,
        responder: Responder,
        gauges: impl FnOnce() -> Vec<Gauge> + Send,
    ) {
        use ServiceRequest as R;
        macro_rules! answer {
            ($method:ident, $result:expr) => {{
                let answer: Result<_, RpcError> = $result;
                responder.respond::<method::$method>(&answer)
            }};
        }
        let connection: Arc<Connection> = Arc::clone(responder.connection());
        let id = connection.id();
        let notifier: Notifier = connection;
        match request {
            R::AccountRead(params) => answer!(AccountRead, Ok(self.account.read(&params))),
            R::AccountLoginStart(params) => {
                let config = self.config.current().await;
                let plan = account::plan_of(&params);
                let answer = self.account.login(&config, responder.connection(), *params);
                let notifications = answer.is_ok().then(|| account::logged_in(plan));
                answer!(AccountLoginStart, answer);
                notifications.into_iter().flatten().for_each(|notification| notifier.notify(notification));
            }
            R::AccountLogout(_) => {
                answer!(AccountLogout, Ok(self.account.logout(responder.connection())));
                notifier.notify(AccountUpdatedNotification::default().into());
            }
            R::AccountBedrockCheckGovCloudRequirements(_) => {
                answer!(AccountBedrockCheckGovCloudRequirements, Ok(account::check_gov_cloud()));
            }
            R::ModelList(params) => {
                let config = self.config.current().await;
                answer!(ModelList, self.models.list(&config, &params));
            }
            R::ModelProviderList(_) => {
                let config = self.config.current().await;
                answer!(ModelProviderList, Ok(self.models.providers(&config)));
            }
            R::ModelProviderCapabilitiesRead(_) => {
                answer!(ModelProviderCapabilitiesRead, Ok(self.models.capabilities()));
            }
            R::SkillsList(params) => answer!(SkillsList, Ok(self.catalogs.skills(*params))),
            R::HooksList(params) => answer!(HooksList, Ok(self.catalogs.hooks(*params))),
            R::PluginInstalled(_) => answer!(PluginInstalled, Ok(self.catalogs.plugins())),
            R::CollaborationModeList(_) => {
                let config = self.config.current().await;
                answer!(CollaborationModeList, Ok(self.catalogs.collaboration_modes(&config)));
            }
            R::PermissionProfileList(params) => {
                answer!(PermissionProfileList, self.catalogs.permission_profiles(&params));
            }
            R::ExperimentalFeatureList(params) => answer!(ExperimentalFeatureList, self.catalogs.features(&params)),
            R::McpServerStatusList(params) => {
                let config = self.config.current().await;
                answer!(McpServerStatusList, self.mcp.list(&config, &params).await);
            }
            R::McpServerOauthLogin(params) => {
                let config = self.config.current().await;
                answer!(McpServerOauthLogin, self.mcp.login(&config, *params, notifier).await);
            }
            R::ConfigMcpServerReload(_) => answer!(ConfigMcpServerReload, Ok(self.mcp.reload().await)),
            R::McpServerToolCall(params) => answer!(McpServerToolCall, self.mcp.call_tool(*params).await),
            R::McpServerResourceRead(params) => {
                let config = self.config.current().await;
                answer!(McpServerResourceRead, self.mcp.read_resource(&config, &params).await);
            }
            R::McpServerPromptList(params) => answer!(McpServerPromptList, self.mcp.list_prompts(&params).await),
            R::McpServerPromptGet(params) => answer!(McpServerPromptGet, self.mcp.get_prompt(*params).await),
            R::ConfigRead(params) => answer!(ConfigRead, self.config.read(&params).await),
            R::ConfigValueWrite(params) => answer!(ConfigValueWrite, self.config.write_value(*params).await),
            R::ConfigBatchWrite(params) => answer!(ConfigBatchWrite, self.config.write_batch(*params).await),
            R::ConfigRequirementsRead(_) => answer!(ConfigRequirementsRead, Ok(account::configuration_requirements())),
            R::FsReadFile(params) => {
                // Keep the guard until the response is in the queue: no other large file of this connection is read
                // before.
                let (_turn, result) = self.fs.read_file_in_turn(id, *params, &notifier).await;
                answer!(FsReadFile, result);
            }
            R::FsWriteFile(params) => answer!(FsWriteFile, self.fs.write_file(id, *params).await),
            R::FsCreateDirectory(params) => answer!(FsCreateDirectory, self.fs.create_directory(id, *params).await),
            R::FsGetMetadata(params) => answer!(FsGetMetadata, self.fs.get_metadata(id, *params).await),
            R::FsReadDirectory(params) => answer!(FsReadDirectory, self.fs.read_directory(id, *params).await),
            R::FsRemove(params) => answer!(FsRemove, self.fs.remove(id, *params).await),
            R::FsCopy(params) => answer!(FsCopy, self.fs.copy(id, *params).await),
            R::FsWatch(params) => answer!(FsWatch, self.watch.watch(id, *params, notifier).await),
            R::FsUnwatch(params) => answer!(FsUnwatch, Ok(self.watch.unwatch(id, *params))),
            R::CommandExec(params) => {
                let config = self.config.current().await;
                match self.exec.command_exec(id, *params, &notifier, &config).await {
                    Ok(finish) => {
                        tokio::spawn(async move { responder.respond::<method::CommandExec>(&Ok(finish.await)) });
                    }
                    Err(error) => responder.refuse(&error),
                }
            }
            R::CommandExecWrite(params) => answer!(CommandExecWrite, self.exec.command_write(id, *params)),
            R::CommandExecTerminate(params) => answer!(CommandExecTerminate, self.exec.command_terminate(id, *params)),
            R::CommandExecResize(params) => answer!(CommandExecResize, self.exec.command_resize(id, *params)),
            R::ProcessSpawn(params) => match self.exec.process_spawn(id, *params, &notifier).await {
                Ok(life) => {
                    answer!(ProcessSpawn, Ok(trace_protocol::process::ProcessSpawnResponse {}));
                    tokio::spawn(life);
                }
                Err(error) => responder.refuse(&error),
            },
            R::ProcessWriteStdin(params) => answer!(ProcessWriteStdin, self.exec.process_write(id, *params)),
            R::ProcessKill(params) => answer!(ProcessKill, self.exec.process_kill(id, *params)),
            R::ProcessResizePty(params) => answer!(ProcessResizePty, self.exec.process_resize(id, *params)),
            R::FuzzyFileSearch(params) => answer!(FuzzyFileSearch, self.search.search(id, *params).await),
            R::FuzzyFileSearchSessionStart(params) => {
                answer!(FuzzyFileSearchSessionStart, self.search.session_start(id, *params, notifier));
            }
            R::FuzzyFileSearchSessionUpdate(params) => {
                answer!(FuzzyFileSearchSessionUpdate, self.search.session_update(id, *params));
            }
            R::FuzzyFileSearchSessionStop(params) => {
                answer!(FuzzyFileSearchSessionStop, Ok(self.search.session_stop(id, *params)));
            }
            R::ServerDiagnostics(_) => answer!(ServerDiagnostics, Ok(diagnostics(gauges()))),
        }
    }
}
