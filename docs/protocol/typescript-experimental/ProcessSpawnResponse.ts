// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Result of `process/spawn`.
 */
export type ProcessSpawnResponse = Record<symbol, never>;
