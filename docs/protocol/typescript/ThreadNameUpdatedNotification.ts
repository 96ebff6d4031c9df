// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Params of the notification `thread/name/updated`.
 */
export type ThreadNameUpdatedNotification = {
/**
 * Id of the thread.
 */
threadId: string,
/**
 * The title. `null` if there is none.
 */
threadName?: string | null, };
