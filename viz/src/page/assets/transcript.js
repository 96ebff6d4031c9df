/** The transcript of an agent: its items as the model saw them, with the work of the tools folded below the calls. */

import { fillBody } from "./blocks.js";
import { nameOf } from "./describe.js";
import { element, fill } from "./dom.js";
import { count, duration, number, since, wallTime } from "./format.js";
import { sign } from "./outcome.js";
import { reference } from "./reference.js";
import { COMPACTS, INHERITED, REPLACES, ROW, UNSENT, inheritedFrom, isFailure, placeOf, rowsOf, splitKey } from "./transcript_rows.js";
import { VirtualList } from "./virtual_list.js";

/** Kinds of items whose text is input or output of a program. */
const OF_PROGRAMS = /output|call/;

/** Shows the transcript of the thread in the store. */
export class Transcript {
  /**
   * @param {HTMLElement} host
   * @param {{data: import("./data.js").Data, store: import("./store.js").Store, bodies: import("./bodies.js").Bodies}} page
   */
  constructor(host, page) {
    this.host = host;
    this.page = page;
    const { data, store } = page;
    this.byThread = transcripts(data);
    this.filter = { role: "", kind: "", failedOnly: false };
    this.openInherited = new Set();
    this.openTools = new Set();
    this.levels = new Map();
    this.places = new Map();
    this.thread = -1;
    this.active = 0;
    this.title = element("h2", { class: "panel-title" });
    this.roles = element("select", { "aria-label": "Role", onchange: () => this.change({ role: this.roles.value }) });
    this.kinds = element("select", { "aria-label": "Kind of item", onchange: () => this.change({ kind: this.kinds.value }) });
    this.only = element("button", {
      type: "button",
      class: "chip",
      "aria-pressed": "false",
      title: "Only items whose calls failed",
      onclick: () => this.change({ failedOnly: !this.filter.failedOnly }),
    });
    this.previous = element("button", { type: "button", class: "icon", text: "↑", title: "Previous failure", "aria-label": "Previous failure in this transcript", onclick: () => this.step(-1) });
    this.next = element("button", { type: "button", class: "icon", text: "↓", title: "Next failure", "aria-label": "Next failure in this transcript", onclick: () => this.step(1) });
    this.scroller = element("div", { class: "scroller", role: "feed", "aria-label": "Transcript", tabindex: "-1" });
    host.append(
      element("div", { class: "toolbar" }, this.title, element("span", { class: "gap" }), this.only, this.previous, this.next, this.roles, this.kinds),
      this.scroller,
    );
    this.list = new VirtualList(this.scroller, { estimate: (key) => this.estimate(key), render: (key, index) => this.row(key, index) });
    this.scroller.addEventListener("keydown", (event) => this.key(event));
    this.scroller.addEventListener("focusin", ({ target }) => this.entered(target));
    // Links in rows appear and disappear as texts are loaded and unfolded.
    new MutationObserver(() => this.rove()).observe(this.list.room, { childList: true, subtree: true });
    store.on("thread", () => this.show());
    store.on("reveal", (n, origin) => this.reveal(n, origin));
    store.on("select", () => this.mark());
    store.on("data", (how) => this.refresh(how === "renumbered"));
    this.show();
  }

  /** Takes what is new in the data. The place in the list stays, and at its end the list follows. */
  refresh(isRenumbered) {
    const { data, store } = this.page;
    this.byThread = transcripts(data);
    if (isRenumbered || this.thread !== store.thread) {
      this.places.clear();
      this.thread = -1;
      this.show();
      return;
    }
    const { scroller } = this;
    const isAtEnd = scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < 40 && scroller.scrollTop > 0;
    const hadFocus = scroller.contains(document.activeElement) && document.activeElement !== scroller;
    const { filter } = this;
    this.describe();
    this.filter = filter;
    this.rebuild();
    if (hadFocus) this.list.elementOf(this.active)?.focus({ preventScroll: true });
    else if (isAtEnd) this.list.scrollTo(this.list.keys.length - 1);
  }

  get transcript() {
    return this.byThread.get(this.thread) ?? { items: [], marks: [] };
  }

