//! The database: tables are filled from sessions, then queried.

use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags, params_from_iter};
use trace_explain::Session;
use trace_explain::prices::Prices;

use crate::error::QueryError;
use crate::functions::{self, Asked};
use crate::guard::Guard;
use crate::query::{Needs, Query, prepare};
use crate::source::Source;
use crate::table::Table;
use crate::{schema, tables};

/// Steps of the engine between two checks of the clock: some ten microseconds.
const STEPS_PER_LOOK: i32 = 1000;

/// Fewest bytes of memory for a query, even if its limit is lower.
const MIN_MEMORY_BYTES: u64 = 1 << 26;

/// Limits of a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Most time that it may take; `None` for no limit. The clock is not checked within a step of the engine, such as
    /// the comparison of two values.
    pub time: Option<Duration>,
    /// Most rows that it may return; `None` for no limit.
    pub rows: Option<u64>,
    /// Most bytes of memory that the engine may take in addition to the tables; `None` for no limit. The limit applies
    /// to the whole process and can only be lowered, so it suits programs that run one query and end.
    pub memory: Option<u64>,
}

/// A value of a result.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value<'a> {
    /// Null.
    Null,
    /// An integer.
    Integer(i64),
    /// A number.
    Real(f64),
    /// A text. SQL can produce texts that are not UTF-8.
    Text(&'a [u8]),
    /// Bytes.
    Blob(&'a [u8]),
}

impl<'a> From<ValueRef<'a>> for Value<'a> {
    fn from(value: ValueRef<'a>) -> Self {
        match value {
            ValueRef::Null => Self::Null,
            ValueRef::Integer(number) => Self::Integer(number),
            ValueRef::Real(number) => Self::Real(number),
            ValueRef::Text(text) => Self::Text(text),
            ValueRef::Blob(bytes) => Self::Blob(bytes),
        }
    }
}

/// Receives a result row by row.
pub trait TakeAnswer {
    /// Receives the names of the columns, before any row.
    ///
    /// # Errors
    ///
    /// Returns an error if the result cannot be written. The query then ends.
    fn columns(&mut self, names: &[String]) -> io::Result<()>;

    /// Receives a row.
    ///
    /// # Errors
    ///
    /// Returns an error if the result cannot be written. The query then ends.
    fn row(&mut self, values: &[Value<'_>]) -> io::Result<()>;
}

/// What is reported about a result besides its rows.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Outcome {
    /// Number of rows.
    pub rows: u64,
    /// Whether there are more rows than the limit.
    pub is_cut: bool,
    /// Why requested payloads are null. Only the first reasons are kept.
    pub notes: Vec<String>,
    /// Number of reasons that are not in `notes`.
    pub notes_left_out: u64,
}

/// A database that is being filled.
#[derive(Debug)]
pub struct Builder {
    connection: Connection,
    needs: Needs,
    asked: Asked,
    prices: Option<Prices>,
    file: Option<PathBuf>,
}

impl Builder {
    /// Creates a database in memory that only holds what a query needs.
    ///
    /// # Errors
    ///
    /// Returns an error if the engine fails.
    pub fn in_memory(query: &Query) -> Result<Self, QueryError> {
        let connection = Connection::open_in_memory().map_err(QueryError::Database)?;
        Self::begin(connection, query.needs.clone(), None)
    }

    /// Creates a database with all tables in the file at `path`, which must be empty. `query` is the query that will be
    /// run on it, if there is one.
    ///
    /// # Errors
    ///
    /// Returns an error if the engine fails or the file cannot be written.
    pub fn in_file(path: &Path, query: Option<&Query>) -> Result<Self, QueryError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        // SQLite could interpret a relative path as a URI.
        let path = std::path::absolute(path).map_err(QueryError::File)?;
        let connection = Connection::open_with_flags(&path, flags).map_err(QueryError::Database)?;
        // No other process uses the file before it is complete, and after a crash it is created again, so no journal is
        // needed.
        let pragmas = "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE;";
        connection.execute_batch(pragmas).map_err(QueryError::Database)?;
        let sessions = query.is_some_and(|query| query.needs.sessions);
        Self::begin(connection, Needs { sessions, ..Needs::everything() }, Some(path))
    }

    fn begin(connection: Connection, needs: Needs, file: Option<PathBuf>) -> Result<Self, QueryError> {
        schema::create(&connection).map_err(QueryError::Database)?;
        Ok(Self { connection, needs, asked: Asked::default(), prices: None, file })
    }

    /// Sets the prices for the calls of sessions that are added later.
    #[must_use]
    pub fn with_prices(mut self, prices: Option<Prices>) -> Self {
        self.prices = prices;
        self
    }

    /// Adds the rows of a session. `bundle_id` must be unique.
    ///
    /// # Errors
    ///
    /// Returns an error if the engine fails or the file cannot be written.
    pub fn add(&mut self, bundle_id: &str, session: Session) -> Result<(), QueryError> {
        let source = Source::new(bundle_id, &session, self.prices.as_ref());
        fill(&mut self.connection, &self.needs, &source).map_err(QueryError::Database)?;
        if self.needs.sessions {
            self.asked.keep(bundle_id, session);
        }
        Ok(())
    }

