// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Result of `thread/archive`.
 */
export type ThreadArchiveResponse = Record<symbol, never>;
