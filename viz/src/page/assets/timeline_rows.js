/**
 * Puts the bars of a lane into rows in which none covers another.
 */

/** Most rows of a lane. What overlaps deeper goes into one more row, the crowd, where bars are drawn together. */
export const MAX_ROWS = 8;

/**
 * Gives every bar of a lane a row: the first free one, for what ran in a code cell the first free one below it. Returns how
 * many rows are used; bars that find none get row `MAX_ROWS`.
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

/** Says whether a bar can stand after the last one of a row. Two without any length at the same moment cannot. */
function isFree(last, bar, starts, ends) {
  if (last < 0) return true;
  if (ends[last] > starts[bar]) return false;
  return ends[last] > starts[last] || starts[last] < starts[bar] || ends[bar] > starts[bar];
}

/** Returns the row of what began last of what runs at a moment: a cell need not have a bar of its own. */
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
 * Joins spans that overlap: `{starts, ends, counts, firsts}`, where `firsts` is the first bar of each.
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
