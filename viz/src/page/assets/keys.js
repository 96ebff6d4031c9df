/** The keyboard shortcuts of the page, and the dialog that lists them. */

import { element, showDialog } from "./dom.js";
import { recall, remember } from "./memory.js";

/** Most time between the two keys of a shortcut, in milliseconds. */
const SECOND_MS = 1500;

/** Shortcuts that panels handle themselves, for the dialog. */
const OF_PANELS = [
  ["Agents", [["↑ ↓ Home End", "move"], ["→ ←", "unfold, fold, go up"], ["Enter", "select and show its transcript"], ["letters", "go to the agent with that name"]]],
  ["Transcript", [["↑ ↓ or j k", "next item, item before"], ["Enter", "select; again: open the call below it"], ["Home End", "first item, last item"]]],
  ["Search", [["Enter ↓", "next find"], ["Shift+Enter ↑", "find before"], ["Escape", "clear"]]],
  ["Edges between panels", [["← → ↑ ↓", "move the edge"], ["Home End", "smallest, largest"], ["double click", "as it was"]]],
];

/**
 * Listens for the shortcuts of the page.
 *
 * @param {{keys: string, does: string, run: () => void}[]} keys `keys` is one key (`/`), or two after each other (`g
 * t`)
 * @param {[string, [string, string][]][]} [others] shortcuts of other panels: name, and pairs of keys and what they do
 * @returns {{help: () => void}}
 */
export function startKeys(keys, others = []) {
  const byKeys = new Map(keys.map((key) => [key.keys, key]));
  const firsts = new Set(keys.filter(({ keys }) => keys.includes(" ")).map(({ keys }) => keys.split(" ")[0]));
  let first = "";
  let firstAt = 0;
  let withLetters = recall("letters") !== "off";
  const letters = element("input", {
    type: "checkbox",
    onchange: () => {
      withLetters = letters.checked;
      remember("letters", withLetters ? "on" : "off");
    },
  });
  letters.checked = withLetters;
  const dialog = helpDialog(keys, others, letters);
  document.body.append(dialog);
  const help = () => {
    if (!dialog.open) showDialog(dialog);
  };
  // Listen in the capture phase, so that the second key of a shortcut does not reach a panel.
  document.addEventListener(
    "keydown",
    (event) => {
      if (first === "" || event.ctrlKey || event.metaKey || event.altKey || performance.now() - firstAt >= SECOND_MS) return;
      const two = byKeys.get(`${first} ${event.key}`);
      first = "";
      if (!two) return;
      event.preventDefault();
      event.stopPropagation();
      two.run();
    },
    { capture: true },
  );
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (document.querySelector("dialog[open]")) return;
    if (event.key === "F6") {
      byKeys.get(event.shiftKey ? "Shift+F6" : "F6")?.run();
      event.preventDefault();
      return;
    }
    if (event.target.closest?.("input, textarea, select, [contenteditable]")) return;
    if (event.key.length > 1 && event.key !== "Escape") return;
    if (!withLetters && /\p{L}|[[\]]/u.test(event.key) && event.key.length === 1) return;
    if (firsts.has(event.key)) {
      first = event.key;
      firstAt = performance.now();
      return;
    }
    const key = event.key === "?" ? { run: help } : byKeys.get(event.key);
    if (!key) return;
    key.run();
    event.preventDefault();
  });
  return { help };
}

function helpDialog(keys, others, letters) {
  const table = (name, rows) =>
    element(
      "section",
      {},
      element("h3", { text: name }),
      element("dl", { class: "keys" }, ...rows.flatMap(([key, does]) => [element("dt", {}, ...key.split(" ").map((one) => element("kbd", { text: one }))), element("dd", { text: does })])),
    );
  const dialog = element(
    "dialog",
    { class: "help", "aria-labelledby": "help-title", tabindex: "-1" },
    element("h2", { id: "help-title", text: "Keys" }),
    element("div", { class: "help-tables" }, table("Everywhere", [...keys.map(({ keys: key, does }) => [key, does]), ["?", "this list"]]), ...[...others, ...OF_PANELS].map(([name, rows]) => table(name, rows))),
    element("label", { class: "letters" }, letters, " Letters are keys"),
    element("button", { type: "button", text: "Close", onclick: () => dialog.close() }),
  );
  return dialog;
}
