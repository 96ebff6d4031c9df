/** The decoded structure of a session. README.md in this folder describes its members. */

import { BAR_COLUMNS, LISTS, TABLES, growColumn, patchRows, spread } from "./changes.js";

/** Types of the objects that tables have rows for. */
const TYPES_OF_TABLES = { threads: "thread", turns: "codex_turn", items: "conversation_item", inferences: "inference_call", tools: "tool_call", edges: "interaction_edge" };

/** A session as the page sees it. */
export class Data {
  /**
   * @param {object} structure
   */
  constructor(structure) {
    this.replace(structure);
  }

  /**
   * Takes another structure of the session, in which objects may have other numbers.
   *
   * @param {object} structure
   */
  replace(structure) {
    /** The structure itself, for access to its columns. Columns of all objects are by number. */
    this.raw = structure;
    const { objects, imported, types } = structure;
    for (const name of Object.keys(objects)) objects[name] = spread(objects[name], types);
    if (imported) for (const name of ["file", "line"]) imported[name] = spread(imported[name], types);
    this.session = structure.session;
    this.strings = structure.strings;
    this.types = types;
    this.typeByName = new Map(types.map((type) => [type.name, type]));
    /** Changes of lists that nobody has needed yet, by name. */
    this.pending = new Map();
    /** The bars and the transcripts of each thread, once they change. */
    this.barsByThread = null;
    this.transcriptsByThread = null;
    this.forget();
  }

  /** Drops what was derived from the columns. */
  forget() {
    this.numbersByRef = null;
    this.outgoing = null;
    this.incoming = null;
    this.payloadsByObject = null;
    this.edgesByObject = null;
    this.toolsByItem = null;
    const last = this.types.at(-1);
    /** The number after the last object. */
    this.size = last ? last.first + last.count : 0;
  }

  /**
   * Applies the changes that lead to the next state of the session. Objects keep their numbers.
   *
   * @param {object} changes
   * @returns {Set<number>} the objects that changed and may have other texts now
   */
  apply(changes) {
    const { raw, types } = this;
    const changed = new Set();
    for (const name of ["session", "totals", "order", "lost", "findings", "diagnostics"]) if (changes[name] !== undefined) raw[name] = changes[name];
    this.session = raw.session;
    if (changes.strings) this.strings.push(...changes.strings);
    changes.objects.forEach((columns, place) => {
      const { first, count } = types[place];
      for (const [name, column] of Object.entries(columns ?? {})) {
        growColumn(raw.objects[name], column, first, count);
        for (let at = 0; at < (column.set?.length ?? 0); at += 2) changed.add(first + column.set[at]);
      }
    });
    for (const name of TABLES) {
      const { first } = this.typeByName.get(TYPES_OF_TABLES[name]);
      for (const [column, grown] of Object.entries(changes[name] ?? {})) {
        growColumn(raw[name][column], grown);
        for (let at = 0; at < (grown.set?.length ?? 0); at += 2) changed.add(first + grown.set[at]);
      }
    }
    if (changes.verdicts) growColumn(raw.verdicts, changes.verdicts);
    if (changes.imported !== undefined) {
      raw.imported = changes.imported ?? undefined;
      changes.counts.forEach((count, place) => (types[place].count = count));
      if (raw.imported) for (const name of ["file", "line"]) raw.imported[name] = spread(raw.imported[name], types);
    }
    changes.counts.forEach((count, place) => (types[place].count = count));
    this.patchBars(changes.lanes ?? [], changes.order !== undefined);
    this.patchTranscripts(changes.transcripts ?? [], changes.order !== undefined);
    for (const name of Object.keys(LISTS)) {
      if (changes[name]) this.pending.set(name, [...(this.pending.get(name) ?? []), changes[name]]);
    }
    this.forget();
    return changed;
  }

