/**
 * Addresses of what the page shows: `#TYPE:ID`, and after it `&name=value` for the thread of the transcript, the filters
 * and the part of the timeline that is in view.
 */

/** Longest fragment that is read. */
export const MAX_LINK_CHARS = 20_000;

/**
 * Returns a fragment, without `#`, for an object (or an empty text) and named values. Values that are empty are left out.
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
 * Reads a fragment, with or without `#`. What cannot be read is left out.
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

/** Escapes what would end a part; colons and slashes are common in ids and may stand in a fragment. */
function encode(text) {
  return encodeURIComponent(wellFormed(text)).replace(/%3A/g, ":").replace(/%2F/g, "/").replace(/%2C/g, ",");
}

function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    // A percent sign that begins no escape stands for itself.
    return text;
  }
}

function wellFormed(text) {
  return text.replace(/[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g, "\uFFFD");
}

/**
 * Returns the fragment for an object alone, with `#`: for links from one object to another.
 *
 * @param {string} ref
 * @returns {string}
 */
export function linkTo(ref) {
  return `#${formatLink(ref)}`;
}
