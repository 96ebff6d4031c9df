import assert from "node:assert/strict";
import { test } from "node:test";

import { Bodies, MAX_KEPT_BODIES } from "../../src/page/assets/bodies.js";
import { Data } from "../../src/page/assets/data.js";
import { MAX_TOLD_LINKS, describe, fieldsOf } from "../../src/page/assets/describe.js";
import { joinHits, searchLabels } from "../../src/page/assets/search_labels.js";
import { Store } from "../../src/page/assets/store.js";
import { COMPACTS, INHERITED, inheritedFrom, isFailure, placeOf, rowsOf, splitKey } from "../../src/page/assets/transcript_rows.js";
import { MAX_UNFOLDED, TreeRows } from "../../src/page/assets/tree_rows.js";
import { sorted } from "../../src/page/assets/verdicts.js";
import { worstFirst } from "../../src/page/assets/audit.js";
import { madeUp } from "./made_up.mjs";

const { structure, bodies } = madeUp({ agents: 6, steps: 14, seed: 5 });
const data = new Data(structure);
const NO_FILTER = { role: "", kind: "", failedOnly: false };

test("the same choices make the same session", () => {
  assert.deepEqual(madeUp({ agents: 6, steps: 14, seed: 5 }), { structure, bodies });
});

test("every object is found by its reference", () => {
  for (let n = 0; n < data.size; n += 1) assert.equal(data.numberOf(data.refOf(n)), n);
  assert.equal(data.numberOf("tool_call:no"), -1);
  assert.equal(data.refOf(0), "thread:thread-1");
});

test("links are the same from both ends", () => {
  let there = 0;
  let back = 0;
  for (let n = 0; n < data.size; n += 1) {
    there += data.effects(n).length;
    back += data.causes(n).length;
    for (const { n: effect } of data.effects(n)) assert.ok(data.causes(effect).some((cause) => cause.n === n));
  }
  assert.equal(there, structure.links.from.length);
  assert.equal(back, structure.links.from.length);
});

test("fields have texts, not numbers of texts, and objects as references", () => {
  const [first] = data.rangeOf("tool_call");
  const fields = Object.fromEntries(fieldsOf(data, first).map((field) => [field.name, field]));
  assert.equal(fields.name.shown, "exec_command");
  assert.equal(fields.thread.n, 0);
  assert.equal(fields.thread.value, "thread:thread-1");
  assert.match(fields.start.shown, /^\+.* · \d{4}-\d\d-\d\d /);
  assert.equal(fields.duration.value, fields.end.value - fields.start.value);
  assert.equal(fields.cell, undefined);
});

test("all that is known of an object is described", () => {
  const [first] = data.rangeOf("tool_call");
  const described = describe(data, first, bodies.bodies[first]);
  assert.equal(described.ref, "tool_call:1");
  assert.ok(described.links.some((link) => link.direction === "from" && link.relation === "requested"));
  assert.ok(described.links.some((link) => link.direction === "to" && link.relation === "produced_by"));
  assert.equal(described.payloads.length, 2);
  assert.equal(described.blocks[0].name, "input");
});

test("of very many links the first are listed, and the others counted", () => {
  const to = Array.from({ length: MAX_TOLD_LINKS + 3 }, () => 1);
  const crowd = new Data({ ...structure, links: { from: to.map(() => 0), to, relation: to.map(() => 0), at: to } });
  const described = describe(crowd, 0, null, "not in this file");
  assert.deepEqual(described.blocks.map(({ form, text }) => [form, text]), [["note", "The text is not in this file."]]);
  assert.equal(described.links.length, MAX_TOLD_LINKS);
  assert.equal(described.links_left_out, 3);
});

test("the tree unfolds, folds and knows what is below", () => {
  const rows = new TreeRows(data);
  const all = rows.visible();
  assert.deepEqual(all, structure.order);
  assert.equal(rows.subtree(0).size, 6);
  rows.folded.add(0);
  assert.deepEqual(rows.visible(), [0]);
  assert.equal(rows.uncover(all.at(-1)), true);
  assert.equal(rows.uncover(all.at(-1)), false);
  assert.deepEqual(rows.visible(), all);
});

test("a large tree begins folded below its second level", () => {
  const large = new Data(madeUp({ agents: MAX_UNFOLDED + 100, steps: 3 }).structure);
  const rows = new TreeRows(large);
  assert.ok(rows.visible().length < MAX_UNFOLDED + 100);
  assert.ok(rows.visible().every((n) => rows.level.get(n) <= 2));
});

test("a cycle of parents does not loop for ever", () => {
  const rows = new TreeRows({ raw: { order: [0, 1], threads: { parent: [1, 0] } }, typeByName: new Map([["thread", { first: 0 }]]) });
  assert.deepEqual(rows.visible(), [0, 1]);
});

test("inherited items are one row until they are unfolded", () => {
  const transcript = structure.transcripts.find(({ marks }) => marks[0] & INHERITED);
  const total = inheritedFrom(transcript.marks, 0);
  const folded = rowsOf(data, transcript, NO_FILTER, false);
  const open = rowsOf(data, transcript, NO_FILTER, true);
  assert.equal(folded[0], "inherited:0");
  assert.equal(open.length - folded.length, total);
  assert.equal(new Set(open).size, open.length);
});

