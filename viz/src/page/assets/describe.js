/** Describes an object field by field, for the inspector and for what is copied from it. */

import { duration, number, since, wallDay, wallTime } from "./format.js";

/** The member of the structure that has the columns of a type. */
const TABLES = {
  thread: "threads",
  codex_turn: "turns",
  conversation_item: "items",
  inference_call: "inferences",
  tool_call: "tools",
  interaction_edge: "edges",
};

/** Columns with indexes into the table of strings. */
const TEXTS = new Set([
  "path", "nickname", "model", "task", "role", "verdict", "kind", "channel", "call_id", "author", "recipient", "provider", "error",
  "name", "subject", "text",
]);

/** Columns with numbers of objects. */
const OBJECTS = new Set(["parent", "producer", "cell", "operation", "source", "target", "from", "to"]);

/** Columns with times. */
const MOMENTS = new Set(["must_end", "sent", "received"]);

const LABELS = {
  comes_from: "comes from",
  all_model_calls: "model calls with agents below",
  all_failed_model_calls: "failed model calls with agents below",
  all_tool_calls: "tool calls with agents below",
  all_failed_tool_calls: "failed tool calls with agents below",
  all_input_tokens: "input tokens with agents below",
  all_cached_tokens: "cached tokens with agents below",
  all_output_tokens: "output tokens with agents below",
  cell: "called by code cell",
  producer: "made by",
  seen_by: "seen by requests",
  must_end: "must have ended by",
};

/**
 * Returns a time for people: since the start of the session, and as date and time of day.
 *
 * @param {import("./data.js").Data} data
 * @param {number} ms
 * @returns {string}
 */
export function moment(data, ms) {
  if (!(ms >= 0)) return "";
  const unix = data.session.started_at_unix_ms + ms;
  return `${since(ms)} · ${wallDay(unix)} ${wallTime(unix)}`;
}

/**
 * Returns the fields of an object. A field that is another object has its number as `n`.
 *
 * @param {import("./data.js").Data} data
 * @param {number} n
 * @returns {{name: string, label: string, value: unknown, shown: string, n?: number}[]}
 */
export function fieldsOf(data, n) {
  const type = data.typeName(n);
  const fields = [];
  const add = (name, value, shown, more = {}) => fields.push({ name, label: LABELS[name] ?? name.replaceAll("_", " "), value, shown, ...more });
  const object = (name, other) => {
    if (other >= 0 && other !== n) add(name, data.refOf(other), nameOf(data, other), { n: other });
  };
  add("id", data.idOf(n), data.idOf(n));
  if (type === "raw_payload") {
    add("kind", data.label(n), data.label(n));
    return fields;
  }
  const start = data.start(n);
  const end = data.end(n);
  if (data.outcome(n) !== "none") add("outcome", data.outcome(n), data.outcome(n));
  object("thread", data.thread(n));
  object("turn", data.turn(n));
  if (start >= 0) add("start", start, moment(data, start));
  if (end >= 0 && end !== start) add("end", end, moment(data, end));
  if (start >= 0 && end < 0) add("end", null, "none in the recording");
  if (start >= 0 && end > start) add("duration", end - start, duration(end - start));
  if (data.seq(n) >= 0) add("seq", data.seq(n), number(data.seq(n)));
  const source = data.sourceOf(n);
  if (source !== null) add("comes_from", source, source);
  const table = data.raw[TABLES[type]];
  const index = n - (data.typeByName.get(type)?.first ?? 0);
  for (const [name, column] of Object.entries(table ?? {})) {
    // `must_end` is of interest only if the end is unknown.
    if (name === "must_end" && end >= 0) continue;
    const value = column[index];
    if (value === undefined || value === null) continue;
    if (TEXTS.has(name)) {
      const text = data.text(value);
      if (text !== "") add(name, text, text);
    } else if (OBJECTS.has(name)) object(name, value);
    else if (MOMENTS.has(name)) {
      if (value >= 0) add(name, value, moment(data, value));
    } else if (name === "exit_code") add(name, value, String(value));
    else if (typeof value === "number" && value < 0) add(name, null, "not known");
    else add(name, value, typeof value === "number" ? number(value) : String(value));
  }
  return fields;
}

/**
 * Returns the name of an object in one line: the path of an agent, the label of another object.
 *
 * @param {import("./data.js").Data} data
 * @param {number} n
 * @returns {string}
 */
export function nameOf(data, n) {
  if (n < 0) return "";
  if (data.typeName(n) === "thread") return data.agentName(n) || data.idOf(n);
  return data.label(n) || data.refOf(n);
}

/** Returns the name of a type for people. */
export function typeWord(type) {
  return WORDS[type] ?? type.replaceAll("_", " ");
}

const WORDS = {
  thread: "agent",
  codex_turn: "turn",
  conversation_item: "item",
  inference_call: "request",
  tool_call: "tool call",
  code_cell: "code cell",
  terminal_session: "terminal",
  terminal_operation: "terminal step",
  interaction_edge: "hand-over",
  raw_payload: "payload",
  compaction_request: "compaction request",
};

/** How relations read in the direction of the link, and against it. */
const RELATIONS = {
  contains: ["contains", "is within"],
  requested: ["asked for", "was asked for by"],
  produced_by: ["produced", "was produced by"],
  observed: ["was first read by", "was the first to read"],
  spawned: ["spawned", "was spawned by"],
  delivered: ["was delivered as", "delivers"],
  result_of: ["answered with", "is the answer of"],
  interrupted: ["interrupted", "was interrupted by"],
  waited_on: ["was waited for by", "waited for"],
  replaced_by: ["was replaced by", "replaced"],
};

/**
 * Returns how a causal link reads from one of its ends.
 *
 * @param {string} relation
 * @param {"from"|"to"} direction from the other end, or to it
 * @returns {string}
 */
export function relationWords(relation, direction) {
  return RELATIONS[relation]?.[direction === "to" ? 0 : 1] ?? relation.replaceAll("_", " ");
}

/** Most links in each direction that are listed for an object. */
export const MAX_TOLD_LINKS = 500;

/**
 * Returns the whole description of an object as {@link import("./markdown.js").Described}.
 *
 * @param {import("./data.js").Data} data
 * @param {number} n
 * @param {{blocks: object[]}|null} body
 * @param {string} [lack] why there is no body
 */
export function describe(data, n, body, lack = "not loaded") {
  const link = (direction) => (one) => ({
    relation: one.relation,
    words: relationWords(one.relation, direction),
    direction,
    ref: data.refOf(one.n),
    label: nameOf(data, one.n),
    at: since(one.at),
  });
  const causes = data.causes(n);
  const effects = data.effects(n);
  const links = [...causes.slice(0, MAX_TOLD_LINKS).map(link("from")), ...effects.slice(0, MAX_TOLD_LINKS).map(link("to"))];
  return {
    ref: data.refOf(n),
    type: data.typeName(n),
    label: nameOf(data, n),
    session: data.session.name,
    fields: fieldsOf(data, n),
    links,
    links_left_out: causes.length + effects.length - links.length,
    // A reader of the copy must know that text is missing.
    blocks: body?.blocks ?? [{ name: "", form: "note", text: `The text is ${lack}.`, omitted: 0 }],
    payloads: data.payloads(n).map((payload) => ({ ref: data.refOf(payload), kind: data.label(payload) })),
  };
}
