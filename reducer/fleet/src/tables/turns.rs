//! `turns`.

use trace_reducer::model::{Origin, TurnIdx};

use super::sessions::beginning;
use super::table::table;

/// Most characters of a verdict.
const MAX_VERDICT_CHARS: usize = 300;

table! {
    TURNS = "turns", "One turn of an agent, with the verdict of the postmortem.";
    rows |s| s.known().map(|it| it.trace.turns.handles().collect()).unwrap_or_default();
    each (s, key: TurnIdx) it = s.answers();
    model it.model_of_turn(*key);
    thread_id Text "Its thread." = it.thread_id(it.trace.turns[*key].thread);
    agent_path Text "Place of its agent in the tree of agents." = it.agent_path(it.trace.turns[*key].thread);
    depth Integer "Number of agents above it." = it.family.depth(it.trace.turns[*key].thread);
    parent_thread_id Text "The thread that spawned its thread." = match it.trace.threads[it.trace.turns[*key].thread].origin {
        Origin::Root => None,
        Origin::Spawned { parent_thread_id, .. } => Some(it.trace.text(parent_thread_id)),
    };
    turn_id Text "Id of the turn." = it.turn_id(*key);
    seq Integer "Sequence number of the event that started it." = it.trace.turns[*key].execution.started.seq;
    status Text "Status: `running` (no end in the log), `completed`, `failed`, `cancelled`, `aborted`."
        = it.trace.turns[*key].execution.status.as_str();
    outcome Text "Outcome with failures taken into account: `failed`, `cancelled`, `unfinished`, `degraded`, `recovered`, `ok`."
        = it.verdict(*key).map(|verdict| verdict.outcome.as_str());
    category Text "Category of its root cause; null if nothing failed."
        = it.verdict(*key).and_then(|verdict| Some(verdict.root_cause.as_ref()?.category.as_str()));
    confidence Text "Confidence of the verdict: `low`, `medium`, `high`."
        = it.verdict(*key).and_then(|verdict| Some(verdict.root_cause.as_ref()?.confidence.as_str()));
    verdict Text "The verdict in one sentence, at most 300 characters."
        = it.verdict(*key).map(|verdict| beginning(&verdict.verdict, MAX_VERDICT_CHARS));
    started_at Time "When it started." = it.trace.turns[*key].execution.started.unix_ms;
    ended_at Time "When it ended." = it.trace.turns[*key].execution.ended.map(|ended| ended.unix_ms);
    duration_ms Integer "Duration; null if it has no end." = it.clock.duration(&it.trace.turns[*key].execution);
    time_lost_ms Integer "Milliseconds that were spent on failed operations and on retries."
        = it.verdict(*key).map(|verdict| verdict.time_lost_ms);
    inference_calls Integer "Number of its inference calls." = it.counts(*key).inference_calls;
    tool_calls Integer "Number of its tool calls." = it.counts(*key).tool_calls;
    input_tokens Integer "Tokens that models read." = it.counts(*key).usage.input_tokens;
    cached_input_tokens Integer "Input tokens that were read from a cache." = it.counts(*key).usage.cached_input_tokens;
    cache_write_input_tokens Integer "Input tokens that were written to a cache." = it.counts(*key).usage.cache_write_input_tokens;
    output_tokens Integer "Tokens that models wrote, including reasoning." = it.counts(*key).usage.output_tokens;
    reasoning_output_tokens Integer "Output tokens that were used for reasoning." = it.counts(*key).usage.reasoning_output_tokens;
}
