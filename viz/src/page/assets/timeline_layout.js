/**
 * The places of everything on the timeline: lanes, their rows, their bars, turns and marks.
 *
 * The data is in typed arrays by *position*: bars are sorted by lane, row and time, so that drawing a row is a walk
 * along neighbours from a position that bisection finds.
 */

import { worstByThread } from "./outcome.js";
import { MAX_ROWS, joinOverlapping, packRows } from "./timeline_rows.js";

/** Fills of bars. `fills` contains indexes into this list. */
export const FILLS = ["model", "tool", "code", "wait", "retry", "compaction", "other", "failed"];

/** Outcomes of bars. `outcomes` contains indexes into this list. */
export const OUTCOMES = ["completed", "failed", "cancelled", "unfinished"];

/** Sizes of lanes in pixels. */
export const ROOMY = { name: "roomy", bar: 17, gap: 2, pad: 5 };
export const COMPACT = { name: "compact", bar: 6, gap: 1, pad: 2 };

/** The part of a session's data that does not depend on filters and sizes. */
export class Model {
  /**
   * @param {import("./data.js").Data} data
   */
  constructor(data) {
    const { bars, works, outcomes, objects, session } = data.raw;
    this.data = data;
    this.count = bars.object.length;
    this.objects = Int32Array.from(bars.object);
    this.inside = Int32Array.from(bars.inside);
    this.starts = Float64Array.from(bars.start);
    this.ends = Float64Array.from(bars.end, (end, bar) => Math.max(end, bars.start[bar]));
    this.fills = new Uint8Array(this.count);
    this.outcomes = new Uint8Array(this.count);
    /** For each thread, the worst outcome of its turns. */
    this.worst = worstByThread(data);
    /** For each object, its bar, or -1. */
    this.barOf = new Int32Array(data.size).fill(-1);
    const [firstCell, cells] = data.rangeOf("code_cell");
    for (let bar = 0; bar < this.count; bar += 1) {
      const n = this.objects[bar];
      this.barOf[n] = bar;
      const outcome = Math.max(0, OUTCOMES.indexOf(outcomes[objects.outcome[n]]));
      this.outcomes[bar] = outcome;
      this.fills[bar] = FILLS.indexOf(fillName(works[bars.work[bar]], OUTCOMES[outcome], n >= firstCell && n < firstCell + cells));
    }
    this.first = this.starts.reduce((least, start) => Math.min(least, start), 0);
    this.last = this.ends.reduce((most, end) => Math.max(most, end), Math.max(session.wall_ms ?? 0, this.first + 1));
  }

  /** Returns the outcome of an agent: the worst outcome of its turns. */
  outcomeOf(thread) {
    return this.worst.get(thread) ?? this.data.outcome(thread);
  }
}

function fillName(work, outcome, isCode) {
  if (work === "retry") return "retry";
  if (outcome === "failed") return "failed";
  if (work === "tool" && isCode) return "code";
  return FILLS.includes(work) ? work : "other";
}

/** The layout for the current filters and fold. */
export class Layout {
  /**
   * @param {Model} model
   * @param {(bar: number) => boolean} passes
   * @param {(thread: number) => boolean} shows
   * @param {import("./timeline_fold.js").Fold} fold
   */
  constructor(model, passes, shows, fold) {
    const { data } = model;
    const lanes = data.raw.lanes.filter((lane) => shows(lane.thread));
    this.model = model;
    this.fold = fold;
    this.laneCount = lanes.length;
    this.threads = Int32Array.from(lanes, (lane) => lane.thread);
    /** For each thread, its lane. */
    this.laneOf = new Map(lanes.map((lane, index) => [lane.thread, index]));
    this.rowCounts = new Uint8Array(lanes.length);
    this.tops = new Float64Array(lanes.length + 1);
    this.rows = new Uint8Array(model.count);
    this.laneOfBar = new Int32Array(model.count).fill(-1);
    this.placeBars(lanes, passes);
    this.placeTurns();
    this.placeMarks();
    this.setSizes(ROOMY);
  }

