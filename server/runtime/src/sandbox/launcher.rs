//! The program between the server and a confined command.
//!
//! Landlock rules and seccomp filters apply to a process and its children for good, so the server cannot set them in its
//! own process, and safe code cannot run between `fork` and `exec`. A small separate process sets them for itself and then
//! becomes the command. With bubblewrap it becomes bubblewrap first, which starts it once more inside the new namespaces.
//!
//! Until it is confined, the launcher must not run code that a command could have left behind: variables that point its
//! loader to other folders are withheld from it ([`is_for_loaders`]), and bubblewrap starts the running program itself,
//! even if the file at its path was replaced.

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
use super::repositories::ReadOnlyEnforcement;
use crate::settings::Network;

/// Whether this process ever started a command with network access.
static HAS_OPENED_NETWORK: AtomicBool = AtomicBool::new(false);

/// Returns whether this process has ever started a confined command with network access. As long as it has not, none of its
/// commands can be at the other end of a connection.
pub fn has_opened_network() -> bool {
    HAS_OPENED_NETWORK.load(Ordering::Acquire)
}

/// How the launcher is called. `--policy JSON -- COMMAND...` follows its own arguments, and the launcher passes them to
/// [`become_confined`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SandboxLauncher {
    /// Path of the program, usually the running one.
    pub program: PathBuf,
    /// First arguments of the program.
    pub args: Vec<String>,
    /// Path of bubblewrap as [`Bubblewrap::find`](super::Bubblewrap::find) returns it, if it is used.
    pub bubblewrap: Option<PathBuf>,
    /// Variables for loaders that the command gets and the launcher must not get; see [`is_for_loaders`].
    pub environment: Vec<(String, String)>,
}

/// Variables for loaders, in addition to those whose names begin with `LD_`.
const FOR_LOADERS: [&str; 4] = ["GCONV_PATH", "GLIBC_TUNABLES", "LOCPATH", "NLSPATH"];

/// Returns whether an environment variable decides which code is loaded into a starting program. If such a variable names a
/// folder that commands may write to, or is empty, which means the working folder, the launcher would run their code before
/// it is confined.
pub fn is_for_loaders(name: &str) -> bool {
    name.starts_with("LD_") || FOR_LOADERS.contains(&name)
}

/// What the server passes to the launcher as JSON.
#[derive(Debug, Serialize, Deserialize)]
struct Policy {
    confinement: Confinement,
    stage: Stage,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    environment: Vec<(String, String)>,
}

/// Which step the launcher performs.
#[derive(Debug, Serialize, Deserialize)]
enum Stage {
    /// The launcher becomes bubblewrap.
    Outside {
        /// Path of bubblewrap.
        bubblewrap: PathBuf,
        /// The words that start the launcher again.
        launcher: Vec<String>,
    },
    /// The launcher was started by bubblewrap and is in a new session already.
    Inside {
        /// Places that bubblewrap was to mount.
        mounts: Vec<Mount>,
        /// Repositories and folders around them, which may have been deleted before they were mounted.
        repositories: Vec<Mount>,
        /// Hidden places that bubblewrap was to cover.
        hidden: Vec<Mount>,
    },
    /// The launcher confines itself without bubblewrap.
    Alone,
}

impl SandboxLauncher {
    /// Returns how read-only places inside writable folders are enforced.
    #[must_use]
    pub fn closing(&self) -> ReadOnlyEnforcement {
        let is_wrapped = self.bubblewrap.is_some() && self.program.to_str().is_some();
        if is_wrapped { ReadOnlyEnforcement::Mounts } else { ReadOnlyEnforcement::Nothing }
    }

    /// Returns the arguments of the launcher that run a command confined.
    pub fn arguments(&self, confinement: &Confinement, command: &[String]) -> Vec<String> {
        if confinement.network == Network::Open {
            HAS_OPENED_NETWORK.store(true, Ordering::Release);
        }
        // The policy is text and cannot hold a program path that is not UTF-8. Bubblewrap is not used for such a launcher.
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

/// Confines the process and becomes the command. The command gets a session of its own, away from the server's terminal,
/// unless the process already leads a session or a process group. Returns only on failure; nothing was started then.
///
/// Only the calling thread is confined and becomes the command, so the process must not have other threads.
///
/// # Errors
///
/// Returns an error if the policy is invalid, the system cannot confine a process, or the command cannot be started.
pub fn become_confined(policy: &str, command: &[OsString]) -> Result<Infallible, SandboxError> {
    let Policy { confinement, stage, environment } =
        serde_json::from_str(policy).map_err(|error| SandboxError::Policy { reason: error.to_string() })?;
    let (program, arguments) = command.split_first().ok_or(SandboxError::NoCommand)?;
    privileges::keep_standard_streams_only();
    privileges::unignore_signals();
    if matches!(stage, Stage::Inside { .. }) {
        take_terminal();
    } else {
        if let Some(group) = &confinement.group {
            group::join(group)?;
        }
        // This fails if the process leads a process group. Its parent wanted that, so the group is kept.
        let _ = rustix::process::setsid();
    }
    let (program, mut process) = match stage {
        Stage::Outside { bubblewrap, mut launcher } => {
            super::availability()?;
            if let (Some(program), Some(itself)) = (launcher.first_mut(), privileges::running_program()) {
                *program = itself;
            }
            let mut process = Command::new(&bubblewrap);
            // A folder may be deleted while the mounts are collected. A second attempt no longer sees it.
            let mounts = bubblewrap::mounts(&confinement).or_else(|_| bubblewrap::mounts(&confinement))?;
            process.args(bubblewrap::arguments(&confinement, &mounts)).arg("--").args(launcher);
            let mut inside = confinement.clone();
            // Bubblewrap enforces these already.
            inside.hidden.clear();
            inside.closed.clear();
            // The process has joined the group already.
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
            privileges::drop_privileges(&confinement)?;
            confine_self(&confinement, devices)?;
            let mut process = Command::new(program);
            process.args(arguments).envs(environment);
            (program.into(), process)
        }
    };
    Err(SandboxError::Start { program, reason: process.exec() })
}

/// Checks that no folder was replaced while bubblewrap mounted it.
fn are_in_place(mounts: &[Mount], repositories: &[Mount], hidden: &[Mount]) -> Result<(), SandboxError> {
    let is_gone = |mount: &Mount| mount.path.symlink_metadata().is_err();
    let exchanged = mounts.iter().find(|mount| !mount.is_in_place());
    let exchanged = exchanged.or_else(|| repositories.iter().find(|mount| !mount.is_in_place() && !is_gone(mount)));
    match exchanged.or_else(|| hidden.iter().find(|mount| !mount.is_covered())) {
        None => Ok(()),
        Some(mount) => Err(bubblewrap::exchanged(&mount.path)),
    }
}

/// Makes the command the foreground process group if it is on a terminal. An interrupt must reach the command only: it
/// would end bubblewrap, which does not handle it, while the command might continue.
fn take_terminal() {
    let terminal = std::io::stdin();
    if !rustix::termios::isatty(&terminal) || rustix::process::setpgid(None, None).is_err() {
        return;
    }
    // The kernel stops a background group that does this, unless SIGTTOU is blocked.
    let mut stopped = SigSet::empty();
    stopped.add(Signal::SIGTTOU);
    if stopped.thread_block().is_ok() {
        // If it fails, the command stays in the background and cannot read from the terminal.
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
