// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { ThreadSearchResult } from "./ThreadSearchResult";

/**
 * Result of `thread/search`.
 */
export type ThreadSearchResponse = {
/**
 * What was asked for, page by page where there are pages.
 */
data: Array<ThreadSearchResult>,
/**
 * Where a list in the opposite direction begins, to get what is new since.
 */
backwardsCursor?: string | null,
/**
 * Where the next page begins; `null` on the last one.
 */
nextCursor?: string | null, };
