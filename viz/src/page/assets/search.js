/** Search in labels and texts. Hits in labels are shown at once, hits in texts when the texts have been searched. */

import { announce } from "./announce.js";
import { markInTexts } from "./blocks.js";
import { foundParts } from "./cut.js";
import { nameOf, typeWord } from "./describe.js";
import { element } from "./dom.js";
import { count, number, since } from "./format.js";
import { joinHits, searchLabels } from "./search_labels.js";
import { VirtualList } from "./virtual_list.js";

/** How long the reader must stop typing before texts are searched, in milliseconds. */
const PAUSE_MS = 220;

/** Most hits in texts that are requested. */
export const MAX_TEXT_HITS = 1000;

/**
 * The search of the page.
 */
export class Search {
  /**
   * @param {HTMLElement} host the parent of the search field
   * @param {{data: import("./data.js").Data, store: import("./store.js").Store, bodies: import("./bodies.js").Bodies}}
   * page
   * @param {() => void} changed is called when the searched text has changed
   */
  constructor(host, page, changed) {
    this.page = page;
    this.changed = changed;
    this.hits = [];
    this.at = -1;
    this.run = 0;
    this.timer = 0;
    this.text = "";
    /** The number of hits as text. */
    this.total = "";
    this.field = element("input", {
      id: "search",
      type: "search",
      placeholder: "Search texts ( / )",
      "aria-label": "Search labels and texts",
      role: "combobox",
      "aria-expanded": "false",
      "aria-controls": "search-results",
      "aria-autocomplete": "list",
      autocomplete: "off",
      spellcheck: "false",
      oninput: () => this.typed(),
      onkeydown: (event) => this.key(event),
      onfocus: () => this.open(this.hits.length > 0),
    });
    this.state = element("span", { class: "search-state quiet", id: "search-state" });
    this.results = element("div", { id: "search-results", class: "scroller", role: "listbox", "aria-label": "Found" });
    this.popup = element("div", { class: "search-popup", hidden: true }, this.results);
    host.append(element("div", { class: "search", role: "search" }, this.field, this.state, this.popup));
    this.list = new VirtualList(this.results, { estimate: () => 44, render: (at) => this.row(at) });
    // Close the list when the keyboard focus leaves the search. A pointer press can move the focus to nothing, so
    // handle it separately.
    this.popup.parentElement.addEventListener("focusout", ({ relatedTarget }) => {
      if (relatedTarget && !this.popup.parentElement.contains(relatedTarget)) this.open(false);
    });
    document.addEventListener("pointerdown", (event) => {
      if (!this.popup.hidden && !event.composedPath().includes(this.popup.parentElement)) this.open(false);
    });
  }

  typed() {
    const text = this.field.value.trim();
    clearTimeout(this.timer);
    this.run += 1;
    this.text = text;
    if (text === "") {
      this.show([], "", false);
      this.page.store.setFound(null);
      markInTexts("");
      this.changed();
      return;
    }
    const labels = searchLabels(this.page.data, text);
    this.show(joinHits(labels.hits, []), "…", labels.more);
    this.page.store.setFound(new Set(labels.hits));
    const run = this.run;
    this.timer = setTimeout(() => this.searchTexts(text, labels, run), PAUSE_MS);
  }

  async searchTexts(text, labels, run) {
    markInTexts(text);
    this.changed();
    let found = { hits: [], more: false };
    let failed = "";
    try {
      found = await this.page.bodies.search(text, MAX_TEXT_HITS);
    } catch (error) {
      failed = error.message;
    }
    // The reader has typed on, and another search has started.
    if (run !== this.run) return;
    const joined = joinHits(labels.hits, found.hits);
    const current = this.hits[this.at]?.n;
    this.show(joined, failed === "" ? "" : " in labels", labels.more || found.more);
    this.at = current === undefined ? -1 : joined.findIndex((hit) => hit.n === current);
    this.page.store.setFound(new Set(joined.map((hit) => hit.n)));
    announce(`${count(joined.length, "find")} for ${text.slice(0, 60)}${failed === "" ? "" : "; texts could not be searched"}`);
    if (failed === "") return;
    this.results.querySelector(".empty")?.remove();
    this.popup.prepend(
      element(
        "p",
        { class: "note bad search-error" },
        `Texts could not be searched: ${failed} `,
        element("button", { type: "button", class: "link", text: "Try again", onclick: () => this.typed() }),
      ),
    );
  }

