// A small client of the app-server: one prompt, its answer, and questions in between.
//
//     npm install && npm run build
//     node build/client.js "Count the files here"
//     node build/client.js --server "codex app-server" "Count the files here"
//
// It starts the server, speaks the protocol over its stdin and stdout, one JSON message a line, and prints what happens: what the
// agent says, which commands it runs, which files it changes. When the agent needs an approval, it asks you. The types are those that
// `trace schema --ts` writes; nothing else is needed at run time.

import { type ChildProcessByStdio, spawn } from "node:child_process";
import { resolve } from "node:path";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { parseArgs } from "node:util";

import type { ClientRequest } from "../../../docs/protocol/typescript/ClientRequest";
import type { ClientResults } from "../../../docs/protocol/typescript/ClientResults";
import type { ServerNotification } from "../../../docs/protocol/typescript/ServerNotification";
import type { ServerRequest } from "../../../docs/protocol/typescript/ServerRequest";
import type { ThreadItem } from "../../../docs/protocol/typescript/ThreadItem";

type Method = ClientRequest["method"];
type Params<M extends Method> = Extract<ClientRequest, { method: M }>["params"];
type Failure = { code: number; message: string };
type Waiting = { done: (result: unknown) => void; failed: (error: Error) => void };

/** A server that this program started. */
class Server {
  private readonly process: ChildProcessByStdio<Writable, Readable, null>;
  private readonly waiting = new Map<number, Waiting>();
  private nextId = 0;
  /** Called with every notification, in order. */
  heard: (notification: ServerNotification) => void = () => {};
  /** Called with every question. The server waits for the answer. */
  asked: (request: ServerRequest) => void = () => {};

  constructor(command: string) {
    this.process = spawn(command, { shell: true, stdio: ["pipe", "pipe", "inherit"] });
    // A server that could not start ends the calls below.
    this.process.stdin.on("error", () => {});
    createInterface({ input: this.process.stdout }).on("line", (line) => this.receive(JSON.parse(line)));
    this.process.on("exit", () => {
      for (const { failed } of this.waiting.values()) failed(new Error("the server has ended"));
    });
  }

  private receive(message: { id?: number; method?: string; result?: unknown; error?: Failure }) {
    if (message.method !== undefined) {
      if (message.id === undefined) this.heard(message as ServerNotification);
      else this.asked(message as ServerRequest);
      return;
    }
    const waiting = this.waiting.get(message.id ?? -1);
    this.waiting.delete(message.id ?? -1);
    if (message.error) waiting?.failed(new Error(message.error.message));
    else waiting?.done(message.result);
  }

  send(message: object) {
    this.process.stdin.write(`${JSON.stringify(message)}\n`);
  }

  /** Sends a request and returns its result. */
  call<M extends Method & keyof ClientResults>(method: M, params: Params<M>): Promise<ClientResults[M]> {
    const id = ++this.nextId;
    return new Promise((done, failed) => {
      this.waiting.set(id, { done: (result) => done(result as ClientResults[M]), failed });
      this.send({ id, method, params });
    });
  }

  /** Closes the connection. The server ends when its only client leaves. */
  close() {
    this.process.stdin.end();
  }
}

/** Prints an item that is complete. What the agent says was printed while it arrived. */
function show(item: ThreadItem) {
  switch (item.type) {
    case "agentMessage":
      return console.log();
    case "commandExecution":
      console.log(`$ ${item.command}  [${item.status}, exit code ${item.exitCode}]`);
      return process.stdout.write((item.aggregatedOutput ?? "").replace(/^(?=.)/gm, "  "));
    case "fileChange":
      return item.changes.forEach((change) => console.log(`~ ${change.path}  [${item.status}]`));
    case "mcpToolCall":
      return console.log(`* ${item.server}.${item.tool}  [${item.status}]`);
  }
}

/** Asks the person at the terminal. Without a terminal, the answers are lines of a file or a pipe, and have to be shown. */
async function may(answers: AsyncIterator<string>, question: string): Promise<boolean> {
  process.stdout.write(`? ${question} [y/N] `);
  const line = await answers.next();
  const answer = line.done ? "" : line.value.trim();
  if (!process.stdin.isTTY) console.log(answer);
  return /^y(es)?$/i.test(answer);
}

/** Answers a question of the server. */
async function answer(server: Server, answers: AsyncIterator<string>, request: ServerRequest) {
  const reason = (text?: string | null) => (text ? ` (${text})` : "");
  let allowed: boolean;
  switch (request.method) {
    case "item/commandExecution/requestApproval":
      allowed = await may(answers, `run \`${request.params.command}\`${reason(request.params.reason)}`);
      break;
    case "item/fileChange/requestApproval":
      allowed = await may(answers, `change files${reason(request.params.reason)}`);
      break;
    default: {
      const error: Failure = { code: -32601, message: `this client does not answer ${request.method}` };
      return server.send({ id: request.id, error });
    }
  }
  server.send({ id: request.id, result: { decision: allowed ? "accept" : "decline" } });
}

/** Runs one turn. Returns the exit code of this program. */
async function run(server: Server, answers: AsyncIterator<string>, prompt: string, cwd: string): Promise<number> {
  await server.call("initialize", { clientInfo: { name: "sample-typescript", version: "1.0.0" } });
  server.send({ method: "initialized" });
  const { thread } = await server.call("thread/start", { cwd });
  server.asked = (request) => void answer(server, answers, request);
  const ended = new Promise<string>((done) => {
    server.heard = (notification) => {
      switch (notification.method) {
        case "item/agentMessage/delta":
          return process.stdout.write(notification.params.delta);
        case "item/completed":
          return show(notification.params.item);
        case "error":
          return console.error(`! ${notification.params.error.message}`);
        case "turn/completed":
          if (notification.params.threadId === thread.id) done(notification.params.turn.status);
      }
    };
  });
  await server.call("turn/start", { threadId: thread.id, input: [{ type: "text", text: prompt }] });
  const status = await ended;
  console.log(`turn ${status}`);
  return status === "completed" ? 0 : 1;
}

const { values, positionals } = parseArgs({
  options: { server: { type: "string", default: "trace serve" }, cwd: { type: "string", default: "." } },
  allowPositionals: true,
});
const [prompt] = positionals;
if (prompt === undefined) {
  console.error('usage: client.js [--server COMMAND] [--cwd FOLDER] "PROMPT"');
  process.exit(2);
}
const server = new Server(values.server);
const terminal = createInterface({ input: process.stdin });
process.exitCode = await run(server, terminal[Symbol.asyncIterator](), prompt, resolve(values.cwd)).catch((error: Error) => {
  console.error(error.message);
  return 1;
});
server.close();
terminal.close();
