import assert from "node:assert/strict";
import { test } from "node:test";

import { isDay, labels, later, points, range } from "../../src/fleet/assets/days.js";
import { listed, narrowed, read, withoutPoint, write } from "../../src/fleet/assets/place.js";
import { pathOf } from "../../src/fleet/assets/sessions.js";
import { steps } from "../../src/fleet/assets/steps.js";

test("a place is what its fragment says, and a fragment what its place says", () => {
  const place = { since: "2026-03-01", until: "2026-03-31", team: "a & b=c#", model: "", category: "é", by: "tool", from: "2026-03-02", to: "2026-03-08", pick: "outcome", picked: "failed" };
  assert.deepEqual(read(write(place)), place);
  assert.deepEqual(read("#"), {});
  assert.equal(write({}), "#");
});

test("what is no place is left out", () => {
  assert.deepEqual(read("#since=yesterday&until=2026-02-30&x=1&__proto__=1&pick=address&picked=y"), { picked: "y" });
  assert.deepEqual(read(`#team=${"x".repeat(2000)}`), {});
  assert.deepEqual(read("#pick=__proto__"), {});
  assert.deepEqual(read("#%zz&team=a"), { team: "a" });
});

test("a point narrows the list and not the charts", () => {
  const place = { since: "2026-03-01", team: "a", from: "2026-03-02", to: "2026-03-08", pick: "category", picked: "x", order: "newest" };
  assert.deepEqual(narrowed(place), { since: "2026-03-01", team: "a" });
  assert.deepEqual(listed(place), { since: "2026-03-02", until: "2026-03-08", team: "a", category: "x" });
  assert.deepEqual(withoutPoint(place), { since: "2026-03-01", team: "a", order: "newest" });
});

test("days are those of the calendar", () => {
  assert.equal(later("2026-02-28", 1), "2026-03-01");
  assert.equal(later("2024-03-01", -1), "2024-02-29");
  assert.equal(range("2026-03-01", "2026-03-01"), "2026-03-01");
  for (const text of ["", "2026-2-1", "2026-02-30", "x", "2026-01-01T00:00"]) assert.equal(isDay(text), false, text);
  const starts = ["2026-12-21", "2026-12-28", "2027-01-04"];
  assert.deepEqual(points({ starts, days: 7, last: "2027-01-06" }).map(({ last }) => last), ["2026-12-27", "2027-01-03", "2027-01-06"]);
  assert.deepEqual(labels(starts, 3).map(({ text }) => text), ["21 Dec 2026", "28 Dec", "4 Jan 2027"]);
  assert.deepEqual(labels(starts, 1).map(({ at }) => at), [0]);
});

test("an axis has few round numbers that reach the largest value", () => {
  for (const most of [0.0003, 0.7, 1, 3, 17, 100, 101, 12_345, 9e12]) {
    const made = steps(most, 4);
    assert.ok(made.at(-1) >= most && made.length >= 3 && made.length <= 7, `${most}: ${made}`);
    assert.equal(made[0], 0);
  }
  for (const most of [0, -1, Number.NaN, Number.POSITIVE_INFINITY]) assert.deepEqual(steps(most, 4), [0, 1]);
});

test("the path of a session has its day and its address", () => {
  assert.equal(pathOf({ day: "2026-03-02", address: "/é" }), "session/2026-03-02-2fc3a9/");
  assert.equal(pathOf({ day: null, address: "a" }), "session/-61/");
  assert.equal(pathOf({ day: null, address: "" }), null);
  assert.equal(pathOf({ day: null, address: "x".repeat(2049) }), null);
});
