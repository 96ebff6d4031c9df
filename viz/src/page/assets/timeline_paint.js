/**
 * Draws the lanes. The cost of a frame depends only on what is in view: it allocates almost nothing and reads no bar
 * that is not visible.
 */

import { number, wallDay, wallTime } from "./format.js";
import { ARROW_KINDS, Curve, RECEIVED } from "./timeline_arrows.js";
import { moodOf, signOf } from "./outcome.js";
import { makePatterns } from "./timeline_colours.js";
import { FILLS, OUTCOMES, visitSpans } from "./timeline_layout.js";
import { MAX_ROWS } from "./timeline_rows.js";
import { firstTick, niceStep, tickLabel } from "./timeline_scale.js";
import { barText, cut, laneName } from "./timeline_words.js";

/** Height of the axis in pixels. */
export const AXIS = 38;

/** Least width of a bar in pixels, so that an object without a duration is visible. */
export const LEAST_BAR = 2;

/** Bars narrower than this are drawn together with their neighbours, in pixels. */
const MERGED = 1.5;

/** Bars narrower than this have no text, in pixels. */
const LEAST_TEXT = 26;

/** Texts that would be truncated to fewer characters are omitted, since they would say nothing. */
const LEAST_CHARACTERS = 5;

/** Frames with more bars than this have square corners, because round ones take too long to draw. */
const MOST_ROUND = 1500;

/** Least distance between two labels of the axis in pixels. */
const TICK_DISTANCE = 92;

/** The sign of failures. */
const SIGN = signOf("failed");

const FAILED = OUTCOMES.indexOf("failed");
const CANCELLED = OUTCOMES.indexOf("cancelled");
const UNFINISHED = OUTCOMES.indexOf("unfinished");
const WAIT = FILLS.indexOf("wait");
const RETRY = FILLS.indexOf("retry");
const FAILED_FILL = FILLS.indexOf("failed");

/** Height of the marks of search hits in pixels. */
export const FIND_HEIGHT = 9;

/** Styles of hand-overs by kind: colour, dashes, width. */
const ARROW_STYLES = {
  spawn_agent: ["down", [], 1.6],
  assign_agent_task: ["down", [7, 3], 1.4],
  send_message: ["message", [1.5, 3], 1.6],
  agent_result: ["up", [5, 2.5], 1.4],
  close_agent: ["muted", [7, 3, 1.5, 3], 1.2],
  lost: ["lost", [3, 3], 1.6],
};

/** Opacity of bars that are no search hits, and of cancelled ones. */
const DIMMED = 0.22;
export const CANCELLED_SHARE = 0.3;

/**
 * Draws scenes into a canvas.
 *
 * @typedef {object} Scene what is drawn: data, model, layout, arrows, view, colours, patterns, sizes in pixels
 * (`width`, `height`, `gutter`), `top` (how far the lanes are scrolled), `chosen` and `found`
 */
export class Painter {
  /**
   * @param {CanvasRenderingContext2D} context
   */
  constructor(context) {
    this.context = context;
    /** Number of bars and groups of bars in the last frame. */
    this.drawn = 0;
    this.curve = new Curve();
    this.texts = [];
    this.textWidths = new Float32Array(0);
    this.visitBar = (from, to) => this.bars(from, to);
    this.visitTurn = (from, to) => this.turn(from, to);
  }

  /** Returns functions that draw samples for a legend like bars and arrows: `{bar(fill, outcome), arrow(kind)}`. */
  static sampler(context, colours, ratio, width, height) {
    const painter = new Painter(context);
    const model = { fills: [0], outcomes: [0] };
    const arrows = { lost: [-1], open: [0] };
    painter.scene = { model, arrows, colours, patterns: makePatterns(context, colours, ratio), layout: { sizes: { bar: height - 2 } } };
    painter.isRound = true;
    painter.y = 1;
    return {
      bar(fill, outcome) {
        model.fills[0] = fill;
        model.outcomes[0] = OUTCOMES.indexOf(outcome);
        painter.bar(0, 0, width, false, width);
      },
      arrow(kind) {
        arrows.lost[0] = ARROW_KINDS[kind] === "lost" ? 0 : -1;
        painter.curve.set(1, height / 2, width - 5, height / 2);
        painter.startArrows(kind, 1, false, 1);
        context.beginPath();
        painter.curve.trace(context);
        context.stroke();
        context.setLineDash([]);
        context.beginPath();
        painter.head(0, 1);
        painter.endHeads(kind);
      },
    };
  }

