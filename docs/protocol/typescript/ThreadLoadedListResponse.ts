// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Result of `thread/loaded/list`.
 */
export type ThreadLoadedListResponse = {
/**
 * The requested entries.
 */
data: Array<string>,
/**
 * Cursor of the next page. `null` on the last page.
 */
nextCursor?: string | null, };
