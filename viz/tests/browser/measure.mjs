/**
 * Measures pages: the time until they can be used, and the frame rate while scrolling and zooming. It prints figures
 * and fails nothing; `cargo bench -p trace-cli --bench page` runs it.
 */

import { readFileSync } from "node:fs";

import { close, drawn, fileUrl, launch, ready, serve, setup } from "./harness.mjs";

/** How often each page is opened. */
const LOADS = 5;

/** Wheel events in one gesture. */
const WHEELS = 120;

const middle = (numbers) => [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)];

/** Opens a new page and returns when it was ready and when the next frame was drawn, in ms. */
async function load(url) {
  const context = await (await launch()).newContext({ viewport: { width: 1600, height: 1000 } });
  const page = await context.newPage();
  await page.addInitScript(() => {
    new MutationObserver(() => {
      if (document.documentElement?.dataset.state !== "ready" || window.times) return;
      window.times = { ready: performance.now() };
      requestAnimationFrame(() => setTimeout(() => (window.times.drawn = performance.now())));
    }).observe(document, { subtree: true, attributes: true, attributeFilter: ["data-state"] });
  });
  await page.goto(url);
  await ready(page);
  await drawn(page);
  await drawn(page);
  return { context, page, times: await page.evaluate(() => window.times) };
}

/** Sends wheel events to the timeline and returns the intervals between frames, in ms. */
async function frames(page, turn) {
  await page.evaluate(() => {
    const times = [];
    const note = (now) => {
      times.push(now);
      window.next = requestAnimationFrame(note);
    };
    window.times = times;
    window.next = requestAnimationFrame(note);
  });
  for (let index = 0; index < WHEELS; index += 1) await turn(index);
  const times = await page.evaluate(() => {
    cancelAnimationFrame(window.next);
    return window.times;
  });
  return times.slice(1).map((time, index) => time - times[index]);
}

function tell(what, intervals) {
  const total = intervals.reduce((sum, interval) => sum + interval, 0);
  const ordered = [...intervals].sort((a, b) => a - b);
  const late = intervals.filter((interval) => interval > 1000 / 30 + 1).length;
  const figures = [
    `${((1000 * intervals.length) / total).toFixed(1)} frames/s`,
    `95 % within ${ordered[Math.floor(ordered.length * 0.95)].toFixed(1)} ms`,
    `longest ${ordered.at(-1).toFixed(1)} ms`,
    `${late} of ${intervals.length} frames later than 1/30 s`,
  ];
  console.log(`  ${what.padEnd(28)} ${figures.join(", ")}`);
}

for (const name of Object.keys(setup.files)) {
  const { url: servedUrl, stop } = await serve(name);
  console.log(`${name}: page of ${(readFileSync(setup.files[name]).length / 1e6).toFixed(1)} MB`);
  for (const [form, url] of [["file", fileUrl(name)], ["served", servedUrl]]) {
    const loads = [];
    for (let run = 0; run < LOADS; run += 1) {
      const { context, times } = await load(url);
      loads.push(times);
      await context.close();
    }
    const [usable, painted] = ["ready", "drawn"].map((key) => middle(loads.map((times) => times[key])).toFixed(0));
    const worst = Math.max(...loads.map((times) => times.drawn)).toFixed(0);
    console.log(`  ${form.padEnd(28)} ready after ${usable} ms, drawn after ${painted} ms (median of ${LOADS}; worst ${worst} ms)`);
  }
  const { context, page } = await load(fileUrl(name));
  const box = await page.locator("#timeline").boundingBox();
  await page.mouse.move(box.x + box.width * 0.6, box.y + box.height / 2);
  const wheel = (dx, dy) => page.mouse.wheel(dx, dy);
  tell("scroll over lanes", await frames(page, (index) => wheel(0, index < WHEELS / 2 ? 120 : -120)));
  await page.keyboard.down("Control");
  tell("zoom in and out", await frames(page, (index) => wheel(0, index < WHEELS / 2 ? -60 : 60)));
  for (let index = 0; index < 20; index += 1) await wheel(0, -60);
  await page.keyboard.up("Control");
  tell("pan, zoomed in", await frames(page, (index) => wheel(index < WHEELS / 2 ? 100 : -100, 0)));
  await page.mouse.down();
  tell("drag", await frames(page, (index) => page.mouse.move(box.x + box.width * 0.6 - (index % 60) * 8, box.y + 80)));
  await page.mouse.up();
  const transcript = await page.locator("#transcript").boundingBox();
  if (transcript) {
    await page.mouse.move(transcript.x + 40, transcript.y + transcript.height / 2);
    tell("scroll the transcript", await frames(page, (index) => wheel(0, index < WHEELS / 2 ? 240 : -240)));
  }
  await context.close();
  await stop();
}
await close();
