/** Folds idle time: a long pause in which no agent did anything takes little room on the axis. */

/** Shortest pause that is folded, in milliseconds. */
export const LEAST_PAUSE = 20_000;

/** Shortest pause that is folded, as a share of the session. */
export const LEAST_PAUSE_SHARE = 0.02;

/** Length of a folded pause, as a share of the time that is not folded. */
const FOLDED_SHARE = 0.015;

/**
 * Finds the long pauses of a session: `[{start, end}]`, by time.
 *
 * @param {Float64Array} starts
 * @param {Float64Array} ends
 * @param {number} first
 * @param {number} last
 * @returns {{start: number, end: number}[]}
 */
export function longPauses(starts, ends, first, last) {
  const least = Math.max(LEAST_PAUSE, (last - first) * LEAST_PAUSE_SHARE);
  const byStart = Uint32Array.from(starts, (_, index) => index).sort((a, b) => starts[a] - starts[b]);
  const pauses = [];
  let busyUntil = first;
  for (const index of byStart) {
    if (starts[index] - busyUntil >= least) pauses.push({ start: busyUntil, end: starts[index] });
    busyUntil = Math.max(busyUntil, ends[index]);
  }
  if (last - busyUntil >= least) pauses.push({ start: busyUntil, end: last });
  return pauses;
}

/** Converts times to places on the axis and back. Without pauses both are equal. */
export class Fold {
  /**
   * @param {{start: number, end: number}[]} pauses by time
   * @param {number} first
   * @param {number} last
   */
  constructor(pauses, first, last) {
    const idle = pauses.reduce((sum, pause) => sum + pause.end - pause.start, 0);
    const folded = Math.max((last - first - idle) * FOLDED_SHARE, 1);
    let saved = 0;
    /** The pauses: `{start, end, place, length}`, where `place` is where it begins on the axis. */
    this.pauses = pauses.map(({ start, end }) => {
      const length = Math.min(folded, end - start);
      const pause = { start, end, place: start - saved, length };
      saved += end - start - length;
      return pause;
    });
  }

  /** Returns the place of a time. */
  place(time) {
    const pause = this.lastBefore((one) => one.start <= time);
    if (!pause) return time;
    if (time >= pause.end) return pause.place + pause.length + time - pause.end;
    return pause.place + ((time - pause.start) / (pause.end - pause.start)) * pause.length;
  }

  /** Returns the time of a place. */
  time(place) {
    const pause = this.lastBefore((one) => one.place <= place);
    if (!pause) return place;
    const after = place - pause.place - pause.length;
    if (after >= 0) return pause.end + after;
    return pause.start + ((place - pause.place) / pause.length) * (pause.end - pause.start);
  }

  /** Calls `visit(start, end)` with the times between pauses that overlap a range of times. */
  between(start, end, visit) {
    let from = start;
    for (const pause of this.pauses) {
      if (pause.end <= from) continue;
      if (pause.start >= end) break;
      if (pause.start > from) visit(from, pause.start);
      from = pause.end;
    }
    if (from < end) visit(from, end);
  }

  lastBefore(holds) {
    let low = 0;
    let high = this.pauses.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (holds(this.pauses[middle])) low = middle + 1;
      else high = middle;
    }
    return low > 0 ? this.pauses[low - 1] : null;
  }
}
