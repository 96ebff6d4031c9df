import assert from "node:assert/strict";
import { test } from "node:test";

import { Data } from "../../src/page/assets/data.js";
import { Store } from "../../src/page/assets/store.js";
import { Arrows, Curve, MAX_ARROWS, RECEIVED, SENT } from "../../src/page/assets/timeline_arrows.js";
import { choose } from "../../src/page/assets/timeline_chosen.js";
import { Fold } from "../../src/page/assets/timeline_fold.js";
import { hitAt } from "../../src/page/assets/timeline_hit.js";
import { COMPACT, FILLS, Layout, Model, firstNotBefore, lastNotAfter, placeFound, visitSpans } from "../../src/page/assets/timeline_layout.js";
import { density } from "../../src/page/assets/timeline_map.js";
import { AXIS } from "../../src/page/assets/timeline_paint.js";
import { View } from "../../src/page/assets/timeline_scale.js";
import { makeUp } from "./made_up_lanes.mjs";

function laidOut(wishes, filters = {}) {
  const structure = makeUp(wishes);
  const data = new Data(structure);
  const store = new Store(data);
  store.filter(filters);
  const model = new Model(data);
  const { threads } = store.filters;
  const layout = new Layout(model, (bar) => store.passes(bar), (thread) => threads.size === 0 || threads.has(thread), new Fold([], model.first, model.last));
  return { structure, data, model, layout, arrows: new Arrows(layout) };
}

function viewOf(model, width = 1000) {
  const view = new View();
  view.width = width;
  view.setWhole(model.first, model.last);
  return view;
}

test("every agent has a lane and every bar a place", () => {
  const { structure, layout } = laidOut({ agents: 6, steps: 12 });
  assert.equal(layout.laneCount, 7);
  assert.equal(layout.barCount, structure.bars.object.length);
  assert.deepEqual([...layout.threads], structure.order);
  const crowded = layout.crowds.reduce((sum, crowd) => sum + (crowd ? crowd.counts.reduce((a, b) => a + b, 0) : 0), 0);
  assert.equal(layout.bars.length + crowded, structure.bars.object.length);
  assert.equal(new Set(layout.bars).size, layout.bars.length);
});

test("filters take lanes, bars and their arrows away", () => {
  const all = laidOut({ agents: 6, steps: 12 });
  const two = new Set([all.structure.order[0], all.structure.order[1]]);
  const some = laidOut({ agents: 6, steps: 12 }, { threads: two });
  assert.equal(some.layout.laneCount, 2);
  assert.ok(some.layout.barCount < all.layout.barCount);
  assert.ok(some.arrows.count > 0 && some.arrows.count < all.arrows.count);
  const failed = laidOut({ agents: 6, steps: 12, failures: 0.3 }, { outcomes: new Set(["failed"]) });
  assert.ok(failed.layout.barCount > 0);
  assert.ok([...failed.layout.bars].every((bar) => failed.model.outcomes[bar] === 1));
});

test("an empty session has a layout", () => {
  const structure = makeUp({ agents: 0, steps: 0 });
  structure.order = [];
  structure.lanes = [];
  const data = new Data(structure);
  const model = new Model(data);
  const layout = new Layout(model, () => true, () => true, new Fold([], model.first, model.last));
  assert.equal(layout.height, 0);
  assert.equal(layout.laneAt(0), -1);
  assert.equal(new Arrows(layout).choose(viewOf(model), 0, 500), 0);
});

test("bisection finds what is just before and just after", () => {
  const column = Float64Array.of(1, 3, 3, 7);
  assert.equal(firstNotBefore(column, 0, 4, 3), 1);
  assert.equal(firstNotBefore(column, 0, 4, 8), 4);
  assert.equal(lastNotAfter(column, 0, 4, 3), 2);
  assert.equal(lastNotAfter(column, 0, 4, 0), 0);
});

test("a row costs at most as many visits as it has pixels, and leaves no span out", () => {
  const count = 50_000;
  const starts = Float64Array.from({ length: count }, (_, index) => index * 10 + (index % 3));
  const ends = starts.map((start, index) => start + (index % 1000 === 0 ? 7 : index % 5));
  let visits = 0;
  let next = 0;
  visitSpans({ starts, ends }, 0, count, 0, count * 10, 500, (from, to) => {
    assert.equal(from, next);
    next = to;
    visits += 1;
  });
  assert.equal(next, count);
  assert.ok(visits <= (count * 10) / 500 + 1, `${visits}`);
});

