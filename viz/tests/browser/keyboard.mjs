/** Everything can be reached and used without a mouse. */

import assert from "node:assert/strict";
import { after, test } from "node:test";

import { assertQuiet, close, drawn, fileUrl, open, selected, until } from "./harness.mjs";

after(close);

const NAME = "three-children";

/** More stops than the Tab key has on the page. */
const MOST_STOPS = 300;

/** Returns the focused element: its id or that of its panel, and how it is marked. */
const focus = (page) =>
  page.evaluate(() => {
    const active = document.activeElement;
    const style = getComputedStyle(active);
    return {
      is: active.tagName.toLowerCase(),
      within: active.closest("[id]")?.id ?? "",
      panels: [...document.querySelectorAll("#search, #filters, #tree, #timeline, #transcript, #inspector, #verdicts")]
        .filter((panel) => panel.contains(active))
        .map((panel) => panel.id),
      marked: style.outlineStyle !== "none" || style.boxShadow !== "none",
    };
  });

test("Tab goes through all panels and out again, and shows where it is", async () => {
  const { page, doings, context } = await open(fileUrl(NAME));
  await page.evaluate(() => window.traceView.store.select(window.traceView.data.rangeOf("tool_call")[0]));
  await drawn(page);
  await page.evaluate(() => document.activeElement.blur());
  const panels = new Set();
  let stops = 0;
  for (; stops < MOST_STOPS; stops += 1) {
    await page.keyboard.press("Tab");
    const at = await focus(page);
    if (at.is === "body" || at.is === "html") break;
    assert.ok(at.marked, `the focus on <${at.is}> in #${at.within} can be seen`);
    for (const panel of at.panels) panels.add(panel);
  }
  assert.ok(stops < MOST_STOPS, "no trap for the focus");
  // Verdicts and findings are behind tabs that are not chosen.
  assert.deepEqual([...panels].sort(), ["filters", "inspector", "search", "timeline", "transcript", "tree"]);
  await page.locator("#tab-transcript").focus();
  for (const panel of ["audit", "verdicts"]) {
    await page.keyboard.press("ArrowLeft");
    assert.equal(await page.evaluate(() => document.activeElement.id), `tab-${panel}`);
    assert.ok(await page.locator(`#${panel}`).isVisible());
  }
  await page.keyboard.press("Tab");
  assert.ok((await focus(page)).panels.includes("verdicts"));
  await assertQuiet(page, doings);
  await context.close();
});

test("arrows, Enter and Escape walk the tree of agents", async () => {
  const { page, context } = await open(fileUrl(NAME));
  const current = () => page.evaluate(() => document.activeElement.closest("[role=treeitem]")?.textContent ?? "");
  await page.locator("#tree [role=treeitem][tabindex='0']").focus();
  const first = await current();
  assert.match(first, /root/);
  await page.keyboard.press("ArrowDown");
  const second = await current();
  assert.notEqual(second, first);
  await page.keyboard.press("Enter");
  assert.match(await selected(page), /^thread:/);
  await page.keyboard.press("End");
  const last = await current();
  assert.notEqual(last, second);
  await page.keyboard.press("Home");
  assert.equal(await current(), first);
  await page.keyboard.press("ArrowLeft");
  assert.equal(await page.locator("#tree [role=treeitem][aria-expanded]").first().getAttribute("aria-expanded"), "false");
  await page.keyboard.press("ArrowRight");
  assert.equal(await page.locator("#tree [role=treeitem][aria-expanded]").first().getAttribute("aria-expanded"), "true");
  await page.keyboard.press("Escape");
  assert.equal(await selected(page), null);
  await context.close();
});

test("arrows walk the bars of the timeline, and keys zoom and pan it", async () => {
  const { page, context } = await open(fileUrl(NAME));
  await page.locator("#timeline").focus();
  await page.keyboard.press("ArrowRight");
  const first = await until(() => selected(page), "a bar is selected");
  await page.keyboard.press("ArrowRight");
  const second = await selected(page);
  assert.notEqual(second, first);
  await page.keyboard.press("ArrowLeft");
  assert.equal(await selected(page), first);
  await page.keyboard.press("ArrowDown");
  assert.notEqual(await selected(page), first);
  const thread = await page.evaluate(() => {
    const { data, store } = window.traceView;
    return data.raw.order.indexOf(data.thread(store.selected));
  });
  assert.equal(thread, 1, "the second lane");
  const width = () => page.evaluate(() => {
    const { timeline, store } = window.traceView;
    return timeline.place(store.selected)?.width ?? 0;
  });
  const before = await width();
  await page.keyboard.press("+");
  await until(async () => (await width()) > before, "the bar grows");
  await page.keyboard.press("Escape");
  assert.equal(await selected(page), null);
  await context.close();
});

test("/ goes to the search, ? shows the shortcuts, Escape returns", async () => {
  const { page, doings, context } = await open(fileUrl(NAME));
  await page.locator("#timeline").focus();
  await page.keyboard.press("/");
  assert.equal(await page.evaluate(() => document.activeElement.id), "search");
  assert.equal(await page.locator("#search").inputValue(), "", "the shortcut itself is not typed");
  await page.keyboard.type("lantern?");
  assert.equal(await page.locator("#search").inputValue(), "lantern?", "shortcuts are text while the reader types");
  await page.keyboard.press("Escape");
  await page.locator("#timeline").focus();
  await page.keyboard.press("?");
  const help = page.getByRole("dialog");
  await help.waitFor({ state: "visible" });
  assert.match(await help.innerText(), /Escape/i);
  await page.keyboard.press("Escape");
  await help.waitFor({ state: "hidden" });
  assert.equal(await page.evaluate(() => document.activeElement.closest("[id]").id), "timeline", "the focus is back");
  await assertQuiet(page, doings);
  await context.close();
});

test("two-key shortcuts go to a panel, F6 cycles through the panels", async () => {
  const { page, doings, context } = await open(fileUrl(NAME));
  const panel = async () => {
    const { panels } = await focus(page);
    return panels.at(-1);
  };
  for (const [key, id] of [["a", "tree"], ["t", "timeline"], ["r", "transcript"], ["w", "verdicts"], ["i", "inspector"]]) {
    await page.keyboard.press("g");
    await page.keyboard.press(key);
    assert.equal(await panel(), id, `g ${key}`);
  }
  const round = new Set();
  for (let presses = 0; presses < 8; presses += 1) {
    await page.keyboard.press("F6");
    round.add(await panel());
  }
  assert.ok(round.size >= 5, `F6 reaches ${[...round]}`);
  await assertQuiet(page, doings);
  await context.close();
});

test("n and p go through what failed", async () => {
  const { page, doings, context } = await open(fileUrl(NAME));
  await page.locator("#timeline").focus();
  await page.keyboard.press("n");
  const first = await until(() => selected(page), "a failure is selected");
  const outcome = () => page.evaluate(() => window.traceView.data.outcome(window.traceView.store.selected));
  assert.equal(await outcome(), "failed");
  await page.keyboard.press("n");
  assert.notEqual(await selected(page), first);
  assert.equal(await outcome(), "failed");
  await page.keyboard.press("p");
  assert.equal(await selected(page), first);
  await assertQuiet(page, doings);
  await context.close();
});
