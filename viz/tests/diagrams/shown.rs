//! Snapshots of diagrams of small sessions.

use insta::assert_snapshot;
use trace_samples::scenes::{one_agent, three_children};
use trace_viz::diagram::{Diagram, DiagramError, Options, View};

use crate::sessions::{for_each_recording, recorded};

/// Formats a diagram, one line per element.
fn text(diagram: &Diagram) -> String {
    let mut text = format!("{}\n", diagram.title);
    let mark = |mark: trace_viz::diagram::Mark| mark.sign().map(|sign| format!("{sign} ")).unwrap_or_default();
    for group in &diagram.groups {
        let within = group.parent.map(|parent| format!(" in {}", diagram.groups[parent.0 as usize].id));
        let within = within.unwrap_or_default();
        text.push_str(&format!("[{}{within}] {}{}\n", group.id, mark(group.mark), group.label.join(" | ")));
    }
    for node in &diagram.nodes {
        let within = node.group.map(|group| format!(" in {}", diagram.groups[group.0 as usize].id)).unwrap_or_default();
        let count = if node.count > 1 { format!(" ({})", node.count) } else { String::new() };
        text.push_str(&format!("({}{within}){count} {}{}\n", node.id, mark(node.mark), node.label.join(" | ")));
    }
    for edge in &diagram.edges {
        let id = |node: trace_viz::diagram::NodeIdx| &diagram.nodes[node.0 as usize].id;
        let (from, to) = (id(edge.from), id(edge.to));
        let count = if edge.count > 1 { format!(" ({})", edge.count) } else { String::new() };
        let label = edge.label.join(" | ");
        text.push_str(&format!("{from} -{:?}-> {to}{count} {}{label}\n", edge.style, mark(edge.mark)));
    }
    for note in &diagram.notes {
        text.push_str(&format!("note: {note}\n"));
    }
    text
}

