//! Named questions, and questions of strangers.

use std::time::{Duration, Instant};

use tokio::runtime::Runtime;
use trace_explain::prices::Prices;
use trace_fleet::lake::Lake;
use trace_fleet::query::{self, Engine, Format, Limits, MAX_SQL_BYTES, QueryError, Question, named};

use crate::fixture::{ask, batches_of, csv, ingest, open, repository, runtime, sessions, snapshot, text};

struct Asked {
    _folder: tempfile::TempDir,
    runtime: Runtime,
    lake: Lake,
}

fn filled(count: usize) -> Asked {
    let (folder, runtime) = (tempfile::tempdir().expect("a folder"), runtime());
    let source = folder.path().join("sessions");
    sessions(&source, count);
    let lake = open(&runtime, text(&folder.path().join("lake")));
    ingest(&lake, &source, batches_of(7), runtime.handle());
    Asked { _folder: folder, runtime, lake }
}

impl Asked {
    fn ask(&self, question: &Question, prices: Option<Prices>, limits: Limits) -> Result<query::Answer, QueryError> {
        let snapshot = snapshot(&self.lake, &self.runtime);
        let engine = Engine::new(&self.lake, &snapshot, prices, limits).expect("an engine");
        self.runtime.block_on(engine.ask(question))
    }

    fn refused(&self, sql: &str) -> String {
        let question = Question { sql: sql.to_owned(), ..Question::default() };
        let limits = Limits { timeout: Duration::from_secs(20), memory_bytes: 64 << 20, ..Limits::default() };
        match self.ask(&question, None, limits) {
            Ok(answer) => panic!("{sql} is answered: {}", csv(&answer)),
            Err(error) => error.to_string(),
        }
    }
}

fn question(sql: &str) -> Question {
    Question { sql: sql.to_owned(), ..Question::default() }
}

#[test]
fn all_named_questions_are_answered() {
    let asked = filled(20);
    let address = csv(&ask(&asked.lake, &asked.runtime, "SELECT min(address) AS a FROM failures"));
    let address = address.lines().nth(1).expect("a failure").to_owned();
    for named in named::all() {
        let value = |name: &str| if name == "address" { address.clone() } else { "1".to_owned() };
        let parameters = named.parameters.iter().map(|name| ((*name).to_owned(), value(name))).collect();
        let question = Question { sql: format!("@{}", named.name), parameters, condition: None };
        let answer =
            asked.ask(&question, None, Limits::default()).unwrap_or_else(|error| panic!("@{}: {error}", named.name));
        let has_no_rows = ["findings", "unreadable", "worse", "slower", "worse-sessions", "repeats", "loops", "waits"];
        assert!(answer.count() > 0 || has_no_rows.contains(&named.name), "@{} has no rows", named.name);
    }
}

#[test]
fn a_condition_narrows_all_tables() {
    let asked = filled(12);
    let narrowed = |condition: &str, sql: &str| {
        let question = Question { condition: Some(condition.to_owned()), ..question(sql) };
        csv(&asked.ask(&question, None, Limits::default()).expect("an answer"))
    };
    assert_eq!(narrowed("team = 'red'", "SELECT DISTINCT team FROM tool_calls"), "team\nred\n");
    assert_eq!(narrowed("team = 'red'", "SELECT DISTINCT team FROM costs"), "team\nred\n");
    assert_eq!(narrowed("day > DATE '2999-01-01'", "SELECT count(*) AS n FROM sessions"), "n\n0\n");
    let parts = ["team = 'red'", "team = 'blue'", "true"].map(|it| narrowed(it, "SELECT count(*) AS n FROM turns"));
    let [red, blue, all] =
        parts.map(|part| part.lines().nth(1).and_then(|line| line.parse::<u64>().ok()).expect("a number"));
    assert!(red > 0 && red + blue == all);
}

#[test]
fn money_is_that_of_the_price_table() {
    let asked = filled(4);
    let table = std::fs::read_to_string(repository().join("samples/prices.toml")).expect("a table");
    let prices = Prices::parse(&table).expect("prices");
    let sql = question("SELECT sum(money) AS money, count(money) AS priced FROM costs");
    let with = csv(&asked.ask(&sql, Some(prices.clone()), Limits::default()).expect("an answer"));
    let found: f64 = with.lines().nth(1).and_then(|line| line.split(',').next()?.parse().ok()).expect("money");
    // The same by the answers of single sessions.
    let mut expected = 0.0;
    let addresses = csv(&ask(&asked.lake, &asked.runtime, "SELECT address FROM sessions"));
    for address in addresses.lines().skip(1) {
        let session = trace_explain::Session::open(address.as_ref()).expect("a session");
        let pricing = trace_explain::costs::Pricing::new(session.trace(), Some(&prices));
        for call in session.trace().inferences.values() {
            if let trace_explain::costs::CallCost::Known(money) = pricing.of(call) {
                expected += money.to_f64();
            }
        }
    }
    assert!(expected > 0.0 && (found - expected).abs() < 1e-9, "{found} {expected}");
    let without = csv(&asked.ask(&sql, None, Limits::default()).expect("an answer"));
    assert_eq!(without, "money,priced\n,0\n");
}

