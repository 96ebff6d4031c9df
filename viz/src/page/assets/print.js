/**
 * The printed form of the page: head, verdicts, agents, timeline of the whole session, and transcript of the current
 * agent. Each part has a limit, and the print says what it leaves out.
 */

import { isCommand } from "./blocks.js";
import { cut, pretty } from "./cut.js";
import { nameOf } from "./describe.js";
import { byId, element, fill } from "./dom.js";
import { count, duration, number, since, tokens, wallDay, wallTime } from "./format.js";
import { signOf, worstByThread } from "./outcome.js";
import { COMPACTS, INHERITED } from "./transcript_rows.js";
import { sorted } from "./verdicts.js";
import { visibleParts } from "./visible.js";

/** Most agents, items and verdicts that are printed. */
export const MAX_PRINTED_AGENTS = 500;
export const MAX_PRINTED_ITEMS = 2000;
export const MAX_PRINTED_VERDICTS = 200;

/** Most characters of all texts of a print together. */
export const MAX_PRINTED_CHARS = 2_000_000;

/**
 * Creates the printed form when the browser is about to print.
 *
 * @param {{data: import("./data.js").Data, store: import("./store.js").Store, bodies: import("./bodies.js").Bodies}}
 * page
 * @param {import("./transcript.js").Transcript} transcript
 * @returns {() => Promise<void>} loads what the print needs, and prints
 */
export function startPrint(page, transcript) {
  const holder = byId("print");
  // The timeline handles this event earlier, so it is already drawn for paper.
  const make = () => fill(holder, ...pages(page, transcript));
  window.addEventListener("beforeprint", make);
  window.addEventListener("afterprint", () => fill(holder));
  // A browser that only emulates print media sends no `beforeprint` event.
  matchMedia("print").addEventListener("change", ({ matches }) => {
    if (!matches) fill(holder);
    else if (holder.childElementCount === 0) make();
  });
  return async () => {
    const { items } = transcript.transcript;
    const needed = items.slice(0, MAX_PRINTED_ITEMS).flatMap((n) => [n, ...page.data.toolsOf(n)]);
    // The print says of each text that could not be loaded that it is missing.
    await Promise.allSettled(needed.map((n) => page.bodies.get(n)));
    window.print();
  };
}

function pages({ data, bodies, store, timeline }, transcript) {
  const { session, totals } = { session: data.session, totals: data.raw.totals };
  const made = [
    element("h1", { text: session.name }),
    element("p", {
      text: [
        `${signOf(session.status)} ${session.status}`,
        session.recording_complete ? "" : "recording incomplete",
        `${wallDay(session.started_at_unix_ms)} ${wallTime(session.started_at_unix_ms)}`,
        duration(session.wall_ms),
        count(totals.threads, "agent"),
        count(totals.turns, "turn"),
        `${count(totals.model_calls, "request")} (${number(totals.failed_model_calls)} failed)`,
        `${count(totals.tool_calls, "tool call")} (${number(totals.failed_tool_calls)} failed)`,
        `${number(totals.input_tokens)} tokens in, ${number(totals.output_tokens)} out`,
      ]
        .filter(Boolean)
        .join(" · "),
    }),
  ];
  const { attention, others } = sorted(data.raw.verdicts);
  made.push(element("h2", { text: "Verdicts" }));
  if (attention.length === 0) made.push(element("p", { text: "✓ Nothing failed that was not made good." }));
  for (const verdict of attention.slice(0, MAX_PRINTED_VERDICTS)) {
    made.push(
      element("p", {}, element("strong", { text: `${signOf(verdict.outcome)} ${verdict.outcome} ` }), verdict.verdict),
      element("ol", {}, ...verdict.chain.map((step) => element("li", { text: `${step.relation.replaceAll("_", " ")}: ${step.text}` }))),
    );
  }
  if (attention.length > MAX_PRINTED_VERDICTS) made.push(left(`${number(attention.length - MAX_PRINTED_VERDICTS)} more verdicts`));
  if (others.length > 0) made.push(element("p", { text: `${count(others.length, "other turn")} came out well.` }));
  made.push(element("h2", { text: "Agents" }), agents(data));
  if (data.raw.order.length > MAX_PRINTED_AGENTS) made.push(left(`${number(data.raw.order.length - MAX_PRINTED_AGENTS)} more agents`));
  made.push(element("h2", { text: "Timeline" }), timeline.picture());
  made.push(element("h2", { text: `Transcript of ${data.agentName(store.thread)}` }), ...items(data, bodies, transcript.transcript));
  return made;
}

