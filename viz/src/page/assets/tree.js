/** The tree of agents, each with its outcome, its work and its costs. */

import { element } from "./dom.js";
import { count, duration, number, tokens } from "./format.js";
import { badge, worstByThread } from "./outcome.js";
import { TreeRows } from "./tree_rows.js";
import { VirtualList } from "./virtual_list.js";

/** Letters that are typed with pauses below this time, in milliseconds, form one name. */
const TYPING_MS = 700;

/**
 * Shows the tree.
 */
export class Tree {
  /**
   * @param {HTMLElement} host
   * @param {{data: import("./data.js").Data, store: import("./store.js").Store}} page
   */
  constructor(host, page) {
    this.host = host;
    this.page = page;
    this.rows = new TreeRows(page.data);
    this.active = page.data.raw.order[0] ?? -1;
    this.typed = "";
    this.typedAt = 0;
    this.turnsOf = countTurns(page.data);
    this.list = new VirtualList(host, { estimate: () => 46, render: (n) => this.row(n) });
    this.list.setRows(this.rows.visible());
    host.addEventListener("keydown", (event) => this.key(event));
    page.store.on("thread", (thread) => this.showThread(thread));
    page.store.on("select", () => this.mark());
    page.store.on("filters", () => this.mark());
    page.store.on("data", (how) => this.refresh(how === "renumbered"));
  }

  /** Takes what is new in the data. What the reader folded stays folded. */
  refresh(isRenumbered) {
    const { data, store } = this.page;
    const hadFocus = this.host.contains(document.activeElement);
    const { folded } = this.rows;
    const known = this.rows.level;
    this.rows = new TreeRows(data);
    if (!isRenumbered) {
      for (const n of this.rows.folded) if (known.has(n)) this.rows.folded.delete(n);
      for (const n of folded) this.rows.folded.add(n);
    }
    if (!this.rows.level.has(this.active) || isRenumbered) this.active = store.thread;
    this.turnsOf = countTurns(data);
    this.worst = null;
    this.list.setRows(this.rows.visible());
    if (hadFocus) this.list.elementOf(this.list.indexOf(this.active))?.focus({ preventScroll: true });
  }

  row(n) {
    const { data, store } = this.page;
    const { threads } = data.raw;
    const at = data.indexOf(n);
    const of = (name) => threads[name][at];
    const level = this.rows.level.get(n);
    const isParent = this.rows.isParent(n);
    const isOpen = isParent && !this.rows.folded.has(n);
    const siblings = this.rows.children.get(this.rows.parent.get(n));
    const path = data.text(of("path"));
    const nickname = data.text(of("nickname"));
    const failed = of("failed_model_calls") + of("failed_tool_calls");
    const own = of("input_tokens") + of("output_tokens");
    const all = of("all_input_tokens") + of("all_output_tokens");
    const start = data.start(n);
    const end = data.end(n);
    const outcome = this.outcomeOf(n);
    const name = element("bdi", { class: "name", text: level > 1 ? path.slice(path.lastIndexOf("/") + 1) || path : path || data.idOf(n) });
    const row = element(
      "div",
      {
        role: "treeitem",
        class: "agent",
        "aria-level": level,
        "aria-setsize": siblings.length,
        "aria-posinset": siblings.indexOf(n) + 1,
        "aria-expanded": isParent ? String(isOpen) : null,
        title: [path, nickname, data.text(of("task"))].filter(Boolean).join("\n").slice(0, 600),
        onclick: () => this.choose(n),
      },
      element("span", {
        class: "chevron",
        "aria-hidden": "true",
        text: isParent ? (isOpen ? "▾" : "▸") : "",
        onclick: (event) => {
          if (!isParent) return;
          event.stopPropagation();
          this.fold(n, isOpen);
        },
      }),
      element(
        "span",
        { class: "agent-text" },
        element(
          "span",
          { class: "agent-first" },
          name,
          nickname ? element("bdi", { class: "nickname", text: nickname }) : null,
          element("bdi", { class: "model", text: data.text(of("model")) }),
          element("span", { class: "gap" }),
          badge(outcome),
        ),
        element(
          "span",
          { class: "agent-second" },
          element("span", { text: count(this.turnsOf.get(n) ?? 0, "turn"), title: "turns" }),
          element("span", { text: count(of("tool_calls") + of("model_calls"), "call"), title: `${count(of("model_calls"), "request")}, ${count(of("tool_calls"), "tool call")}` }),
          failed > 0 ? element("span", { class: "bad", text: `✕ ${number(failed)}`, title: `${number(failed)} failed` }) : null,
          element("span", {
            class: "tokens",
            text: all === own ? tokens(own) : `${tokens(own)} (Σ ${tokens(all)})`,
            title: `${number(own)} tokens${all === own ? "" : `, ${number(all)} with the agents below`}`,
          }),
          element("span", { class: "gap" }),
          element("span", { text: start >= 0 && end >= start ? duration(end - start) : "", title: "duration" }),
        ),
      ),
    );
    row.style.setProperty("--level", String(Math.min(level - 1, 12)));
    this.markRow(row, n, store);
    return row;
  }

