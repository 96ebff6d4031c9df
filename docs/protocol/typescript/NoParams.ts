// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * The params of a method that has none. Anything that a client sends in their place is ignored.
 */
export type NoParams = Record<symbol, never>;
