/** Starts the page: the head, the panels, and the place in the address. */

import { Agents } from "./agents.js";
import { Approvals } from "./approvals.js";
import { Composer } from "./composer.js";
import { REFUSED } from "./connection.js";
import { byId, element, fill } from "../../page/assets/dom.js";
import { Log } from "./log.js";
import { Notices } from "./notice.js";
import { Session } from "./session.js";
import { Sidebar, titleOf } from "./sidebar.js";
import { line } from "./texts.js";
import { CHOICES, startTheme } from "../../page/assets/theme.js";
import { keepToken, takeToken } from "../../page/assets/token.js";
import { Work } from "./work.js";

const at = (path) => new URL(path, location.href);

function socketUrl() {
  const url = at("ws");
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  url.hash = "";
  return url.href;
}

/** Draws the head of the page: the state of the connection and what concerns the whole page. */
function startHead(session) {
  const state = element("span", { role: "status", "aria-label": "Connection", class: "connection" });
  const threads = element("button", { type: "button", class: "for-narrow", text: "Threads", "aria-controls": "threads", "aria-expanded": "false" });
  const details = element("button", { type: "button", class: "for-narrow", text: "Details", "aria-controls": "side", "aria-expanded": "false" });
  const show = (name) => {
    const open = document.body.dataset.panel === name ? "" : name;
    document.body.dataset.panel = open;
    threads.setAttribute("aria-expanded", String(open === "threads"));
    details.setAttribute("aria-expanded", String(open === "side"));
    if (open) byId(open).querySelector("a, button, [tabindex='0'], summary")?.focus();
  };
  threads.addEventListener("click", () => show("threads"));
  details.addEventListener("click", () => show("side"));
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !document.body.dataset.panel) return;
    event.preventDefault();
    const opener = document.body.dataset.panel === "threads" ? threads : details;
    show("");
    opener.focus();
  }, { capture: true });
  session.on("open", () => document.body.dataset.panel === "threads" && show(""));
  fill(byId("head"), threads, element("h1", { text: "trace" }), state, element("span", { class: "space" }), details);
  session.on("state", (now) => {
    state.textContent = now;
    state.dataset.state = now;
  });
}

/** Returns the controls of the page itself. */
function pageControls(theme) {
  const notify = element("button", { type: "button", text: "Notify me", hidden: typeof Notification === "undefined" || Notification.permission !== "default" });
  notify.addEventListener("click", async () => {
    await Notification.requestPermission();
    notify.hidden = true;
  });
  const colours = element("select", { onchange: () => theme.choose(colours.value) }, ...CHOICES.map((choice) => element("option", { value: choice, text: choice, selected: choice === theme.choice })));
  return element("section", { "aria-label": "This page" }, element("h2", { text: "This page" }), element("div", { class: "tools" }, element("label", {}, "Colours ", colours), notify));
}

/** Draws what the open thread is: its name, its folder, and the link to its recording. */
function startAbout(session, controls) {
  // The elements stay while figures change, since a click on an element that is replaced in between is lost.
  const title = element("h2", {});
  const told = element("span", { class: "quiet facts" });
  // The tab that the link opens gets a copy of this tab's storage, which has the token.
  const recording = element("a", { target: "_blank", rel: "opener", text: "Recording" });
  let shown = null;
  const draw = () => {
    const { thread, conversation } = session;
    controls.hidden = !conversation || Boolean(thread?.parentThreadId);
    if (!conversation) {
      shown = null;
      fill(byId("about"), element("h2", { text: "New thread" }));
      return;
    }
    const { cwd, sandbox, approvals } = conversation.settings ?? {};
    const usage = conversation.usage?.total?.totalTokens;
    const facts = [cwd && line(cwd, 100), sandbox && `sandbox ${line(sandbox, 30)}`, approvals && `approvals ${line(typeof approvals === "string" ? approvals : "granular", 30)}`, usage && `${usage.toLocaleString("en")} tokens`].filter(Boolean);
    title.textContent = titleOf(thread);
    told.textContent = facts.join(" · ");
    if (shown === conversation.thread) return;
    shown = conversation.thread;
    recording.href = at(`recording/${encodeURIComponent(conversation.thread)}/`).pathname;
    fill(byId("about"), title, told, element("span", { class: "space" }), recording);
  };
  for (const event of ["open", "open-settings", "threads"]) session.on(event, draw);
  session.on("conversation", (kind) => (kind === "usage" || kind === "all") && draw());
  draw();
}

