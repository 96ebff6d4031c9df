//! `trace relay connect`: the client's side of a relay.

use std::io::{BufRead as _, Write as _};
use std::path::{Path, PathBuf};

use clap::Args;
use trace_relay::file::FileError;
use trace_relay::seal::SealingCode;
use trace_relay::seal::server::{SealedServer, SealedServerFile};
use trace_server::secret_file;
use trace_server::transport::{ConnectOptions, Listen, RelayClient, Stop, bind};

use crate::serving;
use crate::signals::Signals;
use crate::ui::failure::{Ending, Failure};

/// Most bytes of a line with a sealing code.
const MAX_CODE_LINE_BYTES: u64 = 1 << 10;

#[derive(Debug, Args)]
pub(super) struct ConnectArgs {
    /// The relay: wss://HOST:PORT, or ws://127.0.0.1:PORT
    url: String,
    /// The file with the token that the relay gave for a pairing code
    #[arg(long, value_name = "FILE")]
    token_file: PathBuf,
    /// The device, if the token is valid for several
    #[arg(long, value_name = "NAME")]
    device: Option<String>,
    /// The address for clients on this machine: unix://PATH, which only you can use, or ws://127.0.0.1:PORT
    #[arg(long, value_name = "URL")]
    listen: String,
    /// Seal all messages, so that the relay cannot read them. FILE has the keys; if it is missing, it is made from the
    /// code of `trace serve seal add`, which is read from stdin.
    /// Until a server has answered to the code, another one can be given
    #[arg(long, value_name = "FILE")]
    seal: Option<PathBuf>,
}

pub(super) fn run(args: &ConnectArgs) -> Result<Ending, Failure> {
    let place = match args.listen.as_str() {
        "unix://" => Err(Failure::usage("--listen unix:// needs a path")),
        url => Listen::parse(url, Path::new("")).map_err(Failure::usage),
    }?;
    if !matches!(place, Listen::Unix(_) | Listen::WebSocket(_)) {
        return Err(Failure::usage(format!(
            "cannot listen on `{}`: expected unix://PATH or ws://IP:PORT",
            args.listen
        )));
    }
    let token = secret_file::read_text(&args.token_file).map_err(Failure::usage)?;
    let keys = args.seal.as_deref().map(keys).transpose()?;
    let is_sealed = keys.is_some();
    let options = ConnectOptions { url: args.url.clone(), token, device: args.device.clone(), keys };
    let client = RelayClient::new(&options).map_err(Failure::usage)?;
    let runtime = serving::tokio_runtime()?;
    runtime.block_on(async {
        let mut signals = Signals::catch()?;
        let bound = bind(&place, None).await.map_err(Failure::data)?;
        let url = bound.banner().map_or_else(String::new, |banner| banner.url);
        let seal = if is_sealed { "sealed" } else { "not sealed: the relay can read and change everything" };
        let _ = std::io::stderr().write_all(format!("listening on: {url}\n  relay: {}, {seal}\n", args.url).as_bytes());
        let stop = Stop::default();
        let tell = |event| {
            let _ = std::io::stderr().write_all(format!("  {event}\n").as_bytes());
        };
        let running = tokio::spawn(client.run(bound, stop.clone(), tell));
        signals.next().await;
        stop.cancel();
        tokio::select! {
            _ = running => {}
            _ = signals.next() => {}
        }
        Ok::<_, Failure>(())
    })?;
    runtime.shutdown_background();
    Ok(Ending::Done)
}

/// Returns the file with keys. It is made with a code if it is missing, and made again with another code as long as no
/// server has proved that it knows the code: that code can be wrong, or too old.
fn keys(path: &Path) -> Result<SealedServerFile, Failure> {
    let file = SealedServerFile::new(path);
    let mut has_keys = false;
    if path.exists() {
        // Whoever has the keys can take the place of this client.
        secret_file::read(path).map_err(Failure::usage)?;
        let kept = file.read().map_err(Failure::data)?;
        if kept.has_server() {
            return Ok(file);
        }
        has_keys = kept.has_keys();
    }
    let prompt: &[u8] = if has_keys {
        b"no server has answered to the sealing code yet; another code, or an empty line to keep it: "
    } else {
        b"sealing code: "
    };
    let _ = std::io::stderr().write_all(prompt);
    let mut line = String::new();
    std::io::Read::take(std::io::stdin().lock(), MAX_CODE_LINE_BYTES).read_line(&mut line).map_err(Failure::data)?;
    if has_keys && line.trim().is_empty() {
        return Ok(file);
    }
    let code = SealingCode::parse(&line).ok_or_else(|| {
        Failure::usage("this is no sealing code")
            .with_hint("`trace serve seal add NAME` prints one, on the server's machine")
    })?;
    let made = SealedServer::new(&code).map_err(Failure::data)?;
    file.update::<_, FileError>(|kept| {
        // Another program with the same file may have connected meanwhile.
        if !kept.has_server() {
            *kept = made;
        }
        Ok(())
    })
    .map_err(Failure::data)?;
    Ok(file)
}
