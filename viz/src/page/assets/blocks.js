/** Shows texts of a session as prose, code or JSON. Long texts are truncated, with a control to show more. */

import { PIECE_CHARS, cut, foundParts, jsonParts, pieces, pretty } from "./cut.js";
import { element, fill } from "./dom.js";
import { count, number, size } from "./format.js";
import { visibleParts } from "./visible.js";

/** Names of blocks that are input or output of programs. */
const OF_PROGRAMS = new Set(["stdout", "stderr", "output", "input", "result", "arguments", "code", "command"]);

/** Names of blocks that were executed or given to a program as input. Every character of them matters. */
const COMMANDS = new Set(["command", "input", "arguments", "code", "json"]);

/** Says whether a block was executed or given to a program as input. */
export function isCommand(name, form) {
  return COMMANDS.has(name) || form === "code";
}

/** Most lines of a command that get numbers. */
const MAX_NUMBERED = 5000;

/** Characters at the end of a command that are shown even if the text before them is truncated. */
const END_CHARS = 400;

/** Pieces of a long JSON text that are coloured. */
const COLOURED_PIECES = 5;

/** The text that the search looks for at the moment. It is highlighted in texts. */
let sought = "";

/** Sets the text that is highlighted from now on. */
export function markInTexts(text) {
  sought = text;
}

/**
 * Returns the element for a block. `levels` remembers under `key` how much of the text the reader asked for.
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
  // A command is displayed from left to right, in the order in which it is executed, even if it contains right-to-left
  // text.
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

/**
 * Returns the parts of a command. A long command shows its beginning and its end, because the end may be what matters.
 */
function commandParts(text, shown, isCut, isJson) {
  // The line breaks in JSON were added by the page, so these lines get no numbers.
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

/**
 * Returns the lines of a command. If there are several, they are numbered, since a line feed starts another command.
 */
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

/** Returns a text in which characters that act, hide or deceive are replaced by escapes. */
function visible(text, isRun) {
  return visibleParts(text, isRun).map(([isEscape, part]) => (isEscape ? element("span", { class: "escape", text: part }) : part));
}

/**
 * Fills an element with the body of an object as soon as it is loaded. If that fails, shows the error and a button to
 * retry.
 *
 * @param {HTMLElement} holder
 * @param {import("./bodies.js").Bodies} bodies
 * @param {number} n
 * @param {{levels: Map<string, number>, mono?: boolean, none?: () => void}} options `none` is called if there is no
 * text
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
