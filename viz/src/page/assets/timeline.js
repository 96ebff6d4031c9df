/**
 * The timeline: agents as lanes, what they did as bars, hand-overs as arrows.
 *
 * It is drawn on a canvas, one frame for each change. Other modules decide what is placed where: timeline_layout.js and
 * timeline_rows.js (lanes, rows), timeline_arrows.js, timeline_scale.js and timeline_fold.js (time), timeline_paint.js
 * and timeline_map.js (drawing), timeline_hit.js (what is under the pointer), timeline_input.js.
 *
 * Arrows are the hand-overs between two different lanes that pass the filters, and those from such a lane that never
 * arrived.
 */

import { element, fill } from "./dom.js";
import { count, since, wallTime } from "./format.js";
import { Arrows, Curve } from "./timeline_arrows.js";
import { choose } from "./timeline_chosen.js";
import { makePatterns, readColours } from "./timeline_colours.js";
import { Fold, longPauses } from "./timeline_fold.js";
import { hitAt } from "./timeline_hit.js";
import { Input, TIMELINE_KEYS } from "./timeline_input.js";
import { COMPACT, Layout, Model, ROOMY, placeFound } from "./timeline_layout.js";
import { legend } from "./timeline_legend.js";
import { MAP_HEIGHT, TimeMap } from "./timeline_map.js";
import { AXIS, LEAST_BAR, Painter } from "./timeline_paint.js";
import { View } from "./timeline_scale.js";
import { FAILED, lostLines, sentence, tipLines } from "./timeline_words.js";

/** Least and most width of the lanes' names in pixels. */
const LEAST_GUTTER = 70;
const MOST_GUTTER = 420;

/** Width of a printed timeline, width of its lane names, and its greatest height, in pixels. */
const PRINT_WIDTH = 1000;
const PRINT_GUTTER = 180;
const PRINT_HEIGHT = 7000;

/** Device pixels per pixel of a printed timeline. */
const PRINT_RATIO = 2;

const NO_CHOICE = { object: -1, boxes: [], points: [], arrows: [], lanes: [] };

/**
 * Shows a session as a timeline in an element.
 */
export class Timeline {
  /**
   * @param {HTMLElement} host
   * @param {import("./data.js").Data} data
   * @param {import("./store.js").Store} store
   */
  constructor(host, data, store) {
    this.host = host;
    this.data = data;
    this.store = store;
    this.model = new Model(data);
    this.passes = (bar) => store.passes(bar);
    this.shows = (thread) => store.filters.threads.size === 0 || store.filters.threads.has(thread);
    this.isFolded = false;
    this.sizes = ROOMY;
    this.pauses = longPauses(this.model.starts, this.model.ends, this.model.first, this.model.last);
    this.makeElements();
    this.view = new View();
    this.painter = new Painter(this.canvas.getContext("2d", { alpha: false }));
    this.map = new TimeMap(this.mapCanvas);
    /** @type {import("./timeline_paint.js").Scene} */
    this.scene = {
      data,
      model: this.model,
      layout: null,
      arrows: null,
      view: this.view,
      colours: null,
      patterns: null,
      ratio: 1,
      width: 0,
      height: 0,
      gutter: 0,
      top: 0,
      chosen: NO_CHOICE,
      found: null,
    };
    /** Milliseconds that drawing the last frame took. */
    this.frameMilliseconds = 0;
    this.frame = 0;
    this.hovered = null;
    this.input = new Input(this);
    this.layOut();
    this.listen();
  }

