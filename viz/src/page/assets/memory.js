/**
 * What the page remembers of the reader's choices from one time to the next: sizes of panels, light or dark. A browser that
 * does not let pages remember is no problem.
 */

const PREFIX = "trace-view.";

/**
 * Returns what was remembered under a name, or null.
 *
 * @param {string} name
 * @returns {string|null}
 */
export function recall(name) {
  try {
    return localStorage.getItem(PREFIX + name);
  } catch {
    return null;
  }
}

/**
 * Remembers a text under a name.
 *
 * @param {string} name
 * @param {string} value
 */
export function remember(name, value) {
  try {
    localStorage.setItem(PREFIX + name, value);
  } catch {
    // Nothing depends on it.
  }
}
