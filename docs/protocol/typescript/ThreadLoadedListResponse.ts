// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Result of `thread/loaded/list`.
 */
export type ThreadLoadedListResponse = {
/**
 * What was asked for, page by page where there are pages.
 */
data: Array<string>,
/**
 * Where the next page begins; `null` on the last one.
 */
nextCursor?: string | null, };
