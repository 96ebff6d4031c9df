/** Everybody can use the web client: by keyboard alone, on a phone, in the dark, with a screen reader, in a long thread. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { axe, drawn, until } from "./harness.mjs";
import { approval, articles, assertCalm, button, connected, escalated, gate, hears, idle, log, message, openClient, openThread, patch, say, script, shell, start, status, threads } from "./web.mjs";

const server = await start();

/** Returns the violations of accessibility rules on the page. */
async function violations(page) {
  await page.evaluate(axe());
  const found = await page.evaluate(() => window.axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] }));
  return found.violations.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes.slice(0, 5).map((node) => `${node.target} (${node.any[0]?.message ?? node.failureSummary})`).join("; ")}`);
}

/** Commands of the long thread. */
const COMMANDS = 400;

/** Time within which a long thread must be open, and the most elements that it may have. */
const OPEN_MS = 5000;
const MAX_NODES = 20_000;

/** A turn with all kinds of items, which waits for an approval at its end. */
function everything() {
  return script([
    [
      { think: "**First** I look." },
      { say: "# Title\n\nSome `code`, a [link](https://example.org/), a list:\n\n1. one\n2. two\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n> a quote\n\n```rust\nfn main() {}\n```" },
      { call: "update_plan", args: { plan: [{ step: "look", status: "completed" }, { step: "write", status: "in_progress" }] } },
      shell("echo some output; exit 3"),
      shell("seq 3000"),
      { search: "how to" },
      patch("everything.txt", "a line"),
      { call: "spawn_agent", ns: "collaboration", args: { task_name: "helper", message: script([[{ say: "helped" }]], "help"), fork_turns: "none" } },
    ],
    [escalated("touch x", "A reason.")],
    [{ say: "the end" }],
  ], "all kinds of items");
}

for (const colorScheme of ["light", "dark"]) {
  for (const [what, viewport] of [["a desk", { width: 1400, height: 900 }], ["a phone", { width: 390, height: 844 }]]) {
    test(`${colorScheme}, on ${what}: no rule of accessibility is broken, contrast among them`, async () => {
      const { page, doings, context } = await openClient(server.url, { colorScheme, viewport });
      assert.deepEqual(await violations(page), [], "a new thread");
      await say(page, everything());
      await approval(page).waitFor();
      await drawn(page);
      assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), colorScheme);
      assert.deepEqual(await violations(page), [], "an approval");
      for (const name of ["Threads", "Details"]) {
        if (!(await button(page, name).isVisible())) continue;
        await button(page, name).click();
        await drawn(page);
        assert.deepEqual(await violations(page), [], `the panel ${name}`);
        await page.keyboard.press("Escape");
      }
      await button(page, "Decline").click();
      await hears(page, "Agent message", "the end");
      await idle(page);
      await page.evaluate(() => document.querySelectorAll("#log details").forEach((one) => (one.open = true)));
      await drawn(page);
      assert.deepEqual(await violations(page), [], "everything unfolded");
      await assertCalm(page, doings);
      await context.close();
    });
  }
}

test("roles and names are those of the contract", async () => {
  const { page, context } = await openClient(server.url);
  await say(page, everything());
  await approval(page).waitFor();
  for (const [role, name] of [["navigation", "Threads"], ["log", "Conversation"], ["textbox", "Message"], ["button", "Send"], ["button", "Stop"], ["button", "New thread"], ["group", "Approval"], ["button", "Approve"], ["button", "Approve for session"], ["button", "Decline"], ["region", "Plan"], ["region", "Changes"], ["tree", "Agents"], ["link", "Recording"], ["status", "Connection"]]) {
    assert.equal(await page.getByRole(role, { name, exact: true }).count(), 1, `${role} ${name}`);
  }
  for (const name of ["User message", "Agent message", "Reasoning", "Command", "File change", "Tool call", "Web search"]) assert.ok((await articles(page, name).count()) > 0, name);
  await button(page, "Stop the turn").click();
  await idle(page);
  await context.close();
});

test("23. a thread with 400 commands opens quickly and stays small", async () => {
  const { page, doings, context } = await openClient(server.url);
  const steps = Array.from({ length: COMMANDS / 100 }, (_, step) => Array.from({ length: 100 }, (_, at) => shell(at % 50 === 0 ? "seq 2000" : `echo ${step * 100 + at}`)));
  await say(page, script([...steps, [{ say: "all commands ran" }]], "a long thread"));
  // The sandbox of each command takes its time.
  for (let waited = 0; waited < 10; waited += 1) await hears(page, "Agent message", "all commands ran").then(() => (waited = 10), (error) => waited === 9 && Promise.reject(error));
  await idle(page);
  const id = await openThread(page);
  await page.evaluate(() => (location.hash = "#/"));
  await drawn(page);
  const opened = await page.evaluate(async (id) => {
    const began = performance.now();
    location.hash = `#/${id}`;
    const isThere = () => [...document.querySelectorAll("#log article")].at(-1)?.textContent.includes("all commands ran");
    while (!isThere()) await new Promise((done) => requestAnimationFrame(done));
    return { ms: performance.now() - began, nodes: document.getElementsByTagName("*").length, shown: document.querySelectorAll("#log article").length };
  }, id);
  console.log(`opened in ${Math.round(opened.ms)} ms with ${opened.nodes} elements, ${opened.shown} items`);
  assert.ok(opened.ms < OPEN_MS, `${opened.ms} ms`);
  assert.ok(opened.nodes < MAX_NODES, `${opened.nodes} elements`);
  assert.equal(opened.shown, 50, "the last items are shown first");
  // Reading up brings all items, but never all at once.
  let most = 0;
  await until(async () => {
    const state = await page.evaluate(() => {
      const log = document.querySelector("#log");
      log.scrollTop = 0;
      return { nodes: document.getElementsByTagName("*").length, first: document.querySelector("#log article").getAttribute("aria-label") };
    });
    most = Math.max(most, state.nodes);
    return state.first === "User message";
  }, "the first message is reached");
  assert.ok(most < MAX_NODES, `${most} elements while reading`);
  // Output that is folded is shown when it is opened.
  await until(async () => {
    await page.evaluate(() => (document.querySelector("#log").scrollTop = document.querySelector("#log").scrollHeight));
    return (await articles(page, "Agent message").count()) > 0;
  }, "the end is reached again");
  await assertCalm(page, doings);
  await context.close();
});

