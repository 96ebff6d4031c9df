//! Errors of the sandbox.

use std::path::PathBuf;

/// Why a command cannot be confined.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SandboxError {
    /// The system lacks support.
    #[error(
        "commands cannot be confined on this system: {what}; choose a policy with full access or run inside a container"
    )]
    Unavailable {
        /// What the system lacks.
        what: String,
    },
    /// The system refused a step that it supports.
    #[error("cannot confine the process: {step} failed: {reason}")]
    Step {
        /// The step that failed.
        step: &'static str,
        /// The error of the system.
        reason: String,
    },
    /// A hidden folder was replaced by another folder since the server started.
    #[error(
        "{path} is not the folder that it was when the server started; commands could read its former content; restart the server",
        path = path.display()
    )]
    Moved {
        /// Path of the hidden folder.
        path: PathBuf,
    },
    /// A folder around a hidden place has too many entries to allow each of them by a rule of its own.
    #[error(
        "{folder} has more than {most} entries beside a hidden place; move the server's home or the file with its token to another folder, or install bubblewrap",
        folder = folder.display()
    )]
    TooManyBeside {
        /// The folder around the hidden place.
        folder: PathBuf,
        /// The limit of entries.
        most: usize,
    },
    /// The policy that was passed to the launcher is invalid.
    #[error("cannot parse the policy of a confined command: {reason}; only the server writes such policies")]
    Policy {
        /// Why the policy is invalid.
        reason: String,
    },
    /// The launcher was called without a command.
    #[error("no command to confine; pass it after `--`")]
    NoCommand,
    /// The program of the command cannot be started.
    #[error("cannot start {program}: {reason}", program = program.display())]
    Start {
        /// Path of the program.
        program: PathBuf,
        /// The error of the system.
        reason: std::io::Error,
    },
}