  /** Returns the worst verdict of an agent's turns, or the outcome of its thread if there are no verdicts. */
  outcomeOf(n) {
    this.worst ??= worstByThread(this.page.data);
    return this.worst.get(n) ?? this.page.data.outcome(n);
  }

  markRow(row, n, store) {
    row.setAttribute("aria-selected", String(n === store.thread));
    row.tabIndex = n === this.active ? 0 : -1;
    row.classList.toggle("dim", store.filters.threads.size > 0 && !store.filters.threads.has(n));
  }

  mark() {
    for (const [index, row] of this.list.shown) this.markRow(row, this.list.keys[index], this.page.store);
  }

  showThread(thread) {
    if (thread < 0) return;
    if (this.rows.uncover(thread)) this.list.setRows(this.rows.visible());
    this.active = thread;
    this.list.scrollTo(this.list.indexOf(thread));
    this.mark();
  }

  choose(n) {
    this.active = n;
    this.mark();
    this.page.store.select(n, "tree");
  }

  fold(n, isOpen) {
    if (isOpen) this.rows.folded.add(n);
    else this.rows.folded.delete(n);
    const hadFocus = this.host.contains(document.activeElement);
    this.list.setRows(this.rows.visible());
    if (this.list.indexOf(this.active) < 0) this.active = n;
    this.mark();
    if (hadFocus) this.focus(this.active);
  }

  /** Moves the focus to an agent, or to the one that had it last. */
  focus(n = this.active) {
    this.active = n;
    const index = this.list.indexOf(n);
    this.list.scrollTo(index);
    this.mark();
    const row = this.list.elementOf(index);
    // A session without agents has no row that could get the focus.
    if (!row) this.host.tabIndex = -1;
    (row ?? this.host).focus({ preventScroll: true });
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { keys } = this.list;
    const at = this.list.indexOf(this.active);
    const page = Math.max(1, Math.floor(this.host.clientHeight / 46) - 1);
    const go = (index) => this.focus(keys[Math.max(0, Math.min(index, keys.length - 1))]);
    const isParent = this.rows.isParent(this.active);
    const isOpen = isParent && !this.rows.folded.has(this.active);
    const moves = {
      ArrowDown: () => go(at + 1),
      ArrowUp: () => go(at - 1),
      PageDown: () => go(at + page),
      PageUp: () => go(at - page),
      Home: () => go(0),
      End: () => go(keys.length - 1),
      ArrowRight: () => (isParent && !isOpen ? this.fold(this.active, false) : isOpen ? go(at + 1) : null),
      ArrowLeft: () => (isOpen ? this.fold(this.active, true) : this.rows.parent.get(this.active) >= 0 ? this.focus(this.rows.parent.get(this.active)) : null),
      Enter: () => this.choose(this.active),
      " ": () => this.choose(this.active),
      "*": () => {
        for (const n of this.rows.children.get(this.rows.parent.get(this.active)) ?? []) this.rows.folded.delete(n);
        this.list.setRows(this.rows.visible());
        this.focus();
      },
    };
    if (moves[event.key]) moves[event.key]();
    else if (event.key.length === 1 && /[\p{L}\p{N}]/u.test(event.key) && this.typeAhead(event.key)) {
      // The letters led to an agent, so the event has been handled.
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** Goes to the next agent whose name begins with the typed letters. Returns whether there is one. */
  typeAhead(letter) {
    const now = performance.now();
    this.typed = now - this.typedAt < TYPING_MS ? this.typed + letter.toLowerCase() : letter.toLowerCase();
    this.typedAt = now;
    const { keys } = this.list;
    const from = this.list.indexOf(this.active) + (this.typed.length === 1 ? 1 : 0);
    for (let step = 0; step < keys.length; step += 1) {
      const n = keys[(from + step) % keys.length];
      const path = this.page.data.text(this.page.data.raw.threads.path[this.page.data.indexOf(n)]).toLowerCase();
      const nickname = this.page.data.text(this.page.data.raw.threads.nickname[this.page.data.indexOf(n)]).toLowerCase();
      if (path.slice(path.lastIndexOf("/") + 1).startsWith(this.typed) || nickname.startsWith(this.typed)) {
        this.focus(n);
        return true;
      }
    }
    return false;
  }
}

function countTurns(data) {
  const turns = new Map();
  const [first, total] = data.rangeOf("codex_turn");
  for (let n = first; n < first + total; n += 1) turns.set(data.thread(n), (turns.get(data.thread(n)) ?? 0) + 1);
  return turns;
}