#[test]
fn agents_of_three_children() {
    let diagram = Diagram::new(&recorded(three_children), &Options::new(View::Agents)).expect("is drawn");
    assert_snapshot!(text(&diagram), @r#"
    Agents of session 019cae19-0040-732f-83f2-827affe7f664 · 4 agents · 7 hand-overs · 46.5 s
    [thread_0] ! /root
    [thread_1] /root/changelog (Ada)
    [thread_2] ! /root/docs (Borges)
    [thread_3] ✗ /root/speed (Curie)
    (agent_0 in thread_0) ! degraded · example-large | 1 turn · 5 requests · 6 tool calls | 5,349 tokens in, 517 out · 46.5 s | cause: provider_error in /root/speed | the provider answers 503: too many requests at the moment
    (agent_1 in thread_1) completed · example-large | 1 turn · 2 requests · 1 tool call | 751 tokens in, 93 out · 44.9 s
    (agent_2 in thread_2) ! degraded · example-small | 1 turn · 3 requests · 4 tool calls (1 failed) | 1,730 tokens in, 217 out · 44.9 s | cause: tool_failed | the command exited with code 2: error: dim needs a wick or…
    (agent_3 in thread_3) ✗ failed · example-large | 1 turn · 4 requests (3 failed) · 1 tool call | 309 tokens in, 43 out · 44.9 s | cause: provider_error | the provider answers 503: too many requests at the moment
    agent_0 -Spawn-> agent_1 1. spawn +1.5 s | Write one sentence about 0.4 for the ch…
    agent_0 -Spawn-> agent_2 2. spawn +1.5 s | Check that every command in docs/ still…
    agent_0 -Spawn-> agent_3 3. spawn +1.6 s | Compare the speed of 0.4 with that of v…
    agent_1 -Result-> agent_0 4. result +28.2 s | 0.4 reads wicks from the settings, coun…
    agent_3 -Result-> agent_0 ✗ 5. result +40.8 s · failed turn | The agent failed: the provider answers…
    agent_0 -Message-> agent_2 6. message +42.3 s | Wicks are counted from one in 0.4: exam…
    agent_2 -Result-> agent_0 7. result +44.0 s | One of two commands fails: `lantern dim…
    "#);
}

#[test]
fn turns_of_one_agent() {
    let diagram = Diagram::new(&recorded(one_agent), &Options::new(View::Turns)).expect("is drawn");
    assert_snapshot!(text(&diagram), @r#"
    Turns of session 019cade2-11c0-755e-b1c1-8690ee42c90b · 1 agent · 1 turn · 5 calls · 19.7 s
    [thread_0] ↺ /root
    (turn_0 in thread_0) ↺ turn 1 · recovered | +0.0 s · 19.7 s | 5 requests · 5 tool calls (1 failed) | 4,857 tokens in, 439 out
    (tool_0 in thread_0) exec_command | git log --oneline -3 | +1.4 s · 25 ms
    (tool_1 in thread_0) ↺ exec_command | cargo test --quiet | failed, exit code 101 · made good later | +1.4 s · 6.4 s
    (calls_tool_2 in thread_0) (3) exec_command × 3 | +8.8 s · 8.1 s in all
    turn_0 -Next-> tool_0 
    tool_0 -Next-> tool_1 
    tool_1 -Next-> calls_tool_2 
    note: 3 calls are folded
    "#);
}

#[test]
fn calls_of_one_of_three_children() {
    let thread = Some("/root/docs".to_owned());
    let options = Options { thread, ..Options::new(View::Calls) };
    let diagram = Diagram::new(&recorded(three_children), &options).expect("is drawn");
    assert_snapshot!(text(&diagram), @r#"
    Requests and calls of /root/docs (Borges) · 1 agent · 1 turn · 7 requests and calls · 46.5 s
    [thread_2] ! /root/docs (Borges)
    [turn_2 in thread_2] ! turn 1 · degraded | +1.5 s · 42.4 s | 3 requests · 4 tool calls (1 failed) | 1,730 tokens in, 217 out | cause: tool_failed | the command exited with code 2: error: dim needs a wick or…
    (inference_3 in turn_2) request | example-small · 304 in, 82 out | +2.7 s · 2.1 s
    (tool_5 in turn_2) exec_command | rg -n '^\$ lantern' docs | +4.8 s · 783 ms
    (tool_6 in turn_2) exec_command | cargo build --release --quiet | +4.8 s · 22.0 s
    (inference_10 in turn_2) request | example-small · 608 in, 82 out | +42.3 s · 893 ms
    (tool_9 in turn_2) exec_command | target/release/lantern light 1 | +43.2 s · 20 ms
    (tool_10 in turn_2) ✗ exec_command | target/release/lantern dim | failed, exit code 2 | cause: tool_failed | the command exited with code 2: error: dim needs a wick or… | +43.2 s · 17 ms
    (inference_11 in turn_2) request | example-small · 818 in, 53 out | +43.2 s · 813 ms
    inference_3 -Cause-> tool_5 
    inference_3 -Cause-> tool_6 
    tool_5 -Cause-> inference_10 
    tool_6 -Cause-> inference_10 
    inference_10 -Cause-> tool_9 
    inference_10 -Cause-> tool_10 
    tool_9 -Cause-> inference_11 
    tool_10 -Cause-> inference_11 
    tool_5 -Next-> tool_6 
    tool_9 -Next-> tool_10 
    note: arrows lead from a request to the calls that it asked for, and from a call to the first request that read its output
    "#);
}

#[test]
fn the_cause_of_three_children() {
    let diagram = Diagram::new(&recorded(three_children), &Options::new(View::Causal)).expect("is drawn");
    assert_snapshot!(text(&diagram), @r#"
    Why turn 019cae19-0046-7583-8014-78bc5887ccff of /root is degraded · provider_error
    [thread_0] ! /root
    [thread_3] ✗ /root/speed (Curie)
    (step_0 in thread_0) ! symptom | assistant message | The agent failed: the provider answers 503: too many | requests at the moment | +40.8 s
    (step_1 in thread_0) ! turn 1 | the turn of /root | +0.0 s
    (step_2 in thread_0) spawn_agent | speed · Compare the speed of 0.4 with that of v0.3 on the | large example. | +1.6 s
    (step_3 in thread_3) ✗ agent /root/speed (Curie) | +1.6 s
    (step_4 in thread_3) ✗ turn 1 | the turn of /root/speed ended failed | +1.6 s
    (step_5 in thread_3) ✗ root cause: provider_error | confidence: high | request to example-large | the provider answers 503: too many requests at the moment | +36.8 s
    step_0 -Cause-> step_1 seen in
    step_1 -Cause-> step_2 in which
    step_2 -Cause-> step_3 spawned
    step_3 -Cause-> step_4 its turn
    step_4 -Cause-> step_5 in which
    note: the turn completed on top of a failure: the provider answered a request of /root/speed with an error in 3 attempts: the provider answers 503: too many requests at the moment
    note: 42.4 s were lost
    note: also tool_failed tool_call:call_bb23595cdb12878b: the command exited with code 2: error: dim needs a wick or --all
    note: 2 other turns need attention too
    "#);
}

#[test]
fn what_is_not_there_is_told() {
    let session = recorded(three_children);
    let error = |view: View, thread: Option<&str>, turn: Option<&str>| {
        let options =
            Options { thread: thread.map(str::to_owned), turn: turn.map(str::to_owned), ..Options::new(view) };
        Diagram::new(&session, &options).expect_err("there is nothing to draw").to_string()
    };
    assert_eq!(error(View::Agents, Some("/root/nobody"), None), "the session has no thread \"/root/nobody\"");
    assert_eq!(error(View::Turns, None, Some("nothing")), "the session has no turn \"nothing\"");
    assert_eq!(error(View::Turns, None, Some("")), "the session has no turn \"\"");
    assert_eq!(error(View::Agents, None, Some("019")), "the view of agents shows no single turns");
    assert_eq!(error(View::Calls, None, Some("019")), "4 turns have ids like \"019\"");
    let of_well = error(View::Causal, Some("/root/changelog"), None);
    assert_eq!(of_well, "no turn of the thread needs attention: nothing failed that was not made good");
    let well = Diagram::new(&recorded(one_agent), &Options::new(View::Causal));
    assert_eq!(well, Err(DiagramError::NothingWrong { within: "" }));
}

/// A message that never arrived ends at a node of its own.
#[test]
fn what_never_arrived() {
    let mut found = 0;
    for_each_recording(|path, session| {
        let lost = trace_explain::mail::lost_messages(session.trace()).len();
        let diagram = Diagram::new(session, &Options::new(View::Agents)).expect("is drawn");
        let nodes = diagram.nodes.iter().filter(|node| node.shape == trace_viz::diagram::Shape::Missing);
        let told: u32 = nodes.map(|node| node.count).sum();
        assert_eq!(told as usize, lost, "{}", path.display());
        let arrows = diagram.edges.iter().filter(|edge| edge.label.join(" ").contains("never arrived"));
        assert_eq!(arrows.map(|edge| edge.count).sum::<u32>() as usize, lost, "{}", path.display());
        found += lost;
    });
    // The real recordings may be missing, so there is no lower limit.
    assert!(found < 1000);
}
