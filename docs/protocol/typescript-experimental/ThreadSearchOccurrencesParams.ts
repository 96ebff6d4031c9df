// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Params of `thread/searchOccurrences`.
 */
export type ThreadSearchOccurrencesParams = {
/**
 * The thread.
 */
threadId: string,
/**
 * The text to look for.
 */
searchTerm: string,
/**
 * Where to go on: the cursor that a page before gave.
 */
cursor?: string | null,
/**
 * The most that a page holds.
 */
limit?: number | null, };
