/** The search finds texts of items and outputs of tools, and filters leave out what they should. */

import assert from "node:assert/strict";
import { after, test } from "node:test";

import { assertQuiet, close, fileUrl, open, query, ready, select, selected, serve, shown, until } from "./harness.mjs";

after(close);

const NAME = "three-children";

const SEARCHES = [
  { what: "the text of an item", text: "documentation and a speed comparison" },
  { what: "the output of a tool", text: "wick 1 is lit" },
  { what: "a command, whatever the case", text: "CARGO BUILD --RELEASE" },
];

for (const form of ["file", "served"]) {
  test(`${form}: searches find`, async () => {
    const { url } = form === "file" ? { url: fileUrl(NAME) } : await serve(NAME);
    const { page, doings, context } = await open(url);
    const found = () => page.evaluate(() => window.traceView.store.found?.size ?? 0);
    for (const { what, text } of SEARCHES) {
      await page.locator("#search").fill(text);
      await page.locator("#search").press("Enter");
      await until(found, `${what} is found`);
      await page.locator("#search").fill("");
      await page.locator("#search").press("Enter");
      await until(async () => (await found()) === 0, "an empty search finds nothing");
    }
    await assertQuiet(page, doings);
    await context.close();
  });
}

test("search hits can be visited one after the other, and are marked", async () => {
  const { page, doings, context } = await open(fileUrl(NAME));
  await page.locator("#search").fill("lantern");
  const finds = await until(() => page.evaluate(() => window.traceView.store.found?.size), "it is found");
  assert.ok(finds > 2);
  await until(() => page.locator("#search-results [role=option]").count(), "finds are listed");
  await page.keyboard.press("Enter");
  const first = await until(() => selected(page), "the first find is selected");
  await page.keyboard.press("Enter");
  assert.notEqual(await selected(page), first);
  await page.keyboard.press("Shift+Enter");
  assert.equal(await selected(page), first);
  assert.ok((await page.locator("mark").count()) > 0, "what was found is marked");
  await assertQuiet(page, doings);
  await context.close();
});

const FILTERS = [
  {
    what: "what failed",
    press: (page) => page.locator("#filters .chip", { hasText: "failed" }).click(),
    bars: `SELECT (SELECT count(*) FROM inference_calls WHERE status = 'failed') +
                  (SELECT count(*) FROM tool_calls WHERE status = 'failed' OR exit_code > 0) AS count`,
  },
  {
    what: "requests",
    press: (page) => page.locator('#filters .chip[data-work="model"]').click(),
    bars: "SELECT count(*) AS count FROM inference_calls WHERE status = 'completed'",
  },
];

for (const { what, press, bars } of FILTERS) {
  test(`filters leave only ${what}, show how many, and can be removed`, async () => {
    const { page, doings, context } = await open(fileUrl(NAME));
    const before = await shown(page);
    const [{ count }] = query(NAME, bars);
    await press(page);
    await until(async () => (await shown(page)).bars === count, `${count} bars`);
    assert.ok(count > 0 && count < before.bars);
    assert.match(await page.locator("#filters .shown-bars").innerText(), new RegExp(`^${count} of ${before.bars} bars`));
    await until(() => page.evaluate(() => location.hash.includes("=")), "the address has the filters");
    await page.reload();
    await ready(page);
    assert.equal((await shown(page)).bars, count, "the address restores the filters");
    await page.getByRole("button", { name: "Clear filters" }).click();
    await until(async () => (await shown(page)).bars === before.bars, "all bars again");
    await assertQuiet(page, doings);
    await context.close();
  });
}

test("filters by agent and by duration leave what they name", async () => {
  const { page, doings, context } = await open(fileUrl(NAME));
  const before = await shown(page);
  const [child] = query(NAME, "SELECT thread_id FROM threads WHERE parent_thread_id IS NOT NULL ORDER BY started_seq");
  await select(page, `thread:${child.thread_id}`);
  await page.locator("#filters select[aria-label=Agents]").selectOption({ index: 1 });
  await until(async () => (await shown(page)).lanes === 1, "one lane");
  await page.locator("#filters select[aria-label=Agents]").selectOption({ index: 0 });
  await until(async () => (await shown(page)).lanes === before.lanes, "all lanes");
  await page.locator("#filters select[aria-label='Least duration']").selectOption("5000");
  const left = await until(async () => {
    const now = await shown(page);
    return now.bars < before.bars && now;
  }, "fewer bars");
  const long = await page.evaluate(() => {
    const { start, end } = window.traceView.data.raw.bars;
    return start.filter((from, bar) => end[bar] - from >= 5000).length;
  });
  assert.equal(left.bars, long);
  await assertQuiet(page, doings);
  await context.close();
});
