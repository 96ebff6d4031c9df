// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Params of the notification `thread/reverted`.
 */
export type ThreadRevertedNotification = {
/**
 * Id of the thread.
 */
threadId: string, };