#[test]
fn a_question_reads_nothing_but_the_tables_and_changes_nothing() {
    let asked = filled(2);
    let file = asked._folder.path().join("outside.csv");
    std::fs::write(&file, "a,b\n1,2\n").expect("writes");
    let path = text(&file).to_owned();
    let refused = [
        "CREATE TABLE x AS SELECT 1".to_owned(),
        "CREATE VIEW x AS SELECT 1".to_owned(),
        format!("CREATE EXTERNAL TABLE x STORED AS CSV LOCATION '{path}'"),
        format!("COPY sessions TO '{path}'"),
        format!("COPY (SELECT 1) TO '{path}' STORED AS PARQUET"),
        "DROP TABLE sessions".to_owned(),
        "INSERT INTO sessions SELECT * FROM sessions".to_owned(),
        "DELETE FROM sessions".to_owned(),
        "UPDATE sessions SET team = 'x'".to_owned(),
        "SET datafusion.execution.batch_size = 1".to_owned(),
        "PREPARE x AS SELECT 1".to_owned(),
        "SELECT 1; DROP TABLE sessions".to_owned(),
        format!("SELECT * FROM '{path}'"),
        format!("SELECT * FROM read_csv('{path}')"),
        format!("SELECT * FROM parquet_metadata('{path}')"),
        "SELECT * FROM generate_series(1, 1000000000000)".to_owned(),
        "SELECT * FROM range(1, 1000000000000)".to_owned(),
        "SELECT repeat('x', 1000000000000)".to_owned(),
        "SELECT lpad('x', 2000000000)".to_owned(),
        "SELECT array_repeat(1, 1000000000000)".to_owned(),
        "SELECT range(1, 1000000000000)".to_owned(),
        "SELECT".to_owned(),
        String::new(),
        format!("SELECT {}1", "(".repeat(5000)),
        format!("SELECT {}1{}", "abs(".repeat(3000), ")".repeat(3000)),
    ];
    for sql in refused {
        let error = asked.refused(&sql);
        assert!(!error.is_empty() && error.len() < 2000, "{sql}: {error}");
    }
    assert_eq!(std::fs::read_to_string(&file).expect("reads"), "a,b\n1,2\n");
    let tables = csv(&ask(&asked.lake, &asked.runtime, "SELECT count(*) AS n FROM sessions"));
    assert_eq!(tables, "n\n2\n");
}

#[test]
fn a_question_ends_at_its_limits() {
    let asked = filled(6);
    let limits = Limits { timeout: Duration::from_secs(2), memory_bytes: 16 << 20, rows: 5, ..Limits::default() };
    let answer = asked.ask(&question("SELECT * FROM tool_calls"), None, limits).expect("an answer");
    assert_eq!((answer.count(), answer.is_cut), (5, true));
    let long = format!("SELECT 1 -- {}", "x".repeat(MAX_SQL_BYTES));
    assert!(matches!(asked.ask(&question(&long), None, limits), Err(QueryError::TooLong { .. })));
    let forever = [
        "WITH RECURSIVE t AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM t) SELECT count(*) FROM t",
        "SELECT count(*) FROM tool_calls a, tool_calls b, tool_calls c, tool_calls d, tool_calls e WHERE a.seq + b.seq + c.seq + d.seq + e.seq < 0",
    ];
    for sql in forever {
        let started = Instant::now();
        let error = asked.ask(&question(sql), None, limits).expect_err(sql);
        assert!(matches!(error, QueryError::Timeout { .. } | QueryError::Memory { .. }), "{sql}: {error}");
        assert!(started.elapsed() < Duration::from_secs(30), "{sql}");
    }
    let large = "SELECT a.address || b.address || c.address AS x, count(*) FROM tool_calls a, tool_calls b, tool_calls c GROUP BY x ORDER BY x";
    let limits = Limits { timeout: Duration::from_secs(60), memory_bytes: 1 << 20, ..limits };
    let error = asked.ask(&question(large), None, limits).expect_err("too large");
    assert!(matches!(error, QueryError::Memory { .. }), "{error}");
}

#[test]
fn parameters_are_values_and_no_sql() {
    let asked = filled(3);
    let missing = asked.ask(&question("@similar"), None, Limits::default());
    assert!(matches!(missing, Err(QueryError::MissingParameter { .. })));
    assert!(matches!(asked.ask(&question("@nothing"), None, Limits::default()), Err(QueryError::UnknownName { .. })));
    let hostile = Question {
        parameters: vec![("address".to_owned(), "x' OR '1' = '1".to_owned())],
        ..question("SELECT count(*) AS n FROM sessions WHERE address = $address")
    };
    assert_eq!(csv(&asked.ask(&hostile, None, Limits::default()).expect("an answer")), "n\n0\n");
}

#[test]
fn answers_have_several_formats() {
    let asked = filled(2);
    let sql = "SELECT 1 AS a, 'x\u{202e}y' AS b, CAST(NULL AS VARCHAR) AS c UNION ALL SELECT 2, 'z', 'w' ORDER BY a";
    let answer = ask(&asked.lake, &asked.runtime, sql);
    let written = |format| {
        let mut out = Vec::new();
        query::write(&answer, format, &mut out).expect("writes");
        out
    };
    let text = |format| String::from_utf8(written(format)).expect("text");
    insta::assert_snapshot!(text(Format::Table), @r"
    +---+------------+---+
    | a | b          | c |
    +---+------------+---+
    | 1 | x\u{202e}y |   |
    | 2 | z          | w |
    +---+------------+---+
    ");
    assert_eq!(text(Format::Json), "[{\"a\":1,\"b\":\"x\u{202e}y\",\"c\":null},{\"a\":2,\"b\":\"z\",\"c\":\"w\"}]\n");
    assert_eq!(text(Format::Csv), "a,b,c\n1,x\u{202e}y,\n2,z,w\n");
    assert_eq!(&written(Format::Parquet)[..4], b"PAR1");
    assert!(written(Format::Arrow).len() > 100);
    assert_eq!(csv(&ask(&asked.lake, &asked.runtime, "SELECT team FROM sessions WHERE false")), "team\n");
}
