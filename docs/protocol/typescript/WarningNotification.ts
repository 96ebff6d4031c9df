// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Params of the notification `warning`.
 */
export type WarningNotification = {
/**
 * The message for people.
 */
message: string,
/**
 * Id of the thread.
 */
threadId?: string | null, };
