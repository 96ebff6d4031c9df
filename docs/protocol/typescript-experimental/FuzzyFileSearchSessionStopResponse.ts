// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Result of `fuzzyFileSearch/sessionStop`.
 */
export type FuzzyFileSearchSessionStopResponse = Record<symbol, never>;
