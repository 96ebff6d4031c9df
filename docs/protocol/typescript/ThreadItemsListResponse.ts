// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { ThreadItemEntry } from "./ThreadItemEntry";

/**
 * Result of `thread/items/list`.
 */
export type ThreadItemsListResponse = {
/**
 * What was asked for, page by page where there are pages.
 */
data: Array<ThreadItemEntry>,
/**
 * Where a list in the opposite direction begins, to get what is new since.
 */
backwardsCursor?: string | null,
/**
 * Where the next page begins; `null` on the last one.
 */
nextCursor?: string | null, };
