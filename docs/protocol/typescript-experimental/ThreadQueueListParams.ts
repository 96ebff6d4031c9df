// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Params of `thread/queue/list`.
 */
export type ThreadQueueListParams = {
/**
 * The thread.
 */
threadId: string,
/**
 * Where to go on: the cursor that a page before gave.
 */
cursor?: string | null,
/**
 * The most that a page holds.
 */
limit?: number | null, };