  /** Shows the transcript of the thread in the store, scrolled to where the reader left it. */
  show() {
    const { store } = this.page;
    if (this.thread >= 0) this.places.set(this.thread, { anchor: this.list.anchor(), active: this.active });
    this.thread = store.thread;
    this.filter = { role: "", kind: "", failedOnly: false };
    this.describe();
    const place = this.places.get(this.thread);
    this.active = place?.active ?? 0;
    // Rows of different transcripts have the same keys.
    this.list.forget();
    this.rebuild(place?.anchor ?? null);
  }

  /** Shows whose transcript it is, and what can be filtered. */
  describe() {
    const { data } = this.page;
    const { items } = this.transcript;
    const name = data.agentName(this.thread);
    const total = this.thread < 0 ? "" : ` ${count(items.length, "item")}`;
    fill(this.title, element("bdi", { text: name }), element("span", { class: "quiet", text: total }));
    this.title.title = name;
    this.scroller.setAttribute("aria-label", `Transcript of ${name}`);
    const { role, kind } = data.raw.items;
    const [first] = data.rangeOf("conversation_item");
    choices(this.roles, "all roles", items.map((n) => data.text(role[n - first])));
    choices(this.kinds, "all kinds", items.map((n) => data.text(kind[n - first])));
    const failed = items.filter((n, place) => this.isOwnFailure(n, place)).length;
    fill(this.only, element("span", { class: "sign bad", "aria-hidden": "true", text: "✕" }), `${number(failed)} failed`);
    for (const button of [this.previous, this.next, this.only]) button.hidden = failed === 0;
  }

  /** Says whether an item called a tool that failed. The output of the call is not counted again. */
  isOwnFailure(n, place) {
    const { data } = this.page;
    const { producer } = data.raw.items;
    const made = producer[data.indexOf(n)];
    return isFailure(data, n) && !(made >= 0 && data.typeName(made) === "tool_call") && !(this.transcript.marks[place] & INHERITED);
  }

  change(filter) {
    this.filter = { ...this.filter, ...filter };
    this.rebuild();
  }

  rebuild(...anchor) {
    const { data } = this.page;
    this.only.setAttribute("aria-pressed", String(this.filter.failedOnly));
    this.roles.value = this.filter.role;
    this.kinds.value = this.filter.kind;
    const keys = rowsOf(data, this.transcript, this.filter, this.openInherited.has(this.thread));
    this.list.setRows(keys, ...anchor);
    this.scroller.querySelector(".empty")?.remove();
    if (keys.length === 0) {
      this.scroller.prepend(element("p", { class: "empty", text: this.nothing() }));
    }
  }

  nothing() {
    if (this.thread < 0) return "No agent began in this session.";
    return this.transcript.items.length > 0 ? "No item passes these filters." : "This agent has no items in the recording.";
  }

  estimate(key) {
    const [kind, place] = splitKey(key);
    if (kind !== ROW.item) return 34;
    const { data } = this.page;
    return data.toolsOf(this.transcript.items[place]).length > 0 ? 150 : 120;
  }

  row(key, index) {
    const [kind, place] = splitKey(key);
    const row = kind === ROW.item ? this.item(place) : kind === ROW.turn ? this.turn(place) : this.inherited(place);
    row.setAttribute("aria-posinset", String(index + 1));
    row.setAttribute("aria-setsize", String(this.list.keys.length));
    row.tabIndex = index === this.active ? 0 : -1;
    return row;
  }

  turn(place) {
    const { data } = this.page;
    const n = data.turn(this.transcript.items[place]);
    const start = data.start(n);
    const end = data.end(n);
    return element(
      "article",
      { class: "row turn-row", "aria-label": nameOf(data, n), onclick: () => this.choose(n) },
      element("span", { class: "line" }),
      reference(this.page, n, { origin: "transcript" }),
      element("span", { class: "quiet", text: [since(start), end >= 0 ? duration(end - start) : ""].filter(Boolean).join(" · ") }),
      element("span", { class: "line" }),
    );
  }

