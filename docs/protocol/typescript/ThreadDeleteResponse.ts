// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Result of `thread/delete`.
 */
export type ThreadDeleteResponse = Record<symbol, never>;
