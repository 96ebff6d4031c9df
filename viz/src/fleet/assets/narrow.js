/** The filters: days, columns, and what else the lake is narrowed to. */

import { line } from "../../client/assets/texts.js";
import { element, fill } from "../../page/assets/dom.js";
import { isDay, later } from "./days.js";
import { COLUMNS, OF_ROWS, withoutPoint } from "./place.js";

/** Ranges that are one click away, in days to the last one of the lake. */
const RANGES = [7, 30, 90];

/** Which answers of `values.json` a filter offers. */
const OFFERED = { __proto__: null, ...Object.fromEntries(Object.keys(COLUMNS).map((name) => [name, name])), category: "category", finding: "kind" };

/** The value of a choice for everything. No value of a lake begins so. */
const ALL = "\u0000all";

/** Returns what a value is called. */
export const called = (value) => (value === "" || value === null ? "(none)" : line(value, 60));

export class Narrow {
  /**
   * @param {HTMLFormElement} host
   * @param {(place: object) => void} go
   */
  constructor(host, go) {
    this.host = host;
    this.go = go;
    this.values = null;
    host.addEventListener("submit", (event) => event.preventDefault());
  }

  /**
   * Draws the filters of a place.
   *
   * @param {object} place
   * @param {{days: string[]|null, shown: string[]}} lake
   */
  show(place, lake) {
    Object.assign(this, { place, lake });
    const focused = this.host.contains(document.activeElement) ? document.activeElement.id : "";
    const [first, last] = [place.since ?? lake.shown[0], place.until ?? lake.shown[1]];
    const bound = (id, name, label, value) =>
      element("label", {}, element("span", { text: label }), element("input", { id, type: "date", value, onchange: ({ target }) => isDay(target.value) && this.change({ [name]: target.value }) }));
    const end = lake.shown[1];
    const ranges = RANGES.map((days) => this.range(`${days} days`, later(end, 1 - days), end, first, last));
    if (lake.days) ranges.push(this.range("All", lake.days[0], lake.days[1], first, last));
    const choices = Object.keys(OFFERED).map((name) => this.choice(name));
    fill(
      this.host,
      element("div", { class: "days" }, bound("since", "since", "From", first), bound("until", "until", "to", last), element("div", { class: "ranges", role: "group", "aria-label": "Days" }, ...ranges)),
      element("div", { class: "choices" }, ...choices),
      this.chips(),
    );
    if (focused) document.getElementById(focused)?.focus();
  }

  /** Takes the values that the filters offer. */
  offer(values) {
    this.values = values;
    if (this.place) this.show(this.place, this.lake);
  }

  change(changes) {
    const place = { ...withoutPoint(this.place), ...changes };
    this.go(Object.fromEntries(Object.entries(place).filter(([, value]) => value !== undefined)));
  }

  range(text, first, last, shownFirst, shownLast) {
    const isOn = first === shownFirst && last === shownLast;
    return element("button", { type: "button", id: `range-${text.replace(" ", "-")}`, "aria-pressed": String(isOn), text, onclick: () => this.change({ since: first, until: last }) });
  }

  choice(name) {
    const { values = [], is_cut: isCut = false } = this.values?.[OFFERED[name]] ?? {};
    const chosen = this.place[name];
    const offered = values.map((value) => value ?? "");
    // A value of the address that is not offered can be chosen nevertheless.
    if (chosen !== undefined && !offered.includes(chosen)) offered.unshift(chosen);
    const label = COLUMNS[name] ?? OF_ROWS[name];
    const options = [element("option", { value: ALL, text: isCut ? `All (the ${values.length} most frequent)` : "All", selected: chosen === undefined })];
    for (const value of offered) options.push(element("option", { value, text: called(value), selected: value === chosen }));
    const select = element("select", { id: `choice-${name}`, onchange: () => this.change({ [name]: select.value === ALL ? undefined : select.value }) }, ...options);
    return element("label", {}, element("span", { text: label }), select);
  }

  /** Returns what the lake is narrowed to, each with a button that takes it away. */
  chips() {
    const names = [...Object.keys(COLUMNS), ...Object.keys(OF_ROWS)].filter((name) => this.place[name] !== undefined);
    if (names.length === 0) return null;
    const chip = (name) => {
      const what = `${COLUMNS[name] ?? OF_ROWS[name]}: ${called(this.place[name])}`;
      return element("li", { class: "chip" }, element("bdi", { text: what }), element("button", { type: "button", id: `drop-${name}`, "aria-label": `Remove ${what}`, text: "×", onclick: () => this.change({ [name]: undefined }) }));
    };
    const clear = element("button", { type: "button", id: "clear", text: "Clear", onclick: () => this.change(Object.fromEntries(names.map((name) => [name, undefined]))) });
    return element("ul", { class: "chips", "aria-label": "Narrowed to" }, ...names.map(chip), element("li", {}, clear));
  }
}
