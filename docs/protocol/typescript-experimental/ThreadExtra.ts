// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Reserved for fields that the peer adds to a thread. Empty.
 */
export type ThreadExtra = Record<symbol, never>;
