/** The texts of the timeline: on bars, in the tip, and for screen readers. */

import { typeWord } from "./describe.js";
import { count, duration, number, since, wallTime } from "./format.js";
import { signOf } from "./outcome.js";

/** Longest text on a bar or in a line of the tip, in characters. */
export const MAX_TEXT = 240;

/** How lines that report a failure begin. */
export const FAILED = signOf("failed");

const HAND_OVERS = {
  spawn_agent: "spawn",
  assign_agent_task: "task",
  send_message: "message",
  agent_result: "result",
  close_agent: "close",
};

/** Returns the name of a kind of hand-over. */
export function handOverName(kind) {
  return HAND_OVERS[kind] ?? kind;
}

/** Truncates a text to a number of characters, never within a surrogate pair. */
export function cut(text, most) {
  if (text.length <= most) return text;
  let end = Math.max(0, most - 1);
  const code = text.charCodeAt(end - 1);
  if (code >= 0xd800 && code < 0xdc00) end -= 1;
  return `${text.slice(0, end).trimEnd()}…`;
}

/** Returns a text as one line of limited length. */
function line(text) {
  return cut(text.slice(0, 4 * MAX_TEXT).replace(/\s+/g, " ").trim(), MAX_TEXT);
}

/** Returns the text on the bar of an object. */
export function barText(data, n) {
  const type = data.typeName(n);
  if (type === "tool_call") {
    const { name, subject } = data.raw.tools;
    const index = data.indexOf(n);
    return line(`${data.text(name[index])} ${data.text(subject[index])}`) || line(data.label(n));
  }
  if (type === "inference_call") return line(data.text(data.raw.inferences.model[data.indexOf(n)]));
  if (type === "code_cell") return "code";
  if (type === "compaction_request") return "compaction";
  return line(data.label(n));
}

/** Returns the last part of an agent's path and its nickname: `{name, nickname}`. */
export function laneName(data, thread) {
  const index = data.indexOf(thread);
  const path = data.text(data.raw.threads.path[index]) || data.idOf(thread);
  const name = data.raw.threads.depth[index] > 0 ? path.slice(path.lastIndexOf("/") + 1) || path : path;
  return { name: line(name), nickname: line(data.text(data.raw.threads.nickname[index])) };
}

/** Returns the duration of an object, if the event log has it. */
function lasted(data, n, shownEnd) {
  const start = data.start(n);
  const end = data.end(n);
  if (start < 0) return "";
  if (end >= 0) return duration(Math.max(0, end - start));
  return shownEnd > start ? `at least ${duration(shownEnd - start)}` : "";
}

function tokensOf(data, n) {
  if (data.typeName(n) !== "inference_call") return "";
  const { input_tokens: input, cached_tokens: cached, output_tokens: output } = data.raw.inferences;
  const index = data.indexOf(n);
  const parts = [];
  if (input[index] >= 0) parts.push(`${number(input[index])} in${cached[index] > 0 ? ` (${number(cached[index])} cached)` : ""}`);
  if (output[index] >= 0) parts.push(`${number(output[index])} out`);
  return parts.length > 0 ? `${parts.join(", ")} tokens` : "";
}

function detail(data, n) {
  const type = data.typeName(n);
  const index = type ? data.indexOf(n) : -1;
  if (type === "tool_call") {
    const code = data.raw.tools.exit_code[index];
    return code === null || code === undefined || code === 0 ? "" : `exit code ${code}`;
  }
  if (type === "inference_call") return line(data.text(data.raw.inferences.error[index]));
  if (type === "codex_turn") {
    const verdict = data.text(data.raw.turns.verdict[index]);
    return verdict === data.outcome(n) ? "" : verdict;
  }
  return "";
}

/**
 * Returns the lines of the tip of an object. Lines that report a failure begin with `FAILED`.
 *
 * @param {import("./data.js").Data} data
 * @param {number} n
 * @param {number} shownEnd where its bar ends
 * @returns {string[]}
 */
