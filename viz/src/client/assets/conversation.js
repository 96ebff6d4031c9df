/**
 * One thread as the page knows it: its items in order, the plan, the changes and the running turn. It is filled by a
 * response of the server and followed by notifications, and knows nothing of the document.
 */

/** Items of turns that failed get an id of their own, so that they can be replaced like others. */
const ERROR = "error:";

/** Most characters of a running command's output that are kept until its item is complete. */
const MAX_RUNNING_OUTPUT = 1_000_000;

/**
 * An item as the page keeps it.
 *
 * @typedef {{id: string, turn: string, item: object, isDone: boolean}} Entry
 */
export class Conversation {
  /** @param {string} thread */
  constructor(thread) {
    this.thread = thread;
    /** @type {Entry[]} */
    this.entries = [];
    this.byId = new Map();
    /** The id of the running turn, or an empty text. */
    this.turn = "";
    this.plan = null;
    this.diff = "";
    /** The last turn, whose changes are shown. */
    this.lastTurn = "";
    this.usage = null;
    this.olderCursor = null;
    /** Called with the kind of a change and its entry. */
    this.onChange = () => {};
  }

  /** Replaces everything by turns of the server, the oldest first. */
  replace(turns, olderCursor) {
    this.entries = [];
    this.byId.clear();
    this.turn = "";
    this.olderCursor = olderCursor ?? null;
    for (const turn of turns) this.addTurn(turn, this.entries);
    const last = turns.at(-1);
    if (last?.status === "inProgress") this.turn = last.id;
    if (this.lastTurn !== (last?.id ?? "")) {
      this.lastTurn = last?.id ?? "";
      this.plan = null;
    }
    this.diff = "";
    this.onChange("all");
  }

  /** Adds older turns, the oldest first, before the others. */
  addOlder(turns, olderCursor) {
    const older = [];
    for (const turn of turns) this.addTurn(turn, older);
    this.entries = [...older, ...this.entries];
    this.olderCursor = olderCursor ?? null;
    this.onChange("older");
    return older.length;
  }

  addTurn(turn, entries) {
    const isDone = turn.status !== "inProgress";
    for (const item of turn.items ?? []) {
      if (this.byId.has(item.id)) continue;
      const entry = { id: item.id, turn: turn.id, item, isDone: isDone || Boolean(item.completedAtMs) };
      this.byId.set(entry.id, entry);
      entries.push(entry);
    }
    const ended = endOf(turn);
    if (ended) {
      this.byId.set(ended.id, ended);
      entries.push(ended);
    }
  }

  /** Takes a notification about this thread. Returns whether it changed something. */
  apply(method, params) {
    const handler = HANDLERS[method];
    if (!handler) return false;
    handler(this, params);
    return true;
  }

  /** Adds an item, or replaces one with the same id. */
  put(turn, item, isDone) {
    const known = this.byId.get(item.id);
    if (known) {
      // An item that is complete is not replaced by one that is not: notifications of two sources may cross.
      if (known.isDone && !isDone) return;
      known.item = item;
      known.isDone = isDone;
      this.onChange("changed", known);
      return;
    }
    const entry = { id: item.id, turn, item, isDone };
    this.byId.set(entry.id, entry);
    this.entries.push(entry);
    this.onChange("added", entry);
  }

  /** Changes an item that is streamed. */
  grow(id, change) {
    const entry = this.byId.get(id);
    if (!entry || entry.isDone) return;
    change(entry.item);
    this.onChange("grown", entry);
  }

  /** Returns the changed files of the last turn as changes of its items, for when the server sent no diff of it. */
  get changedItems() {
    return this.entries
      .filter(({ turn, item }) => turn === this.lastTurn && item.type === "fileChange" && item.status === "completed")
      .flatMap(({ item }) => item.changes ?? []);
  }
}

/** Returns the entry that says how a turn ended, unless it was completed. */
function endOf(turn) {
  if (turn.status === "failed") {
    const { message = "the turn failed", additionalDetails = "" } = turn.error ?? {};
    return { id: `${ERROR}${turn.id}`, turn: turn.id, isDone: true, item: { type: "error", id: `${ERROR}${turn.id}`, message, details: additionalDetails ?? "" } };
  }
  if (turn.status === "interrupted") {
    return { id: `${ERROR}${turn.id}`, turn: turn.id, isDone: true, item: { type: "stopped", id: `${ERROR}${turn.id}` } };
  }
  return null;
}

function append(list, index, text) {
  while (list.length <= index) list.push("");
  list[index] += text;
}

const HANDLERS = {
  __proto__: null,
  "turn/started": (it, { turn }) => {
    it.turn = turn.id;
    it.lastTurn = turn.id;
    it.diff = "";
    it.plan = null;
    it.onChange("turn");
  },
  "turn/completed": (it, { turn }) => {
    if (it.turn === turn.id) it.turn = "";
    for (const item of turn.items ?? []) it.put(turn.id, item, true);
    for (const entry of it.entries) {
      // What the server never completed is not running any more. A command may outlive its turn.
      if (entry.turn === turn.id && !entry.isDone && entry.item.type !== "commandExecution") {
        entry.isDone = true;
        it.onChange("changed", entry);
      }
    }
    const ended = endOf(turn);
    if (ended) it.put(turn.id, ended.item, true);
    it.onChange("turn");
  },
  "item/started": (it, { turnId, item }) => it.put(turnId, item, false),
  "item/completed": (it, { turnId, item }) => it.put(turnId, item, true),
  "item/agentMessage/delta": (it, { itemId, delta }) => it.grow(itemId, (item) => (item.text = (item.text ?? "") + delta)),
  "item/plan/delta": (it, { itemId, delta }) => it.grow(itemId, (item) => (item.text = (item.text ?? "") + delta)),
  "item/reasoning/summaryPartAdded": (it, { itemId, summaryIndex }) => it.grow(itemId, (item) => append((item.summary ??= []), summaryIndex, "")),
  "item/reasoning/summaryTextDelta": (it, { itemId, summaryIndex, delta }) => it.grow(itemId, (item) => append((item.summary ??= []), summaryIndex, delta)),
  "item/reasoning/textDelta": (it, { itemId, contentIndex, delta }) => it.grow(itemId, (item) => append((item.content ??= []), contentIndex, delta)),
  "item/commandExecution/outputDelta": (it, { itemId, delta }) =>
    it.grow(itemId, (item) => (item.aggregatedOutput = ((item.aggregatedOutput ?? "") + delta).slice(-MAX_RUNNING_OUTPUT))),
  "item/fileChange/patchUpdated": (it, { itemId, changes }) => it.grow(itemId, (item) => (item.changes = changes)),
  "item/mcpToolCall/progress": (it, { itemId, message }) => it.grow(itemId, (item) => (item.progress = message)),
  "turn/plan/updated": (it, { plan, explanation }) => {
    it.plan = { plan: plan ?? [], explanation: explanation ?? "" };
    it.onChange("plan");
  },
  "turn/diff/updated": (it, { diff }) => {
    it.diff = diff ?? "";
    it.onChange("diff");
  },
  "thread/tokenUsage/updated": (it, { tokenUsage }) => {
    it.usage = tokenUsage;
    it.onChange("usage");
  },
  "error": (it, { turnId, error, willRetry }) => {
    // The end of the turn tells a final error.
    if (!willRetry) return;
    const id = `${ERROR}retry:${turnId}`;
    it.put(turnId, { type: "error", id, message: error?.message ?? "the request failed", details: error?.additionalDetails ?? "", willRetry: true }, false);
  },
};
