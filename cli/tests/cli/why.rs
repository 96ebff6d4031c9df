//! `trace why`.

use insta::assert_snapshot;
use trace_recorder::format::RolloutStatus;

use crate::schema::assert_valid;
use crate::support::{Place, START, Session, sample, well};

#[test]
fn a_text_came_from_a_tool_of_a_child() {
    let place = Place::new();
    let bundle = sample("three-children");
    assert_snapshot!(place.run(&["why", &bundle, "--text", "soot on the lantern"]), @r#"
    text    soot on the lantern
    nowhere in the session: no model saw it, and no tool took or printed it
    "#);
    assert_snapshot!(place.run(&["why", &bundle, "-t", "wick"]), @r#"
    text    wick
    origin  tool output of /root/changelog: tool_call:call_5fd76a559c113292 seq 71
    path
      /root/changelog  returned  within  seq 71   tool_call:call_5fd76a559c113292
      /root/changelog  said      within  seq 84   conversation_item:30
      /root/changelog  sent      within  seq 88   interaction_edge:edge:agent_result:019cae19-0662-7f21-8069-b999d14cb5d7:019cae19-0666-7b0d-bb3a-8762bfcb6581:019cae19-0040-732f-83f2-827affe7f664
      /root            received  within  seq 102  conversation_item:32
      /root/docs       returned  within  seq 120  tool_call:call_bb23595cdb12878b
    seen by 5 inference calls
      seq 83   within  ade50f2f-9642-4750-943c-876ebb4c7eab
      seq 104  within  7b10c211-e63a-471b-a209-6a91c8261e11
      seq 126  within  12734b25-4cd3-419f-a299-f413f42dc088
      seq 133  within  b811fb36-b1e6-4629-8327-707f6357c21a
      seq 141  within  b9d9d140-4603-472f-9780-448f837e4201
    followed by 2 tool calls
      /root  seq 107  send_message  call_cdc54f2d800f7346
      /root  seq 136  wait_agent    call_240fb9c5dc8f97fa
    "#);
}

#[test]
fn all_rows_are_shown_when_they_are_asked_for() {
    let place = Place::new();
    let bundle = sample("three-children");
    let first = place.run(&["why", &bundle, "-t", "You help people"]).stdout;
    let all = place.run(&["why", &bundle, "-t", "You help people", "--all"]).stdout;
    assert!(first.contains("more; --all shows them"), "{first}");
    assert!(!all.contains("more; --all shows them"), "{all}");
    assert!(all.lines().count() > first.lines().count());
}

#[test]
fn objects_are_asked_for_by_name() {
    let place = Place::new();
    let bundle = sample("one-agent");
    let ran = place.run(&["why", &bundle, "--object", "terminal_operation:1"]);
    assert_snapshot!(ran, @"
    text    4c1f09a Count wicks from one ⏎ 9be2d77 Read wicks from the settings ⏎ 1a0c3e5 Release 0.3
    of      terminal_operation:1
    origin  tool output of /root: tool_call:call_0c43407dc177b6f7 seq 18
    path
      /root  returned  within  seq 18  tool_call:call_0c43407dc177b6f7
    seen by 4 inference calls
      seq 24  within  b86c9a98-359e-4b62-87a9-dc6739325fac
      seq 32  within  af60baae-6957-4109-b0da-d8272e600eb1
      seq 41  within  2f596652-cb9a-4f17-99a3-c59084763a12
      seq 49  within  75bc51bc-3703-4a95-8bf9-9fe6cbdde2d6
    followed by 3 tool calls
      /root  seq 27  exec_command  call_05a2e18941c3936b
      /root  seq 36  exec_command  call_2072b26dfe81f26e
      /root  seq 44  exec_command  call_67cae465669e4cc4
    ");
    assert_snapshot!(place.run(&["why", &bundle, "--object", "terminal_operation:99"]), @r#"
    --- stderr
    error: the session has no terminal_operation:99
    hint: `trace reduce` writes state.json, which has all objects with their ids
    --- exit code 2
    "#);
    assert_snapshot!(place.run(&["why", &bundle, "--object", "codex_turn:x"]), @r#"
    --- stderr
    error: the session has no codex_turn:x
    hint: `trace reduce` writes state.json, which has all objects with their ids
    --- exit code 2
    "#);
    assert_snapshot!(place.run(&["why", &bundle, "--object", "banana:1"]), @r#"
    --- stderr
    error: invalid value 'banana:1' for '--object <TYPE:ID>': "banana:1" is not TYPE:ID with one of the types thread, codex_turn, conversation_item, inference_call, code_cell, tool_call, terminal_session, terminal_operation, compaction, compaction_request, interaction_edge, raw_payload

    For more information, try '--help'.
    --- exit code 2
    "#);
}

#[test]
fn json_is_as_its_schema_says() {
    let place = Place::new();
    for (sample_name, arguments) in [
        ("three-children", ["--text", "wick"]),
        ("one-agent", ["--object", "terminal_operation:1"]),
        ("damaged", ["--text", "the"]),
        ("one-agent", ["--text", "this is nowhere"]),
    ] {
        let ran = place.run(&["why", &sample(sample_name), arguments[0], arguments[1], "--json"]);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{sample_name}");
        assert_valid("why", &ran.stdout);
    }
    let ran = place.run(&["why", &sample("one-agent"), "--text", "this is nowhere", "--json"]);
    assert_snapshot!(ran, @r#"
    {
      "text": "this is nowhere",
      "origin": null,
      "path": [],
      "seen_by": [],
      "followed_by": [],
      "unread_payloads": 0
    }
    "#);
    let ran = place.run(&["why", &sample("one-agent"), "--text", "first_wick_is_lit", "--json"]);
    let answer: serde_json::Value = serde_json::from_str(&ran.stdout).expect("JSON");
    assert_eq!(answer["origin"]["kind"], "tool_output");
    assert_eq!(answer["origin"]["object"]["type"], "tool_call");
    assert_eq!(answer["path"][0]["object"], answer["origin"]["object"]);
}

#[test]
fn the_command_line_may_be_wrong() {
    let place = Place::new();
    well(&place.path("bundle"), START);
    assert_snapshot!(place.run(&["why", "bundle", "--text", ""]), @r#"
    --- stderr
    error: the text to look for is empty
    --- exit code 2
    "#);
    assert_snapshot!(place.run(&["why", "none", "--text", "x"]), @r"
    --- stderr
    error: there is no file none, and no session of this user has an id that begins so
    hint: `trace ls` lists the sessions of this user
    --- exit code 1
    ");
    std::fs::remove_file(place.path("bundle/trace.jsonl")).expect("removes");
    std::fs::create_dir(place.path("bundle/trace.jsonl")).expect("creates");
    let ran = place.run(&["why", "bundle", "--text", "x"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{}", ran.stderr);
    let ran = place.run(&["why", "bundle"]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("--text <TEXT>|--object <TYPE:ID>"), "{}", ran.stderr);
}

#[test]
fn the_text_may_come_from_stdin_and_the_terminal_is_safe_from_it() {
    let place = Place::new();
    let mut session = Session::begin(&place.path("bundle"), START);
    session.thread("t-root", "/root", None);
    session.turn("t-root", "turn-1");
    session.command("t-root", "turn-1", "tool-1", "cat colours");
    session.command_ended("t-root", "turn-1", "tool-1", 0, "\u{1b}[31mred\u{1b}[0m \u{202e}text\nand more\n");
    session.end(RolloutStatus::Completed);
    let text = place.path("text");
    std::fs::write(&text, "\u{1b}[31mred\u{1b}[0m \u{202e}text\nand\n").expect("writes");
    let output = place
        .command(&["why", "bundle", "--text", "-"])
        .stdin(std::fs::File::open(&text).expect("opens"))
        .output()
        .expect("runs");
    assert_snapshot!(String::from_utf8(output.stdout).expect("UTF-8"), @r"
    text    \u{1b}[31mred\u{1b}[0m \u{202e}text ⏎ and
    origin  tool output of /root: tool_call:tool-1 seq 6
    path
      /root  returned  within  seq 6  tool_call:tool-1
    no model saw it
    ");
}
