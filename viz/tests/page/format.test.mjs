import assert from "node:assert/strict";
import { test } from "node:test";

import { count, duration, number, since, size, tokens, wallDay, wallTime } from "../../src/page/assets/format.js";
import { layoutOf } from "../../src/page/assets/layout.js";
import { signOf } from "../../src/page/assets/outcome.js";
import { themeOf } from "../../src/page/assets/theme.js";

test("durations", () => {
  const cases = [[0, "0 ms"], [850, "850 ms"], [999, "999 ms"], [1000, "1.0 s"], [12_340, "12.3 s"], [59_949, "59.9 s"], [59_950, "1 m 00 s"], [245_000, "4 m 05 s"], [7_620_000, "2 h 07 m"], [-1, ""], [NaN, ""]];
  for (const [ms, text] of cases) assert.equal(duration(ms), text);
  assert.equal(since(1500), "+1.5 s");
  assert.equal(since(-1), "");
});

test("numbers, counts, sizes and tokens", () => {
  assert.equal(number(1_234_567), "1,234,567");
  assert.equal(count(1, "call"), "1 call");
  assert.equal(count(2000, "call"), "2,000 calls");
  assert.equal(size(312), "312 B");
  assert.equal(size(4100), "4.1 kB");
  assert.equal(size(2_000_000), "2.0 MB");
  assert.equal(tokens(999), "999");
  assert.equal(tokens(4100), "4.1k");
  assert.equal(tokens(2_000_000), "2.0M");
  assert.equal(tokens(-1), "");
});

test("times of the day", () => {
  const at = new Date(2026, 2, 2, 4, 3, 7, 20).getTime();
  assert.equal(wallTime(at), "04:03:07.020");
  assert.equal(wallDay(at), "2026-03-02");
  assert.equal(wallTime(NaN), "");
  assert.equal(wallDay(1e99), "");
});

test("outcomes have different signs, and unknown ones get the default", () => {
  const signs = ["completed", "failed", "degraded", "cancelled", "unfinished", "recovered"].map(signOf);
  assert.equal(new Set(signs).size, signs.length);
  assert.equal(signOf("new"), signOf("none"));
});

test("the theme follows the system unless it is chosen", () => {
  assert.equal(themeOf("auto", true), "dark");
  assert.equal(themeOf("auto", false), "light");
  assert.equal(themeOf("light", true), "light");
  assert.equal(themeOf("dark", false), "dark");
});

test("the layout follows the width", () => {
  assert.deepEqual([600, 899, 900, 1179, 1180, 3840].map(layoutOf), ["narrow", "narrow", "middle", "middle", "wide", "wide"]);
});
