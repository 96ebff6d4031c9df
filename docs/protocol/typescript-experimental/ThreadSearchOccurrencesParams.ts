// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Params of `thread/searchOccurrences`.
 */
export type ThreadSearchOccurrencesParams = {
/**
 * Id of the thread.
 */
threadId: string,
/**
 * The text to search for.
 */
searchTerm: string,
/**
 * Cursor of the previous page (its `nextCursor`). Without it, the list starts at the beginning.
 */
cursor?: string | null,
/**
 * Most entries of a page.
 */
limit?: number | null, };
