/**
 * Starts a real browser on pages that the real binary made, and records what they do.
 *
 * `cli/tests/browser` runs the scripts in this folder. It sets `TRACE_BROWSER_TEST` to a JSON document with `trace`
 * (the binary), `chromium`, `modules` (where playwright-core and axe-core are), `bundles` (directories by name), and
 * `files` (their pages, by name). With that variable, `node SCRIPT` runs a script by hand.
 *
 * No script sleeps for a fixed time: `until` waits for a condition, and its timeout only makes a broken page fail.
 */

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import { pathToFileURL } from "node:url";

/** Timeout of a condition, generous enough for a busy machine. */
export const PATIENCE_MS = 30_000;

/** The input of the scripts. */
export const setup = JSON.parse(process.env.TRACE_BROWSER_TEST ?? "null");
if (!setup) throw new Error("TRACE_BROWSER_TEST is not set; `cargo test -p trace-cli --test browser` sets it");

const require = createRequire(path.join(setup.modules, "resolve.js"));
const { chromium } = require("playwright-core");

/** The script with the accessibility rules, which runs in the page. */
export const axe = () => readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

let browser = null;
const served = [];

/** Ends the processes that a script started. */
export async function close() {
  for (const process of served) process.kill("SIGKILL");
  await browser?.close();
}

/** Returns the one browser of a script. */
export async function launch() {
  browser ??= await chromium.launch({
    executablePath: setup.chromium,
    // Chromium's own sandbox does not start for root, and a small /dev/shm is not enough for it.
    args: ["--disable-dev-shm-usage", ...(process.getuid?.() === 0 ? ["--no-sandbox"] : [])],
  });
  return browser;
}

/**
 * Waits until `probe` returns a true value, and returns that value. `what` describes the condition in the failure
 * message.
 */
export async function until(probe, what) {
  const deadline = Date.now() + PATIENCE_MS;
  let last;
  for (;;) {
    last = await probe();
    if (last) return last;
    if (Date.now() > deadline) assert.fail(`${what}: not within ${PATIENCE_MS / 1000} s`);
    await pause(20);
  }
}

/**
 * What a page did that no test asked for.
 *
 * @typedef {{errors: string[], dialogs: string[], requests: string[], refused: string[]}} Doings
 */

/**
 * Opens a page and waits until it shows its session.
 *
 * @param {string} url
 * @param {object} [options] of a browser context: `colorScheme`, `viewport`, ...
 * @returns {Promise<{page: object, doings: Doings, context: object}>}
 */
export async function open(url, options = {}) {
  const context = await (await launch()).newContext({
    viewport: { width: 1400, height: 900 },
    reducedMotion: "reduce",
    ...options,
  });
  const page = await context.newPage();
  const doings = watch(page);
  await page.addInitScript(() => {
    window.refusals = [];
    document.addEventListener("securitypolicyviolation", (event) => {
      window.refusals.push(`${event.effectiveDirective}: ${event.blockedURI || event.sample}`);
    });
  });
  await page.goto(url);
  await ready(page);
  return { page, doings, context };
}

/** Records console messages, requests and dialogs of a page. */
export function watch(page) {
  const doings = { errors: [], dialogs: [], requests: [] };
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") doings.errors.push(message.text());
  });
  page.on("pageerror", (error) => doings.errors.push(String(error)));
  page.on("dialog", (dialog) => {
    doings.dialogs.push(dialog.message());
    return dialog.dismiss();
  });
  page.on("request", (request) => doings.requests.push(request.url()));
  page.on("popup", (popup) => doings.requests.push(popup.url()));
  return doings;
}

/** Waits until the page shows its session. */
export async function ready(page) {
  const state = () => page.evaluate(() => document.documentElement.dataset.state);
  const reached = await until(async () => {
    const now = await state();
    return now !== "loading" && now;
  }, "the page leaves its state `loading`");
  assert.equal(reached, "ready", await page.locator("#message").textContent());
  await page.evaluate(() => window.traceView.ready.then(() => true));
}

/** Waits for two frames, after which a change has been drawn. */
export function drawn(page) {
  return page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done()))));
}

