//! `inference_calls` and `tool_calls`.

use trace_explain::label::{tool_name, tool_subject};
use trace_explain::outcome::{Outcome, exit_code};
use trace_reducer::model::{InferenceIdx, Requester, ToolIdx};

use super::sessions::beginning;
use super::table::table;

/// Most characters of an error.
const MAX_ERROR_CHARS: usize = 300;

/// Most characters of what a tool was called for.
const MAX_SUBJECT_CHARS: usize = 200;

table! {
    INFERENCE_CALLS = "inference_calls", "One request to a model provider, and its response.";
    rows |s| s.known().map(|it| it.trace.inferences.handles().collect()).unwrap_or_default();
    each (s, key: InferenceIdx) it = s.answers();
    model Some(it.trace.text(it.trace.inferences[*key].model));
    thread_id Text "Its thread." = it.thread_id(it.trace.inferences[*key].thread);
    agent_path Text "Place of its agent in the tree of agents." = it.agent_path(it.trace.inferences[*key].thread);
    turn_id Text "Its turn." = it.turn_id(it.trace.inferences[*key].turn);
    inference_call_id Text "Id of the call." = it.trace.text(it.trace.inferences[*key].id);
    seq Integer "Sequence number of the event that started it." = it.trace.inferences[*key].execution.started.seq;
    provider Text "Provider that was called." = it.trace.text(it.trace.inferences[*key].provider_name);
    status Text "Status: `running` (no end in the log), `completed`, `failed`, `cancelled`, `aborted`."
        = it.trace.inferences[*key].execution.status.as_str();
    outcome Text "`completed`, `failed`, `cancelled` or `unfinished`."
        = Outcome::of_window(&it.trace.inferences[*key].execution).as_str();
    error Text "Error of a failed call, or reason of a cancelled one, at most 300 characters."
        = it.trace.inferences[*key].error.as_deref().map(|error| beginning(error, MAX_ERROR_CHARS));
    started_at Time "When the request was sent." = it.trace.inferences[*key].execution.started.unix_ms;
    ended_at Time "When the response was complete or had failed." = it.trace.inferences[*key].execution.ended.map(|ended| ended.unix_ms);
    duration_ms Integer "Duration; null if it has no end." = it.clock.duration(&it.trace.inferences[*key].execution);
    input_tokens Integer "Tokens that the model read; null if no usage was reported."
        = it.trace.inferences[*key].usage.map(|usage| usage.input_tokens);
    cached_input_tokens Integer "Input tokens that were read from a cache."
        = it.trace.inferences[*key].usage.map(|usage| usage.cached_input_tokens);
    cache_write_input_tokens Integer "Input tokens that were written to a cache."
        = it.trace.inferences[*key].usage.map(|usage| usage.cache_write_input_tokens);
    output_tokens Integer "Tokens that the model wrote, including reasoning."
        = it.trace.inferences[*key].usage.map(|usage| usage.output_tokens);
    reasoning_output_tokens Integer "Output tokens that were used for reasoning."
        = it.trace.inferences[*key].usage.map(|usage| usage.reasoning_output_tokens);
    request_items Integer "Number of items in the request." = it.trace.inferences[*key].request_items.len();
    response_items Integer "Number of items in the response." = it.trace.inferences[*key].response_items.len();
    tool_calls Integer "Number of tool calls in the response." = it.trace.inferences[*key].tools_started.len();
    response_id Text "Id that the provider gave the response."
        = it.trace.inferences[*key].response_id.map(|id| it.trace.text(id));
}

table! {
    TOOL_CALLS = "tool_calls", "One call of a tool, by a model or by code.";
    rows |s| s.known().map(|it| it.trace.tools.handles().collect()).unwrap_or_default();
    each (s, key: ToolIdx) it = s.answers();
    model it.model_of_tool(*key);
    thread_id Text "Its thread." = it.thread_id(it.trace.tools[*key].thread);
    agent_path Text "Place of its agent in the tree of agents." = it.agent_path(it.trace.tools[*key].thread);
    turn_id Text "The turn that started it." = it.trace.tools[*key].turn.map(|turn| it.turn_id(turn));
    tool_call_id Text "Id of the call." = it.trace.text(it.trace.tools[*key].id);
    seq Integer "Sequence number of the event that started it." = it.trace.tools[*key].execution.started.seq;
    kind Text "Kind of the tool, such as `exec_command`, `apply_patch`, `mcp`, `spawn_agent`, `wait_agent`, `other`."
        = it.trace.tools[*key].kind.as_str();
    tool Text "Name of the tool: `server.tool` for MCP, else the name that the model used, else the kind."
        = tool_name(it.trace, &it.trace.tools[*key]);
    status Text "Status: `running` (no end in the log), `completed`, `failed`, `cancelled`, `aborted`."
        = it.trace.tools[*key].execution.status.as_str();
    outcome Text "`completed`, `failed` (also by an exit code other than 0), `cancelled` or `unfinished`."
        = Outcome::of_tool(it.trace, &it.trace.tools[*key]).as_str();
    exit_code Integer "Exit code of its command." = exit_code(it.trace, &it.trace.tools[*key]);
    started_at Time "When it started." = it.trace.tools[*key].execution.started.unix_ms;
    ended_at Time "When it returned its result." = it.trace.tools[*key].execution.ended.map(|ended| ended.unix_ms);
    duration_ms Integer "Duration; that of its runtime if the call has no end, null if neither has one." = {
        let call = &it.trace.tools[*key];
        it.clock.duration(&call.execution).or_else(|| it.clock.duration(call.runtime.as_ref()?))
    };
    requester Text "What made the call: `model` or `code_cell`." = match it.trace.tools[*key].requester {
        Requester::Model => "model",
        Requester::CodeCell(_) => "code_cell",
    };
    subject Text "What it was called for: the command, the message or the input, at most 200 characters in one line."
        = tool_subject(it.trace, &it.trace.tools[*key]).map(|subject| beginning(&subject, MAX_SUBJECT_CHARS));
    output_bytes Integer "Size of what its command printed, in bytes." = {
        let operation = it.trace.tools[*key].operation;
        operation.and_then(|operation| it.trace.operations[operation].result.as_ref()).map(|result| result.stdout.len() + result.stderr.len())
    };
    repeats Integer "How many earlier calls of its agent had the same tool and the same subject." = it.repeats(*key);
}
