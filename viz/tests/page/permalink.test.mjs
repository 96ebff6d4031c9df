import assert from "node:assert/strict";
import { test } from "node:test";

import { MAX_LINK_CHARS, formatLink, linkTo, parseLink } from "../../src/page/assets/permalink.js";

test("an object alone is its name", () => {
  assert.equal(formatLink("tool_call:3"), "tool_call:3");
  assert.equal(linkTo("thread:a b"), "#thread:a%20b");
  assert.deepEqual({ ...parseLink("#tool_call:3") }, { ref: "tool_call:3", state: Object.create(null) });
});

test("a written link can be parsed", () => {
  const refs = ["thread:019d-7", "tool_call:1", "codex_turn:a&b=c", "x:100%", "x:%41", "x:\u{1F600} \u05d0", 'x:"><script>', "", "x:a#b?c/d"];
  for (const ref of refs) {
    for (const state of [{}, { under: "thread:a&b", works: "model,tool", min: "1000" }]) {
      const read = parseLink(`#${formatLink(ref, state)}`);
      assert.equal(read.ref, ref);
      assert.deepEqual({ ...read.state }, state);
    }
  }
});

test("empty values are left out", () => {
  assert.equal(formatLink("a:1", { works: "", min: "5" }), "a:1&min=5");
});

test("parts that cannot be parsed are ignored", () => {
  assert.deepEqual({ ...parseLink("#tool_call:%zz&=1&nothing&__proto__=x").state }, { ["__proto__"]: "x" });
  assert.equal(parseLink("#tool_call:%zz").ref, "tool_call:%zz");
  assert.equal(parseLink("").ref, "");
  assert.equal(parseLink(`#${"a".repeat(MAX_LINK_CHARS * 2)}`).ref.length, MAX_LINK_CHARS);
});

test("half a surrogate pair can be written", () => {
  assert.equal(parseLink(formatLink("x:\ud800y")).ref, "x:\ufffdy");
});
