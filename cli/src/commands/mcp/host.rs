//! The app-server that agents run in. It starts with the first agent.

use std::path::PathBuf;
use std::time::Duration;

use tokio::sync::OnceCell;
use trace_mcp_server::{Host, Problem, Running, Starting};
use trace_server::Server;

use super::library::told;
use crate::serving::{self, Preparation, ServingArgs};
use crate::ui::failure::Failure;

/// Longest time that the app-server may take to end commands and threads.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(1);

/// The app-server in this process.
pub(super) struct InProcess {
    args: ServingArgs,
    /// Files that commands of agents cannot read.
    secret_files: Vec<PathBuf>,
    started: OnceCell<Started>,
}

struct Started {
    server: Server,
    has_approval_policy: bool,
}

impl InProcess {
    pub(super) fn new(args: ServingArgs, secret_files: Vec<PathBuf>) -> Self {
        Self { args, secret_files, started: OnceCell::new() }
    }

    /// Ends the app-server, if it was started.
    pub(super) async fn end(&self) {
        if let Some(started) = self.started.get() {
            let _ = tokio::time::timeout(SHUTDOWN_TIMEOUT, started.server.shutdown()).await;
        }
    }

    /// Kills what commands left behind, if any ran. To be called when the runtime has ended.
    pub(super) fn end_descendants(&self) {
        if self.started.get().is_some() {
            serving::end_descendants();
        }
    }

    fn start(&self) -> Result<Started, Failure> {
        let cwd = std::env::current_dir();
        let cwd = cwd.map_err(|error| Failure::data(error).context("there is no working folder"))?;
        let preparation = Preparation { secret_files: &self.secret_files, ..Preparation::default() };
        let serving = self.args.prepare_with(&cwd, &preparation)?;
        let has_approval_policy = serving.has_approval_policy();
        Ok(Started { server: serving.start()?, has_approval_policy })
    }
}

impl Host for InProcess {
    fn running(&self) -> Starting<'_> {
        Box::pin(async {
            let start = || async { tokio::task::block_in_place(|| self.start()).map_err(|failure| told(&failure)) };
            let started = self.started.get_or_try_init(start).await?;
            let Started { server, has_approval_policy } = started;
            Ok::<_, Problem>(Running { opener: server.opener().clone(), has_approval_policy: *has_approval_policy })
        })
    }
}
