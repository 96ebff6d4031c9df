// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Result of `fs/unwatch`.
 */
export type FsUnwatchResponse = Record<symbol, never>;
