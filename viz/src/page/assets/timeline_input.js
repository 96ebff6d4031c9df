/**
 * Mouse wheel, pointers and keys of the timeline.
 *
 * The wheel scrolls lanes. With Ctrl (or a pinch), and on the axis and the map, it zooms. With Shift, or sideways, it
 * moves through time. Timelines of browsers and of Perfetto work the same way.
 */

import { AXIS } from "./timeline_paint.js";
import { hitAt } from "./timeline_hit.js";

/** Keyboard shortcuts, for the help of the page. */
export const TIMELINE_KEYS = [
  ["← →", "bar before, next bar of the lane; ends of a hand-over"],
  ["↑ ↓", "lane above, below"],
  ["Home End", "first, last bar of the lane"],
  ["Enter", "show what is selected everywhere"],
  ["e", "next hand-over of what is selected"],
  ["t", "turn of what is selected"],
  ["+ - or w s", "zoom"],
  ["a d", "earlier, later"],
  ["PageUp PageDown", "scroll lanes"],
  ["f", "zoom to what is selected"],
  ["0", "whole session"],
  ["i", "fold idle time"],
  ["c", "compact lanes"],
  ["wheel", "scroll; with Ctrl or on the axis: zoom; with Shift: move"],
  ["drag", "move; on the axis: zoom to a range"],
  ["double click", "zoom to a bar or turn"],
];

/** Factor by which a key zooms. */
const KEY_ZOOM = 1.5;

/** How far the pointer may move during a click, in pixels. */
const CLICK = 4;

/** Pixels per line, for a wheel that reports lines. */
const LINE = 16;

/** Handles the wheel, pointers and keys of a timeline. */
export class Input {
  /**
   * @param {import("./timeline.js").Timeline} timeline
   */
  constructor(timeline) {
    this.timeline = timeline;
    this.pointers = new Map();
    this.drag = null;
    this.mapDrag = null;
    this.isAfterFirst = false;
    const { canvas, mapCanvas, host } = timeline;
    canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    canvas.addEventListener("pointerdown", (event) => this.down(event));
    canvas.addEventListener("pointermove", (event) => this.move(event));
    canvas.addEventListener("pointerup", (event) => this.up(event));
    canvas.addEventListener("pointercancel", (event) => this.cancel(event));
    canvas.addEventListener("pointerleave", () => timeline.hover(null));
    canvas.addEventListener("dblclick", (event) => this.doubleClick(event));
    mapCanvas.addEventListener("wheel", (event) => this.mapWheel(event), { passive: false });
    mapCanvas.addEventListener("pointerdown", (event) => this.mapDown(event));
    mapCanvas.addEventListener("pointermove", (event) => this.mapMove(event));
    for (const kind of ["pointerup", "pointercancel"]) mapCanvas.addEventListener(kind, () => this.mapUp());
    host.addEventListener("keydown", (event) => this.key(event));
  }

  wheel(event) {
    const { timeline } = this;
    const { x, y } = pointIn(timeline.canvas, event);
    const unit = event.deltaMode === 1 ? LINE : event.deltaMode === 2 ? timeline.scene.height : 1;
    const across = (event.shiftKey && event.deltaX === 0 ? event.deltaY : event.deltaX) * unit;
    const down = (event.shiftKey ? 0 : event.deltaY) * unit;
    const canScroll = timeline.scroller.scrollHeight > timeline.scroller.clientHeight + 1;
    if (event.ctrlKey || event.metaKey || (y < AXIS && !event.shiftKey) || (!canScroll && Math.abs(down) > Math.abs(across))) {
      event.preventDefault();
      timeline.zoomAt(wheelFactor(event, unit), x - timeline.scene.gutter);
    } else if (Math.abs(across) > Math.abs(down)) {
      event.preventDefault();
      timeline.pan(across);
    }
    // In all other cases the browser scrolls the lanes, which is smoother.
  }

