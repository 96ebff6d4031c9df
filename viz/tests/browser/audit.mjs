/** The panel of the audit: the findings with the worst first, each with evidence that leads to its place, and what it says without them. */

import assert from "node:assert/strict";
import { after, test } from "node:test";

import { ask, assertQuiet, close, drawn, fileUrl, open, selected, setup, until } from "./harness.mjs";

after(close);

const panel = (page) => page.locator("#audit");

/** Opens the panel of a sample. */
async function audit(name) {
  const opened = await open(fileUrl(name));
  await opened.page.locator("#tab-audit").click();
  await panel(opened.page).waitFor();
  return opened;
}

/** Gives the page other findings, as a newer state of a session would. */
async function replace(page, findings) {
  await page.evaluate((findings) => {
    const { data, store } = window.traceView;
    data.raw.findings = findings === "many" ? Array.from({ length: 120 }, (_, at) => ({ ...data.raw.findings[0], message: `finding ${at}` })) : findings;
    store.emit("data");
  }, findings);
  await drawn(page);
}

test("all findings are there, with the worst first", async () => {
  const { page, doings, context } = await audit("untrue");
  const { findings } = ask("audit", setup.bundles.untrue, "--json");
  assert.match(await page.locator("#tab-audit").innerText(), new RegExp(`\\(${findings.length}\\)`));
  const articles = panel(page).locator("article");
  assert.equal(await articles.count(), findings.length);
  const wanted = ["high", "medium", "low"].flatMap((severity) => findings.filter((finding) => finding.severity === severity));
  assert.deepEqual(await articles.locator("h2").allInnerTexts(), wanted.map(({ message }) => message));
  const first = await articles.first().innerText();
  assert.ok(first.includes(wanted[0].kind.replaceAll("_", " ")) && first.includes("high, confidence"), first);
  await assertQuiet(page, doings);
  await context.close();
});

test("a claim and its evidence lead to their places", async () => {
  const { page, doings, context } = await audit("untrue");
  const { findings } = ask("audit", setup.bundles.untrue, "--json");
  const { claim, evidence } = findings.filter(({ severity }) => severity === "high").find((finding) => finding.claim && finding.evidence.length > 0);
  for (const { object } of [evidence[0], claim]) {
    // The ids of some types begin with the type.
    const ref = object.id.startsWith(`${object.type}:`) ? object.id : `${object.type}:${object.id}`;
    await panel(page).locator(`a[href="#${ref}"]`).first().click();
    await until(async () => (await selected(page)) === ref, `${ref} is selected`);
    assert.ok((await panel(page).locator("[aria-current=step]").count()) >= 1, "the step is marked");
    await until(async () => (await page.locator("#inspector").innerText()).includes(object.id), "the inspector shows it");
    assert.ok(await panel(page).isVisible(), "the panel stays open");
  }
  await assertQuiet(page, doings);
  await context.close();
});

test("more findings are shown when they are asked for", async () => {
  const { page, context } = await audit("untrue");
  await replace(page, "many");
  const shown = () => panel(page).locator("article").count();
  assert.equal(await shown(), 50);
  const more = panel(page).getByRole("button", { name: "Show more of 70 findings" });
  await more.click();
  assert.equal(await shown(), 100);
  await panel(page).getByRole("button", { name: "Show more of 20 findings" }).click();
  assert.equal(await shown(), 120);
  assert.equal(await panel(page).getByRole("button", { name: /Show more/ }).count(), 0);
  await context.close();
});

test("a session without findings and one that is too large say so", async () => {
  const { page, doings, context } = await audit("honest");
  assert.equal(await page.locator("#tab-audit").innerText(), "Audit");
  assert.match(await panel(page).innerText(), /no findings/);
  await replace(page, null);
  assert.match(await panel(page).innerText(), /too large .* trace audit/);
  assert.equal(await panel(page).locator("article").count(), 0);
  await assertQuiet(page, doings);
  await context.close();
});
