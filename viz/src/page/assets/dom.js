/** Creates elements. All data of a session enters the page through this module, as text. */

/**
 * Returns a new element. `attributes` may contain `class`, `text`, event handlers (`onclick: f`) and any attribute.
 * Null and false omit an attribute, true makes it empty.
 *
 * @param {string} name
 * @param {Object<string, unknown>} [attributes]
 * @param {...(Node|string|null|undefined)} children
 * @returns {HTMLElement}
 */
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (key === "text") made.textContent = String(value);
    else if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else made.setAttribute(key, value === true ? "" : String(value));
  }
  for (const child of children) {
    if (child !== null && child !== undefined) made.append(child);
  }
  return made;
}

/**
 * Replaces all children of an element.
 *
 * @param {Element} parent
 * @param {...(Node|string|null|undefined)} children
 */
export function fill(parent, ...children) {
  parent.replaceChildren(...children.filter((child) => child !== null && child !== undefined));
}

/**
 * Returns the element with an id. The document is known to contain it.
 *
 * @param {string} id
 * @returns {HTMLElement}
 */
export function byId(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the document has no #${id}`);
  return found;
}

/**
 * Opens a dialog, scrolled to its beginning. By default the browser would focus its first control, which may be below
 * the text.
 *
 * @param {HTMLDialogElement} dialog
 */
export function showDialog(dialog) {
  dialog.showModal();
  dialog.focus();
  dialog.scrollTop = 0;
}
