//! The relay that `trace serve` dials.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use clap::Args;
use tokio::task::JoinHandle;
use trace_relay::seal::clients::SealedClientsFile;
use trace_server::ingress::ConnectionOpener;
use trace_server::secret_file;
use trace_server::transport::{Remote, RemoteOptions, Sealing, Shutdown, Stop};

use crate::ui::failure::Failure;

/// Name of the file with the keys of sealed clients in the server home.
const SEALING_FILE: &str = "sealing.json";

/// The relay to dial.
#[derive(Debug, Args)]
#[command(next_help_heading = "Clients that come through a relay")]
pub(crate) struct RemoteArgs {
    /// The relay to dial: wss://HOST:PORT, or ws://127.0.0.1:PORT. Without --listen, the server listens nowhere else
    #[arg(long, value_name = "URL", requires = "device_token_file")]
    remote: Option<String>,
    /// The file with the token that `trace relay add` has printed
    #[arg(long, value_name = "FILE", requires = "remote")]
    device_token_file: Option<PathBuf>,
    /// Refuse clients behind the relay whose messages it could read; `trace serve seal add` prints a code for others
    #[arg(long, requires = "remote")]
    sealed_only: bool,
}

/// A running connection to a relay.
pub(crate) struct Dialling {
    task: JoinHandle<()>,
    stop: Stop,
}

impl RemoteArgs {
    /// Returns whether there is a relay.
    pub(crate) fn is_set(&self) -> bool {
        self.remote.is_some()
    }

    /// Returns the file with the token, which commands must not read.
    pub(crate) fn secret_file(&self) -> &Option<PathBuf> {
        &self.device_token_file
    }

    /// Reads the token. Returns `None` if there is no relay.
    ///
    /// # Errors
    ///
    /// Returns an error if the file holds no token.
    pub(crate) fn options(&self, home: &Path) -> Result<Option<RemoteOptions>, Failure> {
        let (Some(url), Some(file)) = (&self.remote, &self.device_token_file) else { return Ok(None) };
        let token = secret_file::read_text(file)
            .map_err(|error| Failure::usage(error).with_hint("`trace relay add DEVICE` prints a token"))?;
        let sealing = Sealing { keys: sealing_keys(home), is_required: self.sealed_only };
        Ok(Some(RemoteOptions { url: url.clone(), token, sealing: Some(sealing) }))
    }
}

/// Returns the file with the keys of sealed clients.
pub(crate) fn sealing_keys(home: &Path) -> SealedClientsFile {
    SealedClientsFile::new(home.join(SEALING_FILE))
}

impl Dialling {
    /// Starts to dial. Each change of the connection is told on stderr.
    ///
    /// # Errors
    ///
    /// Returns an error if the URL cannot be dialled safely.
    pub(crate) fn start(
        options: &RemoteOptions,
        opener: &ConnectionOpener,
        shutdown: &Shutdown,
    ) -> Result<Self, Failure> {
        let remote = Remote::new(options, opener, shutdown).map_err(Failure::usage)?;
        let stop = Stop::default();
        let url = options.url.clone();
        let tell = move |status| {
            let _ = std::io::stderr().write_all(format!("  remote: {url}: {status}\n").as_bytes());
        };
        Ok(Self { task: tokio::spawn(remote.run(stop.clone(), tell)), stop })
    }

    /// Ends the streams of all clients after their messages were sent. A second signal ends them at once.
    pub(crate) async fn end(self, shutdown: &Shutdown) {
        self.stop.cancel();
        tokio::select! {
            _ = self.task => {}
            () = shutdown.forced() => {}
        }
    }
}