  makeElements() {
    const { host } = this;
    host.classList.add("timeline");
    host.setAttribute("role", "application");
    host.setAttribute("aria-roledescription", "timeline");
    const agents = count(this.data.raw.order.length, "agent");
    host.setAttribute("aria-label", `Timeline: ${agents}, ${count(this.model.count, "bar")}. Arrow keys move along bars and lanes.`);
    host.tabIndex = 0;
    this.canvas = element("canvas", { class: "timeline-lanes", "aria-hidden": "true" });
    this.mapCanvas = element("canvas", { class: "timeline-map", "aria-hidden": "true" });
    this.spacer = element("div");
    this.scroller = element("div", { class: "timeline-scroll", tabindex: "-1" }, this.canvas, this.spacer);
    this.tip = element("div", { class: "timeline-tip", role: "tooltip", hidden: true });
    this.hair = element("div", { class: "timeline-hair", hidden: true });
    this.rangeMark = element("div", { class: "timeline-range", hidden: true });
    this.said = element("div", { class: "timeline-said", role: "status", "aria-live": "polite" });
    this.foldButton = element("button", {
      type: "button",
      "aria-pressed": "false",
      title: "Fold pauses in which no agent did anything (i)",
      text: "Fold idle",
      onclick: () => this.toggleFold(),
    });
    this.foldButton.hidden = this.pauses.length === 0;
    this.compactButton = element("button", {
      type: "button",
      "aria-pressed": "false",
      title: "Compact lanes (c)",
      text: "Compact",
      onclick: () => this.toggleCompact(),
    });
    const button = (text, label, action) => element("button", { type: "button", title: label, "aria-label": label, text, onclick: action });
    const tools = element(
      "div",
      { class: "timeline-tools" },
      (this.legend = element("ul", { class: "timeline-legend", "aria-label": "Legend" })),
      element(
        "div",
        { class: "timeline-buttons" },
        this.foldButton,
        this.compactButton,
        button("−", "Zoom out (-)", () => this.zoomAt(1 / 1.5, this.anchor())),
        button("+", "Zoom in (+)", () => this.zoomAt(1.5, this.anchor())),
        button("All", "All: the whole session (0)", () => this.showAll()),
      ),
    );
    fill(host, tools, this.mapCanvas, this.scroller, this.hair, this.rangeMark, this.tip, this.said);
  }

  listen() {
    const { store } = this;
    store.on("select", (n) => this.selected(n));
    store.on("reveal", (n) => this.reveal(n));
    store.on("filters", () => {
      this.layOut();
      this.schedule();
    });
    store.on("data", () => this.refresh());
    store.on("found", () => {
      this.takeFound();
      this.schedule();
    });
    // The object may have been selected in another panel.
    this.host.addEventListener("focus", () => this.saySelected());
    this.scroller.addEventListener("scroll", () => {
      this.hover(null);
      this.schedule();
    });
    new ResizeObserver(() => {
      this.resize();
      this.schedule();
    }).observe(this.host);
    const recolour = () => {
      this.scene.colours = null;
      this.schedule();
    };
    for (const query of ["(prefers-color-scheme: dark)", "(forced-colors: active)"]) {
      matchMedia(query).addEventListener("change", recolour);
    }
    new MutationObserver(recolour).observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme", "class", "style"] });
  }

  /** Computes the layout again, after the filters or the fold changed. */
  layOut() {
    const { scene, model } = this;
    const fold = new Fold(this.isFolded ? this.pauses : [], model.first, model.last);
    const isFirst = scene.layout === null;
    scene.layout = new Layout(model, this.passes, this.shows, fold);
    scene.layout.setSizes(this.sizes);
    scene.arrows = new Arrows(scene.layout);
    if (isFirst) this.view.setWhole(fold.place(model.first), fold.place(model.last));
    this.host.dataset.lanes = String(scene.layout.laneCount);
    this.host.dataset.bars = String(scene.layout.barCount);
    this.host.dataset.arrows = String(scene.arrows.count);
    this.map.forget();
    this.takeFound();
    this.takeChosen();
    this.resize();
  }

  takeChosen() {
    const { scene } = this;
    scene.chosen = choose(this.data, scene.layout, scene.arrows, this.store.selected);
  }

  takeFound() {
    const { scene, store } = this;
    scene.found = store.found ? placeFound(scene.layout, store.found) : null;
  }