  inherited(place) {
    const total = inheritedFrom(this.transcript.marks, place);
    const isOpen = this.openInherited.has(this.thread);
    const { data } = this.page;
    const parent = data.raw.threads.parent[data.indexOf(this.thread)];
    return element(
      "article",
      { class: "row inherited-row", "aria-label": `${count(total, "inherited item")}` },
      element(
        "button",
        { type: "button", class: "fold", "aria-expanded": String(isOpen), onclick: () => this.toggleInherited() },
        element("span", { "aria-hidden": "true", text: isOpen ? "▾ " : "▸ " }),
        `${count(total, "item")} inherited from `,
        element("bdi", { text: parent >= 0 ? data.agentName(parent) : "another agent" }),
        element("span", { class: "quiet", text: isOpen ? " · fold" : " · unfold" }),
      ),
    );
  }

  toggleInherited() {
    if (!this.openInherited.delete(this.thread)) this.openInherited.add(this.thread);
    const hadFocus = this.scroller.contains(document.activeElement);
    this.rebuild();
    if (hadFocus) this.list.elementOf(this.list.indexOf(`${ROW.inherited}:${this.transcript.marks.findIndex((mark) => mark & INHERITED)}`))?.querySelector("button")?.focus();
  }

  item(place) {
    const { data, store, bodies } = this.page;
    const n = this.transcript.items[place];
    const mark = this.transcript.marks[place];
    const index = data.indexOf(n);
    const column = (name) => data.text(data.raw.items[name][index]);
    const [role, kind, channel] = [column("role"), column("kind"), column("channel")];
    const [author, recipient] = [column("author"), column("recipient")];
    const start = data.start(n);
    const row = element("article", {
      class: "row item",
      "data-role": role,
      "data-n": n,
      "data-made": data.raw.items.producer[index],
      "aria-label": [role, kind, channel, since(start)].filter(Boolean).join(", "),
      onclick: (event) => {
        // Ignore clicks that end a selection of text or that are for a control within the row.
        if (event.target.closest("a, button, summary, input, select") || String(getSelection()) !== "") return;
        this.choose(n);
      },
    });
    row.classList.toggle("is-selected", n === store.selected);
    row.classList.toggle("is-related", store.selected >= 0 && data.raw.items.producer[index] === store.selected);
    row.classList.toggle("is-inherited", (mark & INHERITED) !== 0);
    row.classList.toggle("is-found", store.found?.has(n) ?? false);
    if (mark & COMPACTS) row.append(this.compaction(n));
    const seen = data.raw.items.seen_by[index];
    row.append(
      element(
        "div",
        { class: "item-head" },
        element("span", { class: "role", text: role || "item" }),
        element("span", { class: "kind", text: kind.replaceAll("_", " ") }),
        channel ? element("span", { class: "tag", text: channel }) : null,
        author || recipient ? this.envelope(n, author, recipient) : null,
        mark & REPLACES ? element("span", { class: "tag compacts", text: "stands for what was compacted" }) : null,
        mark & UNSENT ? this.unsent(n) : null,
        element("span", { class: "gap" }),
        seen > 0 ? element("span", { class: "quiet seen", text: `in ${count(seen, "request")}`, title: "how many requests showed this item to the model" }) : null,
        element("time", { class: "quiet", text: since(start), title: start >= 0 ? wallTime(data.session.started_at_unix_ms + start) : "" }),
      ),
    );
    const holder = element("div", { class: "body" });
    fillBody(holder, bodies, n, { levels: this.levels, mono: OF_PROGRAMS.test(kind) });
    row.append(holder);
    const made = data.raw.items.producer[index];
    for (const tool of data.toolsOf(n)) {
      // The item with the output already shows what the runtime saw, so do not repeat it.
      row.append(made === tool ? this.outputOf(tool) : this.tool(tool));
    }
    return row;
  }

  /**
   * Returns the mark of an item that is in no request. The last answer of a model is in no request, which is normal.
   */
  unsent(n) {
    const { data } = this.page;
    const made = data.raw.items.producer[data.indexOf(n)];
    const isAnswer = made >= 0 && data.typeName(made) === "inference_call";
    return element("span", { class: `tag unsent ${isAnswer ? "" : "warn"}`, text: "⊘ never sent to a model", title: isAnswer ? "A model said it, and no later request has it." : "No request has this item." });
  }

