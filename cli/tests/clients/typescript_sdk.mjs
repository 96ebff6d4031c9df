// Drives `trace exec` with the TypeScript SDK of the Codex CLI (npm @openai/codex-sdk).
//
//     node typescript_sdk.mjs --program PROGRAM --model URL [--profile trace|codex] [--place FOLDER]
//
// TRACE_NODE_MODULES names the folder with the SDK. URL is that of the scripted model. With `--profile codex --program codex` the same
// checks go against the Codex CLI; those that only `trace` passes are left out.

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";

const { values: options } = parseArgs({
  options: {
    program: { type: "string" },
    model: { type: "string" },
    profile: { type: "string", default: "trace" },
    place: { type: "string" },
  },
});
const modules = process.env.TRACE_NODE_MODULES;
const { Codex } = await import(pathToFileURL(path.join(modules, "@openai/codex-sdk/dist/index.js")));
const isTrace = options.profile === "trace";

const place = options.place ?? fs.mkdtempSync(path.join(os.tmpdir(), "typescript-sdk-"));
const folder = (name) => {
  const made = path.join(place, name);
  fs.mkdirSync(made, { recursive: true });
  return made;
};
const home = folder("home");
const work = folder("work");
const more = folder("more");
execFileSync("git", ["init", "-q", work]);

const model = {
  async ask(way, method = "GET") {
    const answer = await fetch(options.model.replace(/\/v1$/, way), { method });
    return answer.json();
  },
  async requests() {
    return (await this.ask("/requests")).filter((request) => request.path.endsWith("/responses"));
  },
  async last() {
    return (await this.requests()).at(-1);
  },
};

const python = path.join(import.meta.dirname, "notes_server.py");
const config = {
  model: "gpt-6.1-sol",
  model_provider: "stand_in",
  model_providers: {
    stand_in: {
      name: "stand-in",
      base_url: options.model,
      wire_api: "responses",
      request_max_retries: 1,
      stream_max_retries: 1,
      supports_websockets: false,
    },
  },
  features: { multi_agent_v2: true },
  tools: { update_plan: { enabled: true } },
  mcp_servers: { notes: { command: "python3", args: [python] } },
};
const env = {
  PATH: process.env.PATH,
  HOME: home,
  CODEX_HOME: home,
  TRACE_HOME: home,
  PYTHONDONTWRITEBYTECODE: "1",
};
const sdk = (overrides = {}) => new Codex({ codexPathOverride: options.program, env, config, ...overrides });
// The sandbox of the peer does not work in a home below the folder for temporary files, so commands run without one.
const usual = { workingDirectory: work, sandboxMode: "danger-full-access" };
const script = (...steps) => `go RUN ${JSON.stringify(steps)}`;
const shell = (cmd, rest = {}) => ({ call: "exec_command", args: { cmd, ...rest } });
const patch = (...lines) => ({ custom: "apply_patch", input: ["*** Begin Patch", ...lines, "*** End Patch", ""].join("\n") });
const plan = (...steps) => ({ call: "update_plan", args: { plan: steps.map(([step, status]) => ({ step, status })) } });

// The SDK writes the prompt without listening to errors, also to a program that has ended because its command line is wrong.
process.on("uncaughtException", (error) => {
  if (error.code !== "EPIPE") throw error;
});

const checks = [];
const check = (name, body, { ours = false } = {}) => checks.push({ name, body, ours });

async function streamed(thread, input, turn) {
  const events = [];
  for await (const event of (await thread.runStreamed(input, turn)).events) events.push(event);
  return events;
}
const items = (events, type, kind = "item.completed") =>
  events.filter((event) => event.type === kind && event.item.type === type).map((event) => event.item);
const without = (item) => Object.fromEntries(Object.entries(item).filter(([name]) => name !== "id"));

