/**
 * Shows texts of a session: plain, as code, as JSON; long ones cut, with more on demand.
 */

import { PIECE_CHARS, cut, foundParts, jsonParts, pieces, pretty } from "./cut.js";
import { element, fill } from "./dom.js";
import { count, number, size } from "./format.js";
import { visibleParts } from "./visible.js";

/** Names of blocks that are output or input of programs. */
const OF_PROGRAMS = new Set(["stdout", "stderr", "output", "input", "result", "arguments", "code", "command"]);

/** Names of blocks that were run, or told a program what to do: every character of them counts. */
const COMMANDS = new Set(["command", "input", "arguments", "code", "json"]);

/** Says whether a block was run, or told a program what to do. */
export function isCommand(name, form) {
  return COMMANDS.has(name) || form === "code";
}

/** Most lines of a command that get numbers. */
const MAX_NUMBERED = 5000;

/** Characters of the end of a command that are shown although what comes before is cut. */
const END_CHARS = 400;

/** Pieces of a long text of JSON that get colours. */
const COLOURED_PIECES = 5;

/** What the search is for at the moment, to be marked in the texts. */
let sought = "";

/** Changes what is marked in texts from now on. */
export function markInTexts(text) {
  sought = text;
}

/**
 * Returns a block. `levels` remembers under `key` how much of it the reader asked for.
 *
 * @param {{name: string, form: string, text: string, omitted: number}} block
 * @param {{key: string, levels: Map<string, number>, mono?: boolean}} options
 * @returns {HTMLElement}
 */
export function renderBlock(block, { key, levels, mono = false }) {
  const made = element("div", { class: `block form-${block.form.replace(/\W/g, "")}` });
  if (block.name !== "") made.append(element("div", { class: "block-name", text: block.name }));
  if (block.form === "note") {
    made.append(element("p", { class: "note", text: block.text }));
    return made;
  }
  const isJson = block.form === "json";
  const text = isJson ? pretty(block.text) : block.text;
  const isMono = mono || isJson || block.form === "code" || OF_PROGRAMS.has(block.name);
  const isRun = isCommand(block.name, block.form);
  // The parts of a command stand in the order in which they run, whatever the direction of its words.
  const holder = element(isMono ? "pre" : "div", { class: isMono ? "mono" : "prose", dir: isRun ? "ltr" : "auto" });
  const more = element("div", { class: "more" });
  made.append(holder, more);
  const draw = () => {
    const level = levels.get(key) ?? 0;
    const { shown, isCut, restChars, restLines } = cut(text, level);
    if (isRun && (isCut || !isJson)) fill(holder, ...commandParts(text, shown, isCut, isJson));
    else if (shown.length <= PIECE_CHARS) fill(holder, ...partsOf(shown, isJson, isRun));
    else fill(holder, ...pieces(shown).map((piece, index) => element("span", { class: "piece" }, ...partsOf(piece, isJson && index < COLOURED_PIECES, isRun))));
    if (shown === "" && text === "") fill(holder, element("span", { class: "quiet", text: "(empty)" }));
    const change = (to) => (event) => {
      event.stopPropagation();
      levels.set(key, to);
      draw();
    };
    fill(
      more,
      isCut
        ? element("button", {
            type: "button",
            class: "link",
            text: `Show ${restChars > 200_000 ? "more" : "all"} (${restLines > 1 ? count(restLines, "more line") : `${size(restChars)} more`})`,
            onclick: change(level + 1),
          })
        : null,
      level > 0 ? element("button", { type: "button", class: "link", text: "Show less", onclick: change(0) }) : null,
      block.omitted > 0 && !isCut ? element("span", { class: "quiet", text: `${size(block.omitted)} of it are not in this page` }) : null,
    );
  };
  draw();
  return made;
}

/** Returns a command, or its beginning and its end: what is run must not hide behind what it begins with. */
function commandParts(text, shown, isCut, isJson) {
  // The lines of JSON are those of the page, and need no numbers.
  const parts = isJson ? partsOf(shown, isJson, true) : linesOf(shown, 1);
  if (!isCut) return parts;
  const from = Math.max(shown.length, text.length - END_CHARS);
  const end = text.slice(/[\uDC00-\uDFFF]/.test(text[from] ?? "") ? from + 1 : from);
  const left = from - shown.length;
  if (left > 0) parts.push(element("span", { class: "left-out", text: `… ${number(left)} characters are left out …` }), "\n");
  if (isJson) return [...parts, ...partsOf(end, isJson, true)];
  const first = text.slice(0, from).split("\n").length;
  return [...parts, ...linesOf(end, first)];
}

/** Returns lines of a command, with numbers if there are several: a line end begins another command. */
function linesOf(text, first) {
  const lines = text.split("\n");
  if ((lines.length === 1 && first === 1) || lines.length > MAX_NUMBERED) return partsOf(text, false, true);
  return lines.map((line, index) => {
    const end = index + 1 < lines.length ? "\n" : "";
    return element("span", { class: "command-line", "data-line": String(first + index) }, ...partsOf(line, false, true), end);
  });
}

function partsOf(text, isJson, isRun) {
  if (sought !== "") {
    return foundParts(text, sought).flatMap(([isFound, part]) => (isFound ? [element("mark", {}, ...visible(part, isRun))] : visible(part, isRun)));
  }
  if (!isJson) return visible(text, isRun);
  return jsonParts(text).flatMap(([kind, part]) => (kind === "" ? visible(part, isRun) : [element("span", { class: `json-${kind}` }, ...visible(part, isRun))]));
}

/** Returns a text with escapes for what acts, hides or deceives. */
function visible(text, isRun) {
  return visibleParts(text, isRun).map(([isEscape, part]) => (isEscape ? element("span", { class: "escape", text: part }) : part));
}

/**
 * Fills an element with the body of an object as soon as it is there. An error is shown with a way to try again.
 *
 * @param {HTMLElement} holder
 * @param {import("./bodies.js").Bodies} bodies
 * @param {number} n
 * @param {{levels: Map<string, number>, mono?: boolean, none?: () => void}} options `none` is called if there is no text
 */
export function fillBody(holder, bodies, n, options) {
  const show = (body) => {
    holder.removeAttribute("aria-busy");
    if (body === null) {
      fill(holder, element("p", { class: "note", text: "This text is not in this file because of its size. `trace view` without -o shows it." }));
    } else if (body.blocks.length === 0) {
      fill(holder);
      options.none?.();
    } else fill(holder, ...body.blocks.map((block, index) => renderBlock(block, { ...options, key: `${n}.${index}` })));
  };
  const known = bodies.peek(n);
  if (known !== undefined) {
    show(known);
    return;
  }
  holder.setAttribute("aria-busy", "true");
  fill(holder, element("div", { class: "placeholder", "aria-label": "loading" }));
  bodies.get(n).then(show, (error) => {
    holder.removeAttribute("aria-busy");
    fill(
      holder,
      element(
        "p",
        { class: "note bad" },
        `This text could not be loaded: ${error.message} `,
        element("button", { type: "button", class: "link", text: "Try again", onclick: () => fillBody(holder, bodies, n, options) }),
      ),
    );
  });
}
