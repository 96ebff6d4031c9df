import assert from "node:assert/strict";
import { test } from "node:test";

import { MAX_ROWS, joinOverlapping, packRows } from "../../src/page/assets/timeline_rows.js";

/** Packs bars `[start, end, n, inside]`, sorted like the bars of a lane, and returns their rows. */
function pack(bars) {
  const columns = {
    starts: Float64Array.from(bars, ([start]) => start),
    ends: Float64Array.from(bars, ([, end]) => end),
    objects: Int32Array.from(bars, ([, , n], index) => n ?? index),
    inside: Int32Array.from(bars, ([, , , inside]) => inside ?? -1),
  };
  const rows = new Uint8Array(bars.length);
  const used = packRows(bars.map((_, index) => index), columns, rows);
  return { rows: [...rows], used };
}

test("one after another is one row", () => {
  assert.deepEqual(pack([[0, 5], [5, 5], [5, 9], [12, 20]]), { rows: [0, 0, 0, 0], used: 1 });
});

test("what overlaps goes below", () => {
  assert.deepEqual(pack([[0, 10], [2, 4], [3, 12], [4, 6], [10, 11]]), { rows: [0, 1, 2, 1, 0], used: 3 });
});

test("two that take no time at one moment do not cover each other", () => {
  assert.deepEqual(pack([[5, 5], [5, 5]]).rows, [0, 1]);
});

test("tools of a code cell stand below it", () => {
  const cell = 100;
  assert.deepEqual(pack([[0, 50, cell], [0, 10, 1, cell], [5, 12, 2, cell], [20, 30, 3, cell]]).rows, [0, 1, 2, 1]);
});

test("tools of a code cell stand below it also if another bar began first", () => {
  assert.deepEqual(pack([[0, 90, 7], [10, 50, 100], [12, 20, 1, 100]]).rows, [0, 1, 2]);
});

test("tools of a code cell without a bar stand below what runs", () => {
  assert.deepEqual(pack([[0, 50, 7], [10, 20, 1, 100]]).rows, [0, 1]);
});

test("what overlaps too deeply is the crowd", () => {
  const { rows, used } = pack(Array.from({ length: MAX_ROWS + 3 }, (_, index) => [index, 100]));
  assert.deepEqual(rows.slice(MAX_ROWS - 1), [MAX_ROWS - 1, MAX_ROWS, MAX_ROWS, MAX_ROWS]);
  assert.equal(used, MAX_ROWS + 1);
});

test("no bar of a row covers another, whatever the bars", () => {
  let state = 1;
  const next = (most) => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    return (state >>> 8) % most;
  };
  for (let round = 0; round < 50; round += 1) {
    const bars = Array.from({ length: 60 }, (_, index) => {
      const start = next(200);
      return [start, start + next(30), index, next(4) === 0 ? next(60) : -1];
    }).sort((a, b) => a[0] - b[0] || (a[3] >= 0) - (b[3] >= 0));
    const { rows } = pack(bars);
    for (let one = 0; one < bars.length; one += 1) {
      for (let other = 0; other < one; other += 1) {
        if (rows[one] !== rows[other] || rows[one] === MAX_ROWS) continue;
        assert.ok(bars[other][1] <= bars[one][0], `${bars[other]} and ${bars[one]} share row ${rows[one]}`);
      }
    }
  }
});

test("a crowd is told as spans with counts", () => {
  const starts = Float64Array.of(0, 5, 20, 22, 40);
  const ends = Float64Array.of(10, 8, 30, 35, 40);
  assert.deepEqual(joinOverlapping([0, 1, 2, 3, 4], starts, ends), {
    starts: [0, 20, 40],
    ends: [10, 35, 40],
    counts: [2, 2, 1],
    firsts: [0, 2, 4],
  });
});
