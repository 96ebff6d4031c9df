/** Where a person writes: the message, its pictures, the model, and the settings of a new thread. */

import { Unconfirmed } from "./connection.js";
import { byId, element, fill } from "../../page/assets/dom.js";
import { readPictures } from "./images.js";
import { line } from "./texts.js";

/** How long a first Escape counts, in milliseconds. */
const ESCAPE_MS = 3000;

/** Most lines that the text box grows to. */
const MAX_LINES = 12;

const SANDBOXES = [["", "as configured"], ["read-only", "read only"], ["workspace-write", "write in the folder"], ["danger-full-access", "no sandbox"]];
const MODES = [["default", "work"], ["plan", "plan only"]];
const APPROVALS = [["", "as configured"], ["untrusted", "before most commands"], ["on-request", "when a command needs more"], ["never", "never"]];

export class Composer {
  /** @param {import("./session.js").Session} session */
  constructor(session) {
    this.session = session;
    this.drafts = new Map();
    this.pictures = [];
    this.escapedAt = -Infinity;
    this.isSending = false;
    this.build();
    session.on("open", () => this.opened());
    session.on("open-settings", () => this.drawModels());
    session.on("models", () => this.drawModels());
    session.on("state", () => this.draw());
    session.on("threads", () => this.draw());
    session.on("conversation", (kind) => kind !== "grown" && this.draw());
    session.on("queue", () => this.drawQueue());
    document.addEventListener("keydown", (event) => this.pressed(event));
    this.opened();
  }

