/** A served page follows a session that is still written. */

import assert from "node:assert/strict";
import { appendFileSync, cpSync, readFileSync, truncateSync } from "node:fs";
import path from "node:path";
import { after, test } from "node:test";

import { assertQuiet, close, open, ready, selected, serve, setup, until } from "./harness.mjs";

after(close);

const NAME = "three-children";
const PART = `${NAME}-part`;

/** Copies the bundle, leaves the first `lines` lines of its log, and returns a function that appends the others. */
function cut(lines) {
  const bundle = path.join(path.dirname(setup.bundles[NAME]), `${PART}-${lines}`);
  cpSync(setup.bundles[NAME], bundle, { recursive: true });
  const log = path.join(bundle, "trace.jsonl");
  const text = readFileSync(log, "utf8");
  const first = text.split("\n").slice(0, lines).join("\n").length + 1;
  truncateSync(log, first);
  setup.bundles[PART] = bundle;
  return () => appendFileSync(log, text.slice(first));
}

/** Returns the number of agents that the page shows, or 0 while it is loaded. A script that a new page interrupts fails. */
const agents = (page) => page.evaluate(() => window.traceView?.data?.raw.threads.path.length ?? 0).catch(() => 0);

test("a page in which nobody reads shows what is new", async () => {
  const grow = cut(12);
  const { url } = await serve(PART);
  const { page, doings, context } = await open(url);
  assert.equal(await agents(page), 1);
  const thread = await page.evaluate(() => window.traceView.data.refOf(0));
  await page.evaluate((ref) => (location.hash = `#${ref}`), thread);
  await until(async () => (await selected(page)) === thread, "the agent is selected");
  grow();
  await until(async () => (await agents(page)) === 4, "the children are shown");
  await ready(page);
  assert.equal(await selected(page), thread, "what was selected is still selected");
  await assertQuiet(page, doings);
  await context.close();
});

test("a reader is not disturbed, but offered what is new", async () => {
  const grow = cut(13);
  const { url } = await serve(PART);
  const { page, doings, context } = await open(url);
  // The text that somebody marks must not disappear.
  await page.evaluate(() => getSelection().selectAllChildren(document.querySelector("h1")));
  grow();
  const news = page.locator("#news");
  await news.getByRole("button").waitFor();
  assert.match(await news.innerText(), /has grown/);
  assert.equal(await agents(page), 1);
  await news.getByRole("button").click();
  await ready(page);
  await until(async () => (await agents(page)) === 4, "the children are shown");
  assert.equal(await news.innerText(), "");
  await assertQuiet(page, doings);
  await context.close();
});
