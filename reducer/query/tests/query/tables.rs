//! The tables contain what the graph contains, whichever part of them a query needs.

use std::collections::{BTreeMap, BTreeSet};

use trace_explain::Session;
use trace_explain::audit::{Ledger, Options, audit_ledger};
use trace_query::describe::describe;
use trace_query::{APPLICATION_ID, Query, QueryError, SCHEMA_VERSION, named};
use trace_recorder::log::parse_lines;

use crate::support::{Answer, FREE, ask, ask_with, bundles, compacted, database, kept, open, sample};

/// Returns the number of rows that a session should have in each table.
fn expected(session: &Session) -> BTreeMap<&'static str, usize> {
    let trace = session.trace();
    let lines: Vec<_> = session.bundle().log().map(|log| log.lines().collect()).unwrap_or_default();
    let ledger = Ledger::new(session);
    let (audit, claims) = audit_ledger(&ledger, Options::default());
    let events = parse_lines(&lines).into_iter().filter(|line| matches!(line.event, Ok(Some(_)))).count();
    BTreeMap::from([
        ("bundles", 1),
        ("threads", trace.threads.len()),
        ("turns", trace.turns.len()),
        ("inference_calls", trace.inferences.len()),
        ("items", trace.items.len()),
        ("item_parts", trace.items.values().map(|item| item.parts.len()).sum()),
        ("tool_calls", trace.tools.len()),
        ("terminal_operations", trace.operations.len()),
        ("code_cells", trace.cells.len()),
        ("compactions", trace.compactions.len()),
        ("compaction_requests", trace.compaction_requests.len()),
        ("edges", trace.edges.len() + trace.undelivered.len()),
        ("events", events),
        ("protocol_events", trace.protocol_events.len()),
        ("payloads", trace.payloads.len()),
        ("diagnostics", session.diagnostics().iter().count()),
        ("costs", trace.inferences.len()),
        ("subtree_costs", trace.threads.len()),
        ("checks", ledger.runs.len()),
        ("changes", ledger.changes.len()),
        ("claims", claims.len()),
        ("findings", audit.findings.len()),
    ])
}

#[test]
fn the_tables_have_what_the_graphs_have() {
    let directory = tempfile::tempdir().expect("a directory");
    let bundle = tempfile::tempdir().expect("a directory");
    let mut bundles = bundles();
    bundles.push(compacted(bundle.path()));
    let mut database = kept(&directory.path().join("all.sqlite"), None, &bundles);
    let mut ask = |sql: &str| {
        let mut answer = Answer::default();
        database.ask(&Query::new(sql).expect("compiles"), &FREE, &mut answer).expect("answers");
        answer.rows
    };
    let mut counts = BTreeMap::new();
    let mut empty = BTreeSet::new();
    for table in describe().tables {
        for row in ask(&format!("SELECT bundle_id, count(*) FROM {} GROUP BY bundle_id", table.name)) {
            counts.insert((row[0].clone(), table.name), row[1].parse::<usize>().expect("a number"));
        }
        let columns: Vec<String> = table.columns.iter().map(|column| format!("count({})", column.name)).collect();
        let filled = ask(&format!("SELECT {} FROM {}", columns.join(", "), table.name)).remove(0);
        let filled = table.columns.iter().zip(filled).filter(|(_, count)| count == "0");
        empty.extend(filled.map(|(column, _)| (table.name, column.name)));
    }
    // Every column is filled by some bundle, except those that need prices, and those of imported sessions.
    let money = ["costs", "subtree_costs"].map(|table| [(table, "currency"), (table, "money")]);
    let notes = ["bundle_id", "code", "message", "count", "file", "line"].map(|column| ("import_notes", column));
    let imported = [("bundles", "imported_from"), ("bundles", "agent_version"), ("events", "source_file")];
    let unfilled = money.into_iter().flatten().chain(notes).chain(imported).chain([("events", "source_line")]);
    assert_eq!(empty, BTreeSet::from_iter(unfilled));
    let mut in_all = 0;
    for (number, bundle) in bundles.iter().enumerate() {
        let Some(session) = open(bundle) else { continue };
        for (table, expected) in expected(&session) {
            let found = counts.remove(&(format!("b{number}"), table)).unwrap_or(0);
            assert_eq!(found, expected, "{table} of {}", bundle.display());
            in_all += found;
        }
    }
    assert_eq!(counts, BTreeMap::new(), "tables that are not counted");
    assert!(in_all > 5000, "{in_all}");
}

