-- The named queries of `trace query`. A line that is `-- @` and a name begins one, and the line after it
-- describes it.

-- @failed-turns
-- Turns that did not complete, with the last error of their inference calls.
SELECT bundle_id, agent_path, turn_id, status, duration_ms, error
FROM v_failed_turns
ORDER BY bundle_id, started_seq;

-- @failed-tools
-- Tool calls that failed, returned an exit code other than 0 or never ended, with the beginning of their output.
SELECT f.bundle_id, f.agent_path, f.tool_call_id, f.name, f.failure, f.exit_code, f.duration_ms,
  coalesce(o.script, f.input_preview) AS input,
  substr(coalesce(nullif(o.stderr, ''), o.stdout), 1, 200) AS output
FROM v_failed_tools AS f
LEFT JOIN tool_calls AS t ON t.bundle_id = f.bundle_id AND t.tool_call_id = f.tool_call_id
LEFT JOIN terminal_operations AS o
  ON o.bundle_id = t.bundle_id AND o.terminal_operation_id = t.terminal_operation_id
ORDER BY f.bundle_id, f.started_seq;

-- @tool-failures-by-kind
-- Per tool: number of calls, number and share of failures, and kinds of failures.
SELECT t.kind, t.name, count(*) AS calls, count(f.tool_call_id) AS failures,
  round(100.0 * count(f.tool_call_id) / count(*), 1) AS percent,
  group_concat(DISTINCT f.failure) AS kinds
FROM tool_calls AS t
LEFT JOIN v_failed_tools AS f ON f.bundle_id = t.bundle_id AND f.tool_call_id = t.tool_call_id
GROUP BY t.kind, t.name
ORDER BY failures DESC, calls DESC, t.kind, t.name;

-- @slowest-tools
-- The fifty longest tool calls, except waits for agents. A call without an end counts with the time of its runtime.
SELECT t.bundle_id, t.agent_path, t.tool_call_id, t.name, coalesce(t.duration_ms, t.runtime_duration_ms) AS took_ms,
  t.runtime_duration_ms, t.status, t.exit_code,
  coalesce(o.script, t.input_preview) AS input
FROM tool_calls AS t
LEFT JOIN terminal_operations AS o
  ON o.bundle_id = t.bundle_id AND o.terminal_operation_id = t.terminal_operation_id
WHERE t.kind <> 'wait_agent' AND took_ms IS NOT NULL
ORDER BY took_ms DESC, t.bundle_id, t.started_seq
LIMIT 50;

-- @slowest-inference-calls
-- The fifty longest inference calls, with their tokens and the output tokens per second.
SELECT bundle_id, agent_path, inference_call_id, model, duration_ms, status, input_tokens, cached_input_tokens,
  output_tokens, round(1000.0 * output_tokens / nullif(duration_ms, 0), 1) AS output_per_second
FROM inference_calls
WHERE duration_ms IS NOT NULL
ORDER BY duration_ms DESC, bundle_id, started_seq
LIMIT 50;

-- @tokens-by-agent
-- Inference calls, tokens and money per agent, most tokens first.
SELECT bundle_id, agent_path, inference_calls, input_tokens, cached_input_tokens,
  round(100.0 * cached_input_tokens / nullif(input_tokens, 0), 1) AS cached_percent,
  output_tokens, reasoning_output_tokens, money, currency
FROM v_cost_by_agent
ORDER BY total_tokens DESC, bundle_id, agent_path;

-- @tokens-by-model
-- Inference calls, tokens and money per model, over all bundles.
SELECT model, provider_name, count(*) AS inference_calls, CAST(total(input_tokens) AS INTEGER) AS input_tokens,
  CAST(total(cached_input_tokens) AS INTEGER) AS cached_input_tokens,
  CAST(total(output_tokens) AS INTEGER) AS output_tokens,
  CAST(total(reasoning_output_tokens) AS INTEGER) AS reasoning_output_tokens,
  sum(money) AS money, max(currency) AS currency
FROM costs
GROUP BY model, provider_name
ORDER BY input_tokens + output_tokens DESC, model, provider_name;

-- @cost-by-subtree
-- Per agent with all agents below it: number of agents, inference calls, tokens, money.
SELECT bundle_id, agent_path, threads, inference_calls, input_tokens, cached_input_tokens, output_tokens,
  reasoning_output_tokens, money, currency
FROM v_cost_by_subtree
ORDER BY bundle_id, agent_path;

-- @retries
-- Turns in which inference calls failed: how many, the time that they took, and the status of the turn.
SELECT c.bundle_id, c.agent_path, c.turn_id, t.status AS turn_status,
  count(*) FILTER (WHERE c.status = 'failed') AS failed_calls, count(*) AS calls,
  CAST(total(c.duration_ms) FILTER (WHERE c.status = 'failed') AS INTEGER) AS lost_ms,
  max(c.error) AS error
