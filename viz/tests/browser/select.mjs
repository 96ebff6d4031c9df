/** An object that is selected in one panel is selected in all of them, and a link restores the selection. */

import assert from "node:assert/strict";
import { after, test } from "node:test";

import { assertQuiet, close, drawn, fileUrl, numberOf, open, query, ready, selected, until } from "./harness.mjs";

after(close);

const NAME = "three-children";

/** Least distance at which a click hits one of two arrows and not the other, in pixels. */
const APART = 10;

const place = (page, n) => page.evaluate((n) => window.traceView.timeline.place(n), n);

/** Returns the numbers of arrows, each with a point on it that is far enough from all others. */
async function arrows(page) {
  const edges = query(NAME, "SELECT edge_id, source_type, source_id, target_type, target_id FROM edges ORDER BY seq");
  const placed = [];
  for (const edge of edges) {
    const n = await numberOf(page, `interaction_edge:${edge.edge_id}`);
    assert.ok(n >= 0, `the page has ${edge.edge_id}`);
    placed.push({ ...edge, n, at: await place(page, n) });
  }
  const distance = (a, b) => Math.hypot(a.x - b.x, a.y - b.y);
  return placed.filter(
    ({ n, at }) => at && placed.every((other) => other.n === n || !other.at || distance(other.at.middle, at.middle) > APART),
  );
}

test("a click on an arrow selects it, and a second click leads to either end", async () => {
  const { page, doings, context } = await open(fileUrl(NAME));
  const apart = await arrows(page);
  assert.ok(apart.length >= 3, `${apart.length} arrows stand apart`);
  for (const { edge_id, source_type, source_id, target_type, target_id, at } of apart) {
    await page.mouse.click(at.middle.x, at.middle.y);
    assert.equal(await selected(page), `interaction_edge:${edge_id}`);
    for (const [type, id] of [[source_type, source_id], [target_type, target_id]]) {
      const ref = id.startsWith(`${type}:`) ? id : `${type}:${id}`;
      await page.locator(`#inspector a[href="#${ref}"]`).first().click();
      assert.equal(await selected(page), ref);
      await page.evaluate((ref) => {
        const { store, data } = window.traceView;
        store.select(data.numberOf(ref));
      }, `interaction_edge:${edge_id}`);
    }
    await drawn(page);
  }
  await assertQuiet(page, doings);
  await context.close();
});

test("a click on a bar selects its object; the transcript and the tree go along", async () => {
  const { page, doings, context } = await open(fileUrl(NAME));
  const calls = query(NAME, "SELECT tool_call_id, thread_id, duration_ms FROM tool_calls ORDER BY duration_ms DESC LIMIT 3");
  for (const { tool_call_id, thread_id } of calls) {
    const n = await numberOf(page, `tool_call:${tool_call_id}`);
    const bar = await place(page, n);
    await page.mouse.click(bar.x + bar.width / 2, bar.y + bar.height / 2);
    assert.equal(await selected(page), `tool_call:${tool_call_id}`);
    assert.match(await page.locator("#inspector").innerText(), new RegExp(tool_call_id));
    const thread = await page.evaluate(() => window.traceView.data.refOf(window.traceView.store.thread));
    assert.equal(thread, `thread:${thread_id}`);
  }
  await assertQuiet(page, doings);
  await context.close();
});

test("a link to an object selects it, also after a reload, and brings it into view", async () => {
  const { page, doings, context } = await open(fileUrl(NAME));
  const [{ tool_call_id }] = query(NAME, "SELECT tool_call_id FROM tool_calls WHERE exit_code = 2");
  const ref = `tool_call:${tool_call_id}`;
  await page.evaluate((ref) => {
    const { store, data } = window.traceView;
    store.select(data.numberOf(ref));
  }, ref);
  const linked = await until(() => page.evaluate(() => location.hash), "the address names what is selected");
  assert.equal(decodeURIComponent(linked), `#${ref}`);
  await page.reload();
  await ready(page);
  assert.equal(await selected(page), ref);

  const fresh = await open(`${fileUrl(NAME)}#${ref}`);
  assert.equal(await selected(fresh.page), ref);
  await drawn(fresh.page);
  assert.ok(await place(fresh.page, await numberOf(fresh.page, ref)), "the bar can be seen");
  await fresh.page.evaluate(() => (location.hash = "#tool_call:nobody"));
  await drawn(fresh.page);
  await assertQuiet(fresh.page, fresh.doings);
  await fresh.context.close();
  await assertQuiet(page, doings);
  await context.close();
});

test("steps of a verdict lead into the timeline", async () => {
  const { page, doings, context } = await open(fileUrl(NAME));
  const steps = page.locator("#verdicts a[href^='#']");
  assert.ok((await steps.count()) >= 3, "three turns need attention");
  for (const step of await steps.all()) {
    if (!(await step.isVisible())) continue;
    const href = decodeURIComponent(await step.getAttribute("href"));
    await step.click();
    assert.equal(`#${await selected(page)}`, href);
  }
  await assertQuiet(page, doings);
  await context.close();
});