  /** Drops the measured widths of texts, after the font changed. */
  forgetTexts() {
    this.texts = [];
    this.textWidths = new Float32Array(0);
  }

  /**
   * Draws a scene.
   *
   * @param {Scene} scene
   */
  paint(scene) {
    const { context } = this;
    const { layout, view, colours, width, height, gutter, top } = scene;
    this.scene = scene;
    this.plot = width - gutter;
    this.isRound = layout.sizes.bar > 10 && this.drawn < MOST_ROUND;
    this.drawn = 0;
    if (this.textWidths.length !== scene.model.count) this.textWidths = new Float32Array(scene.model.count);
    this.firstLane = layout.laneCount > 0 ? Math.max(0, layout.laneAt(top)) : 0;
    const below = layout.laneAt(top + height - AXIS);
    this.lastLane = below < 0 ? layout.laneCount - 1 : below;
    context.setTransform(scene.ratio, 0, 0, scene.ratio, 0, 0);
    context.globalAlpha = 1;
    context.textBaseline = "middle";
    context.fillStyle = colours.ground;
    context.fillRect(0, 0, width, height);

    this.findTicks();
    context.save();
    context.beginPath();
    context.rect(gutter, AXIS, this.plot, Math.max(0, height - AXIS));
    context.clip();
    context.translate(gutter, AXIS - top);
    this.ground();
    context.font = `11px ${colours.family}`;
    context.textAlign = "left";
    for (let lane = this.firstLane; lane <= this.lastLane; lane += 1) this.lane(lane);
    this.marks();
    if (scene.found) this.finds(scene.found.points);
    layout.laneCount > 0 && this.arrows();
    this.chosen();
    context.restore();

    this.gutter();
    this.axis(view);
  }

  ground() {
    const { context } = this;
    const { layout, colours, chosen, view } = this.scene;
    const top = layout.tops[this.firstLane];
    const bottom = layout.tops[this.lastLane + 1];
    context.fillStyle = colours.chosen;
    for (const lane of chosen.lanes) context.fillRect(0, layout.tops[lane], this.plot, layout.tops[lane + 1] - layout.tops[lane]);
    context.fillStyle = colours.grid;
    for (const tick of this.ticks) context.fillRect(Math.round(tick.x), top, 1, bottom - top);
    context.fillStyle = colours.line;
    if (layout.sizes.bar > 10) {
      for (let lane = this.firstLane; lane <= this.lastLane; lane += 1) context.fillRect(0, layout.tops[lane + 1] - 1, this.plot, 1);
    }
    context.fillStyle = colours.gutter;
    for (const pause of layout.fold.pauses) {
      const x = view.x(pause.place);
      const width = pause.length * view.scale;
      if (x < this.plot && x + width > 0) context.fillRect(x, top, width, bottom - top);
    }
  }

  lane(lane) {
    const { layout, view, model } = this.scene;
    const { context } = this;
    const { data } = model;
    const thread = layout.threads[lane];
    const { sizes } = layout;
    this.laneNow = lane;
    const start = data.start(thread);
    if (start >= 0) {
      const end = data.end(thread) >= 0 ? data.end(thread) : model.last;
      const x1 = Math.max(0, view.x(layout.fold.place(start)));
      const x2 = Math.min(this.plot, view.x(layout.fold.place(end)));
      context.fillStyle = this.scene.colours.life;
      if (x2 > x1) context.fillRect(x1, Math.round(layout.rowTop(lane, 0) + sizes.bar / 2), x2 - x1, 1);
    }
    const { turns } = layout;
    visitSpans(turns, turns.first[lane], turns.first[lane + 1], view.start, view.end, 3 / view.scale, this.visitTurn);
    const firstRow = layout.firstRow[lane];
    const rows = layout.firstRow[lane + 1] - firstRow;
    const margin = LEAST_BAR / view.scale;
    for (let row = 0; row < rows; row += 1) {
      this.y = layout.rowTop(lane, row);
      const low = layout.rowStarts[firstRow + row];
      const high = layout.rowStarts[firstRow + row + 1];
      visitSpans(layout, low, high, view.start - margin, view.end, MERGED / view.scale, this.visitBar);
    }
    if (layout.crowds[lane]) this.crowd(lane, layout.crowds[lane]);
  }

