/** Signs and words for outcomes. The sign works without colour, and the word is for screen readers. */

import { element } from "./dom.js";

const SIGNS = {
  completed: ["✓", "good"],
  ok: ["✓", "good"],
  recovered: ["↻", "good"],
  failed: ["✕", "bad"],
  degraded: ["▲", "warn"],
  cancelled: ["⊘", "warn"],
  unfinished: ["…", "warn"],
  running: ["▸", "warn"],
  aborted: ["⊘", "warn"],
  none: ["·", "none"],
};

/** Returns the sign for an outcome. */
export function signOf(outcome) {
  return (SIGNS[outcome] ?? SIGNS.none)[0];
}

/** Returns the kind of an outcome for its colour: good, bad, warn or none. */
export function moodOf(outcome) {
  return (SIGNS[outcome] ?? SIGNS.none)[1];
}

/**
 * Returns the sign of an outcome. Its word is the accessible name and the title.
 *
 * @param {string} outcome
 * @returns {HTMLElement}
 */
export function sign(outcome) {
  return element("span", { class: `sign ${moodOf(outcome)}`, role: "img", "aria-label": outcome, title: outcome, text: signOf(outcome) });
}

/**
 * Returns the sign and the word of an outcome.
 *
 * @param {string} outcome
 * @param {string} [word] another word to show
 * @returns {HTMLElement}
 */
export function badge(outcome, word = outcome) {
  return element(
    "span",
    { class: `badge ${moodOf(outcome)}` },
    element("span", { class: "sign", "aria-hidden": "true", text: signOf(outcome) }),
    element("span", { text: word }),
  );
}

/** Outcomes of turns, the worst first. */
const WORST = ["failed", "degraded", "unfinished", "cancelled", "running", "recovered", "ok"];

/**
 * Returns the worst verdict of the turns of each thread that has verdicts.
 *
 * @param {import("./data.js").Data} data
 * @returns {Map<number, string>}
 */
export function worstByThread(data) {
  const worst = new Map();
  for (const { turn, outcome } of data.raw.verdicts) {
    const thread = data.thread(turn);
    const known = worst.get(thread);
    if (!known || WORST.indexOf(outcome) < WORST.indexOf(known)) worst.set(thread, outcome);
  }
  return worst;
}
