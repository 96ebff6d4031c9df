/** The panel "Why": the verdicts of the postmortem on all turns. */

import { element, fill } from "./dom.js";
import { count, duration, since } from "./format.js";
import { badge, moodOf, signOf } from "./outcome.js";
import { reference } from "./reference.js";
import { Steps } from "./steps.js";

/** Outcomes of turns that need attention, the worst first. */
export const ATTENTION = ["failed", "unfinished", "degraded", "cancelled"];

/** Words for turns that need no attention. */
const FOLDED = { running: "still running", recovered: "recovered from what failed", ok: "without a failure" };

/** Most verdicts that are shown at first. */
export const FIRST_VERDICTS = 50;

/**
 * Splits the verdicts into those that need attention, with the worst outcome first, and the others.
 *
 * @param {{outcome: string}[]} verdicts
 * @returns {{attention: object[], others: object[], counts: Map<string, number>}}
 */
export function sorted(verdicts) {
  const counts = new Map();
  for (const { outcome } of verdicts) counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
  const attention = ATTENTION.flatMap((outcome) => verdicts.filter((verdict) => verdict.outcome === outcome));
  return { attention, others: verdicts.filter((verdict) => !ATTENTION.includes(verdict.outcome)), counts };
}

/**
 * Shows the verdicts.
 */
export class Verdicts extends Steps {
  /**
   * @param {HTMLElement} host
   * @param {HTMLElement} strip the line with the verdict in one sentence
   * @param {{data: import("./data.js").Data, store: import("./store.js").Store}} page
   * @param {() => void} open shows the panel
   */
  constructor(host, strip, page, open) {
    super(host, page, "Why");
    this.line = strip;
    this.open = open;
    this.shown = "";
    this.draw();
    page.store.on("data", () => this.draw());
  }

  /** Draws the verdicts if they have changed. What the reader unfolded stays unfolded. */
  draw() {
    const { data } = this.page;
    const { raw } = data;
    // What is shown of a verdict's objects may change, too.
    const now = JSON.stringify([raw.verdicts, raw.lost], (name, value) => ((name === "n" || name === "turn") && value >= 0 ? [value, data.label(value), data.start(value), data.outcome(value)] : value));
    if (now === this.shown) return;
    this.shown = now;
    const { attention, others, counts } = sorted(raw.verdicts);
    this.attention = attention;
    const opened = [...this.scroller.querySelectorAll(":scope > details")].filter((one) => one.open).map((one) => one.dataset.outcome);
    const top = this.scroller.scrollTop;
    this.steps = element("ol", { class: "verdict-list" });
    const more = element("button", { type: "button", class: "link" });
    let shown = 0;
    const grow = () => {
      for (const verdict of attention.slice(shown, shown + FIRST_VERDICTS)) this.steps.append(element("li", {}, this.verdict(verdict)));
      shown = Math.min(attention.length, shown + FIRST_VERDICTS);
      more.hidden = shown === attention.length;
      more.textContent = `Show more of ${count(attention.length - shown, "verdict")}`;
    };
    more.addEventListener("click", grow);
    grow();
    fill(
      this.scroller,
      attention.length === 0 ? this.allWell(others) : null,
      this.steps,
      more,
      ...this.lost(),
      ...["running", "recovered", "ok"].map((outcome) => this.folded(outcome, others.filter((verdict) => verdict.outcome === outcome))),
    );
    for (const details of this.scroller.querySelectorAll(":scope > details")) if (opened.includes(details.dataset.outcome)) details.open = true;
    this.scroller.scrollTop = top;
    this.strip(this.line, counts, this.open);
    this.mark();
  }

  strip(strip, counts, open) {
    const worst = this.attention[0];
    const chips = [...ATTENTION, "running", "recovered", "ok"]
      .filter((outcome) => counts.has(outcome))
      .map((outcome) => badge(outcome, `${counts.get(outcome)} ${outcome}`));
    strip.className = "";
    strip.classList.add(worst ? moodOf(worst.outcome) : counts.size > 0 ? "good" : "none");
    fill(
      strip,
      element("span", { class: "strip-chips", role: "group", "aria-label": "Turns by outcome" }, ...chips),
      worst
        ? element("button", { type: "button", class: "strip-sentence", title: worst.verdict.slice(0, 2000), onclick: open }, element("bdi", { class: "quiet", text: this.agentOf(worst.turn, worst.agent_path) }), element("bdi", { text: worst.verdict }))
        : element("span", { class: "strip-sentence", text: this.sentence(this.page.data.raw.verdicts) }),
      worst ? element("button", { type: "button", text: "Why?", title: "Show the verdicts (g w)", onclick: open }) : null,
    );
  }

  allWell(others) {
    const sign = others.length > 0 ? element("span", { class: "sign good", "aria-hidden": "true", text: "✓ " }) : null;
    return element("p", { class: "all-well" }, sign, this.sentence(others));
  }

  sentence(others) {
    if (others.length === 0) return "No turn began in this session.";
    if (others.some(({ outcome }) => outcome === "running")) return "Nothing has failed so far.";
    return others.some(({ outcome }) => outcome === "recovered") ? "What failed in this session was made good." : "Nothing failed in this session.";
  }

  /**
   * Returns the display name of the agent of an object. Several agents may have the same path, so the path alone is not
   * enough.
   */
  agentOf(n, path) {
    const { data } = this.page;
    const thread = data.typeName(n) === "thread" ? n : data.thread(n);
    return data.agentName(thread) || path;
  }

