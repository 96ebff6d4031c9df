/** Asks the server. A question replaces an earlier one of the same name, which is not waited for any more. */

import { knownToken } from "../../page/assets/token.js";

/** The token is missing or wrong. */
export class Refused extends Error {}

/** A later question replaced this one. */
export class Replaced extends Error {}

export class Asker {
  constructor() {
    this.running = new Map();
  }

  /**
   * Asks for data.
   *
   * @param {string} name of what is asked for
   * @param {string} path below `data/`
   * @param {Object<string, string|number>} [parameters]
   * @returns {Promise<object>}
   */
  async ask(name, path, parameters = {}) {
    this.running.get(name)?.abort();
    const ends = new AbortController();
    this.running.set(name, ends);
    const query = new URLSearchParams(parameters).toString();
    let response;
    try {
      response = await fetch(`data/${path}${query ? `?${query}` : ""}`, {
        credentials: "omit",
        cache: "no-store",
        signal: ends.signal,
        headers: { authorization: `Bearer ${knownToken()}` },
      });
      if (response.ok) return await response.json();
    } catch {
      if (ends.signal.aborted) throw new Replaced("replaced");
      // The browser's own message does not tell the reader what to do.
      throw new Error("the program that served this page does not answer; if it has ended, start it again and open its new address");
    } finally {
      if (this.running.get(name) === ends) this.running.delete(name);
    }
    if (response.status === 401) throw new Refused("this page needs the token of the server; open the whole address that `trace fleet view` printed");
    throw new Error((await response.text()) || `status ${response.status}`);
  }
}