/** Checks that a page caused no errors, no dialogs, and no violations of its content security policy. */
export async function assertQuiet(page, doings) {
  assert.deepEqual(doings.errors, [], "console errors");
  assert.deepEqual(doings.dialogs, [], "dialogs");
  assert.deepEqual(await page.evaluate(() => window.refusals), [], "violations of the content security policy");
}

/** Returns the URL of the file with the page of a bundle. */
export function fileUrl(name) {
  return pathToFileURL(setup.files[name]).href;
}

/**
 * Serves a bundle with the real binary.
 *
 * @returns {Promise<{url: string, process: object, stop: () => Promise<void>}>}
 */
export async function serve(name, more = []) {
  const process = spawn(setup.trace, ["view", setup.bundles[name], ...more], { stdio: ["ignore", "pipe", "pipe"] });
  served.push(process);
  let errors = "";
  process.stderr.on("data", (text) => (errors += text));
  const ended = once(process, "exit").then(([code]) => assert.fail(`trace view exited with ${code}: ${errors}`));
  const found = (async () => {
    for await (const line of createInterface({ input: process.stdout })) {
      const url = line.match(/http:\/\/\S+/)?.[0];
      if (url) return url;
    }
    return ended;
  })();
  const url = await Promise.race([found, ended]);
  ended.catch(() => {});
  const stop = async () => {
    const gone = once(process, "exit");
    process.kill("SIGTERM");
    await gone;
  };
  return { url, process, stop };
}

/** Runs the binary and parses its output as JSON. */
export function ask(...args) {
  const run = spawnSync(setup.trace, args, { encoding: "utf8", maxBuffer: 1 << 28 });
  assert.equal(run.status, 0, run.stderr);
  return JSON.parse(run.stdout);
}

/** Runs a SQL query on a bundle and returns its rows. */
export function query(name, sql) {
  return ask("query", setup.bundles[name], sql, "--json");
}

/** Returns how many lanes, bars and arrows the timeline of a bundle must have. */
export function expected(name) {
  const { agents } = ask("timeline", setup.bundles[name], "--json").timeline;
  const bars = agents.reduce((sum, agent) => sum + agent.intervals.length, 0);
  const [{ arrows }] = query(name, "SELECT count(*) AS arrows FROM edges");
  return { lanes: agents.length, bars, arrows };
}

/** Returns how many lanes, bars and arrows the timeline says that it shows. */
export function shown(page) {
  return page.locator("#timeline").evaluate(({ dataset }) => ({
    lanes: Number(dataset.lanes),
    bars: Number(dataset.bars),
    arrows: Number(dataset.arrows),
  }));
}

/** Returns the selected object as `TYPE:ID`, or null. */
export function selected(page) {
  return page.evaluate(() => {
    const { store, data } = window.traceView;
    return store.selected < 0 ? null : data.refOf(store.selected);
  });
}

/** Returns the number of the object with the reference `TYPE:ID`. */
export function numberOf(page, ref) {
  return page.evaluate((ref) => window.traceView.data.numberOf(ref), ref);
}

/** Checks that the page shows as many lanes, bars, arrows and agents as the graph contains. */
export async function assertCounts(page, name) {
  const wanted = expected(name);
  assert.deepEqual(await shown(page), wanted);
  assert.equal(await agents(page), wanted.lanes, "agents in the tree");
}

/** Returns the number of agents in the tree. Agents that are not in view are not in the document. */
export async function agents(page) {
  await page.locator("#tree [role=treeitem]").first().focus();
  await page.keyboard.press("End");
  const last = await page.locator("#tree [role=treeitem]").last().getAttribute("data-row");
  return Number(last) + 1;
}

/** Selects the object with the reference `TYPE:ID`, and returns its number. */
export async function select(page, ref) {
  const n = await numberOf(page, ref);
  assert.ok(n >= 0, `the page has ${ref}`);
  await page.evaluate((n) => window.traceView.store.select(n), n);
  await drawn(page);
  return n;
}

/** Waits until an element in view of the transcript matches a text. */
export async function transcriptHas(page, selector, text) {
  const all = page.locator(`#transcript ${selector}`);
  await until(async () => (await all.allInnerTexts()).some((one) => text.test(one.replace(/\s+/g, " "))), `${selector} says ${text}`);
}
