/**
 * Tells the reader what happened, in a line that is shown for a while and read aloud by screen readers.
 */

import { byId } from "./dom.js";

/** How long a line is shown, in milliseconds. */
const SHOWN_MS = 6000;

let waiting = 0;

/**
 * Tells something. A later text takes the place of an earlier one.
 *
 * @param {string} text
 */
export function announce(text) {
  const line = byId("message");
  clearTimeout(waiting);
  line.textContent = text;
  waiting = setTimeout(() => (line.textContent = ""), SHOWN_MS);
}
