//! `trace postmortem`.

use insta::assert_snapshot;
use serde_json::Value;

use crate::schema::assert_valid;
use crate::support::{Place, START, Session, tear, troubled, well};

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
