// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Params of `fuzzyFileSearch/sessionUpdate`.
 */
export type FuzzyFileSearchSessionUpdateParams = {
/**
 * What is searched for.
 */
query: string,
/**
 * The search session.
 */
sessionId: string, };
