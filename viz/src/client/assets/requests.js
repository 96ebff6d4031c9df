/** The requests of the server that wait for a person. The first answer of any client counts. */

/** The requests that the page shows. The others are refused at once. */
const SHOWN = new Set([
  "item/commandExecution/requestApproval",
  "item/fileChange/requestApproval",
  "item/tool/requestUserInput",
  "item/permissions/requestApproval",
  "mcpServer/elicitation/request",
  "item/tool/call",
]);

/**
 * An open request.
 *
 * @typedef {{id: string|number, method: string, params: object, isSent: boolean}} Asked
 */
export class Requests {
  constructor() {
    /** @type {Map<string|number, Asked>} */
    this.open = new Map();
    this.onChange = () => {};
  }

  /**
   * Takes a request. Returns what it is answered with at once, or null if a person answers it.
   *
   * @returns {{result?: object, error?: string}|null}
   */
  take(id, method, params) {
    if (method === "currentTime/read") return { result: { currentTimeAt: Math.floor(Date.now() / 1000) } };
    if (!SHOWN.has(method)) return { error: `the web client cannot answer ${method}` };
    // A request that is sent again after a reconnect has the same id.
    this.open.set(id, { id, method, params, isSent: false });
    this.onChange();
    return null;
  }

  resolved(id) {
    if (this.open.delete(id)) this.onChange();
  }

  /** Forgets all requests: the server sends those that are still open again. */
  clear() {
    if (this.open.size === 0) return;
    this.open.clear();
    this.onChange();
  }

  /** Returns the open requests, the oldest first. */
  get all() {
    return [...this.open.values()];
  }
}
