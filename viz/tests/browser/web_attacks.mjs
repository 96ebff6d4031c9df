/** The web client against those who may not use it: other pages, other names, other tokens, and what models and tools write. */

import assert from "node:assert/strict";
import { createServer, request } from "node:http";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { after, test } from "node:test";

import { launch, until } from "./harness.mjs";
import { approval, articles, assertCalm, button, connected, escalated, folder, hears, idle, log, openClient, say, script, shell, start, status, threads } from "./web.mjs";

const server = await start();
const others = [];
after(() => others.forEach((other) => other.close()));

/** Sends a request with any headers, and returns its status and its headers. An upgrade that succeeds has status 101. */
function ask(pathname, headers = {}, method = "GET") {
  return new Promise((resolve, reject) => {
    const sent = request({ host: "127.0.0.1", port: server.port, path: pathname, method, headers: { host: server.host, ...headers } });
    sent.on("response", (response) => {
      response.resume();
      resolve({ status: response.statusCode, headers: response.headers });
    });
    sent.on("upgrade", (response, socket) => {
      socket.destroy();
      resolve({ status: 101, headers: response.headers });
    });
    sent.on("error", reject);
    sent.end();
  });
}

/** Asks for an upgrade of `/web/ws`. */
function upgrade({ origin = `http://${server.host}`, protocols = `trace.v2, trace.token.${server.token}`, host = server.host } = {}) {
  const headers = { host, connection: "Upgrade", upgrade: "websocket", "sec-websocket-version": "13", "sec-websocket-key": "AAAAAAAAAAAAAAAAAAAAAA==" };
  if (origin !== null) headers.origin = origin;
  if (protocols !== null) headers["sec-websocket-protocol"] = protocols;
  return ask("/web/ws", headers);
}

/** Serves a page of another origin. */
async function otherOrigin(html) {
  const other = createServer((_, response) => response.writeHead(200, { "content-type": "text/html" }).end(html));
  others.push(other);
  other.listen(0, "127.0.0.1");
  await once(other, "listening");
  return `http://127.0.0.1:${other.address().port}/`;
}

test("1. every file has the headers", async () => {
  for (const pathname of ["/web/", "/web/client.js", "/web/client.css", "/web/nothing", "/web/token", "/web/recording/00000000-0000-7000-8000-000000000000/"]) {
    const { headers } = await ask(pathname);
    assert.equal(headers["cache-control"], "no-store", pathname);
    assert.equal(headers["x-content-type-options"], "nosniff", pathname);
    assert.equal(headers["referrer-policy"], "no-referrer", pathname);
    assert.equal(headers["cross-origin-opener-policy"], "same-origin", pathname);
    assert.equal(headers["cross-origin-resource-policy"], "same-origin", pathname);
    assert.match(headers["content-security-policy"], /^default-src 'none';.*require-trusted-types-for 'script'/, pathname);
    assert.match(headers["content-security-policy"], /frame-ancestors 'none'/, pathname);
    assert.equal(headers["set-cookie"], undefined, pathname);
  }
  assert.equal(
    (await ask("/web/")).headers["content-security-policy"],
    `default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self' ws://${server.host}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'`,
  );
  assert.equal((await ask("/web/", {}, "POST")).status, 405);
});

test("2. the page requests nothing but its three files and its socket", async () => {
  const { page, doings, context } = await openClient(server.url);
  const paths = doings.requests.map((url) => new URL(url)).map(({ host, pathname }) => `${host}${pathname}`);
  assert.deepEqual(paths.sort(), ["/web/", "/web/client.css", "/web/client.js"].map((one) => server.host + one));
  await assertCalm(page, doings);
  await context.close();
});

test("3. the token is in no request and leaves the address at once", async () => {
  const { page, doings, context } = await openClient(server.url);
  assert.ok(server.token.length >= 32);
  assert.ok(!page.url().includes("token"));
  assert.ok(doings.requests.every((url) => !url.split("#")[0].includes(server.token)));
  assert.ok(!(await page.content()).includes(server.token), "no element has it");
  assert.deepEqual(await context.cookies(), []);
  assert.equal(await page.evaluate(() => JSON.stringify(localStorage)), "{}");
  // Another tab has no token until it is given one.
  const other = await context.newPage();
  await other.goto(server.url.split("#")[0]);
  await until(async () => (await status(other).textContent()) === "refused", "the other tab is refused");
  await context.close();
});

