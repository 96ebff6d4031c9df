// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Params of the notification `thread/queue/changed`.
 */
export type ThreadQueueChangedNotification = {
/**
 * Id of the thread.
 */
threadId: string, };