  turn(from, to) {
    const { layout, view, colours } = this.scene;
    const { context } = this;
    const { turns, verdicts } = layout;
    const x1 = Math.max(-4, view.x(turns.starts[from]));
    const x2 = Math.min(this.plot + 4, view.x(turns.ends[to - 1]));
    const y = layout.tops[this.laneNow];
    const height = layout.tops[this.laneNow + 1] - y - 1;
    if (!this.scene.chosen.lanes.includes(this.laneNow)) {
      context.fillStyle = colours.turn;
      context.fillRect(x1, y + 1, Math.max(1, x2 - x1), height - 1);
    }
    const verdict = verdicts[from];
    context.fillStyle = verdict === "failed" ? colours.failed : colours["turn-line"];
    const weight = verdict === "failed" ? 2 : 1;
    context.fillRect(x1, y, Math.max(1, x2 - x1), weight);
    context.fillRect(Math.round(x1), y, 1, height);
    if (to - from > 1) return;
    if (verdict === "unfinished") {
      for (let dash = y + 1; dash < y + height; dash += 5) context.fillRect(Math.round(x2) - 1, dash, 1, 2);
    } else {
      context.fillRect(Math.round(x2) - 1, y, 1, height);
    }
    const sign = verdict === "failed" || verdict === "cancelled" ? signOf(verdict) : "";
    if (sign && x2 - x1 > 20 && layout.sizes.bar > 10) {
      context.fillText(sign, x2 + 3, y + 8);
    }
  }

  bars(from, to) {
    const { layout, view, found } = this.scene;
    this.drawn += 1;
    const bar = layout.bars[from];
    const x = view.x(layout.starts[from]);
    const isDim = found !== null && found.sums[to] === found.sums[from];
    if (to - from > 1) {
      this.group(from, to, x, Math.max(MERGED, view.x(layout.ends[to - 1]) - x), isDim);
      return;
    }
    const width = Math.max(LEAST_BAR, (layout.ends[from] - layout.starts[from]) * view.scale);
    const left = Math.max(-6, x);
    const shown = Math.min(this.plot + 6, x + width) - left;
    // A gap of one pixel separates neighbours.
    this.bar(bar, left, shown > 4 ? shown - 1 : shown, isDim, x + width);
    if (found !== null && !isDim) this.foundFrame(left, shown);
  }

  foundFrame(x, width) {
    const { context } = this;
    context.strokeStyle = this.scene.colours.found;
    context.lineWidth = 2;
    context.strokeRect(x - 1, this.y - 1, width + 2, this.scene.layout.sizes.bar + 2);
  }

  group(from, to, x, width, isDim) {
    const { layout, colours, found } = this.scene;
    const { context } = this;
    const { sums } = layout;
    const low = from * FILLS.length;
    const high = to * FILLS.length;
    let most = 0;
    let share = 0;
    for (let fill = 0; fill < FILLS.length; fill += 1) {
      const here = sums[high + fill] - sums[low + fill];
      if (here > share) {
        share = here;
        most = fill;
      }
    }
    const height = layout.sizes.bar;
    context.globalAlpha = isDim ? DIMMED : 1;
    context.fillStyle = most === WAIT ? colours["wait-line"] : colours[FILLS[most]];
    context.fillRect(x, this.y, width, height);
    const failed = sums[high + FAILED_FILL] - sums[low + FAILED_FILL] + sums[high + RETRY] - sums[low + RETRY];
    if (failed > 0) {
      // A failure must not disappear in a group: it fills the lower half and extends below.
      context.fillStyle = colours.failed;
      context.fillRect(x, this.y + height / 2, Math.max(width, LEAST_BAR), height / 2 + 2);
    }
    if (found !== null && !isDim) {
      context.fillStyle = colours.found;
      context.fillRect(x, this.y - 2, Math.max(width, LEAST_BAR), 3);
    }
    context.globalAlpha = 1;
  }

