//! Why a bundle cannot be recorded.

use std::io;
use std::path::{Path, PathBuf};

/// Why a bundle cannot be recorded, or not any more.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// A file or directory cannot be made or opened.
    #[error("cannot record to {}", path.display())]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// What the file system says.
        source: io::Error,
    },
    /// Another recorder is at work on the bundle.
    #[error("{} is being recorded already", path.display())]
    Locked {
        /// The bundle.
        path: PathBuf,
    },
    /// The recording of the bundle came to its end; nothing may follow.
    #[error("the recording of {} is complete", path.display())]
    Complete {
        /// The bundle.
        path: PathBuf,
    },
    /// The bundle is damaged in a way that going on would hide.
    #[error("{} cannot be gone on with: {}{reason}", path.display(), place(*line))]
    Damaged {
        /// The bundle.
        path: PathBuf,
        /// Line of the log, from 1, if it is about one.
        line: Option<u64>,
        /// What is wrong.
        reason: String,
    },
    /// The disk is too slow: not everything was written in time. The writer goes on with it.
    #[error("only events up to {acknowledged_seq} of {} are written yet", path.display())]
    Unfinished {
        /// The bundle.
        path: PathBuf,
        /// Last event that is acknowledged.
        acknowledged_seq: u64,
    },
    /// The recording stopped: what came after the event is lost.
    #[error("the recording of {} stopped after seq {after_seq}: {reason}", path.display())]
    Stopped {
        /// The bundle.
        path: PathBuf,
        /// Last event in the log.
        after_seq: u64,
        /// What went wrong.
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
