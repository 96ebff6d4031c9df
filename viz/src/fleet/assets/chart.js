/**
 * Draws sums over time as stacked bars. Each part of a bar can be chosen, with the pointer or the keys, and leads to the
 * sessions behind it. The same numbers are there as a table.
 */

import { line } from "../../client/assets/texts.js";
import { element, fill } from "../../page/assets/dom.js";
import { labels, points, range } from "./days.js";
import { steps } from "./steps.js";
import { svg } from "./svg.js";

const HEIGHT = 190;
const LEFT = 54;
const RIGHT = 6;
const TOP = 8;
const BOTTOM = 22;

/** Width of a label of the time axis, in pixels. */
const LABEL = 84;

/** Height of a part that is too small to be seen, in pixels. */
const LEAST = 1.5;

/** What a series is called that has no name, and the sum of those that are not shown. */
const NO_NAME = "none";
const REST = "all others";

/** Returns the name of a series for people. */
export function nameOf({ name, is_rest }) {
  if (is_rest) return REST;
  return name === null || name === "" ? NO_NAME : line(name, 40);
}

export class Chart {
  /**
   * @param {HTMLElement} host
   * @param {object} options
   * @param {string} options.id
   * @param {string} options.title
   * @param {(name: string|null) => string} options.colour class of a series, by its name and number
   * @param {(point: {first: string, last: string, series: object}) => void} options.pick
   */
  constructor(host, { id, title, colour, pick }) {
    this.options = { id, colour, pick };
    this.data = null;
    this.active = -1;
    this.title = element("h2", { id: `${id}-title`, text: title });
    this.sum = element("span", { class: "quiet" });
    this.legend = element("ul", { class: "legend" });
    this.plot = element("div", { class: "chart" });
    this.note = element("p", { class: "quiet note" });
    this.table = element("details", { class: "as-table" }, element("summary", { text: "As a table" }));
    this.table.addEventListener("toggle", () => this.drawTable());
    this.figure = element("figure", { id, "aria-labelledby": `${id}-title` }, element("figcaption", {}, this.title, this.sum), this.plot, this.legend, this.note, this.table);
    host.append(this.figure);
    new ResizeObserver(() => this.data && this.width() !== this.drawn && this.draw()).observe(this.plot);
  }

  width() {
    return Math.max(220, Math.floor(this.plot.clientWidth));
  }

  /** Says that the numbers are on their way. */
  wait() {
    this.figure.dataset.state = "loading";
    this.figure.setAttribute("aria-busy", "true");
  }

  /** Says why there are no numbers. */
  fail(message) {
    this.data = null;
    this.figure.dataset.state = "failed";
    this.figure.removeAttribute("aria-busy");
    fill(this.plot);
    fill(this.legend);
    this.sum.textContent = "";
    this.note.textContent = `No answer: ${line(message, 300)}`;
  }

  /**
   * Shows an answer.
   *
   * @param {object} data
   * @param {(value: number) => string} format
   * @param {{from?: string, pick?: string, picked?: string}} chosen the point that is chosen
   */
  show(data, format, chosen) {
    Object.assign(this, { data, format, chosen });
    this.figure.dataset.state = "ready";
    this.figure.removeAttribute("aria-busy");
    this.points = points(data);
    this.sums = data.starts.map((_, at) => data.series.reduce((sum, series) => sum + series.values[at], 0));
    const all = this.sums.reduce((sum, value) => sum + value, 0);
    this.sum.textContent = `${format(all)} in ${data.days === 1 ? `${data.starts.length} days` : `${data.starts.length} points of ${data.days} days`}`;
    const notes = [];
    if (data.days > 1) notes.push(`Each bar is ${data.days} days.`);
    if (data.unit === "money") notes.push("Calls without a price do not count.");
    if (data.is_cut) notes.push("The smallest sums are left out, because there are too many.");
    this.note.textContent = notes.join(" ");
    this.draw();
    this.drawTable();
  }