  bar(bar, x, width, isDim, end) {
    const { context, y } = this;
    const { model, colours, layout } = this.scene;
    const height = layout.sizes.bar;
    const fill = model.fills[bar];
    const outcome = model.outcomes[bar];
    const isWide = width >= 6;
    const alpha = isDim ? DIMMED : 1;
    context.fillStyle = colours[FILLS[fill]];
    if (outcome === CANCELLED) {
      context.globalAlpha = alpha * CANCELLED_SHARE;
      this.rectangle(x, width, isWide);
      context.globalAlpha = alpha;
      context.fillRect(x, y, 1, height);
      context.fillRect(x, y + height / 2 - 0.5, width, 1.5);
    } else if (outcome === UNFINISHED) {
      this.openBar(x, width, alpha);
    } else {
      context.globalAlpha = alpha;
      this.rectangle(x, width, isWide);
    }
    if (fill === WAIT && width > 3) {
      if (isWide) this.pattern(x, width, this.scene.patterns.dots);
      context.strokeStyle = colours["wait-line"];
      context.lineWidth = 1;
      context.beginPath();
      // A bar without an end is open at its right edge.
      context.moveTo(x + width, y + 0.5);
      context.lineTo(x + 0.5, y + 0.5);
      context.lineTo(x + 0.5, y + height - 0.5);
      context.lineTo(x + width, y + height - 0.5);
      if (outcome !== UNFINISHED) context.lineTo(x + width - 0.5, y);
      context.stroke();
    } else if (outcome === FAILED && isWide) {
      this.pattern(x, width, this.scene.patterns.hatch);
    }
    if (width >= 11 && height > 10) this.text(bar, x, width, end);
    context.globalAlpha = 1;
  }

  rectangle(x, width, isWide) {
    const { context, y } = this;
    const height = this.scene.layout.sizes.bar;
    if (!isWide || !this.isRound) {
      context.fillRect(x, y, width, height);
      return;
    }
    context.beginPath();
    context.roundRect(x, y, width, height, 2.5);
    context.fill();
  }

  /** Draws a bar that fades out, for an object without an end in the event log. */
  openBar(x, width, alpha) {
    const { context, y } = this;
    const height = this.scene.layout.sizes.bar;
    const fade = Math.min(24, width / 2);
    const step = fade / 4;
    context.globalAlpha = alpha;
    context.fillRect(x, y, width - fade, height);
    for (let part = 0; part < 4; part += 1) {
      context.globalAlpha = alpha * (0.8 - part * 0.2);
      context.fillRect(x + width - fade + part * step, y, step, height);
    }
    context.globalAlpha = alpha;
  }

  pattern(x, width, pattern) {
    const { context, y } = this;
    // The pattern begins at the bar, so that it moves with the bar.
    context.translate(x, y);
    context.fillStyle = pattern;
    context.fillRect(0, 0, width, this.scene.layout.sizes.bar);
    context.translate(-x, -y);
  }

  text(bar, x, width, end) {
    const { context } = this;
    const { model, colours, layout } = this.scene;
    const outcome = model.outcomes[bar];
    const isLight = outcome === CANCELLED || model.fills[bar] === WAIT;
    context.fillStyle = isLight ? colours.text : colours["on-bar"];
    const middle = this.y + layout.sizes.bar / 2 + 0.5;
    let left = Math.max(x, 0) + 4;
    const right = Math.min(end, this.plot) - 4 - (outcome === UNFINISHED ? Math.min(24, width / 2) : 0);
    if (outcome === FAILED && right - left >= 4) {
      context.fillText(SIGN, left - 1, middle);
      left += 11;
    }
    const room = right - left;
    if (room < LEAST_TEXT - 8) return;
    const text = this.fitted(bar, room);
    if (text) context.fillText(text, left, middle);
  }

