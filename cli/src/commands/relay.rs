//! `trace relay`: connects clients to servers that dial out.

use std::io::Write as _;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use clap::{Args, Subcommand};
use trace_relay::devices::{CODE_SECONDS, DEFAULT_TOKEN_DAYS, DevicesError, DevicesFile, MAX_WRONG_CODES};
use trace_relay::relay::{Relay, RelayOptions, TlsFiles};
use trace_relay::shown_code;

use crate::serving::{self, ServingArgs};
use crate::signals::Signals;
use crate::ui::failure::{Ending, Failure};

mod connect;

const AFTER_HELP: &str = "\
Examples:
  (umask 077; trace relay add laptop > laptop.token)    add a device; prints the token of its server, once
  trace relay --listen wss://0.0.0.0:4600 --tls-cert CERT --tls-key KEY     run the relay
  trace serve --remote wss://relay:4600 --device-token-file laptop.token    on the laptop
  trace relay pair laptop                        print a code for a client, which gets a token for it:
  curl -d '{\"code\":\"ABCD-EFGH\",\"name\":\"phone\"}' https://relay:4600/pair
  TOKEN=... codex --remote wss://relay:4600 --remote-auth-token-env TOKEN   a client
  trace relay revoke laptop phone                end a client's token, and its connections

The owner of the relay can read and change everything that passes through it, unless it is sealed:
  trace serve seal add phone                     on the laptop: prints a code, for the client
  trace relay connect wss://relay:4600 --token-file T --seal phone.keys --listen unix://SOCKET    on the phone
  codex --remote unix://SOCKET                   a client of it

docs/relay.md describes it.

Exit codes: 0 shut down, or done; 1 the address, the certificate or the devices file cannot be used; 2 wrong usage; 3 \
an internal error.";

/// Name of the devices file in the server home.
const DEVICES_FILE: &str = "devices.json";

const SECONDS_PER_DAY: u64 = 24 * 60 * 60;