  link(n, text, fallback, typed = false) {
    return n >= 0 ? reference(this.page, n, { origin: "verdicts", text, typed }) : element("span", { text: text || fallback });
  }

  verdict(verdict) {
    const { data } = this.page;
    const cause = verdict.root_cause;
    const start = data.start(verdict.turn);
    return element(
      "article",
      { class: `verdict ${moodOf(verdict.outcome)}` },
      element(
        "header",
        {},
        badge(verdict.outcome),
        this.link(verdict.turn, data.label(verdict.turn) || "turn", "turn"),
        element("bdi", { class: "quiet", text: this.agentOf(verdict.turn, verdict.agent_path) }),
        element("span", { class: "gap" }),
        element("time", { class: "quiet", text: since(start) }),
      ),
      element("h2", { class: "sentence", dir: "auto", text: verdict.verdict }),
      cause ? this.cause(cause, "Root cause") : null,
      verdict.chain.length > 0 ? this.chain(verdict) : null,
      verdict.other_causes.length > 0 ? this.others(verdict) : null,
      verdict.time_lost_ms > 0 || verdict.missing.length > 0
        ? element(
            "footer",
            {},
            verdict.time_lost_ms > 0 ? element("span", { text: `Time lost: ${duration(verdict.time_lost_ms)}` }) : null,
            verdict.missing.length > 0 ? element("span", { class: "quiet" }, "What would make it surer: ", element("bdi", { text: verdict.missing.join("; ") })) : null,
          )
        : null,
    );
  }

  cause(cause, title) {
    const facts = [
      `confidence ${cause.confidence}`,
      cause.http_status ? `HTTP ${cause.http_status}` : "",
      cause.exit_code !== null && cause.exit_code !== undefined ? `exit code ${cause.exit_code}` : "",
      cause.signal ? `signal ${cause.signal}` : "",
      cause.attempts > 1 ? `${cause.attempts} attempts` : "",
    ].filter(Boolean);
    return element(
      "div",
      { class: "cause" },
      element("h3", { text: title }),
      element(
        "p",
        { class: "cause-head" },
        element("span", { class: "category", text: cause.category.replaceAll("_", " ") }),
        this.link(cause.n ?? -1, this.page.data.label(cause.n ?? -1) || undefined, refOf(cause.object), true),
        element("bdi", { class: "quiet", text: this.agentOf(cause.n ?? -1, cause.agent_path) }),
      ),
      cause.message ? element("pre", { class: "mono message", dir: "auto", text: cause.message }) : null,
      element("p", { class: "facts", text: facts.join(" · ") }),
    );
  }

  chain({ chain }) {
    return element(
      "div",
      { class: "chain" },
      element("h3", { text: "How it came to that" }),
      element(
        "ol",
        { class: "steps" },
        ...chain.map((step) =>
          element(
            "li",
            { "data-step": step.n ?? -1 },
            element("span", { class: "relation-name", text: step.relation.replaceAll("_", " ") }),
            this.link(step.n ?? -1, step.text || undefined, refOf(step.object)),
            element("time", { class: "quiet", text: step.n >= 0 ? since(this.page.data.start(step.n)) : "" }),
          ),
        ),
      ),
    );
  }

  others(verdict) {
    return element(
      "details",
      { class: "others" },
      element("summary", { text: count(verdict.other_causes.length, "other cause") }),
      ...verdict.other_causes.map((cause) => this.cause(cause, "Also")),
    );
  }

  lost() {
    const { data } = this.page;
    const { lost } = data.raw;
    if (lost.length === 0) return [];
    return [
      element(
        "details",
        { class: "folded", "data-outcome": "lost", open: lost.length <= 5 },
        element("summary", {}, element("span", { class: "sign warn", "aria-hidden": "true", text: signOf("unfinished") }), ` ${count(lost.length, "hand-over")} never arrived`),
        element(
          "ul",
          { class: "links" },
          ...lost.slice(0, 200).map((one) =>
            element(
              "li",
              {},
              this.link(one.source, String(one.kind).replaceAll("_", " "), ""),
              element("span", { class: "ends" }, element("bdi", { text: data.agentName(one.from) }), " → ", element("bdi", { text: one.to >= 0 ? data.agentName(one.to) : String(one.to_id ?? "?") })),
              element("time", { class: "quiet", text: since(one.sent) }),
            ),
          ),
        ),
      ),
    ];
  }

  /** Returns the turns that came out well: their number, and a list that the reader can unfold. */
  folded(outcome, verdicts) {
    if (verdicts.length === 0) return null;
    const list = element("ol", { class: "verdict-list" });
    const details = element(
      "details",
      {
        class: "folded",
        "data-outcome": outcome,
        ontoggle: () => {
          if (!details.open || list.childElementCount > 0) return;
          for (const verdict of verdicts.slice(0, 500)) list.append(element("li", {}, this.verdict(verdict)));
          if (verdicts.length > 500) list.append(element("li", { class: "quiet", text: `${verdicts.length - 500} more are not shown.` }));
        },
      },
      element(
        "summary",
        {},
        element("span", { class: `sign ${moodOf(outcome)}`, "aria-hidden": "true", text: signOf(outcome) }),
        ` ${count(verdicts.length, "turn")} ${FOLDED[outcome]}`,
      ),
      list,
    );
    return details;
  }
}

function refOf(object) {
  return typeof object === "string" ? object : (object?.id ?? "");
}
