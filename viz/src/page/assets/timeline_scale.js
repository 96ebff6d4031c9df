/**
 * The part of the time that is in view, and round times for the axis.
 *
 * A place on the time axis is a number of *units*. A unit is a millisecond, except that folded idle time has fewer
 * units (see timeline_fold.js).
 */

/** Fewest units in the view. At this zoom, a bar of one millisecond is wide enough to read. */
export const LEAST_SPAN = 4;

/** Free space before the first and after the last moment, as a share of the whole. */
const MARGIN = 0.015;

/**
 * The part of the time that is in view.
 */
export class View {
  constructor() {
    this.first = 0;
    this.last = 1;
    this.start = 0;
    this.span = 1;
    /** Width of the view in pixels. */
    this.width = 1;
  }

  /** Sets the first and the last place that can be shown, and shows everything. */
  setWhole(first, last) {
    const length = Math.max(last - first, LEAST_SPAN);
    this.first = first - length * MARGIN;
    this.last = first + length * (1 + MARGIN);
    this.showAll();
  }

  /** Returns the place at the end of the view. */
  get end() {
    return this.start + this.span;
  }

  /** Returns the length of the whole axis. */
  get whole() {
    return this.last - this.first;
  }

  /** Returns how many pixels a unit takes. */
  get scale() {
    return this.width / this.span;
  }

  /** Returns the pixel of a place. */
  x(place) {
    return (place - this.start) * (this.width / this.span);
  }

  /** Returns the place at a pixel. */
  at(x) {
    return this.start + x * (this.span / this.width);
  }

  /** Shows everything. */
  showAll() {
    this.start = this.first;
    this.span = this.whole;
  }

  /** Shows the range between two places, as far as the axis goes. */
  show(start, end) {
    const span = Math.min(Math.max(end - start, LEAST_SPAN), this.whole);
    const middle = (start + end) / 2;
    this.span = span;
    this.start = this.kept(middle - span / 2);
  }

  /** Zooms in by a factor, or out by one below 1. The place at pixel `x` stays where it is. */
  zoom(factor, x) {
    const place = this.at(x);
    this.span = Math.min(Math.max(this.span / factor, LEAST_SPAN), this.whole);
    this.start = this.kept(place - x * (this.span / this.width));
  }

  /** Moves the view by pixels. */
  pan(pixels) {
    this.start = this.kept(this.start + pixels * (this.span / this.width));
  }

  /**
   * Moves the view so that a range is in it, unless it is already. If the range is longer than the view, its beginning
   * is in view.
   */
  reveal(start, end) {
    const margin = Math.min(this.span * 0.08, 60 / this.scale);
    const isSeen = start < this.end - margin && end > this.start + margin && (end - start > this.span || (start >= this.start && end <= this.end));
    if (isSeen) return false;
    const length = end - start;
    this.start = this.kept(length > this.span - 2 * margin ? start - margin : start + length / 2 - this.span / 2);
    return true;
  }

  kept(start) {
    return Math.max(this.first, Math.min(start, this.last - this.span));
  }
}

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Steps of the axis in milliseconds, in the units that people use for time. */
const STEPS = [
  1, 2, 5, 10, 20, 50, 100, 200, 500,
  SECOND, 2 * SECOND, 5 * SECOND, 10 * SECOND, 15 * SECOND, 30 * SECOND,
  MINUTE, 2 * MINUTE, 5 * MINUTE, 10 * MINUTE, 15 * MINUTE, 30 * MINUTE,
  HOUR, 2 * HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR,
];

/**
 * Returns the smallest round step of at least `least` milliseconds.
 *
 * @param {number} least
 * @returns {number}
 */
export function niceStep(least) {
  const found = STEPS.find((step) => step >= least);
  if (found !== undefined) return found;
  let days = 1;
  for (;;) {
    for (const factor of [1, 2, 5]) {
      if (days * factor * DAY >= least || days >= 1e9) return days * factor * DAY;
    }
    days *= 10;
  }
}

/**
 * Returns the first multiple of a step that is not before a time, where multiples are counted from `-offset`.
 *
 * @param {number} time
 * @param {number} step
 * @param {number} [offset]
 * @returns {number}
 */
export function firstTick(time, step, offset = 0) {
  return Math.ceil((time + offset) / step) * step - offset;
}

/**
 * Formats a time since the start with the precision of a step: `0`, `250 ms`, `1.2 s`, `4 m 05 s`, `2 h 10 m`.
 *
 * @param {number} ms
 * @param {number} step
 * @returns {string}
 */
export function tickLabel(ms, step) {
  if (ms === 0) return "0";
  if (ms < 0) return `−${tickLabel(-ms, step)}`;
  if (ms < SECOND) return `${Math.round(ms)} ms`;
  const decimals = step >= SECOND ? 0 : step >= 100 ? 1 : step >= 10 ? 2 : 3;
  const total = Number((ms / SECOND).toFixed(decimals));
  if (total < 60) return `${total.toFixed(decimals)} s`;
  const minutes = Math.floor(total / 60);
  const seconds = (total - minutes * 60).toFixed(decimals).padStart(decimals ? decimals + 3 : 2, "0");
  const isWholeMinutes = step >= MINUTE;
  if (minutes < 60) return isWholeMinutes ? `${minutes} m` : `${minutes} m ${seconds} s`;
  const hours = Math.floor(minutes / 60);
  const rest = String(minutes % 60).padStart(2, "0");
  if (step >= HOUR) return `${hours} h`;
  return isWholeMinutes ? `${hours} h ${rest} m` : `${hours} h ${rest} m ${seconds} s`;
}
