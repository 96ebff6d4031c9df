import assert from "node:assert/strict";
import { test } from "node:test";

import { Conversation } from "../../src/client/assets/conversation.js";

const THREAD = "t";
const message = (id, text, more = {}) => ({ type: "agentMessage", id, text, ...more });

function conversation(turns = []) {
  const made = new Conversation(THREAD);
  made.replace(turns, null);
  return made;
}

/** Returns the texts of the items in order. */
const texts = (made) => made.entries.map(({ item }) => item.text ?? item.message ?? item.type);

test("a message that is streamed equals the complete one", () => {
  const made = conversation();
  made.apply("turn/started", { turn: { id: "1" } });
  made.apply("item/started", { turnId: "1", item: message("a", "") });
  for (const delta of ["he", "ll", "o"]) made.apply("item/agentMessage/delta", { itemId: "a", delta });
  assert.deepEqual(texts(made), ["hello"]);
  assert.equal(made.byId.get("a").isDone, false);
  made.apply("item/completed", { turnId: "1", item: message("a", "hello") });
  made.apply("item/agentMessage/delta", { itemId: "a", delta: " late" });
  assert.deepEqual(texts(made), ["hello"], "what comes after the end changes nothing");
  made.apply("item/started", { turnId: "1", item: message("a", "") });
  assert.deepEqual(texts(made), ["hello"], "nor does a second beginning");
});

test("a snapshot of a running turn goes on with its deltas", () => {
  const made = conversation([{ id: "1", status: "inProgress", items: [message("a", "hel")] }]);
  assert.equal(made.turn, "1");
  made.apply("item/agentMessage/delta", { itemId: "a", delta: "lo" });
  assert.deepEqual(texts(made), ["hello"]);
});

test("the end of a turn ends its items, but not a command that outlives it", () => {
  const made = conversation();
  made.apply("turn/started", { turn: { id: "1" } });
  made.apply("item/started", { turnId: "1", item: message("a", "") });
  made.apply("item/started", { turnId: "1", item: { type: "commandExecution", id: "c", command: "sleep 9", status: "inProgress" } });
  made.apply("turn/completed", { turn: { id: "1", status: "interrupted", items: [] } });
  assert.equal(made.turn, "");
  assert.equal(made.byId.get("a").isDone, true);
  assert.equal(made.byId.get("c").isDone, false);
  assert.equal(made.entries.at(-1).item.type, "stopped");
  made.apply("item/completed", { turnId: "1", item: { type: "commandExecution", id: "c", command: "sleep 9", status: "completed" } });
  assert.equal(made.byId.get("c").isDone, true);
});

test("a failed turn has an error, and a retry is told until then", () => {
  const made = conversation();
  made.apply("turn/started", { turn: { id: "1" } });
  made.apply("error", { turnId: "1", error: { message: "Reconnecting... 1/5" }, willRetry: true });
  made.apply("error", { turnId: "1", error: { message: "Reconnecting... 2/5" }, willRetry: true });
  made.apply("error", { turnId: "1", error: { message: "gone" }, willRetry: false });
  made.apply("turn/completed", { turn: { id: "1", status: "failed", items: [], error: { message: "gone" } } });
  assert.deepEqual(texts(made), ["Reconnecting... 2/5", "gone"]);
});

test("older turns come before the others, once", () => {
  const turn = (id) => ({ id, status: "completed", items: [message(`m${id}`, id)] });
  const made = conversation([turn("3")]);
  assert.equal(made.addOlder([turn("1"), turn("2"), turn("3")], null), 2);
  assert.deepEqual(texts(made), ["1", "2", "3"]);
});

test("the plan belongs to its turn", () => {
  const made = conversation();
  made.apply("turn/started", { turn: { id: "1" } });
  made.apply("turn/plan/updated", { plan: [{ step: "a", status: "pending" }] });
  assert.equal(made.plan.plan.length, 1);
  made.apply("turn/started", { turn: { id: "2" } });
  assert.equal(made.plan, null);
});

test("notifications that it does not know change nothing", () => {
  const made = conversation();
  assert.equal(made.apply("thread/goal/cleared", {}), false);
  assert.equal(made.apply("constructor", {}), false);
});
