// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Result of `thread/compact/start`.
 */
export type ThreadCompactStartResponse = Record<symbol, never>;
