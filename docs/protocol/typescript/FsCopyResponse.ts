// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Result of `fs/copy`.
 */
export type FsCopyResponse = Record<symbol, never>;
