/** The page of a lake in a real browser: what it shows, the way from a point to the page of a session, keys, colours, and attacks. */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { after, test } from "node:test";

import { PATIENCE_MS, axe, close, drawn, launch, ready, setup, until, watch } from "../../../../viz/tests/browser/harness.mjs";

const servers = [];

after(async () => {
  for (const server of servers) server.kill("SIGKILL");
  await close();
});

/** Serves a lake with the real binary, and returns the address that it prints. */
async function serve(lake, ...more) {
  const server = spawn(setup.trace, ["view", "--lake", lake, ...more], { stdio: ["ignore", "pipe", "inherit"] });
  servers.push(server);
  const ended = once(server, "exit").then(([code]) => assert.fail(`trace fleet view exited with ${code}`));
  const printed = (async () => {
    for await (const line of createInterface({ input: server.stdout })) return line;
    return ended;
  })();
  const url = await Promise.race([printed, ended]);
  ended.catch(() => {});
  return url;
}

const url = await serve(setup.lake, "--prices", setup.prices);

/** Opens the page and waits until it has all answers. */
async function open(options = {}, at = url) {
  const context = await (await launch()).newContext({ viewport: { width: 1360, height: 900 }, reducedMotion: "reduce", ...options });
  const page = await context.newPage();
  const doings = watch(page);
  await page.addInitScript(() => {
    window.refusals = [];
    document.addEventListener("securitypolicyviolation", (event) => window.refusals.push(`${event.effectiveDirective}: ${event.blockedURI || event.sample}`));
  });
  await page.goto(at);
  await until(() => page.evaluate(() => document.documentElement.dataset.state !== "loading"), "the page is loaded");
  await settled(page);
  return { page, doings, context };
}

/** Waits until no question is open, and what was answered is drawn. */
async function settled(page) {
  await drawn(page);
  await until(() => page.evaluate(() => window.traceFleet.page.open === 0 && !document.querySelector("[aria-busy=true]")), "all questions are answered");
  await drawn(page);
}

async function assertCalm(page, doings) {
  assert.deepEqual(doings.errors, [], "console errors");
  assert.deepEqual(doings.dialogs, [], "dialogs");
  assert.deepEqual(await page.evaluate(() => window.refusals), [], "violations of the content security policy");
}

/** Asks the lake with the real binary. */
function ask(sql) {
  return setup.answers[sql] ?? assert.fail(`no answer to ${sql}`);
}

const everything = (page) => page.getByRole("button", { name: "All", exact: true }).click().then(() => settled(page));
const listed = (page) => page.getByRole("status", { name: "Sessions listed" });
const figure = (page, name) => page.getByRole("figure", { name });

test("it shows what the lake has", async () => {
  const { page, doings, context } = await open();
  await everything(page);
  const { sessions, failures, red } = ask("counts");
  assert.match(await listed(page).textContent(), new RegExp(`^25 of ${sessions} sessions`));
  assert.match(await figure(page, "Failures by category").textContent(), new RegExp(`${failures} failures`));
  assert.match(await figure(page, "Sessions by outcome").textContent(), new RegExp(`${sessions} sessions`));
  assert.equal(await figure(page, "Costs by model in EUR").count(), 1);
  await page.getByLabel("Team").selectOption("red");
  await settled(page);
  assert.match(await listed(page).textContent(), new RegExp(`of ${red} sessions`));
  assert.match(await page.evaluate(() => location.hash), /team=red/);
  await page.getByRole("button", { name: "Remove Team: red" }).click();
  await settled(page);
  assert.match(await listed(page).textContent(), new RegExp(`of ${sessions} sessions`));
  await page.goBack();
  await settled(page);
  assert.match(await listed(page).textContent(), new RegExp(`of ${red} sessions`), "the browser goes back");
  await page.reload();
  await settled(page);
  assert.match(await listed(page).textContent(), new RegExp(`of ${red} sessions`), "and the place survives a reload");
  await assertCalm(page, doings);
  await context.close();
});