  patchBars(lanes, isReordered) {
    const { raw } = this;
    if (lanes.length === 0 && !isReordered) return;
    const empty = () => Object.fromEntries(BAR_COLUMNS.map((name) => [name, []]));
    this.barsByThread ??= new Map(
      raw.lanes.map(({ thread, first, count }) => [thread, Object.fromEntries(BAR_COLUMNS.map((name) => [name, raw.bars[name].slice(first, first + count)]))]),
    );
    for (const [thread, changes] of lanes) {
      if (!this.barsByThread.has(thread)) this.barsByThread.set(thread, empty());
      patchRows(this.barsByThread.get(thread), BAR_COLUMNS, changes);
    }
    let first = 0;
    raw.lanes = raw.order.map((thread) => {
      const count = this.barsByThread.get(thread)?.object.length ?? 0;
      first += count;
      return { thread, first: first - count, count };
    });
    for (const name of BAR_COLUMNS) raw.bars[name] = [].concat(...raw.order.map((thread) => this.barsByThread.get(thread)?.[name] ?? []));
  }

  patchTranscripts(transcripts, isReordered) {
    const { raw } = this;
    if (transcripts.length === 0 && !isReordered) return;
    this.transcriptsByThread ??= new Map(raw.transcripts.map((transcript) => [transcript.thread, transcript]));
    for (const [thread, changes] of transcripts) {
      if (!this.transcriptsByThread.has(thread)) this.transcriptsByThread.set(thread, { thread, items: [], marks: [] });
      patchRows(this.transcriptsByThread.get(thread), ["items", "marks"], changes);
    }
    raw.transcripts = raw.order.map((thread) => this.transcriptsByThread.get(thread) ?? { thread, items: [], marks: [] });
  }

  /** Returns a list of the structure, with all its changes. They are applied when the list is needed. */
  list(name) {
    for (const changes of this.pending.get(name) ?? []) patchRows(this.raw[name], LISTS[name], changes);
    this.pending.delete(name);
    return this.raw[name];
  }

  /** Returns the type of an object: `{name, first, count}`. Null if there is no such object. */
  typeOf(n) {
    return this.types.find((type) => n >= type.first && n < type.first + type.count) ?? null;
  }

  /** Returns the name of an object's type, or an empty string. */
  typeName(n) {
    return this.typeOf(n)?.name ?? "";
  }

  /** Returns the index of an object among those of its type. */
  indexOf(n) {
    return n - this.typeOf(n).first;
  }

  /** Returns the first number of a type and how many objects it has. */
  rangeOf(name) {
    const type = this.typeByName.get(name);
    return type ? [type.first, type.count] : [0, 0];
  }

  /** Returns the id of an object as in `state.json`. */
  idOf(n) {
    const id = this.raw.objects.id[n];
    if (id !== null && id !== undefined) return id;
    const type = this.typeOf(n);
    return `${type.name}:${n - type.first + 1}`;
  }

  /** Returns the reference of an object, `TYPE:ID`. An id that already begins with the type is returned unchanged. */
  refOf(n) {
    const type = this.typeName(n);
    const id = this.idOf(n);
    return id.startsWith(`${type}:`) ? id : `${type}:${id}`;
  }

  /** Returns the number of the object with the reference `TYPE:ID`, or -1. */
  numberOf(ref) {
    // Most searched texts are no references. Do not build the table of all references for them.
    if (!ref.includes(":")) return -1;
    if (!this.numbersByRef) {
      this.numbersByRef = new Map();
      // If several objects have the same reference, the first counts, as everywhere.
      for (const { first, count } of [...this.types].reverse()) {
        for (let n = first + count - 1; n >= first; n -= 1) this.numbersByRef.set(this.refOf(n), n);
      }
    }
    return this.numbersByRef.get(ref) ?? -1;
  }

  /** Returns a text of the table of strings. */
  text(index) {
    return this.strings[index] ?? "";
  }

  /** Returns the label of an object, in one line. */
  label(n) {
    return this.text(this.raw.objects.label[n]);
  }

  /** Returns the thread of an object, or -1. */
  thread(n) {
    return this.raw.objects.thread[n] ?? -1;
  }

  /** Returns the turn of an object, or -1. */
  turn(n) {
    return this.raw.objects.turn[n] ?? -1;
  }

  /** Returns the seq of the event that started an object, or -1. */
  seq(n) {
    return this.raw.objects.seq[n] ?? -1;
  }

