//! `trace postmortem`.

use insta::assert_snapshot;
use serde_json::Value;

use crate::schema::assert_valid;
use crate::support::{Place, START, Session, sample, tear, troubled, well};

#[test]
fn a_session_in_trouble() {
    let place = Place::new();
    troubled(&place.path("bundle"));
    assert_snapshot!(place.run(&["postmortem", "bundle"]), @"
    3 turns need attention (4 turns)

    degraded /root turn turn-1
      the turn completed on top of a failure: the provider answered a request of /root/a with an error: stream disconnected ⏎ before completion
      cause     provider_error inference_call:call-2 at seq 15 (confidence: low)
      time lost 7.0 s
      way           27  symptom       codex_turn:turn-1
                                      the turn completed without the child's answer
                     6  spawned       thread:t-a
                                      /root/a
                     9  agent_failed  codex_turn:turn-a
                                      the turn of /root/a ended failed
                    15  contains      inference_call:call-2
                                      request to model-1 (provider): stream disconnected ⏎ before completion

    failed /root/a turn turn-a
      the turn failed: the provider answered a request with an error: stream disconnected ⏎ before completion
      cause     provider_error inference_call:call-2 at seq 15 (confidence: low)
      time lost 3.0 s
      way           16  symptom       codex_turn:turn-a
                                      stream disconnected ⏎ before completion
                    15  contains      inference_call:call-2
                                      request to model-1 (provider): stream disconnected ⏎ before completion
      also      tool_failed tool_call:tool-1: the command exited with code 2: make: *** [all] Error 1

    cancelled /root/b turn turn-b
      the turn was cancelled: the user stopped it
      cause     interrupted_by_user tool_call:tool-2 at seq 26 (confidence: high)
      time lost 8.0 s
      way           26  symptom       codex_turn:turn-b
                                      the turn was stopped
                    26  contains      tool_call:tool-2
                                      exec_command sleep 1000: the user stopped the turn

    1 turn came out well (--all lists them)
    ");
}

#[test]
fn a_session_that_went_well_needs_no_attention() {
    let place = Place::new();
    well(&place.path("bundle"), START);
    assert_snapshot!(place.run(&["postmortem", "bundle"]), @r#"
    no turn needs attention (1 turn)

    1 turn came out well (--all lists them)
    "#);
    assert_snapshot!(place.run(&["postmortem", "bundle", "--all"]), @r#"
    no turn needs attention (1 turn)

    ok /root turn turn-1
    "#);
    let ran = place.run(&["postmortem", "bundle", "--json"]);
    assert_valid("postmortem", &ran.stdout);
    let answer: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    assert_eq!(answer["turns"], serde_json::json!([]));
    assert_eq!(answer["counts"]["ok"], 1);
}

#[test]
fn answers_keep_their_schema() {
    let place = Place::new();
    troubled(&place.path("bundle"));
    let ran = place.run(&["postmortem", "bundle", "--all", "--json"]);
    assert_eq!(ran.code, 0, "{ran}");
    assert_valid("postmortem", &ran.stdout);
    for sample in ["three-children", "one-agent", "damaged"] {
        let path = format!("{}/../samples/{sample}", env!("CARGO_MANIFEST_DIR"));
        let ran = place.run(&["postmortem", &path, "--all", "--json"]);
        assert_eq!(ran.code, 0, "{ran}");
        assert_valid("postmortem", &ran.stdout);
    }
}

#[test]
fn a_command_that_fails_and_is_mended() {
    let place = Place::new();
    let mut session = Session::begin(&place.path("bundle"), START);
    session.thread("t-root", "/root", None);
    session.turn("t-root", "turn-1");
    session.command("t-root", "turn-1", "tool-1", "make all");
    session.command_ended("t-root", "turn-1", "tool-1", 137, "Killed\n");
    session.command("t-root", "turn-1", "tool-2", "make all");
    session.command_ended("t-root", "turn-1", "tool-2", 0, "done\n");
    drop(session);
    assert_snapshot!(place.run(&["postmortem", "bundle"]), @r#"
    1 turn needs attention (1 turn)

    unfinished /root turn turn-1
      the turn did not finish: the recording ends while /root is at work: the recording ends at event 11 and the turn goes on
      cause     recording_truncated codex_turn:turn-1 at seq 11 (confidence: medium)
      time lost 8.0 s
      way           11  symptom       codex_turn:turn-1
                                      the turn has no end
      missing   everything after the last event: the session died, or still runs
    "#);
    // Without the last line, no later success recovers the failure.
    tear(&place.path("bundle"), 1);
    let ran = place.run(&["postmortem", "bundle", "--json"]);
    let answer: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    assert_eq!(answer["turns"][0]["outcome"], "unfinished");
    assert_eq!(answer["turns"][0]["root_cause"]["category"], "recording_truncated");
}

#[test]
fn turns_and_threads_can_be_picked() {
    let place = Place::new();
    troubled(&place.path("bundle"));
    let outcomes = |arguments: &[&str]| {
        let ran = place.run(&[&["postmortem", "bundle", "--json"], arguments].concat());
        let answer: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran}"));
        let turns = answer["turns"].as_array().expect("a list").clone();
        turns.iter().map(|turn| format!("{} {}", turn["turn_id"], turn["outcome"])).collect::<Vec<_>>()
    };
    assert_eq!(outcomes(&["--turn", "turn-c"]), [r#""turn-c" "ok""#]);
    assert_eq!(outcomes(&["--turn=-a"]), [r#""turn-a" "failed""#]);
    assert_eq!(outcomes(&["--thread", "/root/b"]), [r#""turn-b" "cancelled""#]);
    assert_eq!(outcomes(&["--thread", "t-c"]), [""; 0]);
    assert_eq!(outcomes(&["--thread", "t-c", "--all"]), [r#""turn-c" "ok""#]);
    assert_snapshot!(place.run(&["postmortem", "bundle", "--turn", ""]), @r#"
    --- stderr
    error: --turn needs an id
    hint: `trace postmortem --all` lists the turns with their ids
    --- exit code 2
    "#);
    assert_snapshot!(place.run(&["postmortem", "bundle", "--turn", "turn"]), @r#"
    --- stderr
    error: 4 turns have ids that begin or end with turn
    hint: `trace postmortem --all` lists the turns with their ids
    --- exit code 2
    "#);
    assert_snapshot!(place.run(&["postmortem", "bundle", "--turn", "nope"]), @r#"
    --- stderr
    error: the bundle has no turn nope
    hint: `trace postmortem --all` lists the turns with their ids
    --- exit code 2
    "#);
    assert_snapshot!(place.run(&["postmortem", "bundle", "--thread", "/root/nope"]), @r#"
    --- stderr
    error: the bundle has no thread /root/nope
    hint: `trace show` lists the threads with their paths
    --- exit code 2
    "#);
    assert_eq!(place.run(&["postmortem", "nowhere"]).code, 1);
}

#[test]
fn findings_of_an_audit_are_named() {
    let place = Place::new();
    assert_snapshot!(place.run(&["postmortem", &sample("untrue.trace")]), @r#"
    3 turns need attention (9 turns, 2 recovered)

    degraded /root turn 019d9673-1ffd-7fcc-b70e-387ef27ac3fe
      the turn completed on top of a failure: the response to a request of /root/resizer broke off: stream disconnected before completion: stream closed before respo…
      cause     stream_interrupted codex_turn:019d9673-25c1-7e94-98af-5b8c4d4e2775 at seq 125 (confidence: medium)
      time lost 2.5 s
      way          131  symptom       conversation_item:35
                                      Message Type: FINAL_ANSWER ⏎ Task name: /root ⏎ Sender: /root/resizer ⏎ Payload: ⏎ Agent errored: stream disconnected before completion: stream closed before r…
                    94  contains      codex_turn:019d9673-1ffd-7fcc-b70e-387ef27ac3fe
                                      the turn of /root
                   100  contains      tool_call:call_93cf8d3d7ce4d0f5
                                      spawn_agent {"task_name":"resizer","message":"Resize all pictures in img/ to 800 pixels.","fork_turns":"none"}
                   101  spawned       thread:019d9673-25bd-760e-b652-0233857d34d5
                                      /root/resizer
                   125  agent_failed  codex_turn:019d9673-25c1-7e94-98af-5b8c4d4e2775
                                      the turn of /root/resizer ended failed
      audit     child_failure_hidden (high) at seq 134: said that the work is done; the last turn of /root/resizer failed
      missing   the failed request or call that ended the turn

    failed /root/resizer turn 019d9673-25c1-7e94-98af-5b8c4d4e2775
      the turn failed: the response to a request broke off: stream disconnected before completion: stream closed before response.completed
      cause     stream_interrupted codex_turn:019d9673-25c1-7e94-98af-5b8c4d4e2775 at seq 125 (confidence: medium)
      way          125  symptom       codex_turn:019d9673-25c1-7e94-98af-5b8c4d4e2775
                                      stream disconnected before completion: stream closed before response.completed
      missing   the failed request or call that ended the turn

    degraded /root turn 019d9673-7935-7cc1-a7c2-48afb0114a75
      the turn completed on top of a failure: a tool call failed (exec_command cd site && npx tsc --noEmit): the command exited with code 2: src/a.ts(1,20): error TS…
      cause     tool_failed tool_call:call_318b72497938600b at seq 258 (confidence: high)
      time lost 1.2 s
      way          260  symptom       conversation_item:68
                                      Chunk ID: 008d53 ⏎ Wall time: 0.3100 seconds ⏎ Process exited with code 2 ⏎ Original token count: 16 ⏎ Output: ⏎ src/a.ts(1,20): error TS2307: Cannot find modu…
                   249  contains      codex_turn:019d9673-7935-7cc1-a7c2-48afb0114a75
                                      the turn of /root
                   258  contains      tool_call:call_318b72497938600b
                                      exec_command cd site && npx tsc --noEmit: the command exited with code 2: src/a.ts(1,20): error TS2307: Cannot find module './missing'.
      also      tool_failed tool_call:call_d427749c5350bcf5: the command exited with code 2: src/a.ts(1,20): error TS2307: Cannot find module './missing'.
                tool_failed tool_call:call_b67e3df569fc00e5: the command exited with code 2: src/a.ts(1,20): error TS2307: Cannot find module './missing'.
                tool_failed tool_call:call_441e26ebdf08a450: the command exited with code 2: src/a.ts(1,20): error TS2307: Cannot find module './missing'.
      audit     repeated_call (low) at seq 255: made the same call 4 times with the same outcome: cd site && npx tsc --noEmit

    6 turns came out well (--all lists them)

    the audit has 12 more findings in turns that completed (trace audit shows them)
    "#);
    let shown = place.run(&["postmortem", "--json", &sample("untrue.trace")]).stdout;
    assert_valid("postmortem", &shown);
    let shown: Value = serde_json::from_str(&shown).expect("JSON");
    assert_eq!(shown["findings"].as_array().map(Vec::len), Some(14));
    let shown = place.run(&["postmortem", "--json", "--thread", "/root/resizer", &sample("untrue.trace")]).stdout;
    let shown: Value = serde_json::from_str(&shown).expect("JSON");
    assert_eq!(shown["findings"], Value::Array(Vec::new()), "of the turns that were asked for");
}
