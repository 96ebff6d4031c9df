//! Why a question has no answer.

use std::io;
use std::time::Duration;

use rusqlite::ErrorCode;

/// Why a query cannot be run, or was not run to its end.
#[derive(Debug, thiserror::Error)]
pub enum QueryError {
    /// The text holds no statement, or one that answers nothing.
    #[error("the query selects nothing")]
    Empty,
    /// The text holds more than one statement.
    #[error("the query has more than one statement")]
    SeveralStatements,
    /// The text is longer than is read.
    #[error("the query has {bytes} bytes; at most {MAX_SQL_BYTES} are read")]
    TooLong {
        /// Its size.
        bytes: usize,
    },
    /// The statement has parameters, and there is nobody to give them values.
    #[error("the query has a parameter ({name}), which nothing gives a value")]
    Parameter {
        /// The parameter as it is written.
        name: String,
    },
    /// The statement does what a query may not do.
    #[error("{what} is not allowed; a query can only read")]
    NotAllowed {
        /// What it would do.
        what: String,
    },
    /// The engine does not accept the statement.
    #[error("{message}")]
    Sql {
        /// What the engine says.
        message: String,
        /// Where the error is in the text, in bytes, if the engine tells.
        at: Option<usize>,
    },
    /// The statement is right, but what it computes of a row is not possible: a sum overflows, a text is no JSON, a value
    /// gets too large.
    #[error("the query failed: {message}")]
    Failed {
        /// What the engine says.
        message: String,
    },
    /// The query took too long.
    #[error("the query was stopped after {}", seconds(limit))]
    TimedOut {
        /// The time that it had.
        limit: Duration,
    },
    /// The query needs more memory than it may take.
    #[error("the query needs more memory than it may take")]
    OutOfMemory,
    /// The answer could not be written.
    #[error("the answer could not be written")]
    Output(#[source] io::Error),
    /// The database was filled for another query, and lacks what this one reads.
    #[error("the database lacks tables or columns that the query reads")]
    NotFilled,
    /// There is no place for the file of the database.
    #[error("the database has no place")]
    File(#[source] io::Error),
    /// The database could not be made or read.
    #[error("the database failed")]
    Database(#[source] rusqlite::Error),
}

/// Longest query that is read.
pub const MAX_SQL_BYTES: usize = 1 << 20;

fn seconds(limit: &Duration) -> String {
    format!("{} s", limit.as_secs_f64())
}

impl QueryError {
    /// Makes an error of what the engine says about `sql`.
    pub(crate) fn of_query(error: rusqlite::Error, sql: &str, limit: Duration) -> Self {
        use rusqlite::Error;
        match error {
            Error::MultipleStatement => Self::SeveralStatements,
            // What follows the first statement is looked at apart; its position counts from there.
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

    /// Makes an error of what the engine says while it runs `sql`.
    pub(crate) fn of_run(error: rusqlite::Error, sql: &str, limit: Duration) -> Self {
        match Self::of_query(error, sql, limit) {
            Self::Sql { message, .. } => Self::Failed { message },
            error => error,
        }
    }
}