  /** Sets the sizes of the canvases from their elements. */
  resize() {
    const { scene, canvas, mapCanvas } = this;
    const ratio = window.devicePixelRatio || 1;
    const width = this.scroller.clientWidth;
    const height = this.scroller.clientHeight;
    if (scene.ratio !== ratio) scene.patterns = null;
    scene.ratio = ratio;
    scene.gutter = Math.min(this.gutterWidth ?? Math.round(Math.min(230, width * 0.24)), Math.max(0, width - 60));
    if (scene.width !== width || scene.height !== height || canvas.width !== Math.round(width * ratio)) {
      scene.width = width;
      scene.height = height;
      setCanvas(canvas, width, height, ratio);
    }
    const mapWidth = this.host.clientWidth;
    if (this.map.width !== width || mapCanvas.width !== Math.round(mapWidth * ratio)) {
      setCanvas(mapCanvas, mapWidth, MAP_HEIGHT, ratio);
      this.map.width = width;
      this.map.forget();
    }
    this.view.width = Math.max(1, width - scene.gutter);
    this.spacer.style.height = `${Math.max(0, scene.layout.height + AXIS - height)}px`;
  }

  /** Draws the timeline at once. */
  draw() {
    cancelAnimationFrame(this.frame);
    this.frame = 0;
    const { scene, view } = this;
    const started = performance.now();
    if (!scene.colours) this.takeColours();
    scene.patterns ??= makePatterns(this.painter.context, scene.colours, scene.ratio);
    scene.top = this.scroller.scrollTop;
    if (scene.width > 0 && scene.height > 0) {
      this.painter.paint(scene);
      this.map.paint(scene);
    }
    this.host.dataset.drawn = String(this.painter.drawn);
    this.frameMilliseconds = performance.now() - started;
  }

  takeColours() {
    const { scene } = this;
    scene.colours = readColours(this.host);
    scene.patterns = null;
    this.painter.forgetTexts();
    this.map.forget();
    fill(this.legend, ...legend(this.model, scene.arrows, scene.colours, scene.ratio));
  }

  /** Takes what is new in the data. A view of the whole session stays one, and another view stays where it is. */
  refresh() {
    const { scene, view, store } = this;
    const isWhole = view.span >= view.whole * 0.999;
    this.model = new Model(this.data);
    scene.model = this.model;
    this.pauses = longPauses(this.model.starts, this.model.ends, this.model.first, this.model.last);
    this.foldButton.hidden = this.pauses.length === 0 && !this.isFolded;
    this.hover(null);
    this.layOut();
    const { fold } = scene.layout;
    const { start, span } = view;
    view.setWhole(fold.place(this.model.first), fold.place(this.model.last));
    if (!isWhole) view.show(start, start + span);
    if (store.found === null) scene.found = null;
    if (scene.colours) fill(this.legend, ...legend(this.model, scene.arrows, scene.colours, scene.ratio));
    const agents = count(this.data.raw.order.length, "agent");
    this.host.setAttribute("aria-label", `Timeline: ${agents}, ${count(this.model.count, "bar")}. Arrow keys move along bars and lanes.`);
    this.schedule();
  }

  /** Schedules drawing for the next frame. Several calls before that frame draw once. */
  schedule() {
    if (this.frame === 0) this.frame = requestAnimationFrame(() => this.draw());
  }

  // The part of the time that is in view.

  /** Returns the keyboard shortcuts, for the help of the page. */
  get keys() {
    return TIMELINE_KEYS;
  }

  /** Shows the range between two places. */
  show(start, end) {
    this.view.show(start, end);
    this.moved();
  }

  /** Returns the part of the time that is in view as `[from, to]` in milliseconds, or null if all of it is. */
  visibleTime() {
    const { view, scene } = this;
    if (this.isPrinting || view.span >= view.whole * 0.999) return null;
    return [scene.layout.fold.time(view.start), scene.layout.fold.time(view.end)];
  }

