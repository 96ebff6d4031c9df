/**
 * Checks that a session whose every string attacks the page achieves nothing: no script runs, no dialog opens and
 * nothing is requested, whatever object is selected.
 */

import assert from "node:assert/strict";
import { after, test } from "node:test";

import { assertQuiet, close, drawn, fileUrl, open, query, ready, selected, serve, until } from "./harness.mjs";

after(close);

const NAME = "hostile";

/** Elements that the page never creates, and attributes that it never sets. */
const FOREIGN = [
  "iframe, object, embed, base, form, link, img, video, audio, math, marquee, plaintext, foreignObject, animate",
  "meta[http-equiv=refresh i]",
  "a[href]:not([href^='#'])",
  "[onload], [onerror], [onclick], [onfocus], [onmouseover], [autofocus], [srcdoc], [style*='url']",
].join(", ");

async function assertUnharmed(page, doings, url) {
  assert.equal(await page.evaluate(() => window.pwned), undefined, "a script of the session ran");
  assert.equal(await page.evaluate(() => Object.keys(Object.prototype).length), 0, "a name of the session changed a prototype");
  const foreign = await page.evaluate(
    (selector) => [...document.querySelectorAll(selector)].map((found) => found.outerHTML.slice(0, 200)),
    FOREIGN,
  );
  assert.deepEqual(foreign, [], "elements of the session");
  const own = new URL("./", url).href;
  const elsewhere = doings.requests.filter((request) => !request.startsWith(own) && !request.startsWith("blob:"));
  assert.deepEqual(elsewhere, [], "requests to other servers");
  await assertQuiet(page, doings);
}

