// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Params of the notification `thread/deleted`.
 */
export type ThreadDeletedNotification = {
/**
 * Id of the thread.
 */
threadId: string, };
