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
