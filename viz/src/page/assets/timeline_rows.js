/** Distributes the bars of a lane over rows so that no bar covers another. */

/**
 * Most rows of a lane. Bars that need more rows go into one additional row, the crowd, where overlapping bars are drawn
 * as one.
 */
export const MAX_ROWS = 8;

/**
 * Assigns a row to every bar of a lane: the first free one, and for a bar that ran in a code cell the first free one
 * below the cell. Returns the number of rows. Bars for which no row is free get row `MAX_ROWS`.
 *
 * @param {ArrayLike<number>} bars bars of the lane by start, what ran in a cell after the cell if both began together
 * @param {{starts: Float64Array, ends: Float64Array, inside: ArrayLike<number>, objects: ArrayLike<number>}} columns
 * @param {Uint8Array} rows where rows are written, by bar
 * @returns {number}
 */
export function packRows(bars, { starts, ends, inside, objects }, rows) {
  const lastOf = new Int32Array(MAX_ROWS).fill(-1);
  const rowOfCell = new Map();
  let used = 1;
  for (let index = 0; index < bars.length; index += 1) {
    const bar = bars[index];
    let row = 0;
    if (inside[bar] >= 0) {
      row = 1 + (rowOfCell.get(inside[bar]) ?? rowOfRunning(lastOf, starts, ends, inside, starts[bar]));
    }
    while (row < MAX_ROWS && !isFree(lastOf[row], bar, starts, ends)) row += 1;
    if (row > MAX_ROWS) row = MAX_ROWS;
    if (row < MAX_ROWS) lastOf[row] = bar;
    if (inside[bar] < 0) rowOfCell.set(objects[bar], row);
    rows[bar] = row;
    used = Math.max(used, row + 1);
  }
  return used;
}

/**
 * Says whether a bar can follow the last bar of a row. Two bars of length zero at the same moment cannot share a row.
 */
function isFree(last, bar, starts, ends) {
  if (last < 0) return true;
  if (ends[last] > starts[bar]) return false;
  return ends[last] > starts[last] || starts[last] < starts[bar] || ends[bar] > starts[bar];
}

/** Returns the row of the running bar that began last. It stands for a code cell that has no bar of its own. */
function rowOfRunning(lastOf, starts, ends, inside, time) {
  let found = 0;
  let latest = -Infinity;
  for (let row = 0; row < MAX_ROWS; row += 1) {
    const bar = lastOf[row];
    if (bar < 0 || inside[bar] >= 0 || ends[bar] < time) continue;
    if (starts[bar] >= latest) {
      latest = starts[bar];
      found = row;
    }
  }
  return found;
}

/**
 * Merges bars that overlap into spans: `{starts, ends, counts, firsts}`, where `firsts` is the first bar of each span.
 *
 * @param {number[]} bars by start
 * @param {Float64Array} starts
 * @param {Float64Array} ends
 */
export function joinOverlapping(bars, starts, ends) {
  const joined = { starts: [], ends: [], counts: [], firsts: [] };
  let last = -1;
  for (const bar of bars) {
    if (last >= 0 && starts[bar] <= joined.ends[last]) {
      joined.ends[last] = Math.max(joined.ends[last], ends[bar]);
      joined.counts[last] += 1;
    } else {
      joined.starts.push(starts[bar]);
      joined.ends.push(ends[bar]);
      joined.counts.push(1);
      joined.firsts.push(bar);
      last += 1;
    }
  }
  return joined;
}
