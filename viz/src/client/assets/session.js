/**
 * What the page works with: the connection, the threads, the conversation that is open, and the requests that wait. Panels
 * listen to its events and call its methods.
 *
 * Events: `state` (of the connection), `threads`, `open` (another thread), `conversation` (with the kind of change and the
 * entry), `requests`, `queue`, `notice` (with a text).
 */

import { CONNECTED, Connection, Refusal } from "./connection.js";
import { Conversation } from "./conversation.js";
import { Requests } from "./requests.js";
import { Threads } from "./threads.js";

/** Threads that are listed at a time. */
const THREADS_PER_PAGE = 40;

/** Turns that are requested at a time when older ones are shown. */
const TURNS_PER_PAGE = 10;

/** Pause before the list of threads is read again, in milliseconds. Changes that come together cause one request. */
const LIST_PAUSE_MS = 150;

export class Session {
  /**
   * @param {string} url of the WebSocket
   * @param {string} probe URL that says whether the token is good
   */
  constructor(url, probe) {
    this.listeners = new Map();
    this.threads = new Threads();
    this.requests = new Requests();
    this.requests.onChange = () => this.emit("requests");
    /** The conversation that is open, or null for a new thread. */
    this.conversation = null;
    this.models = [];
    this.queue = [];
    this.folder = "";
    this.subscribed = new Set();
    this.listTimer = 0;
    this.connection = new Connection(url, probe, {
      onState: (state) => this.emit("state", state),
      onOpen: () => this.connected(),
      onNotification: (method, params) => this.told(method, params),
      onRequest: (id, method, params) => this.asked(id, method, params),
    });
  }

  on(event, listener) {
    if (!this.listeners.has(event)) this.listeners.set(event, []);
    this.listeners.get(event).push(listener);
  }

  emit(event, ...details) {
    for (const listener of this.listeners.get(event) ?? []) listener(...details);
  }

  notice(text) {
    this.emit("notice", text);
  }

  get isConnected() {
    return this.connection.state === CONNECTED;
  }

  /** The thread that is open, as the list knows it. Null for a new thread. */
  get thread() {
    return this.conversation ? (this.threads.get(this.conversation.thread) ?? null) : null;
  }

  /** Says whether the agent of the open thread takes messages of a person. */
  get takesInput() {
    return this.conversation === null || this.thread?.canAcceptDirectInput !== false;
  }

  /** Called after each connect: everything is asked for again. */
  async connected() {
    this.subscribed.clear();
    this.requests.clear();
    const [models] = await Promise.all([this.connection.call("model/list", {}).catch(() => ({ data: [] })), this.list()]);
    this.models = (models.data ?? []).filter((model) => !model.hidden);
    this.emit("models");
    if (this.conversation) await this.resume(this.conversation);
  }

  /** Reads the list of threads and of the agents in the trees that are shown. */
  async list() {
    clearTimeout(this.listTimer);
    this.listTimer = 0;
    const open = this.conversation ? this.threads.rootOf(this.conversation.thread) : null;
    const { data, nextCursor } = await this.connection.call("thread/list", { limit: THREADS_PER_PAGE, sortKey: "updated_at" });
    this.threads.takeRoots(data, nextCursor, open);
    this.emit("threads");
    const busy = data.filter(({ id, status }) => status?.type === "active" || id === open).map(({ id }) => id);
    if (open && !busy.includes(open)) busy.push(open);
    await Promise.all(busy.map((root) => this.listAgents(root)));
    this.emit("threads");
  }

  async listAgents(root) {
    let cursor = null;
    do {
      const page = await this.connection.call("thread/list", { ancestorThreadId: root, limit: 100, cursor }).catch(() => ({ data: [] }));
      for (const thread of page.data) this.threads.take(thread);
      cursor = page.nextCursor ?? null;
    } while (cursor);
  }

  async listMore() {
    const { data, nextCursor } = await this.connection.call("thread/list", { limit: THREADS_PER_PAGE, sortKey: "updated_at", cursor: this.threads.cursor });
    this.threads.takeMoreRoots(data, nextCursor);
    this.emit("threads");
  }

  /** Reads the list again soon. */
  listSoon() {
    this.listTimer ||= setTimeout(() => this.list().catch(() => (this.listTimer = 0)), LIST_PAUSE_MS);
  }