test("a point leads to its sessions, and a session to its page and back", async () => {
  const { page, doings, context } = await open();
  await everything(page);
  const part = figure(page, "Failures by category").getByRole("option").first();
  const [, days, category, count] = (await part.getAttribute("aria-label")).match(/^(.+), (.+): (\d+) failures?$/);
  await part.click();
  await settled(page);
  assert.equal(await page.getByRole("heading", { name: `Sessions of ${days}, failure ${category}` }).count(), 1);
  const rows = page.getByRole("region", { name: "List of sessions" }).getByRole("link");
  assert.ok((await rows.count()) >= 1 && (await rows.count()) <= Number(count));
  const name = await rows.first().textContent();
  await rows.first().click();
  await page.waitForURL(/\/session\//);
  await ready(page);
  assert.match(page.url(), /\/session\/\d{4}-\d\d-\d\d-[0-9a-f]+\/$/);
  assert.ok(name.length > 0);
  await page.goBack();
  await page.waitForFunction(() => window.traceFleet !== undefined);
  await settled(page);
  assert.equal(await page.getByRole("heading", { name: `Sessions of ${days}, failure ${category}` }).count(), 1, "the list is as it was left");
  await page.getByRole("button", { name: "Back to all of them" }).click();
  await settled(page);
  assert.equal(await page.getByRole("heading", { name: "Sessions", exact: true }).count(), 1);
  await assertCalm(page, doings);
  await context.close();
});

test("groups are tabs, and a group narrows the page", async () => {
  const { page, doings, context } = await open();
  await everything(page);
  for (const name of ["Failures", "Same failures", "Tools", "Models", "Teams", "Repositories", "Versions", "Findings"]) {
    await page.getByRole("tab", { name, exact: true }).click();
    await settled(page);
    assert.equal(await page.getByRole("tab", { name, exact: true, selected: true }).count(), 1, name);
    assert.ok(!/No answer/.test(await page.getByRole("tabpanel").textContent()), name);
  }
  await page.getByRole("tab", { name: "Tools" }).click();
  await settled(page);
  const tool = page.getByRole("tabpanel").getByRole("button").first();
  const name = await tool.textContent();
  await tool.click();
  await settled(page);
  assert.equal(await page.getByRole("button", { name: `Remove Failed tool: ${name}` }).count(), 1);
  await page.getByRole("button", { name: "More" }).waitFor({ state: "attached" });
  await assertCalm(page, doings);
  await context.close();
});

test("a longer list comes in steps", async () => {
  const { page, doings, context } = await open();
  await everything(page);
  const rows = () => page.getByRole("region", { name: "List of sessions" }).locator("tbody tr").count();
  assert.equal(await rows(), 25);
  await page.getByRole("button", { name: "More", exact: true }).click();
  await settled(page);
  assert.equal(await rows(), 40);
  assert.equal(await page.getByRole("button", { name: "More", exact: true }).isVisible(), false);
  await page.getByLabel("Order").selectOption("failures");
  await settled(page);
  assert.equal(await rows(), 25);
  const failures = await page.locator("#sessions tbody tr td.number:nth-of-type(7)").allTextContents();
  assert.deepEqual(failures.map(Number), failures.map(Number).sort((one, other) => other - one));
  await assertCalm(page, doings);
  await context.close();
});

test("everything can be done by keyboard alone", async () => {
  const { page, doings, context } = await open();
  await everything(page);
  await page.locator("#skip").focus();
  await page.keyboard.press("Enter");
  assert.equal(await page.evaluate(() => document.activeElement.id), "sessions");
  await figure(page, "Failures by category").getByRole("listbox").focus();
  const active = () => page.evaluate(() => document.getElementById(document.activeElement.getAttribute("aria-activedescendant"))?.getAttribute("aria-label"));
  const last = await active();
  await page.keyboard.press("ArrowLeft");
  const before = await active();
  assert.notEqual(before, last);
  await page.keyboard.press("ArrowRight");
  assert.equal((await active()).split(",")[0], last.split(",")[0]);
  await page.keyboard.press("Home");
  const [days] = (await active()).split(",");
  await page.keyboard.press("Enter");
  await settled(page);
  assert.equal(await page.evaluate(() => document.activeElement.id), "sessions", "the focus is at the list");
  assert.match(await page.getByRole("heading", { name: /^Sessions of/ }).textContent(), new RegExp(days));
  await page.getByRole("tab", { selected: true }).focus();
  await page.keyboard.press("ArrowRight");
  await settled(page);
  assert.equal(await page.evaluate(() => document.activeElement.textContent), "Same failures");
  await page.locator("figure summary").first().focus();
  await page.keyboard.press("Enter");
  await page.getByRole("region", { name: "Failures by category as a table" }).waitFor();
  await page.getByRole("region", { name: "List of sessions" }).getByRole("link").first().focus();
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/session\//);
  await ready(page);
  await assertCalm(page, doings);
  await context.close();
});

for (const colorScheme of ["light", "dark"]) {
  for (const [what, viewport] of [["a desk", { width: 1360, height: 900 }], ["a phone", { width: 360, height: 740 }]]) {
    test(`${colorScheme}, on ${what}: no rule of accessibility is broken, contrast among them, and everything fits`, async () => {
      const { page, doings, context } = await open({ colorScheme, viewport });
      await everything(page);
      await page.locator("#choice-category").selectOption({ index: 1 });
      await settled(page);
      for (const summary of await page.locator("figure summary").all()) await summary.click();
      assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), colorScheme);
      await page.evaluate(axe());
      const found = await page.evaluate(() => window.axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] }));
      const told = found.violations.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes.slice(0, 4).map((node) => `${node.target} (${node.any[0]?.message ?? node.failureSummary})`).join("; ")}`);
      assert.deepEqual(told, []);
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
      assert.ok(overflow <= 0, `${overflow} pixels stick out`);
      await assertCalm(page, doings);
      await context.close();
    });
  }
}

test("colours of bars differ enough from the ground", async () => {
  for (const colorScheme of ["light", "dark"]) {
    const { page, context } = await open({ colorScheme });
    const low = await page.evaluate(() => {
      const style = getComputedStyle(document.documentElement);
      const channel = (value) => (value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
      const luminance = (name) => {
        const [red, green, blue] = style.getPropertyValue(name).trim().match(/\w\w/g).map((hex) => channel(Number.parseInt(hex, 16) / 255));
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
      };
      const ground = luminance("--panel");
      const names = [...Array.from({ length: 7 }, (_, at) => `--series-${at}`), "--rest"];
      return names.filter((name) => (Math.max(luminance(name), ground) + 0.05) / (Math.min(luminance(name), ground) + 0.05) < 3);
    });
    assert.deepEqual(low, [], colorScheme);
    await context.close();
  }
});

test("the token is in no request and not in the address, and without it there is no data", async () => {
  const { page, doings, context } = await open();
  const token = new URL(url).hash.replace("#token=", "");
  assert.ok(token.length >= 32);
  assert.equal(await page.evaluate(() => location.hash), "");
  assert.ok(doings.requests.every((asked) => asked.startsWith(new URL(url).origin) && !asked.split("#")[0].includes(token)), String(doings.requests));
  await context.close();
  const without = await (await launch()).newContext();
  const stranger = await without.newPage();
  await stranger.goto(new URL(url).origin);
  await until(() => stranger.evaluate(() => document.documentElement.dataset.state === "refused"), "it is refused");
  assert.match(await stranger.locator("#message").textContent(), /needs the token/);
  assert.ok(!/session-0|red|blue/.test(await stranger.locator("body").textContent()));
  await without.close();
});

test("texts of a lake are shown as text", async () => {
  const hostile = await serve(setup.hostile);
  const { page, doings, context } = await open({}, hostile);
  await everything(page);
  const shown = await page.locator("body").textContent();
  assert.ok(shown.includes("<img src=x onerror=alert(1)>"), "markup is text");
  assert.ok(!shown.includes("\u202e"), "characters that change the direction of text are escapes");
  for (const name of ["Teams", "Same failures", "Tools"]) {
    await page.getByRole("tab", { name, exact: true }).click();
    await settled(page);
  }
  assert.equal(await page.locator("img, iframe, script:not([src])").count(), 0);
  assert.ok(doings.requests.every((asked) => asked.startsWith(new URL(hostile).origin)), String(doings.requests));
  await assertCalm(page, doings);
  await context.close();
});

test("a page whose server has ended says so", async () => {
  const address = await serve(setup.lake);
  const { page, context } = await open({}, address);
  servers.at(-1).kill("SIGTERM");
  await once(servers.at(-1), "exit");
  await page.getByLabel("Team").selectOption("red");
  await until(async () => /does not answer/.test(await page.locator("#sessions").textContent()), `it says so within ${PATIENCE_MS} ms`);
  await context.close();
});
