/** Starts the page of a lake: asks for what the place in the address is about, and shows it. */

import { Asker, Refused, Replaced } from "./ask.js";
import { Chart } from "./chart.js";
import { line } from "../../client/assets/texts.js";
import { byId, element, fill } from "../../page/assets/dom.js";
import { count, number, tokens, wallDay, wallTime } from "../../page/assets/format.js";
import { GROUPS, Groups, money } from "./groups.js";
import { Narrow } from "./narrow.js";
import { moodOf } from "../../page/assets/outcome.js";
import { listed, narrowed, read, withoutPoint, write } from "./place.js";
import { Sessions, page } from "./sessions.js";
import { CHOICES, startTheme } from "../../page/assets/theme.js";
import { takeToken } from "../../page/assets/token.js";

/** What a series of a chart narrows the list of sessions to. */
const PICKS = { __proto__: null, sessions: "outcome", failures: "category", costs: "model" };

/** How the values of a chart are shown. On an axis they are short. */
const FORMATS = {
  __proto__: null,
  sessions: (value, isShort) => (isShort ? tokens(value) : count(value, "session")),
  failures: (value, isShort) => (isShort ? tokens(value) : count(value, "failure")),
  tokens: (value, isShort) => (isShort ? tokens(value) : `${tokens(value)} tokens`),
  money: (value, isShort) => (isShort && value >= 1000 ? tokens(value) : money(value)),
};

const bySeries = (series, at) => (series.is_rest ? "rest" : `series-${at}`);
const byOutcome = (series) => (series.is_rest ? "rest" : `mood-${moodOf(series.name ?? "none")} outcome-${/^[a-z]+$/.test(series.name ?? "") ? series.name : "none"}`);

class Page {
  constructor() {
    this.asker = new Asker();
    this.lake = null;
    this.place = read(location.hash);
    /** Number of questions without an answer, for tests. */
    this.open = 0;
    const narrow = (changes) => this.go({ ...withoutPoint(this.place), ...changes });
    this.narrow = new Narrow(byId("narrow"), (place) => this.go(place));
    const chart = (of, title, colour) =>
      new Chart(byId("charts"), {
        id: `chart-${of}`,
        title,
        colour,
        pick: ({ first, last, series }) => {
          const point = series.is_rest ? {} : { pick: PICKS[of], picked: series.name ?? "" };
          this.go({ ...withoutPoint(this.place), from: first, to: last, ...point });
          byId("sessions").focus({ preventScroll: true });
          byId("sessions").scrollIntoView({ block: "start" });
        },
      });
    this.charts = { failures: chart("failures", "Failures", bySeries), costs: chart("costs", "Costs", bySeries), sessions: chart("sessions", "Sessions by outcome", byOutcome) };
    this.groups = new Groups(byId("groups"), { by: (by) => this.go({ ...this.place, by }), narrow });
    this.sessions = new Sessions(byId("sessions"), {
      order: (order) => this.go({ ...this.place, order }),
      all: () => {
        this.go(withoutPoint(this.place));
        byId("sessions").focus({ preventScroll: true });
      },
      more: (offset) => this.askSessions(offset),
    });
    byId("skip").addEventListener("click", () => byId("sessions").focus());
    this.theme = startTheme({ emit: () => {} });
    addEventListener("hashchange", () => {
      // A token in the address is that of a server that was started again.
      if (location.hash.startsWith("#token=")) {
        takeToken();
        location.reload();
        return;
      }
      this.show(read(location.hash));
    });
  }

  /** Goes to a place. The browser can go back from it. */
  go(place) {
    const fragment = write(place);
    if (fragment === write(this.place)) return;
    location.hash = fragment;
  }

  /** Looks for the newest version of the lake, and shows the place in it. */
  async load() {
    this.lake = await this.ask("lake", "lake.json");
    this.drawHead();
    this.show(this.place, true);
    this.quietly("values", () => this.ask("values", "values.json").then((values) => this.narrow.offer(values)), () => {});
  }

