/**
 * Synchronizes the address of the page with what it shows. A selection adds a step to the browser's history; filters
 * and the thread of the transcript change the current step.
 */

import { announce } from "./announce.js";
import { formatLink, parseLink } from "./permalink.js";

/** How long changes of filters and zoom are collected before the address changes, in milliseconds. */
const PAUSE_MS = 300;

/**
 * The address of the page.
 */
export class Route {
  /**
   * @param {{data: import("./data.js").Data, store: import("./store.js").Store, timeline: object}} page
   * @param {import("./filters.js").Filters} filters
   */
  constructor(page, filters) {
    this.page = page;
    this.filters = filters;
    this.isRestoring = false;
    this.timer = 0;
    /** The fragment of what the page shows now. */
    this.shown = null;
    const { store } = page;
    store.on("select", () => this.write("push"));
    for (const kind of ["thread", "filters", "zoom"]) store.on(kind, () => this.later());
    // Browsers send both events for one step through the history.
    for (const kind of ["popstate", "hashchange"]) {
      window.addEventListener(kind, () => {
        if (location.hash !== this.shown) this.restore();
      });
    }
  }

  /** Returns the fragment for what is shown, without `#`. */
  fragment() {
    const { data, store, timeline } = this.page;
    const { selected, thread } = store;
    const own = selected < 0 ? (data.raw.order[0] ?? -1) : data.typeName(selected) === "thread" ? selected : data.thread(selected);
    const range = timeline.visibleTime();
    return formatLink(selected < 0 ? "" : data.refOf(selected), {
      thread: thread === own || thread < 0 ? "" : data.refOf(thread),
      ...this.filters.state(),
      zoom: range === null ? "" : `${Math.round(range[0])},${Math.round(range[1])}`,
    });
  }

  later() {
    clearTimeout(this.timer);
    if (!this.isRestoring) this.timer = setTimeout(() => this.write("replace"), PAUSE_MS);
  }

  write(how) {
    if (this.isRestoring) return;
    clearTimeout(this.timer);
    const fragment = `#${this.fragment()}`;
    if (fragment === (location.hash || "#")) return;
    try {
      if (how === "push") history.pushState(null, "", fragment);
      else history.replaceState(null, "", fragment);
    } catch {
      // Some browsers do not let a page that was opened as a file change the history this way. Setting the address
      // still works.
      if (how === "push") location.hash = fragment;
    }
    this.shown = location.hash;
  }

  /** Shows what the address says. If it names something that the session does not have, tells the reader. */
  restore() {
    const { data, store, timeline } = this.page;
    this.shown = location.hash;
    const { ref, state } = parseLink(this.shown);
    this.isRestoring = true;
    try {
      this.filters.restore(state);
      const n = ref === "" ? -1 : data.numberOf(ref);
      if (n < 0 && ref !== "") announce(`This session has no object ${ref.slice(0, 120)}.`);
      const [from, to] = (state.zoom ?? "").split(",").map(Number);
      if (n !== store.selected || n >= 0) store.select(n, "route");
      const thread = state.thread ? data.numberOf(state.thread) : -1;
      if (data.typeName(thread) === "thread") store.showThread(thread);
      // This must come after the selection, which moves the timeline too.
      if (to > from) timeline.showTime(from, to);
    } finally {
      this.isRestoring = false;
    }
  }
}
