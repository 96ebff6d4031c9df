/**
 * Measures a page that follows a session: the frame rate while the session grows, and how long the page takes to show what
 * changed. It prints figures and fails nothing; `cargo bench -p trace-cli --bench page` runs it.
 */

import { execFileSync } from "node:child_process";
import { appendFileSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";

import { close, launch, ready, serve, setup } from "./harness.mjs";

/** The share of the session that is there at first. */
const FIRST_SHARE = 0.6;

/** Events per second, in how many pieces they are written, and for how long. 500 agents with 2,500 events per second do five things a second each. */
const EVENTS_PER_SECOND = 2500;
const PIECES_PER_SECOND = 20;
const SECONDS = 15;

/** Copies a bundle with the beginning of its log. Returns a function that appends lines. Payloads are hard links. */
function cut(name) {
  const bundle = `${setup.bundles[name]}-live`;
  execFileSync("cp", ["-al", setup.bundles[name], bundle]);
  const log = path.join(bundle, "trace.jsonl");
  const lines = readFileSync(log, "utf8").split(/(?<=\n)/);
  let written = Math.floor(lines.length * FIRST_SHARE);
  rmSync(log);
  writeFileSync(log, lines.slice(0, written).join(""));
  setup.bundles[`${name}-live`] = bundle;
  return (count) => {
    appendFileSync(log, lines.slice(written, written + count).join(""));
    written += count;
  };
}

/** Records the intervals between frames, and how long each change took, while the session grows. */
function watch(page, seconds) {
  return page.evaluate(async (seconds) => {
    const { live, data, timeline } = window.traceView;
    const [intervals, changes] = [[], []];
    let [last, seen] = [await new Promise(requestAnimationFrame), live.applied];
    const end = last + seconds * 1000;
    while (last < end) {
      const now = await new Promise(requestAnimationFrame);
      intervals.push(now - last);
      last = now;
      if (live.applied !== seen) changes.push(live.milliseconds);
      seen = live.applied;
    }
    const objects = data.types.reduce((sum, { count }) => sum + count, 0);
    return { intervals, changes, agents: data.raw.order.length, bars: data.raw.bars.object.length, objects, draw: timeline.frameMilliseconds };
  }, seconds);
}

const at = (sorted, share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;

try {
  for (const name of Object.keys(setup.bundles)) {
    const grow = cut(name);
    const { url } = await serve(`${name}-live`);
    const context = await (await launch()).newContext({ viewport: { width: 1600, height: 1000 } });
    const page = await context.newPage();
    await page.goto(url);
    await ready(page);
    const timer = setInterval(() => grow(Math.ceil(EVENTS_PER_SECOND / PIECES_PER_SECOND)), 1000 / PIECES_PER_SECOND);
    const { intervals, changes, agents, bars, objects, draw } = await watch(page, SECONDS);
    clearInterval(timer);
    for (const list of [intervals, changes]) list.sort((a, b) => a - b);
    const total = intervals.reduce((sum, interval) => sum + interval, 0);
    console.log(
      `${name}, followed: ${agents} agents, ${bars} bars, ${objects} objects at the end; ${((1000 * intervals.length) / total).toFixed(1)} frames/s, ` +
        `99 % of frames within ${at(intervals, 0.99).toFixed(1)} ms, longest ${intervals.at(-1).toFixed(0)} ms, ${intervals.filter((one) => one > 34).length} longer than two; ` +
        `${changes.length} changes, median ${at(changes, 0.5).toFixed(1)} ms, longest ${at(changes, 1).toFixed(1)} ms; a frame is drawn in ${draw.toFixed(1)} ms`,
    );
    await context.close();
  }
} finally {
  await close();
}
