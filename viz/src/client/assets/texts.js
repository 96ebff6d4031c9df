/** Shows untrusted texts: as text nodes, with characters that act, hide or deceive written as escapes. */

import { element } from "../../page/assets/dom.js";
import { visibleLine, visibleParts } from "../../page/assets/visible.js";

/** Most characters of a text that are shown at once. The reader can ask for more. */
export const MAX_SHOWN_CHARS = 200_000;

/**
 * Returns the nodes of a text. `isCommand` says that it is executed, so that every character of it matters.
 *
 * @param {string} text
 * @param {boolean} [isCommand]
 * @returns {(string|HTMLElement)[]}
 */
export function safe(text, isCommand = false) {
  return visibleParts(text, isCommand).map(([isEscape, part]) =>
    isEscape ? element("span", { class: "escape", text: part }) : part,
  );
}

/**
 * Returns a text as one line for a label, a title or a name.
 *
 * @param {unknown} text
 * @param {number} [most] characters
 * @returns {string}
 */
export function line(text, most = 120) {
  const shown = visibleLine(String(text ?? "").slice(0, 4 * most), false).replace(/\s+/g, " ").trim();
  const chars = [...shown];
  return chars.length > most ? `${chars.slice(0, most - 1).join("")}…` : shown;
}

/**
 * Returns an element with a text of any length. Of a long one, the end is shown: it is what matters of an output.
 *
 * @param {string} text
 * @param {{isCommand?: boolean, class?: string}} [options]
 * @returns {HTMLElement}
 */
export function block(text, { isCommand = false, class: name = "" } = {}) {
  const holder = element("pre", { class: `block ${name}`, dir: isCommand ? "ltr" : "auto", tabindex: "0" });
  const show = (from) => {
    const more = from > 0 ? element("button", { type: "button", class: "more", text: `Show ${size(from)} before this`, onclick: () => show(Math.max(0, from - MAX_SHOWN_CHARS)) }) : null;
    holder.replaceChildren(...(more ? [more, "\n"] : []), ...safe(text.slice(from), isCommand));
  };
  // A command is shown whole, since its beginning and its end both matter.
  show(isCommand ? 0 : Math.max(0, text.length - MAX_SHOWN_CHARS));
  return holder;
}

/**
 * Returns an element that shows its content when it is opened. The content is made then, and not before.
 *
 * @param {(string|Node)[]} summary
 * @param {() => (string|Node)[]} content
 * @param {{isOpen?: boolean, class?: string}} [options]
 * @returns {HTMLDetailsElement}
 */
export function folded(summary, content, { isOpen = false, class: name = "" } = {}) {
  const body = element("div", { class: "folded" });
  const made = element("details", { class: name, open: isOpen }, element("summary", {}, ...summary), body);
  const fillOnce = () => {
    if (made.open && body.childNodes.length === 0) body.append(...content());
  };
  made.addEventListener("toggle", fillOnce);
  fillOnce();
  return made;
}

/** Returns a number of characters for people. */
export function size(chars) {
  if (chars < 1000) return `${chars} characters`;
  if (chars < 1_000_000) return `${(chars / 1000).toFixed(1)} kB`;
  return `${(chars / 1_000_000).toFixed(1)} MB`;
}

/** Returns a duration in milliseconds for people, or an empty text if it is not known. */
export function duration(ms) {
  if (typeof ms !== "number" || ms < 0) return "";
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1000)} s`;
}

/** Returns a value as indented JSON. */
export function json(value) {
  return JSON.stringify(value, null, 2) ?? "";
}
