/** Shows the requests of the server that wait for a person, and sends the answers. */

import { changesOf, changeView } from "./diff.js";
import { byId, element } from "../../page/assets/dom.js";
import { questionForm, schemaForm } from "./forms.js";
import { block, folded, json, line, safe } from "./texts.js";
import { pathOf } from "./threads.js";

export class Approvals {
  /** @param {import("./session.js").Session} session */
  constructor(session) {
    this.session = session;
    this.node = byId("waiting");
    this.shown = new Map();
    session.on("requests", () => this.draw());
    session.on("open", () => this.draw());
    // The changes of a patch are in its item, which may arrive later than the request.
    session.on("conversation", (kind, entry) => {
      if (kind === "all") this.redraw(() => true);
      else if (entry?.item.type === "fileChange") this.redraw((asked) => asked.params.itemId === entry.id);
    });
  }

  redraw(isMeant) {
    for (const asked of this.session.requests.all) {
      if (!isMeant(asked) || asked.method !== "item/fileChange/requestApproval") continue;
      this.shown.get(asked.id)?.node.remove();
      this.shown.delete(asked.id);
    }
    this.draw();
  }

  draw() {
    const open = this.session.requests.all;
    const wanted = new Set(open.map(({ id }) => id));
    for (const [id, { node }] of this.shown) {
      if (wanted.has(id)) continue;
      const hadFocus = node.contains(document.activeElement);
      node.remove();
      this.shown.delete(id);
      if (hadFocus) byId("message").focus();
    }
    for (const asked of open) {
      let shown = this.shown.get(asked.id);
      if (!shown) {
        shown = { node: this.make(asked) };
        this.shown.set(asked.id, shown);
        this.node.append(shown.node);
      }
      shown.node.toggleAttribute("data-sent", asked.isSent);
      // A control that is disabled loses the focus.
      if (asked.isSent && shown.node.contains(document.activeElement)) byId("message").focus();
      // A page that was faster has its answer taken first. Until the server says so, this one cannot answer twice.
      for (const control of shown.node.querySelectorAll("button, input, select")) control.disabled = asked.isSent;
    }
  }

  make(asked) {
    const make = MAKERS[asked.method];
    return make(asked.params, (result) => this.session.answer(asked, result), this.session);
  }
}

/** Returns the words that say which agent asks, unless it is the one of the open thread. */
function asker(params, session) {
  if (params.threadId === session.conversation?.thread) return [];
  const path = pathOf(session.threads.get(params.threadId)) || params.threadId;
  return [element("p", { class: "quiet" }, "Asked by the agent ", element("code", {}, ...safe(path, true)))];
}

function group(title, parts, buttons) {
  return element("section", { role: "group", class: "approval", "aria-label": "Approval" }, element("h2", { text: title }), ...parts.filter(Boolean), element("div", { class: "buttons" }, ...buttons));
}

function button(text, onclick, kind = "") {
  return element("button", { type: "button", class: kind, text, onclick });
}

function reason(params) {
  return params.reason ? element("p", { class: "prose" }, ...safe(params.reason)) : null;
}