  /** Shows a part of the time, in milliseconds. */
  showTime(from, to) {
    const { fold } = this.scene.layout;
    this.show(fold.place(from), fold.place(to));
  }

  /** Shows the whole session. */
  showAll() {
    this.view.showAll();
    this.moved();
  }

  /** Draws, and sends `zoom` because another part of the time is in view. */
  moved() {
    this.schedule();
    this.store.emit("zoom");
  }

  /** Zooms by a factor around a pixel of the plot. */
  zoomAt(factor, x) {
    this.view.zoom(factor, Math.max(0, Math.min(x, this.view.width)));
    this.hover(null);
    this.moved();
  }

  /** Moves through time by pixels. */
  pan(pixels) {
    this.view.pan(pixels);
    this.hover(null);
    this.moved();
  }

  /** Scrolls lanes by pixels. */
  scrollBy(pixels) {
    this.scroller.scrollTop += pixels;
  }

  /** Returns the pixel of the plot around which keys zoom: the selected object if it is in view, or the middle. */
  anchor() {
    const { boxes, points } = this.scene.chosen;
    const place = boxes.length > 0 ? (boxes[0].start + boxes[0].end) / 2 : points.length > 0 ? points[0].at : NaN;
    const x = this.view.x(place);
    return x >= 0 && x <= this.view.width ? x : this.view.width / 2;
  }

  /** Zooms to the range between two pixels of the canvas. */
  zoomToPixels(one, other) {
    const { gutter } = this.scene;
    const start = this.view.at(Math.max(0, Math.min(one, other) - gutter));
    const end = this.view.at(Math.max(0, Math.max(one, other) - gutter));
    if (end > start) this.show(start, end);
  }

  /** Marks the range between two pixels of the canvas. Null removes the mark. */
  showRange(one, other) {
    this.rangeMark.hidden = one === null;
    if (one === null) return;
    const { left, top, height } = this.canvasBox();
    const from = Math.max(this.scene.gutter, Math.min(one, other));
    this.rangeMark.style.transform = `translate(${left + from}px, ${top}px)`;
    this.rangeMark.style.width = `${Math.max(0, Math.max(one, other) - from)}px`;
    this.rangeMark.style.height = `${height}px`;
  }

  /** Sets the width of the lanes' names. */
  setGutter(pixels) {
    this.gutterWidth = Math.max(LEAST_GUTTER, Math.min(pixels, MOST_GUTTER));
    this.map.forget();
    this.resize();
    this.schedule();
  }

  /** Folds idle time, or unfolds it. What is in the middle of the view stays there. */
  toggleFold() {
    if (this.pauses.length === 0) return;
    const { view, scene, model } = this;
    const isWhole = view.span >= view.whole * 0.999;
    const from = scene.layout.fold.time(view.start);
    const to = scene.layout.fold.time(view.end);
    this.isFolded = !this.isFolded;
    this.foldButton.setAttribute("aria-pressed", String(this.isFolded));
    this.layOut();
    const { fold } = scene.layout;
    view.setWhole(fold.place(model.first), fold.place(model.last));
    if (!isWhole) view.show(fold.place(from), fold.place(to));
    this.moved();
  }

  /** Switches between low and high lanes. The lane at the top stays there. */
  toggleCompact() {
    const { layout, top } = this.scene;
    const lane = Math.max(0, layout.laneAt(top));
    this.sizes = this.sizes === ROOMY ? COMPACT : ROOMY;
    this.compactButton.setAttribute("aria-pressed", String(this.sizes === COMPACT));
    layout.setSizes(this.sizes);
    this.takeChosen();
    this.resize();
    this.scroller.scrollTop = layout.laneCount > 0 ? layout.tops[lane] : 0;
    this.schedule();
  }

  // The selection.

  selected(n) {
    this.takeChosen();
    if (this.host.contains(document.activeElement)) this.saySelected();
    this.schedule();
  }

