/** Filters by agent, kind of work, outcome and least duration. */

import { element, fill } from "./dom.js";
import { duration, number } from "./format.js";
import { TreeRows } from "./tree_rows.js";

/** Choices for the least duration, in milliseconds. */
export const DURATIONS = [0, 100, 1000, 5000, 30_000, 60_000, 300_000];

/**
 * The filters of the page.
 */
export class Filters {
  /**
   * @param {HTMLElement} host
   * @param {{data: import("./data.js").Data, store: import("./store.js").Store}} page
   */
  constructor(host, page) {
    this.page = page;
    const { data, store } = page;
    /** The agent whose subtree is shown, or -1. */
    this.under = -1;
    this.rows = new TreeRows(data);
    this.works = data.raw.works.map((work) =>
        element(
          "button",
          { type: "button", class: "chip work", "data-work": work, "aria-pressed": "false", title: `Only ${work}, and what else is pressed`, onclick: () => this.toggle("works", work) },
          element("span", { class: "swatch", "aria-hidden": "true" }),
          work,
        ),
    );
    this.failed = element("button", { type: "button", class: "chip", "aria-pressed": "false", title: "Only what failed (f)", onclick: () => this.toggleFailed() }, element("span", { class: "sign bad", "aria-hidden": "true", text: "✕" }), " failed");
    this.unfinished = element("button", { type: "button", class: "chip", "aria-pressed": "false", title: "Only what was cancelled or has no end", onclick: () => this.toggleUnfinished() }, element("span", { class: "sign warn", "aria-hidden": "true", text: "…" }), " cut off");
    this.durations = element("select", { "aria-label": "Least duration", onchange: () => store.filter({ minDuration: Number(this.durations.value) }) });
    this.agents = element("select", { "aria-label": "Agents", onchange: () => this.chooseAgents(this.agents.value) });
    this.shown = element("span", { class: "quiet shown-bars", role: "status" });
    this.clearAll = element("button", { type: "button", text: "Clear filters", onclick: () => this.clear(), hidden: true });
    host.append(
      this.agents,
      element("span", { class: "chips", role: "group", "aria-label": "Kind of work" }, ...this.works),
      element("span", { class: "chips", role: "group", "aria-label": "Outcome" }, this.failed, this.unfinished),
      this.durations,
      element("span", { class: "gap" }),
      this.shown,
      this.clearAll,
    );
    store.on("filters", () => this.draw());
    store.on("thread", () => this.drawAgents());
    store.on("data", (how) => this.refresh(how === "renumbered"));
    this.drawWorks();
    this.draw();
  }

  /** Takes what is new in the data. Agents below the chosen one are shown, too. */
  refresh(isRenumbered) {
    const { data, store } = this.page;
    this.rows = new TreeRows(data);
    this.drawWorks();
    if (isRenumbered) this.under = this.under < 0 ? -1 : (data.raw.order.find((n) => store.filters.threads.has(n)) ?? -1);
    const below = this.under < 0 ? null : this.rows.subtree(this.under);
    if (below && below.size !== store.filters.threads.size) store.filter({ threads: below });
    else this.draw();
  }

  /** Shows the kinds of work that the session has. */
  drawWorks() {
    const { data } = this.page;
    const used = new Set(data.raw.bars.work);
    this.works.forEach((chip, index) => (chip.hidden = !used.has(index)));
  }

  toggle(kind, value) {
    const set = new Set(this.page.store.filters[kind]);
    if (!set.delete(value)) set.add(value);
    this.page.store.filter({ [kind]: set });
  }

  toggleFailed() {
    this.toggle("outcomes", "failed");
  }

  toggleUnfinished() {
    const set = new Set(this.page.store.filters.outcomes);
    const isOn = set.has("unfinished");
    for (const outcome of ["unfinished", "cancelled"]) {
      if (isOn) set.delete(outcome);
      else set.add(outcome);
    }
    this.page.store.filter({ outcomes: set });
  }

