/**
 * Which part of the time is in view, and round times for the axis.
 *
 * A place on the time axis is a number of *units*: milliseconds, fewer where idle time is folded (timeline_fold.js).
 */

/** Fewest units that fill the view: a bar of one millisecond is then wide enough to read. */
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
    /** Pixels that the span fills. */
    this.width = 1;
  }

  /** Sets the first and the last moment that can be shown, and shows all. */
  setWhole(first, last) {
    const length = Math.max(last - first, LEAST_SPAN);
    this.first = first - length * MARGIN;
    this.last = first + length * (1 + MARGIN);
    this.showAll();
  }

  /** Returns the end of what is in view. */
  get end() {
    return this.start + this.span;
  }

  /** Returns the length of everything. */
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

  /** Shows the places from one to another, as far as there is something. */
  show(start, end) {
    const span = Math.min(Math.max(end - start, LEAST_SPAN), this.whole);
    const middle = (start + end) / 2;
    this.span = span;
    this.start = this.kept(middle - span / 2);
  }

  /** Makes everything larger by a factor, or smaller by one below 1, while the place at a pixel stays where it is. */
  zoom(factor, x) {
    const place = this.at(x);
    this.span = Math.min(Math.max(this.span / factor, LEAST_SPAN), this.whole);
    this.start = this.kept(place - x * (this.span / this.width));
  }

  /** Moves what is in view by pixels. */
  pan(pixels) {
    this.start = this.kept(this.start + pixels * (this.span / this.width));
  }

  /** Moves so far that a range is in view, if it is not; a longer one than the view begins in it. */
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

/** Steps of an axis in milliseconds, as people count time. */
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
 * Writes a time since the start as exactly as a step asks for: `0`, `250 ms`, `1.2 s`, `4 m 05 s`, `2 h 10 m`.
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
