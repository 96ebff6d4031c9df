/** Hand-overs between agents as arrows: which exist, their curves, which are drawn, and which is near a point. */

/** Most arrows in a frame. Hand-overs of the selected object are drawn in addition. */
export const MAX_ARROWS = 1500;

/** Number of arrows in view from which all of them are drawn faintly, so that bars stay legible. */
export const FADE_FROM = 60;

/** Kinds of hand-overs. `kinds` contains indexes into this list. `lost` hand-overs never arrived. */
export const ARROW_KINDS = ["spawn_agent", "assign_agent_task", "send_message", "agent_result", "close_agent", "lost"];

const LOST = ARROW_KINDS.indexOf("lost");

/** The arrows between lanes. Hand-overs within one lane are left out: their arrows would cover the bars. */
export class Arrows {
  /**
   * @param {import("./timeline_layout.js").Layout} layout
   */
  constructor(layout) {
    const { data, barOf } = layout.model;
    const { edges, lost } = data.raw;
    const [first] = data.rangeOf("interaction_edge");
    const list = [];
    edges.source.forEach((source, index) => {
      const from = layout.laneOf.get(edges.from[index]) ?? -1;
      const to = layout.laneOf.get(edges.to[index]) ?? -1;
      if (from < 0 || to < 0 || from === to) return;
      const sent = edges.sent[index];
      const received = edges.received[index];
      list.push({
        n: first + index,
        kind: Math.max(0, ARROW_KINDS.indexOf(data.text(edges.kind[index]))),
        from,
        to,
        source,
        target: edges.target[index],
        sent,
        received: received < 0 ? sent : Math.max(sent, received),
        isOpen: received < 0,
        lost: -1,
      });
    });
    lost.forEach((one, index) => {
      const from = layout.laneOf.get(one.from) ?? -1;
      // If the filters hide the lane of the receiver, they hide the arrow too. A receiver that is not in the recording
      // has no lane.
      if (from < 0 || (one.to >= 0 && !layout.laneOf.has(one.to))) return;
      const to = layout.laneOf.get(one.to) ?? from;
      list.push({ n: -1, kind: LOST, from, to, source: one.source, target: -1, sent: one.sent, received: one.sent, isOpen: false, lost: index });
    });
    list.sort((a, b) => a.sent - b.sent || a.n - b.n);
    this.layout = layout;
    this.count = list.length;
    this.objects = Int32Array.from(list, (arrow) => arrow.n);
    this.kinds = Uint8Array.from(list, (arrow) => arrow.kind);
    this.from = Int32Array.from(list, (arrow) => arrow.from);
    this.to = Int32Array.from(list, (arrow) => arrow.to);
    this.sources = Int32Array.from(list, (arrow) => arrow.source);
    this.targets = Int32Array.from(list, (arrow) => arrow.target);
    this.sent = Float64Array.from(list, (arrow) => layout.fold.place(arrow.sent));
    this.received = Float64Array.from(list, (arrow) => layout.fold.place(arrow.received));
    this.open = Uint8Array.from(list, (arrow) => (arrow.isOpen ? 1 : 0));
    this.lost = Int32Array.from(list, (arrow) => arrow.lost);
    this.fromRows = Uint8Array.from(list, (arrow) => rowOf(layout, barOf, arrow.source, arrow.from));
    this.toRows = Uint8Array.from(list, (arrow) => rowOf(layout, barOf, arrow.target, arrow.to));
    this.byObject = new Map(list.map((arrow, index) => [arrow.n, index]));
    this.drawn = new Int32Array(Math.max(1, Math.min(this.count, MAX_ARROWS)));
    this.drawnCount = 0;
    /** For each arrow of `drawn`, which of its ends are in view. */
    this.ends = new Uint8Array(this.count);
    this.taken = new Int32Array(8192);
    this.takenBy = new Int32Array(8192);
    this.frame = 0;
  }

  /** Returns the arrow of an edge, or -1. */
  of(n) {
    return n < 0 ? -1 : (this.byObject.get(n) ?? -1);
  }

  /**
   * Computes the curve of an arrow in pixels of the plot.
   *
   * @param {number} arrow
   * @param {import("./timeline_scale.js").View} view
   * @param {Curve} curve
   */
  curve(arrow, view, curve) {
    const { layout } = this;
    const half = layout.sizes.bar / 2;
    const x1 = view.x(this.sent[arrow]);
    const y1 = layout.rowTop(this.from[arrow], this.fromRows[arrow]) + half;
    let x2 = view.x(this.received[arrow]);
    let y2 = layout.rowTop(this.to[arrow], this.toRows[arrow]) + half;
    if (this.kinds[arrow] === LOST) {
      // It ends before it arrives. If it begins in the view, it ends in the view.
      x2 = x1 <= view.width ? Math.min(x1 + 26, Math.max(x1, view.width - 8)) : x1 + 26;
      y2 = this.to[arrow] === this.from[arrow] ? y1 + 20 : y1 + (y2 - y1) * 0.6;
    }
    curve.set(x1, y1, x2, y2);
  }

