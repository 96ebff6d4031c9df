/**
 * Shows the items of a conversation: the last ones first, older ones on scrolling. The document holds a window of the items,
 * so that a thread of any length stays quick.
 */

import { byId, element } from "../../page/assets/dom.js";
import { articleOf, updateArticle } from "./items.js";

/** Items that are shown when a thread is opened, and that are added at a time. */
export const PIECE = 50;

/** Most items in the document. Beyond it, those at the other end are taken out. */
export const MAX_WINDOW = 300;

/** How close to its end the log counts as being read at the end, in pixels. */
const END_PX = 80;

/** A message longer than this is drawn less often while it is streamed. */
const LONG_TEXT = 20_000;
const LONG_PAUSE_MS = 200;

export class Log {
  /** @param {import("./session.js").Session} session */
  constructor(session) {
    this.session = session;
    this.node = byId("log");
    this.articles = new Map();
    /** The shown entries are those from `from` up to `to` of the conversation. */
    this.from = 0;
    this.to = 0;
    this.dirty = new Set();
    this.frame = 0;
    this.isAtEnd = true;
    this.top = 0;
    this.isLoading = false;
    this.drawnAt = new Map();
    this.actions = { open: (thread) => (location.hash = `#/${thread}`) };
    this.before = element("button", { type: "button", class: "more", text: "Show earlier items", onclick: () => this.earlier() });
    this.after = element("button", { type: "button", class: "more", text: "Show later items", onclick: () => this.later() });
    this.items = element("div", { class: "items" });
    this.empty = element("p", { class: "empty" });
    this.node.append(this.before, this.empty, this.items, this.after);
    this.node.addEventListener("scroll", () => this.scrolled(), { passive: true });
    session.on("open", () => this.reset());
    session.on("conversation", (kind, entry) => this.changed(kind, entry));
    new ResizeObserver(() => this.isAtEnd && this.toEnd()).observe(this.node);
    this.reset();
  }

  get entries() {
    return this.session.conversation?.entries ?? [];
  }

  /** Says whether the newest item is in the window. */
  get hasEnd() {
    return this.to >= this.entries.length;
  }

  reset() {
    this.to = this.entries.length;
    this.from = Math.max(0, this.to - PIECE);
    this.isAtEnd = true;
    this.dirty.clear();
    this.drawAll();
    this.toEnd();
  }

  changed(kind, entry) {
    if (kind === "all") {
      this.reset();
    } else if (kind === "older") {
      // The window keeps its items, which have other places now.
      const shown = this.items.firstElementChild?.dataset.item;
      const place = shown ? this.entries.findIndex(({ id }) => id === shown) : this.entries.length;
      const count = this.to - this.from;
      this.from = Math.max(0, place);
      this.to = this.from + count;
    } else if (kind === "added") {
      if (this.to === this.entries.length - 1) this.to += 1;
      this.mark(entry);
    } else if (kind === "changed" || kind === "grown") {
      if (this.articles.has(entry.id)) this.mark(entry);
    } else if (kind === "turn") {
      this.schedule();
    }
  }

  mark(entry) {
    this.dirty.add(entry);
    this.schedule();
  }

  schedule() {
    this.frame ||= requestAnimationFrame((now) => this.draw(now));
  }

  /** Draws what has changed since the last frame. */
  draw(now) {
    this.frame = 0;
    for (const entry of this.dirty) {
      const text = entry.item.text ?? entry.item.aggregatedOutput ?? "";
      if (!entry.isDone && text.length > LONG_TEXT && now - (this.drawnAt.get(entry.id) ?? 0) < LONG_PAUSE_MS) {
        this.schedule();
        continue;
      }
      this.dirty.delete(entry);
      this.drawnAt.set(entry.id, now);
      const article = this.articles.get(entry.id);
      if (article) updateArticle(article, entry, this.actions);
    }
    this.drawAll();
    if (this.isAtEnd && this.hasEnd) this.toEnd();
  }

  /** Makes the document show the window, and leaves articles that are in it already as they are. */
  drawAll() {
    const shown = this.entries.slice(this.from, this.to);
    if (this.isAtEnd && this.hasEnd && shown.length > MAX_WINDOW) {
      this.from = this.to - MAX_WINDOW;
      shown.splice(0, shown.length - MAX_WINDOW);
    }
    const wanted = new Set(shown.map(({ id }) => id));
    for (const [id, article] of this.articles) {
      if (wanted.has(id)) continue;
      article.remove();
      this.articles.delete(id);
      this.drawnAt.delete(id);
    }
    let before = null;
    for (const entry of shown) {
      let article = this.articles.get(entry.id);
      if (!article) {
        article = articleOf(entry, this.actions);
        this.articles.set(entry.id, article);
      }
      const place = before ? before.nextSibling : this.items.firstChild;
      if (place !== article) this.items.insertBefore(article, place);
      before = article;
    }
    const { conversation } = this.session;
    this.before.hidden = this.from === 0 && !conversation?.olderCursor;
    this.after.hidden = this.hasEnd;
    this.empty.hidden = shown.length > 0;
    this.empty.textContent = conversation ? "Nothing has been said in this thread." : "Write a message to begin a new thread.";
    this.node.toggleAttribute("data-running", Boolean(conversation?.turn));
  }

  scrolled() {
    const { scrollTop, scrollHeight, clientHeight } = this.node;
    // The log also moves when what is around it grows. Only a reader moves it up.
    if (scrollHeight - scrollTop - clientHeight < END_PX) this.isAtEnd = true;
    else if (scrollTop < this.top) this.isAtEnd = false;
    this.top = scrollTop;
    if (scrollTop < END_PX && !this.before.hidden) this.earlier();
    else if (this.isAtEnd && !this.hasEnd) this.later();
  }

  toEnd() {
    this.node.scrollTop = this.node.scrollHeight;
    this.top = this.node.scrollTop;
  }

  /** Shows earlier items. Those that the page does not have are requested. */
  async earlier() {
    if (this.isLoading) return;
    this.isLoading = true;
    try {
      if (this.from === 0 && (await this.session.older()) === 0) {
        this.drawAll();
        return;
      }
      this.keepingPlace(() => {
        this.from = Math.max(0, this.from - PIECE);
        this.to = Math.min(this.to, this.from + MAX_WINDOW);
        this.isAtEnd = false;
        this.drawAll();
      });
    } catch (error) {
      this.session.notice(`Earlier items cannot be shown: ${error.message}`);
    } finally {
      this.isLoading = false;
    }
  }

  later() {
    this.keepingPlace(() => {
      this.to = Math.min(this.entries.length, this.to + PIECE);
      this.from = Math.max(this.from, this.to - MAX_WINDOW);
      this.isAtEnd = false;
      this.drawAll();
    });
  }

  /** Changes the window and leaves what is read where it is on the screen. */
  keepingPlace(change) {
    const top = this.node.getBoundingClientRect().top;
    const anchor = [...this.items.children].find((item) => item.getBoundingClientRect().bottom > top);
    const before = anchor?.getBoundingClientRect().top;
    change();
    if (anchor?.isConnected) this.node.scrollTop += anchor.getBoundingClientRect().top - before;
  }
}
