//! `trace critical-path`.

use std::fs;

use insta::assert_snapshot;
use trace_recorder::format::ExecutionStatus;

use crate::schema::assert_valid;
use crate::support::{Place, START, Session, sample, troubled};

#[test]
fn the_path_goes_through_the_agent_that_was_waited_for() {
    let place = Place::new();
    let (bundle, prices) = (sample("three-children"), sample("prices.toml"));
    assert_snapshot!(place.run(&["critical-path", &bundle, "--prices", &prices]), @r#"
    Session 019cae19-0040-732f-83f2-827affe7f664 took 46.5 s
      calls on the path cost 0.0085 EUR

    What the time was spent on
      overhead  36.9 s  79.3 %  ███████████████████████
      model      7.8 s  16.9 %  █████
      tool       1.7 s   3.7 %  █
      idle       27 ms   0.1 %  █
      wait        7 ms   0.0 %  █

    Time by agent
      /root/changelog  26.6 s  57.2 %
      /root            19.8 s  42.7 %
      no agent          27 ms   0.1 %

    The path
          AT    TIME  WORK      AGENT            SEQ  WHAT
        0 ms    8 ms  idle                         0
        8 ms   11 ms  overhead  /root              4
       19 ms   1.5 s  model     /root              9  example-large
       1.5 s    4 ms  overhead  /root             10
       1.5 s   11 ms  tool      /root             15  spawn_agent {"task_name":"changelog","message":"Write one sentence about 0.4 for the changelog, fro…
       1.5 s   1.1 s  overhead  /root/changelog   18
       2.7 s   1.1 s  model     /root/changelog   51  example-large
       3.9 s    3 ms  overhead  /root/changelog   56
       3.9 s   1.7 s  tool      /root/changelog   58  exec_command git log --oneline v0.3..
       5.6 s  21.2 s  overhead  /root/changelog   72
      26.9 s   1.2 s  model     /root/changelog   83  example-large
      28.2 s    3 ms  overhead  /root/changelog   84
      28.2 s    2 ms  wait      /root             88  wait_agent {"timeout_ms":60000}
      28.2 s  12.6 s  overhead  /root             90
      40.8 s   1.4 s  model     /root            104  example-large
      42.3 s    4 ms  overhead  /root            105
      42.3 s    3 ms  tool      /root            107  send_message {"target":"docs","message":"Wicks are counted from one in 0.4: examples with number 0…
      42.3 s   1.7 s  overhead  /root            109
      44.0 s  957 ms  model     /root            133  example-large
      45.0 s    3 ms  overhead  /root            134
      45.0 s    5 ms  wait      /root            136  wait_agent {"timeout_ms":60000}
      45.0 s    6 ms  overhead  /root            139
      45.0 s   1.4 s  model     /root            141  example-large
      46.5 s   19 ms  idle                       144
    "#);
}

#[test]
fn failed_requests_and_open_commands_are_on_the_path() {
    let place = Place::new();
    let mut session = Session::begin(&place.path("bundle"), START);
    session.thread("t-root", "/root", None);
    session.turn("t-root", "turn-1");
    session.failed_answer("t-root", "turn-1", "call-1", "no answer");
    session.failed_answer("t-root", "turn-1", "call-2", "no answer");
    session.answer("t-root", "turn-1", "call-3");
    session.turn_ended("t-root", "turn-1", ExecutionStatus::Completed);
    session.turn("t-root", "turn-2");
    session.command("t-root", "turn-2", "tool-1", "make quick");
    session.command("t-root", "turn-2", "tool-2", "make slow");
    session.command_ended("t-root", "turn-2", "tool-1", 0, "quick");
    session.command_ended("t-root", "turn-2", "tool-2", 1, "slow");
    session.answer("t-root", "turn-2", "call-4");
    session.command("t-root", "turn-2", "tool-3", "sleep 1000");
    drop(session);
    assert_snapshot!(place.run(&["critical-path", "bundle"]), @r#"
    Session rollout-id took 22.0 s

    What the time was spent on
      overhead  7.0 s  31.8 %  █████████
      tool      6.0 s  27.3 %  ████████
      retry     4.0 s  18.2 %  █████
      idle      3.0 s  13.6 %  ████
      model     2.0 s   9.1 %  ██

    Time by agent
      /root     19.0 s  86.4 %
      no agent   3.0 s  13.6 %

    The path
          AT   TIME  WORK      AGENT  SEQ  WHAT
        0 ms  2.0 s  idle               0
       2.0 s  1.0 s  overhead  /root    3
       3.0 s  1.0 s  retry     /root    4  model-1 failed
       4.0 s  1.0 s  retry     /root    5  after a failed request
       5.0 s  1.0 s  retry     /root    6  model-1 failed
       6.0 s  1.0 s  retry     /root    7  after a failed request
       7.0 s  1.0 s  model     /root    8  model-1
       8.0 s  1.0 s  overhead  /root    9
       9.0 s  1.0 s  idle              10
      10.0 s  3.0 s  overhead  /root   11
      13.0 s  5.0 s  tool      /root   14  exec_command make slow (failed)
      18.0 s  1.0 s  overhead  /root   19
      19.0 s  1.0 s  model     /root   20  model-1
      20.0 s  1.0 s  overhead  /root   21
      21.0 s  1.0 s  tool      /root   22  exec_command sleep 1000 (unfinished)
    "#);
}

#[test]
fn a_long_path_is_told_by_its_longest_pieces() {
    let place = Place::new();
    let mut session = Session::begin(&place.path("bundle"), START);
    session.thread("t-root", "/root", None);
    session.turn("t-root", "turn-1");
    for call in 0..60 {
        session.answer("t-root", "turn-1", &format!("call-{call}"));
    }
    session.turn_ended("t-root", "turn-1", ExecutionStatus::Completed);
    drop(session);
    let ran = place.run(&["critical-path", "bundle"]);
    let end: Vec<_> = ran.stdout.lines().skip(43).collect();
    assert_snapshot!(end.join("\n"), @r#"
    31.0 s       1.0 s  model     /root   32  model-1
    32.0 s       1.0 s  overhead  /root   33
    33.0 s       1.0 s  model     /root   34  model-1
    34.0 s       1.0 s  overhead  /root   35
    35.0 s       1.0 s  model     /root   36  model-1
    36.0 s       1.0 s  overhead  /root   37
    37.0 s       1.0 s  model     /root   38  model-1
    38.0 s       1.0 s  overhead  /root   39
    39.0 s       1.0 s  model     /root   40  model-1
    40.0 s       1.0 s  overhead  /root   41
    41.0 s  1 min 22 s                        ... 82 shorter segments
    (--all shows every segment)
    "#);
    let all = place.run(&["critical-path", "bundle", "--all"]);
    assert_eq!(all.stdout.lines().filter(|line| line.ends_with("model-1")).count(), 60, "{all}");
}

#[test]
fn json_is_as_its_schema_says() {
    let place = Place::new();
    troubled(&place.path("bundle"));
    fs::create_dir(place.path("empty")).expect("a directory");
    fs::write(place.path("empty/trace.jsonl"), "").expect("writes");
    let (children, prices) = (sample("three-children"), sample("prices.toml"));
    for arguments in [
        &["critical-path", "bundle", "--json"][..],
        &["critical-path", "empty", "--json"],
        &["critical-path", &children, "--json", "--prices", &prices],
        &["critical-path", &sample("damaged"), "--json"],
    ] {
        let ran = place.run(arguments);
        assert_eq!(ran.code, 0, "{ran}");
        assert_valid("critical-path", &ran.stdout);
    }
}
