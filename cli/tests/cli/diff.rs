//! `trace diff`.

use std::path::Path;

use insta::assert_snapshot;
use trace_recorder::format::ExecutionStatus;

use crate::schema::assert_valid;
use crate::support::{Place, START, Session, sample, troubled};

/// Records a session that builds and tests. The test has the given exit code, and `next` is an optional further step.
fn session(path: &Path, exit_code: i32, next: Option<&str>) {
    let mut session = Session::begin(path, START);
    session.thread("t-root", "/root", None);
    session.turn("t-root", "turn-1");
    session.answer("t-root", "turn-1", "call-1");
    session.command("t-root", "turn-1", "tool-1", "make");
    session.command_ended("t-root", "turn-1", "tool-1", 0, "built in 12 s");
    session.command("t-root", "turn-1", "tool-2", "make test");
    session.command_ended("t-root", "turn-1", "tool-2", exit_code, "12 passed in /tmp/abc/x");
    if let Some(next) = next {
        session.command("t-root", "turn-1", "tool-3", next);
        session.command_ended("t-root", "turn-1", "tool-3", 0, "");
        session.child("t-a", "t-root", "/root/a", "Ada");
    }
    session.turn_ended("t-root", "turn-1", ExecutionStatus::Completed);
}

#[test]
fn a_session_does_not_differ_from_itself() {
    let place = Place::new();
    session(&place.path("a"), 0, None);
    let ran = place.run(&["diff", "a", "a", "--exit-code"]);
    assert_snapshot!(ran, @r#"
    A  a
    B  a

    The sessions do not differ: 4 steps are the same

    Side by side
                                A       B  B - A
      time                 13.0 s  13.0 s   0 ms
      model time            1.0 s   1.0 s   0 ms
      tool time             6.0 s   6.0 s   0 ms
      turns                     1       1      0
      model calls               1       1      0
      tool calls                2       2      0
      tokens in             1,200   1,200      0
      tokens cached         1,000   1,000      0
      tokens out               34      34      0
      tokens of reasoning       5       5      0
    "#);
    for name in ["one-agent", "three-children", "damaged"] {
        let bundle = sample(name);
        let ran = place.run(&["diff", &bundle, &bundle, "--exit-code"]);
        assert_eq!(ran.code, 0, "{ran}");
    }
}

#[test]
fn what_diverged_first_comes_first() {
    let place = Place::new();
    session(&place.path("a"), 0, Some("git commit"));
    session(&place.path("b"), 2, Some("git stash"));
    assert_snapshot!(place.run(&["diff", "a", "b", "--exit-code"]), @r#"
    A  a
    B  b

    The sessions differ: 2 changed; 3 steps are the same

    What diverged first: status, exit code
      A  /root  seq 10, 9.0 s after the start: exec_command make test
         │ completed
      B  /root  seq 10, 9.0 s after the start: exec_command make test
         │ failed

    Differences
         AGENT  SEQ A  SEQ B  WHAT
      ~  /root     10     10  exec_command make test: status, exit code (completed → failed)
      ~  /root     14     14  exec_command git commit → exec_command git stash: arguments (/bin/sh -lc git commit → /bin/sh -lc git stash)

    Side by side
                                A       B  B - A
      time                 18.0 s  18.0 s   0 ms
      model time            1.0 s   1.0 s   0 ms
      tool time             9.0 s   9.0 s   0 ms
      turns                     1       1      0
      model calls               1       1      0
      tool calls                3       3      0
      tool calls failed         0       1     +1
      tokens in             1,200   1,200      0
      tokens cached         1,000   1,000      0
      tokens out               34      34      0
      tokens of reasoning       5       5      0

    Agents
      AGENT A  AGENT B  CALLS A  CALLS B  TOOLS A  TOOLS B  IN A   IN B   OUT A  OUT B
      /root    /root          1        1        3        3  1,200  1,200     34     34
      /root/a  /root/a        0        0        0        0      0      0      0      0
    --- exit code 1
    "#);
}

#[test]
fn what_one_lacks_is_told() {
    let place = Place::new();
    session(&place.path("a"), 0, None);
    session(&place.path("b"), 0, Some("git commit"));
    let ran = place.run(&["diff", "a", "b"]);
    let differences: Vec<_> = ran.stdout.lines().skip(3).take_while(|line| !line.starts_with("Side by side")).collect();
    assert_snapshot!(differences.join("\n"), @r#"
    The sessions differ: 2 only in B; 4 steps are the same

    What diverged first
      A  no such step
      B  /root  seq 14, 13.0 s after the start: exec_command git commit

    Differences
         AGENT    SEQ A  SEQ B  WHAT
      +  /root              14  exec_command git commit
      +  /root/a            18  agent /root/a
    "#);
    let (bundle, prices) = (sample("three-children"), sample("prices.toml"));
    assert_snapshot!(place.run(&["diff", "a", &bundle, "--prices", &prices]).stdout.replace(&bundle, "three-children"), @r#"
    A  a
    B  three-children

    The sessions differ: 2 changed, 2 only in A, 19 only in B; 0 steps are the same

    What diverged first
      A  no such step
      B  /root  seq 9, 19 ms after the start: developer message

    Differences
         AGENT            SEQ A  SEQ B  WHAT
      +  /root                       9  developer message
      +  /root                       9  developer message
      +  /root                       9  user message
      ~  /root                4      9  user message: text
      ~  /root                4      9  model-1 → example-large: model, said (model-1 → example-large)
      -  /root                6         exec_command make
      +  /root                      15  spawn_agent {"task_name":"changelog","message":"Write one s…
      +  /root                      25  spawn_agent {"task_name":"docs","message":"Check that every…
      +  /root                      35  spawn_agent {"task_name":"speed","message":"Compare the spe…
      +  /root                      45  example-large
      +  /root                      48  wait_agent {"timeout_ms":60000}
      +  /root                     102  message from an agent
      +  /root                     103  message from an agent
      +  /root                     104  example-large
      +  /root                     107  send_message {"target":"docs","message":"Wicks are counted…
      +  /root                     132  message from an agent
      +  /root                     133  example-large
      +  /root                     136  wait_agent {"timeout_ms":60000}
      +  /root                     141  example-large
      -  /root               10         exec_command make test
      +  /root/changelog            16  agent /root/changelog
      +  /root/docs                 26  agent /root/docs
      +  /root/speed                36  agent /root/speed

    Side by side
                                                    A           B    B - A
      time                                     13.0 s      46.5 s  +33.5 s
      model time                                1.0 s      16.2 s  +15.2 s
      tool time                                 6.0 s      50.3 s  +44.3 s
      turns                                         1           4       +3
      model calls                                   1          14      +13
      model calls failed                            0           3       +3
      tool calls                                    2          12      +10
      tool calls failed                             0           1       +1
      tokens in                                 1,200       8,139   +6,939
      tokens cached                             1,000       4,736   +3,736
      tokens out                                   34         870     +836
      tokens of reasoning                           5          76      +71
      cost                 ? (0.0000 EUR of it known)  0.0114 EUR        ?

    Agents
      AGENT A  AGENT B          CALLS A  CALLS B  TOOLS A  TOOLS B  IN A   IN B   OUT A  OUT B
      /root    /root                  1        5        2        6  1,200  5,349     34    517
      -        /root/changelog                 2                 1           751            93
      -        /root/docs                      3                 4         1,730           217
      -        /root/speed                     4                 1           309            43
    "#);
}

#[test]
fn json_is_as_its_schema_says() {
    let place = Place::new();
    session(&place.path("a"), 0, Some("git commit"));
    troubled(&place.path("b"));
    let (children, agent, prices) = (sample("three-children"), sample("one-agent"), sample("prices.toml"));
    for arguments in [
        &["diff", "a", "b", "--json"][..],
        &["diff", "a", "a", "--json"],
        &["diff", &children, &agent, "--json", "--prices", &prices],
    ] {
        let ran = place.run(arguments);
        assert_eq!(ran.code, 0, "{ran}");
        assert_valid("diff", &ran.stdout);
    }
}
