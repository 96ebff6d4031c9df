//! The program between the server and a confined command.
//!
//! Rules of a process bind it and its children for good, so they cannot be set in the server, and what runs between `fork`
//! and `exec` is no place for safe code. A small process of its own sets them for itself and then becomes the command. With
//! bubblewrap it becomes that first, which starts it once more, inside.
//!
//! Until it is shut in, nothing may run in it that a command could have left: its loader is not told of other folders
//! ([`is_for_loaders`]), and what bubblewrap starts is the running program itself, whatever lies at its path by then.

use std::convert::Infallible;
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

use nix::sys::signal::{SigSet, Signal};
use serde::{Deserialize, Serialize};

use super::bubblewrap::{self, View};
use super::confinement::{Confinement, Devices};
use super::error::SandboxError;
use super::group;
use super::linux::confine_self;
use super::place::Mount;
use super::privileges;
use super::repositories::Closing;
use crate::settings::Network;

/// Whether a command was ever started with an open network.
static HAS_OPENED_NETWORK: AtomicBool = AtomicBool::new(false);

/// Says whether this process has started a confined command with an open network. As long as it has not, no command of it is at
/// the other end of any connection.
pub fn has_opened_network() -> bool {
    HAS_OPENED_NETWORK.load(Ordering::Acquire)
}

/// How the launcher is called. It is given `--policy JSON -- COMMAND...` behind its own words and hands them to
/// [`become_confined`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SandboxLauncher {
    /// The program, often the running one.
    pub program: PathBuf,
    /// Its first words.
    pub args: Vec<String>,
    /// The program of [`Bubblewrap::find`](super::Bubblewrap::find), if it is used.
    pub bubblewrap: Option<PathBuf>,
    /// Variables for loaders that commands get and the program itself must not; see [`is_for_loaders`].
    pub environment: Vec<(String, String)>,
}

/// Variables for loaders beside those whose names begin with `LD_`.
const FOR_LOADERS: [&str; 4] = ["GCONV_PATH", "GLIBC_TUNABLES", "LOCPATH", "NLSPATH"];

/// Tells whether a variable of the environment says what code is loaded into a program that starts. If it names a folder that
/// commands may write to, or none, which means the working folder, the launcher would run their code before it is shut in.
pub fn is_for_loaders(name: &str) -> bool {
    name.starts_with("LD_") || FOR_LOADERS.contains(&name)
}

/// What the launcher is handed over.
#[derive(Debug, Serialize, Deserialize)]
struct Policy {
    confinement: Confinement,
    stage: Stage,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    environment: Vec<(String, String)>,
}

/// How far the launcher is.
#[derive(Debug, Serialize, Deserialize)]
enum Stage {
    /// It becomes bubblewrap.
    Outside {
        /// Its program.
        bubblewrap: PathBuf,
        /// What calls the launcher.
        launcher: Vec<String>,
    },
    /// Bubblewrap started it. It is in a session of its own already.
    Inside {
        /// What bubblewrap was to mount.
        mounts: Vec<Mount>,
        /// Repositories and folders above them, which may have gone before they were mounted.
        repositories: Vec<Mount>,
        /// What it was to cover.
        hidden: Vec<Mount>,
    },
    /// It does it all.
    Alone,
}

impl SandboxLauncher {
    /// Returns what keeps commands from writing to what is closed in an open folder.
    #[must_use]
    pub fn closing(&self) -> Closing {
        let is_wrapped = self.bubblewrap.is_some() && self.program.to_str().is_some();
        if is_wrapped { Closing::Mounts } else { Closing::Nothing }
    }

    /// Returns the words behind the program that run a command confined.
    pub fn arguments(&self, confinement: &Confinement, command: &[String]) -> Vec<String> {
        if confinement.network == Network::Open {
            HAS_OPENED_NETWORK.store(true, Ordering::Release);
        }
        // A name that is no text cannot be handed over. Such a program is not wrapped.
        let launcher = self.program.to_str().map(|program| {
            let mut launcher = vec![program.to_owned()];
            launcher.extend_from_slice(&self.args);
            launcher
        });
        let stage = match (&self.bubblewrap, launcher) {
            (Some(bubblewrap), Some(launcher)) => Stage::Outside { bubblewrap: bubblewrap.clone(), launcher },
            _ => Stage::Alone,
        };
        let mut words = self.args.clone();
        let environment = self.environment.clone();
        words.extend(policy_words(&Policy { confinement: confinement.clone(), stage, environment }));
        words.extend_from_slice(command);
        words
    }
}

impl Stage {
    fn inside(all: Vec<(Mount, View)>) -> Self {
        let (mut mounts, mut repositories, mut hidden) = (Vec::new(), Vec::new(), Vec::new());
        for (mount, view) in all {
            match view {
                View::Open | View::Closed => mounts.push(mount),
                View::ClosedIfThere | View::OpenIfThere => repositories.push(mount),
                View::Hidden(_) => hidden.push(mount),
            }
        }
        Self::Inside { mounts, repositories, hidden }
    }
}

fn policy_words(policy: &Policy) -> [String; 3] {
    let policy = serde_json::to_string(policy).expect("a policy holds folders whose names are text");
    ["--policy".to_owned(), policy, "--".to_owned()]
}

