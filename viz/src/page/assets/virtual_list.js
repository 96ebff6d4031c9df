/**
 * A long list of which only the rows in view are in the document. Rows may have any height, and their heights may
 * change without moving what the reader looks at.
 */

import { element } from "./dom.js";
import { Heights } from "./heights.js";

/** How far beyond the view rows are created, in pixels. */
export const OVERSCAN = 400;

/**
 * Most passes of measuring and creating rows until the view is full. One pass is not enough if the estimated heights
 * are far too high.
 */
const MAX_PASSES = 5;

/**
 * A list of rows in a scrolling element.
 */
export class VirtualList {
  /**
   * @param {HTMLElement} host the element that scrolls
   * @param {{estimate: (key: unknown) => number, render: (key: unknown, index: number) => HTMLElement}} rows
   */
  constructor(host, { estimate, render }) {
    this.host = host;
    this.estimate = estimate;
    this.render = render;
    this.keys = [];
    this.heights = new Heights([]);
    this.measured = new Map();
    this.shown = new Map();
    this.indexes = null;
    this.pinned = null;
    this.held = null;
    this.y = 0;
    this.wasVisible = false;
    this.room = element("div", { class: "room", role: "none" });
    host.append(this.room);
    host.addEventListener("scroll", () => this.scrolled(), { passive: true });
    for (const kind of ["wheel", "pointerdown", "touchstart", "keydown"]) {
      host.addEventListener(kind, () => (this.pinned = this.held = null), { passive: true, capture: true });
    }
    this.sizes = new ResizeObserver((entries) => this.resized(entries));
    this.sizes.observe(host);
  }

  /**
   * Shows other rows. Known keys keep their height, and the row at the top of the view stays there.
   *
   * @param {unknown[]} keys
   * @param {{key: unknown, offset: number}|null} [anchor] another row for the top of the view, and how far above it the
   * row begins; null for the top of the list
   */
  setRows(keys, anchor = this.anchor()) {
    this.clear();
    this.keys = keys;
    this.indexes = null;
    this.heights = new Heights(keys.map((key) => this.measured.get(key) ?? this.estimate(key)));
    this.pinned = null;
    this.room.style.height = `${this.heights.total}px`;
    const index = anchor ? this.indexOf(anchor.key) : -1;
    // The estimated height may be less than the offset. The place is exact once the row is measured.
    this.held = index < 0 ? null : { index, offset: anchor.offset };
    if (index >= 0) this.y = this.heights.top(index) + Math.min(anchor.offset, this.heights.get(index) - 1);
    else if (!anchor) this.y = 0;
    if (this.isVisible) this.host.scrollTop = this.y;
    this.update();
  }

  /** Drops all measured heights, because rows with the same keys now look different. */
  forget() {
    this.measured.clear();
  }

  get isVisible() {
    return this.host.clientHeight > 0;
  }

  /** Returns the index of the row of a key, or -1. */
  indexOf(key) {
    this.indexes ??= new Map(this.keys.map((one, index) => [one, index]));
    return this.indexes.get(key) ?? -1;
  }

  /** Returns the element of a row, if the row is in the document. */
  elementOf(index) {
    return this.shown.get(index) ?? null;
  }

  /** Renders a row again. */
  refresh(index) {
    const old = this.shown.get(index);
    if (!old) return;
    const hadFocus = old.contains(document.activeElement);
    this.sizes.unobserve(old);
    old.remove();
    this.shown.delete(index);
    this.update();
    if (hadFocus) this.shown.get(index)?.focus({ preventScroll: true });
  }

  /**
   * Scrolls a row into view and keeps it there until the reader scrolls. `nearest` scrolls as little as possible.
   *
   * @param {number} index
   * @param {"nearest"|"center"|"start"} where
   */
  scrollTo(index, where = "nearest") {
    if (index < 0 || index >= this.keys.length) return;
    this.pinned = { index, where };
    this.held = null;
    if (!this.isVisible) return;
    this.hold();
    this.update();
  }

