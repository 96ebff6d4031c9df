/**
 * Stores the reader's choices between visits, such as the sizes of panels and the theme. If the browser does not allow
 * pages to store data, choices are forgotten.
 */

const PREFIX = "trace-view.";

/**
 * Returns what was stored under a name, or null.
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
 * Stores a text under a name.
 *
 * @param {string} name
 * @param {string} value
 */
export function remember(name, value) {
  try {
    localStorage.setItem(PREFIX + name, value);
  } catch {
    // The page works without stored choices.
  }
}
