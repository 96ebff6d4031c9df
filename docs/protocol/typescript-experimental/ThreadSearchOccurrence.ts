// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { ThreadSearchTextRange } from "./ThreadSearchTextRange";

/**
 * A place in a thread where a text was found.
 */
export type ThreadSearchOccurrence = {
/**
 * The turn.
 */
turnId: string,
/**
 * The item.
 */
itemId: string,
/**
 * The text around it.
 */
snippet: string,
/**
 * The part of the snippet that matches.
 */
snippetMatchRange: ThreadSearchTextRange,
/**
 * Where paging through the turns gets to it.
 */
turnCursor: string, };
