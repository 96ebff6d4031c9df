// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Result of `fs/createDirectory`.
 */
export type FsCreateDirectoryResponse = Record<symbol, never>;
