/** The legend of colours, patterns and lines. It contains only what occurs in the session. */

import { element } from "./dom.js";
import { ARROW_KINDS } from "./timeline_arrows.js";
import { FILLS, OUTCOMES } from "./timeline_layout.js";
import { Painter } from "./timeline_paint.js";
import { FAILED, handOverName } from "./timeline_words.js";

const FILL_NAMES = { model: "model", tool: "tool", code: "code", wait: "wait", retry: "failed request", compaction: "compaction", other: "other" };

/** Size of a sample in pixels. */
const WIDTH = 24;
const HEIGHT = 12;

/**
 * Returns the entries of the legend.
 *
 * @param {import("./timeline_layout.js").Model} model
 * @param {import("./timeline_arrows.js").Arrows} arrows
 * @param {Object<string, string>} colours
 * @param {number} ratio
 * @returns {HTMLElement[]}
 */
export function legend(model, arrows, colours, ratio) {
  const entries = [];
  const add = (text, draw) => {
    const canvas = element("canvas", { "aria-hidden": "true" });
    canvas.width = Math.round(WIDTH * ratio);
    canvas.height = Math.round(HEIGHT * ratio);
    canvas.style.width = `${WIDTH}px`;
    canvas.style.height = `${HEIGHT}px`;
    const context = canvas.getContext("2d");
    context.scale(ratio, ratio);
    draw(Painter.sampler(context, colours, ratio, WIDTH, HEIGHT));
    entries.push(element("li", {}, canvas, text));
  };
  const fills = new Set(model.fills);
  const outcomes = new Set(model.outcomes);
  for (const [name, text] of Object.entries(FILL_NAMES)) {
    const fill = FILLS.indexOf(name);
    if (fills.has(fill)) add(text, (sampler) => sampler.bar(fill, name === "retry" ? "failed" : "completed"));
  }
  if (fills.has(FILLS.indexOf("failed"))) add(`${FAILED} failed`, (sampler) => sampler.bar(FILLS.indexOf("failed"), "failed"));
  for (const outcome of ["cancelled", "unfinished"]) {
    if (outcomes.has(OUTCOMES.indexOf(outcome))) add(outcome, (sampler) => sampler.bar(FILLS.indexOf("tool"), outcome));
  }
  const kinds = new Set(arrows.kinds);
  ARROW_KINDS.forEach((name, kind) => {
    if (kinds.has(kind)) add(name === "lost" ? `${FAILED} lost` : handOverName(name), (sampler) => sampler.arrow(kind));
  });
  return entries;
}
