// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Params of the notification `fuzzyFileSearch/sessionCompleted`.
 */
export type FuzzyFileSearchSessionCompletedNotification = {
/**
 * The search session.
 */
sessionId: string, };
