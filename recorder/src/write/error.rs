//! The errors of recording a bundle.

use std::io;
use std::path::{Path, PathBuf};

/// Why a bundle cannot be recorded or continued.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// A file or directory cannot be created or opened.
    #[error("cannot record to {}", path.display())]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// The error of the file system.
        source: io::Error,
    },
    /// Another recorder is at work on the bundle.
    #[error("{} is being recorded already", path.display())]
    Locked {
        /// The bundle.
        path: PathBuf,
    },
    /// The recording of the bundle is complete. No event may follow.
    #[error("the recording of {} is complete", path.display())]
    Complete {
        /// The bundle.
        path: PathBuf,
    },
    /// The bundle is damaged. Continuing it would hide the damage.
    #[error("{} cannot be continued: {}{reason}", path.display(), place(*line))]
    Damaged {
        /// The bundle.
        path: PathBuf,
        /// Line of the log, from 1, if the damage is in a line.
        line: Option<u64>,
        /// What is wrong.
        reason: String,
    },
    /// The disk is too slow: not everything was written in time. The writer's thread continues to write.
    #[error("only events up to {acknowledged_seq} of {} are written yet", path.display())]
    Unfinished {
        /// The bundle.
        path: PathBuf,
        /// Sequence number of the last acknowledged event.
        acknowledged_seq: u64,
    },
    /// The recording stopped. Later events are lost.
    #[error("the recording of {} stopped after seq {after_seq}: {reason}", path.display())]
    Stopped {
        /// The bundle.
        path: PathBuf,
        /// Sequence number of the last event in the log.
        after_seq: u64,
        /// Error message for people.
        reason: String,
    },
}

impl WriteError {
    pub(crate) fn io(path: &Path, source: io::Error) -> Self {
        Self::Io { path: path.to_owned(), source }
    }
}

fn place(line: Option<u64>) -> String {
    line.map(|line| format!("line {line}: ")).unwrap_or_default()
}
