// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Params of `thread/queue/delete`.
 */
export type ThreadQueueDeleteParams = {
/**
 * Id of the thread.
 */
threadId: string,
/**
 * Id of the queued prompt.
 */
queuedSubmissionId: string, };
