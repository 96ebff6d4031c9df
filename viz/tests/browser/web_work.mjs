/** The web client at work: what a person does with agents, in a real browser with the real server. */

import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";

import { until } from "./harness.mjs";
import {
  approval, articles, assertCalm, button, connected, escalated, folder, gate, hears, idle, log, message, openClient, openThread, patch, say, script, shell, start, status,
  threads,
} from "./web.mjs";

const server = await start();

test("10. an answer is shown while it is streamed", async () => {
  const { page, doings, context } = await openClient(server.url);
  const words = Array.from({ length: 12 }, (_, at) => `word${at}`).join(" ");
  await say(page, script([[{ say: words, chunk: 8, gap: 0.1 }]]));
  const lengths = new Set();
  await until(async () => {
    const text = (await articles(page, "Agent message").allInnerTexts()).at(-1) ?? "";
    if (text) lengths.add(text.length);
    return text === words;
  }, "the whole answer is shown");
  assert.ok(lengths.size > 2, `it grew: ${[...lengths]}`);
  await idle(page);
  assert.equal(await articles(page, "Agent message").getAttribute("aria-busy"), null);
  await assertCalm(page, doings);
  await context.close();
});

test("11. a command is approved", async () => {
  const { page, doings, context } = await openClient(server.url);
  await say(page, script([[escalated("echo approved > approved.txt", "It must be written.")], [{ say: "finished" }]]));
  await approval(page).waitFor();
  const asked = await approval(page).innerText();
  for (const part of ["echo approved > approved.txt", "It must be written.", server.work]) assert.ok(asked.includes(part), `${part} in ${asked}`);
  assert.match(await page.title(), /^\(1\) /);
  await until(async () => (await threads(page).locator("[aria-current=page]").innerText()).includes("waiting"), "the list says that it waits");
  await button(page, "Approve").click();
  await hears(page, "Agent message", "finished");
  await approval(page).waitFor({ state: "detached" });
  assert.equal(readFileSync(path.join(server.work, "approved.txt"), "utf8"), "approved\n");
  await idle(page);
  await until(async () => !(await page.title()).startsWith("("), "the title counts nothing");
  await assertCalm(page, doings);
  await context.close();
});

test("12. a file change is declined, with its diff in view", async () => {
  const { page, doings, context } = await openClient(server.url);
  const file = path.join(server.place, "outside.txt");
  await page.getByRole("combobox", { name: "Approvals" }).selectOption("untrusted");
  await say(page, script([[patch(file, "a line of the patch")], [{ say: "it was declined" }]]));
  await approval(page).waitFor();
  await until(async () => (await approval(page).innerText()).includes("+a line of the patch"), "the diff is shown");
  assert.ok((await approval(page).innerText()).includes(file));
  await button(page, "Decline").click();
  await hears(page, "Agent message", "it was declined");
  assert.match(await articles(page, "File change").innerText(), /declined/);
  assert.ok(!existsSync(file));
  await assertCalm(page, doings);
  await context.close();
});

test("13. of two pages the first answer counts, and both see the end", async () => {
  const one = await openClient(server.url);
  await say(one.page, script([[escalated("echo two", "Two pages.")], [{ say: "both saw it" }]]));
  await approval(one.page).waitFor();
  const id = await openThread(one.page);
  const two = await openClient(server.url);
  await two.page.evaluate((id) => (location.hash = `#/${id}`), id);
  await approval(two.page).waitFor();
  await button(two.page, "Approve for session").click();
  for (const { page, doings, context } of [one, two]) {
    await approval(page).waitFor({ state: "detached" });
    await hears(page, "Agent message", "both saw it");
    await assertCalm(page, doings);
    await context.close();
  }
});

test("14. an approval is still there after a reload", async () => {
  const { page, doings, context } = await openClient(server.url);
  await say(page, script([[escalated("echo reloaded", "After a reload.")], [{ say: "answered later" }]]));
  await approval(page).waitFor();
  await page.reload();
  await connected(page);
  await approval(page).waitFor();
  assert.match(await approval(page).innerText(), /After a reload/);
  await button(page, "Approve").click();
  await hears(page, "Agent message", "answered later");
  await assertCalm(page, doings);
  await context.close();
});

