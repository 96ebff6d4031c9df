/** What the panels "Audit" and "Why" share: a list with steps that name objects, of which the selected one is marked. */

import { element } from "./dom.js";

/**
 * A panel with steps: elements with the number of an object in `data-step`.
 */
export class Steps {
  /**
   * @param {HTMLElement} host
   * @param {{store: import("./store.js").Store}} page
   * @param {string} name the accessible name of the panel
   */
  constructor(host, page, name) {
    this.page = page;
    this.scroller = element("div", { class: "scroller verdicts", tabindex: "0", role: "region", "aria-label": name });
    host.append(this.scroller);
    page.store.on("select", () => this.mark());
  }

  /** Marks the steps that name the selected object. */
  mark() {
    const { selected } = this.page.store;
    for (const step of this.scroller.querySelectorAll("[data-step]")) {
      const isCurrent = Number(step.dataset.step) === selected;
      step.classList.toggle("is-selected", isCurrent);
      if (isCurrent) step.setAttribute("aria-current", "step");
      else step.removeAttribute("aria-current");
    }
  }

  focus() {
    this.scroller.focus({ preventScroll: true });
  }
}
