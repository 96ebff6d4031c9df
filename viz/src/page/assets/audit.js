/** The panel "Audit": what agents said and did that the recording does not bear out, with the evidence. */

import { element, fill } from "./dom.js";
import { count, since } from "./format.js";
import { reference } from "./reference.js";
import { Steps } from "./steps.js";

/** Severities, the worst first, with the mood in which each is shown. */
const MOODS = { high: "bad", medium: "warn", low: "none" };

/** Most findings that are shown at first. */
export const FIRST_FINDINGS = 50;

/** How relations of evidence read. */
const RELATIONS = {
  contradicts: "the run says",
  did_not_start: "it did not start",
  not_finished: "it had not ended",
  no_tests: "it ran no test",
  changed_after: "changed after it",
  last_run: "the last run",
  failed_attempt: "the attempt failed",
  does_not_hold: "it does not hold that",
  child_failed: "the agent failed",
  action: "the act",
  failed_before: "failed before",
  expected_value: "the expected value",
  secret_from: "the secret is from",
  instructed_by: "instructed by",
};

/**
 * Returns the findings with the worst first, and those of a severity in the order of the log.
 *
 * @param {{severity: string}[]} findings
 */
export function worstFirst(findings) {
  return Object.keys(MOODS).flatMap((severity) => findings.filter((finding) => finding.severity === severity));
}

/**
 * Shows the findings.
 */
export class Audit extends Steps {
  /**
   * @param {HTMLElement} host
   * @param {{data: import("./data.js").Data, store: import("./store.js").Store}} page
   * @param {(text: string) => void} title names the panel's tab
   */
  constructor(host, page, title) {
    super(host, page, "Audit");
    this.title = title;
    this.shown = null;
    this.draw();
    page.store.on("data", () => this.draw());
  }

  /** Draws the findings if they have changed. */
  draw() {
    const { findings } = this.page.data.raw;
    const now = JSON.stringify(findings);
    if (now === this.shown) return;
    this.shown = now;
    const top = this.scroller.scrollTop;
    const sorted = worstFirst(findings ?? []);
    this.title(sorted.length > 0 ? `Audit (${sorted.length})` : "Audit");
    const list = element("ol", { class: "verdict-list" });
    const more = element("button", { type: "button", class: "link" });
    let shown = 0;
    const grow = () => {
      for (const finding of sorted.slice(shown, shown + FIRST_FINDINGS)) list.append(element("li", {}, this.finding(finding)));
      shown = Math.min(sorted.length, shown + FIRST_FINDINGS);
      more.hidden = shown === sorted.length;
      more.textContent = `Show more of ${count(sorted.length - shown, "finding")}`;
    };
    more.addEventListener("click", grow);
    grow();
    fill(this.scroller, sorted.length === 0 ? element("p", { class: "all-well", text: this.none(findings) }) : null, list, more);
    this.scroller.scrollTop = top;
    this.mark();
  }

  none(findings) {
    if (!findings) return "This session is too large to be audited beside its page. The command trace audit does it.";
    return "The audit has no findings.";
  }

  link(n, text, fallback) {
    return n >= 0 ? reference(this.page, n, { origin: "audit", text }) : element("span", { text: text || fallback });
  }

  finding(finding) {
    const { data } = this.page;
    const at = finding.claim?.n ?? finding.evidence[0]?.n ?? -1;
    const steps = finding.evidence.map((piece) => this.step(RELATIONS[piece.relation] ?? piece.relation.replaceAll("_", " "), piece));
    if (finding.claim) steps.unshift(this.step("said", { ...finding.claim, text: `“${finding.claim.text}”` }));
    const thread = at >= 0 ? data.thread(at) : -1;
    return element(
      "article",
      { class: `verdict ${MOODS[finding.severity] ?? "none"}` },
      element(
        "header",
        {},
        element("span", { class: "category", text: finding.kind.replaceAll("_", " ") }),
        element("span", { class: "quiet", text: `${finding.severity}, confidence ${finding.confidence}` }),
        element("bdi", { class: "quiet", text: data.agentName(thread) || finding.agent_path }),
        element("span", { class: "gap" }),
        element("time", { class: "quiet", text: at >= 0 ? since(data.start(at)) : "" }),
      ),
      element("h2", { class: "sentence", dir: "auto", text: finding.message }),
      element("ol", { class: "steps" }, ...steps),
      finding.evidence.length === 0 ? element("p", { class: "facts", text: "Nothing in the recording shows it." }) : null,
    );
  }

  step(relation, piece) {
    const n = piece.n ?? -1;
    return element(
      "li",
      { "data-step": n },
      element("span", { class: "relation-name", text: relation }),
      this.link(n, piece.text || undefined, piece.object?.id ?? ""),
      element("time", { class: "quiet", text: n >= 0 ? since(this.page.data.start(n)) : "" }),
    );
  }
}