test("25. everything can be done by keyboard alone", async () => {
  const { page, doings, context } = await openClient(server.url);
  /** Presses Tab until an element with a name has the focus. */
  const tabTo = async (name, key = "Tab") => {
    for (let presses = 0; presses < 80; presses += 1) {
      const found = await page.evaluate(() => {
        const at = document.activeElement;
        return (at?.getAttribute("aria-label") ?? at?.textContent ?? "").trim();
      });
      if (found === name) return;
      await page.keyboard.press(key);
    }
    assert.fail(`Tab does not reach ${name}`);
  };
  await tabTo("Message");
  await page.keyboard.type("two lines");
  await page.keyboard.press("Shift+Enter");
  await page.keyboard.type(script([[escalated("echo by keyboard", "By keyboard.")], [{ say: "done by keyboard" }]], "please"));
  await page.keyboard.press("Enter");
  await approval(page).waitFor();
  await tabTo("Approve", "Shift+Tab");
  await page.keyboard.press("Enter");
  await hears(page, "Agent message", "done by keyboard");
  await idle(page);
  assert.equal(await page.evaluate(() => document.activeElement.id), "message", "the focus is where one goes on");
  assert.match(await articles(page, "User message").innerText(), /^two lines\nplease/);
  await tabTo("New thread", "Shift+Tab");
  await page.keyboard.press("Enter");
  await until(async () => (await openThread(page)) === null, "a new thread");
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => document.activeElement.closest("nav")?.getAttribute("aria-label")), "Threads");
  await page.keyboard.press("Enter");
  await hears(page, "Agent message", "done by keyboard");
  await assertCalm(page, doings);
  await context.close();
});

test("26. on a phone, everything fits and can be touched", async () => {
  const { page, doings, context } = await openClient(server.url, { viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true });
  await say(page, everything());
  await approval(page).waitFor();
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
  assert.ok(overflow <= 0, `${overflow} pixels stick out`);
  for (const name of ["Approve", "Approve for session", "Decline", "Threads", "Details"]) {
    const box = await button(page, name).boundingBox();
    assert.ok(box.height >= 40 && box.x >= 0 && box.x + box.width <= 360, `${name}: ${JSON.stringify(box)}`);
  }
  await button(page, "Approve").tap();
  await hears(page, "Agent message", "the end");
  await button(page, "Details").tap();
  assert.equal(await page.getByRole("tree", { name: "Agents" }).isVisible(), true);
  await button(page, "Details").tap();
  await button(page, "Threads").tap();
  await button(page, "New thread").tap();
  await until(async () => !(await threads(page).isVisible()), "the list makes room for the thread");
  assert.equal(await message(page).isVisible(), true);
  await assertCalm(page, doings);
  await context.close();
});

test("27. the colours follow the system until the reader chooses", async () => {
  const { page, context } = await openClient(server.url, { colorScheme: "dark" });
  const ground = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
  const dark = await ground();
  await page.getByLabel("Colours").selectOption("light");
  assert.notEqual(await ground(), dark);
  await page.reload();
  await connected(page);
  assert.notEqual(await ground(), dark, "the choice is kept");
  await context.close();
});

test("what a reader has opened stays open while the log grows, and the log stays where it is read", async () => {
  const { page, doings, context } = await openClient(server.url);
  const hold = gate(server, "growing");
  await say(page, script([[{ think: "one\n\ntwo" }, ...Array.from({ length: 30 }, (_, at) => ({ say: `paragraph ${at}\n\n${"text ".repeat(60)}` })), hold.action], [{ say: "grown" }]]));
  await until(async () => (await articles(page, "Command").count()) === 1, "it waits");
  await articles(page, "Reasoning").locator("summary").click();
  const before = await page.evaluate(() => {
    const node = document.querySelector("#log");
    node.scrollTop = 0;
    return node.scrollTop;
  });
  await drawn(page);
  hold.open();
  await hears(page, "Agent message", "grown");
  await idle(page);
  assert.equal(await page.evaluate(() => document.querySelector("#log").scrollTop), before);
  assert.equal(await articles(page, "Reasoning").locator("details").evaluate((one) => one.open), true);
  assert.equal(await status(page).textContent(), "connected");
  await assertCalm(page, doings);
  await context.close();
});
