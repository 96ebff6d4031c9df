// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Result of `process/kill`.
 */
export type ProcessKillResponse = Record<symbol, never>;