test("4. to 8. five upgrades are refused", async () => {
  assert.equal((await upgrade()).status, 101);
  const refused = [
    ["without an origin", { origin: null }, 403],
    ["of the origin null", { origin: "null" }, 403],
    ["of another origin", { origin: "http://evil.example" }, 403],
    ["without a token", { protocols: "trace.v2" }, 401],
    ["with another token", { protocols: `trace.v2, trace.token.${"0".repeat(48)}` }, 401],
    ["without the protocol", { protocols: `trace.token.${server.token}` }, 401],
    ["by another name", { host: `evil.example:${server.port}` }, 403],
    ["of the right host over https", { origin: `https://${server.host}` }, 403],
  ];
  for (const [what, how, wanted] of refused) assert.equal((await upgrade(how)).status, wanted, what);
  const { headers } = await upgrade();
  assert.equal(headers["sec-websocket-protocol"], "trace.v2", "the answer does not name the token");
});

test("9. a page of another origin gets nothing, even with the token", async () => {
  const html = `<!doctype html><title>evil</title><script>
    window.told = [];
    const socket = new WebSocket("ws://${server.host}/web/ws", ["trace.v2", "trace.token.${server.token}"]);
    socket.onopen = () => told.push("socket opened");
    socket.onclose = () => told.push("socket closed");
    fetch("http://${server.host}/web/token", { headers: { authorization: "Bearer ${server.token}" } }).then(() => told.push("read"), () => told.push("fetch failed"));
    fetch("http://${server.host}/web/client.js").then(() => told.push("read"), () => told.push("script fetch failed"));
  </script><iframe src="http://${server.host}/web/"></iframe><script src="http://${server.host}/web/client.js" onload="told.push('script loaded')" onerror="told.push('script refused')"></script>`;
  const context = await (await launch()).newContext();
  const page = await context.newPage();
  await page.goto(await otherOrigin(html));
  await until(() => page.evaluate(() => window.told.length >= 4), "the attempts have ended");
  assert.deepEqual((await page.evaluate(() => window.told)).sort(), ["fetch failed", "script fetch failed", "script refused", "socket closed"]);
  const frame = page.frames()[1];
  assert.ok(!frame.url().includes("/web/") || (await frame.content()).includes("refused") || (await frame.title()) !== "trace", "it shows no frame");
  await context.close();
});

test("a. names and texts of threads are hostile", async () => {
  const { page, doings, context } = await openClient(server.url);
  const names = ["<img src=x onerror=alert(1)>", "\u202egnp.exe", "<script>alert(1)</script>", "javascript:alert(1)", "`${alert(1)}`", "\u0000\u001b[31mred", "a".repeat(10_000)];
  for (const name of names) {
    await button(page, "New thread").click();
    await say(page, script([[{ say: "named" }]], name));
    await hears(page, "Agent message", "named");
    await idle(page);
    const refused = await page.evaluate((name) => window.traceClient.session.rename(window.traceClient.session.conversation.thread, name).then(() => "", (error) => error.message), name);
    await until(async () => refused !== "" || (await page.evaluate(() => window.traceClient.session.thread.name !== null)), "it is renamed");
  }
  await until(async () => (await threads(page).getByRole("link").count()) >= names.length, "all are listed");
  const shown = await threads(page).innerText();
  assert.ok(shown.includes("<img src=x onerror=alert(1)>") && shown.includes("\\u{202e}"), shown.slice(0, 500));
  assert.equal(await page.locator("#threads img, #threads script").count(), 0);
  assert.ok((await page.title()).length < 200);
  await assertCalm(page, doings);
  await context.close();
});

