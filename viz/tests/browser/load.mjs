/**
 * Pages load without a word of complaint, from a file and from a server, and show what the graph has.
 */

import assert from "node:assert/strict";
import { after, test } from "node:test";

import { assertQuiet, close, expected, fileUrl, open, serve, setup, shown } from "./harness.mjs";

after(close);

for (const name of Object.keys(setup.bundles)) {
  for (const form of ["file", "served"]) {
    test(`${name}, ${form}: lanes, bars, arrows and agents are those of the graph`, async () => {
      const { url } = form === "file" ? { url: fileUrl(name) } : await serve(name);
      const { page, doings, context } = await open(url);
      const wanted = expected(name);
      assert.deepEqual(await shown(page), wanted);
      assert.equal(await page.locator("#tree [role=treeitem]").count(), wanted.lanes, "agents in the tree");
      assert.match(await page.title(), new RegExp(name));
      await assertQuiet(page, doings);
      await context.close();
    });
  }

  test(`${name}, file: nothing is asked of a network, not even that it is there`, async () => {
    const { page, doings, context } = await open(fileUrl(name), { offline: true });
    assert.deepEqual(doings.requests, [fileUrl(name)]);
    await assertQuiet(page, doings);
    await context.close();
  });
}
