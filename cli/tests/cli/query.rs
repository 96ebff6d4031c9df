//! `trace query`.

use std::fs;
use std::process::Stdio;

use insta::assert_snapshot;
use serde_json::Value;

use crate::schema::assert_valid;
use crate::support::{Place, Ran, START, tear, troubled, well};

fn sessions() -> Place {
    let place = Place::new();
    troubled(&place.path("root/troubled"));
    well(&place.path("root/well"), START);
    place
}

fn json(ran: &Ran) -> Value {
    assert_eq!(ran.code, 0, "{ran}");
    assert_valid("query", &ran.stdout);
    serde_json::from_str(&ran.stdout).expect("JSON")
}

#[test]
fn an_answer_is_a_table() {
    let place = sessions();
    let sql = "SELECT bundle_id, agent_path, status, duration_ms, 1.5 * depth AS half FROM turns";
    assert_snapshot!(place.run(&["query", "root", sql]), @r"
    bundle_id  agent_path  status     duration_ms  half
    troubled   /root       completed        24000     0
    troubled   /root/a     failed            7000   1.5
    troubled   /root/b     cancelled         9000   1.5
    troubled   /root/b/c   completed         3000     3
    well       /root       completed         3000     0
    ");
    assert_snapshot!(place.run(&["query", "root/troubled", "@failed-tools"]), @"
    bundle_id  agent_path  tool_call_id  name          failure    exit_code  duration_ms  input       output
    troubled   /root/a     tool-1        exec_command  exit code          2         3000  make all    cc: warning ⏎ make: *** [all] Error 1
    troubled   /root/b     tool-2        exec_command  no end                             sleep 1000
    ");
    assert_snapshot!(place.run(&["query", "root/troubled", "@spawn-tree"]), @r"
    bundle_id  agent          nickname  agent_role  status     duration_ms  turns  inference_calls  tool_calls
    troubled   /root                                completed        26000      1                1           0
    troubled     /root/a      Ada       worker      running                     1                1           1
    troubled     /root/b      Bob       worker      running                     1                0           1
    troubled       /root/b/c  Cyd       worker      completed        17000      1                1           0
    ");
    assert_snapshot!(place.run(&["query", "root/well", "@failed-turns"]), @"no rows");
}

#[test]
fn named_queries_run() {
    let place = sessions();
    let listed = json(&place.run(&["query", "--queries", "--json"]));
    let queries = listed["queries"].as_array().expect("an array");
    assert!(queries.len() >= 14);
    for query in queries {
        let name = format!("@{}", query["name"].as_str().expect("a name"));
        json(&place.run(&["query", "root", &name, "--json"]));
    }
    assert_snapshot!(place.run(&["query", "root", "@undelivered"]), @r"
    bundle_id  kind          source_agent_path  target   seq  message
    troubled   agent_result  /root/b/c          /root/b   24  nobody reads this
    ");
    assert_snapshot!(place.run(&["query", "root", "@nobody"]), @r"
    --- stderr
    error: no query is named @nobody
    hint: `trace query --queries` lists them; a file name ends in .sql or contains a /
    --- exit code 2
    ");
    assert_snapshot!(place.run(&["query", "root", "@slow_tool"]), @r"
    --- stderr
    error: no query is named @slow_tool
    hint: did you mean @failed-tools, @tool-failures-by-kind, @slowest-tools, @tool-times? `trace query --queries` lists all names
    --- exit code 2
    ");
}

#[test]
fn rows_are_written_for_programs() {
    let place = sessions();
    let sql = "SELECT 'a,\"b\"' || char(10) AS t, 1 AS n, NULL AS n, 2.5 AS n, 9e999 AS i, x'00ff' AS b, 'é' AS u
               FROM bundles";
    let run = |format: &str| place.run(&["query", "root", sql, format]);
    assert_snapshot!(run("--json"), @r#"
    [
      {"t":"a,\"b\"\n","n":1,"n_2":null,"n_3":2.5,"i":null,"b":"00FF","u":"é"},
      {"t":"a,\"b\"\n","n":1,"n_2":null,"n_3":2.5,"i":null,"b":"00FF","u":"é"}
    ]
    "#);
    let rows = json(&run("--json"));
    let lines: Vec<Value> =
        run("--jsonl").stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(rows, Value::Array(lines));
    assert_eq!(run("--csv-exact").stdout, format!("t,n,n,n,i,b,u\r\n{ROW}{ROW}"));
    assert_eq!(place.run(&["query", "root", "SELECT 1 WHERE 0", "--json"]).stdout, "[]\n");
    assert_eq!(place.run(&["query", "root", "SELECT 1 AS x WHERE 0", "--csv"]).stdout, "\"x\"\r\n");
    assert_eq!(place.run(&["query", "root", "SELECT 1 WHERE 0", "--jsonl"]).stdout, "");
    assert_valid("query", place.run(&["query", "root/well", sql, "--jsonl"]).stdout.trim());
}

const ROW: &str = "\"a,\"\"b\"\"\n\",1,,2.5,inf,00FF,é\r\n";

#[test]
fn nothing_in_a_table_is_obeyed_by_a_terminal() {
    let place = sessions();
    let sql = "SELECT char(27) || '[31mred' AS \"a\x1b[1m\", 'two' || char(10) || 'lines' AS b";
    assert_snapshot!(place.run(&["query", "root/well", sql]), @r"
    a\u{1b}[1m     b
    \u{1b}[31mred  two ⏎ lines
    ");
}

#[test]
fn what_is_cut_is_said() {
    let place = sessions();
    assert_snapshot!(place.run(&["query", "root", "SELECT seq FROM events", "--limit", "2"]), @r#"
    seq
      1
      1
    --- stderr
    note: there are more than 2 rows; --limit 0 writes all
    "#);
    assert_snapshot!(place.run(&["query", "root/well", "SELECT printf('%.*c', 300, 'x') AS x, 'short' AS y"]), @r"
    x                                                             y
    xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…  short
    --- stderr
    note: 1 cell is cut; --json, --jsonl and --csv write them in full
    ");
    assert_eq!(
        place.run(&["query", "root", "SELECT seq FROM events", "--limit", "0", "--csv"]).stdout.lines().count(),
        40
    );
}

#[test]
fn a_payload_that_cannot_be_had_is_said() {
    let place = sessions();
    fs::remove_file(place.path("root/well/payloads/1.json")).expect("removes");
    let sql = "SELECT payload_id, payload(bundle_id, payload_id) ->> '$.model' AS model FROM payloads";
    assert_snapshot!(place.run(&["query", "root/well", sql]), @r"
    payload_id     model
    raw_payload:1
    raw_payload:2
    --- stderr
    note: a payload is null: well: raw_payload:1 could not be read: No such file or directory (os error 2)
    ");
}

#[test]
fn wrong_sql_is_shown_where_it_is_wrong() {
    let place = sessions();
    let run = |sql: &str| place.run(&["query", "root", sql]);
    assert_snapshot!(run("SELECT agent_path,\n  nobody\nFROM turns"), @r"
    --- stderr
    error: no such column: nobody
        nobody
        ^
    hint: `trace query --tables TABLE` lists the columns of a table
    --- exit code 2
    ");
    assert_snapshot!(run("SELECT * FROM nowhere"), @r"
    --- stderr
    error: no such table: nowhere
    hint: `trace query --tables` lists the tables
    --- exit code 2
    ");
    assert_snapshot!(run("SELECT nobody(1)"), @r"
    --- stderr
    error: no such function: nobody
      SELECT nobody(1)
             ^
    hint: `trace query --tables` lists the functions beside those of SQLite
    --- exit code 2
    ");
    assert_snapshot!(run("SELECT 1 FORM turns GROUP"), @r#"
    --- stderr
    error: near "turns": syntax error
      SELECT 1 FORM turns GROUP
                    ^
    --- exit code 2
    "#);
    assert_snapshot!(run("SELECT json_extract('{', '$.a')"), @r#"
    --- stderr
    error: the query failed: malformed JSON
    --- exit code 1
    "#);
    assert_snapshot!(run("SELECT 1; SELECT 2"), @r"
    --- stderr
    error: the query has more than one statement
    hint: one statement can have several parts: WITH a AS (SELECT ...) SELECT ...
    --- exit code 2
    ");
    assert_snapshot!(run("SELECT :name "), @r"
    --- stderr
    error: the query has a parameter (:name), but parameters cannot be set
    hint: write the value instead
    --- exit code 2
    ");
    assert_snapshot!(run("DELETE FROM turns"), @r"
    --- stderr
    error: deleting from turns is not allowed; a query can only read
    --- exit code 2
    ");
    assert_snapshot!(run("ATTACH 'x.sqlite' AS x"), @r"
    --- stderr
    error: ATTACH is not allowed; a query can only read
    --- exit code 2
    ");
    assert_eq!(place.names(""), ["root"]);
}

#[test]
fn a_query_meets_its_limits() {
    let place = sessions();
    let endless = "WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT max(x) FROM n";
    assert_snapshot!(place.run(&["query", "root", endless, "--timeout", "0.1"]), @r"
    --- stderr
    error: the query was stopped after 0.1 s
    hint: --timeout SECONDS allows more time
    --- exit code 1
    ");
    let greedy = "WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n)
                  SELECT x, randomblob(10000000) AS r FROM n ORDER BY r";
    assert_snapshot!(place.run(&["query", "root", greedy, "--timeout", "0"]), @r"
    --- stderr
    error: the query needs more memory than it may take
    hint: a WHERE clause or a LIMIT reduces the rows to sort and to group
    --- exit code 1
    ");
    assert_snapshot!(place.run(&["query", "root", "SELECT 1 ", "--timeout", "NaN"]), @r"
    --- stderr
    error: --timeout NaN is not a number of seconds from 0 to 1000000000
    --- exit code 2
    ");
}

#[test]
fn arguments_are_bundles_and_then_a_query() {
    let place = sessions();
    fs::write(place.path("mine.sql"), "-- mine\nSELECT count(*) AS bundles FROM bundles;\n").expect("writes");
    assert_snapshot!(place.run(&["query", "root", "@mine.sql"]), @r"
    bundles
          2
    ");
    assert_snapshot!(place.run(&["query", "root/well", "root/well", "root", "@./mine.sql"]), @r"
    bundles
          2
    ");
    assert_snapshot!(place.run(&["query", "root", "@none.sql"]), @r"
    --- stderr
    error: cannot read the query in none.sql: No such file or directory (os error 2)
    --- exit code 2
    ");
    let mut command = place.command(&["query", "root/well", "-"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    std::io::Write::write_all(&mut stdin, b"SELECT 'from stdin' AS x").expect("writes");
    drop(stdin);
    assert_snapshot!(Ran::from(child.wait_with_output().expect("ends")), @r"
    x
    from stdin
    ");
    assert_snapshot!(place.run(&["query", "root"]), @r#"
    --- stderr
    error: the query is missing
    hint: trace query BUNDLE... "SELECT ...", or @NAME, @FILE or - instead of SQL; --tables and --queries list what there is
    --- exit code 2
    "#);
    assert_snapshot!(place.run(&["query", "SELECT 1 "]), @r#"
    --- stderr
    error: no bundle is named
    hint: trace query BUNDLE... "SELECT ...", or @NAME, @FILE or - instead of SQL; --tables and --queries list what there is
    --- exit code 2
    "#);
    assert_snapshot!(place.run(&["query", "root", "turns"]), @r#"
    --- stderr
    error: turns is neither a query nor a bundle
    hint: trace query BUNDLE... "SELECT ...", or @NAME, @FILE or - instead of SQL; --tables and --queries list what there is
    --- exit code 2
    "#);
    assert_snapshot!(place.run(&["query"]), @r#"
    --- stderr
    error: no bundle is named
    hint: trace query BUNDLE... "SELECT ...", or @NAME, @FILE or - instead of SQL; --tables and --queries list what there is
    --- exit code 2
    "#);
}

#[test]
fn bundles_that_cannot_be_read_are_left_out() {
    let place = sessions();
    tear(&place.path("root/troubled"), 10);
    fs::create_dir(place.path("empty")).expect("creates");
    let sql = "SELECT bundle_id, status, errors FROM bundles";
    assert_snapshot!(place.run(&["query", "none", "root", "empty", sql]), @r"
    bundle_id  status     errors
    troubled   failed          1
    well       completed       0
    --- stderr
    error: there is no file none, and no session of this user has an id that begins so
    hint: `trace ls` lists the sessions of this user
    error: empty is not a bundle: it has neither manifest.json nor trace.jsonl
    hint: there is no bundle below it either
    --- exit code 1
    ");
    assert_snapshot!(place.run(&["query", "none", sql]), @r"
    --- stderr
    error: there is no file none, and no session of this user has an id that begins so
    hint: `trace ls` lists the sessions of this user
    --- exit code 1
    ");
}

#[test]
fn bundles_of_one_name_are_told_apart() {
    let place = Place::new();
    well(&place.path("a/session"), START);
    well(&place.path("b/session"), START);
    assert_snapshot!(place.run(&["query", "a/session", "b", "SELECT bundle_id, path FROM bundles"]), @r"
    bundle_id  path
    a/session  a/session
    b/session  b/session
    ");
}

#[test]
fn packed_bundles_are_asked() {
    let place = sessions();
    assert_eq!(place.run(&["pack", "-q", "root/troubled", "-o", "packed.trace"]).code, 0);
    let sql = "SELECT payload_id, kind, bytes, payload(bundle_id, payload_id) AS json FROM payloads ORDER BY seq";
    let ask = |bundle: &str| json(&place.run(&["query", bundle, sql, "--json"]));
    assert_eq!(ask("packed.trace"), ask("root/troubled"));
}

#[test]
fn a_database_is_kept() {
    let place = sessions();
    let ran = place.run(&["query", "root", "-o", "all.sqlite"]);
    let size = fs::metadata(place.path("all.sqlite")).expect("is there").len();
    assert!(size > 10_000);
    assert!(ran.stdout.starts_with("all.sqlite: 2 bundles, "), "{ran}");
    assert_snapshot!(place.run(&["query", "root", "-o", "all.sqlite"]), @r"
    --- stderr
    error: all.sqlite exists already
    hint: --force replaces it; -o names another place
    --- exit code 1
    ");
    let ran = place.run(&["query", "root/well", "SELECT bundle_id FROM bundles", "-o", "all.sqlite", "--force"]);
    assert_snapshot!(ran, @r"
    bundle_id
    well
    ");
    assert!(fs::metadata(place.path("all.sqlite")).expect("is there").len() <= size);
    fs::write(place.path("mine.txt"), "mine").expect("writes");
    assert_snapshot!(place.run(&["query", "root", "-o", "mine.txt", "--force"]), @r"
    --- stderr
    error: mine.txt is not a database of trace and is not overwritten
    hint: -o names another place
    --- exit code 1
    ");
    assert_snapshot!(place.run(&["query", "root", "-o", "root/well/all.sqlite"]), @r"
    --- stderr
    error: root/well/all.sqlite would be inside a bundle that it is made from
    hint: -o names another place
    --- exit code 1
    ");
    assert_snapshot!(place.run(&["query", "root", "-o", "no/all.sqlite"]), @r"
    --- stderr
    error: cannot write no/all.sqlite: No such file or directory (os error 2)
    hint: `mkdir -p no` first
    --- exit code 1
    ");
    assert_snapshot!(place.run(&["query", "root", "-o", "-"]), @r"
    --- stderr
    error: the output cannot be stdout
    hint: -o ./- names a file or directory called -
    --- exit code 2
    ");
    assert_snapshot!(place.run(&["query", "root", "-o", "x.sqlite", "--json"]), @"
    --- stderr
    error: --json, --jsonl, --csv and --csv-exact need a query
    hint: give a query after the bundles
    --- exit code 2
    ");
    assert_eq!(place.names(""), ["all.sqlite", "mine.txt", "root"]);
}

#[cfg(unix)]
#[test]
fn a_kept_database_is_private() {
    use std::os::unix::fs::PermissionsExt;

    let place = sessions();
    assert_eq!(place.run(&["query", "root", "-o", "all.sqlite"]).code, 0);
    let mode = fs::metadata(place.path("all.sqlite")).expect("is there").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn prices_fill_money() {
    let place = sessions();
    let prices = "currency = \"EUR\"\n[[models]]\nname = \"model-*\"\ninput = 1\ncached_input = 0.5\noutput = 10\n";
    fs::write(place.path("prices.toml"), prices).expect("writes");
    let sql = "SELECT agent_path, inference_calls, money, currency FROM v_cost_by_subtree ORDER BY agent_path";
    assert_snapshot!(place.run(&["query", "root/troubled", sql, "--prices", "prices.toml"]), @r"
    agent_path  inference_calls  money    currency
    /root                     3  0.00208  EUR
    /root/a                   1
    /root/b                   1  0.00104  EUR
    /root/b/c                 1  0.00104  EUR
    ");
}

#[test]
fn help_teaches() {
    assert_snapshot!(Place::new().run(&["query", "--help"]), @r#"
    Runs an SQL query over one or more sessions

    Usage: trace query [OPTIONS] <BUNDLE>... <SQL|@NAME|@FILE|->
           trace query [OPTIONS] <BUNDLE>... -o <FILE> [SQL]
           trace query --tables [NAME]...
           trace query --queries [NAME]...

    Arguments:
      [BUNDLE|SQL]...  Bundles or sessions of other agents: paths, ids, @last; or folders with such
                       below them; followed by SQL, @NAME, @FILE or -

    Options:
          --session <ID>       Only this session of a store that has several, such as opencode.db;
                               repeatable
          --tables             List tables, views and functions; or describe the ones that are named
          --queries            List the named queries; or show the ones that are named
          --json               Write an array of objects
          --jsonl              Write an object per line
          --csv                Write comma-separated values (RFC 4180) for spreadsheets: ' is put in
                               front of a cell that would be taken for a formula
          --csv-exact          Write comma-separated values for programs: cells are not changed. Do not
                               open the file in a spreadsheet
      -o, --output <FILE>      Keep all tables in an SQLite database; the query is then optional
          --follow             Answer again whenever a session was written to, until Ctrl-C
          --force              Replace an existing database
          --limit <ROWS>       Most rows to write; 0 is no limit [default: 10000]
          --timeout <SECONDS>  Most seconds that the query may take; 0 is no limit [default: 10]
          --prices <FILE>      A price table, for the column costs.money
          --color <WHEN>       Use colours: auto (on a terminal, unless NO_COLOR is set), always or
                               never
      -v, --verbose...         Print progress messages to stderr; -vv prints more
      -h, --help               Print help

    Examples:
      trace query traces/trace-1 "SELECT agent_path, status, duration_ms FROM turns"
      trace query traces/trace-1 @slowest-tools        a named query; --queries lists them
      trace query traces @mine.sql --csv > mine.csv    a query in a file, over all bundles below traces
      trace query @last @spawn-tree --follow           answers again while an agent writes its session
      trace query --tables turns payload               describes tables and functions
      trace query traces -o all.sqlite                 keeps all tables for any SQLite tool
      trace query B "SELECT payload(bundle_id, request_payload_id) ->> '$.model' FROM inference_calls"

    The query is one read-only statement in the SQL dialect of SQLite. The last argument is the
    statement itself, @NAME for a named query, @FILE for a file (with a / in its name or ending in
    .sql), or - for stdin. Each table has a column bundle_id: the name of the bundle's directory, with
    as much of its path as is needed to tell bundles apart. Ids are those of state.json; times are in
    milliseconds. docs/query.md describes every table.

    --json writes an array with an object per row, --jsonl an object per line, --csv a header and a line
    per row (null is empty). A spreadsheet evaluates a cell that begins with =, +, - or @ as a formula,
    and texts of a session are not trusted: --csv therefore puts ' in front of such a text, and
    --csv-exact, for programs, does not. Bytes are written as hexadecimal digits; equal column names get
    the suffixes _2, _3 and so on. If an answer is incomplete, for instance because of --timeout, its
    end is missing and the exit code is 1.

    Exit codes: 0 answered; 1 a bundle could not be read (the others were queried), the query reached a
    limit or failed at a value of a row, or the output could not be written; 2 wrong usage, or SQL that
    is not accepted; 3 an internal error.
    "#);
}

#[test]
fn tables_and_queries_are_listed() {
    let place = Place::new();
    assert_snapshot!(place.run(&["query", "--tables"]), @"
    Tables
      bundles              One bundle, and its session as a whole.
      threads              One agent's conversation.
      turns                One turn of a thread: from a task to its answer.
      inference_calls      One request to a model provider, and its response.
      items                One item of a conversation: what a model read or wrote.
      item_parts           One part of an item's content, with its whole text.
      tool_calls           One call of a tool, by the model or by code.
      terminal_operations  One interaction with a terminal: a command, or input to a command.
      code_cells           A piece of code that the model wrote and a code tool executed.
      compactions          The replacement of a thread's history by a compacted one.
      compaction_requests  A request for a remote compaction. The compaction need not have been installed.
      edges                A spawn, task, message, result or close between agents, also one that never arrived.
      events               One event of the log, in the order of the lines. Lines that are not events are in `diagnostics`.
      protocol_events      One event of the client protocol, such as `error` or `turn_aborted`.
      payloads             One payload that events refer to. `payload(bundle_id, payload_id)` has its JSON.
      diagnostics          One diagnostic of the reduction; the first hundred of each code.
      import_notes         What was rebuilt in an imported session, what its files do not tell, and what was not understood: one row per code.
      costs                Tokens and money of one inference call: one row per call, null if no usage was reported. `v_cost_by_agent` and `subtree_costs` have the sums.
      subtree_costs        Sums of `costs` over one thread and all threads below it.
      checks               A run of tests, a build, a type checker, a linter or a formatter that only looks, one row for each kind that a command ran.
      changes              A file that a call changed, by a patch, a command or a tool.
      claims               A statement in an answer that the recording may bear out or refute. A statement about several checks is several rows.
      findings             A finding of `trace audit`: a claim that the recording refutes, or an act that a user should know of.

    Views
      v_origins          Where the objects of imported sessions come from: file and line of the agent's session file.
      v_failed_turns     Turns that did not complete, with the last error of their inference calls.
      v_failed_tools     Tool calls that did not complete, whose runtime reports that they did not, or whose command returned an exit code other than 0. `failure` says which.
      v_undelivered      Messages, tasks and results that no item of the receiving thread shows.
      v_cost_by_agent    Sums of `costs` per thread, including threads without an inference call.
      v_subtrees         Pairs of a thread and a thread of its subtree, including itself.
      v_cost_by_subtree  Sums of `costs` per thread and all threads below it. Another name of `subtree_costs`.

    Functions
      payload(bundle_id, payload_id)               JSON of a payload, for use with `->`, `->>` and `json_each`. Null if there is no such payload, or it cannot be read or is not JSON.
      payload_error(bundle_id, payload_id)         Why a payload cannot be read; null if it can be read.
      request_items(bundle_id, inference_call_id)  JSON array of the ids of the conversation items in a request, in order; instructions and tools are not items. `FROM inference_calls AS c, json_each(request_items(c.bundle_id, c.inference_call_id))` makes rows of it.
      seen_by(bundle_id, item_id)                  JSON array of the ids of the inference calls whose requests contain an item, in the order of the log.
      regexp(pattern, text)                        1 if a regular expression (of the Rust crate `regex`) matches somewhere in a text. `text REGEXP pattern` is the same.

    `trace query --tables TABLE` lists the columns of a table.
    ");
    assert_snapshot!(place.run(&["query", "--tables", "diagnostics", "V_Subtrees", "payload"]), @r"
    diagnostics: One diagnostic of the reduction; the first hundred of each code.
      bundle_id   TEXT     The bundle, `bundles.bundle_id`.
      severity    TEXT     `error`, `warning` or `note`.
      code        TEXT     Kind of the diagnostic; the names are stable.
      seq         INTEGER  Sequence number of the event that it is about.
      line        INTEGER  The line of the log that it is about, if the line is not an event.
      payload_id  TEXT     The payload that it is about.
      message     TEXT     One sentence that describes it.

    v_subtrees: Pairs of a thread and a thread of its subtree, including itself.
      bundle_id, thread_id, member_thread_id

    payload(bundle_id, payload_id): JSON of a payload, for use with `->`, `->>` and `json_each`. Null if there is no such payload, or it cannot be read or is not JSON.
    ");
    assert_snapshot!(place.run(&["query", "--tables", "nothing"]), @r"
    --- stderr
    error: there is no table, view or function nothing
    hint: `trace query --tables` lists them
    --- exit code 2
    ");
    assert_snapshot!(place.run(&["query", "--queries"]), @"
    @failed-turns             Turns that did not complete, with the last error of their inference calls.
    @failed-tools             Tool calls that failed, returned an exit code other than 0 or never ended, with the beginning of their output.
    @tool-failures-by-kind    Per tool: number of calls, number and share of failures, and kinds of failures.
    @slowest-tools            The fifty longest tool calls, except waits for agents. A call without an end counts with the time of its runtime.
    @slowest-inference-calls  The fifty longest inference calls, with their tokens and the output tokens per second.
    @tokens-by-agent          Inference calls, tokens and money per agent, most tokens first.
    @tokens-by-model          Inference calls, tokens and money per model, over all bundles.
    @cost-by-subtree          Per agent with all agents below it: number of agents, inference calls, tokens, money.
    @retries                  Turns in which inference calls failed: how many, the time that they took, and the status of the turn.
    @context-growth           Each inference call with its items and input tokens, and the difference to the call before in its thread.
    @undelivered              Messages, tasks and answers that were sent and that no item of the receiving thread shows.
    @longest-waits            The fifty longest waits for agents, and how they ended.
    @compactions              Compactions: items, text and tokens before and after.
    @biggest-items            The fifty items with the most text, how often they were sent, and how much text that was in total.
    @biggest-payloads         The fifty largest payload files.
    @spawn-tree               The tree of agents with status, time and number of calls; a parent comes before its children.
    @messages                 All spawns, tasks, messages, results and closes between agents, in order, also those that never arrived.
    @idle-gaps                The fifty longest pauses between two events of the log.
    @tool-times               Per tool: number of calls, and sum, median and maximum of their times. A call without an end counts with the time of its runtime.
    @never-ended              Turns, inference calls and tool calls without an end in the log.
    @commands                 Commands in the order in which they ran, with exit code, time and size of their output.
    @damage                   All diagnostics, errors first.
    @protocol-errors          Events of the client protocol that report errors, with their content.
    @audit                    All findings of an audit, the worst first.
    @unverified-claims        Claims that checks pass or were run, and that no run bears out: contradicted ones first, then those that cannot be verified.
    @actions-not-done         Changes, commits, pushes and the like that an answer claims and that no call made.
    @weakened-tests           Tests that were weakened, results that were written into the code, and checks that were avoided, with what had failed before.
    @risky-acts               Acts that destroyed data, wrote secrets, or followed instructions that came with data.
    @checks                   Runs of tests, builds, type checkers, linters and formatters in the order in which they ran.
    @changes-since-tests      Files that were changed after the last run of tests of their bundle. Bundles without such a run are not listed.
    @changed-files            Per file: how often it was written and deleted, by how many agents.

    `trace query --queries NAME` shows the SQL of one.
    ");
    assert_snapshot!(place.run(&["query", "--queries", "@undelivered", "damage"]), @r"
    -- Messages, tasks and answers that were sent and that no item of the receiving thread shows.
    SELECT bundle_id, kind, source_agent_path, coalesce(target_agent_path, target_thread_id) AS target, seq, message
    FROM v_undelivered
    ORDER BY bundle_id, seq;

    -- All diagnostics, errors first.
    SELECT bundle_id, severity, code, seq, line, payload_id, message
    FROM diagnostics
    ORDER BY bundle_id, severity = 'note', severity = 'warning', seq;
    ");
    assert_snapshot!(place.run(&["query", "--queries", "nothing"]), @r"
    --- stderr
    error: no query is named @nothing
    hint: `trace query --queries` lists them; a file name ends in .sql or contains a /
    --- exit code 2
    ");
    let tables = json(&place.run(&["query", "--tables", "--json"]));
    assert_eq!(tables["tables"].as_array().map(Vec::len), Some(23));
    let one = json(&place.run(&["query", "--tables", "turns", "--json"]));
    assert_eq!((one["tables"].as_array().map(Vec::len), one["views"].as_array().map(Vec::len)), (Some(1), Some(0)));
}

#[test]
fn a_step_that_does_not_end_ends_the_command() {
    let place = sessions();
    let sql = "SELECT instr(printf('%.*c', 30000000, 'a'), printf('%.*c', 15000000, 'a') || 'b') FROM turns";
    let ran = place.run(&["query", "root", sql, "--timeout", "0.1", "-o", "kept.sqlite"]);
    assert_snapshot!(ran, @r"
    --- stderr
    error: the query was stopped after 0.1 s
    hint: one step did not end, such as a search for a long text in another long text
    --- exit code 1
    ");
    assert_eq!(place.names(""), ["root"]);
}

#[test]
fn a_row_that_cannot_be_computed_is_no_wrong_usage() {
    let place = sessions();
    let sql = "SELECT agent_path ->> '$.x' FROM turns";
    assert_snapshot!(place.run(&["query", "root", sql, "-o", "kept.sqlite"]), @r#"
    --- stderr
    note: kept.sqlite was written nevertheless
    error: the query failed: malformed JSON
    --- exit code 1
    "#);
    assert_eq!(place.names(""), ["kept.sqlite", "root"]);
    for sql in ["SELECT zeroblob(1000000000)", "SELECT sum(9223372036854775807) FROM events"] {
        assert_eq!(place.run(&["query", "root", sql]).code, 1, "{sql}");
    }
}
