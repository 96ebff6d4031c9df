//! A query that the engine accepts, and what it needs from the tables.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use rusqlite::{Connection, Statement};

use crate::error::{MAX_SQL_BYTES, QueryError};
use crate::guard::Guard;
use crate::table::Filled;
use crate::{functions, schema, tables};

/// A statement that was compiled against the empty tables. It is a single statement that only reads.
#[derive(Debug, Clone)]
pub struct Query {
    sql: String,
    columns: Vec<String>,
    pub(crate) needs: Needs,
}

/// What a database must contain for a query.
#[derive(Debug, Clone)]
pub(crate) struct Needs {
    /// For each table, the indexes of the columns that are filled. Tables that are not in the map stay empty.
    pub(crate) columns: BTreeMap<&'static str, Vec<usize>>,
    /// Whether functions read from sessions.
    pub(crate) sessions: bool,
}

impl Needs {
    /// Returns needs that cover every query.
    pub(crate) fn everything() -> Self {
        let all = |table: &&dyn Filled| (table.name(), (0..table.columns().len()).collect());
        Self { columns: tables::ALL.iter().map(all).collect(), sessions: true }
    }

    /// Returns whether a database that has this has everything in `others`.
    pub(crate) fn cover(&self, others: &Self) -> bool {
        let has = |(table, columns): (&&str, &Vec<usize>)| {
            self.columns.get(*table).is_some_and(|filled| columns.iter().all(|column| filled.contains(column)))
        };
        others.columns.iter().all(has) && (self.sessions || !others.sessions)
    }

    /// Uses what the engine reports about the statement, and the words of its text: the engine does not report columns
    /// that `USING` or `NATURAL` compares, nor tables of which no column is read.
    fn of(sql: &str, read: &BTreeMap<&'static str, BTreeSet<String>>, functions: &BTreeSet<String>) -> Self {
        let text = sql.to_ascii_lowercase();
        let words: BTreeSet<&str> = text.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
        let is_natural = words.contains("natural");
        let mut columns = BTreeMap::new();
        for &table in tables::ALL {
            let read = read.get(table.name());
            if read.is_none() && !words.contains(table.name()) {
                continue;
            }
            let is_needed = |name: &str| {
                let is_told = read.is_some_and(|read| read.iter().any(|column| column.eq_ignore_ascii_case(name)));
                is_told || is_natural || words.contains(name) || name == schema::BUNDLE_ID
            };
            let needed = table.columns().into_iter().enumerate().filter(|(_, column)| is_needed(column.name));
            columns.insert(table.name(), needed.map(|(place, _)| place).collect());
        }
        Self { columns, sessions: functions::ASKING.iter().any(|name| functions.contains(*name)) }
    }
}

impl Query {
    /// Compiles a query.
    ///
    /// # Errors
    ///
    /// Returns an error if the text is not a single statement that reads the tables.
    pub fn new(sql: &str) -> Result<Self, QueryError> {
        if sql.len() > MAX_SQL_BYTES {
            return Err(QueryError::TooLong { bytes: sql.len() });
        }
        let mut connection = Connection::open_in_memory().map_err(QueryError::Database)?;
        schema::create(&connection).map_err(QueryError::Database)?;
        functions::declare(&connection).map_err(QueryError::Database)?;
        let guard = Guard::default();
        schema::protect(&mut connection, &guard).map_err(QueryError::Database)?;
        let statement = prepare(&connection, sql, &guard)?;
        check(&statement)?;
        let columns = statement.column_names().map(str::to_owned).collect();
        let record = guard.record();
        let needs = Needs::of(sql, &record.columns, &record.functions);
        drop(record);
        Ok(Self { sql: sql.to_owned(), columns, needs })
    }

    /// Returns the names of the columns of the result.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// Returns the text of the query.
    pub fn sql(&self) -> &str {
        &self.sql
    }
}

/// Compiles a query on a guarded connection.
pub(crate) fn prepare<'c>(connection: &'c Connection, sql: &str, guard: &Guard) -> Result<Statement<'c>, QueryError> {
    connection.prepare(sql).map_err(|error| match guard.record().refused.take() {
        Some(what) => QueryError::NotAllowed { what },
        None => QueryError::of_query(error, sql, Duration::ZERO),
    })
}

fn check(statement: &Statement<'_>) -> Result<(), QueryError> {
    if !statement.readonly() {
        return Err(QueryError::NotAllowed { what: "changing the database".to_owned() });
    }
    if statement.column_count() == 0 {
        return Err(QueryError::Empty);
    }
    if statement.parameter_count() > 0 {
        let name = statement.parameter_name(1).unwrap_or("?").to_owned();
        return Err(QueryError::Parameter { name });
    }
    Ok(())
}