  down(event) {
    if (event.button !== 0) return;
    const { timeline } = this;
    timeline.host.focus({ preventScroll: true });
    const point = pointIn(timeline.canvas, event);
    timeline.canvas.setPointerCapture(event.pointerId);
    this.pointers.set(event.pointerId, point);
    if (this.pointers.size === 2) {
      this.drag = { kind: "pinch", ...this.pinch() };
      return;
    }
    const kind = point.y < AXIS ? (point.x < timeline.scene.gutter - 5 ? "none" : "range") : "pan";
    const isEdge = Math.abs(point.x - timeline.scene.gutter) < 5;
    this.drag = { kind: isEdge ? "gutter" : kind, from: point, last: point, isMoved: false };
  }

  move(event) {
    const { timeline, drag } = this;
    const point = pointIn(timeline.canvas, event);
    if (!this.pointers.has(event.pointerId)) {
      timeline.hover(point);
      return;
    }
    this.pointers.set(event.pointerId, point);
    if (!drag) return;
    if (drag.kind === "pinch") {
      const now = this.pinch();
      if (drag.distance > 0 && now.distance > 0) timeline.zoomAt(now.distance / drag.distance, now.x - timeline.scene.gutter);
      timeline.pan(drag.x - now.x);
      Object.assign(drag, now);
      return;
    }
    if (!drag.isMoved && Math.hypot(point.x - drag.from.x, point.y - drag.from.y) < CLICK) return;
    drag.isMoved = true;
    timeline.hover(null);
    if (drag.kind === "range") timeline.showRange(drag.from.x, point.x);
    if (drag.kind === "gutter") timeline.setGutter(point.x);
    if (drag.kind === "pan") {
      timeline.pan(drag.last.x - point.x);
      timeline.scrollBy(drag.last.y - point.y);
    }
    drag.last = point;
  }

  up(event) {
    const { timeline, drag } = this;
    const point = pointIn(timeline.canvas, event);
    this.pointers.delete(event.pointerId);
    this.drag = null;
    if (!drag) return;
    if (drag.kind === "range") {
      timeline.showRange(null);
      if (drag.isMoved) timeline.zoomToPixels(drag.from.x, point.x);
    }
    if (drag.isMoved || drag.kind === "range" || drag.kind === "pinch") return;
    const hit = hitAt(timeline.scene, point.x, point.y);
    if (hit.n >= 0) timeline.store.select(hit.n, "timeline");
    else if (hit.kind === "nothing") timeline.store.select(-1, "timeline");
  }

  cancel(event) {
    this.pointers.delete(event.pointerId);
    this.drag = null;
    this.timeline.showRange(null);
  }

  pinch() {
    const [one, other] = [...this.pointers.values()];
    return { distance: Math.abs(one.x - other.x), x: (one.x + other.x) / 2 };
  }

  doubleClick(event) {
    const { timeline } = this;
    const { x, y } = pointIn(timeline.canvas, event);
    const hit = hitAt(timeline.scene, x, y);
    if (hit.kind === "axis") timeline.showAll();
    else if (hit.kind === "group" || hit.kind === "crowd") timeline.zoomAt(8, x - timeline.scene.gutter);
    else if (hit.kind === "lane" || hit.kind === "nothing") timeline.zoomAt(2, x - timeline.scene.gutter);
    else if (hit.n >= 0) timeline.focus(hit.n);
  }

  mapWheel(event) {
    event.preventDefault();
    const { timeline } = this;
    const { x } = pointIn(timeline.mapCanvas, event);
    const place = timeline.map.at(timeline.view, x);
    timeline.zoomAt(wheelFactor(event, event.deltaMode === 1 ? LINE : 1), timeline.view.x(place));
  }