  placeBars(lanes, passes) {
    const { model } = this;
    const byRow = [];
    this.firstRow = new Uint32Array(lanes.length + 1);
    const rowStarts = [];
    /** For each lane, the spans of its crowd: `{starts, ends, counts, firsts}`, or null. */
    this.crowds = new Array(lanes.length).fill(null);
    lanes.forEach((lane, index) => {
      const bars = [];
      for (let bar = lane.first; bar < lane.first + lane.count; bar += 1) if (passes(bar)) bars.push(bar);
      const before = (a, b) => model.starts[a] - model.starts[b] || (model.inside[a] >= 0) - (model.inside[b] >= 0) || a - b;
      bars.sort(before);
      const used = packRows(bars, model, this.rows);
      const rows = Array.from({ length: Math.min(used, MAX_ROWS) }, () => []);
      const crowd = [];
      for (const bar of bars) {
        this.laneOfBar[bar] = index;
        (rows[this.rows[bar]] ?? crowd).push(bar);
      }
      if (crowd.length > 0) this.crowds[index] = this.placed(joinOverlapping(crowd, model.starts, model.ends));
      this.rowCounts[index] = used;
      this.firstRow[index] = rowStarts.length;
      for (const row of rows) {
        rowStarts.push(byRow.length);
        for (const bar of row) byRow.push(bar);
      }
    });
    this.firstRow[lanes.length] = rowStarts.length;
    rowStarts.push(byRow.length);
    /** For each row of all lanes, its first position. */
    this.rowStarts = Uint32Array.from(rowStarts);
    /** For each position, its bar. */
    this.bars = Int32Array.from(byRow);
    /** Number of bars, including those of crowds. */
    this.barCount = this.laneOfBar.reduce((sum, lane) => sum + (lane >= 0 ? 1 : 0), 0);
    this.starts = Float64Array.from(this.bars, (bar) => this.fold.place(model.starts[bar]));
    this.ends = Float64Array.from(this.bars, (bar) => this.fold.place(model.ends[bar]));
    /**
     * For each position and fill, the number of bars before the position with this fill. It tells which fill is the
     * most frequent in a group of bars.
     */
    this.sums = new Uint32Array((this.bars.length + 1) * FILLS.length);
    for (let at = 0; at < this.bars.length; at += 1) {
      const here = at * FILLS.length;
      for (let fill = 0; fill < FILLS.length; fill += 1) this.sums[here + FILLS.length + fill] = this.sums[here + fill];
      this.sums[here + FILLS.length + model.fills[this.bars[at]]] += 1;
    }
  }

  placed(spans) {
    const { fold } = this;
    return { ...spans, starts: spans.starts.map((time) => fold.place(time)), ends: spans.ends.map((time) => fold.place(time)) };
  }

  placeTurns() {
    const { data } = this.model;
    const [first, count] = data.rangeOf("codex_turn");
    const turns = [];
    for (let n = first; n < first + count; n += 1) {
      const lane = this.laneOf.get(data.thread(n));
      if (lane === undefined || data.start(n) < 0) continue;
      turns.push({ n, lane, start: data.start(n), end: this.endOfTurn(n) });
    }
    turns.sort((a, b) => a.lane - b.lane || a.start - b.start || a.n - b.n);
    this.turns = spansByLane(turns, this.laneCount, this.fold);
    this.verdicts = turns.map(({ n }) => data.text(data.raw.turns.verdict[n - first]));
  }

  endOfTurn(n) {
    const { data, last } = this.model;
    const mustEnd = data.raw.turns.must_end[data.indexOf(n)];
    const end = data.end(n) >= 0 ? data.end(n) : mustEnd >= 0 ? mustEnd : last;
    return Math.max(end, data.start(n));
  }

  placeMarks() {
    const { data } = this.model;
    const [first, count] = data.rangeOf("compaction");
    const marks = [];
    for (let n = first; n < first + count; n += 1) {
      const lane = this.laneOf.get(data.thread(n));
      if (lane !== undefined && data.start(n) >= 0) marks.push({ n, lane, start: data.start(n), end: data.start(n) });
    }
    marks.sort((a, b) => a.lane - b.lane || a.start - b.start || a.n - b.n);
    /** Compactions. */
    this.marks = spansByLane(marks, this.laneCount, this.fold);
  }

  /** Sets the sizes of lanes. */
  setSizes(sizes) {
    this.sizes = sizes;
    for (let lane = 0; lane < this.laneCount; lane += 1) {
      this.tops[lane + 1] = this.tops[lane] + 2 * sizes.pad + this.rowCounts[lane] * (sizes.bar + sizes.gap) - sizes.gap;
    }
  }

  /** Returns the height of all lanes. */
  get height() {
    return this.tops[this.laneCount];
  }

  /** Returns the lane at a vertical offset, or -1. */
  laneAt(y) {
    if (y < 0 || y >= this.height) return -1;
    return lastNotAfter(this.tops, 0, this.laneCount, y);
  }

  /** Returns the top of a row of a lane. */
  rowTop(lane, row) {
    return this.tops[lane] + this.sizes.pad + row * (this.sizes.bar + this.sizes.gap);
  }

  /** Returns the place where a bar begins. */
  startOf(bar) {
    return this.fold.place(this.model.starts[bar]);
  }

