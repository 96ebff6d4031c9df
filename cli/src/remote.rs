//! The relay that `trace serve` dials.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use clap::Args;
use tokio::task::JoinHandle;
use trace_server::ingress::ConnectionOpener;
use trace_server::transport::{MAX_SECRET_FILE_BYTES, Remote, RemoteOptions, Shutdown, Stop};

use crate::ui::failure::Failure;

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
    pub(crate) fn options(&self) -> Result<Option<RemoteOptions>, Failure> {
        let (Some(url), Some(file)) = (&self.remote, &self.device_token_file) else { return Ok(None) };
        Ok(Some(RemoteOptions { url: url.clone(), token: token(file)? }))
    }
}

fn token(file: &Path) -> Result<String, Failure> {
    use std::io::Read as _;

    let failed = |error| Failure::usage(format!("cannot read {}: {error}", file.display()));
    let opened = std::fs::File::open(file).map_err(failed)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;

        // Whoever has the token can take the place of this server.
        let mode = opened.metadata().map_err(failed)?.permissions().mode() & 0o777;
        if mode & 0o077 != 0 {
            return Err(Failure::usage(format!("others can read {} (mode {mode:03o})", file.display()))
                .with_hint(format!("chmod 600 {}", file.display())));
        }
    }
    let mut text = String::new();
    opened.take(MAX_SECRET_FILE_BYTES).read_to_string(&mut text).map_err(failed)?;
    match text.trim() {
        "" => Err(Failure::usage(format!("{} contains no token", file.display()))
            .with_hint("`trace relay add DEVICE` prints one")),
        token => Ok(token.to_owned()),
    }
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
