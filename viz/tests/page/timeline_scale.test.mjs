import assert from "node:assert/strict";
import { test } from "node:test";

import { Fold, longPauses } from "../../src/page/assets/timeline_fold.js";
import { LEAST_SPAN, View, firstTick, niceStep, tickLabel } from "../../src/page/assets/timeline_scale.js";

test("steps are round for people", () => {
  const steps = [0.2, 3, 700, 1001, 11_000, 16_000, 61_000, 3_600_001, 50_000_000, 90_000_000, 400_000_000].map(niceStep);
  assert.deepEqual(steps, [1, 5, 1000, 2000, 15_000, 30_000, 120_000, 7_200_000, 86_400_000, 172_800_000, 432_000_000]);
});

test("labels are as exact as their step", () => {
  const labels = [
    [0, 1],
    [250, 50],
    [1200, 100],
    [1250, 10],
    [1251, 1],
    [5000, 5000],
    [59_999, 1],
    [65_000, 5000],
    [61_250, 10],
    [120_000, 60_000],
    [119_999.9, 1000],
    [3_661_000, 1000],
    [3_660_000, 60_000],
    [7_200_000, 3_600_000],
    [-1500, 100],
  ].map(([ms, step]) => tickLabel(ms, step));
  assert.deepEqual(labels, [
    "0", "250 ms", "1.2 s", "1.25 s", "1.251 s", "5 s", "59.999 s", "1 m 05 s", "1 m 01.25 s", "2 m", "2 m 00 s",
    "1 h 01 m 01 s", "1 h 01 m", "2 h", "−1.5 s",
  ]);
});

test("ticks count from an offset", () => {
  assert.equal(firstTick(0, 10), 0);
  assert.equal(firstTick(1, 10), 10);
  assert.equal(firstTick(0, 1000, 250), 750);
});

test("zoom keeps what is under the pointer", () => {
  const view = new View();
  view.width = 1000;
  view.setWhole(0, 100_000);
  const place = view.at(300);
  view.zoom(8, 300);
  assert.ok(Math.abs(view.x(place) - 300) < 1e-6);
  assert.ok(Math.abs(view.span - view.whole / 8) < 1e-6);
});

test("a view never leaves the session nor gets smaller than a few milliseconds", () => {
  const view = new View();
  view.width = 1000;
  view.setWhole(0, 100_000);
  view.zoom(1e9, 500);
  assert.equal(view.span, LEAST_SPAN);
  view.pan(-1e12);
  assert.equal(view.start, view.first);
  view.pan(1e12);
  assert.ok(Math.abs(view.end - view.last) < 1e-6);
  view.zoom(1e-9, 10);
  assert.equal(view.start, view.first);
  assert.equal(view.span, view.whole);
});

test("a session without any length has a view", () => {
  const view = new View();
  view.width = 800;
  view.setWhole(0, 0);
  assert.ok(view.span > 0 && Number.isFinite(view.scale));
});

test("what is in view is not moved, what is not comes into it", () => {
  const view = new View();
  view.width = 1000;
  view.setWhole(0, 100_000);
  view.show(20_000, 30_000);
  assert.equal(view.reveal(24_000, 26_000), false);
  assert.equal(view.reveal(90_000, 90_500), true);
  assert.ok(view.start < 90_000 && view.end > 90_500);
  assert.equal(view.reveal(0, 100_000), false, "a range longer than the view is in view already");
});

test("long pauses of all agents together are found", () => {
  const starts = Float64Array.of(500_000, 0, 900_000, 100);
  const ends = Float64Array.of(600_000, 1000, 901_000, 50_000);
  assert.deepEqual(longPauses(starts, ends, 0, 1_000_000), [
    { start: 50_000, end: 500_000 },
    { start: 600_000, end: 900_000 },
    { start: 901_000, end: 1_000_000 },
  ]);
  assert.deepEqual(longPauses(new Float64Array(0), new Float64Array(0), 0, 10), []);
});

test("a fold converts times to places and back", () => {
  const fold = new Fold([{ start: 100, end: 10_100 }, { start: 10_200, end: 20_200 }], 0, 20_300);
  for (const time of [0, 50, 100, 5000, 10_100, 10_150, 10_200, 15_000, 20_200, 20_300]) {
    assert.ok(Math.abs(fold.time(fold.place(time)) - time) < 1e-6, `${time}`);
  }
  assert.ok(fold.place(20_300) < 400, "pauses take little room");
  assert.equal(fold.place(10_150) - fold.place(10_120), 30, "what is not folded keeps its length");
  const between = [];
  fold.between(50, 20_250, (start, end) => between.push([start, end]));
  assert.deepEqual(between, [[50, 100], [10_100, 10_200], [20_200, 20_250]]);
});

test("without pauses times are places", () => {
  const fold = new Fold([], 0, 100);
  assert.equal(fold.place(42.5), 42.5);
  assert.equal(fold.time(42.5), 42.5);
});