check("run gives the final response, the items and the usage", async () => {
  const turn = await sdk().startThread(usual).run(script([{ think: "hm" }, { say: "hello" }, { tokens: 1000 }]));
  assert.equal(turn.finalResponse, "hello");
  assert.deepEqual(turn.items.filter((item) => item.type !== "error").map((item) => item.type), ["reasoning", "agent_message"]);
  assert.deepEqual(
    { ...turn.usage, output_tokens: 0 },
    { input_tokens: 1000, cached_input_tokens: 500, cache_write_input_tokens: 0, output_tokens: 0, reasoning_output_tokens: 0 },
  );
  assert.ok(turn.usage.output_tokens > 0);
});

check("items of every type are streamed", async () => {
  const thread = sdk().startThread(usual);
  const events = await streamed(
    thread,
    script(
      [{ think: "I look" }, { say: "looking" }, shell("echo out"), { search: "news" }],
      [patch("*** Add File: new.txt", "+one"), plan(["look", "completed"], ["act", "in_progress"])],
      [shell("exit 3"), { call: "add", ns: "mcp__notes", args: { text: "milk" } }],
      [{ call: "fail", ns: "mcp__notes", args: { text: "bread" } }, plan(["look", "completed"], ["act", "completed"])],
      [{ say: "done" }],
    ),
  );
  assert.deepEqual([events[0].type, events.at(-1).type], ["thread.started", "turn.completed"]);
  assert.equal(thread.id, events[0].thread_id);
  assert.deepEqual(items(events, "reasoning").map(without), [{ type: "reasoning", text: "I look" }]);
  assert.deepEqual(items(events, "agent_message").map((item) => item.text), ["looking", "done"]);
  const commands = items(events, "command_execution");
  assert.deepEqual(commands.map((item) => [item.command, item.aggregated_output, item.exit_code, item.status]), [
    ["/bin/bash -lc 'echo out'", "out\n", 0, "completed"],
    ["/bin/bash -lc 'exit 3'", "", 3, "failed"],
  ]);
  assert.deepEqual(items(events, "command_execution", "item.started").map((item) => [item.id, item.exit_code, item.status]),
    commands.map((item) => [item.id, null, "in_progress"]));
  assert.deepEqual(items(events, "file_change").map(without), [
    { type: "file_change", changes: [{ path: path.join(work, "new.txt"), kind: "add" }], status: "completed" },
  ]);
  assert.equal(fs.readFileSync(path.join(work, "new.txt"), "utf8"), "one\n");
  const [added, failed] = items(events, "mcp_tool_call");
  assert.deepEqual([added.server, added.tool, added.arguments, added.status], ["notes", "add", { text: "milk" }, "completed"]);
  assert.deepEqual(added.result, { content: [{ type: "text", text: "add: milk" }], structured_content: null });
  assert.deepEqual([failed.status, failed.error, failed.result.content[0].text], ["failed", null, "fail: bread"]);
  assert.deepEqual(items(events, "web_search").map((item) => [item.query, item.action]), [["news", { type: "search", query: "news" }]]);
  const [list] = items(events, "todo_list");
  assert.deepEqual(list.items, [{ text: "look", completed: true }, { text: "act", completed: true }]);
  assert.equal(items(events, "todo_list", "item.started").length, 1);
  assert.equal(items(events, "todo_list", "item.updated").length, 1);
  assert.equal(events.at(-2).item.type, "todo_list");
});

check("the second run of a thread goes on with it", async () => {
  const thread = sdk().startThread(usual);
  await thread.run(script([{ say: "one" }, { tokens: 1000 }]));
  const { id } = thread;
  const second = await thread.run(script([{ say: "two" }, { tokens: 1000 }]));
  assert.equal(thread.id, id);
  assert.deepEqual([second.finalResponse, second.usage.input_tokens], ["two", 2000]);
  assert.ok(JSON.stringify((await model.last()).body.input).includes("one"));
});

check("a thread is resumed by its id in another process", async () => {
  const thread = sdk().startThread(usual);
  await thread.run(script([{ say: "the word is heron" }]));
  const resumed = sdk().resumeThread(thread.id, usual);
  const turn = await resumed.run("go on");
  assert.equal(resumed.id, thread.id);
  assert.equal(turn.finalResponse, "done");
  assert.ok(JSON.stringify((await model.last()).body.input).includes("heron"));
});

