/** Creates the panels around the timeline, and moves the reader between them. */

import { announce } from "./announce.js";
import { Audit } from "./audit.js";
import { nameOf } from "./describe.js";
import { byId, element } from "./dom.js";
import { Filters } from "./filters.js";
import { number } from "./format.js";
import { startHead } from "./head.js";
import { Inspector } from "./inspector.js";
import { startKeys } from "./keys.js";
import { Layout } from "./layout.js";
import { startPrint } from "./print.js";
import { Route } from "./route.js";
import { Search } from "./search.js";
import { startTheme } from "./theme.js";
import { TIMELINE_KEYS } from "./timeline_input.js";
import { Transcript } from "./transcript.js";
import { Tree } from "./tree.js";
import { Verdicts, sorted } from "./verdicts.js";

/** Types of objects that can fail by themselves, for the shortcuts that go from failure to failure. */
const FAILING = ["inference_call", "tool_call", "code_cell", "compaction", "compaction_request"];

/**
 * Creates the panels.
 *
 * @param {import("./data.js").Data} data
 * @param {import("./store.js").Store} store
 * @param {import("./bodies.js").Bodies} bodies
 * @param {import("./timeline.js").Timeline} timeline
 */
export function startPanels(data, store, bodies, timeline) {
  const page = { data, store, bodies, timeline };
  document.title = `${data.session.name} · trace`;
  const theme = startTheme(store);
  const { attention } = sorted(data.raw.verdicts);
  const layout = new Layout(attention.length > 0 ? "verdicts" : "transcript");
  const filterBar = byId("filters");
  let transcript = null;
  const search = new Search(filterBar, page, () => transcript?.redraw());
  const filters = new Filters(filterBar, page);
  const tree = new Tree(byId("tree"), page);
  transcript = new Transcript(byId("transcript"), page);
  const inspector = new Inspector(byId("inspector"), page);
  const why = () => {
    layout.show("verdicts");
    verdicts.focus();
  };
  const verdicts = new Verdicts(byId("verdicts"), byId("strip"), page, why);
  const audit = new Audit(byId("audit"), page, (text) => layout.name("audit", text));
  const print = startPrint(page, transcript);
  const route = new Route(page, filters);

  const places = [
    { id: "filters", name: "search", go: () => search.focus() },
    {
      id: "tree-panel",
      name: "agents",
      go: () => {
        layout.show("tree-panel");
        tree.focus();
      },
    },
    { id: "timeline-panel", name: "timeline", go: () => byId("timeline").focus() },
    {
      id: "transcript",
      name: "transcript",
      go: () => {
        layout.show("transcript");
        transcript.focus();
      },
    },
    { id: "verdicts", name: "why", go: why },
    {
      id: "audit",
      name: "audit",
      go: () => {
        layout.show("audit");
        audit.focus();
      },
    },
    {
      id: "inspector",
      name: "inspector",
      go: () => {
        layout.show("inspector");
        inspector.scroller.focus({ preventScroll: true });
      },
    },
  ];
  const place = (name) => places.find((one) => one.name === name).go;
  // Opening a bar on the timeline shows it in the inspector.
  store.on("open", place("inspector"));
  const around = (direction) => {
    // Skip panels whose tab is not chosen.
    const shown = places.filter(({ id }) => !byId(id).hidden);
    const at = shown.findIndex(({ id }) => byId(id).contains(document.activeElement));
    const next = at < 0 && direction < 0 ? shown.length - 1 : at + direction;
    shown[(next + shown.length) % shown.length].go();
  };
  const { help } = startKeys(
    [
      { keys: "/", does: "search", run: place("search") },
      { keys: "n", does: "next failure of the session", run: () => step(1) },
      { keys: "p", does: "failure before", run: () => step(-1) },
      { keys: "f", does: "only what failed, and all again", run: () => filters.toggleFailed() },
      { keys: "o", does: "only this agent and those below, and all again", run: () => filters.showUnder(filters.under < 0 ? store.thread : -1) },
      { keys: "[", does: "back to what was selected before", run: () => history.back() },
      { keys: "]", does: "forward again", run: () => history.forward() },
      { keys: "y", does: "copy the permalink", run: () => inspector.copyLink() },
      { keys: "g a", does: "go to the agents", run: place("agents") },
      { keys: "g t", does: "go to the timeline", run: place("timeline") },
      { keys: "g r", does: "go to the transcript", run: place("transcript") },
      { keys: "g w", does: "go to why it failed", run: place("why") },
      { keys: "g u", does: "go to the audit", run: place("audit") },
      { keys: "g i", does: "go to the inspector", run: place("inspector") },
      { keys: "F6", does: "next panel", run: () => around(1) },
      { keys: "Shift+F6", does: "panel before", run: () => around(-1) },
      { keys: "Escape", does: "select nothing", run: () => store.select(-1, "keys") },
    ],
    [["Timeline", TIMELINE_KEYS]],
  );
  startHead(byId("head"), page, { theme, help, print });
  byId("skip").append(
    ...["agents", "timeline", "transcript", "inspector"].map((name) => element("button", { type: "button", class: "skip", text: `Skip to the ${name}`, onclick: place(name) })),
  );

  let failures = null;
  store.on("data", () => (failures = null));
  let failure = -1;
  function step(direction) {
    failures ??= failuresOf(data);
    if (failures.length === 0) {
      announce("Nothing failed.");
      return;
    }
    const selected = failures.indexOf(store.selected);
    if (selected >= 0) failure = selected;
    failure = failure < 0 && direction < 0 ? failures.length - 1 : (failure + direction + failures.length) % failures.length;
    store.select(failures[failure], "keys");
    announce(`Failure ${number(failure + 1)} of ${number(failures.length)}: ${nameOf(data, failures[failure]).slice(0, 200)}`);
  }

  // This event also comes if the object is selected already and the reader selects it again.
  store.on("reveal", (n, origin) => {
    if (n < 0 || ["verdicts", "audit", "transcript", "inspector"].includes(origin)) return;
    if (origin === "tree") layout.show("transcript");
    else if (layout.current !== "transcript") layout.show(layout.layout === "wide" ? "transcript" : "inspector");
  });
  store.on("found", () => transcript.markFound());
  route.restore();
}

function failuresOf(data) {
  const failed = [];
  for (const name of FAILING) {
    const [first, count] = data.rangeOf(name);
    for (let n = first; n < first + count; n += 1) if (data.outcome(n) === "failed") failed.push(n);
  }
  return failed.sort((a, b) => data.start(a) - data.start(b) || a - b);
}