  /**
   * Chooses the arrows of a frame, stores them in `drawn` and returns their number. An arrow is drawn if one of its
   * ends is in view. Of arrows that look the same in pixels only one is drawn, and never more than `MAX_ARROWS`.
   *
   * @param {import("./timeline_scale.js").View} view
   * @param {number} top
   * @param {number} bottom
   * @returns {number}
   */
  choose(view, top, bottom) {
    const { layout } = this;
    const firstLane = Math.max(0, layout.laneAt(Math.max(0, top)));
    const lastLane = bottom >= layout.height ? layout.laneCount - 1 : layout.laneAt(bottom);
    const margin = 8 / view.scale;
    const start = view.start - margin;
    const end = view.end + margin;
    const grain = 2 / view.scale;
    let count = 0;
    this.frame += 1;
    for (let arrow = 0; arrow < this.count && count < this.drawn.length; arrow += 1) {
      const sent = this.sent[arrow];
      if (sent > end) break;
      const received = this.received[arrow];
      const from = this.from[arrow];
      const to = this.to[arrow];
      const isSentInView = sent >= start && from >= firstLane && from <= lastLane;
      const isReceivedInView = received >= start && received <= end && to >= firstLane && to <= lastLane;
      if (!isSentInView && !isReceivedInView) continue;
      const key = hash(Math.floor(sent / grain), Math.floor(received / grain), from * 16 + this.kinds[arrow], to);
      const slot = key & (this.taken.length - 1);
      if (this.taken[slot] === this.frame && this.looksLike(this.takenBy[slot], arrow, grain)) continue;
      this.taken[slot] = this.frame;
      this.takenBy[slot] = arrow;
      this.drawn[count] = arrow;
      this.ends[arrow] = (isSentInView ? SENT : 0) | (isReceivedInView ? RECEIVED : 0);
      count += 1;
    }
    this.drawnCount = count;
    return count;
  }

  /** Says whether there are so many arrows in view that they are drawn faintly, and long ones only near their ends. */
  get isCrowded() {
    return this.drawnCount > FADE_FROM;
  }

  /** Computes the curve of an arrow of `drawn`, as it is drawn. */
  drawnCurve(arrow, view, curve) {
    this.curve(arrow, view, curve);
    if (!this.isCrowded || this.kinds[arrow] === LOST) return;
    if (this.ends[arrow] !== (SENT | RECEIVED) || Math.abs(curve.y2 - curve.y1) > LONG) curve.shorten(this.ends[arrow]);
  }

  looksLike(one, other, grain) {
    return (
      this.from[one] === this.from[other] &&
      this.to[one] === this.to[other] &&
      this.kinds[one] === this.kinds[other] &&
      Math.abs(this.sent[one] - this.sent[other]) <= grain &&
      Math.abs(this.received[one] - this.received[other]) <= grain
    );
  }

  /**
   * Returns the arrow that is nearest to a point of the plot and at most `reach` away, or -1. Considers the arrows of
   * the last frame and those of `chosen`. The parts of an arrow within `spared` pixels of its ends do not count.
   *
   * @param {import("./timeline_scale.js").View} view
   * @param {number} x
   * @param {number} y
   * @param {number} reach
   * @param {number} spared
   * @param {number[]} chosen
   * @returns {number}
   */
  nearest(view, x, y, reach, spared, chosen) {
    const curve = new Curve();
    let best = -1;
    let least = reach;
    const consider = (arrow) => {
      const distance = curve.distance(x, y, least);
      if (distance < least && Math.hypot(x - curve.x1, y - curve.y1) >= spared && Math.hypot(x - curve.x2, y - curve.y2) >= spared) {
        least = distance;
        best = arrow;
      }
    };
    for (const arrow of chosen) {
      this.curve(arrow, view, curve);
      consider(arrow);
    }
    for (let index = 0; index < this.drawnCount; index += 1) {
      this.drawnCurve(this.drawn[index], view, curve);
      consider(this.drawn[index]);
    }
    return best;
  }
}

function rowOf(layout, barOf, object, lane) {
  const bar = object >= 0 ? barOf[object] : -1;
  return bar >= 0 && layout.laneOfBar[bar] === lane ? layout.rows[bar] : 0;
}

function hash(a, b, c, d) {
  let value = Math.imul(a | 0, 0x9e3779b1) ^ Math.imul(b | 0, 0x85ebca6b) ^ Math.imul(c, 0xc2b2ae35) ^ Math.imul(d, 0x27d4eb2f);
  value ^= value >>> 15;
  return Math.imul(value, 0x2c1b3c6d) >>> 8;
}

/** Number of straight pieces that approximate a curve when distances are measured. */
const PIECES = 24;

/** Height of an arrow from which it counts as long, in pixels. */
export const LONG = 160;

/** Height of the visible part at an end of a shortened curve, in pixels. */
const STUB = 26;

/** Ends of an arrow that are in view, as bits. */
export const SENT = 1;
export const RECEIVED = 2;

