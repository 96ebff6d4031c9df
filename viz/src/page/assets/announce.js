/** Shows a short message to the reader for a while. Screen readers read it aloud. */

import { byId } from "./dom.js";

/** How long a message is shown, in milliseconds. */
const SHOWN_MS = 6000;

let waiting = 0;

/**
 * Shows a message. It replaces an earlier one.
 *
 * @param {string} text
 */
export function announce(text) {
  const line = byId("message");
  clearTimeout(waiting);
  line.textContent = text;
  waiting = setTimeout(() => (line.textContent = ""), SHOWN_MS);
}
