/** Texts and payloads of objects, either from the document or from the server of the page. */

import { knownToken } from "./token.js";

/**
 * Most bodies that a served page keeps. The oldest ones are dropped first, and requested again when they are needed.
 */
export const MAX_KEPT_BODIES = 10_000;

/** Most bodies in one request. The server refuses to send more. */
export const MAX_BODIES_PER_REQUEST = 200;

/**
 * Loads bodies and payloads, and searches them.
 *
 * @typedef {{blocks: {name: string, form: string, text: string, omitted: number}[]}} Body
 */
export class Bodies {
  /**
   * @param {(() => object)|null} read parses the data in the document when it is first needed; null for a served page
   * @param {string} [revision] of a served page: the number of its numbering of objects
   */
  constructor(read, revision = "") {
    this.read = read;
    this.revision = revision;
    this.document = null;
    this.known = new Map();
    this.waiting = new Map();
    this.asked = [];
  }

  /** Forgets the body of an object that has changed. */
  forget(n) {
    this.known.delete(n);
  }

  /** Forgets all bodies, because objects have other numbers. */
  forgetAll(revision) {
    this.known.clear();
    this.revision = revision;
  }

  /** Says whether the page can request what it does not have. */
  get isServed() {
    return this.read === null;
  }

  /** Returns the data in the document: `{bodies, payloads}` by number. Null for a served page. */
  get embedded() {
    this.document ??= this.read?.() ?? null;
    return this.document;
  }

  /**
   * Returns the body of an object. Null if the file form left it out because of its size.
   *
   * @param {number} n
   * @returns {Promise<Body|null>}
   */
  get(n) {
    if (this.embedded) {
      const found = this.embedded.bodies[n];
      return Promise.resolve(found === undefined ? { blocks: [] } : found);
    }
    if (this.known.has(n)) return Promise.resolve(this.known.get(n));
    const waiting = this.waiting.get(n);
    if (waiting) return waiting.promise;
    const asked = {};
    asked.promise = new Promise((resolve, reject) => Object.assign(asked, { resolve, reject }));
    this.waiting.set(n, asked);
    // Rows that come into view at the same time share one request.
    if (this.asked.length === 0) queueMicrotask(() => this.ask());
    this.asked.push(n);
    return asked.promise;
  }

  /** Returns the body of an object like {@link get} if it is loaded, and undefined otherwise. */
  peek(n) {
    if (!this.embedded) return this.known.get(n);
    const found = this.embedded.bodies[n];
    return found === undefined ? { blocks: [] } : found;
  }

  ask() {
    const all = this.asked;
    this.asked = [];
    for (let first = 0; first < all.length; first += MAX_BODIES_PER_REQUEST) {
      const some = all.slice(first, first + MAX_BODIES_PER_REQUEST);
      this.fetch(`bodies.json?of=${some.join(",")}`).then(
        (answer) => some.forEach((n) => this.settle(n, (asked) => asked.resolve(this.keep(n, answer[n] ?? { blocks: [] })))),
        (error) => some.forEach((n) => this.settle(n, (asked) => asked.reject(error))),
      );
    }
  }

  keep(n, body) {
    this.known.set(n, body);
    if (this.known.size > MAX_KEPT_BODIES) this.known.delete(this.known.keys().next().value);
    return body;
  }

  settle(n, how) {
    const asked = this.waiting.get(n);
    this.waiting.delete(n);
    if (asked) how(asked);
  }

  /**
   * Returns a payload, or null if the file form left it out.
   *
   * @param {number} n
   * @returns {Promise<{text: string, omitted: number}|null>}
   */
  payload(n) {
    if (this.embedded) return Promise.resolve(this.embedded.payloads[n] ?? null);
    return this.fetch(`payload.json?of=${n}`);
  }

  /** Fetches something by the numbers that the page has. */
  async fetch(path) {
    const revision = this.revision === "" ? "" : `&revision=${this.revision}`;
    return (await request(path + revision)).json();
  }

  /**
   * Finds objects whose texts contain a text, ignoring case: `{hits: [{n, before, match, after}], more}`. `more` is
   * true if there are more hits than the limit.
   *
   * @param {string} text
   * @param {number} limit
   */
  async search(text, limit) {
    if (!this.embedded) return this.fetch(`search.json?text=${encodeURIComponent(text)}&limit=${limit}`);
    const hits = [];
    const sought = text.toLowerCase();
    const keys = Object.keys(this.embedded.bodies);
    for (const key of keys) {
      const body = this.embedded.bodies[key];
      const hit = body ? hitIn(body, sought) : null;
      if (!hit) continue;
      if (hits.length === limit) return { hits, more: true };
      hits.push({ n: Number(key), ...hit });
    }
    return { hits, more: false };
  }
}

/** Characters that are shown on both sides of a hit. */
const AROUND = 60;

function hitIn(body, sought) {
  for (const { text } of body.blocks) {
    const lower = text.toLowerCase();
    const at = lower.indexOf(sought);
    if (at < 0) continue;
    // Lower case may be longer than the original, so that offsets differ. Show the whole line then.
    const exact = lower.length === text.length;
    const match = exact ? text.slice(at, at + sought.length) : sought;
    return {
      before: exact ? text.slice(Math.max(0, at - AROUND), at) : "",
      match,
      after: exact ? text.slice(at + sought.length, at + sought.length + AROUND) : "",
    };
  }
  return null;
}

async function request(path) {
  let response;
  const token = knownToken();
  try {
    response = await fetch(path, { credentials: "omit", cache: "no-store", headers: token ? { authorization: `Bearer ${token}` } : {} });
  } catch {
    // The browser's own message does not tell the reader what to do.
    throw new Error("the program that served this page does not answer; if it has ended, start it again and open its new address");
  }
  if (response.status === 401) throw new Error("this recording needs the token of the server; follow its link in the web client");
  if (!response.ok) throw new Error(`${path.split("?")[0]}: ${response.status} ${await response.text()}`);
  return response;
}

/**
 * Fetches the structure of a served page, with the number of its numbering of objects, and the number of its state if the
 * session may grow.
 *
 * @returns {Promise<{structure: object, revision: string, state: string|null}>}
 */
export async function fetchStructure() {
  const response = await request("structure.json");
  const { headers } = response;
  return { structure: await response.json(), revision: headers.get("trace-revision") ?? "", state: headers.get("trace-state") };
}

/**
 * Waits for changes since a state. Returns null if objects have other numbers now.
 *
 * @param {{revision: string, state: string}} place
 * @returns {Promise<{changes: object[], state: number}|null>}
 */
export async function fetchChanges({ revision, state }) {
  const answer = await (await request(`changes.json?revision=${revision}&since=${state}`)).json();
  return answer.renumbered ? null : answer;
}
