//! `trace serve seal`: the clients whose messages a relay cannot read.

use std::io::Write as _;
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use clap::Subcommand;
use trace_relay::seal::clients::{SEALING_CODE_SECONDS, SealedClientsError};

use crate::remote::sealing_keys;
use crate::serving::ServingArgs;
use crate::ui::failure::{Ending, Failure};

#[derive(Debug, Subcommand)]
pub(super) enum SealCommand {
    /// Prints a code for a client, once and for 10 minutes. Carry it there yourself: the relay must not see it
    Add {
        /// The name of the client
        name: String,
    },
    /// Lists the clients
    List,
    /// Removes a client, and ends its connections
    Revoke {
        /// The name of the client
        name: String,
    },
}

pub(super) fn run(command: &SealCommand, home: Option<&PathBuf>) -> Result<Ending, Failure> {
    let home = ServingArgs::of_home(home.cloned()).home()?;
    let keys = sealing_keys(&home);
    let mut text = String::new();
    match command {
        SealCommand::Add { name } => {
            std::fs::create_dir_all(&home)
                .map_err(|error| Failure::data(error).context(format!("cannot create {}", home.display())))?;
            let code = keys.update(|clients| clients.add(name, now())).map_err(failure)?;
            let note = format!(
                "good for one client, which uses it within {} minutes: `trace relay connect --seal FILE` asks for it\n",
                SEALING_CODE_SECONDS / 60
            );
            let _ = std::io::stderr().write_all(note.as_bytes());
            text = format!("{}\n", code.shown());
        }
        SealCommand::List => {
            let clients = keys.read().map_err(Failure::data)?;
            for client in clients.clients() {
                let state = match (client.is_paired(), client.is_good(now())) {
                    (true, _) => "sealed",
                    (false, true) => "has not used its code yet",
                    (false, false) => "has not used its code in time",
                };
                text.push_str(&format!("{}  {state}\n", client.name));
            }
            if text.is_empty() {
                let _ = std::io::stderr().write_all(b"no sealed clients; `trace serve seal add NAME` adds one\n");
            }
        }
        SealCommand::Revoke { name } => keys.update(|clients| clients.revoke(name)).map_err(failure)?,
    }
    std::io::stdout().write_all(text.as_bytes()).map_err(Failure::data)?;
    Ok(Ending::Done)
}

fn failure(error: SealedClientsError) -> Failure {
    match error {
        SealedClientsError::Exists(_) | SealedClientsError::NoClient { .. } | SealedClientsError::Devices(_) => {
            Failure::usage(error)
        }
        _ => Failure::data(error),
    }
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs())
}
