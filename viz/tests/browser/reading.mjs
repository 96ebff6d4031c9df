/** Everybody can read the page: roles and names, contrast, dark and light, on paper, on a small screen. */

import assert from "node:assert/strict";
import { after, test } from "node:test";

import { assertQuiet, axe, close, drawn, fileUrl, open, setup } from "./harness.mjs";

after(close);

/** Returns the violations of accessibility rules on the page. */
async function violations(page) {
  // The rules are injected through the debugger, so the page's policy does not apply to them.
  await page.evaluate(axe());
  const found = await page.evaluate(() =>
    window.axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] }),
  );
  return found.violations.map(
    ({ id, help, nodes }) => `${id}: ${help}: ${nodes.slice(0, 5).map((node) => `${node.target} (${node.any[0]?.message ?? node.failureSummary})`).join("; ")}`,
  );
}

/** Shows as much of the page as possible: a selected object and an open verdict. */
async function unfold(page, type) {
  await page.evaluate((type) => {
    const { store, data } = window.traceView;
    store.select(data.rangeOf(type)[0]);
  }, type);
  await drawn(page);
}

for (const name of Object.keys(setup.files)) {
  for (const colorScheme of ["light", "dark"]) {
    test(`${name}, ${colorScheme}: no rule of accessibility is broken, contrast among them`, async () => {
      const { page, doings, context } = await open(fileUrl(name), { colorScheme });
      assert.deepEqual(await violations(page), [], "nothing selected");
      for (const type of ["thread", "codex_turn", "tool_call", "conversation_item", "inference_call"]) {
        await unfold(page, type);
        assert.deepEqual(await violations(page), [], `a ${type} selected`);
      }
      await assertQuiet(page, doings);
      await context.close();
    });
  }
}

const NAME = "three-children";

test("landmarks and panels have roles and names", async () => {
  const { page, context } = await open(fileUrl(NAME));
  for (const [role, name] of [
    ["banner", undefined],
    ["main", undefined],
    ["tree", /agents/i],
    ["region", /timeline/i],
    ["navigation", /filters/i],
    ["combobox", /search/i],
  ]) {
    assert.ok((await page.getByRole(role, name ? { name } : {}).count()) >= 1, `${role} ${name ?? ""}`);
  }
  const items = await page.getByRole("treeitem").all();
  for (const item of items) {
    assert.ok(await item.getAttribute("aria-level"), "an agent has a level");
  }
  assert.equal(await page.getByRole("status").count() > 0, true, "changes are announced to screen readers");
  await context.close();
});

test("dark and light differ, and the page follows a change of the system", async () => {
  const { page, context } = await open(fileUrl(NAME), { colorScheme: "light" });
  const colours = () =>
    page.evaluate(() => {
      const { color } = getComputedStyle(document.body);
      return { color, ground: getComputedStyle(document.documentElement).backgroundColor };
    });
  const pixels = () => page.locator("#timeline").screenshot().then((png) => png.toString("base64"));
  const light = { ...(await colours()), timeline: await pixels() };
  await page.emulateMedia({ colorScheme: "dark" });
  await drawn(page);
  const dark = { ...(await colours()), timeline: await pixels() };
  for (const key of Object.keys(light)) assert.notEqual(dark[key], light[key], key);
  await context.close();
});

test("the reader's own choice of dark and light counts more than the system's", async () => {
  const { page, context } = await open(fileUrl(NAME), { colorScheme: "light" });
  const ground = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
  const light = await ground();
  const theme = () => page.evaluate(() => document.documentElement.dataset.theme);
  for (let presses = 0; presses < 3 && (await theme()) !== "dark"; presses += 1) await page.locator("#theme").click();
  const dark = await ground();
  assert.notEqual(dark, light);
  await page.emulateMedia({ colorScheme: "dark" });
  await page.emulateMedia({ colorScheme: "light" });
  await drawn(page);
  assert.equal(await ground(), dark);
  await context.close();
});

test("the print has all of the text, and no controls", async () => {
  for (const colorScheme of ["light", "dark"]) {
    const { page, doings, context } = await open(fileUrl(NAME), { colorScheme });
    await unfold(page, "thread");
    await page.evaluate(() => window.dispatchEvent(new Event("beforeprint")));
    await page.emulateMedia({ media: "print" });
    const body = page.locator("body");
    for (const text of [/Verdicts/, /Timeline/, /\/root/, /Transcript of \/root/, /documentation and a speed comparison/]) {
      assert.match(await body.innerText(), text);
    }
    assert.equal(await body.locator("button:visible, input:visible, select:visible").count(), 0);
    assert.ok(await page.locator("#print canvas").first().isVisible(), "the timeline is on paper");
    await page.evaluate(() => window.dispatchEvent(new Event("afterprint")));
    assert.equal((await page.locator("#print").innerText()).trim(), "");
    const paper = await page.pdf({ format: "A4" });
    assert.ok(paper.length > 20_000, `${paper.length} bytes of PDF`);
    await page.emulateMedia({ media: null });
    await drawn(page);
    assert.ok(await page.locator("#timeline").isVisible(), "the page is back");
    await assertQuiet(page, doings);
    await context.close();
  }
});

test("nothing is cut off on a narrow screen", async () => {
  for (const viewport of [{ width: 1024, height: 700 }, { width: 600, height: 900 }, { width: 360, height: 700 }]) {
    const { page, context } = await open(fileUrl(NAME), { viewport });
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(overflow <= 0, `${viewport.width} px: the page is ${overflow} px too wide`);
    await context.close();
  }
});

test("outcomes are shown by more than colour", async () => {
  const { page, context } = await open(fileUrl(NAME), { forcedColors: "active" });
  const failed = page.locator("#tree [role=treeitem]").filter({ hasText: "speed" });
  assert.match(await failed.first().innerText(), /fail/i);
  await context.close();
});
