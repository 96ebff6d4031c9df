import assert from "node:assert/strict";
import { test } from "node:test";

import { FIRST_CHARS, FIRST_LINES, MAX_COLOURED, MAX_PRETTY_CHARS, MORE_CHARS, PIECE_CHARS, cut, foundParts, jsonParts, pieces, pretty } from "../../src/page/assets/cut.js";

test("short texts are whole", () => {
  assert.deepEqual(cut("a\nb", 0), { shown: "a\nb", isCut: false, restChars: 0, restLines: 0 });
  assert.equal(cut("", 0).isCut, false);
});

test("many lines are cut at a line", () => {
  const text = Array.from({ length: 100 }, (_, line) => `line ${line}`).join("\n");
  const { shown, isCut, restChars } = cut(text, 0);
  assert.equal(isCut, true);
  assert.equal(shown.split("\n").length, FIRST_LINES);
  assert.equal(shown.length + restChars, text.length);
  assert.equal(cut(text, 1).shown, text);
});

test("one long line is cut, and grows by a step", () => {
  const text = "x".repeat(MORE_CHARS * 2 + 5);
  assert.equal(cut(text, 0).shown.length, FIRST_CHARS);
  assert.equal(cut(text, 1).shown.length, MORE_CHARS);
  assert.equal(cut(text, 2).isCut, true);
  assert.equal(cut(text, 3).shown, text);
});

test("a cut does not divide a character", () => {
  const text = `${"x".repeat(FIRST_CHARS - 1)}${"\u{1F600}".repeat(500)}`;
  assert.equal(cut(text, 0).shown.isWellFormed(), true);
});

test("a last line or two are not worth a cut", () => {
  const text = Array.from({ length: FIRST_LINES + 1 }, () => "x").join("\n");
  assert.equal(cut(text, 0).isCut, false);
});

test("JSON is formatted, and other texts are unchanged", () => {
  assert.equal(pretty('{"a":[1]}'), '{\n  "a": [\n    1\n  ]\n}');
  assert.equal(pretty("{a"), "{a");
  const long = `"${"x".repeat(MAX_PRETTY_CHARS)}"`;
  assert.equal(pretty(long), long);
});

test("JSON is split into tokens, which together are the text", () => {
  const text = '{\n  "a\\"b": "c: 1",\n  "d": [true, -1.5e3, null]\n}';
  const parts = jsonParts(text);
  assert.equal(parts.map(([, part]) => part).join(""), text);
  assert.deepEqual(parts.filter(([kind]) => kind !== "").map(([kind, part]) => `${kind} ${part}`), ['key "a\\"b"', 'string "c: 1"', 'key "d"', "literal true", "literal -1.5e3", "literal null"]);
});

test("only so many parts get a colour", () => {
  const text = `[${"1,".repeat(MAX_COLOURED)}1]`;
  const parts = jsonParts(text);
  assert.ok(parts.length <= MAX_COLOURED + 2);
  assert.equal(parts.map(([, part]) => part).join(""), text);
});

test("occurrences are found in any case", () => {
  assert.deepEqual(foundParts("Ab ab aB", "AB"), [[true, "Ab"], [false, " "], [true, "ab"], [false, " "], [true, "aB"]]);
  assert.deepEqual(foundParts("abc", "x"), [[false, "abc"]]);
  assert.deepEqual(foundParts("abc", ""), [[false, "abc"]]);
  // The lower case of this letter has two UTF-16 code units.
  assert.deepEqual(foundParts("\u0130b", "b"), [[false, "\u0130b"]]);
});

test("pieces of a long text are lines, and together are the text", () => {
  const lines = Array.from({ length: 5000 }, (_, line) => `line ${line}`).join("\n");
  const made = pieces(lines);
  assert.equal(made.join(""), lines);
  assert.ok(made.slice(0, -1).every((piece) => piece.endsWith("\n") && piece.length <= PIECE_CHARS + 1));
  const long = "\u{1F600}".repeat(PIECE_CHARS);
  assert.equal(pieces(`x${long}`).join(""), `x${long}`);
  assert.ok(pieces(`x${long}`).every((piece) => piece.isWellFormed()));
  assert.deepEqual(pieces(""), []);
});