test("b. and 22. markup, links and hidden characters in every text stay texts", async () => {
  const { page, doings, context } = await openClient(server.url);
  const evil = '<img src=x onerror="alert(1)"><svg onload=alert(1)><iframe srcdoc="<script>alert(1)</script>">';
  const links = "[click](javascript:alert(1)) [data](data:text/html,<script>alert(1)</script>) ![pixel](https://evil.example/pixel.png) [fine](https://good.example/a) <https://evil.example/b>";
  const trick = "echo safe \u202e; rm -rf ~ \u2066# harmless\u200b";
  const plan = [{ step: evil, status: "in_progress" }];
  const questionable = [
    [{ think: evil }, { say: `${evil}\n\n${links}\n\n| a | b |\n|---|---|\n| ${evil} | x |\n\n\`\`\`html\n${evil}\n\`\`\`` }, { call: "update_plan", args: { plan, explanation: evil } }, shell(`printf '%s' '<img src=x onerror=alert(1)>'; printf '\\033[2J\\007'`), { search: evil }],
    [{ custom: "apply_patch", input: `*** Begin Patch\n*** Add File: <img src=x>.txt\n+${evil}\n*** End Patch` }],
    [escalated(trick, evil)],
    [{ say: "survived" }],
  ];
  await say(page, script(questionable, evil));
  await approval(page).waitFor();
  const asked = await approval(page).innerText();
  assert.ok(asked.includes("\\u{202e}") && asked.includes("\\u{2066}") && asked.includes("\\u{200b}"), asked);
  assert.ok(asked.includes(evil), "the reason is shown as it is");
  await button(page, "Decline").click();
  await hears(page, "Agent message", "survived");
  await idle(page);
  for (const summary of await log(page).locator("summary").all()) if (!(await summary.evaluate((one) => one.parentElement.open))) await summary.click();
  assert.equal(await page.locator("img, svg, iframe, script:not([src='client.js'])").count(), 0, "nothing became an element");
  const hrefs = await log(page).locator("a").evaluateAll((all) => all.map((one) => one.href));
  assert.ok(hrefs.every((href) => /^https?:\/\//.test(href)), hrefs.join(" "));
  assert.ok(hrefs.includes("https://good.example/a"));
  const said = await articles(page, "Agent message").first().innerText();
  assert.ok(said.includes("(https://good.example/a)"), "a link is shown with its address");
  assert.ok(said.includes("[click](javascript:alert(1))"), "a script is no link");
  assert.ok((await articles(page, "Command").first().innerText()).includes("\\u{1b}[2J"), "control characters are shown");
  assert.ok(doings.requests.every((url) => url.startsWith(`http://${server.host}/`)), doings.requests.join(" "));
  await assertCalm(page, doings);
  await context.close();
});

test("c. a domain name that resolves to this machine opens nothing", async () => {
  for (const name of [`evil.example:${server.port}`, `127.0.0.1.evil.example:${server.port}`, "127.0.0.1", `localhost.:${server.port}`, `0.0.0.0:${server.port}`]) {
    for (const pathname of ["/web/", "/web/client.js", "/web/token", "/web/recording/00000000-0000-7000-8000-000000000000/"]) {
      const answer = await ask(pathname, { host: name, authorization: `Bearer ${server.token}` }).catch(() => ({ status: 400 }));
      assert.ok([400, 403].includes(answer.status), `${name} ${pathname}: ${answer.status}`);
    }
  }
  // In the browser: the name resolves to the loopback address, and the page is same-origin with itself.
  const context = await (await launch()).newContext();
  const page = await context.newPage();
  const answer = await page.goto(`http://evil.localhost:${server.port}/web/#token=${server.token}`);
  assert.equal(answer.status(), 403);
  assert.equal(await page.evaluate(() => document.scripts.length), 0);
  assert.equal((await ask("/web/", { host: `localhost:${server.port}` })).status, 200);
  await context.close();
});

test("d. a stolen address without the token shows nothing", async () => {
  const owner = await openClient(server.url);
  await say(owner.page, script([[{ say: "a secret of the owner" }]]));
  await hears(owner.page, "Agent message", "a secret of the owner");
  const stolen = owner.page.url();
  const stranger = await (await launch()).newContext();
  for (const token of ["", `token=${"0".repeat(48)}`]) {
    const page = await stranger.newPage();
    await page.goto(token ? `${stolen.split("#")[0]}#${token}` : stolen);
    await until(async () => (await status(page).textContent()) === "refused", "it is refused");
    await page.getByRole("form", { name: "Token" }).waitFor();
    assert.ok(!(await page.content()).includes("a secret of the owner"));
    assert.equal(await threads(page).getByRole("link").count(), 0);
    assert.equal(await button(page, "Send").isDisabled(), true);
  }
  await stranger.close();
  await owner.context.close();
});

test("e. other ways in keep their rules", async () => {
  const pageOrigin = { origin: `http://${server.host}` };
  assert.equal((await ask("/healthz", pageOrigin)).status, 403);
  assert.equal((await ask("/bridge", pageOrigin, "POST")).status, 403);
  assert.equal((await ask("/web/", pageOrigin)).status, 403, "only the socket has an origin");
  const socket = { connection: "Upgrade", upgrade: "websocket", "sec-websocket-version": "13", "sec-websocket-key": "AAAAAAAAAAAAAAAAAAAAAA==" };
  assert.equal((await ask("/", { ...socket, ...pageOrigin })).status, 403, "a page has no other socket");
  assert.equal((await ask("/", socket)).status, 101, "programs connect as before");
  for (const pathname of ["/web/recording/../../etc/passwd", "/web/recording/..%2f..%2fetc/structure.json", "/web/recording/a/structure.json"]) {
    const answer = await ask(pathname, { authorization: `Bearer ${server.token}` });
    assert.equal(answer.status, 404, pathname);
  }
});

test("f. with a rule for tokens, the page asks for one and prints none", async () => {
  const at = folder();
  const file = path.join(at.place, "rule");
  const secret = "any token/with=signs that no subprotocol has";
  writeFileSync(file, secret, { mode: 0o600 });
  const strict = await start({ at, more: ["--ws-auth", "capability-token", "--ws-token-file", file] });
  assert.ok(!strict.told.includes(secret) && !strict.url.includes("#"));
  const context = await (await launch()).newContext();
  const page = await context.newPage();
  await page.goto(strict.url);
  await page.getByLabel("Token").last().fill(secret);
  await button(page, "Connect").click();
  await connected(page);
  await context.close();
});
