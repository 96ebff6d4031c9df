// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { ThreadItemEntry } from "./ThreadItemEntry";

/**
 * Result of `thread/items/list`.
 */
export type ThreadItemsListResponse = {
/**
 * The requested entries.
 */
data: Array<ThreadItemEntry>,
/**
 * Cursor for a list in the opposite direction, which returns entries that are newer than this page.
 */
backwardsCursor?: string | null,
/**
 * Cursor of the next page. `null` on the last page.
 */
nextCursor?: string | null, };
