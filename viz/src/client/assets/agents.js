/** The tree of agents of the open thread. */

import { element, fill } from "../../page/assets/dom.js";
import { line } from "./texts.js";
import { pathOf, wordOf } from "./threads.js";

/** How far a row is indented below its parent, in pixels. */
const INDENT_PX = 16;

export class Agents {
  /**
   * @param {import("./session.js").Session} session
   * @param {HTMLElement} holder
   */
  constructor(session, holder) {
    this.session = session;
    this.holder = holder;
    this.frame = 0;
    this.focused = "";
    this.closed = new Set();
    this.tree = element("ul", { role: "tree", "aria-label": "Agents" });
    this.tree.addEventListener("keydown", (event) => this.pressed(event));
    fill(holder, element("h2", { text: "Agents" }), this.tree);
    for (const event of ["threads", "open"]) session.on(event, () => this.schedule());
    this.schedule();
  }

  schedule() {
    this.frame ||= requestAnimationFrame(() => {
      this.frame = 0;
      this.draw();
    });
  }

  draw() {
    const { conversation, threads } = this.session;
    const root = conversation ? threads.rootOf(conversation.thread) : "";
    const hasAgents = root !== "" && threads.childrenOf(root).length > 0;
    this.holder.hidden = !hasAgents;
    if (!hasAgents) return;
    const hadFocus = this.tree.contains(document.activeElement);
    const rows = [];
    // The rows are siblings, and their levels say what is below what: the name of a row is then only its own text.
    this.row(root, 1, rows);
    fill(this.tree, ...rows);
    const inTree = rows.find((row) => row.dataset.thread === this.focused) ?? rows.find((row) => row.dataset.thread === conversation.thread) ?? rows[0];
    inTree.tabIndex = 0;
    if (hadFocus) inTree.focus({ preventScroll: true });
  }

  row(id, level, rows) {
    const { conversation, threads } = this.session;
    const thread = threads.get(id);
    const children = threads.childrenOf(id);
    const isOpen = !this.closed.has(id);
    const state = wordOf(thread?.status);
    const name = pathOf(thread).split("/").at(-1) || "root";
    const row = element(
      "li",
      { role: "treeitem", class: "row", "aria-level": level, "aria-expanded": children.length > 0 ? String(isOpen) : null, "aria-selected": String(id === conversation.thread), tabindex: "-1", "data-thread": id, onclick: () => this.open(id) },
      element("span", { class: "name", text: line(name, 60) }),
      " ",
      element("span", { class: `state ${state}`, text: state }),
    );
    row.style.paddingInlineStart = `${6 + INDENT_PX * (level - 1)}px`;
    rows.push(row);
    if (isOpen) for (const child of children) this.row(child.id, level + 1, rows);
  }

  open(id) {
    this.focused = id;
    location.hash = `#/${id}`;
  }

  pressed(event) {
    const rows = [...this.tree.querySelectorAll("[role=treeitem]")];
    const at = rows.indexOf(document.activeElement);
    if (at < 0) return;
    const id = rows[at].dataset.thread;
    const go = (to) => {
      const row = rows[Math.max(0, Math.min(rows.length - 1, to))];
      rows[at].tabIndex = -1;
      row.tabIndex = 0;
      this.focused = row.dataset.thread;
      row.focus();
    };
    const set = (isClosed) => {
      if (isClosed) this.closed.add(id);
      else this.closed.delete(id);
      this.focused = id;
      this.draw();
    };
    const expanded = rows[at].getAttribute("aria-expanded");
    const keys = {
      ArrowDown: () => go(at + 1),
      ArrowUp: () => go(at - 1),
      Home: () => go(0),
      End: () => go(rows.length - 1),
      ArrowRight: () => (expanded === "false" ? set(false) : go(at + 1)),
      ArrowLeft: () => (expanded === "true" ? set(true) : go(rows.findLastIndex((row, place) => place < at && levelOf(row) < levelOf(rows[at])))),
      Enter: () => this.open(id),
      " ": () => this.open(id),
    };
    const act = keys[event.key];
    if (!act || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    act();
  }
}

function levelOf(row) {
  return Number(row.getAttribute("aria-level"));
}
