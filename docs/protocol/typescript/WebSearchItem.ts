// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { JsonValue } from "./JsonValue";
import type { WebSearchAction } from "./WebSearchAction";

/**
 * A search on the web.
 */
export type WebSearchItem = {
/**
 * The id.
 */
id: string,
/**
 * What is searched for.
 */
query: string,
/**
 * When it began, in Unix milliseconds.
 */
startedAtMs?: number | null,
/**
 * What was done, as far as it is known.
 */
action?: WebSearchAction | null,
/**
 * When it was finished, in Unix milliseconds.
 */
completedAtMs?: number | null,
/**
 * What was found.
 */
results?: Array<JsonValue> | null, };