  /** Reads the selected object to users of screen readers. */
  saySelected() {
    const { selected } = this.store;
    this.say(selected < 0 ? "nothing selected" : sentence(this.data, selected));
  }

  say(text) {
    this.said.textContent = text;
  }

  /** Scrolls to an object, if it is on the timeline. */
  reveal(n) {
    if (n < 0) return;
    const { scene, view, scroller } = this;
    const { layout, chosen } = scene;
    const target = chosen.object === n ? chosen : choose(this.data, layout, scene.arrows, n);
    const extent = extentOf(target);
    if (extent && view.reveal(extent.start, extent.end)) this.moved();
    const lanes = target.lanes.map((lane) => [layout.tops[lane], layout.tops[lane + 1]]);
    if (lanes.length > 0) {
      const room = scene.height - AXIS;
      // If the arrow is higher than the view, show the end that is in view, or else the end where the arrow begins.
      const all = [Math.min(...lanes.map(([top]) => top)), Math.max(...lanes.map(([, bottom]) => bottom))];
      const inView = lanes.find(([top, bottom]) => bottom > scroller.scrollTop && top < scroller.scrollTop + room);
      const [top, bottom] = all[1] - all[0] > room ? (inView ?? lanes[0]) : all;
      if (top < scroller.scrollTop) scroller.scrollTop = Math.max(0, top - 8);
      else if (bottom > scroller.scrollTop + room) scroller.scrollTop = Math.min(top, bottom - room + 8);
    }
    this.schedule();
  }

  /** Zooms to an object. */
  focus(n) {
    if (n < 0) return;
    const { scene } = this;
    const target = choose(this.data, scene.layout, scene.arrows, n);
    const extent = this.extentOfTime(n, target) ?? extentOf(target) ?? this.extentOfLanes(target.lanes);
    if (extent) {
      const length = Math.max(extent.end - extent.start, LEAST_BAR);
      this.show(extent.start - length * 0.25, extent.end + length * 0.25);
    }
    this.reveal(n);
  }

  /**
   * Returns the extent of an object that has a duration and no bar, such as a code cell whose tool call has the bar.
   */
  extentOfTime(n, { boxes }) {
    const start = this.data.start(n);
    const end = this.data.end(n);
    if (boxes.length > 0 || start < 0 || end <= start || ["thread", "interaction_edge"].includes(this.data.typeName(n))) return null;
    const { fold } = this.scene.layout;
    return { start: fold.place(start), end: fold.place(end) };
  }

  extentOfLanes(lanes) {
    let start = Infinity;
    let end = -Infinity;
    for (const lane of lanes) {
      for (const bar of this.scene.layout.barsOf(lane)) {
        start = Math.min(start, this.scene.layout.startOf(bar));
        end = Math.max(end, this.scene.layout.endOf(bar));
      }
    }
    return start < end ? { start, end } : null;
  }

  /** Selects the previous or next bar of the lane. For a hand-over, selects one of its ends. */
  step(direction) {
    const { store, data, scene } = this;
    const { layout, model } = scene;
    const n = store.selected;
    if (data.typeName(n) === "interaction_edge") {
      const edge = data.edge(n);
      const [object, thread] = direction < 0 ? [edge.source, edge.from] : [edge.target, edge.to];
      store.select(object >= 0 ? object : thread, "timeline");
      return;
    }
    const lane = this.laneOfSelected();
    if (lane < 0) return;
    const bars = layout.barsOf(lane);
    if (bars.length === 0) return;
    const index = n >= 0 ? bars.indexOf(model.barOf[n]) : -1;
    let next = index + direction;
    if (index < 0) {
      const time = n >= 0 && data.typeName(n) !== "thread" ? data.start(n) : layout.fold.time(this.view.start);
      const after = bars.findIndex((bar) => model.starts[bar] >= time);
      next = direction > 0 ? (after < 0 ? bars.length - 1 : after) : (after < 0 ? bars.length : after) - 1;
    }
    if (next < 0 || next >= bars.length) this.say(`${direction < 0 ? "first" : "last"} bar of the lane`);
    store.select(model.objects[bars[Math.max(0, Math.min(next, bars.length - 1))]], "timeline");
  }

