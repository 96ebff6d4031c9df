// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Params of `thread/queue/start`.
 */
export type ThreadQueueStartParams = {
/**
 * Id of the thread.
 */
threadId: string,
/**
 * Id of the queued prompt to start.
 */
queuedSubmissionId?: string | null, };
