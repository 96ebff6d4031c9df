//! A server: its options, its start and its shutdown.

use std::path::PathBuf;
use std::sync::{Arc, Weak};
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json::value::RawValue;
use trace_protocol::connection::{InitializeParams, InitializeResponse};
use trace_protocol::notification::{
    RemoteControlConnectionStatus, RemoteControlStatusChangedNotification, WarningNotification,
};
use trace_protocol::{ClientRequest, RequestId, RpcError};
use trace_runtime::runtime::{Runtime, RuntimeOptions};

use crate::connection::Connection;
use crate::core::{Core, Parts};
use crate::hub::tell;
use crate::ingress::{ConnectionOpener, Responder, Service};
use crate::scopes::ScopeQueues;
use crate::services::{ServiceOptions, Services};
use crate::store::{Store, StoreError};
use crate::threads::{AnswerOutcome, Unloading};
use crate::traces::Traces;

/// Release of the protocol that the server implements. Clients see it as the version of the server.
pub const PROTOCOL_RELEASE: &str = "0.169.0";

/// Most characters of an id that are repeated in a message to the client that sent it.
const SHOWN_ID_CHARACTERS: usize = 64;

/// How long an idle thread without subscribers stays loaded.
pub(crate) const QUIET_BEFORE_UNLOADING: Duration = Duration::from_secs(30 * 60);

/// Interval of the search for idle threads.
pub(crate) const UNLOADING_ROUND: Duration = Duration::from_secs(60);

/// The options of a server.
pub struct ServerOptions {
    /// The server home.
    pub home: PathBuf,
    /// Options of the runtime. Bundles are written below its recording root.
    pub runtime: RuntimeOptions,
    /// Folder of the bundles that clients can read. `None` if the server has none.
    pub traces: Option<PathBuf>,
    /// Options of the services, including the configuration.
    pub services: ServiceOptions,
}

/// Why a server cannot start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The stored threads cannot be read.
    #[error("cannot open the threads of the server home")]
    Store(#[from] StoreError),
}

/// A server. Clones share the same server.
#[derive(Debug, Clone)]
pub struct Server {
    core: Arc<Core>,
    opener: ConnectionOpener,
}

impl Server {
    /// Starts a server. It must be called inside a tokio runtime. Clients can reach the server only after a transport
    /// was opened with [`Server::opener`].
    ///
    /// # Errors
    ///
    /// Returns an error if the server home cannot be used.
    pub fn start(options: ServerOptions) -> Result<Self, StartError> {
        let ServerOptions { home, runtime, traces, services } = options;
        let store = Store::open(&home, jiff::tz::TimeZone::system())?;
        let scopes = ScopeQueues::default();
        let parts = Parts {
            cwd: services.cwd.clone(),
            version: PROTOCOL_RELEASE.to_owned(),
            store,
            configuration: Arc::clone(&services.configuration),
            services: Services::beside(services, Arc::clone(&runtime.folders), Arc::clone(&runtime.environment)),
            traces: Arc::new(Traces::new(traces)),
            scopes: scopes.clone(),
        };
        let core = Core::new(parts, |host| Runtime::new(runtime, host));
        let opener = ConnectionOpener::new(Arc::new(Front(Arc::clone(&core))), scopes);
        unload_quiet_threads(Arc::downgrade(&core.unloading));
        Ok(Self { core, opener })
    }

    /// Returns the ingress for new connections.
    #[must_use]
    pub fn opener(&self) -> &ConnectionOpener {
        &self.opener
    }

    /// Returns the bundle of a thread: the one that is being written, otherwise the newest. Returns `None` for a thread
    /// that was not recorded. Reads files, so it must not be called on a thread that handles connections.
    #[must_use]
    pub fn recording_of(&self, thread: &str) -> Option<PathBuf> {
        self.core.traces.recording_of(thread)
    }

    /// Stops all agents and what they run, and completes their recordings.
    pub async fn shutdown(&self) {
        self.core.shutdown().await;
        // Commands that clients started would continue without the server.
        self.core.services.ended().await;
    }
}

/// Unloads idle threads, as long as the server exists.
fn unload_quiet_threads(unloading: Weak<Unloading>) {
    tokio::spawn(async move {
        let mut round = tokio::time::interval(UNLOADING_ROUND);
        loop {
            round.tick().await;
            let Some(unloading) = unloading.upgrade() else { return };
            unloading.unload_quiet(QUIET_BEFORE_UNLOADING).await;
        }
    });
}

/// The service behind all connections.
struct Front(Arc<Core>);

impl Service for Front {
    fn initialize(
        &self,
        _connection: &Arc<Connection>,
        params: &InitializeParams,
    ) -> Result<InitializeResponse, RpcError> {
        let core = &self.0;
        let client = &params.client_info;
        Ok(InitializeResponse {
            codex_home: crate::mapping::settings::absolute(core.store.home()),
            platform_family: std::env::consts::FAMILY.to_owned(),
            platform_os: std::env::consts::OS.to_owned(),
            user_agent: format!(
                "{}/{} ({}; {}) trace ({}; {})",
                client.name,
                PROTOCOL_RELEASE,
                std::env::consts::OS,
                std::env::consts::ARCH,
                client.name,
                client.version
            ),
        })
    }

    fn initialized(&self, connection: &Arc<Connection>) {
        let core = &self.0;
        for warning in core.services.config.warnings() {
            tell(connection, warning);
        }
        tell(
            connection,
            RemoteControlStatusChangedNotification {
                installation_id: String::new(),
                server_name: "trace".to_owned(),
                status: RemoteControlConnectionStatus::Disabled,
                environment_id: None,
            },
        );
        core.hub.join(connection);
    }

    fn handle(
        &self,
        _connection: Arc<Connection>,
        request: ClientRequest,
        responder: Responder,
    ) -> BoxFuture<'static, ()> {
        Arc::clone(&self.0).dispatch(request, responder).boxed()
    }

    fn answered(&self, connection: &Arc<Connection>, id: RequestId, answer: Result<Box<RawValue>, RpcError>) {
        if self.0.questions.answered(connection.id(), &id, answer.as_deref()) == AnswerOutcome::Accepted {
            return;
        }
        if self.0.services.account.tokens.answered(connection.id(), &id, answer.as_deref()) {
            return;
        }
        let id: String = id.to_string().chars().take(SHOWN_ID_CHARACTERS).collect();
        tracing::warn!(connection = %connection.id(), id, "an answer was dropped");
        let message = format!(
            "the answer to request {id} was dropped: it was answered or withdrawn before, or this client was not asked"
        );
        tell(connection, WarningNotification { message, thread_id: None });
    }

    fn closed(&self, connection: &Arc<Connection>) {
        let core = &self.0;
        core.hub.leave(connection.id());
        for thread in core.threads.all() {
            thread.leave(connection.id());
        }
        core.services.closed(connection.id());
        core.traces.closed(connection.id());
    }

    fn drain(&self) -> BoxFuture<'static, ()> {
        let core = Arc::clone(&self.0);
        async move { core.drain().await }.boxed()
    }
}