/// Shuts the process in and becomes the command, in a session of its own unless it leads one or a group already: a command
/// has no business at the terminal of the server. Returns only if that fails; nothing was started then.
///
/// The calling thread becomes the command, and it alone is shut in: a process with other threads has no business here.
///
/// # Errors
///
/// When the policy is none, the system cannot confine, or the command does not start.
pub fn become_confined(policy: &str, command: &[OsString]) -> Result<Infallible, SandboxError> {
    let Policy { confinement, stage, environment } =
        serde_json::from_str(policy).map_err(|error| SandboxError::Policy { reason: error.to_string() })?;
    let (program, arguments) = command.split_first().ok_or(SandboxError::NoCommand)?;
    privileges::keep_standard_streams_only();
    privileges::hear_all_signals();
    if matches!(stage, Stage::Inside { .. }) {
        take_terminal();
    } else {
        if let Some(group) = &confinement.group {
            group::join(group)?;
        }
        // It fails for one that leads a group, which whoever started it wanted.
        let _ = rustix::process::setsid();
    }
    let (program, mut process) = match stage {
        Stage::Outside { bubblewrap, mut launcher } => {
            super::availability()?;
            if let (Some(program), Some(itself)) = (launcher.first_mut(), privileges::running_program()) {
                *program = itself;
            }
            let mut process = Command::new(&bubblewrap);
            // A folder may go between two looks; the next time it is gone for both.
            let mounts = bubblewrap::mounts(&confinement).or_else(|_| bubblewrap::mounts(&confinement))?;
            process.args(bubblewrap::arguments(&confinement, &mounts)).arg("--").args(launcher);
            let mut inside = confinement.clone();
            // What bubblewrap saw to need not be said again.
            inside.hidden.clear();
            inside.closed.clear();
            // It is in its group by now.
            inside.group = None;
            let policy = Policy { confinement: inside, stage: Stage::inside(mounts), environment };
            process.args(policy_words(&policy)).args(command);
            (bubblewrap, process)
        }
        Stage::Inside { .. } | Stage::Alone => {
            let mut devices = Devices::Shared;
            if let Stage::Inside { mounts, repositories, hidden } = stage {
                are_in_place(&mounts, &repositories, &hidden)?;
                devices = Devices::Private;
            }
            privileges::end_with_parent();
            privileges::give_up(&confinement)?;
            confine_self(&confinement, devices)?;
            let mut process = Command::new(program);
            process.args(arguments).envs(environment);
            (program.into(), process)
        }
    };
    Err(SandboxError::Start { program, reason: process.exec() })
}

/// Sees to it that nothing was exchanged while bubblewrap mounted it.
fn are_in_place(mounts: &[Mount], repositories: &[Mount], hidden: &[Mount]) -> Result<(), SandboxError> {
    let is_gone = |mount: &Mount| mount.path.symlink_metadata().is_err();
    let exchanged = mounts.iter().find(|mount| !mount.is_in_place());
    let exchanged = exchanged.or_else(|| repositories.iter().find(|mount| !mount.is_in_place() && !is_gone(mount)));
    match exchanged.or_else(|| hidden.iter().find(|mount| !mount.is_covered())) {
        None => Ok(()),
        Some(mount) => Err(bubblewrap::exchanged(&mount.path)),
    }
}

/// Makes the command the one that gets what is typed, if it is on a terminal. An interrupt is for the command alone: it would end
/// bubblewrap, which does not know it, and the command might go on.
fn take_terminal() {
    let terminal = std::io::stdin();
    if !rustix::termios::isatty(&terminal) || rustix::process::setpgid(None, None).is_err() {
        return;
    }
    // A group in the background is stopped when it does this, unless it does not hear of it.
    let mut stopped = SigSet::empty();
    stopped.add(Signal::SIGTTOU);
    if stopped.thread_block().is_ok() {
        // Where it fails, the command is one in the background, and reads nothing.
        let _ = rustix::termios::tcsetpgrp(&terminal, rustix::process::getpid());
        let _ = stopped.thread_unblock();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Network;

    #[test]
    fn the_launcher_gets_policy_and_command() {
        let confinement = Confinement { processes: 7, ..Confinement::new(vec!["/w".into()], Network::Closed) };
        let command = ["sh".to_owned(), "-c".to_owned(), "ls".to_owned()];
        let mut launcher = SandboxLauncher {
            program: "trace".into(),
            args: vec!["sandbox-exec".to_owned()],
            bubblewrap: None,
            environment: vec![],
        };
        let confined = r#""confinement":{"writable":["/w"],"network":"Closed","processes":7}"#;
        let alone = format!(r#"{{{confined},"stage":"Alone"}}"#);
        let words = launcher.arguments(&confinement, &command);
        assert_eq!(words, ["sandbox-exec", "--policy", &alone, "--", "sh", "-c", "ls"]);
        launcher.bubblewrap = Some("/usr/bin/bwrap".into());
        let outside = format!(
            r#"{{{confined},"stage":{{"Outside":{{"bubblewrap":"/usr/bin/bwrap","launcher":["trace","sandbox-exec"]}}}}}}"#
        );
        assert_eq!(launcher.arguments(&confinement, &command)[2], outside);
        launcher = SandboxLauncher {
            bubblewrap: None,
            environment: vec![("LD_LIBRARY_PATH".to_owned(), ":/lib".to_owned())],
            ..launcher
        };
        let alone = format!(r#"{{{confined},"stage":"Alone","environment":[["LD_LIBRARY_PATH",":/lib"]]}}"#);
        assert_eq!(launcher.arguments(&confinement, &command)[2], alone);
    }

    #[test]
    fn a_bad_policy_starts_nothing() {
        assert!(matches!(become_confined("{", &["true".into()]), Err(SandboxError::Policy { .. })));
        let alone = r#"{"confinement":{"writable":[],"network":"Open","processes":1},"stage":"Alone"}"#;
        assert!(matches!(become_confined(alone, &[]), Err(SandboxError::NoCommand)));
    }
}