check("an unknown thread is an error", async () => {
  const resumed = sdk().resumeThread("01a20d7c-95f9-7481-85f6-66be81b013bf", usual);
  await assert.rejects(resumed.run("hi"), /Codex Exec exited with code 1: .*01a20d7c/s);
});

check("a schema of the answer reaches the model", async () => {
  const schema = {
    type: "object",
    properties: { answer: { type: "number" } },
    required: ["answer"],
    additionalProperties: false,
  };
  const turn = await sdk().startThread(usual).run(script([{ say: '{"answer":4}' }]), { outputSchema: schema });
  assert.deepEqual(JSON.parse(turn.finalResponse), { answer: 4 });
  const { format } = (await model.last()).body.text;
  assert.deepEqual([format.type, format.strict, format.schema], ["json_schema", true, schema]);
});

check("texts and images of an input reach the model", async () => {
  const image = path.join(place, "dot.png");
  fs.writeFileSync(image, Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "base64"));
  await sdk().startThread(usual).run([
    { type: "text", text: "first part" },
    { type: "local_image", path: image },
    { type: "text", text: "second part" },
    { type: "local_image", path: image },
  ]);
  const content = (await model.last()).body.input.filter((item) => item.role === "user").at(-1).content;
  assert.equal(content.filter((part) => part.type === "input_image").length, 2);
  assert.ok(content.find((part) => part.type === "input_image").image_url.startsWith("data:image/png;base64,"));
  assert.equal(content.at(-1).text, "first part\n\nsecond part");
});

check("an image that is missing is an error", async () => {
  const input = [{ type: "local_image", path: path.join(place, "no.png") }];
  await assert.rejects(sdk().startThread(usual).run(input), /exited with code 1/);
}, { ours: true });

check("a turn that fails rejects with its error", async () => {
  const thread = sdk().startThread(usual);
  const events = await streamed(thread, script([{ status: 400, message: "no such thing" }])).catch((error) => error);
  assert.ok(events instanceof Error && /exited with code 1/.test(events.message), String(events));
  await assert.rejects(sdk().startThread(usual).run(script([{ status: 400, message: "no such thing" }])), /no such thing/);
});

check("tries that fail are told of, and the turn goes on", async () => {
  const once = `sdk-${process.pid}`;
  const events = await streamed(sdk().startThread(usual), script([{ say: "half" }, { drop: true, once }], [{ say: "whole" }]));
  const errors = events.filter((event) => event.type === "error");
  assert.equal(errors.length, 1);
  assert.match(errors[0].message, /^Reconnecting\.\.\. 1\/1 \(.+\)$/);
  assert.equal(items(events, "agent_message").at(-1).text, "whole");
});

