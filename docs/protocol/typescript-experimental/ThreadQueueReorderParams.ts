// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Params of `thread/queue/reorder`.
 */
export type ThreadQueueReorderParams = {
/**
 * The thread.
 */
threadId: string,
/**
 * All prompts that wait, in the new order.
 */
queuedSubmissionIds: Array<string>, };