  /** Returns as much of the text of a bar as there is room for. */
  fitted(bar, room) {
    let text = this.texts[bar];
    if (text === undefined) {
      text = barText(this.scene.data, this.scene.model.objects[bar]);
      this.texts[bar] = text;
      this.textWidths[bar] = this.context.measureText(text).width;
    }
    const width = this.textWidths[bar];
    if (width <= room) return text;
    const fits = Math.floor((text.length * room) / width) - 1;
    return fits >= LEAST_CHARACTERS ? cut(text, fits) : "";
  }

  crowd(lane, crowd) {
    const { layout, view, colours } = this.scene;
    const { context } = this;
    const y = layout.rowTop(lane, MAX_ROWS);
    const height = layout.sizes.bar;
    for (let at = 0; at < crowd.starts.length; at += 1) {
      const x = view.x(crowd.starts[at]);
      if (x > this.plot) break;
      const width = Math.max(LEAST_BAR, (crowd.ends[at] - crowd.starts[at]) * view.scale);
      if (x + width < 0) continue;
      this.drawn += 1;
      const left = Math.max(-4, x);
      const shown = Math.min(this.plot + 4, x + width) - left;
      context.fillStyle = colours.wait;
      context.fillRect(left, y, shown, height);
      context.fillStyle = colours["wait-line"];
      for (const edge of [y, y + height - 1]) context.fillRect(left, edge, shown, 1);
      if (shown >= LEAST_TEXT && height > 10) {
        context.fillStyle = colours.text;
        context.fillText(`+${number(crowd.counts[at])}`, Math.max(0, left) + 4, y + height / 2 + 0.5);
      }
    }
  }

  marks() {
    const { layout, view, colours } = this.scene;
    const { context } = this;
    const { marks } = layout;
    context.fillStyle = colours.compaction;
    context.strokeStyle = colours.ground;
    context.lineWidth = 1.5;
    const arm = layout.sizes.bar > 10 ? 5 : 3;
    for (let lane = this.firstLane; lane <= this.lastLane; lane += 1) {
      let last = -Infinity;
      for (let at = marks.first[lane]; at < marks.first[lane + 1]; at += 1) {
        const x = view.x(marks.starts[at]);
        if (x < -6 || x > this.plot + 6 || x - last < 3) continue;
        last = x;
        const y = layout.tops[lane];
        context.fillRect(x - 0.5, y, 1, layout.tops[lane + 1] - y - 1);
        context.beginPath();
        context.moveTo(x, y);
        context.lineTo(x + arm, y + arm);
        context.lineTo(x, y + 2 * arm);
        context.lineTo(x - arm, y + arm);
        context.closePath();
        context.stroke();
        context.fill();
      }
    }
  }

  /** Marks search hits without a bar: items, turns and other objects with a time. */
  finds(points) {
    const { layout, view, colours } = this.scene;
    const { context } = this;
    const arm = layout.sizes.bar > 10 ? FIND_HEIGHT : 4;
    context.fillStyle = colours.found;
    context.strokeStyle = colours.text;
    context.lineWidth = 1;
    for (let lane = this.firstLane; lane <= this.lastLane; lane += 1) {
      const bottom = layout.tops[lane + 1] - 1;
      let last = -Infinity;
      for (let at = points.first[lane]; at < points.first[lane + 1]; at += 1) {
        const x = view.x(points.starts[at]);
        if (x < -6 || x > this.plot + 6 || x - last < 3) continue;
        last = x;
        context.beginPath();
        context.moveTo(x, bottom - arm);
        context.lineTo(x + arm * 0.6, bottom);
        context.lineTo(x - arm * 0.6, bottom);
        context.closePath();
        context.fill();
        context.stroke();
      }
    }
  }

