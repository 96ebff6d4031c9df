/** The transcript shows what the models saw, with the work of the tools below the calls. */

import assert from "node:assert/strict";
import { after, test } from "node:test";

import { assertQuiet, close, drawn, fileUrl, open, query, select, selected, serve, transcriptHas, until } from "./harness.mjs";

after(close);

const NAME = "three-children";
const HOSTILE = "hostile";

const address = async (form, name) => (form === "file" ? fileUrl(name) : (await serve(name)).url);

for (const form of ["file", "served"]) {
  test(`${form}: a call is shown with its output folded below it`, async () => {
    const { page, doings, context } = await open(await address(form, NAME));
    const [{ tool_call_id }] = query(NAME, "SELECT tool_call_id FROM tool_calls WHERE exit_code = 2");
    const n = await select(page, `tool_call:${tool_call_id}`);
    const call = page.locator(`#transcript details.tool[data-n="${n}"]`);
    await call.waitFor();
    assert.equal(await call.getAttribute("open"), null, "it is folded");
    assert.match(await call.locator("summary").innerText(), /failed[\s\S]*exit 2/);
    await call.locator("summary").click();
    await until(() => call.locator("pre").count(), "the output comes");
    const [{ printed }] = query(
      NAME,
      "SELECT payload(bundle_id, runtime_payload_id) ->> '$.aggregated_output' AS printed FROM tool_calls WHERE exit_code = 2",
    );
    assert.ok((await call.innerText()).includes(printed.trim()), printed);
    await call.locator(".tool-links a").click();
    assert.equal(await selected(page), `tool_call:${tool_call_id}`);
    await assertQuiet(page, doings);
    await context.close();
  });

  test(`${form}: inherited history is folded, and a compaction is seen`, async () => {
    const { page, doings, context } = await open(await address(form, HOSTILE));
    const compactions = query(HOSTILE, "SELECT compaction_id, input_items FROM compactions");
    assert.ok(compactions.length > 0);
    for (const { compaction_id, input_items } of compactions) {
      await select(page, `compaction:${compaction_id}`);
      await transcriptHas(page, ".compaction", new RegExp(`${input_items} items above replaced`));
    }
    const folds = [];
    for (const { thread_id } of query(HOSTILE, "SELECT thread_id FROM threads ORDER BY started_seq")) {
      await select(page, `thread:${thread_id}`);
      const row = page.locator("#transcript .inherited-row");
      if ((await row.count()) > 0) folds.push({ thread_id, text: await row.innerText() });
    }
    assert.ok(folds.length > 0, "an agent has the history of another");
    for (const { thread_id, text } of folds) {
      await select(page, `thread:${thread_id}`);
      const total = Number(text.match(/(\d+) items? inherited/)[1]);
      const rows = () => page.evaluate(() => document.querySelector("#transcript .row").getAttribute("aria-setsize"));
      const folded = Number(await rows());
      await page.locator("#transcript .inherited-row button").click();
      await drawn(page);
      assert.equal(Number(await rows()), folded + total, "all of them unfold");
      await page.locator("#transcript .inherited-row button").click();
      await drawn(page);
      assert.equal(Number(await rows()), folded, "and fold again");
    }
    await assertQuiet(page, doings);
    await context.close();
  });
}

test("every item of the thread is a row, in order", async () => {
  const { page, doings, context } = await open(fileUrl(NAME));
  const [{ thread_id }] = query(NAME, "SELECT thread_id FROM threads WHERE parent_thread_id IS NULL");
  await select(page, `thread:${thread_id}`);
  const [{ items }] = query(NAME, `SELECT count(*) AS items FROM items WHERE thread_id = '${thread_id}'`);
  const seen = await page.evaluate(async () => {
    const scroller = document.querySelector("#transcript .scroller");
    const seen = new Map();
    for (let y = 0; ; y += scroller.clientHeight / 2) {
      scroller.scrollTop = y;
      await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
      for (const item of scroller.querySelectorAll(".item")) seen.set(Number(item.dataset.row), Number(item.dataset.n));
      if (y > scroller.scrollHeight) return [...seen].sort(([a], [b]) => a - b).map(([, n]) => n);
    }
  });
  assert.equal(seen.length, items);
  assert.equal(new Set(seen).size, items);
  await assertQuiet(page, doings);
  await context.close();
});
