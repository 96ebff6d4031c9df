// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Params of the notification `thread/archived`.
 */
export type ThreadArchivedNotification = {
/**
 * Id of the thread.
 */
threadId: string, };
