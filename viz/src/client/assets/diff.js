/** Reads and shows unified diffs. */

import { element } from "../../page/assets/dom.js";
import { block, folded, line, safe, size } from "./texts.js";

/** Most lines of a diff that are shown at once. */
const MAX_LINES = 1500;

/** A diff with more characters than this is folded. */
const MAX_OPEN_CHARS = 4096;

/**
 * A changed file.
 *
 * @typedef {{path: string, kind: string, diff: string, movedTo: string}} Change
 */

/**
 * Returns the changes of a `fileChange` item. Added and deleted files have their text as their diff.
 *
 * @param {{path: string, kind: {type: string, move_path?: string}, diff: string}[]} changes
 * @returns {Change[]}
 */
export function changesOf(changes) {
  return (changes ?? []).map(({ path, kind, diff }) => {
    const type = typeof kind === "string" ? kind : (kind?.type ?? "update");
    const sign = { add: "+", delete: "-" }[type];
    const text = sign && !/^@@ /m.test(diff ?? "") ? signed(diff ?? "", sign) : (diff ?? "");
    return { path: String(path ?? ""), kind: type, diff: text, movedTo: kind?.move_path ?? "" };
  });
}

function signed(text, sign) {
  if (text === "") return "";
  return text.replace(/\n$/, "").split("\n").map((one) => sign + one).join("\n");
}

/**
 * Returns the changes of a diff of several files, as `git diff` prints it.
 *
 * @param {string} text
 * @returns {Change[]}
 */
export function splitDiff(text) {
  const parts = text.split(/^(?=diff --git )/m).filter((part) => part.trim() !== "");
  return parts.map((part) => {
    const [head, ...rest] = part.split(/^(?=@@ )/m);
    const name = (mark) => new RegExp(`^${mark} (?:[ab]/)?(.*)$`, "m").exec(head)?.[1] ?? "";
    const [from, to] = [name("---"), name("\\+\\+\\+")];
    const fallback = /^diff --git a\/(.*) b\//.exec(head)?.[1] ?? "";
    const kind = /^new file/m.test(head) || from === "/dev/null" ? "add" : /^deleted file/m.test(head) || to === "/dev/null" ? "delete" : "update";
    const path = (kind === "delete" ? from : to) || fallback;
    return { path, kind, diff: rest.join(""), movedTo: /^rename to (.*)$/m.exec(head)?.[1] ?? "" };
  });
}

/** Counts the added and removed lines of a diff. */
export function counts(diff) {
  let [added, removed] = [0, 0];
  for (const text of diff.split("\n")) {
    if (text.startsWith("+")) added += 1;
    else if (text.startsWith("-")) removed += 1;
  }
  return { added, removed };
}

const WORDS = { __proto__: null, add: "added", delete: "deleted", update: "changed" };

/**
 * Returns the element of a changed file: its path, how much changed, and its diff, which is folded if it is long.
 *
 * @param {Change} change
 * @param {{isOpen?: boolean}} [options] `isOpen`: the diff is shown whatever its length
 * @returns {HTMLElement}
 */
export function changeView(change, { isOpen = false } = {}) {
  const { added, removed } = counts(change.diff);
  const summary = [
    element("span", { class: `kind ${change.kind}`, text: WORDS[change.kind] ?? line(change.kind) }),
    " ",
    element("code", { dir: "ltr" }, ...safe(change.path, true)),
    ...(change.movedTo ? [" to ", element("code", { dir: "ltr" }, ...safe(change.movedTo, true))] : []),
    " ",
    element("span", { class: "added", text: `+${added}` }),
    " ",
    element("span", { class: "removed", text: `\u2212${removed}` }),
  ];
  return folded(summary, () => [diffView(change.diff)], { isOpen: isOpen || change.diff.length <= MAX_OPEN_CHARS, class: "change" });
}

/**
 * Returns the element of a diff.
 *
 * @param {string} diff
 * @returns {HTMLElement}
 */
export function diffView(diff) {
  const lines = diff.replace(/\n$/, "").split("\n");
  if (diff === "") return element("p", { class: "quiet", text: "no text" });
  const holder = element("pre", { class: "block diff", tabindex: "0", dir: "ltr" });
  const show = (from) => {
    holder.querySelector("button")?.remove();
    for (const text of lines.slice(from, from + MAX_LINES)) {
      const kind = text.startsWith("@@") ? "hunk" : text.startsWith("+") ? "added" : text.startsWith("-") ? "removed" : null;
      holder.append(kind ? element("span", { class: kind }, ...safe(`${text}\n`, true)) : element("span", {}, ...safe(`${text}\n`, true)));
    }
    const left = lines.length - from - MAX_LINES;
    if (left > 0) holder.append(element("button", { type: "button", class: "more", text: `Show ${left} more lines`, onclick: () => show(from + MAX_LINES) }));
  };
  // Many short lines make many elements, and one long line makes one.
  if (lines.length <= 20 * MAX_LINES) show(0);
  else return folded([`a diff with ${lines.length} lines, ${size(diff.length)}`], () => [block(diff, { isCommand: true })]);
  return holder;
}
