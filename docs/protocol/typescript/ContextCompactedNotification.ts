// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Params of the notification `thread/compacted`.
 */
export type ContextCompactedNotification = {
/**
 * Id of the thread.
 */
threadId: string,
/**
 * Id of the turn.
 */
turnId: string, };
