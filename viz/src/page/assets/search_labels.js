/** Search in the structure: in labels, and for objects by `TYPE:ID`. */

/** Most hits that a search keeps. The timeline marks all of them. */
export const MAX_FOUND = 5000;

/**
 * Returns the objects whose label contains a text, ignoring case, in their order. An object whose reference is the text
 * comes first. Payloads are left out, because their labels are kinds.
 *
 * @param {import("./data.js").Data} data
 * @param {string} text
 * @param {number} [limit]
 * @returns {{hits: number[], more: boolean}}
 */
export function searchLabels(data, text, limit = MAX_FOUND) {
  const sought = text.toLowerCase();
  const hits = [];
  const named = data.numberOf(text);
  if (named >= 0) hits.push(named);
  const holds = new Uint8Array(data.strings.length);
  data.strings.forEach((one, index) => {
    if (one !== "" && one.toLowerCase().includes(sought)) holds[index] = 1;
  });
  const { label } = data.raw.objects;
  const { nickname, path, task } = data.raw.threads;
  const [firstThread, threads] = data.rangeOf("thread");
  for (const { name, first, count } of data.types) {
    if (name === "raw_payload") continue;
    for (let n = first; n < first + count; n += 1) {
      const at = n - firstThread;
      const isThread = at >= 0 && at < threads;
      const found = holds[label[n]] || (isThread && (holds[nickname[at]] || holds[path[at]] || holds[task[at]]));
      if (!found || n === named) continue;
      if (hits.length >= limit) return { hits, more: true };
      hits.push(n);
    }
  }
  return { hits, more: false };
}

/**
 * Merges hits in labels and in texts. Each object is listed once, and a hit in a text with the text around it.
 *
 * @param {number[]} labels
 * @param {{n: number, before: string, match: string, after: string}[]} texts
 * @returns {{n: number, around: {before: string, match: string, after: string}|null}[]}
 */
export function joinHits(labels, texts) {
  const around = new Map(texts.map((hit) => [hit.n, hit]));
  const joined = labels.map((n) => ({ n, around: null }));
  const known = new Set(labels);
  for (const [n, hit] of around) if (!known.has(n)) joined.push({ n, around: hit });
  return joined;
}
