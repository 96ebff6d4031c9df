/** The inspector shows what is known of an object, loads payloads on demand, and copies everything. */

import assert from "node:assert/strict";
import { after, test } from "node:test";

import { assertQuiet, close, fileUrl, open, query, select, selected, serve, until } from "./harness.mjs";

after(close);

const NAME = "three-children";

const failedCall = () => query(NAME, "SELECT tool_call_id, name, thread_id FROM tool_calls WHERE exit_code = 2")[0];

for (const form of ["file", "served"]) {
  test(`${form}: a payload is loaded when it is opened`, async () => {
    const { url } = form === "file" ? { url: fileUrl(NAME) } : await serve(NAME);
    const { page, doings, context } = await open(url);
    await select(page, `tool_call:${failedCall().tool_call_id}`);
    const payload = page.locator("#inspector details.payload").first();
    await payload.waitFor();
    const asked = () => doings.requests.filter((request) => request.includes("payload.json")).length;
    assert.equal(asked(), 0, "nothing is loaded before that");
    assert.equal(await payload.locator("pre").count(), 0);
    await payload.locator("summary").click();
    await until(() => payload.locator("pre").count(), "the payload is shown");
    const name = await payload.locator("summary code").innerText();
    const [{ text }] = query(NAME, `SELECT payload(bundle_id, '${name}') AS text FROM bundles`);
    const [word] = text.match(/[a-z_]{6,}/);
    assert.ok((await payload.locator("pre").innerText()).includes(word));
    assert.equal(asked(), form === "file" ? 0 : 1);
    await assertQuiet(page, doings);
    await context.close();
  });
}

test("fields, links and the way back", async () => {
  const { page, doings, context } = await open(fileUrl(NAME));
  const { tool_call_id, thread_id } = failedCall();
  await select(page, `tool_call:${tool_call_id}`);
  const inspector = page.locator("#inspector");
  for (const text of [tool_call_id, "failed", "exit code", "Comes from", "Leads to"]) {
    assert.ok((await inspector.innerText()).includes(text), text);
  }
  await inspector.locator(`a[href="#thread:${thread_id}"]`).first().click();
  assert.equal(await selected(page), `thread:${thread_id}`);
  await page.goBack();
  await until(async () => (await selected(page)) === `tool_call:${tool_call_id}`, "back to what was selected before");
  await assertQuiet(page, doings);
  await context.close();
});

test("copied as Markdown and as JSON, for a person or a model", async () => {
  const { page, doings, context } = await open(fileUrl(NAME), { permissions: ["clipboard-read", "clipboard-write"] });
  const { tool_call_id } = failedCall();
  const ref = `tool_call:${tool_call_id}`;
  await select(page, ref);
  const copied = async (button) => {
    await page.evaluate(() => navigator.clipboard.writeText(""));
    await page.getByRole("button", { name: button, exact: true }).click();
    return until(() => page.evaluate(() => navigator.clipboard.readText()), `${button} is copied`);
  };
  const markdown = await copied("Markdown");
  assert.ok(markdown.startsWith("# "));
  assert.ok(markdown.includes(tool_call_id) && markdown.includes("- exit code: `2`"), markdown.slice(0, 1000));
  const json = JSON.parse(await copied("JSON"));
  assert.equal(json.ref, ref);
  assert.equal(json.fields.exit_code, 2);
  assert.ok(json.blocks.length > 0 && json.links.length > 0 && json.payloads.length > 0);
  assert.equal(await copied("Link"), `${fileUrl(NAME)}#${ref}`);
  assert.match(await page.getByRole("status").allInnerTexts().then(String), /Copied/, "the page tells it");
  await assertQuiet(page, doings);
  await context.close();
});
