/**
 * The state of the page: the selected object, the filters, the thread of the transcript. Panels change the state here
 * and listen for changes, so that they need not know each other.
 */

/** Time that listeners may take within one frame, in milliseconds. A frame has 16, and must be drawn, too. */
const STEP_MS = 4;

/**
 * Filters of the page. Empty sets and zero mean "all".
 *
 * @typedef {{threads: Set<number>, works: Set<string>, outcomes: Set<string>, minDuration: number}} Filters
 */

/**
 * The state of the page.
 */
export class Store {
  /**
   * @param {import("./data.js").Data} data
   */
  constructor(data) {
    this.data = data;
    /** The selected object, or -1. */
    this.selected = -1;
    /** The thread whose transcript is shown. */
    this.thread = data.raw.order[0] ?? -1;
    /** @type {Filters} */
    this.filters = { threads: new Set(), works: new Set(), outcomes: new Set(), minDuration: 0 };
    /** The objects that the search found, or null if there is no search. */
    this.found = null;
    this.listeners = new Map();
  }

  /**
   * Calls `listener` on events of a kind: `select` (the selected object, and where it was selected), `thread`,
   * `filters`, `data` (the session has grown), `found`, `reveal` (an object that every panel should bring into view), `open` (an object that the reader
   * wants to read about), `zoom` (another part of the time is in view), `theme`.
   */
  on(kind, listener) {
    const known = this.listeners.get(kind) ?? [];
    this.listeners.set(kind, [...known, listener]);
  }

  emit(kind, ...details) {
    for (const listener of this.listeners.get(kind) ?? []) listener(...details);
  }

  /**
   * Calls the listeners like {@link emit}, but lets the browser draw a frame when they have taken some time, so that a
   * large change does not stop the page.
   *
   * @returns {Promise<void>} when all listeners have been called
   */
  async emitInSteps(kind, ...details) {
    let began = performance.now();
    for (const listener of this.listeners.get(kind) ?? []) {
      if (performance.now() - began > STEP_MS) {
        await new Promise(requestAnimationFrame);
        began = performance.now();
      }
      listener(...details);
    }
  }

  /**
   * Selects an object, or nothing if `n` is -1. `origin` names the panel that the reader used, which need not scroll.
   *
   * @param {number} n
   * @param {string} [origin]
   */
  select(n, origin = "") {
    if (n === this.selected) {
      this.emit("reveal", n, origin);
      return;
    }
    this.selected = n;
    const thread = n < 0 ? -1 : this.data.typeName(n) === "thread" ? n : this.data.thread(n);
    if (thread >= 0 && thread !== this.thread) {
      this.thread = thread;
      this.emit("thread", thread);
    }
    this.emit("select", n, origin);
    this.emit("reveal", n, origin);
  }

  /** Shows the transcript of a thread without selecting it. */
  showThread(thread) {
    if (thread === this.thread) return;
    this.thread = thread;
    this.emit("thread", thread);
  }

  /**
   * Lets a function give objects other numbers, and keeps what was selected and filtered.
   *
   * @param {() => void} change
   */
  renumber(change) {
    const { data, filters } = this;
    const ref = (n) => (n < 0 ? "" : data.refOf(n));
    const [selected, thread] = [ref(this.selected), ref(this.thread)];
    const threads = [...filters.threads].map(ref);
    change();
    this.selected = selected ? data.numberOf(selected) : -1;
    this.thread = thread ? data.numberOf(thread) : (data.raw.order[0] ?? -1);
    this.filters = { ...filters, threads: new Set(threads.map((one) => data.numberOf(one)).filter((n) => n >= 0)) };
    this.found = null;
    this.emit("data", "renumbered");
  }

  /** Changes some of the filters. */
  filter(changes) {
    this.filters = { ...this.filters, ...changes };
    this.emit("filters", this.filters);
  }

  /** Sets the objects that the search found, or null if there is no search. */
  setFound(found) {
    this.found = found;
    this.emit("found", found);
  }

  /** Says whether a bar passes the filters. */
  passes(bar) {
    const { bars, works } = this.data.raw;
    const { filters } = this;
    const n = bars.object[bar];
    return (
      (filters.threads.size === 0 || filters.threads.has(this.data.thread(n))) &&
      (filters.works.size === 0 || filters.works.has(works[bars.work[bar]])) &&
      (filters.outcomes.size === 0 || filters.outcomes.has(this.data.outcome(n))) &&
      bars.end[bar] - bars.start[bar] >= filters.minDuration
    );
  }
}
