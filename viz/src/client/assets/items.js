/** Shows one item of a conversation as an article. */

import { changesOf, changeView } from "./diff.js";
import { element } from "../../page/assets/dom.js";
import { picture } from "./images.js";
import { markup } from "./markup.js";
import { block, duration, folded, json, line, safe, size } from "./texts.js";

/** Output with more characters than this is folded. */
const MAX_OPEN_OUTPUT = 4096;

/** Names of the articles. */
const NAMES = {
  __proto__: null,
  userMessage: "User message",
  agentMessage: "Agent message",
  plan: "Agent message",
  reasoning: "Reasoning",
  commandExecution: "Command",
  fileChange: "File change",
  webSearch: "Web search",
  error: "Error",
};

/** Returns the name of the article for an item. */
export function nameOf(item) {
  return NAMES[item.type] ?? "Tool call";
}

/**
 * Returns the article of an item.
 *
 * @param {import("./conversation.js").Entry} entry
 * @param {{open: (thread: string) => void}} actions
 * @returns {HTMLElement}
 */
export function articleOf(entry, actions) {
  const { item } = entry;
  if (item.type === "stopped") return element("p", { class: "ended", "data-item": entry.id, text: "The turn was stopped." });
  const name = nameOf(item);
  const article = element("article", { class: `item ${name.toLowerCase().replace(" ", "-")}`, "aria-label": name, "data-item": entry.id, "aria-busy": entry.isDone ? null : "true" });
  article.append(...contentOf(entry, actions));
  return article;
}

/** Replaces the content of an article, and keeps open what the reader has opened. */
export function updateArticle(article, entry, actions) {
  if (entry.item.type === "stopped") return;
  const opened = [...article.querySelectorAll("details")].map((one) => one.open);
  const hadFocus = article.contains(document.activeElement);
  article.replaceChildren(...contentOf(entry, actions));
  if (entry.isDone) article.removeAttribute("aria-busy");
  [...article.querySelectorAll("details")].forEach((one, at) => {
    if (opened[at] !== undefined && opened[at] !== one.open) one.open = opened[at];
  });
  if (hadFocus) article.querySelector("summary, pre, a, button")?.focus({ preventScroll: true });
}

function contentOf(entry, actions) {
  const { item } = entry;
  const make = CONTENTS[item.type];
  return make ? make(item, entry, actions) : [head(line(item.type, 60), stateOf(item, entry)), folded(["Details"], () => [block(json(item))])];
}

const STATES = { __proto__: null, inProgress: "running", completed: "done", failed: "failed", declined: "declined", interrupted: "stopped" };

function stateOf(item, entry) {
  if (!entry.isDone) return "running";
  return item.status ? (STATES[item.status] ?? line(item.status, 30)) : "";
}

/** The line at the top of an article: a title, and the state of the item. */
function head(title, state, more = []) {
  const parts = typeof title === "string" ? [title] : title;
  return element("header", {}, element("span", { class: "title" }, ...parts), ...(state ? [" ", element("span", { class: `state ${state}`, text: state })] : []), ...more.filter(Boolean).flatMap((text) => [" ", element("span", { class: "quiet", text })]));
}

/** Output of a program or a tool, folded if it is long. */
function output(text, what = "Output") {
  if (!text) return [];
  if (text.length <= MAX_OPEN_OUTPUT) return [block(text, { class: "output" })];
  return [folded([`${what}, ${size(text.length)}`], () => [block(text, { class: "output" })])];
}

function inputParts(content) {
  return (content ?? []).flatMap((part) => {
    if (part.type === "text") return [element("div", { class: "prose", dir: "auto" }, ...safe(part.text ?? ""))];
    if (part.type === "image") return [picture(part.url)];
    if (part.type === "localImage") return [element("p", { class: "quiet", text: `[picture: ${line(part.path, 200)}]` })];
    return [element("p", { class: "quiet", text: `[${line(part.type, 40)}: ${line(part.name ?? part.path ?? "", 200)}]` })];
  });
}

/** Returns the command that a shell runs, without the shell around it, if that is what was run. */
export function commandText(item) {
  const [action] = item.commandActions ?? [];
  const isWhole = item.commandActions?.length === 1 && action.type === "unknown" && typeof action.command === "string" && (item.command ?? "").includes(action.command);
  return isWhole ? action.command : (item.command ?? "");
}

function toolResult(content) {
  return (content ?? []).flatMap((part) => {
    const url = part.imageUrl ?? (part.type === "image" && part.data ? `data:${part.mimeType};base64,${part.data}` : "");
    if (url) return [picture(url)];
    return output(typeof part.text === "string" ? part.text : json(part), "Result");
  });
}

