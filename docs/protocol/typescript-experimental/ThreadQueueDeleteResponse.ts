// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Result of `thread/queue/delete`.
 */
export type ThreadQueueDeleteResponse = {
/**
 * Whether the prompt was in the queue.
 */
deleted: boolean, };