  arrows() {
    const { arrows, view, top, height, chosen } = this.scene;
    const { context } = this;
    const count = arrows.choose(view, top, top + height - AXIS);
    const hasChoice = chosen.arrows.length > 0;
    const alpha = arrows.isCrowded ? Math.max(0.25, Math.min(0.7, 40 / count)) : 0.85;
    for (let kind = 0; kind < ARROW_KINDS.length; kind += 1) {
      // Lost hand-overs are never drawn faintly.
      const shown = ARROW_KINDS[kind] === "lost" ? 0.9 : alpha;
      this.startArrows(kind, arrows.isCrowded ? 0.7 : 1, arrows.isCrowded, hasChoice ? shown * 0.45 : shown);
      let seen = 0;
      for (let index = 0; index < count; index += 1) {
        const arrow = arrows.drawn[index];
        if (arrows.kinds[arrow] !== kind) continue;
        if (seen === 0) context.beginPath();
        seen += 1;
        arrows.drawnCurve(arrow, view, this.curve);
        this.curve.trace(context);
      }
      if (seen === 0) continue;
      context.stroke();
      context.setLineDash([]);
      context.beginPath();
      for (let index = 0; index < count; index += 1) {
        const arrow = arrows.drawn[index];
        if (arrows.kinds[arrow] !== kind) continue;
        arrows.drawnCurve(arrow, view, this.curve);
        if (this.curve.ends & RECEIVED) this.head(arrow, 1);
      }
      this.endHeads(kind);
    }
    context.globalAlpha = 1;
    context.setLineDash([]);
    for (const arrow of chosen.arrows) this.chosenArrow(arrow);
  }

  startArrows(kind, weight, isPlain, alpha) {
    const { context } = this;
    const [colour, dashes, width] = ARROW_STYLES[ARROW_KINDS[kind]];
    context.strokeStyle = this.scene.colours[colour];
    context.fillStyle = this.scene.colours[colour];
    context.lineWidth = width * weight;
    // Dashes of hundreds of lines are hard to read and slow.
    context.setLineDash(isPlain ? [] : dashes);
    context.globalAlpha = alpha;
  }

  chosenArrow(arrow) {
    const { arrows, view, colours } = this.scene;
    const { context } = this;
    const kind = arrows.kinds[arrow];
    arrows.curve(arrow, view, this.curve);
    context.strokeStyle = colours.ground;
    context.lineWidth = 5;
    context.setLineDash([]);
    context.beginPath();
    this.curve.trace(context);
    context.stroke();
    this.startArrows(kind, 1.5, false, 1);
    context.beginPath();
    this.curve.trace(context);
    context.stroke();
    context.setLineDash([]);
    context.beginPath();
    this.head(arrow, 1.4);
    this.endHeads(kind);
  }

  /** Draws the end of an arrow: a head, a ring if its arrival is not in the event log, or a cross if it was lost. */
  head(arrow, size) {
    const { context, curve } = this;
    const { arrows } = this.scene;
    const { x2, y2 } = curve;
    if (arrows.lost[arrow] >= 0) {
      const arm = 4 * size;
      context.moveTo(x2 - arm, y2 - arm);
      context.lineTo(x2 + arm, y2 + arm);
      context.moveTo(x2 - arm, y2 + arm);
      context.lineTo(x2 + arm, y2 - arm);
      return;
    }
    if (arrows.open[arrow]) {
      context.moveTo(x2 + 3.5 * size, y2);
      context.arc(x2, y2, 3.5 * size, 0, 2 * Math.PI);
      return;
    }
    context.moveTo(x2 + 1, y2);
    context.lineTo(x2 - 6 * size, y2 - 3.5 * size);
    context.lineTo(x2 - 6 * size, y2 + 3.5 * size);
    context.closePath();
  }

  endHeads(kind) {
    const { context } = this;
    if (ARROW_KINDS[kind] === "lost") {
      context.lineWidth = 2;
      context.stroke();
    } else {
      context.fill();
    }
  }

