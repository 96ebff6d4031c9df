/** Links to objects within the page. */

import { nameOf, typeWord } from "./describe.js";
import { element } from "./dom.js";
import { signOf } from "./outcome.js";
import { linkTo } from "./permalink.js";

/**
 * Returns a link that selects an object.
 *
 * @param {{data: import("./data.js").Data, store: import("./store.js").Store}} page
 * @param {number} n
 * @param {{origin?: string, text?: string, typed?: boolean}} [options] `typed` shows the type before the name
 * @returns {HTMLElement}
 */
export function reference({ data, store }, n, { origin = "", text, typed } = {}) {
  const shown = text ?? nameOf(data, n);
  const outcome = data.outcome(n);
  return element(
    "a",
    {
      class: "reference",
      href: linkTo(data.refOf(n)),
      title: `${data.refOf(n)}${shown ? `\n${shown.slice(0, 400)}` : ""}`,
      onclick: (event) => {
        // With a modifier key the browser opens the permalink in another tab or window.
        if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
        event.preventDefault();
        event.stopPropagation();
        store.select(n, origin);
      },
    },
    typed ? element("span", { class: "type", text: typeWord(data.typeName(n)) }) : null,
    outcome === "none" || outcome === "completed"
      ? null
      : element("span", { class: `sign ${outcome === "failed" ? "bad" : "warn"}`, role: "img", "aria-label": outcome, text: signOf(outcome) }),
    element("bdi", { text: shown }),
  );
}