test("15. a turn is stopped, by its button and by two presses of Escape", async () => {
  const { page, doings, context } = await openClient(server.url);
  const never = gate(server, "never");
  await say(page, script([[never.action], [{ say: "not reached" }]]));
  await articles(page, "Command").waitFor();
  await button(page, "Stop").click();
  await idle(page);
  await until(async () => (await log(page).innerText()).includes("The turn was stopped."), "the log says so");
  await say(page, script([[never.action], [{ say: "not reached" }]], "again"));
  await until(async () => (await articles(page, "Command").count()) === 2, "the second turn runs");
  await page.keyboard.press("Escape");
  await until(async () => (await page.getByRole("status", { name: "Notice" }).innerText()).includes("again"), "the first press only warns");
  assert.equal(await button(page, "Stop").isVisible(), true);
  await page.keyboard.press("Escape");
  await idle(page);
  assert.ok(!(await log(page).innerText()).includes("not reached\n"));
  await assertCalm(page, doings);
  await context.close();
});

test("16. a message steers the running turn, and a queued one gets a turn of its own", async () => {
  const { page, doings, context } = await openClient(server.url);
  const hold = gate(server, "steered");
  await say(page, script([[hold.action], [{ say: "the turn ended" }]]));
  await articles(page, "Command").waitFor();
  const turn = await page.evaluate(() => window.traceClient.session.conversation.turn);
  await say(page, "one more thing");
  await message(page).fill(script([[{ say: "the queued turn" }]], "later"));
  await button(page, "Queue").click();
  const queued = page.getByRole("list", { name: "Queued messages" });
  await queued.getByRole("listitem").waitFor();
  hold.open();
  await hears(page, "Agent message", "the queued turn");
  const steered = await page.evaluate(() => window.traceClient.session.conversation.entries.find(({ item }) => item.content?.[0]?.text === "one more thing"));
  assert.equal(steered.turn, turn, "the message belongs to the running turn");
  await queued.waitFor({ state: "hidden" });
  await idle(page);
  await assertCalm(page, doings);
  await context.close();
});

test("17. the plan is shown, also after a reload during the turn", async () => {
  const { page, doings, context } = await openClient(server.url);
  const hold = gate(server, "planned");
  const plan = [{ step: "read the code", status: "completed" }, { step: "write the test", status: "in_progress" }, { step: "run it", status: "pending" }];
  await say(page, script([[{ call: "update_plan", args: { plan } }, hold.action], [{ say: "done" }]]));
  const region = page.getByRole("region", { name: "Plan" });
  const steps = async () => (await region.getByRole("listitem").allInnerTexts()).map((step) => step.replace(/\s+/g, " "));
  const wanted = ["done read the code", "in progress write the test", "to do run it"];
  await until(async () => (await steps()).length === 3, "the plan is shown");
  assert.deepEqual(await steps(), wanted);
  await page.reload();
  await connected(page);
  await region.waitFor();
  assert.deepEqual(await steps(), wanted);
  hold.open();
  await idle(page);
  await assertCalm(page, doings);
  await context.close();
});

test("18. the changes of a turn are shown per file, also after a reload", async () => {
  const { page, doings, context } = await openClient(server.url);
  await say(page, script([[patch("changed.txt", "hello from a patch")], [{ say: "changed" }]]));
  await hears(page, "Agent message", "changed");
  const region = page.getByRole("region", { name: "Changes" });
  const isShown = async () => /changed\.txt[\s\S]*\+1[\s\S]*\+hello from a patch/.test(await region.innerText());
  await until(isShown, "the diff is shown");
  await idle(page);
  await page.reload();
  await connected(page);
  await until(isShown, "the diff is shown again");
  await assertCalm(page, doings);
  await context.close();
});