const MAKERS = {
  __proto__: null,
  "item/commandExecution/requestApproval": (params, answer, session) => {
    const decide = (decision) => () => answer({ decision });
    const offered = params.availableDecisions ?? [];
    const prefix = params.proposedExecpolicyAmendment ?? offered.find((one) => one?.acceptWithExecpolicyAmendment)?.acceptWithExecpolicyAmendment.execpolicy_amendment;
    const parts = [
      ...asker(params, session),
      reason(params),
      block(params.command ?? "", { isCommand: true, class: "command" }),
      params.cwd ? element("p", { class: "quiet" }, "in ", element("code", { dir: "ltr" }, ...safe(params.cwd, true))) : null,
      params.rights ? element("p", { class: "quiet" }, ...safe(params.rights)) : null,
    ];
    return group("Run this command?", parts, [
      button("Approve", decide("accept"), "primary"),
      button("Approve for session", decide("acceptForSession")),
      ...(prefix?.length ? [button(`Always approve ${line(prefix.join(" "), 60)} …`, decide({ acceptWithExecpolicyAmendment: { execpolicy_amendment: prefix } }))] : []),
      button("Decline", decide("decline")),
      button("Stop the turn", decide("cancel"), "danger"),
    ]);
  },
  "item/fileChange/requestApproval": (params, answer, session) => {
    const decide = (decision) => () => answer({ decision });
    const entry = session.conversation?.byId.get(params.itemId);
    const changes = changesOf(entry?.item.changes);
    const parts = [
      ...asker(params, session),
      reason(params),
      params.grantRoot ? element("p", {}, "Until the session ends, files may be written below ", element("code", { dir: "ltr" }, ...safe(params.grantRoot, true))) : null,
      ...changes.map((change) => changeView(change, { isOpen: changes.length <= 4 })),
      changes.length === 0 ? element("p", { class: "quiet", text: "Open the thread of the agent that asks to see the changes and to approve them." }) : null,
    ];
    // What is not shown cannot be approved.
    const approve = [button("Approve", decide("accept"), "primary"), button("Approve for session", decide("acceptForSession"))];
    return group(changes.length === 1 ? "Change this file?" : "Change these files?", parts, [
      ...(changes.length > 0 ? approve : []),
      button("Decline", decide("decline")),
      button("Stop the turn", decide("cancel"), "danger"),
    ]);
  },
  "item/tool/requestUserInput": (params, answer, session) => {
    const { parts, read } = questionForm(params.questions ?? []);
    const missing = element("p", { class: "bad", hidden: true, text: "Every question needs an answer." });
    const send = () => {
      const answers = read();
      missing.hidden = answers !== null;
      if (answers) answer({ answers });
    };
    return group("The agent asks", [...asker(params, session), ...parts, missing], [button("Answer", send, "primary")]);
  },
  "item/permissions/requestApproval": (params, answer, session) => {
    const parts = [...asker(params, session), reason(params), block(json(params.permissions), { isCommand: true }), params.cwd ? element("p", { class: "quiet" }, "in ", element("code", { dir: "ltr" }, ...safe(params.cwd, true))) : null];
    return group("Give these permissions?", parts, [
      button("Approve", () => answer({ permissions: params.permissions, scope: "turn" }), "primary"),
      button("Approve for session", () => answer({ permissions: params.permissions, scope: "session" })),
      button("Decline", () => answer({ permissions: {}, scope: "turn" })),
    ]);
  },
  "mcpServer/elicitation/request": (params, answer, session) => {
    const meta = params._meta ?? {};
    const isToolApproval = meta.codex_approval_kind === "mcp_tool_call";
    const parts = [...asker(params, session), element("p", { class: "prose" }, ...safe(params.message ?? ""))];
    if (params.mode === "url") {
      parts.push(webAddress(params.url));
      return group(`${line(params.serverName, 80)} asks you to open a page`, parts, [
        button("Done", () => answer({ action: "accept", content: null }), "primary"),
        button("Decline", () => answer({ action: "decline", content: null })),
      ]);
    }
    if (isToolApproval) {
      parts.push(block(json(meta.tool_params ?? {}), { isCommand: true }));
      if (meta.tool_description) parts.push(folded(["About this tool"], () => [element("p", { class: "prose" }, ...safe(meta.tool_description))]));
      const lasts = (meta.persist ?? []).includes?.("session");
      return group("Run this tool?", parts, [
        button("Approve", () => answer({ action: "accept", content: {} }), "primary"),
        ...(lasts ? [button("Approve for session", () => answer({ action: "accept", content: {}, _meta: { persist: "session" } }))] : []),
        button("Decline", () => answer({ action: "decline", content: null })),
      ]);
    }
    const form = schemaForm(params.requestedSchema);
    const holder = element("form", { novalidate: false }, ...form.parts);
    holder.addEventListener("submit", (event) => event.preventDefault());
    const send = () => holder.reportValidity() && answer({ action: "accept", content: form.read() });
    return group(`${line(params.serverName, 80)} asks`, [...parts, holder], [
      button("Answer", send, "primary"),
      button("Decline", () => answer({ action: "decline", content: null })),
      button("Cancel", () => answer({ action: "cancel", content: null })),
    ]);
  },
  "item/tool/call": (params, answer, session) => {
    const parts = [
      ...asker(params, session),
      element("p", {}, "The tool ", element("code", {}, ...safe([params.namespace, params.tool].filter(Boolean).join("."), true)), " belongs to another client, which answers if it is connected."),
      block(json(params.arguments), { isCommand: true }),
    ];
    return group("A tool of another client is called", parts, [
      button("Decline", () => answer({ success: false, contentItems: [{ type: "inputText", text: "The user declined the call." }] })),
    ]);
  },
};

/** Returns a link to a page of the web, with its whole address, or the address as text. */
function webAddress(address) {
  let url = null;
  try {
    url = new URL(address);
  } catch {
    // It is shown as text.
  }
  const isWeb = url && (url.protocol === "http:" || url.protocol === "https:");
  if (!isWeb) return block(String(address ?? ""), { isCommand: true });
  return element("p", {}, element("a", { href: url.href, target: "_blank", rel: "noopener noreferrer" }, ...safe(url.href, true)));
}
