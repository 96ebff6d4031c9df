/** A served page follows a session that is still written, without being loaded again. */

import assert from "node:assert/strict";
import { appendFileSync, cpSync, readFileSync, truncateSync } from "node:fs";
import path from "node:path";
import { after, test } from "node:test";

import { assertQuiet, close, drawn, open, select, selected, serve, setup, until } from "./harness.mjs";

after(close);

let copies = 0;

/**
 * Copies a bundle and leaves the first `lines` lines of its log. Returns the name of the copy, and a function that appends
 * lines up to a number, or all others.
 */
function cut(name, lines) {
  copies += 1;
  const part = `${name}-part-${copies}`;
  const bundle = path.join(path.dirname(setup.bundles[name]), part);
  cpSync(setup.bundles[name], bundle, { recursive: true });
  const log = path.join(bundle, "trace.jsonl");
  const all = readFileSync(log, "utf8").split(/(?<=\n)/);
  let written = lines;
  truncateSync(log, Buffer.byteLength(all.slice(0, lines).join("")));
  setup.bundles[part] = bundle;
  const grow = (to = all.length) => {
    appendFileSync(log, all.slice(written, to).join(""));
    written = to;
  };
  return { part, grow, count: all.length };
}

/** Returns the number of agents that the page shows. */
const agents = (page) => page.evaluate(() => window.traceView.data.raw.threads.path.length);

/** Marks the document, so that a test sees whether it was loaded again. */
const mark = (page) => page.evaluate(() => (window.isFirst = true));

/** Checks that the data of a page that followed a session is what a page has that is opened now. */
async function assertSameAsNew(page, url) {
  const difference = await page.evaluate(async () => {
    const { data } = window.traceView;
    const answer = await fetch("structure.json", { headers: {} });
    const fresh = new data.constructor(await answer.json());
    for (const name of ["links", "uses", "attached"]) data.list(name);
    // Texts may have other numbers: a page that follows keeps those that it knows.
    const texts = { objects: ["label"], threads: ["path", "nickname", "model", "task", "role"], turns: ["verdict"], items: ["role", "kind", "channel", "call_id", "author", "recipient"], inferences: ["model", "provider", "error"], tools: ["name", "subject"], edges: ["kind", "text"] };
    const plain = (one) => {
      const { strings, ...raw } = one.raw;
      const made = structuredClone(raw);
      for (const [table, names] of Object.entries(texts)) for (const name of names) made[table][name] = [...made[table][name]].map((index) => (index === undefined ? null : strings[index]));
      // Where there is room for more objects, there is nothing in the columns of objects.
      for (const name of Object.keys(made.objects)) made.objects[name] = Object.entries(made.objects[name]).filter(([, cell]) => cell !== null && cell !== undefined);
      return made;
    };
    const [followed, loaded] = [plain(data), plain(fresh)];
    const shift = fresh.types.some(({ first }, at) => first !== data.types[at].first);
    if (shift) return "the numbers differ";
    for (const name of Object.keys(loaded)) if (JSON.stringify(followed[name]) !== JSON.stringify(loaded[name])) return `${name}: ${JSON.stringify(followed[name]).slice(0, 500)} instead of ${JSON.stringify(loaded[name]).slice(0, 500)}`;
    return "";
  });
  assert.equal(difference, "", url);
}

for (const [name, first, step] of [["three-children", 12, 9], ["fleet", 40, 173]]) {
  test(`${name}: the page grows with the session, in the same document`, async () => {
    const { part, grow, count } = cut(name, first);
    const { url } = await serve(part);
    const { page, doings, context } = await open(url);
    await mark(page);
    for (let to = first + step; to < count; to += step) {
      const before = await page.evaluate(() => window.traceView.live.applied);
      grow(to);
      await until(() => page.evaluate((before) => window.traceView.live.applied > before, before), "a change is shown");
    }
    grow();
    const whole = await open((await serve(name)).url);
    const wanted = await agents(whole.page);
    await until(async () => (await page.evaluate(() => window.traceView.data.session.recording_complete)) && (await agents(page)) === wanted, "the whole session is shown");
    await drawn(page);
    await assertSameAsNew(page, url);
    // What is drawn is what a page shows that was opened at the end.
    for (const selector of ["#head .totals", "#strip", "#verdicts", "#tree"]) {
      const text = (one) => one.locator(selector).textContent().then((shown) => shown.replace(/\s+/g, " "));
      assert.equal(await text(page), await text(whole.page), selector);
    }
    for (const fact of ["lanes", "bars", "arrows"]) {
      assert.equal(await page.locator("#timeline").getAttribute(`data-${fact}`), await whole.page.locator("#timeline").getAttribute(`data-${fact}`), fact);
    }
    assert.equal(await page.evaluate(() => window.isFirst), true, "the document was not loaded again");
    await assertQuiet(page, doings);
    await context.close();
    await whole.context.close();
  });
}

test("a reader keeps what was selected, filtered, folded and marked", async () => {
  const { part, grow } = cut("three-children", 60);
  const { url } = await serve(part);
  const { page, doings, context } = await open(url);
  await mark(page);
  const item = await page.evaluate(() => {
    const { data } = window.traceView;
    return data.refOf(data.rangeOf("conversation_item")[0]);
  });
  await select(page, item);
  await page.locator("#filters .chip", { hasText: "failed" }).click();
  await page.evaluate(() => getSelection().selectAllChildren(document.querySelector("#inspector h2")));
  const before = await page.evaluate(() => window.traceView.live.applied);
  grow();
  await until(() => page.evaluate((before) => window.traceView.live.applied > before, before), "a change is shown");
  await drawn(page);
  assert.equal(await selected(page), item);
  assert.deepEqual(await page.evaluate(() => [...window.traceView.store.filters.outcomes]), ["failed"]);
  assert.notEqual(await page.evaluate(() => getSelection().toString()), "", "the marked text is still marked");
  assert.equal(await page.evaluate(() => window.isFirst), true);
  await assertQuiet(page, doings);
  await context.close();
});

test("a verdict appears as its turn ends", async () => {
  const { part, grow, count } = cut("three-children", 12);
  const { url } = await serve(part);
  const { page, doings, context } = await open(url);
  const verdicts = () => page.evaluate(() => window.traceView.data.raw.verdicts.map(({ outcome }) => outcome));
  assert.ok((await verdicts()).every((outcome) => outcome === "unfinished"), (await verdicts()).join());
  const strip = page.locator("#strip");
  const first = await strip.innerText();
  grow(count - 1);
  await until(async () => (await verdicts()).some((outcome) => outcome !== "unfinished"), "a turn has its verdict");
  await until(async () => (await strip.innerText()) !== first, "the sentence says so");
  await assertQuiet(page, doings);
  await context.close();
});

test("a page that was not asked for changes for long is loaded with them", async () => {
  const { part, grow } = cut("three-children", 12);
  const { url } = await serve(part);
  const one = await open(url);
  grow();
  await until(async () => (await agents(one.page)) === 4, "the first page follows");
  const two = await open(url);
  assert.equal(await agents(two.page), 4, "another page has the newest state");
  await assertQuiet(one.page, one.doings);
  await assertQuiet(two.page, two.doings);
  await one.context.close();
  await two.context.close();
});
