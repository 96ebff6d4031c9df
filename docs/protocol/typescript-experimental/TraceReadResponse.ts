// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { JsonValue } from "./JsonValue";

/**
 * Result of `trace/read`.
 */
export type TraceReadResponse = {
/**
 * The reduced graph in the form of `state.json`, or in the compact form.
 */
state: JsonValue,
/**
 * Diagnostics of the reduction.
 */
diagnostics: Array<JsonValue>,
/**
 * Seq of the last event in the graph. 0 if there are no events.
 */
lastSeq: number, };
