// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Result of `fuzzyFileSearch/sessionUpdate`.
 */
export type FuzzyFileSearchSessionUpdateResponse = Record<symbol, never>;
