/** What the page knows about threads: their names, their places in trees, and whether they wait, run or are idle. */

/** Words for the state of a thread. */
export const WAITING = "waiting";
export const RUNNING = "running";
export const IDLE = "idle";
export const FAILED = "failed";

/**
 * Returns the word for a status of the protocol.
 *
 * @param {{type: string, activeFlags?: string[]}} status
 * @returns {string}
 */
export function wordOf(status) {
  if (status?.type === "active") return (status.activeFlags ?? []).length > 0 ? WAITING : RUNNING;
  return status?.type === "systemError" ? FAILED : IDLE;
}

/** Returns the path of an agent in its tree, or an empty text for a root. */
export function pathOf(thread) {
  return thread?.source?.subAgent?.thread_spawn?.agent_path ?? thread?.agentPath ?? "";
}

export class Threads {
  constructor() {
    this.known = new Map();
    this.roots = [];
    this.hasMore = false;
    this.cursor = null;
    /** Statuses of threads that no list had yet. */
    this.early = new Map();
  }

  get(id) {
    return this.known.get(id);
  }

  /** Takes a thread from any response. */
  take(thread) {
    const before = this.known.get(thread.id);
    const status = this.early.get(thread.id) ?? thread.status;
    this.early.delete(thread.id);
    this.known.set(thread.id, { ...before, ...thread, turns: [], status, agentPath: pathOf(thread) || before?.agentPath });
    return this.known.get(thread.id);
  }

  /** Takes the first page of the list of roots. Threads that it lacks are gone, except the one that is open. */
  takeRoots(threads, cursor, openRoot) {
    this.roots = threads.map((thread) => this.take(thread).id);
    if (openRoot && this.known.has(openRoot) && !this.roots.includes(openRoot)) this.roots.unshift(openRoot);
    this.cursor = cursor ?? null;
  }

  takeMoreRoots(threads, cursor) {
    for (const thread of threads) {
      this.take(thread);
      if (!this.roots.includes(thread.id)) this.roots.push(thread.id);
    }
    this.cursor = cursor ?? null;
  }

  /** Takes an agent that an item of its parent's thread names. */
  takeAgent(id, path, parent) {
    if (this.known.get(id)?.parentThreadId) return;
    const root = this.known.get(parent)?.sessionId ?? parent;
    this.take({ id, sessionId: root, parentThreadId: parent, agentPath: path, preview: "", name: null, canAcceptDirectInput: false, status: { type: "idle" }, ...this.known.get(id) });
  }

  setStatus(id, status) {
    const thread = this.known.get(id);
    if (thread) thread.status = status;
    else this.early.set(id, status);
    return Boolean(thread);
  }

  remove(id) {
    this.known.delete(id);
    this.roots = this.roots.filter((root) => root !== id);
  }

  /** Returns the agents below a thread, in the order of their paths. */
  childrenOf(id) {
    const children = [...this.known.values()].filter((thread) => thread.parentThreadId === id && thread.id !== id);
    return children.sort((a, b) => (a.createdAt ?? 0) - (b.createdAt ?? 0) || pathOf(a).localeCompare(pathOf(b)));
  }

  /** Returns the root of the tree that a thread belongs to. */
  rootOf(id) {
    let thread = this.known.get(id);
    for (let depth = 0; thread?.parentThreadId && depth < 64; depth += 1) {
      const parent = this.known.get(thread.parentThreadId);
      if (!parent) return thread.sessionId ?? thread.parentThreadId;
      thread = parent;
    }
    return thread?.id ?? id;
  }

  /** Returns the number of threads that wait for a person. */
  get waiting() {
    let count = 0;
    for (const thread of this.known.values()) if (wordOf(thread.status) === WAITING) count += 1;
    return count;
  }
}
