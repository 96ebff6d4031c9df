// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Result of `thread/inject_items`.
 */
export type ThreadInjectItemsResponse = Record<symbol, never>;