  chosen() {
    const { layout, view, chosen, colours } = this.scene;
    const { context } = this;
    for (const box of chosen.boxes) {
      const x = view.x(box.start);
      const width = Math.max(LEAST_BAR, (box.end - box.start) * view.scale);
      if (x > this.plot || x + width < 0) continue;
      const left = Math.max(-8, x);
      const shown = Math.min(this.plot + 8, x + width) - left;
      const y = layout.tops[box.lane] + box.top;
      context.lineWidth = 4;
      context.strokeStyle = colours.ground;
      context.strokeRect(left - 2, y - 2, shown + 4, box.height + 4);
      context.lineWidth = 2;
      context.strokeStyle = colours.select;
      context.strokeRect(left - 2, y - 2, shown + 4, box.height + 4);
    }
    for (const point of chosen.points) {
      const x = Math.round(view.x(point.at));
      if (x < -6 || x > this.plot + 6) continue;
      const y = layout.tops[point.lane];
      context.fillStyle = colours.select;
      context.fillRect(x - 1, y, 2, layout.tops[point.lane + 1] - y);
      context.beginPath();
      context.moveTo(x - 6, y);
      context.lineTo(x + 6, y);
      context.lineTo(x, y + 8);
      context.fill();
    }
  }

  gutter() {
    const { layout, colours, gutter, height, top, chosen } = this.scene;
    const { context } = this;
    context.save();
    context.beginPath();
    context.rect(0, AXIS, gutter, Math.max(0, height - AXIS));
    context.clip();
    context.fillStyle = colours.gutter;
    context.fillRect(0, AXIS, gutter, height - AXIS);
    context.translate(0, AXIS - top);
    context.fillStyle = colours.chosen;
    for (const lane of chosen.lanes) context.fillRect(0, layout.tops[lane], gutter, layout.tops[lane + 1] - layout.tops[lane]);
    context.fillStyle = colours.select;
    for (const lane of chosen.lanes) context.fillRect(0, layout.tops[lane], 3, layout.tops[lane + 1] - layout.tops[lane]);
    for (let lane = this.firstLane; lane <= this.lastLane; lane += 1) this.name(lane, chosen.lanes.includes(lane));
    context.restore();
    context.fillStyle = colours.line;
    context.fillRect(gutter - 1, 0, 1, height);
  }

  name(lane, isChosen) {
    const { layout, colours, gutter, data } = this.scene;
    const { context } = this;
    const thread = layout.threads[lane];
    const index = data.indexOf(thread);
    const { threads } = data.raw;
    const isSmall = layout.sizes.bar <= 10;
    const middle = isSmall ? (layout.tops[lane] + layout.tops[lane + 1]) / 2 : layout.rowTop(lane, 0) + layout.sizes.bar / 2 + 0.5;
    const font = isSmall ? 9 : 12;
    if (!isSmall) {
      context.fillStyle = colours.line;
      context.fillRect(0, layout.tops[lane + 1] - 1, gutter, 1);
    }
    const outcome = this.scene.model.outcomeOf(thread);
    const mood = moodOf(outcome);
    const left = 10 + Math.min(threads.depth[index], 6) * 12;
    context.font = `${mood === "bad" ? "bold " : ""}${font}px ${colours.family}`;
    context.textAlign = "center";
    context.fillStyle = mood === "bad" ? colours.failed : mood === "warn" ? colours.retry : colours.muted;
    context.fillText(signOf(outcome), left + 4, middle);
    context.textAlign = "left";
    let right = gutter - 8;
    const failed = threads.failed_model_calls[index] + threads.failed_tool_calls[index];
    if (failed > 0) {
      context.font = `${font - 1}px ${colours.family}`;
      context.textAlign = "right";
      context.fillStyle = colours.failed;
      const text = `${SIGN}${number(failed)}`;
      context.fillText(text, right, middle);
      right -= context.measureText(text).width + 6;
      context.textAlign = "left";
    }
    const { name, nickname } = laneName(data, thread);
    context.font = `${isChosen ? "bold " : ""}${font}px ${colours.family}`;
    context.fillStyle = colours.text;
    const from = left + 14;
    const used = this.words(name, from, middle, right);
    if (nickname) {
      context.font = `${font - 1}px ${colours.family}`;
      context.fillStyle = colours.muted;
      this.words(nickname, from + used + 6, middle, right);
    }
  }