for (const form of ["file", "served"]) {
  test(`${form}: every object can be selected`, async () => {
    const { url } = form === "file" ? { url: fileUrl(NAME) } : await serve(NAME);
    const { page, doings, context } = await open(url);
    // Numbers between those of two types are kept free in a page that can change.
    const numbers = await page.evaluate(() =>
      window.traceView.data.types.flatMap(({ first, count }) => Array.from({ length: count }, (_, index) => first + index)),
    );
    assert.ok(numbers.length > 400, `${numbers.length} objects`);
    for (const n of numbers) {
      await page.evaluate((n) => window.traceView.store.select(n), n);
      if (n % 20 === 0) await drawn(page);
    }
    await drawn(page);
    await assertUnharmed(page, doings, url);

    // Unfold everything in every transcript.
    const threads = await page.evaluate(() => window.traceView.data.raw.order);
    for (const thread of threads) {
      await page.evaluate((n) => window.traceView.store.select(n), thread);
      await drawn(page);
      await page.evaluate(() => {
        for (const folded of document.querySelectorAll("details:not([open])")) folded.open = true;
        for (const folded of document.querySelectorAll("main [aria-expanded=false]")) folded.click();
      });
      await drawn(page);
    }
    // Texts contain no character that acts, hides, or reorders the text around it.
    const raw = await page.evaluate(() => {
      const texts = [...document.querySelectorAll("pre, .prose, .tool-subject")].map((found) => found.textContent);
      return texts.filter((text) => /[\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\x00-\x08\x0b-\x1f\x7f-\x9f]/.test(text));
    });
    assert.deepEqual(raw, [], "characters that act, in texts");
    await assertUnharmed(page, doings, url);
    await context.close();
  });

  test(`${form}: every attacking object can be searched for, hovered and linked`, async () => {
    const { url } = form === "file" ? { url: fileUrl(NAME) } : await serve(NAME);
    const { page, doings, context } = await open(url);
    for (const text of ["<script>window.pwned=1</script>", "onerror=window.pwned", "\u202e", "__proto__", "\\", "%00"]) {
      await page.locator("#search").fill(text);
      await page.locator("#search").press("Enter");
      await drawn(page);
    }
    await page.locator("#search").fill("<svg onload");
    await page.locator("#search").press("Enter");
    await until(() => page.evaluate(() => window.traceView.store.found?.size ?? 0), "an attack is found, as text");
    const box = await page.locator("#timeline").boundingBox();
    for (let x = 0; x < box.width; x += 25) {
      for (let y = 10; y < Math.min(box.height, 300); y += 30) await page.mouse.move(box.x + x, box.y + y);
    }
    const refs = await page.evaluate(() => {
      const { data } = window.traceView;
      const some = [];
      for (let n = 0; n < data.size; n += 1) {
        const id = data.raw.objects.id[n];
        if (id && !/^[\w:.-]+$/.test(id)) some.push(data.refOf(n));
      }
      const odd = ["thread:__proto__", "codex_turn:constructor", "tool_call:null", "inference_call:..%2f#?:&"];
      return [...odd.filter((ref) => data.numberOf(ref) >= 0), ...some.filter((_, index) => index % 17 === 0)];
    });
    assert.ok(refs.includes("thread:__proto__") && refs.length > 20, "ids contain attacks");
    for (const ref of refs) {
      await page.evaluate((ref) => window.traceView.store.select(window.traceView.data.numberOf(ref)), ref);
      assert.equal(await selected(page), ref);
      await until(() => page.evaluate(() => location.hash.length > 1), "the address names what is selected");
      await page.reload();
      await ready(page);
      assert.equal(await selected(page), ref, "the link restores the selection");
    }
    await assertUnharmed(page, doings, url);
    await context.close();
  });

  test(`${form}: markup that gets into the page is refused by the policy`, async () => {
    const { url } = form === "file" ? { url: fileUrl(NAME) } : await serve(NAME);
    const { page, doings, context } = await open(url);
    const attempts = await page.evaluate(async () => {
      const failed = [];
      const attempt = (what, act) => {
        try {
          return act();
        } catch (error) {
          failed.push(`${what}: ${error.name}`);
        }
      };
      attempt("innerHTML", () => (document.createElement("div").innerHTML = "<img src=x onerror=window.pwned=1>"));
      attempt("document.write", () => document.write("<script>window.pwned=1</script>"));
      attempt("script", () => {
        const script = document.createElement("script");
        script.text = "window.pwned=1";
        document.body.append(script);
      });
      attempt("handler", () => document.body.setAttribute("onclick", "window.pwned=1"));
      document.body.click();
      attempt("link", () => {
        const link = document.createElement("a");
        link.href = "javascript:window.pwned=1";
        document.body.append(link);
        link.click();
      });
      attempt("image", () => (new Image().src = "http://attacker.invalid/image.png"));
      attempt("frame", () => {
        const frame = document.createElement("iframe");
        frame.src = "http://attacker.invalid/";
        document.body.append(frame);
      });
      await fetch("http://attacker.invalid/").catch((error) => failed.push(`fetch: ${error.name}`));
      return failed;
    });
    for (const what of ["innerHTML", "document.write", "fetch"]) {
      assert.ok(attempts.some((attempt) => attempt.startsWith(`${what}:`)), `${what} is refused: ${attempts}`);
    }
    const wanted = ["connect-src", "script-src", "img-src", "frame-src"];
    await until(async () => {
      const refusals = await page.evaluate(() => window.refusals);
      return wanted.every((directive) => refusals.some((refusal) => refusal.startsWith(directive)));
    }, `refusals by ${wanted}`);
    assert.equal(await page.evaluate(() => window.pwned), undefined);
    assert.deepEqual(doings.dialogs, []);
    await context.close();
  });
}

test("names do not affect the layout around them", async () => {
  const { page, context } = await open(fileUrl(NAME));
  const [{ threads }] = query(NAME, "SELECT count(*) AS threads FROM threads");
  const items = page.locator("#tree [role=treeitem]");
  assert.equal(await items.count(), threads);
  for (const item of await items.all()) {
    const box = await item.boundingBox();
    assert.ok(box.height < 120, `an agent takes ${box.height} px of the tree`);
  }
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  assert.ok(overflow <= 0, `the page is ${overflow} px too wide`);
  await context.close();
});
