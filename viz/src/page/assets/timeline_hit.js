/** Finds what is at a point of the lanes. */

import { AXIS, FIND_HEIGHT, LEAST_BAR } from "./timeline_paint.js";
import { firstNotBefore, lastNotAfter } from "./timeline_layout.js";
import { MAX_ROWS } from "./timeline_rows.js";

/** How far from something thin the pointer still hits it, in pixels. */
const REACH = 4;

/** How far from an arrow the pointer still hits it, in pixels. The distance is smaller over a bar. */
const ARROW_REACH = 6;
const ARROW_REACH_OVER_BAR = 2.5;

/** Radius around the ends of an arrow, in pixels, in which the pointer hits the bar there and not the arrow. */
const SPARED = 9;

/**
 * The object or other part of the timeline at a point.
 *
 * @typedef {{kind: "axis"|"gutter"|"bar"|"group"|"crowd"|"arrow"|"mark"|"turn"|"lane"|"nothing", n: number, lane: number,
 *   count: number, failed: number, lost: number, end: number}} Hit `n` is the object, or the first of a group or crowd;
 *   `count` and `failed` are the numbers of all and of the failed objects in the group; `lost` is the index of a
 *   hand-over that never arrived
 */

/**
 * Returns the object or other part of the timeline at a point of the canvas.
 *
 * @param {import("./timeline_paint.js").Scene} scene
 * @param {number} x
 * @param {number} y
 * @returns {Hit}
 */
export function hitAt(scene, x, y) {
  const { layout, arrows, view, gutter, top, chosen } = scene;
  const hit = { kind: "nothing", n: -1, lane: -1, count: 1, failed: 0, lost: -1, end: -1 };
  if (y < AXIS) return { ...hit, kind: x < gutter ? "gutter" : "axis" };
  const down = y - AXIS + top;
  const lane = layout.laneAt(down);
  if (x < gutter) return { ...hit, kind: "gutter", lane, n: lane < 0 ? -1 : layout.threads[lane] };
  if (lane < 0) return hit;
  const across = x - gutter;
  const bar = barAt(layout, view, lane, across, down);
  const arrow = arrows.nearest(view, across, down, bar ? ARROW_REACH_OVER_BAR : ARROW_REACH, bar ? SPARED : 0, chosen.arrows);
  if (arrow >= 0) {
    const lost = arrows.lost[arrow];
    return { ...hit, kind: "arrow", lane, lost, n: lost >= 0 ? arrows.sources[arrow] : arrows.objects[arrow] };
  }
  const isLow = layout.tops[lane + 1] - down <= FIND_HEIGHT + 1;
  const find = scene.found && isLow ? pointAt(scene.found.points, view, lane, across) : -1;
  if (find >= 0) return { ...hit, kind: "mark", lane, n: find };
  const mark = down - layout.tops[lane] <= 12 ? pointAt(layout.marks, view, lane, across) : -1;
  if (mark >= 0) return { ...hit, kind: "mark", lane, n: mark };
  if (bar) return { ...hit, ...bar, lane };
  const turn = turnAt(layout, view, lane, across);
  if (turn >= 0) return { ...hit, kind: "turn", lane, n: layout.turns.objects[turn], end: layout.fold.time(layout.turns.ends[turn]) };
  return { ...hit, kind: "lane", lane, n: layout.threads[lane] };
}

function barAt(layout, view, lane, x, y) {
  const { sizes, model } = layout;
  const step = sizes.bar + sizes.gap;
  const row = Math.floor((y - layout.tops[lane] - sizes.pad + sizes.gap / 2) / step);
  if (row < 0) return null;
  if (row >= MAX_ROWS) return crowdAt(layout.crowds[lane], layout, view, x);
  const index = layout.firstRow[lane] + row;
  if (index >= layout.firstRow[lane + 1]) return null;
  const low = layout.rowStarts[index];
  const high = layout.rowStarts[index + 1];
  if (low === high) return null;
  const reach = REACH / view.scale;
  const place = view.at(x);
  const at = lastNotAfter(layout.starts, low, high, place);
  let best = -1;
  let least = reach;
  for (const candidate of [at, at + 1, at - 1]) {
    if (candidate < low || candidate >= high) continue;
    const shownEnd = Math.max(layout.ends[candidate], layout.starts[candidate] + LEAST_BAR / view.scale);
    const distance = Math.max(layout.starts[candidate] - place, place - shownEnd, 0);
    if (distance < least || (distance === 0 && best < 0)) {
      best = candidate;
      least = distance;
    }
  }
  if (best < 0) return null;
  const bar = layout.bars[best];
  const pixel = 1.5 / view.scale;
  if (layout.ends[best] - layout.starts[best] < pixel) {
    const from = firstNotBefore(layout.starts, low, high, layout.starts[best] - pixel);
    const to = firstNotBefore(layout.starts, low, high, layout.starts[best] + pixel);
    if (to - from > 1) return groupOf(layout, from, to);
  }
  return { kind: "bar", n: model.objects[bar], end: model.ends[bar] };
}

function groupOf(layout, from, to) {
  const { model } = layout;
  let failed = 0;
  let first = -1;
  for (let at = from; at < to; at += 1) {
    const bar = layout.bars[at];
    if (model.outcomes[bar] !== 1) continue;
    failed += 1;
    if (first < 0) first = bar;
  }
  return { kind: "group", n: model.objects[first >= 0 ? first : layout.bars[from]], count: to - from, failed };
}

function crowdAt(crowd, layout, view, x) {
  if (!crowd) return null;
  const place = view.at(x);
  const reach = REACH / view.scale;
  const at = lastNotAfter(crowd.starts, 0, crowd.starts.length, place + reach);
  if (crowd.starts[at] > place + reach || crowd.ends[at] + reach < place) return null;
  return { kind: "crowd", n: layout.model.objects[crowd.firsts[at]], count: crowd.counts[at] };
}

function pointAt(points, view, lane, x) {
  const high = points.first[lane + 1];
  const at = firstNotBefore(points.starts, points.first[lane], high, view.at(x - REACH - 1));
  return at < high && view.x(points.starts[at]) <= x + REACH + 1 ? points.objects[at] : -1;
}

function turnAt(layout, view, lane, x) {
  const { turns } = layout;
  const low = turns.first[lane];
  const high = turns.first[lane + 1];
  if (low === high) return -1;
  const place = view.at(x);
  const at = lastNotAfter(turns.starts, low, high, place);
  const reach = 2 / view.scale;
  return turns.starts[at] <= place + reach && turns.ends[at] + reach >= place ? at : -1;
}
