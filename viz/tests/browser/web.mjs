/**
 * Starts the real server with its web client, and opens its page in the browser.
 *
 * Turns are made by the scripted provider. A turn waits on a file (`gate`), so no test depends on how long something takes.
 */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import path from "node:path";
import { createInterface } from "node:readline";
import { after } from "node:test";

import { close, launch, setup, until, watch } from "./harness.mjs";

const servers = [];

after(async () => {
  for (const server of servers) server.process.kill("SIGKILL");
  await close();
});

/** Returns a new folder for a server: its home, and the folder in which its agents work. */
export function folder() {
  const place = mkdtempSync(path.join(setup.place, "web-"));
  const [home, work] = ["home", "work"].map((name) => path.join(place, name));
  mkdirSync(work);
  return { place, home, work };
}

/**
 * Starts a server.
 *
 * @param {{at?: object, port?: number, more?: string[]}} options
 */
export async function start({ at = folder(), port = 0, more = [] } = {}) {
  // Start-up files of the shell belong to the person who runs the tests, and may do anything.
  const env = { ...process.env, HOME: at.place, TRACE_HOME: at.home, TRACE_ROOT: "", OPENAI_API_KEY: "" };
  const args = ["serve", "--listen", `ws://127.0.0.1:${port}`, "--provider", "scripted", "--web", ...more];
  const server = { ...at, at, process: spawn(setup.trace, args, { cwd: at.work, env, stdio: ["ignore", "ignore", "pipe"] }), told: "" };
  servers.push(server);
  const ended = once(server.process, "exit").then(([code]) => assert.fail(`trace serve exited with ${code}: ${server.told}`));
  const banner = (async () => {
    for await (const line of createInterface({ input: server.process.stderr })) {
      server.told += `${line}\n`;
      server.url ??= line.match(/web: (http:\/\/\S+)/)?.[1];
      if (line.includes("sessions are recorded") && server.url) return;
    }
    await ended;
  })();
  await Promise.race([banner, ended]);
  ended.catch(() => {});
  const { host, port: real } = new URL(server.url);
  return Object.assign(server, {
    host,
    port: Number(real),
    token: new URL(server.url).hash.replace("#token=", ""),
    stop: async (signal = "SIGTERM") => {
      const gone = once(server.process, "exit");
      server.process.kill(signal);
      await gone;
    },
  });
}

/** Opens the page of a server and waits until it is connected. */
export async function openClient(url, options = {}) {
  const context = await (await launch()).newContext({ viewport: { width: 1400, height: 900 }, reducedMotion: "reduce", ...options });
  const page = await context.newPage();
  const doings = watch(page);
  await page.addInitScript(() => {
    window.refusals = [];
    document.addEventListener("securitypolicyviolation", (event) => window.refusals.push(`${event.effectiveDirective}: ${event.blockedURI || event.sample}`));
  });
  await page.goto(url);
  await connected(page);
  return { page, context, doings };
}

/** Waits until a page is connected. */
export async function connected(page) {
  await until(async () => (await status(page).textContent()) === "connected", "the page is connected");
}

export const status = (page) => page.getByRole("status", { name: "Connection" });
export const log = (page) => page.getByRole("log", { name: "Conversation" });
export const articles = (page, name) => log(page).getByRole("article", { name, exact: true });
export const message = (page) => page.getByRole("textbox", { name: "Message" });
export const button = (page, name) => page.getByRole("button", { name, exact: true });
export const approval = (page) => page.getByRole("group", { name: "Approval" });
export const threads = (page) => page.getByRole("navigation", { name: "Threads" });

/** Writes a message and sends it with Enter. */
export async function say(page, text) {
  await message(page).fill(text);
  await message(page).press("Enter");
}

/** Returns a message with a script for the model. */
export function script(steps, words = "please") {
  return `${words} RUN ${JSON.stringify(steps)}`;
}

export const shell = (cmd, more = {}) => ({ call: "exec_command", args: { cmd, ...more } });

/** A command that needs an approval. */
export const escalated = (cmd, justification) => shell(cmd, { sandbox_permissions: "require_escalated", justification });

export const patch = (file, text) => ({ custom: "apply_patch", input: `*** Begin Patch\n*** Add File: ${file}\n+${text}\n*** End Patch` });

/** A command that waits until `open` is called. */
export function gate(server, name) {
  const file = path.join(server.place, name);
  return {
    action: shell(`while [ ! -e '${file}' ]; do sleep 0.05; done; echo ${name} is open`, { yield_time_ms: 30_000 }),
    open: () => writeFileSync(file, ""),
  };
}

/** Waits until the newest article of a kind has a text. */
export async function hears(page, name, text) {
  await until(async () => (await articles(page, name).allInnerTexts()).some((one) => one.includes(text)), `an article ${name} says ${text}`);
}

/** Waits until no turn runs. */
export async function idle(page) {
  await until(async () => (await button(page, "Stop").isHidden()) && (await page.evaluate(() => window.traceClient.session.conversation?.turn === "")), "the turn has ended");
}

/** Returns the id of the open thread. */
export const openThread = (page) => page.evaluate(() => window.traceClient.session.conversation?.thread ?? null);

/** Checks that a page caused no errors, no dialogs, and no violations of its content security policy. */
export async function assertCalm(page, doings, { except = /$^/ } = {}) {
  assert.deepEqual(doings.errors.filter((error) => !except.test(error)), [], "console errors");
  assert.deepEqual(doings.dialogs, [], "dialogs");
  assert.deepEqual(await page.evaluate(() => window.refusals), [], "violations of the content security policy");
}
