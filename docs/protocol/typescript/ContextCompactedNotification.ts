// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Params of the notification `thread/compacted`.
 */
export type ContextCompactedNotification = {
/**
 * The thread.
 */
threadId: string,
/**
 * The turn.
 */
turnId: string, };