  mapDown(event) {
    if (event.button !== 0) return;
    const { timeline } = this;
    const { view, map, mapCanvas } = timeline;
    const { x } = pointIn(mapCanvas, event);
    mapCanvas.setPointerCapture(event.pointerId);
    timeline.host.focus({ preventScroll: true });
    const part = map.partAt(view, x);
    if (part === "outside") {
      const place = map.at(view, x);
      timeline.show(place - view.span / 2, place + view.span / 2);
    }
    this.mapDrag = { part: part === "outside" ? "inside" : part, grasp: map.at(view, x) - view.start, start: view.start, end: view.end };
  }

  mapMove(event) {
    const { timeline } = this;
    const { view, map, mapCanvas } = timeline;
    const { x } = pointIn(mapCanvas, event);
    if (!this.mapDrag) {
      const part = map.partAt(view, x);
      mapCanvas.style.cursor = part === "inside" ? "grab" : part === "outside" ? "pointer" : "ew-resize";
      return;
    }
    const place = map.at(view, x);
    const { part, grasp, start, end } = this.mapDrag;
    if (part === "inside") timeline.show(place - grasp, place - grasp + view.span);
    if (part === "left") timeline.show(Math.min(place, end), end);
    if (part === "right") timeline.show(start, Math.max(place, start));
  }

  mapUp() {
    this.mapDrag = null;
  }

  key(event) {
    // Buttons and the list of shortcuts handle keys themselves.
    if (event.target !== this.timeline.host || event.altKey || event.metaKey) return;
    // The page has two-key shortcuts that begin with `g`. Ignore the second key here.
    const isSecond = this.isAfterFirst;
    this.isAfterFirst = event.key === "g";
    if (isSecond) return;
    const { timeline } = this;
    const middle = (timeline.scene.width - timeline.scene.gutter) / 2;
    const page = timeline.scene.height - AXIS;
    const isEarlier = event.shiftKey;
    const actions = {
      ArrowLeft: () => (isEarlier ? timeline.pan(-middle / 4) : timeline.step(-1)),
      ArrowRight: () => (isEarlier ? timeline.pan(middle / 4) : timeline.step(1)),
      ArrowUp: () => timeline.stepLane(-1),
      ArrowDown: () => timeline.stepLane(1),
      Home: () => timeline.stepToEnd(-1),
      End: () => timeline.stepToEnd(1),
      PageUp: () => timeline.scrollBy(-page),
      PageDown: () => timeline.scrollBy(page),
      Enter: () => timeline.open(),
      Escape: () => timeline.store.select(-1, "timeline"),
      "+": () => timeline.zoomAt(KEY_ZOOM, timeline.anchor()),
      "=": () => timeline.zoomAt(KEY_ZOOM, timeline.anchor()),
      "-": () => timeline.zoomAt(1 / KEY_ZOOM, timeline.anchor()),
      w: () => timeline.zoomAt(KEY_ZOOM, timeline.anchor()),
      s: () => timeline.zoomAt(1 / KEY_ZOOM, timeline.anchor()),
      a: () => timeline.pan(-middle / 4),
      d: () => timeline.pan(middle / 4),
      f: () => timeline.focus(timeline.store.selected),
      0: () => timeline.showAll(),
      e: () => timeline.stepHandOver(),
      t: () => timeline.selectTurn(),
      i: () => timeline.toggleFold(),
      c: () => timeline.toggleCompact(),
    };
    const action = event.ctrlKey ? null : actions[event.key];
    if (!action) return;
    event.preventDefault();
    event.stopPropagation();
    action();
  }
}

/** Returns the zoom factor for a wheel event. A pinch sends small steps, a wheel large ones. */
function wheelFactor(event, unit) {
  const turned = Math.max(-200, Math.min(200, (event.deltaY || event.deltaX) * unit));
  return Math.exp(-turned * (event.ctrlKey && Math.abs(turned) < 40 ? 0.01 : 0.0025));
}

function pointIn(canvas, event) {
  const box = canvas.getBoundingClientRect();
  return { x: event.clientX - box.left, y: event.clientY - box.top };
}
