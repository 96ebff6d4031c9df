import assert from "node:assert/strict";
import { test } from "node:test";

import { Data } from "../../src/page/assets/data.js";
import { barText, cut, laneName, lostLines, sentence, tipLines } from "../../src/page/assets/timeline_words.js";
import { makeUp } from "./made_up_lanes.mjs";

test("texts are never cut within a character", () => {
  assert.equal(cut("short", 10), "short");
  assert.equal(cut("a longer text", 9), "a longer…");
  assert.equal(cut("ab😀cd", 4), "ab…");
});

test("the text for screen readers has what the picture shows", () => {
  const data = new Data(makeUp({ agents: 4, steps: 6, failures: 0.3 }));
  const [first, count] = data.rangeOf("tool_call");
  const failed = Array.from({ length: count }, (_, index) => first + index).find((n) => data.outcome(n) === "failed");
  assert.match(sentence(data, failed), /^tool call \w+ .+, failed, [\d.]+ m?s, \/root.*, at \+[\d.]+ m?s$/);
  const [edge] = data.rangeOf("interaction_edge");
  assert.match(sentence(data, edge), /^spawn from \/root to \/root\/agent_1, at \+/);
  const [turn] = data.rangeOf("codex_turn");
  assert.match(sentence(data, turn), /^turn (?!turn)/);
  assert.match(sentence(data, data.raw.order[0]), /^agent \/root, completed, \d+ requests, \d+ tool calls/);
});

test("the tip of a failed call says so without colours", () => {
  const data = new Data(makeUp({ agents: 4, steps: 6, failures: 0.3 }));
  const [first, count] = data.rangeOf("tool_call");
  const failed = Array.from({ length: count }, (_, index) => first + index).find((n) => data.outcome(n) === "failed");
  const lines = tipLines(data, failed, -1);
  assert.ok(lines[1].startsWith("✕ tool call · failed"));
  assert.ok(lines.includes("✕ exit code 101"));
});

test("the tip of a request counts tokens", () => {
  const data = new Data(makeUp({ agents: 0, steps: 1, failures: 0 }));
  const [first] = data.rangeOf("inference_call");
  assert.ok(tipLines(data, first, -1).includes("4,200 in (4,000 cached), 120 out tokens"));
});

test("a lost hand-over is described with its receiver", () => {
  const data = new Data(makeUp({ agents: 6, steps: 2 }));
  assert.deepEqual(lostLines(data, 0).slice(0, 2), ["result: /root/agent_5 → /root", "✕ never arrived"]);
});

test("lanes have the last part of a path, and bars texts of one line", () => {
  const structure = makeUp({ agents: 2, steps: 2 });
  const data = new Data(structure);
  assert.deepEqual(laneName(data, structure.order[0]), { name: "/root", nickname: "" });
  assert.deepEqual(laneName(data, structure.order[2]), { name: "agent_2", nickname: "Euclid" });
  const [first] = data.rangeOf("tool_call");
  structure.strings[structure.tools.subject[data.indexOf(first)]] = `a\n\t${"b".repeat(100_000)}`;
  const text = barText(data, first);
  assert.ok(text.length <= 240 && !text.includes("\n"));
});
