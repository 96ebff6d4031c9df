/** The map above the lanes: how much was going on over the whole session, what failed, and which part is in view. */

import { FILLS, OUTCOMES } from "./timeline_layout.js";

/** Height of the map in pixels. */
export const MAP_HEIGHT = 44;

/** How far from an edge of the view the pointer still grabs it, in pixels. */
const EDGE = 6;

/** Least width of the view on the map in pixels, so that it can be grabbed. */
const LEAST_VIEW = 8;

/** The series of the map, from the bottom. */
const SERIES = ["model", "tool", "wait", "compaction", "other"];

const FAILED = OUTCOMES.indexOf("failed");

/** The series of each fill. A failed call counts as what it was, because failures are marked separately. */
const SERIES_OF = FILLS.map((fill) => {
  if (fill === "retry") return SERIES.indexOf("model");
  if (fill === "code" || fill === "failed") return SERIES.indexOf("tool");
  return SERIES.indexOf(SERIES.includes(fill) ? fill : "other");
});

/**
 * Divides the time into equal columns and counts the bars that run in each, by series: `{series, failures, peak}`.
 *
 * @param {import("./timeline_layout.js").Layout} layout
 * @param {number} columns
 * @param {number} first
 * @param {number} last
 * @returns {{series: Float64Array[], failures: Uint32Array, peak: number}}
 */
export function density(layout, columns, first, last) {
  const { model } = layout;
  const series = SERIES.map(() => new Float64Array(columns + 1));
  // +1 where a run of fully covered columns begins and -1 where it ends. The prefix sums are the bars that cover each
  // column.
  const changes = SERIES.map(() => new Float64Array(columns + 2));
  const failures = new Uint32Array(columns);
  const scale = columns / Math.max(last - first, 1e-9);
  for (let bar = 0; bar < model.count; bar += 1) {
    if (layout.laneOfBar[bar] < 0) continue;
    const start = Math.max(0, Math.min(columns - 1e-6, (layout.startOf(bar) - first) * scale));
    const end = Math.max(start, Math.min(columns, (layout.endOf(bar) - first) * scale));
    const from = Math.floor(start);
    const to = Math.floor(end);
    const which = SERIES_OF[model.fills[bar]];
    if (from === to) {
      series[which][from] += end - start;
    } else {
      series[which][from] += from + 1 - start;
      series[which][to] += end - to;
      changes[which][from + 1] += 1;
      changes[which][to] -= 1;
    }
    if (model.outcomes[bar] === FAILED) failures[from] += 1;
  }
  let peak = 0;
  changes.forEach((list, which) => {
    let running = 0;
    for (let column = 0; column < columns; column += 1) {
      running += list[column];
      series[which][column] += running;
    }
  });
  for (let column = 0; column < columns; column += 1) {
    peak = Math.max(peak, series.reduce((sum, list) => sum + list[column], 0));
  }
  return { series, failures, peak };
}

/** Draws the map. The part that does not depend on the view is drawn once and kept. */
export class TimeMap {
  /**
   * @param {HTMLCanvasElement} canvas
   */
  constructor(canvas) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d");
    this.kept = document.createElement("canvas");
    this.isStale = true;
    this.width = 1;
    this.left = 0;
  }

  /** Marks the kept part as outdated, because bars, colours or the size changed. */
  forget() {
    this.isStale = true;
  }

  /** Returns the pixel of a place. */
  x(view, place) {
    return this.left + ((place - view.first) / view.whole) * (this.width - this.left);
  }

  /** Returns the place at a pixel. */
  at(view, x) {
    return view.first + ((x - this.left) / (this.width - this.left)) * view.whole;
  }

  /** Returns the pixels that the view covers: `[left, right]`. */
  range(view) {
    const left = this.x(view, view.start);
    const right = this.x(view, view.end);
    const missing = Math.max(0, LEAST_VIEW - (right - left)) / 2;
    return [left - missing, right + missing];
  }

  /** Returns what is at a pixel: the `left` or `right` edge of the view, `inside` or `outside`. */
  partAt(view, x) {
    const [left, right] = this.range(view);
    const edge = Math.min(EDGE, (right - left) / 3);
    if (Math.abs(x - left) <= edge) return "left";
    if (Math.abs(x - right) <= edge) return "right";
    return x > left && x < right ? "inside" : "outside";
  }

  /** Draws the map of a scene. */
  paint(scene) {
    const { context } = this;
    const { ratio, view, colours, chosen } = scene;
    this.left = scene.gutter;
    if (this.isStale) this.keep(scene);
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.drawImage(this.kept, 0, 0);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    const [left, right] = this.range(view);
    context.fillStyle = colours.ground;
    context.globalAlpha = 0.62;
    context.fillRect(this.left, 0, Math.max(0, left - this.left), MAP_HEIGHT);
    context.fillRect(right, 0, Math.max(0, this.width - right), MAP_HEIGHT);
    context.globalAlpha = 1;
    context.strokeStyle = colours.view;
    context.lineWidth = 1;
    context.strokeRect(left + 0.5, 0.5, right - left - 1, MAP_HEIGHT - 1);
    context.fillStyle = colours.view;
    for (const x of [left, right]) context.fillRect(x - 1.5, MAP_HEIGHT / 2 - 8, 3, 16);
    context.fillStyle = colours.select;
    for (const box of chosen.boxes) this.pointer(this.x(view, box.start));
    for (const point of chosen.points) this.pointer(this.x(view, point.at));
  }

  pointer(x) {
    const { context } = this;
    context.beginPath();
    context.moveTo(x - 4, 0);
    context.lineTo(x + 4, 0);
    context.lineTo(x, 6);
    context.fill();
  }

  keep(scene) {
    const { ratio, view, colours, layout } = scene;
    this.kept.width = this.canvas.width;
    this.kept.height = this.canvas.height;
    this.isStale = false;
    const context = this.kept.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.fillStyle = colours.gutter;
    // The canvas is wider than the lanes because of their scroll bar.
    context.fillRect(0, 0, this.kept.width / ratio, MAP_HEIGHT);
    context.fillStyle = colours.muted;
    context.font = `11px ${colours.family}`;
    context.textBaseline = "middle";
    context.fillText("whole session", 10, MAP_HEIGHT / 2);
    context.fillStyle = colours.ground;
    context.fillRect(this.left, 0, this.width - this.left, MAP_HEIGHT);
    const columns = Math.max(1, Math.floor(this.width - this.left));
    const { series, failures, peak } = density(layout, columns, view.first, view.last);
    const ground = MAP_HEIGHT - 8;
    const tallest = ground - 5;
    const lower = new Float64Array(columns);
    SERIES.forEach((name, which) => {
      context.fillStyle = name === "wait" ? colours.life : colours[name];
      for (let column = 0; column < columns; column += 1) {
        const height = peak > 0 ? (series[which][column] / peak) * tallest : 0;
        if (height <= 0) continue;
        context.fillRect(this.left + column, ground - lower[column] - height, 1, height);
        lower[column] += height;
      }
    });
    context.fillStyle = colours.line;
    context.fillRect(this.left, ground, this.width - this.left, 1);
    context.fillStyle = colours.failed;
    let free = -Infinity;
    for (let column = 0; column < columns; column += 1) {
      if (failures[column] === 0 || column < free) continue;
      const x = this.left + column + 0.5;
      context.beginPath();
      context.moveTo(x, ground + 1);
      context.lineTo(x + 3, ground + 6);
      context.lineTo(x - 3, ground + 6);
      context.fill();
      free = column + 7;
    }
  }
}
