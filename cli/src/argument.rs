//! Arguments that name sessions. They are the same for all commands.

use std::path::PathBuf;

use clap::Args;
use clap_complete::ArgValueCompleter;

use crate::address::local_path;
use crate::completion::{offer_sessions, offer_stored};
use crate::foreign;
use crate::ui::failure::Failure;

/// The session that a command is about.
#[derive(Debug, Args)]
pub(crate) struct BundleArg {
    /// The bundle, or the session of another agent: its file or folder, its id or the beginning of it, or @last; or the address of a
    /// packed bundle in object storage
    #[arg(add = ArgValueCompleter::new(offer_sessions))]
    bundle: PathBuf,
    /// The session of a store that has several, such as opencode.db
    #[arg(long, value_name = "ID", add = ArgValueCompleter::new(offer_stored))]
    session: Option<String>,
}

impl BundleArg {
    /// Returns an argument for a bundle.
    pub(crate) fn of(bundle: PathBuf) -> Self {
        Self { bundle, session: None }
    }

    /// Returns what names the session: a path, a name, `STORE#ID`, or the address of an object in a store.
    pub(crate) fn path(&self) -> PathBuf {
        let bundle = local_path(&self.bundle).unwrap_or_else(|| self.bundle.clone());
        match &self.session {
            Some(id) => foreign::in_store(&bundle, id),
            None => bundle,
        }
    }
}

/// Which sessions of a store a command is about that takes several bundles.
#[derive(Debug, Default, Args)]
pub(crate) struct StoredArg {
    /// Only this session of a store that has several, such as opencode.db; repeatable
    #[arg(long, value_name = "ID", add = ArgValueCompleter::new(offer_stored))]
    session: Vec<String>,
}

impl StoredArg {
    /// Returns the arguments, or the chosen sessions of the one store that they name.
    ///
    /// # Errors
    ///
    /// Returns an error if sessions are chosen, and there is not one argument.
    pub(crate) fn of(&self, arguments: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
        match (&*self.session, arguments) {
            ([], all) => Ok(all.to_vec()),
            (ids, [store]) => Ok(ids.iter().map(|id| foreign::in_store(store, id)).collect()),
            (_, several) => {
                Err(Failure::usage(format!("--session chooses from one store, and {} are named", several.len()))
                    .with_hint("STORE#ID names a session of a store among other arguments"))
            }
        }
    }
}

/// Returns the completer for arguments that name sessions.
pub(crate) fn sessions() -> ArgValueCompleter {
    ArgValueCompleter::new(offer_sessions)
}
