import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

const SHEET = readFileSync(new URL("../../src/page/assets/colours.css", import.meta.url), "utf8");

/** Returns the variables that a rule of the style sheet sets. */
function variables(selector) {
  const from = SHEET.indexOf(`${selector} {`);
  assert.ok(from >= 0, selector);
  const rule = SHEET.slice(from, SHEET.indexOf("}", from));
  return Object.fromEntries([...rule.matchAll(/--([\w-]+): (#[0-9a-f]{6});/g)].map(([, name, colour]) => [name, colour]));
}

function luminance(colour) {
  const [red, green, blue] = [1, 3, 5].map((at) => {
    const share = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(one, other) {
  const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

/** Colours of text, each with a background on which it is used. */
const GROUNDS = ["ground", "panel", "raised", "hover", "selected"];
const PAIRS = [
  ...["text", "quiet", "accent", "good", "bad", "warn"].flatMap((text) => GROUNDS.map((ground) => [text, ground])),
  ...["good", "bad", "warn"].flatMap((mood) => [[mood, `${mood}-ground`], ["text", `${mood}-ground`], ["quiet", `${mood}-ground`], ["accent", `${mood}-ground`]]),
  ...["role-user", "role-assistant", "role-tool", "role-developer"].flatMap((role) => ["ground", "hover", "selected"].map((ground) => [role, ground])),
  ...["json-key", "json-string", "json-literal"].flatMap((part) => ["ground", "panel"].map((ground) => [part, ground])),
  ["on-found", "found"],
];

for (const [theme, selector] of [["light", ":root"], ["dark", ':root[data-theme="dark"]']]) {
  test(`${theme}: texts stand out from what is behind them`, () => {
    const colours = variables(selector);
    const faint = PAIRS.filter(([text, ground]) => !(contrast(colours[text], colours[ground]) >= 4.5));
    assert.deepEqual(faint.map(([text, ground]) => `${text} on ${ground}: ${contrast(colours[text], colours[ground]).toFixed(2)}`), []);
  });
}

test("both themes set the same colours", () => {
  assert.deepEqual(Object.keys(variables(':root[data-theme="dark"]')).sort(), Object.keys(variables(":root")).sort());
});