  compaction(n) {
    const { data } = this.page;
    const producer = data.raw.items.producer[data.indexOf(n)];
    const compaction = producer >= 0 && data.typeName(producer) === "compaction" ? producer : (data.causes(n).find((cause) => data.typeName(cause.n) === "compaction")?.n ?? -1);
    const replaced = compaction < 0 ? 0 : data.causes(compaction).filter((cause) => cause.relation === "replaced_by").length;
    return element(
      "div",
      { class: "compaction", role: "separator", "aria-label": `compaction, ${count(replaced, "item")} replaced` },
      element("span", { class: "line" }),
      element("strong", { text: "⇊ Context compacted" }),
      compaction < 0 ? null : element("span", { text: `${count(replaced, "item")} above replaced` }),
      compaction < 0 ? null : reference(this.page, compaction, { origin: "transcript", text: "details" }),
      element("span", { class: "line" }),
    );
  }

  envelope(n, author, recipient) {
    const { data } = this.page;
    const [edge] = data.edgesAt(n);
    return element(
      "span",
      { class: "envelope" },
      element("bdi", { text: author || "?" }),
      element("span", { "aria-label": "to", text: " → " }),
      element("bdi", { text: recipient || "?" }),
      edge === undefined ? null : reference(this.page, edge, { origin: "transcript", text: "hand-over" }),
    );
  }

  outputOf(tool) {
    const { data } = this.page;
    return element("div", { class: "output-of" }, "output of ", reference(this.page, tool, { origin: "transcript", text: nameOf(data, tool).slice(0, 120) }));
  }

  tool(tool) {
    const { data, store, bodies } = this.page;
    const index = data.indexOf(tool);
    const exit = data.raw.tools.exit_code[index];
    const outcome = data.outcome(tool);
    const start = data.start(tool);
    const end = data.end(tool);
    const holder = element("div", { class: "tool-body" });
    const load = () => fillBody(holder, bodies, tool, { levels: this.levels, mono: true, none: () => fill(holder, element("p", { class: "note", text: "The recording has no runtime output of this call." })) });
    const details = element(
      "details",
      {
        class: "tool",
        "data-outcome": outcome,
        "data-n": tool,
        open: this.openTools.has(tool),
        ontoggle: () => {
          if (details.open) {
            this.openTools.add(tool);
            if (holder.childElementCount === 0) load();
          } else this.openTools.delete(tool);
        },
      },
      element(
        "summary",
        {},
        sign(outcome),
        element("code", { class: "tool-name", text: data.text(data.raw.tools.name[index]) }),
        element("code", { class: "tool-subject", dir: "ltr", text: data.text(data.raw.tools.subject[index]) }),
        element("span", { class: "gap" }),
        outcome === "completed" || outcome === "none" ? null : element("span", { class: outcome === "failed" ? "bad" : "warn", text: outcome }),
        exit === null || exit === undefined ? null : element("span", { class: exit === 0 ? "quiet" : "bad", text: `exit ${exit}` }),
        element("span", { class: "quiet", text: end >= start && start >= 0 ? duration(end - start) : "" }),
      ),
      element("div", { class: "tool-links" }, reference(this.page, tool, { origin: "transcript", text: "show in timeline and inspector" })),
      holder,
    );
    details.classList.toggle("is-selected", tool === store.selected);
    if (details.open) load();
    return details;
  }

  choose(n) {
    this.page.store.select(n, "transcript");
  }

  mark() {
    const { selected } = this.page.store;
    for (const marked of this.list.room.querySelectorAll(".is-selected, .is-related")) marked.classList.remove("is-selected", "is-related");
    if (selected < 0) return;
    for (const made of this.list.room.querySelectorAll(`[data-made="${selected}"]`)) made.classList.add("is-related");
    for (const part of this.list.room.querySelectorAll(`[data-n="${selected}"]`)) part.classList.add("is-selected");
  }

  /** Marks the items that the search found. */
  markFound() {
    const { found } = this.page.store;
    for (const item of this.list.room.querySelectorAll(".item")) item.classList.toggle("is-found", found?.has(Number(item.dataset.n)) ?? false);
  }

