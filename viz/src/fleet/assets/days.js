/** Days as texts, `2026-03-02`, as the server has them. */

const DAY_MS = 24 * 3600 * 1000;

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/**
 * Returns the day that is a number of days later.
 *
 * @param {string} day
 * @param {number} days
 * @returns {string}
 */
export function later(day, days) {
  const at = Date.parse(`${day}T00:00:00Z`);
  return Number.isNaN(at) ? day : new Date(at + days * DAY_MS).toISOString().slice(0, 10);
}

/**
 * Returns whether a text is a day of the calendar.
 *
 * @param {string} text
 * @returns {boolean}
 */
export function isDay(text) {
  return /^\d{4}-\d\d-\d\d$/.test(text) && later(text, 0) === text;
}

/**
 * Returns a range for people: one day, or both ends.
 *
 * @param {string} first
 * @param {string} last
 * @returns {string}
 */
export function range(first, last) {
  return first === last ? first : `${first} to ${last}`;
}

/**
 * Returns the first and the last day of each point of a chart.
 *
 * @param {{starts: string[], days: number, last: string}} chart
 * @returns {{first: string, last: string}[]}
 */
export function points({ starts, days, last }) {
  return starts.map((first, at) => ({ first, last: at + 1 < starts.length ? later(first, days - 1) : last }));
}

/**
 * Returns labels for some of the points, at most `most`, at equal distances: `2 Mar`, and the year where it changes.
 *
 * @param {string[]} starts
 * @param {number} most
 * @returns {{at: number, text: string}[]}
 */
export function labels(starts, most) {
  const step = Math.max(1, Math.ceil(starts.length / Math.max(1, most)));
  const made = [];
  let year = "";
  for (let at = 0; at < starts.length; at += step) {
    const [of, month, day] = starts[at].split("-");
    const text = `${Number(day)} ${MONTHS[Number(month) - 1] ?? month}`;
    made.push({ at, text: of === year ? text : `${text} ${of}` });
    year = of;
  }
  return made;
}
