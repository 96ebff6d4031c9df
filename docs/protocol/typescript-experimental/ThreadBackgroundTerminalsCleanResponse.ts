// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Result of `thread/backgroundTerminals/clean`.
 */
export type ThreadBackgroundTerminalsCleanResponse = Record<symbol, never>;