export function tipLines(data, n, shownEnd) {
  const type = data.typeName(n);
  if (type === "interaction_edge") return edgeLines(data, data.edge(n));
  if (type === "thread") return threadLines(data, n);
  const outcome = data.outcome(n);
  const title = type === "codex_turn" ? line(data.label(n)) || "turn" : barText(data, n) || data.refOf(n);
  const sign = outcome === "failed" ? `${FAILED} ` : "";
  const state = outcome === "none" ? "" : outcome;
  const startedAt = data.session.started_at_unix_ms + data.start(n);
  return [
    title,
    [`${sign}${typeWord(type)}`, state, lasted(data, n, shownEnd)].filter(Boolean).join(" · "),
    line(data.agentName(data.thread(n))),
    data.start(n) >= 0 ? `${since(data.start(n))} · ${wallTime(startedAt)}` : "",
    tokensOf(data, n),
    outcome === "failed" && detail(data, n) ? `${FAILED} ${detail(data, n)}` : detail(data, n),
  ].filter(Boolean);
}

function edgeLines(data, edge) {
  return [
    `${handOverName(edge.kind)}: ${line(data.agentName(edge.from))} → ${line(data.agentName(edge.to))}`,
    line(edge.text),
    edge.received >= 0 ? `${since(edge.sent)} · arrived after ${duration(Math.max(0, edge.received - edge.sent))}` : `${since(edge.sent)} · no arrival in the log`,
  ].filter(Boolean);
}

/** Returns the lines of the tip of a hand-over that never arrived. */
export function lostLines(data, index) {
  const lost = data.raw.lost[index];
  const to = lost.to >= 0 ? data.agentName(lost.to) : lost.to_id;
  return [
    `${handOverName(lost.kind)}: ${line(data.agentName(lost.from))} → ${line(String(to ?? ""))}`,
    `${FAILED} never arrived`,
    line(String(lost.text ?? "")),
    since(lost.sent),
  ].filter(Boolean);
}

function threadLines(data, n) {
  const { threads } = data.raw;
  const index = data.indexOf(n);
  const failed = threads.failed_model_calls[index] + threads.failed_tool_calls[index];
  return [
    line(data.agentName(n)),
    [typeWord("thread"), data.outcome(n) === "none" ? "" : data.outcome(n), line(data.text(threads.model[index]))].filter(Boolean).join(" · "),
    `${count(threads.model_calls[index], "request")}, ${count(threads.tool_calls[index], "tool call")}`,
    failed > 0 ? `${FAILED} ${count(failed, "call")} failed` : "",
    `${number(threads.input_tokens[index])} in, ${number(threads.output_tokens[index])} out tokens`,
    line(data.text(threads.task[index])),
  ].filter(Boolean);
}

function threadSentence(data, n) {
  const [name, , calls, ...rest] = threadLines(data, n);
  const outcome = data.outcome(n);
  return [`agent ${name}`, outcome === "none" ? "" : outcome, calls, ...rest].filter(Boolean).join(", ");
}

/**
 * Describes an object in a sentence for screen readers: `tool call exec_command cargo test, failed, 6.4 s, /root, at
 * +12.0 s`.
 *
 * @param {import("./data.js").Data} data
 * @param {number} n
 * @returns {string}
 */
export function sentence(data, n) {
  const type = data.typeName(n);
  if (type === "interaction_edge") {
    const edge = data.edge(n);
    const arrival = edge.received >= 0 ? "" : ", no arrival in the log";
    return `${handOverName(edge.kind)} from ${line(data.agentName(edge.from))} to ${line(data.agentName(edge.to))}, at ${since(edge.sent)}${arrival}`;
  }
  if (type === "thread") return threadSentence(data, n);
  const outcome = data.outcome(n);
  const word = typeWord(type);
  const text = barText(data, n);
  return [
    // The text of a turn already begins with the word.
    text === word || text.startsWith(`${word} `) ? text : `${word} ${text}`.trim(),
    outcome === "none" ? "" : outcome,
    lasted(data, n, -1),
    line(data.agentName(data.thread(n))),
    data.start(n) >= 0 ? `at ${since(data.start(n))}` : "",
  ]
    .filter(Boolean)
    .join(", ");
}
