#!/usr/bin/env node
// Expands graphs in the compact form to what state.json has.
//
//     trace reduce traces/trace-1 --compact
//     node expand.mjs traces/trace-1/state.compact.json > state.json
//     trace reduce traces -o - --compact | node expand.mjs    # one graph per line

import { readFileSync, realpathSync } from "node:fs";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/** Which members of which objects are lists of items. */
const LISTS = new Map([
  ["inference_calls", ["request_item_ids"]],
  ["compactions", ["input_item_ids", "replacement_item_ids"]],
]);

/** Returns the graph as state.json has it. The argument stays as it is. */
export function expand(graph) {
  if (graph.compact !== 1) {
    throw new Error("not a graph in the compact form, version 1");
  }
  const lines = [];
  const items = (elements) =>
    elements.flatMap((element) => {
      if (typeof element === "string") {
        return element;
      }
      const { line, start = 0, end } = element;
      if (!(start >= 0 && start <= end && end <= lines[line]?.length)) {
        throw new Error(`line ${line} has no items ${start} to ${end}`);
      }
      return lines[line].slice(start, end);
    });
  for (const elements of graph.item_lines) {
    lines.push(items(elements));
  }
  const { compact, item_lines, ...state } = graph;
  for (const [name, lists] of LISTS) {
    state[name] = mapValues(state[name], (thing) =>
      mapValues(thing, (value, member) => (lists.includes(member) ? items(value) : value)),
    );
  }
  return state;
}

// A member may be named `__proto__`, which an assignment would lose.
function mapValues(object, change) {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value, key)]));
}

async function main(paths) {
  const print = (text) => process.stdout.write(`${JSON.stringify(expand(JSON.parse(text)))}\n`);
  if (paths.length > 0) {
    paths.forEach((path) => print(readFileSync(path, "utf8")));
    return;
  }
  for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
    print(line);
  }
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  await main(process.argv.slice(2));
}
