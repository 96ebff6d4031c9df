/** Where the panels are: side by side with movable separators, or one at a time under tabs if there is less room. */

import { byId, element } from "./dom.js";
import { recall, remember } from "./memory.js";

/** Least widths of the page for a column of agents, and for another one with the inspector. */
export const MIDDLE_PX = 900;
export const WIDE_PX = 1180;

/** How far a key moves a separator, in pixels. */
const STEP_PX = 24;

/** The tabs, each with the layouts in which it is a tab. In other layouts its panel is always visible. */
const TABS = [
  { id: "verdicts", text: "Why", layouts: ["wide", "middle", "narrow"] },
  { id: "audit", text: "Audit", layouts: ["wide", "middle", "narrow"] },
  { id: "transcript", text: "Transcript", layouts: ["wide", "middle", "narrow"] },
  { id: "inspector", text: "Inspector", layouts: ["middle", "narrow"] },
  { id: "tree-panel", text: "Agents", layouts: ["narrow"] },
];

/** Returns the layout for a width in pixels. */
export function layoutOf(width) {
  if (width >= WIDE_PX) return "wide";
  return width >= MIDDLE_PX ? "middle" : "narrow";
}

/**
 * The layout of the page.
 */
export class Layout {
  /** @param {string} first the tab that is chosen at the start */
  constructor(first) {
    this.main = byId("panels");
    this.current = first;
    this.layout = "";
    this.tabs = new Map(
      TABS.map(({ id, text }) => [
        id,
        element("button", { type: "button", role: "tab", id: `tab-${id}`, "aria-controls": id, text, onclick: () => this.show(id), onkeydown: (event) => this.key(event) }),
      ]),
    );
    byId("tabs").append(...this.tabs.values());
    this.main.append(
      separator(this.main, { id: "edge-tree", label: "Width of the agents", controls: "tree-panel", isVertical: true, variable: "--tree-size", sign: 1, min: 160 }),
      separator(this.main, { id: "edge-top", label: "Height of the timeline", controls: "timeline-panel", isVertical: false, variable: "--top-size", sign: 1, min: 100 }),
      separator(this.main, { id: "edge-inspector", label: "Width of the inspector", controls: "inspector", isVertical: true, variable: "--inspector-size", sign: -1, min: 240 }),
    );
    new ResizeObserver(() => this.fit()).observe(document.documentElement);
    this.fit();
  }

  fit() {
    const layout = layoutOf(window.innerWidth);
    if (layout === this.layout) return;
    this.layout = layout;
    document.documentElement.dataset.layout = layout;
    this.apply();
  }

  /** Says whether a panel is visible only while its tab is chosen. */
  isTab(id) {
    return TABS.find((tab) => tab.id === id).layouts.includes(this.layout);
  }

  /** Names the tab of a panel. */
  name(id, text) {
    this.tabs.get(id).textContent = text;
  }

  /** Makes a panel visible in any layout. */
  show(id) {
    if (this.isTab(id)) this.current = id;
    this.apply();
  }

  apply() {
    // If the chosen panel is no tab in this layout, choose another one.
    if (!this.isTab(this.current)) this.current = "transcript";
    for (const [id, tab] of this.tabs) {
      const panel = byId(id);
      const isTab = this.isTab(id);
      const isCurrent = id === this.current;
      tab.hidden = !isTab;
      tab.setAttribute("aria-selected", String(isCurrent));
      tab.tabIndex = isCurrent ? 0 : -1;
      panel.hidden = isTab && !isCurrent;
      panel.setAttribute("role", isTab ? "tabpanel" : "region");
    }
  }

  key(event) {
    const shown = [...this.tabs].filter(([id]) => this.isTab(id)).map(([id]) => id);
    const at = shown.indexOf(this.current);
    const next = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: shown.length - 1 }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    const id = shown[(next + shown.length) % shown.length];
    this.show(id);
    this.tabs.get(id).focus();
  }
}

/** Returns a separator between panels that can be moved with the pointer and with keys. */
function separator(main, { id, label, controls, isVertical, variable, sign, min }) {
  const panel = byId(controls);
  const size = () => Math.round(isVertical ? panel.offsetWidth : panel.offsetHeight);
  const most = () => Math.round((isVertical ? main.clientWidth : main.clientHeight) * 0.75);
  const told = () => {
    edge.setAttribute("aria-valuenow", String(size()));
    edge.setAttribute("aria-valuemax", String(most()));
  };
  const set = (px) => {
    const value = `${Math.max(min, Math.min(px, most()))}px`;
    main.style.setProperty(variable, value);
    remember(variable, value);
    told();
  };
  const edge = element("div", {
    id,
    role: "separator",
    class: `edge ${isVertical ? "vertical" : "horizontal"}`,
    tabindex: "0",
    "aria-label": label,
    "aria-controls": controls,
    "aria-orientation": isVertical ? "vertical" : "horizontal",
    "aria-valuemin": min,
    title: `${label}: drag, or use the arrow keys; double click for the size at first`,
    onpointerdown: (event) => {
      if (event.button !== 0) return;
      event.preventDefault();
      edge.focus({ preventScroll: true });
      edge.setPointerCapture(event.pointerId);
      const from = isVertical ? event.clientX : event.clientY;
      const before = size();
      const move = (moved) => set(before + sign * ((isVertical ? moved.clientX : moved.clientY) - from));
      edge.addEventListener("pointermove", move);
      edge.addEventListener("lostpointercapture", () => edge.removeEventListener("pointermove", move), { once: true });
    },
    onkeydown: (event) => {
      const [less, more] = isVertical ? ["ArrowLeft", "ArrowRight"] : ["ArrowUp", "ArrowDown"];
      const step = { [less]: -sign * STEP_PX, [more]: sign * STEP_PX }[event.key];
      if (step !== undefined) set(size() + step);
      else if (event.key === "Home") set(min);
      else if (event.key === "End") set(most());
      else return;
      event.preventDefault();
      event.stopPropagation();
    },
    ondblclick: () => {
      main.style.removeProperty(variable);
      remember(variable, "");
      told();
    },
    onfocus: told,
  });
  const known = recall(variable);
  if (known && /^\d{2,5}px$/.test(known)) main.style.setProperty(variable, known);
  told();
  return edge;
}
