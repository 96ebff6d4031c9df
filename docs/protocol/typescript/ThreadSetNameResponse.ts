// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Result of `thread/name/set`.
 */
export type ThreadSetNameResponse = Record<symbol, never>;
