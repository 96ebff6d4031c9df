// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Params of `thread/queue/delete`.
 */
export type ThreadQueueDeleteParams = {
/**
 * The thread.
 */
threadId: string,
/**
 * The prompt that waits.
 */
queuedSubmissionId: string, };
