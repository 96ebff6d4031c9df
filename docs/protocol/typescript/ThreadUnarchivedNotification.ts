// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Params of the notification `thread/unarchived`.
 */
export type ThreadUnarchivedNotification = {
/**
 * Id of the thread.
 */
threadId: string, };