#[test]
fn what_a_query_does_not_need_changes_nothing() {
    let directory = tempfile::tempdir().expect("a directory");
    let bundles: Vec<_> = ["three-children", "damaged"].map(sample).into();
    let more = [
        "SELECT count(*) FROM events",
        "SELECT * FROM turns NATURAL JOIN threads",
        "SELECT count(*) FROM inference_calls JOIN costs USING (output_tokens)",
        "SELECT count(*) FROM inference_calls AS c JOIN turns AS t USING (turn_id, status)",
        "SELECT t.* FROM tool_calls AS t WHERE EXISTS (SELECT 1 FROM items AS i WHERE i.call_id = t.model_visible_call_id)",
        "WITH e AS (SELECT * FROM events) SELECT json ->> '$.payload.type' FROM e",
        "WITH e AS MATERIALIZED (SELECT seq FROM events) SELECT count(*) FROM e",
        "WITH RECURSIVE e (n) AS (SELECT 1 UNION SELECT n + 1 FROM e WHERE n < 9) SELECT count(*) FROM e",
        "SELECT count(*) FROM (SELECT DISTINCT type FROM events) AS t",
        "SELECT Agent_Path, \"STATUS\" FROM Turns",
        "SELECT v.* FROM v_cost_by_subtree AS v",
        "SELECT payload(bundle_id, payload_id) FROM payloads",
        "SELECT i.value FROM inference_calls AS c, json_each(request_items(c.bundle_id, c.inference_call_id)) AS i",
        "SELECT (SELECT max(bytes) FROM item_parts), (SELECT group_concat(text) FROM item_parts)",
    ];
    let of_views = describe().views.into_iter().flat_map(|view| {
        let last = view.columns[view.columns.len() - 1].clone();
        let name = view.name;
        [
            format!("SELECT count(*) FROM {name}"),
            format!("SELECT count(*) FROM {name} JOIN {name} AS other USING ({last})"),
        ]
    });
    let all = named::all().iter().map(|query| query.sql.to_owned()).chain(more.map(str::to_owned)).chain(of_views);
    let mut rows = 0;
    for (number, sql) in all.enumerate() {
        let query = Query::new(&sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
        let mut of_needed = Answer::default();
        database(&query, &bundles).ask(&query, &FREE, &mut of_needed).expect("answers");
        let path = directory.path().join(format!("{number}.sqlite"));
        let mut of_all = Answer::default();
        kept(&path, Some(&query), &bundles).ask(&query, &FREE, &mut of_all).expect("answers");
        assert_eq!(of_needed, of_all, "{sql}");
        rows += of_all.rows.len();
    }
    assert!(rows > 300, "{rows}");
}

#[test]
fn a_database_is_not_asked_for_what_it_lacks() {
    let query = |sql: &str| Query::new(sql).expect("compiles");
    let mut database = database(&query("SELECT status FROM turns"), &[sample("one-agent")]);
    let mut ask = |sql: &str| database.ask(&query(sql), &FREE, &mut Answer::default()).map(|outcome| outcome.rows);
    assert!(matches!(ask("SELECT count(*) FROM turns WHERE status = 'failed'"), Ok(1)));
    for sql in ["SELECT agent_path FROM turns", "SELECT 1 FROM threads", "SELECT payload(bundle_id, 'x') FROM turns"] {
        assert!(matches!(ask(sql), Err(QueryError::NotFilled)), "{sql}");
    }
}

#[test]
fn a_kept_database_says_what_it_is() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("kept.sqlite");
    drop(kept(&path, None, &[sample("one-agent")]));
    let header = std::fs::read(&path).expect("reads");
    assert_eq!(&header[..16], b"SQLite format 3\0");
    assert_eq!(header[60..64], SCHEMA_VERSION.to_be_bytes());
    assert_eq!(header[68..72], APPLICATION_ID.to_be_bytes());
    assert_eq!(std::fs::read_dir(directory.path()).expect("lists").count(), 1);
}

#[test]
fn compactions_tell_the_tokens_around_them() {
    let directory = tempfile::tempdir().expect("a directory");
    let sql = "SELECT tokens_before, tokens_after, input_items, replacement_items, requests FROM compactions";
    let (answer, _) = ask_with(&[compacted(directory.path())], sql, &FREE).expect("answers");
    insta::assert_snapshot!(answer.lines(), @"1000 | 300 | 3 | 2 | 1");
}

#[test]
fn depths_follow_parents() {
    let answer =
        ask("three-children", "SELECT agent_path, depth, parent_thread_id IS NULL FROM threads ORDER BY agent_path");
    insta::assert_snapshot!(answer.lines(), @r"
    /root | 0 | 1
    /root/changelog | 1 | 0
    /root/docs | 1 | 0
    /root/speed | 1 | 0
    ");
}
