/** Creates elements of pictures. */

const NAMESPACE = "http://www.w3.org/2000/svg";

/**
 * Returns a new SVG element. `attributes` are those of `element` of `dom.js`.
 *
 * @param {string} name
 * @param {Object<string, unknown>} [attributes]
 * @param {...(Node|string|null)} children
 * @returns {SVGElement}
 */
export function svg(name, attributes = {}, ...children) {
  const made = document.createElementNS(NAMESPACE, name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (key === "text") made.textContent = String(value);
    else if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else made.setAttribute(key, value === true ? "" : String(value));
  }
  made.append(...children.filter((child) => child !== null));
  return made;
}
