// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Params of the notification `thread/name/updated`.
 */
export type ThreadNameUpdatedNotification = {
/**
 * The thread.
 */
threadId: string,
/**
 * The title; `null` where there is none.
 */
threadName?: string | null, };