  /** Writes as much of a text as fits before a place, and returns its width. */
  words(text, x, y, right) {
    const { context } = this;
    const room = right - x;
    if (room < 12) return 0;
    const { width } = context.measureText(text);
    if (width <= room) {
      context.fillText(text, x, y);
      return width;
    }
    const shown = cut(text, Math.max(2, Math.floor((text.length * room) / width) - 1));
    context.fillText(shown, x, y);
    return context.measureText(shown).width;
  }

  findTicks() {
    const { layout, view, data } = this.scene;
    const step = niceStep(TICK_DISTANCE / view.scale);
    const started = data.session.started_at_unix_ms ?? 0;
    const zone = -new Date(started).getTimezoneOffset() * 60_000;
    /** Round times since the start, and round times of day. */
    this.ticks = [];
    this.wallTicks = [];
    this.step = step;
    const from = layout.fold.time(view.start);
    const to = layout.fold.time(view.end);
    layout.fold.between(from, to, (start, end) => {
      const add = (list, offset) => {
        for (let time = firstTick(start, step, offset); time <= end; time += step) {
          list.push({ time, x: view.x(layout.fold.place(time)) });
        }
      };
      add(this.ticks, 0);
      add(this.wallTicks, started + zone);
    });
  }

  axis(view) {
    const { layout, colours, gutter, width, data } = this.scene;
    const { context, step } = this;
    const started = data.session.started_at_unix_ms ?? 0;
    context.fillStyle = colours.gutter;
    context.fillRect(0, 0, width, AXIS);
    context.fillStyle = colours.line;
    context.fillRect(0, AXIS - 1, width, 1);
    context.font = `11px ${colours.family}`;
    context.textAlign = "left";
    context.fillStyle = colours.muted;
    this.words("since the start", 10, 11, gutter - 6);
    this.words(wallDay(started + layout.fold.time(view.start)), 10, 27, gutter - 6);
    context.save();
    context.beginPath();
    context.rect(gutter, 0, this.plot, AXIS);
    context.clip();
    context.translate(gutter, 0);
    let free = -Infinity;
    for (const tick of this.ticks) {
      context.fillStyle = colours.line;
      context.fillRect(Math.round(tick.x), 3, 1, 15);
      if (tick.x < free) continue;
      context.fillStyle = colours.text;
      const label = tickLabel(tick.time, step);
      free = this.tickText(label, tick.x, 11);
    }
    free = -Infinity;
    let day = "";
    for (const tick of this.wallTicks) {
      context.fillStyle = colours.line;
      context.fillRect(Math.round(tick.x), 21, 1, 13);
      if (tick.x < free) continue;
      context.fillStyle = colours.muted;
      const label = this.wallLabel(started + tick.time, day);
      day = wallDay(started + tick.time);
      free = this.tickText(label, tick.x, 27);
    }
    this.breaks();
    context.restore();
  }

  /** Writes a label of the axis if there is room, and returns where the next one may begin. */
  tickText(text, x, y) {
    const { width } = this.context.measureText(text);
    if (x + 4 + width <= this.plot) this.context.fillText(text, x + 4, y);
    return x + width + 14;
  }

  wallLabel(unixMs, dayBefore) {
    const time = wallTime(unixMs);
    const day = wallDay(unixMs);
    const shown = this.step >= 60_000 ? time.slice(0, 5) : this.step >= 1000 ? time.slice(0, 8) : time;
    return dayBefore !== "" && day !== dayBefore ? `${day} ${shown}` : shown;
  }

  /** Marks folded pauses on the axis. */
  breaks() {
    const { layout, view, colours } = this.scene;
    const { context } = this;
    for (const pause of layout.fold.pauses) {
      const x = view.x(pause.place + pause.length / 2);
      if (x < -10 || x > this.plot + 10) continue;
      context.fillStyle = colours.gutter;
      context.fillRect(x - 7, 0, 14, AXIS - 1);
      context.strokeStyle = colours.muted;
      context.lineWidth = 1.5;
      context.beginPath();
      for (const shift of [-3, 2]) {
        context.moveTo(x + shift - 2, AXIS - 3);
        context.lineTo(x + shift + 3, 3);
      }
      context.stroke();
    }
  }
}