/** A button that opens the thread of an agent. */
function agentLink(thread, label, actions) {
  return element("button", { type: "button", class: "link", text: line(label, 80), onclick: () => actions.open(thread) });
}

const AGENT_WORDS = { __proto__: null, started: "started", interacted: "got a message", interrupted: "was stopped", completed: "finished" };

const CONTENTS = {
  __proto__: null,
  userMessage: (item) => inputParts(item.content),
  agentMessage: (item) => markup(item.text ?? ""),
  plan: (item) => [head("Plan", ""), ...markup(item.text ?? "")],
  reasoning: (item, entry) => {
    const text = [...(item.summary ?? []), ...(item.content ?? [])].filter(Boolean).join("\n\n");
    if (text === "") return [head("Reasoning", stateOf(item, entry))];
    const first = line(text.split("\n").find((one) => one.trim() !== "")?.replace(/[*#`]/g, "") ?? "", 90);
    return [folded([element("span", { class: "title", text: "Reasoning" }), " ", element("span", { class: "quiet", text: first })], () => markup(text))];
  },
  commandExecution: (item, entry) => {
    const code = typeof item.exitCode === "number" && item.exitCode !== 0 ? `exit code ${item.exitCode}` : "";
    const user = item.source === "userShell" ? "by the user" : "";
    const text = commandText(item);
    const shown = text.length > MAX_OPEN_OUTPUT ? folded([`A command with ${size(text.length)}`], () => [block(text, { isCommand: true })]) : block(text, { isCommand: true, class: "command" });
    return [head("Command", stateOf(item, entry), [code, user, duration(item.durationMs), line(item.cwd, 80)]), shown, ...output(item.aggregatedOutput)];
  },
  fileChange: (item, entry) => [head("File change", stateOf(item, entry)), ...changesOf(item.changes).map((change) => changeView(change))],
  mcpToolCall: (item, entry) => [
    head(["Tool ", element("code", {}, ...safe(`${item.server}.${item.tool}`, true))], stateOf(item, entry), [duration(item.durationMs), entry.isDone ? "" : line(item.progress, 120)]),
    folded(["Arguments"], () => [block(json(item.arguments), { isCommand: true })]),
    ...(item.error ? [element("p", { class: "bad" }, ...safe(item.error.message ?? json(item.error)))] : []),
    ...toolResult(item.result?.content),
  ],
  dynamicToolCall: (item, entry) => [
    head(["Tool ", element("code", {}, ...safe([item.namespace, item.tool].filter(Boolean).join("."), true))], stateOf(item, entry), [duration(item.durationMs)]),
    folded(["Arguments"], () => [block(json(item.arguments), { isCommand: true })]),
    ...toolResult(item.contentItems),
  ],
  functionCallOutput: (item, entry) => [head(["Tool ", element("code", {}, ...safe(item.name ?? item.tool ?? "", true))], stateOf(item, entry)), folded(["Details"], () => [block(json(item))])],
  webSearch: (item, entry) => [
    head("Web search", stateOf(item, entry)),
    element("p", { class: "prose" }, ...safe(item.query ?? "")),
    ...(item.results?.length ? [folded([`${item.results.length} results`], () => [block(json(item.results))])] : []),
  ],
  collabAgentToolCall: (item, entry, actions) => [
    head(`Agents: ${line(item.tool, 40)}`, stateOf(item, entry)),
    ...(item.prompt ? [element("div", { class: "prose" }, ...safe(item.prompt))] : []),
    ...(item.receiverThreadIds ?? []).map((thread) => agentLink(thread, `Open agent ${thread}`, actions)),
  ],
  subAgentActivity: (item, entry, actions) => [
    element("header", {}, element("span", { class: "title", text: "Agent " }), agentLink(item.agentThreadId, item.agentPath || item.agentThreadId, actions), ` ${AGENT_WORDS[item.kind] ?? line(item.kind, 30)}`),
  ],
  imageView: (item) => [head(["Looked at the picture ", element("code", {}, ...safe(item.path ?? "", true))], "")],
  sleep: (item, entry) => [head(`Waited ${duration(item.durationMs)}`, entry.isDone ? "" : "running")],
  contextCompaction: (item, entry) => [head("The history was compacted, because it was too long for the model", stateOf(item, entry))],
  enteredReviewMode: (item) => [head("Review", ""), ...markup(item.review ?? "")],
  exitedReviewMode: (item) => [head("Review finished", ""), ...markup(item.review ?? "")],
  error: (item) => [
    head(item.willRetry ? "Trying again" : "Error", ""),
    element("p", { class: "bad" }, ...safe(item.message ?? "")),
    ...(item.details ? [folded(["Details"], () => [block(String(item.details))])] : []),
  ],
};
