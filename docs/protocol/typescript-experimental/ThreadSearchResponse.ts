// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { ThreadSearchResult } from "./ThreadSearchResult";

/**
 * Result of `thread/search`.
 */
export type ThreadSearchResponse = {
/**
 * The requested entries.
 */
data: Array<ThreadSearchResult>,
/**
 * Cursor for a list in the opposite direction, which returns entries that are newer than this page.
 */
backwardsCursor?: string | null,
/**
 * Cursor of the next page. `null` on the last page.
 */
nextCursor?: string | null, };
