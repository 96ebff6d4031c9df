// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Params of the notification `deprecationNotice`.
 */
export type DeprecationNoticeNotification = {
/**
 * What will go.
 */
summary: string,
/**
 * More about it.
 */
details?: string | null, };
