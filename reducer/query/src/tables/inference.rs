//! `inference_calls`, `costs` and `subtree_costs`.

use trace_explain::costs::AgentCosts;
use trace_reducer::model::{InferenceIdx, Usage};

use crate::source::Source;
use crate::table::{TakeKey, ended, ended_seq, table};

fn calls(source: &Source<'_>, take: &mut TakeKey<'_, InferenceIdx>) -> rusqlite::Result<()> {
    source.trace.inferences.handles().try_for_each(|call| take(&call))
}

table! {
    INFERENCE_CALLS = "inference_calls", "One request to a model provider, and its response.";
    index ["inference_call_id"];
    rows calls;
    each (s, key: InferenceIdx) call = &s.trace.inferences[*key];
    inference_call_id Text "Id of the call." = s.text(call.id);
    thread_id Text "Its thread." = s.thread_id(call.thread);
    agent_path Text "Its thread's place in the tree of agents." = s.agent_path(call.thread);
    turn_id Text "Its turn." = s.turn_id(call.turn);
    status Text "Status of the call: `running` (no end in the log), `completed`, `failed`, `cancelled`, `aborted`."
        = call.execution.status.as_str();
    started_at_unix_ms Integer "When the request was sent." = call.execution.started.unix_ms;
    ended_at_unix_ms Integer "When the response was complete or had failed." = ended(&call.execution);
    duration_ms Integer "Duration; null if it has no end." = s.duration(&call.execution);
    started_seq Integer "Sequence number of the event that started it." = call.execution.started.seq;
    ended_seq Integer "Sequence number of the event that ended it." = ended_seq(&call.execution);
    model Text "Model that was requested." = s.text(call.model);
    provider_name Text "Provider that was called." = s.text(call.provider_name);
    response_id Text "Id that the provider gave the response." = s.text(call.response_id);
    upstream_request_id Text "Id that the provider gave the request." = s.text(call.upstream_request_id);
    error Text "Error of a failed call, or reason of a cancelled one." = call.error.as_deref();
    input_tokens Integer "Tokens that the model read; null if no usage was reported."
        = call.usage.map(|usage| usage.input_tokens);
    cached_input_tokens Integer "Input tokens that were read from a cache." = call.usage.map(|usage| usage.cached_input_tokens);
    output_tokens Integer "Tokens that the model wrote." = call.usage.map(|usage| usage.output_tokens);
    reasoning_output_tokens Integer "Output tokens that were used for reasoning." = call.usage.map(|usage| usage.reasoning_output_tokens);
    request_items Integer "Number of items in the request; `request_items(bundle_id, inference_call_id)` lists them."
        = call.request_items.len();
    new_items Integer "How many of these items no request contained before." = s.new_items(*key);
    response_items Integer "Number of items in the response." = call.response_items.len();
    tool_calls Integer "Number of tool calls in the response." = call.tools_started.len();
    request_payload_id Text "The request, `payload(bundle_id, request_payload_id)`." = s.text(call.request_payload_id);
    response_payload_id Text "The response, or the part of it that arrived." = s.text(call.response_payload_id);
}

fn uncached(usage: Usage) -> u64 {
    usage.input_tokens.saturating_sub(usage.cached_input_tokens)
}

table! {
    COSTS = "costs", "Tokens and money of one inference call: one row per call, null if no usage was reported. \
             `v_cost_by_agent` and `subtree_costs` have the sums.";
    index ["inference_call_id", "thread_id"];
    rows calls;
    each (s, key: InferenceIdx) call = &s.trace.inferences[*key];
    inference_call_id Text "The inference call." = s.text(call.id);
    thread_id Text "Its thread." = s.thread_id(call.thread);
    agent_path Text "Its thread's place in the tree of agents." = s.agent_path(call.thread);
    turn_id Text "Its turn." = s.turn_id(call.turn);
    model Text "Model that was requested." = s.text(call.model);
    provider_name Text "Provider that was called." = s.text(call.provider_name);
    input_tokens Integer "Tokens that the model read." = call.usage.map(|usage| usage.input_tokens);
    cached_input_tokens Integer "Input tokens that were read from a cache." = call.usage.map(|usage| usage.cached_input_tokens);
    uncached_input_tokens Integer "Input tokens that were not read from a cache." = call.usage.map(uncached);
    cache_write_input_tokens Integer "Input tokens that were written to a cache." = call.usage.map(|usage| usage.cache_write_input_tokens);
    output_tokens Integer "Tokens that the model wrote, including reasoning." = call.usage.map(|usage| usage.output_tokens);
    reasoning_output_tokens Integer "Output tokens that were used for reasoning." = call.usage.map(|usage| usage.reasoning_output_tokens);
    total_tokens Integer "Sum of input and output tokens."
        = call.usage.map(|usage| usage.input_tokens.saturating_add(usage.output_tokens));
    money Real "Cost of the call; null without a price table, or if the table has no price for the model."
        = s.money(*key);
    currency Text "Currency of `money`." = s.money(*key).and_then(|_| s.currency());
}

/// Returns the known cost of an agent and all agents below it, or `None` if no cost is known.
fn known_money(agent: &AgentCosts) -> Option<f64> {
    let cost = agent.subtree.cost?;
    let calls = agent.subtree.inference_calls.count + agent.subtree.compaction_requests.count;
    (calls > cost.unpriced_calls + cost.calls_without_usage).then(|| cost.known.to_f64())
}

table! {
    SUBTREE_COSTS = "subtree_costs", "Sums of `costs` over one thread and all threads below it.";
    index ["thread_id"];
    rows |s, take| s.agent_costs().iter().try_for_each(take);
    each (s, key: AgentCosts) agent = key;
    thread_id Text "The thread." = agent.thread_id.as_str();
    agent_path Text "Its place in the tree of agents." = agent.agent_path.as_str();
    depth Integer "Number of threads above it." = agent.depth;
    threads Integer "Number of threads in the subtree, including itself." = agent.descendants + 1;
    inference_calls Integer "Number of their inference calls." = agent.subtree.inference_calls.count;
    input_tokens Integer "Tokens that models read." = agent.subtree.tokens.input;
    cached_input_tokens Integer "Input tokens that were read from a cache." = agent.subtree.tokens.cached_input;
    output_tokens Integer "Tokens that models wrote, including reasoning." = agent.subtree.tokens.output;
    reasoning_output_tokens Integer "Output tokens that were used for reasoning." = agent.subtree.tokens.reasoning_output;
    total_tokens Integer "Sum of input and output tokens."
        = agent.subtree.tokens.input.saturating_add(agent.subtree.tokens.output);
    money Real "Known cost of the calls; null without a price table, or if no cost is known." = known_money(agent);
    currency Text "Currency of `money`." = known_money(agent).and_then(|_| s.currency());
}
