// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { JsonValue } from "./JsonValue";

/**
 * Result of `trace/read`.
 */
export type TraceReadResponse = {
/**
 * The reduced graph, as `state.json` has it.
 */
state: JsonValue,
/**
 * What the reduction found wrong with the bundle.
 */
diagnostics: Array<JsonValue>,
/**
 * The number of the last event that is part of the state; 0 if there is none.
 */
lastSeq: number, };
