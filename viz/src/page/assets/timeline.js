/**
 * The timeline: agents as lanes, what they did as bars, hand-overs as arrows.
 */
export class Timeline {
  constructor(host, data, store) {
    this.host = host;
    this.data = data;
    this.store = store;
  }

  /** Draws the timeline anew. */
  draw() {
    this.host.dataset.lanes = String(this.data.raw.order.length);
  }
}
