/** The rows of the tree of agents: which of them are visible, and where keys lead. */

/**
 * In a session with at most this many agents, the whole tree is unfolded at first. In a larger one, agents at the
 * second level and below are folded.
 */
export const MAX_UNFOLDED = 400;

/** The tree of agents, and which of them are folded. */
export class TreeRows {
  /**
   * @param {import("./data.js").Data} data
   */
  constructor(data) {
    const { order, threads } = data.raw;
    const { first } = data.typeByName.get("thread") ?? { first: 0 };
    this.parent = new Map();
    this.children = new Map();
    this.level = new Map();
    for (const n of order) {
      // A parent must come before its child. Ignore one that does not, since it could make a cycle.
      const parent = threads.parent[n - first] ?? -1;
      const known = this.level.has(parent) ? parent : -1;
      this.parent.set(n, known);
      this.level.set(n, known < 0 ? 1 : this.level.get(known) + 1);
      const below = this.children.get(known);
      if (below) below.push(n);
      else this.children.set(known, [n]);
    }
    this.folded = new Set();
    if (order.length > MAX_UNFOLDED) {
      for (const n of order) if (this.level.get(n) > 1 && this.children.has(n)) this.folded.add(n);
    }
  }

  /** Returns the visible agents, from top to bottom. */
  visible() {
    const rows = [];
    const left = [...(this.children.get(-1) ?? [])].reverse();
    while (left.length > 0) {
      const n = left.pop();
      rows.push(n);
      if (this.folded.has(n)) continue;
      const below = this.children.get(n) ?? [];
      for (let index = below.length - 1; index >= 0; index -= 1) left.push(below[index]);
    }
    return rows;
  }

  /** Returns an agent and all below it. */
  subtree(n) {
    const all = new Set([n]);
    const left = [n];
    while (left.length > 0) {
      for (const child of this.children.get(left.pop()) ?? []) {
        all.add(child);
        left.push(child);
      }
    }
    return all;
  }

  /** Says whether an agent has children. */
  isParent(n) {
    return this.children.has(n);
  }

  /** Unfolds all ancestors of an agent. Returns whether one of them was folded. */
  uncover(n) {
    let changed = false;
    for (let above = this.parent.get(n) ?? -1; above >= 0; above = this.parent.get(above) ?? -1) {
      changed = this.folded.delete(above) || changed;
    }
    return changed;
  }
}
