/** Tells a person what happens: in the line for notices, in the title, and by notifications of the system. */

import { byId } from "../../page/assets/dom.js";
import { line } from "./texts.js";
import { titleOf } from "./sidebar.js";

/** How long a notice is shown, in milliseconds. */
const SHOWN_MS = 8000;

const TITLE = "trace";

export class Notices {
  /** @param {import("./session.js").Session} session */
  constructor(session) {
    this.session = session;
    this.timer = 0;
    session.on("notice", (text) => this.show(text));
    for (const event of ["threads", "requests", "open", "state"]) session.on(event, () => this.drawTitle());
    session.on("asked", (method, params) => this.notify(params.threadId));
    this.drawTitle();
  }

  show(text) {
    const node = byId("notice");
    node.textContent = line(text, 400);
    clearTimeout(this.timer);
    this.timer = setTimeout(() => (node.textContent = ""), SHOWN_MS);
  }

  /** The title counts what waits, so that the tab shows it. */
  drawTitle() {
    const { session } = this;
    const waiting = Math.max(session.threads.waiting, session.requests.open.size);
    const name = session.thread ? `${titleOf(session.thread)} · ${TITLE}` : TITLE;
    document.title = waiting > 0 ? `(${waiting}) ${name}` : name;
  }

  notify(thread) {
    if (!document.hidden || typeof Notification === "undefined" || Notification.permission !== "granted") return;
    const { threads } = this.session;
    const notification = new Notification("An agent waits for you", { body: titleOf(threads.get(threads.rootOf(thread)) ?? threads.get(thread)), tag: thread });
    notification.addEventListener("click", () => {
      window.focus();
      location.hash = `#/${thread}`;
      notification.close();
    });
  }
}
