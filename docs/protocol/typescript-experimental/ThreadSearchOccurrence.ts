// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { ThreadSearchTextRange } from "./ThreadSearchTextRange";

/**
 * A place in a thread that contains the searched text.
 */
export type ThreadSearchOccurrence = {
/**
 * Id of the turn.
 */
turnId: string,
/**
 * Id of the item.
 */
itemId: string,
/**
 * Text around the match.
 */
snippet: string,
/**
 * The part of the snippet that matches.
 */
snippetMatchRange: ThreadSearchTextRange,
/**
 * Cursor of `thread/turns/list` that leads to the turn.
 */
turnCursor: string, };
