// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Params of `thread/queue/reorder`.
 */
export type ThreadQueueReorderParams = {
/**
 * Id of the thread.
 */
threadId: string,
/**
 * Ids of all queued prompts, in the new order.
 */
queuedSubmissionIds: Array<string>, };