test("filters keep what passes, and every compaction", () => {
  const transcript = structure.transcripts[0];
  const rows = rowsOf(data, transcript, { ...NO_FILTER, role: "tool" }, false);
  const places = rows.map((key) => splitKey(key)[1]);
  assert.ok(places.length > 0);
  for (const place of places) {
    const role = data.text(structure.items.role[data.indexOf(transcript.items[place])]);
    assert.ok(role === "tool" || transcript.marks[place] & COMPACTS);
  }
  assert.ok(places.some((place) => transcript.marks[place] & COMPACTS));
  const failed = rowsOf(data, transcript, { ...NO_FILTER, failedOnly: true }, false).map((key) => splitKey(key)[1]);
  assert.ok(failed.every((place) => isFailure(data, transcript.items[place]) || transcript.marks[place] & COMPACTS));
});

test("calls, requests, turns and hand-overs have their place in the transcript", () => {
  const transcript = structure.transcripts[0];
  const at = (n) => transcript.items[placeOf(data, transcript, n)];
  const item = transcript.items[3];
  assert.equal(at(item), item);
  const tool = structure.attached.tool[0];
  assert.equal(at(tool), structure.attached.item[0]);
  const [inference] = data.rangeOf("inference_call");
  assert.equal(structure.items.producer[data.indexOf(at(inference))], inference);
  const [turn] = data.rangeOf("codex_turn");
  assert.equal(at(turn), transcript.items[0]);
  assert.equal(placeOf(data, transcript, 0), -1);
  for (let n = 0; n < data.size; n += 1) assert.ok(placeOf(data, transcript, n) < transcript.items.length);
});

test("labels are searched whatever their case, and a name leads", () => {
  const { hits } = searchLabels(data, "CARGO clippy");
  assert.ok(hits.length > 0);
  for (const n of hits) assert.match(data.label(n).toLowerCase(), /cargo clippy/);
  assert.equal(searchLabels(data, "tool_call:2").hits[0], data.numberOf("tool_call:2"));
  assert.deepEqual(searchLabels(data, "nothing has this"), { hits: [], more: false });
  assert.deepEqual(searchLabels(data, "e", 3).more, true);
});

test("hits in labels and texts are merged, each object once", () => {
  const around = (n) => ({ n, before: "a", match: "b", after: "c" });
  assert.deepEqual(joinHits([1, 2], [around(2), around(3), around(3)]), [
    { n: 1, around: null },
    { n: 2, around: null },
    { n: 3, around: around(3) },
  ]);
});

test("texts of the document are searched", async () => {
  const found = await new Bodies(() => bodies).search("PANICKED AT", 3);
  assert.equal(found.hits.length, 3);
  assert.equal(found.more, true);
  assert.equal(found.hits[0].match, "panicked at");
  assert.match(found.hits[0].after, /src\/parser.rs/);
});

test("bodies of the document are there at once", () => {
  const known = new Bodies(() => ({ bodies: { 1: null }, payloads: {} }));
  assert.equal(known.peek(1), null);
  assert.deepEqual(known.peek(2), { blocks: [] });
});

test("the worst verdicts come first, and each is counted", () => {
  const { attention, others, counts } = sorted(["ok", "cancelled", "failed", "recovered", "degraded", "failed"].map((outcome, at) => ({ outcome, at })));
  assert.deepEqual(attention.map(({ at }) => at), [2, 5, 4, 1]);
  assert.deepEqual(others.map(({ at }) => at), [0, 3]);
  assert.equal(counts.get("failed"), 2);
});

test("the worst findings come first, and those of a severity in the order of the log", () => {
  const found = worstFirst(["low", "high", "medium", "high"].map((severity, at) => ({ severity, at })));
  assert.deepEqual(found.map(({ at }) => at), [1, 3, 2, 0]);
});

test("filters apply to bars, and showing a thread sends one event", () => {
  const store = new Store(data);
  const left = () => structure.bars.object.filter((_, bar) => store.passes(bar)).length;
  assert.equal(left(), structure.bars.object.length);
  store.filter({ outcomes: new Set(["failed"]) });
  assert.equal(left(), structure.bars.object.filter((n) => data.outcome(n) === "failed").length);
  const told = [];
  store.on("thread", (thread) => told.push(thread));
  store.on("select", (n, origin) => told.push([n, origin]));
  const [tool] = data.rangeOf("tool_call");
  const other = structure.order[1];
  store.select(other, "tree");
  store.select(tool, "timeline");
  store.select(tool, "timeline");
  assert.deepEqual(told, [other, [other, "tree"], 0, [tool, "timeline"]]);
});

test("a served page keeps a limited number of bodies", () => {
  const served = new Bodies(null);
  for (let n = 0; n <= MAX_KEPT_BODIES; n += 1) served.keep(n, { blocks: [] });
  assert.equal(served.known.size, MAX_KEPT_BODIES);
  assert.equal(served.peek(0), undefined);
  assert.deepEqual(served.peek(MAX_KEPT_BODIES), { blocks: [] });
});
