//! Why a command cannot be shut in.

use std::path::PathBuf;

/// Why a command cannot be shut in.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SandboxError {
    /// The system cannot do it.
    #[error(
        "commands cannot be confined on this system: {what}; choose a policy with full access or run inside a container"
    )]
    Unavailable {
        /// What is missing.
        what: String,
    },
    /// The system refused a step that it should know.
    #[error("cannot confine the process: {step} failed: {reason}")]
    Step {
        /// The step.
        step: &'static str,
        /// What the system said.
        reason: String,
    },
    /// Another folder lies where one was that commands must not read.
    #[error(
        "{path} is not the folder that it was when the server started; commands could read what was in it. Start the server again",
        path = path.display()
    )]
    Moved {
        /// Where it was.
        path: PathBuf,
    },
    /// A folder around a hidden place has too many entries to open each of them.
    #[error(
        "{folder} has more than {most} entries beside what commands must not read; move the server's home or the file with its token to another folder, or install bubblewrap",
        folder = folder.display()
    )]
    TooManyBeside {
        /// The folder.
        folder: PathBuf,
        /// How many can be opened.
        most: usize,
    },
    /// The policy that was handed over is none.
    #[error("cannot read the policy of a confined command: {reason}; it is JSON made by the server itself")]
    Policy {
        /// What is wrong.
        reason: String,
    },
    /// There is no command to run.
    #[error("no command to confine; put it behind `--`")]
    NoCommand,
    /// The command did not start.
    #[error("cannot start {program}: {reason}", program = program.display())]
    Start {
        /// The program.
        program: PathBuf,
        /// What the system said.
        reason: std::io::Error,
    },
}
