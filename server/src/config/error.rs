//! What can be wrong with a configuration.

use std::path::PathBuf;

/// What is wrong with a configuration.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("cannot read {path}: {source}")]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// The file is larger than any configuration.
    #[error("{path} has {bytes} bytes, and a configuration may have {limit}")]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Its size.
        bytes: u64,
        /// The most that is read.
        limit: u64,
    },
    /// The file cannot be written.
    #[error("cannot write {path}: {source}")]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// The file is no TOML, or a key of it has a value that it cannot have.
    #[error("{path}:{line}:{column}: {message}")]
    File {
        /// The file.
        path: PathBuf,
        /// Line, counted from 1.
        line: usize,
        /// Column, counted from 1.
        column: usize,
        /// What is wrong.
        message: String,
    },
    /// An override is not `key=value`.
    #[error("override `{text}` is not of the form key=value")]
    Override {
        /// The override.
        text: String,
    },
    /// A dotted key is none.
    #[error("key `{key}` is no dotted key: {message}")]
    Key {
        /// The key.
        key: String,
        /// What is wrong.
        message: String,
    },
    /// A key would be inside of something that is no table.
    #[error("cannot set `{key}`: `{parent}` is not a table")]
    Parent {
        /// The key.
        key: String,
        /// What is in its way.
        parent: String,
    },
    /// A value that TOML cannot express.
    #[error("`{key}` has a value that a configuration cannot hold: {message}")]
    Value {
        /// The key.
        key: String,
        /// What is wrong.
        message: String,
    },
    /// The layers together make no configuration.
    #[error("invalid configuration: {message}")]
    Invalid {
        /// What is wrong, with the key.
        message: String,
    },
    /// Somebody else has changed the file.
    #[error(
        "the configuration has changed since it was read: expected version {expected}, found {found}; read it again"
    )]
    Conflict {
        /// What the writer has seen.
        expected: String,
        /// What is there.
        found: String,
    },
    /// Only the user's file can be written.
    #[error("{path} is not the user's configuration, which is {user}")]
    OtherFile {
        /// What was to be written.
        path: PathBuf,
        /// What can be written.
        user: PathBuf,
    },
}
