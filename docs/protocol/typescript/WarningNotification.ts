// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Params of the notification `warning`.
 */
export type WarningNotification = {
/**
 * What there is to say.
 */
message: string,
/**
 * The thread.
 */
threadId?: string | null, };