  /** Selects the first or last bar of the lane. */
  stepToEnd(direction) {
    const { layout, model } = this.scene;
    const lane = this.laneOfSelected();
    const bars = lane < 0 ? [] : layout.barsOf(lane);
    if (bars.length > 0) this.store.select(model.objects[direction < 0 ? bars[0] : bars[bars.length - 1]], "timeline");
  }

  /** Selects the bar of the lane above or below that is nearest in time. */
  stepLane(direction) {
    const { store, data, scene } = this;
    const { layout, model } = scene;
    if (layout.laneCount === 0) return;
    const n = store.selected;
    const before = this.laneOfSelected();
    const lane = n < 0 ? before : Math.max(0, Math.min(before + direction, layout.laneCount - 1));
    const bars = layout.barsOf(lane);
    if (bars.length === 0 || data.typeName(n) === "thread") {
      store.select(layout.threads[lane], "timeline");
      return;
    }
    const bar = n >= 0 ? model.barOf[n] : -1;
    const time = bar >= 0 ? (model.starts[bar] + model.ends[bar]) / 2 : n >= 0 ? data.start(n) : layout.fold.time(this.view.start);
    let best = bars[0];
    let least = Infinity;
    for (const candidate of bars) {
      const distance = Math.max(model.starts[candidate] - time, time - model.ends[candidate], 0);
      if (distance < least) {
        least = distance;
        best = candidate;
      }
    }
    store.select(model.objects[best], "timeline");
  }

  /** Selects the next hand-over of the selected object. */
  stepHandOver() {
    const { store, data } = this;
    const n = store.selected;
    if (n < 0) return;
    if (data.typeName(n) !== "interaction_edge") {
      const edges = data.edgesAt(n);
      if (edges.length > 0) store.select(edges[0], "timeline");
      else this.say("no hand-over");
      this.handOversOf = n;
      return;
    }
    const edges = data.edgesAt(this.handOversOf ?? -1);
    const index = edges.indexOf(n);
    if (index >= 0) store.select(edges[(index + 1) % edges.length], "timeline");
  }

  /** Selects the turn of the selected object. */
  selectTurn() {
    const { store, data } = this;
    const turn = store.selected < 0 ? -1 : data.turn(store.selected);
    if (turn >= 0) store.select(turn, "timeline");
  }

  /** Asks all panels to show the selected object. Listeners of `open` may move the focus to their panel. */
  open() {
    const { store } = this;
    if (store.selected < 0) {
      this.step(1);
      return;
    }
    store.select(store.selected, "timeline");
    store.emit("open", store.selected, "timeline");
  }

  laneOfSelected() {
    const { scene, data, store } = this;
    const { layout } = scene;
    const n = store.selected;
    if (n >= 0) {
      const type = data.typeName(n);
      const thread = type === "thread" ? n : type === "interaction_edge" ? data.edge(n).from : data.thread(n);
      const lane = layout.laneOf.get(thread);
      if (lane !== undefined) return lane;
    }
    return layout.laneCount > 0 ? Math.max(0, layout.laneAt(scene.top)) : -1;
  }

  // The object under the pointer.

  /** Shows the tip for what is at a point of the canvas. Null hides it. */
  hover(point) {
    this.hovered = point;
    if (point === null) {
      this.tip.hidden = true;
      this.hair.hidden = true;
      return;
    }
    this.hoverFrame ??= requestAnimationFrame(() => {
      this.hoverFrame = null;
      if (this.hovered) this.showHover(this.hovered);
    });
  }