/** Returns a control point of a part of a curve (the blossom of a cubic Bézier curve). */
function blossom(a, b, c, d, r, s, t) {
  const ab = a + (b - a) * r;
  const bc = b + (c - b) * r;
  const cd = c + (d - c) * r;
  const abc = ab + (bc - ab) * s;
  const bcd = bc + (cd - bc) * s;
  return abc + (bcd - abc) * t;
}

/** A curve from one bar to another. It leaves to the right and arrives from the left, in the direction of time. */
export class Curve {
  constructor() {
    this.x1 = 0;
    this.y1 = 0;
    this.x2 = 0;
    this.y2 = 0;
    this.bend = 0;
    /** Which ends are drawn, and how much of the curve near them; 1 means all of it. */
    this.ends = SENT | RECEIVED;
    this.near = 1;
  }

  /** Sets both ends. */
  set(x1, y1, x2, y2) {
    this.x1 = x1;
    this.y1 = y1;
    this.x2 = x2;
    this.y2 = y2;
    this.bend = Math.max(14, Math.min(70, Math.abs(x2 - x1) / 2, 14 + Math.abs(y2 - y1) / 4));
    this.ends = SENT | RECEIVED;
    this.near = 1;
  }

  /** Reduces the curve to the parts near its first end, its last end, or both. */
  shorten(ends) {
    this.ends = ends;
    this.near = Math.min(0.4, Math.sqrt(STUB / (3 * Math.max(1, Math.abs(this.y2 - this.y1)))));
  }

  /** Says whether the point at `part` of the curve is drawn. */
  isDrawnAt(part) {
    return this.near === 1 || ((this.ends & SENT) !== 0 && part <= this.near) || ((this.ends & RECEIVED) !== 0 && part >= 1 - this.near);
  }

  /** Adds the curve to a path. */
  trace(context) {
    const { x1, y1, x2, y2, bend, near, ends } = this;
    if (near === 1) {
      context.moveTo(x1, y1);
      context.bezierCurveTo(x1 + bend, y1, x2 - bend, y2, x2, y2);
      return;
    }
    if (ends & SENT) this.tracePart(context, 0, near);
    if (ends & RECEIVED) this.tracePart(context, 1 - near, 1);
  }

  tracePart(context, begin, finish) {
    const { x1, y1, x2, y2, bend } = this;
    context.moveTo(this.xAt(begin), this.yAt(begin));
    context.bezierCurveTo(
      blossom(x1, x1 + bend, x2 - bend, x2, begin, begin, finish),
      blossom(y1, y1, y2, y2, begin, begin, finish),
      blossom(x1, x1 + bend, x2 - bend, x2, begin, finish, finish),
      blossom(y1, y1, y2, y2, begin, finish, finish),
      this.xAt(finish),
      this.yAt(finish),
    );
  }

  /** Returns the horizontal pixel at a part of the curve, from 0 to 1. */
  xAt(part) {
    const rest = 1 - part;
    const { x1, x2, bend } = this;
    return rest * rest * rest * x1 + 3 * rest * rest * part * (x1 + bend) + 3 * rest * part * part * (x2 - bend) + part * part * part * x2;
  }

  /** Returns the vertical pixel at a part of the curve, from 0 to 1. */
  yAt(part) {
    const rest = 1 - part;
    return rest * rest * (rest + 3 * part) * this.y1 + part * part * (part + 3 * rest) * this.y2;
  }

  /** Returns the distance of a point from the curve, or Infinity if it is more than `reach`. */
  distance(x, y, reach) {
    const { x1, y1, x2, y2, bend, near, ends } = this;
    if (y < Math.min(y1, y2) - reach || y > Math.max(y1, y2) + reach) return Infinity;
    if (x < Math.min(x1, x2 - bend) - reach || x > Math.max(x1 + bend, x2) + reach) return Infinity;
    if (near === 1) return this.distanceToPart(x, y, 0, 1);
    return Math.min(
      ends & SENT ? this.distanceToPart(x, y, 0, near) : Infinity,
      ends & RECEIVED ? this.distanceToPart(x, y, 1 - near, 1) : Infinity,
    );
  }

  distanceToPart(x, y, begin, finish) {
    let least = Infinity;
    let beforeX = this.xAt(begin);
    let beforeY = this.yAt(begin);
    for (let piece = 1; piece <= PIECES; piece += 1) {
      const part = begin + (finish - begin) * (piece / PIECES);
      const afterX = this.xAt(part);
      const afterY = this.yAt(part);
      least = Math.min(least, distanceToPiece(x, y, beforeX, beforeY, afterX, afterY));
      beforeX = afterX;
      beforeY = afterY;
    }
    return least;
  }
}

function distanceToPiece(x, y, x1, y1, x2, y2) {
  const dx = x2 - x1;
  const dy = y2 - y1;
  const length = dx * dx + dy * dy;
  const part = length > 0 ? Math.max(0, Math.min(1, ((x - x1) * dx + (y - y1) * dy) / length)) : 0;
  return Math.hypot(x - x1 - part * dx, y - y1 - part * dy);
}
