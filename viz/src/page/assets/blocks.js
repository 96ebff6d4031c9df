/**
 * Shows texts of a session: plain, as code, as JSON; long ones cut, with more on demand.
 */

import { PIECE_CHARS, cut, foundParts, jsonParts, pieces, pretty } from "./cut.js";
import { element, fill } from "./dom.js";
import { count, size } from "./format.js";

/** Names of blocks that are output or input of programs. */
const OF_PROGRAMS = new Set(["stdout", "stderr", "output", "input", "result", "arguments", "code", "command"]);

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
  const holder = element(isMono ? "pre" : "div", { class: isMono ? "mono" : "prose", dir: "auto" });
  const more = element("div", { class: "more" });
  made.append(holder, more);
  const draw = () => {
    const level = levels.get(key) ?? 0;
    const { shown, isCut, restChars, restLines } = cut(text, level);
    if (shown.length <= PIECE_CHARS) fill(holder, ...partsOf(shown, isJson));
    else fill(holder, ...pieces(shown).map((piece, index) => element("span", { class: "piece" }, ...partsOf(piece, isJson && index < COLOURED_PIECES))));
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

function partsOf(text, isJson) {
  if (sought !== "") {
    return foundParts(text, sought).map(([isFound, part]) => (isFound ? element("mark", { text: part }) : part));
  }
  if (!isJson) return [text];
  return jsonParts(text).map(([kind, part]) => (kind === "" ? part : element("span", { class: `json-${kind}`, text: part })));
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