  showHover({ x, y }) {
    const { scene, canvas } = this;
    if (!scene.colours) return;
    const hit = hitAt(scene, x, y);
    const isEdge = Math.abs(x - scene.gutter) < 5;
    canvas.style.cursor = isEdge ? "col-resize" : hit.kind === "axis" ? "crosshair" : hit.n >= 0 && hit.kind !== "lane" ? "pointer" : "default";
    const box = this.canvasBox();
    this.hair.hidden = x < scene.gutter;
    this.hair.style.transform = `translate(${box.left + x}px, ${box.top}px)`;
    this.hair.style.height = `${box.height}px`;
    const lines = this.linesOf(hit, x);
    this.tip.hidden = lines.length === 0;
    if (lines.length === 0) return;
    fill(this.tip, ...lines.map((text) => element("p", { text, class: text.startsWith(FAILED) ? "is-bad" : null })));
    // The tip is beside the pointer, on the side with enough room.
    const { clientWidth, clientHeight } = this.host;
    const width = this.tip.offsetWidth;
    const height = this.tip.offsetHeight;
    const left = box.left + x + 14 + width > clientWidth ? box.left + x - 14 - width : box.left + x + 14;
    const top = Math.min(box.top + y + 16, clientHeight - height - 4);
    this.tip.style.transform = `translate(${Math.max(2, Math.round(left))}px, ${Math.max(2, Math.round(top))}px)`;
  }

  linesOf(hit, x) {
    const { data, scene, view } = this;
    if (hit.kind === "axis") {
      const time = scene.layout.fold.time(view.at(x - scene.gutter));
      return [since(Math.max(0, time)), wallTime((data.session.started_at_unix_ms ?? 0) + time)].filter(Boolean);
    }
    if (hit.kind === "group" || hit.kind === "crowd") {
      return [
        `${count(hit.count, "bar")} here`,
        hit.failed > 0 ? `${FAILED} ${hit.failed} failed` : "",
        hit.kind === "crowd" ? "They overlap others; arrow keys go through them." : "Double click to zoom in.",
      ].filter(Boolean);
    }
    if (hit.kind === "arrow" && hit.lost >= 0) return lostLines(data, hit.lost);
    if (hit.kind === "lane" || hit.n < 0) return [];
    return tipLines(data, hit.n, hit.end);
  }

  /** Returns the place of the canvas in the host. */
  canvasBox() {
    const host = this.host.getBoundingClientRect();
    const box = this.scroller.getBoundingClientRect();
    return { left: box.left - host.left, top: box.top - host.top, height: this.scroller.clientHeight };
  }

  // For tests, and for readers who use the console.

  /**
   * Returns where an object is on the screen: the client rectangle of a bar, turn, mark or lane name, and for a
   * hand-over `{from, to, middle}`, where `middle` is on the part of the arrow that is in view. Null if the object is
   * not visible.
   *
   * @param {number} n
   */
  place(n) {
    const { scene, data, view } = this;
    const { layout, arrows, gutter, height, width, top } = scene;
    const box = this.canvas.getBoundingClientRect();
    const left = box.left + gutter;
    const above = box.top + AXIS - top;
    const area = { left, top: box.top + AXIS, right: box.left + width, bottom: box.top + height };
    const arrow = arrows.of(n);
    if (arrow >= 0) return placeOfArrow(arrows, view, arrow, left, above, area, scene.chosen.arrows.includes(arrow));
    const type = data.typeName(n);
    if (type === "thread") {
      const lane = layout.laneOf.get(n);
      if (lane === undefined) return null;
      const y = above + layout.tops[lane];
      return clipped(box.left, y, gutter - 1, layout.tops[lane + 1] - layout.tops[lane] - 1, { ...area, left: box.left });
    }
    const chosen = choose(data, layout, arrows, n);
    if (type !== "interaction_edge" && chosen.boxes.length > 0) {
      const [one] = chosen.boxes;
      const wide = Math.max(LEAST_BAR, (one.end - one.start) * view.scale);
      return clipped(left + view.x(one.start), above + layout.tops[one.lane] + one.top, wide, one.height, area);
    }
    if (type === "compaction" && chosen.points.length > 0) {
      const [one] = chosen.points;
      return clipped(left + view.x(one.at) - 4, above + layout.tops[one.lane] + 1, 8, 9, area);
    }
    return null;
  }