  /** Scrolls to the row that tells most about an object. */
  reveal(n, origin) {
    if (n < 0 || origin === "transcript") {
      this.mark();
      return;
    }
    const place = placeOf(this.page.data, this.transcript, n);
    if (place >= 0) this.showPlace(place);
    this.mark();
  }

  showPlace(place) {
    const { marks } = this.transcript;
    let index = this.list.indexOf(`${ROW.item}:${place}`);
    if (index < 0) {
      if (marks[place] & INHERITED) this.openInherited.add(this.thread);
      this.filter = { role: "", kind: "", failedOnly: false };
      this.rebuild();
      index = this.list.indexOf(`${ROW.item}:${place}`);
    }
    this.active = index;
    this.list.scrollTo(index, "center");
    this.rove();
  }

  /** Makes the Tab key reach the active row and its controls, and no other row. */
  rove() {
    for (const [index, row] of this.list.shown) {
      const tabIndex = index === this.active ? 0 : -1;
      row.tabIndex = tabIndex;
      for (const control of row.querySelectorAll("a, button, summary")) control.tabIndex = tabIndex;
    }
  }

  entered(target) {
    const row = target.closest?.(".row");
    if (!row || Number(row.dataset.row) === this.active) return;
    this.active = Number(row.dataset.row);
    this.rove();
  }

  /** Goes to the next or the previous failure of this transcript. */
  step(direction) {
    const { items } = this.transcript;
    const failures = items.map((n, place) => (this.isOwnFailure(n, place) ? place : -1)).filter((place) => place >= 0);
    if (failures.length === 0) return;
    const at = this.list.keys.length > 0 ? splitKey(this.list.keys[Math.min(this.active, this.list.keys.length - 1)])[1] : -1;
    const next = direction > 0 ? (failures.find((place) => place > at) ?? failures[0]) : (failures.findLast((place) => place < at) ?? failures.at(-1));
    this.showPlace(next);
    const n = items[next];
    this.choose(this.page.data.toolsOf(n).find((tool) => this.page.data.outcome(tool) === "failed") ?? n);
  }

  /** Moves the focus to the row that had it last. */
  focus(index = this.active) {
    if (this.list.keys.length === 0) {
      this.scroller.focus();
      return;
    }
    this.active = Math.max(0, Math.min(index, this.list.keys.length - 1));
    this.list.scrollTo(this.active);
    this.rove();
    this.list.elementOf(this.active)?.focus({ preventScroll: true });
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const row = event.target.closest?.(".row");
    if (!row || event.target !== row) return;
    const at = Number(row.dataset.row);
    const moves = {
      ArrowDown: () => this.focus(at + 1),
      ArrowUp: () => this.focus(at - 1),
      j: () => this.focus(at + 1),
      k: () => this.focus(at - 1),
      Home: () => this.focus(0),
      End: () => this.focus(this.list.keys.length - 1),
      Enter: () => this.open(row, at),
      " ": () => this.open(row, at),
    };
    if (!moves[event.key]) return;
    event.preventDefault();
    event.stopPropagation();
    moves[event.key]();
  }

  /** Selects the object of a row. If it is selected already, opens or folds the call below it. */
  open(row, at) {
    const [kind, place] = splitKey(this.list.keys[at]);
    if (kind === ROW.inherited) this.toggleInherited();
    else if (kind === ROW.turn) this.choose(this.page.data.turn(this.transcript.items[place]));
    else {
      const n = this.transcript.items[place];
      const details = row.querySelector("details");
      if (n === this.page.store.selected && details) details.open = !details.open;
      else this.choose(n);
    }
  }

  /** Renders the texts again, because the highlighted text has changed. */
  redraw() {
    this.list.setRows(this.list.keys);
  }
}

function choices(select, all, values) {
  const counts = new Map();
  for (const value of values) if (value !== "") counts.set(value, (counts.get(value) ?? 0) + 1);
  fill(
    select,
    element("option", { value: "", text: all }),
    ...[...counts].map(([value, total]) => element("option", { value, text: `${value.replaceAll("_", " ")} (${number(total)})` })),
  );
}

function transcripts(data) {
  return new Map(data.raw.transcripts.map((transcript) => [transcript.thread, transcript]));
}