    /// Completes the database. From now on it can only be read.
    ///
    /// # Errors
    ///
    /// Returns an error if the engine fails or the file cannot be written.
    pub fn finish(self) -> Result<Database, QueryError> {
        self.finished().map_err(QueryError::Database)
    }

    fn finished(self) -> rusqlite::Result<Database> {
        for &table in tables::ALL {
            let filled = self.needs.columns.get(table.name());
            schema::index(&self.connection, table as &dyn Table, filled.map_or(&[], Vec::as_slice))?;
        }
        let mut connection = self.connection;
        if let Some(path) = self.file {
            connection.close().map_err(|(_, error)| error)?;
            let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
            connection = Connection::open_with_flags(path, flags)?;
        }
        functions::define(&connection, &self.asked)?;
        let guard = Guard::default();
        schema::protect(&mut connection, &guard)?;
        Ok(Database { connection, needs: self.needs, guard, asked: self.asked })
    }
}

fn fill(connection: &mut Connection, needs: &Needs, source: &Source<'_>) -> rusqlite::Result<()> {
    let transaction = connection.transaction()?;
    for &table in tables::ALL {
        let Some(wanted) = needs.columns.get(table.name()) else { continue };
        let columns = table.columns();
        let names: Vec<&str> = wanted.iter().map(|column| columns[*column].name).collect();
        let marks = vec!["?"; names.len()].join(", ");
        let sql = format!("INSERT INTO {} ({}) VALUES ({marks})", table.name(), names.join(", "));
        let mut insert = transaction.prepare(&sql)?;
        table.fill(source, wanted, &mut |cells| insert.execute(params_from_iter(cells)).map(|_| ()))?;
    }
    transaction.commit()
}

/// A complete database that can be queried.
#[derive(Debug)]
pub struct Database {
    connection: Connection,
    needs: Needs,
    guard: Guard,
    asked: Asked,
}

impl Database {
    /// Runs a query and passes its rows to `answer`.
    ///
    /// # Errors
    ///
    /// Returns an error if the database lacks something that the query reads, if the query fails or reaches the limit
    /// of time or memory, or if `answer` returns an error. Some rows may have been passed before.
    pub fn ask(&mut self, query: &Query, limits: &Limits, answer: &mut dyn TakeAnswer) -> Result<Outcome, QueryError> {
        if !self.needs.cover(&query.needs) {
            return Err(QueryError::NotFilled);
        }
        self.set_limits(limits)?;
        let limit = limits.time.unwrap_or(Duration::MAX);
        let failed = |error| QueryError::of_run(error, query.sql(), limit);
        let mut statement = prepare(&self.connection, query.sql(), &self.guard)?;
        let names: Vec<String> = statement.column_names().map(str::to_owned).collect();
        answer.columns(&names).map_err(QueryError::Output)?;
        let mut outcome = Outcome::default();
        let mut rows = statement.raw_query();
        while let Some(row) = rows.next().map_err(failed)? {
            if limits.rows.is_some_and(|limit| outcome.rows >= limit) {
                outcome.is_cut = true;
                break;
            }
            let values: Vec<Value<'_>> = (0..names.len())
                .map(|column| row.get_ref(column).map(Value::from))
                .collect::<Result<_, _>>()
                .map_err(failed)?;
            answer.row(&values).map_err(QueryError::Output)?;
            outcome.rows += 1;
        }
        (outcome.notes, outcome.notes_left_out) = self.asked.take_notes();
        Ok(outcome)
    }

    fn set_limits(&mut self, limits: &Limits) -> Result<(), QueryError> {
        if let Some(memory) = limits.memory {
            self.limit_memory(memory).map_err(QueryError::Database)?;
        }
        let until = limits.time.and_then(|time| Instant::now().checked_add(time));
        let is_late = until.map(|until| move || Instant::now() >= until);
        self.connection.progress_handler(STEPS_PER_LOOK, is_late).map_err(QueryError::Database)
    }

    fn limit_memory(&mut self, memory: u64) -> rusqlite::Result<()> {
        let nobody: Option<fn(rusqlite::hooks::AuthContext<'_>) -> rusqlite::hooks::Authorization> = None;
        self.connection.authorizer(nobody)?;
        let number =
            |pragma: &str| self.connection.query_row(&format!("PRAGMA {pragma}"), [], |row| row.get::<_, i64>(0));
        let tables = u64::try_from(number("page_count")?.saturating_mul(number("page_size")?)).unwrap_or(0);
        // The engine needs more memory to manage its pages in memory.
        let bytes = tables.saturating_add(tables / 4).saturating_add(memory.max(MIN_MEMORY_BYTES));
        let bytes = i64::try_from(bytes).unwrap_or(i64::MAX);
        self.connection.query_row(&format!("PRAGMA hard_heap_limit = {bytes}"), [], |_| Ok(()))?;
        let guard = self.guard.clone();
        self.connection.authorizer(Some(move |context: rusqlite::hooks::AuthContext<'_>| guard.decide(&context)))
    }
}
