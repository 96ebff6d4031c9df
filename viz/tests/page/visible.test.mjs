import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { visibleLine, visibleParts } from "../../src/page/assets/visible.js";

const cases = JSON.parse(readFileSync(new URL("./visible.json", import.meta.url), "utf8"));

test("texts are shown as the command line shows them", () => {
  for (const { text, prose, command } of cases) {
    assert.equal(visibleLine(text, false), prose, JSON.stringify(text));
    assert.equal(visibleLine(text, true), command, JSON.stringify(text));
  }
});

test("an escape is distinguished from text that looks like it", () => {
  assert.deepEqual(visibleParts("a\u202e\\u{202e}\nb", true), [[false, "a"], [true, "\\u{202e}"], [false, "\\u{202e}\nb"]]);
  assert.deepEqual(visibleParts("", true), []);
});
