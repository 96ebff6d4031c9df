/** How the selected object appears on the timeline: bars and bands with a frame, marked moments, arrows, lanes. */

/**
 * @typedef {{object: number, boxes: {lane: number, start: number, end: number, top: number, height: number}[],
 *   points: {lane: number, at: number}[], arrows: number[], lanes: number[]}} Chosen
 */

/** Most arrows that a selection emphasizes. */
export const MAX_CHOSEN_ARROWS = 400;

/**
 * Finds how the selected object appears on the timeline.
 *
 * @param {import("./data.js").Data} data
 * @param {import("./timeline_layout.js").Layout} layout
 * @param {import("./timeline_arrows.js").Arrows} arrows
 * @param {number} n
 * @returns {Chosen}
 */
export function choose(data, layout, arrows, n) {
  const chosen = { object: n, boxes: [], points: [], arrows: [], lanes: [] };
  if (n < 0) return chosen;
  const type = data.typeName(n);
  if (type === "interaction_edge") {
    const edge = data.edge(n);
    for (const thread of new Set([edge.from, edge.to])) addLane(chosen, layout, thread);
    // Mark both ends: the bar of an end if it has one, or the moment.
    if (!addBar(chosen, layout, edge.source)) addPoint(chosen, layout, edge.from, edge.sent);
    if (!addBar(chosen, layout, edge.target)) addPoint(chosen, layout, edge.to, edge.received);
    addArrow(chosen, arrows, n);
    return chosen;
  }
  const thread = type === "thread" ? n : data.thread(n);
  addLane(chosen, layout, thread);
  if (type === "codex_turn") addTurn(chosen, layout, n);
  else if (type !== "thread" && !addBar(chosen, layout, n)) addPoint(chosen, layout, thread, data.start(n));
  for (const edge of data.edgesAt(n).slice(0, MAX_CHOSEN_ARROWS)) addArrow(chosen, arrows, edge);
  return chosen;
}

function addLane(chosen, layout, thread) {
  const lane = layout.laneOf.get(thread);
  if (lane !== undefined) chosen.lanes.push(lane);
}

function addArrow(chosen, arrows, edge) {
  const arrow = arrows.of(edge);
  if (arrow >= 0) chosen.arrows.push(arrow);
}

function addBar(chosen, layout, n) {
  const bar = n >= 0 ? layout.model.barOf[n] : -1;
  if (bar < 0 || layout.laneOfBar[bar] < 0) return false;
  const lane = layout.laneOfBar[bar];
  const top = layout.rowTop(lane, layout.rows[bar]) - layout.tops[lane];
  chosen.boxes.push({ lane, start: layout.startOf(bar), end: layout.endOf(bar), top, height: layout.sizes.bar });
  return true;
}

function addTurn(chosen, layout, n) {
  const at = layout.turns.objects.indexOf(n);
  if (at < 0) return;
  const lane = layout.laneOf.get(layout.model.data.thread(n));
  const height = layout.tops[lane + 1] - layout.tops[lane] - 4;
  chosen.boxes.push({ lane, start: layout.turns.starts[at], end: layout.turns.ends[at], top: 2, height });
}

function addPoint(chosen, layout, thread, time) {
  const lane = layout.laneOf.get(thread);
  if (lane !== undefined && time >= 0) chosen.points.push({ lane, at: layout.fold.place(time) });
}