  /** Shows a place: what differs from the one before. */
  show(place, isNew = false) {
    const before = this.place;
    this.place = place;
    const same = (of) => !isNew && JSON.stringify(of(before)) === JSON.stringify(of(place));
    const by = place.by in GROUPS ? place.by : "category";
    this.narrow.show(place, this.lake);
    if (!same(narrowed)) {
      for (const of of Object.keys(this.charts)) this.askChart(of);
    } else {
      for (const [of, chart] of Object.entries(this.charts)) if (chart.data) chart.show(chart.data, FORMATS[chart.data.unit], this.chosenIn(of));
    }
    if (!same((one) => [narrowed(one), one.by in GROUPS ? one.by : "category"])) this.askGroups(by);
    if (!same((one) => [listed(one), one.order])) this.askSessions(0);
  }

  chosenIn(of) {
    const { from, pick, picked } = this.place;
    return from === undefined || (pick !== undefined && pick !== PICKS[of]) ? {} : { from, pick, picked };
  }

  askChart(of) {
    const chart = this.charts[of];
    chart.wait();
    this.quietly(of, async () => {
      const data = await this.ask(`chart-${of}`, "chart.json", { of, ...narrowed(this.place) });
      chart.show({ ...data, pick: PICKS[of] }, FORMATS[data.unit], this.chosenIn(of));
      if (of === "costs") chart.title.textContent = data.unit === "money" ? `Costs by model in ${line(this.lake.currency, 12)}` : "Tokens by model";
      if (of === "failures") chart.title.textContent = "Failures by category";
    }, (message) => chart.fail(message));
  }

  askGroups(by) {
    this.groups.choose(by);
    this.groups.wait();
    this.quietly("groups", async () => this.groups.show(await this.ask("groups", "groups.json", { by, ...narrowed(this.place) }), this.lake.currency), (message) => this.groups.fail(message));
  }

  askSessions(offset) {
    this.sessions.wait();
    this.quietly("sessions", async () => this.sessions.show(await this.ask("sessions", "sessions.json", { ...listed(this.place), ...page(this.place, offset) }), this.place, this.lake.currency), (message) => this.sessions.fail(message));
  }

  async ask(name, path, parameters) {
    this.open += 1;
    try {
      return await this.asker.ask(name, path, parameters);
    } finally {
      this.open -= 1;
    }
  }

  /** Does something that asks. An answer that nobody waits for is no failure. */
  async quietly(name, act, fail) {
    try {
      await act();
    } catch (error) {
      if (error instanceof Replaced) return;
      if (error instanceof Refused) this.refused(error);
      fail(error.message);
    }
  }

  refused(error) {
    document.documentElement.dataset.state = "refused";
    byId("message").textContent = error.message;
  }

  drawHead() {
    const { url, version, at_unix_ms: at, sessions, days } = this.lake;
    const facts = [count(sessions, "session"), days ? `${days[0]} to ${days[1]}` : "no days", `version ${number(version)} of ${wallDay(at)} ${wallTime(at).slice(0, 5)}`];
    const colours = element("select", { id: "colours", onchange: () => this.theme.choose(colours.value) }, ...CHOICES.map((choice) => element("option", { value: choice, text: choice, selected: choice === this.theme.choice })));
    const again = element("button", { type: "button", id: "refresh", text: "Look for newer", onclick: () => this.reload() });
    fill(byId("head"), element("h1", { text: "Fleet" }), element("bdi", { class: "lake", text: line(url, 120) }), element("span", { class: "quiet facts", text: facts.join(" · ") }), element("span", { class: "space" }), again, element("label", {}, element("span", { text: "Colours" }), colours));
    document.title = `trace fleet: ${line(url, 60)}`;
  }

  async reload() {
    const before = this.lake.version;
    try {
      await this.load();
    } catch (error) {
      byId("message").textContent = error.message;
      return;
    }
    byId("refresh").focus();
    byId("message").textContent = this.lake.version === before ? "There is nothing newer." : `This is version ${number(this.lake.version)}.`;
  }
}

const view = { ready: null, page: null };
takeToken();
view.page = new Page();
view.ready = view.page.load().then(
  () => (document.documentElement.dataset.state = "ready"),
  (error) => {
    if (error instanceof Refused) return view.page.refused(error);
    document.documentElement.dataset.state = "failed";
    byId("message").textContent = `The page could not be shown: ${error.message}`;
    return undefined;
  },
);
window.traceFleet = view;
