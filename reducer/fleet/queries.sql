-- The named questions of `trace fleet query`. A line that is `-- @` and a name begins one, the lines after it up to the first
-- that is no comment describe it. `$name` is a parameter (`--param name=value`). All of them run on DuckDB, too.

-- @outcomes
-- Sessions by agent and outcome of the last turn of the root agent.
SELECT agent, outcome, count(*) AS sessions, count(DISTINCT team) AS teams,
  CAST(sum(input_tokens) AS BIGINT) AS input_tokens, CAST(sum(output_tokens) AS BIGINT) AS output_tokens
FROM sessions
WHERE readable
GROUP BY agent, outcome
ORDER BY sessions DESC, agent NULLS LAST, outcome NULLS LAST;

-- @days
-- What happened per day: sessions, turns, turns that need attention, failures, tokens. The newest day is first.
SELECT day, count(*) AS sessions, CAST(sum(turns) AS BIGINT) AS turns, CAST(sum(attention_turns) AS BIGINT) AS attention_turns,
  CAST(sum(failures) AS BIGINT) AS failures, CAST(sum(input_tokens) AS BIGINT) AS input_tokens,
  CAST(sum(output_tokens) AS BIGINT) AS output_tokens
FROM sessions
WHERE readable
GROUP BY day
ORDER BY day DESC NULLS LAST;

-- @failures
-- Failures by category: how many, in how many sessions, and their share of all failures.
SELECT category, count(*) AS failures, count(DISTINCT address) AS sessions,
  round(100.0 * count(*) / sum(count(*)) OVER (), 1) AS percent, min(address) AS one_session
FROM failures
GROUP BY category
ORDER BY failures DESC, category;

-- @failures-by-day
-- Failures by day and category.
SELECT day, category, count(*) AS failures, count(DISTINCT address) AS sessions
FROM failures
GROUP BY day, category
ORDER BY day DESC NULLS LAST, failures DESC, category;

-- @failures-by-model
-- Turns by model, and how many of 100 failed, were stopped or completed despite a failure.
SELECT model, count(*) AS turns,
  round(100.0 * count(*) FILTER (WHERE outcome = 'failed') / count(*), 2) AS failed_percent,
  round(100.0 * count(*) FILTER (WHERE outcome = 'cancelled') / count(*), 2) AS cancelled_percent,
  round(100.0 * count(*) FILTER (WHERE outcome = 'degraded') / count(*), 2) AS degraded_percent,
  round(100.0 * count(*) FILTER (WHERE outcome = 'unfinished') / count(*), 2) AS unfinished_percent
FROM turns
GROUP BY model
ORDER BY turns DESC, model NULLS LAST;

-- @failures-by-agent-version
-- Turns by agent and version, and how many of 100 failed, were stopped or completed despite a failure.
SELECT agent, agent_version, count(*) AS turns, count(DISTINCT address) AS sessions,
  round(100.0 * count(*) FILTER (WHERE outcome = 'failed') / count(*), 2) AS failed_percent,
  round(100.0 * count(*) FILTER (WHERE outcome = 'cancelled') / count(*), 2) AS cancelled_percent,
  round(100.0 * count(*) FILTER (WHERE outcome = 'degraded') / count(*), 2) AS degraded_percent
FROM turns
GROUP BY agent, agent_version
ORDER BY turns DESC, agent NULLS LAST, agent_version NULLS LAST;

-- @failures-by-repository
-- Failures by repository, with the most frequent category.
SELECT repository, CAST(sum(failures) AS BIGINT) AS failures, CAST(sum(sessions) AS BIGINT) AS sessions, max(category) FILTER (WHERE place = 1) AS category
FROM (
  SELECT repository, category, count(*) AS failures, count(DISTINCT address) AS sessions,
    row_number() OVER (PARTITION BY repository ORDER BY count(*) DESC, category) AS place
  FROM failures
  GROUP BY repository, category
) AS counted
GROUP BY repository
ORDER BY failures DESC, repository NULLS LAST;

-- @failures-by-team
-- Sessions by team, and how many of 100 have a failure.
SELECT team, count(*) AS sessions, count(*) FILTER (WHERE failures > 0) AS with_failure,
  round(100.0 * count(*) FILTER (WHERE failures > 0) / count(*), 1) AS percent, CAST(sum(failures) AS BIGINT) AS failures
