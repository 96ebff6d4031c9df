//! `threads` and `turns`.

use trace_reducer::model::{Origin, Symbol, Thread, ThreadIdx, TurnIdx};

use crate::table::{ended, ended_seq, table};

/// Returns the edge, the task name and the role of a thread's spawn, or `None` for a root.
fn spawn(thread: &Thread) -> Option<(Symbol, Symbol, Symbol)> {
    match thread.origin {
        Origin::Root => None,
        Origin::Spawned { spawn_edge_id, task_name, agent_role, .. } => Some((spawn_edge_id, task_name, agent_role)),
    }
}

table! {
    THREADS = "threads", "One agent's conversation.";
    index ["thread_id", "parent_thread_id"];
    rows |s, take| s.trace.threads.handles().try_for_each(|thread| take(&thread));
    each (s, key: ThreadIdx) thread = &s.trace.threads[*key];
    thread_id Text "Id of the thread." = s.text(thread.id);
    agent_path Text "Place of the thread in the tree of agents, such as `/root/tests`." = s.text(thread.agent_path);
    depth Integer "Number of threads above it: 0 for the root." = s.depth(*key);
    parent_thread_id Text "The thread that spawned it; null for the root. It need not be in the bundle." = s.parent_id(*key);
    origin Text "`root` or `spawned`." = match thread.origin {
        Origin::Root => "root",
        Origin::Spawned { .. } => "spawned",
    };
    spawn_edge_id Text "The edge of the spawn." = s.text(spawn(thread).map(|(edge, _, _)| edge));
    task_name Text "Name of the task that it was spawned for." = s.text(spawn(thread).map(|(_, task, _)| task));
    agent_role Text "Role of the agent, or an empty text." = s.text(spawn(thread).map(|(_, _, role)| role));
    nickname Text "Name of the agent that is shown to users." = s.text(thread.nickname);
    default_model Text "Model that the thread was configured with." = s.text(thread.default_model);
    status Text "Status of the thread: `running` (no end in the log), `completed`, `failed`, `cancelled`, `aborted`."
        = thread.execution.status.as_str();
    started_at_unix_ms Integer "When it started." = thread.execution.started.unix_ms;
    ended_at_unix_ms Integer "When it ended." = ended(&thread.execution);
    duration_ms Integer "Duration; null if it has no end." = s.duration(&thread.execution);
    started_seq Integer "Sequence number of the event that started it." = thread.execution.started.seq;
    ended_seq Integer "Sequence number of the event that ended it." = ended_seq(&thread.execution);
    resumed Integer "How many times it was resumed after its end." = thread.resumed.len();
    turns Integer "Number of its turns." = s.turns_of(*key);
    inference_calls Integer "Number of its inference calls." = s.inferences_of(*key);
    tool_calls Integer "Number of its tool calls." = s.tools_of(*key);
    items Integer "Number of items of its conversation." = thread.items.len();
    implied Integer "1 if no event declares the thread and other events only refer to it." = thread.implied;
}

table! {
    TURNS = "turns", "One turn of a thread: from a task to its answer.";
    index ["turn_id"];
    rows |s, take| s.trace.turns.handles().try_for_each(|turn| take(&turn));
    each (s, key: TurnIdx) turn = &s.trace.turns[*key];
    turn_id Text "Id of the turn (`codex_turn_id` in `state.json`)." = s.text(turn.id);
    thread_id Text "Its thread." = s.thread_id(turn.thread);
    agent_path Text "Its thread's place in the tree of agents." = s.agent_path(turn.thread);
    depth Integer "Number of threads above its thread." = s.depth(turn.thread);
    parent_thread_id Text "The thread that spawned its thread." = s.parent_id(turn.thread);
    status Text "Status of the turn: `running` (no end in the log), `completed`, `failed`, `cancelled`, `aborted`."
        = turn.execution.status.as_str();
    started_at_unix_ms Integer "When it started." = turn.execution.started.unix_ms;
    ended_at_unix_ms Integer "When it ended." = ended(&turn.execution);
    duration_ms Integer "Duration; null if it has no end." = s.duration(&turn.execution);
    started_seq Integer "Sequence number of the event that started it." = turn.execution.started.seq;
    ended_seq Integer "Sequence number of the event that ended it." = ended_seq(&turn.execution);
    inference_calls Integer "Number of its inference calls." = s.inferences_of_turn(*key);
    tool_calls Integer "Number of its tool calls." = s.tools_of_turn(*key);
    implied Integer "1 if no event declares the turn and other events only refer to it." = turn.implied;
}
