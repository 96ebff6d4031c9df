/** Pages load without errors, from a file and from a server, and show what the graph contains. */

import assert from "node:assert/strict";
import { after, test } from "node:test";

import { assertCounts, assertQuiet, close, fileUrl, open, serve, setup } from "./harness.mjs";

after(close);

for (const name of Object.keys(setup.bundles)) {
  for (const form of ["file", "served"]) {
    test(`${name}, ${form}: lanes, bars, arrows and agents are those of the graph`, async () => {
      const { url } = form === "file" ? { url: fileUrl(name) } : await serve(name);
      const { page, doings, context } = await open(url);
      await assertCounts(page, name);
      assert.match(await page.title(), new RegExp(name));
      await assertQuiet(page, doings);
      await context.close();
    });
  }

  test(`${name}, file: the page makes no network request`, async () => {
    const { page, doings, context } = await open(fileUrl(name), { offline: true });
    assert.deepEqual(doings.requests, [fileUrl(name)]);
    await assertQuiet(page, doings);
    await context.close();
  });
}
