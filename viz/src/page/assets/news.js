/**
 * Shows a session that is still written as it grows: a served page asks for the newest state every few seconds, and is
 * loaded again when there is one. While somebody reads in the page, a button offers that.
 */

import { fetchNewest } from "./bodies.js";
import { byId, element, fill } from "./dom.js";

/** How often the page asks, in milliseconds. */
const PAUSE_MS = 2000;

/** The pause is at least this many times as long as the last answer took. A large session takes the server longer. */
const PAUSES_PER_ANSWER = 4;

/** How long the reader has done nothing when the page is loaded again without being asked, in milliseconds. */
const IDLE_MS = 10_000;

/** Events that show that somebody reads in the page. */
const SIGNS_OF_A_READER = ["pointerdown", "pointermove", "keydown", "wheel", "touchstart"];

/**
 * Watches for a newer state.
 *
 * @param {string} revision the number of the state that the page shows
 */
export function watchForNews(revision) {
  let lastSign = -Infinity;
  for (const sign of SIGNS_OF_A_READER) {
    window.addEventListener(sign, () => (lastSign = performance.now()), { passive: true, capture: true });
  }
  const isRead = () => performance.now() - lastSign < IDLE_MS || !getSelection().isCollapsed || document.querySelector("dialog[open]") !== null;
  let isOffered = false;
  const look = async () => {
    let pause = PAUSE_MS;
    // A page that nobody sees asks nothing.
    if (!document.hidden) {
      const began = performance.now();
      const newest = await fetchNewest();
      pause = Math.max(PAUSE_MS, (performance.now() - began) * PAUSES_PER_ANSWER);
      if (newest !== revision && !isRead()) {
        location.reload();
        return;
      }
      if (newest !== revision && !isOffered) {
        isOffered = true;
        offer();
      }
    }
    next(pause);
  };
  // A server that has ended has no news. The reader learns of it when the page needs something.
  const next = (pause) => setTimeout(() => look().catch(() => {}), pause);
  next(PAUSE_MS);
}

function offer() {
  const show = element("button", { type: "button", text: "Show it", onclick: () => location.reload() });
  fill(byId("news"), "The session has grown. ", show);
}
