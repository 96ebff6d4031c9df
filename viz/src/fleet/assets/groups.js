/** Groups of rows as a table. The first cell of a group narrows the page to it. */

import { line } from "../../client/assets/texts.js";
import { element, fill } from "../../page/assets/dom.js";
import { duration, number, tokens } from "../../page/assets/format.js";
import { range } from "./days.js";
import { called } from "./narrow.js";

/** Shows money. The head of its column says in which currency. */
export const money = (value) => (value === null || value === undefined ? "" : value.toFixed(2));

const percent = (value) => (value === null ? "" : `${value.toFixed(1)} %`);
const text = (value) => (value === null ? "" : line(value, 160));
const ms = (value) => (value === null ? "" : duration(value));
const count = (value) => (value === null ? "" : number(value));
const size = (value) => (value === null ? "" : tokens(value));

const OF_SESSIONS = [
  ["sessions", "Sessions", count],
  ["failed", "With a failure", count],
  ["percent", "Share", percent],
  ["failures", "Failures", count],
  ["findings", "Findings", count],
  ["input_tokens", "Tokens in", size],
  ["output_tokens", "Tokens out", size],
  ["money", "Cost", money],
];

/** The groups: name of the tab, columns, and what a row narrows the page to. */
export const GROUPS = {
  __proto__: null,
  category: { tab: "Failures", title: "Category", name: (row) => called(row.category), pick: (row) => ({ category: row.category ?? "" }), columns: [["failures", "Failures", count], ["percent", "Share", percent], ["sessions", "Sessions", count]] },
  signature: {
    tab: "Same failures",
    title: "Failure",
    name: (row) => text(row.message) || called(row.signature),
    pick: (row) => ({ signature: row.signature ?? "" }),
    columns: [["category", "Category", text], ["tool", "Tool", text], ["failures", "Failures", count], ["sessions", "Sessions", count], ["first_day", "Days", (_, row) => range(row.first_day, row.last_day)]],
  },
  tool: { tab: "Tools", title: "Tool", name: (row) => called(row.tool), pick: (row) => ({ tool: row.tool ?? "" }), columns: [["calls", "Calls", count], ["failed", "Failed", count], ["percent", "Share", percent], ["p50_ms", "Median", ms], ["p95_ms", "95 % within", ms], ["total_ms", "In all", ms]] },
  model: { tab: "Models", title: "Model", name: (row) => called(row.model), pick: (row) => ({ model: row.model ?? "" }), columns: [["calls", "Calls", count], ["failed", "Failed", count], ["input_tokens", "Tokens in", size], ["cached_input_tokens", "Cached", size], ["output_tokens", "Tokens out", size], ["money", "Cost", money]] },
  team: { tab: "Teams", title: "Team", name: (row) => called(row.team), pick: (row) => ({ team: row.team ?? "" }), columns: OF_SESSIONS },
  repository: { tab: "Repositories", title: "Repository", name: (row) => called(row.repository), pick: (row) => ({ repository: row.repository ?? "" }), columns: OF_SESSIONS },
  version: { tab: "Versions", title: "Agent and version", name: (row) => `${called(row.agent)} ${row.agent_version === null ? "" : called(row.agent_version)}`.trim(), pick: (row) => ({ agent: row.agent ?? "", agent_version: row.agent_version ?? "" }), columns: OF_SESSIONS },
  finding: { tab: "Findings", title: "Finding", name: (row) => called(row.kind), pick: (row) => ({ finding: row.kind ?? "" }), columns: [["severity", "Severity", text], ["findings", "Findings", count], ["sessions", "Sessions", count], ["message", "One of them", text]] },
};

const IS_TEXT = new Set(["category", "tool", "first_day", "severity", "message"]);

export class Groups {
  /**
   * @param {HTMLElement} host
   * @param {{by: (by: string) => void, narrow: (changes: object) => void}} actions
   */
  constructor(host, actions) {
    this.actions = actions;
    this.tabs = element("div", { role: "tablist", "aria-label": "Groups", class: "tabs" });
    this.body = element("div", { role: "tabpanel", id: "group-rows", "aria-labelledby": "groups-title" });
    fill(host, element("h2", { id: "groups-title", text: "Groups" }), this.tabs, this.body);
    this.tabs.addEventListener("keydown", (event) => this.key(event));
  }

  /** Draws the tabs. */
  choose(by) {
    this.by = by;
    const hadFocus = this.tabs.contains(document.activeElement);
    const tab = ([name, group]) => element("button", { type: "button", role: "tab", id: `by-${name}`, "aria-selected": String(name === by), "aria-controls": "group-rows", tabindex: name === by ? "0" : "-1", text: group.tab, onclick: () => this.actions.by(name) });
    fill(this.tabs, ...Object.entries(GROUPS).map(tab));
    this.body.setAttribute("aria-labelledby", `by-${by}`);
    if (hadFocus) document.getElementById(`by-${by}`)?.focus();
  }

  key(event) {
    const names = Object.keys(GROUPS);
    const at = names.indexOf(this.by);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: names.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    this.actions.by(names[(to + names.length) % names.length]);
  }

  wait() {
    this.body.setAttribute("aria-busy", "true");
  }

  fail(message) {
    this.body.removeAttribute("aria-busy");
    fill(this.body, element("p", { class: "bad", text: `No answer: ${line(message, 300)}` }));
  }

  /**
   * Shows groups.
   *
   * @param {{by: string, rows: object[], is_cut: boolean}} answer
   * @param {string|null} currency of costs; without it, there are none
   */
  show({ by, rows, is_cut: isCut }, currency) {
    this.body.removeAttribute("aria-busy");
    const group = GROUPS[by];
    if (rows.length === 0) {
      fill(this.body, element("p", { class: "quiet empty", text: "There is nothing in these days." }));
      return;
    }
    const columns = group.columns.filter(([name]) => name !== "money" || currency);
    const head = element("tr", {}, element("th", { scope: "col", text: group.title }), ...columns.map(([name, title]) => element("th", { scope: "col", class: IS_TEXT.has(name) ? null : "number", text: name === "money" ? `${title} in ${line(currency, 12)}` : title })));
    const made = (row) =>
      element(
        "tr",
        {},
        element("th", { scope: "row" }, element("button", { type: "button", class: "link", onclick: () => this.actions.narrow(group.pick(row)) }, element("bdi", { text: group.name(row) }))),
        ...columns.map(([name, , format]) => element("td", { class: IS_TEXT.has(name) ? null : "number" }, element("bdi", { text: format(row[name], row) }))),
      );
    fill(
      this.body,
      element("div", { class: "scroller", role: "region", "aria-label": group.tab, tabindex: "0" }, element("table", {}, element("thead", {}, head), element("tbody", {}, ...rows.map(made)))),
      isCut ? element("p", { class: "quiet note", text: `These are the first ${rows.length}; there are more.` }) : null,
    );
  }
}
