/** What the reader looks at. It is in the fragment of the page's address, so that it can be kept and gone back to. */

import { isDay } from "./days.js";

/** Columns that narrow the lake, and what they are called. An empty value stands for rows without one. */
export const COLUMNS = { __proto__: null, team: "Team", repository: "Repository", agent: "Agent", agent_version: "Version", model: "Model" };

/** What else narrows it: sessions that have a certain row. */
export const OF_ROWS = { __proto__: null, category: "Failure", signature: "Failures like", tool: "Failed tool", finding: "Finding", outcome: "Outcome" };

/** Names of everything in a place. `from`, `to`, `pick` and `picked` are the point of a chart whose sessions are listed. */
const NAMES = ["since", "until", ...Object.keys(COLUMNS), ...Object.keys(OF_ROWS), "by", "order", "from", "to", "pick", "picked"];

const DAYS = ["since", "until", "from", "to"];

/** Longest value that is read from an address. The server refuses longer ones. */
const MAX_VALUE_CHARS = 1000;

/**
 * Reads a place from a fragment. What is no place is left out.
 *
 * @param {string} fragment
 * @returns {Object<string, string>}
 */
export function read(fragment) {
  const given = new URLSearchParams(fragment.replace(/^#/, ""));
  const place = {};
  for (const name of NAMES) {
    const value = given.get(name);
    if (value === null || value.length > MAX_VALUE_CHARS) continue;
    if (DAYS.includes(name) && !isDay(value)) continue;
    if (name === "pick" && !(value in OF_ROWS || value in COLUMNS)) continue;
    place[name] = value;
  }
  return place;
}

/**
 * Returns the fragment of a place.
 *
 * @param {Object<string, string|undefined>} place
 * @returns {string}
 */
export function write(place) {
  const given = new URLSearchParams();
  for (const name of NAMES) if (place[name] !== undefined) given.set(name, place[name]);
  const text = given.toString();
  return text ? `#${text}` : "#";
}

/**
 * Returns the parameters of a request about all that the place is narrowed to.
 *
 * @param {Object<string, string>} place
 * @returns {Object<string, string>}
 */
export function narrowed(place) {
  const names = ["since", "until", ...Object.keys(COLUMNS), ...Object.keys(OF_ROWS)];
  return Object.fromEntries(names.filter((name) => place[name] !== undefined).map((name) => [name, place[name]]));
}

/**
 * Returns the parameters of a request for the sessions that are listed: those behind a point of a chart if there is one.
 *
 * @param {Object<string, string>} place
 * @returns {Object<string, string>}
 */
export function listed(place) {
  const all = narrowed(place);
  if (place.from !== undefined) all.since = place.from;
  if (place.to !== undefined) all.until = place.to;
  if (place.pick !== undefined) all[place.pick] = place.picked ?? "";
  return all;
}

/** Returns a place without the point of a chart. */
export function withoutPoint(place) {
  const { from, to, pick, picked, ...rest } = place;
  return rest;
}