test("spans that are long enough are visited one by one, those out of view not at all", () => {
  const starts = Float64Array.of(0, 10, 20, 21, 22, 40, 60);
  const ends = Float64Array.of(5, 20, 21, 22, 32, 41, 70);
  const visits = [];
  visitSpans({ starts, ends }, 0, 7, 12, 50, 4, (from, to) => visits.push([from, to]));
  assert.deepEqual(visits, [[1, 2], [2, 4], [4, 5], [5, 6]]);
});

test("sums tell what a group of bars consists of", () => {
  const { layout, model } = laidOut({ agents: 2, steps: 20, failures: 0.3 });
  const failed = FILLS.indexOf("failed");
  const last = layout.bars.length * FILLS.length;
  assert.equal(layout.sums[last + failed], [...layout.bars].filter((bar) => model.fills[bar] === failed).length);
});

test("lanes are as high as their rows and found by height", () => {
  const { layout } = laidOut({ agents: 4, steps: 10, parallel: 4 });
  for (const sizes of [layout.sizes, COMPACT]) {
    layout.setSizes(sizes);
    for (let lane = 0; lane < layout.laneCount; lane += 1) {
      assert.equal(layout.laneAt(layout.tops[lane]), lane);
      assert.equal(layout.laneAt(layout.tops[lane + 1] - 0.5), lane);
      assert.ok(layout.rowTop(lane, layout.rowCounts[lane] - 1) + sizes.bar <= layout.tops[lane + 1]);
    }
    assert.equal(layout.laneAt(layout.height), -1);
  }
});

test("arrows are what goes from lane to lane, and what got lost", () => {
  const { structure, arrows } = laidOut({ agents: 10, steps: 4 });
  const between = structure.edges.from.filter((from, index) => from !== structure.edges.to[index]).length;
  assert.equal(arrows.count, between + structure.lost.length);
  assert.ok(structure.lost.length > 0);
  assert.equal([...arrows.lost].filter((lost) => lost >= 0).length, structure.lost.length);
});

test("an arrow is drawn if one of its ends is in view, and never too many are", () => {
  const { model, layout, arrows } = laidOut({ agents: 400, steps: 2 });
  const view = viewOf(model);
  const all = arrows.choose(view, 0, layout.height);
  assert.ok(all <= MAX_ARROWS && all > 300, `${all}`);
  const some = arrows.choose(view, layout.tops[200], layout.tops[203]);
  assert.ok(some > 0 && some < 20, `${some}`);
  view.show(model.last - 10, model.last);
  assert.ok(arrows.choose(view, 0, layout.height) < all);
});

test("curves begin and end where they should, and parts of them lie on them", () => {
  const curve = new Curve();
  curve.set(10, 20, 200, 320);
  assert.deepEqual([curve.xAt(0), curve.yAt(0), curve.xAt(1), curve.yAt(1)], [10, 20, 200, 320]);
  assert.ok(curve.distance(curve.xAt(0.5), curve.yAt(0.5), 6) < 1);
  assert.equal(curve.distance(500, 500, 6), Infinity);
  curve.shorten(SENT);
  assert.ok(curve.isDrawnAt(0) && !curve.isDrawnAt(0.5) && !curve.isDrawnAt(1));
  assert.ok(curve.distance(200, 320, 6) > 6, "the far end is not drawn and cannot be hit");
  curve.set(10, 20, 200, 320);
  curve.shorten(RECEIVED);
  assert.ok(!curve.isDrawnAt(0) && curve.isDrawnAt(1));
  const path = [];
  curve.trace({ moveTo: (x, y) => path.push(x, y), bezierCurveTo: (...points) => path.push(...points) });
  assert.deepEqual(path.slice(-2), [200, 320]);
});

test("every bar that is wide enough can be hit where it is", () => {
  const { data, model, layout, arrows } = laidOut({ agents: 3, steps: 6 });
  const view = viewOf(model, 4000);
  const scene = { data, model, layout, arrows, view, gutter: 200, width: 4200, height: layout.height + AXIS, top: 0, chosen: { arrows: [] } };
  let met = 0;
  layout.bars.forEach((bar, at) => {
    const width = (layout.ends[at] - layout.starts[at]) * view.scale;
    if (width < 4) return;
    const x = 200 + view.x(layout.starts[at]) + width / 2;
    const y = AXIS + layout.rowTop(layout.laneOfBar[bar], layout.rows[bar]) + 8;
    const hit = hitAt(scene, x, y);
    assert.equal(hit.kind, "bar");
    assert.equal(hit.n, model.objects[bar]);
    met += 1;
  });
  assert.ok(met > 30);
});