  hold() {
    const { index, where } = this.pinned;
    const top = this.heights.top(index);
    const height = this.heights.get(index);
    const view = this.host.clientHeight;
    let y = this.host.scrollTop;
    if (where === "start" || height > view) y = top - 4;
    else if (where === "center") y = top - (view - height) / 2;
    else if (top < y) y = top;
    else if (top + height > y + view) y = top + height - view;
    y = Math.max(0, Math.min(y, this.heights.total - view));
    if (Math.abs(y - this.host.scrollTop) >= 1) {
      this.host.scrollTop = y;
      this.y = this.host.scrollTop;
    }
  }

  /** Returns the row at the top of the view, and how far above the view it begins. */
  anchor() {
    if (this.keys.length === 0) return null;
    const { index, offset } = this.held ?? this.place();
    return { key: this.keys[index], offset };
  }

  place() {
    const index = this.heights.at(this.y);
    return { index, offset: this.y - this.heights.top(index) };
  }

  clear() {
    for (const row of this.shown.values()) this.sizes.unobserve(row);
    this.shown.clear();
    this.room.replaceChildren();
  }

  scrolled() {
    if (!this.isVisible) return;
    // A different offset means that something other than the list has scrolled.
    if (Math.abs(this.host.scrollTop - this.y) >= 1) this.held = null;
    this.y = this.host.scrollTop;
    this.update();
  }

  resized(entries) {
    const isVisible = this.isVisible;
    if (isVisible && !this.wasVisible) {
      // A hidden element loses its scroll offset.
      this.room.style.height = `${this.heights.total}px`;
      this.host.scrollTop = this.y;
      if (this.pinned) this.hold();
    }
    this.wasVisible = isVisible;
    if (!isVisible) return;
    if (this.keys.length === 0) return;
    const place = this.held ?? this.place();
    for (const { target } of entries) {
      if (target === this.host) continue;
      const index = Number(target.dataset.row);
      if (this.shown.get(index) === target) this.measure(index, target);
    }
    this.settle(place);
    this.update();
  }

  measure(index, row) {
    const height = row.offsetHeight;
    if (height === 0) return;
    this.measured.set(this.keys[index], height);
    this.heights.set(index, height);
  }

  /** Keeps a row in its place after rows were measured. */
  settle({ index, offset }) {
    this.room.style.height = `${this.heights.total}px`;
    if (this.pinned) {
      this.hold();
      return;
    }
    const y = this.heights.top(index) + Math.min(offset, this.heights.get(index));
    if (Math.abs(y - this.y) < 0.5) return;
    this.host.scrollTop = y;
    this.y = this.host.scrollTop;
  }

  /** Creates the rows in view, and removes those that are far from it. */
  update() {
    if (!this.isVisible) return;
    const count = this.keys.length;
    for (let pass = 0; pass < MAX_PASSES && count > 0; pass += 1) {
      const first = this.heights.at(this.y - OVERSCAN);
      const last = this.heights.at(this.y + this.host.clientHeight + OVERSCAN);
      const focused = this.room.contains(document.activeElement) ? document.activeElement : null;
      for (const [index, row] of this.shown) {
        if ((index < first || index > last) && !row.contains(focused)) {
          this.sizes.unobserve(row);
          row.remove();
          this.shown.delete(index);
        }
      }
      const fresh = [];
      for (let index = first; index <= last; index += 1) {
        if (this.shown.has(index)) continue;
        const row = this.render(this.keys[index], index);
        row.dataset.row = String(index);
        this.shown.set(index, row);
        fresh.push(index);
      }
      if (fresh.length === 0) break;
      this.insert(fresh);
      const place = this.held ?? this.place();
      for (const index of fresh) this.measure(index, this.shown.get(index));
      this.settle(place);
      for (const index of fresh) this.sizes.observe(this.shown.get(index));
    }
    for (const [index, row] of this.shown) row.style.transform = `translateY(${this.heights.top(index)}px)`;
  }

  /** Inserts new rows into the document in their order, which is the order of reading and of the Tab key. */
  insert(fresh) {
    const order = [...this.shown.keys()].sort((a, b) => a - b);
    const isFresh = new Set(fresh);
    let before = null;
    for (let at = order.length - 1; at >= 0; at -= 1) {
      const row = this.shown.get(order[at]);
      if (isFresh.has(order[at])) this.room.insertBefore(row, before);
      before = row;
    }
  }
}