FROM sessions
WHERE readable
GROUP BY team
ORDER BY sessions DESC, team NULLS LAST;

-- @signatures
-- The hundred most frequent failures: texts that differ only in numbers, ids, paths and quoted names count as one.
SELECT signature, category, tool, count(*) AS failures, count(DISTINCT address) AS sessions, min(day) AS first_day, max(day) AS last_day,
  min(substr(message, 1, 120)) AS message, min(address) AS one_session
FROM failures
GROUP BY signature, category, tool
ORDER BY failures DESC, signature
LIMIT 100;

-- @failing-tools
-- Tools by number of failed calls.
SELECT tool, count(*) AS calls, count(*) FILTER (WHERE outcome = 'failed') AS failed,
  round(100.0 * count(*) FILTER (WHERE outcome = 'failed') / count(*), 1) AS percent,
  count(DISTINCT address) FILTER (WHERE outcome = 'failed') AS sessions
FROM tool_calls
GROUP BY tool
ORDER BY failed DESC, calls DESC, tool;

-- @tool-times
-- Tools by the time that they took: percentiles and sum in milliseconds. Waits for agents are in `@waits`.
SELECT tool, count(duration_ms) AS calls,
  round(percentile_cont(0.5) WITHIN GROUP (ORDER BY CAST(duration_ms AS DOUBLE)), 1) AS p50_ms,
  round(percentile_cont(0.9) WITHIN GROUP (ORDER BY CAST(duration_ms AS DOUBLE)), 1) AS p90_ms,
  round(percentile_cont(0.99) WITHIN GROUP (ORDER BY CAST(duration_ms AS DOUBLE)), 1) AS p99_ms,
  max(duration_ms) AS longest_ms, CAST(sum(duration_ms) AS BIGINT) AS total_ms
FROM tool_calls
WHERE kind <> 'wait_agent' AND duration_ms IS NOT NULL
GROUP BY tool
ORDER BY total_ms DESC, tool;

-- @slowest-tool-calls
-- The fifty longest tool calls, except waits for agents.
SELECT duration_ms, tool, outcome, exit_code, substr(subject, 1, 80) AS subject, address, seq, tool_call_id
FROM tool_calls
WHERE kind <> 'wait_agent' AND duration_ms IS NOT NULL
ORDER BY duration_ms DESC, address, seq, tool_call_id
LIMIT 50;

-- @model-times
-- Models by the time of their inference calls, and the output tokens per second.
SELECT model, provider, count(duration_ms) AS calls,
  round(percentile_cont(0.5) WITHIN GROUP (ORDER BY CAST(duration_ms AS DOUBLE)), 1) AS p50_ms,
  round(percentile_cont(0.9) WITHIN GROUP (ORDER BY CAST(duration_ms AS DOUBLE)), 1) AS p90_ms,
  round(percentile_cont(0.99) WITHIN GROUP (ORDER BY CAST(duration_ms AS DOUBLE)), 1) AS p99_ms,
  round(1000.0 * sum(output_tokens) / nullif(sum(duration_ms), 0), 1) AS output_per_second
FROM inference_calls
WHERE outcome = 'completed' AND duration_ms IS NOT NULL
GROUP BY model, provider
ORDER BY calls DESC, model NULLS LAST, provider NULLS LAST;

-- @cost-by-day
-- Inference calls, tokens and money per day. Money needs a price table (`--prices`).
SELECT day, count(*) AS inference_calls, CAST(sum(input_tokens) AS BIGINT) AS input_tokens,
  CAST(sum(cached_input_tokens) AS BIGINT) AS cached_input_tokens, CAST(sum(output_tokens) AS BIGINT) AS output_tokens,
  round(sum(money), 6) AS money
FROM costs
GROUP BY day
ORDER BY day DESC NULLS LAST;

-- @cost-by-model
-- Inference calls, tokens and money per model.
SELECT model, provider, count(*) AS inference_calls, count(DISTINCT address) AS sessions, CAST(sum(input_tokens) AS BIGINT) AS input_tokens,
  CAST(sum(cached_input_tokens) AS BIGINT) AS cached_input_tokens, CAST(sum(output_tokens) AS BIGINT) AS output_tokens,
  round(100.0 * sum(cached_input_tokens) / nullif(sum(input_tokens), 0), 1) AS cached_percent, round(sum(money), 6) AS money
