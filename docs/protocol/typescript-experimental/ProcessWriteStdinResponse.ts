// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Result of `process/writeStdin`.
 */
export type ProcessWriteStdinResponse = Record<symbol, never>;
