// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Result of `fs/writeFile`.
 */
export type FsWriteFileResponse = Record<symbol, never>;