  /**
   * Opens a thread, or a new one that begins with its first message.
   *
   * @param {string|null} id
   */
  async open(id) {
    if (id === (this.conversation?.thread ?? null) && this.conversation !== null) return;
    const conversation = id ? new Conversation(id) : null;
    this.leaveAllBut(id);
    this.conversation = conversation;
    this.queue = [];
    if (conversation) this.follow(conversation);
    this.emit("open");
    if (conversation && this.isConnected) await this.resume(conversation);
  }

  follow(conversation) {
    conversation.onChange = (kind, entry) => {
      if (this.conversation === conversation) this.emit("conversation", kind, entry);
    };
  }

  /** Ends the subscriptions to threads that are not shown, and forgets their requests. */
  leaveAllBut(id) {
    const kept = new Set(id ? [id, this.threads.rootOf(id)] : []);
    for (const thread of this.subscribed) {
      if (kept.has(thread)) continue;
      this.subscribed.delete(thread);
      this.connection.call("thread/unsubscribe", { threadId: thread }).catch(() => {});
    }
    for (const { id: request, params } of this.requests.all) {
      if (!kept.has(this.threads.rootOf(params.threadId))) this.requests.resolved(request);
    }
  }

  /** Joins a thread: replaces what the page shows by what the server has, and follows it from there. */
  async resume(conversation) {
    const threadId = conversation.thread;
    let resumed;
    try {
      resumed = await this.connection.call("thread/resume", {
        threadId,
        excludeTurns: true,
        initialTurnsPage: { limit: 1, sortDirection: "desc", itemsView: "full" },
      });
    } catch (error) {
      if (error instanceof Refusal) {
        conversation.replace([], null);
        this.notice(`This thread cannot be opened: ${error.message}`);
        return;
      }
      throw error;
    }
    if (this.conversation !== conversation) {
      // Another thread was opened meanwhile.
      this.connection.call("thread/unsubscribe", { threadId }).catch(() => {});
      return;
    }
    this.subscribed.add(threadId);
    this.threads.take(resumed.thread);
    this.folder = resumed.cwd ?? "";
    conversation.settings = { model: resumed.model, cwd: resumed.cwd, sandbox: resumed.sandbox?.type, approvals: resumed.approvalPolicy, mode: resumed.collaborationMode?.mode };
    const page = resumed.initialTurnsPage ?? { data: [] };
    conversation.replace([...page.data].reverse(), page.nextCursor);
    this.emit("open-settings");
    // Requests of all agents of a tree go to the subscribers of its root.
    const root = this.threads.rootOf(threadId);
    if (root !== threadId && !this.subscribed.has(root)) {
      this.subscribed.add(root);
      const joined = await this.connection.call("thread/resume", { threadId: root, excludeTurns: true }).catch(() => null);
      if (joined) this.threads.take(joined.thread);
    }
    await this.listAgents(root);
    await this.readQueue(threadId);
    this.emit("threads");
  }

  /** Requests older turns. Returns how many items they have. */
  async older() {
    const { conversation } = this;
    if (!conversation?.olderCursor) return 0;
    const page = await this.connection.call("thread/turns/list", {
      threadId: conversation.thread,
      cursor: conversation.olderCursor,
      limit: TURNS_PER_PAGE,
      sortDirection: "desc",
      itemsView: "full",
    });
    return conversation.addOlder([...page.data].reverse(), page.nextCursor);
  }

  /**
   * Sends a message: it starts a turn, or joins the running one. `settings` are those of a new thread, or change the
   * model.
   *
   * @param {object[]} input
   * @param {{model?: string, mode?: string, cwd?: string, sandbox?: string, approvalPolicy?: string}} settings
   */
  async send(input, settings) {
    const clientUserMessageId = crypto.randomUUID();
    if (!this.conversation) await this.begin(settings);
    const { conversation } = this;
    const threadId = conversation.thread;
    if (conversation.turn) {
      try {
        await this.connection.call("turn/steer", { threadId, expectedTurnId: conversation.turn, input, clientUserMessageId });
        return;
      } catch (error) {
        // The turn may have ended meanwhile, and then the message starts the next one.
        if (!(error instanceof Refusal) || !/no active turn|expected active turn/.test(error.message)) throw error;
      }
    }
    // What is sent with a turn holds for later ones, too, so only changes are sent.
    const known = (conversation.settings ??= {});
    const changes = {};
    if (settings.model && settings.model !== known.model) changes.model = settings.model;
    if (settings.mode && settings.mode !== (known.mode ?? "default")) {
      changes.collaborationMode = { mode: settings.mode, settings: { model: settings.model || known.model, reasoning_effort: null, developer_instructions: null } };
    }
    await this.connection.call("turn/start", { threadId, input, clientUserMessageId, ...changes });
    known.model = settings.model || known.model;
    known.mode = settings.mode ?? known.mode;
  }