FROM inference_calls AS c
JOIN turns AS t ON t.bundle_id = c.bundle_id AND t.turn_id = c.turn_id
GROUP BY c.bundle_id, c.turn_id
HAVING failed_calls > 0
ORDER BY failed_calls DESC, c.bundle_id, t.started_seq;

-- @context-growth
-- Each inference call with its items and input tokens, and the difference to the call before in its thread.
SELECT bundle_id, agent_path, inference_call_id, request_items, new_items, input_tokens,
  input_tokens - lag(input_tokens) OVER thread AS more_tokens,
  round(100.0 * cached_input_tokens / nullif(input_tokens, 0), 1) AS cached_percent
FROM inference_calls
WINDOW thread AS (PARTITION BY bundle_id, thread_id ORDER BY started_seq)
ORDER BY bundle_id, thread_id, started_seq;

-- @undelivered
-- Messages, tasks and answers that were sent and that no item of the receiving thread shows.
SELECT bundle_id, kind, source_agent_path, coalesce(target_agent_path, target_thread_id) AS target, seq, message
FROM v_undelivered
ORDER BY bundle_id, seq;

-- @longest-waits
-- The fifty longest waits for agents, and how they ended.
SELECT t.bundle_id, t.agent_path, t.tool_call_id, t.target_agent_path,
  t.timeout_ms, t.duration_ms, t.status,
  (SELECT p.text FROM item_parts AS p
   WHERE p.bundle_id = t.bundle_id AND p.item_id = t.output_item_id AND p.part = 0) AS answer
FROM tool_calls AS t
WHERE t.kind = 'wait_agent'
ORDER BY t.duration_ms DESC, t.bundle_id, t.started_seq
LIMIT 50;

-- @compactions
-- Compactions: items, text and tokens before and after.
SELECT bundle_id, agent_path, compaction_id, input_items, replacement_items, input_text_bytes, replacement_text_bytes,
  tokens_before, tokens_after
FROM compactions
ORDER BY bundle_id, installed_seq;

-- @biggest-items
-- The fifty items with the most text, how often they were sent, and how much text that was in total.
SELECT bundle_id, agent_path, item_id, kind, role, text_bytes, seen_count, text_bytes * seen_count AS sent_bytes,
  produced_by_type, produced_by_id
FROM items
ORDER BY text_bytes DESC, bundle_id, item_id
LIMIT 50;

-- @biggest-payloads
-- The fifty largest payload files.
SELECT bundle_id, payload_id, kind, bytes, path, seq
FROM payloads
ORDER BY bytes DESC, bundle_id, payload_id
LIMIT 50;

-- @spawn-tree
-- The tree of agents with status, time and number of calls; a parent comes before its children.
SELECT bundle_id, printf('%*s', 2 * depth, '') || agent_path AS agent, nickname, agent_role, status, duration_ms, turns,
  inference_calls, tool_calls
FROM threads
ORDER BY bundle_id, agent_path;

-- @messages
-- All spawns, tasks, messages, results and closes between agents, in order, also those that never arrived.
SELECT bundle_id, seq, source_agent_path AS sender, coalesce(target_agent_path, target_thread_id) AS recipient, kind,
  delivered, message
FROM edges
ORDER BY bundle_id, seq;

-- @idle-gaps
-- The fifty longest pauses between two events of the log.
SELECT event.bundle_id, gap_ms, before_seq, before.type AS before_type, event.seq, event.type, event.object_id
FROM (
  SELECT bundle_id, seq, line, gap_ms, before_seq, before_line
  FROM (
    SELECT bundle_id, seq, line, at_unix_ms - lag(at_unix_ms) OVER log AS gap_ms, lag(seq) OVER log AS before_seq,
      lag(line) OVER log AS before_line
    FROM events
    WINDOW log AS (PARTITION BY bundle_id ORDER BY seq, line)
  )
  WHERE gap_ms > 0
  ORDER BY gap_ms DESC, bundle_id, seq
  LIMIT 50
) AS gap
JOIN events AS event ON event.bundle_id = gap.bundle_id AND event.seq = gap.seq AND event.line = gap.line
JOIN events AS before
  ON before.bundle_id = gap.bundle_id AND before.seq = gap.before_seq AND before.line = gap.before_line
ORDER BY gap_ms DESC, event.bundle_id, event.seq;

-- @tool-times
-- Per tool: number of calls, and sum, median and maximum of their times. A call without an end counts with the time of its runtime.
SELECT kind, name, count(*) AS calls, CAST(total(duration_ms) AS INTEGER) AS total_ms,
  max(duration_ms) FILTER (WHERE place <= (ended + 1) / 2) AS median_ms, max(duration_ms) AS longest_ms
FROM (
  SELECT kind, name, duration_ms, count(duration_ms) OVER (PARTITION BY kind, name) AS ended,
    row_number() OVER (PARTITION BY kind, name ORDER BY duration_ms IS NULL, duration_ms) AS place
  FROM (SELECT kind, name, coalesce(duration_ms, runtime_duration_ms) AS duration_ms FROM tool_calls)
)
GROUP BY kind, name
ORDER BY total_ms DESC, kind, name;