function left(what) {
  return element("p", { class: "left-out", text: `Left out: ${what}.` });
}

function agents(data) {
  const { threads, order } = data.raw;
  const worst = worstByThread(data);
  const head = ["agent", "model", "outcome", "calls", "failed", "tokens", "duration"];
  return element(
    "table",
    {},
    element("thead", {}, element("tr", {}, ...head.map((text) => element("th", { text })))),
    element(
      "tbody",
      {},
      ...order.slice(0, MAX_PRINTED_AGENTS).map((n) => {
        const at = data.indexOf(n);
        const outcome = worst.get(n) ?? data.outcome(n);
        const cells = [
          data.agentName(n),
          data.text(threads.model[at]),
          `${signOf(outcome)} ${outcome}`,
          number(threads.model_calls[at] + threads.tool_calls[at]),
          number(threads.failed_model_calls[at] + threads.failed_tool_calls[at]),
          tokens(threads.input_tokens[at] + threads.output_tokens[at]),
          data.end(n) >= 0 ? duration(data.end(n) - data.start(n)) : "",
        ];
        return element("tr", {}, ...cells.map((text) => element("td", { text })));
      }),
    ),
  );
}

function items(data, bodies, { items: all, marks }) {
  const made = [];
  let chars = 0;
  let inherited = 0;
  let printed = 0;
  for (const [place, n] of all.entries()) {
    if (marks[place] & INHERITED) {
      inherited += 1;
      continue;
    }
    if (printed === MAX_PRINTED_ITEMS || chars > MAX_PRINTED_CHARS) {
      made.push(left(`${number(all.length - place)} more items`));
      break;
    }
    printed += 1;
    const index = data.indexOf(n);
    const column = (name) => data.text(data.raw.items[name][index]).replaceAll("_", " ");
    if (marks[place] & COMPACTS) made.push(element("p", { class: "printed-compaction", text: "⇊ Context compacted: what is above was replaced" }));
    made.push(element("h3", { text: [column("role"), column("kind"), column("channel"), since(data.start(n))].filter(Boolean).join(" · ") }));
    const texts = [[n, ""], ...data.toolsOf(n).filter((tool) => data.raw.items.producer[index] !== tool).map((tool) => [tool, `${signOf(data.outcome(tool))} ${data.outcome(tool)}: ${nameOf(data, tool)}`])];
    for (const [object, title] of texts) {
      if (title) made.push(element("h4", { text: title }));
      const body = bodies.peek(object);
      if (!body) made.push(left("a text that is not loaded, or not in this file"));
      for (const { name, form, text } of body?.blocks ?? []) {
        const { shown, isCut, restChars } = cut(form === "json" ? pretty(text) : text, 1);
        chars += shown.length;
        if (name) made.push(element("h5", { text: name }));
        const parts = visibleParts(shown, isCommand(name, form));
        made.push(element("pre", {}, ...parts.map(([isEscape, part]) => (isEscape ? element("span", { class: "escape", text: part }) : part))));
        if (isCut) made.push(left(`${number(restChars)} more characters`));
      }
    }
  }
  if (inherited > 0) made.unshift(left(`${count(inherited, "item")} inherited from another agent`));
  return made;
}
