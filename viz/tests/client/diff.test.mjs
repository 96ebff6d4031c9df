import assert from "node:assert/strict";
import { test } from "node:test";

import { protocolsFor } from "../../src/client/assets/connection.js";
import { changesOf, counts, splitDiff } from "../../src/client/assets/diff.js";
import { Threads, wordOf } from "../../src/client/assets/threads.js";

test("added and deleted files have their text as their diff", () => {
  const [added, deleted, updated] = changesOf([
    { path: "/a", kind: { type: "add" }, diff: "one\ntwo\n" },
    { path: "/b", kind: { type: "delete" }, diff: "gone" },
    { path: "/c", kind: { type: "update", move_path: "/d" }, diff: "@@ -1 +1 @@\n-a\n+b\n" },
  ]);
  assert.equal(added.diff, "+one\n+two");
  assert.equal(deleted.diff, "-gone");
  assert.deepEqual([updated.movedTo, counts(updated.diff)], ["/d", { added: 1, removed: 1 }]);
  assert.deepEqual(changesOf(undefined), []);
});

test("a diff of several files is split", () => {
  const diff = [
    "diff --git a/new.txt b/new.txt", "new file mode 100644", "--- /dev/null", "+++ b/new.txt", "@@ -0,0 +1 @@", "+hello",
    "diff --git a/old.txt b/old.txt", "deleted file mode 100644", "--- a/old.txt", "+++ /dev/null", "@@ -1 +0,0 @@", "-diff --git a/x b/x",
    "diff --git a/same b/same", "--- a/same", "+++ b/same", "@@ -1 +1,2 @@", " kept", "+more", "",
  ].join("\n");
  assert.deepEqual(splitDiff(diff).map(({ path, kind, diff }) => [path, kind, counts(diff)]), [
    ["new.txt", "add", { added: 1, removed: 0 }],
    ["old.txt", "delete", { added: 0, removed: 1 }],
    ["same", "update", { added: 1, removed: 0 }],
  ]);
});

test("a token that no subprotocol can have is encoded", () => {
  assert.deepEqual(protocolsFor("0a1b"), ["trace.v2", "trace.token.0a1b"]);
  assert.deepEqual(protocolsFor("a/b=="), ["trace.v2", "trace.token64.YS9iPT0"]);
  assert.deepEqual(protocolsFor("ä b"), ["trace.v2", "trace.token64.w6QgYg"]);
});

test("what waits is told apart from what runs", () => {
  assert.equal(wordOf({ type: "active", activeFlags: ["waitingOnApproval"] }), "waiting");
  assert.equal(wordOf({ type: "active", activeFlags: [] }), "running");
  assert.equal(wordOf({ type: "notLoaded" }), "idle");
  assert.equal(wordOf({ type: "systemError" }), "failed");
});

test("agents are found below their roots, in any order of news", () => {
  const threads = new Threads();
  threads.setStatus("child", { type: "active", activeFlags: ["waitingOnApproval"] });
  threads.take({ id: "root", sessionId: "root", parentThreadId: null, status: { type: "idle" } });
  threads.takeAgent("child", "/root/child", "root");
  threads.takeAgent("grandchild", "/root/child/grandchild", "child");
  assert.equal(threads.rootOf("grandchild"), "root");
  assert.deepEqual(threads.childrenOf("root").map(({ id }) => id), ["child"]);
  assert.equal(threads.waiting, 1, "a status that came first is kept");
  threads.takeAgent("child", "/elsewhere", "root");
  assert.equal(threads.get("child").agentPath, "/root/child");
});
