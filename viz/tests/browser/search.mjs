/**
 * The search finds texts of items and outputs of tools, and filters leave out what they should.
 */

import assert from "node:assert/strict";
import { after, test } from "node:test";

import { assertQuiet, close, fileUrl, open, query, serve, shown, until } from "./harness.mjs";

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

test("filters leave what they name, and the page tells it", async () => {
  const { page, doings, context } = await open(fileUrl(NAME));
  const before = await shown(page);
  await page.evaluate(() => window.traceView.store.filter({ outcomes: new Set(["failed"]) }));
  const failed = await until(async () => {
    const now = await shown(page);
    return now.bars < before.bars && now;
  }, "fewer bars");
  const [{ count }] = query(
    NAME,
    `SELECT (SELECT count(*) FROM inference_calls WHERE status = 'failed') +
            (SELECT count(*) FROM tool_calls WHERE status = 'failed' OR exit_code > 0) AS count`,
  );
  assert.equal(failed.bars, count);
  await assertQuiet(page, doings);
  await context.close();
});
