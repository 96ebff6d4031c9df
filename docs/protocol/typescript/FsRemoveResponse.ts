// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Result of `fs/remove`.
 */
export type FsRemoveResponse = Record<symbol, never>;
