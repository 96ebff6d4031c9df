/**
 * The connection to the server: a WebSocket with the app-server protocol. It is opened again whenever it breaks, and the
 * page then asks for everything again, since the server is the truth.
 */

/** Names of the state of a connection, as the page shows them. */
export const CONNECTED = "connected";
export const RECONNECTING = "reconnecting";
export const REFUSED = "refused";

const PROTOCOL = "trace.v2";

/** The first and the longest pause before a connection is tried again, in milliseconds. */
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 5000;

/** How often a quiet connection is tried, and how long its answer may take. A phone does not notice that it is gone. */
const QUIET_MS = 25_000;
const ANSWER_MS = 15_000;

/** The error of a request whose connection broke before its answer came. Nobody knows whether it had an effect. */
export class Unconfirmed extends Error {}

/** An error that the server answered. */
export class Refusal extends Error {
  constructor({ code, message, data }) {
    super(message || `error ${code}`);
    this.code = code;
    this.data = data;
  }
}

/**
 * Returns the subprotocols that show a token. A token with characters that a subprotocol cannot have is encoded.
 *
 * @param {string} token
 * @returns {string[]}
 */
export function protocolsFor(token) {
  if (/^[\w.~+-]+$/.test(token)) return [PROTOCOL, `trace.token.${token}`];
  const bytes = new TextEncoder().encode(token);
  const encoded = btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  return [PROTOCOL, `trace.token64.${encoded}`];
}

/**
 * @typedef {object} Handlers
 * @property {(state: string) => void} onState
 * @property {() => Promise<void>} onOpen called when requests can be sent, after each reconnect
 * @property {(method: string, params: object) => void} onNotification
 * @property {(id: string|number, method: string, params: object) => void} onRequest
 */
export class Connection {
  /**
   * @param {string} url of the WebSocket
   * @param {string} probe URL that says whether the token is good
   * @param {Handlers} handlers
   */
  constructor(url, probe, handlers) {
    Object.assign(this, { url, probe, handlers });
    this.token = "";
    this.state = "";
    this.socket = null;
    this.next = 0;
    this.waiting = new Map();
    this.failures = 0;
    this.timer = 0;
    this.lastHeard = 0;
    // A phone that wakes up, or a network that is back, need not wait for the pause.
    window.addEventListener("online", () => this.hurry());
    document.addEventListener("visibilitychange", () => {
      if (!document.hidden) this.hurry();
    });
    setInterval(() => this.probeQuiet(), QUIET_MS);
  }

  /** Connects with a token. */
  start(token) {
    this.token = token;
    this.failures = 0;
    this.set(RECONNECTING);
    this.open();
  }

  /** Sends a request. Its promise fails with {@link Refusal} or {@link Unconfirmed}. */
  call(method, params = {}) {
    if (this.socket?.readyState !== WebSocket.OPEN) return Promise.reject(new Unconfirmed("there is no connection to the server"));
    const id = ++this.next;
    const answer = new Promise((resolve, reject) => this.waiting.set(id, { resolve, reject }));
    this.send({ id, method, params });
    return answer;
  }

  /** Answers a request of the server. Returns whether the answer could be sent. */
  answer(id, result) {
    return this.send({ id, result });
  }

  /** Answers a request of the server with an error. */
  refuse(id, message) {
    return this.send({ id, error: { code: -32601, message } });
  }

  send(message) {
    if (this.socket?.readyState !== WebSocket.OPEN) return false;
    this.socket.send(JSON.stringify(message));
    return true;
  }

  set(state) {
    if (this.state === state) return;
    this.state = state;
    this.handlers.onState(state);
  }

  open() {
    clearTimeout(this.timer);
    this.timer = 0;
    let socket;
    try {
      socket = new WebSocket(this.url, protocolsFor(this.token));
    } catch {
      this.set(REFUSED);
      return;
    }
    this.socket = socket;
    socket.addEventListener("open", () => this.opened(socket));
    socket.addEventListener("message", ({ data }) => this.heard(socket, data));
    socket.addEventListener("close", () => this.closed(socket));
  }

  async opened(socket) {
    this.lastHeard = performance.now();
    try {
      const clientInfo = { name: "trace_web", title: "trace web client", version: "1" };
      await this.call("initialize", { clientInfo, capabilities: { experimentalApi: true } });
      this.send({ method: "initialized" });
      await this.handlers.onOpen();
      if (this.socket !== socket) return;
      this.failures = 0;
      this.set(CONNECTED);
    } catch (error) {
      // A connection that breaks meanwhile is closed, which tries again. Another error is not cured by waiting less.
      console.warn(`connecting failed: ${error.message}`);
      socket.close();
    }
  }

  heard(socket, data) {
    if (this.socket !== socket) return;
    this.lastHeard = performance.now();
    let message;
    try {
      message = JSON.parse(data);
    } catch {
      return;
    }
    const { id, method, params, result, error } = message;
    if (method === undefined) {
      const asked = this.waiting.get(id);
      this.waiting.delete(id);
      if (error) asked?.reject(new Refusal(error));
      else asked?.resolve(result);
    } else if (id === undefined) {
      this.handlers.onNotification(method, params ?? {});
    } else {
      this.handlers.onRequest(id, method, params ?? {});
    }
  }

  async closed(socket) {
    if (this.socket !== socket) return;
    this.socket = null;
    const waiting = [...this.waiting.values()];
    this.waiting.clear();
    for (const { reject } of waiting) reject(new Unconfirmed("the connection broke before the server answered"));
    if (this.state !== REFUSED) this.set(RECONNECTING);
    // A browser does not say why a WebSocket was refused, so the page asks whether the token is good.
    if (await this.isRefused()) {
      this.set(REFUSED);
      return;
    }
    this.later();
  }

  async isRefused() {
    try {
      const headers = this.token ? { authorization: `Bearer ${this.token}` } : {};
      const response = await fetch(this.probe, { headers, credentials: "omit", cache: "no-store" });
      return response.status === 401;
    } catch {
      return false;
    }
  }

  later() {
    if (this.socket || this.timer) return;
    const pause = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** this.failures);
    this.failures += 1;
    this.timer = setTimeout(() => this.open(), pause * (0.75 + Math.random() / 2));
  }

  hurry() {
    if (this.state === RECONNECTING && !this.socket) {
      this.failures = 0;
      this.open();
    } else {
      this.probeQuiet();
    }
  }

  /** Closes a connection that nothing comes through any more. */
  probeQuiet() {
    const { socket } = this;
    if (this.state !== CONNECTED || !socket || performance.now() - this.lastHeard < QUIET_MS) return;
    const asked = performance.now();
    this.call("thread/loaded/list", { limit: 1 }).catch(() => {});
    setTimeout(() => {
      if (this.socket === socket && this.lastHeard < asked) {
        socket.close();
        this.closed(socket);
      }
    }, ANSWER_MS);
  }
}