test("19. agents are a tree, and each can be opened", async () => {
  const { page, doings, context } = await openClient(server.url);
  const task = (name, words) => ({ call: "spawn_agent", ns: "collaboration", args: { task_name: name, message: words, fork_turns: "none" } });
  await say(page, script([[task("reader", script([[{ say: "the reader has read" }]], "read")), task("writer", script([[{ say: "the writer has written" }]], "write"))], [{ say: "both are at work" }]]));
  const tree = page.getByRole("tree", { name: "Agents" });
  await until(async () => (await tree.getByRole("treeitem").count()) === 3, "three agents");
  await tree.getByRole("treeitem", { name: /^reader/ }).click();
  await hears(page, "Agent message", "the reader has read");
  assert.equal(await message(page).evaluate((box) => box.readOnly), true, "a child takes no messages of a person");
  assert.ok((await threads(page).getByRole("link").allInnerTexts()).some((text) => text.includes("/root/writer")));
  await tree.getByRole("treeitem", { name: /^root/ }).click();
  await hears(page, "Agent message", "both are at work");
  await assertCalm(page, doings);
  await context.close();
});

test("20. a reload during a turn loses nothing and doubles nothing", async () => {
  const { page, doings, context } = await openClient(server.url);
  const hold = gate(server, "reload");
  await say(page, script([[{ say: "before the reload" }, shell("echo first"), hold.action], [{ say: "after the reload" }]]));
  await until(async () => (await articles(page, "Command").count()) === 2, "both commands are shown");
  await page.reload();
  await connected(page);
  await until(async () => (await articles(page, "Command").count()) === 2, "both commands are shown again");
  assert.equal(await button(page, "Stop").isVisible(), true, "the turn still runs");
  hold.open();
  await hears(page, "Agent message", "after the reload");
  await idle(page);
  const ids = await page.evaluate(() => window.traceClient.session.conversation.entries.map(({ id }) => id));
  assert.equal(new Set(ids).size, ids.length);
  assert.deepEqual(await articles(page, "Agent message").allInnerTexts(), ["before the reload", "after the reload"]);
  assert.ok((await articles(page, "Command").allInnerTexts()).every((text) => text.includes("done")), "nothing seems to run");
  await assertCalm(page, doings);
  await context.close();
});

test("21. the recording is one click away, and its data needs the token", async () => {
  const { page, context } = await openClient(server.url);
  await say(page, script([[shell("echo recorded")], [{ say: "look at the recording" }]]));
  await hears(page, "Agent message", "look at the recording");
  await idle(page);
  const link = page.getByRole("link", { name: "Recording" });
  const [recording] = await Promise.all([context.waitForEvent("page"), link.click()]);
  await until(async () => (await recording.evaluate(() => document.documentElement.dataset.state)) === "ready", "the recording is shown");
  assert.match(new URL(recording.url()).pathname, /^\/web\/recording\/[\w-]+\/$/);
  assert.ok(!recording.url().includes(server.token), "the token is not in the address");
  await until(async () => (await recording.locator("#transcript").innerText()).includes("look at the recording"), "the transcript is shown");
  const data = new URL("structure.json", recording.url().split("#")[0]);
  assert.equal((await fetch(data)).status, 401);
  assert.equal((await fetch(data, { headers: { authorization: `Bearer ${"0".repeat(48)}` } })).status, 401);
  assert.equal((await fetch(data, { headers: { authorization: `Bearer ${server.token}` } })).status, 200);
  // A tab without the token shows nothing of the session.
  const stranger = await context.browser().newContext();
  const other = await stranger.newPage();
  await other.goto(recording.url());
  await until(async () => (await other.locator("#message").innerText()).includes("needs the token"), "the page says what it needs");
  assert.ok(!(await other.content()).includes("look at the recording"));
  await stranger.close();
  await context.close();
});

test("the recording follows a turn that runs", async () => {
  const { page, context } = await openClient(server.url);
  const hold = gate(server, "followed");
  await say(page, script([[{ say: "the beginning" }, hold.action], [{ say: "the end of the turn" }]]));
  await articles(page, "Command").waitFor();
  const [recording] = await Promise.all([context.waitForEvent("page"), page.getByRole("link", { name: "Recording" }).click()]);
  const verdicts = () => recording.evaluate(() => window.traceView.data.raw.verdicts.map(({ outcome }) => outcome));
  await until(async () => (await recording.evaluate(() => document.documentElement.dataset.state)) === "ready", "the recording is shown");
  assert.deepEqual(await verdicts(), ["running"]);
  await recording.evaluate(() => (window.isFirst = true));
  hold.open();
  await until(async () => (await verdicts())[0] === "ok", "the verdict appears as the turn ends");
  await until(async () => (await recording.locator("#transcript").innerText()).includes("the end of the turn"), "so does what was said");
  assert.equal(await recording.evaluate(() => window.isFirst), true, "the document was not loaded again");
  await context.close();
});

