//! Errors as they are shown to the user, with hints and exit codes.

use std::process::ExitCode;

use trace_fleet::ingest::IngestError;
use trace_fleet::lake::LakeError;
use trace_fleet::lake::compact::CompactError;
use trace_fleet::query::QueryError;
use trace_fleet::workers::WorkError;
use trace_fleet_page::BoardError;

use crate::terminal;

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// Everything was done.
    Done,
    /// A part failed, which was already told.
    Failed,
    /// Another program ended with this code.
    Code(u8),
    /// The user interrupted it.
    Interrupted,
}

/// Why a command failed, and what the user can do.
#[derive(Debug)]
pub(crate) struct Failure {
    code: u8,
    error: anyhow::Error,
    hint: Option<String>,
}

impl Failure {
    /// Returns a failure of a lake, a source or an output.
    pub(crate) fn data(error: impl Into<anyhow::Error>) -> Self {
        Self { code: 1, error: error.into(), hint: None }
    }

    /// Returns a failure of the command line.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self { code: 2, error: anyhow::Error::msg(message.into()), hint: None }
    }

    /// Adds what the user can do.
    pub(crate) fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Prints the failure and returns the exit code.
    pub(crate) fn show(&self) -> ExitCode {
        terminal::say(&format!("error: {}", trace_text::line(&format!("{:#}", self.error), trace_text::Usage::Prose)));
        if let Some(hint) = &self.hint {
            terminal::say(&format!("hint: {hint}"));
        }
        ExitCode::from(self.code)
    }
}

impl From<LakeError> for Failure {
    fn from(error: LakeError) -> Self {
        let hint = match &error {
            LakeError::NoLake { .. } => Some("`trace fleet ingest SOURCE --lake URL` makes one"),
            LakeError::Format { .. } => Some("a newer trace made it"),
            LakeError::Damaged { .. } => Some("`trace fleet fsck` tells what else is damaged"),
            _ => None,
        };
        Self { hint: hint.map(str::to_owned), ..Self::data(error) }
    }
}

impl From<trace_fleet::store::StoreError> for Failure {
    fn from(error: trace_fleet::store::StoreError) -> Self {
        let schemes = trace_fleet::store::SCHEMES;
        Self::data(error).with_hint(format!("a path, or a URL of one of the schemes {schemes}"))
    }
}

impl From<BoardError> for Failure {
    fn from(error: BoardError) -> Self {
        match error {
            BoardError::Lake(error) => error.into(),
            BoardError::Query(error) => error.into(),
            error => Self::data(error),
        }
    }
}

impl From<WorkError> for Failure {
    fn from(error: WorkError) -> Self {
        let hint = match &error {
            WorkError::Unreachable { .. } => Some("`trace fleet scheduler` starts one"),
            WorkError::Refused { .. } => Some("--token-file FILE or TRACE_FLEET_TOKEN: all parts have the same token"),
            _ => None,
        };
        let code = if matches!(error, WorkError::Url { .. } | WorkError::Setting { .. }) { 2 } else { 1 };
        Self { code, error: error.into(), hint: hint.map(str::to_owned) }
    }
}

#[cfg(feature = "cluster")]
impl From<trace_fleet::cluster::ClusterError> for Failure {
    fn from(error: trace_fleet::cluster::ClusterError) -> Self {
        use trace_fleet::cluster::ClusterError;
        match error {
            ClusterError::Work(error) => error.into(),
            error @ ClusterError::Open { .. } => Self::usage(error.to_string())
                .with_hint("--token-file FILE, or TRACE_FLEET_TOKEN; `openssl rand -hex 32 > FILE` makes one"),
            error @ ClusterError::Hidden { .. } => Self::usage(error.to_string())
                .with_hint("--listen 0.0.0.0:50051, or --host with an address that the others reach"),
            error => Self::data(error),
        }
    }
}

impl From<CompactError> for Failure {
    fn from(error: CompactError) -> Self {
        match error {
            CompactError::Lake(error) => error.into(),
            CompactError::Work(error) => error.into(),
        }
    }
}

impl From<IngestError> for Failure {
    fn from(error: IngestError) -> Self {
        match error {
            IngestError::Lake(error) => error.into(),
            IngestError::Work(error) => error.into(),
            error => Self::data(error),
        }
    }
}

impl From<QueryError> for Failure {
    fn from(error: QueryError) -> Self {
        let error = match error {
            QueryError::Work(error) => return error.into(),
            error => error,
        };
        let hint = match &error {
            QueryError::UnknownName { .. } => Some("`trace fleet questions` lists them".to_owned()),
            QueryError::MissingParameter { name } => Some(format!("--param {name}=VALUE")),
            QueryError::Timeout { .. } => {
                Some("--timeout SECONDS allows more; --since and --team narrow the tables".to_owned())
            }
            QueryError::Memory { .. } => {
                Some("--memory MIB allows more; --since and --team narrow the tables".to_owned())
            }
            QueryError::Engine(_) => Some("`trace fleet tables` lists the tables and columns".to_owned()),
            QueryError::TooLong { .. } | QueryError::Panicked { .. } | QueryError::Work(_) => None,
        };
        let code = match &error {
            QueryError::Panicked { .. } => 3,
            QueryError::UnknownName { .. } | QueryError::MissingParameter { .. } => 2,
            _ => 1,
        };
        Self { code, error: error.into(), hint }
    }
}
