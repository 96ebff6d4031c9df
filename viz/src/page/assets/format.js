/** Formats numbers and times for people. */

/**
 * Returns a duration: `0 ms`, `850 ms`, `12.3 s`, `4 m 05 s`, `2 h 07 m`.
 *
 * @param {number} ms
 * @returns {string}
 */
export function duration(ms) {
  if (!(ms >= 0)) return "";
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  const two = (value) => String(value).padStart(2, "0");
  if (seconds < 3600) return `${Math.floor(seconds / 60)} m ${two(seconds % 60)} s`;
  const minutes = Math.round(ms / 60_000);
  return `${Math.floor(minutes / 60)} h ${two(minutes % 60)} m`;
}

/**
 * Returns a time since the start of the session: `+12.3 s`.
 *
 * @param {number} ms
 * @returns {string}
 */
export function since(ms) {
  return ms >= 0 ? `+${duration(ms)}` : "";
}

/**
 * Returns the wall time of a moment in the reader's time zone: `14:03:07.120`.
 *
 * @param {number} unixMs
 * @returns {string}
 */
export function wallTime(unixMs) {
  const date = new Date(unixMs);
  if (Number.isNaN(date.getTime())) return "";
  const two = (value) => String(value).padStart(2, "0");
  const ms = String(date.getMilliseconds()).padStart(3, "0");
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}.${ms}`;
}

/**
 * Returns the day of a moment in the reader's time zone: `2026-03-02`.
 *
 * @param {number} unixMs
 * @returns {string}
 */
export function wallDay(unixMs) {
  const date = new Date(unixMs);
  if (Number.isNaN(date.getTime())) return "";
  const two = (value) => String(value).padStart(2, "0");
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

/**
 * Returns a number with thousands separated: `12,345`.
 *
 * @param {number} value
 * @returns {string}
 */
export function number(value) {
  return String(value).replace(/\B(?=(\d{3})+(?!\d))/g, ",");
}

/**
 * Returns a count of things: `1 call`, `2 calls`.
 *
 * @param {number} value
 * @param {string} noun
 * @returns {string}
 */
export function count(value, noun) {
  return `${number(value)} ${noun}${value === 1 ? "" : "s"}`;
}

/**
 * Returns a size: `312 B`, `4.1 kB`, `2.0 MB`.
 *
 * @param {number} bytes
 * @returns {string}
 */
export function size(bytes) {
  if (bytes < 1000) return `${bytes} B`;
  if (bytes < 999_950) return `${(bytes / 1000).toFixed(1)} kB`;
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}

/**
 * Returns a number of tokens: `312`, `4.1k`, `2.0M`.
 *
 * @param {number} value
 * @returns {string}
 */
export function tokens(value) {
  if (!(value >= 0)) return "";
  if (value < 1000) return String(value);
  if (value < 999_950) return `${(value / 1000).toFixed(1)}k`;
  return `${(value / 1_000_000).toFixed(1)}M`;
}
