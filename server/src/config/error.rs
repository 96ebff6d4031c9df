//! Errors of reading, checking and changing a configuration.

use std::path::PathBuf;

/// An error of a configuration.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("cannot read {path}: {source}")]
    Read {
        /// The file.
        path: PathBuf,
        /// The cause.
        #[source]
        source: std::io::Error,
    },
    /// The file is larger than [`MAX_CONFIG_BYTES`](super::MAX_CONFIG_BYTES).
    #[error("{path} has {bytes} bytes, but a configuration may have at most {limit}")]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Its size in bytes.
        bytes: u64,
        /// The most bytes that are read.
        limit: u64,
    },
    /// The file cannot be written.
    #[error("cannot write {path}: {source}")]
    Write {
        /// The file.
        path: PathBuf,
        /// The cause.
        #[source]
        source: std::io::Error,
    },
    /// The file is not valid TOML, or a value in it is invalid.
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
    /// The name of a profile is not one of a file.
    #[error("`{name}` is not the name of a profile: it has only letters, digits, - and _")]
    ProfileName {
        /// The name.
        name: String,
    },
    /// A dotted key is invalid.
    #[error("key `{key}` is not a dotted key: {message}")]
    Key {
        /// The key.
        key: String,
        /// What is wrong with it.
        message: String,
    },
    /// A parent of a dotted key is not a table.
    #[error("cannot set `{key}`: `{parent}` is not a table")]
    Parent {
        /// The key.
        key: String,
        /// The parent.
        parent: String,
    },
    /// TOML cannot express a value.
    #[error("`{key}` has a value that TOML cannot express: {message}")]
    Value {
        /// The key.
        key: String,
        /// What is wrong with it.
        message: String,
    },
    /// The merged configuration is invalid.
    #[error("invalid configuration: {message}")]
    Invalid {
        /// What is wrong, including the key.
        message: String,
    },
    /// The file was changed by another program.
    #[error(
        "the configuration has changed since it was read: expected version {expected}, found {found}; read it again"
    )]
    Conflict {
        /// The version that the client has read.
        expected: String,
        /// The version of the file.
        found: String,
    },
    /// A client wants to write a file that is not the user's configuration.
    #[error("{path} is not the user's configuration, which is {user}")]
    OtherFile {
        /// The file that the client named.
        path: PathBuf,
        /// The user's configuration.
        user: PathBuf,
    },
}
