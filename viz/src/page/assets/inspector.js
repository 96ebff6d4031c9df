/**
 * Shows the selected object: its fields, its causes and effects, its texts and payloads.
 */

import { fillBody, renderBlock } from "./blocks.js";
import { copy } from "./clipboard.js";
import { describe, fieldsOf, moment, nameOf, relationWords, typeWord } from "./describe.js";
import { element, fill } from "./dom.js";
import { count, duration, number, since, size } from "./format.js";
import { toJson, toMarkdown } from "./markdown.js";
import { badge, sign } from "./outcome.js";
import { linkTo } from "./permalink.js";
import { reference } from "./reference.js";

/** Most links of one relation that are shown at first. */
export const FIRST_LINKS = 12;

/** How many more links each request for more shows. */
export const MORE_LINKS = 500;

/**
 * Shows the selected object.
 */
export class Inspector {
  /**
   * @param {HTMLElement} host
   * @param {{data: import("./data.js").Data, store: import("./store.js").Store, bodies: import("./bodies.js").Bodies}} page
   */
  constructor(host, page) {
    this.host = host;
    this.page = page;
    this.levels = new Map();
    this.scroller = element("div", { class: "scroller inspector", tabindex: "0", role: "region", "aria-label": "Selected object" });
    const button = (text, title, act) => element("button", { type: "button", class: "icon", text, title, "aria-label": title, onclick: act });
    this.title = element("h2", { class: "panel-title", text: "Inspector" });
    this.actions = element(
      "span",
      { class: "actions" },
      element("button", { type: "button", text: "Markdown", title: "Copy everything about this object as Markdown, for a person or a model", onclick: () => this.copyAs("Markdown") }),
      element("button", { type: "button", text: "JSON", title: "Copy everything about this object as JSON", onclick: () => this.copyAs("JSON") }),
      element("button", { type: "button", text: "Link", title: "Copy a permalink to this object (y)", onclick: () => this.copyLink() }),
    );
    host.append(
      element(
        "div",
        { class: "toolbar" },
        button("←", "Back to what was selected before ([)", () => history.back()),
        button("→", "Forward again (])", () => history.forward()),
        this.title,
        element("span", { class: "gap" }),
        element("span", { class: "quiet actions-label", text: "copy" }),
        this.actions,
      ),
      this.scroller,
    );
    page.store.on("select", () => this.show());
    page.store.on("data", () => this.refresh());
    this.show();
  }

  /** Shows what is new about the selected object, unless the reader is in the middle of its texts. */
  refresh() {
    const { data, store } = this.page;
    const n = store.selected;
    // The end, the outcome and the links of an object are what changes. Its texts are as long as they are.
    const now = n < 0 ? JSON.stringify([data.session, data.raw.totals]) : JSON.stringify([n, fieldsOf(data, n).map((field) => field.shown), data.causes(n).length, data.effects(n).length, data.edgesAt(n).length]);
    if (now === this.shown || this.scroller.contains(document.activeElement) || !getSelection().isCollapsed) return;
    const top = this.scroller.scrollTop;
    this.show();
    this.scroller.scrollTop = top;
    this.shown = now;
  }

  /** Shows the object that is selected in the store. */
  show() {
    const n = this.page.store.selected;
    this.scroller.scrollTop = 0;
    for (const button of this.actions.children) button.disabled = n < 0;
    fill(this.scroller, ...(n < 0 ? this.nothing() : this.object(n)));
  }

  nothing() {
    const { session, raw } = this.page.data;
    const rows = Object.entries(session).map(([name, value]) => {
      const text =
        name === "started_at_unix_ms" ? moment(this.page.data, 0).split(" · ")[1] : name.endsWith("_ms") && typeof value === "number" ? duration(value) : String(value);
      return [name === "wall_ms" ? "duration" : name.replace(/_unix_ms$|_ms$/, "").replaceAll("_", " "), text];
    });
    const { imported } = raw;
    return [
      element("p", { class: "hint", text: "Nothing is selected. Click a bar, an arrow, an agent, an item or a step of a verdict. Press ? for the keys." }),
      element("h3", { text: "Session" }),
      this.grid(rows.map(([label, text]) => [label, element("bdi", { text })])),
      ...(imported ? this.imported(imported) : []),
      element("h3", { text: "Totals" }),
      this.grid(Object.entries(raw.totals).map(([name, value]) => [name === "threads" ? "agents" : name.replaceAll("_", " "), element("span", { text: number(value) })])),
    ];
  }