  chooseAgents(value) {
    this.showUnder(value === "" ? -1 : Number(value));
  }

  /** Shows only an agent and those below it, or all agents if `thread` is -1. */
  showUnder(thread) {
    this.under = thread;
    this.page.store.filter({ threads: thread < 0 ? new Set() : this.rows.subtree(thread) });
  }

  clear() {
    this.under = -1;
    this.page.store.filter({ threads: new Set(), works: new Set(), outcomes: new Set(), minDuration: 0 });
  }

  drawAgents() {
    const { data, store } = this.page;
    const choices = [["", "all agents"]];
    for (const thread of new Set([this.under, store.thread])) {
      if (thread >= 0) choices.push([String(thread), `${data.agentName(thread)}${this.rows.isParent(thread) ? " and below" : ""}`]);
    }
    fill(this.agents, ...choices.map(([value, text]) => element("option", { value, text: text.length > 60 ? `…${text.slice(-58)}` : text })));
    this.agents.value = this.under < 0 ? "" : String(this.under);
  }

  draw() {
    const { store } = this.page;
    const { filters } = store;
    // Another panel may have changed them.
    if (filters.threads.size === 0) this.under = -1;
    this.drawAgents();
    for (const chip of this.works) chip.setAttribute("aria-pressed", String(filters.works.has(chip.dataset.work)));
    this.failed.setAttribute("aria-pressed", String(filters.outcomes.has("failed")));
    this.unfinished.setAttribute("aria-pressed", String(filters.outcomes.has("unfinished")));
    const durations = new Set([...DURATIONS, filters.minDuration]);
    fill(
      this.durations,
      ...[...durations].sort((a, b) => a - b).map((ms) => element("option", { value: ms, text: ms === 0 ? "any duration" : `≥ ${duration(ms)}` })),
    );
    this.durations.value = String(filters.minDuration);
    const isOn = filters.threads.size > 0 || filters.works.size > 0 || filters.outcomes.size > 0 || filters.minDuration > 0;
    this.clearAll.hidden = !isOn;
    const total = this.page.data.raw.bars.object.length;
    let left = 0;
    if (isOn) for (let bar = 0; bar < total; bar += 1) left += store.passes(bar) ? 1 : 0;
    this.shown.textContent = isOn ? `${number(left)} of ${number(total)} bars` : `${number(total)} bars`;
  }

  /** Returns the filters as named values for a permalink. */
  state() {
    const { filters } = this.page.store;
    return {
      under: this.under < 0 ? "" : this.page.data.refOf(this.under),
      works: [...filters.works].join(","),
      outcomes: [...filters.outcomes].join(","),
      min: filters.minDuration > 0 ? String(filters.minDuration) : "",
    };
  }

  /** Sets the filters from the named values of a permalink. Values that do not exist in this session are ignored. */
  restore({ under = "", works = "", outcomes = "", min = "" }) {
    const { data, store } = this.page;
    const known = (text, all) => new Set(text.split(",").filter((one) => all.includes(one)));
    const thread = under === "" ? -1 : data.numberOf(under);
    const shown = data.typeName(thread) === "thread" ? thread : -1;
    const least = Number(min);
    const filters = {
      threads: shown < 0 ? new Set() : this.rows.subtree(shown),
      works: known(works, data.raw.works),
      outcomes: known(outcomes, data.raw.outcomes),
      minDuration: Number.isFinite(least) && least > 0 ? least : 0,
    };
    // Most steps through the history do not change the filters, and filtering lays out the whole timeline again.
    const before = store.filters;
    const isSame =
      shown === this.under &&
      before.minDuration === filters.minDuration &&
      ["threads", "works", "outcomes"].every((name) => areSame(before[name], filters[name]));
    if (isSame) return;
    this.under = shown;
    store.filter(filters);
  }
}

function areSame(one, other) {
  return one.size === other.size && [...one].every((value) => other.has(value));
}
