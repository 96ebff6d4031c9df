/**
 * Makes the pictures of this folder from `samples/`: `node docs/gallery/make.mjs`.
 *
 * `graphs.json` says which diagrams there are, and a test of `trace graph` compares them. The rest are screenshots of
 * `trace view`. Needed are Chromium (`TRACE_CHROMIUM`, or /usr/bin/chromium) and playwright-core in the directory that
 * `TRACE_NODE_MODULES` names. The binary is built first, unless `TRACE` names one.
 *
 * Time zone, size, scale and hinting of fonts are fixed; which fonts there are is up to the machine.
 */

import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

/** Most bytes of a screenshot. */
const MAX_BYTES = 200_000;

const folder = path.dirname(fileURLToPath(import.meta.url));
const root = path.join(folder, "../..");
const modules = process.env.TRACE_NODE_MODULES;
if (!modules) throw new Error("TRACE_NODE_MODULES has to name a directory of node modules with playwright-core");
const { chromium } = createRequire(path.join(path.resolve(modules), "resolve.js"))("playwright-core");

const trace = (...args) => {
  const [program, before] = process.env.TRACE ? [process.env.TRACE, []] : ["cargo", ["run", "--quiet", "-p", "trace-cli", "--"]];
  execFileSync(program, [...before, ...args], { cwd: root, stdio: ["ignore", "inherit", "inherit"] });
};

for (const { file, arguments: args } of JSON.parse(readFileSync(path.join(folder, "graphs.json"), "utf8"))) {
  rmSync(path.join(folder, file), { force: true });
  trace("graph", ...args, "--layout", "own", "-o", path.join(folder, file));
}

const place = mkdtempSync(path.join(tmpdir(), "gallery-"));
const browser = await chromium.launch({
  executablePath: process.env.TRACE_CHROMIUM ?? "/usr/bin/chromium",
  args: ["--disable-dev-shm-usage", "--font-render-hinting=none", ...(process.getuid?.() === 0 ? ["--no-sandbox"] : [])],
});

/** Opens the page of a sample. */
async function open(sample, { colorScheme = "light", width = 1360, height = 800 } = {}) {
  const file = path.join(place, `${sample}.html`);
  rmSync(file, { force: true });
  trace("view", `samples/${sample}`, "-o", file);
  const context = await browser.newContext({ viewport: { width, height }, colorScheme, reducedMotion: "reduce", timezoneId: "UTC", locale: "en-US" });
  const page = await context.newPage();
  await page.goto(pathToFileURL(file).href);
  await page.evaluate(() => window.traceView.ready.then(() => true));
  return page;
}

/** Selects the first object of a type that a test on its texts holds for. */
const select = (page, type, text) =>
  page.evaluate(
    ([type, text]) => {
      const { data, store } = window.traceView;
      const [first, count] = data.rangeOf(type);
      for (let n = first; n < first + count; n += 1) {
        if (data.label(n).includes(text)) return store.select(n);
      }
      throw new Error(`no ${type} with ${text}`);
    },
    [type, text],
  );

/** Writes a screenshot of the page, or of a part of it. */
async function shoot(page, name, selector) {
  await page.mouse.move(2, 2);
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  const bytes = await (selector ? page.locator(selector) : page).screenshot({ animations: "disabled", caret: "hide" });
  if (bytes.length > MAX_BYTES) throw new Error(`${name} has ${bytes.length} bytes`);
  writeFileSync(path.join(folder, name), bytes);
  await page.context().close();
}

try {
  const light = await open("three-children");
  await shoot(light, "page.png");

  const dark = await open("three-children", { colorScheme: "dark" });
  await select(dark, "tool_call", "dim");
  await shoot(dark, "dark.png");

  const timeline = await open("three-children", { height: 700 });
  await select(timeline, "interaction_edge", "/root/docs");
  await shoot(timeline, "timeline.png", "#timeline-panel");

  const why = await open("three-children", { width: 1500, height: 1100 });
  await shoot(why, "why.png", "#verdicts");

  const audit = await open("untrue.trace", { width: 1500, height: 900 });
  await audit.locator("#tab-audit").click();
  await shoot(audit, "audit.png", "#audit");

  const team = await open("team", { height: 1000 });
  await shoot(team, "team.png", "#timeline-panel");

  const imported = await open("claude-code", { height: 900 });
  await select(imported, "tool_call", "cargo test");
  await shoot(imported, "imported.png");

  const transcript = await open("one-agent", { width: 1500, height: 1500 });
  await select(transcript, "tool_call", "cargo test");
  await transcript.locator("#transcript details.tool.is-selected summary").click();
  await transcript.locator("#transcript details.tool.is-selected").evaluate((call) => call.closest(".item").scrollIntoView({ block: "start" }));
  await shoot(transcript, "transcript.png", "#transcript");

  const inspector = await open("three-children", { width: 1500, height: 1300 });
  await select(inspector, "tool_call", "dim");
  await shoot(inspector, "inspector.png", "#inspector");
} finally {
  await browser.close();
  rmSync(place, { recursive: true });
}
