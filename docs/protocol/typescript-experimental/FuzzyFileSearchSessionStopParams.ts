// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Params of `fuzzyFileSearch/sessionStop`.
 */
export type FuzzyFileSearchSessionStopParams = {
/**
 * Id of the search session.
 */
sessionId: string, };
