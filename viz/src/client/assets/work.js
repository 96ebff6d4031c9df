/** The plan of the running turn and the files that the last turn changed. */

import { changesOf, changeView, splitDiff } from "./diff.js";
import { element, fill } from "../../page/assets/dom.js";
import { safe } from "./texts.js";

const STEPS = { __proto__: null, pending: "to do", inProgress: "in progress", completed: "done" };

export class Work {
  /**
   * @param {import("./session.js").Session} session
   * @param {{plan: HTMLElement, changes: HTMLElement}} holders
   */
  constructor(session, { plan, changes }) {
    this.session = session;
    this.plan = plan;
    this.changes = changes;
    this.shownDiff = null;
    session.on("open", () => this.draw());
    session.on("conversation", (kind, entry) => {
      if (["all", "plan", "diff", "turn"].includes(kind) || entry?.item.type === "fileChange") this.draw();
    });
    this.draw();
  }

  draw() {
    const { conversation } = this.session;
    this.drawPlan(conversation?.plan ?? null);
    this.drawChanges(conversation);
  }

  drawPlan(plan) {
    const steps = plan?.plan ?? [];
    this.plan.hidden = steps.length === 0;
    const rows = steps.map(({ step, status }) => element("li", { class: status }, element("span", { class: `state ${status}`, text: STEPS[status] ?? String(status) }), " ", ...safe(String(step))));
    fill(this.plan, element("h2", { text: "Plan" }), plan?.explanation ? element("p", { class: "quiet" }, ...safe(plan.explanation)) : null, element("ol", {}, ...rows));
  }

  /** Draws the diff of the last turn. After a reload the server does not send it again, and the changes of its items stand for it. */
  drawChanges(conversation) {
    const diff = conversation?.diff ?? "";
    const changes = diff ? splitDiff(diff) : changesOf(conversation?.changedItems ?? []);
    this.changes.hidden = changes.length === 0;
    const key = JSON.stringify(changes);
    if (key === this.shownDiff) return;
    this.shownDiff = key;
    fill(this.changes, element("h2", { text: "Changes" }), ...changes.map((change) => changeView(change)));
  }
}
