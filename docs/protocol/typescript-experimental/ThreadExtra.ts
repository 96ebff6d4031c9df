// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Room for what the peer adds to a thread; empty.
 */
export type ThreadExtra = Record<symbol, never>;
