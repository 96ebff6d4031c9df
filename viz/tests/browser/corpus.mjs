/** Checks pages of real sessions against their graphs. */

import assert from "node:assert/strict";
import { after, test } from "node:test";

import { assertCounts, assertQuiet, close, fileUrl, open, query, select, setup, transcriptHas } from "./harness.mjs";

after(close);

for (const name of Object.keys(setup.bundles)) {
  test(`${name}: lanes, bars, arrows and agents are those of the graph`, async () => {
    const { page, doings, context } = await open(fileUrl(name));
    await assertCounts(page, name);
    await assertQuiet(page, doings);
    await context.close();
  });
}

for (const name of ["compaction"].filter((name) => name in setup.bundles)) {
  test(`${name}: the transcript shows where the context was compacted`, async () => {
    const { page, doings, context } = await open(fileUrl(name));
    const compactions = query(name, "SELECT compaction_id, input_items FROM compactions");
    assert.ok(compactions.length > 0);
    for (const { compaction_id, input_items } of compactions) {
      await select(page, `compaction:${compaction_id}`);
      await transcriptHas(page, ".compaction", new RegExp(`${input_items} items above replaced`));
    }
    await assertQuiet(page, doings);
    await context.close();
  });
}

for (const name of ["forked-agents", "forked-agents-catalogue-model"].filter((name) => name in setup.bundles)) {
  test(`${name}: inherited history is folded and unfolds`, async () => {
    const { page, doings, context } = await open(fileUrl(name));
    const children = query(name, "SELECT thread_id FROM threads WHERE parent_thread_id IS NOT NULL");
    let inherited = 0;
    for (const { thread_id } of children) {
      await select(page, `thread:${thread_id}`);
      const fold = page.locator("#transcript .inherited-row button");
      if ((await fold.count()) === 0) continue;
      inherited += 1;
      await transcriptHas(page, ".inherited-row", /\d+ items? inherited from \/root/);
      await fold.click();
      assert.ok((await page.locator("#transcript .is-inherited").count()) > 0);
    }
    assert.ok(inherited > 0, "a child with the history of its parent");
    await assertQuiet(page, doings);
    await context.close();
  });
}