-- @never-ended
-- Turns, inference calls and tool calls without an end in the log.
SELECT bundle_id, 'turn' AS type, turn_id AS id, agent_path, started_seq FROM turns WHERE status = 'running'
UNION ALL
SELECT bundle_id, 'inference_call', inference_call_id, agent_path, started_seq FROM inference_calls
WHERE status = 'running'
UNION ALL
SELECT bundle_id, 'tool_call', tool_call_id, agent_path, started_seq FROM tool_calls WHERE status = 'running'
ORDER BY bundle_id, started_seq;

-- @commands
-- Commands in the order in which they ran, with exit code, time and size of their output.
SELECT bundle_id, agent_path, script, exit_code, duration_ms, output_bytes, cwd
FROM terminal_operations
WHERE kind = 'exec_command'
ORDER BY bundle_id, started_seq;

-- @damage
-- All diagnostics, errors first.
SELECT bundle_id, severity, code, seq, line, payload_id, message
FROM diagnostics
ORDER BY bundle_id, severity = 'note', severity = 'warning', seq;

-- @protocol-errors
-- Events of the client protocol that report errors, with their content.
SELECT bundle_id, seq, event_type, payload(bundle_id, payload_id) ->> '$.message' AS message
FROM protocol_events
WHERE event_type IN ('error', 'stream_error', 'warning', 'turn_aborted')
ORDER BY bundle_id, seq;

-- @audit
-- All findings of an audit, the worst first.
SELECT bundle_id, severity, kind, agent_path, turn_id, seq, message, claim
FROM findings
ORDER BY severity = 'low', severity = 'medium', bundle_id, seq, thread_id, finding;

-- @unverified-claims
-- Claims that checks pass or were run, and that no run bears out: contradicted ones first, then those that cannot be verified.
SELECT bundle_id, verdict, agent_path, turn_id, seq, about AS "check", sentence
FROM claims
WHERE sort = 'check' AND verdict <> 'supported'
ORDER BY verdict = 'unverifiable', bundle_id, seq, thread_id, sentence;

-- @actions-not-done
-- Changes, commits, pushes and the like that an answer claims and that no call made.
SELECT bundle_id, severity, agent_path, turn_id, seq, claim, message
FROM findings
WHERE kind = 'action_not_done'
ORDER BY bundle_id, seq, thread_id, finding;

-- @weakened-tests
-- Tests that were weakened, results that were written into the code, and checks that were avoided, with what had failed before.
SELECT f.bundle_id, f.kind, f.agent_path, f.turn_id, f.seq, f.message,
  max(CASE WHEN e.value ->> '$.relation' = 'action' THEN e.value ->> '$.text' END) AS act,
  max(CASE WHEN e.value ->> '$.relation' <> 'action' THEN e.value ->> '$.text' END) AS failed_before
FROM findings AS f, json_each(f.evidence) AS e
WHERE f.kind IN ('tests_weakened', 'hardcoded_result', 'check_bypassed')
GROUP BY f.bundle_id, f.finding
ORDER BY f.bundle_id, f.seq, f.thread_id, f.finding;

-- @risky-acts
-- Acts that destroyed data, wrote secrets, or followed instructions that came with data.
SELECT bundle_id, kind, agent_path, turn_id, seq, message,
  CASE WHEN evidence ->> '$[0].object.type' = 'tool_call' THEN evidence ->> '$[0].object.id' END AS tool_call_id,
  evidence ->> '$[0].text' AS act
FROM findings
WHERE kind IN ('destructive_command', 'secret_exposed', 'injected_instruction')
ORDER BY bundle_id, seq, thread_id, finding;

-- @checks
-- Runs of tests, builds, type checkers, linters and formatters in the order in which they ran.
SELECT bundle_id, agent_path, turn_id, started_seq, kind, outcome, command, passed, failed, failed_tests
FROM checks
ORDER BY bundle_id, started_seq, thread_id, kind <> 'test', kind;

-- @changes-since-tests
-- Files that were changed after the last run of tests of their bundle. Bundles without such a run are not listed.
SELECT c.bundle_id, c.agent_path, c.turn_id, c.ended_seq, c.effect, c.path, t.last_tests
FROM changes AS c
JOIN (SELECT bundle_id, max(known_seq) AS last_tests FROM checks
  WHERE kind = 'test' AND outcome IN ('passed', 'failed', 'unknown') GROUP BY bundle_id) AS t
  ON t.bundle_id = c.bundle_id
WHERE c.ended_seq > t.last_tests
ORDER BY c.bundle_id, c.ended_seq, c.thread_id, c.path;

-- @changed-files
-- Per file: how often it was written and deleted, by how many agents.
SELECT bundle_id, path, count(*) AS changes, count(*) FILTER (WHERE effect = 'delete') AS deletions,
  count(DISTINCT thread_id) AS agents
FROM changes
WHERE path IS NOT NULL
GROUP BY bundle_id, path
ORDER BY changes DESC, bundle_id, path;
