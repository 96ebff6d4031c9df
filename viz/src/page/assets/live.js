/**
 * Shows a session that is still written as it grows: a served page waits for changes of the session's structure, and
 * applies them to what it has. What the reader selected, filtered, unfolded and scrolled to stays.
 */

import { fetchChanges, fetchStructure } from "./bodies.js";
import { byId, fill } from "./dom.js";

/** Shortest time between two changes of what is shown, in milliseconds. Changes that come sooner are shown together. */
const LEAST_PAUSE_MS = 250;

/** The pause after a change is at least this many times as long as showing it took, so that the page stays responsive. */
const PAUSES_PER_CHANGE = 4;

/** The pause after a failed request, and the longest one, in milliseconds. */
const FIRST_RETRY_MS = 1000;
const LONGEST_RETRY_MS = 30_000;

/**
 * Follows the session of a page.
 *
 * @param {{data: import("./data.js").Data, store: import("./store.js").Store, bodies: import("./bodies.js").Bodies}} page
 * @param {{revision: string, state: string}} place which state the page shows
 * @returns {{place: {revision: string, state: string}, applied: number}} what the page shows now
 */
export function follow({ data, store, bodies }, place) {
  const live = { place, applied: 0, milliseconds: 0 };
  let failures = 0;
  const step = async () => {
    const answer = await fetchChanges(live.place);
    // A page that nobody sees needs no change until somebody looks.
    if (document.hidden) await seen();
    const began = performance.now();
    if (answer === null) {
      const { structure, revision, state } = await fetchStructure();
      live.place = { revision, state };
      store.renumber(() => data.replace(structure));
      bodies.forgetAll(revision);
    } else if (answer.changes.length === 0) {
      return 0;
    } else {
      for (const changes of answer.changes) for (const n of data.apply(changes)) bodies.forget(n);
      live.place = { ...live.place, state: String(answer.state) };
      await store.emitInSteps("data");
    }
    live.applied += 1;
    live.milliseconds = performance.now() - began;
    return Math.max(LEAST_PAUSE_MS, live.milliseconds * PAUSES_PER_CHANGE);
  };
  const loop = () =>
    step().then(
      (pause) => {
        if (failures > 0) fill(byId("news"));
        failures = 0;
        setTimeout(loop, pause);
      },
      (error) => {
        fill(byId("news"), `What is shown may be old: ${error.message}`);
        setTimeout(loop, Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** failures));
        failures += 1;
      },
    );
  loop();
  return live;
}

function seen() {
  return new Promise((resolve) => {
    const look = () => {
      if (document.hidden) return;
      document.removeEventListener("visibilitychange", look);
      resolve();
    };
    document.addEventListener("visibilitychange", look);
  });
}