  draw() {
    const { data, format, sums } = this;
    const { colour } = this.options;
    const width = this.width();
    this.drawn = width;
    const all = Math.max(0, ...sums);
    fill(this.legend, ...data.series.map((series, at) => element("li", {}, element("span", { class: `swatch ${colour(series, at)}`, "aria-hidden": "true" }), element("bdi", { text: nameOf(series) }), ` ${format(series.values.reduce((sum, value) => sum + value, 0), true)}`)));
    if (all <= 0) {
      this.active = -1;
      fill(this.plot, element("p", { class: "quiet empty", text: "There is nothing in these days." }));
      return;
    }
    const marks = steps(all, 4);
    const top = marks.at(-1);
    const y = (value) => HEIGHT - BOTTOM - (value / top) * (HEIGHT - TOP - BOTTOM);
    const each = (width - LEFT - RIGHT) / data.starts.length;
    const axes = svg(
      "svg",
      { class: "axes", width, height: HEIGHT, "aria-hidden": "true" },
      ...marks.flatMap((mark) => [
        svg("line", { x1: LEFT, x2: width - RIGHT, y1: y(mark), y2: y(mark) }),
        svg("text", { x: LEFT - 6, y: y(mark) + 4, "text-anchor": "end", text: format(mark, true) }),
      ]),
      ...labels(data.starts, Math.floor((width - LEFT) / LABEL)).map(({ at, text }) => svg("text", { x: LEFT + each * at, y: HEIGHT - 6, text })),
    );
    this.parts = [];
    const bars = svg("svg", { class: "bars", width, height: HEIGHT, role: "listbox", tabindex: "0", "aria-label": `${this.title.textContent}: arrow keys choose a part, Enter lists its sessions`, "aria-orientation": "horizontal" });
    this.points.forEach(({ first, last }, point) => {
      let below = 0;
      data.series.forEach((series, place) => {
        const value = series.values[point];
        if (!(value > 0)) return;
        const from = y(below + value);
        const height = Math.max(LEAST, y(below) - from);
        below += value;
        const said = `${range(first, last)}, ${nameOf(series)}: ${format(value)}`;
        const isChosen = this.isChosen(point, series);
        const part = svg("rect", {
          id: `${this.options.id}-${point}-${place}`,
          role: "option",
          class: `part ${colour(series, place)}`,
          "aria-label": said,
          "aria-selected": String(isChosen),
          x: LEFT + each * point + Math.min(1, each / 8),
          y: from,
          width: Math.max(0.5, each - Math.min(2, each / 4)),
          height,
          onclick: () => this.choose(part),
        });
        part.append(svg("title", { text: said }));
        this.parts.push({ part, point, place });
        bars.append(part);
      });
    });
    bars.addEventListener("keydown", (event) => this.key(event));
    bars.addEventListener("focus", () => this.activate(this.active < 0 ? this.parts.length - 1 : this.active));
    const hadFocus = this.plot.contains(document.activeElement);
    fill(this.plot, axes, bars);
    this.active = Math.min(this.active, this.parts.length - 1);
    if (hadFocus) bars.focus();
    else if (this.active >= 0) this.mark();
  }

  isChosen(point, series) {
    const { from, pick, picked } = this.chosen ?? {};
    if (this.points[point].first !== from) return false;
    return series.is_rest ? pick === undefined : pick === this.data.pick && picked === (series.name ?? "");
  }

  choose(part) {
    const at = this.parts.findIndex((one) => one.part === part);
    if (at < 0) return;
    this.activate(at);
    const { point, place } = this.parts[at];
    this.options.pick({ ...this.points[point], series: this.data.series[place] });
  }

  /** Makes a part the one that the keys move from. */
  activate(at) {
    this.active = at;
    this.mark();
  }

  mark() {
    const bars = this.plot.querySelector(".bars");
    const { part } = this.parts[this.active] ?? {};
    for (const other of this.parts) other.part.classList.toggle("active", other.part === part);
    if (part) bars?.setAttribute("aria-activedescendant", part.id);
  }

  key(event) {
    const { parts, active } = this;
    const now = parts[active];
    if (!now || event.altKey || event.ctrlKey || event.metaKey) return;
    const move = (delta) => {
      // The nearest point that has anything, and in it the same series if it is there.
      const far = parts.filter((one) => Math.sign(one.point - now.point) === delta);
      if (far.length === 0) return active;
      const nearest = delta > 0 ? far[0].point : far.at(-1).point;
      const there = parts.filter((one) => one.point === nearest);
      return parts.indexOf(there.find((one) => one.place === now.place) ?? there[0]);
    };
    const within = (delta) => (parts[active + delta]?.point === now.point ? active + delta : active);
    const keys = { ArrowRight: () => move(1), ArrowLeft: () => move(-1), ArrowUp: () => within(1), ArrowDown: () => within(-1), Home: () => 0, End: () => parts.length - 1 };
    if (event.key === "Enter" || event.key === " ") this.choose(now.part);
    else if (event.key in keys) this.activate(keys[event.key]());
    else return;
    event.preventDefault();
  }

  drawTable() {
    const { data, format } = this;
    this.table.querySelector(".scroller")?.remove();
    if (!this.table.open || !data) return;
    const head = element("tr", {}, element("th", { scope: "col", text: "Days" }), ...data.series.map((series) => element("th", { scope: "col", text: nameOf(series) })));
    const rows = this.points.map(({ first, last }, at) => element("tr", {}, element("th", { scope: "row", text: range(first, last) }), ...data.series.map((series) => element("td", { class: "number", text: format(series.values[at]) })))).reverse();
    this.table.append(element("div", { class: "scroller", role: "region", "aria-label": `${this.title.textContent} as a table`, tabindex: "0" }, element("table", {}, element("thead", {}, head), element("tbody", {}, ...rows))));
  }
}
