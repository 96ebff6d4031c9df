/**
 * Permalinks: `#TYPE:ID`, followed by `&name=value` for the thread of the transcript, the filters and the visible part
 * of the timeline.
 */

/** Longest fragment that is parsed. */
export const MAX_LINK_CHARS = 20_000;

/**
 * Returns a fragment without `#` for an object (or an empty text) and named values. Empty values are omitted.
 *
 * @param {string} ref
 * @param {Object<string, string>} [state]
 * @returns {string}
 */
export function formatLink(ref, state = {}) {
  const parts = [encode(ref)];
  for (const [name, value] of Object.entries(state)) {
    if (value !== "") parts.push(`${encode(name)}=${encode(value)}`);
  }
  return parts.join("&");
}

/**
 * Parses a fragment, with or without `#`. Parts that cannot be parsed are ignored.
 *
 * @param {string} fragment
 * @returns {{ref: string, state: Object<string, string>}}
 */
export function parseLink(fragment) {
  const [ref, ...rest] = fragment.replace(/^#/, "").slice(0, MAX_LINK_CHARS).split("&");
  const state = Object.create(null);
  for (const part of rest) {
    const at = part.indexOf("=");
    if (at > 0) state[decode(part.slice(0, at))] = decode(part.slice(at + 1));
  }
  return { ref: decode(ref), state };
}

/**
 * Escapes the characters that would end a part. Colons, slashes and commas are common in ids and allowed in a fragment.
 */
function encode(text) {
  return encodeURIComponent(wellFormed(text)).replace(/%3A/g, ":").replace(/%2F/g, "/").replace(/%2C/g, ",");
}

function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    // A percent sign that starts no valid escape stands for itself.
    return text;
  }
}

function wellFormed(text) {
  return text.replace(/[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g, "\uFFFD");
}

/**
 * Returns the fragment for an object, with `#`, for links from one object to another.
 *
 * @param {string} ref
 * @returns {string}
 */
export function linkTo(ref) {
  return `#${formatLink(ref)}`;
}
