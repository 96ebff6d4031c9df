/** The served page is accessible only with its secret address. */

import assert from "node:assert/strict";
import { request } from "node:http";
import { createConnection } from "node:net";
import { networkInterfaces } from "node:os";
import { after, test } from "node:test";

import { assertQuiet, close, open, ready, serve } from "./harness.mjs";

after(close);

const NAME = "three-children";

/** Sends one request with any headers, and returns the response: `{status, headers, body}`. */
function get(url, { headers = {}, method = "GET", path, setHost = true } = {}) {
  return new Promise((resolve, reject) => {
    const { hostname, port, pathname, search } = new URL(url);
    const asked = request({ hostname, port, path: path ?? pathname + search, method, headers, setHost }, (answer) => {
      let body = "";
      answer.on("data", (text) => (body += text));
      answer.on("end", () => resolve({ status: answer.statusCode, headers: answer.headers, body }));
    });
    asked.on("error", reject);
    asked.end();
  });
}

test("the address is on loopback and has a token that differs from run to run", async () => {
  const [first, second] = [await serve(NAME), await serve(NAME)];
  for (const { url } of [first, second]) assert.match(new URL(url).hostname, /^127\.0\.0\.1$|^\[::1\]$/);
  const token = (url) => new URL(url).pathname;
  assert.notEqual(token(first.url), token(second.url));
  assert.ok(token(first.url).length >= 24, token(first.url));
});

test("other interfaces do not answer", async () => {
  const { url } = await serve(NAME);
  const { port } = new URL(url);
  const others = Object.values(networkInterfaces()).flat().filter(({ internal, family }) => !internal && family === "IPv4");
  for (const { address } of others) {
    await assert.rejects(
      new Promise((resolve, reject) => createConnection({ host: address, port }).on("connect", resolve).on("error", reject)),
      { code: "ECONNREFUSED" },
      address,
    );
  }
});

test("without the right token there is no page", async () => {
  const { url } = await serve(NAME);
  const { origin, pathname } = new URL(url);
  const wrong = pathname.replace(/[0-9a-zA-Z]/, (letter) => (letter === "a" ? "b" : "a"));
  for (const path of ["/", "/structure.json", "/x/structure.json", wrong, `${wrong}structure.json`, "/../", "//"]) {
    const answer = await get(origin + "/", { path });
    assert.ok([403, 404].includes(answer.status), `${path}: ${answer.status}`);
    assert.ok(!/lantern|three-children|root/.test(answer.body), `${path} tells nothing of the session`);
  }
});

test("another host name is refused, so that DNS rebinding does not work", async () => {
  const { url } = await serve(NAME);
  const { port } = new URL(url);
  for (const host of ["attacker.invalid", `attacker.invalid:${port}`, "127.0.0.1:1", "127.0.0.1.attacker.invalid", undefined]) {
    const answer = await get(url, host ? { headers: { host } } : { setHost: false });
    assert.ok([400, 403, 421].includes(answer.status), `${host}: ${answer.status}`);
    assert.ok(!answer.body.includes("traceView"));
  }
});

test("other origins may not read, and nothing can be written", async () => {
  const { url } = await serve(NAME);
  for (const path of ["", "structure.json"]) {
    const answer = await get(url + path, { headers: { origin: "http://attacker.invalid" } });
    const allowed = Object.keys(answer.headers).filter((name) => name.startsWith("access-control-"));
    assert.deepEqual(allowed, [], path);
    assert.ok(answer.status === 403 || answer.headers["x-content-type-options"] === "nosniff", path);
  }
  for (const method of ["POST", "PUT", "DELETE", "OPTIONS", "PATCH"]) {
    const answer = await get(url, { method });
    assert.ok([403, 404, 405].includes(answer.status), `${method}: ${answer.status}`);
  }
  const page = await get(url);
  assert.equal(page.status, 200);
  assert.equal(page.headers["referrer-policy"], "no-referrer");
  assert.match(page.headers["content-security-policy"], /default-src 'none'/);
  assert.match(page.headers["content-security-policy"], /frame-ancestors 'none'/);
  assert.match(page.headers["cache-control"], /no-store/);
});

test("paths do not lead out of the session, and odd requests get an answer", async () => {
  const { url } = await serve(NAME);
  for (const path of [
    "../../../etc/passwd",
    "%2e%2e/%2e%2e/etc/passwd",
    "payload.json?of=../../etc/passwd",
    "payload.json?of=999999999",
    "payload.json?of=-1",
    "payload.json",
    "bodies.json?of=",
    `bodies.json?of=${"1,".repeat(5_000)}`,
    "bodies.json?of=18446744073709551616",
    "search.json?text=%00%ff&limit=1",
    "search.json?text=&limit=99999999999",
    "search.json",
  ]) {
    const { pathname } = new URL(url);
    const answer = await get(url, { path: pathname + path });
    assert.ok(answer.status < 500, `${path.slice(0, 60)}: ${answer.status} ${answer.body.slice(0, 200)}`);
    assert.ok(!answer.body.includes("root:x:"), path);
  }
  assert.equal((await get(url)).status, 200, "it still serves");
});

test("the page requests only its own server, sends no referrer, and works after a reload", async () => {
  const { url } = await serve(NAME);
  const { page, doings, context } = await open(url);
  const referrers = [];
  // A request that is still waiting for changes when the page is closed has no headers any more.
  page.on("request", async (request) => referrers.push(await request.allHeaders().then((headers) => headers.referer, () => null)));
  const payload = await page.evaluate(async () => {
    const { bodies, data } = window.traceView;
    return (await bodies.payload(data.rangeOf("raw_payload")[0])).text;
  });
  assert.match(payload, /^\s*[{[]/);
  await page.reload();
  await ready(page);
  assert.ok(doings.requests.every((asked) => asked.startsWith(new URL(url).origin)), String(doings.requests));
  assert.deepEqual(referrers.filter(Boolean), []);
  await assertQuiet(page, doings);
  await context.close();
});
