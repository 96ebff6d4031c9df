// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Params of `fuzzyFileSearch/sessionUpdate`.
 */
export type FuzzyFileSearchSessionUpdateParams = {
/**
 * The searched text.
 */
query: string,
/**
 * Id of the search session.
 */
sessionId: string, };
