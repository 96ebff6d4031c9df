/** Writes an object as Markdown and as JSON, for use outside of the page. */

/**
 * An object with its fields and links.
 *
 * @typedef {object} Described
 * @property {string} ref
 * @property {string} type
 * @property {string} label
 * @property {string} session
 * @property {{name: string, label: string, value: unknown, shown: string}[]} fields
 * @property {{relation: string, words: string, direction: "from"|"to", ref: string, label: string, at: string}[]} links
 * @property {number} links_left_out
 * @property {{name: string, form: string, text: string, omitted: number}[]} blocks
 * @property {{ref: string, kind: string}[]} payloads
 */

/**
 * Returns a text as a fenced block of Markdown. The fence is longer than any run of backticks in the text.
 *
 * @param {string} text
 * @param {string} [language]
 * @returns {string}
 */
export function fence(text, language = "") {
  let longest = 2;
  for (const [run] of text.matchAll(/`+/g)) longest = Math.max(longest, run.length);
  const mark = "`".repeat(longest + 1);
  return `${mark}${language}\n${text}${text.endsWith("\n") ? "" : "\n"}${mark}`;
}

/**
 * Returns a text as code within a line of Markdown.
 *
 * @param {string} text
 * @returns {string}
 */
export function inlineCode(text) {
  const line = text.replace(/\s+/g, " ").trim();
  if (line === "") return "";
  let longest = 0;
  for (const [run] of line.matchAll(/`+/g)) longest = Math.max(longest, run.length);
  const mark = "`".repeat(longest + 1);
  const space = longest > 0 ? " " : "";
  return `${mark}${space}${line}${space}${mark}`;
}

/**
 * Returns a text as one line of a paragraph, a list or a table, with escapes for everything that Markdown or HTML would
 * interpret.
 */
export function plain(text) {
  return text
    .replace(/\s+/g, " ")
    .trim()
    .replace(/[\\`*_{}[\]<>#|~&]/g, (sign) => `\\${sign}`)
    // Escape what would start a list, a rule or a heading at the beginning of a line.
    .replace(/^(?:\d+(?=[.)])|(?=[-+=]))/, "$&\\");
}

/**
 * Returns an object as Markdown.
 *
 * @param {Described} object
 * @returns {string}
 */
export function toMarkdown(object) {
  const lines = [`# ${plain(object.ref)}`, ""];
  if (object.label) lines.push(plain(object.label), "");
  lines.push(`- session: ${inlineCode(object.session)}`);
  for (const { label, shown } of object.fields) lines.push(`- ${label}: ${inlineCode(shown)}`);
  for (const direction of ["from", "to"]) {
    const links = object.links.filter((link) => link.direction === direction);
    if (links.length === 0) continue;
    lines.push("", direction === "from" ? "## Comes from" : "## Leads to", "");
    for (const { words, ref, label, at } of links) {
      lines.push(`- ${plain(words)} ${inlineCode(ref)}${label ? `: ${plain(label)}` : ""}${at ? ` (${at})` : ""}`);
    }
  }
  if (object.links_left_out > 0) lines.push("", `(${object.links_left_out} more links are left out)`);
  for (const { name, form, text, omitted } of object.blocks) {
    lines.push("", `## ${name ? plain(name) : "text"}`, "");
    lines.push(form === "note" ? plain(text) : fence(text, form === "json" ? "json" : ""));
    if (omitted > 0) lines.push("", `(${omitted} bytes left out)`);
  }
  if (object.payloads.length > 0) {
    lines.push("", "## Payloads", "");
    for (const { ref, kind } of object.payloads) lines.push(`- ${inlineCode(ref)}: ${plain(kind)}`);
  }
  return `${lines.join("\n")}\n`;
}

/**
 * Returns an object as JSON.
 *
 * @param {Described} object
 * @returns {string}
 */
export function toJson(object) {
  const fields = {};
  for (const { name, value } of object.fields) fields[name] = value;
  const { ref, type, label, session, links, links_left_out, blocks, payloads } = object;
  return `${JSON.stringify({ ref, type, label, session, fields, links, links_left_out, blocks, payloads }, null, 2)}\n`;
}
