/** The rows of a transcript: which items are visible, what is folded, and where turns begin. */

/** Marks of items, as in the structure. */
export const INHERITED = 1;
export const COMPACTS = 2;
export const REPLACES = 4;
export const UNSENT = 8;

/** Kinds of rows. The key of a row is `kind:place`. */
export const ROW = { item: "item", inherited: "inherited", turn: "turn" };

/**
 * Returns the keys of the rows of a transcript.
 *
 * @param {import("./data.js").Data} data
 * @param {{items: number[], marks: number[]}} transcript
 * @param {{role: string, kind: string, failedOnly: boolean}} filter
 * @param {boolean} isInheritedOpen
 * @returns {string[]}
 */
export function rowsOf(data, { items, marks }, filter, isInheritedOpen) {
  const keys = [];
  let turn = -1;
  let isInherited = false;
  const isFiltered = filter.role !== "" || filter.kind !== "" || filter.failedOnly;
  for (let place = 0; place < items.length; place += 1) {
    const n = items[place];
    if (marks[place] & INHERITED) {
      if (!isInherited) keys.push(`${ROW.inherited}:${place}`);
      isInherited = true;
      if (!isInheritedOpen) continue;
    } else isInherited = false;
    if (!passes(data, n, marks[place], filter)) continue;
    const own = data.turn(n);
    if (!isFiltered && !(marks[place] & INHERITED) && own >= 0 && own !== turn) {
      turn = own;
      keys.push(`${ROW.turn}:${place}`);
    }
    keys.push(`${ROW.item}:${place}`);
  }
  return keys;
}

function passes(data, n, mark, filter) {
  // A compaction is never filtered out, since the model no longer saw the items before it.
  if (mark & COMPACTS) return true;
  const { items } = data.raw;
  const index = data.indexOf(n);
  return (
    (filter.role === "" || data.text(items.role[index]) === filter.role) &&
    (filter.kind === "" || data.text(items.kind[index]) === filter.kind) &&
    (!filter.failedOnly || isFailure(data, n))
  );
}

/** Says whether an item called a tool that failed, or failed itself. */
export function isFailure(data, n) {
  return data.outcome(n) === "failed" || data.toolsOf(n).some((tool) => data.outcome(tool) === "failed");
}

/** Returns the kind and the place of a row. */
export function splitKey(key) {
  const at = key.indexOf(":");
  return [key.slice(0, at), Number(key.slice(at + 1))];
}

/**
 * Returns the number of consecutive inherited items that begin at a place.
 *
 * @param {number[]} marks
 * @param {number} place
 */
export function inheritedFrom(marks, place) {
  let end = place;
  while (end < marks.length && marks[end] & INHERITED) end += 1;
  return end - place;
}

/**
 * Returns the place in a transcript that is most relevant to an object: the item itself, the item that called a tool, the
 * first item that an object made, the first item of a turn. Returns -1 if there is none.
 *
 * @param {import("./data.js").Data} data
 * @param {{items: number[], marks: number[]}} transcript
 * @param {number} n
 * @returns {number}
 */
export function placeOf(data, { items, marks }, n) {
  const type = data.typeName(n);
  const own = (test) => {
    const found = items.findIndex((item, place) => !(marks[place] & INHERITED) && test(item));
    return found >= 0 ? found : items.findIndex(test);
  };
  if (type === "conversation_item") return own((item) => item === n);
  if (type === "tool_call") {
    const shows = own((item) => data.toolsOf(item).includes(n));
    if (shows >= 0) return shows;
  }
  if (type === "interaction_edge") {
    const { source, target } = data.edge(n);
    for (const end of [target, source]) {
      const place = end < 0 || data.typeName(end) === "interaction_edge" || data.typeName(end) === "thread" ? -1 : placeOf(data, { items, marks }, end);
      if (place >= 0) return place;
    }
    return -1;
  }
  if (type === "thread") return -1;
  if (type === "codex_turn") return own((item) => data.turn(item) === n);
  const { producer } = data.raw.items;
  const first = data.rangeOf("conversation_item")[0];
  const made = own((item) => producer[item - first] === n);
  if (made >= 0) return made;
  for (const { n: effect } of data.effects(n)) {
    if (data.typeName(effect) === "conversation_item") {
      const place = items.indexOf(effect);
      if (place >= 0) return place;
    }
  }
  // An object that made no item is shown at the place of its start time.
  const start = data.start(n);
  if (start < 0) return -1;
  const after = own((item) => data.start(item) >= start);
  return after >= 0 ? after : items.length - 1;
}