/** Returns the controls of the open thread. */
function threadControls(session) {
  const buttons = [
    element("button", { type: "button", text: "Rename", onclick: () => rename(session) }),
    element("button", { type: "button", text: "Archive", onclick: () => archive(session) }),
  ];
  return element("section", { "aria-label": "This thread" }, element("h2", { text: "This thread" }), element("div", { class: "tools" }, ...buttons));
}

function rename(session) {
  const { thread } = session;
  const name = element("input", { type: "text", "aria-label": "Name", value: thread.name ?? "", autocomplete: "off" });
  const box = dialog("Rename the thread", [name], "Rename", () => name.value.trim() && session.rename(thread.id, name.value.trim()));
  name.focus();
  return box;
}

function archive(session) {
  const { thread } = session;
  return dialog("Archive the thread?", [element("p", { text: "A turn that runs is stopped. The recording stays." })], "Archive", () => session.archive(thread.id));
}

/** Opens a dialog with one action. */
function dialog(title, parts, action, act) {
  const box = element("dialog", { "aria-label": title });
  const form = element("form", { method: "dialog" }, element("h2", { text: title }), ...parts, element("div", { class: "buttons" }, element("button", { type: "submit", value: "act", class: "primary", text: action }), element("button", { type: "submit", value: "", formnovalidate: true, text: "Cancel" })));
  // The content security policy lets no form be sent anywhere, so the dialog is closed by the script.
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const isMeant = (event.submitter?.value ?? "act") === "act";
    box.close();
    if (isMeant) Promise.resolve(act()).catch((error) => window.traceClient.session.notice(error.message));
  });
  box.append(form);
  box.addEventListener("close", () => box.remove());
  document.body.append(box);
  box.showModal();
  return box;
}

/** Asks for the token while the server refuses the one that the page has. */
function startTokenForm(session) {
  let form = null;
  session.on("state", (now) => {
    if (now !== REFUSED) {
      form?.remove();
      form = null;
      return;
    }
    if (form) return;
    const field = element("input", { type: "password", id: "token", autocomplete: "off", "aria-describedby": "token-hint" });
    form = element(
      "form",
      { id: "token-form", "aria-label": "Token" },
      element("h2", { text: "The server refuses this page" }),
      element("p", { id: "token-hint", text: "Open the address that `trace serve --web` printed, or enter the token that the server asks for." }),
      element("label", { for: "token", text: "Token" }),
      field,
      element("button", { type: "submit", class: "primary", text: "Connect" }),
    );
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const token = field.value.trim();
      if (!token) return;
      keepToken(token);
      session.connection.start(token);
    });
    byId("panels").before(form);
    field.focus();
  });
}

/** The fragment of the address says which thread is open: `#/THREAD`, or `#/` for a new one. */
function startRoute(session) {
  const open = () => {
    const id = /^#\/([\w-]+)$/.exec(location.hash)?.[1] ?? null;
    session.open(id).catch((error) => session.notice(error.message));
  };
  window.addEventListener("hashchange", () => {
    // A person may paste the address of a restarted server into the same tab.
    const token = location.hash.startsWith("#token=") ? takeToken() : "";
    if (token) session.connection.start(token);
    else open();
  });
  session.on("open", () => {
    const wanted = session.conversation ? `#/${session.conversation.thread}` : "#/";
    if (location.hash !== wanted && !(wanted === "#/" && location.hash === "")) history.pushState(null, "", wanted);
  });
  open();
}

function start() {
  const token = takeToken();
  const session = new Session(socketUrl(), at("token").href);
  window.traceClient = { session };
  const theme = startTheme({ emit: () => {} });
  startHead(session);
  startTokenForm(session);
  const plan = element("section", { "aria-label": "Plan" });
  const changes = element("section", { "aria-label": "Changes" });
  const agents = element("section", { class: "agents" });
  const controls = threadControls(session);
  fill(byId("side"), plan, changes, agents, controls, pageControls(theme));
  const panels = [new Sidebar(session), new Log(session), new Approvals(session), new Composer(session), new Agents(session, agents), new Work(session, { plan, changes }), new Notices(session)];
  startAbout(session, controls);
  startRoute(session);
  session.connection.start(token);
  document.documentElement.dataset.state = "ready";
  return panels;
}

start();