  build() {
    this.text = element("textarea", { id: "message", "aria-label": "Message", rows: "1", placeholder: "Message", enterkeyhint: "send", autocomplete: "off" });
    this.text.addEventListener("input", () => this.typed());
    this.text.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
        event.preventDefault();
        this.submit();
      }
    });
    this.text.addEventListener("paste", (event) => {
      const files = [...(event.clipboardData?.files ?? [])];
      if (files.length === 0) return;
      event.preventDefault();
      this.attach(files);
    });
    const file = element("input", { type: "file", accept: "image/*", multiple: true, hidden: true, "aria-label": "Pictures", onchange: () => this.attach([...file.files]).then(() => (file.value = "")) });
    this.send = element("button", { type: "button", class: "primary", text: "Send", onclick: () => this.submit() });
    this.later = element("button", { type: "button", text: "Queue", title: "Send it when the running turn has ended", onclick: () => this.enqueue() });
    this.stop = element("button", { type: "button", class: "danger", text: "Stop", onclick: () => this.stopTurn() });
    this.attachButton = element("button", { type: "button", text: "Picture", onclick: () => file.click() });
    this.model = element("select", { "aria-label": "Model" });
    this.mode = choice("Mode", MODES);
    this.folder = element("input", { type: "text", "aria-label": "Folder", placeholder: "folder of the server", autocomplete: "off", spellcheck: "false" });
    this.sandbox = choice("Sandbox", SANDBOXES);
    this.approvals = choice("Approvals", APPROVALS);
    this.settings = element("fieldset", { class: "new-thread" }, element("legend", { text: "New thread" }), labelled("Folder", this.folder), labelled("Sandbox", this.sandbox), labelled("Ask before", this.approvals));
    this.shownPictures = element("div", { class: "pictures" });
    this.queue = element("ol", { class: "queue", "aria-label": "Queued messages" });
    this.note = element("p", { class: "quiet" });
    fill(
      byId("composer"),
      this.queue,
      this.settings,
      this.shownPictures,
      this.note,
      element("div", { class: "write" }, this.text, element("div", { class: "buttons" }, this.send, this.later, this.stop)),
      element("div", { class: "tools" }, this.attachButton, file, this.model, this.mode),
    );
  }

  get key() {
    return this.session.conversation?.thread ?? "";
  }

  /** Another thread is open: its draft is shown. */
  opened() {
    if (this.openKey !== undefined) this.drafts.set(this.openKey, { text: this.text.value, pictures: this.pictures });
    this.openKey = this.key;
    const { text = "", pictures = [] } = this.drafts.get(this.key) ?? {};
    this.text.value = text;
    this.pictures = pictures;
    this.typed();
    this.drawModels();
    this.drawPictures();
    this.drawQueue();
    this.draw();
  }

  typed() {
    this.text.rows = Math.min(MAX_LINES, this.text.value.split("\n").length);
    this.draw();
  }

  draw() {
    const { session } = this;
    const isRunning = Boolean(session.conversation?.turn);
    const isReady = session.isConnected && session.takesInput && !this.isSending;
    const isEmpty = this.text.value.trim() === "" && this.pictures.length === 0;
    this.text.readOnly = !session.takesInput;
    this.send.disabled = !isReady || isEmpty;
    this.later.hidden = !isRunning;
    this.later.disabled = !isReady || isEmpty;
    this.stop.hidden = !isRunning;
    this.stop.disabled = !session.isConnected;
    this.settings.hidden = session.conversation !== null;
    this.attachButton.disabled = !session.takesInput;
    this.note.hidden = session.takesInput;
    this.note.textContent = session.takesInput ? "" : "This agent takes its messages from its parent.";
  }

  drawModels() {
    const { models, conversation } = this.session;
    const current = conversation?.settings?.model ?? models.find(({ isDefault }) => isDefault)?.model ?? "";
    const names = models.map(({ model, displayName }) => [model, displayName || model]);
    if (current && names.every(([model]) => model !== current)) names.unshift([current, current]);
    fill(this.model, ...names.map(([model, name]) => element("option", { value: model, selected: model === current, text: line(name, 60) })));
    this.model.hidden = names.length === 0;
    this.mode.value = conversation?.settings?.mode ?? "default";
    this.draw();
  }

  drawPictures() {
    fill(
      this.shownPictures,
      ...this.pictures.map((url, at) =>
        element("span", { class: "attached" }, element("img", { src: url, alt: `picture ${at + 1}` }), element("button", { type: "button", text: "Remove", "aria-label": `Remove picture ${at + 1}`, onclick: () => this.detach(at) })),
      ),
    );
    this.draw();
  }

  drawQueue() {
    const { queue } = this.session;
    this.queue.hidden = queue.length === 0;
    fill(
      this.queue,
      ...queue.map(({ id, input }) =>
        element("li", {}, element("span", { text: line(input.map(({ text }) => text ?? "[picture]").join(" "), 100) }), " ", element("button", { type: "button", text: "Remove", onclick: () => this.attempt(() => this.session.dequeue(id)) })),
      ),
    );
  }

  async attach(files) {
    const { urls, refused } = await readPictures(files);
    this.pictures = [...this.pictures, ...urls];
    if (refused.length > 0) this.session.notice(refused.join("; "));
    this.drawPictures();
    this.text.focus();
  }

  detach(at) {
    this.pictures = this.pictures.filter((_, place) => place !== at);
    this.drawPictures();
    this.text.focus();
  }

  get input() {
    const text = this.text.value.trim();
    return [...(text ? [{ type: "text", text, text_elements: [] }] : []), ...this.pictures.map((url) => ({ type: "image", url }))];
  }

  submit() {
    if (this.send.disabled) return;
    const settings = { model: this.model.value, mode: this.mode.value };
    if (!this.session.conversation) Object.assign(settings, { cwd: this.folder.value.trim(), sandbox: this.sandbox.value, approvalPolicy: this.approvals.value });
    const { input } = this;
    this.deliver(() => this.session.send(input, settings));
  }

  enqueue() {
    if (this.later.disabled) return;
    const { input } = this;
    this.deliver(() => this.session.enqueue(input));
  }

  /** Sends what was written. It is kept if the server did not take it. */
  async deliver(send) {
    const kept = { text: this.text.value, pictures: this.pictures };
    this.isSending = true;
    this.text.value = "";
    this.pictures = [];
    this.drafts.delete(this.key);
    this.typed();
    this.drawPictures();
    const isTaken = await this.attempt(send);
    this.isSending = false;
    if (!isTaken && this.text.value === "") {
      this.text.value = kept.text;
      this.pictures = kept.pictures;
      this.drawPictures();
    }
    this.typed();
  }

  async attempt(action) {
    try {
      await action();
      return true;
    } catch (error) {
      this.session.notice(error instanceof Unconfirmed ? `Not confirmed: ${error.message}. Look whether it was taken before you send it again.` : `Refused: ${error.message}`);
      return false;
    }
  }

  stopTurn() {
    return this.attempt(() => this.session.stop());
  }

  /** The second press of Escape stops the turn. */
  pressed(event) {
    if (event.key !== "Escape" || event.defaultPrevented || !this.session.conversation?.turn) return;
    const now = performance.now();
    if (now - this.escapedAt < ESCAPE_MS) {
      this.escapedAt = -Infinity;
      this.stopTurn();
    } else {
      this.escapedAt = now;
      this.session.notice("Press Escape again to stop the turn.");
    }
  }
}

function choice(label, options) {
  return element("select", { "aria-label": label }, ...options.map(([value, text]) => element("option", { value, text })));
}

function labelled(text, control) {
  return element("label", {}, element("span", { text }), " ", control);
}
