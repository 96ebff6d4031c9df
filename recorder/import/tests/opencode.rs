//! Sessions of opencode: how each went, and that the Codex CLI makes the same graph of its bundle.

mod imported;

use imported::{objects, state, statuses, tokens};

#[test]
fn sessions_are_told_as_they_went() {
    let Some(imports) = trace_needs::imports("sessions of opencode") else { return };
    let mut told = Vec::new();
    for agent in ["opencode", "opencode-1.0.185"] {
        for session in trace_import::sessions(&imports.join(agent)).expect("searches") {
            let state = state(&session);
            let summary = trace_import::summarize(&session).expect("reads");
            let place = session.path.strip_prefix(&imports).expect("below").display().to_string();
            told.push(format!("## {place} {} {}", session.format, session.id.as_deref().unwrap_or("-")));
            for kind in ["threads", "codex_turns", "inference_calls", "tool_calls"] {
                told.push(format!("  {kind} {:?}", statuses(&state, kind)));
            }
            let (edges, compactions) =
                (objects(&state, "interaction_edges").len(), objects(&state, "compactions").len());
            told.push(format!("  edges {edges} compactions {compactions} tokens {:?}", tokens(&state)));
            told.push(format!("  outcome {:?} model {:?} title {:?}", summary.outcome, summary.model, summary.title));
            told.push(format!("  notes {:?}", imported::codes(&session)));
        }
    }
    insta::assert_snapshot!(told.join("\n"));
}
