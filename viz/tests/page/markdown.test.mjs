import assert from "node:assert/strict";
import { test } from "node:test";

import { fence, inlineCode, plain, toJson, toMarkdown } from "../../src/page/assets/markdown.js";

test("a fence is longer than any run of backticks within", () => {
  assert.equal(fence("a"), "```\na\n```");
  assert.equal(fence("a\n", "json"), "```json\na\n```");
  assert.equal(fence("```\ncode\n```"), "````\n```\ncode\n```\n````");
  assert.equal(fence("`````"), "``````\n`````\n``````");
});

test("code in a line survives backticks and line ends", () => {
  assert.equal(inlineCode("a b"), "`a b`");
  assert.equal(inlineCode("a\n  b"), "`a b`");
  assert.equal(inlineCode("a `b` c"), "`` a `b` c ``");
  assert.equal(inlineCode(""), "");
});

test("plain text has no marks of Markdown or HTML", () => {
  assert.equal(plain("# <b>*x*</b>\n[a](b)"), "\\# \\<b\\>\\*x\\*\\</b\\> \\[a\\](b)");
  assert.deepEqual(["- a", "+ a", "12. a", "3) a", "=== a", "12 a", "a - b"].map(plain), ["\\- a", "\\+ a", "12\\. a", "3\\) a", "\\=== a", "12 a", "a - b"]);
});

const OBJECT = {
  ref: "tool_call:1",
  type: "tool_call",
  label: "exec_command ls",
  session: "one",
  fields: [{ name: "exit_code", label: "exit code", value: 2, shown: "2" }],
  links: [
    { relation: "requested", words: "was asked for by", direction: "from", ref: "inference_call:1", label: "request 1", at: "+1.0 s" },
    { relation: "produced_by", words: "produced", direction: "to", ref: "conversation_item:3", label: "output", at: "" },
  ],
  links_left_out: 7,
  blocks: [
    { name: "stdout", form: "text", text: "```\nx", omitted: 3 },
    { name: "input", form: "json", text: "{}", omitted: 0 },
  ],
  payloads: [{ ref: "raw_payload:4", kind: "tool_result" }],
};

test("an object as Markdown", () => {
  assert.equal(
    toMarkdown(OBJECT),
    [
      "# tool\\_call:1",
      "",
      "exec\\_command ls",
      "",
      "- session: `one`",
      "- exit code: `2`",
      "",
      "## Comes from",
      "",
      "- was asked for by `inference_call:1`: request 1 (+1.0 s)",
      "",
      "## Leads to",
      "",
      "- produced `conversation_item:3`: output",
      "",
      "(7 more links are left out)",
      "",
      "## stdout",
      "",
      "````",
      "```",
      "x",
      "````",
      "",
      "(3 bytes left out)",
      "",
      "## input",
      "",
      "```json",
      "{}",
      "```",
      "",
      "## Payloads",
      "",
      "- `raw_payload:4`: tool\\_result",
      "",
    ].join("\n"),
  );
});

test("an object as JSON has its fields by name", () => {
  const read = JSON.parse(toJson(OBJECT));
  assert.deepEqual(read.fields, { exit_code: 2 });
  assert.deepEqual(read.blocks, OBJECT.blocks);
  assert.equal(read.links.length, 2);
});