test("24. after a restart of the server the page goes on in the same thread", async () => {
  const at = folder();
  const tokenFile = path.join(at.place, "token");
  const first = await start({ at, more: ["--web-token-file", tokenFile] });
  const { page, context } = await openClient(first.url);
  await say(page, script([[{ say: "before the restart" }]]));
  await hears(page, "Agent message", "before the restart");
  await idle(page);
  const id = await openThread(page);
  await message(page).fill("a draft");
  await first.stop();
  await until(async () => (await status(page).textContent()) === "reconnecting", "the page notices it");
  assert.equal(await button(page, "Send").isDisabled(), true);
  const second = await start({ at, port: first.port, more: ["--web-token-file", tokenFile] });
  assert.equal(second.token, first.token, "the file keeps the token");
  await connected(page);
  assert.equal(await openThread(page), id);
  assert.equal(await message(page).inputValue(), "a draft", "a draft is kept");
  await say(page, script([[{ say: "after the restart" }]]));
  await hears(page, "Agent message", "after the restart");
  assert.deepEqual(await articles(page, "Agent message").allInnerTexts(), ["before the restart", "after the restart"]);
  // A server with another token refuses the page, which asks for it.
  await second.stop();
  writeFileSync(tokenFile, "f".repeat(48), { mode: 0o600 });
  await start({ at, port: first.port, more: ["--web-token-file", tokenFile] });
  await until(async () => (await status(page).textContent()) === "refused", "the page is refused");
  await page.getByLabel("Token").last().fill("f".repeat(48));
  await button(page, "Connect").click();
  await connected(page);
  await hears(page, "Agent message", "after the restart");
  await context.close();
});

test("questions of a model are answered in a form", async () => {
  const { page, doings, context } = await openClient(server.url);
  await page.getByRole("combobox", { name: "Mode", exact: true }).selectOption("plan");
  const questions = [{ id: "colour", header: "Colour", question: "Which colour?", options: [{ label: "red", description: "like a rose" }, { label: "blue", description: "like the sea" }] }];
  await say(page, script([[{ call: "request_user_input", args: { questions } }], [{ say: "thank you" }]]));
  await approval(page).waitFor();
  await button(page, "Answer").click();
  assert.match(await approval(page).innerText(), /needs an answer/);
  await approval(page).getByRole("radio", { name: /blue/ }).check();
  await button(page, "Answer").click();
  await hears(page, "Agent message", "thank you");
  await assertCalm(page, doings);
  await context.close();
});

test("a new thread takes its folder and its settings", async () => {
  const { page, doings, context } = await openClient(server.url);
  await page.getByRole("textbox", { name: "Folder" }).fill(server.place);
  await page.getByRole("combobox", { name: "Sandbox" }).selectOption("read-only");
  await say(page, script([[shell("pwd")], [{ say: "that is where I am" }]]));
  await hears(page, "Agent message", "that is where I am");
  assert.match(await articles(page, "Command").innerText(), new RegExp(server.place));
  assert.equal(await page.evaluate(() => window.traceClient.session.conversation.settings.sandbox), "readOnly");
  await button(page, "New thread").click();
  // The page hears of its new address in a later task of the browser.
  await until(async () => (await openThread(page)) === null, "no thread is open");
  await page.goBack();
  await hears(page, "Agent message", "that is where I am");
  await button(page, "Rename").click();
  await page.getByRole("textbox", { name: "Name" }).fill("my thread");
  await page.getByRole("dialog").getByRole("button", { name: "Rename" }).click();
  await until(async () => (await threads(page).locator("[aria-current=page]").innerText()).includes("my thread"), "the list has the new name");
  await assertCalm(page, doings);
  await context.close();
});

test("a failed turn says why", async () => {
  const { page, doings, context } = await openClient(server.url);
  await say(page, script([[{ status: 400, message: "the provider refuses" }]]));
  await hears(page, "Error", "the provider refuses");
  await idle(page);
  await assertCalm(page, doings);
  await context.close();
});