FROM costs
GROUP BY model, provider
ORDER BY input_tokens DESC NULLS LAST, model NULLS LAST, provider NULLS LAST;

-- @cost-by-team
-- Sessions, tokens and money per team, and the mean per session.
SELECT team, count(DISTINCT address) AS sessions, CAST(sum(input_tokens) AS BIGINT) AS input_tokens, CAST(sum(output_tokens) AS BIGINT) AS output_tokens,
  round(sum(money), 6) AS money, round(sum(money) / count(DISTINCT address), 6) AS money_per_session,
  round(1.0 * sum(input_tokens) / count(DISTINCT address), 1) AS input_tokens_per_session
FROM costs
GROUP BY team
ORDER BY input_tokens DESC NULLS LAST, team NULLS LAST;

-- @cost-by-repository
-- Sessions, tokens and money per repository.
SELECT repository, count(DISTINCT address) AS sessions, CAST(sum(input_tokens) AS BIGINT) AS input_tokens,
  CAST(sum(output_tokens) AS BIGINT) AS output_tokens, round(sum(money), 6) AS money
FROM costs
GROUP BY repository
ORDER BY input_tokens DESC NULLS LAST, repository NULLS LAST;

-- @cost-of-failures
-- Tokens and money of turns by their outcome: what was paid for work that came to nothing.
SELECT t.outcome, count(DISTINCT t.address) AS sessions, count(*) AS inference_calls, CAST(sum(c.input_tokens) AS BIGINT) AS input_tokens,
  CAST(sum(c.output_tokens) AS BIGINT) AS output_tokens, round(sum(c.money), 6) AS money
FROM turns AS t
JOIN costs AS c ON c.address = t.address AND c.turn_id = t.turn_id
GROUP BY t.outcome
ORDER BY inference_calls DESC, t.outcome NULLS LAST;

-- @expensive-sessions
-- The fifty sessions with the most tokens.
SELECT input_tokens + output_tokens AS tokens, input_tokens, cached_input_tokens, output_tokens, inference_calls, tool_calls, outcome,
  team, repository, model, substr(first_prompt, 1, 60) AS prompt, address
FROM sessions
WHERE input_tokens IS NOT NULL
ORDER BY tokens DESC, address
LIMIT 50;

-- @retries
-- The fifty turns with the most failed inference calls, and the time that these took.
SELECT count(*) FILTER (WHERE outcome = 'failed') AS failed_calls, count(*) AS calls,
  CAST(sum(duration_ms) FILTER (WHERE outcome = 'failed') AS BIGINT) AS lost_ms, max(error) AS error, model, address, turn_id
FROM inference_calls
WHERE address IN (SELECT address FROM inference_calls WHERE outcome = 'failed')
GROUP BY address, turn_id, model
HAVING count(*) FILTER (WHERE outcome = 'failed') > 0
ORDER BY failed_calls DESC, calls DESC, address, turn_id, model NULLS LAST
LIMIT 50;

-- @waits
-- Agents that wait for agents: how often and how long, by outcome, and the session with the longest wait.
SELECT outcome, count(*) AS waits, CAST(sum(duration_ms) AS BIGINT) AS total_ms, max(duration_ms) AS longest_ms, count(DISTINCT address) AS sessions
FROM tool_calls
WHERE kind = 'wait_agent'
GROUP BY outcome
ORDER BY waits DESC, outcome;

-- @undelivered
-- Messages, tasks and results between agents that never arrived, by kind.
SELECT kind, count(*) AS edges, count(*) FILTER (WHERE NOT delivered) AS undelivered, count(DISTINCT address) FILTER (WHERE NOT delivered) AS sessions,
  min(address) FILTER (WHERE NOT delivered) AS one_session
FROM edges
GROUP BY kind
ORDER BY undelivered DESC, edges DESC, kind;