  /** Returns the place where a bar ends. */
  endOf(bar) {
    return this.fold.place(this.model.ends[bar]);
  }

  /** Returns the bars of a lane, sorted by start. */
  barsOf(lane) {
    const { data, starts } = this.model;
    const all = data.raw.lanes.find((one) => one.thread === this.threads[lane]);
    const bars = [];
    for (let bar = all.first; bar < all.first + all.count; bar += 1) if (this.laneOfBar[bar] === lane) bars.push(bar);
    return bars.sort((a, b) => starts[a] - starts[b] || a - b);
  }
}

/**
 * Returns where the hits of a search are on the timeline: `sums`, the number of hits among the bars before each
 * position, and `points`, the moments of hits without a bar, by lane.
 *
 * @param {Layout} layout
 * @param {Iterable<number>} found
 * @returns {{sums: Uint32Array, points: object}}
 */
export function placeFound(layout, found) {
  const { bars, model, laneOf } = layout;
  const { data } = model;
  const isFound = new Uint8Array(model.count);
  const points = [];
  for (const n of found) {
    const bar = model.barOf[n] ?? -1;
    if (bar >= 0) {
      isFound[bar] = 1;
      continue;
    }
    const lane = laneOf.get(data.thread(n));
    if (lane !== undefined && data.start(n) >= 0) points.push({ n, lane, start: data.start(n), end: data.start(n) });
  }
  const sums = new Uint32Array(bars.length + 1);
  for (let at = 0; at < bars.length; at += 1) sums[at + 1] = sums[at] + isFound[bars[at]];
  points.sort((a, b) => a.lane - b.lane || a.start - b.start || a.n - b.n);
  return { sums, points: spansByLane(points, layout.laneCount, layout.fold) };
}

function spansByLane(list, laneCount, fold) {
  const first = new Uint32Array(laneCount + 1);
  for (const { lane } of list) first[lane + 1] += 1;
  for (let lane = 0; lane < laneCount; lane += 1) first[lane + 1] += first[lane];
  const ends = Float64Array.from(list, ({ end }) => fold.place(end));
  // Turns of a thread may overlap. Bisection needs the latest end so far.
  const reach = Float64Array.from(ends);
  for (let at = 1; at < list.length; at += 1) {
    if (list[at].lane === list[at - 1].lane) reach[at] = Math.max(reach[at], reach[at - 1]);
  }
  return {
    first,
    objects: Int32Array.from(list, ({ n }) => n),
    starts: Float64Array.from(list, ({ start }) => fold.place(start)),
    ends,
    reach,
  };
}

/** Returns the last index of a sorted part of a column whose value is at most `value`, or `low` if there is none. */
export function lastNotAfter(column, low, high, value) {
  let from = low;
  let to = high;
  while (to - from > 1) {
    const middle = (from + to) >> 1;
    if (column[middle] <= value) from = middle;
    else to = middle;
  }
  return from;
}

/** Returns the first index of a sorted part of a column whose value is at least `value`, or `high` if there is none. */
export function firstNotBefore(column, low, high, value) {
  let from = low;
  let to = high;
  while (from < to) {
    const middle = (from + to) >> 1;
    if (column[middle] < value) from = middle + 1;
    else to = middle;
  }
  return from;
}

/**
 * Visits the part of a row that is in view: calls `visit(from, to)` for every span that is at least `least` long, and
 * for every group of shorter spans that begin within `least` of each other. So a row has at most as many visits as the
 * view has pixels, however many spans there are.
 *
 * @param {{starts: Float64Array, ends: Float64Array, reach?: Float64Array}} spans
 * @param {number} low first position of the row
 * @param {number} high position after its last
 * @param {number} start first place in view
 * @param {number} end last place in view
 * @param {number} least
 * @param {(from: number, to: number) => void} visit
 */
export function visitSpans({ starts, ends, reach = ends }, low, high, start, end, least, visit) {
  let at = firstNotBefore(reach, low, high, start);
  while (at < high && starts[at] <= end) {
    if (ends[at] - starts[at] >= least) {
      visit(at, at + 1);
      at += 1;
      continue;
    }
    const limit = starts[at] + least;
    let next = at + 1;
    // Most groups are small, so search with growing strides instead of bisecting the whole rest.
    if (next < high && starts[next] < limit) {
      let stride = 1;
      while (next + stride < high && starts[next + stride] < limit) stride *= 2;
      next = firstNotBefore(starts, next, Math.min(high, next + stride + 1), limit);
      // A long span can only be the last one that begins within a group.
      if (next - 1 > at && ends[next - 1] - starts[next - 1] >= least) next -= 1;
    }
    visit(at, next);
    at = next;
  }
}
