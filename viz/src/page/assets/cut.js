/** Truncates long texts, and formats JSON. */

/** Most lines and characters that a text shows at first. */
export const FIRST_LINES = 14;
export const FIRST_CHARS = 1600;

/** How many more characters each request for more shows. */
export const MORE_CHARS = 200_000;

/** Longest JSON that is formatted. */
export const MAX_PRETTY_CHARS = 1_000_000;

/**
 * Returns the beginning of a text, and how much of it is not shown. `level` is how often the reader asked for more.
 *
 * @param {string} text
 * @param {number} level
 * @returns {{shown: string, isCut: boolean, restChars: number, restLines: number}}
 */
export function cut(text, level) {
  let end = text.length;
  if (level === 0) {
    end = Math.min(end, FIRST_CHARS);
    let at = -1;
    for (let line = 0; line < FIRST_LINES; line += 1) {
      at = text.indexOf("\n", at + 1);
      if (at < 0 || at >= end) break;
    }
    if (at >= 0 && at < end) end = at;
  } else end = Math.min(end, level * MORE_CHARS);
  // Do not cut within a surrogate pair.
  if (end < text.length && /[\uD800-\uDBFF]/.test(text[end - 1] ?? "")) end -= 1;
  // Hiding only a line or two saves no space.
  if (text.length - end < 80 && level === 0 && lines(text.slice(end)) < 3) end = text.length;
  return { shown: text.slice(0, end), isCut: end < text.length, restChars: text.length - end, restLines: end < text.length ? lines(text.slice(end)) : 0 };
}

function lines(text) {
  let count = 1;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) count += 1;
  return count;
}

/**
 * Returns formatted JSON, or the text unchanged if it is not JSON or too long.
 *
 * @param {string} text
 * @returns {string}
 */
export function pretty(text) {
  if (text.length > MAX_PRETTY_CHARS) return text;
  try {
    return JSON.stringify(JSON.parse(text), null, 2) ?? text;
  } catch {
    return text;
  }
}

/**
 * Approximate length of a piece of a long text, in characters. The browser lays out only the pieces that are in view.
 */
export const PIECE_CHARS = 8000;

/**
 * Splits a text into pieces that end at line feeds, or anywhere if a line is very long.
 *
 * @param {string} text
 * @returns {string[]}
 */
export function pieces(text) {
  const made = [];
  for (let at = 0; at < text.length; ) {
    let end = at + PIECE_CHARS;
    if (end >= text.length) end = text.length;
    else {
      const line = text.lastIndexOf("\n", end);
      if (line >= at) end = line + 1;
      else if (/[\uD800-\uDBFF]/.test(text[end - 1])) end += 1;
    }
    made.push(text.slice(at, end));
    at = end;
  }
  return made;
}

/** Matches a token of JSON that has a colour. */
const JSON_PART = /("(?:[^"\\]|\\.)*")(\s*:)?|\b(?:true|false|null)\b|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/** Most tokens of a JSON text that are coloured. */
export const MAX_COLOURED = 4000;

/**
 * Splits JSON into parts `[kind, text]`. The kind is key, string, literal or empty.
 *
 * @param {string} text
 * @returns {[string, string][]}
 */
export function jsonParts(text) {
  const parts = [];
  let at = 0;
  for (const match of text.matchAll(JSON_PART)) {
    if (parts.length >= MAX_COLOURED) break;
    const value = match[1] ?? match[0];
    if (match.index > at) parts.push(["", text.slice(at, match.index)]);
    parts.push([match[1] ? (match[2] ? "key" : "string") : "literal", value]);
    at = match.index + value.length;
  }
  if (at < text.length) parts.push(["", text.slice(at)]);
  return parts;
}

/**
 * Splits a text into parts `[isFound, text]`, where the occurrences of the text that is sought are parts of their own.
 * Ignores case.
 *
 * @param {string} text
 * @param {string} sought
 * @param {number} [limit] most occurrences that become parts of their own
 * @returns {[boolean, string][]}
 */
export function foundParts(text, sought, limit = 200) {
  const lower = text.toLowerCase();
  const small = sought.toLowerCase();
  // If lower case has another length than the original, offsets do not match.
  if (small === "" || lower.length !== text.length) return text === "" ? [] : [[false, text]];
  const parts = [];
  let at = 0;
  for (let found = lower.indexOf(small); found >= 0 && parts.length < limit * 2; found = lower.indexOf(small, at)) {
    if (found > at) parts.push([false, text.slice(at, found)]);
    parts.push([true, text.slice(found, found + small.length)]);
    at = found + small.length;
  }
  if (at < text.length) parts.push([false, text.slice(at)]);
  return parts;
}
