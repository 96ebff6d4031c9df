//! The program between the server and a confined command.
//!
//! Rules of a process bind it and its children for good, so they cannot be set in the server, and what runs between `fork`
//! and `exec` is no place for safe code. A small process of its own sets them for itself and then becomes the command.

use std::convert::Infallible;
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

use super::confinement::Confinement;
use super::error::SandboxError;
use super::linux::confine_self;

/// How the launcher is called. It is given `--policy JSON -- COMMAND...` behind its own words and hands them to
/// [`become_confined`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SandboxLauncher {
    /// The program, often the running one.
    pub program: PathBuf,
    /// Its first words.
    pub args: Vec<String>,
}

impl SandboxLauncher {
    /// Returns the words behind the program that run a command confined.
    pub fn arguments(&self, confinement: &Confinement, command: &[String]) -> Vec<String> {
        let policy = serde_json::to_string(confinement).expect("a policy holds folders whose names are text");
        let mut words = self.args.clone();
        words.extend(["--policy".to_owned(), policy, "--".to_owned()]);
        words.extend_from_slice(command);
        words
    }
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
    let confinement: Confinement =
        serde_json::from_str(policy).map_err(|error| SandboxError::Policy { reason: error.to_string() })?;
    let (program, arguments) = command.split_first().ok_or(SandboxError::NoCommand)?;
    // It fails for one that leads a group, which whoever started it wanted.
    let _ = rustix::process::setsid();
    confine_self(&confinement)?;
    let reason = Command::new(program).args(arguments).exec();
    Err(SandboxError::Start { program: program.into(), reason })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Network;

    #[test]
    fn the_launcher_gets_policy_and_command() {
        let launcher = SandboxLauncher { program: "trace".into(), args: vec!["sandbox-exec".to_owned()] };
        let confinement = Confinement { writable: vec!["/w".into()], network: Network::Closed };
        let words = launcher.arguments(&confinement, &["sh".to_owned(), "-c".to_owned(), "ls".to_owned()]);
        assert_eq!(
            words,
            ["sandbox-exec", "--policy", r#"{"writable":["/w"],"network":"Closed"}"#, "--", "sh", "-c", "ls"]
        );
    }

    #[test]
    fn a_bad_policy_starts_nothing() {
        assert!(matches!(become_confined("{", &["true".into()]), Err(SandboxError::Policy { .. })));
        assert!(matches!(become_confined(r#"{"writable":[],"network":"Open"}"#, &[]), Err(SandboxError::NoCommand)));
    }
}