  /** Returns where an imported session comes from, and what its files do not tell. */
  imported({ format, agent_version, files, notes }) {
    const rows = [
      ["format", [format, agent_version].filter(Boolean).join(" ")],
      ["files", number(files.length)],
      ["first file", files[0] ?? ""],
    ];
    return [
      element("h3", { text: "Imported" }),
      this.grid(rows.map(([label, text]) => [label, element("bdi", { text })])),
      element("h3", { text: "What the files do not tell" }),
      this.grid(notes.map(({ code, message, count: times }) => [code, element("bdi", { text: `${message} (${number(times)})` })])),
    ];
  }

  grid(rows) {
    return element("dl", { class: "fields" }, ...rows.flatMap(([label, value]) => [element("dt", { text: label }), element("dd", {}, value)]));
  }

  object(n) {
    const { data } = this.page;
    const type = data.typeName(n);
    const outcome = data.outcome(n);
    const head = element(
      "div",
      { class: "object-head" },
      element("span", { class: "type", text: typeWord(type) }),
      outcome === "none" ? null : badge(outcome),
      element("a", { class: "quiet permalink", href: linkTo(data.refOf(n)), text: data.refOf(n), onclick: (event) => event.preventDefault() }),
    );
    const parts = [head, element("p", { class: "object-name", dir: "auto", text: nameOf(data, n) })];
    parts.push(this.grid(fieldsOf(data, n).map((field) => [field.label, this.value(field)])));
    if (type !== "raw_payload") {
      const holder = element("div", { class: "body" });
      const section = this.section("Texts", [holder]);
      parts.push(section);
      fillBody(holder, this.page.bodies, n, { levels: this.levels, mono: /call|cell|terminal/.test(type), none: () => (section.hidden = true) });
    }
    parts.push(...this.edges(n), ...this.lost(n));
    parts.push(this.links("Comes from", data.causes(n), "from"), this.links("Leads to", data.effects(n), "to"));
    const payloads = type === "raw_payload" ? [n] : data.payloads(n);
    if (payloads.length > 0) parts.push(this.section(count(payloads.length, "payload"), payloads.map((payload) => this.payload(payload, payloads.length === 1 && payload === n))));
    return parts;
  }

  value({ name, shown, n }) {
    if (n !== undefined) return reference(this.page, n, { origin: "inspector", text: shown });
    if (name === "outcome" || name === "verdict") return badge(shown);
    return element("bdi", { class: /^(id|call_id|path|subject|error|comes_from)$/.test(name) ? "code" : null, text: shown });
  }

  section(title, children) {
    return children.length === 0 ? null : element("section", { class: "part" }, element("h3", { text: title }), ...children);
  }

  /** Returns the causal links of one direction, by relation. */
  links(title, links, direction) {
    const groups = new Map();
    for (const link of links) {
      const known = groups.get(link.relation);
      if (known) known.push(link);
      else groups.set(link.relation, [link]);
    }
    const lists = [...groups].map(([relation, all]) => {
      const list = element("ul", { class: "links" });
      const more = element("button", { type: "button", class: "link" });
      let shown = 0;
      const grow = (by) => {
        for (const { n, at } of all.slice(shown, shown + by)) {
          list.append(element("li", {}, reference(this.page, n, { origin: "inspector", typed: true }), element("time", { class: "quiet", text: since(at) })));
        }
        shown = Math.min(all.length, shown + by);
        more.hidden = shown === all.length;
        more.textContent = `Show ${number(Math.min(MORE_LINKS, all.length - shown))} of ${number(all.length - shown)} more`;
      };
      more.addEventListener("click", () => grow(MORE_LINKS));
      grow(FIRST_LINKS);
      const words = relationWords(relation, direction);
      return element("div", { class: "relation" }, element("h4", { title: relation }, words, element("span", { class: "quiet", text: ` ${number(all.length)}` })), list, more);
    });
    return this.section(title, lists);
  }

