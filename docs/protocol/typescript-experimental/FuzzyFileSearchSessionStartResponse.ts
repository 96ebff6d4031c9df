// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Result of `fuzzyFileSearch/sessionStart`.
 */
export type FuzzyFileSearchSessionStartResponse = Record<symbol, never>;