  show(hits, state, more) {
    this.hits = hits;
    this.at = -1;
    this.total = `${number(hits.length)}${more ? "+" : ""}`;
    this.state.textContent = this.text === "" ? "" : this.total + state;
    this.results.style.setProperty("--finds", String(hits.length));
    this.list.setRows(hits.map((_, at) => at), null);
    this.open(this.text !== "" && document.activeElement === this.field);
    this.popup.querySelector(".search-error")?.remove();
    this.results.querySelector(".empty")?.remove();
    if (this.text !== "" && hits.length === 0 && state !== "…") this.results.prepend(element("p", { class: "empty", text: "Nothing found." }));
  }

  open(isOpen) {
    this.popup.hidden = !isOpen;
    this.field.setAttribute("aria-expanded", String(isOpen));
    if (isOpen) this.list.update();
    if (!isOpen) this.field.removeAttribute("aria-activedescendant");
  }

  row(at) {
    const { data } = this.page;
    const { n, around } = this.hits[at];
    const name = nameOf(data, n);
    const thread = data.thread(n);
    const parts = around
      ? [around.before ? `…${around.before}` : "", element("mark", { text: around.match }), around.after ? `${around.after}…` : ""]
      : foundParts(name, this.text, 8).map(([isFound, part]) => (isFound ? element("mark", { text: part }) : part));
    return element(
      "div",
      {
        role: "option",
        id: `found-${at}`,
        class: "found",
        "aria-selected": String(at === this.at),
        onclick: () => {
          this.go(at);
          this.open(false);
        },
      },
      element(
        "span",
        { class: "found-head" },
        element("span", { class: "type", text: typeWord(data.typeName(n)) }),
        thread >= 0 ? element("bdi", { class: "quiet", text: data.agentName(thread) }) : null,
        element("span", { class: "gap" }),
        element("time", { class: "quiet", text: since(data.start(n)) }),
      ),
      element("span", { class: "found-text", dir: "auto" }, ...parts),
    );
  }

  /** Selects a hit. The index wraps around at both ends. */
  go(at) {
    if (this.hits.length === 0) return;
    const old = this.at;
    this.at = (at + this.hits.length) % this.hits.length;
    this.list.scrollTo(this.at);
    for (const index of [old, this.at]) this.list.elementOf(index)?.setAttribute("aria-selected", String(index === this.at));
    this.field.setAttribute("aria-activedescendant", `found-${this.at}`);
    this.state.textContent = `${number(this.at + 1)} / ${this.total}`;
    this.page.store.select(this.hits[this.at].n, "search");
  }

  /** Selects the next or the previous hit. */
  step(direction) {
    this.go(this.at < 0 && direction < 0 ? -1 : this.at + direction);
  }

  clear() {
    this.field.value = "";
    this.typed();
  }

  focus() {
    this.field.focus();
    this.field.select();
  }

  key(event) {
    if (event.key === "Escape") {
      if (this.text === "" && this.popup.hidden) this.field.blur();
      this.clear();
    } else if (event.key === "ArrowDown" || (event.key === "Enter" && !event.shiftKey)) {
      if (event.key === "ArrowDown" && this.popup.hidden) this.open(this.hits.length > 0);
      this.step(1);
    } else if (event.key === "ArrowUp" || event.key === "Enter") this.step(-1);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }
}

