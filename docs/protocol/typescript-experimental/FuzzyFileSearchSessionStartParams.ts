// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Params of `fuzzyFileSearch/sessionStart`.
 */
export type FuzzyFileSearchSessionStartParams = {
/**
 * Directories to search.
 */
roots: Array<string>,
/**
 * Id of the search session.
 */
sessionId: string, };
