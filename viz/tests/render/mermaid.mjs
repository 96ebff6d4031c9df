// Parses files with Mermaid's own parser, all in one process.
//
// Usage: node mermaid.mjs NODE_MODULES FOLDER
// Prints a line for each file of the folder that is not a diagram, and exits with 1 if there is one.

import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [modules, folder] = process.argv.slice(2);
const load = (path) => import(pathToFileURL(resolve(modules, path)).href);

// Mermaid needs a document to sanitize texts.
const { JSDOM } = (await load("jsdom/lib/api.js")).default;
const { window } = new JSDOM("<body></body>");
globalThis.window = window;
globalThis.document = window.document;
const { default: mermaid } = await load("mermaid/dist/mermaid.core.mjs");
mermaid.initialize({ startOnLoad: false, securityLevel: "strict" });

let bad = 0;
for (const name of readdirSync(folder).sort()) {
  try {
    const { diagramType } = await mermaid.parse(readFileSync(join(folder, name), "utf8"));
    if (!diagramType.startsWith("flowchart")) {
      throw new Error(`it is a ${diagramType}`);
    }
  } catch (error) {
    bad += 1;
    console.log(`${name}: ${error.message}`);
  }
}
process.exitCode = bad === 0 ? 0 : 1;