test("turns, agents' names, the axis and empty places can be hit too", () => {
  const { data, structure, model, layout, arrows } = laidOut({ agents: 1, steps: 3 });
  const view = viewOf(model, 1000);
  const scene = { data, model, layout, arrows, view, gutter: 200, width: 1200, height: 900, top: 0, chosen: { arrows: [] } };
  assert.equal(hitAt(scene, 50, 5).kind, "gutter");
  assert.equal(hitAt(scene, 500, 5).kind, "axis");
  assert.deepEqual([hitAt(scene, 50, AXIS + 10).kind, hitAt(scene, 50, AXIS + 10).n], ["gutter", structure.order[0]]);
  assert.equal(hitAt(scene, 500, 890).kind, "nothing");
  const turn = hitAt(scene, 200 + view.x(data.start(layout.turns.objects[0]) + 5), AXIS + layout.tops[1] - 2);
  assert.deepEqual([turn.kind, turn.n], ["turn", layout.turns.objects[0]]);
});

test("an arrow can be hit in its middle", () => {
  const { data, model, layout, arrows } = laidOut({ agents: 3, steps: 6 });
  const view = viewOf(model, 3000);
  arrows.choose(view, 0, layout.height);
  const curve = new Curve();
  for (let arrow = 0; arrow < arrows.count; arrow += 1) {
    arrows.curve(arrow, view, curve);
    assert.equal(arrows.nearest(view, curve.xAt(0.5), curve.yAt(0.5), 6, 0, []), arrow);
  }
  assert.equal(data.typeName(arrows.objects[0]), "interaction_edge");
});

test("a selected hand-over has two ends, two lanes and its arrow", () => {
  const { data, layout, arrows } = laidOut({ agents: 3, steps: 6 });
  const [first] = data.rangeOf("interaction_edge");
  const chosen = choose(data, layout, arrows, first);
  assert.equal(chosen.lanes.length, 2);
  assert.equal(chosen.boxes.length + chosen.points.length, 2);
  assert.deepEqual(chosen.arrows, [arrows.of(first)]);
  const tool = choose(data, layout, arrows, data.edge(first).source);
  assert.ok(tool.arrows.includes(arrows.of(first)), "the arrows of a call are its hand-overs");
  assert.deepEqual(choose(data, layout, arrows, -1).lanes, []);
});

test("the map counts what runs at a time", () => {
  const { layout, model } = laidOut({ agents: 3, steps: 10, failures: 0.2 });
  const { series, failures, peak } = density(layout, 200, model.first, model.last);
  const total = series.reduce((sum, list) => sum + list.reduce((a, b) => a + b, 0), 0);
  const busy = model.starts.reduce((sum, start, bar) => sum + model.ends[bar] - start, 0);
  const column = (model.last - model.first) / 200;
  assert.ok(Math.abs(total * column - busy) < busy * 0.001, `${total * column} and ${busy}`);
  assert.equal(failures.reduce((a, b) => a + b, 0), model.outcomes.reduce((sum, outcome) => sum + (outcome === 1 ? 1 : 0), 0));
  assert.ok(peak > 0);
});

test("search hits are bars, or moments of their lane", () => {
  const { data, structure, layout, model } = laidOut({ agents: 3, steps: 6 });
  const [turn] = data.rangeOf("codex_turn");
  const payload = data.size;
  const { sums, points } = placeFound(layout, new Set([structure.bars.object[0], structure.bars.object[5], turn, payload, -1]));
  assert.equal(sums[sums.length - 1], 2);
  assert.deepEqual([...points.objects], [turn]);
  assert.equal(points.first[layout.laneOf.get(data.thread(turn)) + 1], 1);
  const view = viewOf(model, 1000);
  const scene = { data, model, layout, arrows: new Arrows(layout), view, gutter: 200, width: 1200, height: 900, top: 0, chosen: { arrows: [] }, found: { sums, points } };
  const hit = hitAt(scene, 200 + view.x(data.start(turn)), AXIS + layout.tops[1] - 4);
  assert.deepEqual([hit.kind, hit.n], ["mark", turn]);
});
