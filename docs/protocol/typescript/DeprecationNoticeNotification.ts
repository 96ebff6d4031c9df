// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Params of the notification `deprecationNotice`.
 */
export type DeprecationNoticeNotification = {
/**
 * What is deprecated.
 */
summary: string,
/**
 * Explanation for people, for example what to use instead.
 */
details?: string | null, };
