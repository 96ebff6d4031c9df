//! Errors of queries.

use std::io;
use std::time::Duration;

use rusqlite::ErrorCode;

/// Why a query cannot be run, or failed.
#[derive(Debug, thiserror::Error)]
pub enum QueryError {
    /// The text contains no statement, or a statement without a result.
    #[error("the query selects nothing")]
    Empty,
    /// The text contains more than one statement.
    #[error("the query has more than one statement")]
    SeveralStatements,
    /// The text is too long.
    #[error("the query has {bytes} bytes; at most {MAX_SQL_BYTES} are read")]
    TooLong {
        /// Size of the text in bytes.
        bytes: usize,
    },
    /// The statement has a parameter, and there is no way to give it a value.
    #[error("the query has a parameter ({name}), but parameters cannot be set")]
    Parameter {
        /// The parameter as it is written.
        name: String,
    },
    /// The statement does something that a query may not do.
    #[error("{what} is not allowed; a query can only read")]
    NotAllowed {
        /// The forbidden action.
        what: String,
    },
    /// The engine does not accept the statement.
    #[error("{message}")]
    Sql {
        /// Message of the engine.
        message: String,
        /// Byte offset of the error in the text, if the engine reports it.
        at: Option<usize>,
    },
    /// The statement is valid, but a value cannot be computed: a sum overflows, a text is not JSON, a value gets too
    /// large.
    #[error("the query failed: {message}")]
    Failed {
        /// Message of the engine.
        message: String,
    },
    /// The query took too long.
    #[error("the query was stopped after {}", seconds(limit))]
    TimedOut {
        /// The limit of time.
        limit: Duration,
    },
    /// The query needs more memory than its limit.
    #[error("the query needs more memory than it may take")]
    OutOfMemory,
    /// The answer could not be written.
    #[error("the answer could not be written")]
    Output(#[source] io::Error),
    /// The database was filled for another query and lacks something that this query reads.
    #[error("the database lacks tables or columns that the query reads")]
    NotFilled,
    /// The path of the database file cannot be used.
    #[error("the path of the database cannot be used")]
    File(#[source] io::Error),
    /// The database cannot be created or read.
    #[error("the database failed")]
    Database(#[source] rusqlite::Error),
}

/// Size in bytes of the longest query.
pub const MAX_SQL_BYTES: usize = 1 << 20;

fn seconds(limit: &Duration) -> String {
    format!("{} s", limit.as_secs_f64())
}

impl QueryError {
    /// Makes an error from the engine's error for `sql`.
    pub(crate) fn of_query(error: rusqlite::Error, sql: &str, limit: Duration) -> Self {
        use rusqlite::Error;
        match error {
            Error::MultipleStatement => Self::SeveralStatements,
            // The engine reports an error in a second statement relative to that statement.
            Error::SqlInputError { msg, sql: part, offset, .. } => {
                let before = sql.len().saturating_sub(part.len());
                Self::Sql { message: msg, at: usize::try_from(offset).ok().map(|offset| before + offset) }
            }
            Error::SqliteFailure(failure, message) => match failure.code {
                ErrorCode::OperationInterrupted => Self::TimedOut { limit },
                ErrorCode::OutOfMemory => Self::OutOfMemory,
                ErrorCode::DatabaseCorrupt
                | ErrorCode::NotADatabase
                | ErrorCode::SystemIoFailure
                | ErrorCode::CannotOpen
                | ErrorCode::DiskFull => Self::Database(Error::SqliteFailure(failure, message)),
                _ => Self::Sql { message: message.unwrap_or_else(|| failure.to_string()), at: None },
            },
            Error::UserFunctionError(error) => Self::Sql { message: error.to_string(), at: None },
            error => Self::Database(error),
        }
    }

    /// Makes an error from the engine's error while `sql` runs.
    pub(crate) fn of_run(error: rusqlite::Error, sql: &str, limit: Duration) -> Self {
        match Self::of_query(error, sql, limit) {
            Self::Sql { message, .. } => Self::Failed { message },
            error => error,
        }
    }
}