  /** Returns the line of a session file that an object of an imported session comes from: `FILE:LINE`. Null if there is none. */
  sourceOf(n) {
    const { imported } = this.raw;
    const file = imported?.files[imported.file[n] ?? -1];
    return file === undefined ? null : `${file}:${imported.line[n]}`;
  }

  /** Returns when an object started, or -1. */
  start(n) {
    return this.raw.objects.start[n] ?? -1;
  }

  /** Returns when an object ended, or -1. */
  end(n) {
    return this.raw.objects.end[n] ?? -1;
  }

  /** Returns the outcome of an object: completed, failed, cancelled, unfinished or none. */
  outcome(n) {
    return this.raw.outcomes[this.raw.objects.outcome[n] ?? 0];
  }

  /** Returns the causal links that begin at an object: `[{n, relation, at}]`. */
  effects(n) {
    this.outgoing ??= grouped(this.list("links").from, this.size);
    return this.outgoing(n).map((link) => this.linkTo(link, this.raw.links.to[link]));
  }

  /** Returns the causal links that end at an object: `[{n, relation, at}]`. */
  causes(n) {
    this.incoming ??= grouped(this.list("links").to, this.size);
    return this.incoming(n).map((link) => this.linkTo(link, this.raw.links.from[link]));
  }

  linkTo(link, n) {
    const { relation, at } = this.raw.links;
    return { n, relation: this.raw.relations[relation[link]], at: at[link] };
  }

  /** Returns the payloads that belong to an object. */
  payloads(n) {
    this.payloadsByObject ??= grouped(this.list("uses").object, this.size);
    return this.payloadsByObject(n).map((use) => this.raw.uses.payload[use]);
  }

  /** Returns the hand-overs that begin or end at an object or a thread, as numbers of edges. */
  edgesAt(n) {
    if (!this.edgesByObject) {
      this.edgesByObject = new Map();
      const { source, target, from, to } = this.raw.edges;
      const [first] = this.rangeOf("interaction_edge");
      source.forEach((_, index) => {
        for (const end of new Set([source[index], target[index], from[index], to[index]])) {
          const known = this.edgesByObject.get(end);
          if (known) known.push(first + index);
          else this.edgesByObject.set(end, [first + index]);
        }
      });
    }
    return this.edgesByObject.get(n) ?? [];
  }

  /** Returns a hand-over: `{n, kind, source, target, from, to, sent, received, text}`. */
  edge(n) {
    const columns = this.raw.edges;
    const index = this.indexOf(n);
    return {
      n,
      kind: this.text(columns.kind[index]),
      source: columns.source[index],
      target: columns.target[index],
      from: columns.from[index],
      to: columns.to[index],
      sent: columns.sent[index],
      received: columns.received[index],
      text: this.text(columns.text[index]),
    };
  }

  /** Returns the tool calls that an item asked for or whose output it shows. */
  toolsOf(item) {
    if (!this.toolsByItem) {
      this.toolsByItem = new Map();
      const { item: items, tool } = this.list("attached");
      items.forEach((n, index) => {
        const known = this.toolsByItem.get(n);
        if (known) known.push(tool[index]);
        else this.toolsByItem.set(n, [tool[index]]);
      });
    }
    return this.toolsByItem.get(item) ?? [];
  }

  /** Returns the display name of an agent: its path, and its nickname if it has one. */
  agentName(thread) {
    if (thread < 0) return "";
    const index = this.indexOf(thread);
    const path = this.text(this.raw.threads.path[index]);
    const nickname = this.text(this.raw.threads.nickname[index]);
    return nickname ? `${path} (${nickname})` : path;
  }
}

/**
 * Groups rows by the number in a column. Returns a function from a number to its rows.
 */
function grouped(column, size) {
  const starts = new Uint32Array(size + 2);
  for (const n of column) if (n >= 0) starts[n + 2] += 1;
  for (let n = 2; n < starts.length; n += 1) starts[n] += starts[n - 1];
  const rows = new Uint32Array(starts[size + 1]);
  column.forEach((n, row) => {
    if (n >= 0) {
      rows[starts[n + 1]] = row;
      starts[n + 1] += 1;
    }
  });
  return (n) => Array.from(rows.subarray(starts[n], starts[n + 1]));
}