-- @repeats
-- The fifty sessions whose agents called the same tool for the same subject most often: who rereads and who loops.
SELECT repeated_tool_calls, tool_calls, round(100.0 * repeated_tool_calls / tool_calls, 1) AS percent, outcome, agent, model, address
FROM sessions
WHERE repeated_tool_calls > 0
ORDER BY repeated_tool_calls DESC, tool_calls, address
LIMIT 50;

-- @loops
-- The fifty calls that were repeated most often within one agent.
SELECT max(repeats) + 1 AS calls, tool, substr(subject, 1, 100) AS subject, count(*) FILTER (WHERE outcome = 'failed') AS failed, address, thread_id
FROM tool_calls
WHERE subject IS NOT NULL
GROUP BY address, thread_id, tool, subject
HAVING max(repeats) > 0
ORDER BY calls DESC, address, thread_id, tool, subject
LIMIT 50;

-- @compactions
-- Models by the sessions that compact their context: how many, and the tokens of those with and without.
SELECT model, count(*) AS sessions, count(*) FILTER (WHERE compactions > 0) AS compacted, CAST(sum(compactions) AS BIGINT) AS compactions,
  round(avg(input_tokens) FILTER (WHERE compactions > 0), 1) AS input_tokens_compacted,
  round(avg(input_tokens) FILTER (WHERE compactions = 0), 1) AS input_tokens_others
FROM sessions
WHERE readable
GROUP BY model
ORDER BY compacted DESC, sessions DESC, model NULLS LAST;

-- @findings
-- Findings of the audit by kind: claims that the recording refutes, and acts that a user should know of.
SELECT kind, severity, count(*) AS findings, count(DISTINCT address) AS sessions, min(address) AS one_session
FROM findings
GROUP BY kind, severity
ORDER BY findings DESC, kind, severity;

-- @findings-by-agent-version
-- Sessions by agent, version and model, and how many of 100 have a finding of the audit.
SELECT agent, agent_version, model, count(*) AS sessions, count(*) FILTER (WHERE findings > 0) AS with_finding,
  round(100.0 * count(*) FILTER (WHERE findings > 0) / count(*), 1) AS percent
FROM sessions
WHERE readable
GROUP BY agent, agent_version, model
ORDER BY with_finding DESC, sessions DESC, agent NULLS LAST, agent_version NULLS LAST, model NULLS LAST;

-- @damage
-- Defects of sessions by code, and sessions that cannot be read.
SELECT severity, code, count(*) AS diagnostics, count(DISTINCT address) AS sessions, min(address) AS one_session
FROM diagnostics
GROUP BY severity, code
ORDER BY sessions DESC, diagnostics DESC, code, severity;

-- @unreadable
-- Sessions that cannot be read, with the reason.
SELECT d.address, d.code, d.message
FROM diagnostics AS d
JOIN sessions AS s ON s.address = d.address
WHERE NOT s.readable
ORDER BY d.address;

-- @failed-like
-- Sessions that failed like the session `$address`: the number of failures with the same signature.
SELECT count(DISTINCT f.signature) AS signatures, count(*) AS failures, min(f.category) AS category, f.team, f.repository, f.address
FROM failures AS f
WHERE f.signature IN (SELECT signature FROM failures WHERE address = $address) AND f.address <> $address
GROUP BY f.address, f.team, f.repository
ORDER BY signatures DESC, failures DESC, f.address
LIMIT 50;

-- @similar
-- The fifty sessions nearest to the session `$address` by their sketches: failures, order of tools, words of the prompt.
SELECT round(count(*) / 32.0, 2) AS similarity, other.team, other.repository, other.outcome, other.address
FROM (SELECT unnest(sketch) AS value FROM sessions WHERE address = $address) AS own
JOIN (SELECT address, team, repository, outcome, unnest(sketch) AS value FROM sessions WHERE address <> $address) AS other
  ON own.value = other.value
GROUP BY other.address, other.team, other.repository, other.outcome
ORDER BY similarity DESC, other.address
LIMIT 50;