  async begin({ model, cwd, sandbox, approvalPolicy }) {
    const given = Object.fromEntries(Object.entries({ model, cwd, sandbox, approvalPolicy }).filter(([, value]) => value));
    const started = await this.connection.call("thread/start", given);
    const conversation = new Conversation(started.thread.id);
    conversation.settings = { model: started.model, cwd: started.cwd, sandbox: started.sandbox?.type, approvals: started.approvalPolicy };
    this.subscribed.add(conversation.thread);
    const thread = this.threads.take(started.thread);
    if (!this.threads.roots.includes(thread.id)) this.threads.roots.unshift(thread.id);
    this.conversation = conversation;
    this.queue = [];
    this.follow(conversation);
    this.emit("open");
    this.emit("threads");
  }

  /** Queues a message: it gets a turn of its own after the running one. */
  async enqueue(input) {
    const threadId = this.conversation.thread;
    await this.connection.call("thread/queue/add", { threadId, input, clientUserMessageId: crypto.randomUUID() });
    await this.readQueue(threadId);
  }

  async dequeue(queuedSubmissionId) {
    const threadId = this.conversation.thread;
    await this.connection.call("thread/queue/delete", { threadId, queuedSubmissionId });
    await this.readQueue(threadId);
  }

  async readQueue(threadId) {
    const { data } = await this.connection.call("thread/queue/list", { threadId }).catch(() => ({ data: [] }));
    if (this.conversation?.thread !== threadId) return;
    this.queue = data ?? [];
    this.emit("queue");
  }

  /** Interrupts the running turn. */
  async stop() {
    const { conversation } = this;
    if (!conversation?.turn) return;
    await this.connection.call("turn/interrupt", { threadId: conversation.thread, turnId: conversation.turn });
  }

  async rename(id, name) {
    await this.connection.call("thread/name/set", { threadId: id, name });
  }

  async archive(id) {
    await this.connection.call("thread/archive", { threadId: id });
  }

  /** Answers a request of the server. Another client may have been faster, in which case the answer has no effect. */
  answer(asked, result) {
    if (!this.connection.answer(asked.id, result)) {
      this.notice("There is no connection: the answer was not sent.");
      return;
    }
    asked.isSent = true;
    this.emit("requests");
  }

  asked(id, method, params) {
    const answer = this.requests.take(id, method, params);
    if (answer?.result) this.connection.answer(id, answer.result);
    else if (answer) this.connection.refuse(id, answer.error);
    else this.emit("asked", method, params);
  }

  told(method, params) {
    const id = params.threadId ?? params.thread?.id;
    switch (method) {
      case "serverRequest/resolved":
        this.requests.resolved(params.requestId);
        return;
      case "thread/status/changed":
        if (!this.threads.setStatus(id, params.status)) this.listSoon();
        this.emit("threads");
        return;
      case "thread/started":
        // A thread without a parent is listed with its first turn.
        this.threads.take(params.thread);
        this.emit("threads");
        return;
      case "thread/name/updated": {
        const thread = this.threads.get(id);
        if (thread) thread.name = params.threadName ?? null;
        this.emit("threads");
        return;
      }
      case "thread/archived":
      case "thread/deleted":
        this.threads.remove(id);
        this.emit("threads");
        if (this.conversation?.thread === id) {
          this.notice("This thread was archived or deleted.");
          this.open(null);
        }
        return;
      case "thread/unarchived":
        this.listSoon();
        return;
      case "thread/queue/changed":
        if (this.conversation?.thread === id) this.readQueue(id);
        return;
      case "thread/reverted":
        if (this.conversation?.thread === id) this.resume(this.conversation).catch(() => {});
        return;
      case "warning":
      case "configWarning":
        this.notice(params.message ?? [params.summary, params.details].filter(Boolean).join(": "));
        return;
      default:
    }
    const { item } = params;
    if (item?.type === "subAgentActivity") {
      this.threads.takeAgent(item.agentThreadId, item.agentPath, id);
      this.emit("threads");
    }
    // The list has the roots that worked last first. Agents of a large tree work all the time, and do not change it.
    if ((method === "turn/started" || method === "turn/completed") && !this.threads.get(id)?.parentThreadId) this.listSoon();
    if (id && this.conversation?.thread === id) this.conversation.apply(method, params);
  }
}