/// Connects clients to servers that dial out
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP, args_conflicts_with_subcommands = false)]
pub(crate) struct RelayArgs {
    #[command(subcommand)]
    command: Option<RelayCommand>,
    /// The address for servers and clients: wss://IP:PORT, or ws://IP:PORT on this machine
    #[arg(long, value_name = "URL")]
    listen: Option<String>,
    /// The certificate of the relay, in PEM
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,
    /// The private key of the certificate, in PEM
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
    /// Allow ws:// on addresses that other machines reach: a proxy in front of the relay has the certificate
    #[arg(long)]
    behind_proxy: bool,
    /// The file with the devices [default: devices.json in $TRACE_HOME, or in ~/.trace]
    #[arg(long, value_name = "FILE", global = true)]
    devices: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
enum RelayCommand {
    /// Adds a device, and prints the token of its server, which is stored nowhere
    Add {
        /// The name of the device
        device: String,
    },
    /// Prints a code with which a client gets a token, once and within 10 minutes
    Pair {
        /// The devices for which the token is valid
        #[arg(required = true)]
        device: Vec<String>,
        /// How many days the token is valid; 0 for no end
        #[arg(long, value_name = "DAYS", default_value_t = DEFAULT_TOKEN_DAYS)]
        days: u64,
    },
    /// Ends a client's token, or a device with all its tokens, and their connections
    Revoke {
        /// The device
        device: String,
        /// The client [default: the device itself and all its clients]
        client: Option<String>,
    },
    /// Lists the devices and their clients
    List,
    /// Connects clients on this machine to a server behind a relay, with messages that the relay cannot read
    Connect(connect::ConnectArgs),
}

pub(crate) fn run(args: &RelayArgs) -> Result<Ending, Failure> {
    let file = || devices_file(args);
    match &args.command {
        None => listen(args, &file()?),
        Some(RelayCommand::Add { device }) => {
            let token = file()?.update(|devices| devices.add(device)).map_err(failure)?;
            print(&format!("{token}\n"))
        }
        Some(RelayCommand::Pair { device, days }) => {
            let seconds = (*days > 0).then(|| days.saturating_mul(SECONDS_PER_DAY));
            let code = file()?.update(|devices| devices.pair(device, seconds, now())).map_err(failure)?;
            let note = format!(
                "good once, for {} minutes, and until {MAX_WRONG_CODES} wrong codes were tried; a client sends it to \
                 /pair of the relay\n",
                CODE_SECONDS / 60
            );
            let _ = std::io::stderr().write_all(note.as_bytes());
            print(&format!("{}\n", shown_code(&code)))
        }
        Some(RelayCommand::Revoke { device, client }) => {
            file()?.update(|devices| devices.revoke(device, client.as_deref())).map_err(failure)?;
            Ok(Ending::Done)
        }
        Some(RelayCommand::List) => list(&file()?),
        Some(RelayCommand::Connect(args)) => connect::run(args),
    }
}

/// Returns the file with the devices of this relay.
fn devices_file(args: &RelayArgs) -> Result<DevicesFile, Failure> {
    let path = match &args.devices {
        Some(path) => path.clone(),
        None => {
            let home = ServingArgs::of_home(None).home()?;
            std::fs::create_dir_all(&home)
                .map_err(|error| Failure::data(error).context(format!("cannot create {}", home.display())))?;
            home.join(DEVICES_FILE)
        }
    };
    Ok(DevicesFile::new(path))
}

fn failure(error: DevicesError) -> Failure {
    match error {
        DevicesError::File(_) | DevicesError::NoRandomness(_) => Failure::data(error),
        DevicesError::BadName(_)
        | DevicesError::Exists(_)
        | DevicesError::NoDevice { .. }
        | DevicesError::NoClient { .. }
        | DevicesError::Full { .. } => Failure::usage(error),
    }
}

fn print(text: &str) -> Result<Ending, Failure> {
    std::io::stdout().write_all(text.as_bytes()).map_err(Failure::data)?;
    Ok(Ending::Done)
}

fn list(file: &DevicesFile) -> Result<Ending, Failure> {
    let devices = file.read().map_err(|error| failure(error.into()))?;
    let mut text = String::new();
    for (name, device) in &devices.devices {
        text.push_str(&format!("{name}\n"));
        for client in &device.clients {
            let end = match client.expires {
                None => "does not end".to_owned(),
                Some(expires) if expires <= now() => "has ended".to_owned(),
                Some(expires) => format!("ends in {} days", (expires - now()).div_ceil(SECONDS_PER_DAY)),
            };
            text.push_str(&format!("  {}  {end}\n", client.name));
        }
    }
    if text.is_empty() {
        let _ = std::io::stderr().write_all(b"no devices; `trace relay add DEVICE` adds one\n");
    }
    print(&text)
}

/// Returns the address of a URL, and whether connections are encrypted.
fn address(url: &str) -> Result<(SocketAddr, bool), Failure> {
    let parsed = match url.split_once("://") {
        Some(("ws", address)) => address.trim_end_matches('/').parse().ok().map(|address| (address, false)),
        Some(("wss", address)) => address.trim_end_matches('/').parse().ok().map(|address| (address, true)),
        _ => None,
    };
    parsed.ok_or_else(|| Failure::usage(format!("`{url}` is not an address: expected wss://IP:PORT or ws://IP:PORT")))
}

fn listen(args: &RelayArgs, file: &DevicesFile) -> Result<Ending, Failure> {
    let Some(url) = &args.listen else {
        return Err(Failure::usage("--listen names no address").with_hint("try --listen ws://127.0.0.1:4600"));
    };
    let (address, is_encrypted) = address(url)?;
    let tls = match (&args.tls_cert, &args.tls_key) {
        (Some(certificate), Some(key)) if is_encrypted => {
            Some(TlsFiles { certificate: certificate.clone(), key: key.clone() })
        }
        (None, None) if !is_encrypted => None,
        (None, None) => return Err(Failure::usage("wss:// needs --tls-cert and --tls-key")),
        _ => return Err(Failure::usage("ws:// uses no certificate; use wss://")),
    };
    let options = RelayOptions { address, tls, is_behind_proxy: args.behind_proxy, devices: file.path().to_owned() };
    let runtime = serving::tokio_runtime()?;
    runtime.block_on(async {
        let mut signals = Signals::catch()?;
        let relay = Relay::bind(&options).await.map_err(Failure::data)?;
        let banner = format!("relaying on: {}\n  devices: {}\n", relay.url(), file.path().display());
        let _ = std::io::stderr().write_all(banner.as_bytes());
        let stop = relay.stop();
        let serving = tokio::spawn(relay.serve());
        signals.next().await;
        stop.cancel();
        tokio::select! {
            _ = serving => {}
            _ = signals.next() => {}
        }
        Ok::<_, Failure>(())
    })?;
    runtime.shutdown_background();
    Ok(Ending::Done)
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_ips_with_ports() {
        assert_eq!(address("ws://127.0.0.1:4600").ok(), Some((([127, 0, 0, 1], 4600).into(), false)));
        assert_eq!(address("wss://0.0.0.0:0/").ok(), Some((([0, 0, 0, 0], 0).into(), true)));
        for url in ["127.0.0.1:1", "http://127.0.0.1:1", "ws://localhost:1", "wss://127.0.0.1"] {
            assert!(address(url).is_err(), "{url}");
        }
    }
}
