// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Params of `fuzzyFileSearch/sessionStop`.
 */
export type FuzzyFileSearchSessionStopParams = {
/**
 * The search session.
 */
sessionId: string, };
