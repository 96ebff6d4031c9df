/** Round numbers for the axis of a chart. */

/**
 * Returns round numbers from 0 to at least `most`, about `count` of them.
 *
 * @param {number} most
 * @param {number} count
 * @returns {number[]}
 */
export function steps(most, count) {
  if (!(most > 0) || !Number.isFinite(most)) return [0, 1];
  const rough = most / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((candidate) => candidate >= rough * 0.999) ?? 10 * power;
  const made = [];
  for (let at = 0; at === 0 || made[at - 1] < most; at += 1) made.push(Number((at * step).toPrecision(12)));
  return made;
}
