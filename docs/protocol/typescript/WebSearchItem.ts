// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { JsonValue } from "./JsonValue";
import type { WebSearchAction } from "./WebSearchAction";

/**
 * A web search.
 */
export type WebSearchItem = {
/**
 * Id of the item.
 */
id: string,
/**
 * The searched text.
 */
query: string,
/**
 * Start time in Unix milliseconds.
 */
startedAtMs?: number | null,
/**
 * The action, if it is known.
 */
action?: WebSearchAction | null,
/**
 * End time in Unix milliseconds.
 */
completedAtMs?: number | null,
/**
 * The results.
 */
results?: Array<JsonValue> | null, };
