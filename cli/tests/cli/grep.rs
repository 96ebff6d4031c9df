//! `trace grep`.

use insta::assert_snapshot;

use crate::schema::assert_valid;
use crate::support::{Place, START, sample, troubled, well};

fn bundles() -> Place {
    let place = Place::new();
    well(&place.path("root/well"), START);
    troubled(&place.path("root/troubled"));
    place
}

#[test]
fn lines_are_named_by_agent_turn_object_seq_and_number() {
    let place = bundles();
    assert_snapshot!(place.run(&["grep", "Error", "root/troubled"]), @r#"
    /root/a:1:tool_call:tool-1:12:2:make: *** [all] Error 1
    "#);
    assert_snapshot!(place.run(&["grep", "Error|done", "root"]), @r#"
    root/troubled:/root:1:conversation_item:2:5:1:done
    root/troubled:/root/a:1:tool_call:tool-1:12:2:make: *** [all] Error 1
    root/well:/root:1:conversation_item:2:5:1:done
    "#);
    assert_snapshot!(place.run(&["grep", "--heading", "-C", "1", "Error", "root"]), @r#"
    root/troubled
    /root/a turn 1 tool_call:tool-1 printed seq 12
    1-cc: warning
    2:make: *** [all] Error 1
    3-
    "#);
}

#[test]
fn colours_are_those_of_grep() {
    let place = bundles();
    let ran = place.run(&["grep", "--color", "always", "-i", "error", "root"]);
    assert_snapshot!(ran.stdout.replace('\u{1b}', "ESC"), @r#"
    ESC[36mroot/troubledESC[0m:ESC[36m/root/aESC[0m:1:tool_call:tool-1:12:ESC[32m2ESC[0m:make: *** [all] ESC[1mESC[31mErrorESC[0m 1
    "#);
}

#[test]
fn habits_of_ripgrep_work() {
    let place = bundles();
    assert_snapshot!(place.run(&["grep", "-i", "WARNING", "root/troubled"]), @r#"
    /root/a:1:tool_call:tool-1:12:1:cc: warning
    "#);
    assert_snapshot!(place.run(&["grep", "-S", "warning", "root/troubled"]), @r#"
    /root/a:1:tool_call:tool-1:12:1:cc: warning
    "#);
    assert_snapshot!(place.run(&["grep", "-S", "Warning", "root/troubled"]), @r#"
    --- exit code 1
    "#);
    assert_snapshot!(place.run(&["grep", "-F", "[all]", "root/troubled"]), @r#"
    /root/a:1:tool_call:tool-1:12:2:make: *** [all] Error 1
    "#);
    assert_snapshot!(place.run(&["grep", "-w", "warn", "root/troubled"]), @r#"
    --- exit code 1
    "#);
    assert_snapshot!(place.run(&["grep", "-o", "[a-z]+: [a-z]+", "root/troubled"]), @r#"
    /root/a:1:tool_call:tool-1:12:1:cc: warning
    "#);
    assert_snapshot!(place.run(&["grep", "-c", "e", "root"]), @r#"
    root/troubled:6
    root/well:2
    "#);
    assert_snapshot!(place.run(&["grep", "-l", "e", "root"]), @r#"
    root/troubled
    root/well
    "#);
    assert_snapshot!(place.run(&["grep", "-m", "1", "e", "root"]), @r#"
    root/troubled:/root:1:conversation_item:1:4:1:please
    root/well:/root:1:conversation_item:1:4:1:please
    "#);
    assert_snapshot!(place.run(&["grep", "-A1", "warning", "root/troubled"]), @r#"
    /root/a:1:tool_call:tool-1:12:1:cc: warning
    /root/a-1-tool_call:tool-1-12-2-make: *** [all] Error 1
    "#);
    assert_snapshot!(place.run(&["grep", "--invert-match", "e", "root/troubled"]), @r#"
    /root/a:1:tool_call:tool-1:11:1:/bin/sh
    /root/a:1:tool_call:tool-1:11:1:-lc
    /root/a:1:tool_call:tool-1:12:1:cc: warning
    /root/a:1:tool_call:tool-1:12:3:
    "#);
    let inverted = place.run(&["grep", "--invert-match", "e", "root/troubled"]).stdout;
    assert_eq!(place.run(&["grep", "-v", "e", "root/troubled"]).stdout, inverted);
    let loud = place.run(&["grep", "--verbose", "warning", "root/troubled"]);
    assert_eq!(loud.stdout, place.run(&["-v", "grep", "warning", "root/troubled"]).stdout);
    assert_snapshot!(place.run(&["grep", "-nraN", "warning", "root/troubled"]), @r#"
    /root/a:1:tool_call:tool-1:12:cc: warning
    "#);
    assert_snapshot!(place.run(&["grep", "-Hn", "warning", "root/troubled"]), @r#"
    root/troubled:/root/a:1:tool_call:tool-1:12:1:cc: warning
    "#);
    assert_snapshot!(place.run(&["grep", "-x", "warning|done", "root/troubled"]), @r#"
    /root:1:conversation_item:2:5:1:done
    "#);
    assert_snapshot!(place.run(&["grep", "-e", "warning", "-e", "done", "root/troubled"]), @r#"
    /root:1:conversation_item:2:5:1:done
    /root/a:1:tool_call:tool-1:12:1:cc: warning
    "#);
    assert_snapshot!(place.run(&["grep", "-q", "warning", "root"]), @"");
}

#[test]
fn agents_and_kinds_are_chosen() {
    let place = bundles();
    assert_snapshot!(place.run(&["grep", "make", "root/troubled", "--kind", "tool-output"]), @r#"
    /root/a:1:tool_call:tool-1:12:2:make: *** [all] Error 1
    "#);
    assert_snapshot!(place.run(&["grep", "make", "root/troubled", "--kind", "tool-arguments"]), @r#"
    /root/a:1:tool_call:tool-1:11:1:make all
    "#);
    let underscored = place.run(&["grep", "make", "root/troubled", "--kind", "tool_arguments"]);
    assert_eq!(underscored.stdout, place.run(&["grep", "make", "root/troubled", "--kind", "tool-arguments"]).stdout);
    assert_snapshot!(place.run(&["grep", "-c", ".", "root/troubled", "--thread", "/root/a"]), @r#"
    6
    "#);
    assert_snapshot!(place.run(&["grep", "-c", ".", "root/troubled", "--thread", "t-c"]), @r#"
    3
    "#);
}

#[test]
fn a_text_that_every_request_repeats_is_found_once() {
    let place = Place::new();
    let ran = place.run(&["grep", "-c", "You help people with the repository", &sample("three-children")]);
    assert_snapshot!(ran, @r#"
    1
    "#);
    let ran = place.run(&["grep", "--thread", "/root", "first_wick_is_lit", &sample("one-agent")]);
    assert_snapshot!(ran, @r#"
    /root:1:tool_call:call_b6b9aeef0d2df7ab:20:6:---- wick::tests::first_wick_is_lit ----
    "#);
}

#[test]
fn long_lines_are_shown_around_the_match() {
    let place = bundles();
    assert_snapshot!(place.run(&["grep", "-M", "12", "Error", "root/troubled"]), @r#"
    /root/a:1:tool_call:tool-1:12:2:…l] Error 1
    "#);
}

#[test]
fn json_is_as_its_schema_says() {
    let place = bundles();
    let ran = place.run(&["grep", "--json", "-B1", "Error|done", "root", &sample("three-children")]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    ran.stdout.lines().for_each(|line| assert_valid("grep", line));
    assert_snapshot!(place.run(&["grep", "--json", "-B1", "Error", "root"]), @r#"
    {"type":"context","bundle":"root/troubled","kind":"tool_output","object":{"type":"tool_call","id":"tool-1"},"aspect":"printed","thread_id":"t-a","agent_path":"/root/a","turn_id":"turn-a","turn":1,"seq":12,"line_number":1,"text":"cc: warning","submatches":[]}
    {"type":"match","bundle":"root/troubled","kind":"tool_output","object":{"type":"tool_call","id":"tool-1"},"aspect":"printed","thread_id":"t-a","agent_path":"/root/a","turn_id":"turn-a","turn":1,"seq":12,"line_number":2,"text":"make: *** [all] Error 1","submatches":[{"text":"Error","start":16,"end":21}]}
    {"type":"end","bundle":"root/troubled","matched_lines":1,"matched_texts":1}
    {"type":"summary","bundles":2,"bundles_with_matches":1,"matched_lines":1,"unreadable":0,"unread_payloads":0}
    "#);
}

#[test]
fn payloads_that_cannot_be_searched_are_told_of() {
    let place = bundles();
    std::fs::write(place.path("root/troubled/payloads/1.json"), "{").expect("writes");
    assert_snapshot!(place.run(&["grep", "-c", "warning", "root/troubled"]), @r#"
    1
    --- stderr
     WARN root/troubled: 1 payload could not be searched
    "#);
    assert_snapshot!(place.run(&["grep", "nobody says this", "root/troubled"]), @r#"
    --- stderr
     WARN root/troubled: 1 payload could not be searched
    --- exit code 2
    "#);
    assert_snapshot!(place.run(&["why", "root/troubled", "-t", "nobody says this"]), @r#"
    text    nobody says this
    note    1 payload could not be searched; the answer may be incomplete
    not found in what could be read
    "#);
}

#[test]
fn exit_codes_are_those_of_grep() {
    let place = bundles();
    assert_snapshot!(place.run(&["grep", "nobody says this", "root"]), @r#"
    --- exit code 1
    "#);
    assert_snapshot!(place.run(&["grep", "warning", "root/troubled", "none"]), @r"
    root/troubled:/root/a:1:tool_call:tool-1:12:1:cc: warning
    --- stderr
    error: there is no file none, and no session of this user has an id that begins so
    hint: `trace ls` lists the sessions of this user
    --- exit code 2
    ");
    assert_snapshot!(place.run(&["grep", "-q", "warning", "root/troubled", "none"]), @r"
    --- stderr
    error: there is no file none, and no session of this user has an id that begins so
    hint: `trace ls` lists the sessions of this user
    ");
    assert_snapshot!(place.run(&["grep", "(", "root"]), @r#"
    --- stderr
    error: the pattern cannot be used as a regular expression: unclosed group
    hint: -F searches for the text as it is
    --- exit code 2
    "#);
    assert_snapshot!(place.run(&["grep", r"(\w{1000}){1000}", "root"]), @r#"
    --- stderr
    error: the pattern cannot be used as a regular expression: Compiled regex exceeds size limit of 16777216 bytes.
    hint: -F searches for the text as it is
    --- exit code 2
    "#);
    assert_snapshot!(place.run(&["grep", "x"]), @r#"
    --- stderr
    error: no folder is given, TRACE_ROOT and CODEX_ROLLOUT_TRACE_ROOT are not set, and nothing was recorded in the server home
    hint: `trace grep PATTERN FOLDER`, or set TRACE_ROOT to the folder that holds your bundles
    --- exit code 2
    "#);
    let output = place.command(&["grep", "-c", "warning"]).env("TRACE_ROOT", "root").output().expect("runs");
    assert_snapshot!(String::from_utf8(output.stdout).expect("UTF-8"), @r#"
    root/troubled:1
    "#);
}
