/** Applies the changes of a structure to its columns. README.md in this folder describes the changes. */

/** Tables whose columns have a row for each object of a type. */
export const TABLES = ["threads", "turns", "items", "inferences", "tools", "edges"];

/** Tables whose rows have no object of their own, with their columns. */
export const LISTS = { links: ["from", "to", "relation", "at"], uses: ["object", "payload"], attached: ["item", "tool"] };

export const BAR_COLUMNS = ["object", "work", "start", "end", "inside"];

/**
 * Changes a column that only grows.
 *
 * @param {unknown[]} column
 * @param {{set?: unknown[], add?: unknown[]}} changes `set` has places and values by turns
 * @param {number} [first] the place of the column's first row
 * @param {number} [count] rows of the column before the change
 */
export function growColumn(column, { set = [], add = [] }, first = 0, count = column.length) {
  for (let at = 0; at < set.length; at += 2) column[first + set[at]] = set[at + 1];
  for (let at = 0; at < add.length; at += 1) column[first + count + at] = add[at];
}

/**
 * Changes columns whose rows may be dropped and put in at any place.
 *
 * @param {Object<string, number[]>} table
 * @param {string[]} names of the columns, in the order of the values of a row
 * @param {{drop?: number[], put?: [number, number[]][], all?: number[][]}} changes
 */
export function patchRows(table, names, { drop = [], put = [], all }) {
  names.forEach((name, cell) => {
    if (all) {
      table[name] = all.map((row) => row[cell]);
      return;
    }
    const before = table[name];
    // Most changes are at the end, where nothing has to move.
    const from = Math.min(drop[0] ?? Infinity, put[0]?.[0] ?? Infinity);
    if (from === Infinity) return;
    const after = before.slice(0, from);
    let [read, dropped, placed] = [from, 0, 0];
    while (read < before.length || placed < put.length) {
      if (dropped < drop.length && drop[dropped] === read) {
        dropped += 1;
        read += 1;
      } else if (placed < put.length && put[placed][0] === after.length) {
        after.push(put[placed][1][cell]);
        placed += 1;
      } else if (read < before.length) {
        after.push(before[read]);
        read += 1;
      } else {
        throw new Error("the changes do not fit what the page has");
      }
    }
    table[name] = after;
  });
}

/**
 * Returns a column of all objects by their numbers. In a structure, the rows of all types follow each other; between the
 * numbers of two types there may be room.
 *
 * @param {unknown[]} column
 * @param {{first: number, count: number}[]} types
 * @returns {unknown[]}
 */
export function spread(column, types) {
  let rows = 0;
  const hasRoom = types.some(({ first, count }) => {
    const isBehind = first !== rows;
    rows += count;
    return isBehind;
  });
  if (!hasRoom) return column;
  const made = [];
  let row = 0;
  for (const { first, count } of types) {
    for (let index = 0; index < count && row < column.length; index += 1, row += 1) made[first + index] = column[row];
  }
  return made;
}
