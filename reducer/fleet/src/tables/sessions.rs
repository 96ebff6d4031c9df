//! `sessions`.

use trace_explain::outcome::Outcome;
use trace_explain::prompt::first_prompt;
use trace_reducer::Severity;

use super::origin::TABLES_VERSION;
use super::table::table;

/// Most characters of the first prompt.
pub const MAX_PROMPT_CHARS: usize = 200;

/// Returns the beginning of a text in one line.
pub(crate) fn beginning(text: &str, chars: usize) -> String {
    let mut out = String::new();
    for word in text.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
        if out.len() >= chars * 4 {
            break;
        }
    }
    match out.char_indices().nth(chars) {
        Some((end, _)) => out[..end].to_owned(),
        None => out,
    }
}

/// Returns how many values satisfy a condition.
fn count<T>(values: impl Iterator<Item = T>, is: impl Fn(&T) -> bool) -> usize {
    values.filter(is).count()
}

table! {
    SESSIONS_TABLE = "sessions", "One session. Only what it has rows for here is part of the lake.";
    rows |_| vec![()];
    each (s, _key: ()) known = s.known();
    model None;
    fingerprint Text "What tells whether the session changed: its ETag, or its size and time." = s.origin().fingerprint.as_str();
    source_bytes Integer "Size of what was read in bytes, if the listing tells it." = s.origin().bytes;
    source_modified_at Time "When it was written last." = s.origin().modified_unix_ms;
    tables_version Integer "Version of the tables with which the rows were made." = TABLES_VERSION;
    readable Truth "Whether the session could be read. If not, `diagnostics` has the reason, and most columns are null." = known.is_some();
    status Text "Status of the session: `running` (no end in the log), `completed`, `failed`, `aborted`."
        = known.map(|it| it.trace.status.as_str());
    outcome Text "Outcome of the last turn of the root agent: `failed`, `cancelled`, `unfinished`, `degraded`, `recovered`, `ok`."
        = known.and_then(|it| {
            let root = it.trace.text(it.trace.root_thread_id);
            it.postmortem.turns.iter().rfind(|turn| turn.thread_id == root).map(|turn| turn.outcome.as_str())
        });
    recording_complete Truth "Whether the recorder closed the log." = known.map(|it| it.trace.recording_complete);
    started_at Time "Start of the session." = known.map(|it| it.trace.started_at_unix_ms);
    ended_at Time "End of the session; null if the log has none." = known.and_then(|it| it.trace.ended.map(|ended| ended.unix_ms));
    duration_ms Integer "From the start to the last event." = known.map(|it| it.clock.wall_ms());
    last_seq Integer "Sequence number of the last event." = known.and_then(|it| it.trace.last_event.map(|last| last.seq));
    threads Integer "Number of agents." = known.map(|it| it.trace.threads.len());
    turns Integer "Number of turns." = known.map(|it| it.trace.turns.len());
    attention_turns Integer "Turns that failed, were stopped, have no end, or completed despite a failure."
        = known.map(|it| count(it.postmortem.turns.iter(), |turn| turn.outcome.needs_attention()));
    inference_calls Integer "Number of inference calls." = known.map(|it| it.trace.inferences.len());
    failed_inference_calls Integer "Inference calls that failed."
        = known.map(|it| count(it.trace.inferences.values(), |call| Outcome::of_window(&call.execution) == Outcome::Failed));
    tool_calls Integer "Number of tool calls." = known.map(|it| it.trace.tools.len());
    failed_tool_calls Integer "Tool calls that failed."
        = known.map(|it| count(it.trace.tools.values(), |call| Outcome::of_tool(it.trace, call) == Outcome::Failed));
    repeated_tool_calls Integer "Tool calls with the same tool and subject as an earlier one of their agent."
        = known.map(|it| count(it.trace.tools.handles(), |call| it.repeats(*call) > 0));
    compactions Integer "Number of compactions." = known.map(|it| it.trace.compactions.len());
    edges Integer "Spawns, tasks, messages, results and closes between agents, also those that never arrived."
        = known.map(|it| it.trace.edges.len() + it.trace.undelivered.len());
    failures Integer "Number of its rows in `failures`." = known.map(|it| it.failures.len());
    findings Integer "Number of its rows in `findings`." = known.map(|it| it.audit.findings.len());
    errors Integer "Diagnostics that are errors; 1 if the session cannot be read."
        = known.map_or(1, |it| it.session.diagnostics().count_at_least(Severity::Error));
    input_tokens Integer "Tokens that models read." = known.map(|it| it.usage().input_tokens);
    cached_input_tokens Integer "Input tokens that were read from a cache." = known.map(|it| it.usage().cached_input_tokens);
    cache_write_input_tokens Integer "Input tokens that were written to a cache." = known.map(|it| it.usage().cache_write_input_tokens);
    output_tokens Integer "Tokens that models wrote, including reasoning." = known.map(|it| it.usage().output_tokens);
    reasoning_output_tokens Integer "Output tokens that were used for reasoning." = known.map(|it| it.usage().reasoning_output_tokens);
    cwd Text "Working directory of the root agent, if the session tells it." = known.and_then(|it| it.cwd.as_deref());
    first_prompt Text "Beginning of the first prompt, in one line, at most 200 characters."
        = known.and_then(|it| first_prompt(it.trace)).map(|prompt| beginning(prompt, MAX_PROMPT_CHARS));
    sketch Integers "MinHash sketch of failures, tools and the first prompt. The share of values that two sessions have in common tells how similar they are."
        = known.map(|it| it.sketch());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_beginning_is_one_line_of_whole_letters() {
        assert_eq!(beginning("  a\n b\t c ", 10), "a b c");
        assert_eq!(beginning(&"é ".repeat(300), 3), "é é");
        assert_eq!(beginning(&"é".repeat(300), 3), "ééé");
    }
}
