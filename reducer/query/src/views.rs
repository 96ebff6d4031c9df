//! Views: names for frequent queries.

/// Description of a view.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct View {
    /// Name of the view.
    pub name: &'static str,
    /// What a row is.
    pub text: &'static str,
    /// The statement.
    pub sql: &'static str,
}

/// All views.
pub const ALL: [View; 7] = [
    View {
        name: "v_origins",
        text: "Where the objects of imported sessions come from: file and line of the agent's session file.",
        sql: "
SELECT o.bundle_id, o.object_type, o.object_id, e.source_file, e.source_line
FROM (
  SELECT bundle_id, 'thread' AS object_type, thread_id AS object_id, started_seq AS seq FROM threads
  UNION ALL SELECT bundle_id, 'codex_turn', turn_id, started_seq FROM turns
  UNION ALL SELECT bundle_id, 'inference_call', inference_call_id, started_seq FROM inference_calls
  UNION ALL SELECT bundle_id, 'tool_call', tool_call_id, started_seq FROM tool_calls
  UNION ALL SELECT bundle_id, 'code_cell', code_cell_id, started_seq FROM code_cells
  UNION ALL SELECT bundle_id, 'compaction', compaction_id, installed_seq FROM compactions
  UNION ALL SELECT bundle_id, 'interaction_edge', edge_id, seq FROM edges
  UNION ALL SELECT bundle_id, 'raw_payload', payload_id, seq FROM payloads
  UNION ALL SELECT i.bundle_id, 'conversation_item', i.item_id, coalesce(i.accepted_seq, i.first_seen_seq) FROM items AS i
) AS o
JOIN events AS e ON e.bundle_id = o.bundle_id AND e.seq = o.seq
WHERE e.source_file IS NOT NULL",
    },
    View {
        name: "v_failed_turns",
        text: "Turns that did not complete, with the last error of their inference calls.",
        sql: "
SELECT t.bundle_id, t.turn_id, t.thread_id, t.agent_path, t.status, t.started_at_unix_ms, t.duration_ms, t.started_seq,
  e.error
FROM turns AS t
LEFT JOIN (
  SELECT c.bundle_id, c.turn_id, c.error, max(c.started_seq) FROM inference_calls AS c
  WHERE c.error IS NOT NULL
  GROUP BY c.bundle_id, c.turn_id
) AS e ON e.bundle_id = t.bundle_id AND e.turn_id = t.turn_id
WHERE t.status <> 'completed'",
    },
    View {
        name: "v_failed_tools",
        text: "Tool calls that did not complete, whose runtime reports that they did not, or whose command returned an \
               exit code other than 0. `failure` says which.",
        sql: "
SELECT t.bundle_id, t.tool_call_id, t.thread_id, t.agent_path, t.turn_id, t.kind, t.name, t.status, t.runtime_status,
  t.exit_code,
  CASE WHEN t.exit_code <> 0 THEN 'exit code'
       WHEN t.status = 'running' THEN 'no end'
       WHEN t.status <> 'completed' THEN t.status
       ELSE 'runtime ' || t.runtime_status END AS failure,
  t.started_at_unix_ms, t.duration_ms, t.started_seq, t.input_preview
FROM tool_calls AS t
WHERE t.status <> 'completed' OR t.exit_code <> 0 OR t.runtime_status NOT IN ('completed', 'running')",
    },
    View {
        name: "v_undelivered",
        text: "Messages, tasks and results that no item of the receiving thread shows.",
        sql: "
SELECT e.bundle_id, e.edge_id, e.kind, e.source_agent_path, e.target_thread_id, e.target_agent_path, e.started_at_unix_ms,
  e.seq, e.message
FROM edges AS e
WHERE e.delivered = 0",
    },
    View {
        name: "v_cost_by_agent",
        text: "Sums of `costs` per thread, including threads without an inference call.",
        sql: "
SELECT t.bundle_id, t.thread_id, t.agent_path, t.depth, count(c.inference_call_id) AS inference_calls,
  CAST(total(c.input_tokens) AS INTEGER) AS input_tokens, CAST(total(c.cached_input_tokens) AS INTEGER) AS cached_input_tokens,
  CAST(total(c.output_tokens) AS INTEGER) AS output_tokens, CAST(total(c.reasoning_output_tokens) AS INTEGER) AS reasoning_output_tokens,
  CAST(total(c.total_tokens) AS INTEGER) AS total_tokens, sum(c.money) AS money, max(c.currency) AS currency
FROM threads AS t
LEFT JOIN costs AS c ON c.bundle_id = t.bundle_id AND c.thread_id = t.thread_id
GROUP BY t.bundle_id, t.thread_id",
    },
    View {
        name: "v_subtrees",
        text: "Pairs of a thread and a thread of its subtree, including itself.",
        sql: "
WITH RECURSIVE subtree (bundle_id, thread_id, member_thread_id) AS (
  SELECT t.bundle_id, t.thread_id, t.thread_id FROM threads AS t
  UNION
  SELECT s.bundle_id, s.thread_id, t.thread_id
  FROM subtree AS s
  JOIN threads AS t ON t.bundle_id = s.bundle_id AND t.parent_thread_id = s.member_thread_id
)
SELECT bundle_id, thread_id, member_thread_id FROM subtree",
    },
    View {
        name: "v_cost_by_subtree",
        text: "Sums of `costs` per thread and all threads below it. Another name of `subtree_costs`.",
        sql: "
SELECT bundle_id, thread_id, agent_path, depth, threads, inference_calls, input_tokens, cached_input_tokens, output_tokens,
  reasoning_output_tokens, total_tokens, money, currency
FROM subtree_costs",
    },
];
