// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Params of the notification `fuzzyFileSearch/sessionCompleted`.
 */
export type FuzzyFileSearchSessionCompletedNotification = {
/**
 * Id of the search session.
 */
sessionId: string, };
