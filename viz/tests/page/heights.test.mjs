import assert from "node:assert/strict";
import { test } from "node:test";

import { Heights } from "../../src/page/assets/heights.js";

test("tops and places agree for every row", () => {
  const each = Array.from({ length: 1000 }, (_, index) => 10 + ((index * 37) % 90));
  const heights = new Heights(each);
  let top = 0;
  for (const [index, height] of each.entries()) {
    assert.equal(heights.top(index), top);
    assert.equal(heights.at(top), index);
    assert.equal(heights.at(top + height - 0.5), index);
    top += height;
  }
  assert.equal(heights.total, top);
});

test("places outside of the list are its first and last row", () => {
  const heights = new Heights([10, 20, 30]);
  assert.equal(heights.at(-5), 0);
  assert.equal(heights.at(60), 2);
  assert.equal(heights.at(1e9), 2);
});

test("a change of a height moves only the rows below", () => {
  const heights = new Heights(new Array(60_000).fill(100));
  assert.equal(heights.set(30_000, 250), 150);
  assert.equal(heights.set(30_000, 250), 0);
  assert.equal(heights.top(30_000), 3_000_000);
  assert.equal(heights.top(30_001), 3_000_250);
  assert.equal(heights.total, 6_000_150);
  assert.equal(heights.at(3_000_249), 30_000);
  assert.equal(heights.at(3_000_250), 30_001);
});

test("an empty list has no height", () => {
  const heights = new Heights([]);
  assert.equal(heights.total, 0);
  assert.equal(heights.at(100), 0);
});

test("rows of height zero are skipped", () => {
  const heights = new Heights([10, 0, 0, 10]);
  assert.equal(heights.at(9), 0);
  assert.equal(heights.at(10), 3);
});
