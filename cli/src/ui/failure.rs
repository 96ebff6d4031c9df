//! Errors on their way to the person who reads them.

use std::any::Any;
use std::fmt::Display;
use std::io::{self};

use trace_recorder::BundleError;
use trace_recorder::format::{EVENT_LOG_FILE, MANIFEST_FILE};

use crate::ui::text;

/// Whose fault a failure is. The exit codes are stable.
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

/// How a command that ran to its end came out. What went wrong has been said already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// All was done.
    Done,
    /// Some of it was not.
    Failed(Kind),
    /// Nothing matches, of a command with the exit codes of `grep`.
    NothingFound,
    /// Some of it was not, of a command with the exit codes of `grep`.
    Incomplete,
    /// The user stopped it.
    Interrupted,
    /// A signal ended it, which has this exit code.
    Stopped(u8),
}

/// Why something was not done, and what the user can do about it.
#[derive(Debug)]
pub(crate) struct Failure {
    kind: Kind,
    error: anyhow::Error,
    excerpt: Option<String>,
    hint: Option<String>,
}

impl Failure {
    /// Blames a bundle, or the place where its output goes.
    pub(crate) fn data(error: impl Into<anyhow::Error>) -> Self {
        Self { kind: Kind::Data, error: error.into(), excerpt: None, hint: None }
    }

    /// Blames the command line.
    pub(crate) fn usage(message: impl Display) -> Self {
        Self { kind: Kind::Usage, error: anyhow::Error::msg(message.to_string()), excerpt: None, hint: None }
    }

    /// Blames this program.
    pub(crate) fn internal(error: impl Into<anyhow::Error>) -> Self {
        let hint = "this is a bug in trace; please report it with the lines above".to_owned();
        Self { kind: Kind::Internal, error: error.into(), excerpt: None, hint: Some(hint) }
    }

    /// Makes a failure of what a panic left. The panic itself was printed where it happened.
    pub(crate) fn panicked(payload: &(dyn Any + Send)) -> Self {
        let message = payload
            .downcast_ref::<&str>()
            .copied()
            .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
            .unwrap_or("no message");
        Self::internal(anyhow::anyhow!("internal error: {message}"))
    }

    /// Says what the user can do.
    pub(crate) fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Shows what the failure is about: whole lines that are safe to print.
    pub(crate) fn with_excerpt(mut self, lines: impl Into<String>) -> Self {
        self.excerpt = Some(lines.into());
        self
    }

    /// Says what the failure is about.
    pub(crate) fn context(mut self, context: impl Display + Send + Sync + 'static) -> Self {
        self.error = self.error.context(context);
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

    /// Says whether the reader of the output went away, as `head` does.
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
                "a bundle is the directory that holds the file, or one file that `trace pack` made".to_owned()
            }
            BundleError::NotABundle { path } => {
                let below = trace_recorder::bundle::find_bundles(path).is_ok_and(|bundles| !bundles.is_empty());
                if below {
                    format!("`trace ls {}` lists the bundles below it", path.display())
                } else {
                    format!(
                        "a bundle is a directory with {MANIFEST_FILE} and {EVENT_LOG_FILE}; `trace ls ROOT` finds them"
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