-- @worse
-- What agent version `$after` made worse or better than `$before`: rates of both with the difference in percentage points and
-- its 95 % confidence interval (Agresti-Caffo). Objects of one session count as independent.
WITH counted AS (
  SELECT 'turns that failed' AS rate, agent_version = $after AS is_after, count(*) AS n, count(*) FILTER (WHERE outcome = 'failed') AS k
  FROM turns WHERE agent_version IN ($before, $after) GROUP BY agent_version
  UNION ALL
  SELECT 'turns that need attention', agent_version = $after, count(*),
    count(*) FILTER (WHERE outcome IN ('failed', 'cancelled', 'unfinished', 'degraded'))
  FROM turns WHERE agent_version IN ($before, $after) GROUP BY agent_version
  UNION ALL
  SELECT 'inference calls that failed', agent_version = $after, count(*), count(*) FILTER (WHERE outcome = 'failed')
  FROM inference_calls WHERE agent_version IN ($before, $after) GROUP BY agent_version
  UNION ALL
  SELECT 'tool calls that failed', agent_version = $after, count(*), count(*) FILTER (WHERE outcome = 'failed')
  FROM tool_calls WHERE agent_version IN ($before, $after) GROUP BY agent_version
  UNION ALL
  SELECT 'tool calls that repeat an earlier one', agent_version = $after, count(*), count(*) FILTER (WHERE repeats > 0)
  FROM tool_calls WHERE agent_version IN ($before, $after) GROUP BY agent_version
  UNION ALL
  SELECT 'sessions with a failure', agent_version = $after, count(*), count(*) FILTER (WHERE failures > 0)
  FROM sessions WHERE readable AND agent_version IN ($before, $after) GROUP BY agent_version
  UNION ALL
  SELECT 'sessions with a finding', agent_version = $after, count(*), count(*) FILTER (WHERE findings > 0)
  FROM sessions WHERE readable AND agent_version IN ($before, $after) GROUP BY agent_version
  UNION ALL
  SELECT 'sessions that compact', agent_version = $after, count(*), count(*) FILTER (WHERE compactions > 0)
  FROM sessions WHERE readable AND agent_version IN ($before, $after) GROUP BY agent_version
),
sides AS (
  SELECT rate, CAST(sum(n) FILTER (WHERE NOT is_after) AS DOUBLE) AS n1, CAST(sum(k) FILTER (WHERE NOT is_after) AS DOUBLE) AS k1,
    CAST(sum(n) FILTER (WHERE is_after) AS DOUBLE) AS n2, CAST(sum(k) FILTER (WHERE is_after) AS DOUBLE) AS k2
  FROM counted GROUP BY rate
),
compared AS (
  SELECT rate, n1, k1, n2, k2, (k2 + 1) / (n2 + 2) - (k1 + 1) / (n1 + 2) AS center,
    1.96 * sqrt((k1 + 1) / (n1 + 2) * (1 - (k1 + 1) / (n1 + 2)) / (n1 + 2) + (k2 + 1) / (n2 + 2) * (1 - (k2 + 1) / (n2 + 2)) / (n2 + 2)) AS margin
  FROM sides
)
SELECT rate, CAST(n1 AS BIGINT) AS n_before, round(100 * k1 / n1, 2) AS percent_before, CAST(n2 AS BIGINT) AS n_after, round(100 * k2 / n2, 2) AS percent_after,
  round(100 * (k2 / n2 - k1 / n1), 2) AS difference, round(100 * (center - margin), 2) AS low, round(100 * (center + margin), 2) AS high,
  CASE WHEN n1 IS NULL OR n2 IS NULL THEN 'one version has none' WHEN center - margin > 0 THEN 'worse' WHEN center + margin < 0 THEN 'better'
    ELSE 'no difference shown' END AS verdict
FROM compared
ORDER BY rate;

