// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Params of `fuzzyFileSearch/sessionStart`.
 */
export type FuzzyFileSearchSessionStartParams = {
/**
 * The directories to search in.
 */
roots: Array<string>,
/**
 * The search session.
 */
sessionId: string, };
