// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Params of `thread/queue/list`.
 */
export type ThreadQueueListParams = {
/**
 * Id of the thread.
 */
threadId: string,
/**
 * Cursor of the previous page (its `nextCursor`). Without it, the list starts at the beginning.
 */
cursor?: string | null,
/**
 * Most entries of a page.
 */
limit?: number | null, };