-- @slower
-- What agent version `$after` made slower or larger than `$before`: medians of both with their 95 % confidence intervals by order
-- statistics. `worse` and `better` mean that the intervals do not touch.
WITH measured AS (
  SELECT 'duration of a session in ms' AS measure, agent_version = $after AS is_after, CAST(duration_ms AS DOUBLE) AS value
  FROM sessions WHERE readable AND agent_version IN ($before, $after)
  UNION ALL
  SELECT 'input tokens of a session', agent_version = $after, CAST(input_tokens AS DOUBLE) FROM sessions WHERE readable AND agent_version IN ($before, $after)
  UNION ALL
  SELECT 'output tokens of a session', agent_version = $after, CAST(output_tokens AS DOUBLE) FROM sessions WHERE readable AND agent_version IN ($before, $after)
  UNION ALL
  SELECT 'tool calls of a session', agent_version = $after, CAST(tool_calls AS DOUBLE) FROM sessions WHERE readable AND agent_version IN ($before, $after)
  UNION ALL
  SELECT 'duration of a turn in ms', agent_version = $after, CAST(duration_ms AS DOUBLE) FROM turns WHERE agent_version IN ($before, $after) AND duration_ms IS NOT NULL
  UNION ALL
  SELECT 'duration of an inference call in ms', agent_version = $after, CAST(duration_ms AS DOUBLE) FROM inference_calls
  WHERE agent_version IN ($before, $after) AND duration_ms IS NOT NULL
  UNION ALL
  SELECT 'duration of a tool call in ms', agent_version = $after, CAST(duration_ms AS DOUBLE) FROM tool_calls
  WHERE agent_version IN ($before, $after) AND duration_ms IS NOT NULL AND kind <> 'wait_agent'
),
ranked AS (
  SELECT measure, is_after, value, row_number() OVER (PARTITION BY measure, is_after ORDER BY value) AS place,
    CAST(count(*) OVER (PARTITION BY measure, is_after) AS DOUBLE) AS n
  FROM measured WHERE value IS NOT NULL
),
sides AS (
  SELECT measure, is_after, max(n) AS n, median(value) AS middle,
    max(value) FILTER (WHERE place <= greatest(1.0, floor(n / 2 - 0.98 * sqrt(n)))) AS low,
    min(value) FILTER (WHERE place >= least(n, ceil(n / 2 + 1 + 0.98 * sqrt(n)))) AS high
  FROM ranked GROUP BY measure, is_after
),
compared AS (
  SELECT measure, CAST(max(n) FILTER (WHERE NOT is_after) AS BIGINT) AS n_before, max(middle) FILTER (WHERE NOT is_after) AS median_before,
    max(low) FILTER (WHERE NOT is_after) AS low_before, max(high) FILTER (WHERE NOT is_after) AS high_before,
    CAST(max(n) FILTER (WHERE is_after) AS BIGINT) AS n_after, max(middle) FILTER (WHERE is_after) AS median_after,
    max(low) FILTER (WHERE is_after) AS low_after, max(high) FILTER (WHERE is_after) AS high_after
  FROM sides GROUP BY measure
)
SELECT measure, n_before, median_before, low_before, high_before, n_after, median_after, low_after, high_after,
  CASE WHEN n_before IS NULL OR n_after IS NULL THEN 'one version has none' WHEN low_after > high_before THEN 'worse'
    WHEN high_after < low_before THEN 'better' ELSE 'no difference shown' END AS verdict
FROM compared
ORDER BY measure;

-- @worse-sessions
-- The sessions behind `@worse`: failures of agent version `$after` whose signature version `$before` does not have, or has less
-- often for its number of sessions.
WITH sizes AS (
  SELECT CAST(count(*) FILTER (WHERE agent_version = $before) AS DOUBLE) AS n1, CAST(count(*) FILTER (WHERE agent_version = $after) AS DOUBLE) AS n2
  FROM sessions WHERE readable
),
counted AS (
  SELECT signature, min(category) AS category, min(substr(message, 1, 100)) AS message,
    CAST(count(DISTINCT address) FILTER (WHERE agent_version = $before) AS DOUBLE) AS k1,
    CAST(count(DISTINCT address) FILTER (WHERE agent_version = $after) AS DOUBLE) AS k2,
    min(address) FILTER (WHERE agent_version = $after) AS one_session
  FROM failures WHERE agent_version IN ($before, $after) GROUP BY signature
)
SELECT signature, category, CAST(k1 AS BIGINT) AS sessions_before, CAST(k2 AS BIGINT) AS sessions_after,
  round(100 * (k2 / n2 - k1 / nullif(n1, 0)), 2) AS more_percent, message, one_session
FROM counted CROSS JOIN sizes
WHERE k2 > 0 AND n2 > 0 AND k2 / n2 > coalesce(k1 / nullif(n1, 0), 0)
ORDER BY k2 / n2 - coalesce(k1 / nullif(n1, 0), 0) DESC, signature
LIMIT 100;
