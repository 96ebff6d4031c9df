/** The list of threads. */

import { byId, element, fill } from "../../page/assets/dom.js";
import { line } from "./texts.js";
import { pathOf, wordOf } from "./threads.js";

/** Most agents of a tree in the list. The tree beside the conversation has all of them. */
const MAX_CHILDREN = 50;

/** Returns what people call a thread: its name, or the words that it began with. */
export function titleOf(thread) {
  return line(thread?.name || pathOf(thread) || thread?.preview || "New thread", 80);
}

export class Sidebar {
  /** @param {import("./session.js").Session} session */
  constructor(session) {
    this.session = session;
    this.frame = 0;
    this.list = element("ul", { class: "threads" });
    this.more = element("button", { type: "button", class: "more", text: "More threads", onclick: () => session.listMore().catch((error) => session.notice(error.message)) });
    fill(byId("threads"), element("button", { type: "button", class: "new", text: "New thread", onclick: () => (location.hash = "#/") }), this.list, this.more);
    for (const event of ["threads", "open"]) session.on(event, () => this.schedule());
    this.schedule();
  }

  schedule() {
    this.frame ||= requestAnimationFrame(() => {
      this.frame = 0;
      this.draw();
    });
  }

  draw() {
    const { threads, conversation } = this.session;
    const open = conversation?.thread ?? "";
    const openRoot = open ? threads.rootOf(open) : "";
    // A link that has the focus keeps it when the list is made again.
    const focused = this.list.contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
    fill(this.list, ...threads.roots.map((root) => this.row(root, open, root === openRoot)));
    if (focused) [...this.list.querySelectorAll("a")].find((link) => link.getAttribute("href") === focused)?.focus({ preventScroll: true });
    this.more.hidden = !threads.cursor;
  }

  row(id, open, isInOpenTree) {
    const { threads } = this.session;
    const thread = threads.get(id);
    const state = wordOf(thread?.status);
    const children = threads.childrenOf(id);
    // The agents of a tree that nobody looks at are in its way, unless they wait for a person.
    const shown = children.filter((child) => isInOpenTree || wordOf(child.status) === "waiting").slice(0, MAX_CHILDREN);
    const link = element("a", { href: `#/${id}`, "aria-current": id === open ? "page" : null, title: thread?.cwd ? line(thread.cwd, 200) : null }, element("span", { class: "name", text: titleOf(thread) }), " ", element("span", { class: `state ${state}`, text: state }));
    return element("li", {}, link, shown.length > 0 ? element("ul", {}, ...shown.map((child) => this.row(child.id, open, isInOpenTree))) : null);
  }
}
