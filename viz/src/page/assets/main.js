/** Starts the page. */

import { Bodies, fetchStructure } from "./bodies.js";
import { Data } from "./data.js";
import { startPanels } from "./panels.js";
import { Store } from "./store.js";
import { Timeline } from "./timeline.js";
import { takeToken } from "./token.js";
import { byId, element, fill } from "./dom.js";
import { follow } from "./live.js";

async function start() {
  takeToken();
  const embedded = document.getElementById("structure");
  const { structure, revision, state } = embedded ? { structure: JSON.parse(embedded.textContent), revision: "", state: null } : await fetchStructure();
  const data = new Data(structure);
  const store = new Store(data);
  const bodies = new Bodies(embedded ? () => JSON.parse(byId("bodies").textContent) : null, revision);
  const timeline = new Timeline(byId("timeline"), data, store);
  startPanels(data, store, bodies, timeline);
  timeline.draw();
  const live = state === null ? null : follow({ data, store, bodies }, { revision, state });
  return { data, store, bodies, timeline, live };
}

const view = { ready: null };
view.ready = start().then(
  (parts) => {
    Object.assign(view, parts);
    document.documentElement.dataset.state = "ready";
    return parts;
  },
  (error) => {
    document.documentElement.dataset.state = "failed";
    const again = element("button", { type: "button", text: "Try again", onclick: () => location.reload() });
    fill(byId("message"), `The page could not be shown: ${error.message} `, again);
    throw error;
  },
);
// Code that awaits `ready` gets the error too. If there is no such code, this handler avoids an unhandled rejection.
view.ready.catch((error) => console.error(error));
window.traceView = view;
