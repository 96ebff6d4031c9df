//! Errors as they are shown to the user, with hints and exit codes.

use std::any::Any;
use std::fmt::Display;
use std::io::{self};

use trace_recorder::BundleError;
use trace_recorder::format::{EVENT_LOG_FILE, MANIFEST_FILE};

use crate::ui::text;

/// The cause of a failure. It determines the exit code, which is stable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// A bundle cannot be read or was refused, or its output cannot be written.
    Data,
    /// The command line is wrong.
    Usage,
    /// A bug in this program.
    Internal,
}

impl Kind {
    pub(crate) fn exit_code(self) -> u8 {
        match self {
            Self::Data => 1,
            Self::Usage => 2,
            Self::Internal => 3,
        }
    }
}

/// How a command ended that did not fail as a whole. Failures of single bundles were already printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// Everything was done.
    Done,
    /// Some bundles failed; the exit code is that of the given kind.
    Failed(Kind),
    /// What was looked for was found, and the command was asked to end with this exit code then.
    Found(u8),
    /// Nothing matched. For commands with the exit codes of `grep`.
    NothingFound,
    /// Some bundles failed. For commands with the exit codes of `grep`.
    Incomplete,
    /// The user interrupted the command.
    Interrupted,
    /// A signal ended the command; its exit code is given.
    Stopped(u8),
}

/// Why something failed, and what the user can do about it.
#[derive(Debug)]
pub(crate) struct Failure {
    kind: Kind,
    error: anyhow::Error,
    excerpt: Option<String>,
    hint: Option<String>,
}

impl Failure {
    /// Returns a failure of a bundle, or of the place that its output goes to.
    pub(crate) fn data(error: impl Into<anyhow::Error>) -> Self {
        Self { kind: Kind::Data, error: error.into(), excerpt: None, hint: None }
    }

    /// Returns a failure of the command line.
    pub(crate) fn usage(message: impl Display) -> Self {
        Self { kind: Kind::Usage, error: anyhow::Error::msg(message.to_string()), excerpt: None, hint: None }
    }

    /// Returns a failure that is a bug in this program.
    pub(crate) fn internal(error: impl Into<anyhow::Error>) -> Self {
        let hint = "this is a bug in trace; please report it with the lines above".to_owned();
        Self { kind: Kind::Internal, error: error.into(), excerpt: None, hint: Some(hint) }
    }

    /// Returns the failure for the payload of a panic. The panic itself was already printed.
    pub(crate) fn panicked(payload: &(dyn Any + Send)) -> Self {
        let message = payload
            .downcast_ref::<&str>()
            .copied()
            .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
            .unwrap_or("no message");
        Self::internal(anyhow::anyhow!("internal error: {message}"))
    }

    /// Adds a hint: what the user can do.
    pub(crate) fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Adds an excerpt of what the failure is about. It consists of whole lines that are safe to print.
    pub(crate) fn with_excerpt(mut self, lines: impl Into<String>) -> Self {
        self.excerpt = Some(lines.into());
        self
    }

    /// Adds context: what was being done when it failed.
    pub(crate) fn context(mut self, context: impl Display + Send + Sync + 'static) -> Self {
        self.error = self.error.context(context);
        self
    }

    /// Returns the failure with another kind, for a command whose exit codes are those of another program.
    pub(crate) fn with_kind(mut self, kind: Kind) -> Self {
        self.kind = kind;
        self
    }

    pub(crate) fn kind(&self) -> Kind {
        self.kind
    }

    pub(crate) fn excerpt(&self) -> Option<&str> {
        self.excerpt.as_deref()
    }

    pub(crate) fn hint(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    /// Returns the error and its causes as one line that is safe to print.
    pub(crate) fn message(&self) -> String {
        text::clean(&format!("{:#}", self.error)).into_owned()
    }

    /// Returns whether the reader of the output closed it, as `head` does.
    pub(crate) fn is_broken_pipe(&self) -> bool {
        self.error
            .chain()
            .filter_map(|cause| cause.downcast_ref::<io::Error>())
            .any(|cause| cause.kind() == io::ErrorKind::BrokenPipe)
    }
}

impl From<BundleError> for Failure {
    fn from(error: BundleError) -> Self {
        let hint = match &error {
            BundleError::NotADirectory { path } | BundleError::Io { path, .. } if path.is_file() => {
                "a bundle is the directory that holds the file, or one file that `trace` recorded or packed".to_owned()
            }
            BundleError::NotABundle { path } => {
                let below = trace_recorder::bundle::find_bundles(path).is_ok_and(|bundles| !bundles.is_empty());
                if below {
                    format!("`trace ls {}` lists the bundles below it", path.display())
                } else {
                    format!(
                        "a bundle is a file NAME.trace, or a directory with {MANIFEST_FILE} and {EVENT_LOG_FILE}; `trace ls ROOT` finds them"
                    )
                }
            }
            BundleError::Io { .. } if error.is_missing() => {
                "`trace ls ROOT` lists the bundles below a folder".to_owned()
            }
            _ => return Self::data(error),
        };
        Self::data(error).with_hint(text::clean(&hint))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_an_internal_error() {
        let payload = std::panic::catch_unwind(|| panic!("no {}", "way")).expect_err("panics");
        let failure = Failure::panicked(payload.as_ref());
        assert_eq!((failure.kind(), failure.message().as_str()), (Kind::Internal, "internal error: no way"));
    }

    #[test]
    fn worse_is_greater() {
        assert!(Kind::Data < Kind::Usage && Kind::Usage < Kind::Internal);
    }
}