const isGone = (marker) => {
  try {
    return execFileSync("pgrep", ["-f", marker]).toString().trim() === "";
  } catch {
    return true;
  }
};
const until = async (condition, what) => {
  for (let tries = 0; tries < 400; tries += 1) {
    if (condition()) return;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  assert.fail(`in vain: ${what}`);
};

check("an aborted turn ends its commands, and the thread can be resumed", async () => {
  const controller = new AbortController();
  const thread = sdk().startThread(usual);
  const marker = `sleep 7${process.pid}`;
  const { events } = await thread.runStreamed(script([{ say: "before" }, shell(marker)], [{ say: "after" }]), {
    signal: controller.signal,
  });
  await assert.rejects(async () => {
    for await (const event of events) {
      if (event.type === "item.started" && event.item.type === "command_execution") controller.abort();
    }
  }, /abort/i);
  await until(() => isGone(marker), "the command ends");
  const turn = await sdk().resumeThread(thread.id, usual).run("go on without a script");
  assert.ok(turn.finalResponse);
  assert.ok(JSON.stringify((await model.last()).body.input).includes("before"));
});

check("leaving the events early ends the program", async () => {
  const marker = `sleep 8${process.pid}`;
  const { events } = await sdk().startThread(usual).runStreamed(script([shell(marker)], [{ say: "after" }]));
  for await (const event of events) if (event.type === "item.started") break;
  await until(() => isGone(marker), "the command ends");
});

for (const [signal, code, name] of [["SIGTERM", null, "SIGTERM"], ["SIGINT", 1, null]]) {
  check(`${signal} ends the program without a further event`, async () => {
    const marker = `sleep 9${process.pid}`;
    const overrides = [`model_providers.stand_in={name="s",base_url="${options.model}",supports_websockets=false}`, "model_provider=stand_in"];
    const child = spawn(options.program, ["exec", "--json", "-s", "danger-full-access", ...overrides.flatMap((text) => ["-c", text]), "-"], {
      cwd: work,
      env,
    });
    child.stdin.end(script([shell(marker)], [{ say: "after" }]));
    let output = "";
    const ended = new Promise((resolve) => child.once("close", (...how) => resolve(how)));
    child.stdout.on("data", (data) => {
      output += data;
      if (output.includes("in_progress")) child.kill(signal);
    });
    assert.deepEqual(await ended, [code, name]);
    const last = JSON.parse(output.trim().split("\n").at(-1));
    assert.equal(last.type, "item.started");
    await until(() => isGone(marker), "the command ends");
  });
}

check("additional folders can be written to, others cannot", async () => {
  const outside = folder("outside");
  // Folders for temporary files are writable otherwise, and this one is below them.
  const closed = { exclude_slash_tmp: true, exclude_tmpdir_env_var: true };
  const thread = sdk({ config: { ...config, sandbox_workspace_write: closed } }).startThread({ workingDirectory: work, sandboxMode: "workspace-write", additionalDirectories: [more] });
  const events = await streamed(thread, script(
    [shell(`echo a > ${more}/a`)],
    [shell(`echo b > ${outside}/b`)],
    [{ say: "done" }],
  ));
  const codes = items(events, "command_execution").map((item) => item.exit_code);
  assert.deepEqual([codes[0], codes[1] !== 0], [0, true]);
  assert.ok(fs.existsSync(`${more}/a`) && !fs.existsSync(`${outside}/b`));
}, { ours: true });

check("without a mode, commands cannot write", async () => {
  const events = await streamed(sdk().startThread({ workingDirectory: work }), script([shell("echo a > written")], [{ say: "done" }]));
  assert.notEqual(items(events, "command_execution")[0].exit_code, 0);
  assert.ok(!fs.existsSync(path.join(work, "written")));
}, { ours: true });

check("what is refused is an item", async () => {
  const thread = sdk().startThread({ workingDirectory: work, sandboxMode: "workspace-write" });
  const events = await streamed(thread, script(
    [shell("echo x", { sandbox_permissions: "require_escalated", justification: "I want to" })],
    [patch("*** Update File: none.txt", "@@", "-a", "+b")],
    [{ say: "done" }],
  ));
  assert.deepEqual(items(events, "command_execution").map((item) => [item.status, item.exit_code]), [["declined", null]]);
  assert.deepEqual(items(events, "file_change").map((item) => [item.status, item.changes]), [
    ["failed", [{ path: path.join(work, "none.txt"), kind: "update" }]],
  ]);
}, { ours: true });

check("agents are items if the configuration says so", async () => {
  const child = script([{ say: "the child is done" }]);
  const steps = [
    [{ call: "spawn_agent", ns: "collaboration", args: { task_name: "kid", message: child, fork_turns: "none" } }],
    [{ call: "wait_agent", ns: "collaboration", args: { timeout_ms: 20000 } }],
    [{ say: "done" }],
  ];
  const tools = async (more) =>
    items(await streamed(sdk({ config: { ...config, ...more } }).startThread(usual), script(...steps)), "collab_tool_call").map((item) => item.tool);
  assert.deepEqual(await tools({}), ["wait"]);
  assert.deepEqual(await tools({ exec: { agents: true } }), ["spawn_agent", "wait"]);
}, { ours: true });

check("an address and a key of the SDK are used", async () => {
  const codex = new Codex({ codexPathOverride: options.program, env, baseUrl: options.model, apiKey: "sk-from-the-sdk", config: { model: "gpt-6.1-sol" } });
  const turn = await codex.startThread(usual).run(script([{ say: "hello" }]));
  assert.equal(turn.finalResponse, "hello");
  const { headers } = await model.last();
  const header = (name) => Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
  assert.equal(header("authorization"), "Bearer sk-from-the-sdk");
  assert.equal(header("originator"), "codex_sdk_ts");
  assert.ok(header("user-agent").startsWith("codex_sdk_ts/"), header("user-agent"));
});

check("options of a thread become settings of the request", async () => {
  const thread = sdk().startThread({
    ...usual,
    model: "gpt-6.1-sol",
    modelReasoningEffort: "high",
    networkAccessEnabled: true,
    webSearchMode: "disabled",
    approvalPolicy: "on-request",
    threadSource: "a-test",
  });
  const turn = await thread.run(script([shell("echo x", { sandbox_permissions: "require_escalated", justification: "j" })], [{ say: "done" }]));
  assert.equal(turn.finalResponse, "done");
  assert.equal((await model.last()).body.reasoning.effort, "high");
});

check("a folder outside of a repository needs a word", async () => {
  const bare = fs.mkdtempSync(path.join(os.tmpdir(), "bare-"));
  const thread = (skipGitRepoCheck) => sdk().startThread({ ...usual, workingDirectory: bare, skipGitRepoCheck });
  await assert.rejects(thread(false).run(script([{ say: "x" }])), /exited with code 1: .*--skip-git-repo-check/s);
  assert.equal((await thread(true).run(script([{ say: "x" }]))).finalResponse, "x");
  fs.rmSync(bare, { recursive: true });
});

check("wrong values are errors before anything runs", async () => {
  const before = (await model.requests()).length;
  const wrong = [
    sdk({ configOverrides: ["sandbox_mode=3"] }).startThread(usual),
    sdk().startThread({ ...usual, approvalPolicy: "untrusted" }),
    sdk().startThread({ ...usual, workingDirectory: path.join(place, "nowhere") }),
  ];
  for (const thread of wrong) await assert.rejects(thread.run("hi"), /exited with code 1/);
  await assert.rejects(sdk().startThread({ ...usual, sandboxMode: "open" }).run("hi"), /exited with code 2/);
  assert.equal((await model.requests()).length, before);
});

check("keys that are not known are told of, and nothing else", async () => {
  const args = ["exec", "--json", "-c", "modle=x", "-c", `openai_base_url="${options.model}"`, "-"];
  const child = spawn(options.program, args, { cwd: work, env });
  child.stdin.end(script([{ say: "hello" }]));
  let [output, errors] = ["", ""];
  child.stdout.on("data", (data) => (output += data));
  child.stderr.on("data", (data) => (errors += data));
  const code = await new Promise((resolve) => child.once("close", resolve));
  assert.equal(code, 0, errors);
  assert.match(errors, /warning: `modle` is not a known key/);
  assert.deepEqual(output.trim().split("\n").map((line) => JSON.parse(line).type), [
    "thread.started", "turn.started", "item.completed", "turn.completed",
  ]);
}, { ours: true });

check("four threads run at the same time", async () => {
  const turns = await Promise.all([1, 2, 3, 4].map((number) => sdk().startThread(usual).run(script([shell(`echo ${number}`)], [{ say: `${number}` }]))));
  assert.deepEqual(turns.map((turn) => turn.finalResponse), ["1", "2", "3", "4"]);
});

let failed = 0;
let passed = 0;
for (const { name, body, ours } of checks) {
  if (ours && !isTrace) continue;
  try {
    await body();
    passed += 1;
  } catch (error) {
    failed += 1;
    console.log(`FAILED ${name}\n${error.stack}`);
  }
}
console.log(`${passed} of ${passed + failed} checks of the TypeScript SDK pass`);
if (failed) {
  console.log(`what happened is in ${place}`);
  process.exit(1);
}
if (!options.place) fs.rmSync(place, { recursive: true, force: true });