  /** Returns the hand-overs at an object. For a hand-over, returns its ends. */
  edges(n) {
    const { data } = this.page;
    const at = data.edgesAt(n);
    if (at.length === 0) return [];
    const list = element("ul", { class: "links" });
    const more = element("button", { type: "button", class: "link" });
    let shown = 0;
    const grow = (by) => {
      for (const edge of at.slice(shown, shown + by)) {
        const { kind, from, to, sent, text } = data.edge(edge);
        list.append(
          element(
            "li",
            {},
            reference(this.page, edge, { origin: "inspector", text: kind.replaceAll("_", " ") }),
            element("span", { class: "ends" }, element("bdi", { text: data.agentName(from) }), " → ", element("bdi", { text: data.agentName(to) })),
            element("span", { class: "quiet text", dir: "auto", text: text.slice(0, 200) }),
            element("time", { class: "quiet", text: since(sent) }),
          ),
        );
      }
      shown = Math.min(at.length, shown + by);
      more.hidden = shown === at.length;
      more.textContent = `Show ${number(Math.min(MORE_LINKS, at.length - shown))} of ${number(at.length - shown)} more`;
    };
    more.addEventListener("click", () => grow(MORE_LINKS));
    grow(FIRST_LINKS);
    return [this.section("Hand-overs", [list, more])];
  }

  /** Returns the hand-overs from an object that never arrived. */
  lost(n) {
    const { data } = this.page;
    const lost = data.raw.lost.filter((one) => one.source === n || one.from === n);
    return [
      this.section(
        "Never arrived",
        lost.slice(0, MORE_LINKS).map((one) =>
          element(
            "p",
            { class: "lost" },
            sign("unfinished"),
            ` ${String(one.kind).replaceAll("_", " ")} to `,
            element("bdi", { text: one.to >= 0 ? data.agentName(one.to) : String(one.to_id ?? "?") }),
            element("span", { class: "quiet", text: ` ${since(one.sent)} ` }),
            element("bdi", { text: String(typeof one.text === "number" ? data.text(one.text) : (one.text ?? "")).slice(0, 400) }),
          ),
        ),
      ),
    ];
  }

  /** Returns a payload, which is loaded when the reader opens it. */
  payload(n, isOpen) {
    const { data, bodies } = this.page;
    const holder = element("div", { class: "payload-body" });
    const load = () => {
      holder.setAttribute("aria-busy", "true");
      fill(holder, element("div", { class: "placeholder" }));
      bodies.payload(n).then(
        (payload) => {
          holder.removeAttribute("aria-busy");
          if (payload === null) {
            fill(holder, element("p", { class: "note", text: "This payload is not in this file because of its size. `trace view` without -o shows it." }));
            return;
          }
          const bytes = new Blob([payload.text]).size;
          fill(
            holder,
            element(
              "div",
              { class: "payload-head" },
              element("span", { class: "quiet", text: `${size(bytes + payload.omitted)}${payload.omitted > 0 ? `, ${size(payload.omitted)} of it not in this page` : ""}` }),
              element("button", { type: "button", text: "Copy", onclick: () => copy(payload.text, data.refOf(n)) }),
            ),
            renderBlock({ name: "", form: "json", text: payload.text, omitted: payload.omitted }, { key: `payload.${n}`, levels: this.levels }),
          );
        },
        (error) => {
          holder.removeAttribute("aria-busy");
          fill(holder, element("p", { class: "note bad" }, `This payload could not be loaded: ${error.message} `, element("button", { type: "button", class: "link", text: "Try again", onclick: load })));
        },
      );
    };
    const details = element(
      "details",
      {
        class: "payload",
        open: isOpen,
        ontoggle: () => {
          if (details.open && holder.childElementCount === 0) load();
        },
      },
      element("summary", {}, element("code", { text: data.refOf(n) }), element("span", { class: "quiet", text: data.label(n).replaceAll("_", " ") })),
      holder,
    );
    return details;
  }

  async copyAs(form) {
    const n = this.page.store.selected;
    if (n < 0) return;
    const { data, bodies } = this.page;
    let body = null;
    let lack = "";
    try {
      body = data.typeName(n) === "raw_payload" ? bodyOf(await bodies.payload(n)) : await bodies.get(n);
      if (body === null) lack = "not in this file because of its size";
    } catch (error) {
      // The other facts are useful even without the texts.
      lack = `not loaded: ${error.message}`;
    }
    const described = describe(data, n, body, lack);
    await copy(form === "JSON" ? toJson(described) : toMarkdown(described), `${described.ref} as ${form}${lack === "" ? "" : "; its text is not in it"}`);
  }

  copyLink() {
    const n = this.page.store.selected;
    if (n < 0) return;
    copy(location.href.split("#")[0] + linkTo(this.page.data.refOf(n)), `the permalink of ${this.page.data.refOf(n)}`);
  }
}

function bodyOf(payload) {
  return payload === null ? null : { blocks: [{ name: "", form: "json", ...payload }] };
}
