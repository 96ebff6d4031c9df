//! Queries that are malicious or wrong.

use std::time::Duration;

use trace_query::{Limits, MAX_SQL_BYTES, Query, QueryError};

use crate::support::{FREE, ask_with, sample};

/// Returns the error of a query that does not compile.
#[track_caller]
fn refused(sql: &str) -> String {
    Query::new(sql).expect_err("refused").to_string()
}

/// Returns the error of a query that compiles and then fails.
#[track_caller]
fn fails(sql: &str, limits: &Limits) -> QueryError {
    ask_with(&[sample("three-children")], sql, limits).map(|(answer, _)| answer.rows.len()).expect_err("fails")
}

#[test]
fn only_reading_is_allowed() {
    let statements = [
        "ATTACH 'other.sqlite' AS other",
        "DETACH main",
        "PRAGMA writable_schema = ON",
        "PRAGMA query_only = OFF",
        "PRAGMA table_info(turns)",
        "SELECT * FROM pragma_table_info('turns')",
        "SELECT * FROM dbstat",
        "SELECT count(*) FROM pragma_table_info('turns')",
        "SELECT load_extension('evil')",
        "INSERT INTO turns (turn_id) VALUES ('x')",
        "UPDATE turns SET status = 'completed'",
        "DELETE FROM turns",
        "DROP TABLE turns",
        "ALTER TABLE turns RENAME TO t",
        "CREATE TABLE x (y)",
        "CREATE TEMP TABLE x (y)",
        "CREATE TEMP VIEW x AS SELECT 1",
        "CREATE VIRTUAL TABLE x USING fts5(y)",
        "UPDATE sqlite_schema SET sql = ''",
        "BEGIN",
        "SAVEPOINT x",
        "VACUUM",
        "VACUUM INTO 'copy.sqlite'",
        "REINDEX",
        "ANALYZE",
        "EXPLAIN DELETE FROM turns",
    ];
    let answers: Vec<String> = statements.iter().map(|sql| format!("{sql}: {}", refused(sql))).collect();
    insta::assert_snapshot!(answers.join("\n"), @r"
    ATTACH 'other.sqlite' AS other: ATTACH is not allowed; a query can only read
    DETACH main: DETACH is not allowed; a query can only read
    PRAGMA writable_schema = ON: PRAGMA writable_schema is not allowed; a query can only read
    PRAGMA query_only = OFF: PRAGMA query_only is not allowed; a query can only read
    PRAGMA table_info(turns): PRAGMA table_info is not allowed; a query can only read
    SELECT * FROM pragma_table_info('turns'): reading pragma_table_info is not allowed; a query can only read
    SELECT * FROM dbstat: reading dbstat is not allowed; a query can only read
    SELECT count(*) FROM pragma_table_info('turns'): reading pragma_table_info is not allowed; a query can only read
    SELECT load_extension('evil'): the function load_extension is not allowed; a query can only read
    INSERT INTO turns (turn_id) VALUES ('x'): writing to turns is not allowed; a query can only read
    UPDATE turns SET status = 'completed': changing turns is not allowed; a query can only read
    DELETE FROM turns: deleting from turns is not allowed; a query can only read
    DROP TABLE turns: changing the database is not allowed; a query can only read
    ALTER TABLE turns RENAME TO t: changing the database is not allowed; a query can only read
    CREATE TABLE x (y): changing the database is not allowed; a query can only read
    CREATE TEMP TABLE x (y): changing the database is not allowed; a query can only read
    CREATE TEMP VIEW x AS SELECT 1: changing the database is not allowed; a query can only read
    CREATE VIRTUAL TABLE x USING fts5(y): changing the database is not allowed; a query can only read
    UPDATE sqlite_schema SET sql = '': table sqlite_master may not be modified
    BEGIN: a transaction is not allowed; a query can only read
    SAVEPOINT x: a transaction is not allowed; a query can only read
    VACUUM: changing the database is not allowed; a query can only read
    VACUUM INTO 'copy.sqlite': changing the database is not allowed; a query can only read
    REINDEX: the query selects nothing
    ANALYZE: changing the database is not allowed; a query can only read
    EXPLAIN DELETE FROM turns: deleting from turns is not allowed; a query can only read
    ");
}

#[test]
fn a_query_is_one_statement() {
    let texts = [
        "",
        "  -- nothing\n",
        ";",
        "SELECT 1; SELECT 2",
        "SELECT 1; DROP TABLE turns",
        "SELECT 1; nonsense",
        "SELECT ?1, :name",
    ];
    let answers: Vec<String> = texts.iter().map(|sql| format!("{sql:?}: {}", refused(sql))).collect();
    insta::assert_snapshot!(answers.join("\n"), @r#"
    "": the query selects nothing
    "  -- nothing\n": the query selects nothing
    ";": the query selects nothing
    "SELECT 1; SELECT 2": the query has more than one statement
    "SELECT 1; DROP TABLE turns": changing the database is not allowed; a query can only read
    "SELECT 1; nonsense": near "nonsense": syntax error
    "SELECT ?1, :name": the query has a parameter (?1), but parameters cannot be set
    "#);
    Query::new("SELECT 1; -- the end\n").expect("one statement");
    let long = format!("SELECT '{}'", "x".repeat(MAX_SQL_BYTES));
    assert!(matches!(Query::new(&long), Err(QueryError::TooLong { .. })));
    assert!(Query::new("SELECT '\0'").is_err());
}

#[test]
fn errors_say_where() {
    let at = |sql: &str| match Query::new(sql) {
        Err(QueryError::Sql { message, at }) => (message, at.map(|at| sql[at..].to_owned())),
        other => panic!("{other:?}"),
    };
    assert_eq!(at("SELECT nobody FROM turns"), ("no such column: nobody".into(), Some("nobody FROM turns".into())));
    assert_eq!(at("SELECT 1; SELEKT 2").1.as_deref(), Some("SELEKT 2"));
    assert_eq!(at("SELECT * FROM nowhere").0, "no such table: nowhere");
    assert_eq!(at("SELECT (((").0, "incomplete input");
}

#[test]
fn a_query_ends_when_its_time_is_up() {
    let endless = "WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT max(x) FROM n";
    let limits = Limits { time: Some(Duration::from_millis(50)), ..FREE };
    assert!(matches!(fails(endless, &limits), QueryError::TimedOut { limit } if limit == Duration::from_millis(50)));
    let cross = "SELECT count(*) FROM events a, events b, events c, events d, events e, events f";
    assert!(matches!(fails(cross, &limits), QueryError::TimedOut { .. }));
}

#[test]
fn values_are_limited() {
    let too_big = |sql: &str| match fails(sql, &FREE) {
        QueryError::Failed { message } => message,
        other => panic!("{other:?}"),
    };
    assert_eq!(too_big("SELECT zeroblob(1000000000)"), "string or blob too big");
    assert_eq!(too_big("SELECT length(hex(zeroblob(60000000)))"), "string or blob too big");
    assert_eq!(too_big("SELECT printf('%.*c', 100000000, 'x')"), "string or blob too big");
    assert_eq!(
        too_big("SELECT agent_path LIKE printf('%.*c', 2000, 'x') FROM turns"),
        "LIKE or GLOB pattern too complex"
    );
    assert_eq!(too_big("SELECT json_extract('{', '$.a')"), "malformed JSON");
    assert_eq!(too_big("SELECT sum(9223372036854775807) FROM events"), "integer overflow");
    assert!(too_big("SELECT agent_path REGEXP '(((' FROM turns").contains("unclosed group"));
    assert_eq!(too_big(r"SELECT agent_path REGEXP '\w{1000}{1000}' FROM turns"), "the regular expression is too large");
}

#[test]
fn deep_expressions_are_refused() {
    let deep = format!("SELECT {}1{}", "(".repeat(5000), ")".repeat(5000));
    assert!(Query::new(&deep).is_err());
    let wide = format!("SELECT {}1", "1 + ".repeat(5000));
    assert!(Query::new(&wide).is_err());
}

#[test]
fn rows_are_limited() {
    let limits = Limits { rows: Some(3), ..FREE };
    let (answer, outcome) = ask_with(&[sample("three-children")], "SELECT seq FROM events", &limits).expect("answers");
    assert_eq!((answer.rows.len(), outcome.rows, outcome.is_cut), (3, 3, true));
    let (_, outcome) =
        ask_with(&[sample("three-children")], "SELECT seq FROM events LIMIT 3", &limits).expect("answers");
    assert_eq!((outcome.rows, outcome.is_cut), (3, false));
}
