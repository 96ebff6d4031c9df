/**
 * Shows the Markdown of a model as elements. Nothing of it becomes markup by itself: HTML is shown as text, links lead only
 * to `http` and `https` and are shown with their addresses, and pictures are links.
 */

import { element } from "../../page/assets/dom.js";
import { line, safe } from "./texts.js";

/** Longest text that is read as Markdown. A longer one is shown as it is. */
const MAX_MARKUP_CHARS = 200_000;

/** Deepest nesting of quotes and emphasis. */
const MAX_DEPTH = 8;

const FENCE = /^ {0,3}(`{3,}|~{3,})\s*([\w+-]*)/;
const HEADING = /^ {0,3}(#{1,6})\s+(\S.*)$/;
const RULE = /^ {0,3}([-*_])(?:\s*\1){2,}\s*$/;
const ITEM = /^(\s*)(?:[-*+]|(\d{1,9})[.)])\s+(.*)$/;
const QUOTE = /^ {0,3}> ?(.*)$/;
const DIVIDER = /^\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)+\|?\s*$/;

/**
 * Code, emphasis, links and bare addresses within a line. Every repetition has a limit, so that no text takes more than time
 * in proportion to its length.
 */
const INLINE =
  /(`{1,8})([^\n]{1,1000}?)\1(?!`)|\*\*([^\s*](?:[^*]{0,1000}[^\s*])?)\*\*|__([^\s_](?:[^_]{0,1000}[^\s_])?)__|\*([^\s*](?:[^*]{0,1000}[^\s*])?)\*|(?<!\w)_([^\s_](?:[^_]{0,1000}[^\s_])?)_(?!\w)|!?\[([^\][]{0,500})\]\(\s*<?([^\s()<>]{1,2000}(?:\([^\s()<>]{0,500}\)[^\s()<>]{0,500})?)>?(?:\s+"[^"]{0,200}")?\s*\)|(https?:\/\/[^\s<>"'`\])]{1,2000}[^\s<>"'`\]).,;:!?])/;

/**
 * Returns the elements of a text.
 *
 * @param {string} text
 * @returns {Node[]}
 */
export function markup(text) {
  if (text.length > MAX_MARKUP_CHARS) return [element("p", { class: "prose" }, ...safe(text))];
  return blocks(text.replace(/\r\n?/g, "\n").split("\n"), 0);
}

function blocks(lines, depth) {
  const made = [];
  let at = 0;
  while (at < lines.length) {
    const text = lines[at];
    const fence = FENCE.exec(text);
    if (fence) {
      let end = at + 1;
      while (end < lines.length && !(lines[end].trim().startsWith(fence[1]) && lines[end].trim().replaceAll(fence[1][0], "") === "")) end += 1;
      made.push(code(lines.slice(at + 1, end).join("\n"), fence[2]));
      at = end + 1;
      continue;
    }
    if (text.trim() === "") {
      at += 1;
      continue;
    }
    const heading = HEADING.exec(text);
    if (heading) {
      // The page has headings of its own; those of a message begin below them.
      made.push(element(`h${Math.min(6, heading[1].length + 2)}`, {}, ...inline(heading[2].replace(/ #{1,6} {0,8}$/, ""), depth)));
      at += 1;
      continue;
    }
    if (RULE.test(text)) {
      made.push(element("hr"));
      at += 1;
      continue;
    }
    if (QUOTE.test(text) && depth < MAX_DEPTH) {
      const inner = [];
      while (at < lines.length && QUOTE.test(lines[at])) inner.push(QUOTE.exec(lines[at++])[1]);
      made.push(element("blockquote", {}, ...blocks(inner, depth + 1)));
      continue;
    }
    if (ITEM.test(text) && depth < MAX_DEPTH) {
      const { list, next } = listAt(lines, at, depth);
      made.push(list);
      at = next;
      continue;
    }
    if (text.includes("|") && DIVIDER.test(lines[at + 1] ?? "")) {
      const rows = [cells(text)];
      at += 2;
      while (at < lines.length && lines[at].includes("|")) rows.push(cells(lines[at++]));
      made.push(table(rows, depth));
      continue;
    }
    const paragraph = [text];
    at += 1;
    while (at < lines.length && lines[at].trim() !== "" && !startsBlock(lines[at])) paragraph.push(lines[at++]);
    made.push(element("p", { dir: "auto" }, ...inline(paragraph.join("\n"), depth)));
  }
  return made;
}

function startsBlock(text) {
  return FENCE.test(text) || HEADING.test(text) || QUOTE.test(text) || ITEM.test(text) || RULE.test(text);
}

/** Returns the list that begins at a line, and the line after it. Lines that are indented further belong to an item. */
function listAt(lines, from, depth) {
  const first = ITEM.exec(lines[from]);
  const isOrdered = first[2] !== undefined;
  const list = element(isOrdered ? "ol" : "ul", isOrdered && first[2] !== "1" ? { start: first[2] } : {});
  const indent = first[1].length;
  let at = from;
  while (at < lines.length) {
    const item = ITEM.exec(lines[at]);
    if (!item || item[1].length !== indent || (item[2] !== undefined) !== isOrdered) break;
    const inner = [item[3]];
    at += 1;
    while (at < lines.length) {
      const text = lines[at];
      const isDeeper = /^\s/.test(text) && text.search(/\S/) > indent;
      const continues = text.trim() === "" ? /^\s/.test(lines[at + 1] ?? "") && (lines[at + 1] ?? "").search(/\S/) > indent : isDeeper;
      if (!continues) break;
      inner.push(text.slice(Math.min(text.length, indent + 2)));
      at += 1;
    }
    const [head, ...rest] = blocks(inner, depth + 1);
    // An item with one line is shown without the space around a paragraph.
    const content = head?.nodeName === "P" ? [...head.childNodes, ...rest] : [head, ...rest].filter(Boolean);
    list.append(element("li", {}, ...content));
  }
  return { list, next: Math.max(at, from + 1) };
}

function cells(text) {
  return text.trim().replace(/^\||\|$/g, "").split("|").map((cell) => cell.trim());
}

function table([head, ...rows], depth) {
  const row = (name, texts) => element("tr", {}, ...texts.map((text) => element(name, {}, ...inline(text, depth))));
  return element("div", { class: "table", tabindex: "0" }, element("table", {}, element("thead", {}, row("th", head)), element("tbody", {}, ...rows.map((texts) => row("td", texts)))));
}

function code(text, language) {
  return element("pre", { class: "block code", tabindex: "0", dir: "ltr", "data-language": language || null }, ...safe(text, true));
}

/** Returns the nodes of a text within a block. */
function inline(text, depth) {
  const made = [];
  let rest = text;
  while (rest !== "") {
    const found = depth < MAX_DEPTH ? INLINE.exec(rest) : null;
    if (!found) break;
    if (found.index > 0) made.push(...safe(rest.slice(0, found.index)));
    made.push(...marked(found, depth + 1));
    rest = rest.slice(found.index + found[0].length);
  }
  if (rest !== "") made.push(...safe(rest));
  return made;
}

function marked([whole, , codeText, bold, bold2, slanted, slanted2, label, address, bare], depth) {
  if (codeText !== undefined) return [element("code", { dir: "ltr" }, ...safe(codeText.replace(/^ (.*) $/, "$1"), true))];
  if (bold ?? bold2) return [element("strong", {}, ...inline(bold ?? bold2, depth))];
  if (slanted ?? slanted2) return [element("em", {}, ...inline(slanted ?? slanted2, depth))];
  if (bare !== undefined) return link(bare, bare);
  return link(label, address) ?? safe(whole);
}

/** Returns a link with its address, or the text alone if the address is not one of the web. */
function link(label, address) {
  let url;
  try {
    url = new URL(address);
  } catch {
    return safe(`[${label}](${address})`);
  }
  if (url.protocol !== "http:" && url.protocol !== "https:") return safe(`[${label}](${address})`);
  // The address that is shown is the one that is opened, with its real host.
  const shown = line(url.href, 300);
  const anchor = element("a", { href: url.href, target: "_blank", rel: "noopener noreferrer" }, ...safe(label || shown));
  return label === url.href || label === address || label === "" ? [anchor] : [anchor, element("span", { class: "address", text: ` (${shown})` })];
}
