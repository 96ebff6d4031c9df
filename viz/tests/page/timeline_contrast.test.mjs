import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { CANCELLED_SHARE } from "../../src/page/assets/timeline_paint.js";

const STYLE = readFileSync(new URL("../../src/page/assets/timeline.css", import.meta.url), "utf8");

/** Returns the colours of a block of the style sheet, as `{name: [red, green, blue]}`. */
function coloursOf(selector) {
  const start = STYLE.search(new RegExp(`${selector.replace(/[()[\]]/g, "\\$&")}(,[^{]*)? \{`));
  assert.ok(start >= 0, selector);
  const block = STYLE.slice(start, STYLE.indexOf("}", start));
  const colours = {};
  for (const [, name, hex] of block.matchAll(/--timeline-([\w-]+):[^;]*#([0-9a-f]{6})[^0-9a-f]/g)) {
    colours[name] = [0, 2, 4].map((at) => parseInt(hex.slice(at, at + 2), 16));
  }
  return colours;
}

function luminance(colour) {
  const [red, green, blue] = colour.map((value) => {
    const share = value / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(one, other) {
  const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

function mixed(front, back, share) {
  return front.map((value, at) => value * share + back[at] * (1 - share));
}

const FILLED = ["model", "tool", "code", "retry", "compaction", "other", "failed"];

for (const selector of [":root", ':root[data-theme="dark"]']) {
  const colours = coloursOf(selector);

  test(`${selector}: texts can be read (WCAG AA)`, () => {
    for (const name of FILLED) {
      assert.ok(contrast(colours["on-bar"], colours[name]) >= 4.5, `text on ${name}: ${contrast(colours["on-bar"], colours[name])}`);
      const cancelled = mixed(colours[name], colours.turn, CANCELLED_SHARE);
      assert.ok(contrast(colours.text, cancelled) >= 4.5, `text on cancelled ${name}: ${contrast(colours.text, cancelled)}`);
    }
    for (const ground of ["ground", "gutter", "chosen", "turn", "wait"]) {
      assert.ok(contrast(colours.text, colours[ground]) >= 4.5, `text on ${ground}`);
    }
    for (const ground of ["gutter", "chosen"]) {
      for (const name of ["muted", "failed", "retry"]) {
        assert.ok(contrast(colours[name], colours[ground]) >= 4.5, `${name} on ${ground}: ${contrast(colours[name], colours[ground])}`);
      }
    }
  });

  test(`${selector}: bars and arrows stand out from what is behind them (WCAG AA, 3 to 1)`, () => {
    for (const ground of ["ground", "turn", "chosen"]) {
      for (const name of [...FILLED, "wait-line", "down", "message", "up", "lost", "muted", "select"]) {
        assert.ok(contrast(colours[name], colours[ground]) >= 3, `${name} on ${ground}: ${contrast(colours[name], colours[ground])}`);
      }
    }
  });
}