  // Printing.

  /**
   * Returns a picture of the whole session for paper: in light colours, with its legend, up to a greatest height.
   *
   * @returns {HTMLElement}
   */
  picture() {
    const { host, scene } = this;
    const canvas = element("canvas", { role: "img", "aria-label": "Timeline" });
    const context = canvas.getContext("2d", { alpha: false });
    const layout = new Layout(this.model, this.passes, this.shows, scene.layout.fold);
    layout.setSizes(layout.height > PRINT_HEIGHT ? COMPACT : ROOMY);
    host.dataset.print = "";
    const colours = readColours(host);
    delete host.dataset.print;
    const height = Math.min(PRINT_HEIGHT, Math.ceil(layout.height)) + AXIS;
    const view = new View();
    view.width = PRINT_WIDTH - PRINT_GUTTER;
    view.setWhole(layout.fold.place(this.model.first), layout.fold.place(this.model.last));
    const arrows = new Arrows(layout);
    canvas.width = PRINT_WIDTH * PRINT_RATIO;
    canvas.height = height * PRINT_RATIO;
    new Painter(context).paint({
      ...scene,
      layout,
      arrows,
      view,
      colours,
      patterns: makePatterns(context, colours, PRINT_RATIO),
      ratio: PRINT_RATIO,
      width: PRINT_WIDTH,
      height,
      gutter: PRINT_GUTTER,
      top: 0,
      chosen: NO_CHOICE,
      found: null,
    });
    const entries = element("ul", { class: "timeline-legend" }, ...legend(this.model, arrows, colours, PRINT_RATIO));
    const rest = layout.height > PRINT_HEIGHT ? element("p", { text: "Lanes below are left out." }) : null;
    return element("figure", { class: "timeline-picture" }, entries, canvas, rest);
  }
}

function setCanvas(canvas, width, height, ratio) {
  canvas.width = Math.max(1, Math.round(width * ratio));
  canvas.height = Math.max(1, Math.round(height * ratio));
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
}

function extentOf({ boxes, points }) {
  if (boxes.length === 0 && points.length === 0) return null;
  return {
    start: Math.min(...boxes.map((box) => box.start), ...points.map((point) => point.at)),
    end: Math.max(...boxes.map((box) => box.end), ...points.map((point) => point.at)),
  };
}

function clipped(x, y, width, height, area) {
  const left = Math.max(x, area.left);
  const top = Math.max(y, area.top);
  const right = Math.min(x + width, area.right);
  const bottom = Math.min(y + height, area.bottom);
  if (right <= left || bottom <= top) return null;
  return { x: left, y: top, left, top, right, bottom, width: right - left, height: bottom - top };
}

function placeOfArrow(arrows, view, arrow, left, above, area, isChosen) {
  const curve = new Curve();
  arrows.curve(arrow, view, curve);
  const from = { x: left + curve.x1, y: above + curve.y1 };
  const to = { x: left + curve.x2, y: above + curve.y2 };
  const isSeen = ({ x, y }) => x >= area.left && x < area.right && y >= area.top && y < area.bottom;
  if (!isChosen) arrows.drawnCurve(arrow, view, curve);
  // Search from the middle outwards for a point of the arrow that is in view and drawn.
  for (let step = 0; step <= 40; step += 1) {
    for (const part of [0.5 + step / 82, 0.5 - step / 82]) {
      const middle = { x: left + curve.xAt(part), y: above + curve.yAt(part) };
      if (isSeen(middle) && curve.isDrawnAt(part)) return { from, to, middle };
    }
  }
  return null;
}
