/** The list of sessions. Each one links to its own page. */

import { line } from "../../client/assets/texts.js";
import { element, fill } from "../../page/assets/dom.js";
import { count, duration, number, tokens } from "../../page/assets/format.js";
import { badge } from "../../page/assets/outcome.js";
import { range } from "./days.js";
import { money } from "./groups.js";
import { called } from "./narrow.js";
import { COLUMNS, OF_ROWS } from "./place.js";

/** Sessions that are asked for at once, and the most that the server returns in all. */
const STEP = 25;
const MOST = 1000;

/** Bytes of an address that the server takes in the path of a page. */
const MAX_ADDRESS_BYTES = 2048;

const ORDERS = { __proto__: null, newest: "Newest", failures: "Most failures", findings: "Most findings", tokens: "Most tokens", longest: "Longest" };

/**
 * Returns the path of the page of a session: its day and its address in hexadecimal digits. Null if the address is too long.
 *
 * @param {{day: string|null, address: string}} session
 * @returns {string|null}
 */
export function pathOf({ day, address }) {
  const bytes = new TextEncoder().encode(address);
  if (bytes.length === 0 || bytes.length > MAX_ADDRESS_BYTES) return null;
  const digits = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return `session/${day ?? ""}-${digits}/`;
}

export class Sessions {
  /**
   * @param {HTMLElement} host
   * @param {{order: (order: string) => void, all: () => void, more: (offset: number) => void}} actions
   */
  constructor(host, actions) {
    this.actions = actions;
    this.title = element("h2", { id: "sessions-title", text: "Sessions" });
    this.told = element("p", { class: "quiet", role: "status", "aria-label": "Sessions listed" });
    this.order = element("select", { id: "order", onchange: () => actions.order(this.order.value) }, ...Object.entries(ORDERS).map(([value, text]) => element("option", { value, text })));
    this.all = element("button", { type: "button", id: "all-sessions", text: "Back to all of them", hidden: true, onclick: () => actions.all() });
    this.body = element("tbody", {});
    this.head = element("tr", {});
    this.scroller = element("div", { class: "scroller", role: "region", "aria-label": "List of sessions", tabindex: "0" }, element("table", {}, element("thead", {}, this.head), this.body));
    this.more = element("button", { type: "button", id: "more-sessions", text: "More", hidden: true, onclick: () => actions.more(this.shown) });
    fill(host, element("div", { class: "list-head" }, this.title, this.all, element("span", { class: "space" }), element("label", {}, element("span", { text: "Order" }), this.order)), this.told, this.scroller, this.more);
    this.shown = 0;
  }

  wait() {
    this.scroller.setAttribute("aria-busy", "true");
  }

  fail(message) {
    this.scroller.removeAttribute("aria-busy");
    fill(this.body);
    this.more.hidden = true;
    this.told.textContent = `No answer: ${line(message, 300)}`;
  }

  /**
   * Shows sessions, or more of them.
   *
   * @param {{rows: object[], total: number, offset: number, days: string[]}} answer
   * @param {object} place
   * @param {string|null} currency of costs; without it, there are none
   */
  show({ rows, total, offset, days }, place, currency) {
    this.scroller.removeAttribute("aria-busy");
    this.order.value = place.order in ORDERS ? place.order : "newest";
    const isPoint = place.from !== undefined;
    this.all.hidden = !isPoint;
    this.title.textContent = isPoint ? `Sessions of ${range(days[0], days[1])}${place.pick === undefined ? "" : `, ${(COLUMNS[place.pick] ?? OF_ROWS[place.pick]).toLowerCase()} ${called(place.picked ?? "")}`}` : "Sessions";
    const cost = currency ? `Cost in ${line(currency, 12)}` : null;
    const columns = ["Day", "Outcome", "Session", "Team", "Repository", "Agent", "Model", "Failures", "Findings", "Tokens", ...(currency ? [cost] : []), "Duration"];
    const numbers = new Set(["Failures", "Findings", "Tokens", cost, "Duration"]);
    fill(this.head, ...columns.map((text) => element("th", { scope: "col", class: numbers.has(text) ? "number" : null, text })));
    const made = rows.map((row) => this.row(row, Boolean(currency)));
    if (offset > 0) this.body.append(...made);
    else fill(this.body, ...made);
    this.shown = offset + rows.length;
    this.told.textContent = total === 0 ? "No session is like this." : `${number(this.shown)} of ${count(total, "session")}, ${range(days[0], days[1])}`;
    this.scroller.hidden = total === 0;
    this.more.hidden = this.shown >= Math.min(total, MOST) || rows.length === 0;
    if (this.shown >= MOST && total > MOST) this.told.textContent += `. The page lists at most ${number(MOST)}; fewer days or a filter show the others.`;
    if (offset > 0) made[0]?.querySelector("a")?.focus();
  }

  row(row, hasPrices) {
    const path = pathOf(row);
    const name = row.first_prompt ? line(row.first_prompt, 100) : line(row.address.split("/").at(-1), 100);
    const cell = (text) => element("td", {}, element("bdi", { text }));
    const figure = (text, title = null) => element("td", { class: "number", title, text });
    const outcome = row.readable === false ? badge("failed", "unreadable") : badge(row.outcome ?? "none", row.outcome ?? "none");
    const all = (row.input_tokens ?? 0) + (row.output_tokens ?? 0);
    return element(
      "tr",
      {},
      element("td", { class: "day", text: row.day ?? "" }),
      element("td", {}, outcome),
      element("th", { scope: "row", class: "session", title: line(row.address, 300) }, path ? element("a", { href: path }, element("bdi", { text: name })) : element("bdi", { text: name })),
      cell(called(row.team)),
      cell(called(row.repository)),
      cell(`${called(row.agent)}${row.agent_version ? ` ${called(row.agent_version)}` : ""}`),
      cell(called(row.model)),
      figure(number(row.failures ?? 0)),
      figure(number(row.findings ?? 0)),
      figure(tokens(all), `${number(row.input_tokens ?? 0)} in, ${number(row.output_tokens ?? 0)} out`),
      hasPrices ? figure(money(row.money)) : null,
      figure(row.duration_ms === null ? "" : duration(row.duration_ms)),
    );
  }
}

/** Returns the parameters of a list: how many sessions, from where, and in which order. */
export function page(place, offset) {
  return { limit: STEP, offset, order: place.order in ORDERS ? place.order : "newest" };
}
